"""One hostile cell in whatever takes data about people: it changes how its own row is read, and nothing else.

Each reader is handed rows with one entry replaced, and the same rows without that row. What it makes of all other rows must
be the same before any noise, and so must dtypes and shapes; nothing may be raised or warned of. What a typed container can
hold is listed with it (`TYPED`): all else raises where the container is made, so nothing is skipped.
"""

from __future__ import annotations

import datetime
import enum
import uuid
import warnings
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import islice

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dither
from dither import density, learn, local
from dither.errors import DataError, PolicyError, ReleaseError, SizeError
from dither.learn import private_search
from dither.learn.base import private_score
from dither.learn.base.estimator import PrivateEstimator
from tests.query.noiseless import BUDGET, released


class Raises:
    """Raises whatever is asked of it, and is no type either."""

    def _raise(self, *_given, **_named):
        raise RuntimeError("of one row")

    __eq__ = __ne__ = __lt__ = __gt__ = __float__ = __int__ = __index__ = __bool__ = __len__ = __iter__ = _raise
    __repr__ = __str__ = __array__ = __getitem__ = __add__ = _raise
    __hash__ = _raise
    __class__ = property(_raise)


class Overflows:
    def __float__(self):
        raise OverflowError

    def __gt__(self, other):
        raise RuntimeError("of one row")


class Warns:
    def __float__(self):
        warnings.warn("of one row", stacklevel=1)
        return 1.0


class RaisingText(str):
    __slots__ = ()

    def __eq__(self, other):
        raise RuntimeError("of one row")

    def __hash__(self):
        raise RuntimeError("of one row")


class RaisingNumber(int):
    __eq__ = __float__ = __hash__ = __index__ = Raises._raise


class RaisingDate(datetime.date):
    __eq__ = __hash__ = Raises._raise


class WarningText(str):
    __slots__ = ()

    def __eq__(self, other):
        warnings.warn("of one row", stacklevel=1)
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Adrift(datetime.tzinfo):
    def utcoffset(self, moment):
        raise RuntimeError("of one row")


class Nowhere:
    __module__ = 5  # where a class is from is a text, as a rule


class LongList(list):
    def __len__(self):
        raise RuntimeError("of one row")


class Ward(enum.IntEnum):
    NORTH = 7


HOSTILE = [
    *(None, float("nan"), float("inf"), float("-inf"), 10**400, 2**70, -(2**63), 1e308, 5e-324, -0.0, True),
    *("", "x", "a" * 100_000, "9" * 5000, "1_0", "nan", b"", b"5", "\ud800", "\0", 1j),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("1e999999"), Fraction(10**400)),
    *([], [1.0], ["no"], [[1.0]], [1.0, 2.0], (), (1.0,), {}, {"a": 1}, {1}),
    *(datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), uuid.UUID(int=5)),
    *(
        np.float32(0.5),
        np.longdouble(0.5),
        np.int64(2**62),
        np.bool_(True),
        np.str_("no"),
        np.bytes_(b"no"),
        np.complex128(1j),
    ),
    *(np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns"), np.timedelta64("NaT")),
    *(np.array(1.0), np.array([1.0]), np.array([1.0, 2.0]), np.array([[1.0]]), np.zeros(0), np.ma.masked, np.array("x")),
    *(pandas.NA, pandas.NaT, pandas.Timestamp(2020, 1, 1), pandas.Series([1.0]), polars.Series([1.0]), pyarrow.scalar(1.0)),
    *(Ward.NORTH, object(), float, len, Raises(), Overflows(), Warns()),
    *(RaisingText("no"), RaisingNumber(1), RaisingDate(2020, 1, 1), LongList([1.0])),
    *(WarningText("no"), datetime.datetime(2020, 1, 1, tzinfo=Adrift()), Nowhere()),
]


def objects(cells):
    found = np.empty(len(cells), dtype=object)
    for place, one in enumerate(cells):
        found[place] = one
    return found


def untyped(cells):
    """Columns that hold anything, by their kind."""
    return {
        "list": list(cells),
        "tuple": tuple(cells),
        "list of lists": [[one] for one in cells],
        "some lists": [[one] if place % 2 else one for place, one in enumerate(cells)],
        "array of objects": objects(cells),
        "pandas": pandas.Series(objects(cells), dtype=object),
        "polars": polars.Series(list(cells), dtype=polars.Object),
    }


def torn(kind):
    """Texts that no Arrow array may hold by its own rules, and does: what is not UTF-8."""

    def column(cells):
        held = pyarrow.array([one.encode() if isinstance(one, str) else one for one in cells], pyarrow.binary())
        return pyarrow.chunked_array([pyarrow.Array.from_buffers(pyarrow.string(), len(held), held.buffers())]).cast(kind)

    return column


