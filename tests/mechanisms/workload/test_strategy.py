"""Strategies: exact norms, the optimum against its bounds and against known ones, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.errors import InputError, SizeError
from dither.mechanisms.workload import strategy
from dither.mechanisms.workload.column_norms import largest_l1, largest_l2_squared
from dither.mechanisms.workload.strategy import gaussian, laplace, read_queries, tree, whole_rows
from dither.mechanisms.workload.strategy_optimum import optimise

RANDOM = np.random.default_rng(20240229)


def prefix(cells):
    return np.tril(np.ones((cells, cells)))


def ranges(cells):
    pairs = [(low, high) for low in range(cells) for high in range(low, cells)]
    return np.array([[float(low <= cell <= high) for cell in range(cells)] for low, high in pairs])


def rmse(queries, matrix, *, noise="gaussian", replace=False):
    """The definition, by another way than the library's."""
    norm = brute(matrix, power=1 if noise == "laplace" else 2, replace=replace)
    answers = np.asarray(queries, dtype=float) @ np.linalg.pinv(matrix.astype(float))
    assert np.allclose(answers @ matrix, queries, atol=1e-6), "the queries follow from the strategy"
    return (norm if noise == "laplace" else math.sqrt(norm)) * math.sqrt(np.square(answers).sum() / len(queries))


def brute(matrix, *, power, replace):
    columns = [[int(entry) for entry in column] for column in np.asarray(matrix).T]
    zero = [[0] * len(columns[0])]
    pairs = ((a, b) for a in columns for b in (columns if replace else zero))
    return max(sum(abs(x - y) ** power for x, y in zip(a, b, strict=True)) for a, b in pairs)


# -- exact norms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [1, 3, 2**20, 2**32])
@pytest.mark.parametrize("low", [0, -1])
def test_norms_are_those_of_all_columns_and_pairs(largest, low):
    for rows, cells in ((1, 1), (1, 4), (5, 3), (4, 7)):
        matrix = RANDOM.integers(low * largest, largest, (rows, cells), endpoint=True)
        for replace in (False, True):
            assert largest_l1(matrix, replace=replace) == brute(matrix, power=1, replace=replace)
            assert largest_l2_squared(matrix, replace=replace) == brute(matrix, power=2, replace=replace)


def test_norms_beyond_doubles_are_exact():
    matrix = np.array([[2**32, -(2**32) + 1], [2**32 - 1, 2**32 - 3]])
    assert largest_l2_squared(matrix, replace=False) == 2**64 + (2**32 - 1) ** 2
    assert largest_l2_squared(matrix, replace=True) == (2**33 - 1) ** 2 + 4


# -- the optimum -------------------------------------------------------------------------------------------------------

WORKLOADS = {
    "prefix": prefix(20),
    "ranges": ranges(12),
    "weighted": np.vstack([np.diag(np.arange(1.0, 9.0)), 3 * np.ones((1, 8))]),
    "few queries": RANDOM.integers(0, 2, (4, 15)).astype(float),
    "one direction twice": np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]]),
    "duplicates": np.repeat(prefix(6), [1, 1, 7, 1, 1, 1], axis=0),
    "cells nobody asks about": prefix(9)[:, ::-1] * (np.arange(9) % 3 > 0),
    "reals": RANDOM.standard_normal((10, 7)),
    "powers": np.vander(np.linspace(-1, 1, 30), 6).T,
    "a query of nothing": np.vstack([np.zeros((1, 5)), prefix(5)]),
    "one cell": np.array([[3.0]]),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_rmse_lies_between_the_bounds_and_is_what_the_matrix_attains(name):
    queries = WORKLOADS[name]
    found = gaussian(queries, rounds=1000)
    assert found.matrix.dtype == np.int64
    assert found.norm == brute(found.matrix, power=2, replace=False)
    assert found.rmse == pytest.approx(rmse(queries, found.matrix), rel=1e-6)
    assert found.svd_bound <= found.dual_bound * (1 + 1e-9)
    assert found.dual_bound <= found.rmse * (1 + 1e-9)
    assert found.rmse <= found.dual_bound * (1 + 2e-4)
    assert all(other >= found.dual_bound * (1 - 1e-9) for other in found.compared.values())
    assert found.rmse <= min(found.compared.values()) * (1 + 1e-6)
    asked = queries.any(axis=0)
    assert not found.matrix[:, ~asked].any()
    singular = np.linalg.svd(queries, compute_uv=False).sum()
    assert found.svd_bound == pytest.approx(singular / math.sqrt(asked.sum() * len(queries)), rel=1e-5)


