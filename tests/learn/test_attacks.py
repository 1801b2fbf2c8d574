"""Ways in which private learning fails elsewhere, tried here."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import dither
from dither.errors import BudgetError, DataError
from dither.learn import LogisticRegression
from dither.learn.base.exact_sums import exact_bins, exact_products
from dither.learn.base.release import Release
from tests.learn.cases import all_cases, as_data, plain_rows
from tests.learn.recorder import Recorder, rows_of


def data(rows=60):
    return as_data(plain_rows(rows), "classes")


def model(**how):
    return LogisticRegression(**{"epsilon": 1, "delta": "1e-7", "bounds": (-1, 1), "classes": ["a", "b", "c"]} | how)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_a23_nothing_is_sampled(case):
    """Every statistic is of all rows, so there is no sampling whose accounting could be another."""
    estimator = case.make()
    facts, rows = rows_of(estimator, *as_data(plain_rows(), case.kind))
    seen = []

    class Counting(Recorder):
        def _seen(self, statistic, *how):
            return super()._seen(lambda rows: (seen.append(rows.count), statistic(rows))[1], *how)

    estimator._learn(facts, Counting(facts.price, [rows], np.random.default_rng(1)))
    assert seen
    assert set(seen) == {rows.count}


def test_a24_a_search_of_parameters_pays_for_every_fit():
    X, y = data()
    with dither.Ledger.temporary(dither.approx(3, "1e-6"), domain="learn") as ledger:

        def charged():
            return sum(entry.kind == "reserved" for entry in ledger.history())

        settings = {"l2": [0.0, 0.01, 0.1, 1.0, 10.0]}
        with pytest.raises(DataError, match="GridSearchCV"):
            GridSearchCV(model(ledger=ledger), settings, scoring="accuracy").fit(X, y)
        assert charged() == 0
        with pytest.raises(BudgetError):
            [clone(model(ledger=ledger)).set_params(l2=l2).fit(X, y) for l2 in 5 * settings["l2"]]
        assert 1 < charged() < 25


def test_a_score_of_private_rows_is_refused():
    X, y = data()
    with pytest.raises(DataError, match="private_score"):
        model().fit(X, y).score(X, y)
    with pytest.raises(DataError, match="private_score"):
        cross_val_score(model(), X, y, error_score="raise")


def test_bounds_are_not_stretched_by_a_row():
    """A row far beyond the bounds counts as one at the bound: the same whole numbers."""
    X, y = data()
    far = X.copy()
    X[3], far[3] = [1.0, -1.0, 1.0], [1e300, -np.inf, 7.0]
    seen = []
    for table in (X, far):
        estimator = model()
        facts, rows = rows_of(estimator, table, y)
        recorder = Recorder(facts.price, [rows], np.random.default_rng(2))
        estimator._learn(facts, recorder)
        seen.append(recorder.seen)
    assert all(np.array_equal(one[0], other[0]) for one, other in zip(*seen, strict=True))


def test_float_sums_move_by_more_than_a_row_and_whole_ones_do_not():
    """2^60 + 1 - 2^60 is 0 or 1 in floats, by the order; whole numbers below 2^53 add up in any order."""
    assert (2.0**60 + 1.0) - 2.0**60 != (2.0**60 - 2.0**60) + 1.0
    rng = np.random.default_rng(9)
    left = np.rint(rng.uniform(-(2**12), 2**12, (5000, 7)))
    right = np.rint(rng.uniform(-(2**15), 2**15, (5000, 3)))
    whole = exact_products(left, right, 2**27)
    assert (whole == left.astype(np.int64).T @ right.astype(np.int64)).all()
    for order in (slice(None, None, -1), rng.permutation(5000)):
        assert (exact_products(left[order], right[order], 2**27) == whole).all()
    assert (whole - exact_products(left[1:], right[1:], 2**27) == np.outer(left[0], right[0]).astype(np.int64)).all()
    # so large that blocks of two rows are exact, and no more
    huge = np.full((5, 1), 2.0**52)
    assert exact_products(huge, np.ones((5, 1)), 2**52).tolist() == [[5 * 2**52]]
    assert exact_bins(np.zeros(5, dtype=np.int64), np.full(5, 2.0**52), 1, 2**52).tolist() == [5 * 2**52]


def test_a_release_spends_its_price_once():
    estimator = model()
    facts, rows = rows_of(estimator, *data())
    release = Release(facts.price, rows)
    counted = lambda rows: np.array([rows.count], dtype=np.int64)  # noqa: E731
    release.gaussian(counted, (1,), norm2=1, share=Fraction(3, 4))
    with pytest.raises(AssertionError, match="shares"):
        release.gaussian(counted, (1,), norm2=1, share=Fraction(1, 2))
