"""Shares, quotients and differences of counts and sums are cut to what the same rows can give."""

from __future__ import annotations

import random
from fractions import Fraction
from math import inf, isclose

import duckdb
import pyarrow
import pytest

import dither
from dither.query.answers.derived.extreme_rows import MOST, Addend, extreme_rows
from dither.query.plan.aggregates import CountPersons, CountRows, CountValues, Mean, Sum
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, ColumnValue, Constant
from dither.query.policy.column import Column, Type
from dither.testing import seeded
from tests.seeds import rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

X = ColumnValue(Column("x", Type.INTEGER, Fraction(-2), Fraction(3)))
Y = ColumnValue(Column("y", Type.INTEGER, Fraction(2), Fraction(5)))
C, E = (ColumnValue(Column(name, Type.BOOLEAN)) for name in "ce")


def where(condition: Expression, of: Expression) -> Expression:
    return Case(((condition, of),), None)


ONE = Constant(Fraction(1))
AGGREGATES = {
    "rows": CountRows("rows"),
    "people": CountPersons("people"),
    "people_c": CountPersons("people_c", C),
    "people_e": CountPersons("people_e", E),
    "c": CountValues("c", where(C, ONE)),
    "x": CountValues("x", X),
    "x_c": CountValues("x_c", where(C, X)),
    "sum_x": Sum("sum_x", X),
    "sum_x_c": Sum("sum_x_c", where(C, X)),
    "sum_y": Sum("sum_y", Y),
}


def addend(name: str) -> Addend:
    aggregate = AGGREGATES[name]
    facts = aggregate.of.facts if isinstance(aggregate, Sum) else None
    return Addend(aggregate, *((Fraction(0), Fraction(1)) if facts is None else (facts.lower, facts.upper)))


def totals(rows: list[dict[str, int | None]]) -> dict[str, int]:
    """The aggregates of rows, in Python."""
    x = [row["x"] for row in rows if row["x"] is not None]
    x_c = [row["x"] for row in rows if row["x"] is not None and row["c"]]
    return {
        "rows": len(rows),
        "people": len({row["p"] for row in rows}),
        "people_c": len({row["p"] for row in rows if row["c"]}),
        "people_e": len({row["p"] for row in rows if row["e"]}),
        "c": sum(bool(row["c"]) for row in rows),
        "x": len(x),
        "x_c": len(x_c),
        "sum_x": sum(x),
        "sum_x_c": sum(x_c),
        "sum_y": sum(row["y"] for row in rows if row["y"] is not None),
    }


def test_what_no_listed_row_makes_negative_is_not_negative():
    """Random weights of up to four aggregates, and random rows of up to four people."""
    checked = 0
    for rng in rounds(400, 40, "extreme rows"):
        names = rng.sample(sorted(AGGREGATES), rng.randrange(1, 5))
        listed = extreme_rows({name: addend(name) for name in names})
        for _ in range(20):
            weights = {name: rng.randrange(-5, 6) for name in names}
            if any(sum(weights[name] * row[name] for name in names) < 0 for row in listed):
                continue
            checked += 1
            for _ in range(10):
                rows = [
                    {"p": rng.randrange(4), "c": rng.random() < 0.5, "e": rng.random() < 0.3}
                    | {"x": rng.choice([None, *range(-2, 4)]), "y": rng.choice([None, *range(2, 6)])}
                    for _ in range(rng.randrange(5))
                ]
                found = totals(rows)
                assert sum(weights[name] * found[name] for name in names) >= 0, (weights, rows)
    assert checked > 200


def test_too_many_rows_or_other_aggregates_are_taken_one_by_one():
    columns = [ColumnValue(Column(f"x{at}", Type.INTEGER, Fraction(-1), Fraction(3))) for at in range(9)]
    many = {one.column.name: Addend(Sum(one.column.name, one), Fraction(-1), Fraction(3)) for one in columns}
    assert len(extreme_rows(dict(list(many.items())[:3]))) == 27 <= MOST
    assert len(extreme_rows(many)) == 18  # each alone, more or less
    other = {"rows": addend("rows"), "a": Addend(Mean("a", X), Fraction(0), Fraction(1))}
    assert extreme_rows(other) == [{"rows": 1, "a": 0}, {"rows": 0, "a": 1}]


