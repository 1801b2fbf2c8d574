"""The way of a fit, of every estimator: charge before data, replay, ledgers and clones, inputs, scikit-learn's checks."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import dither
from dither.errors import BudgetError, DataError, DitherError, InputError, ReleaseError
from dither.learn.base.people import kept_rows
from dither.learn.base.release import Replay
from dither.testing import seeded
from tests.learn.cases import CLASSES, COLUMNS, REFUSALS, all_cases, as_data, hostile_rows, plain_rows

CASES = all_cases()
by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return pickle.dumps(one) == pickle.dumps(other)


def fitted(model, X, y):
    """A fit; where several rows of a person count, each row is another person's."""
    return model.fit(X, y, person=np.arange(len(X)) if model.max_rows > 1 else None)


@by_name
def test_a_model_is_made_of_what_was_released(case):
    """The releases alone, without rows, make the same model: it holds nothing else."""
    model = fitted(case.make(), *as_data([*plain_rows(), *hostile_rows()], case.kind))
    again = case.make()._learn(model.facts_, Replay(model.facts_.price, model.released_, model.facts_.rows_per_person))
    for name, value in again.items():
        assert same(getattr(model, name), value), name


@by_name
@pytest.mark.parametrize("rows", [[], plain_rows(1), [([0.0] * COLUMNS, "a", 0.0)] * 5, hostile_rows()], ids=len)
def test_no_rows_are_refused(case, rows):
    X, y = as_data(rows, case.kind)
    fitted(case.make(), X, y)


@by_name
def test_a_ledger_is_charged_once_a_fit_and_survives_clone(case):
    model = case.make()
    unit = dither.Unit(model.unit)
    budget = dither.approx(3, "1e-5", unit=unit) if model.delta is not None else dither.pure(3, unit=unit)
    with dither.Ledger.temporary(budget, domain="learn") as ledger:
        X, y = as_data(plain_rows(), case.kind)
        copy = clone(case.make(ledger=ledger))
        assert copy.ledger is ledger
        fitted(copy, X, y)
        assert copy.receipt_.ledger == ledger.identity
        assert len([entry for entry in ledger.history() if "fit" in str(entry)]) >= 1
        with pytest.raises(BudgetError):
            [fitted(clone(copy), X, y) for _ in range(10)]
        away = pickle.loads(pickle.dumps(copy))
        with pytest.raises(DataError, match="left behind"):
            fitted(away, X, y)


@by_name
def test_nothing_is_read_before_the_charge(case):
    """A ledger that refuses leaves the cells alone."""

    class Cell:
        def __float__(self):
            raise AssertionError("a cell was read")

        def __hash__(self):
            raise AssertionError("a cell was read")

    unit = dither.Unit(case.make().unit)
    with dither.Ledger.temporary(dither.pure("0.001", unit=unit), domain="learn") as ledger:
        X = np.array([[Cell()] * COLUMNS], dtype=object)
        y = np.array([Cell()], dtype=object) if case.kind != "none" else None
        with pytest.raises(InputError):
            fitted(case.make(ledger=ledger), X, y)


@by_name
def test_frames_and_lists_are_read_as_arrays_are(case):
    X, y = as_data(plain_rows(), case.kind)
    names = ["one", "two", "three"]
    found = []
    arrow = pyarrow.table(dict(zip(names, X.T, strict=True)))
    for table in (X, X.tolist(), pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names), arrow):
        with warnings.catch_warnings(action="ignore"), seeded(3):
            model = fitted(case.make(), table, y)
        found.append(model.released_)
        if not isinstance(table, (np.ndarray, list)):
            assert list(model.feature_names_in_) == names
    assert all(same(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True))


@by_name
def test_parameters_that_are_public_facts_are_asked_for(case):
    X, y = as_data(plain_rows(), case.kind)
    with pytest.raises(DataError, match="never read off the data"):
        fitted(case.make(bounds=None), X, y)
    if case.kind == "classes":
        with pytest.raises(DataError, match="never read off the data"):
            fitted(case.make(classes=None), X, y)
        assert "declared public" in fitted(case.make(classes="public"), X, y).explain()
    if case.kind == "target":
        with pytest.raises(DataError, match="never read off the data"):
            fitted(case.make(target_bounds=None), X, y)


@by_name
def test_a_quote_needs_no_data(case):
    told = case.make().quote(1000, COLUMNS)
    assert told.guarantee == fitted(case.make(), *as_data(plain_rows(), case.kind)).guarantee_
    assert "Price" in str(told)


@by_name
def test_what_fails_after_the_charge_is_one_error(case, monkeypatch):
    model = case.make()

    def broken(*_):
        raise ValueError("row 7 is 42")

    monkeypatch.setattr(type(model), "_rows", broken)
    with pytest.raises(ReleaseError) as told:
        fitted(model, *as_data(plain_rows(), case.kind))
    assert "42" not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__context__ is None


