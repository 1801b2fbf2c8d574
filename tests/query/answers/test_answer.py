"""Answers as tables: every declared key, sorted, with bars; in all forms."""

from __future__ import annotations

import dataclasses
import gc
import importlib
import json
import pickle
import re
import types

import pandas
import pyarrow
import pytest

import dither
from dither.errors import DataError, QuestionError
from tests.query.clinics import clinic, visits

BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


@pytest.fixture
def answer(tmp_path):
    return clinic(tmp_path).quote(BY_WARD, epsilon=5).release()


def test_rows_and_columns(answer):
    assert list(answer.columns) == ["ward", "n", "n_low", "n_high", "cost", "cost_low", "cost_high"]
    assert answer["ward"] == ["A", "B", "C"]  # C is declared; nobody is there
    assert len(answer) == 3
    for row in answer.rows():
        assert row["n_low"] <= row["n"] <= row["n_high"]
        assert row["n_low"] >= 0
        assert 0 <= row["cost_low"] <= row["cost_high"] <= 400
        assert row["cost"] is None or row["cost_low"] <= row["cost"] <= row["cost_high"]
    unknown = answer.uninformative.get("cost", [])  # an average of nobody, nearly always
    assert [row for row in range(3) if answer["cost"][row] is None] == unknown
    for row in answer.rows():
        assert isinstance(row["n"], int)
    assert [row["n"] for row in answer] == answer["n"]
    with pytest.raises(DataError, match="no such column"):
        answer["m"]
    with pytest.raises(DataError, match="not one number"):
        answer.scalar()


def test_forms(answer):
    assert answer.to_arrow().column_names == list(answer.columns)
    assert isinstance(answer.to_pandas(), pandas.DataFrame)
    assert isinstance(answer.frame(), pyarrow.Table)


@pytest.mark.full("polars")
def test_a_frame_of_polars(answer):
    import polars

    assert answer.to_polars().equals(polars.DataFrame(answer.columns))


def frame_of(library):
    if library == "pandas":
        return visits().to_pandas().drop(columns="day")  # pandas keeps dates as objects
    return importlib.import_module(library).DataFrame(visits())


@pytest.mark.parametrize("library", ["pandas", pytest.param("polars", marks=pytest.mark.full("polars"))])
def test_the_kind_that_was_given_comes_back(tmp_path, library):
    given = frame_of(library)
    answer = clinic(tmp_path, given).quote(BY_WARD, epsilon=10**6).release()
    assert isinstance(answer.frame(), type(given))
    assert answer["n"] == [34, 26, 0]


def test_having_order_and_limit_are_on_released_values(tmp_path):
    data = clinic(tmp_path)

    def ask(rest):
        return data.quote(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward {rest}", epsilon=10**6).release()

    assert ask("ORDER BY n")["ward"] == ["C", "B", "A"]
    assert ask("ORDER BY n DESC LIMIT 2")["ward"] == ["A", "B"]
    assert ask("HAVING n > 10 AND n < 30")["ward"] == ["B"]
    assert ask("HAVING n > 1000")["ward"] == []
    assert str(ask("HAVING n > 1000"))
    assert ask("LIMIT 0")["n"] == []
    assert ask("ORDER BY ward DESC")["ward"] == ["C", "B", "A"]


def test_keys_of_all_kinds(tmp_path):
    data = clinic(tmp_path)
    sql = "SELECT EXTRACT(month FROM day) AS month, CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS who, COUNT(*) AS n "
    answer = data.quote(sql + "FROM visits GROUP BY month, who", epsilon=10**6).release()
    assert len(answer) == 24
    assert [row["n"] for row in answer if row["month"] == 1] == [3, 2]
    assert sum(answer["n"]) == 60
    grouped = data.quote("SELECT COUNT(*) AS n FROM visits GROUP BY ward", epsilon=10**6).release()
    assert next(iter(grouped.columns)) == "ward"  # shown also if it was not selected: a number needs its key


def test_bars_have_names_of_their_own(tmp_path):
    data = clinic(tmp_path)
    for sql in (
        "SELECT COUNT(*) AS n, SUM(age) AS n_low FROM visits",
        "SELECT ward AS n_high, COUNT(*) AS n FROM visits GROUP BY ward",
    ):
        with pytest.raises(QuestionError, match="would have that name"):
            data.quote(sql, epsilon=1)


def test_text_and_html(answer):
    lines = str(answer).splitlines()
    assert lines[0].startswith("n: estimate of what was counted, which is at most the truth (")
    (names,) = [line for line in lines if line.split() == list(answer.columns)]
    below = lines[lines.index(names) + 1]
    assert below.split() == ["truth", "at", "least", "counted", "at", "most", "counted", "from", "to"]
    assert below.index("truth at least") + len("truth at least") == names.index("n_low") + len("n_low")
    caption = str(answer).partition("\ncharged ")[2]
    assert "95%" in caption
    assert "limit for one person" in caption
    html = answer._repr_html_()
    assert html.count("<tr>") == 4
    assert html.count("<svg") == 6 - len(answer.uninformative.get("cost", []))
    assert ">n</th>" in html  # over the number stands its name alone
    assert "truth at least</small></th>" in html.partition(">n_low<br>")[2]
    assert answer.receipt.name in html


def test_html_escapes_what_the_policy_and_the_question_say(tmp_path):
    data = clinic(tmp_path, keys={"ward": ["<script>alert(1)</script>", "A"]})
    answer = data.quote('SELECT ward AS "<b>", COUNT(*) AS "n<i>" FROM visits GROUP BY ward', epsilon=1).release()
    assert not re.search("<script|<b>|<i>", answer._repr_html_())


def test_plot(answer):
    chart = answer.plot("cost")
    assert repr(chart) == "Chart('cost by ward, with 95% intervals')"
    assert chart._repr_svg_() == chart.svg == answer.svg("cost")
    assert answer.plot().svg == answer.svg()
    with pytest.raises(DataError, match="no aggregate"):
        answer.plot("ward")


def test_explain_says_what_the_bars_hold(answer):
    words = answer.explain()
    for part in ("hold the noise", "do not hold what clamping", "charged", "Clamped"):
        assert part in words


def test_long_answers_are_cut_on_the_screen(tmp_path):
    data = clinic(tmp_path, keys={"ward": [f"{place:03}" for place in range(120)]})
    answer = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1).release()
    assert "70 rows more" in str(answer)
    assert "70 rows more" in answer._repr_html_()
    assert len(answer.rows()) == 120


