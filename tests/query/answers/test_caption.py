"""Words around the table of an answer: no word of the truth stands over a number that has noise."""

from __future__ import annotations

from fractions import Fraction

import pyarrow
import pytest

import dither
from dither.query.answers.caption import column_heads, statement_line, wide_words
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


MORE = "more ε or larger groups would"
NOTHING = "the interval of a is as wide as its bounds (0 to 100)"


@pytest.mark.parametrize(
    ("lows", "highs", "told"),
    [
        ([0.0], [100.0], [f"{NOTHING}: this answer says nothing about it; more ε or larger groups would"]),
        ([0, 0], [100, 99.9], [f"{NOTHING} in 1 of 2 rows: these rows say nothing about it; more ε or larger groups would"]),
        (
            [None, 3],
            [100, None],
            [f"{NOTHING} in 1 of 2 rows: these rows say nothing about it; more ε or larger groups would"],
        ),
        ([0.1], [100.0], []),
        ([], [], []),
    ],
)
def test_an_interval_as_wide_as_the_bounds_says_nothing(lows, highs, told):
    columns = {"a": [50.0] * len(lows), "a_low": lows, "a_high": highs}
    assert wide_words({"a": (Fraction(0), Fraction(100))}, columns) == told


def test_bounds_that_no_float_is_equal_to():
    columns = {"a": [0.2], "a_low": [0.1], "a_high": [0.7]}
    assert wide_words({"a": (Fraction(1, 10), Fraction(7, 10))}, columns)
    assert not wide_words({"b": (Fraction(1, 10), Fraction(7, 10))}, columns)


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_an_answer_about_few_people_says_below_its_table_that_it_says_nothing(tmp_path):
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(10**7))
    rows = pyarrow.table({"age": [31, 44, 62] * 3})
    data = dither.protect(rows, name="people", person="each row", bounds={"age": (0, 100)}, ledger=ledger)
    sql = "SELECT AVG(age) AS a, MEDIAN(age) AS m, COUNT(*) AS n FROM people"
    with seeded(1):
        answer = data.quote(sql, epsilon="0.001").release()
    assert answer.note.splitlines() == [
        f"the interval of a is as wide as its bounds (0 to 100): this answer says nothing about it; {MORE}",
        "the interval of m is as wide as its bounds (0 to 100): it leaves open every value",  # so it may without noise
    ]
    assert " ".join(str(answer).split()).endswith("leaves open every value")
    assert "the interval of a is as wide" in answer._repr_html_()
    assert dither.Answer.from_json(answer.to_json()).note == answer.note
    assert data.quote(sql, epsilon=10**6).release().note == ""
