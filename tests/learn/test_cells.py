"""Cells that one row could use against others: kinds that its cell decides, ids that become alike, warnings, wrong kinds."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dither
from dither.errors import DataError, NumberError
from dither.learn import (
    PCA,
    ForestClassifier,
    GaussianNB,
    KMeans,
    LinearRegression,
    LogisticRegression,
    PrivateSearch,
    Ridge,
    StandardScaler,
)
from dither.learn.base import cells
from dither.learn.base.cells import places, read_cells, read_entries
from dither.learn.base.people import kept_rows
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
    found = places(read_entries([LARGE + 1, 0.5]), (LARGE,))
    assert found.tolist() == [-1, -1]
    frame = read_cells(polars.DataFrame({"ward": [LARGE + 1, None]}))
    assert places(frame.columns[0], (LARGE,)).tolist() == [-1, -1]


def test_decimals_name_people_and_categories_and_their_nan_nobody():
    ids = [Decimal(1), Decimal(2), Decimal(1), Decimal("NaN"), Decimal("sNaN")]
    assert kept_rows(ids, 5, 1).tolist() == [True, True, False, False, False]
    assert places(read_entries(ids), (1, 2)).tolist() == [0, 1, 0, -1, -1]


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
            with pytest.raises(DataError, match=r"holds (texts|bytes).*X\.astype\(float\)"):
                model.fit(texts, y)
    for texts in (y.astype(str), y.astype("S")):
        with pytest.raises(DataError, match=r"these are (texts|bytes).*y\.astype\(float\)"):
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


@pytest.mark.parametrize(
    ("cells", "categories"),
    [(["1", "2"], [1, 2]), ([1, 2], ["1", "2"]), ([True, False], ["yes", "no"]), ([b"1", b"2"], ["1", "2"])],
)
def test_categories_of_another_kind_than_a_column_declares_are_refused(cells, categories):
    """A list declares none: there each row is in no category, and the documentation says so."""
    by_name = {"k": categories}
    for frame in (
        pyarrow.table({"k": cells}),
        pyarrow.table({"k": [*cells, None]}),
        pyarrow.table({"k": pyarrow.array(cells).dictionary_encode()}),
        polars.DataFrame({"k": [*cells, None]}),
        pandas.DataFrame({"k": pandas.Series(cells, dtype=pandas.ArrowDtype(pyarrow.array(cells).type))}),
    ):
        with pytest.raises(DataError, match="in no category"):
            bayes(bounds=by_name).fit(frame, [0] * len(frame))
    with pytest.raises(DataError, match="in no category"):
        bayes(bounds=[categories]).fit(np.array(cells)[:, None], [0, 1])
    for given in ([[cell] for cell in cells], np.array(cells, dtype=object)[:, None]):
        bayes(bounds=[categories]).fit(given, [0, 1])
    mixed = [*categories, *cells] if not isinstance(cells[0], (bytes, bool)) else [*categories, 1, 0]
    if not isinstance(cells[0], bytes):
        bayes(bounds=[mixed]).fit(np.array(cells)[:, None], [0, 1])


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
    "y", [[["no"], ["yes"], ["no"]], (("no",), ("yes",), ("no",)), [np.array(["no"]), "yes", ("no",)], [[0], [1], [0]]]
)
def test_an_entry_that_is_a_list_of_one_is_its_content(y):
    """Each by itself and without a warning: what all entries are decides nothing."""
    classes = ("no", "yes") if isinstance(y[0][0], str) else (0, 1)
    with warnings.catch_warnings(action="error"):
        labels = read_labels(y, 3)
        longer = read_labels([[*y[0], *y[0]], *y[1:]], 3)
    assert encode_labels(labels, classes).tolist() == [0, 1, 0]
    assert encode_labels(longer, classes).tolist() == [-1, 1, 0]
    assert kept_rows(y, 3, 1).tolist() == [True, True, False]
    assert kept_rows([["no", "no"], *y[1:]], 3, 1).tolist() == [False, True, True]


def test_a_list_as_one_label_is_no_label_and_changes_no_other():
    labels = read_labels(["no", ["yes", "no"], "yes"], 3)
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


def test_columns_of_another_kind_are_refused_wherever_they_are_read(tmp_path):
    """Each row would be in no category, or without a label: a score or a search would be charged for nothing."""
    ledger = dither.Ledger.create(tmp_path / "books.db", budget=dither.approx(9, "1e-5"), domain="clinic")
    numbers, texts = (pyarrow.table({"k": cells}) for cells in ([1, 2, 1], ["1", "2", "1"]))
    y, others = np.array(["no", "yes", "no"]), np.array([0, 1, 0])
    facts = {"bounds": {"k": [1, 2]}, "classes": ["no", "yes"]}
    model = GaussianNB(epsilon=1, **facts).fit(numbers, y)
    line = LinearRegression(epsilon=1, delta="1e-6", bounds={"k": (0, 5)}, target_bounds=(0, 1)).fit(numbers, others)
    search = PrivateSearch(estimator=GaussianNB(**facts), settings=[{}], epsilon=1, ledger=ledger)
    price, entries = {"epsilon": 1, "ledger": ledger}, len(list(ledger.history()))
    for call in (
        lambda: model.predict(texts),
        lambda: line.predict(texts),
        lambda: model.private_score(texts, y, **price),
        lambda: model.private_score(numbers, others, **price),
        lambda: line.private_score(texts, others, **price),
        lambda: line.private_score(numbers, y, **price),
        lambda: search.fit(texts, y),
        lambda: search.fit(numbers, others),
    ):
        with pytest.raises(DataError, match=r"another kind|in no category|bounds of numbers|a target is a number"):
            call()
    assert len(list(ledger.history())) == entries
    search.fit(numbers, y)
    model.private_score(numbers, y.tolist(), **price)


def test_rows_that_are_no_lists_are_numbers_of_the_only_column_or_missing():
    assert cells._read_rows([5, [1], (2,), [3, 4]], 1).tolist() == [[5], [1], [2], [None]]
    assert cells._read_rows([5, [1], (2, 3)], 2).tolist() == [[None, None], [None, None], [2, 3]]
