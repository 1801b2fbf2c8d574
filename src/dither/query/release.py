"""Where data meets noise, and nowhere else: reserve, read, add noise, store, show.

    reserve   the ledger checks and charges; a question that was answered before gives its stored answer here
    touch     from now on nothing is given back
    read      one SELECT of integer totals, bounded a person
    noise     an integer for every declared group and measure, present in the data or not, drawn from the quote's law
    commit    the noisy integers are stored; the answer is made of what is *stored*

Once data was touched, whatever goes wrong is one error with one text: the charge stays, and the cause is not told, since it
may depend on a single row. The error is raised outside the handler, so that not even its context holds the cause.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from dither.errors import DataError, ReleaseError
from dither.query.answer import Answer
from dither.query.column import Type
from dither.query.engines.duckdb import Engine, Keep, Progress
from dither.query.engines.relation import relation_sql
from dither.query.engines.totals import totals_sql
from dither.query.relation import Scan
from dither.query.schema import Schema

if TYPE_CHECKING:
    from dither.query.quote import Quote

VERSION = 1
LEASE = 300  # seconds in which nobody else computes the same answer


def release(
    quote: Quote, *, idempotency_key: str | None, analyst: str, threads: int | None, progress: Progress | None
) -> Answer:
    """The answer to a quote."""
    dataset = quote.dataset
    tables = {table.name: table for table in quote.plan.relation.tables}
    if threads is not None and (type(threads) is not int or not 1 <= threads <= 1024):
        raise DataError("threads", threads, "it is not a number of threads", "2")
    sources = {name: dataset.source(table) for name, table in tables.items()}
    schemas = {name: sources[name].check(table) for name, table in tables.items()}
    select = partial(_select, quote, schemas, secrets.randbits(64))
    with Engine() as engine:
        engine.rehearse(select, schemas)
        receipt = dataset.ledger.reserve(
            quote.guarantee,
            quote.question,
            idempotency_key=idempotency_key,
            analyst=analyst,
            data_version=dataset.policy.data_version,
            lease=LEASE,
            policy_hash=dataset.policy.hash,
        )
        stored = receipt.answer
        if stored is None:
            dataset.ledger.touch(receipt)
            text = None
            with suppress(Exception):  # what it says may tell of single rows
                places = {name: sources[name].relation(table) for name, table in tables.items()}
                read = partial(engine.run, select(places), sources, threads=threads, progress=progress)
                text = _noisy(quote, exact_totals(quote, read))
            if text is None:
                why = "it failed after data was touched; the charge stays, and the cause is not told: it may depend on a row"
                instead = f"asking again after {LEASE} s, which costs nothing more, or asking the owner"
                raise ReleaseError("question", receipt.name, why, instead)
            stored = dataset.ledger.commit(receipt, text)
    return Answer(quote, _read(stored), receipt)


def _select(quote: Quote, schemas: Mapping[str, Schema], salt: int, places: Mapping[str, str]) -> str:
    texts = {
        table: frozenset(column for column, held in schema.items() if held.type is Type.TEXT)
        for table, schema in schemas.items()
    }
    relation = quote.plan.relation
    if isinstance(relation, Scan):
        where, spelled = places[relation.table.name], texts[relation.table.name]
    else:
        where = f"({relation_sql(relation, {table: (places[table], texts[table]) for table in schemas})})"
        spelled = frozenset()
    return totals_sql(quote.plan, quote.strategy.families, quote.bounding, where, salt, spelled)


def exact_totals(quote: Quote, read: Callable[[Keep], list[tuple[Any, ...]]]) -> list[tuple[int, ...]]:
    """The totals of every declared group, in order, zeros where the data has nothing. PRIVATE: only noise may see it."""
    width = len(quote.plan.groups)
    cells = list(product(*(group.keys for group in quote.plan.groups)))
    declared = set(cells)
    found = read(lambda row: row[:width] in declared)
    totals = {row[:width]: row[width:] for row in found}
    if len(totals) != len(found):  # two groups of the engine's that Python takes for one: one would hide the other
        raise RuntimeError("the engine gave a group twice")
    nothing = (0,) * sum(len(family.measures) for family in quote.strategy.families)
    return [totals.get(cell, nothing) for cell in cells]


def _noisy(quote: Quote, totals: list[tuple[int, ...]]) -> str:
    """The released integers as text: for each family, for each declared group in order, its measures."""
    released, place = [], 0
    for family, mechanism in zip(quote.strategy.families, quote.noise, strict=True):
        last = place + len(family.measures)
        noise = mechanism.law.sample((len(totals), last - place)).tolist()
        released.append(
            [
                [int(total) + drawn for total, drawn in zip(row[place:last], drawn_row, strict=True)]
                for row, drawn_row in zip(totals, noise, strict=True)
            ]
        )
        place = last
    return json.dumps({"dither": VERSION, "released": released}, separators=(",", ":"))


def _read(stored: str) -> list[list[list[int]]]:
    try:
        found = json.loads(stored)
        if found["dither"] != VERSION:
            raise ValueError("another version")
        return list(found["released"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            "stored answer", stored, "this version of dither did not write it", "the version that did"
        ) from error
