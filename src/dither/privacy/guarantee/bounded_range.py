"""Bounded range: the loss of one release lies somewhere in an interval of length epsilon. The promise of the
exponential mechanism.

For neighbours P and Q there is a t with t - epsilon <= ln(P/Q) <= t (Durfee and Rogers 2019). As both are
probabilities, 0 <= t <= epsilon, so this is epsilon-DP; but a loss of epsilon on one side leaves no room on the
other, so it composes better:

    zCDP       rho = epsilon^2 / 8: a quarter of what epsilon-DP alone gives (Cesar and Rogers 2021)
    profile    delta(x) = (e^(epsilon/2) - e^(x/2))^2 / (e^epsilon - 1) for one release, 0 <= x <= epsilon

Proof of the profile. With y = Q/P, delta(x) is the P-mean of (1 - e^x y)_+, which is convex in y; y has P-mean 1 and
lies in [e^-t, e^(epsilon-t)]. So the two ends are the worst case, with P(y = e^-t) = (e^epsilon - e^t) / (e^epsilon -
1), and (e^epsilon - e^t)(1 - e^(x-t)) is largest at t = (epsilon + x)/2, where it is (e^(epsilon/2) - e^(x/2))^2.

Proof of rho. Let K(a) = ln of the Q-mean of (P/Q)^a. K(0) = K(1) = 0, and K'' is the variance of the loss under a
tilted law, at most epsilon^2/4 since the loss lies in an interval of length epsilon. So K(a) <= epsilon^2/8 a (a-1),
and D_a = K(a)/(a-1).

Several releases add up by their sum, by Renyi orders and by rho. A group of k has k epsilon: the intervals add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.formulas import randomized_response as pure
from dither.privacy.guarantee.currency import Currency
from dither.privacy.records import stored_count, stored_list, stored_number
from dither.privacy.text import four_digits

RangeEntry = tuple[Number, int]  # epsilon, how many of them


@dataclass(frozen=True)
class BoundedRange(Currency):
    """Any number of releases with bounded range."""

    kind: ClassVar[str] = "range"
    entries: tuple[RangeEntry, ...]

    def renyi(self, alpha: Fraction) -> arb:
        total = to_ball(0)
        for epsilon, count in self.entries:
            quarter = to_ball(alpha) * epsilon.ball() ** 2 / 8
            total += count * quarter.min(pure.renyi(epsilon, alpha))
        return total

    def largest_loss(self) -> Number:
        return sum((epsilon * count for epsilon, count in self.entries), start=Number(0))

    def rho(self) -> arb:
        return sum((count * epsilon.ball() ** 2 / 8 for epsilon, count in self.entries), start=to_ball(0))

    def charged_rho(self) -> Fraction:
        return sum((_eighth_square(epsilon) * count for epsilon, count in self.entries), start=Fraction(0))

    def rest_delta(self, epsilon: Number) -> Enclosure | None:
        single = self.single()
        if single is None:
            return None
        if epsilon >= single:
            return Enclosure(0.0, 0.0)
        return certify(lambda: _profile(single.ball(), epsilon.ball()))

    def rest_epsilon(self, delta: Fraction) -> Enclosure | None:
        single = self.single()
        if single is None:
            return None
        if single == 0:
            return Enclosure(0.0, 0.0)

        def solve() -> arb:  # e^(x/2) = e^(epsilon/2) - sqrt(delta (e^epsilon - 1)), and x >= 0
            root = (single.ball() / 2).exp() - (to_ball(delta) * single.ball().expm1()).sqrt()
            return 2 * root.max(to_ball(1)).log()

        low, high = certify(solve)
        return Enclosure(max(low, 0.0), max(high, 0.0))

    def single(self) -> Number | None:
        """The epsilon of the one release, where there is only one."""
        return self.entries[0][0] if len(self.entries) == 1 and self.entries[0][1] == 1 else None

    def plus(self, other: Self) -> Self:
        counts: dict[Number, int] = {}
        for epsilon, count in (*self.entries, *other.entries):
            counts[epsilon] = counts.get(epsilon, 0) + count
        return type(self)(tuple((epsilon, counts[epsilon]) for epsilon in sorted(counts)))

    def times(self, count: int) -> Self:
        return type(self)(tuple((epsilon, n * count) for epsilon, n in self.entries))

    def group(self, people: int) -> Self:
        return type(self)(tuple((epsilon * people, n) for epsilon, n in self.entries))

    def within(self, other: Self) -> bool:
        """Entry by entry, largest first; a shorter list is stronger."""
        mine, theirs = ([e for e, n in part.entries for _ in range(min(n, 1000))] for part in (self, other))
        if len(mine) > len(theirs) or len(theirs) >= 1000:
            return self.entries == other.entries
        mine, theirs = sorted(mine, reverse=True), sorted(theirs, reverse=True)
        return all(e <= f for e, f in zip(mine, theirs, strict=False))

    def describe(self) -> str:
        each = (f"{n} × ε = {four_digits(e)}" if n > 1 else f"ε = {four_digits(e)}" for e, n in self.entries)
        return f"{' + '.join(each)} of bounded range"

    def to_json(self) -> dict[str, object]:
        return {"entries": [[epsilon.to_json(), count] for epsilon, count in self.entries]}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        rows = stored_list(stored["entries"])
        return cls(()).plus(cls(tuple((stored_number(e), stored_count(n)) for e, n in rows)))


def _profile(epsilon: arb, x: arb) -> arb:
    """(e^(epsilon/2) - e^(x/2))^2 / (e^epsilon - 1), without cancelling: divide by e^epsilon."""
    gap = (x - epsilon) / 2
    return gap.expm1() ** 2 / -(-epsilon).expm1()


def _eighth_square(epsilon: Number) -> Fraction:
    """epsilon^2 / 8, rounded up where it is irrational."""
    if epsilon.is_rational:
        return epsilon.fraction() ** 2 / 8
    with precision(128):
        return ends(epsilon.ball() ** 2 / 8)[1]
