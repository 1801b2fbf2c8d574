"""The smallest noise, or the largest part of a budget, that meets a target: found by floats, certified by balls.

What is returned was checked against the target and rounded towards more noise. The classical Gaussian formula
sigma = sqrt(2 ln(1.25/delta)) / epsilon is here by name only: it is proved for epsilon < 1 and false for large epsilon
(at epsilon = 20 and delta = 1e-5 it has a true delta of 1.5e-3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import SupportsIndex

from dither.errors import GuaranteeError, NumberError, PrecisionError
from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.numeric.search import halve, smallest, surely
from dither.privacy import amplify
from dither.privacy.formulas.normal import profile
from dither.privacy.guarantee.definitions import pure, zcdp
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.profile.solve_epsilon import log_of
from dither.privacy.records import read_delta

__all__ = [
    "epsilon_each",
    "gaussian",
    "gaussian_classical",
    "gaussian_for_rho",
    "laplace",
    "largest_rho",
    "largest_shuffled",
    "least_noise",
    "sampled_gaussian",
]


def gaussian(
    epsilon: NumberLike, delta: NumberLike, *, l2_sensitivity: NumberLike = 1, count: SupportsIndex = 1
) -> Fraction:
    """The smallest sigma for which `count` Gaussian answers are together (epsilon, delta)-DP, by the exact profile."""
    target, lost = exact(epsilon, name="epsilon", nonnegative=True), _some_delta(delta)
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    k = integer(count, name="count", least=1)

    def meets(inverse: Fraction) -> bool | None:  # inverse = 1/mu: more is more private
        if inverse == 0:
            return False
        return surely(lambda: profile(1 / to_ball(inverse), target.ball()) - to_ball(lost))

    one = _finite(smallest(meets, _guess_inverse(target, lost)).upper)
    return _finite(certify(lambda: to_ball(k).sqrt() * to_ball(one * reach)).upper)


def gaussian_for_rho(rho: NumberLike, *, l2_sensitivity: NumberLike = 1, count: SupportsIndex = 1) -> Fraction:
    """The variance sigma^2 = count sensitivity^2 / (2 rho), exactly: sigma = sensitivity / sqrt(2 rho)."""
    budget = rational(rho, name="rho", positive=True)
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    return integer(count, name="count", least=1) * reach**2 / (2 * budget)


def gaussian_classical(epsilon: NumberLike, delta: NumberLike, *, l2_sensitivity: NumberLike = 1) -> Fraction:
    """sigma = sqrt(2 ln(1.25/delta)) sensitivity / epsilon, for 0 < epsilon < 1 only (Dwork and Roth 2014)."""
    target, lost = exact(epsilon, name="epsilon", positive=True), _some_delta(delta)
    if target >= 1:
        raise GuaranteeError("epsilon", epsilon, "the classical formula is proved below 1 only", "calibrate.gaussian")
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    inside = Fraction(5, 4) / lost
    return _finite(certify(lambda: (2 * to_ball(inside).log()).sqrt() * to_ball(reach) / target.ball()).upper)


def laplace(epsilon: NumberLike, *, sensitivity: NumberLike = 1, count: object = 1, delta: NumberLike = 0) -> Fraction:
    """The smallest Laplace scale for which `count` answers are together epsilon- or (epsilon, delta)-DP."""
    reach = rational(sensitivity, name="sensitivity", positive=True)
    each = epsilon_each(epsilon, count=count, delta=delta)
    if each.is_rational:
        return reach / each.fraction()
    return _finite(certify(lambda: to_ball(reach) / each.ball()).upper)


def epsilon_each(epsilon: NumberLike, *, count: SupportsIndex, delta: NumberLike = 0) -> Number:
    """The largest epsilon that `count` equal pure questions may have each, by optimal composition."""
    target, lost = exact(epsilon, name="epsilon", positive=True), read_delta(delta)
    k = integer(count, name="count", least=1)
    even = target / k
    if lost == 0 or k == 1:
        return even
    low, high = even.bounds().lower, float(_finite(target.bounds().upper))
    found = _largest(lambda x: Fraction((k * pure(x)).delta(target)) <= lost, low, high)
    return Number(found) if even <= found else even


def largest_rho(epsilon: Number, delta: Fraction) -> Fraction:
    """The largest rho that converts to (epsilon, delta), rounded down."""
    if epsilon == 0 or delta == 0:
        return Fraction(0)
    high = float(_finite(epsilon.bounds().upper))
    return _largest(lambda rho: Fraction(zcdp(rho).delta(epsilon)) <= delta, 0.0, high)


def least_noise(
    build: Callable[[Fraction], Loss], epsilon: NumberLike, delta: NumberLike, *, start: NumberLike = 1
) -> Fraction:
    """The smallest x for which the loss `build(x)` is (epsilon, delta)-DP; more x must be more private.

    What is returned was checked. It lies within about 1e-9 of the smallest, where the loss is computed that well.
    """
    target, lost = exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta)
    if lost == 0:
        raise NumberError("delta", delta, "it must be above zero here", "a small delta such as '1e-6'")
    first = rational(start, name="start", positive=True)

    def excess(x: Fraction) -> float:
        """ln of delta over the target: at most zero where x is enough."""
        loss = build(x)
        if not isinstance(loss, Loss):
            raise GuaranteeError("build", loss, "it must give a Loss", "lambda sigma: 100 * Loss.gaussian(sigma)")
        found = loss.delta(target)
        if Fraction(found) <= lost:
            return min(0.0, math.log(found) - log_of(lost)) if found > 0 else -math.inf
        return max(1e-300, math.log(found) - log_of(lost))

    low, high = _around(excess, first)
    return _narrow(excess, low, high)


def _around(excess: Callable[[Fraction], float], start: Fraction) -> tuple[tuple[Fraction, float], tuple[Fraction, float]]:
    """Two numbers, a factor two apart: the smaller is not enough, the larger is."""
    x = start
    here = excess(x)
    for _ in range(200):
        following = x / 2 if here <= 0 else 2 * x
        there = excess(following)
        if (here <= 0) != (there <= 0):
            pair = ((following, there), (x, here))
            return pair if here <= 0 else (pair[1], pair[0])
        x, here = following, there
    raise PrecisionError("noise", float(x), "no amount of noise was found", "another target, or another start")


def _narrow(excess: Callable[[Fraction], float], low: tuple[Fraction, float], high: tuple[Fraction, float]) -> Fraction:
    """Secants in ln x, and halves where they do not help."""
    for step in range(60):
        (a, f), (b, g) = low, high
        width = float(b / a - 1)
        if width < 1e-9:
            break
        share = f / (f - g) if math.isfinite(g) and step % 3 != 2 else 0.5
        share = min(max(share, 1e-3), 1 - 1e-3) if width > 1e-6 else 0.5
        x = a + (b - a) * Fraction(share)
        x = Fraction(float(x))
        if not a < x < b:
            break
        value = excess(x)
        low, high = ((x, value), high) if value > 0 else (low, (x, value))
        # close in from the other side as well: the curve is nearly straight here
        near = 2 * abs(float(x) * value / max(abs(f - g) / math.log1p(width), 1e-9)) if math.isfinite(value) else 0.0
        other = Fraction(float(x) + near if value > 0 else float(x) - near)
        if near and low[0] < other < high[0]:
            value = excess(other)
            low, high = ((other, value), high) if value > 0 else (low, (other, value))
    return high[0]


def sampled_gaussian(
    epsilon: NumberLike, delta: NumberLike, *, rate: NumberLike, count: SupportsIndex = 1, l2_sensitivity: NumberLike = 1
) -> Fraction:
    """The smallest sigma for which `count` Gaussian answers, each on a Poisson sample, are together (epsilon, delta)-DP."""
    number = integer(count, name="count", least=1)
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    Loss.gaussian(1).poisson_subsampled(rate)  # refuses a rate now
    return reach * least_noise(lambda sigma: number * Loss.gaussian(sigma).poisson_subsampled(rate), epsilon, delta)


def largest_shuffled(epsilon: NumberLike, delta: NumberLike, *, people: object, answers: object = 2) -> Fraction:
    """The largest epsilon at the source for which shuffled reports are together (epsilon, delta)-DP."""
    amplify.shuffled(1, people, answers=answers)  # refuses bad counts now
    inverse = least_noise(lambda x: amplify.shuffled(Number(1 / x), people, answers=answers), epsilon, delta)
    return 1 / inverse


def _largest(meets: Callable[[Fraction], bool], low: float, high: float) -> Fraction:
    """A number that meets, with nothing that meets more than 2^-32 above it (relatively); `low` is taken to meet."""
    near = halve(lambda x: not meets(Fraction(x)), low, high, enough=lambda low, high: high - low <= low * 2.0**-32)
    return Fraction(near[0])  # below the place from which on too much is spent


def _finite(value: float) -> Fraction:
    if math.isinf(value):
        raise PrecisionError("result", value, "it does not fit a float", "less extreme parameters")
    return Fraction(value)


def _some_delta(delta: NumberLike) -> Fraction:
    value = read_delta(delta)
    if value == 0:
        raise NumberError("delta", delta, "Gaussian noise has no epsilon with delta = 0", "a small delta such as '1e-6'")
    return value


def _guess_inverse(epsilon: Number, delta: Fraction) -> float:
    """1/mu by bisection in 80-bit balls' midpoints: close, and checked by whoever asked."""
    with precision(80):
        e, d = epsilon.ball(), to_ball(delta)

        def meets(log: float) -> bool:  # of ln(1/mu)
            value = profile(1 / to_ball(Fraction(math.exp(log))), e)
            return not float(value.mid()) > float(d.mid())

        return math.exp(halve(meets, -60.0, 60.0, times=70)[1])
