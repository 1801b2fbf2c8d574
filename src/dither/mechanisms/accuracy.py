"""How accurate noise is: tail bounds, their union bound, and the central model against the local one.

These are the textbook's inequalities for continuous noise, to be looked at and compared. A mechanism's own `error` is
exact for the noise it draws, and for several coordinates smaller than a union bound. All figures are rounded up.

    laplace_tail(t)        P(|noise| > t b) = e^-t for Laplace noise of scale b
    laplace_half_width     d numbers within (D / epsilon) ln(d / beta), with probability 1 - beta: by a union bound
    gaussian_half_width    d numbers within sigma sqrt(2 ln(2 d / beta)): P(|Z| > z) <= 2 exp(-z^2 / 2)
    exponential_shortfall  a choice falls short of the best by (2 D / epsilon)(ln(n / m) + t) with probability e^-t at most,
                           for n candidates of which m are best: the others weigh at most n e^(-ln(n/m) - t) against m
    deviation_of_count     central: sqrt 2 / epsilon, whatever n is (the variance of Laplace noise is 2 b^2, not b^2)
    deviation_of_survey    local: n people answer by randomized response, p = e^epsilon / (1 + e^epsilon). An answer has
                           variance p (1 - p), and the count is estimated by (yes - n (1 - p)) / (2 p - 1), so with
                           deviation sqrt(n p (1 - p)) / (2 p - 1) = sqrt(n) e^(epsilon/2) / (e^epsilon - 1)
    both_vanish            a value of sensitivity n^-a (a mean of n numbers in [0, 1] has a = 1) with epsilon = n^(-a/2)
                           has scale n^(-a/2): as n grows, both the privacy loss and the error go to zero
"""

from __future__ import annotations

from fractions import Fraction
from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import NumberLike, exact, integer, rational

__all__ = [
    "both_vanish",
    "deviation_of_count",
    "deviation_of_survey",
    "exponential_shortfall",
    "gaussian_half_width",
    "laplace_half_width",
    "laplace_tail",
]


@argument_errors
def laplace_tail(t: NumberLike) -> float:
    """The probability that Laplace noise exceeds t times its scale: e^-t.

    Args:
        t: the multiple of the scale, not below zero.

    Raises:
        NumberError: `t` is no exact number, or below zero.

    Example:
        >>> from dither import accuracy
        >>> round(accuracy.laplace_tail(3), 4)
        0.0498
    """
    times = exact(t, name="t", nonnegative=True)
    return certify(lambda: (-times.ball()).exp()).upper


@argument_errors
def laplace_half_width(
    epsilon: NumberLike, beta: NumberLike, *, sensitivity: NumberLike = 1, count: SupportsIndex = 1
) -> float:
    """What `count` numbers with Laplace noise stay within, with probability 1 - beta: (D / epsilon) ln(count / beta).

    Args:
        epsilon: the privacy loss of a release, above zero.
        beta: the probability that one of them lies further off, strictly between 0 and 1.
        sensitivity: the largest change of the value in L1 norm, D; 1 by default.
        count: how many numbers there are; 1 by default.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.

    Example:
        >>> from dither import accuracy
        >>> round(accuracy.laplace_half_width("0.5", "0.05"), 3)
        5.991
    """
    e, d = exact(epsilon, name="epsilon", positive=True), rational(sensitivity, name="sensitivity", positive=True)
    inside = integer(count, name="count", least=1) / _risk(beta)
    return certify(lambda: to_ball(d) / e.ball() * to_ball(inside).log()).upper


@argument_errors
def gaussian_half_width(sigma: NumberLike, beta: NumberLike, *, count: SupportsIndex = 1) -> float:
    """What `count` numbers with Gaussian noise stay within, with probability 1 - beta: sigma sqrt(2 ln(2 count / beta)).

    Args:
        sigma: the standard deviation of the noise, above zero.
        beta: the probability that one of them lies further off, strictly between 0 and 1.
        count: how many numbers there are; 1 by default.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.

    Example:
        >>> from dither import accuracy
        >>> round(accuracy.gaussian_half_width(1, "0.05"), 3)
        2.716
    """
    s = rational(sigma, name="sigma", positive=True)
    inside = 2 * integer(count, name="count", least=1) / _risk(beta)
    return certify(lambda: to_ball(s) * (2 * to_ball(inside).log()).sqrt()).upper


