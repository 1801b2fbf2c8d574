"""What a question costs: from epsilon, rho, a guarantee or a wished error to the noise of each statistic.

The budget decides the kind of noise. Where rho counts (a budget with delta, or in rho), Gaussian noise: at equal rho its
deviation is 1/sqrt(2 rho) times the L2 claim against 1/sqrt(rho) times the L1 claim for Laplace noise, which is never
less. Where only epsilon counts, the geometric mechanism. A guarantee that is pure asks for the geometric mechanism under
every budget. Families are released side by side, so their guarantees add up; the sum is what the ledger charges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from dither.density.quantiles.rank_scores import ENDS
from dither.errors import BudgetError, GuaranteeError, NumberError, QuestionError
from dither.ledger.entries.largest_price import told_price
from dither.numeric.number import Number, NumberLike, rational
from dither.numeric.search import halve
from dither.privacy.budget.filter import Filter
from dither.privacy.guarantee.definitions import approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss, sum_of
from dither.privacy.text import four_digits_down, four_digits_proved
from dither.query.counters.counter_sets import CounterPlan, CounterSet
from dither.query.counters.estimators import Guesses
from dither.query.plan.question import Question
from dither.query.pricing.ask import ErrorsLike
from dither.query.pricing.spend import Spend, keeps
from dither.query.statistics.bounding import Bounding, EachRow
from dither.query.statistics.choose_bounding import of_persons
from dither.query.statistics.counter_release import CounterRelease, Priced, mechanisms, with_one_weight
from dither.query.statistics.registry import make_statistic
from dither.query.statistics.statistic import Price, Statistic
from dither.query.workload.grouping_release import GroupingRelease

LARGEST_ERROR = 10**300  # beyond, a double may not hold it
FINENESS = Fraction(1, 256)  # of rho, where it is lowered to keep an epsilon
DIGITS = 10**4  # a wished error is met to four digits of epsilon or rho


def epsilon(released: Sequence[Priced], delta: NumberLike) -> float:
    """The epsilon of all releases together at a delta: by the exact law of the loss, or by their guarantees if smaller."""
    promised = total(released).epsilon(delta)
    try:
        return min(loss(released).epsilon(delta), promised)
    except GuaranteeError:
        return promised


def text(released: Sequence[Priced], budget: Filter, asked: NumberLike | None) -> str:
    """A price as people know it: epsilon, and at which delta where there is no epsilon alone."""
    promise, delta = total(released), budget.ceiling.charge().delta
    if delta > 0 and asked is not None:  # what was asked for, where that is proved, and not a digit more
        wanted = approx(asked, delta, unit=promise.unit)
        if keeps(promise, wanted):
            return str(wanted)
    if delta == 0 or promise.charge().epsilon is not None:
        return str(promise)
    found = epsilon(released, delta)
    short = four_digits_proved(found, lambda told: keeps(promise, approx(told, delta, unit=promise.unit)))
    return str(approx(found if short == "∞" else short, delta, unit=promise.unit))


@dataclass(frozen=True)
class Context:
    """What prices are made under: the question, its bound, and how errors are stated."""

    question: Question
    counters: CounterPlan
    bounding: Bounding
    cells: int  # groups of the question
    confidence: Fraction
    guesses: Guesses
    pure: bool
    error_is_wished: bool = False  # instead of a price: it must be known beforehand how far a number may be off
    ends: Fraction = ENDS  # the share of the price of a quantile that the ends of its interval have
    lost: Fraction = Fraction(0)  # the delta of choices of values that nobody declared, all together

    def statistic(self, at: int, amount: Number | Fraction) -> Statistic:
        """One of those that the question needs, at its price."""
        counters, sets = self.counters, self.counters.sets
        if at >= len(sets):
            facts = amount, self.pure, self.bounding.unit, self.cells, self.confidence, self.error_is_wished, self.ends
            price = Price(*facts, self.lost / len(counters.requests))
            return make_statistic(counters.requests[at - len(sets)], self.question, price)
        kind = GroupingRelease if self.question.sets else CounterRelease
        return kind.make(
            self.question,
            self._bounding(sets[at]),
            sets[at],
            counters.estimators[at],
            amount,
            pure=self.pure,
            confidence=self.confidence,
            guesses=self.guesses,
        )

    def _bounding(self, counters: CounterSet) -> Bounding:
        """How a person is bounded: people are counted in a way of their own."""
        if not counters.counts_persons or isinstance(self.bounding, EachRow):
            return self.bounding
        return of_persons(self.question.table, self.cells, self.bounding.unit)

    @property
    def count(self) -> int:
        """How many statistics the question needs."""
        return len(self.counters.sets) + len(self.counters.requests)


def make_statistics(promise: Spend, under: Context) -> tuple[Statistic, ...]:
    """Each statistic at its share of the price.

    Where an epsilon with a delta was stated, rho is that of Gaussian noise. A few choices of the same rho may have a larger
    epsilon at that delta: then the rho of all is lowered until they keep it.
    """
    amount = promise.amount
    made = _made(amount, under)
    if promise.target is None or not under.counters.requests:
        return made
    if keeps(total(mechanisms(made)), promise.target):
        return made
    target = promise.target
    kept, _ = halve(
        lambda share: not keeps(total(mechanisms(_made(amount * share, under))), target),
        *(Fraction(0), Fraction(1)),
        enough=lambda low, high: low > 0 and high - low <= FINENESS,
    )
    return _made(amount * kept, under)


def _made(amount: Number | Fraction, under: Context) -> tuple[Statistic, ...]:
    shares = under.counters.shares(pure=under.pure)
    try:
        return with_one_weight(tuple(under.statistic(at, amount * share) for at, share in enumerate(shares)))
    except NumberError:
        why = "noise of that size cannot be drawn: it is below 2^-20 steps or above 2^60"
        raise NumberError("price", str(amount), why, "a price that people use, such as epsilon='0.5'") from None


def paid(released: Sequence[Statistic], *, pure: bool) -> Spend:
    """The price that was found for a wished error."""
    charge = total(mechanisms(released)).charge()
    return Spend(epsilon=charge.epsilon) if pure else Spend(rho=charge.rho)


def total(released: Iterable[Priced]) -> Guarantee:
    """The guarantee of all releases together, by composition."""
    first, *others = (one.guarantee for one in released)
    for other in others:
        first = first + other
    return first


def loss(released: Iterable[Priced]) -> Loss:
    """The privacy loss of all that is released together."""
    return sum_of(one.loss() for one in released)


def for_error(wished: ErrorsLike | None, under: Context) -> tuple[Statistic, ...]:
    """Each statistic at the least budget with which every wished error is met."""
    under = replace(under, error_is_wished=True)
    limits = _wishes(wished, under)
    named = list(zip([aggregate.name for aggregate in under.question.aggregates], under.counters.readings, strict=True))
    found = []
    for at in range(under.count):
        own = [(name, reading.place) for name, reading in named if reading.statistic == at]
        wishes = [(place, limits[name]) for name, place in own if name in limits]
        if not wishes:
            name = own[0][0]
            raise QuestionError("error", sorted(limits), f"it says nothing about {name}", f"{{'{name}': 20}} besides")
        found.append(under.statistic(at, _least(partial(_meets, at=at, wishes=wishes, under=under))))
    return with_one_weight(tuple(found))


def _meets(amount: Fraction, *, at: int, wishes: list[tuple[int, float]], under: Context) -> bool:
    made = under.statistic(at, amount)
    errors = [(made.error(place, under.confidence), limit) for place, limit in wishes]
    return all(error is not None and error <= limit for error, limit in errors)


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


def _wishes(wished: ErrorsLike | None, under: Context) -> dict[str, float]:
    names = [aggregate.name for aggregate in under.question.aggregates]
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
        reading = under.counters.readings[names.index(name)]
        made = under.statistic(reading.statistic, Fraction(1))
        unknown = made.unknown_error(reading.place)
        if made.error(reading.place, under.confidence) is None and unknown is not None:
            raise QuestionError("error", name, *unknown)
    return limits


def check_limit(guarantee: Guarantee, most: Guarantee | None, budget: Filter) -> None:
    """Refuse what costs more than the owner allows for one question; in the ε that is stated at the δ of the budget."""
    if most is None or keeps(guarantee, most):
        return
    delta, allowed = budget.ceiling.charge().delta, most.charge()
    told, instead = told_price(guarantee, delta), "a smaller price"
    if allowed.epsilon is not None and allowed.delta == delta:
        instead = f"a question of ε = {four_digits_down(allowed.epsilon)} or less"
    why = f"the policy allows {most} for one question{'' if told == guarantee else f' [it would be charged as {guarantee}]'}"
    raise BudgetError("price", str(told), why, instead)
