"""Rows with owners: where the rows of a question come from, as a small closed set of nodes.

Every row of every relation belongs to exactly one person. A relation shows itself as a table: its columns with their
facts, the column that says whose a row is, and how much of a person counts. What a person's rows are depends on her own
rows and on public tables, on nothing else; so whatever is built here, a person who comes or goes takes her rows along and
leaves all others as they were. Bounding comes after all of it, once.

    Scan            the rows of a table; those without a person are nobody's, and are left out
    Chain           rows that belong to the owner of their parents in other tables, alone or beside them (`plan/chain.py`)
    FilterRows      the rows that meet a condition
    Project         other columns, computed row by row
    JoinPublic      rows beside the rows of a public table that match them: the owner stays; rows without a match are left
                    out, or kept with nothing beside them
    JoinOnPerson    rows of a person beside other rows of the same person, unless she has very many
    OuterJoin       the same, with rows that have none beside them (`plan/joins/outer_join.py`)
    SemiJoin        rows, each with whether others match it: of the same person, or public (`plan/joins/semi_join.py`)
    GroupByPerson   a person's own totals, one row for each person and key: exact whole numbers, so that they do not depend
                    on the order of rows, and so not on other people
    WindowByPerson  rows with what they have of other rows of the same person, whatever order the rows lie in
    UnionAll        rows of several relations, one after the other
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from dither.query.plan.base import Expression
from dither.query.plan.chain import Chain
from dither.query.plan.expression_parts import hard_facts
from dither.query.plan.expressions import ColumnValue, Compare, columns_of
from dither.query.plan.functions import Coalesce
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.pairs import Most, leaves_out, most_paired, pair_table, value_facts
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.person_totals import PersonTotal
from dither.query.plan.person_windows.window_functions import PersonWindow, WindowPlace, WindowTotal, WindowValue
from dither.query.policy import owner
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table

OURS = owner.OURS  # ends names of columns that no question can name
HIDDEN = owner.HIDDEN  # the column of the person where a question does not show it


@dataclass(frozen=True)
class Scan:
    """The rows of a table of the policy."""

    code: ClassVar[str] = "scan"

    table: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        return (self.table,)


@dataclass(frozen=True)
class FilterRows:
    """The rows that meet a condition."""

    code: ClassVar[str] = "filter"

    later_fields: ClassVar[dict[str, object]] = {"alone": False}

    of: Relation
    condition: Expression
    alone: bool = False  # whether it keeps one row of a person at most (`sql/person_windows/one_row.py`)

    @cached_property
    def table(self) -> Table:
        kept = table_where(self.of, self.condition)
        return replace(kept, alone=True) if self.alone else kept

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.of.tables


@dataclass(frozen=True)
class Project:
    """Other columns; the person goes along, under her own name or hidden."""

    code: ClassVar[str] = "project"

    of: Relation
    columns: tuple[tuple[Column, Expression], ...]
    hide: bool  # whether the person has a column of her own, beside those that were asked for

    @cached_property
    def table(self) -> Table:
        before = self.of.table
        columns, person = [column for column, _ in self.columns], None
        if before.person is not None:
            whose = before.column(before.person)
            assert whose is not None
            person = HIDDEN if self.hide else next(c.name for c, by in self.columns if by == ColumnValue(whose))
            columns += [Column(HIDDEN, whose.type, nullable=False)] if self.hide else []
        hard = {fact for fact in before.hard if "." not in fact}
        sums: list[tuple[str, Fraction]] = []
        for column, by in self.columns:
            hard |= hard_facts(column, by, before)
            if isinstance(by, ColumnValue) and (most := before.sum_limit(by.column.name)) is not None:
                sums.append((column.name, most))
                hard |= {f"max_sum.{column.name}"} if f"max_sum.{by.column.name}" in before.hard else set()
        after = replace(before, columns=tuple(columns), person=person, source=None)
        return replace(after, max_sum=tuple(sums), hard=frozenset(hard))

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.of.tables


@dataclass(frozen=True)
class JoinPublic:
    """Rows beside those of a public table that match them."""

    code: ClassVar[str] = "join_public"

    of: Relation
    public: Scan
    columns: tuple[tuple[Column, Column], ...]  # of the public table: as they are called here, and there
    on: tuple[Compare, ...]
    keep_all: bool  # also rows without a match

    @property
    def has_one_match(self) -> bool:
        """Whether a row has at most one match: all unique columns of the public table are compared by equality."""
        there = {here.name: column.name for here, column in self.columns}
        compared = {there[side.column.name] for one in self.on if isinstance(side := one.right, ColumnValue)}
        return bool(self.public.table.unique) and compared >= set(self.public.table.unique)

    @cached_property
    def table(self) -> Table:
        before = self.of.table
        beside = [column for column, _ in self.columns]
        if self.has_one_match:  # for statements only: bounding enforces the limits, also where it was one row before
            before = before.hard_by_rows if before.alone else before
            return replace(before, columns=(*before.columns, *beside), source=None, alone=False)
        # a row may have several matches: how many rows a person can have is no longer known
        hard = frozenset(value_facts(before))
        return replace(before, columns=(*before.columns, *beside), source=None, alone=False, hard=hard)

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*self.of.tables, *self.public.tables)


@dataclass(frozen=True)
class JoinOnPerson:
    """Rows of a person beside other rows of the same person."""

    code: ClassVar[str] = "join_on_person"

    left: Relation
    right: Relation
    columns: tuple[tuple[Column, Column], ...]  # of the right: as they are called here, and there
    on: tuple[Compare, ...]  # beside the person

    @property
    def most_rows(self) -> Most:
        """How many rows a person may have on each side; whoever has more is left out."""
        return most_paired(self.left.table, self.right.table)

    @cached_property
    def table(self) -> Table:
        left, right = self.left.table, self.right.table
        return replace(
            pair_table(left, right, self.columns),
            alone=left.alone and right.alone,
            drops_people=leaves_out(left, right, self.most_rows) or left.drops_people or right.drops_people,
            drops_rows=left.drops_rows or right.drops_rows,
            clamps_values=left.clamps_values or right.clamps_values,
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*self.left.tables, *self.right.tables)


@dataclass(frozen=True)
class GroupByPerson:
    """A person's own totals: one row for each person and key."""

    code: ClassVar[str] = "group_by_person"

    of: Relation
    keys: tuple[tuple[Column, Expression], ...]  # beside the person
    totals: tuple[PersonTotal, ...]
    person: Column  # as she is called here

    @cached_property
    def table(self) -> Table:
        before = self.of.table
        columns = [self.person, *(column for column, _ in self.keys), *(own.column for own in self.totals)]
        table = replace(before, columns=tuple(columns), person=self.person.name, source=None, alone=not self.keys)
        clamps = before.clamps_values or before.drops_rows or any(own.changes_values(before) for own in self.totals)
        hard = {fact for fact in before.hard if "." not in fact}  # she has no more rows here than there
        hard |= {fact for column, key in self.keys for fact in hard_facts(column, key, before)}
        hard |= {fact for own in self.totals for fact in own.hard_facts(before)}
        return replace(table, clamps_values=clamps, max_sum=(), hard=frozenset(hard))

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.of.tables


