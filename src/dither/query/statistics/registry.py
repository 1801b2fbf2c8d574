"""Which statistic answers which aggregate that counters do not."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.plan.question import Question
from dither.query.statistics.counter_sets import PartKind, Request
from dither.query.statistics.distinct_keys import DistinctKeys
from dither.query.statistics.quantiles import QuantileStatistic
from dither.query.statistics.running_counts import RunningCounts
from dither.query.statistics.statistic import Price, Statistic

MAKERS: dict[PartKind, Callable[[Request, Question, Price], Statistic]] = {
    "different": DistinctKeys.make,
    "ranks": QuantileStatistic.make,
    "running": RunningCounts.make,
}


def make_statistic(request: Request, plan: Question, price: Price) -> Statistic:
    """The statistic for what is asked and does not follow from counters."""
    return MAKERS[request.kind](request, plan, price)