KNOWN = ["no", "yes", "other", *(f"p{number}" for number in range(10))]
TINY, LARGE = 2**53, [None, 2**53 + 1, 2**62, -(2**62)]
FLOATS = [None, float("nan"), float("inf"), float("-inf"), 1e308, 5e-324, -0.0, 2.0**60]
TEXTS = [None, "", "x", "a" * 10_000, "\0", "nan", "5"]


def str_or_none(cell):
    return None if cell is None else str(cell)


def float_or_none(cell):
    return None if cell is None else float(cell)


def decimal_or_none(cell):
    return None if cell is None else Decimal(cell)


def arrow(kind, read=None):
    return lambda cells: pyarrow.chunked_array([pyarrow.array([read(cell) for cell in cells] if read else cells, kind)])


def coded(cells):
    return pyarrow.chunked_array([pyarrow.array(cells).dictionary_encode()])


def series(kind):
    return lambda cells: pandas.Series(cells, dtype=kind)


def polars_series(kind, read=None):
    return lambda cells: polars.Series(cells if read is None else list(map(read, cells))).cast(kind)


def masked(kind):
    return lambda cells: np.ma.masked_array(
        np.array([kind() if cell is None else cell for cell in cells], dtype=kind), [cell is None for cell in cells]
    )


CODES = pandas.CategoricalDtype([*range(60), *LARGE[1:]])
WORDS = pandas.CategoricalDtype([*KNOWN, *TEXTS[1:]])
MISSING = np.dtypes.StringDType(na_object=None)
TYPED = {  # a column, and cells that it can hold
    "numbers": {
        "float64": (lambda cells: np.array(cells, dtype=float), FLOATS),
        "float32": (lambda cells: np.array(cells, dtype="f4"), [None, float("inf"), 1e-45]),
        "longdouble": (lambda cells: np.array(cells, dtype=np.longdouble), FLOATS),
        "int64": (np.array, LARGE[1:]),
        "masked": (masked(float), FLOATS),
        "pandas float": (series(float), FLOATS),
        "pandas Float64": (series("Float64"), FLOATS),
        "pandas Int64": (series("Int64"), LARGE),
        "pandas arrow": (series("int64[pyarrow]"), LARGE),
        "pandas category": (series(CODES), LARGE),
        "pandas array": (lambda cells: pandas.array(cells, dtype="Int64"), LARGE),
        "pandas Categorical": (lambda cells: pandas.Categorical(cells, dtype=CODES), LARGE),
        "polars Int64": (polars_series(polars.Int64), LARGE),
        "polars Float64": (polars_series(polars.Float64, float_or_none), FLOATS),
        "polars Decimal": (polars_series(polars.Decimal(20, 0), str_or_none), LARGE[:2]),
        "Arrow int64": (arrow(pyarrow.int64()), LARGE),
        "Arrow double": (arrow(pyarrow.float64()), FLOATS),
        "Arrow decimal": (arrow(pyarrow.decimal128(38), decimal_or_none), LARGE),
        "Arrow dictionary": (coded, LARGE),
    },
    "texts": {
        "str": (lambda cells: np.array(cells, dtype=str), TEXTS[1:3]),
        "masked": (masked(str), TEXTS[:3]),
        "StringDType": (lambda cells: np.array(cells, dtype=MISSING), TEXTS),
        "pandas string": (series("string"), TEXTS),
        "pandas python": (series("string[python]"), [*TEXTS, "\ud800"]),
        "pandas category": (series(WORDS), TEXTS),
        "pandas array": (lambda cells: pandas.array(cells, dtype="string"), TEXTS),
        "polars String": (polars_series(polars.String), TEXTS),
        "polars Categorical": (polars_series(polars.Categorical), TEXTS),
        "Arrow string": (torn(pyarrow.string()), [*TEXTS, b"\xff"]),
        "Arrow view": (torn(pyarrow.string_view()), [*TEXTS, b"\xff", b"\xff" * 20]),
        "Arrow dictionary": (coded, TEXTS),
    },
}


def quiet(call, *given, **named):
    """What a call gives; it may not warn, and what it raises is said without the cell."""
    with warnings.catch_warnings(action="error"):
        return call(*given, **named)


def others(found, whole):
    """True if the rows that were found are the whole ones, and perhaps one more."""
    return found == whole or any([*found[:at], *found[at + 1 :]] == whole for at in range(len(found)))


def columns(good, place):
    """Every column with its entry at a place replaced, and the same column without that entry."""
    less = [one for at, one in enumerate(good) if at != place]
    for hostile in HOSTILE:
        cells = [hostile if at == place else one for at, one in enumerate(good)]
        kept = untyped(less)
        for name, column in untyped(cells).items():
            yield f"{name} with {type.__repr__(type(hostile))}", column, kept[name]
    kind = "texts" if isinstance(good[0], str) else "numbers"
    for name, (make, held) in TYPED[kind].items():
        for hostile in held:
            yield (
                f"{name} with {hostile!r:.20}",
                make([hostile if at == place else one for at, one in enumerate(good)]),
                make(less),
            )


