"""LinearRegression and Ridge: exact sensitivities on a small domain, planted bugs, coverage, words, refusals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LinearRegression as Plain
from sklearn.linear_model import Ridge as PlainRidge

import dither
from dither.errors import DataError, InputError, NumberError, SizeError
from dither.learn import LinearRegression, Ridge
from dither.learn.base import estimator
from dither.learn.base.cells import read_cells
from dither.learn.base.rows import Rows, listed_rows, one_hot, simplex
from dither.learn.linear import clipped_gradient
from dither.learn.linear.linear_regression import CONSTANT
from dither.learn.moments import second_moments
from dither.testing import seeded
from tests.learn import coverage, test_sensitivity
from tests.learn.cases.linear_regression import CASES
from tests.learn.recorder import distance, rows_of
from tests.learn.test_sensitivity import recorded
from tests.seeds import of_the_day

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
EXACT = dither.gdp(10**6)  # noise that is felt no more
VALUES = (-1.0, 0.0, 1.0, np.nan, np.inf, 0.7)
MOMENTS, GRADIENT, CATEGORIES = CASES[0], CASES[3], CASES[4]


# -- what one row adds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [MOMENTS, GRADIENT], ids=["moments", "gradient"])
def test_neighbours_of_both_units_on_a_small_domain(case):
    """Every row of a small domain, added, removed and replaced: the claim holds, and some row comes near to it."""
    domain = [([a, b, c], "a", y) for a, b, c in itertools.product(VALUES[2:5], repeat=3) for y in (-1.0, 1.0, np.nan)]
    found = recorded(case, [[], *([row] for row in domain)])
    for values, claim in zip(found.seen, found.claims, strict=True):
        nothing, rows = values[0], values[1:]
        assert max(distance(one, nothing, claim) for one in rows) <= claim[1]
        pairs = itertools.combinations(rows[:: 3 if len(rows) > 40 else 1], 2)
        assert max(distance(one, other, claim) for one, other in pairs) <= 4 * claim[1]
    if case is MOMENTS:
        near = max(distance(one, found.seen[0][0], found.claims[0]) for one in found.seen[0][1:])
        assert near >= Fraction(999, 1000) * found.claims[0][1]


@pytest.mark.parametrize("width", [1, 2, 3, 30, 1000])
def test_rows_of_any_width_are_short_enough(width):
    """Rows at the bounds, and random ones, of every norm: never longer than 2^16, and never set to zero."""
    rng = of_the_day("row vectors", width)
    numbers = np.array(
        [[1.0] * width, [-1.0] * width] + [[rng.choice((-1, 1)) * rng.random() for _ in range(width)] for _ in range(20)]
    )
    model = LinearRegression(epsilon=1, delta="1e-6", bounds=(-1, 1), target_bounds=(-1, 1))
    facts, rows = rows_of(model, numbers, np.zeros(len(numbers)))
    for norm in (2.0**-20, rng.random() * width**0.5 + 0.01, facts.norm(None)):
        whole = second_moments.row_vectors(rows, facts, norm)
        squares = [sum(int(one) ** 2 for one in row) for row in whole.tolist()]
        assert min(squares) > 0
        assert max(squares) <= 4**16
        assert max(squares) > 0.99 * 4**16 or norm > 0.5 * width**0.5


def from_the_data(rows, facts, norm):
    """The bug: the lattice is that of the largest value that occurs."""
    u = rows.numbers
    return np.rint(u * (second_moments.REACH / (2 * max(np.abs(u).max(initial=0.0), 1e-3))))


def too_long(rows, facts, norm):
    """The bug: nobody shortens a row that is longer than was stated."""
    return np.rint(np.clip(rows.numbers * second_moments.lattice_steps(facts.width, norm), -(2**17), 2**17))


def longer_than_a_simplex(rows, facts, norm):
    """The bug: levels are one-hot encoded, and the norm is that of the corners of a simplex."""
    return np.rint(one_hot(rows, facts.columns) * second_moments.lattice_steps(facts.width, norm))


BUGS = [(from_the_data, CASES[1]), (too_long, CASES[1]), (longer_than_a_simplex, CATEGORIES)]


@pytest.mark.parametrize(("bug", "case"), BUGS, ids=[bug.__name__ for bug, _ in BUGS])
def test_planted_bugs_of_rows_are_found(bug, case, monkeypatch):
    monkeypatch.setattr(second_moments, "row_vectors", bug)
    with pytest.raises(AssertionError):
        test_sensitivity.test_one_row_adds_no_more_than_is_claimed(case)


def test_a_fit_that_looks_at_others_to_leave_a_row_out_is_found(monkeypatch):
    """The bug: one row without a listed value leaves all of them out."""
    monkeypatch.setattr(
        estimator, "listed_rows", lambda rows, columns: np.full(rows.count, listed_rows(rows, columns).all())
    )
    with pytest.raises(AssertionError):
        test_sensitivity.test_one_row_adds_no_more_than_is_claimed(CATEGORIES)


def test_a_row_that_enters_twice_is_found(monkeypatch):
    products = second_moments.exact_products
    monkeypatch.setattr(second_moments, "exact_products", lambda *given: 2 * products(*given))
    with pytest.raises(AssertionError):
        test_sensitivity.test_one_row_adds_no_more_than_is_claimed(MOMENTS)


def test_a_norm_that_forgets_the_constant_is_found():
    """One claim too small by the constant, and weights that count pairs off the diagonal once: both are exceeded."""
    rows = [([1.0, 1.0, 1.0], "a", 1.0)]
    found = recorded(MOMENTS, [[], rows])
    (nothing, one), (kind, norm2, weights) = found.seen[0], found.claims[0]
    assert norm2 == (2 * 4**16 + CONSTANT**2) ** 2
    assert distance(one, nothing, (kind, norm2, weights)) > (2 * 4**16) ** 2
    assert distance(one, nothing, (kind, norm2, [weight / 2 for weight in weights])) > norm2


def test_a_residual_that_is_not_clipped_is_found(monkeypatch):
    monkeypatch.setattr(clipped_gradient, "CLIP", 2**20)
    values = recorded(GRADIENT, [[], [([1.0, 1.0, 1.0], "a", 1.0)]])
    wrong = [(claim[0], (4**16 + CONSTANT**2) * 4**15, claim[2]) for claim in values.claims[1:]]
    far = [distance(one, none, claim) > claim[1] for (none, one), claim in zip(values.seen[1:], wrong, strict=True)]
    assert any(far)


def test_weights_that_are_no_numbers_do_not_reach_the_rows(monkeypatch):
    """A step that overflows would make residuals that are not whole, of every row at once."""
    monkeypatch.setattr(clipped_gradient.np.linalg, "solve", lambda squares, gradient: np.full(len(gradient), np.nan))
    seen = []
    sums = clipped_gradient.residual_sums
    monkeypatch.setattr(clipped_gradient, "residual_sums", lambda *given: (seen.append(given[-1]), sums(*given))[1])
    recorded(GRADIENT, [[([1.0, 1.0, 1.0], "a", 1.0)]])
    assert len(seen) == clipped_gradient.STEPS
    assert all(np.isfinite(weights).all() for weights in seen)


def test_sums_are_cut_where_they_would_overflow(monkeypatch):
    monkeypatch.setattr(second_moments, "CHUNK", 2)
    monkeypatch.setattr(second_moments, "FAR", 10)
    left, right = np.array([[1.0, 2.0]] * 5), np.array([[3.0]] * 5)
    assert second_moments.bounded_products(left, right, 6).tolist() == [[10], [10]]
    assert second_moments.bounded_products(left[:2], right[:2], 6).tolist() == [[6], [10]]
    assert second_moments.bounded_products(left[:0], right[:0], 6).tolist() == [[0], [0]]


# -- least squares -------------------------------------------------------------------------------------------------------


def people(count=4000, seed=2):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.uniform(18, 90, count), rng.uniform(0, 5000, count)], axis=1)
    return X, 100 + 3 * X[:, 0] - 0.05 * X[:, 1] + rng.uniform(-20, 20, count)


BOUNDS = {"bounds": [(18, 90), (0, 5000)], "target_bounds": (-200, 400)}


def test_without_noise_it_is_least_squares_in_the_units_of_the_columns():
    X, y = people()
    model, plain = LinearRegression(guarantee=EXACT, **BOUNDS).fit(X, y), Plain().fit(X, y)
    assert model.coef_ == pytest.approx(plain.coef_, rel=1e-3)
    assert model.intercept_ == pytest.approx(plain.intercept_, rel=1e-3)
    assert model.predict(X[:5]) == pytest.approx(plain.predict(X[:5]), rel=1e-3)


def test_without_noise_ridge_is_ridge_of_scaled_columns():
    X, y = people()
    scaled = (X - [54, 2500]) / [36, 2500]
    model = Ridge(alpha=500.0, guarantee=EXACT, **BOUNDS).fit(X, y)
    plain = PlainRidge(alpha=500.0).fit(scaled, y)
    assert model.coef_ * [36, 2500] == pytest.approx(plain.coef_, rel=1e-3)
    assert Ridge(alpha=0, guarantee=EXACT, **BOUNDS).fit(X, y).coef_ == pytest.approx(Plain().fit(X, y).coef_, rel=1e-3)


def wards(ward):
    return np.array(ward, dtype=object)[:, None]


@pytest.mark.parametrize("solver", ["moments", "gradient"])
def test_categories_are_differences_from_the_first_and_predictions_stay_within_bounds(solver):
    """A value that is not listed is predicted as the mean of the levels; rows with one are left out of the fit."""
    ward = ["north", "south", "east"] * 1000
    y = np.array([2.0, 7.0, 3.0] * 1000)
    make = {"guarantee": EXACT, "bounds": [["north", "south", "east"]], "target_bounds": (0, 10), "solver": solver}
    model = LinearRegression(**make)
    with seeded(3):
        model.fit(wards(ward), y)
    given = wards(["north", "south", "east", "moon", None])
    assert model.predict(given) == pytest.approx([2, 7, 3, 4, 4], abs=0.01)
    assert model.get_feature_names_out().tolist() == ["x0=south", "x0=east"]
    assert model.coef_ == pytest.approx([5, 1], abs=0.01)
    assert model.intercept_ == pytest.approx(2, abs=0.01)
    with seeded(3):
        more = LinearRegression(**make).fit(wards([*ward, "moon", None, 3]), [*y, 10, 10, 10])
    assert all((one == other).all() for one, other in zip(more.released_, model.released_, strict=True))
    model.coef_ = model.coef_ + 1e6
    assert model.predict(given).max() == 10


@pytest.mark.parametrize("kind", ["noise", "population"])
@pytest.mark.parametrize("alpha", [None, 200.0])
def test_intervals_beside_a_category_are_finite(kind, alpha):
    """20,000 rows, epsilon 1; one-hot columns would add up to the constant, and no interval would be finite."""
    given = {} if alpha is None else {"alpha": alpha}
    X, y = coverage.jobs(np.random.default_rng(7), 20_000)
    with seeded(1):
        model = coverage.make("jobs", **given).fit(X, y)
    intervals = model.intervals(kind=kind)
    assert [one.name for one in intervals] == ["x0", "x1=worker", "x1=official", "x1=owner", "(intercept)"]
    assert all(np.isfinite(one.high - one.low) for one in intervals)
    age, worker, official, _, _ = intervals
    assert 12 < age.low < age.high < 18
    assert worker.high < 0 < official.low


def test_the_table_of_coefficients_has_estimates_within_their_intervals():
    X, y = coverage.jobs(np.random.default_rng(7), 20_000)
    frame = pandas.DataFrame({"age": X[:, 0], "job": X[:, 1]})
    bounds = {"age": (18, 90), "job": coverage.JOBS}
    with seeded(1):
        model = coverage.make("jobs", bounds=bounds).fit(frame, y)
        weak = coverage.make("jobs", bounds=bounds, epsilon="0.01").fit(frame[:50], y[:50])
        other = coverage.make("jobs", bounds=bounds, solver="gradient").fit(frame, y)
    lines = model.explain().splitlines()
    found = [line.split() for line in lines[lines.index("") + 3 :][:5]]
    assert [line[0] for line in found] == ["age", "job=worker", "job=official", "job=owner", "(intercept)"]
    for (_, *numbers), estimate in zip(found, (*model.coef_, model.intercept_), strict=True):
        told, low, high = map(float, numbers)
        assert told == pytest.approx(estimate, rel=1e-5)
        assert low <= told <= high
    assert "'clerk' is the reference level" in model.explain()
    assert "–" in weak.explain()
    assert "job=owner" in other.explain()
    assert model.get_feature_names_out(["age", "job"]).tolist() == [line[0] for line in found[:4]]
    for wrong in (["age"], ["age", "ward"]):
        with pytest.raises(ValueError, match="input_features"):
            model.get_feature_names_out(wrong)


def test_ridge_is_that_of_one_hot_columns_whichever_level_comes_first():
    """Without noise: scikit-learn's Ridge of a column for each level, whose effects add up to 0."""
    X, y = coverage.jobs(np.random.default_rng(7), 3000)
    y = np.clip(y, 0, 6000)
    age, codes = (X[:, 0].astype(float) - 54) / 36, np.array([coverage.JOBS.index(one) for one in X[:, 1]])
    plain = PlainRidge(alpha=300.0).fit(np.column_stack([age, np.eye(4)[codes]]), y)
    for jobs in (coverage.JOBS, coverage.JOBS[::-1]):
        model = coverage.make("jobs", bounds=[(18, 90), jobs], alpha=300.0, guarantee=EXACT, epsilon=None, delta=None)
        model.fit(X, y)
        effects = dict(zip(coverage.JOBS, plain.coef_[1:], strict=True))
        assert model.coef_[0] * 36 == pytest.approx(plain.coef_[0], rel=1e-3)
        assert model.coef_[1:] == pytest.approx([effects[job] - effects[jobs[0]] for job in jobs[1:]], rel=1e-3, abs=0.1)


