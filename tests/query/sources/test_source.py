"""Where rows come from: found without reading one, read as the policy says, refused with the line that mends it."""

from __future__ import annotations

import csv
import datetime
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError, PolicyError
from dither.query.sources.find_source import find_source
from tests.policies import opened
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
        ("*", "does not say by its ending"),
    ):
        with pytest.raises(DataError, match=words):
            find_source(name, tmp_path, "source")
    (tmp_path / "a[1].parquet").write_bytes((tmp_path / "visits.parquet").read_bytes())
    with pytest.raises(DataError, match="as a pattern"):
        find_source("a[1].parquet", tmp_path, "source")
    with pytest.raises(DataError, match="its columns have no types"):
        find_source([1, 2], tmp_path, "source")


@pytest.mark.full("polars")
def test_frames_of_polars_are_read_and_queries_of_them_are_not(tmp_path):
    import polars

    frame = polars.DataFrame(visits())
    found, expected = (ask(clinic(tmp_path, source)).columns for source in (frame, visits()))
    assert found["n"] == expected["n"] == [34, 26, 0]
    assert found["c"] == pytest.approx(expected["c"], abs=1)
    with pytest.raises(DataError, match="collect"):
        find_source(frame.lazy(), tmp_path, "source")


CSV = {
    "types": {"person": "integer", "ward": "text", "cost": "float"},
    "bounds": {"cost": (0, 100)},
    "complete": [],
    "steps": {},
}


def test_cells_of_csv_that_do_not_fit_are_missing(tmp_path):
    path = tmp_path / "visits.csv"
    lines = [
        "person,ward,cost",
        "1,A,10",
        "1.5,A,20",
        "007,A,3",
        "2,A,abc",
        "x,A,30",
        ",A,40",
        '3,"A",1e400',
        "6,B,nan",
        "8,A,",
    ]
    path.write_text("\n".join(lines) + "\n")
    data = clinic(tmp_path, path, keys={"ward": ["A", "B"]}, **CSV)
    answer = ask(data, "SELECT ward, COUNT(*) AS n, COUNT(cost) AS m, SUM(cost) AS c FROM visits GROUP BY ward")
    # people 1, 2, 3 and 8 in A, 6 in B; '1.5' and '007' are nobody: cast to integers they would be 2 and 7
    assert answer["n"] == [4, 1]
    assert answer["m"] == [2, 0]
    assert answer["c"][0] == pytest.approx(110, abs=0.2)  # 10, and 1e400 clamped to 100


@pytest.mark.parametrize(
    "line", ['5,"oops,1', "5,A", "5,A,6,7", '5,"a"b,1', '5,"abc"",1', '5,a"b,1\n6,"c,1', "5,A,1\r6,A,1"]
)
def test_broken_csv_fails_as_a_whole(tmp_path, line):
    """Skipping what is broken would let one line take others with it: a quote left open swallows all that follows."""
    path = tmp_path / "visits.csv"
    path.write_bytes(("person,ward,cost\n1,A,1\n" + line + "\n").encode("latin-1") + b"2,A,1\n" * 50)
    with pytest.raises(dither.errors.ReleaseError):
        ask(clinic(tmp_path, path, keys={"ward": ["A"]}, **CSV), "SELECT COUNT(*) AS n FROM visits")


def test_a_long_cell_of_many_lines_is_one_cell(tmp_path):
    """Read by several threads, one would begin inside it and take its lines for rows of others."""
    rows = 250_000
    cell = "\n" + "\n".join(f"{10**9 + place},A,1,zz" for place in range(90_000)) + "\n"
    for alice in (False, True):
        path = tmp_path / f"{alice}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["person", "ward", "cost", "note"])
            for place in range(rows):
                writer.writerow([place, "A", 1, "n" * 60])
                if alice and place == 100_000:  # across the 8,000,000th byte, where a second thread would begin
                    writer.writerow([10**8, "A", 1, cell])
        assert path.stat().st_size > 16_000_000
        data = clinic(tmp_path, path, keys={"ward": ["A"]}, **{**CSV, "types": CSV["types"] | {"note": "text"}})
        answer = data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=10**6).release(threads=8)
        assert answer.scalar() == rows + alice


def test_frames_are_not_converted_before_the_charge(tmp_path, monkeypatch):
    frame = visits().drop_columns(["day"]).to_pandas()
    data = clinic(tmp_path, frame)
    quote = data.quote(COUNT, epsilon=1)

    def refuse(*_, **__):
        raise AssertionError("read")

    monkeypatch.setattr("dither.query.sources.frames.Frame.arrow", refuse)
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
    with pytest.raises(DataError, match="its columns or their types differ"):
        clinic(tmp_path, str(tmp_path / "parts" / "*.parquet"))
    csv_of(tmp_path / "visits2.csv", visits().drop_columns(["age"]))
    with pytest.raises(DataError, match="its header differs"):
        clinic(tmp_path, str(tmp_path / "visits*.csv"), types=TYPES)


