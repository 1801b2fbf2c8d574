"""Filters: budgets that hold although the analyst chooses every next question, and its price, with the answers in view.

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

`spent` is a figure, for planning; the ceiling is the guarantee.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction

from dither.errors import GuaranteeError, NumberError
from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike, exact, rational
from dither.privacy.budget.filter_state import VERSION, Filter, Spent
from dither.privacy.budget.filters import (
    KINDS,
    ApproxFilter,
    GaussianFilter,
    RenyiFilter,
    SomeOrderFilter,
    SumFilter,
    ZcdpFilter,
)
from dither.privacy.calibrate import largest_rho
from dither.privacy.guarantee.definitions import renyi
from dither.privacy.guarantee.renyi import epsilon_at
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


def sum_filter(epsilon: NumberLike, delta: NumberLike = 0, *, unit: UnitLike = Unit.ADD_REMOVE) -> SumFilter:
    """Epsilons and deltas add up."""
    return SumFilter(exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta), read_unit(unit))


def zcdp_filter(rho: NumberLike, delta: NumberLike = 0, *, unit: UnitLike = Unit.ADD_REMOVE) -> ZcdpFilter:
    """Rhos and deltas add up."""
    return ZcdpFilter(rational(rho, name="rho", nonnegative=True), read_delta(delta), read_unit(unit))


def gaussian_filter(mu: NumberLike, *, unit: UnitLike = Unit.ADD_REMOVE) -> GaussianFilter:
    """Squares of mu add up."""
    return GaussianFilter(rational(mu, name="mu", nonnegative=True) ** 2, read_unit(unit))


def renyi_filter(caps: Mapping[object, object], *, unit: UnitLike = Unit.ADD_REMOVE) -> RenyiFilter:
    """{order: cap}: every order stays below its cap."""
    part = renyi(caps, unit=unit).parts[0]
    return RenyiFilter(part.curve, read_unit(unit))  # type: ignore[attr-defined]


def approx_filter(
    epsilon: NumberLike, delta: NumberLike, *, delta_events: NumberLike = 0, unit: UnitLike = Unit.ADD_REMOVE
) -> ApproxFilter:
    """Target (epsilon, delta); of delta, `delta_events` is kept for questions that have a delta of their own."""
    target, total, events = (
        exact(epsilon, name="epsilon", nonnegative=True),
        read_delta(delta),
        read_delta(delta_events),
    )
    if events >= total:
        raise NumberError("delta_events", delta_events, "some delta must be left for the conversion", "less than delta")
    return ApproxFilter(target, total, events, largest_rho(target, total - events), read_unit(unit))


def some_order_filter(
    epsilon: NumberLike, delta: NumberLike, orders: list[object], *, unit: UnitLike = Unit.ADD_REMOVE
) -> SomeOrderFilter:
    """Target (epsilon, delta) by a list of Rényi orders, of which one must have room; each gets delta / length."""
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


def from_json(text: str) -> Filter:
    """The filter that `to_json` wrote."""
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
