"""Questions about public tables that are in PostgreSQL: what DuckDB says of the same rows, at no charge."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal

import pyarrow
import pytest

import dither
from dither.errors import DataError, QuestionError
from dither.query.engines.postgres import public_rows, run
from dither.query.public_quote import PublicQuote
from tests.query.engines.postgres.tables import load
from tests.query.public.test_public_quote import ASKED, FLOORS, PRIVATE, REFUSED, VISITS, WARDS
from tests.seeds import examples

STORED = {"rent": "numeric(18, 2)", "beds": "bigint"}


@pytest.fixture(scope="module")
def tables(link):
    load(link, "public_visits", VISITS)
    load(link, "public_wards", WARDS, **STORED)
    load(link, "public_floors", FLOORS)


def clinic(folder, visits, public):
    ledger = dither.Ledger.create(str(folder / f"{uuid.uuid4().hex}.ledger"), budget=dither.pure(1))
    return dither.protect(visits, name="visits", person="p", max_rows=9, public=public, ledger=ledger)


@pytest.fixture
def there(address, tables, tmp_path):
    public = {name: f"{address}&table=public_{name}" for name in ("wards", "floors")}
    return clinic(tmp_path, f"{address}&table=public_visits", public)


def shown(data, sql):
    """Cells as they are: infinities, and numbers apart from truth values."""
    quote = data.quote(sql)
    assert isinstance(quote, PublicQuote)
    answer = quote.release()
    return repr(answer.columns), answer.kinds, answer.keys


def test_answers_are_those_of_duckdb(there, tmp_path, monkeypatch):
    here = clinic(tmp_path, VISITS, {"wards": WARDS, "floors": FLOORS})
    sent, entries = [], len(list(there.ledger.history()))
    before = run._rows
    monkeypatch.setattr(run, "_rows", lambda link, sql, keep: sent.append(sql) or before(link, sql, keep))
    for sql in ASKED[:: 30 // examples(10, 30)]:
        assert shown(there, sql) == shown(here, sql), sql
    assert len(list(there.ledger.history())) == entries
    heads = {sql.partition(" FROM ")[0] for sql in sent}
    assert len(heads) == 3  # of a question only its tables get to the server: two, and a look at the catalogue


def test_what_is_refused_and_what_is_private(there):
    for sql, words in REFUSED.items():
        with pytest.raises(QuestionError, match=words):
            there.quote(sql)
    for sql in PRIVATE:
        with pytest.raises(QuestionError):
            there.quote(sql, epsilon=1)


def test_tables_in_files_and_in_a_database(address, tables, tmp_path):
    """One question about public tables may be about both."""
    data = clinic(tmp_path, f"{address}&table=public_visits", {"wards": f"{address}&table=public_wards", "floors": FLOORS})
    sql = "SELECT w.ward, f.floor FROM wards w JOIN floors f ON w.site = f.site ORDER BY 1, 2"
    assert shown(data, sql) == shown(clinic(tmp_path, VISITS, {"wards": WARDS, "floors": FLOORS}), sql)


CELLS = {
    "boolean": ["true", "false", None],
    "smallint": ["-32768", "7", None],
    "bigint": ["-9223372036854775808", "9223372036854775807", None],
    "real": ["0.1", "NaN", "-Infinity", "1e-45", "3.4e38", None],
    "double precision": ["0.1", "NaN", "Infinity", "5e-324", "-0", None],
    "numeric": ["0.1", "NaN", "Infinity", "-Infinity", "1e400", "1e-400", None],
    "numeric(38, 10)": ["1234567890123456789012345678.0123456789", "NaN", None],
    "numeric(5, -2)": ["12345", "NaN", None],
    "numeric(2, 5)": ["0.00012", None],
    "numeric(60, 30)": ["1e29", "0.1", None],
    "text": ["", "é😀", "x" * 3000, "back\\slash'", None],
    "character(4)": ["a", "", None],
    "uuid": ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", None],
    "date": ["infinity", "-infinity", "0044-03-15 BC", "0001-01-01", "9999-12-31", "12345-01-01", None],
    "timestamp": ["infinity", "0001-01-01", "9999-12-31 23:59:59.999999", "10000-01-01", None],
    "timestamptz": ["-infinity", "2024-01-01 00:30:00+02", "9999-12-31 23:59:59.999999-00", "9999-12-31 23:59:59-05", None],
}
READ = {
    "real": [None, "-inf", "1.401298464324817e-45", "0.10000000149011612", "3.3999999521443642e+38", "nan"],
    "numeric": [None, "-inf", "0.0", "0.1", "inf", "inf", None],
    "numeric(38, 10)": [None, None, float("1234567890123456789012345678.0123456789")],
    "numeric(5, -2)": [None, None, "12300.0"],
    "numeric(2, 5)": [None, "0.00012"],
    "text": [None, "''", repr("back\\slash'"), repr("x" * 2000), "'é😀'"],
    "character(4)": [None, "''", "'a'"],
    "date": [None] * 5 + ["0001-01-01", "9999-12-31"],
    "timestamptz": [None] * 3 + ["2023-12-31 22:30:00", "9999-12-31 23:59:59.999999"],
}


@pytest.mark.parametrize("stored", CELLS)
def test_no_cell_fails(stored, address, link, tables, tmp_path):
    link.execute(f"DROP TABLE IF EXISTS public_cells; CREATE TABLE public_cells (x {stored})")
    for cell in CELLS[stored]:
        link.execute("INSERT INTO public_cells VALUES (%s)", (cell,))
    data = clinic(tmp_path, f"{address}&table=public_visits", {"cells": f"{address}&table=public_cells"})
    assert data.quote("SELECT COUNT(*) AS n FROM cells").release()["n"] == [len(CELLS[stored])]
    found = data.quote("SELECT x FROM cells").release()["x"]
    assert len(found) == len(CELLS[stored])
    told = sorted(str(cell) if not isinstance(cell, str) else repr(cell) for cell in found)
    if stored in READ:
        assert told == sorted(map(str, READ[stored]))


def test_decimals_add_up_digit_by_digit(address, link, tables, tmp_path):
    """Of columns without a scale, as doubles: as the policy's decimals are read."""
    link.execute("DROP TABLE IF EXISTS public_cells; CREATE TABLE public_cells (x numeric(20, 2), y numeric)")
    link.execute("INSERT INTO public_cells SELECT n * 0.01, n * 0.01 FROM generate_series(1, 1000) AS rows (n)")
    link.execute("INSERT INTO public_cells VALUES (100000000000000000, 1), (-100000000000000000, 1)")
    data = clinic(tmp_path, f"{address}&table=public_visits", {"cells": f"{address}&table=public_cells"})
    assert data.quote("SELECT SUM(x) AS x FROM cells").release()["x"] == [5005.0]
    assert data.quote("SELECT SUM(y) AS y FROM cells").release()["y"] == [pytest.approx(5007)]


