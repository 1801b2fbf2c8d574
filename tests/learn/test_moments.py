"""StandardScaler and PCA: the exact law of a pure release, planted bugs, what comes out and its bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pandas
import pytest
from sklearn import decomposition
from sklearn.pipeline import make_pipeline

import dither
from dither.errors import DataError, NumberError, SizeError
from dither.learn import PCA, LinearRegression, StandardScaler
from dither.learn.base.release import Release
from dither.learn.moments import standard_scaler
from dither.testing import outcomes, seeded
from tests.learn import test_sensitivity
from tests.learn.cases import as_data, hostile_rows, plain_rows
from tests.learn.cases.moments import CASES
from tests.learn.recorder import distance, rows_of
from tests.learn.test_sensitivity import recorded

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
EXACT = dither.gdp(10**6)  # noise that is felt no more


# -- the law of a pure release -------------------------------------------------------------------------------------------


def law(X, epsilon, unit):
    """The exact law of what a fit on one column of -1, 0 and 1 releases."""
    facts, rows = rows_of(StandardScaler(epsilon=epsilon, bounds=(-1, 1), unit=unit), np.array(X).reshape(-1, 1), None)

    def released(given):
        run = Release(facts.price, given)
        standard_scaler.released_sums(1, run)
        return tuple(run.released[0].ravel().tolist())

    return outcomes(released, rows, cutoff="1e-36")


def largest_ratio(one, other):
    """The largest log ratio of probabilities of an output, over outputs that both list: exact, with one run each."""
    return max(float((one.masses[key] / other.masses[key]).log()) for key in one.masses.keys() & other.masses.keys())


@pytest.mark.parametrize(("unit", "epsilon"), [("add/remove one person", 40), ("replace one person", 80)])
def test_the_law_of_neighbours(unit, epsilon, monkeypatch):
    """Every pair of data sets of at most one row: ratios of neighbours reach epsilon, and none exceeds it."""
    monkeypatch.setattr(standard_scaler, "B", 1)
    laws = {data: law(data, epsilon, unit) for data in ((), (-1.0,), (np.nan,), (np.inf,))}
    found = {
        (one, other): largest_ratio(laws[one], laws[other])
        for one, other in itertools.permutations(laws, 2)
        if (len(one) == len(other)) == (unit == "replace one person")
    }
    assert max(found.values()) == pytest.approx(epsilon)
    assert max(found.values()) <= epsilon * (1 + 1e-12)


def test_a_row_that_enters_twice_breaks_the_law(monkeypatch):
    monkeypatch.setattr(standard_scaler, "B", 1)
    once = standard_scaler.bernstein_sums
    monkeypatch.setattr(standard_scaler, "bernstein_sums", lambda rows: 2 * once(rows))
    assert largest_ratio(law((-1.0,), 40, "add/remove one person"), law((), 40, "add/remove one person")) > 79


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: case.name)
def test_neighbours_of_both_units_on_a_small_domain(case):
    domain = [(list(row), "a", 0.0) for row in itertools.product((-1.0, 0.0, 1.0, np.nan), repeat=3)]
    found = recorded(case, [[], *([row] for row in domain)])
    values, claim = found.seen[0], found.claims[0]
    near = max(distance(one, values[0], claim) for one in values[1:])
    assert near == claim[1]
    times = 2 if claim[0] == "geometric" else 4
    assert max(distance(a, b, claim) for a, b in itertools.combinations(values[1:], 2)) <= times * claim[1]


def test_planted_bugs_are_found(monkeypatch):
    def of_the_data(rows):
        return np.rint(rows.numbers / max(np.abs(rows.numbers).max(initial=0.0), 1e-3) * standard_scaler.B)

    def beyond(rows):
        return np.rint(rows.numbers * 1.001 * standard_scaler.B)

    for bug, case in ((of_the_data, CASES[0]), (beyond, CASES[2])):
        monkeypatch.setattr(standard_scaler, "lattice_values", bug)
        with pytest.raises(AssertionError):
            test_sensitivity.test_one_row_adds_no_more_than_is_claimed(case)


# -- StandardScaler ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", [{"epsilon": 10**6}, {"guarantee": EXACT}], ids=["pure", "gaussian"])
def test_without_noise_moments_are_those_of_the_data(price):
    rng = np.random.default_rng(1)
    X = np.stack([rng.uniform(20, 60, 5000), rng.normal(0, 1, 5000)], axis=1)
    model = StandardScaler(bounds=[(0, 100), (-5, 5)], **price).fit(X)
    assert model.mean_ == pytest.approx(X.mean(axis=0), abs=0.01)
    assert model.scale_ == pytest.approx(X.std(axis=0), rel=1e-3)
    assert model.transform(X).std(axis=0) == pytest.approx([1, 1], rel=1e-3)


@pytest.mark.parametrize("case", CASES[:4], ids=lambda case: case.name)
def test_what_comes_out_lies_within_its_bounds(case):
    """Whatever the noise was, and whatever rows come: also a scaler that was fitted to no row at all."""
    X, _ = as_data([*plain_rows(), *hostile_rows()], "none")
    for rows in (X, X[:0], X[:1]):
        model = case.make(max_rows=1).fit(rows)
        found = model.transform(X)
        lows, highs = np.array(model.bounds_out_).T
        assert (found >= lows - 1e-9).all()
        assert (found <= highs + 1e-9).all()
        assert (model.scale_ > 0).all()
        assert np.abs(model.inverse_transform(found)).max() <= 1 + 1e-9


def test_a_pipeline_charges_each_step():
    rng = np.random.default_rng(1)
    X = rng.uniform(40, 60, (5000, 2))
    y = X[:, 0] - X[:, 1]
    with dither.Ledger.temporary(dither.approx(3, "1e-5"), domain="learn") as ledger, seeded(1):
        scaler = StandardScaler(epsilon=1, delta="1e-6", bounds=(0, 100), ledger=ledger)
        model = LinearRegression(epsilon=1, delta="1e-6", bounds=(-3, 3), target_bounds=(-20, 20), ledger=ledger)
        found = make_pipeline(scaler, model).fit(X, y)
        assert found[-1].receipt_.name != found[0].receipt_.name
    assert found[-1].score(found[:-1].transform(X), y, public=True) > 0.9


def test_persons_and_frames_pass_through_fit_transform():
    frame = pandas.DataFrame({"age": [20.0, 30.0, 40.0], "cost": [1.0, 2.0, np.nan]})
    bounds = {"age": (0, 100), "cost": (0, 10)}
    scaler = StandardScaler(epsilon=1, bounds=bounds, max_rows=2).set_output(transform="pandas")
    assert list(scaler.fit_transform(frame, person=["a", "a", None]).columns) == ["age", "cost"]
    pca = PCA(1, epsilon=1, delta="1e-6", bounds=bounds).set_output(transform="pandas")
    assert list(pca.fit_transform(frame).columns) == ["pca0"]


def test_a_category_has_no_mean():
    with pytest.raises(DataError, match="no mean"):
        StandardScaler(epsilon=1, bounds=[["a", "b"]]).fit(np.array([["a"]], dtype=object))
    with pytest.raises(SizeError):
        StandardScaler(epsilon=1, bounds=(0, 1)).fit(np.ones((3, 1))).inverse_transform(np.ones((3, 2)))


def test_words_before_a_fit():
    assert "about 2 of half the range" in str(StandardScaler(epsilon=1, bounds=(0, 1)).quote(10, 10))
    assert "about 0.002 of half the range" in str(StandardScaler(epsilon=1, bounds=(0, 1)).quote(10_000, 10))


# -- PCA -----------------------------------------------------------------------------------------------------------------


def plane(count=5000):
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-1, 1, (2, count))
    return np.stack([50 + 40 * a, 50 + 20 * a + 15 * b, 50 - 10 * b], axis=1)


def test_without_noise_components_are_those_of_scaled_columns():
    X = plane()
    model, plain = PCA(2, guarantee=EXACT, bounds=(0, 100)).fit(X), decomposition.PCA(2).fit(X / 50 - 1)
    assert np.abs((model.components_ * plain.components_).sum(axis=1)) == pytest.approx([1, 1], abs=1e-5)
    assert model.explained_variance_ == pytest.approx(plain.explained_variance_, rel=1e-2)
    assert model.inverse_transform(model.transform(X)) == pytest.approx(X, abs=0.05)
    assert "2 of 2 components" in model.explain()


def test_scores_lie_within_their_bounds():
    X, _ = as_data([*plain_rows(), *hostile_rows()], "none")
    model = PCA(epsilon=1, delta="1e-6", bounds=(-1, 1)).fit(X)
    lows, highs = np.array(model.bounds_out_).T
    found = model.transform(X)
    assert (found >= lows - 1e-9).all()
    assert (found <= highs + 1e-9).all()
    assert found.shape == (len(X), 3)


def test_a_shorter_norm_has_less_noise():
    X = plane()
    make = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 100)}
    whole, short = PCA(1, **make).fit(X), PCA(1, norm=0.75, **make).fit(X)
    assert short.noise_norm_ < whole.noise_norm_ / 3


def test_words_and_refusals():
    make = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 1)}
    few, many = (str(PCA(**make).quote(n, 5)).split("up to about ")[1].split(";")[0] for n in (100, 100_000))
    assert float(few) == pytest.approx(1000 * float(many), rel=0.05)
    for wrong in (0, 4, 1.5, True):
        with pytest.raises(NumberError):
            PCA(wrong, **make).fit(np.ones((2, 3)))
    with seeded(1):
        assert "0 of 1 components have a variance above" in PCA(1, **make).fit(np.ones((5, 3))).explain()
    with pytest.raises(SizeError):
        PCA(1, **make).fit(np.ones((5, 3))).inverse_transform(np.ones((5, 3)))
