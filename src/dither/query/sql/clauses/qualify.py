"""QUALIFY: which rows of an answer are shown, by windows over it: RANK() <= 3, a share of the total. No private row is read.

Windows look at the rows that HAVING has kept; QUALIFY keeps some of these, and changes no window. What it computes that
SELECT does not name is a column that is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate
from dither.query.plan.derived import Derived, ReleasedValue
from dither.query.plan.question import Group, Having
from dither.query.sql.aggregates import READERS
from dither.query.sql.clauses.having import HavingReader
from dither.query.sql.derived import DerivedReader, column_name
from dither.query.sql.expressions import Reader
from dither.query.sql.syntax import refuse


def read_qualify(
    clause: exp.Expr | None,
    reader: Reader,
    groups: Sequence[Group],
    derived: list[Derived],
    computing: DerivedReader,
    known: Callable[[exp.Expr], str | None],
) -> tuple[Having, ...]:
    """The conditions of QUALIFY; columns that they need are added to `derived`. `known` names one that is there."""
    if clause is None:
        return ()
    if any(aggregate.of_all_groups for aggregate in computing.aggregates):
        raise refuse(
            clause,
            "a running sum is of all groups, and QUALIFY would leave some out",
            "the question without QUALIFY",
        )
    meant = computing.meant

    def named(node: exp.Expr) -> str | None:
        name = known(node)
        stands = meant(node)
        if name is None and stands is not node and not computing.computes(stands):
            return None  # a key
        if name is None and computing.computes(node):
            term = computing.term(node)
            if isinstance(term, ReleasedValue):
                return term.name
            name = _unused(column_name(node), groups, computing.aggregates, derived)
            derived.append(Derived(name, term))
        if any(found.name == name and not found.is_number for found in computing.aggregates):
            raise refuse(node, f"{name} is no number that could be compared with one", "QUALIFY about numbers alone")
        return name

    if clause.find(*READERS, exp.Window) is None and not computing.computes(clause.this):
        raise refuse(
            clause,
            "QUALIFY is about windows over the answer",
            "WHERE for rows, HAVING for aggregates",
        )
    return HavingReader(reader, groups, named, meant, "QUALIFY").conditions(clause)


def _unused(text: str, groups: Sequence[Group], aggregates: Sequence[Aggregate], derived: Sequence[Derived]) -> str:
    taken = {one.name.lower() for several in (groups, aggregates, derived) for one in several}
    number, name = 1, text
    while any(f"{name}{end}".lower() in taken for end in ("", "_low", "_high")):
        number += 1
        name = f"value_{number}"
    return name
