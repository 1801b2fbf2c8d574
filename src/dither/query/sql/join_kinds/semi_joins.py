"""EXISTS, IN (SELECT ...), SEMI JOIN and ANTI JOIN: whether a row has a match among other rows of its owner, or public ones.

    person IN (SELECT patient FROM stays WHERE nights > 3)
    EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person AND s.day < v.day)
    visits v ANTI JOIN stays s ON s.patient = v.person

Each is a column more, true or false (`plan/joins/semi_join.py`), which is put where the condition stood: so it may stand
beside AND, OR, NOT and in CASE. x IN (SELECT y ...) looks for a row with y = x.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count as numbers
from typing import NamedTuple

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.expression_parts import exchanged
from dither.query.plan.expressions import Case, ColumnValue, Compare, Constant, IsNull, Logic, Not, columns_of
from dither.query.plan.joins.semi_join import SemiJoin, is_equality
from dither.query.plan.relations import OURS, FilterRows, Relation, Scan
from dither.query.policy.column import Column, Type
from dither.query.sql import scope
from dither.query.sql.chains import chain_words
from dither.query.sql.dates.written_dates import alike
from dither.query.sql.expressions import Reader
from dither.query.sql.join_kinds.conditions import CorrelatedScope, on_conditions, parts_of
from dither.query.sql.join_kinds.owners import Beside, equality_words, limited, owned_alike, person_of, renamed
from dither.query.sql.rewrites.equivalents import only_true_counts
from dither.query.sql.scope import Name, Scope
from dither.query.sql.syntax import refuse

Condition = tuple[Expression, exp.Expr]  # what it means, and as it is written


class Looked(NamedTuple):
    """What a condition looks at: the rows of an inner SELECT, its WHERE, and its columns."""

    rows: Scope
    where: Sequence[exp.Expr]
    items: Sequence[exp.Expr]


def subqueries(tree: exp.Select) -> Iterator[exp.Expr]:
    """EXISTS and IN (SELECT ...) of a SELECT itself: in WHERE, among its columns and in GROUP BY."""
    for node in parts_of(tree):
        if isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None):
            yield node


def exists(node: exp.Expr, around: Scope, looked: Looked) -> tuple[Scope, exp.Expr]:
    """The relation with a column more, and what stands for EXISTS."""
    match = _Match.of(node, around, looked.rows)
    return match.made([(match.inside.condition(one), one) for one in looked.where])


def member(node: exp.Expr, around: Scope, looked: Looked) -> tuple[Scope, exp.Expr]:
    """The relation with a column more, or several, and what stands for x IN (SELECT y ...).

    It is TRUE where a row has y = x. Otherwise it is NULL where x is and there is a row, and where a row has no y; else it
    is FALSE. Persons are there in all rows. Whether others have rows at all is not looked at: where rows are found by x
    alone, along a chain, it is NULL where x is, and y is there in all rows that have an owner. Where only TRUE counts, none
    of that matters.
    """
    this = node.this.unnest()
    mine = list(this.expressions) if isinstance(this, exp.Tuple) else [this]
    if len(mine) != len(looked.items):
        raise refuse(node, f"{len(mine)} values are compared with {len(looked.items)} columns", "as many on both sides")
    sure = only_true_counts(node)
    if len(mine) > 1 and not sure:
        why = "several values at once are compared by IN, in WHERE and CASE; under NOT engines differ where one is NULL"
        raise refuse(node, why, "NOT EXISTS with an equality for each of them")
    match, reader = _Match.of(node, around, looked.rows, is_member=not sure), Reader(around)
    equal = []
    for one, item in zip(mine, looked.items, strict=True):
        other = item.unalias()
        pair = alike(one, reader.value(one), other, match.inside.value(other))
        equal.append((Compare("=", *pair), exp.EQ(this=one.copy(), expression=other.copy())))
    others = [(match.inside.condition(one), one) for one in looked.where]
    found, is_there = match.made([*equal, *others])
    value, other_value = equal[0][0].left, equal[0][0].right
    known = match.looks_at_own([one for one, _ in others])  # whether there is a row, and whether one has no y
    if sure or match.are_persons(value, other_value) or not (value.facts.nullable or (known and other_value.facts.nullable)):
        return found, is_there
    unknown: exp.Expr = exp.Is(this=mine[0].copy(), expression=exp.Null())
    if known:
        nothing = IsNull(other_value), exp.Is(this=looked.items[0].unalias().copy(), expression=exp.Null())
        found, any_row = replace(match, around=found).made(others)
        found, no_value = replace(match, around=found).made([*others, nothing])
        unknown = exp.Or(this=exp.Paren(this=exp.And(this=unknown, expression=any_row)), expression=no_value)
    branches = [(is_there, exp.true()), (exp.Not(this=exp.Paren(this=unknown)), exp.false())]
    return found, exp.Case(ifs=[exp.If(this=condition, true=then) for condition, then in branches])


def semi_join(left: Scope, right: Scope, join: exp.Join, *, anti: bool) -> Scope:
    """The rows of the left that have a match, or those that have none."""
    match = _Match.of(join, left, right)
    found, mine = match.column([(one, join) for one in on_conditions(join, left, right, match.columns)])
    column: Expression = ColumnValue(found.table.columns[-1])
    if mine:  # of the row alone; NULL is no match
        column = Logic(True, (column, *(Case(((one, Constant(True)),), Constant(False)) for one, _ in mine)))
    return replace(left, relation=FilterRows(found.relation, Not(column) if anti else column))


def _turned(condition: Expression, theirs: set[Column]) -> Expression:
    """An equality with the other relation on its right; all else as it is."""
    turns = isinstance(condition, Compare) and condition.operator == "=" and columns_of(condition.left) <= theirs
    return Compare("=", condition.right, condition.left) if isinstance(condition, Compare) and turns else condition


@dataclass(frozen=True)
class _Match:
    """A column more: whether a row has a match among others."""

    node: exp.Expr
    around: Scope
    rows: Scope
    columns: Beside  # of the others, under names that are not taken
    is_member: bool

    @classmethod
    def of(cls, node: exp.Expr, around: Scope, rows: Scope, *, is_member: bool = False) -> _Match:
        called = rows.names[0].called if rows.names else ""
        columns = scope.unlike(rows.table.columns, called or "inner", around.table.columns)
        return cls(node, around, rows, columns, is_member)

    @cached_property
    def inside(self) -> Reader:
        """Reads what stands inside the SELECT."""
        return Reader(CorrelatedScope(self.rows.relation, renamed(self.rows, self.columns), around=self.around))

    def looks_at_own(self, conditions: Sequence[Expression]) -> bool:
        """Whether conditions alone leave public rows, or rows of the same person."""
        return self.rows.table.public or owned_alike(self.around, self.rows, self.columns, conditions) is not None

    def are_persons(self, mine: Expression, theirs: Expression) -> bool:
        """Whether they are the persons of both rows, who are there."""
        whose, other = person_of(self.around), person_of(self.rows)
        hers = {ColumnValue(here) for here, there in self.columns if there == other}
        return whose is not None and mine == ColumnValue(whose) and theirs in hers

    def made(self, conditions: Sequence[Condition]) -> tuple[Scope, exp.Expr]:
        """The relation with the column, and what stands for the condition: the column, and what is about the row alone."""
        scope_with, mine = self.column(conditions)
        found: exp.Expr = exp.column(scope_with.table.columns[-1].name, quoted=True)
        for _, node in mine:  # NULL is no match
            holds = exp.Case(ifs=[exp.If(this=node.copy(), true=exp.true())], default=exp.false())
            found = exp.And(this=found, expression=holds)
        return scope_with, exp.Paren(this=found) if mine else found

    def column(self, conditions: Sequence[Condition]) -> tuple[Scope, list[Condition]]:
        """The relation with the column, and the conditions that are about the row alone."""
        there: dict[Expression, Expression] = {ColumnValue(here): ColumnValue(there) for here, there in self.columns}
        theirs = {here for here, _ in self.columns}
        rows, both, mine = self.rows, list[Expression](), list[Condition]()
        for condition, node in conditions:
            about = columns_of(condition)
            if about <= theirs:
                rows = replace(rows, relation=FilterRows(rows.relation, exchanged(condition, there)))
            elif about & theirs:
                both.append(_turned(condition, theirs))
            else:
                mine.append((condition, node))
        on = tuple(self._checked(rows, both))
        taken = {column.name for column in (*self.around.table.columns, *theirs)}
        name = next(name for number in numbers(1) if (name := f"exists {number}{OURS}") not in taken)
        column = Column(name, Type.BOOLEAN, nullable=False)
        relation = limited(
            SemiJoin(self.around.relation, rows.relation, self.columns, on, column, self.is_member), self.node
        )
        return replace(self.around, relation=relation, names=(*self.around.names, Name("", name, column))), mine

    def _checked(self, rows: Scope, both: list[Expression]) -> list[Expression]:
        """The conditions on both rows, beside that of owners; refused where rows of others would be looked at."""
        if rows.table.public:
            self._check_public(rows, both)
            return both
        on = owned_alike(self.around, rows, self.columns, both)
        if on is not None:
            return on
        if self.around.table.person is None or rows.table.person is None:
            why = "rows are looked at that may be somebody else's: on one side rows have no person with a name"
            raise refuse(self.node, why, "tables whose policy names the column of the person")
        why = "it would keep or drop a row because of other people's rows: an equality of the two persons must be among its"
        why += " conditions, joined to others by AND"
        equal = equality_words(self.around, rows)
        instead = "a SELECT that has the person among its columns, or rows along a chain of the policy"
        if equal is not None:
            instead = f"{equal} among the conditions of its WHERE or ON"
        raise refuse(self.node, why, chain_words(self.around, rows) or instead)

    def _check_public(self, rows: Scope, both: list[Expression]) -> None:
        """Refuse what would look at a whole public table for each row."""
        of: Relation = rows.relation
        while isinstance(of, (FilterRows, SemiJoin)):
            of = of.of
        pairs = not all(map(is_equality, both))
        if pairs and (not any(map(is_equality, both)) or not isinstance(of, Scan)):
            why = "each row would be compared with every row of a public table"
            raise refuse(self.node, why, "an equality of a column of each among the conditions")
