"""A question of a plan: its SQL, how many times it is asked, and the error or the price that is wished for; plan files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, cast

from dither.errors import DataError, NumberError, SizeError
from dither.numeric.number import exact, integer, rational
from dither.privacy.records import refuse_newer
from dither.query.answers.compare import NO_PRICE
from dither.query.plan.text import plain
from dither.query.policy.toml_text import read_toml, toml_text
from dither.query.pricing.ask import Terms

VERSION = 1  # of plan files
TIMES = {"once": 1, "yearly": 1, "quarterly": 4, "monthly": 12, "weekly": 53, "daily": 366}  # at most, in any year
MOST_TIMES = 1_000_000
MOST_QUESTIONS = 1000
OWN_FACTS = ("sql", "times", "name")
PRICES = ("epsilon", "rho", "error")
TERMS = tuple(name for name in Terms.__annotations__ if name != "guarantee")  # which no file can write
EXAMPLE = """{'sql': 'SELECT COUNT(*) AS n FROM visits', 'times': 'monthly', 'error': {'n': 100}}"""
FILE_EXAMPLE = "version = 1, then [[question]] with sql, times and error or epsilon"
# Keywords of `Dataset.quote`, and beside them 'sql', 'times' and perhaps 'name'.
PlannedLike: TypeAlias = Mapping[str, Any]
PlanLike: TypeAlias = str | Path | Sequence[PlannedLike]


@dataclass(frozen=True)
class PlannedQuestion:
    """A question, or a list of questions that are asked as one, with what is wished for and how often."""

    sql: str | list[str]
    times: int
    name: str  # for tables; empty where none was given
    terms: Terms

    def with_errors(self, factor: Fraction) -> PlannedQuestion:
        """The same, with errors so many times as large: what is wished for, or what the stated price leads to."""
        terms = self.terms.copy()
        if (wished := terms.get("error")) is not None:
            terms["error"] = {name: rational(error, name=f"error of {name}") * factor for name, error in wished.items()}
        if (epsilon := terms.get("epsilon")) is not None:
            terms["epsilon"] = exact(epsilon, name="epsilon") / factor
        if (rho := terms.get("rho")) is not None:
            terms["rho"] = rational(rho, name="rho") / factor**2
        return replace(self, terms=terms)

    @property
    def text(self) -> str:
        """Its name or its SQL, on one line."""
        asked = self.sql if isinstance(self.sql, str) else "; ".join(self.sql)
        return plain(self.name or " ".join(asked.split()))


def read_plan(stated: PlanLike) -> list[PlannedQuestion]:
    """The questions of a plan: of a file, by its path, or as a list of mappings."""
    found: Sequence[PlannedLike] = _file(Path(stated)) if isinstance(stated, (str, Path)) else stated
    if isinstance(found, Mapping) or not isinstance(found, Sequence):
        raise DataError("plan", stated, "it is neither a list of questions nor the path of a file", f"[{EXAMPLE}]")
    if not 0 < len(found) <= MOST_QUESTIONS:
        raise SizeError("plan", len(found), f"a plan has 1 to {MOST_QUESTIONS} questions", f"[{EXAMPLE}]")
    return [_question(facts, f"question {at}") for at, facts in enumerate(found, 1)]


def _file(path: Path) -> list[Any]:
    try:
        stated = read_toml(toml_text(path, "plan", DataError), parse_float=str)  # 0.1 is a tenth
    except OSError as error:
        raise DataError("plan", str(path), f"it cannot be read: {error.strerror}", f"a file: {FILE_EXAMPLE}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError("plan", str(path), f"it is not TOML: {error}", FILE_EXAMPLE) from error
    refuse_newer("plan: version", stated.get("version"), VERSION)
    for extra in stated.keys() - {"version", "question"}:
        raise DataError(f"plan: {extra}", stated[extra], "no such part of a plan is known", "version, [[question]]")
    if type(stated.get("version")) is not int or stated["version"] != VERSION:
        raise DataError("plan: version", stated.get("version"), f"this dither reads version {VERSION}", "version = 1")
    found = stated.get("question", [])
    if not isinstance(found, list):
        raise DataError("plan: question", found, "it is one table, not a list of them", "[[question]], in two brackets")
    return found


def _question(facts: PlannedLike, where: str) -> PlannedQuestion:
    if not isinstance(facts, Mapping):
        raise DataError(where, facts, "it is not a mapping of facts", EXAMPLE)
    for extra in facts:
        if extra not in (*OWN_FACTS, *TERMS):
            raise DataError(f"{where}: {extra}", facts[extra], "no such fact is known here", ", ".join((*OWN_FACTS, *TERMS)))
    for needed in ("sql", "times"):
        if needed not in facts:
            raise DataError(f"{where}: {needed}", None, "a plan says it of each question", EXAMPLE)
    sql = facts["sql"]
    several = isinstance(sql, (list, tuple)) and all(isinstance(one, str) for one in sql)
    if not isinstance(sql, str) and not several:
        raise DataError(
            f"{where}: sql", sql, "it is neither a text nor a list of texts", "'SELECT COUNT(*) AS n FROM visits'"
        )
    name = facts.get("name", "")
    if not isinstance(name, str) or len(name) > 100 or not name.isprintable():
        raise DataError(f"{where}: name", name, "it is not a short text", "'visits by ward'")
    wished = {**NO_PRICE, **{term: facts[term] for term in TERMS if term in facts}}
    if sum(wished[term] is not None for term in PRICES) > 1:  # none: a free question, or a price in OPTIONS
        stated = {term: wished[term] for term in PRICES if wished[term] is not None}
        raise NumberError(
            f"{where}: price", stated, "an error or a price is stated in exactly one way", "error = { n = 100 }"
        )
    return PlannedQuestion(
        sql if isinstance(sql, str) else list(sql), _times(facts["times"], where), name, cast(Terms, wished)
    )


def _times(stated: Any, where: str) -> int:
    words = ", ".join(TIMES)
    if isinstance(stated, str):
        if stated not in TIMES:
            raise DataError(f"{where}: times", stated, "it says no number of times a year", f"a whole number, or {words}")
        return TIMES[stated]
    times = integer(stated, name=f"{where}: times", least=1)
    if times > MOST_TIMES:
        raise NumberError(f"{where}: times", times, f"it is above {MOST_TIMES:,}, which is a slip", f"12, or {words}")
    return times
