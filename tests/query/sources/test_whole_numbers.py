"""Texts in columns of whole numbers: a whole number, or missing; never rounded, and none fails."""

from __future__ import annotations

import itertools
from fractions import Fraction

import duckdb
import pyarrow
import pytest

from dither.query.engines.duckdb.cell_formats import whole_sql
from dither.query.owner.inspect import inspect
from tests.query.clinics import clinic, private_totals
from tests.seeds import examples

HOSTILE = [
    "",
    " ",
    ".",
    "-",
    "e",
    "1e",
    "nan",
    "inf",
    "-inf",
    "true",
    "0x1E",
    "1e400",
    "1e-400",
    "1e99999999999",
    "1_0",
    "1.5.0",
]
HOSTILE += [
    f"{sign}{'9' * digits}{rest}" for sign in ("", "-") for digits in (18, 19, 20, 37, 38, 39) for rest in ("", ".5", "e1")
]
HOSTILE += [
    "9223372036854775807.4",
    "-9223372036854775808.5",
    "0" * 1990 + "7",
    "1" + "0" * 1990,
    "1" * 19 + "." + "1" * 1900,
]
EXTREMES = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "9007199254740993.0", "9e18"]


def read(texts: list[str | None]) -> list[int | None]:
    """What becomes of texts as cells of a column of whole numbers."""
    with duckdb.connect() as engine:
        engine.register("given", pyarrow.table({"x": pyarrow.array(texts, pyarrow.string())}))
        return [row[0] for row in engine.execute(f"SELECT TRY_CAST({whole_sql('x')} AS BIGINT) FROM given").fetchall()]


def expected(text: str) -> int | None:
    try:
        value = Fraction(text.removesuffix(".") if "e" in text else text)  # 5e5. is read by the engine
    except ValueError:
        return None
    return int(value) if value.denominator == 1 and -(2**63) <= value < 2**63 else None


def test_a_text_is_a_whole_number_or_missing():
    texts = ["".join(signs) for n in range(1, examples(5, 6)) for signs in itertools.product("05.e-", repeat=n)]
    found = dict(zip(texts, read(texts), strict=True))
    wrong = {text: value for text, value in found.items() if value != expected(text) and abs(_power(text)) < 19}
    assert wrong == {}
    assert sum(value is not None for value in found.values()) > 100
    assert read(EXTREMES) == [int(Fraction(text)) for text in EXTREMES]
    assert (
        read(["1.5", "2.5", "-0.5", "15e-1", "0.0000000000000000001"]) == [None] * 5
    )  # the cast alone gives 2, 3, -1, 2, 0


def _power(text: str) -> int:
    """The power of ten of a text, or 0."""
    power = text.partition("e")[2].replace(".", "")
    return int(power) if power.lstrip("-").isdigit() else 0


def test_no_text_fails_and_none_touches_another():
    together = read([*HOSTILE, *EXTREMES, "3", None])
    assert together[-2:] == [3, None]
    assert together == [read([text])[0] for text in [*HOSTILE, *EXTREMES, "3", None]]
    known = {"1e-400", "1_0"}  # 0 to 19 digits after the point; a spelling that Python has too
    for text, value in zip(HOSTILE, together, strict=False):
        assert value is None or text in known or value == expected(text), text


@pytest.mark.parametrize("cell", ["1,5", "2,0", "2", "k", ""])
def test_a_neighbour_has_one_row_more_and_no_other_value(tmp_path, cell):
    """The counters with the row and without it differ by what its cell alone gives; `policy check` counts what it lacks."""
    rows = ["1;3", "2;1,5", "3;4,0"]
    facts = {"separator": ";", "decimal": ",", "types": {"person": "integer", "k": "integer"}, "bounds": {"k": (0, 10)}}
    totals, unreadable = [], []
    for at, lines in enumerate((rows, [*rows, f"4;{cell}"])):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "visits.csv").write_text("person;k\n" + "\n".join(lines) + "\n")
        data = clinic(folder, str(folder / "visits.csv"), steps={}, keys={}, complete=[], **facts)
        quote = data.quote("SELECT COUNT(k) AS m, COUNT(*) AS n FROM visits", epsilon=1)
        totals.append([int(number) for row in private_totals(quote) for number in row])
        (table,) = data.policy.tables
        unreadable.append({one.name: one.unreadable for one in inspect(table, data.source(table)).columns}["k"])
    moved = [late - early for early, late in zip(*totals, strict=True)]
    assert sum(1 for step in moved if step) == (2 if cell in ("2,0", "2") else 1)
    assert unreadable == [1, 1 + (cell in ("1,5", "k"))]