@pytest.mark.parametrize("solver", ["moments", "gradient"])
def test_lists_of_one_value_have_no_coefficient(solver):
    make = {"epsilon": 1, "delta": "1e-6", "target_bounds": (0, 1), "solver": solver}
    with pytest.raises(SizeError, match="no coefficient"):
        LinearRegression(bounds=[["north"]], **make).fit(wards(["north"]), [1.0])
    X = np.array([["north", 0.5], ["moon", 0.5]], dtype=object)
    model = LinearRegression(bounds=[["north"], (0, 1)], **make).fit(X, [1.0, 1.0])
    assert model.get_feature_names_out().tolist() == ["x1"]
    assert model.predict(X).shape == (2,)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_levels_are_corners_of_a_simplex(count):
    """All at the distance sqrt 2 from each other, their square 1 - 1/k; what is not listed is their mean."""
    *corners, nothing = simplex(count)
    assert not nothing.any()
    assert np.sum(corners, axis=0) == pytest.approx(nothing, abs=1e-12)
    products = np.array(corners) @ np.array(corners).T
    assert products == pytest.approx(np.eye(count) - 1 / count, abs=1e-12)


@pytest.mark.parametrize("columns", [[2], [2, 3], [1, 2, 9], [2, 2, 2, 2, 2, 2], [40, 3]])
def test_encoded_rows_are_never_too_long(columns):
    """Every row of numbers at their bounds and of all codes, an unlisted one among them, in whole numbers."""
    bounds = [(-1, 1), *(list(range(count)) for count in columns)]
    model = LinearRegression(epsilon=1, delta="1e-6", bounds=bounds, target_bounds=(-1, 1))
    facts = model._facts(read_cells(np.zeros((1, len(bounds)))), None)
    cells = np.array(list(itertools.product([-1.0, 1.0], *(range(-1, count) for count in columns))))
    rows = Rows(cells[:, :1], cells[:, 1:].astype(np.int64))
    assert facts.norm(None) ** 2 == pytest.approx(1 + sum(1 - 1 / count for count in columns))
    for norm in (facts.norm(None), 0.5):
        squares = [sum(int(one) ** 2 for one in row) for row in second_moments.row_vectors(rows, facts, norm).tolist()]
        assert max(squares) <= 4**16
        assert max(squares) > 0.999 * 4**16
        assert listed_rows(rows, facts.columns).tolist() == (cells[:, 1:] >= 0).all(axis=1).tolist()


