"""A shop whose products nobody declared: tables with hostile keys, and what stage one and stage two count before noise."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow

import dither
from dither.query import counts
from dither.query.dataset import Dataset
from dither.query.quote import Quote
from tests.query.clinics import _reading, ledger

LONG = "x" * 501
TEXTS: list[str | None] = [
    "a",
    "A",
    "",
    " ",
    "é",
    "e\u0301",
    "it's",
    "\0",
    "a\0b",
    "'; --",
    "\n",
    "\u202e",
    "💥",
    "x" * 500,
    LONG,
    None,
    "others",
]
NUMBERS = [0, 1, -1, 2**63 - 1, -(2**63), None]
DAYS = [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]
KINDS = {
    "person": pyarrow.int64(),
    "product": pyarrow.string(),
    "number": pyarrow.int64(),
    "day": pyarrow.date32(),
    "new": pyarrow.bool_(),
    "ward": pyarrow.string(),
    "cost": pyarrow.float64(),
}
EVENTS = dither.approx(3, "1e-6")
LOUD = dither.zcdp(10**9, delta="0.5")  # so that a question can be asked almost without noise


def table(rows: list[tuple[Any, ...]]) -> pyarrow.Table:
    return pyarrow.table(
        {name: pyarrow.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(KINDS.items())}
    )


def row(rng: Any, person: int | None = None) -> tuple[Any, ...]:
    return (
        rng.choice([None, 1, 2, 3, 3]) if person is None else person,
        rng.choice(TEXTS),
        rng.choice(NUMBERS),
        rng.choice([*DAYS, 3_000_000, -800_000]),  # days before the year 1 and after 9999: whole numbers for Arrow
        rng.choice([True, False, None]),
        rng.choice(["A", "B", "C", "D", None]),
        rng.choice([None, 1.0, 7.5, -3.0, float("nan"), 99.0]),
    )


def shop(folder: Path, rows: Any, *, budget: object = EVENTS, **facts: Any) -> Dataset:
    stated: dict[str, Any] = {
        **{"name": "sales", "person": "person", "max_groups": 2, "max_rows_per_group": 2},
        **{"keys": {"ward": ["A", "B", "C"]}, "bounds": {"cost": (0, 10)}},
        "ledger": facts.pop("ledger", None) or ledger(folder, budget),
    }
    return dither.protect(rows if isinstance(rows, pyarrow.Table) else table(rows), **(stated | facts))


def each_row(folder: Path, rows: Any, **facts: Any) -> Dataset:
    return shop(folder, rows, person="each row", max_groups=None, max_rows_per_group=None, **facts)


def held(quote: Quote) -> dict[tuple[Any, ...], int]:
    """How many people hold each key, as stage one sees it."""
    choice = quote.offer.choice
    assert choice is not None
    with _reading(quote, 2) as (run, place):
        found = run(place.select(choice.question, (choice.counters,), choice.bounding), choice.keeps)
    width = len(choice.question.groups)
    assert len({one[:width] for one in found}) == len(found)
    return {one[:width]: int(one[width]) for one in found}


def counted(quote: Quote, released: Any) -> dict[tuple[Any, ...], tuple[int, ...]]:
    """The totals of stage two, for the groups that were released."""
    chosen = quote.offer.chosen(released)
    with _reading(quote, 2) as (run, place):
        found = counts.exact_totals(
            run, place, chosen.question, [one.counters for one in quote.offer.counters], quote.offer.bounding, chosen.cells
        )
    return dict(zip(chosen.shown, [tuple(map(int, totals)) for totals in found], strict=True))
