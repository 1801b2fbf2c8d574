"""Counts of several questions as sums over common cells: the rows that no question tells apart are one cell.

A question that counts rows keeps those whose columns meet comparisons with constants, and sorts them by keys. Each column
that some question names is cut into *atoms*: the intervals between all constants it is compared with, or its keys; and one
atom more for values that no question can reach, such as missing ones. A cell is an atom of every column, and every row of
every answer is a sum over cells: a row of zeros and ones. Atoms that no answer has are not counted: as in a question by
itself, rows that are not asked about do not use up a person's limits.

What questions have in common beside that (a relation, conditions of another form) must be the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from dither.query.plan.aggregates import CountRows
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, ColumnValue, Compare, Constant, InList, IsNull, Logic, Value
from dither.query.plan.question import Group, Question
from dither.query.policy.column import Key

MOST_CELLS = 4096
MOST_ROWS = 2048  # of all answers together
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
NOTHING = Constant(Fraction(0))
Cut = tuple[Any, bool]  # a constant, and whether the cut is behind it


@dataclass(frozen=True)
class Limit:
    """A condition that compares a cell with one constant, or with several of which one is enough."""

    cell: ColumnValue
    operator: str  # < <= > >= =
    values: tuple[Value, ...]


@dataclass(frozen=True)
class CutAxis:
    """A column cut at the constants that questions compare it with."""

    by: Expression
    cuts: tuple[Cut, ...]

    @property
    def size(self) -> int:
        return len(self.cuts) + 2  # one interval more than there are cuts, and nowhere

    def coded(self) -> Expression:
        """The number of the interval, or the last number where there is no value."""
        nowhere = Constant(Fraction(self.size - 1))
        return Case(((IsNull(self.by), nowhere),), self._search(0, len(self.cuts)))

    def _search(self, low: int, high: int) -> Expression:
        """Between the cuts low - 1 and high: by halving, so that a row takes few comparisons."""
        if low == high:
            return Constant(Fraction(low))
        middle = (low + high) // 2
        value, behind = self.cuts[middle]
        below = Compare("<=" if behind else "<", self.by, Constant(value))
        return Case(((below, self._search(low, middle)),), self._search(middle + 1, high))

    def reach(self, limit: Limit) -> set[int]:
        """The intervals whose values meet a condition."""
        everywhere = range(self.size - 1)
        if limit.operator == "=":
            ends = [(self.cuts.index((value, False)), self.cuts.index((value, True))) for value in limit.values]
            return {atom for low, high in ends for atom in range(low + 1, high + 1)}
        at = self.cuts.index((limit.values[0], limit.operator in ("<=", ">"))) + 1  # the first interval behind the cut
        return {atom for atom in everywhere if (atom < at) == (limit.operator in ("<", "<="))}


@dataclass(frozen=True)
class KeyAxis:
    """A column, or an expression, by its keys."""

    by: Expression
    keys: tuple[Key, ...]

    @property
    def size(self) -> int:
        return len(self.keys) + 1

    def coded(self) -> Expression:
        """The place of the key, or the last number for all other values."""
        places = [(Compare("=", self.by, _constant(key)), Constant(Fraction(at))) for at, key in enumerate(self.keys)]
        return Case(tuple(places), Constant(Fraction(len(self.keys))))

    def reach(self, limit: Limit) -> set[int]:
        """The keys that meet a condition."""
        return {self.keys.index(_key(value)) for value in limit.values}


Axis = CutAxis | KeyAxis


@dataclass(frozen=True)
class CommonCells:
    """The cells of several questions, and which of them each row of each answer adds up."""

    common: Question  # counts the rows of every cell
    places: tuple[tuple[int, int], ...]  # for each question, its first row and the one behind its last
    rows: tuple[frozenset[int], ...]  # of all answers: which cells

    @property
    def widest(self) -> int:
        """The most groups that one of the questions has."""
        return max(last - first for first, last in self.places)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(len(group.listed) for group in self.common.groups)


def countable(question: Question) -> bool:
    """Whether a question counts rows and does nothing else with them."""
    known = all(group.keys is not None for group in question.groups)
    return known and not question.sets and [type(aggregate) for aggregate in question.aggregates] == [CountRows]


def find_common_cells(questions: Sequence[Question]) -> CommonCells | None:
    """The cells of questions about one relation; None where they have too little in common, or too many cells."""
    conditions = [_parts(question.where) for question in questions]
    shared = [part for part in conditions[0] if all(part in others for others in conditions)]
    limits = []
    for parts in conditions:
        found = [_limit(part) for part in parts if part not in shared]
        if None in found:
            return None
        limits.append([limit for limit in found if limit is not None])
    axes = _axes(questions, limits)
    if axes is None or prod(axis.size for axis in axes.values()) > MOST_CELLS:
        return None
    if sum(prod(len(group.listed) for group in question.groups) for question in questions) > MOST_ROWS:
        return None
    where = None if not shared else shared[0] if len(shared) == 1 else Logic(True, tuple(shared))
    places: list[tuple[int, int]] = []
    rows: list[frozenset[int]] = []
    for question, own in zip(questions, limits, strict=True):
        first = len(rows)
        rows += _rows(question, own, axes)
        places.append((first, len(rows)))
    asked = _asked(rows, list(axes.values()))
    if not all(asked):
        return None  # no row can be in any answer
    groups = tuple(
        Group(f"atom {at}", axis.coded(), kept) for at, (axis, kept) in enumerate(zip(axes.values(), asked, strict=True))
    )
    common = Question(questions[0].relation, where, groups, questions[0].aggregates, ("n",))
    renamed = {_flat(at, list(axes.values())): place for place, at in enumerate(product(*asked))}
    return CommonCells(common, tuple(places), tuple(frozenset(renamed[cell] for cell in row) for row in rows))


def _parts(where: Expression | None) -> list[Expression]:
    """The conditions that all must hold."""
    if where is None:
        return []
    if isinstance(where, Logic) and where.every:
        return list(dict.fromkeys(part for inner in where.parts for part in _parts(inner)))
    return [where]


def _limit(part: Expression) -> Limit | None:
    if isinstance(part, InList) and isinstance(part.value, ColumnValue):
        return Limit(part.value, "=", tuple(dict.fromkeys(option.value for option in part.options)))
    if not isinstance(part, Compare) or part.operator not in FLIPPED:
        return None
    if isinstance(part.left, ColumnValue) and isinstance(part.right, Constant):
        return Limit(part.left, part.operator, (part.right.value,))
    if isinstance(part.left, Constant) and isinstance(part.right, ColumnValue):
        return Limit(part.right, FLIPPED[part.operator], (part.left.value,))
    return None


def _axes(questions: Sequence[Question], limits: list[list[Limit]]) -> dict[Expression, Axis] | None:
    """How each column that some question names is cut; None where one is both grouped by and compared in other ways."""
    axes: dict[Expression, Axis] = {}
    for question in questions:
        for group in question.groups:
            known = axes.get(group.by)  # days between two others: questions may list different ones of the same expression
            listed = (*known.keys, *group.listed) if isinstance(known, KeyAxis) else group.listed
            axes[group.by] = KeyAxis(group.by, tuple(dict.fromkeys(listed)))
    cuts: dict[Expression, set[Cut]] = {}
    for limit in (one for own in limits for one in own):
        axis = axes.get(limit.cell)
        if isinstance(axis, KeyAxis):
            if limit.operator != "=" or any(_key(value) not in axis.keys for value in limit.values):
                return None
            continue
        own = cuts.setdefault(limit.cell, set())
        own |= {(value, behind) for value in limit.values for behind in (False, True) if limit.operator == "="}
        if limit.operator != "=":
            own.add((limit.values[0], limit.operator in ("<=", ">")))
    axes |= {cell: CutAxis(cell, tuple(sorted(found))) for cell, found in cuts.items()}
    return axes or {NOTHING: KeyAxis(NOTHING, (0,))}  # the same question several times: all rows are alike


def _rows(question: Question, limits: list[Limit], axes: dict[Expression, Axis]) -> list[frozenset[int]]:
    """The cells of each row of an answer, in the order of its keys."""
    reach = {by: set(range(axis.size)) for by, axis in axes.items()}
    for limit in limits:
        reach[limit.cell] &= axes[limit.cell].reach(limit)
    own = [_places(axes[group.by], group.listed) for group in question.groups]
    rows = []
    for cell in product(*own):
        chosen = dict(zip([group.by for group in question.groups], cell, strict=True))
        places = [reach[by] & {chosen[by]} if by in chosen else reach[by] for by in axes]
        rows.append(frozenset(_flat(at, list(axes.values())) for at in product(*places)))
    return rows


def _places(axis: Axis, keys: tuple[Key, ...]) -> list[int]:
    """Where the keys of one question are among those of all."""
    assert isinstance(axis, KeyAxis)
    places = {key: place for place, key in enumerate(axis.keys)}
    return [places[key] for key in keys]


def _asked(rows: Sequence[frozenset[int]], axes: Sequence[Axis]) -> list[tuple[int, ...]]:
    """The atoms of each column that some answer has: rows elsewhere are in no answer, and take no part in any limit."""
    cells, found = frozenset[int]().union(*rows), list[tuple[int, ...]]()
    below = 1  # cells for each atom of the column
    for axis in reversed(axes):
        found.append(tuple(sorted({cell // below % axis.size for cell in cells})))
        below *= axis.size
    return found[::-1]


def _flat(at: tuple[int, ...], axes: Sequence[Axis]) -> int:
    found = 0
    for place, axis in zip(at, axes, strict=True):
        found = found * axis.size + place
    return found


def _constant(key: Key) -> Constant:
    return Constant(Fraction(key) if isinstance(key, int) and not isinstance(key, bool) else key)


def _key(value: Value) -> object:
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value
