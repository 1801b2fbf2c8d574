"""A small clinic to ask about."""

from __future__ import annotations

import datetime
import itertools
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow

import dither
from dither.query import release as releasing
from dither.query.dataset import Dataset
from dither.query.engines.duckdb import Engine
from dither.query.quote import Quote

NUMBERS = itertools.count()
KEYS = {"ward": ["A", "B", "C"], "sex": ["f", "m"]}


def visits(rows: int = 60) -> pyarrow.Table:
    """Rows of twenty people; nobody is ever in ward C."""
    return pyarrow.table(
        {
            "person": [place % 20 for place in range(rows)],
            "ward": ["AB"[place % 7 % 2] for place in range(rows)],
            "sex": ["fm"[place % 20 % 2] for place in range(rows)],
            "cost": [round(12.5 * (place % 31), 2) for place in range(rows)],
            "age": [20 + 3 * (place % 20) for place in range(rows)],
            "day": [datetime.date(2025, 1 + place % 12, 1 + place % 28) for place in range(rows)],
        }
    )


def ledger(folder: Path, budget: object = None) -> dither.Ledger:
    """A fresh one."""
    return dither.Ledger(folder / f"{next(NUMBERS)}.ledger", budget=budget or dither.pure(10**8))


def clinic(folder: Path, data: object = None, *, budget: object = None, **facts: Any) -> Dataset:
    """The clinic under a policy; facts of `protect` may be changed."""
    stated: dict[str, Any] = {
        **{"name": "visits", "person": "person", "max_groups": 3, "max_rows_per_group": 5},
        **{"bounds": {"cost": (0, 400), "age": (0, 120)}, "steps": {"cost": "0.01"}, "keys": KEYS},
        **{"complete": ["person", "cost", "age", "sex"], "ledger": facts.pop("ledger", None) or ledger(folder, budget)},
    }
    return dither.protect(visits() if data is None else data, **(stated | facts))


def private_totals(quote: Quote, threads: int = 2) -> list[tuple[int, ...]]:
    """What nobody gets to see: the totals before noise."""
    table = quote.plan.table
    source = quote.dataset.source(table)
    sql = releasing._select(quote, {table.name: source.check(table)}, 7, {table.name: source.relation(table)})
    with Engine() as engine:
        return releasing.exact_totals(quote, partial(engine.run, sql, {table.name: source}, threads=threads))
