"""Candidates for an offer: all mechanisms of a question at its price, with a private choice of groups where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from dither.density.unknown_keys.choose import geometric_rule
from dither.density.unknown_keys.threshold_keys import ThresholdKeys
from dither.errors import NumberError, QuestionError
from dither.query.counters.counter_sets import CounterPlan, Reading
from dither.query.groups.group_choice import GroupChoice
from dither.query.groups.shown_key_counts import ShownKeyCounts
from dither.query.groups.top_groups import TopGroups, sorted_by
from dither.query.groups.unknown_keys import MOST_SHOWN, UnknownKeys
from dither.query.plan.counters import PersonCounter
from dither.query.plan.question import Question
from dither.query.plan.text import rounded
from dither.query.pricing import price
from dither.query.pricing.ask import ErrorsLike
from dither.query.pricing.spend import Spend
from dither.query.sql.parse import MOST_ROWS
from dither.query.statistics.counter_release import Priced, mechanisms
from dither.query.statistics.registry import statistic_for
from dither.query.statistics.statistic import Statistic

MOST_NUMBERS = 2_000_000  # released at once: an answer must fit into an entry of the ledger
HALF = Fraction(1, 2)  # of a price is for the choice, the rest for what is counted


@dataclass(frozen=True)
class Candidate:
    """All mechanisms of a question, and the context that they were made under."""

    under: price.Context
    statistics: tuple[Statistic, ...]
    choice: GroupChoice | None = None
    weighed: str = ""

    @property
    def priced(self) -> list[Priced]:
        """The releases whose guarantees add up to the price."""
        return priced(self.choice, self.statistics)


def priced(choice: GroupChoice | None, statistics: Sequence[Statistic]) -> list[Priced]:
    """The releases whose guarantees add up to the price; where counts are read off the choice of groups, it is paid once."""
    once = choice is None or any(statistic.of_choice for statistic in statistics)
    return [*([] if once or choice is None else [choice]), *mechanisms(statistics)]


def most_cells(question: Question, counters: CounterPlan) -> int:
    """How many groups the answer has; of unknown keys, the most that may be shown."""
    known = prod(1 if group.keys is None else len(group.keys) for group in question.groups)
    each = sum(len(one.measures) for one in counters.sets) + len(counters.requests)
    if known * each > MOST_NUMBERS:
        why = f"it would release {known * each} numbers; {MOST_NUMBERS} are the most"
        raise QuestionError(
            "GROUP BY", ", ".join(group.name for group in question.groups), why, "fewer columns, or fewer aggregates"
        )
    if all(group.keys is not None for group in question.groups):
        return known
    limits = [limit for request in counters.requests if (limit := statistic_for(request).most_unknown) is not None]
    most = min([MOST_SHOWN, *(limit // known for limit in limits)])
    return known * max(1, min(most, MOST_ROWS // known, MOST_NUMBERS // (known * each)))


def with_keys(
    under: price.Context, promise: Spend | None, error: ErrorsLike | None, *, lost: Fraction, other: str | None
) -> Candidate:
    """Keys that nobody declared: chosen at half of the price, or at all of it where they come with what is asked for."""
    question, counted = under.question, other is None and counts_people(under)
    if promise is None:
        statistics = price.for_error(error, under)
        share = price.paid(statistics, pure=under.pure)
    else:
        share = promise if counted else promise.part(HALF)
        statistics = price.make_statistics(share, under)
    known = prod(1 if group.keys is None else len(group.keys) for group in question.groups)
    choice = UnknownKeys.make(
        question,
        share.amount,
        pure=under.pure,
        delta=lost,
        unit=under.bounding.unit,
        other=other,
        most=under.cells // known,
        counts=counted,
    )
    if not counted:
        return Candidate(under, statistics, choice)
    if (
        promise is None
        and under.pure
        and choice.rule.error(under.confidence) > _error(under, statistics, 0, under.confidence)
    ):
        # another kind of noise at that epsilon is wider than the one for which it was found
        choice = replace(choice, rule=geometric_rule(choice.rule, share.amount))
    assert isinstance(choice.rule, ThresholdKeys)
    shown = ShownKeyCounts(choice.question, choice.bounding, choice.rule, under.confidence)
    counters = CounterPlan((), (), tuple(Reading(0, 0) for _ in under.counters.readings))
    return Candidate(replace(under, counters=counters, bounding=choice.bounding), (shown,), choice)


def counts_people(under: price.Context) -> bool:
    """Whether people who hold a key are all that is asked for: the release of keys tells how many they are."""
    counters, groups = under.counters, under.question.groups
    if len(counters.sets) != 1 or counters.requests or any(group.keys is not None for group in groups):
        return False
    first = counters.sets[0].measures[0]
    return first in (PersonCounter(), under.bounding.people)


def with_top(under: Callable[[int], price.Context], cells: int, promise: Spend) -> Candidate:
    """All groups counted; or the largest chosen first, where that is more accurate."""
    whole = under(cells)
    made = Candidate(whole, price.make_statistics(promise, whole))
    question = whole.question
    if sorted_by(question) is None or question.limit is None or question.of_all_groups:
        return made
    half = promise.part(HALF)
    try:
        choice = TopGroups.make(question, half.amount, pure=whole.pure, unit=whole.bounding.unit)
        few = under(question.limit)
        first = Candidate(few, price.make_statistics(half, few), choice)
    except NumberError:  # noise that cannot be drawn
        return made
    level = whole.confidence
    worst = 1 - (1 - level) / cells  # of all groups at once
    together = _off(made, level) + 2 * _off(made, worst)
    apart = _off(first, level) + choice.shortfall(level)
    facts = f"off and left out together: {rounded(apart)} if groups are chosen first, {rounded(together)} if all are counted"
    return replace(first if apart < together else made, weighed=facts)


def _off(made: Candidate, confidence: Fraction) -> float:
    """The error of the aggregate that groups are sorted by."""
    question, under = made.under.question, made.under
    place = next(at for at, aggregate in enumerate(question.aggregates) if aggregate.name == question.order[0].name)
    return _error(under, made.statistics, place, confidence)


def _error(under: price.Context, statistics: Sequence[Statistic], at: int, confidence: Fraction) -> float:
    """The error of an aggregate at a confidence, where it is a sum of counters."""
    reading = under.counters.readings[at]
    found = statistics[reading.statistic].error(reading.place, confidence)
    assert found is not None
    return found
