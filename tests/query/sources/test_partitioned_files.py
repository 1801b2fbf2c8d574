"""Directories of Parquet whose folders hold cells: read as the policy says, whatever their names are."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dither
from dither.cli.main import app
from dither.errors import DataError
from dither.query.owner.inspect import inspect
from dither.query.sources.find_source import find_source
from dither.query.sources.partitioned_files import MOST_PARTITIONS, PartitionedFiles, cells_of
from tests.policies import opened
from tests.query.clinics import ledger

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
COUNT = "SELECT year, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY year"


def put(path: Path, people: list[int], **more: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"person": pa.array(people, pa.int64()), "cost": [1.0] * len(people), **more}), path)
    return path


def protected(source: object, folder: Path, **more: object) -> dither.Dataset:
    facts = {"name": "visits", "person": "person", "max_groups": 9, "max_rows_per_group": 9, "bounds": {"cost": (0, 2)}}
    facts |= {"steps": {"cost": 1}, "types": {"year": "integer"}, "keys": {"year": [2023, 2024]}, "ledger": ledger(folder)}
    return dither.protect(source, **(facts | more))


def counts(data: dither.Dataset, sql: str = COUNT) -> list[int]:
    return [round(n) for n in data.quote(sql, epsilon=10**6).release()["n"]]


def visits(folder: Path) -> Path:
    put(folder / "visits" / "year=2023" / "a.parquet", [1, 2, 3])
    put(folder / "visits" / "year=2024" / "a.parquet", [1, 2])
    put(folder / "visits" / "year=2024" / "b.parquet", [4, 5])
    return folder / "visits"


@pytest.mark.parametrize("stated", ["visits", "visits/", "visits/year=*/*.parquet", "visits/year=20??/*.parquet"])
def test_cells_of_folders(stated, tmp_path):
    visits(tmp_path)
    data = protected(f"{tmp_path}/{stated}", tmp_path)
    assert counts(data) == [3, 4]
    assert counts(data, "SELECT COUNT(*) AS n FROM visits WHERE year = 2024") == [4]
    assert counts(data, "SELECT COUNT(*) AS n FROM visits WHERE year + 1 > 2024 AND cost > 0") == [4]


def test_a_policy_and_its_draft(tmp_path, monkeypatch):
    monkeypatch.chdir(visits(tmp_path).parent)
    drafted = CliRunner().invoke(app, ["policy", "init", "visits/"]).output
    assert 'source = "visits"' in drafted
    assert '"year" = { type = "text" }' in drafted
    Path("policy.toml").write_text("""
