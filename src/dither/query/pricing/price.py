"""What a question costs: from epsilon, rho, a guarantee or a wished error to the noise of each family.

The budget decides the kind of noise. Where rho counts (a budget with delta, or in rho), Gaussian noise: at equal rho its
deviation is 1/sqrt(2 rho) times the L2 claim against 1/sqrt(rho) times the L1 claim for Laplace noise, which is never
less. Where only epsilon counts, the geometric mechanism. A guarantee that is pure asks for the geometric mechanism under
every budget. Families are released side by side, so their guarantees add up; the sum is what the ledger charges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dither.errors import BudgetError, GuaranteeError, NumberError, QuestionError
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number, rational
from dither.numeric.search import halve
from dither.privacy.budget.filter import Filter
from dither.privacy.guarantee.guarantee import Guarantee, approx
from dither.privacy.loss.loss import Loss, sum_of
from dither.query.groups.group_choice import GroupChoice
from dither.query.plan.question import Question
from dither.query.pricing.spend import Spend
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_sets import (
    CounterPlan,
    CounterSet,
    Estimator,
    FromStatistic,
    MeanEstimator,
    Request,
    SumEstimator,
    VarianceEstimator,
)
from dither.query.statistics.ratio_intervals import average_error, sum_error
from dither.query.statistics.registry import make_statistic
from dither.query.statistics.statistic import Price, Statistic
from dither.query.statistics.variances import spread_error

Mechanism = Geometric | Gaussian
LARGEST_ERROR = 10**300  # beyond, a double may not hold it
FINENESS = Fraction(1, 256)  # of rho, where it is lowered to keep an epsilon
DIGITS = 10**4  # a wished error is met to four digits of epsilon or rho


def epsilon(released: Sequence[Mechanism | Statistic | GroupChoice], delta: object) -> float:
    """At a delta: by the exact law of the loss of all of it together; or by its promises, which may say less or more."""
    promised = total(released).epsilon(delta)
    try:
        return min(loss(released).epsilon(delta), promised)
    except GuaranteeError:
        return promised


def text(released: Sequence[Mechanism | Statistic | GroupChoice], budget: Filter, asked: object) -> str:
    """A price as people know it: epsilon, and at which delta where there is no epsilon alone."""
    promise, delta = total(released), budget.ceiling.charge().delta
    if delta > 0 and asked is not None:  # what was asked for, where that is proved, and not a digit more
        wanted = approx(asked, delta, unit=promise.unit)
        if promise.within(wanted):
            return str(wanted)
    if delta == 0 or promise.charge().epsilon is not None:
        return str(promise)
    return str(approx(epsilon(released, delta), delta, unit=promise.unit))


@dataclass(frozen=True)
class Context:
    """What prices are made under: the question, its bound, and how errors are stated."""

    plan: Question
    strategy: CounterPlan
    bounding: Bounding
    cells: int  # groups of the question
    confidence: Fraction
    size: int | None  # a public guess of the rows of a group
    pure: bool

    def noise(self, family: CounterSet, amount: Number | Fraction) -> Mechanism:
        """The noise of a family of counters."""
        if self.pure:
            return Geometric(epsilon=amount, sensitivity=self.bounding.l1(family), unit=self.bounding.unit)
        square = self.bounding.l2_squared(family)
        return Gaussian(rho=amount, l2_squared=square, integers=True, unit=self.bounding.unit)

    def part(self, beside: Request, amount: Number | Fraction) -> Statistic:
        """A part beside them."""
        price = Price(amount, self.pure, self.bounding.unit, self.cells, self.confidence)
        return make_statistic(beside, self.plan, price)


Made = tuple[tuple[Mechanism, ...], tuple[Statistic, ...]]  # the noise of each family, then the parts beside them


def mechanisms(promise: Spend, under: Context) -> Made:
    """The noise of each family, and each part beside them, at its share of the price.

    Where an epsilon with a delta was stated, rho is that of Gaussian noise. A few choices of the same rho may have a larger
    epsilon at that delta: then the rho of all is lowered until they keep it.
    """
    amount = promise.amount
    made = _made(amount, under)
    if promise.target is None or not under.strategy.besides:
        return made
    if _keeps(made, promise.target):
        return made
    target = promise.target
    kept, _ = halve(
        lambda share: not _keeps(_made(amount * share, under), target),
        *(Fraction(0), Fraction(1)),
        enough=lambda low, high: low > 0 and high - low <= FINENESS,
    )
    return _made(amount * kept, under)


def _keeps(made: Made, wanted: Guarantee) -> bool:
    noise, parts = made
    return total([*noise, *parts]).within(wanted)


def _made(amount: Number | Fraction, under: Context) -> Made:
    strategy = under.strategy
    amounts = [amount * share for share in strategy.shares(pure=under.pure)]
    try:
        noise = tuple(map(under.noise, strategy.families, amounts))
        return noise, tuple(map(under.part, strategy.besides, amounts[len(noise) :]))
    except NumberError:
        why = "noise of that size cannot be drawn: it is below 2^-20 steps or above 2^60"
        raise NumberError("price", str(amount), why, "a price that people use, such as epsilon='0.5'") from None


def paid(released: Iterable[Mechanism | Statistic], *, pure: bool) -> Spend:
    """What was found for a wished error."""
    charge = total(released).charge()
    return Spend(epsilon=charge.epsilon) if pure else Spend(rho=charge.rho)


def total(released: Iterable[Mechanism | Statistic | GroupChoice]) -> Guarantee:
    """What all that is released promises together."""
    first, *others = (one.guarantee for one in released)
    for other in others:
        first = first + other
    return first


def loss(released: Iterable[Mechanism | Statistic | GroupChoice]) -> Loss:
    """The privacy loss of all that is released together."""
    return sum_of(one.loss() for one in released)


def reading_error(
    reading: SumEstimator | MeanEstimator | VarianceEstimator,
    mechanism: Mechanism,
    resolution: int,
    confidence: Fraction,
    size: int | None,
) -> float | None:
    """The half-width of an aggregate; of an average or a variance where so many rows count, None if nobody said how many."""
    if isinstance(reading, (MeanEstimator, VarianceEstimator)) and size is None:
        return None
    if isinstance(reading, VarianceEstimator):
        assert size is not None
        return spread_error(reading, mechanism, resolution, size, confidence)
    if isinstance(reading, MeanEstimator):
        assert size is not None
        unit = reading.row * resolution
        return average_error(mechanism, size, unit, confidence, of_squares=reading.of_squares) * float(reading.width)
    return sum_error(mechanism, [weight / resolution for weight in reading.weights], confidence)


def for_error(wished: object, under: Context) -> Made:
    """The least noise budget of each family, and of each part, with which every wished error is met."""
    limits = _wishes(wished, under)
    strategy, names = under.strategy, [aggregate.name for aggregate in under.plan.aggregates]
    named = list(zip(names, strategy.readings, strict=True))

    def wishes(own: Sequence[tuple[str, Estimator]]) -> list[tuple[Estimator, float]]:
        mine = [(reading, limits[name]) for name, reading in own if name in limits]
        if not mine:
            name = own[0][0]
            raise QuestionError("error", sorted(limits), f"it says nothing about {name}", f"{{'{name}': 20}} besides")
        return mine

    noise, parts = [], []
    for number, family in enumerate(strategy.families):
        mine = wishes([(name, reading) for name, reading in named if _family(reading) == number])
        noise.append(under.noise(family, _least(partial(_meets, family=family, wishes=mine, under=under))))
    for number, beside in enumerate(strategy.besides):
        own = [(name, reading) for name, reading in named if isinstance(reading, FromStatistic) and reading.part == number]
        parts.append(under.part(beside, _least(partial(_part_meets, beside=beside, wishes=wishes(own), under=under))))
    return tuple(noise), tuple(parts)


def _family(reading: Estimator) -> int | None:
    return None if isinstance(reading, FromStatistic) else reading.family


def _meets(amount: Fraction, *, family: CounterSet, wishes: list[tuple[Estimator, float]], under: Context) -> bool:
    mechanism, resolution = under.noise(family, amount), under.bounding.resolution
    errors = [
        reading_error(reading, mechanism, resolution, under.confidence, under.size)
        for reading, _ in wishes
        if not isinstance(reading, FromStatistic)
    ]
    return all(error is not None and error <= limit for error, (_, limit) in zip(errors, wishes, strict=True))


def _part_meets(amount: Fraction, *, beside: Request, wishes: list[tuple[Estimator, float]], under: Context) -> bool:
    part = under.part(beside, amount)
    errors = [part.error(reading.place, under.confidence) for reading, _ in wishes if isinstance(reading, FromStatistic)]
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
    return halve(meets, low, high, times=DIGITS.bit_length())[1]


def _wishes(wished: object, under: Context) -> dict[str, float]:
    names = [aggregate.name for aggregate in under.plan.aggregates]
    if not isinstance(wished, Mapping) or not wished:
        raise QuestionError("error", wished, "it is not a wish for each column", "{'n': 20}")
    limits = {}
    for name, value in wished.items():
        if name not in names:
            raise QuestionError("error", name, "the answer has no aggregate of that name", ", ".join(names))
        wish = rational(value, name=f"error of {name}", positive=True)
        if wish > LARGEST_ERROR:
            raise NumberError(f"error of {name}", value, f"it is above {LARGEST_ERROR:g}, which is a slip", "20")
        limits[name] = float(wish)
        reading = under.strategy.readings[names.index(name)]
        if isinstance(reading, (MeanEstimator, VarianceEstimator)) and under.size is None:
            why = "how far an average or a variance is off depends on how many rows it is about, which is private"
            raise QuestionError("error", name, why, "size=1000 beside it: a public guess of the rows in a group")
        if isinstance(reading, FromStatistic):
            part = under.part(under.strategy.besides[reading.part], Fraction(1))
            if part.error(reading.place, under.confidence) is None:
                why = "how far it is off depends on the data, which is private"
                raise QuestionError("error", name, why, "epsilon=, and the error bars of the answer")
    return limits


def check_limit(guarantee: Guarantee, most: Guarantee | None) -> None:
    """Refuse what costs more than the owner allows for one question."""
    if most is not None and not guarantee.within(most):
        raise BudgetError("price", str(guarantee), f"the policy allows {most} for one question", "a smaller price")
