"""How fast F(p + iv) = E w(z)^(p + iv) falls in v: what the integral of `loss/profile/fourier.py` needs for a sampled
Gaussian.

z is normal, w(z) = 1 - q + q exp(mu z - mu^2/2), Y = log w, which grows with z. Under the tilted law (density ~ w^p)
let B be an interval of z; of it we count a part of mass m (less than there is, so that the masses are exact), Y
between y1 and y2 there, R = y2 - y1. For two independent draws

    g(v) = 1 - |F(p + iv) / F(p)|^2 = E (1 - cos v(Y - Y')) >= E (1 - cos v(Y - Y'); both counted) =: b(v).

  - *Near*, v R <= 2 pi: 1 - cos x = 2 sin^2(x/2) and sin(x)/x falls up to pi, so b(v) >= v^2 V sinc^2(v R/2), V =
    E((Y - Y')^2 / 2; both counted). v sinc(v R/2) = (2/R) sin(v R/2) grows up to v R = pi, so the bound holds with
    any smaller v as well.
  - *Between.* sqrt(b) is a seminorm in v (b(v) = E(|1 - e^(iv(Y-Y'))|^2 / 2; both counted)) and b(v) <= v^2 V. So
    between two points where b is computed, lines of slope -sqrt V and sqrt V from both ends bound it. There b(v) =
    m^2 - |sum over cells of B|^2, each cell (mass n, Y from a to b) being n e^(iv(a+b)/2) up to n v (b - a)/2.
  - *Far out*, by parts, |F(p + iv)| <= T / v, T the total variation of density w^p / Y'. With log(density w^p / Y') =
    const - z^2/2 - mu z + (p+1) log w =: k(z), k' = -z - mu + (p+1) mu (a logistic curve) has one zero where (p+1)
    mu^2 <= 4, and at most three otherwise. So k has one maximum, or two, and T <= 2 e^max for each.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from dither.numeric.enclosure import to_ball
from dither.privacy.formulas.normal import phi

CELLS = 64
MOST_POINTS = 200  # between near and far; beyond that nothing is claimed


@dataclass(frozen=True)
class DecayBound:
    """What is known about |F(p + iv)| / F(p)."""

    near: arb  # up to here by `spread` and `width`
    spread: arb  # V
    width: arb  # R
    starts: list[arb]
    bounds: list[arb]  # from starts[i] to starts[i + 1]
    variation: arb  # T / F(p), from the last start on

    def after(self, u: arb) -> arb:
        """A bound for all v >= u."""
        found = (self.variation / u.max(self.starts[-1])).min(to_ball(1))
        for following, bound in zip(self.starts[1:], self.bounds, strict=True):
            if not following < u:
                found = found.max(bound)
        if not u >= self.near:
            least = self.spread * (2 / self.width * (u * self.width / 2).sin()) ** 2
            found = found.max((1 - least).max(to_ball(0)).sqrt())
        return found


def build(mu2: Fraction, rate: Fraction, p: arb, total: arb) -> DecayBound:
    """The decay along the line at p, total = F(p). ArithmeticError where it cannot be shown with a bounded effort."""
    q, mu = to_ball(rate), to_ball(mu2).sqrt()
    masses, edges = _cells(p, q, mu, total)
    middle = edges[CELLS // 2].mid()
    values = [(a - middle).union(b - middle) for a, b in itertools.pairwise(edges)]
    whole = sum(masses, start=to_ball(0))
    first = sum((n * y for n, y in zip(masses, values, strict=True)), start=to_ball(0))
    second = sum((n * y * y for n, y in zip(masses, values, strict=True)), start=to_ball(0))
    spread = whole * second - first * first
    if not spread > 0:
        raise ArithmeticError("the losses lie too close together")
    width, steep = edges[-1] - edges[0], spread.upper().sqrt()
    near = 2 / width
    last = _variation(p, q, mu) / total
    unit, v = float(whole / steep), float(near)
    starts, roots = [], []
    while True:
        at = to_ball(Fraction(v))
        found = acb(0)
        off = to_ball(0)
        for n, a, b in zip(masses, edges, edges[1:], strict=False):
            found += n * acb(0, at * ((a + b) / 2)).exp()
            off += n * at * (b - a) / 2
        least = whole**2 - (abs(found) + off) ** 2
        starts.append(at)
        roots.append(least.max(to_ball(0)).sqrt().lower())
        if at > last * to_ball(Fraction(3, 2)):
            break
        if len(starts) > MOST_POINTS:
            raise ArithmeticError("too many points")
        v += 0.25 * unit
    bounds = []
    for i, (start, following) in enumerate(itertools.pairwise(starts)):
        lowest = ((roots[i] + roots[i + 1] - steep * (following - start)) / 2).max(to_ball(0))
        bounds.append((1 - lowest**2).max(to_ball(0)).sqrt().upper())
    return DecayBound(starts[0], spread.lower(), width.upper(), starts, bounds, last.upper())


def _cells(p: arb, q: arb, mu: arb, total: arb) -> tuple[list[arb], list[arb]]:
    """Masses of cells of z, as parts of F(p) and not above the true ones; and log w at their edges."""
    import numpy as np

    z = np.linspace(-9.0, 9.0, 721)
    order, rate, m = float(p), float(q), float(mu)
    if abs(order) * m > 1:
        z = np.linspace(min(-9.0, order * m - 9), max(9.0, order * m + 9), 1441)
    log_w = np.logaddexp(math.log1p(-rate), math.log(rate) + m * z - m * m / 2)
    tilted = np.exp((weight := order * log_w - z * z / 2) - weight.max())
    below = np.cumsum(tilted) / tilted.sum()
    low, high = z[np.searchsorted(below, 0.04)], z[np.searchsorted(below, 0.96)]
    marks = [to_ball(Fraction(float(low + (high - low) * i / CELLS))) for i in range(CELLS + 1)]
    edges = [(q * (mu * mark - mu**2 / 2).expm1()).log1p() for mark in marks]
    sums, powers = [phi(mark) for mark in marks], [(p * edge).exp() / total for edge in edges]
    masses = []
    for i in range(CELLS):
        masses.append(((sums[i + 1] - sums[i]) * powers[i].min(powers[i + 1])).lower().max(to_ball(0)))
    return masses, edges


def _variation(p: arb, q: arb, mu: arb) -> arb:
    """A bound on the total variation of density w^p / Y'."""
    order, m = float(p) + 1, float(mu)
    low, high, cells = -10.0 - m - max(0.0, -order) * m, 10.0 + max(0.0, order) * m, 90
    width = to_ball(Fraction((high - low) / cells))

    def log_w(z: arb) -> arb:
        return (q * (mu * z - mu**2 / 2).expm1()).log1p()

    most = None
    for i in range(cells + 1):
        z = to_ball(Fraction(low)) + width * i
        logistic = q * (mu * (z + width) - mu**2 / 2 - log_w(z + width)).exp()
        # in the cell right of z: -z only falls, the logistic curve grows
        slope = -z - mu + (p + 1).max(to_ball(0)) * mu * logistic
        bound = -z * z / 2 - mu * z + (p + 1) * log_w(z) + width * slope.max(to_ball(0))
        most = bound if most is None else most.max(bound)
    assert most is not None
    # left of the cells k' > 0 and right of them k' < 0: there -z - mu outweighs |p + 1| mu
    maxima = 1 if (p + 1).max(to_ball(0)) * mu**2 <= 4 else 2
    return 2 * maxima * most.exp() * (mu**2 / 2).exp() / (q * mu * (2 * arb.pi()).sqrt())
