"""Trees on paper: variances, weights and expected errors against dense algebra."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.density.histograms.tree_shape import TreeShape, branchings
from tests.density.exact import tree_rows

SHAPES = [
    TreeShape(cells=m, branching=b, root=root)
    for m in (2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 27)
    for b in sorted({2, 3, 4, 5, m})
    for root in ("noisy", "absent", "exact")
    if b <= m
]


def covariance(shape):
    """Of the least squares estimates of all cells, and the weights of the released nodes in them."""
    rows = np.array(tree_rows(shape), dtype=float)
    inverse = np.linalg.inv(rows.T @ rows)
    if shape.root == "exact":
        ones = inverse.sum(axis=1, keepdims=True)
        inverse = inverse - ones @ ones.T / inverse.sum()
    return inverse, inverse @ rows.T


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_variances_and_weights_agree_with_dense_algebra(shape):
    inverse, back = covariance(shape)
    cells = shape.cells
    prefixes = np.tri(cells)
    ranges = np.array(
        [[i <= c < j for c in range(cells)] for i in range(cells) for j in range(i + 1, cells + 1)], dtype=float
    )
    ofs = [np.einsum("ij,jk,ik->i", table, inverse, table) for table in (prefixes, ranges)]
    assert shape.prefix_squares() == pytest.approx(ofs[0], abs=1e-9)
    assert shape.mean_prefix() == pytest.approx(ofs[0].mean(), abs=1e-9)
    assert shape.mean_range() == pytest.approx(ofs[1].mean(), abs=1e-9)
    assert ofs[0].max() <= shape.prefix_square() + 1e-9
    assert ofs[1].max() <= shape.range_square() + 1e-9
    assert shape.prefix_square() <= 2.5 * ofs[0].max() + 1e-9
    largest = inverse.diagonal().max()
    assert largest - 1e-9 <= shape.leaf_square() <= 1.1 * largest + 1e-9
    # the theorem is about any weights in [0, 1], or in another interval of length 1 that holds 0
    some = np.random.default_rng(cells).uniform(0, 1, (50, cells)).round()
    assert np.abs(np.vstack([ranges, some]) @ back).max() <= 1 + 1e-9
    for share in (0.25, 0.9):
        less = prefixes - share
        assert shape.contrast_squares(share) == pytest.approx(np.einsum("ij,jk,ik->i", less, inverse, less), abs=1e-9)
        assert np.abs(np.vstack([less, some - share]) @ back).max() <= 1 + 1e-9


def test_sizes_of_ragged_trees():
    shape = TreeShape(cells=10, branching=3, root="noisy")
    assert shape.sizes == [10, 4, 2, 1]
    assert [shape.last_children(level) for level in (1, 2, 3)] == [1, 1, 2]
    assert [TreeShape(cells=10, branching=3, root=root).levels for root in ("noisy", "exact", "absent")] == [4, 3, 3]


@pytest.mark.parametrize(
    ("cells", "branching", "prefix", "ranged"),
    [(64, 4, 7.31, 8.63), (64, 8, 6.91, 7.99), (256, 4, 10.1, 12.4), (256, 16, 9.79, 11.6)],
)
def test_known_figures_of_trees_with_a_noisy_root(cells, branching, prefix, ranged):
    """Continuous Laplace noise at epsilon = 1: variance 2 H^2."""
    shape = TreeShape(cells=cells, branching=branching, root="noisy")
    assert shape.levels * math.sqrt(2 * shape.mean_prefix()) == pytest.approx(prefix, rel=0.005)
    assert shape.levels * math.sqrt(2 * shape.mean_range()) == pytest.approx(ranged, rel=0.005)


def test_a_tree_of_one_level_without_root_is_flat():
    shape = TreeShape(cells=12, branching=12, root="absent")
    assert shape.mean_prefix() == pytest.approx(13 / 2)
    assert shape.prefix_square() == pytest.approx(12)
    assert shape.leaf_square() == pytest.approx(1)


def test_branchings_reach_every_height():
    assert branchings(2) == [2]
    assert {64, 8, 4, 3, 2} <= set(branchings(64))
    assert max(branchings(10**7)) <= 1024
    for cells in (2, 3, 100, 10**7):
        assert all(2 <= b <= cells for b in branchings(cells))