version = 1
domain = "clinic"
ledger = { location = "l.ledger", budget = { epsilon = "100000000" } }
[tables.visits]
source = "visits/"
person = "person"
max_groups = 2
max_rows_per_group = 3
[tables.visits.columns]
person = { type = "integer" }
cost = { type = "float", bounds = [0, 2] }
year = { type = "integer", keys = [2023, 2024] }
""")
    data = opened("policy.toml")
    assert counts(data) == [3, 4]
    report = inspect(data.policy.tables[0], data.sources["visits"])
    assert (report.rows, report.people) == (7, 5)


# -- names -----------------------------------------------------------------------------------------------------------------

NAMES = {  # a folder, and what it stands for
    "city=K%C3%B6ln": "Köln",
    "city=Köln two": "Köln two",
    "city=a%2Fb": "a/b",
    "city=a%3Db=c": "a=b=c",
    "city=it's %22quoted%22; --": 'it\'s "quoted"; --',
    "city=100%": "100%",
    "city=a+b": "a+b",
    "city=%2A%3F%5B": "*?[",
    "city=line%0Abreak": "line\nbreak",
    "city=NULL": "NULL",
    "city=__HIVE_DEFAULT_PARTITION__": None,
    "city=": None,
    "city=%FF%FE": None,  # no text
    "city=a%00b": None,  # no text of SQL
}


def test_hostile_names(tmp_path):
    for place, folder in enumerate(NAMES):
        put(tmp_path / "visits" / folder / "a.parquet", list(range(place + 1)))
    known = [city for city in NAMES.values() if city is not None]
    data = protected(tmp_path / "visits", tmp_path, types={}, keys={"city": known}, max_groups=20)
    answer = data.quote("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=10**6).release()
    found = dict(zip(answer["city"], map(round, answer["n"]), strict=True))
    assert found == {city: place + 1 for place, city in enumerate(NAMES.values()) if city is not None}
    missing = sum(place + 1 for place, city in enumerate(NAMES.values()) if city is None)
    assert counts(data, "SELECT COUNT(*) AS n FROM visits WHERE city IS NULL") == [missing]


@pytest.mark.parametrize("kind", ["integer", "date", "boolean", "float", "decimal", "timestamp"])
def test_what_is_not_of_the_type_is_missing(kind, tmp_path):
    """As any cell, and a person's rows with it: nothing fails."""
    for place, cell in enumerate(["2024", "2024-01-31", "true", "1e999", "nan", "99999999999999999999", "0x7", " 7", "é"]):
        put(tmp_path / "visits" / f"x={cell}" / "a.parquet", [place])
    data = protected(tmp_path / "visits", tmp_path, types={"x": kind}, keys={})
    assert counts(data, "SELECT COUNT(*) AS n FROM visits") == [9]
    (there,) = counts(data, "SELECT COUNT(x) AS n FROM visits")
    assert 0 < there < 9


def test_a_person_in_the_name(tmp_path):
    """A folder for each person; ids that are no whole numbers, spelled in the one way, are nobody's."""
    for cell in ["1", "2", "02", "2.0", "nobody", "__HIVE_DEFAULT_PARTITION__"]:
        put(tmp_path / "visits" / f"who={cell}" / "a.parquet", [0, 0])
    facts = {"person": "who", "types": {"who": "integer"}, "keys": {}, "max_groups": 1, "max_rows_per_group": 2}
    data = protected(tmp_path / "visits", tmp_path, **facts)
    assert counts(data, "SELECT COUNT(*) AS n FROM visits") == [4]
    assert counts(data, "SELECT COUNT(DISTINCT who) AS n FROM visits") == [2]


# -- neighbours: a person more or less changes folders, and totals by what is claimed ---------------------------------------


def test_without_a_person_the_totals_are_those_of_a_plain_table(tmp_path):
    """Every pair of neighbours, as of one Parquet file with the same cells: folders come and go with a person's rows."""
    rng = random.Random(18)
    rows = [(rng.randrange(4), rng.choice(["2023", "2024", "x", None])) for _ in range(12)]
    for gone in (None, 0, 1, 2, 3):
        kept = [(person, year) for person, year in rows if person != gone]
        place = tmp_path / str(gone)
        for year in {year for _, year in kept}:
            name = "__HIVE_DEFAULT_PARTITION__" if year is None else year
            put(place / "visits" / f"year={name}" / "a.parquet", [person for person, other in kept if other == year])
        years = pa.array([year for _, year in kept], pa.string())
        plain = put(place / "plain.parquet", [person for person, _ in kept], year=years)
        assert counts(protected(place / "visits", place)) == counts(protected(plain, place))


# -- what is refused -------------------------------------------------------------------------------------------------------


