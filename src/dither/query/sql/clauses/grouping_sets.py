"""GROUP BY ROLLUP, CUBE and GROUPING SETS; GROUPING(a), which tells their rows apart; names for rows of totals.

    ROLLUP (a, b)             (a, b), (a), ()
    CUBE (a, b)               (a, b), (a), (b), ()
    GROUPING SETS (x, y)      the sets of x, then those of y
    x, y                      each set of x with each of y

All rows follow from counts of the finest groups, those by all columns of all sets (`workload/grouping_release.py`). So their
keys must be known, totals are over the keys that are listed, and what does not add up over groups is not answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate, CountPersons, PairAggregate, Variance
from dither.query.plan.base import Expression
from dither.query.plan.derived import Derived
from dither.query.plan.question import Group, Grouping
from dither.query.policy.column import Type
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql.syntax import refuse, shown

MOST_SETS = 16  # CUBE of 4 columns: the noise of each enters all others
MOST_COLUMNS = 6  # of all sets together
MOST_CELLS = 100_000  # finest groups, and rows of all sets together
SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
MARKS = (exp.Grouping, exp.GroupingId)
Place = Callable[[exp.Expr], int]  # of a column of GROUP BY among the groups


def place_of_group(meaning: Expression | None, groups: Sequence[Group]) -> int | None:
    """Which group a meaning is."""
    return next((at for at, group in enumerate(groups) if meaning is not None and group.meaning == meaning), None)


def has_sets(clause: exp.Expr | None) -> bool:
    """Whether a GROUP BY asks for several groupings."""
    return clause is not None and any(isinstance(node, SETS) for node in clause.expressions)


def read_sets(clause: exp.Expr, place: Place) -> tuple[tuple[int, ...], ...]:
    """The grouping sets of a GROUP BY, as places of groups; `place` finds the group of a node, or makes one."""
    found: list[tuple[exp.Expr, ...]] = [()]
    for node in clause.expressions:
        own = _sets(node)
        if len(found) * len(own) > MOST_SETS:
            raise refuse(
                clause, f"it asks for more than {MOST_SETS} groupings", "fewer columns, or GROUPING SETS with fewer"
            )
        found = [(*before, *more) for before, more in product(found, own)]
    return tuple(tuple(sorted({place(node) for node in nodes})) for nodes in found)


def _sets(node: exp.Expr) -> list[tuple[exp.Expr, ...]]:
    if isinstance(node, exp.GroupingSets):
        return [one for part in node.expressions for one in _sets(part)]
    if isinstance(node, exp.Rollup):
        parts = [_columns(part) for part in node.expressions]
        return [tuple(column for part in parts[:last] for column in part) for last in range(len(parts), -1, -1)]
    if isinstance(node, exp.Cube):
        parts = [_columns(part) for part in node.expressions]
        if 2 ** len(parts) > MOST_SETS:
            raise refuse(node, f"it asks for more than {MOST_SETS} groupings", "CUBE of fewer columns, or GROUPING SETS")
        chosen = product((True, False), repeat=len(parts))
        return [tuple(c for part, use in zip(parts, uses, strict=True) if use for c in part) for uses in chosen]
    return [_columns(node)]


def _columns(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """(a, b), (a), () or a: columns that go together."""
    found = tuple(node.expressions) if isinstance(node, exp.Tuple) else (node.unnest(),)
    for column in found:
        if isinstance(column, (*SETS, exp.Tuple)):
            raise refuse(
                column,
                "here stand columns, or lists of columns",
                "lists such as GROUPING SETS ((<a>, <b>), (<a>), ())",
            )
    return found


def check_sets(
    tree: exp.Select,
    groups: Sequence[Group],
    sets: Sequence[Sequence[int]],
    aggregates: Sequence[Aggregate],
    derived: Sequence[Derived],
) -> None:
    """Refuse what does not follow from counts of the finest groups."""
    clause = tree.args["group"]
    for group in groups:
        if group.keys is None:
            why = f"nobody declared the keys of {group.name}: which are shown is chosen privately, so parts need not add up"
            raise refuse(clause, why, _one_by_one(tree, groups, sets))
    for aggregate in aggregates:
        if (
            not aggregate.counted
            or isinstance(aggregate, (CountPersons, PairAggregate, Variance))
            or aggregate.of_all_groups
        ):
            why = (
                f"{aggregate.name}: {aggregate.words} does not add up over groups, so each grouping is a question of its own"
            )
            raise refuse(clause, why, _one_by_one(tree, groups, sets))
    for column in derived:
        if column.has_window:
            why = f"{column.name} looks at other rows, and rows of several groupings are parts of each other"
            raise refuse(clause, why, _one_by_one(tree, groups, sets))
    if len(groups) > MOST_COLUMNS:
        raise refuse(clause, f"more than {MOST_COLUMNS} columns are in its groupings", _one_by_one(tree, groups, sets))
    sizes = [len(group.listed) for group in groups]
    cells, rows = prod(sizes), sum(prod(sizes[at] for at in own) for own in sets)
    if max(cells, rows) > MOST_CELLS:
        why = f"{cells} combinations of keys are counted for {rows} rows of the answer; {MOST_CELLS} are the most of either"
        raise refuse(clause, why, _one_by_one(tree, groups, sets))


def _one_by_one(tree: exp.Select, groups: Sequence[Group], sets: Sequence[Sequence[int]]) -> str:
    several = [", ".join(groups[at].name for at in own) for own in sets]
    told = "; ".join(f"GROUP BY {own}" if own else "no GROUP BY" for own in several[:4])
    return f"a batch of {len(several)} questions: {told}{'; ...' if len(several) > 4 else ''}"


# -- columns of the answer ---------------------------------------------------------------------------------------------


class Marks:
    """The columns GROUPING(a, b) and GROUPING_ID(a, b) of a question."""

    def __init__(self, group_of: Callable[[exp.Expr], int | None]) -> None:
        self.group_of, self.found = group_of, list[Grouping]()

    def add(self, node: exp.Expr, name: str) -> str:
        """One more; its name is given, or as it is written."""
        self.found.append(Grouping(name or shown(node)[:NAME_LENGTH], self._places(node)))
        return self.found[-1].name

    @property
    def names(self) -> list[str]:
        """How they are called."""
        return [one.name for one in self.found]

    def named(self, node: exp.Expr) -> str | None:
        """The column that a node of HAVING or ORDER BY is, which is added where SELECT does not have it; None for others."""
        if not isinstance(node, MARKS):
            return None
        places = self._places(node)
        return next((one.name for one in self.found if one.places == places), None) or self.add(node, "")

    def _places(self, node: exp.Expr) -> tuple[int, ...]:
        return _mark_places(node, self.group_of)


def _mark_places(node: exp.Expr, group_of: Callable[[exp.Expr], int | None]) -> tuple[int, ...]:
    if not node.expressions:
        raise refuse(node, "it is about columns of GROUP BY", "GROUPING(<column>) of a column that stands in ROLLUP")
    places = [group_of(column) for column in node.expressions]
    for column, place in zip(node.expressions, places, strict=True):
        if place is None:
            raise refuse(column, "it is no column of GROUP BY", "GROUPING of a column that stands in ROLLUP")
    return tuple(place for place in places if place is not None)


def read_total(node: exp.Expr, groups: Sequence[Group], group_of: Callable[[exp.Expr], int | None]) -> int | None:
    """The place of the group that COALESCE(ward, 'all') shows, or CASE WHEN GROUPING(ward) = 1 THEN 'all' ELSE ward END.

    None for anything else. Groups are not changed by it: a key is never missing in a row of its own set.
    """
    found = _named_total(node)
    if found is None:
        return None
    column, _ = found
    place = group_of(column)
    if place is not None and groups[place].by.facts.type is not Type.TEXT:
        why = f"{shown(column)} is no text, so that no text can stand in its place"
        raise refuse(node, why, f"{shown(column)} as it is, beside GROUPING of it, which tells totals apart")
    return place


def with_total(node: exp.Expr, group: Group) -> Group:
    """The group with that name for its totals."""
    found = _named_total(node)
    assert found is not None
    return replace(group, total=found[1])


def _named_total(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    if isinstance(node, exp.Coalesce) and len(node.expressions) == 1:
        return _text(node.this, node.expressions[0])
    if not isinstance(node, exp.Case) or node.this is not None or len(node.args["ifs"]) != 1:
        return None
    branch, other = node.args["ifs"][0], node.args.get("default")
    test = branch.this.unnest()
    mark = test.this if isinstance(test, exp.EQ) else test
    if not isinstance(mark, MARKS) or len(mark.expressions) != 1 or other is None or other.unnest() != mark.expressions[0]:
        return None
    if isinstance(test, exp.EQ) and test.expression != exp.Literal.number(1):
        return None
    return _text(other.unnest(), branch.args["true"])


def _text(column: exp.Expr, label: exp.Expr) -> tuple[exp.Expr, str] | None:
    return (column, str(label.this)) if isinstance(label, exp.Literal) and label.is_string else None
