"""Divergences of two exact output distributions against a guarantee: computed, not sampled.

For every pair of neighbouring values, in both directions, with P and Q the exact laws of the two releases
(`enumerate.py`):

    pure       P(o) <= e^epsilon Q(o) for every output o
    curve      P(A) - e^x Q(A) <= delta(x) for the set A of outputs with the largest ratio, at every ratio that occurs,
               between any two of them, and on a grid
    Renyi      log sum P^a Q^(1-a) / (a-1) <= D_a at several orders a
    range      ln P/Q of any two outputs differ by at most epsilon, where bounded range is claimed for one release

where epsilon, delta and D come from the guarantee. Only a certain violation fails: balls are compared, and what was
left out of Q is added to every output of Q. A violation by a factor of 1 + 2^-100 on a likely output is certain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from flint import arb

from dither.errors import BrokenPromise
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.privacy.guarantee.bounded_range import BoundedRange
from dither.privacy.guarantee.guarantee import Guarantee
from dither.testing.enumerate import BITS, Outcomes

ORDERS = ("1.25", "2", "3", "5", "8", "16", "32", "64")
GRID = [2.0 ** (k / 4) for k in range(-32, 24)]  # values of epsilon, beside those that occur; the same for all pairs
MOST_RATIOS = 400
LEVELS = (0, "1e-12", "1e-6", "0.001", "0.1")  # deltas: the curve is also looked at where the claim meets them


class Claim:
    """A guarantee with the values that every comparison asks for, computed once."""

    def __init__(self, guarantee: Guarantee) -> None:
        self._guarantee = guarantee
        self._epsilon = guarantee.epsilon(0)
        self._orders = {order: guarantee.renyi(order) for order in ORDERS}
        self._deltas: dict[Fraction, arb] = {}
        levels = [guarantee.epsilon(delta) for delta in LEVELS]
        self._levels = [level for level in levels if math.isfinite(level)]

    def _delta(self, epsilon: Fraction) -> arb:
        if epsilon not in self._deltas:
            self._deltas[epsilon] = to_ball(Fraction(self._guarantee.delta(epsilon)))
        return self._deltas[epsilon]

    def check(self, first: Any, second: Any, p: Outcomes, q: Outcomes) -> float:
        """Both laws against the claim; the largest log ratio."""
        with precision(BITS):
            rows = []
            for key, mass in p.masses.items():
                other = q.masses.get(key, arb(0))
                rows.append((mass, other + q.missing, other, p.outputs[key]))
            rows.sort(key=lambda row: _ratio(row[0], row[2]), reverse=True)
            self._check_pure(first, second, rows)
            self._check_curve(first, second, rows, q.missing)
            self._check_orders(first, second, rows)
            self._check_range(first, second, rows, p.missing)
            solid = [_ratio(top, bottom) for top, _, bottom, _ in rows if bottom > q.missing * 10**6]
        return max((ratio for ratio in solid if math.isfinite(ratio)), default=0.0)

    def _check_pure(self, first: Any, second: Any, rows: list[tuple[arb, arb, arb, Any]]) -> None:
        if math.isinf(self._epsilon):
            return
        most = to_ball(Fraction(self._epsilon)).exp()
        violations = [row for row in rows if row[0] > most * row[1]]
        if violations:
            top, bottom, _, output = max(violations, key=lambda row: float(row[0]))  # the likeliest is the most telling
            found = f"P({output!r} | {first!r}) = {float(top):.6g}, P({output!r} | {second!r}) = {float(bottom):.6g}"
            _broken(found, f"their ratio exceeds e^{self._epsilon:.6g}", self._guarantee)

    def _check_curve(self, first: Any, second: Any, rows: list[tuple[arb, arb, arb, Any]], missing: arb) -> None:
        tops = [arb(0), *accumulate(row[0] for row in rows)]
        bottoms = [arb(0), *accumulate(row[2] for row in rows)]
        ratios = [_ratio(row[0], row[2]) for row in rows]
        for epsilon in [*_places(ratios), *self._levels]:
            inside = sum(1 for ratio in ratios if ratio > epsilon)
            point = Fraction(epsilon)
            delta = tops[inside] - to_ball(point).exp() * (bottoms[inside] + missing)
            if delta > self._delta(point):
                found = f"delta({epsilon:.6g}) = {float(delta):.6g} for values {first!r} and {second!r}"
                _broken(found, f"it exceeds {float(self._delta(point)):.6g}", self._guarantee)

    def _check_orders(self, first: Any, second: Any, rows: list[tuple[arb, arb, arb, Any]]) -> None:
        for order, bound in self._orders.items():
            if math.isinf(bound):
                continue
            a = to_ball(Fraction(order))
            moment = sum((top**a * bottom ** (1 - a) for top, bottom, _, _ in rows), start=arb(0))
            divergence = moment.log() / (a - 1)
            if divergence > to_ball(Fraction(bound)):
                found = f"D_{order} = {float(divergence):.6g} for values {first!r} and {second!r}"
                _broken(found, f"it exceeds {bound:.6g}", self._guarantee)

    def _check_range(self, first: Any, second: Any, rows: list[tuple[arb, arb, arb, Any]], missing: arb) -> None:
        """For bounded range: how differently two outputs can move."""
        part = self._guarantee.parts[0]
        if len(self._guarantee.parts) > 1 or not isinstance(part, BoundedRange) or part.single() is None:
            return
        (high, high_other, _, one), (low, _, low_other, other) = rows[0], rows[-1]
        most = to_ball(Fraction(self._epsilon)).exp()
        if high * low_other > most * high_other * (low + missing):
            found = f"ln P/Q of {one!r} and {other!r} for values {first!r} and {second!r}"
            _broken(found, f"they differ by more than {self._epsilon:.6g}", self._guarantee)


def _ratio(top: arb, bottom: arb) -> float:
    return float((top / bottom).log().mid()) if bottom > 0 else math.inf


def _places(ratios: list[float]) -> Iterator[float]:
    """Where to look at the curve: at 0, at the ratios, between them, and on a grid."""
    finite = sorted({ratio for ratio in ratios if 0 < ratio < math.inf})
    thin = sorted({*finite[:: len(finite) // MOST_RATIOS + 1], *finite[-1:]})
    yield 0.0
    yield from thin
    yield from ((low + high) / 2 for low, high in pairwise([0.0, *thin]))
    yield from (epsilon for epsilon in GRID if math.inf in ratios or (thin and epsilon < thin[-1]))


def _broken(found: str, why: str, guarantee: Guarantee) -> None:
    raise BrokenPromise("release", found, f"{why}, so '{guarantee}' is false", "more noise, or a weaker promise")