RANGES = {
    "COUNT(*) - COUNT_IF(c)": (0, inf),
    "COUNT(x) - COUNT(*)": (-inf, 0),
    "COUNT_IF(c) / COUNT(*)": (0, 1),
    "1 - COUNT_IF(c) / COUNT(*)": (0, 1),
    "ROUND(100.0 * SUM(CASE WHEN c THEN 1 ELSE 0 END) / COUNT(*), 1)": (0, 100),
    "COUNT(*) FILTER (WHERE c) * 1.0 / NULLIF(COUNT(*), 0)": (0, 1),
    "COUNT(DISTINCT p) / COUNT(*)": (0, 1),
    "COUNT(DISTINCT CASE WHEN c THEN p END) / COUNT(DISTINCT p)": (0, 1),
    "COUNT(*) - COUNT(DISTINCT p)": (0, inf),
    "SUM(x) / COUNT(x)": (5, 100),
    "SUM(x) / COUNT(*)": (0, 100),
    "SUM(y) / COUNT(*)": (-50, 20),
    "SUM(x) FILTER (WHERE c) / SUM(x)": (0, 1),
    "SUM(x) / SUM(SUM(x)) OVER ()": (0, 1),
    "SUM(x) - 5 * COUNT(x)": (0, inf),
    "100 * COUNT(x) - SUM(x)": (0, inf),
    "COUNT(*) - COUNT(x) + 7": (7, inf),
    "1.0 / COUNT(*)": (0, inf),
    "COUNT(*) / COUNT(x)": (1, inf),
    "SUM(y) - SUM(x)": (-inf, inf),
}


@pytest.fixture(scope="module")
def rows():
    rng = random.Random(7)
    people = [at // 2 for at in range(300)]
    return pyarrow.table(
        {
            "p": people,
            "k": [rng.choice("AAAB") for _ in people],
            "x": [None if rng.random() < 0.3 else rng.randrange(20, 401) / 4 for _ in people],
            "y": [rng.randrange(-50, 21) for _ in people],
            "c": [rng.random() < 0.2 for _ in people],
        }
    )


@pytest.fixture
def data(tmp_path, rows):
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.approx(10**9, "1e-6"))
    bounds, keys = {"x": (5, 100), "y": (-50, 20)}, {"k": ["A", "B", "C"]}
    return dither.protect(rows, name="t", person="p", max_rows=2, bounds=bounds, keys=keys, ledger=ledger)


@pytest.mark.parametrize("expression", RANGES)
def test_combinations_stay_within_what_is_possible(data, rows, expression):
    """Nearly without noise it is what DuckDB says; with much noise, no number and no end is impossible."""
    sql = f"SELECT k, {expression} AS a FROM t GROUP BY k"
    least, most = RANGES[expression]
    with duckdb.connect() as engine:
        engine.register("t", rows)
        truths = dict(engine.execute(f"{sql} HAVING k IN ('A', 'B')").fetchall())
    with seeded(1):
        exact = data.quote(sql, epsilon=10**8).release()
    if "OVER" not in expression:
        for key, truth in truths.items():
            at = exact["k"].index(key)
            assert isclose(exact["a"][at], truth, rel_tol=1e-3, abs_tol=1e-2), key
            assert exact["a_low"][at] - 1e-2 <= truth <= exact["a_high"][at] + 1e-2
    cut = 0
    for seed in range(6):
        with seeded(seed):
            answer = data.quote(sql, epsilon=f"0.0{seed + 3}").release()
        for row, (value, low, high) in enumerate(zip(*(answer["a" + end] for end in ("", "_low", "_high")), strict=True)):
            low, high = -inf if low is None else low, inf if high is None else high
            assert least <= low <= high <= most
            cut += (low, high) != (-inf, inf) and (low == least or high == most)
            assert (value is None) == ((low, high) == (least, most)) == (row in answer.uninformative.get("a", []))
            assert value is None or low <= value <= high
    assert cut or (least, most) == (-inf, inf)


