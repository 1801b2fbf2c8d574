"""Boosting: exact distances on every small pair, planted bugs, residuals, scores, shape functions and charts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dither
from dither.errors import InputError
from dither.learn import BoostingClassifier, BoostingRegressor
from dither.learn.base.cells import read_cells, scaled
from dither.learn.base.columns import read_bounds
from dither.learn.base.rows import Rows
from dither.learn.trees import boosting, boosting_classifier, boosting_regressor, residuals
from dither.learn.trees.additive_scores import AdditiveScores
from dither.learn.trees.bins import bin_count, bin_words, random_groups, row_bins
from dither.testing import seeded
from tests.learn.neighbours import largest_mu2
from tests.seeds import examples

UNITS = ["add/remove one person", "replace one person"]
PRICE = {"epsilon": None, "guarantee": dither.gdp(1), "bounds": [(-1, 1)], "rounds": 2}
DOMAIN = [([x], label) for x in (-0.9, 1.5, np.nan) for label in ("a", "b", "c", "unknown")]
TARGETS = [([x], target) for x in (-0.9, np.inf) for target in (-1.0, 0.3, 1e9, np.nan)]


def classifier(**changed):
    return BoostingClassifier(**PRICE | {"classes": ["a", "b", "c"]} | changed)


def regressor(**changed):
    return BoostingRegressor(**PRICE | {"target_bounds": (-1, 1)} | changed)


def unit_price(unit):
    return dither.gdp(1, unit=unit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]], ids=len)
def test_every_pair_of_neighbours_is_within_mu(unit, classes):
    model = classifier(guarantee=unit_price(unit), unit=unit, classes=classes)
    assert 0 < largest_mu2(model, DOMAIN, 2, examples(3, 40)) <= 1


@pytest.mark.parametrize("unit", UNITS)
def test_every_pair_of_neighbours_is_within_mu_for_numbers(unit):
    """A residual at the cut is as long as is claimed, so mu is nearly reached; a row that is replaced keeps the count."""
    found = largest_mu2(regressor(guarantee=unit_price(unit), unit=unit), TARGETS, 2, examples(5, 40))
    assert (0.9 if unit == UNITS[0] else 0.4) < found <= 1


def uncut(scores, rows):
    return np.trunc(rows.targets * residuals.TARGET_UNIT)[:, None] - scores * 4.0


def mean_of_the_rows(scores, rows):
    return residuals.target_residuals(scores - np.int64(scores.sum() // 8 + rows.count), rows)


def position(scores, rows):
    found = residuals.target_residuals(scores, rows)
    found[::2] *= -1
    return found


@pytest.mark.parametrize("bug", [uncut, mean_of_the_rows, position], ids=lambda bug: bug.__name__)
def test_planted_bugs_of_residuals_are_found(bug, monkeypatch):
    monkeypatch.setattr(boosting_regressor, "target_residuals", bug)
    assert largest_mu2(regressor(), TARGETS, 2, 5) > 1


def test_a_row_that_enters_twice_is_found(monkeypatch):
    true = boosting.group_sums

    def twice(scores, loss, rows, column, groups, size):
        found = true(scores, loss, rows, column, groups, size)
        return found + found[::-1]

    monkeypatch.setattr(boosting, "group_sums", twice)
    assert largest_mu2(regressor(), TARGETS, 2, 2) > 1


def test_bins_of_the_rows_are_found(monkeypatch):
    """Bins by rank in place of public bounds: others move when one leaves."""

    def ranks(rows, columns):
        return np.argsort(np.argsort(rows.numbers, axis=0), axis=0) * 31 // max(1, rows.count - 1)

    monkeypatch.setattr("dither.learn.trees.additive_scores.row_bins", ranks)
    monkeypatch.setattr(boosting, "row_bins", ranks)
    assert largest_mu2(regressor(), TARGETS, 3, 3) > 1


def test_softmax_residuals_that_are_not_cut_are_found(monkeypatch):
    monkeypatch.setattr(
        boosting_classifier, "class_residuals", lambda scores, rows: 3 * residuals.class_residuals(scores, rows)
    )
    assert largest_mu2(classifier(), DOMAIN, 1, 2) > 1


def test_residuals_are_within_their_norm_at_every_score():
    line = np.arange(-2 * residuals.REACH, 2 * residuals.REACH + 1, 7, dtype=np.int64)[:, None]
    for label in (0, 1):
        rows = Rows(np.zeros((len(line), 1)), np.zeros((len(line), 0), dtype=np.int64), np.full(len(line), label))
        found = residuals.two_class_residuals(line, rows)
        assert (np.abs(found) <= residuals.UNIT).all()
        assert (found == np.rint(found)).all()
        assert ((found >= 0) if label else (found <= 0)).all()
    rng = np.random.default_rng(4)
    scores = np.concatenate([rng.integers(-(10**k), 10**k, (500, 4)) for k in range(1, 9)])
    rows = Rows(np.zeros((len(scores), 1)), np.zeros((len(scores), 0), dtype=np.int64), np.arange(len(scores)) % 4)
    found = residuals.class_residuals(scores, rows)
    assert (found == np.rint(found)).all()
    assert max(sum(int(one) ** 2 for one in row) for row in found) <= residuals.UNIT**2
    alone = [residuals.class_residuals(scores[[at]], rows.take([at]))[0] for at in range(0, len(scores), 50)]
    assert (found[::50] == np.stack(alone)).all()


def mixed_rows():
    table = [[k, c] for k in (0, 2.5, 9.99, 10, -1, None, "?") for c in ("x", "y", "w", None)]
    columns = read_bounds([(0, 10), ["x", "y"]], None, 2)
    return columns, Rows(*scaled(read_cells(np.array(table, dtype=object)), columns))


def test_scores_that_are_kept_are_those_of_a_new_start():
    columns, rows = mixed_rows()
    rng = np.random.default_rng(1)
    kept = AdditiveScores(columns, np.array([5, -7]))
    steps = [(at % 2, rng.integers(-100, 100, (bin_count(columns[at % 2]), 2))) for at in range(6)]
    for column, step in steps:
        kept.of(rows)
        kept.add(column, step)
    fresh = AdditiveScores(columns, np.array([5, -7]))
    for column, step in steps:
        fresh.add(column, step)
    assert (kept.of(rows)[1] == fresh.of(rows)[1]).all()
    bins = row_bins(rows, columns)
    total = sum(shape[bins[:, at]] for at, shape in enumerate(kept.shapes())) + np.array([5, -7])
    assert (kept.of(rows)[1] == total).all()


def test_bins_and_groups():
    columns, rows = mixed_rows()
    bins = row_bins(rows, columns)
    assert set(bins[:, 1].tolist()) == {0, 1, 2}
    assert bins[:, 0].min() == 0
    assert bins[:, 0].max() == 31
    assert bin_words(columns[1]) == ["x", "y", "(not listed)"]
    assert bin_words(read_bounds([[1, "1"]], None, 1)[0]) == ["0: 1", "1: 1", "2: (not listed)"]
    rng = np.random.default_rng(0)
    for _ in range(20):
        numbers, categories = (random_groups(column, 4, rng) for column in columns)
        assert len(numbers) == 32
        assert numbers[0] == 0
        assert (np.diff(numbers) >= 0).all()
        assert set(numbers.tolist()) == {0, 1, 2, 3}
        assert set(categories.tolist()) == {0, 1, 2}


def test_a_step_is_drawn_to_zero_by_noise():
    mass = np.array([[0.0], [100.0], [1e6]])
    found = boosting.shrunk_steps(0.1 * mass, mass, deviation=1000.0, spread=0.5).ravel()
    assert found[0] == 0
    assert 0 < found[1] < 0.001
    assert found[2] == pytest.approx(0.1, rel=1e-3)
    assert boosting.shrunk_steps(np.array([[1e300]]), np.array([[1e3]]), 1.0, 0.5) == 2.0


@pytest.mark.parametrize(
    "changed",
    [{"rounds": 0}, {"rounds": None}, {"rounds": 1001}, {"leaves": 1}, {"leaves": 33}, {"structure_seed": -1}],
    ids=str,
)
def test_parameters_are_refused_before_the_charge(changed):
    with dither.Ledger.temporary(dither.zcdp("0.5"), domain="learn") as ledger:
        with pytest.raises(InputError):
            classifier(ledger=ledger, **changed).fit([[0.5]], ["a"])
        classifier(ledger=ledger).fit([[0.5]], ["a"])  # nothing was charged before


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 10, (4000, 2))
    side = rng.integers(0, 2, 4000)
    table = np.stack([X[:, 0], X[:, 1], np.array(["x", "y"])[side]], axis=1, dtype=object)
    odds = 2 * np.sin(X[:, 0] / 2) + 2 * side - 1
    label = np.where(rng.uniform(size=4000) < 1 / (1 + np.exp(-odds)), "yes", "no")
    bounds = [(0, 10), (0, 10), ["x", "y"]]
    with warnings.catch_warnings(action="ignore"), seeded(3):
        price = {"epsilon": 1, "delta": "1e-6", "bounds": bounds}
        classes = BoostingClassifier(**price, classes=["no", "yes"]).fit(table, label)
        three = BoostingClassifier(**price, classes=["a", "b", "c"]).fit(
            table, np.array(["a", "b", "c"])[(X[:, 0] // 3.4).astype(int)]
        )
        number = BoostingRegressor(**price, target_bounds=(-1, 1)).fit(table, np.sin(X[:, 0] / 2))
    return table, label, X, classes, three, number


def test_shapes_are_learnt(fitted):
    table, label, X, classes, three, number = fitted
    assert classes.score(table, label, public=True) > 0.7
    assert three.score(table, np.array(["a", "b", "c"])[(X[:, 0] // 3.4).astype(int)], public=True) > 0.8
    assert number.score(table, np.sin(X[:, 0] / 2), public=True) > 0.8
    assert (abs(number.predict(table)) <= 1).all()
    assert classes.importances_.argmax() == number.importances_.argmax() == 0
    chances = classes.predict_proba(table)[:, 1]
    for low in np.arange(0, 1, 0.2):
        inside = (chances >= low) & (chances < low + 0.2)
        assert abs(chances[inside].mean() - (label[inside] == "yes").mean()) < 0.12


def test_scores_are_intercept_and_shapes(fitted):
    table, _, _, classes, three, _ = fitted
    for model in (classes, three):
        bins = row_bins(model._predicted(table), model.facts_.columns)
        total = model.intercept_ + sum(shape[bins[:, at]] for at, shape in enumerate(model.shapes_))
        scores = np.asarray(model.decision_function(table)).reshape(len(table), -1)
        assert scores == pytest.approx(total)
    assert three.shapes_[2].shape == (3, 3)


def test_explain_tells_every_shape(fitted):
    _, _, _, classes, three, number = fitted
    text = classes.explain()
    assert "x0: importance" in text
    assert "(not listed)" in text
    assert "log-odds" in text
    assert "0 to 0.3125" in text
    assert text.index("x0: importance") < text.index("x1: importance")
    assert len(text.splitlines()[-1]) < 100
    assert "Intercept  target: " in number.explain()
    assert "a: " in three.explain()


def test_a_chart_for_every_column(fitted, tmp_path):
    _, _, _, classes, three, number = fitted
    for model in (classes, three, number):
        charts = model.plot().to_dict()["concat"]
        assert {chart["title"] for chart in charts} == {"x0", "x1", "x2"}
        assert {chart["mark"]["type"] for chart in charts} == {"line", "point"}
    classes.plot().save(tmp_path / "shapes.svg")
    assert "<svg" in (tmp_path / "shapes.svg").read_text()


def test_nothing_is_told_before_a_fit():
    from sklearn.exceptions import NotFittedError

    for call in (classifier().explain, classifier().plot, regressor().plot):
        with pytest.raises(NotFittedError):
            call()
