"""A condition with a value that is no declared key: a quote says so before the price, and charges nothing for the hint."""

from __future__ import annotations

import pyarrow
import pytest

import dither

WARDS = ["cardiology", "maternity", "oncology", "paediatrics", "surgery"]
NAMED = "(cardiology, maternity, oncology, paediatrics, and 1 more)"


@pytest.fixture
def data(tmp_path):
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(100))
    rows = pyarrow.table({"ward": ["surgery", "dental"], "floor": [1, 7], "town": ["A", "B"]})
    keys = {"ward": WARDS, "floor": [1, 2, 3]}
    return dither.protect(rows, name="visits", person="each row", keys=keys, ledger=ledger)


def told(data, where):
    quote = data.quote(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", epsilon=1)
    return [line.removeprefix("Not a key  ") for line in quote.explain().splitlines() if line.startswith("Not a key")]


@pytest.mark.parametrize("where", ["ward = 'Surgery'", "'Surgery' = ward", "ward <> 'Surgery'", "NOT (ward IN ('Surgery'))"])
def test_a_slip_is_told_with_the_key_that_may_be_meant(data, where):
    why = "the price is the same if no row has it"
    assert told(data, where) == [f"'Surgery' is not among the declared keys of ward {NAMED}: {why}. Did you mean 'surgery'?"]


@pytest.mark.parametrize(
    ("where", "meant"),
    [("ward = ' oncology'", "oncology"), ("ward = 'Onkologie'", "oncology"), ("ward = 'dental'", None), ("floor = 7", None)],
)
def test_the_nearest_key(data, where, meant):
    (line,) = told(data, where)
    assert line.endswith(f". Did you mean {meant!r}?" if meant else "the price is the same if no row has it")


@pytest.mark.parametrize(
    "where",
    ["ward = 'surgery'", "ward IN ('surgery', 'oncology')", "floor = 2", "town = 'X'", "LOWER(ward) = 'x'"],
)
def test_nothing_is_said_of_declared_keys_nor_of_columns_without_any(data, where):
    assert told(data, where) == []


def test_conditions_inside_of_a_question(data):
    sql = (
        "SELECT COUNT(CASE WHEN ward = 'Oncology' THEN 1 END) AS n FROM (SELECT * FROM visits WHERE ward IN ('x', 'x')) AS q"
    )
    lines = [line for line in data.quote(sql, epsilon=1).explain().splitlines() if line.startswith("Not a key")]
    assert [line.split("'")[1] for line in lines] == ["x", "Oncology"]


def test_of_a_long_list_the_first_are_told(data):
    several = ", ".join(f"'k{place}'" for place in range(1000))
    lines = told(data, f"ward IN ({several})")
    assert len(lines) == 5
    assert lines[-1] == "nor are 996 more values of the question"


def test_it_stands_before_the_price_and_the_question_is_answered(data):
    quote = data.quote("SELECT COUNT(*) AS n FROM visits WHERE ward = 'dental'", epsilon=10)
    labels = [line.split("  ")[0] for line in quote.explain().splitlines()]
    assert labels.index("Not a key") < labels.index("Price")
    answer = quote.release()
    assert answer["n_low"][0] <= answer["n"][0]
    assert "Not a key" in answer.explain()


def test_a_batch_tells_it_of_the_question(data):
    batch = data.quote(["SELECT COUNT(*) AS n FROM visits WHERE ward = 'Surgery'"], epsilon=1)
    assert "       'Surgery' is not among the declared keys of ward" in batch.explain()