def test_the_dual_is_a_bound_after_every_round_and_rises():
    gram = prefix(24).T @ prefix(24)
    found = [optimise(gram, gap=0.0, rounds=rounds) for rounds in range(1, 25)]
    lower, upper = [one.lower for one in found], [one.upper for one in found]
    assert lower == sorted(lower)
    assert upper == sorted(upper, reverse=True)
    assert max(lower) <= min(upper)
    for one in found:
        inverse = np.linalg.inv(one.matrix.T @ one.matrix)
        assert np.square(one.matrix).sum(axis=0).max() == pytest.approx(1)
        assert np.trace(gram @ inverse) == pytest.approx(one.upper)


def test_two_cells_by_exhaustion():
    """With two cells a strategy of norm 1 has X = [[1, c], [c, 1]]: all c are tried."""
    queries = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]])
    gram = queries.T @ queries
    steps = np.linspace(-0.999, 0.999, 20001)
    tried = (gram[0, 0] + gram[1, 1] - 2 * steps * gram[0, 1]) / (1 - steps**2)
    assert gaussian(queries, gap=1e-7).rmse == pytest.approx(math.sqrt(tried.min() / 3), rel=1e-6)


def test_nothing_is_better_than_identity_for_single_cells():
    found = gaussian(np.eye(8))
    assert found.name == "identity"
    assert found.bits == 0
    assert (found.matrix == np.eye(8)).all()
    assert found.rmse == pytest.approx(1)
    assert found.dual_bound == pytest.approx(1)
    assert laplace(np.eye(8)).name == "identity"


def test_a_total_is_released_as_it_is():
    for found in (gaussian(np.full((1, 9), 0.5)), laplace([[2] * 9])):
        assert found.name == "queries"
        assert found.matrix.tolist() == [[1] * 9]
        assert found.norm == 1


# Figures of the reference for epsilon = 1 and delta = 1e-6, where a deviation of 4.2247 is one unit of noise.
UNIT = 4.2247


@pytest.mark.parametrize(
    ("cells", "toeplitz", "eigen", "svd", "optimum"),
    [(64, 9.42, 11.2, 8.62, 2.0999), (256, 11.3, 13.8, 10.4, 2.5244)],
)
def test_prefixes_against_known_strategies(cells, toeplitz, eigen, svd, optimum):
    found = gaussian(prefix(cells))
    root = np.cumprod([1.0, *((2 * i - 1) / (2 * i) for i in range(1, cells))])
    own = math.sqrt(np.square(root).sum() * np.cumsum(np.square(root)).mean())
    assert own * UNIT == pytest.approx(toeplitz, rel=5e-3)
    assert found.rmse < 0.95 * own
    assert found.rmse * UNIT < eigen
    assert found.svd_bound * UNIT == pytest.approx(svd, rel=5e-3)
    assert found.svd_bound < found.dual_bound < found.rmse < found.dual_bound * (1 + 1e-4)
    assert found.rmse == pytest.approx(optimum, rel=2e-4)
    assert found.matrix.shape == (cells, cells)


def test_fewer_bits_cost_accuracy_and_nothing_else():
    coarse, fine = gaussian(prefix(16), bits=3), gaussian(prefix(16))
    assert coarse.norm == brute(coarse.matrix, power=2, replace=False)
    assert np.abs(coarse.matrix).max() <= 8
    assert fine.rmse < coarse.rmse < 1.2 * fine.rmse
    assert coarse.rmse == pytest.approx(rmse(prefix(16), coarse.matrix), rel=1e-9)


def test_units_of_the_queries_do_not_matter():
    one, other = gaussian(prefix(10)), gaussian(prefix(10) * 2.0**-40)
    assert (one.matrix == other.matrix).all()
    assert other.rmse == pytest.approx(one.rmse * 2.0**-40)


def test_replacement_has_its_own_norm_and_no_bound():
    found = gaussian(prefix(12), replace=True)
    assert found.norm == brute(found.matrix, power=2, replace=True)
    assert found.rmse == pytest.approx(rmse(prefix(12), found.matrix, replace=True), rel=1e-6)
    assert found.svd_bound is None
    assert found.dual_bound is None


