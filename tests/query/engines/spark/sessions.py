"""A session of Spark on this machine: two cores, no page, nothing but loopback."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",  # what runs for seconds need not be fast
}


def local_session(warehouse: Path, **settings: str) -> Any:
    """A session in this process's own JVM."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # what executors run: it has dither
    builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(warehouse))
    for setting, value in (SETTINGS | settings).items():
        builder = builder.config(setting, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found
