"""Released distributions: bands that hold, quantiles, ranges, samples, pictures."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import dither
from dither.density import Bins, Categories, Distribution, Grid, histogram
from dither.density.histograms.distribution import SHOWN
from dither.errors import DataError, InputError, NumberError, SizeError
from dither.testing import seeded


def made(raw, *, edges=None, rows=None, error=2.0, axis=None):
    raw = np.array(raw, dtype=float)
    counts = np.maximum(raw, 0)
    return Distribution(
        axis=axis or Bins(edges or list(range(len(raw) + 1))),
        raw=raw,
        counts=counts if rows is None else counts * rows / max(counts.sum(), 1e-9),
        rows=rows,
        confidence=0.95,
        cell_error=error,
        prefix_error=2 * error,
        range_error=3 * error,
        guarantee=dither.pure(1),
    )


def test_bands_lie_around_the_raw_release_and_are_cut_to_what_is_possible():
    found = made([5, -3, 4])
    assert found.low.tolist() == [3, 0, 2]
    assert found.high.tolist() == [7, 0, 6]
    assert made([5, -3, 4], rows=6).high.tolist() == [6, 0, 6]
    assert found.total == 9
    assert made([5, -3, 4], rows=6).total == 6
    with pytest.raises(ValueError, match="read-only"):
        found.raw[0] = 1


def test_every_truth_that_errors_allow_lies_inside_every_band():
    """Small histograms of 3 cells, and releases off by anything that the half-widths allow."""
    gaps = [gap for gap in product((-1, 0, 1), repeat=3) if max(abs(np.cumsum(gap))) <= 1]
    for truth in [*product(range(2), repeat=3), (2, 0, 1), (0, 2, 0), (2, 2, 2)]:
        total = sum(truth)
        for gap in gaps:
            for rows in (None, total):
                found = made(np.add(truth, gap), rows=rows, error=1.0)
                found = Distribution(**{**vars(found), "prefix_error": 1.0, "range_error": 2.0})
                assert (found.low <= truth).all()
                assert (truth <= found.high).all()
                sums, band = np.cumsum(truth), found.prefixes()
                assert (band.low <= sums + 1e-12).all()
                assert (sums <= band.high + 1e-12).all()
                if total:
                    shares, cdf = sums / total, found.cdf()
                    assert (cdf.low <= shares + 1e-12).all()
                    assert (shares <= cdf.high + 1e-12).all()
                    assert (np.diff(cdf.low) >= 0).all()
                    assert (np.diff(cdf.high) >= 0).all()
                    for q in (0, 0.1, 0.5, 0.9, 1):
                        cell = int(np.searchsorted(shares, max(q - 1e-12, 1e-12)))  # for 0 the first that has anybody
                        at = found.quantile(q)
                        assert at.low <= cell
                        assert cell + 1 <= at.high
                        assert 0 <= at.estimate <= 3
                for low, high in ((0, 1), (1, 3), (0, 3), (0, 2)):
                    ranged = found.range(low, high)
                    assert ranged.low <= sum(truth[low:high]) <= ranged.high


def test_ranges_that_cut_a_cell_count_it_in_part():
    found = made([10, 20, 30], edges=[0, 10, 20, 40], error=1.0)
    assert found.range(0, 20) == (30, 27, 33)
    assert found.range(5, 15) == (15, 0, 33)
    assert found.range(5, 30) == (40, 19, 63)
    assert found.range(12, 13) == pytest.approx((2, 0, 21))
    assert found.range(-100, 10) == (10, 9, 11)
    assert found.range(50, 60) == (0, 0, 0)
    assert made([10, 20], rows=30).range(0, 2) == (30, 30, 30)
    for low, high in ((3, 3), (4, 2)):
        with pytest.raises(NumberError):
            found.range(low, high)
    with pytest.raises(InputError):
        found.range(math.nan, 3)


def test_quantiles_run_through_cells():
    found = made([10, 0, 30], error=0.0)
    assert found.quantile(0) == (0, 0, 1)
    assert made([0, 0, 5, 1], error=0.0).quantile(0) == (2, 2, 3)
    assert made([0, 9, 50, 1], error=2.0).quantile(0) == (1, 0, 2)
    assert found.quantile("0.25").estimate == 1
    assert found.quantile("0.5").estimate == pytest.approx(2 + 1 / 3)
    assert found.quantile(1).estimate == 3
    assert made([-1, -1]).quantile(0.5).estimate == 1  # nobody is left: an even line
    for wrong in (-0.1, 1.1, math.nan, "x"):
        with pytest.raises(InputError):
            found.quantile(wrong)


def test_samples_follow_the_counts_exactly():
    found = made([1, 0, 3], error=0.0)
    with pytest.warns(UserWarning, match="NOT PRIVATE"), seeded(3):
        cells, values = found.places(40_000), found.sample(1000)
    assert (cells == 1).sum() == 0
    assert abs((cells == 2).mean() - 0.75) < 6 * math.sqrt(0.1875 / 40_000)
    assert ((values > 0) & (values < 3)).all()
    assert found.places(0).size == 0
    assert set(made([-1, -1]).places(100).tolist()) <= {0, 1}
    named = made([1, 0, 3], axis=Categories(["a", "b", "c"]))
    assert set(named.sample(50)) <= {"a", "c"}
    grid = made([1, 0, 0, 0], axis=Grid(Bins([0, 1, 2]), Categories(["a", "b"])))
    assert grid.sample(2) == ["[0, 1) x a", "[0, 1) x a"]
    with pytest.raises(InputError):
        found.sample(-1)


def test_shown_as_a_table():
    text = str(made([5, -3, 4]))
    assert text.splitlines() == [
        "cell    people  95% band",
        "[0, 1)       5  3 to 7",
        "[1, 2)       0  0 to 0",
        "[2, 3]       4  2 to 6",
        "ε = 1 (add/remove one person)",
    ]
    assert "88 more" in str(made([1] * (SHOWN + 88)))
    assert repr(made([5, -3, 4])).startswith("<Distribution over <3 bins from 0 to 3>, 9 people")


def test_only_lines_have_ranges_and_quantiles():
    named = made([1, 2], axis=Categories(["a", "b"]))
    for call in (lambda: named.range(0, 1), lambda: named.quantile(0.5), lambda: dither.plot.cdf(named)):
        with pytest.raises(DataError):
            call()


def test_pictures_show_bands_and_never_the_truth(tmp_path):
    bins = Bins.even(0, 10, 5)
    found = histogram(bins, epsilon=1).release([10, 20, 30, 20, 10])
    chart = dither.plot.density(found)
    rows = next(iter(chart.to_dict()["datasets"].values()))
    assert [set(row) for row in rows] == [{"cell", "people", "low", "high"}] * 5
    assert [row["low"] for row in rows] == found.low.tolist()
    chart.save(str(tmp_path / "density.svg"))
    curve = dither.plot.cdf(found)
    rows = next(iter(curve.to_dict()["datasets"].values()))
    assert [row["high"] for row in rows] == found.cdf().high.tolist()
    curve.save(str(tmp_path / "cdf.svg"))
    near = Bins.even(10**6, 10**6 + 1, 4)
    for axis in (near, Categories([1, "1", 1.5, "1.5"])):  # names that are alike would be one bar
        chart = dither.plot.density(made([1, 2, 3, 4], axis=axis))
        assert len({row["cell"] for row in next(iter(chart.to_dict()["datasets"].values()))}) == 4
    with pytest.raises(DataError):
        dither.plot.density([1, 2, 3])
    with pytest.raises(SizeError):
        dither.plot.density(made([1] * 40_001))


def test_a_cell_without_people_is_never_drawn(monkeypatch):
    for draw, cell in ((0, 1), (2**36 - 1, 1), (2**36, 3), (2**37 - 1, 3)):  # weights 0, 2^36, 0, 2^36
        monkeypatch.setattr(
            "dither.density.histograms.distribution.uniform", lambda below, size, draw=draw: np.array([draw] * size)
        )
        assert made([0, 1, 0, 1]).places(1).tolist() == [cell]
