"""A standalone cluster of two workers on loopback: DuckDB's whole numbers, also where one of them is killed meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from benchmarks.engines import purchases
from benchmarks.engines.questions import ALONE, QUESTIONS
from benchmarks.engines.sides import DuckDBSide, Side

import dither
from dither.errors import ReleaseError
from tests.query.engines.spark.java import missing
from tests.query.engines.spark.servers import cluster, connect_server, free_port, wait_for
from tests.query.engines.spark.sessions import connect_session
from tests.query.engines.spark.test_lost_servers import spent
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own, and that a budget is large
ROWS, PARTS = 8_000, 4
BY_REGION = "SELECT region, COUNT(*) AS n FROM purchases GROUP BY region"
SLOW = "aggregate(sequence(1, 5000), 0L, (sum, x) -> sum + x + user_id) <> -1"  # true of each row, for a millisecond


class ClusterSide(Side):
    """A cluster by Spark Connect."""

    name = "Spark, two workers"

    def __init__(self, folder: Path, session: Any) -> None:
        super().__init__(folder)
        self._session = session

    def source(self, table: str) -> Any:
        return self._session.read.parquet(str(self._folder / f"{table}-parts"))

    def place(self, table: str) -> str:
        raise NotImplementedError

    def engine(self, data: Any) -> Any:
        return data.engine

    def cpu(self, run: Any) -> Any:
        raise NotImplementedError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The purchases as one file, and in parts, so that both workers read."""
    if not examples(0, 1):
        pytest.skip("the long form is not asked for")
    pytest.importorskip("grpc", reason="Spark Connect is not run: no grpcio")
    if (why := missing()) is not None:
        pytest.skip(why)
    found = tmp_path_factory.mktemp("cluster")
    purchases.make(found, ROWS)
    for name, parts in (("purchases", PARTS), ("places", 1)):
        table = pyarrow.parquet.read_table(found / f"{name}.parquet")
        (found / f"{name}-parts").mkdir()
        each = -(-len(table) // parts)
        for at in range(parts):
            pyarrow.parquet.write_table(table.slice(at * each, each), found / f"{name}-parts" / f"{at}.parquet")
    return found


@pytest.fixture(scope="module")
def running(folder):
    """A session by a Connect server whose executors are those of two workers, and the workers."""
    port = free_port()
    java = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"}
    with cluster(folder, 2) as (address, workers), connect_server(folder, port, address, **java) as server:
        wait_for(lambda: server.told.count("Registered executor") == len(workers), "the executors")
        session = connect_session(port)
        yield session, workers
        session.stop()


def test_ten_questions(folder, running):
    session, _ = running
    here, there = DuckDBSide(folder, folder / "purchases.parquet"), ClusterSide(folder, session)
    for question in QUESTIONS:
        assert here.totals(question) == there.totals(question), question.name


def test_a_worker_that_is_killed(folder, running):
    """While its executor counts: the same numbers, or one opaque error; charged once, and the next question works."""
    session, workers = running
    killed = []

    def look(_):
        logs = [path.read_text(errors="replace") for path in (folder / "worker0").glob("app-*/*/stderr")]
        if not killed and sum(map(_tasks, logs)) > before:
            workers[0].kill()
            killed.append(True)

    before = sum(_tasks(path.read_text(errors="replace")) for path in (folder / "worker0").glob("app-*/*/stderr"))
    data, plain = (
        dither.protect(
            source,
            name="purchases",
            ledger=dither.Ledger.create(str(folder / f"{name}.ledger"), budget=dither.pure(10**9)),
            **{**ALONE, "keys": {"region": purchases.REGIONS}},
        )
        for name, source in (
            ("there", session.read.parquet(str(folder / "purchases-parts")).where(SLOW)),
            ("here", str(folder / "purchases.parquet")),
        )
    )
    expected = [round(n) for n in plain.quote(BY_REGION, epsilon=10**6).release()["n"]]
    found = outcome(data.quote(BY_REGION, epsilon=10**6), look)
    assert killed
    assert found in (expected, "it failed")
    data.ledger.verify()
    assert spent(data) == 10**6
    after = data.quote("SELECT COUNT(*) AS n FROM purchases WHERE region = 'region 01'", epsilon=10**6).release()
    assert round(after["n"][0]) == expected[purchases.REGIONS.index("region 01")]


def outcome(quote, look):
    """The counts, or that there are none, for a reason that is not told."""
    try:
        return [round(n) for n in quote.release(progress=look)["n"]]
    except ReleaseError as error:
        return "it failed" if error.__cause__ is error.__context__ is None else repr(error)


def _tasks(log: str) -> int:
    return log.count("Running task")
