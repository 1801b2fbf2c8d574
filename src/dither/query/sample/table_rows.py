"""Made-up rows of one table: within the limits of a person, with keys that lead to the rows of other tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, prod

from dither.query.policy.column import Column, Type
from dither.query.policy.owner import VAGUE
from dither.query.policy.table import Table
from dither.query.sample.column_values import Cell, Values, ids_of, least_size, values_of
from dither.query.sample.hash_stream import HashStream
from dither.query.sample.shared_columns import SharedColumns

MISSING = 20  # of so many cells that may be missing, one is
OFTEN = 20  # rows of a person, where the policy lets more count
TRIES = 30  # keys that are tried until one is free


@dataclass
class TableRows:
    """Rows, each with its person: a number, or None for nobody."""

    table: Table
    rows: list[dict[str, Cell]] = field(default_factory=list)
    people: list[int | None] = field(default_factory=list)


def most_rows(table: Table) -> int:
    """How many rows one person has at most: so few that no limit is exceeded, whatever rows are grouped by."""
    found = min(table.most_rows, table.max_groups, table.max_rows_per_group)
    for name, most in table.max_sum:
        column = table.column(name)
        least = Fraction(0) if column is None else least_size(column)
        found = found if least == 0 else min(found, max(1, floor(most / least)))
    return found


class PrivateRows:
    """Makes the rows of a protected table; its parent, if it has one, was made before."""

    def __init__(self, table: Table, shared: SharedColumns, parent: TableRows | None, count: int, seed: int) -> None:
        self._table, self._parent, self._most = table, parent, most_rows(table)
        self._streams = {one.name: HashStream(seed, table.name, one.name) for one in table.columns}
        self._choice = HashStream(seed, table.name)
        self._values = {one.name: self._values_of(one, shared) for one in table.columns if not table.tells_whose(one.name)}
        copied = {table.person, *(child for child, _ in (table.owner.on if table.owner else ()))}
        self._ids = {
            one.name: ids_of(one, "key", self._largest(one)) for one in table.columns if one.name in table.ids - copied
        }
        self._whose = None if parent is not None or table.person is None else self._person()
        people = 0 if self._whose is None else min(self._whose.count, -(-2 * count // (min(self._most, OFTEN) + 1)))
        self._open = list(range(people if parent is None else len(parent.rows)))  # people, or rows of the parent
        self._counts: dict[int, int] = {}
        self._taken: dict[tuple[str, ...], set[tuple[Cell, ...]]] = {key: set() for key in table.child_keys}

    def made(self, count: int) -> TableRows:
        """At most so many rows: fewer where the policy does not leave room for more."""
        found = TableRows(self._table)
        while len(found.rows) < count:
            at = self._candidate()
            if at is None and self._table.person is not None:
                break
            row, whose = self._row(at, len(found.rows))
            if row is None:
                self._leave_out(at)
                continue
            found.rows.append(row)
            found.people.append(whose)
        return found

    def _candidate(self) -> int | None:
        """A person, or a row of the parent whose person may still have one; None where nobody is left."""
        while self._open:
            place = self._choice.below(len(self._open))
            at = self._open[place]
            whose = at if self._parent is None else self._parent.people[at]
            if whose is not None and self._counts.get(whose, 0) < self._most and self._leads(at):
                self._open[place], self._open[-1] = self._open[-1], at  # to be taken out at the end, should it not do
                return at
            self._open[place] = self._open[-1]
            self._open.pop()
        return None

    def _leads(self, at: int) -> bool:
        """Whether a row of the parent has a key."""
        owner = self._table.owner
        return owner is None or self._parent is None or all(self._parent.rows[at][key] is not None for _, key in owner.on)

    def _leave_out(self, at: int | None) -> None:
        if at is not None:
            self._open.pop()

    def _row(self, at: int | None, number: int) -> tuple[dict[str, Cell] | None, int | None]:
        """A row, with its person; no row where all keys that were tried are taken."""
        whose = at if self._parent is None or at is None else self._parent.people[at]
        given = self._given(at)
        cells = {one.name: self._cell(one, given, number) for one in self._table.columns}
        if any(cells[name] is None for name in given):
            whose = None
        for attempt in range(TRIES):
            row = cells | {name: cell for name, cell in self._key(number + attempt).items() if cells[name] is not None}
            row |= {name: cell for name, cell in given.items() if cells[name] is not None}
            keys = {key: tuple(row[name] for name in key) for key in self._taken}
            if not any(key in self._taken[names] for names, key in keys.items()):
                for names, key in keys.items():
                    self._taken[names] |= set() if None in key else {key}
                if whose is not None:
                    self._counts[whose] = self._counts.get(whose, 0) + 1
                return row, whose
        return None, None

    def _given(self, at: int | None) -> dict[str, Cell]:
        """The cells that say whose a row is: the person, or the key of the parent's row."""
        if at is None:
            return {}
        if self._parent is not None and self._table.owner is not None:
            return {child: self._parent.rows[at][parent] for child, parent in self._table.owner.on}
        assert self._whose is not None
        return {str(self._table.person): self._whose.at(at)}

    def _cell(self, column: Column, given: Mapping[str, Cell], number: int) -> Cell:
        """A made-up cell; the first row has all of them."""
        stream = self._streams[column.name]
        missing, place = stream.below(MISSING) == 0, stream.below(2**64)
        if column.nullable and missing and number > 0:
            return None
        if column.name in given:
            return given[column.name]
        values = self._values.get(column.name) or self._ids[column.name]
        return values.at(place % values.count)

    def _key(self, number: int) -> dict[str, Cell]:
        """The columns by which rows of other tables have their owner: together they are another key for each number."""
        found: dict[str, Cell] = {}
        rest = number
        for name, values in self._ids.items():
            if values.count > number:
                found[name] = values.at(number)
            else:
                found[name], rest = values.at(rest % values.count), rest // values.count
        return found

    def _person(self) -> Values:
        column = self._table.column(str(self._table.person))
        assert column is not None
        return ids_of(column, "person")

    def _values_of(self, column: Column, shared: SharedColumns) -> Values:
        return shared.few(column, values_of(shared.stated(column), self._largest(column)))

    def _largest(self, column: Column) -> Fraction | None:
        """The largest absolute value of a cell, where what a person's cells add up to is limited."""
        most = self._table.sum_limit(column.name)
        return None if most is None else most / self._most


