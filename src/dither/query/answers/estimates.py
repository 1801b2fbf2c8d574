"""From released numbers to the table of an answer: values, intervals, and which rows are shown in which order.

One row for each combination of declared keys, whether the data has it or not, and of the keys that a private release chose
where nobody declared them; sorted by key unless the question says otherwise. `x_low` and `x_high` hold the true value of
the bounded data with the stated probability, each by itself.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from dither.errors import QuestionError
from dither.ledger.entries.receipt import Receipt
from dither.query.answers.answer import Answer, Column, Kind
from dither.query.answers.explain import bound_note, explain_offer
from dither.query.answers.released import Released
from dither.query.plan.question import Question
from dither.query.policy.column import Type
from dither.query.pricing.offer import Offer
from dither.query.statistics import ratio_intervals as interval
from dither.query.statistics.counter_sets import Estimator, FromStatistic, MeanEstimator, SumEstimator, VarianceEstimator
from dither.query.statistics.variances import spreads

WIDE = 2**20  # what one row adds to a sum that is shown in 64 bits
SIGNS = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


KINDS: dict[Type, Kind] = {
    Type.TEXT: "text",
    Type.BOOLEAN: "boolean",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp",
}


def read_answer(offer: Offer, released: Released, receipt: Receipt) -> Answer:
    """The answer to a question, of what was stored of it."""
    plan = offer.plan
    return Answer(
        sql=offer.sql,
        columns=_columns(offer, released),
        kinds=_kinds(offer),
        keys=tuple(group.name for group in plan.groups),
        aggregates=tuple(aggregate.name for aggregate in plan.aggregates),
        confidence=offer.confidence,
        price=offer.price,
        guarantee=offer.guarantee,
        note=bound_note(offer),
        explained=explain_offer(offer),
        frame_kind=offer.frame,
        released=released,
        receipt=receipt,
    )


def _columns(offer: Offer, released: Released) -> dict[str, Column]:
    """The table, column by column."""
    plan = offer.plan
    cells = offer.chosen(released.chosen).shown
    whole: dict[str, Column] = {group.name: [cell[place] for cell in cells] for place, group in enumerate(plan.groups)}
    for aggregate, reading in zip(plan.aggregates, offer.strategy.readings, strict=True):
        for suffix, column in zip(("", "_low", "_high"), _read(offer, released, aggregate.name, reading), strict=True):
            whole[aggregate.name + suffix] = column
    kept = _kept(plan, whole, len(cells))
    shown = [name for base in plan.shown for name in (base, f"{base}_low", f"{base}_high") if name in whole]
    keys = [group.name for group in plan.groups if group.name not in shown]
    return {name: [whole[name][row] for row in kept] for name in [*keys, *shown]}


def _kinds(offer: Offer) -> dict[str, Kind]:
    """What the columns hold: by the question, not by what came out."""
    plan = offer.plan
    kinds: dict[str, Kind] = {group.name: KINDS.get(group.by.facts.type, "whole") for group in plan.groups}
    for aggregate, reading in zip(plan.aggregates, offer.strategy.readings, strict=True):
        kind: Kind = "whole" if _is_whole(offer, reading) else "number"
        kinds |= dict.fromkeys((aggregate.name + end for end in ("", "_low", "_high")), kind)
    return kinds


def _is_whole(offer: Offer, reading: Estimator) -> bool:
    if isinstance(reading, FromStatistic):
        return offer.parts[reading.part].is_whole(reading.place)
    return isinstance(reading, SumEstimator) and reading.quantum.denominator == 1 and reading.row < WIDE


def _read(offer: Offer, released: Released, name: str, reading: Estimator) -> tuple[Column, Column, Column]:
    if isinstance(reading, FromStatistic):
        found = released.parts[reading.part]
        return offer.parts[reading.part].read(found, reading.place) if found != [] else ([], [], [])
    if isinstance(reading, VarianceEstimator):
        noise, counters = offer.noise[reading.family], released.counters[reading.family]
        return spreads(counters, reading, noise, offer.bounding.resolution, offer.confidence)
    if isinstance(reading, SumEstimator):
        error = offer.errors[name]
        assert error is not None
        return _sums(offer, released, reading, Fraction(error))
    return _averages(offer, released, reading)


def _sums(offer: Offer, released: Released, reading: SumEstimator, half: Fraction) -> tuple[Column, Column, Column]:
    """Weighted sums of counters and the ends of their intervals, in quanta: to the nearest, down and up. All are quotients
    of whole numbers, by one denominator each."""
    weights, quantum = [weight / offer.bounding.resolution for weight in reading.weights], reading.quantum
    common = lcm(*(weight.denominator for weight in weights))
    steps = [int(weight * common) for weight in weights]
    one, up, down = common * quantum.numerator, half.numerator * common, half.denominator
    values, lows, highs = [], [], []
    for numbers in released.counters[reading.family]:
        total = sum(step * number for step, number in zip(steps, numbers, strict=True))
        values.append(_plain((2 * total * quantum.denominator + one) // (2 * one), quantum))
        lows.append(_plain((total * down - up) * quantum.denominator // (one * down), quantum))
        highs.append(_plain(-((-total * down - up) * quantum.denominator // (one * down)), quantum))
    return values, lows, highs


def _averages(offer: Offer, released: Released, reading: MeanEstimator) -> tuple[Column, Column, Column]:
    counters = released.counters[reading.family]
    last, shared = (2, 0.5) if reading.of_squares else (1, 0)
    above, below = ([numbers[place] + shared * numbers[1] for numbers in counters] for place in (0, last))
    limits = interval.quantiles(offer.noise[reading.family], offer.confidence, of_squares=reading.of_squares)
    low, high = interval.fractions(above, below, limits)
    if reading.rounding:  # what the coarser steps of a variance may have changed
        hidden = float(reading.rounding / reading.width)
        low, high = (low - hidden).clip(0.0), (high + hidden).clip(None, 1.0)
    floor_ = reading.row * offer.bounding.resolution  # as if at least one row had counted
    middle = [min(1.0, max(0.0, a / max(a + b, floor_))) for a, b in zip(above, below, strict=True)]
    lower, width = float(reading.lower), float(reading.width)
    inside = (max(a, min(b, c)) for a, b, c in zip(low.tolist(), middle, high.tolist(), strict=True))
    return tuple([lower + width * float(part) for part in column] for column in (list(inside), low, high))  # type: ignore[return-value]


def _kept(plan: Question, whole: dict[str, Column], count: int) -> list[int]:
    """Which rows are shown, in which order: HAVING, ORDER BY and LIMIT, on released values."""
    rows = list(range(count))
    for keep in plan.having:
        rows = [row for row in rows if SIGNS[keep.operator](whole[keep.name][row], keep.value)]
    for order in reversed(plan.order):
        if order.name not in whole:
            raise QuestionError("ORDER BY", order.name, "the answer has no such column", ", ".join(whole))
        column = whole[order.name]  # the key of all others together may be None: it is sorted as the last one
        rows.sort(key=lambda row, of=column: (of[row] is None, of[row]), reverse=order.descending)  # type: ignore[misc]
    return rows if plan.limit is None else rows[: plan.limit]


def _plain(count: int, quantum: Fraction) -> int | float:
    whole, rest = divmod(count * quantum.numerator, quantum.denominator)
    return count * quantum.numerator / quantum.denominator if rest else whole
