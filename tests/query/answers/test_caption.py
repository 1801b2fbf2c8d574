"""Words around the table of an answer: no word of the truth stands over a number that has noise."""

from __future__ import annotations

import pyarrow
import pytest

import dither
from dither.query.answers.caption import column_heads, statement_line, uninformative_words
from dither.query.statistics.statement import Statement
from dither.testing import seeded

COLUMNS = ["ward", "x", "x_low", "x_high"]


@pytest.mark.parametrize("said", [one.value for one in Statement])
def test_over_a_number_with_an_interval_stands_nothing_but_its_name(said):
    heads = column_heads({"x": said}, COLUMNS)
    assert "x" not in heads
    assert set(heads) in ({"x_low", "x_high"}, set())


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ("truth", ["truth from", "to"]),
        ("at least", ["truth at least", "counted at most"]),
        ("of counted rows", ["counted from", "to"]),
        ("of clamped values", ["clamped from", "to"]),
    ],
)
def test_the_ends_say_what_they_hold(said, ends):
    assert list(column_heads({"x": said}, COLUMNS).values()) == ends


@pytest.mark.parametrize(
    ("said", "head"), [("truth", "no interval"), ("at least", "no interval"), ("chosen", "chosen"), ("of counted rows",) * 2]
)
def test_a_number_without_an_interval_is_not_called_the_truth(said, head):
    assert column_heads({"x": said}, ["ward", "x"]) == {"x": head}


def test_a_column_that_is_not_shown_has_no_head():
    assert column_heads({"x": "truth", "y": "chosen"}, ["x", "x_low", "x_high"]) == {"x_low": "truth from", "x_high": "to"}


def test_the_line_above_the_table_names_the_columns_first():
    assert statement_line("truth", ["n", "x"], "of all rows") == "n, x: estimate of the truth (of all rows)"
    assert statement_line("chosen", ["m"], "by counts") == "m: chosen (by counts)"


@pytest.mark.parametrize(
    ("wards", "note"),
    [
        (1, "about 6 rows in one group"),
        (2, "about 6 rows in one group (L2 norm over groups)"),
        (4, "about 6 rows in one group, or 3 in each of 4 (L2 norm over groups)"),
    ],
)
def test_a_limit_over_several_groups_is_an_l2_norm_with_an_example(tmp_path, wards, note):
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.approx(9, "1e-6"))
    keys = {"ward": [f"w{number}" for number in range(wards)]}
    rows = pyarrow.table({"patient": [1, 1, 2], "ward": ["w0", "w0", "w0"]})
    data = dither.protect(rows, name="visits", person="patient", max_rows=6, keys=keys, ledger=ledger)
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    answer = data.quote(sql, epsilon=1, bounding="clip").release()
    assert answer.note == f"limit for one person: {note}"


def test_a_number_whose_interval_says_nothing_is_missing_with_the_reason():
    columns = {"a": [None, 3.0], "a_low": [0.0, 2.0], "a_high": [100.0, 4.0], "r": [None, None], "r_low": [None, None]}
    assert uninformative_words({"a": [0], "r": [0, 1]}, columns, [], ["r"]) == [
        "a is missing (–) in 1 of 2 rows: too few rows for this ε; its interval is all that is possible (0 to 100)",
        "r is missing (–): too few rows for this ε; its interval, or that of a number in it, is all that is possible",
    ]
    columns = {"m": [None, None], "m_low": [0, None], "m_high": [1, 9]}
    assert uninformative_words({"m": [0, 1]}, columns, ["m"], []) == [
        "m is missing (–): too few rows for this ε, or values at both bounds; its interval is all that is possible"
    ]
    assert uninformative_words({"m": [1]}, columns, [], [])[0].endswith("(no end to 9)")


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_an_answer_about_few_people_says_below_its_table_that_it_says_nothing(tmp_path):
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(10**7))
    rows = pyarrow.table({"age": [31, 44, 62] * 3})
    data = dither.protect(rows, name="people", person="each row", bounds={"age": (0, 100)}, ledger=ledger)
    sql = "SELECT AVG(age) AS a, MEDIAN(age) AS m, COUNT(*) AS n FROM people"
    with seeded(1):
        answer = data.quote(sql, epsilon="0.001").release()
    possible = "its interval is all that is possible (0 to 100)"
    assert answer.note.splitlines() == [
        f"a is missing (–): too few rows for this ε; {possible}",
        f"m is missing (–): too few rows for this ε, or values at both bounds; {possible}",
    ]
    assert " ".join(str(answer).split()).endswith("all that is possible (0 to 100)")
    assert "too few rows for this ε" in answer._repr_html_()
    assert dither.Answer.from_json(answer.to_json()).note == answer.note
    assert data.quote(sql, epsilon=10**6).release().note == ""
