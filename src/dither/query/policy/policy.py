"""The policy: what an owner states once, before anybody asks. It is public; nothing in it comes from the data.

`policy.toml` in, a frozen value out, every refusal with its place in the file. The hash covers what bears on privacy
and on the meaning of answers (tables, persons, limits, bounds, keys, units), so that a ledger notices when any of it
changes; it does not cover where files lie.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from dither.arguments import argument_errors
from dither.errors import DitherError, PolicyError
from dither.numeric.representation import LONGEST_LINE, cut
from dither.privacy.guarantee.definitions import approx, zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit
from dither.query.policy.chains import linked
from dither.query.policy.column import Column
from dither.query.policy.engine_facts import FACTS, EngineFacts, read_engine
from dither.query.policy.fact import Fact
from dither.query.policy.origin import CONSENT, check_consent
from dither.query.policy.table import MIN_PEOPLE, Table, read_table
from dither.query.policy.table_words import limit_words, whose
from dither.query.policy.toml_text import read_toml, toml_text
from dither.query.policy.version import check_version
from dither.terminal import Explanation

VERSION = 1
DRAFT = "a file such as policy.toml; dither policy init FILE drafts one for the data in FILE"
MARK = "FILL IN"  # where a draft leaves a decision to the owner
LEDGER_FACTS = {"location", "budget", "identity", "witness", "texts", "shares"}
OLD_FACTS = ("name", "type", "lower", "upper", "step", "keys", "nullable")  # of a column
UNITS = (Unit.ADD_REMOVE, Unit.REPLACE_ONE)
MADE_UP = "made-up rows: no row is real, and nothing was taken from the data"  # what is said wherever `made_up` is stated


@dataclass(frozen=True)
class LedgerFacts:
    """Which ledger keeps the budget of the domain."""

    location: str
    budget: Guarantee
    identity: str | None = None
    witness: str | None = None
    texts: bool = True  # whether it keeps questions as they were asked, for the owner's eyes
    shares: tuple[tuple[str, Guarantee], ...] = ()  # the most that single analysts may spend


@argument_errors
@dataclass(frozen=True)
class Policy:
    """What an owner protects, and how: tables, privacy unit, limits. Made by `dither.open` and `dither.protect`.

    Args:
        domain: one name for all tables that share a person.
        unit: the neighbours that the guarantee is about.
        ledger: which ledger keeps the budget; None where one was given to `protect`.
        tables: private and public ones, with their columns.
        data_version: a label of the data; stored answers are about one version.
        per_question: the most that one question may cost; None for no limit.
        engine: how much memory and time PostgreSQL may take for one question.
        values_from_data: whether the owner accepts values that were taken from the data (`known_from = "data"`).
        made_up: whether all rows are made up (`dither policy sample`): quotes and answers say so.

    Raises:
        PolicyError: by those who read one; a policy itself is a plain value.

    Example:
        >>> import dither
        >>> policy = dither.Policy(domain="clinic", unit=dither.Unit.ADD_REMOVE, ledger=None, tables=())
        >>> print(policy.explain())
        Domain     clinic: add/remove one person
    """

    domain: str
    unit: Unit
    ledger: LedgerFacts | None  # None: a ledger was handed over
    tables: tuple[Table, ...]
    data_version: str = ""
    per_question: Guarantee | None = None  # the most that one question may cost
    engine: EngineFacts | None = None  # how much an engine may take for one question
    values_from_data: bool = False
    made_up: bool = False

    @property
    def keeps_texts(self) -> bool:
        """Whether the ledger keeps questions as they were asked, for its history."""
        return self.ledger is None or self.ledger.texts

    def table(self, name: str) -> Table | None:
        """The table of that name, whatever its case; None if there is none."""
        return next((table for table in self.tables if table.name.lower() == name.lower()), None)

    def __repr__(self) -> str:
        tables = ", ".join(table.name for table in self.tables) or "none"
        return cut(
            f"Policy({self.domain!r}, tables: {tables}, unit: {self.unit.value}, hash: {self.hash[:16]})", LONGEST_LINE
        )

    def explain(self) -> Explanation:
        """What is protected, and how, in a few lines."""
        lines = [f"Domain     {self.domain}: {self.unit.value}"]
        if self.made_up:
            lines.append(f"Made up    {MADE_UP}")
        if self.per_question is not None:
            lines.append(f"Limit      {self.per_question} for one question")
        for table in self.tables:
            who = "public" if table.public else "one row a person" if table.person is None else f"by {whose(table)}"
            lines.append(f"Table      {table.name}: {who}{limit_words(table)}")
            lines += [f"             {column.describe()}" for column in table.columns]
            lines += [f"             {column}: not read, since it is stored as {stored}" for column, stored in table.unread]
        return Explanation("\n".join(lines))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that bears on privacy or on the meaning of answers: the same for policies that promise the same."""
        facts = {"version": VERSION, "domain": self.domain, "unit": self.unit.value, "tables": _plain(self.tables)}
        limit = None if self.per_question is None else self.per_question.to_json()
        facts |= {"made_up": True} if self.made_up else {}  # left out elsewhere: hashes of old stay
        return hashlib.sha256(json.dumps({**facts, "per_question": limit}, sort_keys=True).encode()).hexdigest()


