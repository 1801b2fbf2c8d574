"""Every expression has the same value on Spark and on DuckDB, of hostile cells, and none fails."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from dither.query.conformance.counted_totals import near, same
from dither.query.conformance.hostile_rows import CONDITIONS, LIBRARY, TABLE, VALUES, hostile_policy, hostile_table
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.spark.run import SparkEngine
from dither.query.engines.spark.words import SPARK, SparkWords
from dither.query.engines.templates.expressions import render
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.sources.find_source import find_source
from dither.query.sql.parse import parse

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own
AT_ONCE = 30  # expressions of one SELECT
POLICY = hostile_policy(person=False)


def meant(sql: str) -> Expression:
    where = parse(f"SELECT COUNT(*) AS n FROM {TABLE} WHERE ({sql}) IS NULL", POLICY).where
    return where.value


def library(sql: str) -> Expression:
    return parse(f"SELECT COUNT({sql}) AS n FROM {TABLE}", POLICY).aggregates[0].of


class Sides:
    """The same hostile rows on both engines."""

    def __init__(self, session: Any, load: Any) -> None:
        rows = hostile_table(random.Random(7), 240)
        frame = find_source(rows, Path(), TABLE)
        (table,) = POLICY.tables
        self.here, self.there = DuckDBEngine([frame]), SparkEngine([load(TABLE, rows)])
        self.places = self.here.table(table, frame), self.there.table(table, load(TABLE, rows))

    def values(self, engine: Any, place: Any, words: Words, nodes: list[Expression]) -> dict[int, tuple[Any, ...]]:
        shown = ", ".join(f"{render(words, node)} AS v{at}" for at, node in enumerate(nodes))
        select = f"SELECT {words.name('row')} AS r, {shown} FROM {place.relation} AS source"
        with engine.reading([place]) as run:
            return {row[0]: row[1:] for row in run(select, lambda _: True)}

    def differences(self, nodes: list[Expression], agree: Any, words: Words = SPARK) -> list[tuple[int, Any, Any]]:
        """Which of several expressions differ, and in what."""
        ours = self.values(self.here, self.places[0], self.here.words, nodes)
        theirs = self.values(self.there, self.places[1], words, nodes)
        assert ours.keys() == theirs.keys()
        return [
            (at, a, b)
            for row, values in ours.items()
            for at, (a, b) in enumerate(zip(values, theirs[row], strict=True))
            if not agree(a, b)
        ]


@pytest.fixture(scope="module")
def sides(session, load):
    return Sides(session, load)


@pytest.mark.parametrize("first", range(0, len(VALUES + CONDITIONS), AT_ONCE))
def test_values(sides, first):
    several = (VALUES + CONDITIONS)[first : first + AT_ONCE]
    found = sides.differences([meant(sql) for sql in several], same)
    assert [(several[at], a, b) for at, a, b in found] == []


def test_values_that_libraries_round(sides):
    found = sides.differences([library(sql) for sql in LIBRARY], near)
    assert [(LIBRARY[at], a, b) for at, a, b in found] == []


class NaiveFloor(SparkWords):
    """NaN becomes 0, and 1e300 fails."""

    def floor(self, sql: str) -> str:
        return f"CAST(floor(CASE WHEN abs({sql}) < 1e15 OR {sql} = CAST('NaN' AS DOUBLE) THEN {sql} END) AS DOUBLE)"


class BackslashLiterals(SparkWords):
    """A quote is doubled, as elsewhere, and a backslash stays."""

    text = Words.text


class FirstDayIsOne(SparkWords):
    """Sunday is 1."""

    def part(self, part, sql):
        return self.narrow(f"EXTRACT(DOW FROM {sql})") if part == "weekday" else super().part(part, sql)


class RoundsToEven(SparkWords):
    """2.5 is 2."""

    def round(self, sql, digits):
        return f"rint({sql})" if digits == 0 else super().round(sql, digits)


class EscapedPatterns(SparkWords):
    """A backslash in a pattern escapes."""

    def like(self, sql, pattern):
        return f"({sql} LIKE {self.text(pattern)})"


class CastAlone(SparkWords):
    """2^63 is taken for the largest whole number below it."""

    def whole(self, sql):
        return self.narrow(sql)


@pytest.mark.parametrize(
    ("words", "sql"),
    [
        (NaiveFloor(), "FLOOR(cost + weight)"),
        (BackslashLiterals(), "name IN ('\\n', '\\')"),
        (FirstDayIsOne(), "EXTRACT(dow FROM seen)"),
        (RoundsToEven(), "ROUND(cost)"),
        (EscapedPatterns(), "name LIKE 'A\\%'"),
        (CastAlone(), "(age * 1) // 7"),
    ],
)
def test_planted_bugs_are_found(sides, words, sql):
    try:
        assert sides.differences([meant(sql)], same, words)
    except RuntimeError:
        assert isinstance(words, (BackslashLiterals, EscapedPatterns))  # what cannot be read is refused when it is rehearsed


def test_texts_of_every_sign(session):
    """Each sign of the first plane by itself, between others, and what SQL could take for something else."""
    from dither.query.sources.spark_session import own_session

    signs = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(signs[at : at + 4096]) for at in range(0, len(signs), 4096)]
    texts += [
        "\0",
        "a'b",
        "''",
        "\\'",
        "\\",
        "\\\\n",
        "\\u0041",
        "${env:HOME}",
        "${spark.app.name}",
        "?",
        ":salt",
        "-- x",
        "/* x",
    ]
    texts += ["🎲", "", " ", "%", "_"]
    shown = ", ".join(f"{SPARK.text(text)} AS {SPARK.name(f't`{at} .')}" for at, text in enumerate(texts))
    found = own_session(session).sql(f"SELECT {shown}", args={"salt": 0}).toArrow()
    assert [column[0].as_py() for column in found.columns] == texts
    assert found.column_names == [f"t`{at} ." for at in range(len(texts))]


def test_numbers_of_every_size(session):
    from dither.query.sources.spark_session import own_session

    rng = random.Random(3)
    values = [0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, 0.1, 1e23, 2.0**-1074, 9007199254740993.0]
    values += [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300) for _ in range(300)]
    whole = [0, -1, 2**63 - 1, -(2**63)]
    shown = [SPARK.number(value) for value in values] + [SPARK.integer(value) for value in whole]
    spelled = ", ".join(f"{sql} AS v{at}" for at, sql in enumerate(shown))
    found = own_session(session).sql(f"SELECT {spelled}").toArrow()
    assert [column[0].as_py() for column in found.columns] == values + whole
