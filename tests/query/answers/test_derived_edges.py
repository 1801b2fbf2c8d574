"""Computed columns at their edges: noise that cancels, constants that no double holds, rows that released numbers find, keys
that rows may lack."""

from __future__ import annotations

import math
import random
import warnings
from fractions import Fraction

import pyarrow
import pytest

import dither
from dither.query.answers.derived.interval_arithmetic import plus, product
from dither.query.answers.derived.linear_forms import Form, Quotient
from dither.testing import seeded
from tests.query.clinics import ledger, repeated

HUGE = "1e200 * 1e200"


def people(folder, *, complete=("k", "x"), keys=("a", "b", "c"), hard=("bounds.x",)):
    rng = random.Random(3)
    rows = {"k": [rng.choice("ab") for _ in range(60)], "x": [rng.randrange(30, 50) for _ in range(60)]}
    facts = {"keys": {"k": list(keys)}, "bounds": {"x": (30, 50)}, "hard": list(hard), "complete": list(complete)}
    return dither.protect(
        pyarrow.table(rows), name="t", person="each row", ledger=ledger(folder, dither.pure(10**6)), **facts
    )


CANCELS = {
    "SUM(COUNT(*)) OVER (PARTITION BY k) - COUNT(*)": (0, 0),
    "5 + COUNT(*) - SUM(COUNT(*)) OVER (PARTITION BY k)": (5, 5),
    "COUNT(*) / (SUM(COUNT(*)) OVER (PARTITION BY k) - COUNT(*))": (None, None),
    "(SUM(SUM(x)) OVER (PARTITION BY k) - SUM(x)) / (SUM(COUNT(*)) OVER (PARTITION BY k) - COUNT(*))": (None, None),
    "6 / (SUM(COUNT(*)) OVER (PARTITION BY k) - COUNT(*) - 2)": (-3, -3),
    "(SUM(COUNT(*)) OVER (PARTITION BY k) - COUNT(*)) / COUNT(*)": (0, 0),
}


@pytest.mark.parametrize("expression", CANCELS)
def test_noise_that_cancels_leaves_the_number_itself(tmp_path, expression):
    answer = people(tmp_path).quote(f"SELECT k, {expression} AS z FROM t GROUP BY k", epsilon=1).release()
    assert list(zip(answer["z_low"], answer["z_high"], strict=True)) == [CANCELS[expression]] * 3
    assert "Infinity" not in answer.to_json()


def test_a_number_over_what_has_no_noise_left_has_the_bar_of_the_number(tmp_path):
    sql = "SELECT COUNT(*) AS n, COUNT(*) / (SUM(COUNT(*)) OVER () - COUNT(*) - 2) AS z FROM t"
    (row,) = people(tmp_path).quote(sql, epsilon=1).release()
    assert row["z"] == -row["n"] / 2
    assert row["z_low"] == pytest.approx(-row["n_high"] / 2, rel=1e-3)
    assert row["z_high"] == pytest.approx(-row["n_low"] / 2, rel=1e-3)


@pytest.mark.parametrize(
    "expression",
    [
        f"{HUGE} * COUNT(*)",
        f"{HUGE} * COUNT(*) / COUNT(x)",
        "COUNT(*) / 1e200 / 1e200 / (COUNT(x) - 60)",
        f"(COUNT(*) + {HUGE} * COUNT(x)) / (COUNT(x) / 1e200 / 1e200 + COUNT(*))",
        f"ROUND(COUNT(*), 1) * {HUGE} * (COUNT(*) / (COUNT(x) - 60))",
        f"COUNT(*) / (COUNT(x) - 60) - {HUGE}",
        f"SUM(COUNT(*) / (COUNT(x) - 20)) OVER () - {HUGE} * AVG(x)",
        f"AVG(x) * {HUGE} - {HUGE}",
    ],
)
def test_constants_that_no_double_holds_are_computed_with(tmp_path, expression):
    """What was paid for is shown: the number, or that it is missing."""
    answer = people(tmp_path).quote(f"SELECT k, {expression} AS z FROM t GROUP BY k", epsilon=1).release()
    assert len(answer) == 3
    assert all(end is None or math.isfinite(end) for name in ("z", "z_low", "z_high") for end in answer[name])


def test_a_scale_of_both_sides_changes_nothing(tmp_path):
    data = people(tmp_path)
    plain = data.quote("SELECT COUNT(*) / COUNT(x) AS z FROM t", epsilon=1).release()
    for scale in (f"* {HUGE}", "/ 1e200 / 1e200"):
        again = data.quote(f"SELECT COUNT(*) {scale} / (COUNT(x) {scale}) AS z FROM t", epsilon=1).release()
        assert again.is_replay
        for end in ("z_low", "z_high"):
            assert again[end] == [pytest.approx(plain[end][0])]


def test_forms_are_scaled_where_doubles_would_not_hold_them():
    form = Form(Fraction(3), {("n", 0): Fraction(10) ** 400})
    scaled, by = Quotient(form).scaled()
    assert by == Fraction(10) ** 400
    assert scaled.over.times(by).key == form.key
    assert Quotient(Form(Fraction(3), {("n", 0): Fraction(7)})).scaled()[1] == 1


def test_infinite_ends_never_become_doubles_of_fractions():
    huge = Fraction(10) ** 400
    assert product(huge, math.inf) == product(-huge, -math.inf) == math.inf
    assert product(-huge, math.inf) == plus(huge, -math.inf) == -math.inf
    assert plus(math.inf, -huge) == math.inf
    assert product(Fraction(0), math.inf) == 0