def load_policy(path: Path) -> Policy:
    """The policy in a file; paths in it are relative to its folder."""
    try:
        stated = read_toml(toml_text(path))
    except OSError as error:
        raise PolicyError("policy", str(path), f"it cannot be read: {error.strerror}", DRAFT) from error
    except UnicodeDecodeError as error:
        raise PolicyError("policy", str(path), "it is not TOML, nor any text: perhaps the data itself", DRAFT) from error
    except tomllib.TOMLDecodeError as error:
        raise PolicyError("policy", str(path), f"it is not TOML: {error}", "what `dither policy init` writes") from error
    return read_policy(stated)


def read_policy(stated: dict[str, Any], *, per_question: Guarantee | None = None) -> Policy:
    """A policy from nested facts; without a ledger in it, somebody hands one over."""
    _must_be_decided(stated, "")
    check_version(stated, VERSION)
    known = {"version", "domain", "unit", "data_version", "engine", "ledger", "limits", "tables", "made_up", CONSENT}
    for extra in stated.keys() - known:
        raise PolicyError(extra, stated[extra], "no such part of a policy is known", ", ".join(sorted(known)))
    unit = _unit(stated.get("unit", Unit.ADD_REMOVE.value))
    tables = stated.get("tables")
    if not isinstance(tables, dict) or not tables:
        raise PolicyError("tables", tables, "a policy protects at least one table", "[tables.visits]")
    if len({name.lower() for name in tables}) != len(tables):
        raise PolicyError("tables", sorted(tables), "two names differ in case only", "names that SQL can tell apart")
    if all(isinstance(facts, dict) and facts.get("public") is True for facts in tables.values()):
        raise PolicyError(
            "tables", sorted(tables), "all of them are public, so nothing is protected", "a table with a person"
        )
    limits = _part(stated, "limits", {"per_question"})
    read = linked([read_table(name, facts, f"tables.{name}") for name, facts in tables.items()])
    return Policy(
        domain=_text(stated.get("domain"), "domain"),
        unit=unit,
        ledger=None if "ledger" not in stated else _ledger(_part(stated, "ledger", LEDGER_FACTS), unit),
        tables=read,
        data_version=_text(stated.get("data_version", ""), "data_version", empty=True),
        per_question=_most(limits.get("per_question", per_question), unit),
        engine=read_engine(_part(stated, "engine", FACTS)),
        values_from_data=check_consent([origin for table in read for origin in table.origins], stated.get(CONSENT)),
        made_up=_flag(stated.get("made_up", False), "made_up", "true, where no row is real"),
    )


def _must_be_decided(stated: Fact, where: str) -> None:
    """A draft marks what is the owner's to decide."""
    if isinstance(stated, str) and stated.startswith(MARK):
        instead = "a decision in its place; dither policy check FILE lists every line that is open"
        raise PolicyError(where, stated, "the owner has not decided it yet", instead)
    if isinstance(stated, dict):
        for name, part in stated.items():
            _must_be_decided(part, f"{where}.{name}".lstrip("."))


