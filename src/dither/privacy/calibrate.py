"""Calibration: the smallest noise, or the largest part of a budget, that meets a target.

Floats find it, balls certify it: what is returned was checked against the target and rounded towards more noise. The
classical Gaussian formula sigma = sqrt(2 ln(1.25/delta)) / epsilon is here by name only: it is proved for epsilon < 1 and
false for large epsilon (at epsilon = 20 and delta = 1e-5 it has a true delta of 1.5e-3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import GuaranteeError, NumberError, PrecisionError
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.numeric.search import around, largest, narrow
from dither.privacy import amplify
from dither.privacy.formulas.normal import inverse_mu_between
from dither.privacy.guarantee.definitions import pure, zcdp
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.profile.solve_epsilon import log_of
from dither.privacy.records import read_delta

__all__ = ["epsilon_each", "gaussian", "gaussian_classical", "gaussian_for_rho", "laplace"]
__all__ += ["largest_rho", "largest_shuffled", "least_noise", "sampled_gaussian"]


@argument_errors
def gaussian(
    epsilon: NumberLike, delta: NumberLike, *, l2_sensitivity: NumberLike = 1, count: SupportsIndex = 1
) -> Fraction:
    """The smallest sigma for which `count` Gaussian answers are together (epsilon, delta)-DP, by the exact profile.

    Args:
        epsilon: the target, at least 0.
        delta: the target, above 0 and below 1.
        l2_sensitivity: the L2 norm by which the true answer moves between neighbours, above 0.
        count: how many answers are released.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: what is needed does not fit a float.

    Example:
        >>> from dither import calibrate
        >>> round(float(calibrate.gaussian(1, "1e-6")), 3)
        4.225
    """
    target, lost = exact(epsilon, name="epsilon", nonnegative=True), _some_delta(delta)
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    k = integer(count, name="count", least=1)
    one = _finite(inverse_mu_between(target, lost).upper)
    return _finite(certify(lambda: to_ball(k).sqrt() * to_ball(one * reach)).upper)


@argument_errors
def gaussian_for_rho(rho: NumberLike, *, l2_sensitivity: NumberLike = 1, count: SupportsIndex = 1) -> Fraction:
    """The variance sigma^2 = count sensitivity^2 / (2 rho), exactly: sigma = sensitivity / sqrt(2 rho).

    Args:
        rho: the zCDP budget of all answers together, above 0.
        l2_sensitivity: the L2 norm by which the true answer moves between neighbours, above 0.
        count: how many answers are released.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import calibrate
        >>> calibrate.gaussian_for_rho("1/8", count=3)
        Fraction(12, 1)
    """
    budget = rational(rho, name="rho", positive=True)
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    return integer(count, name="count", least=1) * reach**2 / (2 * budget)


@argument_errors
def gaussian_classical(epsilon: NumberLike, delta: NumberLike, *, l2_sensitivity: NumberLike = 1) -> Fraction:
    """sigma = sqrt(2 ln(1.25/delta)) sensitivity / epsilon, for 0 < epsilon < 1 only (Dwork and Roth 2014).

    Args:
        epsilon: the target, above 0 and below 1.
        delta: the target, above 0 and below 1.
        l2_sensitivity: the L2 norm by which the true answer moves between neighbours, above 0.

    Raises:
        GuaranteeError: epsilon is 1 or more, where the formula is not proved.
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: what is needed does not fit a float.

    Example:
        >>> from dither import calibrate
        >>> round(float(calibrate.gaussian_classical("0.5", "1e-6")), 2)
        10.6
    """
    target, lost = exact(epsilon, name="epsilon", positive=True), _some_delta(delta)
    if target >= 1:
        raise GuaranteeError("epsilon", epsilon, "the classical formula is proved below 1 only", "calibrate.gaussian")
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    return _finite(certify(lambda: (2 * to_ball(Fraction(5, 4) / lost).log()).sqrt() * to_ball(reach) / target.ball()).upper)


@argument_errors
def laplace(
    epsilon: NumberLike, *, sensitivity: NumberLike = 1, count: SupportsIndex = 1, delta: NumberLike = 0
) -> Fraction:
    """The smallest Laplace scale for which `count` answers are together epsilon- or (epsilon, delta)-DP.

    Args:
        epsilon: the target, above 0.
        sensitivity: by how much one answer moves between neighbours, above 0.
        count: how many answers are released.
        delta: the target, at least 0 and below 1.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: what is needed does not fit a float.

    Example:
        >>> from dither import calibrate
        >>> calibrate.laplace(1, sensitivity=3)
        Fraction(3, 1)
        >>> calibrate.laplace(1, count=100, delta="1e-6") < calibrate.laplace(1, count=100)
        True
    """
    reach = rational(sensitivity, name="sensitivity", positive=True)
    each = epsilon_each(epsilon, count=count, delta=delta)
    if each.is_rational:
        return reach / each.fraction()
    return _finite(certify(lambda: to_ball(reach) / each.ball()).upper)


@argument_errors
def epsilon_each(epsilon: NumberLike, *, count: SupportsIndex, delta: NumberLike = 0) -> Number:
    """The largest epsilon that `count` equal pure questions may have each, by optimal composition.

    Args:
        epsilon: the target, above 0.
        count: how many questions.
        delta: the target, at least 0 and below 1.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: what is needed does not fit a float.

    Example:
        >>> from dither import calibrate
        >>> calibrate.epsilon_each(1, count=4)
        Number('0.25')
        >>> round(float(calibrate.epsilon_each(1, count=100, delta="1e-6")), 3)
        0.024
    """
    target, lost = exact(epsilon, name="epsilon", positive=True), read_delta(delta)
    k = integer(count, name="count", least=1)
    even = target / k
    if lost == 0 or k == 1:
        return even
    low, high = even.bounds().lower, float(_finite(target.bounds().upper))
    found = largest(lambda x: Fraction((k * pure(x)).delta(target)) <= lost, low, high)
    return Number(found) if even <= found else even


@argument_errors
def largest_rho(epsilon: Number, delta: Fraction) -> Fraction:
    """The largest rho for which rho-zCDP is proved to be (epsilon, delta)-DP, rounded down.

    Args:
        epsilon: the target, an exact number of at least 0.
        delta: the target, at least 0 and below 1.

    Raises:
        PrecisionError: what is needed does not fit a float.

    Example:
        >>> from fractions import Fraction
        >>> from dither import Number, calibrate
        >>> round(float(calibrate.largest_rho(Number(1), Fraction(1, 10**6))), 4)
        0.0244
    """
    if epsilon == 0 or delta == 0:
        return Fraction(0)
    return _largest_rho(epsilon, delta, repr(epsilon))  # ln(9) is 2 ln(3), but balls of both may end a bit apart


@argument_errors
def least_noise(
    build: Callable[[Fraction], Loss], epsilon: NumberLike, delta: NumberLike, *, start: NumberLike = 1
) -> Fraction:
    """The smallest x for which the loss `build(x)` is (epsilon, delta)-DP; more x must be more private.

    What is returned was checked. It lies within about 1e-9 of the smallest, where the loss is computed that well.

    Args:
        build: from x to a loss.
        epsilon: the target, at least 0.
        delta: the target, above 0 and below 1.
        start: where the search begins, above 0.

    Raises:
        GuaranteeError: `build` gives something else than a loss.
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: no amount of noise was found.

    Example:
        >>> from dither import Loss, calibrate
        >>> sigma = calibrate.least_noise(lambda sigma: 10 * Loss.gaussian(sigma), 1, "1e-6")
        >>> round(float(sigma), 2)
        13.36
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

    return narrow(excess, *around(excess, first))


