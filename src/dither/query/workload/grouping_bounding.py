"""How a person is bounded in a question with grouping sets: by a length, or by a sum that also bounds every total.

Where people may be in several groups and noise is Gaussian, a question scales a person's vector of totals down to a length.
That is best for the finest groups; but a length bounds no sum, so that totals get no noise of their own and add up that of
their parts. One weight for all rows of a person bounds every sum of them, at more noise in the finest groups. Both keep
something of every row. The one with the least sum of squared errors over all rows of the answer is taken; a bound that
changes nothing of anybody, by the owner's word, is not given up for one that may.
"""

from __future__ import annotations

from collections.abc import Callable

from dither.errors import QuestionError
from dither.query.counters.counter_sets import CounterPlan
from dither.query.plan.question import Question
from dither.query.statistics.bounding import Bounding, Clip, Weights
from dither.query.workload.level_shares import shares_of


def better_bounding(
    question: Question, counters: CounterPlan, way: Bounding, other: Callable[[str], Bounding], *, pure: bool
) -> Bounding:
    """The way that was chosen, or weights; `other` makes a bound by its name, or refuses to."""
    if not question.sets or not isinstance(way, Clip):
        return way
    try:
        weights = other(Weights.way)
    except QuestionError:  # steps that are too fine
        return way
    loses = way.complete and not weights.complete
    return (
        way
        if loses or _squares(question, counters, weights, pure=pure) >= _squares(question, counters, way, pure=pure)
        else weights
    )


def _squares(question: Question, counters: CounterPlan, bounding: Bounding, *, pure: bool) -> float:
    """The sum of squared errors of all counters at a price of one, in what one row can add."""
    found = 0.0
    for family, share in zip(counters.sets, counters.shares(pure=pure), strict=False):
        one = family.reach * bounding.resolution
        found += shares_of(question, bounding, family, pure=pure).squares / (float(share) * one**2)
    return found
