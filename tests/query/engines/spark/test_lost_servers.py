"""A Connect server that is killed in the middle of a release: one opaque error, charged once; the next question works."""

from __future__ import annotations

import traceback

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError, ReleaseError
from tests.query.engines.spark.java import missing
from tests.query.engines.spark.servers import connect_server, free_port
from tests.query.engines.spark.sessions import connect_session
from tests.query.engines.spark.test_spark import ROWS, dataset

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own, and that a budget is large


def test_a_connect_server_that_is_killed(tmp_path, every):
    """That it is started again: with --all."""
    pytest.importorskip("pyspark", reason="Spark is not run: no pyspark")
    pytest.importorskip("grpc", reason="Spark Connect is not run: no grpcio")
    if (why := missing()) is not None:
        pytest.skip(why)
    pyarrow.parquet.write_table(pyarrow.table(ROWS), tmp_path / "visits.parquet")
    port, endless = free_port(), "SELECT id AS patient, 'A' AS ward, id % 100 AS cost FROM range(1000000000000)"
    for name in ("lost", "there"):
        (tmp_path / name).mkdir()
    with connect_server(tmp_path, port) as server:
        session = connect_session(port)
        lost = dataset(session.sql(endless), tmp_path / "lost", steps={})
        quote = lost.quote("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", epsilon=1)
        with pytest.raises(ReleaseError) as error:
            quote.release(progress=lambda _: server.kill())
    told = "".join(traceback.format_exception(error.value))
    assert "Connect" not in told
    assert "grpc" not in told
    assert error.value.__cause__ is error.value.__context__ is None
    lost.ledger.verify()
    assert spent(lost) == 1
    policy = dither.open(_policy(tmp_path), spark=session)
    with pytest.raises(DataError, match="no new session can be made"):
        policy.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
    assert spent(policy) == 0
    if not every:
        return
    with connect_server(tmp_path, port):
        answer = policy.quote("SELECT COUNT(*) AS n FROM visits", epsilon=10**4).release()
        assert round(answer["n"][0]) == 6  # by the session that was there before
        with pytest.raises(DataError):  # the frame went with its session
            lost.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
        assert spent(lost) == 1
        session.stop()


def spent(data):
    """Epsilon of all that was charged."""
    return data.ledger.remaining().spent.totals[0]


def _policy(folder):
    path = folder / "there" / "policy.toml"
    path.write_text(f"""
version = 1
domain = "clinic"
ledger = {{ location = "l.ledger", budget = {{ epsilon = "1000000" }} }}
[tables.visits]
source = 'spark:parquet:{folder}/visits.parquet'
person = "patient"
max_groups = 2
max_rows_per_group = 3
hard = ["max_groups", "max_rows_per_group"]
[tables.visits.columns]
patient = {{ type = "integer" }}
ward = {{ type = "text", keys = ["A", "B"] }}
cost = {{ type = "decimal", bounds = [0, 100], step = "0.01" }}
""")
    dither.create_ledger(path, write=True)
    return path
