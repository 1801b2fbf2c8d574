"""Runs inside the environment of opendp[polars], which reads a Parquet file.

Asked for: count, sum and average by region; people by product, keys unknown ("keys"); the median by region ("median").
"""

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
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-6) if asked == "keys" else dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=job["size"], max_groups=len(job["keys"]))],
    )
    query = context.query()
    if person is not None:  # its default, a sample of a person's rows, fails: duplicate field
        query = query.truncate_per_group(job["groups"] * job["rows"], keep="first")
    amount, bounds = pl.col("amount").fill_null(0.0).fill_nan(0.0), (float(job["low"]), float(job["high"]))
    if asked == "keys":
        query.group_by("product").agg(dp.len().alias("n")).release().collect()
        return
    wanted = [dp.len().alias("n"), amount.dp.sum(bounds).alias("s"), amount.dp.mean(bounds).alias("a")]
    if asked == "median":
        candidates = [bounds[0] + (bounds[1] - bounds[0]) * at / 100 for at in range(101)]
        wanted = [amount.dp.median(candidates).alias("m")]
    found = query.group_by("region").agg(*wanted).with_keys(pl.LazyFrame({"region": job["keys"]})).release().collect()
    assert len(found) == len(job["keys"])


job = json.load(sys.stdin)
asked = job.get("asked", "regions")
print(json.dumps(report(version("opendp"), {"peer": answer}, job["runs"])))
