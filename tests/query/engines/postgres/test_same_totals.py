"""The same whole numbers from PostgreSQL and from DuckDB: of the golden questions, and of random ones on hostile rows.

Which groups of a person are kept is chosen by a hash; both engines take the portable one here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from dither.errors import DitherError, QuestionError
from dither.query.counts import TablePlaces
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.words import DuckDBWords
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.engines.postgres.support import check_support
from dither.query.engines.postgres.words import PostgresWords
from dither.query.engines.templates.relations import rows_of, with_tables
from dither.query.engines.templates.totals import totals_sql
from dither.query.engines.words import Words
from dither.query.release import Release
from dither.query.sources.find_source import find_source
from tests.golden.clinic import save
from tests.golden.records import asked
from tests.query.engines.postgres.tables import load
from tests.query.neighbours import Case, engine_with, random_case, random_row, table_of

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")


class PortableDuckDB(DuckDBWords):
    """DuckDB's words with the portable hash."""

    salt = "12345"
    order = Words.order


class PortablePostgres(PostgresWords):
    """PostgreSQL's words with the portable hash."""

    salt = "12345"
    order = Words.order


DUCKDB, POSTGRES = PortableDuckDB(), PortablePostgres()
Rows = list[tuple[Any, ...]]


def ordered(rows: Rows) -> list[str]:
    return sorted(repr([sorted(cell) if isinstance(cell, list) else cell for cell in row]) for row in rows)


@contextmanager
def reader(engine: Any, words: Words, data: Any, sources: dict[str, Any]) -> Iterator[Any]:
    """SELECTs of questions on an engine."""
    tables = {table.name: engine.table(table, sources[table.name]) for table in data.policy.tables}
    place = TablePlaces(
        words, {name: rows_of(words, name) for name in tables}, {name: t.texts for name, t in tables.items()}
    )
    heads = {name: table.relation for name, table in tables.items()}
    with engine.reading(list(tables.values())) as run:
        yield lambda work: [run(with_tables(words, heads, sql), lambda _: True) for sql in work._selects(place)]


@pytest.mark.parametrize("kind", ["rho", "rows"])
def test_golden_questions(kind, tmp_path, address, link):
    data = save(tmp_path / kind, kind)
    for file in Path(tmp_path / kind).glob("*.parquet"):
        load(link, file.stem, pyarrow.parquet.read_table(file))
    there = {name: find_source(f"{address}&table={name}", Path(), "source") for name in data.sources}
    seen = 0
    ours = reader(DuckDBEngine(data.sources.values()), DUCKDB, data, data.sources)
    with ours as here, reader(PostgresEngine(), POSTGRES, data, there) as beyond:
        for name, sql, terms in asked(kind):
            try:
                quote = data.quote(sql, **terms)
            except DitherError:
                continue
            if not quote.question:  # which is free
                continue
            offers = quote.offers if isinstance(sql, list) else (quote.offer,)
            work = Release(data, tuple(offers), quote.guarantee, {})
            for first, second in zip(here(work), beyond(work), strict=True):
                assert ordered(first) == ordered(second), name
                seen += 1
    assert seen > 100


@pytest.mark.parametrize("way", [None, "weights", "clip", "groups", "clip sum", "persons"])
def test_random_questions_on_hostile_rows(way, link, every):
    rng = random.Random(str(way))
    for _ in range(34 if every else 8):
        rows = [random_row(rng) for _ in range(rng.choice([5, 40, 300]))]
        table = table_of(rows, rng)
        load(link, "visits", table)
        for _ in range(4):
            case = answered(rng, way)
            here = engine_with(1)
            here.register("visits", table)
            asked = case.question, case.strategy.sets, case.bounding, "visits", case.salt
            first = here.execute(totals_sql(DUCKDB, *asked)).fetchall()
            second = link.execute(totals_sql(POSTGRES, *asked)).fetchall()
            plain = [tuple(int(cell) if type(cell).__name__ == "Decimal" else cell for cell in row) for row in second]
            assert ordered(first) == ordered(plain), case.question


def answered(rng: random.Random, way: str | None) -> Case:
    """A random question that PostgreSQL does not refuse."""
    while True:
        case = random_case(rng, way)
        with suppress(QuestionError):
            check_support(case.question)
            return case


def test_a_hash_of_its_own_chooses_others(link):
    """Otherwise nothing above would be about the hash."""
    texts = {words.order(7, ["p", "g0"]) for words in (DUCKDB, POSTGRES, PostgresWords(), DuckDBWords())}
    assert len(texts) == 4
