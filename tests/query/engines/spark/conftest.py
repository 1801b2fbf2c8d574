"""A real Spark for the tests of this folder: one session, on this machine alone."""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from tests.query.engines.spark.sessions import local_session

PACKAGE, JAVA = "Spark is not run: no pyspark", "Spark is not run: no Java 17"


def has_java() -> bool:
    """Whether there is a Java of version 17 or later."""
    found = shutil.which("java")
    if found is None:
        return False
    told = subprocess.run([found, "-version"], check=False, capture_output=True, text=True).stderr
    version = told.partition('version "')[2].partition(".")[0].partition('"')[0]
    return version.isdecimal() and int(version) >= 17


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session of an owner."""
    pytest.importorskip("pyspark", reason=PACKAGE)
    if not has_java():
        pytest.skip(JAVA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's own: of versions of pandas, and of sockets
        found = local_session(tmp_path_factory.mktemp("warehouse"))
        yield found
        found.stop()


@pytest.fixture(scope="session")
def load(session: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, pyarrow.Table], Any]:
    """Makes files of a table, and gives their source."""
    from dither.query.sources.spark_table import SparkParquet

    folder, numbers = tmp_path_factory.mktemp("rows"), itertools.count()

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
