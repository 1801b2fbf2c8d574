"""A chain of tables: rows that belong to the owner of their parents, alone or beside them.

Theorem. Let p be a person, and let two databases differ in p's rows of tables with a person, and in rows of other tables
whose chains end at nobody but p. Then the rows of a chain that belong to anybody else are the same in both.
Legend. A row of the last table belongs to the person in it. A row r of a table below leads to the rows of its parent with
the same key, and its chains end at all their owners. (r1, .., rm) is a row of q's if each r leads to the next, and the last
belongs to q, or leads to a row above of q's: then it is there once, however many such rows q has.
Proof. Let q be another person. By induction from the last table down, the rows of each table whose chains end at q are the
same in both databases: those of the last table are q's own; a row below that leads to one of them does not end at p alone,
so it is in both; and no row that is in one database only leads to one. Whether (r1, .., rm) is q's depends on these rows
alone. So does whether it is left out: how many rows of q's share a key is counted among q's own.

No choice is made among several parents, and nothing is dropped because several people have the same key: a person who
repeats everybody's keys would take, or drop, everybody's rows. She gets rows of her own beside them instead.

Why one person cannot make too many of them: of her parents with one key, if they are more than MOST_REPEATED, none is shown
beside a row (where parents are not shown, a row is hers once). So of a chain she has at most MOST_REPEATED rows for each row
of its first table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from dither.query.policy.column import Column
from dither.query.policy.owner import HIDDEN
from dither.query.policy.table import Table

MOST_REPEATED = 10  # parents of one person with the same key, beside which rows are shown; of more, none is


@dataclass(frozen=True)
class Link:
    """A table of a chain, and its columns: as they are called here, and there."""

    code: ClassVar[str] = "link"

    table: Table
    columns: tuple[tuple[Column, Column], ...]

    def here(self, name: str) -> Column:
        """A column of the table, as it is called here."""
        return next(here for here, there in self.columns if there.name == name)


@dataclass(frozen=True)
class Chain:
    """Rows of a table beside their parents, each with the owner at the end of the chain."""

    code: ClassVar[str] = "chain"

    links: tuple[Link, ...]  # the parent of each is the next
    above: tuple[Table, ...]  # parents of the last one, which are read for their owners only

    @cached_property
    def table(self) -> Table:
        child, last = self.links[0], self.links[-1]
        columns = [here for link in self.links for here, _ in link.columns]
        if self.above:
            person, end = HIDDEN, self.above[-1]
            whose = end.column(str(end.person))
            assert whose is not None
            columns.append(Column(HIDDEN, whose.type, nullable=False))
        else:
            assert last.table.person is not None
            person = last.here(last.table.person).name
        # several rows above may have one key, and belong to different people: each of them has the row below
        shares = any("owner" not in table.hard for table in self.tables[len(self.links) - 1 : -1])
        hard = {one for one in child.table.hard if "." not in one} - {"owner"}
        for link in self.links:
            facts = [one.partition(".") for one in link.table.hard if "." in one]
            hard |= {f"{fact}.{link.here(name).name}" for fact, _, name in facts if fact != "max_sum" or link is child}
        drops = shares or any("owner" not in link.table.hard for link in self.links[:-1])
        return replace(
            child.table,
            columns=tuple(columns),
            person=person,
            source=None,
            max_sum=tuple((child.here(name).name, most) for name, most in child.table.max_sum),
            hard=frozenset(hard),
            drops_people=drops,
            drops_rows=drops,
            clamps_values=shares,  # what is counted may be more than there is: it is no lower bound of it either
            shares_rows=shares,
            min_people=max(table.min_people for table in self.tables),
            owner=None,
            ids=frozenset(),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*(link.table for link in self.links), *self.above)


def scanned(table: Table, above: tuple[Table, ...]) -> Chain:
    """The rows of a table that has its owners through others."""
    return Chain((plain_link(table),), above)


def plain_link(table: Table) -> Link:
    """A table whose columns are called what they are."""
    return Link(table, tuple((column, column) for column in table.columns))
