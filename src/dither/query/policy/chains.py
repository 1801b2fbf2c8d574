"""Chains of tables: each row belongs to the owner of its parent, and so on, up to a table with a person.

What does not lead to a person is refused when the policy is read, before any question: a parent that is not there, or is
public, or where a row is a person without a name; a circle; keys of two types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dither.errors import PolicyError
from dither.query.policy.owner import EXAMPLE, VAGUE
from dither.query.policy.table import Table

LONGEST_CHAIN = 8  # steps from a row to its person


def linked(tables: Sequence[Table]) -> tuple[Table, ...]:
    """The tables of a policy, each knowing its columns that lead to an owner; refused where a chain does not end."""
    ids: dict[str, set[str]] = {table.name: set() for table in tables}
    keys: dict[str, set[tuple[str, ...]]] = {table.name: set() for table in tables}
    for table in tables:
        if table.owner is not None:
            parent = parents(table, tables)[0]
            ids[table.name] |= {child for child, _ in table.owner.on}
            ids[parent.name] |= {column for _, column in table.owner.on}
            keys[parent.name].add(tuple(column for _, column in table.owner.on))
    return tuple(replace(one, ids=frozenset(ids[one.name]), child_keys=frozenset(keys[one.name])) for one in tables)


def parents(table: Table, tables: Sequence[Table]) -> tuple[Table, ...]:
    """The tables from which a table has its owners, the nearest first; none where it has a person of its own."""
    found: list[Table] = []
    at = table
    while at.owner is not None:
        where = f"tables.{at.name}.owner"
        at = _parent(at, tables, where)
        again = at.name in [one.name for one in (table, *found)]
        found.append(at)
        if again or len(found) > LONGEST_CHAIN:
            told = " -> ".join(one.name for one in (table, *found))
            why = "the chain comes back to where it was" if again else f"a chain has at most {LONGEST_CHAIN} steps"
            raise PolicyError(f"tables.{table.name}.owner", told, why, "a chain that ends at a table with a person")
    return tuple(found)


def _parent(table: Table, tables: Sequence[Table], where: str) -> Table:
    """The table behind one step, if it can be that."""
    assert table.owner is not None
    through = table.owner.through
    parent = next((one for one in tables if one.name == through), None)
    if parent is None:
        names = ", ".join(one.name for one in tables if one.name != table.name and not one.public)
        raise PolicyError(f"{where}.through", through, "the policy has no such table", f"one of {names or 'its tables'}")
    if parent.public:
        why = "it is public, and a public row belongs to nobody"
        raise PolicyError(f"{where}.through", through, why, f"a table with a person, or public = true for {table.name} too")
    if parent.person is None:
        why = "one row is one person there, without a name by which her rows could be told"
        raise PolicyError(f"{where}.through", through, why, f"a table that has a column of the person: {EXAMPLE}")
    for child, column in table.owner.on:
        mine, theirs = table.column(child), parent.column(column)
        if theirs is None or theirs.name != column:
            names = ", ".join(one.name for one in parent.columns)
            instead = f'{{ child = "{child}", parent = ... }}, with one of {names}'
            raise PolicyError(f"{where}.on", column, f"the table {parent.name} has no such column", instead)
        assert mine is not None
        if mine.type is not theirs.type or theirs.type in VAGUE:
            why = f"it is {mine.type.value} in {table.name}, and {theirs.name} is {theirs.type.value} in {parent.name}"
            raise PolicyError(f"{where}.on", child, f"{why}: they are never equal", "keys of one type")
    return parent
