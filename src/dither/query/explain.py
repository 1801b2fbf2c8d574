"""Quotes and answers in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.mechanisms.geometric import Geometric
from dither.query.plan.question import SPREADS, Aggregate
from dither.query.relation import Scan
from dither.query.show import number
from dither.query.strategy import Place, Ratio, Reading, Spread, Sum
from dither.query.words import rows_of

if TYPE_CHECKING:
    from dither.query.answer import Answer
    from dither.query.batch import Batch
    from dither.query.bounding import Bounding
    from dither.query.quote import Quote

NOT_INCLUDED = (
    "The error bars hold the noise. They do not hold what clamping, rounding to steps and bounding a person change, "
    "which depends on the data."
)


def explain_quote(quote: Quote) -> str:
    """What would be asked, for how much, with which error. No data has been read for it."""
    plan, table = quote.plan, quote.plan.table
    percent = f"{float(quote.confidence * 100):.4g}%"
    lines = [
        f"Question   {' '.join(quote.sql.split())}",
        "" if isinstance(plan.relation, Scan) else f"Of         {rows_of(plan.relation)}",
        f"Price      {quote.price}; {number(quote.affordable)} such questions are left",
        f"Protects   {_protected(quote)}",
        *_counts(quote),
        f"Rows       {_rows(quote)}",
        *([] if quote.choice is None else quote.choice.told(plan)),
        f"Sorted     {quote.weighed}" if quote.weighed else "",
        f"Error      with {percent} probability each number is off by no more than, because of noise:",
    ]
    for aggregate, reading in zip(plan.aggregates, quote.strategy.readings, strict=True):
        lines.append(f"             {aggregate.name}: {_error(quote, aggregate, reading)}")
    for aggregate, reading in zip(plan.aggregates, quote.strategy.readings, strict=True):
        if isinstance(reading, Place):
            told = quote.parts[reading.part].clamped(reading.place)
            lines += [] if told is None else [f"Clamped    {aggregate.name}: {told}"]
            continue
        measure = quote.strategy.families[reading.family].measures[0]
        if measure.of is not None and aggregate.kind in ("sum", "average", *SPREADS):
            facts, steps = measure.of.facts, _step(measure.step)
            lines.append(f"Clamped    {aggregate.name}: each value to {facts.lower} to {facts.upper}, in steps of {steps}")
    lines += ["Noise      " + "; ".join(_noises(quote))]
    if plan.where is not None and table.person is None:
        lines.append("Where      a row that does not meet the condition counts as nobody")
    return "\n".join([*(line for line in lines if line), NOT_INCLUDED])


def explain_batch(batch: Batch) -> str:
    """All questions of a batch, with what is common to them said once."""
    percent = f"{float(batch.quotes[0].confidence * 100):.4g}%"
    lines = [
        f"Batch      {len(batch)} question{'s' if len(batch) > 1 else ''}, charged and released as one",
        f"Price      {batch.price}; {number(batch.affordable)} such batches are left",
        f"Error      with {percent} probability each number is off by no more than, because of noise:",
    ]
    for place, quote in enumerate(batch, 1):
        lines.append(f"  {place}. {' '.join(quote.sql.split())}")
        for aggregate, reading in zip(quote.plan.aggregates, quote.strategy.readings, strict=True):
            lines.append(f"       {aggregate.name}: {_error(quote, aggregate, reading)}")
    for gain in batch.gains:
        places = ", ".join(str(at + 1) for at in gain.questions)
        why = f"error bars of about {gain.together:,.4g}; one by one they would be about {gain.apart:,.4g}"
        lines.append(f"Together   {places}: {why}. These answers agree with each other.")
    return "\n".join([*lines, NOT_INCLUDED])


def explain_answer(answer: Answer) -> str:
    """What was released, and what the numbers mean."""
    quote = answer.quote
    paid = "stored before, nothing was charged now" if answer.is_replay else f"charged {answer.guarantee}"
    made = f"Receipt    {answer.receipt.name}: {paid}"
    return f"{explain_quote(quote)}\n{made}"


def _protected(quote: Quote) -> str:
    tables = [table for table in quote.plan.relation.tables if not table.public]
    whose = "each row, which is one person" if tables[0].person is None else f"each {tables[0].person}, with all its rows"
    if len({table.name for table in tables}) > 1:
        whose += f" in {' and '.join(dict.fromkeys(table.name for table in tables))}"
    return f"{whose} ({quote.bounding.unit.value})"


def _counts(quote: Quote) -> list[str]:
    """How much of a person counts: for counters, then for each part that bounds her in another way."""
    told: dict[str, str] = {}  # what is said, and of which columns
    if quote.strategy.families:
        told[_counted(quote.bounding)] = ""
    for place, part in enumerate(quote.parts):
        names = ", ".join(name for name, reading in _named(quote) if isinstance(reading, Place) and reading.part == place)
        told.setdefault(_counted(part.bounding), f"for {names}: " if told else "")
    lines = [f"{'           ' if place else 'Counts     '}{names}{how}" for place, (how, names) in enumerate(told.items())]
    first = quote.bounding if quote.strategy.families else quote.parts[0].bounding
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


def _rows(quote: Quote) -> str:
    if not quote.plan.groups:
        return "one"
    if quote.choice is not None:
        return quote.choice.rows(quote.plan)
    keys = " x ".join(f"{len(group.listed)} {group.name}" for group in quote.plan.groups)
    return f"one for each of {keys}, whether the data has it or not"


def _error(quote: Quote, aggregate: Aggregate, reading: Reading) -> str:
    if isinstance(reading, Place):
        return quote.parts[reading.part].told(reading.place)
    error = quote.errors[aggregate.name]
    if isinstance(reading, (Ratio, Spread)):
        if error is None:
            from dither.query.price import reading_error

            noise, resolution = quote.noise[reading.family], quote.bounding.resolution
            one = reading_error(reading, noise, resolution, quote.confidence, 10**9)
            assert one is not None
            if isinstance(reading, Spread) and reading.is_root:  # where there is no spread: less where there is
                whole = one * 10**4.5
                return f"at most about {whole:,.4g} divided by the root of the number of values (say size= for a figure)"
            return f"about {one * 10**9:,.4g} divided by the number of values in the group (say size= for a figure)"
        return f"about {error:,.4g} where a group has {number(quote.size)} values"
    assert error is not None
    assert isinstance(reading, Sum)
    return f"{error:,.4g}"


def _named(quote: Quote) -> list[tuple[str, Reading]]:
    return list(zip([aggregate.name for aggregate in quote.plan.aggregates], quote.strategy.readings, strict=True))


def _noises(quote: Quote) -> list[str]:
    """Each mechanism, for which columns, at which price."""
    named, told = _named(quote), []
    for place, mechanism in enumerate(quote.noise):
        names = [name for name, reading in named if not isinstance(reading, Place) and reading.family == place]
        kind = "geometric" if isinstance(mechanism, Geometric) else "Gaussian"
        told.append(f"{kind} for {', '.join(names)} ({mechanism.guarantee})")
    for place, part in enumerate(quote.parts):
        names = [name for name, reading in named if isinstance(reading, Place) and reading.part == place]
        told.append(f"{part.noise} for {', '.join(names)} ({part.guarantee})")
    return told


def _step(step: object) -> str:
    text = str(step)
    return text if len(text) < 12 else f"about {float(step):.4g}"  # type: ignore[arg-type]
