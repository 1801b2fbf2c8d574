"""Composition and conversion theorems of the textbooks, by name.

`Guarantee` finds the best bound by itself; these functions are here to be looked at, compared and taught. Each states its
condition and refuses where the theorem does not apply. All return floats rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import SupportsIndex

from flint import arb

from dither.arguments import argument_errors
from dither.errors import GuaranteeError, NumberError
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.numeric.search import surely
from dither.privacy.compose import compose
from dither.privacy.concentrated import (
    gaussian_for_zcdp,
    geometric_to_zcdp,
    pure_to_zcdp,
    pure_to_zcdp_tight,
    zcdp_to_approx,
)
from dither.privacy.formulas.randomized_response import MOST_LOSSES
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.definitions import approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_delta

__all__ = [
    "advanced",
    "advanced_simple",
    "basic",
    "gaussian_for_zcdp",
    "geometric_to_zcdp",
    "heterogeneous",
    "optimal",
    "optimal_closed",
    "power_of_pure",
    "pure_to_zcdp",
    "pure_to_zcdp_tight",
    "zcdp_to_approx",
]

# -- composition ---------------------------------------------------------------------------------------------------


@argument_errors
def basic(epsilons: Sequence[NumberLike], deltas: Sequence[NumberLike] = ()) -> tuple[float, float]:
    """Basic composition: the epsilons add up, and the deltas add up.

    Args:
        epsilons: of the mechanisms, at least 0.
        deltas: of those that have one.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> theorems.basic([1, "0.5"])
        (1.5, 0.0)
    """
    values = [exact(epsilon, name="epsilon", nonnegative=True) for epsilon in epsilons]
    lost = [read_delta(delta) for delta in deltas]
    return sum(values, start=Number(0)).bounds().upper, min(1.0, Number(sum(lost, start=Fraction(0))).bounds().upper)


@argument_errors
def advanced(
    epsilon: NumberLike, count: SupportsIndex, delta: NumberLike, *, each_delta: NumberLike = 0
) -> tuple[float, float]:
    """Advanced composition (Dwork, Rothblum and Vadhan 2010), in full; it holds for every epsilon.

    Together (epsilon sqrt(2 k ln 1/delta) + k epsilon (e^epsilon - 1), delta + k each_delta).

    Args:
        epsilon: of each mechanism, at least 0.
        count: k, how many mechanisms.
        delta: what the composition may lose besides, above 0 and below 1.
        each_delta: of each mechanism, at least 0 and below 1.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.advanced("0.1", 100, "1e-6")[0], 2)
        6.31
    """
    e, k, d, lost = _k_fold(epsilon, count, delta, each_delta)
    bound = certify(lambda: e.ball() * (-2 * k * to_ball(d).log()).sqrt() + k * e.ball() * e.ball().expm1())
    return bound.upper, lost


@argument_errors
def advanced_simple(
    epsilon: NumberLike, count: SupportsIndex, delta: NumberLike, *, each_delta: NumberLike = 0
) -> tuple[float, float]:
    """The lecture-note form epsilon sqrt(6 k ln 1/delta), where it holds.

    It is above the full form exactly when k (e^epsilon - 1)^2 <= (8 - 4 sqrt 3) ln(1/delta), about 1.07 ln(1/delta): divide
    both forms by epsilon sqrt k and compare. Outside that range it is refused: for 400 mechanisms with epsilon = 30 and
    delta = 0.99 it would say 147, where the truth is above 11,000.

    Args:
        epsilon: of each mechanism, at least 0.
        count: k, how many mechanisms.
        delta: what the composition may lose besides, above 0 and below 1.
        each_delta: of each mechanism, at least 0 and below 1.

    Raises:
        GuaranteeError: k (e^epsilon - 1)^2 exceeds about 1.07 ln(1/delta).
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.advanced_simple("0.01", 100, "1e-6")[0], 2)
        0.91
    """
    e, k, d, lost = _k_fold(epsilon, count, delta, each_delta)
    room = surely(lambda: k * e.ball().expm1() ** 2 + (8 - 4 * to_ball(3).sqrt()) * to_ball(d).log())
    if not room:
        raise GuaranteeError(
            "epsilon, count", (str(e), k), "k (e^epsilon - 1)^2 exceeds 1.07 ln(1/delta)", "the full form, `advanced`"
        )
    return certify(lambda: e.ball() * (-6 * k * to_ball(d).log()).sqrt()).upper, lost


@argument_errors
def optimal(epsilon: NumberLike, count: SupportsIndex, delta: NumberLike, *, each_delta: NumberLike = 0) -> float:
    """Optimal composition of equal guarantees (Kairouz, Oh and Viswanath 2015): exact, nothing smaller is true.

    Args:
        epsilon: of each mechanism, at least 0.
        count: k, how many mechanisms. At most 19,999: for more, `Guarantee.epsilon` gives a bound by Rényi orders.
        delta: of the composition, above 0 and below 1.
        each_delta: of each mechanism, at least 0 and below 1.

    Raises:
        GuaranteeError: there are too many to compose exactly.
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.optimal("0.1", 100, "1e-6"), 2)
        4.77
    """
    e, k, d, _ = _k_fold(epsilon, count, delta, each_delta)
    if k >= MOST_LOSSES:
        raise GuaranteeError("count", k, "that many are not composed exactly", "(count * approx(...)).epsilon(delta)")
    return (k * approx(e, each_delta)).epsilon(d)


@argument_errors
def optimal_closed(epsilon: NumberLike, count: SupportsIndex, delta: NumberLike) -> float:
    """The closed form beside the optimal theorem: the least of three, b = k epsilon tanh(epsilon/2).

    Args:
        epsilon: of each mechanism, at least 0.
        count: k, how many mechanisms.
        delta: of the composition, above 0 and below 1.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.optimal_closed("0.1", 100, "1e-6"), 2)
        5.76
    """
    e, k, d, _ = _k_fold(epsilon, count, delta, 0)

    def with_log(inside: Callable[[], arb]) -> float:
        return certify(lambda: k * e.ball() * (e.ball() / 2).tanh() + e.ball() * (2 * k * inside().log()).sqrt()).upper

    second = with_log(lambda: to_ball(1).exp() + e.ball() * to_ball(k).sqrt() / to_ball(d))
    return min((e * k).bounds().upper, second, with_log(lambda: 1 / to_ball(d)))


@argument_errors
def heterogeneous(epsilons: Sequence[NumberLike], delta: NumberLike, *, deltas: Sequence[NumberLike] = ()) -> float:
    """Optimal composition of unequal guarantees (Murtagh and Vadhan 2016).

    Exact while the losses ±eps_1 ±eps_2 ... take at most 20,000 values, as they do for epsilons on a common lattice. Beyond
    that the exact value is hard to compute, and the epsilons are rounded up to a lattice of at most 400 levels: a larger
    epsilon is a weaker promise, so the result is still an upper bound.

    Args:
        epsilons: of the mechanisms, at least one, each at least 0.
        delta: of the composition, at least 0 and below 1.
        deltas: of the mechanisms, one for each; none of them has one if this is empty.

    Raises:
        GuaranteeError: the lengths differ, nothing is listed, or there are too many to compose.
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.heterogeneous(["0.1", "0.2"], "1e-6"), 4)
        0.3
    """
    values = [exact(epsilon, name="epsilon", nonnegative=True) for epsilon in epsilons]
    lost = [read_delta(d) for d in deltas] or [Fraction(0)] * len(values)
    if not values or len(lost) != len(values):
        raise GuaranteeError("epsilons, deltas", (len(values), len(lost)), "one delta for each epsilon", "equal lengths")
    target = read_delta(delta)
    together = compose(approx(e, d) for e, d in zip(values, lost, strict=True))
    part = together.parts[0]
    assert isinstance(part, Approx)
    if part.exact:
        return together.epsilon(target)
    rounded = part.on_lattice()
    if rounded is None:
        why = "too many to compose exactly"
        raise GuaranteeError("epsilons", len(part.entries), why, "Guarantee.epsilon, by Rényi orders")
    return Guarantee(together.unit, (rounded,)).epsilon(target)


def _k_fold(
    epsilon: NumberLike, count: SupportsIndex, delta: NumberLike, each: NumberLike
) -> tuple[Number, int, Fraction, float]:
    e = exact(epsilon, name="epsilon", nonnegative=True)
    k = integer(count, name="count", least=1)
    d, lost = read_delta(delta), read_delta(each)
    if d == 0:
        raise NumberError("delta", delta, "these theorems need some delta", "a small probability such as '1e-6'")
    return e, k, d, min(1.0, Number(d + k * lost).bounds().upper)


@argument_errors
def power_of_pure(epsilon: NumberLike, level: NumberLike) -> float:
    """A test with this false-alarm rate detects a person with probability at most level e^epsilon.

    Args:
        epsilon: of the mechanism, at least 0.
        level: the false-alarm rate, at least 0.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.power_of_pure(1, "0.05"), 3)
        0.136
    """
    e, a = exact(epsilon, name="epsilon", nonnegative=True), rational(level, name="level", nonnegative=True)
    return min(1.0, certify(lambda: to_ball(a) * e.ball().exp()).upper)