def test_answers_are_frozen(answer):
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.columns = {}


KINDS_OF_ANSWERS = [
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS a, STDDEV(cost) AS d FROM visits GROUP BY ward",
    "SELECT MEDIAN(cost) AS m, COUNT(DISTINCT ward) AS k FROM visits",
    "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits "
    "WHERE day >= DATE '2024-01-01' AND day < DATE '2024-04-01' GROUP BY m",
    "SELECT age > 40 AS old, SUM(cost) AS s FROM visits GROUP BY old",
    "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS so_far FROM visits GROUP BY ward",
]


@pytest.mark.parametrize("sql", KINDS_OF_ANSWERS)
def test_an_answer_pickles_and_goes_through_json_and_prints_the_same(tmp_path, sql):
    answer = clinic(tmp_path).quote(sql, epsilon=1).release()
    for again in (pickle.loads(pickle.dumps(answer)), dither.Answer.from_json(answer.to_json())):
        assert str(again) == str(answer)
        assert again.rows() == answer.rows()
        assert again.explain() == answer.explain()
        assert again.to_html() == answer.to_html()
        assert again.to_arrow().equals(answer.to_arrow())
        assert again.guarantee == answer.guarantee
        assert again.to_json() == answer.to_json()
        assert again.released == answer.released


def test_answers_of_batches_pickle(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(200, "1e-6"))
    answers = data.quote(
        ["SELECT COUNT(*) AS n FROM visits", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"], epsilon=1
    )
    found = answers.release()
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.explain() == found.explain()
    assert again.to_html() == found.to_html()


def test_no_answer_reaches_the_rows(tmp_path):
    """Nothing that hangs on an answer is a dataset, a ledger, a source, a frame or a connection."""
    data = clinic(tmp_path)
    batch = data.quote(["SELECT COUNT(*) AS n FROM visits", "SELECT SUM(cost) AS c FROM visits"], epsilon=1).release()
    for answer in (data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1).release(), batch):
        reached, todo = {}, [answer]
        while todo:
            one = todo.pop()
            if id(one) in reached or isinstance(one, (type, types.ModuleType, types.FunctionType, str, int, float)):
                continue
            reached[id(one)] = one
            todo += gc.get_referents(one)
        names = {f"{type(one).__module__}.{type(one).__name__}" for one in reached.values()}
        for wrong in ("pyarrow", "duckdb", "Ledger", "Dataset", "Holdings", "Policy", "Frame", "Quote", "Database"):
            assert not any(wrong in name for name in names), (wrong, names)


def test_what_is_no_answer_is_refused(answer):
    for text in ("", "{}", '{"answer": 2}', '{"answer": 1}', "[]", "[" * 100_000):
        with pytest.raises(DataError):
            dither.Answer.from_json(text)
    whole = json.loads(answer.to_json())
    for part in (
        {"confidence": "1/0"},
        {"columns": {**whole["columns"], "n": [1]}},
        {"columns": {"n": 5}},
        {"columns": {}},
        {"columns": {**whole["columns"], "n": ["a text", *whole["columns"]["n"][1:]]}},
        {"kinds": {**whole["kinds"], "n": "nothing"}},
    ):
        with pytest.raises(DataError):
            dither.Answer.from_json(json.dumps({**whole, **part}))
