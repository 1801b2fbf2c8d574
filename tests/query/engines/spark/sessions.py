"""A session of Spark on this machine: two cores, no page, nothing but loopback. Its driver is a Connect server too."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Any

TOKEN = secrets.token_hex(16)  # nobody else of this machine gets in
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",  # what runs for seconds need not be fast
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",  # a free one
    "spark.connect.authenticate.token": TOKEN,
}


def local_session(warehouse: Path, **settings: str) -> Any:
    """A session in this process's own JVM."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # what executors run: it has dither
    builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(warehouse))
    builder = builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
    for setting, value in (SETTINGS | settings).items():
        builder = builder.config(setting, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def connect_service(session: Any) -> Any:
    """The server that the driver of a session is."""
    services = session.sparkContext._jvm.org.apache.spark.sql.connect.service
    return getattr(getattr(services, "SparkConnectService$"), "MODULE$")


def connect_session(port: int) -> Any:
    """A session of Spark Connect: a client of a server on this machine, which tries again twice."""
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    found = SparkSession.builder.remote(f"sc://localhost:{port}/;token={TOKEN}").create()
    found.client.set_retry_policies([DefaultPolicy(max_retries=2, initial_backoff=50)])
    return found
