"""Where rows come from: found without reading one, read as the policy says, refused with the line that mends it."""

from __future__ import annotations

import datetime
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError, PolicyError
from dither.query.source import find_source
from tests.query.clinics import clinic, ledger, visits

COUNT = "SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY ward"
TYPES = {"person": "integer", "ward": "text", "sex": "text", "cost": "decimal", "age": "integer", "day": "date"}


def ask(data, sql=COUNT):
    return data.quote(sql, epsilon=10**6).release()


def csv_of(path: Path, table: pyarrow.Table) -> Path:
    table.to_pandas().to_csv(path, index=False)
    return path


def files(folder: Path) -> dict[str, object]:
    table = visits()
    (folder / "parts").mkdir()
    pyarrow.parquet.write_table(table, folder / "visits.parquet", row_group_size=7)
    pyarrow.parquet.write_table(table.slice(0, 25), folder / "parts" / "b.parquet")
    pyarrow.parquet.write_table(table.slice(25), folder / "parts" / "a.parquet")
    with duckdb.connect(str(folder / "clinic.duckdb")) as engine:
        engine.register("given", table)
        engine.execute("CREATE TABLE visits AS SELECT * FROM given")
    csv_of(folder / "visits.csv", table)
    return {
        "parquet": str(folder / "visits.parquet"),
        "glob": str(folder / "parts" / "*.parquet"),
        "csv": folder / "visits.csv",
        "duckdb": str(folder / "clinic.duckdb"),
        "arrow": table,
        "polars": polars.DataFrame(table),
        "pandas": table.drop_columns(["day"]).to_pandas(),
        "categories": table.drop_columns(["day"]).to_pandas().astype({"ward": "category"}),
    }


def test_all_sources_give_the_same_answer(tmp_path):
    found = {}
    for kind, source in files(tmp_path).items():
        types = TYPES if kind == "csv" else {}
        found[kind] = ask(clinic(tmp_path, source, types=types)).columns
    expected = found["arrow"]
    assert expected["n"] == [34, 26, 0]
    for kind, columns in found.items():
        assert columns["n"] == expected["n"], kind
        assert columns["c"] == pytest.approx(expected["c"], abs=1), kind


def test_files_are_found_when_the_policy_is_opened(tmp_path):
    files(tmp_path)
    source = find_source("parts/*.parquet", tmp_path, "source")
    assert [Path(path).name for path in source.paths] == ["a.parquet", "b.parquet"]
    for name, words in (
        ("nothing.parquet", "no such file"),
        ("parts", "no such file"),
        ("*", "does not say by its ending"),
    ):
        with pytest.raises(DataError, match=words):
            find_source(name, tmp_path, "source")
    (tmp_path / "a[1].parquet").write_bytes((tmp_path / "visits.parquet").read_bytes())
    with pytest.raises(DataError, match="as a pattern"):
        find_source("a[1].parquet", tmp_path, "source")
    with pytest.raises(DataError, match="no table that can be read"):
        find_source([1, 2], tmp_path, "source")
    with pytest.raises(DataError, match="collect"):
        find_source(polars.DataFrame(visits()).lazy(), tmp_path, "source")


def test_cells_of_csv_that_do_not_fit_are_missing_and_nothing_fails(tmp_path):
    path = tmp_path / "visits.csv"
    lines = [
        "person,ward,cost",
        "1,A,10",
        "1.5,A,20",
        "2,A,abc",
        "x,A,30",
        ",A,40",
        '3,"A",1e400',
        "4,A",
        "5,A,6,7",
        "6,B,nan",
    ]
    path.write_bytes("\n".join(lines).encode() + b"\n7,\xff\xfe,5\n8,A,\n")
    types = {"person": "integer", "ward": "text", "cost": "float"}
    data = clinic(tmp_path, path, types=types, bounds={"cost": (0, 100)}, keys={"ward": ["A", "B"]}, complete=[], steps={})
    answer = ask(data, "SELECT ward, COUNT(*) AS n, COUNT(cost) AS m, SUM(cost) AS c FROM visits GROUP BY ward")
    # people 1, 2, 3 and 8 in A ('1.5' is nobody, short and long lines are no rows), 6 in B
    assert answer["n"] == [4, 1]
    assert answer["m"] == [2, 0]
    assert answer["c"][0] == pytest.approx(110, abs=0.01)  # 10, and 1e400 clamped to 100


def test_frames_are_not_converted_before_the_charge(tmp_path, monkeypatch):
    frame = visits().drop_columns(["day"]).to_pandas()
    data = clinic(tmp_path, frame)
    quote = data.quote(COUNT, epsilon=1)

    def refuse(*_, **__):
        raise AssertionError("read")

    monkeypatch.setattr("dither.query.source.Frame.attach", refuse)
    with pytest.raises(dither.errors.ReleaseError):
        quote.release()
    assert "left" in str(data.ledger.remaining())


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pandas.DataFrame({"person": [1], "cost": [object()]}), r"frame\['cost'\] = frame\['cost'\].astype"),
        (pandas.DataFrame({"person": pandas.Series([1], dtype=object), "cost": [1.0]}), "astype"),
    ],
)
def test_object_columns_are_refused_by_dtype(tmp_path, frame, words):
    with pytest.raises(DataError, match=words):
        clinic(tmp_path, frame, bounds={"cost": (0, 1)}, keys={}, complete=[], steps={})