def test_refusals(tmp_path):
    folder = visits(tmp_path)

    def refused(match: str) -> None:
        with pytest.raises(DataError, match=match):
            find_source(str(folder), tmp_path, "source").schema("visits")

    (folder / "_SUCCESS").touch()
    (folder / "year=2023" / ".a.parquet.crc").touch()
    (folder / "_temporary").mkdir()
    put(folder / "_temporary" / "half.parquet", [9])
    assert len(find_source(str(folder), tmp_path, "source").paths) == 3
    (folder / "notes.txt").touch()
    refused("no Parquet file, and nothing in a directory is left out")
    (folder / "notes.txt").unlink()
    elsewhere = put(tmp_path / "elsewhere" / "year=2025" / "a.parquet", [1]).parent
    (folder / "year=2025").symlink_to(elsewhere)
    refused("link to a folder")
    (folder / "year=2025").unlink()
    (folder / "year=2023" / "twice.parquet").symlink_to(folder / "year=2024" / "a.parquet")
    refused("one file under two names")
    (folder / "year=2023" / "twice.parquet").unlink()
    (folder / "year=2023" / "nowhere.parquet").symlink_to(folder / "nothing")
    refused("no Parquet file")
    (folder / "year=2023" / "nowhere.parquet").unlink()
    deeper = put(folder / "year=2023" / "month=1" / "a.parquet", [1])
    refused("name year, month, and those of the first file year")
    deeper.unlink()
    other = put(folder / "year=2023" / "c.parquet", [1], more=[1])
    refused("columns or their types differ")
    other.unlink()
    (folder / "_delta_log").mkdir()
    refused("Delta table")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no Parquet file in that directory"):
        find_source("empty", tmp_path, "source")
    put(tmp_path / "both" / "year=2023" / "a.parquet", [1], Year=[2023])
    with pytest.raises(DataError, match="the files have a column Year, too"):
        find_source("both", tmp_path, "source").schema("visits")
    with pytest.raises(DataError, match=f"{MOST_PARTITIONS} are the most"):
        cells_of([f"/d/x={number}/a.parquet" for number in range(MOST_PARTITIONS + 1)], Path("/d"), "source")
    with pytest.raises(DataError, match="a column twice"):
        cells_of(["/d/x=1/X=2/a.parquet"], Path("/d"), "source")


def test_columns_by_name_and_files_in_any_order(tmp_path):
    folder = visits(tmp_path)
    table = pa.table({"cost": [2.0], "person": pa.array([9], pa.int64())})
    pq.write_table(table, folder / "year=2024" / "0.parquet")
    answer = protected(folder, tmp_path).quote(COUNT, epsilon=10**6).release()
    assert [round(n) for n in answer["n"]] == [3, 5]
    assert [round(c) for c in answer["c"]] == [3, 6]
    found = find_source(str(folder), tmp_path, "source")
    turned = PartitionedFiles(found.paths[::-1], found.cells[::-1])
    assert {cells: set(paths) for cells, paths in turned.partitions().items()} == {
        cells: set(paths) for cells, paths in found.partitions().items()
    }


def test_a_file_that_is_gone_or_new(tmp_path):
    """The list of files is that of the opening, as of all sources; one that is gone is refused before the charge."""
    folder = visits(tmp_path)
    data = protected(folder, tmp_path)
    quote = data.quote(COUNT, epsilon=10**5)
    new = put(folder / "year=2024" / "new.parquet", [6, 7, 8])
    assert [round(n) for n in quote.release()["n"]] == [3, 4]
    assert counts(protected(folder, tmp_path)) == [3, 7]
    new.unlink()
    (folder / "year=2024" / "b.parquet").unlink()
    left = data.ledger.remaining()
    with pytest.raises(DataError, match="does not end as a Parquet file"):
        data.quote(COUNT, epsilon=10).release()
    assert data.ledger.remaining() == left


def test_folders_that_duckdb_wrote(tmp_path):
    with duckdb.connect() as engine:
        engine.execute(
            "CREATE TABLE t AS SELECT i AS person, 1.0::DOUBLE AS cost, 2023 + i % 2 AS year, i % 3 AS m FROM range(12) r(i)"
        )
        engine.execute(f"COPY t TO '{tmp_path}/visits' (FORMAT parquet, PARTITION_BY (year, m))")
    assert counts(protected(tmp_path / "visits", tmp_path, types={"year": "integer", "m": "integer"})) == [6, 6]