@pytest.mark.parametrize("solver", ["moments", "gradient"])
def test_with_noise_it_predicts(solver):
    X, y = people()
    with seeded(1):
        model = LinearRegression(epsilon=1, delta="1e-6", solver=solver, **BOUNDS).fit(X, y)
    assert model.score(X, y, public=True) > 0.9


# -- words and refusals --------------------------------------------------------------------------------------------------


def test_words_from_what_was_released():
    X, y = people(400)
    make = {"delta": "1e-6", **BOUNDS}
    with seeded(4):
        assert "does not rule out" in LinearRegression(epsilon="0.01", **make).fit(X, y).explain()
        assert "unbounded" in str(LinearRegression(epsilon="0.01", **make).fit(X, y).region())
        assert (
            "2 of 2 slopes are not 0"
            in LinearRegression(guarantee=dither.gdp(100), **make | {"delta": None}).fit(X, y).explain()
        )
        assert "releases nothing" in LinearRegression(epsilon=1, solver="gradient", **make).fit(X, y).explain()


def test_words_before_a_fit():
    model = LinearRegression(epsilon=1, delta="1e-6", **BOUNDS)
    assert "slopes are drawn to 0 as by a ridge of" in str(model.quote(20))
    few, many = (float(model.quote(n).words[0].split("deviation ")[1]) for n in (100, 100_000))
    assert few == pytest.approx(1000 * many, rel=0.05)
    assert len(LinearRegression(epsilon=1, delta="1e-6", solver="gradient", **BOUNDS).quote(20).words) == 1