def public_rows(table: Table, shared: SharedColumns, count: int, seed: int) -> TableRows:
    """Rows of a public table: one for each value of the columns that it may be joined by, or of its first one."""
    joined = [one for one in table.columns if shared.is_joined(one) and one.type not in VAGUE]
    joined = joined or [one for one in table.columns if one.type not in VAGUE][:1]
    values = {one.name: shared.public_values(one) for one in table.columns}
    streams = {one.name: HashStream(seed, table.name, one.name) for one in table.columns}
    found = TableRows(table)
    for number in range(min(count, prod(values[one.name].count for one in joined) if joined else count)):
        row: dict[str, Cell] = {}
        rest = number
        for column in table.columns:
            own = values[column.name]
            missing = streams[column.name].below(MISSING) == 0
            if column in joined:
                row[column.name], rest = own.at(rest % own.count), rest // own.count
            elif column.nullable and missing and number > 0:
                row[column.name] = None
            elif column.type in (Type.TEXT, Type.INTEGER, Type.DATE, Type.TIMESTAMP, Type.BOOLEAN):
                row[column.name] = own.at(number % own.count)  # in turn, so that it tells rows apart as far as it can
            else:
                row[column.name] = own.at(streams[column.name].below(own.count))
        found.rows.append(row)
        found.people.append(None)
    return found
