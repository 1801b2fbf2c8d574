"""Spark on the Parquet file of the purchases: two cores of this machine, CPU of the JVM."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet

import dither
from benchmarks.engines.sides import Side
from dither.query.engines.engine import Engine, Run
from dither.query.engines.spark.run import SparkEngine

MEMORY, A_PART = "6g", 1_000_000  # rows of a part, where they are sent between machines


class SparkSide(Side):
    """Spark in a JVM beside this process."""

    name = "Spark, local[2]"
    limits: ClassVar[Mapping[str, float]] = {"each row": 2.5, "weights": 18, "clip": 35, "groups": 32}
    runs = 4  # the first of each are compiled while they run

    def __init__(self, folder: Path, path: Path) -> None:
        from pyspark.sql import SparkSession

        super().__init__(folder)
        self._path = path
        settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": MEMORY}
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        parts = max(4, pyarrow.parquet.ParquetFile(path).metadata.num_rows // A_PART)  # of few rows, many parts cost more
        settings |= {"spark.sql.shuffle.partitions": str(parts), "spark.sql.warehouse.dir": str(folder / "warehouse")}
        builder = SparkSession.builder.master("local[2]")
        for setting, value in settings.items():
            builder = builder.config(setting, value)
        self._session = builder.getOrCreate()
        self._session.sparkContext.setLogLevel("OFF")

    def source(self, table: str) -> Any:
        return self._session.read.parquet(str(self._path.with_name(f"{table}.parquet")))

    def place(self, table: str) -> str:
        return f"parquet.`{self._path.with_name(f'{table}.parquet')}`"

    def engine(self, data: dither.Dataset) -> Engine:
        assert isinstance(data.engine, SparkEngine)
        return data.engine

    def cpu(self, run: Run) -> Callable[[], float]:
        ticks = os.sysconf("SC_CLK_TCK")
        (own,) = (path for path in Path("/proc").glob("[0-9]*/stat") if _is_ours(path))

        def seconds() -> float:
            fields = own.read_text().rpartition(") ")[2].split()
            return (int(fields[11]) + int(fields[12])) / ticks

        return seconds


def _is_ours(path: Path) -> bool:
    """Whether it is the JVM that this process started."""
    try:
        head, _, tail = path.read_text().rpartition(") ")
    except OSError:  # it ended meanwhile
        return False
    return head.endswith("(java") and int(tail.split()[1]) == os.getpid()
