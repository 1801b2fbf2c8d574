"""Small public tables in files and frames beside protected ones in PostgreSQL: sent along, the same rows as on DuckDB."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.mixed import MixedEngine
from dither.query.engines.postgres import public_values
from dither.query.engines.templates.relations import scan_sql
from dither.query.policy.policy import read_policy
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_table import postgres_table
from tests.policies import opened
from tests.query.engines.postgres.tables import load

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
TIME = datetime.datetime
HOSTILE = {
    "integer": pyarrow.array([-(2**63), 2**63 - 1, 0, None, 0]),
    "float": pyarrow.array([float("nan"), float("inf"), float("-inf"), 5e-324, -0.0, 0.1, 1.7976931348623157e308, None]),
    "text": pyarrow.array(["", "NULL", "null", '"', "\\", '\\"', "{a,b}", ",", "'; x", "é😀", "\n\t\x01", "x" * 3000, None]),
    "boolean": pyarrow.array([True, False, None]),
    "date": pyarrow.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    "timestamp": pyarrow.array([TIME(1, 1, 1), TIME(9999, 12, 31, 23, 59, 59, 999999), None], pyarrow.timestamp("us")),
}
READ_AS = {  # other types that are read as one
    "integer": pyarrow.array(["6.9", " 7", "x", "99999999999999999999", "-0", None]),
    "float": pyarrow.array(["1e400", "0.1", "nan", "-inf", "", None]),
    "date": pyarrow.array([2932896, 2932897, -719162, -719163, 0, None], pyarrow.int32()).cast(pyarrow.date32()),
    "boolean": pyarrow.array(["true", "f", "2", None]),
    "timestamp": pyarrow.array([2**62, -(2**62), 0, None], pyarrow.int64()).cast(pyarrow.timestamp("us", tz="UTC")),
    "text": pyarrow.array([1, -(2**63), None]),
}


def table_of(kind):
    stated = {"version": 1, "domain": "d", "unit": "add/remove one person", "data_version": ""}
    tables = {
        "wards": {"public": True, "columns": {"x": {"type": kind}}},
        "v": {"person": "each row", "columns": {"x": {"type": "text"}}},
    }
    return next(one for one in read_policy({**stated, "tables": tables}).tables if one.public)


@pytest.mark.parametrize("kind", HOSTILE)
def test_both_engines_scan_the_same_rows(kind, address, link):
    """Rows of all kinds of cells, two of them equal; and of cells that the policy reads as something else."""
    link.execute("CREATE TABLE IF NOT EXISTS sent_visits (p bigint)")
    for cells in (HOSTILE[kind], READ_AS[kind]):
        table, source = table_of(kind), find_source(pyarrow.table({"x": cells}), Path(), "x")
        mixed = MixedEngine([source, postgres_table(f"{address}&table=sent_visits", "x")])
        found = []
        for engine in (DuckDBEngine([source]), mixed):
            place = engine.table(table, source)
            with engine.reading([place]) as run:
                found.append(run(scan_sql(engine.words, table, place.relation, place.texts), lambda _: True))
        assert sorted(map(repr, found[0])) == sorted(map(repr, found[1]))
        assert len(found[1]) == len(cells)
        assert any(cell is not None for (cell,) in found[1])


VISITS = pyarrow.table({"p": [1, 1, 2, 3, 3, None], "ward": ["A", "B", "A", "it's", None, "A"], "cost": [1, 2, 3, 4, 5, 6]})
WARDS = pyarrow.table({"ward": ["A", "A", "B", "it's", None], "site": ["n", "n", "s", "", "n"], "beds": [3, 3, 5, None, 7]})
ASKED = [
    "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward",
    "SELECT SUM(beds) AS n FROM visits LEFT JOIN wards USING (ward) WHERE site <> 's' OR site IS NULL",
    "SELECT site, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY site",
    "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM wards WHERE beds > 3)",
    "SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.beds < v.cost)",
    "SELECT COUNT(*) AS n FROM visits WHERE cost < (SELECT AVG(beds) FROM wards)",
]


@pytest.fixture(scope="module")
def visits(link):
    load(link, "sent_visits", VISITS, ward='text COLLATE "POSIX"')


def clinic(folder, rows, wards, **more):
    ledger = dither.Ledger.create(str(folder / f"{uuid.uuid4().hex}.ledger"), budget=dither.pure(10**9))
    facts = {"person": "p", "max_groups": 9, "max_rows_per_group": 9, "bounds": {"cost": (0, 10), "wards.beds": (0, 10)}}
    facts |= {"keys": {"wards.site": ["n", "s", ""]}, "public": {"wards": wards}, **more}
    return dither.protect(rows, name="visits", ledger=ledger, **facts)


@pytest.mark.usefixtures("visits")
def test_answers_are_those_of_duckdb(address, tmp_path):
    pyarrow.parquet.write_table(WARDS, tmp_path / "wards.parquet")
    pyarrow.csv.write_csv(WARDS, tmp_path / "wards.csv")
    here = clinic(tmp_path, VISITS, WARDS)
    for wards in (WARDS, str(tmp_path / "wards.parquet")):
        there = clinic(tmp_path, f"{address}&table=sent_visits", wards)
        for sql in ASKED if wards is WARDS else ASKED[:1]:
            both = [one.quote(sql, epsilon=10**6).release()["n"] for one in (here, there)]
            assert [round(n) for n in both[0]] == [round(n) for n in both[1]], sql
    there = clinic(tmp_path, f"{address}&table=sent_visits", str(tmp_path / "wards.csv"), bounds={"cost": (0, 10)}, keys={})
    assert round(there.quote(ASKED[0], epsilon=10**6).release()["n"][0]) == 6
    assert there.quote("SELECT COUNT(*) AS n FROM wards").release()["n"] == [5]


@pytest.mark.usefixtures("visits")
def test_refused_before_the_charge(address, tmp_path, monkeypatch):
    rows = f"{address}&table=sent_visits"
    nul, path = pyarrow.table({"ward": ["a\0"]}), tmp_path / "wards.parquet"
    pyarrow.parquet.write_table(WARDS, path)
    long = pyarrow.table({"ward": ["A"], "x" * 64: [1]})
    asked = "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward"
    plain = {"bounds": {}, "keys": {}}

    def refused(data, why):
        quote, before = data.quote(asked, epsilon=1), len(list(data.ledger.history()))
        with pytest.raises(DataError, match=why):
            quote.release()
        assert len(list(data.ledger.history())) == before

    refused(clinic(tmp_path, rows, nul, **plain), "a NUL, which PostgreSQL cannot hold")
    refused(clinic(tmp_path, rows, long, **plain), "at most 63 bytes")
    with monkeypatch.context() as changed:
        changed.setattr(public_values, "MOST_LETTERS", 20)
        refused(clinic(tmp_path, rows, WARDS, **plain), "more than 20 letters")
    many = pyarrow.table({"ward": ["A"] * 10_001})
    refused(clinic(tmp_path, rows, many, **plain), "source of wards.*more than 10000 rows.*the table in the same database")
    gone = clinic(tmp_path, rows, str(path), **plain)
    path.unlink()
    refused(gone, "a whole Parquet file")


@pytest.mark.usefixtures("visits")
def test_protected_rows_are_sent_nowhere(address, tmp_path):
    """Neither by the engine that is chosen, nor if somebody chose another."""
    data = clinic(tmp_path, VISITS, WARDS)
    table, source = data.policy.tables[0], data.sources["visits"]
    with pytest.raises(DataError, match="sent nowhere"):
        MixedEngine([source, postgres_table(f"{address}&table=sent_visits", "x")]).table(table, source)
    with pytest.raises(DataError, match="and no others"):
        public_values.public_values(table, source, [])
    two = Path(tmp_path / "policy.toml")
    two.write_text(f"""
version = 1
domain = "clinic"
ledger = {{ location = "two.ledger", budget = {{ epsilon = "9" }} }}
[tables.visits]
source = "{address}&table=sent_visits"
person = "p"
max_rows = 3
columns = {{ p = {{ type = "integer" }} }}
[tables.bills]
source = "bills.csv"
person = "p"
max_rows = 3
columns = {{ p = {{ type = "integer" }} }}
""")
    (tmp_path / "bills.csv").write_text("p\n1\n")
    with pytest.raises(DataError, match=r"bills \(csv\), visits \(postgresql\).*different engines"):
        opened(two).quote("SELECT COUNT(*) AS n FROM bills", epsilon=1)


@pytest.mark.usefixtures("visits")
def test_ten_thousand_rows(address, tmp_path):
    many = pyarrow.table({"ward": ["A"] + [f"w{at}" for at in range(9_999)]})
    data = clinic(tmp_path, f"{address}&table=sent_visits", many, bounds={}, keys={})
    asked = "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward"
    assert round(data.quote(asked, epsilon=10**6).release()["n"][0]) == 2
