"""Pure and approximate differential privacy: epsilons with their deltas, kept one by one.

An (epsilon, delta)-DP mechanism is no worse than: with probability delta everything is shown, otherwise randomized
response with epsilon (Kairouz, Oh and Viswanath 2015). So k of them lose everything with probability
1 - (1 - delta_1) ... (1 - delta_k), and otherwise have the exact profile of `formulas/randomized_response.py`. Pure is the
case delta = 0.

Group privacy for k people: (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)), by going from one neighbour to the
next k times: each step multiplies by e^epsilon and adds delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

from flint import arb, ctx

from dither.numeric.balls import MOST_BITS, ends, precision
from dither.numeric.enclosure import certify, enclose, to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.formulas import randomized_response as pure
from dither.privacy.guarantee.currency import Askable, Currency
from dither.privacy.loss.pairs.finite import FinitePair
from dither.privacy.records import stored_count, stored_delta, stored_list, stored_number
from dither.privacy.text import four_digits

if TYPE_CHECKING:
    from dither.privacy.loss.pairs.json import PairTerms

ApproxEntry = tuple[Number, Fraction, int]  # epsilon, delta, how many of them


@dataclass(frozen=True)
class Approx(Currency):
    """Any number of (epsilon, delta) promises."""

    kind: ClassVar[str] = "approx"
    entries: tuple[ApproxEntry, ...]

    @classmethod
    def of(cls, epsilon: Number, delta: Fraction) -> Self:
        return cls(((epsilon, delta, 1),))

    def events(self) -> arb:
        kept = to_ball(1)
        for _, delta, count in self.entries:
            kept *= to_ball(1 - delta) ** count
        return 1 - kept

    def renyi(self, alpha: Fraction) -> arb:
        return sum((count * pure.renyi(epsilon, alpha) for epsilon, _, count in self.entries), start=to_ball(0))

    def largest_loss(self) -> Number:
        return sum((epsilon * count for epsilon, _, count in self.entries), start=Number(0))

    def rho(self) -> arb:
        """An epsilon is epsilon^2/2 (Bun and Steinke 2016)."""
        return sum((count * epsilon.ball() ** 2 / 2 for epsilon, _, count in self.entries), start=to_ball(0))

    def charged_delta(self) -> Fraction:
        return sum((delta * count for _, delta, count in self.entries), start=Fraction(0))

    def charged_rho(self) -> Fraction:
        return sum((_half_square(epsilon) * count for epsilon, _, count in self.entries), start=Fraction(0))

    def rest_delta(self, epsilon: Number) -> Enclosure | None:
        if epsilon >= self.largest_loss():
            return Enclosure(0.0, 0.0)
        with precision(256):
            pairs = self._losses()
            return None if pairs is None else enclose(pure.delta_of(pairs, epsilon))

    def rest_epsilon(self, delta: Fraction) -> Enclosure | None:
        bits = 192
        while bits <= MOST_BITS:
            with precision(bits):
                pairs = self._losses()
                if pairs is None:
                    return None
                answer = pure.epsilon_of(pairs, delta)
                if answer is not None:
                    low, high = (max(end, 0.0) + 0.0 for end in enclose(answer))
                    if high - low <= 1e-14 * high:
                        return Enclosure(low, high)
            bits *= 2
        return None

    def pairs(self) -> PairTerms:
        return tuple((FinitePair.approximate(epsilon, delta), n) for epsilon, delta, n in self.entries if epsilon or delta)

    @property
    def exact(self) -> bool:
        """Whether the profile can be computed exactly; otherwise Rényi orders bound it."""
        with precision(64):
            return self._losses() is not None

    def on_lattice(self) -> Approx | None:
        """Every epsilon rounded up to one of a few levels, so that the profile is exact; None where that does not help."""
        largest = max(epsilon.bounds().upper for epsilon, _, _ in self.entries)
        for levels in (400, 100, 30, 10, 3, 1):
            step = Fraction(largest) / levels
            rounded = Approx(())
            for epsilon, delta, count in self.entries:
                level = max(1, math.ceil(Fraction(epsilon.bounds().upper) / step))
                rounded = rounded.plus(Approx(((Number(step * level), delta, count),)))
            if rounded.exact:
                return rounded
        return None

    def _losses(self) -> list[pure.LossProbability] | None:
        return _losses_at(self.entries, ctx.prec)

    def plus(self, other: Self) -> Self:
        """Equal entries are counted together and kept in order, so that a sum does not depend on the order of its terms."""
        counts: dict[tuple[Number, Fraction], int] = {}
        for epsilon, delta, count in (*self.entries, *other.entries):
            counts[epsilon, delta] = counts.get((epsilon, delta), 0) + count
        return type(self)(tuple((epsilon, delta, counts[epsilon, delta]) for epsilon, delta in sorted(counts)))

    def times(self, count: int) -> Self:
        return type(self)(tuple((epsilon, delta, n * count) for epsilon, delta, n in self.entries))

    def group(self, people: int) -> Self:
        return type(self)(tuple((e * people, _group_delta(e, delta, people), n) for e, delta, n in self.entries))

    def within(self, other: Self) -> bool:
        """Entry by entry, largest first; a shorter list is stronger."""
        mine, theirs = ([(e, d) for e, d, n in part.entries for _ in range(min(n, 1000))] for part in (self, other))
        if len(mine) > len(theirs) or len(theirs) >= 1000:
            return False
        mine, theirs = sorted(mine, reverse=True), sorted(theirs, reverse=True)
        return all(e <= f and d <= g for (e, d), (f, g) in zip(mine, theirs, strict=False))

    def follows_from(self, guarantee: Askable) -> bool:
        if len(self.entries) != 1 or self.entries[0][2] != 1:
            return False
        epsilon, delta, _ = self.entries[0]
        charge = guarantee.charge()
        if charge.epsilon is not None and charge.epsilon <= epsilon and charge.delta <= delta:
            return True
        return Fraction(guarantee.delta(epsilon)) <= delta

    def describe(self) -> str:
        text = f"ε = {four_digits(self.largest_loss())}"
        lossy = [(delta, count) for _, delta, count in self.entries if delta]
        if not lossy:
            return text
        single = len(lossy) == 1 and lossy[0][1] == 1
        lost = lossy[0][0] if single else certify(self.events).upper
        return f"({text}, δ = {four_digits(lost)})"

    def to_json(self) -> dict[str, object]:
        return {"entries": [[epsilon.to_json(), str(delta), count] for epsilon, delta, count in self.entries]}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        rows = stored_list(stored["entries"])
        return cls(()).plus(cls(tuple((stored_number(e), stored_delta(d), stored_count(n)) for e, d, n in rows)))


@lru_cache(maxsize=16)
def _losses_at(entries: tuple[ApproxEntry, ...], bits: int) -> list[pure.LossProbability] | None:
    """The composed losses at a precision: asked for again and again while a curve is drawn."""
    merged: dict[Number, int] = {}
    for epsilon, _, count in entries:
        merged[epsilon] = merged.get(epsilon, 0) + count
    return pure.losses(merged.items())


def _half_square(epsilon: Number) -> Fraction:
    """epsilon^2 / 2, rounded up where it is irrational."""
    if epsilon.is_rational:
        return epsilon.fraction() ** 2 / 2
    with precision(128):
        return ends(epsilon.ball() ** 2 / 2)[1]


def _group_delta(epsilon: Number, delta: Fraction, people: int) -> Fraction:
    """delta (1 + e^eps + ... + e^((k-1) eps)), rounded up to a dyadic number; at most 1."""
    if delta == 0:
        return delta
    with precision(128):
        if epsilon == 0:
            return min(Fraction(1), delta * people)
        steps = (epsilon * people).ball().expm1() / epsilon.ball().expm1()
        if not steps * to_ball(delta) < 1:
            return Fraction(1)
        return ends(steps * to_ball(delta))[1]
