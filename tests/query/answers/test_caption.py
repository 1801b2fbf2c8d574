"""Words around the table of an answer: no word of the truth stands over a number that has noise."""

from __future__ import annotations

import pytest

from dither.query.answers.caption import column_heads, statement_line
from dither.query.statistics.statement import Statement

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
