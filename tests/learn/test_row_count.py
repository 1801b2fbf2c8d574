"""How many rows counted: released numbers that hold the truth, of every estimator that needs labels or categories."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dither.learn import (
    PCA,
    BoostingClassifier,
    BoostingRegressor,
    ForestClassifier,
    ForestRegressor,
    GaussianNB,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NearestCentroid,
    Ridge,
)
from dither.learn.base import row_count
from dither.learn.base.row_count import EACH_COLUMN, row_counts
from dither.testing import seeded
from tests.learn.recorder import rows_of

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")

SIZE, LABELED, LISTED, BOTH = 6000, 4000, 3000, 2000  # rows; of them with a listed label, a listed ward, and both
WARDS, BOUNDS = ["north", "south"], [(0, 1), ["north", "south"]]
PURE, PRICE = {"epsilon": 3}, {"epsilon": 3, "delta": "1e-6"}
LABEL, TARGET = {"classes": ["no", "yes"]}, {"target_bounds": (0, 1)}
WARD = "a listed value of x1"
CLASSIFIERS = [
    (LogisticRegression, PRICE, EACH_COLUMN),
    (ForestClassifier, PURE, EACH_COLUMN),
    (ForestClassifier, PRICE | {"trees": 40}, EACH_COLUMN),
    (BoostingClassifier, PRICE | {"rounds": 2}, WARD),
    (GaussianNB, PURE, WARD),
    (GaussianNB, PRICE, WARD),
    (NearestCentroid, PURE, WARD),
    (NearestCentroid, PRICE, WARD),
    (NearestCentroid, PRICE | {"norm": 1.0}, EACH_COLUMN),
]
REGRESSORS = [
    (ForestRegressor, PURE, EACH_COLUMN),
    (BoostingRegressor, PRICE | {"rounds": 2}, WARD),
]
OTHERS = [(KMeans, PRICE, EACH_COLUMN), (PCA, PRICE, WARD), (PCA, PRICE | {"norm": 1.0}, EACH_COLUMN)]


def table():
    """A number and a ward, half of which are in no list."""
    rng = np.random.default_rng(3)
    X = np.empty((SIZE, 2), dtype=object)
    X[:, 0], X[:, 1] = rng.random(SIZE), np.array(["north", "moon", "south", None], dtype=object)[np.arange(SIZE) % 4]
    return X


def counts_of(model, X, y=None):
    with seeded(5):
        return {count.what: count for count in model.fit(X, y).row_counts_}


def holds(count, truth):
    """The interval holds the truth, and says something of it."""
    return count.low <= truth <= count.high and count.high - count.low < SIZE / 2


@pytest.mark.parametrize("rows", [None, SIZE])
@pytest.mark.parametrize(("make", "price", "ward"), CLASSIFIERS)
def test_a_classifier_counts_labels_and_categories(make, price, ward, rows):
    """Labels are spelled otherwise in a third of the rows, wards in half of them."""
    labels = np.array(["yes", "no", "no", "yes", "ja", "nein"], dtype=object)[np.arange(SIZE) // 4 % 6]
    found = counts_of(make(bounds=BOUNDS, rows=rows, **price, **LABEL), table(), labels)
    assert list(found) == ["a listed label", f"a listed label and {ward}"]
    assert holds(found["a listed label"], LABELED)
    assert holds(found[f"a listed label and {ward}"], BOTH)


@pytest.mark.parametrize(("make", "price", "ward"), REGRESSORS)
def test_a_regressor_counts_targets_and_categories(make, price, ward):
    y = np.where(np.arange(SIZE) // 4 % 3 == 0, np.nan, 0.5)
    found = counts_of(make(bounds=BOUNDS, **price, **TARGET), table(), y)
    assert list(found) == ["a number as target", f"a number as target and {ward}"]
    assert holds(found["a number as target"], LABELED)
    assert holds(found[f"a number as target and {ward}"], BOTH)


@pytest.mark.parametrize("solver", ["moments", "gradient"])
@pytest.mark.parametrize("make", [LinearRegression, Ridge])
def test_a_linear_regression_counts_the_rows_that_it_fits(make, solver):
    y = np.where(np.arange(SIZE) // 4 % 3 == 0, np.nan, 0.5)
    found = counts_of(make(bounds=BOUNDS, solver=solver, **PRICE, **TARGET), table(), y)
    assert list(found) == [f"a number as target and {EACH_COLUMN}"]
    assert holds(found[f"a number as target and {EACH_COLUMN}"], BOTH)


@pytest.mark.parametrize(("make", "price", "ward"), OTHERS)
def test_without_labels_categories_are_counted(make, price, ward):
    found = counts_of(make(bounds=BOUNDS, **price), table())
    assert list(found) == [ward]
    assert holds(found[ward], LISTED)
    assert counts_of(make(bounds=(0, 1), **price), table()) == {}


@pytest.mark.parametrize("rows", [None, SIZE])
@pytest.mark.parametrize(("make", "price", "ward"), CLASSIFIERS)
def test_labels_that_nobody_listed_are_told_of(make, price, ward, rows):
    """The list says yes and no, the rows ja and nein: no error, which a single row might cause, but a released number."""
    y = np.array(["ja", "nein"] * (SIZE // 2), dtype=object)
    model = make(bounds=BOUNDS, rows=rows, **price, **LABEL)
    found = counts_of(model, table(), y)
    assert all(count.low == 0 and count.value < SIZE / 5 for count in found.values())
    told = model.explain()
    assert "noise does not tell this from none" in told
    assert ("of 6,000 declared" in told) == (rows is not None)


def test_the_count_is_not_that_of_the_table():
    """What is said is released: the same for two tables whose rows beyond the list differ in number."""
    model = LogisticRegression(epsilon=1, delta="1e-6", bounds=(0, 1), classes=["no", "yes"])
    X, y = np.linspace(0, 1, 40).reshape(-1, 1), np.array(["no", "yes"] * 20, dtype=object)
    told = []
    for more in (0, 500):
        with seeded(2):
            model.fit(np.concatenate([X, np.zeros((more, 1))]), np.concatenate([y, np.full(more, "ja", dtype=object)]))
        told.append(str(model.explain()))
    assert told[0] == told[1]


def test_one_row_is_one_count():
    """Every row adds 1 to one of the two numbers, whatever its cells hold; to the first alone where there are no lists."""
    model = KMeans(epsilon=1, delta="1e-6", bounds=BOUNDS)
    _, rows = rows_of(model, table()[:8], None)
    for row in range(8):
        both = row_count.listed_sums(rows.take([row]), 2)
        assert both.tolist() in ([1, 0], [0, 1])
        assert both[0] == (rows.codes[row, 0] >= 0)
    numbers = rows_of(KMeans(epsilon=1, delta="1e-6", bounds=(0, 1)), np.full((3, 1), np.nan), None)[1]
    assert row_count.listed_sums(numbers, 1).tolist() == [3]


def laplace(scale, reach):
    q = np.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))


def gaussian(sigma, reach):
    ends = np.arange(-reach, reach + 2) - 0.5
    return np.diff(stats.norm.cdf(ends / sigma))


@pytest.mark.parametrize("numbers", [1, 2, 5])
@pytest.mark.parametrize(
    ("law", "width"), [(laplace, 0.3), (laplace, 7.0), (gaussian, 0.2), (gaussian, 1.0), (gaussian, 9.0)]
)
def test_intervals_hold_as_often_as_they_state(law, width, numbers):
    """The distribution of the sum, by convolution: at least 95% within, of one noise and of several."""
    facts = LogisticRegression(**PRICE, bounds=(0, 1), **LABEL)._facts(rows_cells(), None)
    deviation = width * (2**0.5 if law is laplace else 1)
    within = row_counts(facts, 0.0, deviation, numbers=numbers)[0].within
    each = law(width, int(40 * width) + 5)
    total = each
    for _ in range(numbers - 1):
        total = np.convolve(total, each)
    far = np.abs(np.arange(len(total)) - len(total) // 2) > within
    assert total.sum() == pytest.approx(1)
    assert total[far].sum() <= 0.05


def rows_cells():
    from dither.learn.base.cells import read_cells

    return read_cells(np.zeros((1, 1)))
