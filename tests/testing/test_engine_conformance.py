"""The conformance suite of engines: DuckDB and PostgreSQL pass, and engines with planted bugs do not."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from dither.errors import BrokenPromise
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.engines.postgres.words import PostgresWords
from dither.query.engines.words import Words
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_table import postgres_table
from dither.testing import check_engine, engine_checks
from tests.ledger.servers import postgres
from tests.query.engines.postgres.tables import load

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def put():
    """Makes tables in a real PostgreSQL."""
    with postgres() as server:
        address = server.get_uri().replace("postgres:@", "postgres@")
        with psycopg.connect(address, autocommit=True, options="-c client_min_messages=error") as link:

            def made(name, table):
                load(link, name, table)
                return postgres_table(f"{address}&table={name}", name)

            yield made


def test_duckdb_passes():
    assert check_engine(DuckDBEngine(), lambda name, table: find_source(table, Path(), name), questions=6) > 200


def test_postgresql_passes(put, every):
    assert check_engine(PostgresEngine(), put, questions=200 if every else 30, seed=2) > 200


class Escapes(PostgresWords):
    """A backslash in a pattern escapes."""

    def like(self, sql, pattern):
        return f"({sql} LIKE {self.text(pattern)})"


class Uncut(PostgresWords):
    """Doubles overflow and underflow."""

    def real(self, sql):
        return f"nullif({sql}, {self.number(float('nan'))})"


class Even(PostgresWords):
    """Halves are rounded to even."""

    def round(self, sql, digits):
        return f"CAST(round(CAST({sql} AS numeric), {digits}) AS float8)" if digits else f"round({sql})"


class Collated(PostgresWords):
    """Texts are compared as dictionaries do: without case."""

    def binary(self, sql):
        return f"lower({sql})"


class Padded(PostgresWords):
    """Blanks at the end do not count."""

    def binary(self, sql):
        return f"rtrim({sql})"


class Zoned(PostgresWords):
    """A day begins where the server is."""

    def start(self, period, sql, kind):
        return super().start(period, f"({sql} + interval '2 hours')", kind)


class Weekly(PostgresWords):
    """Sunday is 1."""

    def part(self, part, sql):
        return f"({super().part(part, sql)} + 1)" if part == "weekday" else super().part(part, sql)


class Short(PostgresWords):
    """Whole numbers wrap at 32 bits."""

    def narrow(self, sql):
        return f"(CAST({sql} AS bigint) & 2147483647)"


class Twice(PostgresWords):
    """Weights are twice as heavy."""

    def divide(self, sql, by):
        return f"(2 * {super().divide(sql, by)})"


class Careless(PostgresWords):
    """A library is wrong in its seventh digit."""

    def elementary(self, name, sql):
        return f"({super().elementary(name, sql)} * (1 + 1e-7))"


class Coarse(PostgresWords):
    """Powers are of single precision."""

    def power(self, sql, exponent):
        return f"CAST(CAST({super().power(sql, exponent)} AS numeric(999, 3)) AS float8)"


class Failing(PostgresWords):
    """Numbers are cast before they are compared."""

    def whole(self, sql):
        return self.narrow(sql)


class Unequal(PostgresWords):
    """A wide number is a double."""

    wide_type = "float4"


class Ulp(PostgresWords):
    """Another library: the last digits differ."""

    def elementary(self, name, sql):
        return super().elementary(name, sql) if name == "sqrt" else f"({super().elementary(name, sql)} * (1 + 2e-16))"


PLANTED = {
    Escapes: "value: name LIKE", Uncut: "value: cost * weight", Even: "value: ROUND(cost)", Collated: "value: name <",
    Padded: "value: name IN", Zoned: "value: DATE_TRUNC", Weekly: "value: EXTRACT(dow", Short: "value: EXTRACT(epoch",
    Twice: "neighbours: weights", Careless: "library: LN(cost)", Coarse: "library: POWER",
    Failing: "question: SELECT SUM(v) AS s FROM (SELECT person, ROUND", Unequal: "question: SELECT ward, SUM(price)",
}  # fmt: skip


@pytest.mark.parametrize("words", PLANTED, ids=lambda words: words.__doc__)
def test_a_planted_bug_is_found(put, words):
    class Broken(PostgresEngine):
        pass

    Broken.words = words()
    named = engine_checks(Broken(), put, questions=90 if words is Twice else 24)
    checks = [check for name, check in named if name.startswith(PLANTED[words])]
    with pytest.raises(BrokenPromise):
        [check() for check in checks]


def test_another_library_is_no_bug(put):
    class Other(PostgresEngine):
        words = Ulp()

    for name, check in engine_checks(Other(), put):
        if name.startswith(("library", "question: SELECT SUM(LN", "question: SELECT AVG(LOG2", "question: SELECT SUM(EXP")):
            check()


def test_every_word_is_planted_or_portable():
    """The list above is of words that are there."""
    for words in PLANTED:
        assert all(hasattr(Words, name) for name in vars(words) if not name.startswith("__"))
