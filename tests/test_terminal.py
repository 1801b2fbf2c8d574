"""Text and tables at 80 and 120 columns: no line is wider, and nothing is lost."""

from __future__ import annotations

import io
import os
import pty
import random
import subprocess
import sys
import termios
from itertools import product

import pytest

import dither
from dither import terminal
from dither.query.answers.table import cell_texts
from dither.table import cell_width
from dither.terminal import Explanation, fitted_table, stated_width, terminal_width, wrapped
from tests.query.clinics import clinic
from tests.seeds import examples

WIDTHS = (80, 120)
HOSTILE = ["", " ", "a" * 300, "漢字" * 60, "e\u0301" * 200, "-" * 81]
HOSTILE += ["Label      " + "word " * 60, "  1. SELECT " + "x, " * 90]


@pytest.fixture(name="terminal_of")
def terminal_of_a_width(request, monkeypatch):
    monkeypatch.setattr(terminal, "terminal_width", lambda: request.param)
    return request.param


@pytest.mark.parametrize(("text", "width"), [*product(HOSTILE, (40, *WIDTHS))])
def test_no_line_is_wider_and_no_letter_is_lost(text, width):
    lines = wrapped(text, width).split("\n")
    assert max(map(cell_width, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_statement_goes_on_below_itself():
    told = wrapped("Counts     " + "word " * 30, 80).split("\n")
    assert {line[:11] for line in told[1:]} == {" " * 11}
    assert wrapped("short\n\nlines", 80) == "short\n\nlines"


def test_an_explanation_is_wrapped_where_it_is_shown_and_whole_as_a_text():
    whole = "Counts     " + "word " * 30
    told = Explanation(whole)
    assert told == whole
    assert "".join([told]) == f"{told}" == whole
    assert str(told) == repr(told) == wrapped(whole)
    file = io.StringIO()
    print(told, file=file)
    assert max(map(len, file.getvalue().splitlines())) <= 80


def random_table(rng: random.Random) -> tuple[list[list[str]], int]:
    columns, rows = rng.randint(1, 9), rng.randint(1, 6)
    lengths = [rng.choice([1, 5, 12, 30, 130]) for _ in range(columns)]
    cells = [["".join(rng.choices("ab漢 ", k=rng.randint(0, most))) for most in lengths] for _ in range(rows)]
    return [[f"h{at}" for at in range(columns)], *cells], rng.randint(0, columns)


@pytest.mark.parametrize("seed", range(examples(60, 2000)))
def test_tables_fit_and_each_column_is_in_one_block(seed):
    rows, keys = random_table(random.Random(seed))
    for width in (40, *WIDTHS):
        lines = fitted_table(rows, rule=1, keys=keys, together=[at // 3 for at in range(len(rows[0]))], width=width)
        assert max(map(cell_width, lines)) <= width
        heads = [word for line in lines for word in line.split() if word in rows[0]]
        assert set(heads) == set(rows[0])


def test_columns_that_belong_together_stay_together_and_keys_come_again():
    names = [f"{name}{end}" for name in "abcd" for end in ("", "_low", "_high")]
    rows = [["ward", *names], ["north", *["1,234,567"] * 12]]
    lines = fitted_table(rows, rule=1, keys=1, together=[0, *(at // 3 + 1 for at in range(12))], width=100)
    heads = [line.split() for line in lines if line.startswith("ward")]
    assert heads == [["ward", *names[:6]], ["ward", *names[6:]]]
    long = [["ward", "n"], ["x" * 100 + "1", "1"], ["x" * 100 + "2", "2"]]
    _, _, one, other = fitted_table(long, rule=1, width=80)
    assert one.split()[0] != other.split()[0]


def test_keys_are_cut_before_a_number_is_parted_from_its_ends():
    numbers = [
        ["spread", "spread_low", "spread_high", "n", "n_low", "n_high"],
        ["1,234.5", "1,000", "1,555", "10", "9", "11"],
    ]
    rows = [["the name of a region", "ward", *numbers[0]], ["north of the river", "surgery", *numbers[1]]]
    head = fitted_table(rows, keys=2, together=[0, 1, 2, 2, 2, 3, 3, 3], width=60)[0]
    assert head.split()[-3:] == ["spread", "spread_low", "spread_high"]


def test_keys_are_cut_only_where_there_is_no_room():
    """A short key leaves its room to a long one, and keys have what the widest block leaves."""
    ward, reason = "Cardiology and heart surgery", "emergency admission"
    numbers = [["n", "n_low", "n_high"], ["1,204", "1,180", "1,228"], ["cost", "cost_low", "cost_high"], ["1,204.3"] * 3]
    rows = [["ward", "reason", *numbers[0], *numbers[2]], [ward, reason, *numbers[1], *numbers[3]]]
    together = [0, 1, 2, 2, 2, 3, 3, 3]
    head, _, line, *rest = fitted_table(rows, left=(0, 1), rule=1, keys=2, together=together, width=80)
    assert line.startswith(f"{ward}  {reason}  1,204")
    assert rest[-1].startswith(f"{ward}  {reason}  1,204.3")
    assert head.split() == ["ward", "reason", *numbers[0]]
    few = [row[:5] for row in rows]
    for width in (62, 66, 70):  # one block, as wide as there is room
        _, _, line = fitted_table(few, left=(0, 1), rule=1, keys=2, together=together[:5], width=width)
        assert cell_width(line) == width
        assert reason in line or width == 62
    sexes = [["ward", "sex", *numbers[0]], [ward * 2, "men", *numbers[1]], [ward * 2, "women", *numbers[1]]]
    *_, men, women = fitted_table(sexes, left=(0, 1), rule=1, keys=2, together=together[:5], width=80)
    assert cell_width(men) == cell_width(women) == 80


@pytest.mark.parametrize("terminal_of", WIDTHS, indirect=True)
def test_whatever_of_a_dataset_is_printed_fits(tmp_path, terminal_of):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"), keys={"ward": ["A" * 70 + "1", "A" * 70 + "2"]})
    sql = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost, SUM(cost) AS total_cost_of_all FROM visits GROUP BY ward"
    quote = data.quote(sql, epsilon="0.5")
    batch = data.quote([sql, "SELECT COUNT(*) AS n FROM visits"], epsilon="0.5")
    answer, answers = quote.release(), batch.release()
    shown = [quote, quote.explain(), quote.describe(), quote.compare(), batch, answer, answer.explain(), answers]
    shown += [answers.explain(), data.explain(), answer.difference(answers[0]), data.ledger.remaining()]
    for one in shown:
        for text in (str(one), repr(one) if "\n" in repr(one) else ""):
            assert max(map(cell_width, text.splitlines()), default=0) <= terminal_of, text
    first, second = [line.split()[0] for line in str(answer).splitlines() if line.startswith("AAA")][:2]
    assert first != second


def test_the_width_is_that_of_the_terminal_and_80_elsewhere(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # of the machine, not of what is printed to
    assert terminal_width() == 80
    code = "from dither.terminal import terminal_width; print(terminal_width())"
    for columns, told in ((120, "120"), (80, "80"), (10, "40"), (0, "80")):
        first, second = pty.openpty()
        termios.tcsetwinsize(second, (24, columns))
        done = subprocess.run([sys.executable, "-c", code], stdout=second, stderr=subprocess.PIPE, check=True)
        os.close(second)
        assert os.read(first, 100).split() == [told.encode()], done.stderr
        os.close(first)
    monkeypatch.setattr(sys, "stdout", None)
    assert terminal_width() == 80


@pytest.mark.parametrize(
    ("stated", "width"),
    [
        ("120", 120),
        ("200", 200),
        ("10", 40),
        ("0", 80),
        ("", 80),
        (None, 80),
        ("-5", 80),
        ("wide", 80),
        ("٣٣٣", 80),
        ("9" * 9, 80),
    ],
)
def test_a_width_that_is_stated_holds_where_there_is_no_terminal(stated, width):
    with stated_width(stated):
        assert terminal_width() == width
    assert terminal_width() == 80


@pytest.mark.parametrize(("columns", "widest"), [("120", 120), ("60", 60), (None, 80)])
def test_the_command_line_heeds_columns_in_a_pipe(monkeypatch, columns, widest):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    done = subprocess.run([sys.executable, "-m", "dither", "demo"], capture_output=True, encoding="utf-8", check=True)
    lines = [line for line in done.stdout.splitlines() if "●" not in line]  # the chart is as wide as it is
    assert widest - 20 < max(map(cell_width, lines)) <= widest


def test_the_ends_that_a_table_shows_hold_the_interval():
    columns = {"x": [1.23456, 5.0], "x_low": [1.00004, -0.00049], "x_high": [2.00001, 9.99999]}
    shown = cell_texts(columns, [], ["x"], {})
    for at in range(2):
        assert float(shown["x_low"][at]) <= columns["x_low"][at]
        assert columns["x_high"][at] <= float(shown["x_high"][at])
    assert shown == {"x": ["1.235", "5.000"], "x_low": ["1.000", "-0.001"], "x_high": ["2.001", "10.000"]}