# -- what they say ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression", ["LAG(COUNT(*)) OVER (ORDER BY COUNT(*))", "COUNT(*) - LEAD(COUNT(*)) OVER (ORDER BY SUM(x), k)"]
)
def test_a_row_that_released_numbers_find_is_of_released_numbers(tmp_path, expression):
    """Which row comes before is noise, too: no bar holds the number that the truth has there."""
    quote = people(tmp_path).quote(f"SELECT k, {expression} AS z FROM t GROUP BY k", epsilon=1)
    answer = quote.release()
    assert answer.statements == {"z": "of released numbers"}
    assert "z_low" not in answer.columns
    assert "z: " in quote.explain()
    assert "it has no error bar" in quote.explain()


def test_a_row_that_keys_find_has_a_bar(tmp_path):
    """Between two listed keys may be one that is not listed, and a missing key comes after all others."""
    for name, facts in (("all", {"complete": ["x"], "hard": ["bounds.x", "keys.k"]}), ("other", {})):
        (tmp_path / name).mkdir()
        for expression, said in (
            ("LAG(COUNT(*)) OVER (ORDER BY k)", "truth"),
            ("COALESCE(LAG(COUNT(*)) OVER (ORDER BY k), 0)", "truth"),
            ("COALESCE(LEAD(COUNT(*)) OVER (ORDER BY k), 0)", "of counted rows"),
        ):
            answer = (
                people(tmp_path / name, **facts).quote(f"SELECT k, {expression} AS z FROM t GROUP BY k", epsilon=1).release()
            )
            assert answer.statements == {"z": said if name == "all" else "of counted rows"}
            assert "z_low" in answer.columns


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("SUM(COUNT(*)) OVER ()", "at least"),
        ("SUM(COUNT(*) - 20) OVER ()", "of counted rows"),
        ("100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()", "of counted rows"),
        ("COUNT(*) - SUM(COUNT(*)) OVER ()", "of counted rows"),
        ("COUNT(*) / 2", "truth"),
    ],
)
def test_rows_without_a_key_are_in_no_total(tmp_path, expression, said):
    """The share of a ward among all visits is another one if there are visits of no ward, or of one that is not listed."""
    sql = f"SELECT k, {expression} AS z FROM t GROUP BY k"
    for name, facts in (
        ("some", {"complete": ["x"], "hard": ["bounds.x", "keys.k"]}),
        ("other", {}),
        ("all", {"hard": ["bounds.x", "keys.k"]}),
    ):
        (tmp_path / name).mkdir()
        answer = people(tmp_path / name, **facts).quote(sql, epsilon=1).release()
        assert answer.statements == {"z": "truth" if name == "all" else said}
        assert said == "truth" or name == "all" or "of other keys" in answer.says


def test_bars_hold_a_share_of_the_rows_that_are_in_the_answer(tmp_path):
    quote = people(tmp_path).quote("SELECT k, COUNT(*) / SUM(COUNT(*)) OVER () AS z FROM t GROUP BY k", epsilon="0.5")
    rng = random.Random(3)
    keys = [rng.choice("ab") for _ in range(60)]
    held = 0
    with warnings.catch_warnings(action="ignore"), seeded(2024):
        for answer in repeated(quote, 300):
            held += answer["z_low"][0] <= keys.count("a") / 60 <= answer["z_high"][0]
    assert held >= 280


# -- averages of nothing ---------------------------------------------------------------------------------------------------


NOTHING = {
    "COALESCE(AVG(x), 0)": 0.0,
    "COALESCE(ROUND(AVG(x), 1), -1) + COUNT(*)": -1.0,
    "COALESCE(AVG(x) - AVG(y), 7)": 7.0,
    "COALESCE(STDDEV_POP(x), 100)": 100.0,
    "SUM(AVG(x)) OVER ()": None,  # the average of the other group
    "COALESCE(SUM(x), 0)": 0.0,
    "COALESCE(COUNT(*), 9)": 0.0,
}


@pytest.mark.parametrize("expression", NOTHING)
def test_bars_hold_what_stands_for_an_average_of_nothing(tmp_path, expression):
    """Of the two groups one has no rows: there SQL takes what COALESCE says, and a total passes over it."""
    rng = random.Random(8)
    rows = {
        "k": ["a"] * 40,
        "x": [rng.randrange(30, 50) for _ in range(40)],
        "y": [rng.randrange(30, 50) for _ in range(40)],
    }
    facts = {"keys": {"k": ["a", "b"]}, "bounds": {"x": (30, 50), "y": (30, 50)}, "hard": ["bounds.x", "bounds.y"]}
    book = ledger(tmp_path, dither.pure(10**6))
    data = dither.protect(pyarrow.table(rows), name="t", person="each row", ledger=book, complete=["k", "x", "y"], **facts)
    truth = NOTHING[expression]
    truth = sum(rows["x"]) / 40 if truth is None else truth
    quote = data.quote(f"SELECT k, {expression} AS z FROM t GROUP BY k", epsilon=2)
    held, wide = [], []
    with warnings.catch_warnings(action="ignore"), seeded(2024):
        for answer in repeated(quote, 300):
            held.append(answer["z_low"][1] - 1e-9 <= truth <= answer["z_high"][1] + 1e-9)
            wide.append(answer["z_high"][0] - answer["z_low"][0])
    assert sum(held) >= 0.93 * len(held), sum(held)
    if "COALESCE" in expression and "AVG" in expression:
        assert sorted(wide)[150] < 25  # where there are rows, what stands for none widens nothing