@dataclass(frozen=True)
class WindowByPerson:
    """Rows with one column more, computed of rows of the same person. Several windows are one above the other: rows that
    all columns leave equal are told apart by the windows below (`engines/templates/window_functions.md`)."""

    code: ClassVar[str] = "window_by_person"

    of: Relation
    window: PersonWindow

    @cached_property
    def table(self) -> Table:
        before, column, window = self.of.table.hard_by_rows, self.window.column, self.window
        clamps = before.clamps_values or before.drops_rows
        match window:
            case WindowPlace():  # nobody has more rows than the owner says, and so no place is beyond
                hard = {f"bounds.{column.name}"} if before.hard_rows is not None else set()
            case WindowValue():
                hard = hard_facts(column, window.of, before)
            case WindowTotal(total):
                hard, clamps = total.hard_facts(before), clamps or total.changes_values(before)
        return replace(before, columns=(*before.columns, column), source=None, hard=before.hard | hard, clamps_values=clamps)

    @property
    def tables(self) -> tuple[Table, ...]:
        return self.of.tables


@dataclass(frozen=True)
class UnionAll:
    """Rows of several relations with the same columns."""

    code: ClassVar[str] = "union_all"

    parts: tuple[Relation, ...]

    @cached_property
    def table(self) -> Table:
        tables = [part.table for part in self.parts]
        columns = [_common([table.columns[place] for table in tables]) for place in range(len(tables[0].columns))]
        groups, rows = max(table.max_groups for table in tables), sum(table.max_rows_per_group for table in tables)
        name = " and ".join(dict.fromkeys(table.name for table in tables))
        least = max(table.min_people for table in tables)
        if tables[0].person is None:
            groups = rows = 1
            return Table(name, tuple(columns), None, groups, rows, min_people=least)
        known = [table.hard_rows for table in tables if table.hard_rows is not None]
        hard = len(known) == len(tables)
        most = sum(known) if hard else sum(table.most_rows for table in tables)
        stated = hard or any(table.max_rows is not None for table in tables)
        table = Table(name, tuple(columns), tables[0].person, groups, rows, min_people=least)
        drops, clamps = any(one.drops_people for one in tables), any(one.clamps_values for one in tables)
        shares = any(one.shares_rows for one in tables)
        # whoever is left out of one part has her rows of the others
        facts = {
            f"{what}.{column.name}"
            for place, column in enumerate(columns)
            for what in ("bounds", "steps", "keys")
            if all(f"{what}.{table.columns[place].name}" in table.hard for table in tables)
            and (what == "bounds" or all(table.columns[place].step == column.step for table in tables))
        }
        table = replace(table, drops_people=drops, drops_rows=drops, clamps_values=clamps, shares_rows=shares)
        if stated:
            table, facts = replace(table, max_rows=most), facts | ({"max_rows"} if hard else set())
        return replace(table, hard=frozenset(facts))

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(table for part in self.parts for table in part.tables)