@pytest.mark.parametrize("text", ["", "a,a\n1,2\n", "a,A\n1,2\n", "a,\n1,2\n", 'a,"x\r\ny"\n1,2\n'])
def test_csv_without_a_header_is_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(DataError, match=r"header|same name"):
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
    for bad in ({"name": None}, {"name": 5}, {"complete": 5}, {"complete": "age"}, {"person": ["person"]}):
        with pytest.raises(PolicyError):
            clinic(tmp_path, **bad)


def test_a_policy_may_be_corrected_until_something_was_spent(tmp_path):
    book = ledger(tmp_path)
    clinic(tmp_path, ledger=book)
    before = clinic(tmp_path, ledger=book, person="each row", max_groups=None, max_rows_per_group=None)
    data = clinic(tmp_path, ledger=book, max_groups=2)
    assert book.policy_hash == data.policy.hash
    with pytest.raises(dither.errors.ConflictError, match="policy was changed"):
        ask(before)  # what was corrected is not asked any more, by nobody
    ask(data)
    with pytest.raises(dither.errors.ConflictError, match="policy was changed"):
        ask(before)
    with pytest.raises(dither.errors.ConflictError, match="another policy"):
        clinic(tmp_path, ledger=book, max_groups=30)


# -- persons and names ---------------------------------------------------------------------------------------------------


def people(kind: pyarrow.DataType, ids: list[object]) -> pyarrow.Table:
    return pyarrow.table({"person": pyarrow.array(ids, kind), "cost": [1.0] * len(ids)})


def encoded(table: pyarrow.Table) -> pyarrow.Table:
    return table.set_column(0, "person", table["person"].dictionary_encode())


NOON = datetime.datetime(2025, 1, 1, 12)


@pytest.mark.parametrize(
    ("table", "read_as"),
    [
        (people(pyarrow.timestamp("us"), [NOON]), "date"),
        (people(pyarrow.timestamp("us"), [NOON]), "text"),
        (people(pyarrow.timestamp("ns"), [NOON]), "timestamp"),
        (people(pyarrow.string(), ["2025-01-01 10:00"]), "date"),
        (people(pyarrow.string(), ["2025-01-01 10:00"]), "timestamp"),
        (people(pyarrow.uint64(), [2**63]), "integer"),
        (people(pyarrow.date32(), [NOON.date()]), "integer"),
        (people(pyarrow.int64(), [1]), "date"),
        (people(pyarrow.date64(), [NOON.date()]), "date"),
        (encoded(people(pyarrow.timestamp("ns"), [NOON])), "timestamp"),
        (encoded(people(pyarrow.uint64(), [2**63])), "integer"),
    ],
)
def test_a_cast_that_makes_two_people_one_is_refused(tmp_path, table, read_as):
    data = clinic(tmp_path, table, types={"person": read_as}, keys={}, bounds={"cost": (0, 1)}, steps={}, complete=[])
    with pytest.raises(DataError, match="two people one"):
        ask(data, "SELECT COUNT(*) AS n FROM visits")
    assert data.ledger.remaining().used == 0


@pytest.mark.parametrize("kind", ["integer", "text"])
def test_casts_that_keep_people_apart(tmp_path, kind):
    data = clinic(tmp_path, visits(), types={"person": kind}, max_rows_per_group=20)
    assert ask(data, "SELECT COUNT(DISTINCT person) AS n FROM visits").scalar() == 20
    wide = people(pyarrow.uint64(), [2**63, 2**64 - 1, 5])
    data = clinic(tmp_path, wide, types={"person": "text"}, keys={}, bounds={"cost": (0, 1)}, steps={}, complete=[])
    assert ask(data, "SELECT COUNT(DISTINCT person) AS n FROM visits").scalar() == 3


def test_names_that_sql_takes_for_one_are_refused(tmp_path):
    """The engine would read whichever comes first: another column would say whose a row is."""
    arrays = [pyarrow.array(range(50)), pyarrow.array([7] * 50)]
    for names in (["id", "ID"], ["ID", "ID"]):
        table = pyarrow.Table.from_arrays(arrays, names=names)
        pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
        (tmp_path / "policy.toml").write_text(
            """version = 1
domain = "d"
[ledger]
location = "NAME.ledger"
budget = { epsilon = 1 }
[tables.t]
source = "x.parquet"
person = "ID"
max_groups = 1
max_rows_per_group = 1
[tables.t.columns]
ID = { type = "integer" }
""".replace("NAME", "".join(names))
        )
        with pytest.raises(DataError, match="same name in SQL"):
            opened(tmp_path / "policy.toml").quote("SELECT COUNT(*) FROM t", epsilon="0.1").release()
    with pytest.raises(DataError, match="same name in SQL"):
        clinic(tmp_path, pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_names_of_folders_are_not_cells(tmp_path):
    (tmp_path / "person=3" / "ward=B").mkdir(parents=True)
    path = tmp_path / "person=3" / "ward=B" / "a.parquet"
    pyarrow.parquet.write_table(visits(), path)
    assert ask(clinic(tmp_path, str(path)))["n"] == [34, 26, 0]


def test_files_of_one_table_have_the_same_types(tmp_path):
    for name, kind in (("a", pyarrow.int32()), ("b", pyarrow.int64())):
        table = visits().set_column(0, "person", visits()["person"].cast(kind))
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match="types differ"):
        clinic(tmp_path, str(tmp_path / "*.parquet"))


