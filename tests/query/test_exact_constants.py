"""Constants that are computed are exact, OFFSET, constant keys, and names of periods within hard bounds."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.query.plan.expressions import Arithmetic, Constant
from dither.query.sql import expressions
from tests.query.clinics import ledger
from tests.query.noiseless import differences, released

DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=30 * at) for at in range(12)]
LINES = pyarrow.table(
    {
        "p": [at % 30 for at in range(120)],
        "discount": pyarrow.array([Decimal(at % 11) / 100 for at in range(120)], pyarrow.decimal128(4, 2)),
        "ward": ["ABC"[at % 3 if at % 4 else 0] for at in range(120)],
        "day": [DAYS[at % 12] for at in range(120)],
    }
)
SMALL = "SELECT COUNT(*) AS n FROM lines WHERE discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01"


def lines(folder):
    facts = {"keys": {"ward": ["A", "B", "C"]}, "bounds": {"discount": (0, "0.1"), "day": (DAYS[0], DAYS[-1])}}
    return dither.protect(
        LINES, name="lines", person="p", max_rows=4, complete=LINES.column_names, hard=["max_rows", "bounds.day"],
        steps={"discount": "0.01"}, ledger=ledger(folder, dither.pure(10**9)), **facts,
    )  # fmt: skip


@pytest.mark.parametrize(
    "sql",
    [
        SMALL,
        "SELECT COUNT(*) AS n FROM lines WHERE discount = 0.1 - 0.03",
        "SELECT COUNT(*) AS n FROM lines WHERE discount IN (0.1, 0.07) OR discount < 0.1 * 0.1",
        "SELECT 1, ward, COUNT(*) AS n FROM lines GROUP BY 1, ward",
        "SELECT 'all' AS k, COUNT(*) AS n FROM lines GROUP BY k",
        "SELECT y, COUNT(*) AS n FROM (SELECT DATE_TRUNC('month', day) AS y FROM lines) t GROUP BY y",
        "SELECT y, COUNT(*) AS n FROM (SELECT p, EXTRACT(year FROM day) AS y FROM lines) t GROUP BY y",
    ],
)
def test_answers_are_plain_sql(tmp_path, sql):
    with duckdb.connect() as plain:
        plain.register("lines", LINES)
        assert differences(lines(tmp_path), plain, sql, sql, 0.6) == []


def test_constants_in_doubles_are_noticed(tmp_path, monkeypatch):
    """As it was: 0.06 + 0.01 in doubles is below 0.07, and a sixth of the rows is lost."""

    made = expressions.Reader._arithmetic

    def in_doubles(self, node):
        found = made(self, node)
        if not isinstance(found, Constant):
            return found
        parts = [Constant(found.value - Fraction(1, 100)), Constant(Fraction(1, 100))]
        return Arithmetic("+", *parts)

    monkeypatch.setattr(expressions.Reader, "_arithmetic", in_doubles)
    with duckdb.connect() as plain:
        plain.register("lines", LINES)
        assert differences(lines(tmp_path), plain, SMALL, SMALL, 0.6)


def test_offset_leaves_out_the_first_rows_of_the_answer(tmp_path):
    data = lines(tmp_path)
    asked = "SELECT ward, COUNT(*) AS n FROM lines GROUP BY ward ORDER BY n DESC, ward"
    whole = data.quote(asked, epsilon=10**6).release().rows()
    entries = len(list(data.ledger.history()))
    for limit, offset in ((1, 1), (2, 0), (5, 2), (2, 7)):
        quote = data.quote(f"{asked} LIMIT {limit} OFFSET {offset}", epsilon=10**6)
        assert quote.release().rows() == whole[offset : offset + limit]
        assert quote.offer.question.selects
    assert data.quote(f"{asked} OFFSET 1", epsilon=10**6).release().rows() == whole[1:]
    assert len(list(data.ledger.history())) == entries  # it is the same question, and its stored answer
    assert data.quote("SELECT DISTINCT ward FROM lines ORDER BY ward LIMIT 1 OFFSET 1").release()["ward"] == ["B"]
    assert "Skips      the first 1" in data.quote(f"{asked} OFFSET 1", epsilon=1).describe()


@pytest.mark.parametrize("offset", ["-1", "1.5", "x", "9" * 30])
def test_an_offset_is_a_whole_number(tmp_path, offset):
    with pytest.raises(QuestionError, match="OFFSET"):
        lines(tmp_path).quote(f"SELECT ward, COUNT(*) AS n FROM lines GROUP BY ward OFFSET {offset}", epsilon=1)


def test_an_offset_inside_is_refused(tmp_path):
    with pytest.raises(QuestionError, match="because of others"):
        lines(tmp_path).quote("SELECT COUNT(*) AS n FROM (SELECT p FROM lines OFFSET 1) t", epsilon=1)


def test_periods_within_hard_bounds_keep_their_names(tmp_path):
    data = lines(tmp_path)
    inner = "SELECT m, COUNT(*) AS n FROM (SELECT DATE_TRUNC('month', day) AS m FROM lines) t GROUP BY m"
    assert released(data, inner)["m"][0] == datetime.date(2024, 1, 1)
