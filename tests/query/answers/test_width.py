"""What is printed above and below a table fits a terminal of 80 columns."""

from __future__ import annotations

import dither
from dither.terminal import wrapped
from tests.query.clinics import clinic, visits


def test_lines_around_a_table_are_no_wider_than_a_terminal(tmp_path):
    answer = (
        clinic(tmp_path, visits(), budget=dither.approx(3, "1e-6"))
        .quote("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        .release()
    )
    assert max(map(len, answer.says.splitlines())) > 80
    assert max(map(len, str(answer).splitlines())) <= 80
    assert " ".join(answer.says.split()) in " ".join(str(answer).split())


def test_words_that_are_longer_are_cut():
    assert wrapped("a" * 90 + " b") == "a" * 78 + "\n  " + "a" * 12 + " b"
    assert wrapped("") == ""
    assert wrapped("one\ntwo") == "one\ntwo"
