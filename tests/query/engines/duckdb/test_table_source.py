"""Columns of every type: where no question touches them they do not matter; else they are read, or refused beforehand."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError, QuestionError, ReleaseError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.table_source import TableSource, table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import cell
from dither.query.engines.templates.relations import rows_of
from dither.query.policy.column import Type
from dither.query.policy.table import read_table
from dither.query.sources.find_source import find_source
from dither.query.sources.frames import ArrowTable
from tests.query.clinics import ledger

ONE, TWO = decimal.Decimal(1), decimal.Decimal(2)
INDEX = pyarrow.array([0, 1], pyarrow.int8())


def coded(values: pyarrow.Array, index: pyarrow.DataType = INDEX.type) -> pyarrow.Array:
    return pyarrow.DictionaryArray.from_arrays(INDEX.cast(index), values)


def labelled(kind: Any, storage: pyarrow.Array) -> pyarrow.Array:
    return pyarrow.ExtensionArray.from_storage(kind, storage)


HALVES = pyarrow.array(numpy.array([1, 2], dtype=numpy.float16))
WIDE = pyarrow.array([ONE, TWO], pyarrow.decimal256(60, 2))
BYTES = pyarrow.array([b"a" * 16, b"b" * 16], pyarrow.binary(16))
RUNS = pyarrow.array([1, 2], pyarrow.int32())
UNREADABLE = {
    "float16": HALVES,
    "decimal256": WIDE,
    "negative scale": pyarrow.array([decimal.Decimal(100), decimal.Decimal(200)], pyarrow.decimal128(5, -2)),
    "interval": pyarrow.array([pyarrow.MonthDayNano([1, 2, 3])] * 2),
    "list": pyarrow.array([[1], [2]]),
    "large list": pyarrow.array([[1], [2]], pyarrow.large_list(pyarrow.int64())),
    "list view": pyarrow.array([[1], [2]], pyarrow.list_view(pyarrow.int64())),
    "short list": pyarrow.array([[1], [2]], pyarrow.list_(pyarrow.int64(), 1)),
    "struct": pyarrow.array([{"a": 1}, {"a": 2}]),
    "map": pyarrow.array([[("a", 1)], [("b", 2)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    "coded float16": coded(HALVES),
    "coded decimal256": coded(WIDE),
    "coded list": coded(pyarrow.array([[1], [2]])),
    "fixed bytes": BYTES,
    "bytes": pyarrow.array([b"a", b"b"]),
    "large bytes": pyarrow.array([b"a", b"b"], pyarrow.large_binary()),
    "byte view": pyarrow.array([b"a", b"b"], pyarrow.binary_view()),
    "runs": pyarrow.RunEndEncodedArray.from_arrays(RUNS, pyarrow.array([1, 2])),
    "runs of text": pyarrow.RunEndEncodedArray.from_arrays(RUNS, pyarrow.array(["1", "2"])),
    "duration": pyarrow.array([1, 2], pyarrow.duration("s")),
    "time32": pyarrow.array([1, 2], pyarrow.time32("s")),
    "time64": pyarrow.array([1, 2], pyarrow.time64("ns")),
    "null": pyarrow.nulls(2),
    "dense union": pyarrow.UnionArray.from_dense(
        INDEX, pyarrow.array([0, 0], pyarrow.int32()), [pyarrow.array([1]), pyarrow.array(["x"])]
    ),
    "sparse union": pyarrow.UnionArray.from_sparse(INDEX, [pyarrow.array([1, 2]), pyarrow.array(["x", "y"])]),
    "uuid": labelled(pyarrow.uuid(), BYTES),
    "json": labelled(pyarrow.json_(pyarrow.string()), pyarrow.array(["{}", "1"])),
    "bool8": labelled(pyarrow.bool8(), INDEX),
    "opaque": labelled(pyarrow.opaque(pyarrow.int32(), "x", "y"), RUNS),
    "tensor": labelled(
        pyarrow.fixed_shape_tensor(pyarrow.int32(), [1]), pyarrow.array([[1], [2]], pyarrow.list_(pyarrow.int32(), 1))
    ),
}  # fmt: skip
ZONES = (None, "UTC", "Europe/Paris", "+02:00")
READABLE = {
    **{f"decimal{bits}": pyarrow.array([ONE, TWO], kind) for bits, kind in (
        (32, pyarrow.decimal32(5, 2)), (64, pyarrow.decimal64(15, 2)), (128, pyarrow.decimal128(38, 2)))},
    **{str(kind): pyarrow.array([1, 2], kind) for kind in (
        pyarrow.int8(), pyarrow.int16(), pyarrow.int32(), pyarrow.int64(), pyarrow.uint8(), pyarrow.uint16(),
        pyarrow.uint32(), pyarrow.uint64(), pyarrow.float32(), pyarrow.float64())},
    **{str(kind): pyarrow.array(["1", "2"], kind) for kind in (
        pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())},
    "bool": pyarrow.array([True, False]),
    **{f"timestamp {unit} {zone}": pyarrow.array([1, 2], pyarrow.timestamp(unit, tz=zone))
       for unit in ("s", "ms", "us", "ns") for zone in ZONES},
    "date32": pyarrow.array([1, 2], pyarrow.date32()),
    "date64": pyarrow.array([86_400_000, 172_800_000], pyarrow.date64()),
    "coded text": coded(pyarrow.array(["1", "2"])),
    "coded text, wide index": coded(pyarrow.array(["1", "2"]), pyarrow.uint64()),
    "coded large text": coded(pyarrow.array(["1", "2"], pyarrow.large_string())),
    "coded text view": coded(pyarrow.array(["1", "2"], pyarrow.string_view())),
    "coded integer": coded(pyarrow.array([1, 2])),
    "coded truth": coded(pyarrow.array([True, False])),
    "coded time": coded(pyarrow.array([1, 2], pyarrow.timestamp("ms", tz="UTC"))),
}  # fmt: skip
PANDAS = {
    "sparse": pandas.arrays.SparseArray([0, 1]),
    "mixed categories": pandas.Categorical([1, "a"]),
    "categories of intervals": pandas.cut([1, 2], 2),
    "interval": pandas.interval_range(0, 2),
    "period": pandas.period_range("2020", periods=2, freq="M"),
    "complex": numpy.array([1j, 2]),
    "object": pandas.Series([1, "a"], dtype=object),
    "float16": numpy.array([1, 2], dtype=numpy.float16),
    "long double": numpy.array([1, 2], dtype=numpy.longdouble),
    "timedelta": pandas.to_timedelta([1, 2], unit="s"),
    "decimal256": pandas.array([ONE, TWO], dtype=pandas.ArrowDtype(pyarrow.decimal256(60, 2))),
    "list": pandas.array([[1], [2]], dtype=pandas.ArrowDtype(pyarrow.list_(pyarrow.int64()))),
}
PANDAS_READABLE = {
    "categories": pandas.Categorical(["a", "b"]),
    "categories of numbers": pandas.Categorical([1, 2]),
    "Int64": pandas.array([1, 2], dtype="Int64"),
    "boolean": pandas.array([True, False], dtype="boolean"),
    "string": pandas.array(["a", "b"], dtype="string"),
    "string of Python": pandas.array(["a", "b"], dtype="string[python]"),
    "time with a zone": pandas.date_range("2020", periods=2, tz="Europe/Paris"),
}
NOON = datetime.datetime(2020, 1, 1, 12)
POLARS = {
    "Object": polars.Series([{1}, {2}], dtype=polars.Object),
    "Int128": polars.Series([1, 2], dtype=polars.Int128),
    "List": polars.Series([[1], [2]]),
    "Array": polars.Series([[1], [2]], dtype=polars.Array(polars.Int64, 1)),
    "Struct": polars.Series([{"a": 1}, {"a": 2}]),
    "Binary": polars.Series([b"a", b"b"]),
    "Time": polars.Series([NOON.time(), NOON.time()]),
    "Duration": polars.Series([datetime.timedelta(1), datetime.timedelta(2)]),
    "Null": polars.Series([None, None]),
    **{kind: polars.Series([1, 2], dtype=getattr(polars, kind)) for kind in ("Float16", "UInt128") if hasattr(polars, kind)},
}
POLARS_READABLE = {
    "Enum": polars.Series(["a", "b"], dtype=polars.Enum(["a", "b"])),
    "Categorical": polars.Series(["a", "b"], dtype=polars.Categorical),
    "Decimal": polars.Series([decimal.Decimal("1.5"), decimal.Decimal(2)]),
    "String": polars.Series(["a", "b"]),
    "Datetime": polars.Series([NOON, NOON], dtype=polars.Datetime("ms", "Europe/Paris")),
    "Date": polars.Series([NOON.date(), NOON.date()]),
    "UInt64": polars.Series([1, 2], dtype=polars.UInt64),
}
WHOSE = {"who": [1, 2], "x": [3, 4]}
FRAMES = {
    "arrow": (lambda odd: pyarrow.table({**WHOSE, **odd}), UNREADABLE, READABLE),
    "pandas": (lambda odd: pandas.DataFrame({**WHOSE, **odd}), PANDAS, PANDAS_READABLE),
    "polars": (lambda odd: polars.DataFrame({**WHOSE, **odd}), POLARS, POLARS_READABLE),
}


def protected(folder, data: object, **facts: Any) -> dither.Dataset:
    stated = {"name": "t", "person": "who", "max_groups": 1, "max_rows_per_group": 1}
    book = facts.pop("ledger", None) or ledger(folder, dither.pure(10**12))
    return dither.protect(data, ledger=book, **(stated | facts))


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_that_no_question_touches_do_not_matter(tmp_path, kind):
    make, odd, readable = FRAMES[kind]
    data = protected(tmp_path, make({**odd, **readable}), bounds={"x": (0, 10)})
    assert {column for column, _ in data.policy.tables[0].unread} == set(odd)
    assert data.quote("SELECT SUM(x) AS x FROM t", epsilon=10**6).release().scalar() == 7
    for column, stored in data.policy.tables[0].unread:
        with pytest.raises(QuestionError) as caught:
            data.quote(f'SELECT COUNT("{column}") AS n FROM t', epsilon=1)
        shown = stored if len(stored) < 60 else stored[:57]
        assert shown in caught.value.why
        assert f"{column}: not read" in data.explain()


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_that_can_be_read_are(tmp_path, kind):
    make, odd, readable = FRAMES[kind]
    data = protected(tmp_path, make({**odd, **readable}), keys={}, complete=["who"])
    counts = ", ".join(f'COUNT("{column}") AS n{at}' for at, column in enumerate(readable))
    answer = data.quote(f"SELECT {counts} FROM t", epsilon=10**9).release()
    assert [answer[f"n{at}"] for at in range(len(readable))] == [[2]] * len(readable)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_that_is_named_and_cannot_be_read_is_refused_at_once(tmp_path, kind):
    make, odd, _ = FRAMES[kind]
    data, book = make(odd), ledger(tmp_path)
    for column in odd:
        stated = [{"bounds": {column: (0, 1)}}, {"keys": {column: ["a"]}}, {"types": {column: "text"}}, {"person": column}]
        for facts in [*stated, {"steps": {column: 1}}, {"complete": [column]}]:
            with pytest.raises(DataError, match=r"stored as|dtype"):
                protected(tmp_path, data, ledger=book, **facts)
        table = read_table("t", POLICY | {"columns": WHO | {column: {"type": "text"}}}, "t")
        with pytest.raises(DataError, match=r"stored as|dtype"):  # a policy that somebody else wrote
            find_source(data, None, "data").check(table)
    assert book.remaining().used == 0


WHO = {"who": {"type": "integer"}}
POLICY = {"person": "who", "max_groups": 1, "max_rows_per_group": 1}


def test_public_tables_too(tmp_path):
    odd = pyarrow.table({"x": [3, 4], "site": ["a", "b"], **UNREADABLE})
    data = protected(tmp_path, pyarrow.table(WHOSE), public={"sites": odd}, keys={"sites.site": ["a", "b"]})
    asked = "SELECT site, COUNT(*) AS n FROM t JOIN sites ON t.x = sites.x GROUP BY site"
    assert data.quote(asked, epsilon=10**6).release()["n"] == [1, 1]
    with pytest.raises(QuestionError, match="halffloat"):
        data.quote("SELECT COUNT(sites.float16) AS n FROM t JOIN sites ON t.x = sites.x", epsilon=1)
    with pytest.raises(DataError, match="halffloat"):
        protected(tmp_path, pyarrow.table(WHOSE), public={"sites": odd}, bounds={"sites.float16": (0, 1)})


def test_the_frame_that_was_checked_is_the_one_that_is_read(tmp_path, monkeypatch):
    """Ids that were whole numbers when it was looked at, and are texts when it is read: '7' and '07' would be one person."""
    frame = pandas.DataFrame(WHOSE)
    data = protected(tmp_path, frame)
    reserve = data.ledger.reserve

    def meanwhile(*stated, **more):
        frame["who"] = pandas.array(["7", "07"], dtype="string")
        return reserve(*stated, **more)

    monkeypatch.setattr(type(data.ledger), "reserve", lambda _, *stated, **more: meanwhile(*stated, **more))
    with pytest.raises(ReleaseError):
        data.quote("SELECT COUNT(*) AS n FROM t", epsilon=1).release()


def test_metadata_makes_nothing_else_of_a_column(tmp_path):
    """The engine would take the numbers for a type of its own; the check does not know it."""
    fields = [pyarrow.field("who", pyarrow.int64()), pyarrow.field("x", pyarrow.int32(), metadata={
        "ARROW:extension:name": "arrow.uuid", "ARROW:extension:metadata": ""})]  # fmt: skip
    table = pyarrow.table([[1, 2], pyarrow.array([3, 4], pyarrow.int32())], schema=pyarrow.schema(fields))
    data = protected(tmp_path, table, bounds={"x": (0, 10)})
    assert data.quote("SELECT SUM(x) AS x FROM t", epsilon=10**6).release().scalar() == 7


# -- cells on which a cast fails, in types that are read -------------------------------------------------------------------

EDGES = [2**63 - 1, -(2**63), -(2**63) + 1, 2**62, -(2**62), 1, 0, None]
SMALL = [2**31 - 1, -(2**31), -(2**31) + 1, 2**30, 0, None]


def hostile() -> dict[str, pyarrow.Array]:
    """The outermost values of whatever counts in whole numbers."""
    found = {}
    for name, plain in READABLE.items():
        kind = plain.type.value_type if pyarrow.types.is_dictionary(plain.type) else plain.type
        if pyarrow.types.is_timestamp(kind) or kind == pyarrow.date64():
            found[name] = pyarrow.array(EDGES, pyarrow.int64()).view(kind)
        elif kind == pyarrow.date32():
            found[name] = pyarrow.array([*SMALL, None, None], pyarrow.int32()).view(kind)
        else:
            continue
        if kind != plain.type:
            found[name] = found[name].dictionary_encode()
    return found


@pytest.mark.parametrize("kind", Type)
def test_no_cell_of_a_column_fails_whatever_it_is_read_as(kind):
    """Each column by itself: read without an error, or refused before the charge whatever its cells are."""
    table = pyarrow.table({"who": range(len(EDGES)), **hostile()})
    facts = {column: {"type": kind.value} for column in table.column_names if column != "who"}
    place = table_source(read_table("t", POLICY | {"columns": WHO | facts}, "t"), ArrowTable(table))
    read = []
    for column in place.table.columns[1:]:
        with DuckDBEngine() as engine:
            try:
                engine.rehearse({"t": place}, [counted(column, rows_of(DUCKDB, "t"))])
            except QuestionError:
                continue
            with engine.reading([place], threads=1) as run:
                assert len(run(counted(column, place.relation), lambda _: True)) == 1
                read.append(column.name)
    assert set(read) == set(facts)


def counted(column: Any, where: str) -> str:
    return f"SELECT count({cell(DUCKDB, column)}), min(hash({cell(DUCKDB, column)})) FROM {where}"


# -- files -------------------------------------------------------------------------------------------------------------


def test_parquet_with_columns_that_no_question_touches(tmp_path):
    unfit = (
        "negative scale",
        "interval",
        "coded list",
        "runs",
        "runs of text",
        "dense union",
        "sparse union",
        "coded text view",
    )
    odd = {column: array for column, array in {**UNREADABLE, **READABLE}.items() if column not in unfit}
    pyarrow.parquet.write_table(pyarrow.table({**WHOSE, **odd}), tmp_path / "t.parquet")
    data = protected(tmp_path, str(tmp_path / "t.parquet"), bounds={"x": (0, 10)})
    assert data.quote("SELECT SUM(x) AS x FROM t", epsilon=10**6).release().scalar() == 7
    for column in odd:
        if column in UNREADABLE:
            with pytest.raises(QuestionError, match="stored as"):
                data.quote(f'SELECT COUNT("{column}") AS n FROM t', epsilon=1)
            with pytest.raises(DataError, match="stored as"):
                protected(tmp_path, str(tmp_path / "t.parquet"), ledger=data.ledger, types={column: "text"})
    counts = ", ".join(f'COUNT("{column}") AS n{at}' for at, column in enumerate(odd) if column in READABLE)
    answer = data.quote(f"SELECT {counts} FROM t", epsilon=10**9).release()
    assert all(answer[column] == [2] for column in answer.columns if "_" not in column)


NOT_READ = {
    "bit": "'101'::BIT", "blob": "'a'::BLOB", "interval": "INTERVAL 1 DAY", "time": "TIME '12:00'",
    "zoned time": "'12:00:00+02'::TIMETZ", "struct": "{'a': 1}", "list": "[1]", "array": "[1]::INTEGER[1]",
    "map": "MAP {'a': 1}", "union": "union_value(a := 1)", "blob under a name of ours": "'a'::DATED",
    "list of text": "['a']", "big number": "1::BIGNUM",
}  # fmt: skip
READ = {
    "huge": "1::HUGEINT", "unsigned": "1::UHUGEINT", "enum": "'a'::MOOD", "uuid": "uuid()", "decimal": "1.5::DECIMAL(38, 2)",
    "zoned": "TIMESTAMPTZ '2020-01-01 00:00:00+00'", "seconds": "'2020-01-01'::TIMESTAMP_S",
    "fine": "'2020-01-01'::TIMESTAMP_NS", "fine and zoned": "'2020-01-01'::TIMESTAMPTZ_NS",
    "text": "'a'", "float": "1::FLOAT", "truth": "TRUE", "day": "DATE '2020-01-01'",
}  # fmt: skip


def test_duckdb_with_columns_that_no_question_touches(tmp_path):
    path, cells = (
        str(tmp_path / "t.duckdb"),
        ", ".join(f'{cell} AS "{column}"' for column, cell in {**NOT_READ, **READ}.items()),
    )
    with duckdb.connect(path) as engine:
        engine.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
        engine.execute("CREATE TYPE dated AS BLOB")
        engine.execute(f"CREATE TABLE t AS SELECT who, who + 2 AS x, {cells} FROM range(1, 3) r(who)")
    data = protected(tmp_path, path, bounds={"x": (0, 10)})
    assert {column for column, _ in data.policy.tables[0].unread} == set(NOT_READ)
    assert data.quote("SELECT SUM(x) AS x FROM t", epsilon=10**6).release().scalar() == 7
    for column in NOT_READ:
        with pytest.raises(QuestionError, match="stored as"):
            data.quote(f'SELECT COUNT("{column}") AS n FROM t', epsilon=1)
        with pytest.raises(DataError, match="stored as"):
            protected(tmp_path, path, ledger=data.ledger, keys={column: ["a"]})
    counts = ", ".join(f'COUNT("{column}") AS n{at}' for at, column in enumerate(READ))
    answer = data.quote(f"SELECT {counts} FROM t", epsilon=10**9).release()
    assert [answer[f"n{at}"] for at in range(len(READ))] == [[2]] * len(READ)


def test_only_the_columns_of_the_policy_are_handed_over(tmp_path):
    table = read_table("t", POLICY | {"columns": WHO}, "t")
    for make, odd, readable in FRAMES.values():
        schema = find_source(make(odd), None, "t").check(table)
        place = TableSource(table, find_source(make({**odd, **readable}), None, "t"), schema)
        with duckdb.connect() as connection:
            place.attach(connection)
            assert connection.execute(f"SELECT * FROM {place.relation}").description == [
                ("who", *connection.description[0][1:])
            ]
