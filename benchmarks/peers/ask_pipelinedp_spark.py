"""Runs inside PipelineDP's environment, on Spark's RDDs: count and sum by region, person bounded. CPU of all processes."""

import json
import logging
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = sys.executable
import pipeline_dp
from pyspark.sql import SparkSession

logging.disable(logging.CRITICAL)


def cpu():
    """Of the JVM, of its Python workers and of those that have ended; this process apart."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
        seconds[int(path.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def ours(one):
        while one in parents and one != os.getpid():
            one = parents[one]
        return one == os.getpid()

    return sum(value for one, value in seconds.items() if one != os.getpid() and ours(one))


def answer():
    rows = session.read.parquet(job["path"]).select("user_id", "region", "amount").rdd
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.SparkRDDBackend(session.sparkContext))
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=job["groups"],
        max_contributions_per_partition=job["rows"],
        min_value=job["low"],
        max_value=job["high"],
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2] or 0.0,  # it has no missing values
    )
    result = engine.aggregate(rows, params, extractors, public_partitions=job["keys"])
    accountant.compute_budgets()
    return len(result.collect())


job = json.load(sys.stdin)
session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = session.config("spark.driver.memory", "4g").config("spark.driver.host", "127.0.0.1")
session = session.config("spark.sql.shuffle.partitions", "4").config("spark.default.parallelism", "4").getOrCreate()
session.sparkContext.setLogLevel("OFF")
found = []
for _ in range(job["runs"]):
    before, start = cpu(), time.perf_counter()
    groups = answer()
    found.append([cpu() - before, time.perf_counter() - start, groups])
print(json.dumps({"version": version("pipeline-dp"), "runs": found}))
