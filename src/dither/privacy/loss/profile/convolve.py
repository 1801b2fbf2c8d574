"""Convolution on one grid of losses: polynomials with whole coefficients, rounded up (or down) after every product."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz_poly

from dither.numeric.balls import ends
from dither.numeric.enclosure import to_ball

BITS = 96
CUT = Fraction(1, 10**24)  # of the tilted mass, at each product


@dataclass(frozen=True)
class LossGrid:
    """One side, at start, start + step, ...: delta(eps) = e^scale (A - e^eps B) at the next point above eps."""

    start: Fraction
    step: Fraction
    scale: arb
    above: list[arb]  # sum over later points of weight e^(-c loss)
    weighted: list[arb]  # sum over later points of weight e^(-(c + 1) loss)
    cut: arb  # tilted mass that was cut off and counts
    c: arb

    def delta(self, eps: arb) -> arb:
        found = to_ball(0)
        for end in ends(eps):  # where it is unclear whether a point lies above eps: whatever gives more
            first = max(0, math.floor((end - self.start) / self.step) + 1)
            if first < len(self.above):
                found = found.max(self.above[first] - eps.exp() * self.weighted[first])
        return self.scale.exp() * (found + self.cut * (-self.c * eps).exp())


@dataclass(frozen=True)
class ProfileSide:
    """A profile that lies above the truth, or below it."""

    grid: LossGrid
    lost: Fraction

    def delta(self, eps: arb) -> arb:
        return (to_ball(self.lost) + self.grid.delta(eps)).min(to_ball(1))


@dataclass
class GridWeights:
    """Tilted weights at points offset + i, in units of 2^-BITS, and how much was cut off."""

    poly: fmpz_poly
    offset: int
    cut: Fraction
    up: bool

    def times(self, other: GridWeights) -> GridWeights:
        # coefficients are >= 0: a shift rounds down, and up after adding all but one (`//` of a polynomial does neither)
        more = (1 << BITS) - 1 if self.up else 0
        poly = fmpz_poly([(value + more) >> BITS for value in (self.poly * other.poly).coeffs()])
        # what was cut of one factor is lost with all of the other
        mine, theirs = (Fraction(int(f.poly(1)), 1 << BITS) for f in (self, other))
        cut = self.cut * (theirs + other.cut) + other.cut * mine
        return GridWeights(poly, self.offset + other.offset, cut, self.up).trim()

    def trim(self) -> GridWeights:
        budget, values = int(CUT * (1 << BITS)), self.poly.coeffs()
        first, dropped, last = 0, 0, len(values)
        while first < last and dropped + int(values[first]) <= budget:
            dropped += int(values[first])
            first += 1
        right = 0
        while first < last and right + int(values[last - 1]) <= budget:
            right += int(values[last - 1])
            last -= 1
        cut = self.cut + Fraction(dropped + right, 1 << BITS)
        return GridWeights(fmpz_poly(values[first:last]), self.offset + first, _short(cut), self.up)

    def power(self, count: int) -> GridWeights:
        result: GridWeights | None = None
        base = self
        while True:
            if count & 1:
                result = base if result is None else result.times(base)
            count >>= 1
            if not count:
                return result if result is not None else base
            base = base.times(base)


def _short(value: Fraction) -> Fraction:
    """A little more, in few digits."""
    return Fraction(-((-value.numerator << 200) // value.denominator), 1 << 200)


def suffix(poly: GridWeights, step: Fraction, shift: Fraction, scale: arb, c: Fraction) -> LossGrid:
    """Sums from each point to the end, weighted by e^(-c loss) and e^(-(c+1) loss)."""
    start = step * poly.offset
    values = poly.poly.coeffs()
    first = max(0, math.floor(-start / step))  # only losses above zero are asked for
    tilt, unit = to_ball(c), to_ball(Fraction(1, 1 << BITS))
    fall, steeper = (-to_ball(step * c)).exp(), (-to_ball(step * (c + 1))).exp()
    above, weighted = to_ball(0), to_ball(0)
    sums: list[arb] = []
    others: list[arb] = []
    for value in reversed(values[first:]):
        above, weighted = above * fall + value, weighted * steeper + value
        sums.append(above)
        others.append(weighted)
    sums.reverse()
    others.reverse()
    begin = start + first * step
    # sums[i] is relative to point i: undo the tilt there; Q has e^-loss, the loss being shifted
    factor = (-tilt * to_ball(begin)).exp() * unit
    other = factor * (-to_ball(begin + shift)).exp()
    for i in range(len(sums)):
        sums[i], others[i] = sums[i] * factor, others[i] * other
        factor, other = factor * fall, other * steeper
    cut = to_ball(poly.cut) if poly.up else to_ball(0)  # from below, what was cut off is not there
    return LossGrid(begin + shift, step, scale, sums, others, cut, tilt)
