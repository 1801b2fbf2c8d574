"""Forests: the law of their release by enumeration, planted bugs, the noise that is chosen, the trees."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import dither
from dither.errors import InputError
from dither.learn import ForestClassifier, ForestRegressor
from dither.learn.base.cells import read_cells, scaled
from dither.learn.base.columns import read_bounds
from dither.learn.base.rows import Rows
from dither.learn.trees import forest
from dither.learn.trees.forest_regressor import TARGET_STEPS
from dither.learn.trees.path_shrinkage import pooled_shares, shrunk_shares
from dither.learn.trees.random_trees import random_trees
from dither.noise.laplace import DiscreteLaplace
from dither.testing import seeded
from tests.learn.neighbours import largest_epsilon

DOMAIN = [([x], label) for x in (-0.9, 0.9, np.nan) for label in ("a", "b", "unknown")]
TARGETS = [([x], target) for x in (-0.9, 0.9, np.inf) for target in (-1.0, 0.3, 1e9, np.nan)]
UNITS = ["add/remove one person", "replace one person"]
NEAR = range(-2, 5)


def classifier(**changed):
    return ForestClassifier(**{"epsilon": 1, "bounds": [(-1, 1)], "classes": ["a", "b"], "depth": 1} | changed)


def regressor(**changed):
    return ForestRegressor(**{"epsilon": 1, "bounds": [(-1, 1)], "target_bounds": (-1, 1), "depth": 1} | changed)


@pytest.mark.parametrize("unit", UNITS)
def test_the_law_of_a_release_by_enumeration(unit):
    """Every pair of neighbours of at most two rows, every output near them: at most e^epsilon, and it is reached."""
    for trees in (1, 2):
        assert largest_epsilon(classifier(unit=unit, trees=trees), DOMAIN, 2, [None], NEAR) == 1
    assert largest_epsilon(regressor(unit=unit, trees=2), TARGETS, 2, [None], [TARGET_STEPS * k for k in NEAR]) == 1


def test_the_law_where_a_released_count_chooses_the_number_of_trees():
    counts = [-5, 39, 40, 250]
    assert largest_epsilon(classifier(), DOMAIN, 2, counts, NEAR) == 1
    assert largest_epsilon(classifier(unit=UNITS[1]), DOMAIN, 2, counts, NEAR) <= 1  # a replacement leaves the count alone


def test_noise_has_the_law_of_the_enumeration():
    for scale in (Fraction(1), Fraction(20), Fraction(60, 19)):
        law = DiscreteLaplace(scale)
        for low, high in pairwise(range(4)):
            assert float(law.mass(low) / law.mass(high)) == pytest.approx(np.exp(1 / float(scale)))


def twice(trees, rows, values):
    return 2 * forest_leaf_sums(trees, rows, values)


def everywhere(trees, rows, values):
    found = forest_leaf_sums(trees, rows, values)
    missing = np.isnan(rows.numbers[:, 0]) if rows.count else np.zeros(0, dtype=bool)
    return found + np.int64(values[missing | (rows.numbers[:, 0] == 0)].sum())


def cut_at_the_median(trees, rows, values):
    if rows.count:
        trees.cut[:] = np.median(rows.numbers[:, 0])
    return forest_leaf_sums(trees, rows, values)


forest_leaf_sums = forest.leaf_sums


@pytest.mark.parametrize("bug", [twice, everywhere, cut_at_the_median], ids=lambda bug: bug.__name__)
def test_planted_bugs_of_sums_are_found(bug, monkeypatch):
    monkeypatch.setattr(forest, "leaf_sums", bug)
    assert largest_epsilon(classifier(trees=1), DOMAIN, 2, [None], NEAR) > 1


def test_a_true_count_that_chooses_the_trees_is_found(monkeypatch):
    def true_count(_, facts, release):
        return 30.0 * release._rows.count, Fraction(0), ()

    monkeypatch.setattr(forest.PrivateForest, "_known_rows", true_count)
    assert largest_epsilon(classifier(), DOMAIN, 2, [None], NEAR) > 1


def test_a_norm_that_forgets_the_trees_is_found(monkeypatch):
    true = forest.Release.scale
    monkeypatch.setattr(forest.Release, "scale", lambda self, norm1, share: true(self, 1, share))
    assert largest_epsilon(classifier(trees=2), DOMAIN, 2, [None], NEAR) == 2


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({}, "pure"),
        ({"delta": "1e-6"}, "gaussian"),
        ({"delta": "1e-6", "rows": 500}, "pure"),
        ({"delta": "1e-6", "rows": 100_000}, "gaussian"),
        ({"delta": "1e-6", "trees": 10}, "pure"),
        ({"delta": "1e-6", "trees": 30}, "gaussian"),
        ({"epsilon": None, "guarantee": dither.approx(1, "1e-6"), "trees": 3}, "pure"),
        ({"epsilon": None, "guarantee": dither.gdp("0.3"), "trees": 3}, "gaussian"),
        ({"epsilon": None, "guarantee": dither.pure(1), "trees": 30}, "pure"),
    ],
)
def test_the_noise_that_is_smaller_is_chosen_before_the_charge(changed, kind):
    for make in (classifier, regressor):
        told = make(**changed).quote(500)
        assert make(**changed)._facts(read_cells(np.zeros((0, 1))), None).price.kind == kind
        assert (told.guarantee == dither.pure(1)) == (kind == "pure")
    assert told.words[0].endswith("trees of depth 1")
    assert "500 rows in 8 leaves are 62.5 in each" in classifier(depth=3).quote(500).words[1]


@pytest.mark.parametrize(
    "changed",
    [
        {"trees": 0},
        {"trees": 1001},
        {"trees": 2.5},
        {"depth": 0},
        {"depth": 13},
        {"depth": None},
        {"depth": 12, "trees": 1000},
        {"structure_seed": -1},
    ],
    ids=str,
)
def test_parameters_are_refused_before_the_charge(changed):
    with dither.Ledger.temporary(dither.pure(1), domain="learn") as ledger:
        for make in (classifier, regressor):
            with pytest.raises(InputError):
                make(ledger=ledger, **changed).fit([[0.5]], ["a"] if make is classifier else [0.5])
        classifier(ledger=ledger).fit([[0.5]], ["a"])  # nothing was charged before


def rows_of(table, bounds):
    cells = read_cells(np.array(table, dtype=object))
    columns = read_bounds(bounds, None, len(table[0]))
    return columns, Rows(*scaled(cells, columns))


def test_a_tree_sends_each_row_to_one_leaf():
    bounds = [(0, 10), ["x", "y", "z"], ["only"]]
    table = [[k, c, o] for k in (0, 2.5, 5, 10, None, "?") for c in ("x", "y", "z", "w", None) for o in ("only", "other")]
    columns, rows = rows_of(table, bounds)
    trees = random_trees(columns, 20, 4, seed=3)
    found = [trees.leaves(rows, tree) for tree in range(20)]
    assert all((leaf >= 0).all() and (leaf < 16).all() for leaf in found)
    assert max(len(set(leaf.tolist())) for leaf in found) > 5
    again = random_trees(columns, 20, 4, seed=3)
    assert all((again.leaves(rows, tree) == found[tree]).all() for tree in range(20))
    assert any((random_trees(columns, 20, 4, seed=4).leaves(rows, tree) != found[tree]).any() for tree in range(20))


def test_categories_alone_and_a_list_of_one():
    columns, rows = rows_of([["x"], ["y"], ["w"]], [["x", "y"]])
    leaves = random_trees(columns, 1, 3, seed=0).leaves(rows, 0)
    assert len({leaves[0], leaves[1]}) == 2
    columns, rows = rows_of([["x"], ["w"]], [["x"]])
    assert random_trees(columns, 1, 3, seed=0).leaves(rows, 0).tolist() == [0, 0]


def test_shares_follow_counts_where_there_is_no_noise_and_parents_where_there_is():
    counts = np.array([[[90.0, 10.0], [0.0, 100.0]]])
    leaves, roots = shrunk_shares(counts, 1e-9)
    assert leaves == pytest.approx(np.array([[[0.9, 0.1], [0.0, 1.0]]]), abs=1e-6)
    assert roots == pytest.approx(np.array([[0.45, 0.55]]), abs=1e-6)
    assert pooled_shares(counts, 1e-9) == pytest.approx(np.array([0.45, 0.55]), abs=1e-6)
    leaves, roots = shrunk_shares(counts, 1e9)
    assert leaves == pytest.approx(np.full((1, 2, 2), 0.5), abs=1e-3)
    assert pooled_shares(counts, 1e9) == pytest.approx(np.full(2, 0.5), abs=1e-3)


def test_a_rare_class_is_predicted_by_many_trees():
    """A sum of logarithms of shares counts the prior once a tree, and would never predict it."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (20_000, 3))
    label = np.where(X[:, 0] > 0.75, "rare", "often")
    with warnings.catch_warnings(action="ignore"), seeded(4):
        model = ForestClassifier(epsilon=3, bounds=(-1, 1), classes=["often", "rare"], trees=30, depth=6).fit(X, label)
    assert 0.05 < (model.predict(X) == "rare").mean() < 0.25


def test_few_rows_are_learnt_from():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (600, 2))
    kind = np.where(X[:, 0] > 0.2, "a", "b")
    with warnings.catch_warnings(action="ignore"), seeded(5):
        model = ForestClassifier(epsilon=2, bounds=(-1, 1), classes=["a", "b"]).fit(X, kind)
        number = ForestRegressor(epsilon=2, bounds=(-1, 1), target_bounds=(-1, 1)).fit(X, X[:, 0])
    assert model.score(X, kind, public=True) > 0.8
    assert number.score(X, X[:, 0], public=True) > 0.3
    assert (abs(number.predict(X)) <= 1).all()
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
