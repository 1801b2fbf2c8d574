"""What is known of an expression without looking at data: it follows from the policy and the question alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dither.query.policy.column import Type

WIDEST = 2**500  # of bounds: squares, and sums of all rows, stay below the largest double, 2^1024


@dataclass(frozen=True)
class Facts:
    """A type, bounds where it is a number, and whether it may be missing."""

    type: Type
    lower: Fraction | None = None
    upper: Fraction | None = None
    nullable: bool = True

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
        return Facts(common_type(found), nullable=nullable)
    return Facts(common_type(found), min(lower), max(upper), nullable)


def a(kind: Type) -> str:
    """A type in words."""
    return f"an {kind.value}" if kind is Type.INTEGER else f"a {kind.value}"
