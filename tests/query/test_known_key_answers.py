"""Answers with keys that are known beforehand: groups at the edges, order, dates, booleans, batches, and what is said."""

from __future__ import annotations

import datetime

import pyarrow
import pytest

import dither
from dither.query.owner.inspect import inspect
from tests.query.clinics import ledger

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
DAY, MOMENT = datetime.date, datetime.datetime


def protected(folder, budget=None, **facts):
    data = pyarrow.table(
        {
            "p": list(range(1000)),
            "x": [place % 100 for place in range(1000)],
            "k": [place % 10 for place in range(1000)],
            "ok": [(None, True, False)[place % 3] for place in range(1000)],
            "d": [DAY(2024, 1, 1) + datetime.timedelta(days=place % 400 - 100) for place in range(1000)],
            "at": [MOMENT(2024, 1, 1) + datetime.timedelta(hours=place) for place in range(1000)],
        }
    )
    stated = {
        "bounds": {"x": (0, 10), "k": (0, 9), "d": (DAY(2024, 1, 1), DAY(2024, 6, 30))},
        "max_rows": 1,
        "hard": ["max_rows"],
    }
    book = ledger(folder, budget or dither.pure(10**6))
    return dither.protect(data, name="t", person="p", ledger=book, **(stated | facts))


def rows_of(data, sql, epsilon=100):
    with dither.testing.seeded(1):
        return [tuple(row.values())[:2] for row in data.quote(sql, epsilon=epsilon).release()]


def test_rows_beyond_the_bounds_are_in_the_groups_at_the_edges(tmp_path):
    data = protected(tmp_path)
    sql = "SELECT FLOOR(x / 5) AS g, COUNT(*) AS n FROM t GROUP BY g"
    assert rows_of(data, sql) == [(0, 50), (1, 50), (2, 900)]
    said = data.quote(sql, epsilon=1).explain()
    assert "Clamped    g: a row beyond the bounds is in the group at the edge: 0 or less, 2 or more" in said
    assert "Missing    g: a row that has none is in no group" in said
    inner = "SELECT g, COUNT(*) AS n FROM (SELECT p, FLOOR(x / 5) AS g FROM t) u GROUP BY g"
    assert rows_of(data, inner) == [(0, 50), (1, 50), (2, 900)]
    both = "SELECT g, COUNT(*) AS n FROM (SELECT p, FLOOR(x / 5) AS g FROM t UNION ALL SELECT p, k AS g FROM t) u GROUP BY g"
    assert sum(n for _, n in rows_of(data, both, 9000)) == 2000  # two rows a person


TIMES = {
    "DATE_TRUNC('month', d)": ([DAY(2024, month, 1) for month in range(1, 7)], "date", {"below": [0], "above": [5]}),
    "DATE_TRUNC('quarter', at)": ([MOMENT(2024, 1, 1), MOMENT(2024, 4, 1)], "timestamp", {"below": [0], "above": [1]}),
    "EXTRACT(year FROM d)": ([2024], "whole", {"beyond": [0]}),
    "EXTRACT(month FROM d)": ([*range(1, 13)], "whole", {}),  # every month is one, whatever the bounds
    "DATE_DIFF('month', d, DATE '2024-07-01')": ([*range(1, 7)], "whole", {"below": [0], "above": [5]}),
}


