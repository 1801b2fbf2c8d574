"""Answers about dates: durations are those of plain SQL, statements say what is clamped, and refusals cost nothing."""

from __future__ import annotations

import datetime
import random

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from tests.query.clinics import ledger

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
DAY, MOMENT = datetime.date, datetime.datetime
YEAR = (DAY(2024, 1, 1), DAY(2024, 12, 31))
NAMES = ("began", "ended", "booked")


def trips(count: int) -> pyarrow.Table:
    """Trips of a year, some without an end, some at its edges."""
    rng = random.Random(1)
    began = [MOMENT(2024, 1, 1) + datetime.timedelta(microseconds=rng.randrange(31_000_000 * 10**6)) for _ in range(count)]
    began[:2] = [MOMENT(2024, 1, 1), MOMENT(2024, 12, 31, 23)]
    ended = [rng.choice([None, at + datetime.timedelta(seconds=rng.randrange(7000))]) for at in began]
    ended[1] = MOMENT(2024, 12, 31, 23, 59, 59, 999999)
    booked = [rng.choice([None, at.date(), DAY(2024, 1, 1)]) for at in began]
    return pyarrow.table({"rider": range(count), "began": began, "ended": ended, "booked": booked})


def protected(folder, table, **facts):
    stated = {"max_rows": 1, "hard": ["max_rows", *(f"bounds.{name}" for name in NAMES)]}
    stated |= {"bounds": dict.fromkeys(NAMES, YEAR), "ledger": ledger(folder, dither.pure(10**30))}
    return dither.protect(table, name="trips", person="rider", **(stated | facts))


@pytest.mark.parametrize(
    "asked",
    [
        *("AVG(DATE_DIFF('minute', began, ended))", "SUM(DATE_DIFF('second', began, ended))", "SUM(began::DATE - booked)"),
        *("AVG(LEAST(GREATEST(EXTRACT(epoch FROM ended - began), 0), 7200))", "SUM(DATE_DIFF('month', booked, began))"),
        *("AVG(DATE_DIFF('day', booked, began + INTERVAL '1 month'))", "SUM(EXTRACT(isodow FROM began))"),
        *("COUNT(*) FROM trips WHERE ended - began > INTERVAL '90 minutes' --", "AVG(EXTRACT(doy FROM booked))"),
        *("COUNT(*) FROM trips WHERE booked < TIMESTAMP '2024-05-01 12:00:00' AND began >= DATE '2024-02-01' --",),
    ],
)
def test_durations_are_those_of_plain_sql(tmp_path, asked):
    table = trips(300)
    answer = protected(tmp_path, table).quote(f"SELECT {asked} AS x FROM trips", epsilon=10**12).release()
    with duckdb.connect() as engine:
        engine.register("trips", table)
        ((truth,),) = engine.execute(f"SELECT {asked} AS x FROM trips").fetchall()
    (name,) = [column for column in answer.columns if not column.endswith(("_low", "_high"))]
    assert answer[name][0] == pytest.approx(float(truth), abs=0.01)
    assert answer[f"{name}_low"][0] - 0.01 <= float(truth) <= answer[f"{name}_high"][0] + 0.01


def test_medians_of_durations(tmp_path):
    sql = "SELECT MEDIAN(LEAST(GREATEST(DATE_DIFF('second', began, ended), 0), 7200)) AS x FROM trips"
    table = trips(2000)
    answer = protected(tmp_path, table).quote(sql, epsilon=10**6).release()
    with duckdb.connect() as engine:
        engine.register("trips", table)
        ((truth,),) = engine.execute(sql).fetchall()
    assert answer["x"][0] == pytest.approx(truth, abs=30)


def test_statements_say_whether_durations_may_be_clamped(tmp_path):
    days = "SELECT SUM(DATE_DIFF('day', booked, began)) AS x FROM trips"
    hard = protected(tmp_path, trips(30))
    assert hard.quote(days, epsilon=1).release().statements == {"x": "truth"}
    soft = protected(tmp_path, trips(30), hard=["max_rows", "bounds.booked"])
    assert soft.quote(days, epsilon=1).release().statements == {"x": "of clamped values"}
    part = "SELECT SUM(EXTRACT(week FROM began)) AS x FROM trips"
    assert soft.quote(part, epsilon=1).release().statements == {"x": "truth"}


def test_differences_are_keys_and_rows_beyond_the_bounds_are_at_the_edges(tmp_path):
    days = [DAY(2024, 1, 1 + place // 4) for place in range(40)]
    table = pyarrow.table({"rider": range(40), "a": [DAY(2024, 1, 1)] * 40, "b": days})
    bounds = {"a": (DAY(2024, 1, 1), DAY(2024, 1, 2)), "b": (DAY(2024, 1, 1), DAY(2024, 1, 4))}
    data = protected(tmp_path, table, bounds=bounds, hard=["max_rows"])
    with dither.testing.seeded(1):
        answer = data.quote("SELECT b - a AS days, COUNT(*) AS n FROM trips GROUP BY days", epsilon=1000).release()
    assert [*zip(answer["days"], answer["n"], strict=True)] == [(-1, 0), (0, 4), (1, 4), (2, 4), (3, 28)]


def test_refusals_cost_nothing(tmp_path):
    data = protected(tmp_path, trips(3), bounds={}, hard=["max_rows"])
    before = str(data.ledger.remaining())
    for sql, why in [
        ("SELECT AVG(ended - began) FROM trips", "an interval, and no number"),
        ("SELECT AVG(DATE_DIFF('day', began, ended)) FROM trips", "no bounds"),
        ("SELECT COUNT(*) FROM trips GROUP BY began - ended", "an interval, and no number"),
        ("SELECT COUNT(*) FROM trips GROUP BY DATE_DIFF('day', began, ended)", "not known beforehand"),
        ("SELECT COUNT(*) FROM trips GROUP BY CAST(began AS DATE)", "not known beforehand"),
    ]:
        with pytest.raises(QuestionError, match=why):
            data.quote(sql, epsilon=1)
    assert str(data.ledger.remaining()) == before