@argument_errors
def exponential_shortfall(
    epsilon: NumberLike, candidates: SupportsIndex, t: NumberLike, *, sensitivity: NumberLike = 1, best: SupportsIndex = 1
) -> float:
    """By how much the exponential mechanism falls short with probability at most e^-t: (2 D / epsilon)(ln(n / m) + t).

    Args:
        epsilon: the privacy loss of a release, above zero.
        candidates: how many there are, n.
        t: the negative logarithm of the probability, not below zero.
        sensitivity: the largest change of a score, D; 1 by default.
        best: how many candidates share the best score, m; 1 by default.

    Raises:
        NumberError: a parameter is no exact number, lies outside its range, or `best` is above `candidates`.

    Example:
        >>> from dither import accuracy
        >>> round(accuracy.exponential_shortfall(1, 100, 3), 2)
        15.21
    """
    e, d = exact(epsilon, name="epsilon", positive=True), rational(sensitivity, name="sensitivity", positive=True)
    n, m = integer(candidates, name="candidates", least=1), integer(best, name="best", least=1)
    if m > n:
        raise NumberError("best", best, f"there are only {n} candidates", f"1 to {n}")
    more = exact(t, name="t", nonnegative=True)
    return certify(lambda: 2 * to_ball(d) / e.ball() * (to_ball(Fraction(n, m)).log() + more.ball())).upper


@argument_errors
def deviation_of_count(epsilon: NumberLike) -> float:
    """The standard deviation of a count with Laplace noise, from a trusted collector: sqrt 2 / epsilon.

    Args:
        epsilon: the privacy loss of a release, above zero.

    Raises:
        NumberError: `epsilon` is no exact number above zero.

    Example:
        >>> from dither import accuracy
        >>> round(accuracy.deviation_of_count("0.5"), 3)
        2.828
    """
    e = exact(epsilon, name="epsilon", positive=True)
    return certify(lambda: to_ball(2).sqrt() / e.ball()).upper


@argument_errors
def deviation_of_survey(epsilon: NumberLike, people: SupportsIndex) -> float:
    """The standard deviation of a count estimated from randomized responses: sqrt(n) e^(epsilon/2) / (e^epsilon - 1).

    Args:
        epsilon: the privacy loss of one answer, above zero.
        people: how many answer, n.

    Raises:
        NumberError: `epsilon` is no exact number above zero, or `people` no integer above zero.

    Example:
        >>> from dither import accuracy
        >>> round(accuracy.deviation_of_survey("0.5", 10_000), 1)
        197.9
    """
    e, n = exact(epsilon, name="epsilon", positive=True), integer(people, name="people", least=1)
    return certify(lambda: to_ball(n).sqrt() * (e.ball() / 2).exp() / e.ball().expm1()).upper


@argument_errors
def both_vanish(people: SupportsIndex, *, exponent: NumberLike = 1) -> tuple[float, float]:
    """(epsilon, scale) for a value of sensitivity n^-exponent when epsilon is its root: both go to zero as n grows.

    Args:
        people: how many there are, n.
        exponent: how fast the sensitivity falls, above zero; 1 (the default) for a mean.

    Raises:
        NumberError: `people` is no integer above zero, or `exponent` no rational above zero.

    Example:
        >>> from dither import accuracy
        >>> epsilon, scale = accuracy.both_vanish(10_000)
        >>> round(epsilon, 4), round(scale, 4)
        (0.01, 0.01)
    """
    n, a = integer(people, name="people", least=1), rational(exponent, name="exponent", positive=True)
    root = certify(lambda: (to_ball(n).log() * to_ball(-a / 2)).exp()).upper
    return root, root


def _risk(beta: NumberLike) -> Fraction:
    risk = rational(beta, name="beta")
    if not 0 < risk < 1:
        raise NumberError("beta", beta, "it is a probability strictly between 0 and 1", "'0.05'")
    return risk