def _ledger(facts: dict[str, Any], unit: Unit) -> LedgerFacts:
    optional = {
        name: None if name not in facts else _text(facts[name], f"ledger.{name}") for name in ("identity", "witness")
    }
    return LedgerFacts(
        location=_text(facts.get("location"), "ledger.location"),
        budget=_price(facts.get("budget"), "ledger.budget", unit),
        **optional,
        texts=_flag(facts.get("texts", True), "ledger.texts", "false, to keep no question as it was asked"),
        shares=tuple(
            (_text(analyst, "ledger.shares"), _price(share, f"ledger.shares.{analyst}", unit))
            for analyst, share in _named(facts.get("shares", {}), "ledger.shares").items()
        ),
    )


def _most(stated: Guarantee | Fact, unit: Unit) -> Guarantee | None:
    if stated is None or isinstance(stated, Guarantee):
        return stated
    return _price(stated, "limits.per_question", unit)


def _price(facts: Fact, where: str, unit: Unit) -> Guarantee:
    instead = '{ epsilon = "3", delta = "1e-6" }, or { rho = "0.5" }'
    if not isinstance(facts, dict) or ("epsilon" in facts) == ("rho" in facts) or facts.keys() - {"epsilon", "rho", "delta"}:
        raise PolicyError(where, facts, "it states epsilon or rho, and perhaps delta", instead)
    delta = facts.get("delta", 0)
    try:
        if "rho" in facts:
            return zcdp(facts["rho"], delta=delta, unit=unit)
        return approx(facts["epsilon"], delta, unit=unit)
    except DitherError as error:
        raise PolicyError(f"{where}.{error.where}", error.came, error.why, instead) from error


def _part(stated: dict[str, Any], name: str, known: set[str]) -> dict[str, Any]:
    facts = stated.get(name, {})
    if not isinstance(facts, dict):
        raise PolicyError(name, facts, "it is a table of facts", f"[{name}]")
    for extra in facts.keys() - known:
        raise PolicyError(f"{name}.{extra}", facts[extra], "no such fact is known here", ", ".join(sorted(known)))
    return facts


def _named(facts: Fact, where: str) -> dict[str, Any]:
    """Facts under names of the owner's own."""
    if not isinstance(facts, dict):
        raise PolicyError(where, facts, "it is a table of facts, by name", '{ ana = { epsilon = "1" } }')
    return facts


def _unit(stated: Fact) -> Unit:
    for unit in UNITS:
        if stated == unit.value:
            return unit
    raise PolicyError("unit", stated, "it names no unit of people", " or ".join(f"'{unit.value}'" for unit in UNITS))


def _text(stated: Fact, where: str, *, empty: bool = False) -> str:
    if not isinstance(stated, str) or not (stated or empty) or len(stated) > 1000 or not stated.isprintable():
        raise PolicyError(where, stated, "it is not a short text", "a text such as 'clinic'")
    return stated


def _flag(stated: Fact, where: str, instead: str) -> bool:
    if not isinstance(stated, bool):
        raise PolicyError(where, stated, "it is neither true nor false", instead)
    return stated


def _plain(value: Any) -> Any:
    """Facts as JSON: exact numbers as text, dates as text, sources left out."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Table):
        limits = {"person": value.person, "max_groups": value.max_groups, "max_rows_per_group": value.max_rows_per_group}
        stated = {
            "public": value.public,
            "max_rows": value.max_rows,
            "max_sum": {name: str(most) for name, most in value.max_sum},
            "hard": sorted(value.hard),
            "owner": None if value.owner is None else _plain(value.owner),
            "min_people": None if value.min_people == MIN_PEOPLE else value.min_people,
            "min_group_size": value.min_group_size,
            "auto": value.auto,
            "dialect": None if value.dialect is None else value.dialect.stated(),
            "known_from": value.known_from,
            "unique": list(value.unique),
        }
        others = {name: fact for name, fact in stated.items() if fact}
        return {"name": value.name, "columns": _plain(value.columns), **limits, **others}
    if isinstance(value, Column):
        bounds = {"first": value.first, "last": value.last}  # left out where there are none: hashes of old stay
        facts = {name: _plain(getattr(value, name)) for name in OLD_FACTS}
        facts |= {"auto": True} if value.auto else {}
        facts |= {"known_from": value.known_from} if value.known_from else {}
        facts |= {"cells": cells} if (cells := value.cells.stated()) else {}
        return facts | {name: _plain(end) for name, end in bounds.items() if end is not None}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (Fraction, date)):
        return str(value)
    return getattr(value, "value", value)