@argument_errors
def sampled_gaussian(
    epsilon: NumberLike, delta: NumberLike, *, rate: NumberLike, count: SupportsIndex = 1, l2_sensitivity: NumberLike = 1
) -> Fraction:
    """The smallest sigma for which `count` Gaussian answers, each on a Poisson sample, are together (epsilon, delta)-DP.

    Args:
        epsilon: the target, at least 0.
        delta: the target, above 0 and below 1.
        rate: the probability with which each person is in a sample, in (0, 1].
        count: how many answers are released.
        l2_sensitivity: the L2 norm by which the true answer moves between neighbours, above 0.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: no amount of noise was found.

    Example:
        >>> from dither import calibrate
        >>> round(float(calibrate.sampled_gaussian(1, "1e-6", rate="0.1")), 2)
        1.43
    """
    number = integer(count, name="count", least=1)
    reach = rational(l2_sensitivity, name="l2_sensitivity", positive=True)
    Loss.gaussian(1).poisson_subsampled(rate)  # refuses a rate now
    return reach * least_noise(lambda sigma: number * Loss.gaussian(sigma).poisson_subsampled(rate), epsilon, delta)


@argument_errors
def largest_shuffled(
    epsilon: NumberLike, delta: NumberLike, *, people: SupportsIndex, answers: SupportsIndex | None = 2
) -> Fraction:
    """The largest epsilon at the source for which shuffled reports are together (epsilon, delta)-DP.

    Args:
        epsilon: the target, at least 0.
        delta: the target, above 0 and below 1.
        people: how many report, public.
        answers: k of k-ary randomized response; None for any local randomizer.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        PrecisionError: no epsilon was found.

    Example:
        >>> from dither import calibrate
        >>> round(float(calibrate.largest_shuffled("0.5", "1e-6", people=1000)), 2)
        2.3
    """
    amplify.shuffled(1, people, answers=answers)  # refuses bad counts now
    return 1 / least_noise(lambda x: amplify.shuffled(Number(1 / x), people, answers=answers), epsilon, delta)


@lru_cache(maxsize=256)  # whoever opens a ledger asks for the same, and so do questions at one price
def _largest_rho(epsilon: Number, delta: Fraction, spelled: str) -> Fraction:
    return largest(lambda rho: Fraction(zcdp(rho).delta(epsilon)) <= delta, 0.0, float(_finite(epsilon.bounds().upper)))


def _finite(value: float) -> Fraction:
    if math.isinf(value):
        raise PrecisionError("result", value, "it does not fit a float", "less extreme parameters")
    return Fraction(value)


def _some_delta(delta: NumberLike) -> Fraction:
    if (value := read_delta(delta)) == 0:
        raise NumberError("delta", delta, "Gaussian noise has no epsilon with delta = 0", "a small delta such as '1e-6'")
    return value
