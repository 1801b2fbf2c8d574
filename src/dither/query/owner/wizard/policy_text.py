"""Decisions as the TOML of a policy. What is open says FILL IN, so that nobody can ask with half a policy."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

from dither.query.owner.wizard.decisions import ColumnDecisions, Decisions, TableDecisions
from dither.query.policy.policy import MARK, VERSION

HEAD = "# A policy says what is protected. Nothing in it was taken from the rows unless it says so (known_from)."
OPEN = {
    "domain": f"{MARK}: one name for all tables that share a person, such as clinic",
    "budget": f"{MARK}: such as 1",
    "per_question": f"{MARK}: such as 0.25",
    "person": f"{MARK}: the column that says whose a row is, or: each row",
    "max_rows": f"{MARK}: how many rows of one person count in an answer, such as 10",
    "type": f"{MARK}: integer, decimal, float, text, boolean, date or timestamp; or delete the line",
}
ONCE = "# identity: dither ledger create --policy THIS-FILE --write makes the ledger, once, and writes it here"


def toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, datetime.date)):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{path_key(name)} = {toml(part)}' for name, part in value.items())} }}"
    written = json.dumps(str(value), ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in written)


def policy_text(said: Decisions) -> str:
    """The policy, as far as it is decided."""
    delta = {} if said.budget is None else {"delta": said.budget["delta"]}
    budget = said.budget or {"epsilon": OPEN["budget"], "delta": "1e-6"}
    most = said.per_question or {"epsilon": OPEN["per_question"], **(delta or {"delta": "1e-6"})}
    lines = [
        HEAD,
        f"version = {VERSION}",
        f"domain = {toml(said.domain or OPEN['domain'])}",
        'unit = "add/remove one person"',
        'data_version = ""  # change it when the data changes: stored answers are about one version',
        *(['values_from_data = "accepted"  # outside the guarantee: see known_from below'] if said.values_from_data else []),
        "",
        "[ledger]",
        f"location = {toml(said.location or f'{said.name}.ledger')}",
        ONCE,
        *([f"witness = {toml(said.witness)}  # second place: an old ledger put back is refused"] if said.witness else []),
        f"budget = {toml(budget)}  # all that may ever be spent",
        "",
        "[limits]",
        f"per_question = {toml(most)}  # the most for one question",
    ]
    for table in said.tables:
        lines += ["", *_table(table)]
    return "\n".join(lines) + "\n"


def _table(table: TableDecisions) -> list[str]:
    head = f"[tables.{path_key(table.name)}]"
    facts = {"source": table.source, **table.written, **(table.whose or {"person": OPEN["person"]})}
    if table.has_limits:
        facts |= table.limits or {"max_rows": OPEN["max_rows"]}
    lines = [head, *(f"{fact} = {toml(value)}" for fact, value in facts.items())]
    return [*lines, "", f"{head[:-1]}.columns]", *(_column(name, column) for name, column in table.columns.items())]


def _column(name: str, column: ColumnDecisions) -> str:
    if column.left_out:
        return f"# {path_key(name)}: left out{'' if column.left_out == 'no' else f', since {column.left_out}'}"
    return f"{path_key(name)} = {toml(column.facts or {'type': OPEN['type']})}"


def path_key(name: str) -> str:
    """A name as it may stand before an equals sign: bare where it can."""
    return name if name and name.isascii() and name.replace("_", "a").replace("-", "a").isalnum() else toml(name)
