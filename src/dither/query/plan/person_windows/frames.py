"""The order of a person's rows, and which of them a window looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dither.query.plan.base import Expression


@dataclass(frozen=True)
class SortKey:
    """By what rows are sorted, and where those come that have nothing there."""

    code: ClassVar[str] = "sort_key"

    of: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Frame:
    """The rows that a window looks at, seen from one of them: rows before it have negative numbers.

    Either places in the order are counted, or rows that the stated order does not tell apart (peers) go together; then the
    ends are the first row, the last one, or 0: the peers of the row itself.
    """

    code: ClassVar[str] = "frame"

    peers: bool  # RANGE; otherwise ROWS
    start: int | None  # None: from the first row
    end: int | None  # None: to the last row

    @property
    def is_whole(self) -> bool:
        """Whether it is all rows, wherever one stands."""
        return self.start is None and self.end is None

    @property
    def size(self) -> int | None:
        """How many rows it has at most; None where nothing is known."""
        return None if self.peers or self.start is None or self.end is None else self.end - self.start + 1

    @property
    def words(self) -> str:
        """Which rows, for people to read."""
        if self.is_whole:
            return "all rows"
        return f"{_end(self.start, 'the first row')} to {_end(self.end, 'the last row')}" + (
            ", with rows of the same rank" if self.peers else ""
        )


ALL_ROWS = Frame(False, None, None)
UP_TO_PEERS = Frame(True, None, 0)  # what SQL means where ORDER BY stands alone


def _end(place: int | None, otherwise: str) -> str:
    if place is None:
        return otherwise
    if place == 0:
        return "this row"
    return f"{abs(place)} row{'s' if abs(place) > 1 else ''} {'before' if place < 0 else 'behind'}"