def test_refusals_come_before_the_charge():
    X, y = people(10)
    good = {"epsilon": 1, "delta": "1e-6", **BOUNDS}
    wrong = [
        (LinearRegression(**good | {"solver": "lbfgs"}), DataError),
        (LinearRegression(**good | {"norm": -1}), NumberError),
        (Ridge(**good, alpha=-1), NumberError),
        (Ridge(**good, alpha=math.nan), NumberError),
        (Ridge(**good, alpha=1e300), NumberError),
        (LinearRegression(**good | {"bounds": [list(range(1001)), (0, 1)]}), SizeError),
    ]
    with dither.Ledger.temporary(dither.approx(3, "1e-5"), domain="learn") as ledger:
        before = len(list(ledger.history()))
        for model, error in wrong:
            with pytest.raises(error):
                model.set_params(ledger=ledger).fit(X, y)
        assert len(list(ledger.history())) == before


def test_what_was_not_released_has_no_interval():
    X, y = people(50)
    model = LinearRegression(epsilon=1, delta="1e-6", solver="gradient", **BOUNDS).fit(X, y)
    with pytest.raises(DataError, match="moments"):
        model.region()
    model = LinearRegression(epsilon=1, delta="1e-6", **BOUNDS).fit(X, y)
    with pytest.raises(DataError, match="population"):
        model.intervals(kind="both")
    with pytest.raises(SizeError):
        model.region().holds([1.0])
    with pytest.raises(InputError):
        model.region(confidence=2)
