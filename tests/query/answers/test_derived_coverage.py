"""Intervals of computed columns hold the truth as often as they say, on heavy-tailed data; too narrow ones are caught."""

from __future__ import annotations

import random
import warnings

import duckdb
import numpy as np
import pyarrow
import pytest

import dither
from dither.query.answers.derived import intervals as derived_intervals
from dither.testing import seeded
from tests.query.clinics import ledger, repeated
from tests.seeds import examples

RUNS = examples(250, 1000)
SHORT = examples(150, 400)
SLACK = examples(1, 0) / 100  # fewer runs tell less
COLUMNS = {
    "ratio": "SUM(a) / SUM(b)",
    "share": "100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()",
    "change": "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k)",
    "sums": "SUM(a) + 2 * SUM(b) - 3",
    "means": "AVG(a) - AVG(b)",
    "rounds": "ROUND(SUM(a) / COUNT(*), 1)",
    "whole": "CAST(AVG(b) AS INTEGER)",
    "mixed": "ROUND(AVG(a), 1) * COUNT(*) / (1 + SUM(b))",
    "total": "SUM(SUM(a)) OVER ()",
}
WINDOWS = {
    "mean": "SUM(b) - AVG(SUM(b)) OVER ()",
    "largest": "COUNT(*) / MAX(COUNT(*)) OVER ()",
    "least": "MIN(SUM(a)) OVER ()",
    "left": "COUNT(*) % 100",
    "hundreds": "SUM(b) // 100",
    "money": "CAST(SUM(a) / COUNT(*) AS DECIMAL(12, 2))",
}
PRICES = {"pure": (dither.pure(10**6), {"epsilon": "2"}), "rho": (dither.zcdp(10**6), {"rho": "0.3"})}


def heavy(rows: int = 1500) -> pyarrow.Table:
    """Pareto values within their bounds, most of them small; groups of very different sizes."""
    rng = random.Random(15)
    a = [min(2000, int(rng.paretovariate(0.9))) for _ in range(rows)]
    b = [min(2000, int(3 * rng.paretovariate(1.2))) for _ in range(rows)]
    keys = [min(5, int(rng.paretovariate(0.8))) for _ in range(rows)]
    return pyarrow.table({"k": keys, "a": a, "b": b})


def asked(columns: dict[str, str]) -> str:
    return f"SELECT k, {', '.join(f'{text} AS {name}' for name, text in columns.items())} FROM t GROUP BY k ORDER BY k"


def truths(columns: dict[str, str]) -> list[dict[str, float]]:
    with duckdb.connect() as engine:
        engine.register("t", heavy())
        result = engine.execute(asked(columns))
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def quote(folder, columns: dict[str, str], kind: str):
    budget, price = PRICES[kind]
    hard = ["bounds.a", "bounds.b", "keys.k"]
    keys, bounds = {"k": [1, 2, 3, 4, 5]}, {"a": (0, 2000), "b": (0, 2000)}
    facts = {"person": "each row", "keys": keys, "bounds": bounds, "hard": hard, "complete": ["a", "b", "k"]}
    data = dither.protect(heavy(), name="t", ledger=ledger(folder, budget), **facts)
    return data.quote(asked(columns), **price)


def held(folder, columns: dict[str, str], kind: str, runs: int = RUNS) -> dict[str, float]:
    """How often the interval of each column held the truth, of all its rows that have one."""
    expected, one = truths(columns), quote(folder, columns, kind)
    hits = {name: [] for name in columns}
    with warnings.catch_warnings(action="ignore"), seeded(2024):
        for answer in repeated(one, runs):
            for row, truth in zip(answer, expected, strict=True):
                for name in columns:
                    if truth[name] is not None:
                        low, high = row[f"{name}_low"], row[f"{name}_high"]
                        above = low is None or low <= float(truth[name]) + 1e-9
                        hits[name].append(above and (high is None or float(truth[name]) <= high + 1e-9))
    return {name: float(np.mean(found)) for name, found in hits.items()}


@pytest.mark.parametrize("kind", PRICES)
def test_intervals_hold_the_truth(tmp_path, kind):
    found = held(tmp_path, COLUMNS, kind)
    assert min(found.values()) >= 0.94 - SLACK, found
    lawful = [found[name] for name in ("ratio", "sums", "rounds", "whole")]
    assert max(lawful) <= 0.98 + SLACK / 2, found  # by the law of the noise


def test_intervals_over_the_answer_and_of_remainders_hold_the_truth(tmp_path):
    found = held(tmp_path, WINDOWS, "pure", SHORT)
    assert min(found.values()) >= 0.93 - SLACK, found


def test_all_say_that_they_are_the_truth(tmp_path):
    one = quote(tmp_path, COLUMNS, "pure")
    with warnings.catch_warnings(action="ignore"), seeded(1):
        answer = next(repeated(one, 1))
    assert set(answer.statements.values()) == {"truth"}


def test_the_noise_of_one_row_for_that_of_several_is_caught(tmp_path, monkeypatch):
    columns = {"total": COLUMNS["total"], "change": "SUM(a) - LAG(SUM(a)) OVER (ORDER BY k)"}
    plain = derived_intervals.DerivedIntervals._noise

    def narrow(self, weights):
        noises, _, pairs = plain(self, weights)
        return noises[:1], (1,), pairs[:1]

    monkeypatch.setattr(derived_intervals.DerivedIntervals, "_noise", narrow)
    found = held(tmp_path, columns, "rho", SHORT)
    assert found["total"] < 0.75
    assert found["change"] < 0.9


def test_the_box_of_one_piece_for_that_of_two_is_caught(tmp_path, monkeypatch):
    columns = {"x": "ROUND(SUM(a), 0) - 3 * ROUND(SUM(b), 0)"}
    assert held(tmp_path, columns, "rho", SHORT)["x"] >= 0.94 - SLACK
    plain = derived_intervals.arithmetic

    def half(node, parts):
        of_noise = node.what == "-" and not any(isinstance(end, float) for end in parts[1])  # ranges have infinite ends
        return plain(node, [parts[0], (sum(parts[1]) / 2,) * 2]) if of_noise else plain(node, parts)

    monkeypatch.setattr(derived_intervals, "arithmetic", half)
    assert held(tmp_path, columns, "rho", SHORT)["x"] < 0.92


def test_bars_are_narrow_where_the_law_is_known(tmp_path):
    """A total of five independent sums has a bar of the root of five; a share, one that is narrower than the box."""
    one = quote(tmp_path, {"n": "SUM(a)", "total": COLUMNS["total"], "share": "SUM(a) / SUM(SUM(a)) OVER ()"}, "rho")
    with warnings.catch_warnings(action="ignore"), seeded(3):
        row = next(repeated(one, 1)).rows()[0]
    n, total = (row[f"{name}_high"] - row[f"{name}_low"] for name in ("n", "total"))
    assert total == pytest.approx(5**0.5 * n, rel=0.01)
    box = row["n_high"] / row["total_low"] - row["n_low"] / row["total_high"]
    assert row["share_high"] - row["share_low"] < box
