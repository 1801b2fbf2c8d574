"""Which statistic answers which aggregate that does not follow from counters."""

from __future__ import annotations

from dither.query.counters.counter_sets import Request
from dither.query.plan.aggregates import Aggregate, CountDistinct, CountDistinctValues, Mode, Quantile, RunningCount
from dither.query.plan.question import Question
from dither.query.statistics.distinct_keys import DistinctKeys
from dither.query.statistics.distinct_values import DistinctValues
from dither.query.statistics.modes import ModeStatistic
from dither.query.statistics.quantiles import QuantileStatistic
from dither.query.statistics.running_counts import RunningCounts
from dither.query.statistics.statistic import Price, RequestedStatistic

STATISTICS: dict[type[Aggregate], type[RequestedStatistic]] = {
    CountDistinct: DistinctKeys,
    CountDistinctValues: DistinctValues,
    Mode: ModeStatistic,
    Quantile: QuantileStatistic,
    RunningCount: RunningCounts,
}


def statistic_for(request: Request) -> type[RequestedStatistic]:
    """The class of statistics that answers aggregates."""
    return STATISTICS[type(request.aggregates[0])]


def make_statistic(request: Request, question: Question, price: Price) -> RequestedStatistic:
    """The statistic that answers aggregates, at its price."""
    return statistic_for(request).make(request, question, price)
