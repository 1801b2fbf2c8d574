"""Runs inside the environment of opendp[polars]: count, sum and average by region of a Parquet file, which it reads."""

import json
import sys
import warnings
from importlib.metadata import version

import opendp.prelude as dp
import polars as pl
from usage import report

warnings.simplefilter("ignore")
dp.enable_features("contrib")


def answer():
    person = job["person"]
    context = dp.Context.compositor(
        data=pl.scan_parquet(job["path"]),
        privacy_unit=dp.unit_of(contributions=1, identifier=None if person is None else pl.col(person)),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=job["size"], max_groups=len(job["keys"]))],
    )
    query = context.query()
    if person is not None:  # its default, a sample of a person's rows, fails: duplicate field
        query = query.truncate_per_group(job["groups"] * job["rows"], keep="first")
    amount, bounds = pl.col("amount").fill_null(0.0).fill_nan(0.0), (float(job["low"]), float(job["high"]))
    asked = [dp.len().alias("n"), amount.dp.sum(bounds).alias("s"), amount.dp.mean(bounds).alias("a")]
    found = query.group_by("region").agg(*asked).with_keys(pl.LazyFrame({"region": job["keys"]})).release().collect()
    assert len(found) == len(job["keys"])


job = json.load(sys.stdin)
print(json.dumps(report(version("opendp"), {"peer": answer}, job["runs"])))
