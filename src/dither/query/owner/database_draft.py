"""A first draft of a policy for tables of a PostgreSQL database, from its catalogue alone; no row is read.

Names come from the catalogue, where anybody may have made them: they are written as strings of TOML, and in comments on one
line, so that no name can state a fact.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dither.query.owner.draft import LIMITS, column_advice, policy_head
from dither.query.policy.owner import MOST_KEYS, VAGUE
from dither.query.policy.policy import MARK
from dither.query.policy.table import EACH_ROW, NAME_LENGTH
from dither.query.sources.postgres_catalogue import CatalogueTable, ForeignKey, address, find_tables
from dither.query.sources.schema import reason


@dataclass(frozen=True)
class DatabaseDraft:
    """A draft, and what its owner should know of the role that reads."""

    text: str
    cautions: tuple[str, ...]


def draft_database(stated: str, folder: Path) -> DatabaseDraft:
    """TOML for a policy of the tables at an address, which `dither policy check` refuses until every mark is gone."""
    catalogue = find_tables(stated)
    names = table_names(catalogue.tables)
    called = "".join(sign if sign.isalnum() else "_" for sign in catalogue.name).strip("_") or "rows"
    lines = [f"# caution: {_line(caution)}" for caution in catalogue.cautions]
    lines += policy_head(called, folder)
    for table in catalogue.tables:
        lines += [*_table(table, names), ""]
    lines += [f"# left out: {_line(relation)}: {_line(why)}" for relation, why in catalogue.unread]
    return DatabaseDraft("\n".join(lines).rstrip("\n") + "\n", catalogue.cautions)


def table_names(tables: tuple[CatalogueTable, ...]) -> dict[tuple[str, str], str]:
    """What the policy calls each table, by its schema and name: its name, with the schema where two would be one in SQL."""
    found: dict[tuple[str, str], str] = {}
    plain = [table.source.table_name.lower() for table in tables]
    for table in tables:
        place = table.source.schema_name, table.source.table_name
        name = place[1] if plain.count(place[1].lower()) == 1 and place[1].isprintable() else "_".join(place)
        base = name = "".join(sign if sign.isprintable() else "_" for sign in name)
        taken, number = {one.lower() for one in found.values()}, 2
        while name.lower() in taken:
            name, number = f"{base[:100]}_{number}", number + 1
        found[place] = name
    return found


def _table(table: CatalogueTable, names: dict[tuple[str, str], str]) -> list[str]:
    mine = _quoted(names[table.source.schema_name, table.source.table_name])
    lines = [
        f"[tables.{mine}]",
        f"source = {_quoted(address(table.source))}",
        f'person = "{MARK}: the column that says whose a row is, or: {EACH_ROW}"',
    ]
    lines += [line for key in table.foreign_keys for line in _owner(key, table, names)]
    lines += ["# or, instead of person and max_rows, if it says nothing of anybody:", "# public = true"]
    lines += [*LIMITS, "", f"[tables.{mine}.columns]"]
    for column, held in table.schema.items():
        if held.type is None:
            lines.append(f"# {_line(_quoted(column))}: {_line(reason(column, held)[0])}")
        elif not column.isprintable() or len(column) > NAME_LENGTH:
            lines.append(f"# {_line(_quoted(column))}: a name has 1 to {NAME_LENGTH} printable characters")
        else:
            lines.append(f'{_quoted(column)} = {{ type = "{held.type.value}" }}{column_advice(held.type)}')
    return lines


def _owner(key: ForeignKey, table: CatalogueTable, names: dict[tuple[str, str], str]) -> list[str]:
    """The owner that a foreign key leads to, to be chosen instead of a person."""
    columns = [here for here, _ in key.columns]
    if not _can_lead(key, table):
        return []
    parent = names.get((key.schema_name, key.table_name))
    told = _line(", ".join(columns))
    if parent is None:
        other = _line(f"{key.schema_name}.{key.table_name}")
        return [f"# {told} refers to {other}, a foreign key: if that table says whose its rows are, draft both together"]
    pairs = [
        _quoted(here) if here == there else f"{{ child = {_quoted(here)}, parent = {_quoted(there)} }}"
        for here, there in key.columns
    ]
    on = pairs[0] if len(pairs) == 1 else f"[{', '.join(pairs)}]"
    return [
        f"# or, instead of person, if a row belongs to whoever owns the row of {_line(parent)} with the same key (a foreign",
        "# key, which the database enforces):",
        f"# owner = {{ through = {_quoted(parent)}, on = {on} }}",
    ]


def owner_facts(key: ForeignKey, table: CatalogueTable, names: dict[tuple[str, str], str]) -> dict[str, Any] | None:
    """The fact `owner` for a foreign key to a table of the policy; None if it leads to no such table."""
    parent = names.get((key.schema_name, key.table_name))
    if parent is None or not _can_lead(key, table):
        return None
    on = [here if here == there else {"child": here, "parent": there} for here, there in key.columns]
    return {"through": parent, "on": on[0] if len(on) == 1 else on}


def _can_lead(key: ForeignKey, table: CatalogueTable) -> bool:
    """Whether rows may have their owner by a foreign key."""
    kinds = [table.schema[column].type for column, _ in key.columns]
    if len(kinds) > MOST_KEYS or any(kind is None or kind in VAGUE for kind in kinds):
        return False
    return all(name.isprintable() for pair in key.columns for name in pair)


def _quoted(text: str) -> str:
    """A string of TOML; what is not printable is escaped."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in written)


def _line(text: str) -> str:
    """A text in a comment: on one line, whatever it is."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(shown.split())[:300]
