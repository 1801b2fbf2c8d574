"""Gaussian noise on a Poisson sample: the pair of private learning, with a formula for its moments.

For z normal and w(z) = 1 - q + q exp(mu z - mu^2/2), the loss is log w. With F(s) = E w(z)^s: removing has M(t) = F(t
+ 1), adding has M(t) = F(-t). Write s = p + iv, p = c + 1 or -c.

*F by the trapezoid sum* over z with step d. In the strip |Im z| <= y, with a = mu y <= pi/2: |normal density| grows
by e^(y^2/2) at most; Re w > 0, so w^s is analytic; |w| <= w(Re z) and |w|^2 >= w(Re z)^2 / 2; |arg w| <= min(a,
sin(a) q/(1-q) E), E = exp(mu Re z - mu^2/2). So the sum is off by at most 2 B / (e^(2 pi y / d) - 1) with B =
e^(y^2/2) 2^(|p|/2 if p < 0) E w^p e^(|v| min(..)), an integral which is bounded cell by cell. Beyond the last points
terms fall faster than a geometric series, as |d log w / dz| <= mu.

The decay of F along the line is bounded in `poisson_sampled_decay.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from flint import acb, acb_mat, arb

from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.privacy.formulas.normal import phi
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import MomentPair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.loss.pairs.poisson_sampled_decay import DecayBound, build
from dither.privacy.loss.pairs.rotations import AFRESH, turns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGITS = 40.0  # ln of how far below F(p) the error of a sum along a line lies
MOST_POINTS = 4000  # in a sum
REACH = 40.0  # where floats look at the density, from -9 in quarters


@dataclass(frozen=True)
class PoissonSampledNormalPair(PoissonSampledPair, MomentPair):
    """A Gaussian pair on a sample."""

    kind: ClassVar[str] = "sampled_normal"
    slow: ClassVar[bool] = True

    @property
    def mu(self) -> float:
        assert isinstance(self.base, NormalPair)
        return math.sqrt(self.base.mu2)

    def rough(self, c: float) -> float:
        import numpy as np

        p, mu, q = -c if self.turned else c + 1, self.mu, float(self.rate)
        z, log_w = _near(self.base, self.rate) if p * mu < REACH - 9 else _far(p * mu, mu, q)
        terms = p * log_w - z * z / 2
        top = float(terms.max())
        return top + math.log(float(np.exp(terms - top).sum()) / 4 / math.sqrt(2 * math.pi))

    def log_moment(self, c: arb) -> arb:
        return _Sum(self, -c if self.turned else c + 1, 0.0, DIGITS).total().log()

    def log_moment_above(self, c: arb) -> arb:
        return _Sum(self, -c if self.turned else c + 1, 0.0, 12.0).total().log()

    def on_line(self, c: arb, h: arb, count: int) -> list[acb]:
        p = -c if self.turned else c + 1
        points = _Sum(self, p, float(h) * count, DIGITS)
        most = points.total()
        way = -h if self.turned else h
        off, values = points.off(most), []
        weights = [weight / most for weight in points.weights]
        # one block of AFRESH values is a row of weights, turned to its start, times a matrix of turns (see rotations.py)
        width = min(AFRESH, count)
        block = acb_mat(len(weights), width, [turn for log_w in points.logs for turn in turns(way * log_w, width)])
        for start in range(0, count, width):
            row = [acb(0, way * start * log_w).exp() * weight for log_w, weight in zip(points.logs, weights, strict=True)]
            found = acb_mat(1, len(row), row) * block
            values += [found[0, n] + off for n in range(min(width, count - start))]
        return values

    def decay(self, c: arb, u: arb) -> arb:
        return _tail(self, ends(-c if self.turned else c + 1)).after(u)


Points = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


@lru_cache(maxsize=256)
def _near(base: NormalPair, rate: Fraction) -> Points:
    """Points and log w there, roughly."""
    import numpy as np

    mu, q, z = math.sqrt(base.mu2), float(rate), np.arange(-9.0, REACH, 0.25)
    return z, np.logaddexp(math.log1p(-q), math.log(q) + mu * z - mu * mu / 2)


def _far(middle: float, mu: float, q: float) -> Points:
    """The same around 0 and around p mu, where the tilted law may lie as well."""
    import numpy as np

    z = np.concatenate([np.linspace(-9.0, 9.0, 73), np.linspace(-9.0, 9.0, 73) + middle])
    return z, np.logaddexp(math.log1p(-q), math.log(q) + mu * z - mu * mu / 2)


@lru_cache(maxsize=256)
def _tail(pair: PoissonSampledNormalPair, order: tuple[Fraction, Fraction]) -> DecayBound:
    assert isinstance(pair.base, NormalPair)
    with precision(64):
        p = to_ball(order[0]).union(to_ball(order[1]))
        return build(pair.base.mu2, pair.rate, p, _Sum(pair, p, 0.0, 30.0).total())


class _Sum:
    """The trapezoid sum for F(p + iv), |v| <= `most`: points, their weights, log w, and how far off it can be."""

    def __init__(self, pair: PoissonSampledNormalPair, p: arb, most: float, digits: float) -> None:
        assert isinstance(pair.base, NormalPair)
        self.p, self.q, self.mu = p, to_ball(pair.rate), to_ball(pair.base.mu2).sqrt()
        self.rate = float(pair.rate)
        order, mu = float(p), pair.mu
        strip = self._strip(order, mu, most, digits)
        plain = (to_ball(Fraction(strip)) ** 2 / 2).exp() * ((-p).max(to_ball(0)) * arb(2).log() / 2).exp()
        bound = self._bound(Fraction(strip), Fraction(most)) * plain if most else None
        grown = (
            float(plain.log()) if bound is None else float(bound.log()) - pair.rough(-order if pair.turned else order - 1)
        )
        step = 2 * math.pi * strip / (digits + max(0.0, grown))
        reach = math.sqrt(2 * digits) + 1
        left, right = reach + max(0.0, -order) * mu, reach + max(0.0, order) * mu
        first, last = -math.ceil(left / step), math.ceil(right / step)
        if last - first > MOST_POINTS:
            raise ArithmeticError("too many points")
        d = to_ball(Fraction(step))
        self.logs, self.weights = [], []
        norm = d / (2 * arb.pi()).sqrt()
        shift = self.mu**2 / 2
        for i in range(first, last + 1):
            z = d * i
            log_w = (self.q * (self.mu * z - shift).expm1()).log1p()
            self.logs.append(log_w)
            self.weights.append(norm * (p * log_w - z * z / 2).exp())
        share = 2 / ((2 * arb.pi() * to_ball(Fraction(strip)) / d).exp() - 1)
        rest = self._ends(d, first, last)
        if bound is None:  # v = 0: B is a multiple of F(p) itself, so F <= sum + rest + share * plain * F
            share *= plain
            if not share < 1:
                raise ArithmeticError("too few points")
            total = sum(self.weights, start=to_ball(0)) + rest
            self.error = rest + share * total / (1 - share)
        else:
            self.error = share * bound + rest

    def total(self) -> arb:
        """F(p) = E w(z)^p, as a ball."""
        return sum(self.weights, start=to_ball(0)) + arb(0, self.error.upper())

    def off(self, most: arb) -> acb:
        """The error of any sum on the line, as a part of F(p)."""
        radius = (self.error / most).upper()
        return acb(arb(0, radius), arb(0, radius))

    def at(self, v: arb) -> acb:
        """F(p + iv) = E w(z)^(p + iv), as a ball."""
        found = sum(
            (weight * acb(0, v * log_w).exp() for weight, log_w in zip(self.weights, self.logs, strict=True)), start=acb(0)
        )
        radius = self.error.upper()
        return found + acb(arb(0, radius), arb(0, radius))

    def _strip(self, p: float, mu: float, most: float, digits: float) -> float:
        """The strip that needs the fewest points: plain floats, since any choice is as good as its bound."""
        best = (0.0, 1e-3)
        for part in (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05):
            y = min(1.57 / mu, math.sqrt(2 * digits)) * part
            grown = self._log_growth(p, mu, most, mu * y) + y * y / 2 + (0.35 * -p if p < 0 else 0.0)
            best = max(best, (y / (digits + max(grown, 0.0)), y))
        return best[1]

    def _log_growth(self, p: float, mu: float, most: float, a: float) -> float:
        """About ln of E w^p e^(v min(a, ...)) / E w^p."""
        if most == 0:
            return 0.0
        import numpy as np

        far = math.sqrt(2 * most * a + 50)
        z = np.linspace(-8 - max(0.0, -p) * mu, far + max(0.0, p) * mu, 37)
        e = mu * z - mu * mu / 2
        plain = p * np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + e) - z * z / 2
        slope = math.sin(min(a, 1.57)) * self.rate / (1 - self.rate)
        ahead = np.append(e[1:], e[-1])  # cell by cell, as in the bound
        grown = plain + most * np.minimum(a, slope * np.exp(np.minimum(ahead, 600.0)))
        return float(np.logaddexp.reduce(grown) - np.logaddexp.reduce(plain))

    def _bound(self, strip: Fraction, most: Fraction) -> arb:
        """E w^p e^(|v| min(..)), cell by cell."""
        y = to_ball(strip)
        a = self.mu * y
        if not a < arb.pi() / 2:
            raise ArithmeticError("the strip is too wide")
        order = float(self.p)
        far = math.sqrt(2 * float(most) * float(a) + 50)  # beyond this even e^(v a) is outweighed
        cells, low, high = 48, -7.0 - max(0.0, -order) * float(self.mu), far + max(0.0, order) * float(self.mu)
        marks = [to_ball(Fraction(low + (high - low) * i / cells)) for i in range(cells + 1)]
        shift, v = self.mu**2 / 2, to_ball(most)
        slope = a.sin() * self.q / (1 - self.q)

        def grown(z: arb) -> arb:  # grows with z
            return (v * a.min(slope * (self.mu * z - shift).exp())).exp()

        def tilted(z: arb) -> arb:  # monotone in z, upwards for p > 0
            return (self.p * (self.q * (self.mu * z - shift).expm1()).log1p()).exp()

        below = [phi(mark) for mark in marks]
        limit = (1 - self.q) ** self.p if self.p < 0 else tilted(marks[0])
        total = below[0] * limit * grown(marks[0])
        values = [tilted(mark) for mark in marks]
        for i in range(cells):
            most_tilted = values[i] if self.p < 0 else values[i + 1]
            total += (below[i + 1] - below[i]) * most_tilted * grown(marks[i + 1])
        edge = marks[-1]
        if self.p < 0:
            total += phi(-edge) * values[-1] * (v * a).exp()
        else:  # w(z) <= w(edge) e^(mu (z - edge))
            moved = self.p * self.mu
            total += values[-1] * (moved**2 / 2 - moved * edge).exp() * phi(moved - edge) * (v * a).exp()
        return total

    def _ends(self, d: arb, first: int, last: int) -> arb:
        """The terms before the first and after the last point: geometric series."""
        rest = to_ball(0)
        grows = (-self.p).max(to_ball(0)), self.p.max(to_ball(0))  # w^p grows to the left, or to the right
        for weight, place, grow in zip((self.weights[0], self.weights[-1]), (-first, last), grows, strict=True):
            fall = (-d * d * place - d * d / 2 + grow * self.mu * d).exp()
            if not fall < 1:
                raise ArithmeticError("the points do not reach far enough")
            rest += weight * fall / (1 - fall)
        return rest
