"""A real Spark for the tests of this folder: one driver, on this machine alone, by its session and by Spark Connect."""

from __future__ import annotations

import itertools
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from tests.query.engines.spark.java import missing
from tests.query.engines.spark.sessions import connect_service, connect_session, local_session

Load = Callable[[str, pyarrow.Table], Any]


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session of an owner."""
    pytest.importorskip("pyspark", reason="Spark is not run: no pyspark")
    why = missing()
    if why is not None:
        pytest.skip(why)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's own: of versions of pandas, and of sockets
        found = local_session(tmp_path_factory.mktemp("warehouse"))
        yield found
        found.stop()


@pytest.fixture(scope="session")
def remote(session: Any) -> Iterator[Any]:
    """The session of an owner by Spark Connect."""
    pytest.importorskip("grpc", reason="Spark Connect is not run: no grpcio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = connect_session(connect_service(session).localPort())
        yield found
        found.stop()


@pytest.fixture(scope="session")
def load(session: Any, tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Makes files of a table, and gives their source."""
    return loader(session, tmp_path_factory.mktemp("rows"))


def loader(session: Any, folder: Path) -> Load:
    """The same, for any session."""
    from dither.query.sources.spark_table import SparkParquet

    numbers = itertools.count()

    def made(name: str, table: pyarrow.Table) -> SparkParquet:
        path = Path(folder / f"{name}-{next(numbers)}.parquet")
        pyarrow.parquet.write_table(table, path)
        return SparkParquet(session, str(path))

    return made


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
