"""Two normal distributions that are mu deviations apart: their profile, its inverse, and the power of the best test.

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)       (Balle and Wang 2018)

The hardest pair of a mu-GDP mechanism is N(0, 1) against N(mu, 1); the formula is its hockey-stick divergence, found by
integrating the density difference over the half-line where the loss mu x - mu^2/2 exceeds epsilon. The most powerful test
at level a has power Phi(Phi^-1(a) + mu). mu is given by its square, which is rational where mu is not.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number
from dither.numeric.search import halve, smallest, surely


def phi(x: arb) -> arb:
    """The standard normal distribution function; relative precision in the lower tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def profile(mu: arb, epsilon: arb) -> arb:
    """delta(epsilon) of mu-GDP, as a ball."""
    return phi(mu / 2 - epsilon / mu) - epsilon.exp() * phi(-mu / 2 - epsilon / mu)


def delta_between(mu2: Fraction, epsilon: Number) -> Enclosure:
    """(lower, upper) around delta(epsilon) of mu-GDP."""
    if mu2 == 0:
        return Enclosure(0.0, 0.0)
    return certify(lambda: profile(to_ball(mu2).sqrt(), epsilon.ball()), bits=128)


def epsilon_between(mu2: Fraction, delta: Fraction) -> Enclosure:
    """(lower, upper) around the epsilon at which the profile is delta, for 0 < delta < 1."""
    if mu2 == 0:
        return Enclosure(0.0, 0.0)

    def meets(epsilon: Fraction) -> bool | None:
        return surely(lambda: profile(to_ball(mu2).sqrt(), to_ball(epsilon)) - to_ball(delta))

    return smallest(meets, _guess(mu2, delta))


@lru_cache(maxsize=256)  # a quote, its release and the next question ask at the same price
def inverse_mu_between(epsilon: Number, delta: Fraction) -> Enclosure:
    """(lower, upper) around the least 1/mu for which the profile at epsilon is at most delta, for 0 < delta < 1."""

    def meets(inverse: Fraction) -> bool | None:  # more is more private
        if inverse == 0:
            return False
        return surely(lambda: profile(1 / to_ball(inverse), epsilon.ball()) - to_ball(delta))

    return smallest(meets, _guess_inverse(epsilon, delta))


def power(mu2: Fraction, level: Fraction) -> float:
    """Phi(Phi^-1(level) + mu), rounded up, by solving Phi(-z) = level for z from below."""
    if level == 0:
        return 0.0

    def meets(x: Fraction) -> bool | None:  # whether Phi(40 - x) <= level, that is z <= x - 40
        return surely(lambda: phi(to_ball(40 - x)) - to_ball(level), most=2048)

    z = Fraction(smallest(meets, 40.0, most=200.0).lower) - 40  # not above the true z, so the power is not below
    return min(1.0, certify(lambda: phi(to_ball(mu2).sqrt() - to_ball(z))).upper)


def _guess(mu2: Fraction, delta: Fraction) -> float:
    """Newton on ln delta in 96-bit balls' midpoints: close, and checked by whoever asked."""
    with precision(96):
        mu, target = to_ball(mu2).sqrt().mid(), to_ball(delta).log().mid()
        epsilon = mu * mu / 2 + mu * (-2 * target).sqrt()  # the simple zCDP bound: above the answer
        for _ in range(40):
            tail = (epsilon.exp() * phi(-mu / 2 - epsilon / mu)).mid()
            value = (phi(mu / 2 - epsilon / mu) - tail).mid()
            if not value > 0:
                break
            change = ((value.log() - target) * value / tail).mid()
            following = (epsilon + change).mid()
            if not following > 0:  # overshot: the answer is close to zero or is zero
                following = (epsilon / 4).mid()
            epsilon = following
            if abs(change) < epsilon * arb((1, -62)):
                break
        return float(epsilon)


def _guess_inverse(epsilon: Number, delta: Fraction) -> float:
    """1/mu by bisection in 80-bit balls' midpoints: close, and checked by whoever asked."""
    with precision(80):
        e, d = epsilon.ball(), to_ball(delta)

        def meets(log: float) -> bool:  # of ln(1/mu)
            value = profile(1 / to_ball(Fraction(math.exp(log))), e)
            return not float(value.mid()) > float(d.mid())

        return math.exp(halve(meets, -60.0, 60.0, times=70)[1])