Joined = OuterJoin["Relation"] | SemiJoin["Relation"]
Relation = (
    Scan | Chain | FilterRows | Project | JoinPublic | JoinOnPerson | Joined | GroupByPerson | WindowByPerson | UnionAll
)


def table_where(of: Relation, condition: Expression | None) -> Table:
    """Return a relation as a table, of the rows that meet a condition."""
    unmatched = of.unmatched(condition) if isinstance(of, OuterJoin) and condition is not None else None
    return of.table if unmatched is None else unmatched


def shown_columns(table: Table) -> tuple[Column, ...]:
    """The columns that a question around this one can name."""
    return tuple(column for column in table.columns if not column.name.endswith(OURS))


class OwnTotal(NamedTuple):
    """A person's own total, and whether it is the one of their own that a column holds."""

    total: PersonTotal
    is_one: bool


def total_behind(relation: Relation, column: Column) -> OwnTotal | None:
    """Return the person's own total whose numbers a column holds, of a union one of them; None for other columns."""
    match relation:
        case GroupByPerson(_, keys, totals):
            total = next((total for total in totals if total.column == column), None)
            return None if total is None else OwnTotal(total, not keys)
        case WindowByPerson(of, window):
            if isinstance(window, WindowTotal) and window.column == column:
                return OwnTotal(window.total, False)
            return total_behind(of, column)
        case Project(of, columns):
            by = next((by for here, by in columns if here == column), None)
            parts = by.parts if isinstance(by, Coalesce) else (by,)
            found = (total_behind(of, part.column) for part in parts if isinstance(part, ColumnValue))
            return next((total for total in found if total is not None), None)
        case JoinOnPerson(left, right, columns) | OuterJoin(left, right, columns):
            there = dict(columns)
            if column in there:
                return total_behind(right, there[column])
            mine = next((one for one in left.table.columns if one.name == column.name), None)
            return None if mine is None else total_behind(left, mine)
        case FilterRows(of) | JoinPublic(of) | SemiJoin(of):
            return total_behind(of, column)
        case UnionAll(parts):
            at = next(place for place, one in enumerate(relation.table.columns) if one.name == column.name)
            several = (total_behind(part, part.table.columns[at]) for part in parts)
            return next((total._replace(is_one=False) for total in several if total is not None), None)
        case Scan() | Chain():
            return None


