"""Which statistic answers which aggregate that counters do not."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.plan.question import Plan
from dither.query.statistics.counter_sets import Beside, PartKind
from dither.query.statistics.distinct_keys import Different
from dither.query.statistics.quantiles import Ranks
from dither.query.statistics.running_counts import Running
from dither.query.statistics.statistic import Part, Price

MAKERS: dict[PartKind, Callable[[Beside, Plan, Price], Part]] = {
    "different": Different.make,
    "ranks": Ranks.make,
    "running": Running.make,
}


def make_part(beside: Beside, plan: Plan, price: Price) -> Part:
    """The part for what is asked beside counters."""
    return MAKERS[beside.kind](beside, plan, price)
