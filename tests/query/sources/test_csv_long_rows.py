"""Rows of CSV files that are too long for the engine: what is read of them is what other sources give, and nobody else's."""

from __future__ import annotations

import csv
import io
import itertools

import pyarrow
import pytest

from dither.errors import DataError
from dither.query.sources import csv_long_rows
from dither.query.sources.csv_long_rows import long_rows, longest_row, write_cut
from dither.query.sources.csv_quotes import misplaced_quote
from tests.query.clinics import clinic, private_totals
from tests.seeds import examples

SIZE = 2_100_000


def cut(folder, data: bytes, separator: str, quote: str, *, long: int, kept: int, columns: int = 2) -> bytes:
    path, target = folder / "given.csv", folder / "cut.csv"
    path.write_bytes(data)
    target.unlink(missing_ok=True)
    write_cut(str(path), target, long_rows(str(path), quote, long=long), separator, quote, columns=columns, kept=kept)
    return target.read_bytes()


def cells(data: bytes, quote: str) -> list[list[str]]:
    style = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    return list(csv.reader(io.StringIO(data.decode(), newline=""), quotechar=quote or None, quoting=style))


@pytest.mark.parametrize("quote", ['"', ""])
@pytest.mark.parametrize("pieces", [1 << 24, 3])
def test_all_short_files(tmp_path, monkeypatch, quote, pieces):
    """Rows of more than 4 bytes; cells keep 4 bytes or fewer, and begin as they did. Also by pieces of 3 bytes."""
    monkeypatch.setattr(csv_long_rows, "AT_ONCE", pieces)
    seen, kept = 0, 4
    letters = 'xä",\n' if quote else "xä,\n"
    for n in range(examples(5, 7)):
        for signs in itertools.product(letters, repeat=n):
            data = ("p,q\n" + "".join(signs)).encode()
            (tmp_path / "given.csv").write_bytes(data)
            if misplaced_quote(str(tmp_path / "given.csv"), ",", quote) is not None:
                continue
            copy = cut(tmp_path, data, ",", quote, long=4, kept=kept)
            whole, found = cells(data, quote), cells(copy, quote)
            assert len(found) == len(whole), data
            for mine, theirs in zip(found, whole, strict=True):
                assert any(mine[2:]) == any(theirs[2:])  # empty ones beyond the columns may be left out
                for short, long in zip(mine[:2], theirs[:2], strict=True):
                    assert long.startswith(short), data
                    assert short == long or (len(long.encode()) > kept - 2 and len(short) >= (kept - 4) // 4), data
                seen += mine != theirs
    assert seen > 10


@pytest.mark.parametrize("cell", ["x" * 50, "ä" * 30, '"' * 31, 'x"' * 20, "🎲" * 12, "a\r\nb" * 9, "x" * 7 + "🎲" * 9])
@pytest.mark.parametrize("kept", range(12, 20))
def test_the_beginning_stays(tmp_path, cell, kept):
    lines = [["p", "q"], ["1", cell], ["2", "z"]]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    found = cells(cut(tmp_path, text.getvalue().encode(), ",", '"', long=20, kept=kept), '"')
    assert [found[0], found[2]] == [lines[0], lines[2]]
    assert found[1][0] == "1"
    assert cell.startswith(found[1][1])
    assert (kept - 4) // 4 <= len(found[1][1]) <= kept


def test_a_header_and_a_mark(tmp_path):
    path = tmp_path / "given.csv"
    path.write_bytes(b"\xef\xbb\xbf" + b"p" * 30 + b"\n" + b'"y' + b"y" * 30 + b'"')
    assert long_rows(str(path), long=20) == [(34, 67)]
    assert long_rows(str(path), long=20, header=False) == [(3, 33), (34, 67)]
    assert longest_row(3) == 2_000_000
    assert longest_row(1000) > 1000 * (csv_long_rows.KEPT + 3)


ROWS = [("a", "A", 1), ("b", "B", 2), ("b", "A", 3), ("c", "B", 4)]
LONG = {
    "a text": ("d", "A" * SIZE, 5),
    "a text in quotes and lines": ("d", 'A"\n' * (SIZE // 3), 5),
    "an id": ("d" * SIZE, "A", 5),
    "a number": ("d", "A", "5" * SIZE),
    "a number after blanks": ("d", "A", " " * SIZE + "5"),
    "all of them": ("d" * SIZE, "ä" * SIZE, "5" * SIZE),
    "a key and what follows": ("d", "A", 5),
}
SQL = [
    "SELECT ward, COUNT(*) AS n, COUNT(k) AS m, SUM(k) AS s FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE LENGTH(ward) = 2000 AND RIGHT(ward, 1) IN ('A', 'ä')",
]
FACTS = {"types": {"person": "text", "ward": "text", "k": "integer"}, "bounds": {"k": (0, 10)}, "steps": {}, "complete": []}


def totals(folder, rows: list[tuple], *, extra: str = "", encoding: str = "utf-8", arrow: bool = False):
    facts = {**FACTS, "keys": {"ward": ["A", "B"]}}
    if arrow:
        columns = zip(*((who, ward, str(k)) for who, ward, k in rows), strict=True)
        data = clinic(folder, pyarrow.table(dict(zip(("person", "ward", "k"), columns, strict=True))), **facts)
    else:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([("person", "ward", "k"), *rows])
        (folder / "visits.csv").write_bytes((text.getvalue() + extra).encode(encoding))
        data = clinic(folder, str(folder / "visits.csv"), **facts, encoding=encoding)
    return [private_totals(data.quote(sql, epsilon=1)) for sql in SQL]


@pytest.mark.parametrize("name", LONG)
def test_a_long_row_counts_as_in_a_table_in_memory(tmp_path, name):
    """Of the neighbour with one row more, or with one row replaced; where that row stands does not matter."""
    row = LONG[name]
    extra = "e,B,6" + "," * SIZE + '"",\n' if name == "a key and what follows" else ""
    added = [*ROWS, row]
    replaced = [row, *ROWS[1:]] if name in ("a text", "an id") else None
    for rows in (added, replaced) if replaced else (added,):
        expected = totals(tmp_path, [*rows, *([("e", "B", 6)] if extra else [])], arrow=True)
        assert totals(tmp_path, rows, extra=extra) == expected
    assert totals(tmp_path, ROWS) == totals(tmp_path, ROWS, arrow=True)


def test_other_encodings_are_cut_too(tmp_path):
    row = ("d", "ä" * SIZE, 5)
    assert totals(tmp_path, [*ROWS, row], encoding="latin-1") == totals(tmp_path, [*ROWS, row], arrow=True)


def test_a_long_row_that_is_broken_fails_as_a_short_one(tmp_path):
    for extra in ("e,B,6,x\n", "e,B,6," + "x" * SIZE + "\n", "e," + "B" * SIZE + "\n", "e,B" + "," * SIZE + "x\n"):
        with pytest.raises((DataError, RuntimeError)):
            totals(tmp_path, ROWS, extra=extra)


def test_many_columns_of_long_cells(tmp_path):
    """300 cells of 8,000 bytes are more than the engine reads unless told; none of them is cut."""
    names = ["person", *(f"c{at}" for at in range(299))]
    rows = [names, ["a", *["ä" * 4000] * 299], ["b", *["z" * 9000] * 299]]
    (tmp_path / "visits.csv").write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    facts = {**FACTS, "types": dict.fromkeys(names, "text"), "keys": {}, "bounds": {}}
    data = clinic(tmp_path, str(tmp_path / "visits.csv"), **facts)
    quote = data.quote("SELECT COUNT(*) AS n FROM visits WHERE LENGTH(c298) = 2000", epsilon=1)
    assert private_totals(quote) == private_totals(data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1))
