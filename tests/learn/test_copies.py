"""Copies of an estimator and who pays for their fits; refits that are refused; scores that the model's ledger pays for."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import dither
from dither.errors import BudgetError, DataError, NumberError
from dither.learn import GaussianNB, LinearRegression, NearestCentroid, PrivateSearch

X = np.linspace(0, 1, 40).reshape(-1, 2)
Y = (X[:, 0] > 0.5).astype(int)
CELLS = [[(0.0, 0.5), (0.0, 1.0)], [(0.5, 1.0), (0.0, 1.0)]]


@pytest.fixture
def ledger():
    with dither.Ledger.temporary(dither.pure(10), domain="copies") as found:
        yield found


def bayes(**how):
    return GaussianNB(**{"epsilon": 1, "bounds": (0, 1), "classes": [0, 1]} | how)


def left(ledger):
    return str(ledger.remaining())


@pytest.mark.parametrize("made", [clone, copy.copy, copy.deepcopy, lambda one: clone(make_pipeline(one))[0]])
@pytest.mark.parametrize("what", ["estimator", "search"])
def test_copies_in_this_process_are_charged_to_the_same_ledger(ledger, made, what):
    before = left(ledger)
    found = made(bayes(ledger=ledger) if what == "estimator" else PrivateSearch(CELLS, epsilon=1, ledger=ledger))
    assert found.ledger is ledger
    found.fit(X, Y)
    assert left(ledger) != before


def test_a_deep_copy_shares_nothing_but_the_ledger(ledger):
    model = bayes(ledger=ledger).fit(X, Y)
    other = copy.deepcopy(model)
    other.class_prior_[:] = 0
    assert model.class_prior_.sum() > 0
    assert copy.copy(model).class_prior_ is model.class_prior_


@pytest.mark.parametrize("what", ["estimator", "search"])
def test_a_pickle_leaves_the_ledger_behind_and_does_not_fit_for_free(ledger, what):
    one = bayes(ledger=ledger) if what == "estimator" else PrivateSearch(CELLS, epsilon=1, ledger=ledger)
    before, away = left(ledger), pickle.loads(pickle.dumps(one))
    for found in (away, clone(away), pickle.loads(pickle.dumps(away))):
        with pytest.raises(DataError, match="left behind"):
            found.fit(X, Y)
    assert left(ledger) == before
    away.set_params(ledger=ledger).fit(X, Y)
    assert left(ledger) != before


def test_a_fitted_pickle_predicts_and_one_without_a_ledger_fits(ledger):
    model = bayes(ledger=ledger).fit(X, Y)
    away = pickle.loads(pickle.dumps(model))
    assert np.array_equal(away.predict(X), model.predict(X))
    with pytest.raises(DataError, match="left behind"):
        away.private_score(X, Y, epsilon=1)
    away.private_score(X, Y, epsilon=1, ledger=ledger)
    assert pickle.loads(pickle.dumps(bayes())).fit(X, Y).receipt_ is None


def test_workers_of_a_search_in_parallel_do_not_fit_for_free(ledger):
    search = GridSearchCV(bayes(ledger=ledger), {"rows": [None]}, cv=2, scoring="accuracy", error_score="raise")
    folds = pickle.loads(pickle.dumps(search))  # what joblib sends to each worker
    with pytest.raises(DataError, match="left behind"):
        folds.fit(X, Y)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_a_score_is_charged_to_the_ledger_of_the_model(ledger, kind):
    model = (
        bayes() if kind == "classifier" else LinearRegression(epsilon=1, delta="1e-6", bounds=(0, 1), target_bounds=(0, 1))
    )
    model.fit(X, Y)
    model.set_params(ledger=ledger)
    before = left(ledger)
    assert model.private_score(X, Y, epsilon=1).receipt is not None
    assert left(ledger) != before
    with pytest.raises(BudgetError):
        model.private_score(X, Y, epsilon=100)


def test_several_rows_of_a_person_need_to_say_whose_they_are():
    model = bayes(max_rows=3).fit(X, Y, person=np.arange(len(X)))
    with pytest.raises(DataError, match="max_rows"):
        model.private_score(X, Y, epsilon=1)
    model.private_score(X, Y, epsilon=1, person=np.arange(len(X)))
    with pytest.raises(DataError, match="max_rows"):
        PrivateSearch(CELLS, epsilon=1, max_rows=3).fit(X)


@pytest.mark.parametrize(
    "search",
    [
        {"estimator": NearestCentroid(bounds=(0, 1), classes=[0, 1]), "settings": [{"norm": -1}], "epsilon": 1},
        {"estimator": NearestCentroid(bounds=(0, 1), classes=[0, 1]), "settings": [3], "epsilon": 1},
        {"models": CELLS, "epsilon": 10**8},
    ],
)
def test_a_search_that_cannot_work_is_refused_before_the_charge(ledger, search):
    before = left(ledger)
    with pytest.raises((DataError, NumberError)):
        PrivateSearch(**search, ledger=ledger).fit(X, Y)
    assert left(ledger) == before


def test_a_choice_among_models_forgets_the_setting_of_an_earlier_search():
    search = PrivateSearch(estimator=NearestCentroid(bounds=(0, 1), classes=[0, 1]), settings=[{"norm": 1.0}], epsilon=1)
    assert search.fit(X, Y).best_setting_ == {"norm": 1.0}
    search.set_params(models=CELLS, estimator=None, settings=None).fit(X)
    assert not hasattr(search, "best_setting_")
    assert not hasattr(search, "best_score_")


def test_a_refused_refit_leaves_the_model_as_it_was(ledger):
    model = bayes(ledger=ledger).fit(X, Y)
    with pytest.raises(BudgetError):
        model.set_params(epsilon=100).fit(X[:, :1], Y)
    assert model.n_features_in_ == 2
    assert len(model.predict(X)) == len(X)
