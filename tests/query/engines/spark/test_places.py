"""Places whose rows Spark would read otherwise than they are stored: refused, or read as they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError
from dither.query.policy.column import Type
from dither.query.sources.spark_session import session_beside
from dither.query.sources.spark_table import spark_source

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own


def write(path: Path, **cells: list[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(cells), path)


def rows(session, source):
    with session_beside(session) as own:
        source.looked_up(own, "read")
        return sorted(tuple(row) for row in own.table("read").collect())


def test_texts_that_are_filled_up_are_refused(session):
    """Of 'ab' and 'ab ' Spark makes one text, and calls CHAR(n) a string like any other."""
    session.sql("CREATE TABLE padded (patient CHAR(5), name VARCHAR(5)) USING parquet")
    try:
        found = spark_source("spark:default.padded", "source", session).schema("visits")
        assert found == {"patient": (None, "char(5)"), "name": (Type.TEXT, "varchar(5)")}
    finally:
        session.sql("DROP TABLE padded")


@pytest.mark.parametrize("option", ["datetimeRebaseMode 'EXCEPTION'", "pathGlobFilter 'a*'", "compression 'zstd'"])
def test_tables_with_options_that_change_what_is_read_are_refused(session, option):
    session.sql(f"CREATE TABLE with_option (patient BIGINT) USING parquet OPTIONS ({option})")
    try:
        source = spark_source("spark:default.with_option", "source", session)
        if option.startswith("compression"):
            assert source.schema("visits") == {"patient": (Type.INTEGER, "bigint")}
        else:
            with pytest.raises(DataError, match=f"its option {option.split()[0]} may change"):
                source.schema("visits")
    finally:
        session.sql("DROP TABLE with_option")


def test_short_ids_are_refused(session, tmp_path):
    """Where one file has 16 bits and another has 32, Spark may cut the longer ones: of 65543 and 7 it makes one person."""
    write(tmp_path / "rows" / "a.parquet", patient=pyarrow.array([7], pyarrow.int16()))
    write(tmp_path / "rows" / "b.parquet", patient=pyarrow.array([2**16 + 7], pyarrow.int32()))
    short = "CREATE TABLE short (patient SMALLINT) USING parquet LOCATION"
    session.sql(f"{short} '{tmp_path / 'rows'}'")
    try:
        assert rows(session, spark_source("spark:default.short", "source", session)) == [(7,), (7,)]  # the bug is there
        ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(1))
        data = dither.protect(session.table("short"), name="visits", person="patient", ledger=ledger, max_rows=4)
        with pytest.raises(DataError, match="cuts longer numbers of a file to smallint"):
            data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
    finally:
        session.sql("DROP TABLE short")


def test_names_of_folders_are_texts(session, tmp_path):
    """As numbers, 007 and 7 would be one person; and one folder more would make texts of all of them."""
    write(tmp_path / "id=7" / "a.parquet", n=[1])
    write(tmp_path / "id=007" / "a.parquet", n=[2])
    assert rows(session, spark_source(f"spark:parquet:{tmp_path}", "source", session)) == [(1, "7"), (2, "007")]
    assert session.read.parquet(str(tmp_path)).select("id").distinct().count() == 1  # without the setting: the bug is there


@pytest.mark.parametrize("log", ["_delta_log", ".hoodie"])
def test_files_of_which_a_log_says_which_count_are_refused(session, tmp_path, log):
    write(tmp_path / "a.parquet", n=[1])
    source = spark_source(f"spark:parquet:{tmp_path}", "source", session)
    assert list(source.schema("visits")) == ["n"]
    (tmp_path / log).mkdir()
    with pytest.raises(DataError, match="Delta or Hudi"):
        source.schema("visits")


def test_files_are_read_where_they_lie(session, tmp_path):
    """Not from a copy that somebody made in memory before there were more of them."""
    write(tmp_path / "a.parquet", n=[1])
    copy = session.read.parquet(str(tmp_path)).cache()
    try:
        assert copy.count() == 1
        write(tmp_path / "b.parquet", n=[2])
        assert rows(session, spark_source(f"spark:parquet:{tmp_path}", "source", session)) == [(1,), (2,)]
        assert session.read.parquet(str(tmp_path)).count() == 1  # without the option: the bug is there
    finally:
        copy.unpersist()


@pytest.mark.parametrize("kind", ["frame", "table", "remote"])
def test_the_owners_copy_in_memory_is_kept(session, remote, tmp_path, kind):
    """With a view that goes, Spark lets go of a copy of the same rows: a cached frame would be made again, of other rows."""
    giver = remote if kind == "remote" else session
    if kind == "table":
        session.range(8).selectExpr("id AS patient").write.saveAsTable("kept")
    frame = session.table("kept") if kind == "table" else giver.range(8).selectExpr("id AS patient", f"'{kind}' AS way")
    frame.cache().count()
    try:
        ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(10**6))
        data = dither.protect(frame, name="visits", person="patient", ledger=ledger, max_rows=1)
        assert frame.storageLevel.useMemory
        assert round(data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=10**4).release()["n"][0]) == 8
        if kind == "table":
            with session_beside(session) as own:
                spark_source("spark:default.kept", "source", session).looked_up(own, "read")
                own.catalog.dropTempView("read")
        assert frame.storageLevel.useMemory
    finally:
        frame.unpersist()
        session.sql("DROP TABLE IF EXISTS kept")
