"""Copies of an estimator and who pays for their fits; refits that are refused; scores that the model's ledger pays for."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from joblib import parallel_backend
from sklearn import model_selection
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler as PlainScaler

import dither
from dither.errors import BudgetError, DataError, NumberError
from dither.learn import GaussianNB, LinearRegression, LogisticRegression, NearestCentroid, PrivateSearch

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


ROWS = {"rows": [None, 40]}


def in_threads(function, *given, **named):
    with parallel_backend("threading"):
        return function(*given, **named)


FOLDS = {
    "cross_val_score": lambda model: model_selection.cross_val_score(model, X, Y, cv=2),
    "cross_val_score with a scorer": lambda model: model_selection.cross_val_score(model, X, Y, cv=2, scoring="accuracy"),
    "cross_val_score of a function": lambda model: model_selection.cross_val_score(model, X, Y, cv=2, scoring=lambda *_: 0),
    "cross_validate": lambda model: model_selection.cross_validate(model, X, Y, cv=2, scoring="accuracy", error_score=0),
    "cross_val_predict": lambda model: model_selection.cross_val_predict(model, X, Y, cv=2),
    "learning_curve": lambda model: model_selection.learning_curve(model, X, Y, cv=2, scoring="accuracy"),
    "validation_curve": lambda model: model_selection.validation_curve(
        model, X, Y, param_name="max_rows", param_range=[1], cv=2, scoring="accuracy"
    ),
    "permutation_test_score": lambda model: model_selection.permutation_test_score(model, X, Y, cv=2, scoring="accuracy"),
    "GridSearchCV": lambda model: model_selection.GridSearchCV(model, ROWS, cv=2, scoring="accuracy").fit(X, Y),
    "GridSearchCV of one split": lambda model: model_selection.GridSearchCV(
        model, ROWS, cv=model_selection.ShuffleSplit(1), scoring="accuracy", refit=False
    ).fit(X, Y),
    "RandomizedSearchCV": lambda model: model_selection.RandomizedSearchCV(
        model, ROWS, n_iter=2, cv=2, scoring="accuracy"
    ).fit(X, Y),
    "HalvingGridSearchCV": lambda model: model_selection.HalvingGridSearchCV(
        model, ROWS, cv=2, scoring="accuracy", min_resources=20
    ).fit(X, Y),
    "TunedThresholdClassifierCV": lambda model: model_selection.TunedThresholdClassifierCV(model, cv=2).fit(X, Y),
    "CalibratedClassifierCV": lambda model: CalibratedClassifierCV(model, cv=2).fit(X, Y),
    "StackingClassifier": lambda model: StackingClassifier([("one", model)], cv=2).fit(X, Y),
    "SequentialFeatureSelector": lambda model: SequentialFeatureSelector(
        model, n_features_to_select=1, cv=2, scoring="accuracy"
    ).fit(X, Y),
    "a pipeline": lambda model: model_selection.cross_val_score(make_pipeline(PlainScaler(), model), X, Y, cv=2),
    "threads": lambda model: in_threads(model_selection.cross_val_score, model, X, Y, cv=2, n_jobs=2, scoring="accuracy"),
    "settings that are models": lambda model: model_selection.GridSearchCV(
        make_pipeline(PlainScaler()), {"standardscaler": [model]}, cv=2, scoring=lambda *_: 0
    ).fit(X, Y),
    "what was pickled": lambda model: pickle.loads(
        pickle.dumps(model_selection.GridSearchCV(model, ROWS, cv=2, scoring="accuracy"))
    ).fit(X, Y),
}


@pytest.mark.parametrize("ways", FOLDS.values(), ids=FOLDS)
def test_cross_validation_is_refused_before_the_charge(ledger, ways):
    """Nothing is charged, no NaN is returned, and the error says what to do."""
    entries = len(list(ledger.history()))
    with pytest.raises(DataError, match=r"private_score\(X, y, epsilon='0.1'\)"):
        ways(bayes(ledger=ledger))
    assert len(list(ledger.history())) == entries


def test_recursive_elimination_by_cross_validation_is_refused_before_the_charge(ledger):
    price = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 1), "classes": [0, 1]}
    with dither.Ledger.temporary(dither.approx(9, "1e-5"), domain="folds") as ledger:
        entries = len(list(ledger.history()))
        for make in (LogisticRegression(**price, ledger=ledger), LogisticRegression(**price)):
            with pytest.raises(DataError, match="RFECV"):
                RFECV(make, cv=2, scoring="accuracy").fit(X, Y)
        assert len(list(ledger.history())) == entries


def test_a_search_is_not_cross_validated_either(ledger):
    entries = len(list(ledger.history()))
    with pytest.raises(DataError, match="cross_val_score"):
        model_selection.cross_val_score(PrivateSearch(CELLS, epsilon=1, ledger=ledger), X, scoring=lambda *_: 0)
    assert len(list(ledger.history())) == entries


@pytest.mark.parametrize(
    "outer", [make_pipeline, model_selection.FixedThresholdClassifier, lambda one: BaggingClassifier(one, 2)]
)
def test_models_made_of_fits_without_scores_are_charged_as_ever(ledger, outer):
    before = left(ledger)
    outer(bayes(ledger=ledger)).fit(X, Y)
    assert left(ledger) != before


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
