"""Domains of columns: by lists and ranges of WHERE, through inner questions and joins, and what is refused."""

from __future__ import annotations

import datetime

import duckdb
import pytest

from dither.errors import QuestionError
from dither.query.plan.calendar_periods import start_of, starts
from dither.query.plan.functions import Clamp
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse

DAY = datetime.date
STATED = {
    "p": {"type": "integer", "bounds": [0, 50]},
    "k": {"type": "integer", "bounds": [0, 9]},
    "i": {"type": "integer"},
    "wide": {"type": "integer", "bounds": [0, 10**6]},
    "far": {"type": "integer", "bounds": [10**30, 10**30 + 5]},
    "x": {"type": "float", "bounds": [0, 10]},
    "huge": {"type": "float", "bounds": [10**16, 10**16 + 10]},
    "town": {"type": "text"},
    "ward": {"type": "text", "keys": ["A", "B"]},
    "ok": {"type": "boolean"},
    "d": {"type": "date", "bounds": [DAY(2024, 1, 1), DAY(2024, 1, 5)]},
    "born": {"type": "date"},
    "at": {"type": "timestamp"},
}
TABLE = {"person": "p", "max_groups": 2, "max_rows_per_group": 2, "columns": STATED}
POLICY = read_policy({"version": 1, "domain": "d", "tables": {"t": TABLE}})


def group(by, where="", of="t"):
    (found,) = parse(
        f"SELECT {by} AS g, COUNT(*) AS n FROM {of}{f' WHERE {where}' if where else ''} GROUP BY g", POLICY
    ).groups
    return found


@pytest.mark.parametrize(
    ("by", "where", "keys"),
    [
        ("i", "i IN (7, 3, 7)", (3, 7)),
        ("i", "i = 3", (3,)),
        ("i", "3 = i OR i IN (5)", (3, 5)),
        ("i", "i IN (1, 2, 3) AND i IN (2, 3, 4) AND i < 3", (2,)),
        ("i", "i >= 2 AND 4 >= i", (2, 3, 4)),
        ("i", "i BETWEEN 2 AND 4 AND x > 1", (2, 3, 4)),
        ("i", "i > -3 AND i < 0", (-2, -1)),
        ("town", "town IN ('b', 'a') AND ok", ("a", "b")),
        ("town", "town = 'a'", ("a",)),
        ("ok", "ok = FALSE", (False,)),
        ("born", "born IN (DATE '2024-01-02', DATE '2023-01-01')", (DAY(2023, 1, 1), DAY(2024, 1, 2))),
        ("born", "born > DATE '2024-01-30' AND born < DATE '2024-02-02'", (DAY(2024, 1, 31), DAY(2024, 2, 1))),
        (
            "CAST(at AS DATE)",
            "at BETWEEN TIMESTAMP '2024-01-31 23:00:00' AND TIMESTAMP '2024-02-01 01:00:00'",
            (DAY(2024, 1, 31), DAY(2024, 2, 1)),
        ),
        (
            "CAST(born AS TIMESTAMP)",
            "born BETWEEN DATE '2024-01-31' AND DATE '2024-02-01'",
            (datetime.datetime(2024, 1, 31), datetime.datetime(2024, 2, 1)),
        ),
        ("UPPER(town)", "town IN ('a', 'A', 'b')", ("A", "B")),
        ("i * 2", "i IN (1, 5)", (2, 10)),
        ("ward", "ward IN ('A', 'Z')", ("A", "B")),  # declared keys are listed whatever is asked
        ("k", "k IN (3, 12)", (3, 12)),  # rows of WHERE are as they are: nothing is clamped
    ],
)
def test_keys_of_a_question(by, where, keys):
    found = group(by, where)
    assert found.keys == keys
    assert (found.asked, found.open_keys) == (None, ())


@pytest.mark.parametrize(
    ("by", "where"),
    [
        ("i", ""),
        ("i", "i > 3"),
        ("i", "i IN (1) OR x > 1"),
        ("i", "NOT (i IN (1))"),
        ("i", "i BETWEEN 0.5 AND 3"),
        ("wide", ""),
    ],
)
def test_what_is_not_known_is_left_to_a_private_choice(by, where):
    assert group(by, where).keys is None


