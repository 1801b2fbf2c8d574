"""The largest of several sums: its law beside walks gone through step by step and all noise of small trees; coverage."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither.density import Histogram, Tree
from dither.density.histograms import sum_maxima
from dither.density.histograms.noise_tails import sum_width
from dither.density.histograms.sum_maxima import prefix_weights, walk_within
from dither.density.histograms.tree_least_squares import corrections
from dither.density.histograms.tree_shape import TreeShape
from dither.testing import seeded

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
LEVELS = ["0.5", "0.8", "0.95", "0.999"]
REPLACE = "replace one person"


# -- walks ---------------------------------------------------------------------------------------------------------------


def survives(masses, length, t):
    """P(|S_k| <= t for all k), step by step: masses of the noise at -2t..2t."""
    law = np.zeros(2 * t + 1)
    law[t] = 1.0
    for _ in range(length):
        law = np.convolve(law, masses)[2 * t : 4 * t + 1]
    return float(law.sum())


def masses_of(law, t):
    return np.array([float(law.mass(k).mid()) for k in range(-2 * t, 2 * t + 1)])


@pytest.mark.parametrize("epsilon", ["3", "1", "1/5", "1/20"])
@pytest.mark.parametrize("length", [2, 3, 12, 100])
def test_a_walk_of_geometric_noise_has_the_exact_law(epsilon, length):
    mechanism = Histogram(cells=length, epsilon=epsilon)
    law = mechanism.noise.law
    for t in (1, 2, 7, 40):
        exact = survives(masses_of(law, t), length, t)
        assert exact - 2e-10 <= walk_within(float(law.rate), length, t) <= exact
    for level in ("0.5", "0.95", "0.999"):
        width = mechanism.prefix_error(level)
        if width <= 400:
            assert survives(masses_of(law, width), length, width) >= Fraction(level)
            assert width == 0 or survives(masses_of(law, width - 1), length, width - 1) < Fraction(level)  # the smallest one


@pytest.mark.parametrize(("rate", "length", "t"), [(0.05, 2, 300), (0.01, 5, 900), (1.0, 40, 30)])
def test_a_short_series_errs_by_no_more_than_it_takes_off(monkeypatch, rate, length, t):
    whole = walk_within(rate, length, t)
    for terms in (5, 20, 100):
        monkeypatch.setattr(sum_maxima, "TERMS", terms)
        assert walk_within(rate, length, t) <= whole + 1e-12
    assert walk_within(rate, length, t) >= whole - 1e-3


@pytest.mark.parametrize("rho", ["1/2", "1/50", "1/2000"])
@pytest.mark.parametrize("length", [2, 3, 12, 60])
def test_a_walk_of_rounded_normal_noise_is_covered(rho, length):
    mechanism = Histogram(cells=length, rho=rho)
    law = mechanism.noise.law
    for level in LEVELS:
        width = mechanism.prefix_error(level)
        if width <= 1500:
            assert survives(masses_of(law, width), length, width) >= float(Fraction(level)) - 1e-9


# -- trees ---------------------------------------------------------------------------------------------------------------

SHAPES = [(2, 2), (5, 2), (7, 3), (12, 12), (30, 9), (40, 3)]


@pytest.mark.parametrize("root", ["noisy", "absent", "exact"])
@pytest.mark.parametrize(("cells", "branching"), SHAPES)
def test_weights_are_those_of_least_squares(cells, branching, root):
    shape = TreeShape(cells=cells, branching=branching, root=root)
    if shape.levels == 0:
        return
    found, at = prefix_weights(shape), 0
    for level, size in enumerate(shape.sizes[: shape.levels]):
        for place in range(size):
            nodes = [np.zeros(one) for one in shape.sizes[: shape.levels + (root == "exact")]]
            nodes[level][place] = 1.0
            below, differences = nodes[0], []
            for own in nodes[1:]:
                below = np.add.reduceat(below, np.arange(0, below.size, branching))
                differences.append(own - below)
            assert np.allclose(np.cumsum(nodes[0] + corrections(shape, differences)), found[:, at], atol=1e-12)
            at += 1
    assert at == found.shape[1]
    assert np.allclose(np.square(found).sum(axis=1), shape.prefix_squares(), atol=1e-9)
    assert np.abs(found).max() <= 1 + 1e-12


def test_the_series_is_the_tail_of_a_laplace_sum():
    """Beside partial fractions, for weights that differ: never above the truth, and near it."""
    shape = TreeShape(cells=3, branching=2, root="noisy")
    at, parts, off = sum_maxima._series(shape)
    for row, coefficients, less in zip(sum_maxima._sizes(shape).rows, parts, off, strict=True):
        sizes = [size * (1 + 1e-3 * place) for place, size in enumerate(sorted(row[row > 1e-9]))]
        for t in (0.3, 1.0, 4.0, 9.0):
            tail = sum(math.exp(-t / w) * math.prod(w * w / (w * w - v * v) for v in sizes if v is not w) for w in sizes)
            inside = float(coefficients @ np.sin(at * t))
            assert inside - less <= 1
            assert inside == pytest.approx(1 - tail, abs=3e-3)  # the weights were moved a little apart
    one = TreeShape(cells=2, branching=2, root="absent")  # each cell by itself: weights 1; 1 and 1
    at, parts, off = sum_maxima._series(one)
    for t in (0.2, 1.0, 3.0, 12.0):
        for place, tail in enumerate((math.exp(-t), (1 + t / 2) * math.exp(-t))):
            inside = float(parts[place] @ np.sin(at * t) - off[place])
            assert 1 - tail - 2 * float(off[place]) - 1e-12 <= inside <= 1 - tail


@pytest.mark.parametrize("price", [{"epsilon": 2}, {"epsilon": 6}, {"rho": 1}, {"rho": 4}], ids=str)
@pytest.mark.parametrize("level", LEVELS)
def test_all_prefixes_of_a_small_tree_are_covered_on_all_noise(price, level):
    """Every noise of three nodes, by its exact probability; a half-width that is a third less is found out."""
    tree = Tree(cells=2, unit=REPLACE, **price)
    weights = prefix_weights(tree.shape)
    assert weights.shape == (2, 3)
    masses = {k: float(tree.noise.law.mass(k).mid()) for k in range(-40, 41)}
    likely = {k: mass for k, mass in masses.items() if mass > 1e-9}
    noise = np.array(list(product(likely, repeat=3)))
    chances = np.prod(np.vectorize(likely.get)(noise), axis=1)
    off = np.abs(noise @ weights.T).max(axis=1)
    width = tree.prefix_error(level)
    assert chances[off <= width].sum() >= float(Fraction(level)) - 1e-6
    if level == "0.95" and price != {"epsilon": 6}:  # where noise is mostly 0, little is too narrow
        assert chances[off <= 0.66 * width].sum() < 0.95


def drawn(mechanism, runs, seed):
    """How far all prefixes are off, at the most, in so many releases of empty cells."""
    with seeded(seed):
        return np.array([np.abs(np.cumsum(mechanism.release([0] * mechanism.cells))).max() for _ in range(runs)])


@pytest.mark.parametrize(
    ("mechanism", "most"),
    [
        (Histogram(cells=2, epsilon="1/2000"), 0.965),
        (Histogram(cells=12, epsilon="1/2000"), 0.965),
        (Histogram(cells=12, rho="1e-7"), 0.975),
        (Tree(cells=12, epsilon="1/2000", unit=REPLACE), 0.982),
        (Tree(cells=100, epsilon="1/2000"), 0.989),
        (Tree(cells=12, rho="1e-7"), 0.972),
        (Tree(cells=100, rho="1e-7"), 0.972),
        (Tree(cells=30, epsilon="1/10"), 0.985),
        (Tree(cells=30, rho="1/100"), 0.985),
    ],
    ids=lambda value: f"{type(value).__name__} of {value.cells}, {value.noise.law}" if hasattr(value, "cells") else "",
)
def test_bands_are_hardly_wider_than_they_must_be(mechanism, most):
    """2,000 releases at 95%: below 92.6% once in a million if it were 95%. By Chernoff's bound 99.3% and more held."""
    off = drawn(mechanism, 2000, 17)
    held = (off <= mechanism.prefix_error("0.95")).mean()
    assert 0.926 <= held <= most
    assert (off <= mechanism.prefix_error("0.5")).mean() >= 0.445
    assert (off <= mechanism.prefix_error("0.999")).mean() >= 0.994
    assert (off <= 0.8 * mechanism.prefix_error("0.95")).mean() < 0.926  # a band that is too narrow is found


