"""The words of engines, and templates written by them."""

from __future__ import annotations

import datetime
import math
import re
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest
import sqlglot
from sqlglot import exp

import dither.query.engines.templates
from dither.errors import DitherError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import cell
from dither.query.engines.templates.relations import with_tables
from dither.query.engines.words import Words
from dither.query.plan.calendar_periods import PERIODS
from dither.query.plan.expressions import PARTS
from dither.query.policy.column import Column, Type
from tests.golden.clinic import save
from tests.golden.records import asked
from tests.query.clinics import clinic, private_totals

NAN, INF = math.nan, math.inf
PORTABLE = Words()

# -- what templates may be written of ------------------------------------------------------------------------------------

TEMPLATES = sorted(Path(dither.query.engines.templates.__file__).parent.glob("*.py"))
ONLY_DUCKDB = [
    "::",
    "TRY_CAST",
    "TRY(",
    "HUGEINT",
    "UBIGINT",
    "QUALIFY",
    "ENUM",
    "MATERIALIZED",
    "isfinite",
    "isnan",
    "hash(",
]
ONLY_DUCKDB += ["regexp_", "date_part(", "decode(", "encode(", "getvariable", "unnest", "strlen", "COLLATE"]
SAME_EVERYWHERE = {
    "abs",
    "ceil",
    "coalesce",
    "count",
    "floor",
    "greatest",
    "least",
    "left",
    "length",
    "lower",
    "ltrim",
    "max",
}
SAME_EVERYWHERE |= {"min", "nullif", "right", "row_number", "rtrim", "sign", "sqrt", "substring", "sum", "trim", "upper"}
SAME_EVERYWHERE |= {"ln", "mod"}
SAME_EVERYWHERE |= {"dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "rank"}
WORDS = {
    "array_agg",
    "cast",
    "concat_ws",
    "date_trunc",
    "div",
    "exp",
    "extract",
    "log10",
    "md5",
    "power",
    "trunc",
}  # the portable spelling, which an engine may not have


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_templates_are_written_without_words_of_one_engine(path):
    source = path.read_text()
    assert [word for word in ONLY_DUCKDB if word in source] == []
    assert len(source.splitlines()) < 300


class AskedEnoughError(Exception):
    """Raised instead of a rehearsal."""


@pytest.fixture(scope="module")
def golden(tmp_path_factory) -> dict[Words, list[str]]:
    """The SELECTs of all golden questions, by DuckDB's words and by the portable ones."""
    found: dict[Words, list[str]] = {DUCKDB: [], PORTABLE: []}
    for kind in ("rho", "rows"):
        data = save(tmp_path_factory.mktemp("golden") / kind, kind)
        quotes = []
        for _, sql, terms in asked(kind):
            try:
                quote = data.quote(sql, **terms)
            except DitherError:
                continue
            quotes += [quote] if quote.question else []  # others are free
        for words, selects in found.items():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(DuckDBEngine, "words", words)
                patch.setattr(
                    DuckDBEngine, "rehearse", lambda _, sources, given, selects=selects, **__: stopped(selects, given)
                )
                for quote in quotes:
                    with pytest.raises(AskedEnoughError):
                        quote.release()
    return found


def stopped(selects: list[str], given: list[str]) -> None:
    selects += given
    raise AskedEnoughError


def derived_without_alias(tree: exp.Expression) -> list[str]:
    """Tables that are SELECTs and have no name: PostgreSQL below 16 refuses them."""
    tables = [node for node in tree.find_all(exp.Subquery) if isinstance(node.parent, (exp.From, exp.Join))]
    assert tables
    return [node.sql() for node in tables if not node.alias]


@pytest.mark.parametrize(("words", "dialect"), [(DUCKDB, "duckdb"), (PORTABLE, "postgres")], ids=["duckdb", "portable"])
def test_every_derived_table_has_an_alias(golden, words, dialect):
    assert len(golden[words]) > 190
    for sql in dict.fromkeys(golden[words]):
        whole = with_tables(words, {"visits": "visits", "stays": "stays", "wards": "wards"}, sql)
        assert derived_without_alias(sqlglot.parse_one(whole, dialect=dialect)) == [], sql


def test_a_derived_table_without_alias_is_found():
    for sql in ("SELECT * FROM (SELECT 1 AS x)", "SELECT 1 FROM a JOIN (SELECT 2 AS y) USING (y)"):
        assert derived_without_alias(sqlglot.parse_one(sql, dialect="duckdb"))


def test_the_portable_words_are_all_that_questions_are_written_of(golden):
    """Every call in every SELECT is one that engines share, or a word."""
    calls = set()
    for sql in golden[PORTABLE]:
        assert [word for word in ONLY_DUCKDB if word in sql and word != "COLLATE"] == []
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", sql)
        calls |= set(re.findall(r"\b([a-z_]\w*)\(", re.sub(r"\b(CAST|EXTRACT)\(", lambda word: word.group().lower(), bare)))
    assert calls - SAME_EVERYWHERE - WORDS == set()
    assert len(calls & SAME_EVERYWHERE) > 15
    assert calls >= WORDS


# -- the portable spelling means what DuckDB's does ----------------------------------------------------------------------

TEXTS = [None, "", "0", "7", "007", "-0", "-12", "6.9", " 7", "a%b", "a_b", "a\\b", "!", "!%", "it's", "ÄB", "x" * 30]
DOUBLES = [None, 0.0, -0.0, 2.5, -2.5, 0.125, -1234.5678, 1e15, NAN, INF, -INF, 9.3e18, -9.3e18, 1e300, 5e-324]
TIMES = [None, datetime.datetime(1, 1, 1), datetime.datetime(2024, 2, 29, 23, 59, 59), datetime.datetime(9999, 12, 31, 23)]
SPELLED = {
    "text": lambda words: (
        [words.like("x", p) for p in ("%", "a%b", "a_b", "a\\b", "!%", "%'%", "")]
        + [words.is_whole("x"), words.left("x", 3), words.change("upper", "x"), words.change("trim", "x"), words.sound("x")]
    ),
    "double": lambda words: [
        *(words.real("x"), words.is_real("x"), words.whole(words.floor("x")), words.ceil("x")),
        *(words.round("x", 2), words.round("x", 0)),
        *(words.greatest(["x", words.number(Fraction(1, 3))]), words.least(["x", "1"])),
    ],
    "time": lambda words: (
        [words.part(p, "x") for p in PARTS]
        + [words.start(p, "x", Type.TIMESTAMP) for p in PERIODS]
        + [words.later("x", *by) for by in ((0, 1, 0), (-1, 0, 0), (13, -2, 5))]
        + [words.start(p, words.cast("x", "DATE"), Type.DATE) for p in ("year", "week", "day")]
    ),
}
CELLS = {
    "text": pyarrow.array(TEXTS),
    "double": pyarrow.array(DOUBLES),
    "time": pyarrow.array(TIMES, pyarrow.timestamp("us")),
}


@pytest.mark.parametrize("kind", SPELLED)
def test_portable_words_mean_the_same(kind):
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("t", pyarrow.table({"x": CELLS[kind]}))
        for plain, ours in zip(SPELLED[kind](PORTABLE), SPELLED[kind](DUCKDB), strict=True):
            rows = engine.execute(f"SELECT {plain}, {ours} FROM t").fetchall()
            assert all(repr(one) == repr(other) or one == other for one, other in rows), (plain, ours, rows)


def test_a_pattern_escapes_nothing():
    signs = "".join(map(chr, range(33, 127)))
    assert PORTABLE.like("x", signs).endswith("ESCAPE '\x7f')")
    assert PORTABLE.like("x", "a!b") == "(x LIKE 'a!b' ESCAPE '\"')"


def test_days_that_python_cannot_write_are_missing():
    days = ["infinity", "-infinity", "10000-01-01", "0001-12-31 (BC)", "5881580-07-10", "0001-01-01", "9999-12-31"]
    times = [*days[:4], "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00"]
    with duckdb.connect(config={"threads": 1}) as engine:
        for kind, cells, kept in ((Type.DATE, days, 2), (Type.TIMESTAMP, times, 2)):
            rows = ", ".join(f"('{day}'::{kind.name})" for day in cells)
            sql = cell(DUCKDB, Column("x", kind))
            found = [row[0] for row in engine.execute(f"SELECT {sql} FROM (VALUES {rows}) t(x)").fetchall()]
            assert found[:-kept] == [None] * (len(cells) - kept)
            assert None not in found[-kept:]


# -- NaN in files --------------------------------------------------------------------------------------------------------

OF_COST = [
    "SELECT COUNT(*) AS n FROM visits WHERE cost > 5",
    "SELECT COUNT(*) AS n FROM visits WHERE NOT cost < 5",
    "SELECT COUNT(*) AS n FROM visits WHERE cost IS NULL",
    "SELECT COUNT(cost) AS n FROM visits",
    "SELECT SUM(cost) AS n FROM visits",
    "SELECT SUM(cost + 1) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM (SELECT person, MAX(cost) AS m FROM visits GROUP BY person) AS q WHERE m > 5",
]


@pytest.mark.parametrize("sql", OF_COST)
@pytest.mark.parametrize("others", [[], [1.0, None]], ids=["alone", "beside others"])
def test_what_nan_counts_as_does_not_depend_on_the_largest_number_of_a_file(tmp_path, sql, others):
    """The statistics of a Parquet file leave NaN out, and DuckDB decides comparisons by them unless told of NaN:
    nullif(cost, NaN) was cost where the largest number was 3, and NULL where it was infinity, in all rows at once."""
    totals = {}
    facts = {"keys": {}, "bounds": {"cost": (0, 10)}, "steps": {}, "complete": [], "max_groups": 1, "max_rows_per_group": 1}
    for last in (3.0, INF, NAN):
        cells = pyarrow.array([*others, *[NAN] * 20, last], pyarrow.float32() if others else pyarrow.float64())
        path = tmp_path / f"{last}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"person": range(len(cells)), "cost": cells}), path)
        quote = clinic(tmp_path, str(path), **facts).quote(sql, epsilon=1)
        ((totals[last],),) = private_totals(quote)
    (family,) = (one.counters for one in quote.offer.counters)
    most = quote.offer.bounding.l1(family)
    assert abs(totals[3.0] - totals[NAN]) <= most
    assert abs(totals[INF] - totals[NAN]) <= most
    if "IS NULL" in sql:
        assert totals[NAN] == (21 + others.count(None)) * most
