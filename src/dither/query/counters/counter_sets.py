"""Which whole numbers are released so that all aggregates of a question follow from them, with the least error.

A *family* is a few measures that one row moves by at most `reach` together, in L1 norm (and so in L2 norm); it is released
at the price of one number. An average needs two measures, above and below; where COUNT(*), COUNT(x) or SUM(x) is asked for
beside AVG(x) they may follow from the same two (or three, where x may be missing) or have a family of their own. A variance
needs three measures, of squares, from which averages, counts and sums of x may follow as well. What is of two expressions
has counters of its own (`counters/pair_counters.py`). Each way is tried, with its budget split in the best way, and the
one with the least sum of squared errors is taken, each error measured in what one row can add. Only the policy and the
question decide, never data.

    split of a pure epsilon     epsilon_f proportional to s_f^(2/3)     then the sum is (sum of s_f^(2/3))^3 / epsilon^2
    split of a rho              rho_f proportional to s_f               then the sum is (sum of s_f)^2 / (2 rho)

with s_f^2 the sum over the aggregates of a family of the squares of the weights with which noise enters them. (Minimise
sum s_f^2 / epsilon_f^2 given sum epsilon_f: by Lagrange epsilon_f^3 is proportional to s_f^2; likewise for rho.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import ClassVar, NamedTuple

from dither.errors import QuestionError
from dither.query.counters.estimators import Estimator, SumEstimator
from dither.query.counters.joint_counters import JointCounters, MeanCounters, VarianceCounters
from dither.query.counters.pair_counters import pair_choices
from dither.query.plan.aggregates import Aggregate, CountPersons, CountRows, Mean, PairAggregate, Sum, Variance
from dither.query.plan.base import Expression
from dither.query.plan.counters import Counter
from dither.query.plan.describe import words
from dither.query.plan.question import Question

MOST_WAYS = 512
LARGEST = 2**62  # steps: what adds up in 64 bits
PARTS = 10**6  # a share of the budget is so many millionths


@dataclass(frozen=True)
class CounterSet:
    """Measures that are released together."""

    code: ClassVar[str] = "counter_set"
    spelled_fields: ClassVar[dict[str, str]] = {"measures": "counters"}

    measures: tuple[Counter, ...]

    @property
    def reach(self) -> int:
        """The most that one row adds, in L1 norm: each row is above and below its bounds by G together, or missing."""
        return max(measure.reach for measure in self.measures)

    @property
    def is_signed(self) -> bool:
        """Whether a row can also take away."""
        return any(measure.low < 0 for measure in self.measures)

    @property
    def counts_persons(self) -> bool:
        return self.measures[0].counts_persons


@dataclass(frozen=True)
class Request:
    """Aggregates that do not follow from counters: of one class and one expression, which one statistic answers."""

    aggregates: tuple[Aggregate, ...]  # in the order of the places that readings name

    @property
    def of(self) -> Expression:
        """What they are of."""
        return self.aggregates[0].values

    @property
    def numbers(self) -> int:
        """How many numbers of a group are released: one for each aggregate, whatever it is called."""
        return len({replace(aggregate, name="") for aggregate in self.aggregates})


class Reading(NamedTuple):
    """Where an aggregate is read: which statistic of an offer, and which of its columns."""

    statistic: int
    place: int


@dataclass(frozen=True)
class CounterPlan:
    """What is released, and how each aggregate is read off it. Statistics are numbered: sets of counters, then requests."""

    sets: tuple[CounterSet, ...]
    estimators: tuple[tuple[Estimator, ...], ...]  # of each set, those that read it
    readings: tuple[Reading, ...]  # of each aggregate
    requests: tuple[Request, ...] = ()

    def shares(self, *, pure: bool) -> tuple[Fraction, ...]:
        """The part of the budget of each statistic. Of one that does not follow from counters, a number weighs as much as
        one count.

        (It divides its budget among its k numbers, so the sum of squares is k^3 for an epsilon, k^2 for a rho: s^(2/3)
        or s is k.)
        """
        sizes = self._weights(pure=pure)
        return tuple(Fraction(size, sum(sizes)) for size in sizes)

    def weight(self, *, pure: bool) -> int:
        """What all of it weighs where a price is shared with other questions."""
        return sum(self._weights(pure=pure))

    def _weights(self, *, pure: bool) -> list[int]:
        power = 2 / 3 if pure else 1.0
        weights = [size**power for size in self._sizes] + [request.numbers for request in self.requests]
        return [max(1, round(PARTS * weight)) for weight in weights]

    def cost(self, *, pure: bool) -> float:
        """The sum of squared errors at a budget of one, up to a factor that all plans share."""
        sizes = self._sizes
        return float(sum(size ** (2 / 3) for size in sizes) ** 3) if pure else sum(sizes) ** 2

    @property
    def _sizes(self) -> list[float]:
        own = zip(self.sets, self.estimators, strict=True)
        return [sum(estimator.squares(one.reach) for estimator in mine) ** 0.5 for one, mine in own]


def choose_counters(question: Question, *, pure: bool) -> CounterPlan:
    """The way with the least error."""
    counted = [aggregate for aggregate in question.aggregates if aggregate.counted]
    asked = list(dict.fromkeys(replace(aggregate, name="") for aggregate in counted))
    squares = dict.fromkeys(VarianceCounters(one.values) for one in asked if isinstance(one, Variance))
    joint: list[JointCounters] = [*squares, *(MeanCounters(one.values) for one in asked if isinstance(one, Mean))]
    choices = [pair_choices(one, asked) if isinstance(one, PairAggregate) else _choices(one, joint) for one in asked]
    ways = 1
    for options in choices:
        ways *= len(options)
    if ways > MOST_WAYS:
        choices = [options[:1] for options in choices]
    built = (_build(counted, asked, chosen) for chosen in product(*choices))
    return _with_requests(question, min(built, key=lambda made: made.cost(pure=pure)))


def _choices(asked: Aggregate, joint: list[JointCounters]) -> list[JointCounters | None]:
    """The counters of several aggregates from which one may follow; None for one of its own."""
    match asked:
        case Variance():
            return [VarianceCounters(asked.values)]
        case Mean():
            return [one for one in joint if one.of == asked.of]
        case CountPersons():
            return [None]
        case CountRows():
            return [*joint, None]
        case _:
            return [*(one for one in joint if one.of == asked.of and one.serves(asked)), None]


def _with_requests(question: Question, made: CounterPlan) -> CounterPlan:
    """The plan of the counters, with all aggregates that have statistics of their own in their places."""
    found: dict[tuple[type[Aggregate], Expression], list[Aggregate]] = {}
    for aggregate in question.aggregates:
        if not aggregate.counted:
            found.setdefault((type(aggregate), aggregate.values), []).append(aggregate)
    requests = tuple(Request(tuple(own)) for own in found.values())
    readings, counters = [], iter(made.readings)
    for aggregate in question.aggregates:
        at = next((place for place, request in enumerate(requests) if aggregate in request.aggregates), None)
        own = None if at is None else Reading(len(made.sets) + at, requests[at].aggregates.index(aggregate))
        readings.append(next(counters) if own is None else own)
    return CounterPlan(made.sets, made.estimators, tuple(readings), requests)


def _build(
    aggregates: Sequence[Aggregate], asked: Sequence[Aggregate], chosen: Sequence[JointCounters | None]
) -> CounterPlan:
    sets: list[CounterSet] = []
    places: dict[JointCounters, int] = {}
    found: dict[Aggregate, tuple[int, Estimator]] = {}
    for joint in dict.fromkeys(joint for joint in chosen if joint is not None):
        whole = any(other == joint and isinstance(one, CountRows) for one, other in zip(asked, chosen, strict=True))
        places[joint] = len(sets)
        _check_reach(joint.first)
        sets.append(CounterSet(joint.counters(whole=whole)))
    for one, own in zip(asked, chosen, strict=True):
        if own is not None:
            found[one] = places[own], own.estimator(one, len(sets[places[own]].measures))
        else:
            counter = one.counter
            assert counter is not None
            _check_reach(counter)
            step = counter.step
            found[one] = (
                len(sets),
                SumEstimator((step,), step, step * counter.low, step * counter.high, of_values=isinstance(one, Sum)),
            )
            sets.append(CounterSet((counter,)))
    estimators: list[list[Estimator]] = [[] for _ in sets]
    readings = []
    for aggregate in aggregates:  # one that is asked for twice counts twice
        at, estimator = found[replace(aggregate, name="")]
        readings.append(Reading(at, len(estimators[at])))
        estimators[at].append(estimator)
    return CounterPlan(tuple(sets), tuple(map(tuple, estimators)), tuple(readings))


def _check_reach(measure: Counter) -> None:
    if 0 < measure.reach < LARGEST and measure.low > -LARGEST:
        return
    why = "its bounds hold no step but zero" if measure.reach == 0 else "its bounds are too many steps from zero for 64 bits"
    asked = words(measure.values)
    raise QuestionError("SELECT", asked, why, "bounds nearer to zero, or another step, which the owner states")