# -- Laplace -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", WORKLOADS)
def test_laplace_takes_the_best_of_what_is_tried(name, replace):
    found = laplace(WORKLOADS[name], replace=replace)
    assert found.rmse == min(found.compared.values())
    assert found.norm == brute(found.matrix, power=1, replace=replace)
    assert found.rmse == pytest.approx(rmse(WORKLOADS[name], found.matrix, noise="laplace", replace=replace), rel=1e-6)
    if not replace:
        assert found.svd_bound <= found.rmse * (1 + 1e-9)


def test_laplace_figures_of_the_reference():
    tried = laplace(prefix(64)).compared
    for name, figure in {"identity": 8.06, "tree of 2": 9.42, "tree of 4": 7.31, "tree of 8": 6.91}.items():
        assert tried[name] * math.sqrt(2) == pytest.approx(figure, rel=2e-3)
    tried = laplace(prefix(256)).compared
    for name, figure in {"identity": 16.0, "tree of 2": 13.2, "tree of 4": 10.1, "tree of 16": 9.79}.items():
        assert tried[name] * math.sqrt(2) == pytest.approx(figure, rel=4e-3)
    assert laplace(ranges(32)).name == "identity"


def test_trees_of_ragged_sizes():
    levels = tree(5, 2)
    assert [level.sum(axis=1).tolist() for level in levels] == [[1] * 5, [2, 2, 1], [4, 1], [5]]
    assert all((level.sum(axis=0) == 1).all() for level in levels)
    assert len(tree(1, 2)) == 1


def test_whole_rows():
    assert whole_rows(np.array([[0.5, 1.5], [0.0, 0.0], [0.5, 1.5]])).tolist() == [[1, 3]]
    assert whole_rows(np.array([[6.0, -4.0]])).tolist() == [[3, -2]]
    assert whole_rows(np.array([[0.1, 1.0]])) is None


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        None, 3, "text", [], [[]], [1, 2], [[1], [1, 2]], [[0, 0]], [[math.nan]], [[1, math.inf]], [["1"]], [[True]], [[1j]],
        [[2**33]], [[10**400]], [[1e-30]], np.zeros((2, 3)), np.ones(4), np.ones((1, 1, 1)), np.ones((1, 1025)),
        np.array([[True]]), np.array([["a"]]), np.array([[1j]]), [[None]], {"a": 1},
    ],
    ids=lambda bad: repr(bad)[:20],
)  # fmt: skip
def test_bad_queries_are_refused_with_words(bad):
    for way in (gaussian, laplace, read_queries):
        with pytest.raises(InputError, match="is refused"):
            way(bad)


def test_bad_settings_are_refused_with_words():
    for bad in ({"bits": -1}, {"bits": 32}, {"bits": 2.5}, {"rounds": 0}):
        with pytest.raises(InputError, match="is refused"):
            gaussian([[1]], **bad)


def test_what_it_says():
    assert str(gaussian(prefix(4))).startswith("optimum (4 numbers): rmse 1.3")
    assert str(laplace([[1, 0], [0, 1]])) == "identity (2 numbers): rmse 1 for each unit of noise, and nothing is below 1"


def test_as_many_entries_as_there_may_be(monkeypatch):
    monkeypatch.setattr(strategy, "MOST_ENTRIES", 6)
    assert read_queries([[1, 2], [3, 4], [5, 6]]).size == 6
    with pytest.raises(SizeError, match="entries are optimised"):
        read_queries([[1, 2], [3, 4], [5, 6], [7, 8]])
    monkeypatch.setattr(strategy, "MOST_CELLS", 2)
    assert read_queries([[1, 2]]).size == 2
    with pytest.raises(SizeError, match="at most 2 cells"):
        read_queries([[1, 2, 3]])


@pytest.mark.parametrize("entry", [94_906_267, 120_000_001, 134_217_727, 2**31 - 1])
def test_norms_of_large_entries_are_exact(entry):
    """Squares from 2^53 on, all odd: no double holds them."""
    assert largest_l2_squared(np.array([[entry, -1]]), replace=True) == (entry + 1) ** 2
    assert largest_l2_squared(np.array([[entry, 0]]), replace=True) == entry**2
