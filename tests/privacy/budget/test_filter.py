"""Adaptive analysts, enumerated: every strategy over a menu of small mechanisms, against every filter, in rationals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest

from dither import Guarantee, Unit, approx, filter, gdp, ln, pure, renyi, zcdp  # noqa: A004
from dither.errors import GuaranteeError, NumberError
from dither.privacy.budget.filter import Filter, SomeOrderFilter, Spent
from tests.privacy import pairs


@dataclass(frozen=True)
class Question:
    """A mechanism as a finite pair, and what it promises."""

    pair: pairs.Pair
    promise: Guarantee


def worst(filter_: Filter, menu: list[Question], stages: int, harm: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    """The largest expected harm that any adaptive strategy can do: at each turn the best question, or to stop.

    harm(p, q) is what an outcome with probabilities p and q adds; both are the products along the path.
    """

    @cache
    def value(spent: Spent, p: Fraction, q: Fraction, left: int) -> Fraction:
        best = harm(p, q)
        if left == 0:
            return best
        for question in menu:
            after = filter_.after(spent, question.promise)
            if after is not None:
                outcomes = zip(*question.pair, strict=True)
                best = max(best, sum((value(after, p * a, q * b, left - 1) for a, b in outcomes), start=Fraction(0)))
        return best

    return value(filter_.nothing, Fraction(1), Fraction(1), stages)


def stick(odds: Fraction) -> Callable[[Fraction, Fraction], Fraction]:
    """The hockey stick at epsilon = ln(odds): its expectation is delta."""
    return lambda p, q: max(Fraction(0), p - odds * q)


def moment(p: Fraction, q: Fraction) -> Fraction:
    """Of order 2: its expectation is e^(D_2)."""
    return p * p / q if q else Fraction(10**9)


def lossy(odds: int, lost: Fraction) -> pairs.Pair:
    """Shows everything with probability `lost`, otherwise randomized response."""
    p, q = pairs.response(odds)
    return (lost, Fraction(0), *((1 - lost) * x for x in p)), (Fraction(0), lost, *((1 - lost) * x for x in q))


LOST = Fraction(1, 50)
MENU = [
    Question(pairs.response(2), pure(ln(2))),
    Question(pairs.flip(pairs.response(2)), pure(ln(2))),
    Question(pairs.response(3), pure(ln(3))),
    Question(lossy(2, LOST), approx(ln(2), LOST)),
]


@pytest.mark.parametrize(("odds", "delta"), [(2, 0), (4, 0), (6, Fraction(1, 50)), (8, Fraction(1, 25))])
def test_sums_hold_against_every_strategy(odds, delta):
    found = worst(filter.sum_filter(ln(odds), delta), MENU, 3, stick(Fraction(odds)))
    assert found <= delta


@pytest.mark.parametrize("odds", [3, 6, 12])
@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 5)])
def test_approx_filter_holds_against_every_strategy(odds, delta):
    """rho with the plain sum beside it, and questions that have a delta of their own."""
    for events in (Fraction(0), delta / 2):
        budget = filter.approx_filter(ln(odds), delta, delta_events=events)
        assert budget.ceiling == approx(ln(odds), delta)
        found = worst(budget, MENU, 3, stick(Fraction(odds)))
        assert found <= delta
    assert worst(filter.approx_filter(ln(12), "1/5"), MENU, 3, stick(Fraction(12))) >= 0


@pytest.mark.parametrize("rho", ["1/4", "1/2", 1])
def test_zcdp_and_renyi_filters_hold_against_every_strategy(rho):
    """Order 2: E (p/q) is at most e^(2 rho) for zCDP, and e^cap for a Rényi filter."""
    menu = [question for question in MENU if not question.promise.charge().delta]
    budget = filter.zcdp_filter(rho)
    assert _below_exp(worst(budget, menu, 3, moment), 2 * Fraction(budget.rho))
    caps = {2: "0.6", 8: 2}
    assert _below_exp(worst(filter.renyi_filter(caps), menu, 3, moment), Fraction("0.6"))


def _below_exp(value: Fraction, exponent: Fraction) -> bool:
    from dither.numeric import enclosure

    return value <= Fraction(enclosure.exp(exponent).lower)


def test_gaussian_filter_counts_squares_and_refuses_others():
    budget = filter.gaussian_filter(1)
    spent, asked = budget.nothing, 0
    while (after := budget.after(spent, gdp("0.1"))) is not None:
        spent, asked = after, asked + 1
    assert asked == 100  # exactly: squares are rational, nothing drifts
    assert budget.after(budget.nothing, pure("0.01")) is None
    assert budget.ceiling == gdp(1)


@pytest.mark.parametrize(
    ("budget", "question", "times"),
    [
        (filter.sum_filter(1), pure(0.1), 10),
        (filter.sum_filter(1, "1e-6"), approx("0.01", "1e-7"), 10),
        (filter.zcdp_filter("0.5"), pure("0.1"), 100),
        (filter.zcdp_filter("0.5", "1e-6"), approx("0.1", "1e-7"), 10),
        (filter.renyi_filter({2: 1, 8: 4}), zcdp("0.05"), 10),
        (filter.approx_filter(1, "1e-6"), pure("0.1"), 10),
    ],
    ids=lambda value: str(value)[:40],
)
def test_ten_tenths_are_one(budget, question, times):
    spent = budget.nothing
    for _ in range(times):
        spent = budget.after(spent, question)
        assert spent is not None
    assert budget.after(spent, question) is None
    assert "a figure" in budget.figure(spent)
    assert str(budget.ceiling) in budget.figure(spent)


def test_what_a_filter_refuses():
    budget = filter.sum_filter(1)
    assert budget.after(budget.nothing, pure("0.1", unit=Unit.REPLACE_ONE)) is None
    assert budget.after(budget.nothing, zcdp("0.001")) is None
    assert budget.after(budget.nothing, approx("0.1", "1e-9")) is None
    orders = filter.renyi_filter({2: 1})
    assert orders.after(orders.nothing, approx("0.1", "1e-9")) is None
    assert orders.after(orders.nothing, renyi({"1.5": "0.1"})) is None
    mixed = filter.approx_filter(1, "1e-6")
    assert mixed.after(mixed.nothing, renyi({2: "0.1"})) is None
    after = mixed.after(mixed.nothing, zcdp("1e-4"))  # a question without a largest loss uses up the plain sum
    assert after is not None
    assert mixed.after(after, pure("0.9")) is None
    for bad in ("nan", -1, True, 1):
        with pytest.raises(NumberError):
            filter.approx_filter(1, bad)
    with pytest.raises(NumberError, match="conversion"):
        filter.approx_filter(1, "1e-6", delta_events="1e-6")
    for orders_ in ([], [1], ["0.5"]):
        with pytest.raises(GuaranteeError):
            filter.some_order_filter(1, "1e-6", orders_)
    with pytest.raises(GuaranteeError, match="room"):
        filter.some_order_filter("0.01", "1e-6", [2])


def test_states_belong_to_their_filter():
    first, second = filter.sum_filter(1), filter.zcdp_filter(1)
    for state in (second.nothing, (0, 0), None, filter.sum_filter(2).nothing):
        with pytest.raises(GuaranteeError, match="state"):
            first.after(state, pure("0.1"))
    for question in (3, None, "pure"):
        with pytest.raises(GuaranteeError, match="guarantee"):
            first.after(first.nothing, question)
    with pytest.raises(GuaranteeError):
        filter.some_order_filter(1, "1e-6", None)


def test_delta_is_split_between_events_and_conversion():
    whole = filter.approx_filter(1, "1e-6")
    split = filter.approx_filter(1, "1e-6", delta_events="9e-7")
    assert split.rho < whole.rho
    assert zcdp(split.rho).epsilon("1e-7") <= 1
    assert zcdp(split.rho * Fraction(10**6 + 1, 10**6)).epsilon("1e-7") > 1
    spent = split.after(split.nothing, approx("0.001", "9e-7"))
    assert spent is not None
    assert split.after(spent, approx("0.001", "1e-8")) is None


def test_the_rho_of_an_approx_filter_is_the_largest():
    budget = filter.approx_filter(1, "1e-6")
    assert zcdp(budget.rho).epsilon("1e-6") <= 1
    assert zcdp(budget.rho * Fraction(10**9 + 1, 10**9)).epsilon("1e-6") > 1


# -- "some order": the attack that nearly doubles delta ------------------------------------------------------------------

EPSILON, DELTA, ORDERS = 10, Fraction(5, 10**5), ["2.5", 12]


def without_division() -> SomeOrderFilter:
    """The planted bug: every order gets the whole of delta."""
    caps = tuple(filter.some_order_filter(EPSILON, DELTA, [order]).caps[0] for order in ORDERS)
    divided = filter.some_order_filter(EPSILON, DELTA, ORDERS)
    return SomeOrderFilter(divided.epsilon, divided.delta, caps, divided.unit)


def promise(pair: pairs.Pair) -> Guarantee:
    return renyi({order: pairs.divergence_up(pair, Fraction(order)) for order in ORDERS})


def spike(ratio: Fraction, mass: Fraction) -> pairs.Pair:
    """One outcome of this mass whose ratio is as given."""
    return (mass, 1 - mass), (mass / ratio, 1 - mass / ratio)


def largest_spike(budget: SomeOrderFilter, spent: Spent, ratio: Fraction) -> pairs.Pair | None:
    """The heaviest spike of this ratio that the filter still admits."""
    low, high = Fraction(0), Fraction(999, 1000)
    for _ in range(60):
        middle = (low + high) / 2
        middle = Fraction(middle.numerator * 2**200 // middle.denominator, 2**200)
        low, high = (middle, high) if budget.after(spent, promise(spike(ratio, middle))) is not None else (low, middle)
    return spike(ratio, low) if low else None


def attack(budget: SomeOrderFilter) -> Fraction:
    """Two stages: an outcome of mass 1e-3 and ratio 4, then the order that has most to give on either branch."""
    from dither.numeric import enclosure

    odds = Fraction(enclosure.exp(EPSILON).upper)
    first = spike(Fraction(4), Fraction(1, 1000))
    spent = budget.after(budget.nothing, promise(first))
    assert spent is not None
    total = Fraction(0)
    for p, q in zip(*first, strict=True):
        best = Fraction(0)
        for order in (Fraction(5, 2), Fraction(12)):
            ratio = odds * q / p * order / (order - 1)
            second = largest_spike(budget, spent, ratio)
            if second is not None:
                best = max(best, sum((max(Fraction(0), p * a - odds * q * b) for a, b in zip(*second, strict=True))))
        total += best
    return total


def test_some_order_without_dividing_delta_is_broken_and_ours_is_not():
    broken, ours = attack(without_division()), attack(filter.some_order_filter(EPSILON, DELTA, ORDERS))
    assert broken > Fraction(19, 10) * DELTA, float(broken / DELTA)
    assert Fraction(9, 10) * DELTA < ours <= DELTA, float(ours / DELTA)


def test_no_filter_continues_on_some_order_for_free():
    """Of all filters only one looks at "any" order, and it divides delta."""
    divided = filter.some_order_filter(EPSILON, DELTA, ORDERS)
    for (order, cap), (same, free) in zip(divided.caps, without_division().caps, strict=True):
        assert order == same
        assert cap < free
