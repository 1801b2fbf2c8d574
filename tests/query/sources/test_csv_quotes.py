"""Quotes in order: against a reading by hand, on all short files."""

from __future__ import annotations

import csv
import io
import itertools

import pytest

from dither.query.sources import csv_quotes as quoting
from dither.query.sources.csv_quotes import misplaced_quote


def in_order(text: str) -> bool:
    """By hand, one sign at a time: outside, inside, or just after a quote that may close a cell."""
    state, start = "outside", True
    for sign in text:
        if state == "outside":
            if sign == '"':
                if not start:
                    return False
                state = "inside"
        elif state == "inside":
            if sign == '"':
                state = "closed"
        elif sign == '"':
            state = "inside"
        elif sign in ",\n\r":
            state = "outside"
        else:
            return False
        start = sign in ",\n\r" and state == "outside"
    return state != "inside"


@pytest.mark.parametrize("mark", [b"", quoting.MARK])
def test_all_short_files(tmp_path, mark):
    path = tmp_path / "x.csv"
    for length in range(7):
        for signs in itertools.product('a,"\n', repeat=length):
            text = "".join(signs)
            path.write_bytes(mark + text.encode())
            assert (misplaced_quote(str(path)) is None) == in_order(text), text


def test_files_in_order_are_read_by_python_as_well():
    for signs in itertools.product('a,"\n', repeat=6):
        text = "".join(signs)
        if in_order(text):
            list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_the_place_and_long_files(tmp_path, monkeypatch):
    monkeypatch.setattr(quoting, "AT_ONCE", 7)
    path = tmp_path / "x.csv"
    path.write_text('a,b\n"x ""y"" z","w"\n' * 20)
    assert misplaced_quote(str(path)) is None
    path.write_text('a,b\n"x",1\n2,"y\n3,z\n')
    assert misplaced_quote(str(path)) == 12
    path.write_text('a,b\n"x"y,1\n')
    assert misplaced_quote(str(path)) == 6
