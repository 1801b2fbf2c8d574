"""A small clinic to ask about."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow

import dither
from dither.ledger.entries.receipt import Receipt
from dither.query import counts
from dither.query import release as releasing
from dither.query.answers.answer import Answer
from dither.query.answers.estimates import read_answer
from dither.query.answers.released import Released
from dither.query.dataset import Dataset
from dither.query.engines.duckdb.table_source import table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.groups.group_choice import all_groups
from dither.query.quote import Quote
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.statistic import Statistic

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
    return dither.Ledger.create(folder / f"{next(NUMBERS)}.ledger", budget=budget or dither.pure(10**8))


def clinic(folder: Path, data: object = None, *, budget: object = None, **facts: Any) -> Dataset:
    """The clinic under a policy; facts of `protect` may be changed."""
    stated: dict[str, Any] = {
        **{"name": "visits", "person": "person", "max_groups": 3, "max_rows_per_group": 5},
        **{"bounds": {"cost": (0, 400), "age": (0, 120)}, "steps": {"cost": "0.01"}, "keys": KEYS},
        **{"complete": ["person", "cost", "age", "sex"], "ledger": facts.pop("ledger", None) or ledger(folder, budget)},
    }
    return dither.protect(visits() if data is None else data, **(stated | facts))


def private_totals(quote: Quote, threads: int = 2) -> list[tuple[int, ...]]:
    """What nobody gets to see: the totals before noise, of all sets of counters."""
    mine = [found for one, found in all_counts(quote, threads) if isinstance(one, CounterRelease)]
    return [tuple(total for row in rows for total in row) for rows in zip(*mine, strict=True)]


def all_counts(quote: Quote, threads: int = 2) -> list[tuple[Statistic, Any]]:
    """What nobody gets to see: each statistic of a question whose groups are declared, with its counts before noise."""
    found: list[tuple[Statistic, Any]] = []
    with _reading(quote, threads) as (run, place):
        for one in counts.counts_of(quote.offer, all_groups(quote.offer.question)):
            found += one.split(counts.exact_totals(run, place, one.question, one.sets, one.bounding, one.cells))
    return [(one, next(value for other, value in found if other is one)) for one in quote.offer.statistics]


def private_counts(quote: Quote, part: int = 0, threads: int = 2) -> list[int]:
    """The counts of a part before noise: for each group of the question, for each key of the part."""
    made = quote.offer.others[part]
    with _reading(quote, threads) as (run, place):
        found = counts.exact_totals(run, place, made.question, (made.counters,), made.bounding)
    return [count for (count,) in found]


@contextmanager
def _reading(quote: Quote, threads: int) -> Iterator[tuple[Any, counts.TablePlaces]]:
    sources = {
        table.name: table_source(table, quote.holdings.source(table)) for table in quote.offer.question.relation.tables
    }
    texts = {name: source.texts for name, source in sources.items()}
    places = {name: source.relation for name, source in sources.items()}
    with quote.holdings.engine.reading([*sources.values()], threads=threads) as run:
        yield run, counts.TablePlaces(DUCKDB, places, texts, 7)


def repeated(quote: Quote, runs: int) -> Iterator[Answer]:
    """Answers to a quote with noise of their own each, of rows that are read once."""
    receipt = Receipt("0" * 32, 1, 1, "0" * 64, quote.guarantee, (1, "0" * 64), None)
    with _reading(quote, 2) as (run, place):
        known: dict[str, list[tuple[Any, ...]]] = {}

        def once(sql: str, keep: Any) -> list[tuple[Any, ...]]:
            if sql not in known:
                known[sql] = run(sql, lambda _: True)
            return [row for row in known[sql] if keep(row)]

        work = releasing.Release(quote.holdings, (quote.offer,), quote.guarantee, quote.question)
        for _ in range(runs):
            text = releasing.one_to_json(work.released(once, place))
            yield read_answer(quote.offer, Released.from_json(text), receipt)
