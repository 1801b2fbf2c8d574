"""Which statistic answers which aggregate that counters do not."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.different import Different
from dither.query.part import Part, Price
from dither.query.plan.question import Plan
from dither.query.ranks import Ranks
from dither.query.running import Running
from dither.query.strategy import Beside, PartKind

MAKERS: dict[PartKind, Callable[[Beside, Plan, Price], Part]] = {
    "different": Different.make,
    "ranks": Ranks.make,
    "running": Running.make,
}


def make_part(beside: Beside, plan: Plan, price: Price) -> Part:
    """The part for what is asked beside counters."""
    return MAKERS[beside.kind](beside, plan, price)
