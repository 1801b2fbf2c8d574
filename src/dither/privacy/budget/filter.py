"""Privacy filters: budgets that hold although the analyst chooses each question, and its price, with the answers in view.

A filter fixes its ceiling at the start and admits a question only if the ceiling still holds afterwards. What it tracks is
fixed too. The theorems (Rogers et al. 2016; Feldman and Zrnic 2021; Whitehouse et al. 2023; Smith and Thakurta 2022):

    SumFilter       the sum of epsilons and the sum of deltas
    ZcdpFilter      the sum of rhos and the sum of deltas
    RenyiFilter     a curve that *every* listed order must respect; one order is a list of one
    GaussianFilter  the sum of mu^2
    ApproxFilter    target (epsilon, delta), delta = delta_events + delta_conversion: the deltas of questions add up to at
                    most delta_events, and either their rhos stay below the rho that converts to (epsilon,
                    delta_conversion), or the plain sum of their epsilons stays below epsilon
    SomeOrderFilter target (epsilon, delta): continue while *some* order of a list has room, each order at delta / length

Why the plain sum is free in ApproxFilter. Outside the events, let L be the total loss. If at the end the sum of epsilons is
at most epsilon, L <= epsilon, and the path adds nothing to delta = E (1 - e^(epsilon - L))_+. If it is not, the rhos were
within their bound all along (they only grow), so the path is one of the rho-filtered process, whose total is at most
delta_conversion. Why orders must share delta: the same argument adds up one such total for each order. A filter that
continues while some order has room *without* dividing delta is not private (the tests hold a two-stage attack that nearly
doubles delta), and there is none here.

The rho of a pure epsilon is epsilon tanh(epsilon/2), and a mechanism may have a smaller one of its own. Filters of version
1, which stand in ledgers that were made before, count epsilon^2/2 for ever: a ledger adds up by the rule that it began with.

`spent` is a figure, for planning; the ceiling is the guarantee.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dither.arguments import argument_errors
from dither.errors import GuaranteeError, NumberError
from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike, exact, rational
from dither.privacy.budget.filter_state import VERSION, Filter, Spent
from dither.privacy.budget.filters import ApproxFilter, GaussianFilter, SumFilter, ZcdpFilter
from dither.privacy.budget.order_filters import RenyiFilter, SomeOrderFilter
from dither.privacy.calibrate import largest_rho
from dither.privacy.guarantee.definitions import RenyiOrder, renyi
from dither.privacy.guarantee.renyi import Renyi, epsilon_at
from dither.privacy.records import read_delta
from dither.privacy.unit import Unit, UnitLike, read_unit

__all__ = [
    "ApproxFilter",
    "Filter",
    "GaussianFilter",
    "RenyiFilter",
    "SomeOrderFilter",
    "Spent",
    "SumFilter",
    "ZcdpFilter",
    "approx_filter",
    "from_json",
    "gaussian_filter",
    "renyi_filter",
    "some_order_filter",
    "sum_filter",
    "zcdp_filter",
]

KINDS: dict[str, type[Filter]] = {
    kind.kind: kind for kind in (SumFilter, ZcdpFilter, GaussianFilter, RenyiFilter, ApproxFilter, SomeOrderFilter)
}


@argument_errors
def sum_filter(epsilon: NumberLike, delta: NumberLike = 0, *, unit: UnitLike = Unit.ADD_REMOVE) -> SumFilter:
    """Basic composition: epsilons and deltas add up.

    Args:
        epsilon: the ceiling of the epsilons, at least 0.
        delta: the ceiling of the deltas, rational, at least 0 and below 1.
        unit: the neighbouring relation.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import filter, pure
        >>> budget = filter.sum_filter(1)
        >>> budget.more_like(budget.nothing, pure("0.1"))
        10
    """
    return SumFilter(exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta), read_unit(unit))


@argument_errors
def zcdp_filter(rho: NumberLike, delta: NumberLike = 0, *, unit: UnitLike = Unit.ADD_REMOVE) -> ZcdpFilter:
    """zCDP: rhos and deltas add up.

    Args:
        rho: the ceiling of the rhos, rational, at least 0.
        delta: the ceiling of the deltas, rational, at least 0 and below 1.
        unit: the neighbouring relation.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import filter, pure
        >>> budget = filter.zcdp_filter("0.5")
        >>> budget.more_like(budget.nothing, pure("0.1"))
        100
    """
    return ZcdpFilter(rational(rho, name="rho", nonnegative=True), read_delta(delta), read_unit(unit))


@argument_errors
def gaussian_filter(mu: NumberLike, *, unit: UnitLike = Unit.ADD_REMOVE) -> GaussianFilter:
    """Gaussian DP: squares of mu add up.

    Args:
        mu: the ceiling, rational, at least 0.
        unit: the neighbouring relation.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import filter, gdp
        >>> budget = filter.gaussian_filter(1)
        >>> budget.more_like(budget.nothing, gdp("0.1"))
        100
    """
    return GaussianFilter(rational(mu, name="mu", nonnegative=True) ** 2, read_unit(unit))


@argument_errors
def renyi_filter(
    caps: Mapping[RenyiOrder, NumberLike] | Mapping[NumberLike, NumberLike], *, unit: UnitLike = Unit.ADD_REMOVE
) -> RenyiFilter:
    """Rényi DP: every listed order stays below its cap.

    Args:
        caps: {order: cap}; orders are rational and above 1, caps at least 0.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: no order is listed, or one of them twice.
        NumberError: an order is not above 1, or a cap below 0.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import filter, zcdp
        >>> budget = filter.renyi_filter({2: "0.1", 8: "0.5"})
        >>> budget.more_like(budget.nothing, zcdp("0.01"))
        5
    """
    part = renyi(caps, unit=unit).parts[0]
    assert isinstance(part, Renyi)
    return RenyiFilter(part.curve, read_unit(unit))


@argument_errors
def approx_filter(
    epsilon: NumberLike, delta: NumberLike, *, delta_events: NumberLike = 0, unit: UnitLike = Unit.ADD_REMOVE
) -> ApproxFilter:
    """Target (epsilon, delta), by rhos or by the plain sum of epsilons.

    Args:
        epsilon: the target, at least 0.
        delta: the target, above 0 and below 1.
        delta_events: the part of delta that is kept for questions with a delta of their own; below delta.
        unit: the neighbouring relation.

    Raises:
        NumberError: a parameter is no number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import filter, pure
        >>> budget = filter.approx_filter(1, "1e-6")
        >>> budget.more_like(budget.nothing, pure("0.01"))
        487
    """
    target, total, events = (
        exact(epsilon, name="epsilon", nonnegative=True),
        read_delta(delta),
        read_delta(delta_events),
    )
    if events >= total:
        raise NumberError("delta_events", delta_events, "some delta must be left for the conversion", "less than delta")
    return ApproxFilter(target, total, events, largest_rho(target, total - events), read_unit(unit))


@argument_errors
def some_order_filter(
    epsilon: NumberLike, delta: NumberLike, orders: Sequence[NumberLike], *, unit: UnitLike = Unit.ADD_REMOVE
) -> SomeOrderFilter:
    """Target (epsilon, delta) by a list of Rényi orders, of which one must have room; each gets delta / length.

    Args:
        epsilon: the target, at least 0.
        delta: the target, above 0 and below 1.
        orders: rational, above 1.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: there is no order above 1, delta is 0, or no order leaves room below epsilon.
        NumberError: a parameter is no number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import filter, zcdp
        >>> budget = filter.some_order_filter(1, "1e-6", [32, 64])
        >>> budget.more_like(budget.nothing, zcdp("0.001"))
        21
    """
    target, total = exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta)
    if not isinstance(orders, (list, tuple)):
        raise GuaranteeError("orders", orders, "orders come in a list", "[2, 8, 32]")
    listed = sorted({rational(order, name="order") for order in orders})
    if not listed or listed[0] <= 1 or total == 0:
        raise GuaranteeError("orders", orders, "orders above 1 and a delta above 0 are needed", "[2, 8, 32]")
    share = total / len(listed)
    caps = []
    for order in listed:
        # epsilon_at is the divergence plus what the conversion adds; the rest of epsilon is the cap, rounded down.
        room = _lower(target, order, share)
        if room is not None:
            caps.append((order, room))
    if not caps:
        raise GuaranteeError("orders", orders, "none of them leaves room below epsilon", "larger orders, or a larger delta")
    return SomeOrderFilter(target, total, tuple(caps), read_unit(unit))


@argument_errors
def from_json(text: str) -> Filter:
    """The filter whose text `to_json` wrote.

    Args:
        text: exact JSON.

    Raises:
        GuaranteeError: dither did not write this, or a newer one did.

    Example:
        >>> from dither import filter
        >>> budget = filter.approx_filter(1, "1e-6")
        >>> filter.from_json(budget.to_json()) == budget
        True
    """
    try:
        stored = json.loads(text)
        version = stored["filter"]
        if type(version) is int and version > VERSION:
            raise GuaranteeError("record version", version, f"this dither reads up to {VERSION}", "a newer dither")
        if type(version) is not int or version < 1:
            raise ValueError("a version")
        return KINDS[stored["kind"]].from_record(stored)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
        if isinstance(error, GuaranteeError):
            raise
        raise GuaranteeError("record", text, "dither did not write this", "what Filter.to_json gave") from error


def _lower(target: Number, order: Fraction, delta: Fraction) -> Number | None:
    with precision(128):
        room = ends(target.ball() - epsilon_at(order, to_ball(0), to_ball(delta)))[0]
    return Number.from_json(str(room)) if room >= 0 else None
