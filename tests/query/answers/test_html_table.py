"""The table of an answer in HTML: texts on the left, numbers on the right, and bars that have a scale."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from dither.query.answers.table import html_table, scale_words

COLUMNS = {
    "ward": ["a", "b"],
    "n": [1204, 3900],
    "n_low": [1180, 3800],
    "n_high": [1228, 4000],
    "m": ["flu", "cold"],
}


def cells(columns, tag):
    table = ElementTree.fromstring(
        f"<div>{html_table(columns, ['ward'], ['n'], 'note', {}, {})}</div>".replace("<br>", "<br/>")
    )
    return table.findall(f".//{tag}")


@pytest.mark.parametrize("tag", ["th", "td"])
def test_texts_are_on_the_left_and_numbers_on_the_right(tag):
    sides = ["left", "right", "right", "right", "left", "left"]  # the last has the bars
    found = cells(COLUMNS, tag)
    assert [cell.get("style") for cell in found[:6]] == [f"text-align: {side}" for side in sides]
    assert all(f"text-align: {cell.get('align')}" == cell.get("style") for cell in found)


def test_over_the_bars_stand_the_ends_of_their_scale():
    *_, over = cells(COLUMNS, "th")
    assert "".join(over.itertext()) == "n1,180 … 4,000"
    drawn = html_table(COLUMNS, ["ward"], ["n"], "", {}, {})
    lines = [[float(end) for end in ends] for ends in re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)"', drawn)]
    assert min(first for first, _ in lines) == 10  # where the scale begins and ends
    assert max(last for _, last in lines) == 130


def test_the_scale_is_that_of_the_rows_that_are_shown():
    many = {"n": [1] * 50 + [10**6], "n_low": [0] * 50 + [10**6], "n_high": [2] * 50 + [10**6]}
    assert ">0 … 2</small>" in html_table(many, [], ["n"], "", {}, {})


@pytest.mark.parametrize(
    ("lows", "middles", "highs", "words"),
    [
        ([273.71, 10.0], [300.0, 20.0], [322.44, 30.06], "10.0 … 322.5"),
        ([None], [5], [None], "5 … 5"),
        ([-3], [None], [9], "-3 … 9"),
        ([], [], [], ""),
        ([None], [None], [None], ""),
    ],
)
def test_the_ends_of_a_scale_are_rounded_outwards(lows, middles, highs, words):
    assert scale_words(lows, middles, highs) == words
