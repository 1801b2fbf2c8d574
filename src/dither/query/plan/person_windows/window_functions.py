"""Windows within one person: a number or a value of each row that is computed of her rows alone. A closed set of nodes.

    WindowPlace    ROW_NUMBER, RANK, DENSE_RANK: where a row stands among hers
    WindowValue    LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE: what another row of hers has
    WindowTotal    COUNT, SUM, AVG, MIN, MAX of rows of hers

Rows are divided by the person and by `by`, and sorted by `order`. Where it matters which of two rows comes first, every
column of the rows follows in the order, so that two rows that are not told apart are the same (`completes_order`;
`engines/templates/window_functions.py` has the theorem). Ranks, and totals of peers or of all rows, need no more than what
the question says: they are the same for rows that it does not tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from dither.query.plan.base import Expression
from dither.query.plan.person_totals import PersonTotal
from dither.query.plan.person_windows.frames import Frame, SortKey
from dither.query.policy.column import Column

PlaceKind = Literal["row_number", "rank", "dense_rank"]
ValueKind = Literal["shift", "first", "last", "nth"]
PLACES: dict[PlaceKind, str] = {
    **{"row_number": "the number of the row", "rank": "the rank of the row", "dense_rank": "the rank without gaps"}
}


@dataclass(frozen=True)
class WindowPlace:
    """Where a row stands among those of the same person."""

    code: ClassVar[str] = "window_place"

    column: Column
    kind: PlaceKind
    by: tuple[Expression, ...]  # beside the person
    order: tuple[SortKey, ...]

    @property
    def completes_order(self) -> bool:
        """Whether it matters which of two rows comes first that the order does not tell apart: all others are equal."""
        return self.kind == "row_number"


@dataclass(frozen=True)
class WindowValue:
    """A value of another row of the same person; missing where there is no such row."""

    code: ClassVar[str] = "window_value"
    completes_order: ClassVar[bool] = True

    column: Column
    kind: ValueKind
    of: Expression
    offset: int  # of LAG, so many rows before; of LEAD, a negative number; of NTH_VALUE, from 1 on; otherwise 0
    by: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    frame: Frame | None  # None for LAG and LEAD, which have none


@dataclass(frozen=True)
class WindowTotal:
    """One of a person's own totals, of the rows around each row."""

    code: ClassVar[str] = "window_total"

    total: PersonTotal
    by: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    frame: Frame

    @property
    def column(self) -> Column:
        return self.total.column

    @property
    def of(self) -> Expression | None:
        """Of which values; None for rows."""
        return self.total.of

    @property
    def completes_order(self) -> bool:
        """Whether it matters which of two rows comes first that the order does not tell apart."""
        return not self.frame.peers and not self.frame.is_whole


PersonWindow = WindowPlace | WindowValue | WindowTotal