# -- estimators ------------------------------------------------------------------------------------------------------

PRICE = {"epsilon": 1, "delta": "1e-6"}
BOTH = {"bounds": [(0, 10), ["no", "yes", 1]]}
ESTIMATORS = {
    "KMeans": lambda: learn.KMeans(2, **PRICE, **BOTH),
    "PCA": lambda: learn.PCA(1, **PRICE, **BOTH),
    "StandardScaler": lambda: learn.StandardScaler(epsilon=1, bounds=[(0, 10), (0, 1)]),
    "LogisticRegression": lambda: learn.LogisticRegression(**PRICE, **BOTH, classes=["no", "yes"]),
    "GaussianNB": lambda: learn.GaussianNB(epsilon=1, **BOTH, classes=["no", "yes"]),
    "NearestCentroid": lambda: learn.NearestCentroid(epsilon=1, **BOTH, classes=["no", "yes"]),
    "ForestClassifier": lambda: learn.ForestClassifier(epsilon=1, **BOTH, classes=["no", "yes"]),
    "BoostingClassifier": lambda: learn.BoostingClassifier(**PRICE, **BOTH, classes=["no", "yes"]),
    "LinearRegression": lambda: learn.LinearRegression(**PRICE, **BOTH, target_bounds=(0, 10)),
    "Ridge": lambda: learn.Ridge(**PRICE, **BOTH, target_bounds=(0, 10)),
    "ForestRegressor": lambda: learn.ForestRegressor(epsilon=1, **BOTH, target_bounds=(0, 10)),
    "BoostingRegressor": lambda: learn.BoostingRegressor(**PRICE, **BOTH, target_bounds=(0, 10)),
}
NUMBERS, WARDS = [1, 2, 3, 4, 5, 6, 7, 8], ["no", "yes", "no", "no", "yes", "yes", "no", "yes"]
TARGETS, PERSONS = [8, 1, 2, 3, 2, 5, 6, 7], ["p0", "p0", "p1", "p9", "p1", "p1", "p2", "p3"]
AT = 3  # the place of the hostile entry: a person of her own


def without(cells):
    return [one for at, one in enumerate(cells) if at != AT]


@pytest.fixture
def encoded(monkeypatch):
    """Rows as estimators see them, in the order in which they were read; nothing is released."""
    seen = []
    read = PrivateEstimator._rows

    def rows(self, *given):
        found = read(self, *given)
        seen.append(found)
        return found

    monkeypatch.setattr(PrivateEstimator, "_rows", rows)
    monkeypatch.setattr(PrivateEstimator, "_rehearse", lambda self, facts: None)
    monkeypatch.setattr(PrivateEstimator, "_released", lambda self, facts, rows: "[]")
    monkeypatch.setattr(
        PrivateEstimator, "_model", lambda self, facts, stored, receipt: setattr(self, "outside_", ()) or self
    )
    return seen


def as_rows(rows):
    """A list of encoded rows, and the dtypes."""
    parts = [part for part in (rows.numbers, rows.codes, rows.label, rows.target) if part is not None]
    return [tuple(np.asarray(part[at]).tobytes() for part in parts) for at in range(rows.count)], [p.dtype for p in parts]


def fitted(seen, model, table, y, person):
    """Encoded rows of a fit."""
    seen.clear()
    quiet(model.fit, table, y, person=person)
    (rows,) = seen
    return (*as_rows(rows), model.n_features_in_)


def tables(numbers, wards):
    """Tables of two columns that hold anything."""
    rows = list(zip(numbers, wards, strict=True))
    array = np.empty((len(rows), 2), dtype=object)
    for at, row in enumerate(rows):
        array[at, 0], array[at, 1] = row
    return {
        "list of lists": [list(row) for row in rows],
        "tuple of tuples": tuple(rows),
        "list of arrays": [objects(row) for row in rows],
        "array of objects": array,
        "pandas": pandas.DataFrame({"a": untyped(numbers)["pandas"], "b": untyped(wards)["pandas"]}),
        "polars": polars.DataFrame([polars.Series("a", numbers, polars.Object), polars.Series("b", wards, polars.Object)]),
    }


def answers_of(name):
    return WARDS if "Cl" in name or name in ("LogisticRegression", "GaussianNB", "NearestCentroid") else TARGETS


