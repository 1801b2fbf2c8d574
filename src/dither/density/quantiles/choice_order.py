"""The order in which many quantiles are chosen, and the part of the budget of each choice. Public: from the shares alone.

The middle share first, then those on either side. A choice and all that follow it have a whole, 1; the choice has its part,
and what is left is the whole of *each* of the two sides, since a person's mass is divided between them. So along every
branch the parts add up to 1 and a choice that nothing follows has all that is left.

Any parts keep the promise; these are near the best ones. What a choice at share q is off moves the ranks that are aimed at
later: all of it at q, nothing at the two cuts around, in proportion between. Let W_l be the sum of these weights over all
shares and all choices of level l, and let noise fall as part^-p (p = 1 for epsilon, 1/2 for rho): the sum of
W_l part_l^-p is least for parts in proportion to W_l^(1 / (1 + p)). For 2^d - 1 shares, evenly spaced, that is nearly 1/d
each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

PIECES = 256  # parts are multiples of 1/256 but the last


@dataclass(frozen=True)
class QuantileNode:
    """One choice of the tree: which share, between which, and what is asked afterwards."""

    share: Fraction  # q
    target: Fraction  # t: where it lies between the two cuts around, among the people there
    part: Fraction  # of the budget
    first: bool  # whether nothing has been cut before
    left: QuantileNode | None
    right: QuantileNode | None

    @property
    def last(self) -> bool:
        """Whether no choice follows this one."""
        return self.left is None and self.right is None

    def all(self) -> Iterator[QuantileNode]:
        """This choice and all that follow it."""
        yield self
        for side in (self.left, self.right):
            if side is not None:
                yield from side.all()


def quantile_tree(shares: Sequence[Fraction], *, power: float) -> QuantileNode:
    """The first node, for shares that rise; noise falls as part^-power."""
    sums = [0.0] * len(shares).bit_length()
    _weigh(shares, Fraction(0), Fraction(1), 0, sums)
    sizes = [total ** (1 / (1 + power)) for total in sums]
    free = PIECES - len(sizes)  # one piece for each level, whatever its weight
    parts = [Fraction(1 + int(free * size / sum(sizes)), PIECES) for size in sizes]
    root = _plan(shares, Fraction(0), Fraction(1), parts, Fraction(1), first=True)
    assert root is not None
    return root


def _weigh(shares: Sequence[Fraction], low: Fraction, high: Fraction, level: int, sums: list[float]) -> None:
    if not shares:
        return
    at = len(shares) // 2
    q = shares[at]
    sums[level] += 1
    sums[level] += sum(float((x - low) / (q - low)) for x in shares[:at])
    sums[level] += sum(float((high - x) / (high - q)) for x in shares[at + 1 :])
    _weigh(shares[:at], low, q, level + 1, sums)
    _weigh(shares[at + 1 :], q, high, level + 1, sums)


def _plan(
    shares: Sequence[Fraction], low: Fraction, high: Fraction, parts: list[Fraction], whole: Fraction, *, first: bool
) -> QuantileNode | None:
    if not shares:
        return None
    at = len(shares) // 2
    q, part = shares[at], whole if len(shares) == 1 else parts[0]
    left, right = (
        _plan(side, *ends, parts[1:], whole - part, first=False)
        for side, ends in ((shares[:at], (low, q)), (shares[at + 1 :], (q, high)))
    )
    return QuantileNode(q, (q - low) / (high - low), part, first, left, right)