def test_an_impossible_quotient_is_moved_into_its_interval(data):
    """A count below zero gives a quotient below zero, and what it can be is large."""
    for seed in range(20):
        with seeded(seed):
            answer = data.quote("SELECT k, 1.0 / COUNT(*) AS a FROM t GROUP BY k", epsilon=f"0.1{seed:02}").release()
        assert all(low > 0 for low in answer["a_low"])
        assert all(value is None or value > 0 for value in answer["a"])


def test_totals_that_add_up_are_left_as_they_are_and_their_quotients_are_cut(data):
    sql = "SELECT k, COUNT(*) - COUNT(x) AS d, COUNT(x) / COUNT(*) AS r FROM t GROUP BY ROLLUP (k)"
    below = 0
    for seed in range(8):
        with seeded(seed):
            answer = data.quote(sql, epsilon=f"0.03{seed}").release()
        below += min(answer["d"]) < 0
        assert all(value is None or 0 <= value <= 1 for name in ("r", "r_low", "r_high") for value in answer[name])
    assert below


# -- windows over what is unknown ------------------------------------------------------------------------------------------

PEOPLE = {"A": 3000, "B": 2000, "C": 3, "D": 0}
RATIO = "SUM(x) / COUNT(*)"


@pytest.fixture
def groups(tmp_path):
    keys = [key for key, people in PEOPLE.items() for _ in range(people)]
    rows = pyarrow.table({"p": list(range(len(keys))), "k": keys, "x": [at % 101 for at in range(len(keys))]})
    ledger = dither.Ledger.create(tmp_path / "g.ledger", budget=dither.approx(10**6, "1e-6"))
    return dither.protect(
        rows, name="t", person="p", max_rows=1, bounds={"x": (0, 100)}, keys={"k": list(PEOPLE)}, ledger=ledger
    )


@pytest.mark.parametrize("number", [RATIO, "AVG(x)"])
def test_what_is_unknown_has_no_place_among_released_numbers(groups, number):
    sql = (
        f"SELECT k, {number} AS a, RANK() OVER (ORDER BY {number} DESC) AS place, "
        f"MAX({number}) OVER (PARTITION BY k) AS own, "
        f"COUNT({number}) OVER () AS known, LAG(COUNT(*)) OVER (ORDER BY {number}) AS before, "
        f"LAG({number}) OVER (ORDER BY k) AS last FROM t GROUP BY k"
    )
    several = 0
    for seed in range(6):
        with seeded(seed):
            answer = groups.quote(sql, epsilon=f"0.5{seed}").release()
        missing = [row for row in range(4) if answer["a"][row] is None]
        several += len(missing) > 1
        assert answer.uninformative.get("a", []) == missing
        for name in ("place", "own"):
            assert [row for row in range(4) if answer[name][row] is None] == missing
            assert answer.uninformative.get(name, []) == missing
        assert set(answer["known"]) == {4 - len(missing)}
        assert set(missing) <= set(answer.uninformative.get("before", []))
        assert set(answer.uninformative.get("last", [])) == {row + 1 for row in missing if row < 3}
        places = [place for place in answer["place"] if place is not None]
        assert max(places) <= 4 - len(missing)  # two at a bound have the same place
        assert all(value is None or value >= 0 for value in answer["before"])  # a count, though it has no interval
        with seeded(seed):
            first = f"SELECT k, {number} AS a FROM t GROUP BY k QUALIFY ROW_NUMBER() OVER (ORDER BY {number} DESC) = 1"
            picked = groups.quote(first, epsilon=f"0.5{seed}").release()
        assert len(picked) == 1
        assert picked["a"][0] is not None
    assert several


def test_numbers_without_intervals_are_possible(groups):
    """Of two intervals that were released nothing is computed; the number is cut all the same."""
    for seed in range(5):
        with seeded(seed):
            answer = groups.quote("SELECT k, MEDIAN(x) * COUNT(*) AS a FROM t GROUP BY k", epsilon=f"0.2{seed}").release()
        assert "a_low" not in answer.columns
        assert all(value is None or value >= 0 for value in answer["a"])
