"""Trees: the exact law, least squares in fractions, errors."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dither.density import Histogram, Tree
from dither.density.histograms.counts import LARGEST_COUNT, read_counts
from dither.density.histograms.noise_tails import sum_width
from dither.density.histograms.tree import nodes_moved
from dither.errors import DataError, InputError, NumberError, SizeError, UnitError
from dither.testing import check_mechanism, seeded
from dither.testing.enumerate import outcomes
from tests.density.exact import ADD, REPLACE, check_claim, solve, tree_rows

KINDS = [
    *({"root": root, "unit": unit} for root in ("noisy", "absent") for unit in (ADD, REPLACE)),
    {"rows": 9, "unit": REPLACE},
]
ROWS = [{"root": "noisy", "unit": "add/remove one row"}, {"rows": 9, "unit": "replace one row"}]


def listed(tree):
    return lambda counts: [level.tolist() for level in tree.nodes(counts)]


def made(cells, branching, rate=6, **kind):
    """A tree with this rate of noise in every node."""
    model = Tree(cells=cells, branching=branching, epsilon=1, **kind)
    return Tree(cells=cells, branching=branching, epsilon=rate * nodes_moved(model.shape, model.unit), **kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(("cells", "branching"), [(2, 2), (3, 2), (3, 3)])
def test_the_exact_law_of_all_nodes_keeps_the_promise(cells, branching, kind):
    tree = made(cells, branching, rate=7, **kind)
    pairs = [pair for pair in tree.neighbours() if pair[0][-1] in (1, 3)]  # what is not at a bound moves as elsewhere
    assert len(pairs) >= cells
    check_claim(tree, listed(tree), pairs=pairs, cutoff="1e-11")


@pytest.mark.parametrize("kind", KINDS + ROWS, ids=str)
def test_the_promise_is_no_larger_than_what_a_person_moves(kind):
    """The noise of nodes is independent, so the largest log ratio is the rate times the L1 distance of true nodes."""
    for cells, branching in ((2, 2), (3, 2), (4, 2), (5, 3), (7, 2), (9, 3), (9, 9)):
        tree = Tree(cells=cells, branching=branching, epsilon=1, **kind)
        rows = np.array(tree_rows(tree.shape))
        moved = [
            rows @ (read_counts(one, cells=cells) - read_counts(other, cells=cells)) for one, other in tree.neighbours()
        ]
        assert max(np.abs(one).sum() for one in moved) == nodes_moved(tree.shape, tree.unit) == tree.noise.sensitivity
        assert max(np.square(one).sum() for one in moved) == nodes_moved(tree.shape, tree.unit)
        assert tree.noise.law.rate == Fraction(1, nodes_moved(tree.shape, tree.unit))
    gaussian = Tree(cells=9, branching=3, rho="0.5", **kind)
    assert gaussian.noise.sigma2 == nodes_moved(gaussian.shape, gaussian.unit)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_releases_pass_the_conformance_suite(kind):
    pairs = [([5, 4], [4, 5]), ([9, 0], [8, 1])] if "rows" in kind else None  # a false number of rows makes errors false
    check_mechanism(made(2, 2, **kind), cutoff="1e-10", pairs=pairs)
    check_mechanism(Tree(cells=2, branching=2, rho=12, **kind), cutoff="1e-8", pairs=pairs)


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2], KINDS[4]], ids=str)
@pytest.mark.parametrize(("cells", "branching"), [(2, 2), (3, 2), (4, 2), (5, 2), (7, 3), (8, 2), (9, 4), (10, 3), (6, 6)])
def test_consistency_is_least_squares_also_of_ragged_trees_and_exact_roots(cells, branching, kind):
    tree = Tree(cells=cells, branching=branching, epsilon=1, **kind)
    draw = np.random.default_rng(cells * branching)
    nodes = [draw.integers(-9, 30, size) for size in tree.shape.sizes[: tree.shape.levels]]
    rows = tree_rows(tree.shape)
    released = [int(x) for level in nodes for x in level]
    normal = [[sum(row[i] * row[j] for row in rows) for j in range(cells)] for i in range(cells)]
    right = [sum(row[i] * y for row, y in zip(rows, released, strict=True)) for i in range(cells)]
    if tree.rows is not None:  # Lagrange: one more unknown for the total
        nodes.append(np.array([tree.rows]))
        normal = [[*row, 1] for row in normal] + [[1] * cells + [0]]
        right = [*right, tree.rows]
    wanted = solve(normal, right)[:cells]
    assert tree.consistent(nodes) == pytest.approx([float(x) for x in wanted], abs=1e-11)
    if tree.rows is not None:
        assert tree.consistent(nodes).sum() == pytest.approx(tree.rows)


def test_large_counts_lose_no_digits():
    tree = Tree(cells=9, branching=3, epsilon=5000)
    counts = [LARGEST_COUNT - at for at in range(9)]
    assert tree.release(counts).tolist() == counts
    wide = Tree(cells=9, branching=3, epsilon=Fraction(1, 2**52))
    assert np.isfinite(wide.release(counts)).all()
    huge = [np.array([2**62, 2**62, 2**62]), np.array([-(2**62)])]  # sums beyond 64 bits: each leaf gets (root - sum) / 4
    assert Tree(cells=3, branching=3, root="noisy", epsilon=1).consistent(huge).tolist() == [0, 0, 0]
    edge = [np.array([2**37, 0, 0]), np.array([-(2**62)])]
    found = Tree(cells=3, branching=3, root="noisy", epsilon=1).consistent(edge)
    assert found == pytest.approx(np.array([2.0**37, 0, 0]) + (-(2.0**62) - 2.0**37) / 4)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_errors_of_cells_prefixes_and_ranges_are_covered_exactly(kind):
    tree = made(3, 2, rate=2, **kind)
    truth = np.array([2, 3, 4])
    law = outcomes(tree.release, truth.tolist(), cutoff="1e-5")
    for confidence in ("0.5", "0.9", "0.95"):
        allowed = 1 - float(confidence)
        off = {"cell": 0.0, "prefix": 0.0, "range": 0.0}
        widths = {
            "cell": tree.error(confidence),
            "prefix": tree.prefix_error(confidence),
            "range": tree.range_error(confidence),
        }
        for key, mass in law.masses.items():
            gap = law.outputs[key] - truth
            sums = np.concatenate(([0], np.cumsum(gap)))
            found = {"cell": np.abs(gap).max(), "prefix": np.abs(sums).max(), "range": sums.max() - sums.min()}
            for name in off:
                off[name] += float(mass.upper()) * (found[name] > widths[name])
        assert all(chance <= allowed for chance in off.values())


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.5"}])
@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2], KINDS[4]], ids=str)
def test_errors_are_covered_and_not_far_too_wide(price, kind):
    """400 draws, the same in every run: at most 5% may lie outside."""
    tree = Tree(cells=40, branching=6, **price, **({**kind, "rows": 400} if "rows" in kind else kind))
    draws = 400
    with pytest.warns(UserWarning, match="NOT PRIVATE"), seeded(11):
        gaps = np.array([tree.release([10] * 40) - 10 for _ in range(draws)])
    sums = np.concatenate([np.zeros((draws, 1)), np.cumsum(gaps, axis=1)], axis=1)
    sizes = (np.abs(gaps).max(axis=1), np.abs(sums).max(axis=1), sums.max(axis=1) - sums.min(axis=1))
    for size, width in zip(sizes, (tree.error(0.95), tree.prefix_error(0.95), tree.range_error(0.95)), strict=True):
        assert (size > width).mean() <= 0.08
        assert (size > width / 2.6).mean() > 0.05
    squares = tree.variance * tree.shape.prefix_squares()
    kept = squares > 1e-9
    assert np.square(sums[:, 1:]).mean(axis=0)[kept] == pytest.approx(squares[kept], rel=0.4)


def test_every_cell_and_every_range_has_its_share_of_the_missing_probability():
    tree, level = Tree(cells=3000, branching=14, epsilon=1), Fraction(95, 100)
    law, shape = tree.noise.law, tree.shape
    assert tree.error(level) == sum_width(law, squares=shape.leaf_square(), events=3000, level=level)
    many = Tree(cells=10**6, branching=12, epsilon=1)
    every = 10**6 * (10**6 + 1) // 2
    wide = sum_width(many.noise.law, squares=many.shape.range_square(), events=every, level=level)
    assert many.range_error(level) == wide < 2 * many.prefix_error(level)
    assert tree.range_error(level) <= 2 * tree.prefix_error(level)
    with pytest.warns(UserWarning, match="NOT PRIVATE"), seeded(6):
        gaps = [tree.release([0] * 3000) for _ in range(40)]
    spans = [np.ptp(np.concatenate(([0.0], np.cumsum(gap)))) for gap in gaps]
    assert max(spans) < tree.range_error(level) < 2.5 * np.mean(spans)


def test_many_cells_take_the_bound_in_place_of_a_list():
    few, many = Tree(cells=2**16, epsilon=1, branching=16), Tree(cells=2**16 + 1, epsilon=1, branching=16)
    assert few.prefix_error("0.95") < many.prefix_error("0.95")
    assert many.release(np.ones(2**16 + 1, dtype=int)).shape == (2**16 + 1,)


def test_the_branching_and_root_with_the_least_expected_error_are_taken():
    assert (Tree(cells=64, epsilon=1).branching, Tree(cells=64, epsilon=1).root) == (14, "absent")
    assert Tree(cells=64, epsilon=1, unit=REPLACE).root == "noisy"  # there its noise costs nothing
    assert Tree(cells=64, epsilon=1, unit=REPLACE, rows=5).root == "exact"
    for price in ({"epsilon": 1}, {"rho": 1}):
        best = Tree(cells=100, **price)
        others = [Tree(cells=100, branching=b, root=root, **price) for b in (2, 5, 10, 100) for root in ("noisy", "absent")]
        mean = best.variance * best.shape.mean_prefix()
        assert all(mean <= other.variance * other.shape.mean_prefix() * (1 + 1e-9) for other in others)
    flat = Histogram(cells=64, epsilon=1)
    best = Tree(cells=64, epsilon=1)
    assert best.variance * best.shape.mean_prefix() < 0.6 * flat.variance * 65 / 2


def test_plain_things():
    tree = Tree(cells=5, epsilon=1, rows=7, unit=REPLACE)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert tree.truth([1, -2, 3, 10**99, 0]) == [1, 0, 3, LARGEST_COUNT, 0]
    assert tree.release([1, 2, 3, 1, 0]).sum() == pytest.approx(7)
    assert Tree(cells=5, rho=1).guarantee.rho() == pytest.approx(1)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"cells": 1, "epsilon": 1}, NumberError),
        ({"cells": 5}, NumberError),
        ({"cells": 5, "epsilon": 1, "rho": 1}, NumberError),
        ({"cells": 5, "epsilon": 1, "branching": 1}, NumberError),
        ({"cells": 5, "epsilon": 1, "branching": 6}, SizeError),
        ({"cells": 5, "epsilon": 1, "root": "exact"}, DataError),
        ({"cells": 5, "epsilon": 1, "root": "noisy", "rows": 5, "unit": REPLACE}, DataError),
        ({"cells": 5, "epsilon": 1, "root": 1}, DataError),
        ({"cells": 5, "epsilon": 1, "rows": 5}, UnitError),
        ({"cells": 5, "epsilon": 1, "rows": -1, "unit": REPLACE}, NumberError),
        ({"cells": 5, "epsilon": 1, "rows": 2**36, "unit": REPLACE}, SizeError),
        ({"cells": 5, "epsilon": math.inf}, NumberError),
        ({"cells": 2**25, "epsilon": 1}, SizeError),
    ],
)
def test_what_is_refused(wrong, kind):
    with pytest.raises(kind):
        Tree(**wrong)
    with pytest.raises(InputError):
        Tree(cells=3, epsilon=1, unit=ADD).release([1, 2])
