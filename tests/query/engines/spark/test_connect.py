"""Spark Connect: the same whole numbers, a session that is left as it was, and failures that tell nothing."""

from __future__ import annotations

import logging
import os
import threading
import traceback
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError, ReleaseError
from dither.query.conformance.counted_totals import counted, near, read_question, same
from dither.query.conformance.engine_checks import engine_checks
from dither.query.conformance.engine_reader import EngineReader
from dither.query.conformance.hostile_rows import CONDITIONS, LIBRARY, VALUES
from dither.query.conformance.node_examples import hostile_tables, tables_policy
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.spark.run import SparkEngine
from dither.query.sources.find_source import find_source
from dither.query.sources.spark_connect import is_connect
from dither.query.sources.spark_session import SETTINGS, session_beside
from dither.query.sources.spark_table import SparkParquet, spark_source
from tests.query.engines.spark.conftest import loader
from tests.query.engines.spark.sessions import connect_service, connect_session
from tests.query.engines.spark.test_same_values import Sides, library, meant
from tests.query.engines.spark.test_spark import CANARY, ROWS, check_answer, dataset
from tests.query.engines.spark.test_three_engines import TYPICAL
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own, and that a budget is large


@pytest.fixture(scope="module")
def load(remote, tmp_path_factory):
    return loader(remote, tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def files(tmp_path_factory, session):
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    pyarrow.parquet.write_table(pyarrow.table(ROWS), path)
    session.read.parquet(str(path)).write.mode("overwrite").saveAsTable("visits_there")
    return path


# -- the same numbers -------------------------------------------------------------------------------------------------------


def test_typical_questions(load):
    tables, policy = hostile_tables(7, 60), tables_policy()
    frames = {name: find_source(table, Path(), name) for name, table in tables.items()}
    theirs = {name: load(name, table) for name, table in tables.items()}
    sides = (
        EngineReader(DuckDBEngine(frames.values()), frames, policy),
        EngineReader(SparkEngine(theirs.values()), theirs, policy),
    )
    for sql in TYPICAL[:: examples(4, 1)]:
        asked = counted(read_question(sql, policy))[: examples(1, 100)]
        ours, others = (side.totals(*asked) for side in sides)
        assert [dict(one) for one in ours] == [dict(one) for one in others], sql


def test_values(remote, load, every):
    """A tenth of them, since the SELECTs are those of other sessions; all with --all."""
    sides, step = Sides(remote, load), 1 if every else 10
    assert sides.differences([meant(sql) for sql in (VALUES + CONDITIONS)[::step]], same) == []
    assert sides.differences([library(sql) for sql in LIBRARY[::step]], near) == []


def test_the_suite(load):
    """In its short form; the rest of it with --all."""
    checks = dict(engine_checks(SparkEngine([load("rows", pyarrow.table({"x": [1]}))]), load, questions=examples(6, 30)))
    short = ["totals: weights", "totals: clip", "totals: groups", "failures"]
    for name in short if examples(1, 100) == 1 else checks:
        checks[name]()


# -- the session that was given ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["frame", "table", "files"])
def test_an_answer_leaves_the_session_as_it_was(session, remote, files, tmp_path, kind):
    """Its settings, its views, its tags, and those that all sessions share; and no session of ours stays at the server."""
    manager = connect_service(session).sessionManager()

    def looks():
        views = [str(remote.catalog.listTables(*of)) for of in ((), ("global_temp",))]
        return dict(remote.conf.getAll), views, remote.getTags(), manager.listActiveSessions().size()

    remote.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    remote.conf.set("spark.sql.ansi.enabled", "false")
    remote.addTag("theirs")
    remote.sql("SELECT 1 AS x").createOrReplaceTempView("theirs")
    try:
        before = looks()
        if kind == "frame":
            frame = remote.table("visits_there").where("patient IS NULL OR patient < 100")
            check_answer(dataset(frame, tmp_path))
        else:
            source = "spark:default.visits_there" if kind == "table" else f"spark:parquet:{files}"
            (tmp_path / "policy.toml").write_text(f"""
version = 1
domain = "clinic"
ledger = {{ location = "l.ledger", budget = {{ epsilon = "1000000" }} }}
[tables.visits]
source = '{source}'
person = "patient"
max_groups = 2
max_rows_per_group = 3
hard = ["max_groups", "max_rows_per_group"]
[tables.visits.columns]
patient = {{ type = "integer" }}
ward = {{ type = "text", keys = ["A", "B"] }}
cost = {{ type = "decimal", bounds = [0, 100], step = "0.01" }}
""")
            dither.create_ledger(tmp_path / "policy.toml", write=True)
            check_answer(dither.open(tmp_path / "policy.toml", spark=remote))
        assert looks() == before
    finally:
        remote.clearTags()
        remote.catalog.dropTempView("theirs")
        remote.conf.unset("spark.sql.session.timeZone")
        remote.conf.unset("spark.sql.ansi.enabled")


def test_its_own_session(remote):
    with session_beside(remote) as own:
        assert is_connect(own)
        assert own.session_id != remote.session_id
        assert {setting: own.conf.get(setting).lower() for setting in SETTINGS} == {
            setting: value.lower() for setting, value in SETTINGS.items()
        }
        assert own.client.get_retry_policies() == remote.client.get_retry_policies()
    assert own.is_stopped
    assert not remote.is_stopped


def test_long_lists_of_keys(remote, tmp_path):
    rows = pyarrow.table({"p": pyarrow.array(range(400)), "k": [f"k{at % 4}'" for at in range(400)]})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")
    keys = [f"k{at}'" for at in range(1500)]
    facts = {"person": "p", "max_groups": 1, "max_rows_per_group": 1, "bounds": {}, "steps": {}, "keys": {"k": keys}}
    data = dataset(remote.read.parquet(str(tmp_path / "rows.parquet")), tmp_path, **facts)
    many = data.quote("SELECT k, COUNT(DISTINCT p) AS n FROM visits GROUP BY k", epsilon=10**4).release()
    counts = dict(zip(many["k"], many["n"], strict=True))
    assert [round(counts[key]) for key in keys[:5]] == [100, 100, 100, 100, 0]


# -- refusals ---------------------------------------------------------------------------------------------------------------


def test_a_stopped_session_is_refused(session, remote, files):
    other = connect_session(connect_service(session).localPort())
    assert SparkParquet(other, str(files)).schema("visits").keys() == ROWS.keys()
    other.stop()
    with pytest.raises(DataError, match="it is stopped"):
        SparkParquet(other, str(files)).schema("visits")


def test_views_and_other_formats_are_refused(remote, files, tmp_path):
    remote.sql("CREATE OR REPLACE VIEW default.view_there AS SELECT * FROM default.visits_there")
    remote.sql("CREATE OR REPLACE TEMPORARY VIEW passing AS SELECT 1 AS patient")
    remote.range(3).createOrReplaceGlobalTempView("shared")
    remote.sql("CREATE TABLE IF NOT EXISTS default.csv_there (patient BIGINT) USING csv")
    told = {
        "default.view_there": "it is a view",
        "global_temp.shared": "it is a view|cannot look it up",
        "default.passing": "cannot look it up",
        "default.csv_there": "stored by csv",
        "default.not_there": "cannot look it up",
    }
    for name, why in told.items():
        with pytest.raises(DataError, match=why):
            spark_source(f"spark:{name}", "source", remote).schema("visits")
    with pytest.raises(DataError, match="cannot look it up"):
        find_source(f"spark:parquet:{tmp_path}/none", tmp_path, "data", spark=remote).schema("visits")
    remote.catalog.dropTempView("passing")
    remote.catalog.dropGlobalTempView("shared")
    with pytest.raises(DataError, match="it is a stream"):
        dataset(remote.readStream.format("rate").load(), tmp_path)


# -- failures ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def heard(remote):
    """What the client logs, of all that it could."""
    from pyspark.logger import PySparkLogger

    class Heard(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage() + str(record.exc_info) + str(getattr(record, "exc_text", "")))

    told, handler, logger = [], Heard(), PySparkLogger.getLogger("pyspark.sql.connect.logging")
    before = logger.disabled, logger.level
    logger.disabled = False
    logger.setLevel("DEBUG")
    logger.addHandler(handler)
    yield told
    logger.removeHandler(handler)
    logger.disabled, logger.level = before


def test_a_failure_after_the_charge_is_one_opaque_error(remote, tmp_path, caplog, capfd, heard):
    cell = f"concat('{CANARY[:6]}', '{CANARY[6:]}')"  # the text of the frame does not hold it
    frame = remote.sql(f"SELECT id AS patient, 'A' AS ward, CAST(IF(id = 7, {cell}, '1') AS BIGINT) AS cost FROM range(10)")
    data = dataset(frame, tmp_path, steps={})
    before = str(data.ledger.remaining())
    quote = data.quote("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", epsilon=1)
    caplog.clear()
    heard.clear()
    with caplog.at_level(logging.DEBUG), pytest.raises(ReleaseError) as error:
        quote.release()
    told = "".join(traceback.format_exception(error.value)) + caplog.text + "".join(capfd.readouterr()) + str(heard)
    assert CANARY not in told
    assert "CAST_INVALID_INPUT" not in told
    assert str(data.ledger.remaining()) != before
    assert round(data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=10**4).release()["n"][0]) == 10
    with pytest.raises(Exception, match=CANARY):
        frame.toArrow()
    assert CANARY in str(heard)  # errors of others are logged as before


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_stops_the_job(session, remote, files, tmp_path):
    data = dataset(remote.read.parquet(str(files)), tmp_path)
    (table,) = data.policy.tables
    source, tracker = data.engine.table(table, data.sources["visits"]), session.sparkContext.statusTracker()
    long = "SELECT count(*) AS n FROM range(1000000000000) AS a WHERE xxhash64(id) = :salt"
    pressed = threading.Event()

    def look(_):
        if tracker.getActiveJobsIds() and not pressed.is_set():
            pressed.set()
            os.kill(os.getpid(), 2)

    with data.engine.opened([source]) as ready, pytest.raises(KeyboardInterrupt):
        ready.read(look)(long, lambda _: True)
    assert pressed.is_set()
    assert not tracker.getActiveJobsIds()
