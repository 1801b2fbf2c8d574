"""Columns of one name and one type in several tables: made-up rows have the same values there, so that joins find some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table
from dither.query.sample.column_values import Values, values_of

POOL = 200  # values of a column that both a public table and a protected one have
Shared = tuple[str, Type]


class SharedColumns:
    """What the columns of a policy's tables have in common."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._stated: dict[Shared, Column] = {}
        names: dict[bool, set[Shared]] = {False: set(), True: set()}
        for table in tables:
            for column in table.columns:
                names[table.public].add(_shared(column))
                known = self._stated.setdefault(_shared(column), column)
                if known.keys is None and (column.keys is not None or (column.has_bounds and not known.has_bounds)):
                    self._stated[_shared(column)] = column
        self._joined = names[False] & names[True]

    def is_joined(self, column: Column) -> bool:
        """Whether a public table and a protected one have such a column: it may be what they are joined by."""
        return _shared(column) in self._joined

    def stated(self, column: Column) -> Column:
        """The column, with the keys or bounds of one of its name where it has none of its own."""
        if column.keys is not None or column.has_bounds:
            return column
        other = self._stated[_shared(column)]
        return replace(other, name=column.name, nullable=column.nullable)

    def few(self, column: Column, values: Values) -> Values:
        """Of the values of a column, as many as both tables have of one that they may be joined by."""
        return values.spread(POOL) if self.is_joined(column) else values

    def public_values(self, column: Column) -> Values:
        """What a public table lists of a column."""
        return self.few(column, values_of(self.stated(column)))


def _shared(column: Column) -> Shared:
    return column.name.lower(), column.type
