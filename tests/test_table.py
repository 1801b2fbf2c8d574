"""Plain tables: the letters themselves."""

from __future__ import annotations

from dither.table import table


def test_columns_are_as_wide_as_their_longest_cell():
    rows = [["ward", "n", "note"], ["A", "12,345", ""], ["long ward", "7", "few"]]
    assert table(rows, left=(0, 2), rule=True) == [
        "ward            n  note",
        "---------  ------  ----",
        "A          12,345",
        "long ward       7  few",
    ]
    assert table(rows, left=()) == ["     ward       n  note", "        A  12,345", "long ward       7   few"]


def test_a_table_of_a_head_alone_has_its_rule():
    assert table([["ward", "n"]], rule=True) == ["ward  n", "----  -"]
