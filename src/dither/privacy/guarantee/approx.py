"""Pure and approximate differential privacy: epsilons with their deltas, kept one by one.

An (epsilon, delta)-DP mechanism is no worse than: with probability delta everything is shown, otherwise randomized
response with epsilon (Kairouz, Oh and Viswanath 2015). So k of them lose everything with probability
1 - (1 - delta_1) ... (1 - delta_k), and otherwise have the exact profile of `formulas/randomized_response.py`. Pure is the
case delta = 0.

Its rho is epsilon tanh(epsilon/2) (proof there). A mechanism that has a smaller one says so, with a proof of its own: then
the entry has that rho beside its epsilon, and outside the events both hold.

Group privacy for k people: (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)), by going from one neighbour to the
next k times: each step multiplies by e^epsilon and adds delta. A rho of one's own becomes k^2 rho where delta = 0 (Bun and
Steinke 2016), and is forgotten otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from flint import arb, ctx

from dither.numeric.balls import MOST_BITS, ends, precision
from dither.numeric.enclosure import certify, enclose, to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.formulas import randomized_response as pure
from dither.privacy.guarantee.currency import Askable, Currency
from dither.privacy.loss.pairs.finite import FinitePair
from dither.privacy.records import stored_count, stored_delta, stored_fraction, stored_list, stored_number
from dither.privacy.text import four_digits

if TYPE_CHECKING:
    from dither.privacy.loss.pairs.json import PairTerms


class ApproxEntry(NamedTuple):
    """So many promises of one epsilon and delta."""

    epsilon: Number
    delta: Fraction
    copies: int
    own: Fraction | None = None  # a rho that the mechanism has by a proof of its own; None for that of every such mechanism

    @property
    def rho(self) -> Fraction:
        """The rho of one of them, rounded up."""
        return pure.charged_rho(self.epsilon) if self.own is None else self.own

    def times(self, count: int) -> ApproxEntry:
        return self._replace(copies=self.copies * count)

    def group(self, people: int) -> ApproxEntry:
        epsilon, delta = self.epsilon * people, _group_delta(self.epsilon, self.delta, people)
        own = None if self.own is None or self.delta else self.own * people**2
        return entry(epsilon, delta, self.copies, own)


def entry(epsilon: Number, delta: Fraction, count: int = 1, own: Fraction | None = None) -> ApproxEntry:
    """An entry, with a rho of its own only where that is smaller than the one that it has anyway."""
    return ApproxEntry(epsilon, delta, count, None if own is None or own >= pure.charged_rho(epsilon) else own)


@dataclass(frozen=True)
class Approx(Currency):
    """Any number of (epsilon, delta) promises."""

    kind: ClassVar[str] = "approx"
    entries: tuple[ApproxEntry, ...]

    @classmethod
    def of(cls, epsilon: Number, delta: Fraction, own: Fraction | None = None) -> Self:
        return cls((entry(epsilon, delta, own=own),))

    def events(self) -> arb:
        kept = to_ball(1)
        for one in self.entries:
            kept *= to_ball(1 - one.delta) ** one.copies
        return 1 - kept

    def renyi(self, alpha: Fraction) -> arb:
        total = to_ball(0)
        for one in self.entries:
            bound = pure.renyi(one.epsilon, alpha)
            total += one.copies * (bound if one.own is None else bound.min(to_ball(alpha * one.own)))
        return total

    def largest_loss(self) -> Number:
        return sum((one.epsilon * one.copies for one in self.entries), start=Number(0))

    def rho(self) -> arb:
        rhos = ((pure.rho(one.epsilon) if one.own is None else to_ball(one.own)) * one.copies for one in self.entries)
        return sum(rhos, start=to_ball(0))

    def charged_delta(self) -> Fraction:
        return sum((one.delta * one.copies for one in self.entries), start=Fraction(0))

    def charged_rho(self) -> Fraction:
        return sum((one.rho * one.copies for one in self.entries), start=Fraction(0))

    def classical_rho(self) -> Fraction:
        return sum((pure.classical_rho(one.epsilon) * one.copies for one in self.entries), start=Fraction(0))

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
        some = (one for one in self.entries if one.epsilon or one.delta)
        return tuple((FinitePair.approximate(one.epsilon, one.delta), one.copies) for one in some)

    @property
    def attained(self) -> bool:
        """Where no entry has a rho of its own, which randomized response does not have."""
        return all(one.own is None for one in self.entries)

    def without_own_rho(self) -> Self:
        if self.attained:
            return self
        return type(self)(()).plus(type(self)(tuple(one._replace(own=None) for one in self.entries)))

    @property
    def exact(self) -> bool:
        """Whether the profile can be computed exactly; otherwise Rényi orders bound it."""
        with precision(64):
            return self._losses() is not None

    def on_lattice(self) -> Approx | None:
        """Every epsilon rounded up to one of a few levels, so that the profile is exact; None where that does not help."""
        largest = max(one.epsilon.bounds().upper for one in self.entries)
        for levels in (400, 100, 30, 10, 3, 1):
            step = Fraction(largest) / levels
            rounded = Approx(())
            for one in self.entries:
                level = max(1, math.ceil(Fraction(one.epsilon.bounds().upper) / step))
                rounded = rounded.plus(Approx((entry(Number(step * level), one.delta, one.copies, one.own),)))
            if rounded.exact:
                return rounded
        return None

    def _losses(self) -> list[pure.LossProbability] | None:
        return _losses_at(self.entries, ctx.prec)

    def plus(self, other: Self) -> Self:
        """Equal entries are counted together and kept in order, so that a sum does not depend on the order of its terms."""
        counts: dict[tuple[Number, Fraction, Fraction], ApproxEntry] = {}
        for one in (*self.entries, *other.entries):
            key = (one.epsilon, one.delta, Fraction(-1) if one.own is None else one.own)
            counts[key] = one if key not in counts else one._replace(copies=one.copies + counts[key].copies)
        return type(self)(tuple(counts[key] for key in sorted(counts)))

    def times(self, count: int) -> Self:
        return type(self)(tuple(one.times(count) for one in self.entries))

    def group(self, people: int) -> Self:
        return type(self)(()).plus(type(self)(tuple(one.group(people) for one in self.entries)))

    def within(self, other: Self) -> bool:
        """Entry by entry, largest first; a shorter list is stronger."""
        mine, theirs = ([one for one in part.entries for _ in range(min(one.copies, 1000))] for part in (self, other))
        if len(mine) > len(theirs) or len(theirs) >= 1000:
            return False
        mine, theirs = (sorted(part, key=lambda one: one[:2], reverse=True) for part in (mine, theirs))
        return all(
            a.epsilon <= b.epsilon and a.delta <= b.delta and (b.own is None or a.rho <= b.own)
            for a, b in zip(mine, theirs, strict=False)
        )

    def follows_from(self, guarantee: Askable) -> bool:
        if len(self.entries) != 1 or self.entries[0].copies != 1:
            return False
        epsilon, delta, _, own = self.entries[0]
        charge = guarantee.charge()
        if own is not None and (charge.rho is None or charge.rho > own):
            return False
        if charge.epsilon is not None and charge.epsilon <= epsilon and charge.delta <= delta:
            return True
        return own is None and Fraction(guarantee.delta(epsilon)) <= delta

    def describe(self) -> str:
        text = f"ε = {four_digits(self.largest_loss())}"
        lossy = [(one.delta, one.copies) for one in self.entries if one.delta]
        if not lossy:
            return text
        single = len(lossy) == 1 and lossy[0][1] == 1
        lost = lossy[0][0] if single else certify(self.events).upper
        return f"({text}, δ = {four_digits(lost)})"

    def to_json(self) -> dict[str, object]:
        rows = [[e.to_json(), str(d), n, *([] if own is None else [str(own)])] for e, d, n, own in self.entries]
        return {"entries": rows}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        rows = stored_list(stored["entries"])
        return cls(()).plus(cls(tuple(_stored(*row) for row in rows)))


@lru_cache(maxsize=16)
def _losses_at(entries: tuple[ApproxEntry, ...], bits: int) -> list[pure.LossProbability] | None:
    """The composed losses at a precision: asked for again and again while a curve is drawn."""
    merged: dict[Number, int] = {}
    for one in entries:
        merged[one.epsilon] = merged.get(one.epsilon, 0) + one.copies
    return pure.losses(merged.items())


def _stored(epsilon: object, delta: object, count: object, own: object = None) -> ApproxEntry:
    """An entry as it was written, with its rho where it has one of its own."""
    kept = None if own is None else stored_fraction(own)
    return ApproxEntry(stored_number(epsilon), stored_delta(delta), stored_count(count), kept)


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
