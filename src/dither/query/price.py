"""What a question costs: from epsilon, rho, a guarantee or a wished error to the noise of each family.

The budget decides the kind of noise. Where rho counts (a budget with delta, or in rho), Gaussian noise: at equal rho its
deviation is 1/sqrt(2 rho) times the L2 claim against 1/sqrt(rho) times the L1 claim for Laplace noise, which is never
less. Where only epsilon counts, the geometric mechanism. A guarantee that is pure asks for the geometric mechanism under
every budget. Families are released side by side, so their guarantees add up; the sum is what the ledger charges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dither.errors import BudgetError, GuaranteeError, NumberError, QuestionError, UnitError
from dither.mechanisms.gaussian import Gaussian
from dither.mechanisms.geometric import Geometric
from dither.numeric.number import Number, exact, rational
from dither.privacy import calibrate
from dither.privacy.approx import ApproxPart
from dither.privacy.filter import Filter
from dither.privacy.guarantee import Guarantee, gdp
from dither.privacy.loss import Loss, sum_of
from dither.query.bounding import Bounding
from dither.query.interval import average_error, sum_error
from dither.query.strategy import Family, Ratio, Reading, Strategy

Mechanism = Geometric | Gaussian
HOWS = "epsilon='0.5', rho='0.01', guarantee=pure('0.5'), or error={'n': 20}"
SMALLEST = Fraction(1, 10**100)
DIGITS = 10**4  # a wished error is met to four digits of epsilon or rho


@dataclass(frozen=True)
class Promise:
    """How much a question may cost, and in which currency."""

    epsilon: Number | None = None  # pure
    rho: Fraction | None = None

    @property
    def is_pure(self) -> bool:
        return self.epsilon is not None


def counts_rho(budget: Filter) -> bool:
    """Whether Gaussian noise has a price under a budget."""
    return budget.price(gdp(1, unit=budget.unit)) is not None


def read_promise(budget: Filter, epsilon: object, rho: object, guarantee: object) -> Promise:
    """The one way in which a price was stated."""
    given = {"epsilon": epsilon, "rho": rho, "guarantee": guarantee}
    stated = {name: value for name, value in given.items() if value is not None}
    if len(stated) != 1:
        raise NumberError("price", stated or None, "a price is stated in exactly one way", HOWS)
    if guarantee is not None:
        return _from_guarantee(budget, guarantee)
    if rho is not None:
        wanted = rational(rho, name="rho", positive=True)
        if not counts_rho(budget):
            raise GuaranteeError("rho", rho, f"the budget is {budget.ceiling}, which does not count rho", "epsilon=")
        return Promise(rho=wanted)
    number = exact(epsilon, name="epsilon", positive=True)
    if number < SMALLEST:
        raise NumberError("epsilon", epsilon, "it is below 1e-100, which is a slip", "'0.5'")
    if not counts_rho(budget):
        return Promise(epsilon=number)
    delta = budget.ceiling.charge().delta
    if delta == 0:
        why = f"the budget is {budget.ceiling}: without a delta, epsilon says nothing about Gaussian noise"
        raise GuaranteeError("epsilon", epsilon, why, "rho='0.01', or guarantee=pure('0.5')")
    return _calibrated(number, delta)


def _calibrated(epsilon: Number, delta: Fraction) -> Promise:
    return Promise(rho=1 / (2 * calibrate.gaussian(epsilon, delta) ** 2))


def _from_guarantee(budget: Filter, guarantee: object) -> Promise:
    if not isinstance(guarantee, Guarantee):
        raise GuaranteeError("guarantee", guarantee, "it is not a guarantee", "pure('0.5'), zcdp('0.01')")
    if guarantee.unit is not budget.unit:
        raise UnitError("guarantee", str(guarantee), f"the budget is about '{budget.unit}'", "the same unit")
    charge = guarantee.charge()
    alone = len(guarantee.parts) == 1
    if alone and isinstance(guarantee.parts[0], ApproxPart) and charge.epsilon is not None:
        if charge.delta == 0:
            if charge.epsilon <= 0:
                raise NumberError("guarantee", str(guarantee), "it costs nothing", "an epsilon above zero")
            return Promise(epsilon=charge.epsilon)
        promise = _calibrated(charge.epsilon, charge.delta)
    elif charge.delta == 0 and charge.rho:
        promise = Promise(rho=charge.rho)
    else:
        raise GuaranteeError("guarantee", str(guarantee), "no noise here is made for it", "pure, approx, zcdp or gdp")
    if not counts_rho(budget):
        why = f"it asks for Gaussian noise, which has no price under {budget.ceiling}"
        raise GuaranteeError("guarantee", str(guarantee), why, "pure('0.5')")
    return promise


def mechanisms(promise: Promise, strategy: Strategy, bounding: Bounding) -> tuple[Mechanism, ...]:
    """The noise of each family, at its share of the price."""
    shares = strategy.shares(pure=promise.is_pure)
    amount = promise.rho if promise.epsilon is None else promise.epsilon
    assert amount is not None
    try:
        return tuple(
            _noise(amount * share, family, bounding, is_pure=promise.is_pure)
            for family, share in zip(strategy.families, shares, strict=True)
        )
    except NumberError:
        why = "noise of that size cannot be drawn: it is below 2^-20 steps or above 2^60"
        raise NumberError("price", str(amount), why, "a price that people use, such as epsilon='0.5'") from None


def _noise(amount: Number | Fraction, family: Family, bounding: Bounding, *, is_pure: bool) -> Mechanism:
    if is_pure:
        return Geometric(epsilon=amount, sensitivity=bounding.l1(family), unit=bounding.unit)
    return Gaussian(rho=amount, l2_squared=bounding.l2_squared(family), integers=True, unit=bounding.unit)


def total(noise: tuple[Mechanism, ...]) -> Guarantee:
    """What all families together promise."""
    first, *others = (mechanism.guarantee for mechanism in noise)
    for other in others:
        first = first + other
    return first


def loss(noise: tuple[Mechanism, ...]) -> Loss:
    """The privacy loss of all families together."""
    return sum_of(mechanism.loss() for mechanism in noise)


def reading_error(
    reading: Reading, mechanism: Mechanism, resolution: int, confidence: Fraction, size: int | None
) -> float | None:
    """The half-width of an aggregate; of an average where so many rows count, None if nobody said how many."""
    if isinstance(reading, Ratio):
        if size is None:
            return None
        fraction = average_error(mechanism, size, reading.steps * resolution, confidence)
        return fraction * float(reading.width)
    return sum_error(mechanism, [weight / resolution for weight in reading.weights], confidence)


def for_error(
    wished: object,
    names: tuple[str, ...],
    strategy: Strategy,
    bounding: Bounding,
    confidence: Fraction,
    size: int | None,
    *,
    is_pure: bool,
) -> tuple[Mechanism, ...]:
    """The least noise budget of each family with which every wished error is met."""
    limits = _wishes(wished, names, strategy, size)
    found = []
    for number, family in enumerate(strategy.families):
        own = [(name, reading) for name, reading in zip(names, strategy.readings, strict=True) if reading.family == number]
        mine = [(reading, limits[name]) for name, reading in own if name in limits]
        if not mine:
            name = own[0][0]
            raise QuestionError("error", sorted(limits), f"it says nothing about {name}", f"{{'{name}': 20}} besides")
        make = partial(_noise, family=family, bounding=bounding, is_pure=is_pure)
        found.append(make(_least(partial(_meets, make=make, wishes=mine, bounding=bounding, level=confidence, size=size))))
    return tuple(found)


def _meets(
    amount: Fraction,
    *,
    make: Callable[[Fraction], Mechanism],
    wishes: list[tuple[Reading, float]],
    bounding: Bounding,
    level: Fraction,
    size: int | None,
) -> bool:
    mechanism = make(amount)
    errors = [reading_error(reading, mechanism, bounding.resolution, level, size) for reading, _ in wishes]
    return all(error is not None and error <= limit for error, (_, limit) in zip(errors, wishes, strict=True))


def _least(meets: Callable[[Fraction], bool]) -> Fraction:
    """The least amount, to four digits, that is enough; errors fall as it grows."""
    high = Fraction(1)
    while not meets(high):
        high *= 2
        if high > 2**16:
            raise NumberError("error", "so small", "no epsilon or rho that people use gives such an error", "a larger one")
    low = high / 2
    while low > Fraction(1, 2**16) and meets(low):
        low, high = low / 2, low
    for _ in range(DIGITS.bit_length()):
        middle = (low + high) / 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def _wishes(wished: object, names: tuple[str, ...], strategy: Strategy, size: int | None) -> dict[str, float]:
    if not isinstance(wished, Mapping) or not wished:
        raise QuestionError("error", wished, "it is not a wish for each column", "{'n': 20}")
    limits = {}
    for name, value in wished.items():
        if name not in names:
            raise QuestionError("error", name, "the answer has no aggregate of that name", ", ".join(names))
        limits[name] = float(rational(value, name=f"error of {name}", positive=True))
        if isinstance(strategy.readings[names.index(name)], Ratio) and size is None:
            why = "how far an average is off depends on how many rows it is about, which is private"
            raise QuestionError("error", name, why, "size=1000 beside it: a public guess of the rows in a group")
    return limits


def check_limit(guarantee: Guarantee, most: Guarantee | None) -> None:
    """Refuse what costs more than the owner allows for one question."""
    if most is not None and not guarantee.within(most):
        raise BudgetError("price", str(guarantee), f"the policy allows {most} for one question", "a smaller price")