@pytest.mark.parametrize("kind", [pyarrow.float64(), pyarrow.decimal128(10, 2), pyarrow.bool_()])
def test_ids_that_do_not_tell_people_apart_are_refused(tmp_path, kind):
    table = visits()
    if kind != pyarrow.bool_():
        table = table.set_column(0, "person", table["person"].cast(pyarrow.float64()).cast(kind))
    else:
        table = table.set_column(0, "person", pyarrow.array([True] * 60))
    with pytest.raises(PolicyError, match="tell people apart"):
        clinic(tmp_path, table)
    pyarrow.parquet.write_table(table, tmp_path / "visits.parquet")
    data = clinic(tmp_path, str(tmp_path / "visits.parquet"), types={"person": "integer"})
    with pytest.raises(DataError, match="tell people apart"):
        ask(data)
    assert data.ledger.remaining().used == 0


def test_broken_and_changed_files_are_refused_before_the_charge(tmp_path):
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    data = clinic(tmp_path, str(path))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(DataError, match="does not end as a Parquet file"):
        ask(data)
    path.unlink()
    with pytest.raises(DataError, match="does not end as a Parquet file"):
        ask(data)
    pyarrow.parquet.write_table(visits().drop_columns(["cost"]), path)
    with pytest.raises(DataError, match="a column cost that is not there"):
        ask(data)
    pyarrow.parquet.write_table(visits().set_column(3, "cost", pyarrow.array([[1.0]] * 60)), path)
    with pytest.raises(DataError, match="lists, structures or bytes"):
        ask(data)
    assert data.ledger.remaining().used == 0


def test_pages_that_cannot_be_read_fail_after_the_charge_without_a_word(tmp_path):
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path, compression="none", use_dictionary=False)
    data = clinic(tmp_path, str(path))
    whole = bytearray(path.read_bytes())
    whole[4:200] = b"\xff" * 196
    path.write_bytes(whole)
    with pytest.raises(dither.errors.ReleaseError, match="the cause is not told"):
        ask(data)
    assert data.ledger.remaining().used > 0


def test_files_of_one_table_have_the_same_columns(tmp_path):
    files(tmp_path)
    pyarrow.parquet.write_table(visits().drop_columns(["age"]), tmp_path / "parts" / "c.parquet")
    with pytest.raises(DataError, match="its columns differ"):
        clinic(tmp_path, str(tmp_path / "parts" / "*.parquet"))
    csv_of(tmp_path / "visits2.csv", visits().drop_columns(["age"]))
    with pytest.raises(DataError, match="its header differs"):
        clinic(tmp_path, str(tmp_path / "visits*.csv"), types=TYPES)


@pytest.mark.parametrize("text", ["", "a,a\n1,2\n", "a,\n1,2\n"])
def test_csv_without_a_header_is_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(DataError, match="header"):
        clinic(tmp_path, str(tmp_path / "x.csv"), types={"a": "text"})


def test_a_view_is_no_table(tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as engine:
        engine.execute("CREATE VIEW visits AS SELECT 1 AS person")
    with pytest.raises(DataError, match="views do not count"):
        clinic(tmp_path, str(tmp_path / "x.duckdb"))
    (tmp_path / "y.duckdb").write_bytes(b"no database")
    with pytest.raises(DataError, match="cannot be opened"):
        clinic(tmp_path, str(tmp_path / "y.duckdb"))


def test_dates_and_times(tmp_path):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    times = [datetime.datetime(2025, 1, 1, 1, 30, tzinfo=zone), datetime.datetime(2025, 6, 1, 12, tzinfo=zone)]
    table = pyarrow.table({"person": [1, 2], "at": pyarrow.array(times, pyarrow.timestamp("us", tz="UTC"))})
    data = clinic(tmp_path, table, bounds={}, keys={}, steps={}, complete=[])
    late = ask(data, "SELECT COUNT(*) AS n FROM visits WHERE at < TIMESTAMP '2025-01-01 00:00:00'")
    assert late.scalar() == 1  # read as UTC, whatever the machine says
    assert sum(ask(data, "SELECT EXTRACT(hour FROM at) AS h, COUNT(*) AS n FROM visits GROUP BY h")["n"]) == 2


def test_protect_refuses_what_does_not_fit(tmp_path):
    with pytest.raises(PolicyError, match="no such column"):
        clinic(tmp_path, bounds={"cots": (0, 1)}, complete=[], steps={})
    with pytest.raises(DataError, match="not a ledger"):
        dither.protect(visits(), name="visits", person="person", ledger="x")
    with pytest.raises(PolicyError, match="by name"):
        clinic(tmp_path, bounds=[("cost", 1)])
    with pytest.raises(PolicyError, match="names no column"):
        clinic(tmp_path, person="nobody")
    book = ledger(tmp_path)
    clinic(tmp_path, ledger=book)
    with pytest.raises(dither.errors.ConflictError, match="another policy"):
        clinic(tmp_path, ledger=book, max_groups=30)