@pytest.mark.full("polars")
@pytest.mark.parametrize("by", TIMES)
def test_keys_of_time_keep_their_type_in_polars(tmp_path, by):
    bounds = {"d": (DAY(2024, 1, 1), DAY(2024, 6, 30)), "at": ("2024-01-01", "2024-06-30")}
    answer = (
        protected(tmp_path, bounds=bounds).quote(f"SELECT {by} AS t, COUNT(*) AS n FROM t GROUP BY t", epsilon=9).release()
    )
    assert answer.to_polars()["t"].to_list() == TIMES[by][0]


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("by", TIMES)
def test_keys_of_time_keep_their_type(tmp_path, by, hard):
    """Bounds are the very range of the keys: the first and the last group are open, unless bounds are hard."""
    keys, kind, sides = TIMES[by]
    bounds = {"d": (DAY(2024, 1, 1), DAY(2024, 6, 30)), "at": ("2024-01-01", "2024-06-30")}
    data = protected(tmp_path, bounds=bounds, hard=["max_rows", *["bounds.d", "bounds.at"] * hard])
    sql = f"SELECT {by} AS t, COUNT(*) AS n FROM t GROUP BY t"
    answer = data.quote(sql, epsilon=9).release()
    assert (answer["t"], answer.kinds["t"]) == (keys, kind)
    assert answer.open_keys == ({} if hard or not sides else {"t": sides})
    assert ("open groups of t" in answer.note) == bool(answer.open_keys)
    again = dither.Answer.from_json(answer.to_json())
    assert (again["t"], again.open_keys) == (keys, answer.open_keys)
    frame = answer.to_pandas()
    assert frame["t"].dtype.kind == ("i" if kind == "whole" else "M")
    texts = [str(key) for key in keys]  # 2024, and not 2,024
    shown = [text for line in str(answer).splitlines() for text in texts if line.startswith(f"{text} ")]
    assert shown == texts
    down = data.quote(f"{sql} ORDER BY t DESC", epsilon=9).release()
    assert down["t"] == keys[::-1]
    before = data.quote(
        f"SELECT {by} AS t, COUNT(*) AS n, LAG(COUNT(*)) OVER (ORDER BY t) AS b FROM t GROUP BY t", epsilon=9
    )
    assert before.release()["b"] == [None, *answer["n"][:-1]]
    free = data.quote(f"SELECT DISTINCT {by} AS t FROM t").release()
    assert (free["t"], free.kinds["t"]) == (keys, kind)
    assert ("open groups of t" in free.says) == bool(answer.open_keys)


def test_having_takes_open_groups_of_time_as_a_whole(tmp_path):
    data = protected(tmp_path)
    sql = "SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM t GROUP BY m HAVING m"
    kept = data.quote(f"{sql} >= '2024-06-01'", epsilon=9).release()
    assert (kept["m"], kept.open_keys) == ([DAY(2024, 6, 1)], {"m": {"above": [0]}})
    assert data.quote(f"{sql} BETWEEN '2024-02-01' AND '2024-05-01'", epsilon=9).release().open_keys == {}
    with pytest.raises(dither.errors.QuestionError, match="the group 2024-06-01 or later stands for all that is beyond"):
        data.quote(f"{sql} > '2024-06-01'", epsilon=9)


def test_bounds_that_are_hard_leave_no_group_open(tmp_path):
    data = protected(tmp_path, hard=["max_rows", "bounds.x", "bounds.k", "bounds.d"])
    sql = "SELECT FLOOR(x / 5) AS g, COUNT(*) AS n FROM t GROUP BY g"
    assert rows_of(data, sql) == [(0, 50), (1, 50), (2, 900)]  # the owner's word was wrong, and still no row is lost
    assert (
        "Clamped    g: a row beyond the bounds is impossible, by the word of the owner"
        in data.quote(sql, epsilon=1).explain()
    )
    assert [g for g, _ in rows_of(data, "SELECT k, COUNT(*) AS n FROM t GROUP BY k")] == list(range(10))
    assert rows_of(data, "SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM t GROUP BY m")[0][0] == DAY(2024, 1, 1)


@pytest.mark.parametrize("budget", [dither.pure(10**6), dither.approx(10**6, "1e-6")], ids=str)
def test_booleans_and_bounded_whole_numbers_are_dense_under_every_budget(tmp_path, budget):
    data = protected(tmp_path, budget, complete=["k"])
    for sql, keys in [
        ("SELECT k, COUNT(*) AS n FROM t GROUP BY k", [*range(10)]),
        ("SELECT FLOOR(k) AS g, COUNT(*) AS n FROM t GROUP BY g", [*range(10)]),
        ("SELECT k, COUNT(*) AS n FROM t WHERE k IN (3, 7) GROUP BY k", [3, 7]),
        ("SELECT k, COUNT(*) AS n FROM t WHERE k BETWEEN 2 AND 4 GROUP BY k", [2, 3, 4]),
        ("SELECT ok, COUNT(*) AS n FROM t GROUP BY ok", [False, True]),
        ("SELECT FLOOR(x / 5) * 5 AS g, COUNT(*) AS n FROM t GROUP BY g", [0, 5, 10]),
    ]:
        quote = data.quote(sql, epsilon=100)
        assert quote.offer.choice is None
        assert [next(iter(row.values())) for row in quote.release()] == keys
    assert "Missing    k" not in data.quote("SELECT k, COUNT(*) AS n FROM t GROUP BY k", epsilon=1).explain()
    assert (
        "Missing    ok: a row that has none"
        in data.quote("SELECT ok, COUNT(*) AS n FROM t GROUP BY ok", epsilon=1).explain()
    )


