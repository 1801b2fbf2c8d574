"""Rows of a dataset: bounds and keys from its policy, its ledger, the rows of a person bounded, the same fit free."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import dither
from dither.errors import BudgetError, ConflictError, DataError, QuestionError, ReleaseError, UnitError
from dither.learn import ForestClassifier, LogisticRegression
from dither.query.features import counted
from dither.testing import seeded

ROWS = 400


def table(rows=ROWS, seed=3):
    rng = np.random.default_rng(seed)
    age, ward = rng.integers(0, 100, rows), rng.choice(["north", "south"], rows)
    return pyarrow.table(
        {
            "patient": rng.integers(0, rows // 3 + 1, rows),
            "age": age,
            "ward": ward,
            "cost": rng.uniform(0, 50, rows),
            "day": pyarrow.array([18000] * rows, type=pyarrow.date32()),
            "name": ["?"] * rows,
            "ill": age > 50,
        }
    )


@pytest.fixture
def ledger():
    with dither.Ledger.temporary(dither.approx(8, "1e-5"), domain="clinic") as found:
        yield found


def clinic(ledger, rows=None, **how):
    facts = {"bounds": {"age": (0, 100), "cost": (0, 50)}, "keys": {"ward": ["north", "south"]}, "max_rows": 4}
    rows = table() if rows is None else rows
    return dither.protect(rows, name="visits", person="patient", ledger=ledger, **facts | how)


def model(**how):
    return LogisticRegression(**{"epsilon": 1, "delta": "1e-7"} | how)


def test_a_fit_is_charged_to_the_dataset_and_the_same_fit_is_free(ledger):
    data = clinic(ledger)
    first = model().fit(data.features("SELECT age, ward, cost FROM visits", target="ill"))
    spent = str(ledger.remaining())
    again = model().fit(data.features("SELECT age, ward, cost FROM visits", target="ill"))
    assert str(ledger.remaining()) == spent
    assert np.array_equal(first.coef_, again.coef_)
    assert again.receipt_.name == first.receipt_.name
    assert list(first.feature_names_in_) == ["age", "ward", "cost"]
    assert first.facts_.coordinates == ("age", "ward=north", "ward=south", "cost")
    assert list(first.classes_) == [False, True]
    assert "at most 4 of a person count" in first.explain()
    for other in (model(l2=0.1), model(rows=400), model(epsilon="1/2")):
        other.fit(data.features("SELECT age, ward, cost FROM visits", target="ill"))
        assert str(ledger.remaining()) != spent
        spent = str(ledger.remaining())


def test_other_rows_are_another_fit(ledger):
    data = clinic(ledger)
    heads = []
    for sql in ("SELECT age FROM visits", "SELECT age FROM visits WHERE cost < 25", "SELECT cost FROM visits"):
        heads.append(model().fit(data.features(sql, target="ill")).receipt_.number)
    heads.append(model().fit(data.features("SELECT age FROM visits", target="ill", max_rows=2)).receipt_.number)
    assert len(set(heads)) == 4


def test_the_model_is_that_of_the_same_rows_in_an_array(ledger):
    """Where each row is a person, the releases are those of a fit to arrays, under the same noise."""
    rows = table()
    data = dither.protect(rows, name="visits", person="each row", ledger=ledger, bounds={"age": (0, 100), "cost": (0, 50)})
    with pytest.warns(dither.errors.NotPrivateWarning), seeded(4):
        first = model().fit(data.features("SELECT age, cost FROM visits", target="ill"))
    X = np.stack([rows["age"].to_numpy(), rows["cost"].to_numpy()], axis=1).astype(float)
    y = np.array(rows["ill"].to_pylist())
    with pytest.warns(dither.errors.NotPrivateWarning), seeded(4):
        other = model(bounds={0: (0, 100), 1: (0, 50)}, classes=[False, True]).fit(X, y)
    assert len(first.released_) == len(other.released_)
    assert all(np.array_equal(one, two) for one, two in zip(first.released_, other.released_, strict=True))


def test_which_rows_of_a_person_count_depends_on_hers_alone(ledger):
    """Whoever else is there, and in whatever order an engine gives rows; a person has no more than `most`."""
    found = clinic(ledger).features("SELECT age FROM visits", target="ill").question.table
    rng, everybody = np.random.default_rng(8), [(int(a), bool(b), int(p)) for a, b, p in
                                                np.random.default_rng(1).integers(0, 5, (60, 3))]  # fmt: skip
    everybody += [(1, True, None), (1, True, None)]
    for most in (1, 2, 7):
        whole = sorted(counted(everybody, found, most))
        for _ in range(5):
            assert sorted(counted(rng.permutation(np.array(everybody, dtype=object)).tolist(), found, most)) == whole
        for person in range(5):
            less = [row for row in everybody if row[2] != person]
            mine = counted([row for row in everybody if row[2] == person], found, most)
            assert len(mine) <= most
            assert sorted([*counted(less, found, most), *mine]) == whole


def test_every_cell_is_data(ledger):
    """NULL, NaN and infinities in any column, a person that is NULL, no row at all: the fit goes through."""
    bad = pyarrow.table(
        {
            "patient": pyarrow.array([1, None, 2, 3], type=pyarrow.int64()),
            "age": pyarrow.array([None, 5, 10**15, -(10**15)], type=pyarrow.int64()),
            "ward": ["north", None, "nowhere", "south"],
            "cost": [float("nan"), float("inf"), None, float("-inf")],
            "ill": [True, None, None, False],
        }
    )
    for rows in (bad, bad.slice(0, 0)):
        with dither.Ledger.temporary(dither.approx(8, "1e-5"), domain="clinic") as own:
            model().fit(clinic(own, rows).features("SELECT age, ward, cost FROM visits", target="ill"))


def test_what_does_not_fit_is_refused_before_the_charge(ledger):
    data = clinic(ledger, per_question=dither.approx("1/2", "1e-6"))
    handle = data.features("SELECT age FROM visits", target="ill")
    before = str(ledger.remaining())
    with pytest.raises(BudgetError, match="for one question"):
        model().fit(handle)
    cheap = model(epsilon="1/4")
    with pytest.raises(DataError, match="the policy says it"):
        model(bounds=(0, 1)).fit(handle)
    with pytest.raises(DataError, match="the features say it"):
        cheap.fit(handle, [1, 2])
    with pytest.raises(DataError, match="it predicts a column"):
        cheap.fit(data.features("SELECT age FROM visits"))
    with dither.Ledger.temporary(dither.pure(1), domain="other") as other, pytest.raises(DataError, match="have another"):
        model(ledger=other).fit(handle)
    for sql, target, why in (
        ("SELECT day FROM visits", "ill", "a date is no feature"),
        ("SELECT name FROM visits", "ill", "neither bounds nor keys"),
        ("SELECT patient FROM visits", "ill", "no column to learn from"),
        ("SELECT COUNT(*) FROM visits", "ill", "has no owner"),
        ("SELECT age FROM visits", "nobody", "no such column"),
        ("SELECT age FROM nowhere", "ill", "nowhere"),
        ("SELECT age FROM visits; SELECT 1", "ill", "one statement"),
        ("", "ill", "question"),
    ):
        with pytest.raises(QuestionError, match=why):
            data.features(sql, target=target)
    with pytest.raises(DataError, match="4 rows of a person"):
        data.features("SELECT age FROM visits", target="ill", max_rows=5)
    assert str(ledger.remaining()) == before


def test_another_policy_asks_nothing(ledger):
    data = clinic(ledger)
    model().fit(data.features("SELECT age FROM visits", target="ill"))
    with pytest.raises(ConflictError):
        clinic(ledger, max_rows=9)


def test_a_fit_that_fails_on_rows_is_charged_and_untold(ledger, monkeypatch):
    data = clinic(ledger)
    before = str(ledger.remaining())

    def broken(*_):
        raise ValueError("row 7 is secret")

    monkeypatch.setattr("dither.query.features.counted", broken)
    with pytest.raises(ReleaseError) as told:
        model().fit(data.features("SELECT age FROM visits", target="ill"))
    assert "secret" not in str(told.value)  # a number might stand in the name of a ledger
    assert told.value.__context__ is None
    assert str(ledger.remaining()) != before


def test_long_lists_of_classes_are_told_apart(ledger):
    """An array writes itself with its middle left out: the fit of one list was given as that of another."""
    handle = clinic(ledger).features("SELECT cost FROM visits", target="age")
    first, second = np.arange(1100.0), np.arange(1100.0)
    second[500] = -5.5
    assert repr(first) == repr(second)
    names = [
        ForestClassifier(epsilon="0.1", trees=1, depth=1, classes=classes).fit(handle).receipt_.name
        for classes in (first, second, first.tolist())
    ]
    assert names[0] != names[1]
    assert names[0] == names[2]


def test_a_unit_that_promises_more_than_the_policy_is_refused(ledger):
    handle = clinic(ledger).features("SELECT cost FROM visits", target="ill")
    with pytest.raises(UnitError):
        model(unit="replace one person").fit(handle)


def test_facts_from_the_data_are_told_by_model_receipt_and_history(ledger):
    origins = {"known_from": {"age": "data", "cost": "law", "ward": "data"}, "values_from_data": "accepted"}
    data = clinic(ledger, **origins)
    words = "bounds of age were taken from the data: outside the guarantee"
    fitted = model().fit(data.features("SELECT age, cost FROM visits", target="ill"))
    again = model().fit(data.features("SELECT age, cost FROM visits", target="ill"))
    for one in (fitted, again):
        assert f"Outside    {words}" in one.explain()
        assert one.receipt_.unprotected == words
    assert any(words in str(entry.body) for entry in ledger.history())
    both = model().fit(data.features("SELECT age, ward FROM visits", target="ill"))
    assert "bounds of age and keys of ward" in both.explain()
    assert "Outside" not in model().fit(data.features("SELECT cost FROM visits", target="ill")).explain()


@pytest.mark.parametrize(("facts", "told"), [({}, "rows without patient"), ({"complete": ["patient"]}, "")])
def test_a_fit_says_that_rows_of_nobody_are_not_counted(ledger, facts, told):
    data = clinic(ledger, **facts).features("SELECT age, cost FROM visits", target="ill")
    assert data.uncounted == told
    lines = model().fit(data).explain().splitlines()
    assert [line for line in lines if line.startswith("Not counted")] == ([f"Not counted  {told}"] if told else [])


def test_public_labels_are_told_by_the_receipt(ledger):
    X, y = np.zeros((4, 2)), ["a", "b", "a", "b"]
    fitted = model(bounds=(0, 1), classes="public", ledger=ledger).fit(X, y)
    assert "which labels occur" in fitted.receipt_.unprotected
    assert "which labels occur" in fitted.explain()