@pytest.mark.parametrize("by", ["far", "town", "born"])
def test_these_columns_have_no_domain(by):
    assert group(by).keys is None


@pytest.mark.parametrize(
    ("by", "where", "why"),
    [
        ("i", "i IN (3, 3.5)", "whole numbers of 64 bits, and 3.5"),
        ("i", "i = 0.5", "whole numbers of 64 bits, and 0.5"),
        ("i", "i IN (9223372036854775808)", "whole numbers of 64 bits"),
        ("i", "i IN (1, 2) AND i IN (3)", "no value"),
        ("i", "i IN (1, 2) AND i > 2", "no value"),
        ("k", "k > 20", "no value"),
        ("d", "d > DATE '2025-01-01'", "no day"),
        ("p", "", "whose a row is"),
        ("p + 1", "", "not known beforehand"),
        ("i + 1", "", "not known beforehand"),
        ("k + wide", "", "not known beforehand"),
        ("x + k", "", "not known beforehand"),
        ("k / 2", "", "keys are texts, dates or whole numbers"),
        ("FLOOR(x * 100000)", "", "possible values"),
        ("FLOOR(huge)", "", "2^53"),
        ("k * 100 + FLOOR(x * 1000)", "", "combinations"),
        ("CASE WHEN k > 3 THEN 'a' END", "", "has an ELSE"),
    ],
)
def test_refusals(by, where, why):
    with pytest.raises(QuestionError, match=why.replace("^", r"\^")):
        group(by, where)


def test_answers_of_too_many_groups_are_refused():
    parse("SELECT k, FLOOR(x * 1000) AS g, COUNT(*) AS n FROM t GROUP BY k, g", POLICY)
    with pytest.raises(QuestionError, match="1000000 are the most"):
        parse("SELECT k, FLOOR(x * 1000) AS g, FLOOR(x * 5) AS h, COUNT(*) AS n FROM t GROUP BY k, g, h", POLICY)


def test_inner_questions_keep_what_is_known():
    assert group("a", of="(SELECT i AS a FROM t WHERE i IN (1, 2)) u").keys == (1, 2)
    assert group("a", "a > 1", of="(SELECT i AS a FROM t WHERE i IN (1, 2)) u").keys == (2,)
    own = group("a", of="(SELECT p, i AS a, COUNT(*) AS m FROM t WHERE i IN (1, 2) GROUP BY p, i) u")
    assert own.keys == (1, 2)
    many = group("m", of="(SELECT p, COUNT(*) AS m FROM t GROUP BY p) u")
    assert (many.keys, many.open_keys) == ((0, 1, 2, 3, 4), ((0, "below"), (4, "above")))
    assert isinstance(many.by, Clamp)
    days = group("m", of="(SELECT DATE_TRUNC('month', d) AS m FROM t) u")
    assert (days.keys, days.open_keys) == ((DAY(2024, 1, 1),), ((DAY(2024, 1, 1), "beyond"),))
    assert group("m", of="(SELECT k + 1 AS m FROM t) u").keys == tuple(range(1, 11))


def test_a_running_sum_and_an_order_know_the_key_by_what_was_written():
    sql = "SELECT FLOOR(x / 5) AS g, SUM(COUNT(*)) OVER (ORDER BY FLOOR(x / 5)) AS n FROM t GROUP BY FLOOR(x / 5)"
    assert parse(f"{sql} ORDER BY FLOOR(x / 5) DESC", POLICY).groups[0].keys == (0, 1, 2)


@pytest.mark.parametrize("period", ["year", "quarter", "month", "week", "day", "hour"])
def test_periods_are_the_engines(period):
    first, last = datetime.datetime(2023, 12, 27, 5, 6), datetime.datetime(2024, 3, 1, 23)
    found = list(starts(period, first, last))
    every = "range(?::TIMESTAMP, ?::TIMESTAMP, INTERVAL 1 MINUTE) AS r(seen)"
    step = f"SELECT DISTINCT date_trunc('{period}', seen) FROM {every}"
    with duckdb.connect() as engine:
        rows = engine.execute(step, [first, last + datetime.timedelta(minutes=1)]).fetchall()
    assert found == sorted(datetime.datetime(*day.timetuple()[:6]) for (day,) in rows)
    assert start_of(period, last) == found[-1]