def test_missing_booleans_are_a_key_where_they_are_asked_for(tmp_path):
    data = protected(tmp_path)
    sql = "SELECT CASE WHEN ok IS NULL THEN 'none' WHEN ok THEN 'yes' ELSE 'no' END AS g, COUNT(*) AS n FROM t GROUP BY g"
    assert rows_of(data, sql) == [("no", 333), ("none", 334), ("yes", 333)]
    assert rows_of(data, "SELECT ok IS NULL AS g, COUNT(*) AS n FROM t GROUP BY g") == [(False, 666), (True, 334)]


def test_open_groups_keep_type_and_order(tmp_path):
    data = protected(tmp_path, bounds={"k": (-1, 11)})
    down = data.quote("SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k DESC", epsilon=1).release()
    assert down["k"] == [*range(11, -2, -1)]
    assert down.open_keys == {"k": {"above": [0], "below": [12]}}
    assert str(down.to_arrow().schema.field("k").type) == "int64"
    assert "open groups of k: -1 or less, 11 or more (rows beyond the bounds count there)" in down.note
    assert down.plot("n") is not None
    few = data.quote("SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k LIMIT 1", epsilon=1).release()
    assert few.open_keys == {"k": {"below": [0]}}
    assert "open groups of k: -1 or less (" in few.note  # no group that is not shown


def test_dates_with_a_declared_range(tmp_path):
    data = protected(tmp_path)
    months = rows_of(data, "SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM t GROUP BY m")
    assert [m for m, _ in months] == [DAY(2024, month, 1) for month in range(1, 7)]
    assert sum(n for _, n in months) == 1000
    days = rows_of(data, "SELECT d, COUNT(*) AS n FROM t GROUP BY d")
    assert len(days) == 182
    assert sum(n for _, n in days) == 1000
    asked_for = rows_of(
        data, "SELECT d, COUNT(*) AS n FROM t WHERE d BETWEEN DATE '2024-02-01' AND DATE '2024-02-02' GROUP BY d"
    )
    assert [d for d, _ in asked_for] == [DAY(2024, 2, 1), DAY(2024, 2, 2)]
    data = protected(tmp_path, bounds={"at": ("2024-01-02", "2024-01-04")})
    hours = rows_of(data, "SELECT DATE_TRUNC('day', at) AS day, COUNT(*) AS n FROM t GROUP BY day")
    assert hours == [(MOMENT(2024, 1, 2), 48), (MOMENT(2024, 1, 3), 24), (MOMENT(2024, 1, 4), 928)]


def test_a_batch_agrees_with_its_questions(tmp_path):
    data = protected(tmp_path)
    asked_for = ["SELECT k, COUNT(*) AS n FROM t GROUP BY k", "SELECT k, COUNT(*) AS n FROM t WHERE k IN (3, 7) GROUP BY k"]
    asked_for += ["SELECT FLOOR(x / 5) AS g, COUNT(*) AS n FROM t GROUP BY g", "SELECT COUNT(*) AS n FROM t WHERE k < 3"]
    with dither.testing.seeded(1):
        found = data.quote(asked_for, epsilon=4000).release()
    assert [round(n) for n in found[0]["n"]] == [100] * 10
    assert [round(n) for n in found[1]["n"]] == [100, 100]
    assert [(g, round(n)) for g, n in zip(found[2]["g"], found[2]["n"], strict=True)] == [
        (0, 50),
        (1, 50),
        (2, 900),
    ]
    assert [round(n) for n in found[3]["n"]] == [300]


def test_beside_keys_that_nobody_declared_and_among_the_largest(tmp_path):
    data = protected(tmp_path, dither.approx(10**6, "1e-6"), bounds={"k": (0, 2)}, max_rows=2)
    quote = data.quote("SELECT x, k, COUNT(DISTINCT p) AS n FROM t WHERE x < 3 GROUP BY x, k", epsilon=500)
    with dither.testing.seeded(1):
        found = {(row["x"], row["k"]): row["n"] for row in quote.release()}
    assert {key: n for key, n in found.items() if n > 0} == {(0, 0): 10, (1, 1): 10, (2, 2): 10}
    with dither.testing.seeded(1):
        quote = data.quote("SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 1", epsilon=500)
        (row,) = quote.release()
    assert (row["k"], round(row["n"])) == (2, 800)


def test_the_owner_sees_how_many_dates_lie_beyond_their_bounds(tmp_path):
    data = protected(tmp_path)
    (table,) = data.policy.tables
    found = dict(zip([column.name for column in table.columns], inspect(table, data.sources["t"]).columns, strict=True))
    assert found["d"].clamped == sum(not 100 <= place % 400 <= 281 for place in range(1000))