def test_rows_come_in_one_order(address, link, tables, tmp_path):
    """However the server has them: sums of floats are the same."""
    cells = [10.0 ** (at % 21 - 9) for at in range(2000)]
    found = set()
    for order in (cells, cells[::-1], sorted(cells)):
        load(link, "public_ordered", pyarrow.table({"x": order}))
        data = clinic(tmp_path, f"{address}&table=public_visits", {"cells": f"{address}&table=public_ordered"})
        found.add(data.quote("SELECT SUM(x) AS x FROM cells").release()["x"][0])
    assert len(found) == 1


def test_tables_of_too_many_rows(there, monkeypatch):
    monkeypatch.setattr(public_rows, "MOST_ROWS", 4)
    monkeypatch.setattr(public_rows, "AT_ONCE", 2)
    with pytest.raises(DataError, match="more than 4 rows, and for a question about public tables they are fetched"):
        there.quote("SELECT COUNT(*) AS n FROM wards").release()
    assert there.quote("SELECT COUNT(*) AS n FROM floors").release()["n"] == [3]


def test_rows_of_protected_tables_are_never_fetched(there):
    engine = there.engine
    visits = engine.table(there.policy.tables[0], there.sources["visits"])
    with pytest.raises(DataError, match="rows of public tables are fetched, and no others"):
        public_rows.public_rows(engine, [visits], fetch=True)


def test_failures_are_one_sentence(there, link, address, tmp_path):
    quote = there.quote("SELECT COUNT(*) AS n FROM wards")
    link.execute("ALTER TABLE public_wards RENAME TO public_elsewhere")
    try:
        with pytest.raises(DataError, match="there is no such table"):
            quote.release()
    finally:
        link.execute("ALTER TABLE public_elsewhere RENAME TO public_wards")
    assert quote.release()["n"] == [5]


def test_dates_and_times(there):
    """Types of an answer are those of files."""
    found = there.quote("SELECT since, rent FROM wards WHERE ward = 'A'").release()
    assert found.kinds == {"since": "date", "rent": "number"}
    assert found.columns == {"since": [datetime.date(2020, 1, 31)], "rent": [float(Decimal("0.10"))]}
