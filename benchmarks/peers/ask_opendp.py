"""Runs inside opendp's environment: reads a job, prints seconds of CPU for one vector release."""

import json
import sys
import time
from importlib.metadata import version

import opendp.prelude as dp

dp.enable_features("contrib")
job = json.load(sys.stdin)
count, scale = job["count"], float(job["scale"])
space = dp.vector_domain(dp.atom_domain(T=int), size=count)
if job["law"] == "laplace":
    mechanism = dp.m.make_laplace(space, dp.l1_distance(T=int), scale=scale)
else:
    mechanism = dp.m.make_gaussian(space, dp.l2_distance(T=int), scale=scale)
values = [0] * count
times = []
for _ in range(job["runs"]):
    start = time.process_time_ns()
    mechanism(values)
    times.append(time.process_time_ns() - start)
print(json.dumps({"seconds": min(times) / 1e9, "version": version("opendp")}))