# -- DuckDB files --------------------------------------------------------------------------------------------------------


def duckdb_file(path: Path, *statements: str) -> str:
    with duckdb.connect(str(path)) as engine:
        engine.register("given", visits())
        for statement in statements:
            engine.execute(statement)
    return str(path)


def test_a_collation_does_not_merge_groups_or_people(tmp_path):
    path = duckdb_file(
        tmp_path / "x.duckdb",
        "CREATE TABLE visits (person VARCHAR COLLATE NOCASE, ward VARCHAR COLLATE NOCASE)",
        "INSERT INTO visits SELECT 'x' || chr(97 + i::INT), 'a' FROM range(3) t(i)",
        "INSERT INTO visits SELECT 'X' || chr(97 + i::INT), 'A' FROM range(3) t(i)",
    )
    facts = {"keys": {"ward": ["A", "B"]}, "bounds": {}, "steps": {}, "complete": []}
    rows = {"person": "each row", "max_groups": None, "max_rows_per_group": None}
    assert ask(clinic(tmp_path, path, **facts, **rows), "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")["n"] == [
        3,
        0,
    ]
    assert ask(clinic(tmp_path, path, **facts), "SELECT COUNT(DISTINCT person) AS n FROM visits").scalar() == 6


def test_macros_in_the_file_are_not_called(tmp_path):
    path = duckdb_file(
        tmp_path / "x.duckdb",
        "CREATE TABLE visits AS SELECT * FROM given",
        "CREATE MACRO least(a, b) AS 5000000",
        "CREATE MACRO count(a) AS 7",
    )
    assert ask(clinic(tmp_path, path))["n"] == [34, 26, 0]


def test_many_questions_at_once_on_one_file(tmp_path):
    path = duckdb_file(tmp_path / "x.duckdb", "CREATE TABLE visits AS SELECT * FROM given")
    data = clinic(tmp_path, path)
    with duckdb.connect(path, read_only=True), ThreadPoolExecutor(6) as pool:
        found = list(
            pool.map(lambda place: ask(data, f"SELECT COUNT(*) AS n FROM visits WHERE age > {place}").scalar(), range(6))
        )
    assert found == [60] * 6


# -- frames ----------------------------------------------------------------------------------------------------------------


def test_one_file_under_two_names_is_refused(tmp_path):
    pyarrow.parquet.write_table(visits(), tmp_path / "v-1.parquet")
    (tmp_path / "v-latest.parquet").symlink_to(tmp_path / "v-1.parquet")
    with pytest.raises(DataError, match="under two names"):
        clinic(tmp_path, str(tmp_path / "v-*.parquet"))


def test_an_error_about_a_frame_shows_no_value(tmp_path):
    frame = pandas.DataFrame({"person": pandas.Categorical(["secret-name", 5])})
    with pytest.raises(DataError) as caught:
        clinic(tmp_path, frame, bounds={}, keys={}, steps={}, complete=[])
    assert "secret" not in str(caught.value)


def test_streams_are_refused(tmp_path):
    with pytest.raises(DataError, match="read only once"):
        clinic(tmp_path, visits().to_reader())


def test_what_can_never_work_is_refused_before_the_charge(tmp_path):
    far = 10**19
    data = clinic(tmp_path, bounds={"age": (far, far + 10), "cost": (0, 400)})
    with pytest.raises(dither.errors.QuestionError, match="too many steps from zero"):
        data.quote("SELECT SUM(age) AS a FROM visits", epsilon=100)
    with pytest.raises(dither.errors.QuestionError, match="no step but zero"):
        clinic(tmp_path, bounds={"cost": ("-0.4", "0.4"), "age": (0, 1)}, steps={"cost": "0.8"}).quote(
            "SELECT SUM(cost) AS c FROM visits", epsilon=1
        )
    with pytest.raises(PolicyError, match="whole number of times"):
        clinic(tmp_path, steps={"cost": "0.3"})


def test_a_rehearsal_refuses_what_the_engine_cannot_do(tmp_path, monkeypatch):
    data = clinic(tmp_path)
    monkeypatch.setattr("dither.query.counts.totals_sql", lambda *a: f"SELECT '9'::BIGINT * 9223372036854775807 FROM {a[4]}")
    with pytest.raises(dither.errors.QuestionError, match="whatever the data is"):
        ask(data)
    assert data.ledger.remaining().used == 0
