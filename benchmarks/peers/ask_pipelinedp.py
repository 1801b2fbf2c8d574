"""Runs inside PipelineDP's environment, locally. The list of rows is made beforehand.

Asked for: count, sum and average by region; people by product, keys unknown ("keys"); the median by region ("median").
"""

import json
import logging
import sys
from importlib.metadata import version

import pipeline_dp
import pyarrow.parquet
from usage import report

logging.disable(logging.CRITICAL)


def answer():
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        metrics=METRICS[asked],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=job["groups"],
        max_contributions_per_partition=job["rows"],
        min_value=job["low"],
        max_value=job["high"],
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    result = engine.aggregate(rows, params, extractors, public_partitions=None if asked == "keys" else job["keys"])
    accountant.compute_budgets()
    found = list(result)
    assert asked == "keys" or len(found) == len(job["keys"])


METRICS = {
    "regions": [pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM, pipeline_dp.Metrics.MEAN],
    "keys": [pipeline_dp.Metrics.PRIVACY_ID_COUNT],
    "median": [pipeline_dp.Metrics.PERCENTILE(50)],
}
job = json.load(sys.stdin)
asked = job.get("asked", "regions")
columns = ["user_id", "product" if asked == "keys" else "region", "amount"]
table = pyarrow.parquet.read_table(job["path"], columns=columns)
rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
print(json.dumps(report(version("pipeline-dp"), {"peer": answer}, job["runs"])))
