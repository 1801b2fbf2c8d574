"""The exact law of pure releases, on every pair of neighbours of a small domain, in both units.

The loss of a release at its worst output is the L1 distance of the two statistics over the scale of the noise, exactly; of
several it is the sum, given the same earlier releases.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dither.learn.naive_bayes as naive_bayes
from dither.errors import GuaranteeError
from dither.learn import GaussianNB, KMeans, NearestCentroid
from dither.testing import seeded
from tests.learn.recorder import Recorder, distance, rows_of

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

CELLS = (-1.0, 0.0, 1.0, np.nan)
CLASSES = ["a", "b"]
UNITS = ("add/remove one person", "replace one person")
MAKERS = {
    "naive bayes": lambda unit: GaussianNB(epsilon="1/2", bounds=[(-1, 1), [0.0, 1.0]], classes=CLASSES, unit=unit),
    "centroid": lambda unit: NearestCentroid(epsilon="1/2", bounds=[(-1, 1), [0.0, 1.0]], classes=CLASSES, unit=unit),
    "k-means": lambda unit: KMeans(1, epsilon="1/2", bounds=(-1, 1), unit=unit, rows=100),
    "k-means few rows": lambda unit: KMeans(2, epsilon="1/2", bounds=(-1, 1), unit=unit, rows=3),
}


class Losses(Recorder):
    """The scale of each release beside its statistics."""

    def __init__(self, *given):
        super().__init__(*given)
        self.scales = []

    def geometric(self, statistic, shape, *, norm1, share):
        self.scales.append(self.scale(norm1, share))
        return super().geometric(statistic, shape, norm1=norm1, share=share)


def datasets(labels):
    people = list(product(CELLS, CELLS, labels))
    chosen = people[:: 5 if len(labels) > 1 else 1]  # 5 is prime to the numbers of cells and labels: all of them occur
    return [list(some) for size in range(3) for some in combinations_with_replacement(chosen, size)]


def losses(name, unit):
    """The largest loss between neighbours, at the worst output: exact."""
    model = MAKERS[name](unit)
    labelled = isinstance(model, (GaussianNB, NearestCentroid))
    several = datasets(["a", "b", "other"] if labelled else [None])
    found = []
    for rows in several:
        X = np.array([row[:2] for row in rows], dtype=float).reshape(len(rows), 2)
        found.append(rows_of(model, X, np.array([row[2] for row in rows], dtype=object) if labelled else None))
    facts = found[0][0]
    recorder = Losses(facts.price, [rows for _, rows in found], np.random.default_rng(2))
    model._learn(facts, recorder)
    worst = Fraction(0)
    for one, other in neighbours(several, unit):
        loss = Fraction(0)
        for values, claim, scale in zip(recorder.seen, recorder.claims, recorder.scales, strict=True):
            loss += distance(values[one], values[other], claim) / scale
        worst = max(worst, loss)
    return worst


def neighbours(several, unit):
    """Places of data sets that differ by one person: without her, or with another in her place."""
    bags = {repr(sorted(map(repr, rows))): place for place, rows in enumerate(several)}
    without = {
        (place, bags[repr(sorted(map(repr, rows[:who] + rows[who + 1 :])))])
        for place, rows in enumerate(several)
        for who in range(len(rows))
    }
    if unit.startswith("add"):
        return without
    hubs = {}
    for more, less in without:
        hubs.setdefault(less, []).append(more)
    return {(a, b) for those in hubs.values() for a in those for b in those if a != b}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", MAKERS)
def test_no_output_tells_neighbours_apart_by_more_than_epsilon(name, unit):
    worst = losses(name, unit)
    assert worst <= Fraction(1, 2)
    assert worst > Fraction(1, 4)  # the price is not paid for nothing


def test_a_triple_that_weighs_too_much_is_found(monkeypatch):
    """The count as a number of its own, beside triples that hold it already."""
    honest = naive_bayes.bernstein_sums

    def heavier(rows, facts):
        found = honest(rows, facts)
        return found + found.sum(axis=1, keepdims=True) // found.shape[1]

    monkeypatch.setattr(naive_bayes, "bernstein_sums", heavier)
    assert losses("naive bayes", UNITS[0]) > Fraction(1, 2)


def test_bounds_from_the_data_are_found(monkeypatch):
    """Numbers scaled by the largest of them: one person moves what the others add."""
    monkeypatch.setattr(naive_bayes, "_steps", lambda rows: np.rint(_by_largest(rows.numbers) * naive_bayes.STEPS))
    assert losses("naive bayes", UNITS[0]) > Fraction(1, 2)


def _by_largest(numbers):
    low = numbers.min(axis=0, initial=0.0)
    return np.clip((numbers - low) / np.maximum(numbers.max(axis=0, initial=0.0) - low, 1e-9), 0.0, 1.0)


# -- what is learned -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("kind", [GaussianNB, NearestCentroid])
def test_classes_that_lie_apart_are_told_apart(kind, delta):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 3000)
    X = np.stack([rng.normal(10 * y, 2), rng.normal(0, 1, 3000), y == 1], axis=1)
    bounds = [(-10, 30), (-5, 5), [False, True]]
    with seeded(1):
        model = kind(epsilon=1, delta=delta, bounds=bounds, classes=[0, 1, 2]).fit(X, y)
    assert model.score(X, y, public=True) > 0.9
    assert np.allclose(model.predict_proba(X[:50]).sum(axis=1), 1)
    centers = model.theta_ if kind is GaussianNB else model.centroids_
    assert np.abs(centers[:, 0] - [0, 10, 20]).max() < 2
    if kind is GaussianNB:
        assert np.abs(model.var_[:, 0] / 4 - 1).max() < 1


def test_an_unlisted_category_says_nothing():
    with seeded(1):
        model = GaussianNB(epsilon=100, bounds=[["x", "y"]], classes=[0, 1]).fit(
            [["x"]] * 60 + [["y"]] * 40, [0] * 60 + [1] * 40
        )
    assert np.allclose(model.predict_proba([["z"], [None]]), model.class_prior_)


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_clusters_that_lie_apart_are_found(delta):
    rng = np.random.default_rng(4)
    middles = np.array([[20.0, 20.0], [80.0, 30.0], [50.0, 80.0]])
    X = middles[rng.integers(0, 3, 6000)] + rng.normal(0, 4, (6000, 2))
    with seeded(2):
        model = KMeans(3, epsilon=1, delta=delta, bounds=(0, 100)).fit(X)
    found = model.cluster_centers_[model.predict(middles)]
    assert np.abs(found - middles).max() < 3
    assert (model.transform(X[:20]).argmin(axis=1) == model.predict(X[:20])).all()
    assert "one mean" not in model.explain()


def test_directions_find_clusters_of_many_columns():
    rng = np.random.default_rng(5)
    middles = rng.uniform(20, 80, (3, 10))
    X = middles[rng.integers(0, 3, 20000)] + rng.normal(0, 3, (20000, 10))
    with seeded(2):
        model = KMeans(3, epsilon=2, delta="1e-6", bounds=(0, 100)).fit(X)
    assert np.abs(model.cluster_centers_[model.predict(middles)] - middles).max() < 5


def test_too_few_rows_for_clusters_are_said_in_words():
    with seeded(1):
        model = KMeans(5, epsilon="0.1", bounds=(0, 1)).fit(np.full((20, 2), 0.5))
    assert "one mean" in model.explain()
    assert "one mean" in str(model.quote(20, 2))
    assert model.cluster_centers_.shape == (5, 2)


def test_pure_epsilon_is_for_few_columns():
    with pytest.raises(GuaranteeError, match="Gaussian"):
        KMeans(2, epsilon=1, bounds=(0, 1)).fit(np.zeros((5, 4)))