def limits_groups(relation: Relation, where: Expression | None, keys: Sequence[Expression]) -> bool:
    """Return whether hard limits of groups hold for groups by such keys: an owner speaks of groups by cells of a table.

    A person's rows are in no more groups by a column that has one value for each person; but all may be in one of these.
    """
    kinds = [_key_kind(_kept(relation, where), key) for key in keys]
    return not kinds or ("other" not in kinds and "cell" in kinds)


KeyKind = Literal["cell", "person", "other"]  # cells of a table; one value for each person; all else


def _kept(relation: Relation, where: Expression | None) -> Relation:
    """The relation whose rows meet a condition: of an outer join, perhaps its left side alone."""
    unmatched = isinstance(relation, OuterJoin) and where is not None and relation.unmatched(where) is not None
    return relation.left if isinstance(relation, OuterJoin) and unmatched else relation


def _key_kind(relation: Relation, key: Expression) -> KeyKind:
    """What rows are sorted by: cells decide, if no column is of another kind."""
    kinds = {_column_kind(relation, column) for column in columns_of(key)}
    return "other" if "other" in kinds else "cell" if "cell" in kinds else "person"


def _column_kind(relation: Relation, column: Column) -> KeyKind:
    match relation:
        case Scan(table):
            return "cell" if column in table.columns else "other"
        case Chain(links):  # the limits are those of the table whose rows are counted: cells of its parents are others
            return "cell" if any(here == column for here, _ in links[0].columns) else "other"
        case FilterRows(of, condition):
            return _column_kind(_kept(of, condition), column)
        case Project(of, columns) | GroupByPerson(of, columns):
            by = next((by for here, by in columns if here == column), None)
            return "other" if by is None else _key_kind(of, by)
        case JoinOnPerson(left, right, columns) | OuterJoin(left, right, columns):
            there, mine = dict(columns), {one.name: one for one in left.table.columns}
            if column not in there and column.name not in mine:
                return "other"
            side, other = (right, left) if column in there else (left, right)
            one_row = side.table.hard_rows == 1
            if one_row or other.table.hard_rows != 1:  # beside missing values, the one row is not beside all of hers
                apart = isinstance(relation, OuterJoin) and bool(relation.on) and side is right
                return "person" if one_row and not apart else "other"
            return _column_kind(side, there[column] if column in there else mine[column.name])
        case SemiJoin(of) | WindowByPerson(of) if column in of.table.columns:
            return _column_kind(of, column)
        case JoinPublic(of) if relation.has_one_match and column in of.table.columns:
            return _column_kind(of, column)
    return "other"


def person_words(table: Table) -> str:
    """The column of the person, as a refusal can name it."""
    named = table.person is not None and not table.person.endswith(OURS)
    return str(table.person) if named else "the person"


def _common(columns: list[Column]) -> Column:
    """A column that holds what each of several holds."""
    first = columns[0]
    kind = first.type
    if any(column.type is not kind for column in columns):
        kind = Type.FLOAT if any(column.type is Type.FLOAT for column in columns) else Type.DECIMAL
    lower = [column.lower for column in columns if column.lower is not None]
    upper = [column.upper for column in columns if column.upper is not None]
    step = None
    if len(lower) == len(columns) == len(upper):
        steps = {column.step for column in columns}
        step = first.step if len(steps) == 1 else None
        ends: tuple[Fraction | None, Fraction | None] = (min(lower), max(upper))
    else:
        ends = (None, None)
    keys = None
    if all(column.keys is not None and not column.clamped for column in columns):
        keys = tuple(sorted({key for column in columns for key in column.keys or ()}))
    days = [(column.first, column.last) for column in columns if column.first is not None and column.last is not None]
    span = (min(day for day, _ in days), max(day for _, day in days)) if len(days) == len(columns) else (None, None)
    return Column(first.name, kind, *ends, step, keys, any(column.nullable for column in columns), *span)
