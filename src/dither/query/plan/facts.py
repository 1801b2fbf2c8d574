"""What is known of an expression without looking at data: it follows from the policy and the question alone."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dither.query.policy.column import Type

WIDEST = 2**500  # of bounds: squares, and sums of all rows, stay below the largest double, 2^1024


@dataclass(frozen=True)
class Facts:
    """A type, bounds where it is a number or a date, and whether it may be missing."""

    type: Type
    lower: Fraction | None = None
    upper: Fraction | None = None
    nullable: bool = True
    first: datetime.date | None = None  # of dates and timestamps: the bounds
    last: datetime.date | None = None

    @property
    def is_bounded(self) -> bool:
        return self.lower is not None and self.upper is not None

    @property
    def is_wide(self) -> bool:
        """Whether its bounds are too large for what is computed of them in doubles."""
        return any(bound is not None and abs(bound) > WIDEST for bound in (self.lower, self.upper))


def common_type(found: Sequence[Facts]) -> Type:
    """The type of a value that is one of several: theirs, or that of their numbers."""
    kind = found[0].type
    if all(facts.type is kind for facts in found):
        return kind
    return Type.FLOAT if any(facts.type is Type.FLOAT for facts in found) else Type.DECIMAL


def around(found: Sequence[Facts], *, nullable: bool) -> Facts:
    """The facts of a value that is one of several: the least bounds that hold all of theirs."""
    lower = [facts.lower for facts in found if facts.lower is not None]
    upper = [facts.upper for facts in found if facts.upper is not None]
    if len(lower) < len(found) or len(upper) < len(found):
        first, last = _days_around(found)
        return Facts(common_type(found), nullable=nullable, first=first, last=last)
    return Facts(common_type(found), min(lower), max(upper), nullable)


def _days_around(found: Sequence[Facts]) -> tuple[datetime.date | None, datetime.date | None]:
    """The first and the last of all their days; None where one of them is not known."""
    firsts = [facts.first for facts in found if facts.first is not None]
    lasts = [facts.last for facts in found if facts.last is not None]
    known = len(firsts) == len(lasts) == len(found) and len({facts.type for facts in found}) == 1
    return (min(firsts), max(lasts)) if known else (None, None)


def a(kind: Type) -> str:
    """A type in words."""
    return f"an {kind.value}" if kind is Type.INTEGER else f"a {kind.value}"
