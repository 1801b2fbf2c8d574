"""Cells that one row could use against others: kinds that its cell decides, ids that become alike, warnings, wrong kinds."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.exceptions import DataConversionWarning

import dither
from dither.errors import DataError, NumberError, SizeError
from dither.learn import (
    PCA,
    ForestClassifier,
    GaussianNB,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Ridge,
    StandardScaler,
)
from dither.learn.base.cells import as_array, places, read_cells
from dither.learn.base.people import kept_rows, read_person
from dither.learn.base.targets import encode_labels, read_classes, read_labels

LARGE = 2**60  # and one more are the same float


def bayes(**how):
    return GaussianNB(**{"epsilon": 1, "bounds": (0, 1), "classes": [0, 1]} | how)


@pytest.mark.parametrize(
    "ids",
    [
        [LARGE, LARGE + 1, 0.5],
        [LARGE, LARGE + 1, float("nan")],
        polars.Series([LARGE, LARGE + 1, None]),
        pandas.Series([LARGE, LARGE + 1, None], dtype="Int64"),
        pyarrow.chunked_array([[LARGE, LARGE + 1, None]]),
    ],
    ids=["float", "nan", "polars", "pandas", "pyarrow"],
)
def test_one_id_does_not_make_others_alike(ids):
    """With a missing id in their column, large whole numbers would become floats, and two people one."""
    assert kept_rows(ids, 3, 1)[:2].tolist() == [True, True]


def test_one_cell_does_not_change_the_category_of_another():
    found = places(as_array([LARGE + 1, 0.5], 1, "y"), (LARGE,))
    assert found.tolist() == [-1, -1]
    frame = read_cells(polars.DataFrame({"ward": [LARGE + 1, None]}))
    assert places(frame.columns[0], (LARGE,)).tolist() == [-1, -1]


def test_decimals_name_people_and_categories_and_their_nan_nobody():
    ids = [Decimal(1), Decimal(2), Decimal(1), Decimal("NaN"), Decimal("sNaN")]
    assert kept_rows(ids, 5, 1).tolist() == [True, True, False, False, False]
    assert places(as_array(ids, 1, "y"), (1, 2)).tolist() == [0, 1, 0, -1, -1]


def test_no_cell_causes_a_warning():
    with warnings.catch_warnings(action="error"):
        bayes().fit([[np.ma.masked, 0.5], [np.array([1.0]), 0.2], [10**400, "?"]], [0, 1, np.ma.masked])


def test_labels_of_several_kinds_are_no_bare_error():
    labels = np.array([1, "b", None, [2], float("nan"), 0, "a", Decimal(3)], dtype=object)
    assert read_classes("public", labels) == (0, 1, "a", "b")


def test_classes_of_several_kinds_keep_theirs():
    model = bayes(classes=["a", 1]).fit([[0.5]] * 100, [1] * 100)
    assert set(model.classes_.tolist()) == {"a", 1}
    assert model.predict([[0.5]])[0] in ("a", 1)


@pytest.mark.parametrize(("y", "classes"), [(np.array([0, 1]), ["0", "1"]), (np.array(["0", "1"]), [0, 1])])
def test_labels_of_another_kind_than_the_classes_are_refused(y, classes):
    with pytest.raises(DataError, match="another kind"):
        bayes(classes=classes).fit([[0.5], [0.2]], y)
    bayes(classes=classes).fit([[0.5], [0.2]], y.tolist())  # a list has no kind but that of its cells


@pytest.mark.parametrize(
    "frame",
    [
        polars.DataFrame({"age": [0.5], "ward": ["north"]}),
        pandas.DataFrame({"age": [0.5], "ward": pandas.Series(["north"], dtype="string")}),
        pandas.DataFrame({"age": [0.5], "ward": pandas.Series(["north"], dtype="str")}),
    ][: 3 if pandas.__version__ >= "3" else 2],
)
def test_a_column_of_texts_has_no_bounds_of_numbers(frame):
    with pytest.raises(DataError, match="'ward'"):
        bayes().fit(frame, [1])
    bayes(bounds={"age": (0, 1), "ward": ["north", "south"]}).fit(frame, [1])


def test_an_array_of_texts_has_no_bounds_of_numbers(tmp_path):
    """By its kind alone, before any charge; what single cells of an array of objects are decides nothing."""
    ledger = dither.Ledger.create(tmp_path / "books.db", budget=dither.approx(9, "1e-5"), domain="clinic")
    price, entries = {"epsilon": 1, "delta": "1e-6", "ledger": ledger}, len(list(ledger.history()))
    models = [
        KMeans(2, bounds=(0, 5), **price),
        PCA(1, bounds=(0, 5), **price),
        StandardScaler(bounds=(0, 5), **price),
        LogisticRegression(bounds=(0, 5), classes=[0, 1], **price),
        ForestClassifier(bounds=(0, 5), classes=[0, 1], **price),
        GaussianNB(bounds=(0, 5), classes=[0, 1], **price),
        LinearRegression(bounds=(0, 5), target_bounds=(0, 5), **price),
    ]
    numbers, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1])
    for model in models:
        for texts in (numbers.astype(str), numbers.astype("S"), numbers.astype(np.dtypes.StringDType())):
            with pytest.raises(DataError, match=r"holds texts.*X\.astype\(float\)"):
                model.fit(texts, y)
    for texts in (y.astype(str), y.astype("S")):
        with pytest.raises(DataError, match=r"these are texts.*y\.astype\(float\)"):
            models[-1].fit(numbers, texts)
    assert len(list(ledger.history())) == entries
    objects = numbers.astype(object)
    objects[0, 0] = "no number"
    for given in (objects, objects.tolist(), numbers.astype(str).astype(object)):
        models[-1].fit(given, y.tolist())
    KMeans(2, bounds={0: ["1.0", "3.0"], 1: ["2.0", "4.0"]}, **price).fit(numbers.astype(str))
    for kind in (pyarrow.string(), pyarrow.large_string()):
        with pytest.raises(DataError, match="'ward'"):
            bayes().fit(pyarrow.table({"age": [0.5], "ward": pyarrow.array(["north"], kind)}), [1])


def test_tables_of_pyarrow_and_columns_of_one_name():
    model = bayes().fit(pyarrow.table({"a": [0.1, 0.9], "b": [0.2, 0.3]}), [0, 1])
    assert model.facts_.names == ("a", "b")
    with pytest.raises(DataError, match="one name"):
        bayes().fit(pandas.DataFrame([[1, 2]], columns=["a", "a"]), [0])


@pytest.mark.parametrize("how", [{"n": "many"}, {"n": None}, {"n": -1}, {"n": 10, "d": "x"}, {"n": 10, "d": 0}])
def test_a_quote_of_no_number_is_refused(how):
    with pytest.raises(NumberError):
        bayes().quote(**how)


@pytest.mark.parametrize("name", ["pca", "linear", "logistic"])
def test_what_a_model_says_of_a_row_does_not_depend_on_other_rows(name):
    """To the last bit: it may be what the next model is fitted to, as in a pipeline."""
    X = np.random.default_rng(5).uniform(0, 1, (301, 40))
    price = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 1)}
    if name == "pca":
        said = PCA(7, **price).fit(X).transform
    elif name == "linear":
        said = LinearRegression(**price, target_bounds=(0, 1)).fit(X, X[:, 0]).predict
    else:
        said = LogisticRegression(**price, classes=[0, 1, 2], rows=300).fit(X, np.arange(301) % 3).decision_function
    whole = said(X)
    for kept in (slice(0, 300), slice(1, 301), slice(17, 18), slice(3, 200, 7)):
        assert np.array_equal(said(X[kept]), whole[kept])


@pytest.mark.parametrize(
    "y", [[["no"], ["yes"], ["no"]], (("no",), ("yes",), ("no",)), [np.array(["no"])] * 3, [[0], [1], [0]]]
)
def test_labels_as_a_column_of_lists_are_a_column(y):
    """As an array of them would be: with a warning, and no row is left out."""
    classes = ["no", "yes"] if isinstance(y[0][0], str) else [0, 1]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        labels = read_labels(y, 3)
    assert labels.shape == (3,)
    assert (encode_labels(labels, tuple(classes)) >= 0).all()
    with pytest.raises(SizeError, match="one value for each row"):
        read_labels([[*one, one[0]] for one in y], 3)
    with pytest.raises(SizeError, match="person"):
        read_person([[*one, one[0]] for one in y], 3)


def test_a_list_as_one_label_is_no_label_and_changes_no_other():
    """The shape is that of all rows together; one row that is another is left out, as any label that nobody listed."""
    labels = read_labels(["no", ["yes"], "yes"], 3)
    assert encode_labels(labels, ("no", "yes")).tolist() == [0, -1, 1]
    assert read_labels([], 0).shape == (0,)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(1), np.float16(0.5)])
def test_settings_may_be_numbers_of_numpy(number):
    X, y = np.linspace(0, 1, 20).reshape(-1, 2), np.arange(10) % 2
    facts = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 1)}
    LogisticRegression(**facts, classes=[0, 1], l2=number).fit(X, y)
    Ridge(**facts, target_bounds=(0, 1), alpha=number).fit(X, y)
    LinearRegression(**facts, target_bounds=(0, 1), norm=number).fit(X, y)
    PCA(1, **facts, norm=number).fit(X)


@pytest.mark.parametrize(
    "number", [np.bool_(True), np.float32("nan"), np.float64("inf"), np.int64(-1), np.array(1.0), "1", None]
)
def test_what_is_no_number_is_refused_in_words(number):
    X, y = np.linspace(0, 1, 20).reshape(-1, 2), np.arange(10) % 2
    facts = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 1)}
    with pytest.raises(NumberError, match="l2"):
        LogisticRegression(**facts, classes=[0, 1], l2=number).fit(X, y)
    with pytest.raises(NumberError, match="alpha"):
        Ridge(**facts, target_bounds=(0, 1), alpha=number).fit(X, y)
    if number is not None:
        with pytest.raises(NumberError, match="norm"):
            LinearRegression(**facts, target_bounds=(0, 1), norm=number).fit(X, y)
