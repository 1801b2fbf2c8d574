"""Runs inside SmartNoise SQL's environment: count, sum and average by region. The pandas frame is made beforehand.

Its keys come from the data, not from a public list: with `censor_dims` off it releases the regions that occur.
"""

import json
import sys
import warnings
from importlib.metadata import version

import pandas
import snsql
from usage import report

warnings.simplefilter("ignore")


def answer():
    private = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=1.0, delta=1e-6), metadata=facts)
    question = "SELECT region, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM shop.purchases GROUP BY region"
    assert len(private.execute(question)) == 1 + len(job["keys"])  # the names of the columns come first


job = json.load(sys.stdin)
frame = pandas.read_parquet(job["path"], columns=["user_id", "region", "amount"])
columns = {
    "user_id": {"type": "int", "private_id": True},
    "region": {"type": "string"},
    "amount": {"type": "float", "lower": job["low"], "upper": job["high"]},
}
limits = {"max_ids": job["groups"] * job["rows"], "censor_dims": False, "row_privacy": False}
facts = {"": {"shop": {"purchases": {**limits, **columns}}}}
print(json.dumps(report(version("smartnoise-sql"), {"peer": answer}, job["runs"])))