def checks():
    """Each estimator once, with bounds and classes that fit the data of scikit-learn's checks."""
    given, seen = [], set()
    for case in CASES:
        model = case.make(bounds=(-100, 100), **({"classes": "public"} if case.kind == "classes" else {}))
        if type(model) not in seen:
            seen.add(type(model))
            given.append((model, REFUSALS | case.expected_failures))
    return given


ESTIMATORS = checks()


@parametrize_with_checks(
    [model for model, _ in ESTIMATORS],
    expected_failed_checks=lambda model: next(reasons for one, reasons in ESTIMATORS if type(one) is type(model)),
)
def test_scikit_learn(estimator, check, monkeypatch):
    """With noise that is zero at every fit: the checks compare fits, and no seed of noise is to be had."""
    for law in ("RoundedGaussian", "DiscreteLaplace"):
        monkeypatch.setattr(f"dither.learn.base.release.{law}", NoNoise)
    check(estimator)


class NoNoise:
    def __init__(self, *_, **__):
        pass

    def sample(self, size):
        return np.zeros(size, dtype=np.int64)


def test_classes_in_the_order_of_scikit_learn():
    assert sorted(CLASSES) == CLASSES


def test_rows_of_a_person_are_counted_only_where_somebody_says_whose_they_are():
    X, y = as_data([*plain_rows(), *hostile_rows()], "classes")
    model = CASES[0].make(max_rows=2)
    with pytest.raises(DataError, match="whose a row is"):
        model.fit(X, y)
    people = ["ada", "bob", None, "ada", np.nan, [1], *["ada"] * (len(X) - 6)]
    told = model.fit(X, y, person=np.array(people, dtype=object)).explain()
    assert "at most 2 of a person count" in told
    assert "Not counted  rows without a person" in told.splitlines()
    kept = kept_rows(np.array(people, dtype=object), len(X), 2)
    assert kept.tolist() == [True, True, False, True, *[False] * (len(X) - 4)]
    for wrong in ([1, 2], np.zeros((len(X), 2)), np.zeros(len(X), dtype=complex)):
        with pytest.raises(InputError):
            model.fit(X, y, person=wrong)


def test_no_cell_of_a_list_decides_what_kind_of_array_it_is():
    """A complex number, a list, a huge number or a text among numbers: missing, or at its bound; nothing is raised."""
    strange = [1j, [1], {}, 10**400, -(10**400), "x", "0.5", None, b"", object()]
    for place, cell in enumerate(strange):
        X = [[0.1, 0.2, 0.3] for _ in range(4)]
        X[place % 4][place % 3] = cell
        y = ["a", "b", "c", cell]
        model = CASES[0].make().fit(X, y)
        assert model.predict([[cell, 0.1, 0.2]]).shape == (1,)
    for wrong in (
        [[1.0, 2.0], [3.0]],
        [1.0, 2.0],
        np.zeros((2, 2, 2)),
        "text",
        None,
        np.zeros((2, 0)),
        np.zeros((2, 3)) * 1j,
    ):
        with pytest.raises(InputError) as told:
            CASES[0].make().fit(wrong, ["a", "b"])
        assert "(2" not in str(told.value), "how many rows there are is not told"


SILLY = ["x", -1, float("nan"), float("inf"), 10**400, None, object(), [], {}, (), True, "1e-400"]
ONCE = list({type(case.make()): case for case in CASES}.values())


@pytest.mark.parametrize("case", ONCE, ids=lambda case: type(case.make()).__name__)
def test_wrong_parameters_are_refused_in_words_before_the_charge(case):
    """Any parameter, any silly value: the fit goes through, or one of dither's own refusals comes and nothing is charged."""
    X, y = as_data(plain_rows(), case.kind)
    with dither.Ledger.temporary(dither.zcdp(10**6, unit=case.make().unit), domain="learn") as ledger:
        plain = {"ledger": ledger, "max_rows": 1}
        case.make(**plain).fit(X, y)
        for name in case.make().get_params(deep=False):
            for value in SILLY:
                before = len(list(ledger.history()))
                try:
                    case.make(**plain | {name: value}).fit(X, y)
                except ReleaseError as error:
                    raise AssertionError(f"{name}={value!r} is refused after the charge") from error
                except DitherError:
                    assert len(list(ledger.history())) == before, (name, value)


def test_a_list_that_looks_like_a_range_is_refused():
    with pytest.raises(DataError, match="looks like a range"):
        CASES[0].make(bounds=[[0, 120], (0, 1), (0, 1)]).fit(*as_data(plain_rows(), CASES[0].kind))
    CASES[0].make(bounds=[[0, 1], [1, 2, 7], (0, 1)]).fit(*as_data(plain_rows(), CASES[0].kind))
