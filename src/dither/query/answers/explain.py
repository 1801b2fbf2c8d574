"""Quotes and answers in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from dither.mechanisms.additive.geometric import Geometric
from dither.query.plan.describe import rows_of
from dither.query.plan.question import SPREADS, Aggregate
from dither.query.plan.relations import Scan
from dither.query.plan.text import number
from dither.query.pricing.gain import Gain
from dither.query.pricing.offer import Offer
from dither.query.pricing.price import reading_error
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_sets import Estimator, FromStatistic, MeanEstimator, SumEstimator, VarianceEstimator

NOT_INCLUDED = (
    "The error bars hold the noise. They do not hold what clamping, rounding to steps and bounding a person change, "
    "which depends on the data."
)


def explain_offer(offer: Offer, left: str = "") -> str:
    """What would be asked, for how much, with which error. No data has been read for it."""
    plan, table = offer.plan, offer.plan.table
    percent = f"{float(offer.confidence * 100):.4g}%"
    lines = [
        f"Question   {' '.join(offer.sql.split())}",
        "" if isinstance(plan.relation, Scan) else f"Of         {rows_of(plan.relation)}",
        f"Price      {offer.price}{left}",
        f"Protects   {_protected(offer)}",
        *_counts(offer),
        f"Rows       {_rows(offer)}",
        *([] if offer.choice is None else offer.choice.told(plan)),
        f"Sorted     {offer.weighed}" if offer.weighed else "",
        f"Error      with {percent} probability each number is off by no more than, because of noise:",
    ]
    for aggregate, reading in zip(plan.aggregates, offer.strategy.readings, strict=True):
        lines.append(f"             {aggregate.name}: {_error(offer, aggregate, reading)}")
    for aggregate, reading in zip(plan.aggregates, offer.strategy.readings, strict=True):
        if isinstance(reading, FromStatistic):
            told = offer.parts[reading.part].clamped(reading.place)
            lines += [] if told is None else [f"Clamped    {aggregate.name}: {told}"]
            continue
        measure = offer.strategy.families[reading.family].measures[0]
        if measure.of is not None and aggregate.kind in ("sum", "average", *SPREADS):
            facts, steps = measure.of.facts, _step(measure.step)
            lines.append(f"Clamped    {aggregate.name}: each value to {facts.lower} to {facts.upper}, in steps of {steps}")
    lines += ["Noise      " + "; ".join(_noises(offer))]
    if plan.where is not None and table.person is None:
        lines.append("Where      a row that does not meet the condition counts as nobody")
    return "\n".join([*(line for line in lines if line), NOT_INCLUDED])


def explain_batch(offers: Sequence[Offer], gains: Sequence[Gain], price: str) -> str:
    """All questions of a batch, with what is common to them said once."""
    percent = f"{float(offers[0].confidence * 100):.4g}%"
    lines = [
        f"Batch      {len(offers)} question{'s' if len(offers) > 1 else ''}, charged and released as one",
        f"Price      {price}",
        f"Error      with {percent} probability each number is off by no more than, because of noise:",
    ]
    for place, offer in enumerate(offers, 1):
        lines.append(f"  {place}. {' '.join(offer.sql.split())}")
        for aggregate, reading in zip(offer.plan.aggregates, offer.strategy.readings, strict=True):
            lines.append(f"       {aggregate.name}: {_error(offer, aggregate, reading)}")
    for gain in gains:
        places = ", ".join(str(at + 1) for at in gain.questions)
        why = f"error bars of about {gain.together:,.4g}; one by one they would be about {gain.apart:,.4g}"
        lines.append(f"Together   {places}: {why}. These answers agree with each other.")
    return "\n".join([*lines, NOT_INCLUDED])


def bound_note(offer: Offer) -> str:
    """How much of one person counts, in a line; nothing where every row is a person."""
    bounding = offer.bounding if offer.strategy.families else offer.parts[0].bounding
    if bounding.way == "each row":
        return ""
    rows = f"{bounding.rows} row{'s' if bounding.rows > 1 else ''}"
    groups = "" if not offer.plan.groups else f" in each of {bounding.groups} groups"
    return f"nobody counts for more than about {rows}{groups}"


def _protected(offer: Offer) -> str:
    tables = [table for table in offer.plan.relation.tables if not table.public]
    whose = "each row, which is one person" if tables[0].person is None else f"each {tables[0].person}, with all its rows"
    if len({table.name for table in tables}) > 1:
        whose += f" in {' and '.join(dict.fromkeys(table.name for table in tables))}"
    return f"{whose} ({offer.bounding.unit.value})"


def _counts(offer: Offer) -> list[str]:
    """How much of a person counts: for counters, then for each part that bounds her in another way."""
    told: dict[str, str] = {}  # what is said, and of which columns
    if offer.strategy.families:
        told[_counted(offer.bounding)] = ""
    for place, part in enumerate(offer.parts):
        names = ", ".join(
            name for name, reading in _named(offer) if isinstance(reading, FromStatistic) and reading.part == place
        )
        told.setdefault(_counted(part.bounding), f"for {names}: " if told else "")
    lines = [f"{'           ' if place else 'Counts     '}{names}{how}" for place, (how, names) in enumerate(told.items())]
    first = offer.bounding if offer.strategy.families else offer.parts[0].bounding
    return [lines[0], *([] if first.way == "each row" else [f"           ({first.reason})"]), *lines[1:]]


def _counted(bounding: Bounding) -> str:
    groups = f"{bounding.groups} group{'s' if bounding.groups > 1 else ''}"
    rows = f"{bounding.rows} row{'s' if bounding.rows > 1 else ''}"
    if bounding.way == "each row":
        return "every row once"
    if bounding.way == "weights":
        most = bounding.groups * bounding.rows
        return f"everybody in full up to {most} rows; whoever has more, with all rows at a weight that adds up to {most}"
    if bounding.way == "clip":
        return f"everybody in full up to {rows} in each of {groups}; whoever has more, scaled down to that length"
    worth = f"{rows}'s" if bounding.rows == 1 else f"{rows}'"
    return f"everybody in at most {groups}, chosen by chance, and with at most {worth} worth in each"


def _rows(offer: Offer) -> str:
    if not offer.plan.groups:
        return "one"
    if offer.choice is not None:
        return offer.choice.rows(offer.plan)
    keys = " x ".join(f"{len(group.listed)} {group.name}" for group in offer.plan.groups)
    return f"one for each of {keys}, whether the data has it or not"


def _error(offer: Offer, aggregate: Aggregate, reading: Estimator) -> str:
    if isinstance(reading, FromStatistic):
        return offer.parts[reading.part].told(reading.place)
    error = offer.errors[aggregate.name]
    if isinstance(reading, (MeanEstimator, VarianceEstimator)):
        if error is None:
            noise, resolution = offer.noise[reading.family], offer.bounding.resolution
            one = reading_error(reading, noise, resolution, offer.confidence, 10**9)
            assert one is not None
            if isinstance(reading, VarianceEstimator) and reading.is_root:  # where there is no spread: less where there is
                whole = one * 10**4.5
                return f"at most about {whole:,.4g} divided by the root of the number of values (say size= for a figure)"
            return f"about {one * 10**9:,.4g} divided by the number of values in the group (say size= for a figure)"
        return f"about {error:,.4g} where a group has {number(offer.size)} values"
    assert error is not None
    assert isinstance(reading, SumEstimator)
    return f"{error:,.4g}"


def _named(offer: Offer) -> list[tuple[str, Estimator]]:
    return list(zip([aggregate.name for aggregate in offer.plan.aggregates], offer.strategy.readings, strict=True))


def _noises(offer: Offer) -> list[str]:
    """Each mechanism, for which columns, at which price."""
    named, told = _named(offer), []
    for place, mechanism in enumerate(offer.noise):
        names = [name for name, reading in named if not isinstance(reading, FromStatistic) and reading.family == place]
        kind = "geometric" if isinstance(mechanism, Geometric) else "Gaussian"
        told.append(f"{kind} for {', '.join(names)} ({mechanism.guarantee})")
    for place, part in enumerate(offer.parts):
        names = [name for name, reading in named if isinstance(reading, FromStatistic) and reading.part == place]
        told.append(f"{part.noise} for {', '.join(names)} ({part.guarantee})")
    return told


def _step(step: object) -> str:
    text = str(step)
    return text if len(text) < 12 else f"about {float(step):.4g}"  # type: ignore[arg-type]
