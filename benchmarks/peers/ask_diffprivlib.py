"""Runs inside diffprivlib's environment: reads a job, prints seconds of CPU; it releases one number at a time."""

import json
import sys
import time
from importlib.metadata import version

from diffprivlib import mechanisms

MAKE = {
    "geometric": lambda: mechanisms.Geometric(epsilon=0.1, sensitivity=1),
    "laplace": lambda: mechanisms.Laplace(epsilon=0.1, sensitivity=1),
    "gaussian": lambda: mechanisms.GaussianAnalytic(epsilon=1, delta=1e-6, sensitivity=1),
    "discrete gaussian": lambda: mechanisms.GaussianDiscrete(epsilon=1, delta=1e-6, sensitivity=1),
    "staircase": lambda: mechanisms.Staircase(epsilon=0.1, sensitivity=1),
}


def timed(call):
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e9


job = json.load(sys.stdin)
if "choose" in job:
    kind = mechanisms.PermuteAndFlip if job["choose"] == "pure" else mechanisms.Exponential
    scores = job["scores"]
    seconds = min(timed(lambda: kind(epsilon=1, sensitivity=1, utility=scores).randomise()) for _ in range(job["runs"]))
elif "scalar" in job:
    mechanism, calls = MAKE[job["scalar"]](), job["calls"]
    value = 128 if job["scalar"] in ("geometric", "discrete gaussian") else 128.5
    seconds = min(timed(lambda: [mechanism.randomise(value) for _ in range(calls)]) for _ in range(2))
else:
    mechanism = MAKE["geometric" if job["law"] == "laplace" else "discrete gaussian"]()
    values = list(range(job["count"]))
    seconds = min(timed(lambda: [mechanism.randomise(value) for value in values]) for _ in range(job["runs"]))
print(json.dumps({"seconds": seconds, "version": version("diffprivlib")}))