@pytest.mark.parametrize("price", [{"epsilon": "1/1000"}, {"rho": "1e-6"}, {"epsilon": 1}, {"rho": "1/2"}], ids=str)
@pytest.mark.parametrize("cells", [2, 12, 100, 400])
def test_never_wider_than_by_chernoff_and_rising_with_confidence(price, cells):
    for mechanism in (Histogram(cells=cells, **price), Tree(cells=cells, **price), Tree(cells=cells, unit=REPLACE, **price)):
        widths = []
        for level in (*LEVELS, "0.99999999", "0.9999999999"):
            squares = mechanism.shape.prefix_squares() if isinstance(mechanism, Tree) else cells
            chernoff = sum_width(mechanism.noise.law, squares=squares, level=Fraction(level))
            widths.append(mechanism.prefix_error(level))
            assert widths[-1] <= chernoff
            if price in ({"epsilon": "1/1000"}, {"rho": "1e-6"}) and level in LEVELS:
                assert widths[-1] < 0.93 * chernoff
        assert widths == sorted(widths)


def test_many_cells_and_a_public_total_have_their_width():
    wide = Tree(cells=5000, epsilon=1)
    assert wide.prefix_error("0.95") == sum_width(
        wide.noise.law, squares=wide.shape.prefix_squares(), level=Fraction(95, 100)
    )
    for price in ({"epsilon": "1/100"}, {"rho": "1e-4"}):
        known = Tree(cells=20, rows=500, unit=REPLACE, **price)
        counts = [25] * 20
        with seeded(3):
            off = np.abs([np.cumsum(known.release(counts)) - np.cumsum(counts) for _ in range(1000)])
        assert off[:, -1].max() < 1e-6  # the last sum is public
        assert 0.92 <= (off.max(axis=1) <= known.prefix_error("0.95")).mean() <= 0.985