def test_every_estimator_is_here():
    given = {name for name in learn.__all__ if isinstance(getattr(learn, name, None), type)} - {
        "PrivateSearch",
        "PrivateSGD",
    }
    assert given == set(ESTIMATORS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_read_features_row_by_row(name, encoded):
    model = ESTIMATORS[name]()
    bounds, y = model.bounds, None if model._supervision is None else answers_of(name)
    containers = tables(NUMBERS, WARDS) if name == "GaussianNB" else ["list of lists"]  # all estimators have one reader
    less = {one: t for one, t in tables(without(NUMBERS), without(WARDS)).items() if one in containers}
    for container, table in less.items():
        by_name = container in ("pandas", "polars")
        model.set_params(bounds=dict(zip("ab", bounds, strict=True)) if by_name else bounds)
        base = fitted(encoded, model, table, y and without(y), without(PERSONS))
        for hostile in HOSTILE if name == "GaussianNB" else HOSTILE[::4]:
            for numbers, wards in (
                ([*NUMBERS[:AT], hostile, *NUMBERS[AT + 1 :]], WARDS),
                (NUMBERS, [*WARDS[:AT], hostile, *WARDS[AT + 1 :]]),
            ):
                found = fitted(encoded, model, tables(numbers, wards)[container], y, PERSONS)
                assert others(found[0], base[0]), (container, type(hostile))
                left_out = isinstance(model, learn.LinearRegression) and wards[AT] is hostile
                assert left_out or len(found[0]) == len(base[0]) + 1, "a row without a value counts all the same"
                assert found[1:] == base[1:]


def test_typed_columns_of_features_are_read_row_by_row(encoded):
    for kind, good, bound in (
        ("numbers", NUMBERS, (0, 10)),
        ("numbers", NUMBERS, [2, 3, TINY + 1]),
        ("texts", WARDS, ["no", "yes"]),
    ):
        for name, (make, held) in TYPED[kind].items():
            arrow = isinstance(make(good), (pyarrow.Array, pyarrow.ChunkedArray))
            frame = (
                pyarrow.table if arrow else polars.DataFrame if isinstance(make(good), polars.Series) else pandas.DataFrame
            )
            model = learn.KMeans(2, epsilon=1, bounds={"a": bound})
            base = fitted(encoded, model, frame({"a": make(without(good))}), None, None)
            for hostile in held:
                found = fitted(encoded, model, frame({"a": make([*good[:AT], hostile, *good[AT + 1 :]])}), None, None)
                assert others(found[0], base[0]), (name, hostile)
                assert found[1:] == base[1:]


def test_rows_of_a_list_that_are_torn_are_rows_of_missing_cells(encoded):
    model, rows = learn.KMeans(2, **PRICE, **BOTH), tables(NUMBERS, WARDS)["list of lists"]
    for bounds in (BOTH["bounds"], dict(enumerate(BOTH["bounds"])), ([0, 0], [10, 10])):
        model.set_params(bounds=bounds)
        base = fitted(encoded, model, without(rows), None, None)
        missing = fitted(encoded, model, [*rows[:AT], [None, None], *rows[AT + 1 :]], None, None)
        torn = [None, [1, 2, 3], [1], (), "ab", Raises(), np.zeros(3)]
        for at, row in enumerate([*torn, *HOSTILE]):
            found = fitted(encoded, model, [*rows[:AT], row, *rows[AT + 1 :]], None, None)
            assert others(found[0], base[0])
            assert found[1:] == base[1:]
            assert at >= len(torn) or found == missing


def test_what_a_mask_hides_is_missing(encoded):
    hidden = [place == AT for place in range(len(NUMBERS))]
    model = learn.KMeans(2, epsilon=1, bounds=(0, 10))
    gaps = [[None if place == AT else one] for place, one in enumerate(NUMBERS)]
    table = np.ma.masked_array(np.array(NUMBERS)[:, None], np.array(hidden)[:, None])
    assert fitted(encoded, model, table, None, None) == fitted(encoded, model, gaps, None, None)
    persons = np.ma.masked_array(PERSONS, hidden)
    assert fitted(encoded, model, table, None, persons) == fitted(
        encoded, model, gaps, None, [*PERSONS[:AT], None, *PERSONS[4:]]
    )
    for name, axis in CELLS.items():
        good = WARDS if "texts" in name else NUMBERS
        assert axis.count(np.ma.masked_array(good, hidden)).tolist() == axis.count(without(good)).tolist()
    moments, numbers = density.Moments(epsilon=1, low=0, high=10), np.ma.masked_array(NUMBERS, hidden)
    assert moments.count(numbers) == moments.count(without(NUMBERS))


def test_raw_bytes_are_no_numbers():
    for raw in (b"12", bytearray(b"12"), memoryview(b"12")):
        with pytest.raises(DataError):
            CELLS["Bins"].count(raw)


def test_a_list_of_cells_is_a_table_of_one_column(encoded):
    """Where bounds say that there is one: rows of missing cells would be charged for a model of nothing."""
    for good, bound in ((NUMBERS, (0, 10)), (WARDS, ["no", "yes"])):
        model = learn.KMeans(2, epsilon=1, bounds=[bound])
        base = fitted(encoded, model, [[one] for one in without(good)], None, None)
        assert fitted(encoded, model, without(good), None, None) == base
        for label, column, _ in columns(good, AT):
            if label.startswith(("list", "some lists", "tuple")):
                found = fitted(encoded, model, column, None, None)
                assert others(found[0], base[0]), label
                assert found[1:] == base[1:], label
        with pytest.raises(SizeError, match="2D"):
            learn.KMeans(2, epsilon=1, bounds=(0, 10)).fit(NUMBERS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_read_labels_and_persons_entry_by_entry(name, encoded):
    model = ESTIMATORS[name]()
    y = None if model._supervision is None else answers_of(name)
    table, thin = tables(NUMBERS, WARDS)["list of lists"], tables(without(NUMBERS), without(WARDS))["list of lists"]
    base = fitted(encoded, model, thin, y and without(y), without(PERSONS))
    often = 1 if name == "LinearRegression" else 12
    for label, column, less in islice(columns(PERSONS, AT), 0, None, often):
        assert fitted(encoded, model, thin, y and without(y), less) == base, label
        found = fitted(encoded, model, table, y, column)
        assert others(found[0], base[0]), label
        assert found[1:] == base[1:], label
    for label, column, less in islice(columns(y, AT), 0, None, 1 if name == "GaussianNB" else often) if y else ():
        assert fitted(encoded, model, thin, less, without(PERSONS)) == base, label
        found = fitted(encoded, model, table, column, PERSONS)
        assert others(found[0], base[0]), label
        assert found[1:] == base[1:], label


def test_networks_read_rows_and_persons_as_other_classifiers_do(monkeypatch, encoded):
    """Without torch: rows are read before a network is asked for."""
    for name in ("_rehearse", "_released", "_model"):
        monkeypatch.setattr(learn.PrivateSGD, name, getattr(PrivateEstimator, name))
    model = learn.PrivateSGD(**PRICE, **BOTH, classes=["no", "yes"])
    table, thin = tables(NUMBERS, WARDS)["list of lists"], tables(without(NUMBERS), without(WARDS))["list of lists"]
    base = fitted(encoded, model, thin, without(WARDS), without(PERSONS))
    for hostile in HOSTILE:
        for rows, y, person in (
            ([*table[:AT], [hostile, "no"], *table[AT + 1 :]], WARDS, PERSONS),
            ([*table[:AT], hostile, *table[AT + 1 :]], WARDS, PERSONS),
            (table, [*WARDS[:AT], hostile, *WARDS[AT + 1 :]], PERSONS),
            (table, WARDS, [*PERSONS[:AT], hostile, *PERSONS[AT + 1 :]]),
        ):
            found = fitted(encoded, model, rows, y, person)
            assert others(found[0], base[0]), type(hostile)
            assert found[1:] == base[1:], type(hostile)


def test_persons_with_large_numbers_stay_apart(encoded):
    """As doubles some of them would be one person, whose second row is left out."""
    model, persons = ESTIMATORS["LinearRegression"](), [TINY + at for at in range(len(NUMBERS))]
    categories, chosen = pandas.CategoricalDtype([*persons, *LARGE[2:]]), ("int64", "pandas Int64", "pandas arrow")
    kinds = {
        name: TYPED["numbers"][name] for name in (*chosen, "pandas array", "polars Int64", "Arrow int64", "Arrow dictionary")
    }
    kinds["pandas category"] = series(categories), LARGE
    kinds["pandas Categorical"] = (lambda cells: pandas.Categorical(cells, dtype=categories)), LARGE
    table, thin = tables(NUMBERS, WARDS)["list of lists"], tables(without(NUMBERS), without(WARDS))["list of lists"]
    base = fitted(encoded, model, thin, without(TARGETS), without(persons))
    for name, (make, held) in kinds.items():
        assert fitted(encoded, model, thin, without(TARGETS), make(without(persons))) == base, name
        for hostile in set(held) - set(persons):
            column = make([*persons[:AT], hostile, *persons[AT + 1 :]])
            assert others(fitted(encoded, model, table, TARGETS, column)[0], base[0]), (name, hostile)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_models_answer_row_by_row(name):
    """What a model says of private rows may be what the next one of a pipeline is fitted to."""
    model, asks = ESTIMATORS[name](), ("predict", "predict_proba", "decision_function", "transform")
    y = None if model._supervision is None else answers_of(name)
    table = tables(NUMBERS, WARDS if len(model.bounds[1]) > 2 else NUMBERS)["list of lists"]
    model.fit(table, y)
    for ask in (getattr(model, one) for one in asks if hasattr(model, one)):
        whole = ask(table)
        for hostile in [None, [1, 2, 3], *HOSTILE[::4]]:
            for row in (hostile, [hostile, "no"], [1, hostile]):
                for at in (0, AT):
                    found = quiet(ask, [*table[:at], row, *table[at + 1 :]])
                    assert (found.dtype.kind, found.shape) == (whole.dtype.kind, whole.shape)
                    assert np.delete(found, at, axis=0).tolist() == np.delete(whole, at, axis=0).tolist()


# -- scores and searches ---------------------------------------------------------------------------------------------


def exact(monkeypatch, seen):
    """What a score counts, before noise."""

    def released(self, name, counted, norm, times):
        seen.append(counted())
        raise StopIteration

    monkeypatch.setattr(private_score.Asked, "released", released)


def stopped(call, *given, **named):
    with pytest.raises(StopIteration):
        quiet(call, *given, **named)


@pytest.mark.parametrize("kind", ["classes", "target"])
def test_scores_count_row_by_row(kind, monkeypatch):
    """One row more adds what one row may add, whatever it is; exactly."""
    seen = []
    table, thin = tables(NUMBERS, WARDS)["list of lists"], tables(without(NUMBERS), without(WARDS))["list of lists"]
    if kind == "classes":
        model = learn.GaussianNB(epsilon=1, **BOTH, classes=["no", "yes"]).fit(table, WARDS)
        y, most = WARDS, 1
    else:
        model = learn.LinearRegression(**PRICE, **BOTH, target_bounds=(0, 10)).fit(table, TARGETS)
        y, most = TARGETS, 2 * private_score.STEPS**2
    exact(monkeypatch, seen)
    stopped(model.private_score, thin, without(y), epsilon=1, person=without(PERSONS))
    base = seen.pop()
    for hostile in HOSTILE[::3]:
        one = {"X": table, "y": y, "person": PERSONS}
        rows = [[hostile, "no"], [1, hostile], hostile]
        fields = [("X", [*table[:AT], row, *table[AT + 1 :]]) for row in rows]
        fields += [("y", [*y[:AT], hostile, *y[AT + 1 :]]), ("person", [*PERSONS[:AT], hostile, *PERSONS[AT + 1 :]])]
        for field, cells in fields:
            stopped(model.private_score, epsilon=1, **one | {field: cells})
            added = np.array(seen.pop(), dtype=object) - base
            assert (added >= 0).all()
            assert added.sum() <= most


def test_searches_score_row_by_row(monkeypatch, encoded):
    seen, read = [], private_search.model_scores

    def scores(*given):
        seen.append(read(*given))
        raise StopIteration

    monkeypatch.setattr(private_search, "model_scores", scores)
    table, thin = [[n, n] for n in NUMBERS], [[n, n] for n in without(NUMBERS)]
    models = [
        [[(0, 5), (0, 5)], lambda row: row[0] / 10, lambda row: str(row[1]) == "2"],
        [lambda row: "no", [(0, 5), (0, 9)]],
    ]
    for which, labels in ((models[0], None), (models[1], WARDS)):
        search = learn.PrivateSearch(which, epsilon=1)
        seen.clear()
        for hostile in [None, *HOSTILE[::3]]:
            cells = [
                [*table[:AT], [hostile, 1], *table[AT + 1 :]],
                [*table[:AT], [1, hostile], *table[AT + 1 :]],
                [*table[:AT], hostile, *table[AT + 1 :]],
            ]
            for rows, persons in [*((one, PERSONS) for one in cells), (table, [*PERSONS[:AT], hostile, *PERSONS[AT + 1 :]])]:
                for given, labelled, person in (
                    (thin, labels and without(labels), without(PERSONS)),
                    (rows, labels, persons),
                ):
                    with pytest.raises(ReleaseError):
                        quiet(search.fit, given, labelled, person=person)
                less, more = seen[-2:]
                worth = 1 if labels else private_search.row_worth(which, labelled=False)
                assert ((more - less >= 0) & (more - less <= worth)).all()
    whole = learn.PrivateSearch(estimator=learn.GaussianNB(**BOTH, classes=["no", "yes"]), settings=[{}], epsilon=1)
    monkeypatch.setattr(private_search, "single_answers", lambda *given: {})
    table, thin = tables(NUMBERS, WARDS)["list of lists"], tables(without(NUMBERS), without(WARDS))["list of lists"]
    monkeypatch.setattr(private_search, "best_run", lambda run, law: run())
    base = None
    for rows, labels in [(thin, without(WARDS)), *((table, [*WARDS[:AT], one, *WARDS[AT + 1 :]]) for one in HOSTILE[::6])]:
        encoded.clear()
        quiet(whole.fit, rows, labels)
        base = base or as_rows(encoded[0])
        assert others(as_rows(encoded[0])[0], base[0])


def test_searches_among_fitted_models_take_torn_rows():
    table = tables(NUMBERS, WARDS)["list of lists"]
    models = [ESTIMATORS[name]().fit(table, WARDS) for name in ("GaussianNB", "ForestClassifier")]
    for row in (None, [1], [1, 2, 3], Raises()):
        quiet(learn.PrivateSearch(models, epsilon=1).fit, [*table[:AT], row, *table[AT + 1 :]], WARDS)


# -- densities -------------------------------------------------------------------------------------------------------

CELLS = {
    "Bins": density.Bins([0, 2, 5, 9]),
    "Categories": density.Categories([1, 2, 3, 5, TINY + 1]),
    "Categories of texts": density.Categories(["no", "yes"]),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_of_a_histogram_are_found_value_by_value(name):
    axis = CELLS[name]
    good = WARDS if "texts" in name else NUMBERS
    base = axis.place(without(good)).tolist()
    for label, column, less in columns(good, AT):
        if label.startswith(("list of lists", "some lists")):
            continue  # a list is no value here, as little as any other
        assert quiet(axis.place, less).tolist() == base, label
        found = quiet(axis.place, column)
        assert (without(found.tolist()), found.dtype) == (base, np.int64), label
        assert quiet(axis.count, column).sum() <= len(good)
        if name == "Bins":
            grid = density.Grid(axis, density.Categories(["no", "yes"]))
            marginals = density.Marginals(grid=grid, tables=[(0,), (0, 1)], epsilon=1)
            more = quiet(grid.count, [column, WARDS]) - grid.count([less, without(WARDS)])
            assert ((more >= 0) & (more.sum() <= 1)).all()
            given = [column, WARDS], [less, without(WARDS)]
            one, other = (np.concatenate(quiet(marginals.count, rows)) for rows in given)
            more = one - other
            assert ((more >= 0) & (more.sum() <= 2)).all()


def test_every_counter_is_here():
    """What counts values; all kinds of unknown keys read pairs with one function."""
    counters = {name for name in density.__all__ if callable(getattr(getattr(density, name), "count", None))}
    keys = {name for name in counters if "Key" in name}
    assert counters - keys == {"Bins", "Categories", "Grid", "Marginals", "Moments", "Covariance"}
    assert len({getattr(density, name).count for name in keys - {"KeyChoice"}}) == 1


def test_moments_are_added_up_value_by_value():
    moments = [density.Moments(epsilon=1, low=0, high=10, degree=degree) for degree in (1, 2)]
    pairs = density.Covariance(epsilon=1, first=(0, 10), second=(0, 10))
    for label, column, less in columns(NUMBERS, AT):
        if label.startswith(("list of lists", "some lists")):
            continue
        for one in moments:
            more = np.array(quiet(one.count, column), dtype=object) - one.count(less)
            assert (more >= 0).all(), label
            assert more.sum() in (0, one.one), label
        for given, kept in (((column, NUMBERS), (less, without(NUMBERS))), ((NUMBERS, column), (without(NUMBERS), less))):
            more = np.array(quiet(pairs.count, *given), dtype=object) - pairs.count(*kept)
            assert (more >= 0).all(), label
            assert more.sum() in (0, pairs.one), label


def test_keys_are_counted_pair_by_pair():
    pairs = list(zip(PERSONS, WARDS, strict=True))
    rule = density.keys(epsilon=1, delta="1e-6", max_keys=2)
    base = rule.count(without(pairs))
    for hostile in HOSTILE:
        for pair in ((hostile, "no"), ("p9", hostile), (hostile, hostile)):
            found = quiet(rule.count, [*pairs[:AT], pair, *pairs[AT + 1 :]])
            assert sum(found.values()) - sum(base.values()) in (0, 1)
            assert all(found[key] - count in (0, 1) for key, count in base.items())


# -- surveys ---------------------------------------------------------------------------------------------------------


PLACES = [(0, 1), (2, 2), (1, 1), (0, 0), (1, 0), (2, 1), (0, 2), (1, 2)]
COINS = [True, False, True, False, False, True, False, True]
LISTED = {"domain": ["no", "yes"], "epsilon": 1}
SURVEYS = {
    "CoinFlip": (lambda: local.CoinFlip(), COINS),
    "DirectEncoding": (lambda: local.DirectEncoding(**LISTED), WARDS),
    "DirectEncoding of numbers": (lambda: local.DirectEncoding(10, epsilon=1), NUMBERS),
    "HadamardResponse": (lambda: local.HadamardResponse(**LISTED), WARDS),
    "LocalHashing": (lambda: local.LocalHashing(**LISTED), WARDS),
    "SubsetSelection": (lambda: local.SubsetSelection(**LISTED), WARDS),
    "UnaryEncoding": (lambda: local.UnaryEncoding(**LISTED), WARDS),
    "Longitudinal": (lambda: local.Longitudinal(["no", "yes"], first="ln(2)", forever="ln(3)"), WARDS),
    "GridResponse": (lambda: local.GridResponse(width=3, height=3, epsilon=1), PLACES),
    "Duchi": (lambda: local.Duchi(0, 10, epsilon=1), NUMBERS),
    "Piecewise": (lambda: local.Piecewise(0, 10, epsilon=1), NUMBERS),
    "Hybrid": (lambda: local.Hybrid(0, 10, epsilon=1), NUMBERS),
    "NoisyNumber": (lambda: local.NoisyNumber(0, 10, epsilon=1), NUMBERS),
    "HeavyHitters": (lambda: local.HeavyHitters(epsilon=1, longest=4), WARDS),
    "HeavyHitters of numbers": (lambda: local.HeavyHitters(epsilon=1, bits=8), NUMBERS),
}


def test_every_survey_is_here():
    given = {name for name in local.__all__ if hasattr(getattr(local, name), "randomize")}
    assert given == {name.split(" of ")[0] for name in SURVEYS}


@pytest.mark.parametrize("name", SURVEYS)
def test_an_answer_of_another_kind_is_refused_in_words_before_any_other_is_randomized(name, monkeypatch):
    """`docs/known-limits.md` says that a refusal shows where the answers are; the collector has no report then."""
    make, good = SURVEYS[name]
    survey, drawn = make(), []
    dtype = survey.randomize(good).payload.dtype
    if hasattr(survey, "_encode"):
        encode = survey._encode
        monkeypatch.setattr(type(survey), "_encode", lambda self, places: drawn.append(places.tolist()) or encode(places))
    if good in (PLACES, COINS):
        given = [("list", [*good[:AT], hostile, *good[AT + 1 :]], without(good)) for hostile in HOSTILE]
    else:
        given = [one for one in columns(good, AT) if not one[0].startswith(("list of lists", "some lists"))]
    for label, column, less in given:
        try:
            quiet(survey.randomize, less)
        except DataError:
            continue  # a container that no survey takes, whatever is in it
        drawn.clear()
        with suppress(DataError):
            reports = quiet(survey.randomize, column)
            assert (len(reports), reports.payload.dtype) == (len(good), dtype), label
            quiet(survey.randomize, less)
            for one, other in zip(without(drawn[0]), drawn[1], strict=True) if drawn else ():
                assert abs(one - other) <= (good is NUMBERS), label  # numbers are rounded at random, to the next place
            continue
        assert not drawn, label


def test_reports_are_counted_one_by_one():
    survey = local.DirectEncoding(["a", "b", "c"], epsilon=1)
    payload = np.array([0, 1, 2, 0, 1, 2, 1, 1], dtype=survey.dtype)
    base = survey.tally(local.Reports(survey.record, np.delete(payload, AT))).counts
    for report in range(256):
        payload[AT] = report
        more = survey.tally(local.Reports(survey.record, payload)).counts - base
        assert sorted(more.tolist()) == [0, 0, int(report < 3)]


# -- datasets --------------------------------------------------------------------------------------------------------

SQL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM t GROUP BY ward"
FACTS = {"name": "t", "person": "who", "max_rows": 1, "bounds": {"cost": (0, 10)}}


def frames(place, kind):
    """Frames of protected rows for each container that is a column of one, one row for each hostile cell at the end."""
    for name, (make, held) in TYPED[kind].items():
        column = make(held[:1])
        if isinstance(column, np.ndarray):
            continue  # an array has no names: `protect` takes no such thing, whatever is in it
        frame = polars.DataFrame if isinstance(column, polars.Series) else pandas.DataFrame
        frame = pyarrow.table if isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)) else frame
        good = {"who": list(range(20, 28)), "ward": WARDS, "cost": NUMBERS}
        good |= {place: WARDS} if kind == "texts" and place == "who" else {}
        if place == "who":
            good["who"] = [f"p{at}" for at in range(8)] if kind == "texts" else good["who"]
        more = {"who": list(range(50, 50 + len(held))), "ward": ["other"] * len(held), "cost": [3] * len(held)}
        if place == "who" and kind == "texts":
            more["who"] = held
        tables = []
        for rows in (good, {one: [*cells, *(held if one == place else more[one])] for one, cells in good.items()}):
            tables.append(frame({one: make(cells) if one == place else cells for one, cells in rows.items()}))
        yield name, tables


@pytest.mark.parametrize(("place", "kind"), [("cost", "numbers"), ("ward", "texts"), ("who", "texts"), ("who", "numbers")])
def test_datasets_count_row_by_row(place, kind, encoded):
    for name, (table, longer) in frames(place, kind):
        counts, rows = asked(table, encoded)
        more, found = asked(longer, encoded)
        assert counts == more, name
        assert all(found.count(row) >= rows.count(row) for row in rows), name


def asked(table, encoded):
    """The answer to a query, and encoded rows of a fit; or why it is refused, by the types of its columns."""
    with dither.Ledger.temporary(BUDGET, domain="t") as ledger:
        try:
            data = quiet(dither.protect, table, ledger=ledger, keys={"ward": ["no", "yes"]}, **FACTS)
        except PolicyError as error:
            return str(error), []
        answer = quiet(released, data, SQL)
        encoded.clear()
        quiet(learn.KMeans(2, **PRICE).fit, data.features("SELECT ward, cost FROM t"))
        return [round(one, 2) for column in ("n", "cost") for one in answer[column]], as_rows(encoded[0])[0]


def test_containers_that_declare_no_types_are_no_datasets():
    for table in ({"who": [1]}, [{"who": 1}], [[1]], ({"who": None},)):
        with pytest.raises(DataError), dither.Ledger.temporary(BUDGET, domain="t") as ledger:
            dither.protect(table, ledger=ledger, **FACTS)
