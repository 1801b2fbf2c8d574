"""Runs inside opendp's environment: reads a job, prints seconds of CPU for vectors, numbers or a choice; or quantiles."""

import json
import sys
import time
from importlib.metadata import version

import opendp.prelude as dp

dp.enable_features("contrib")


def vector(job):
    count, scale = job["count"], float(job["scale"])
    space = dp.vector_domain(dp.atom_domain(T=int), size=count)
    if job["law"] == "laplace":
        mechanism = dp.m.make_laplace(space, dp.l1_distance(T=int), scale=scale)
    else:
        mechanism = dp.m.make_gaussian(space, dp.l2_distance(T=int), scale=scale)
    values = [0] * count
    return min(timed(lambda: mechanism(values)) for _ in range(job["runs"]))


def scalar(job):
    whole = job["scalar"] in ("geometric", "discrete gaussian")
    if job["scalar"] == "staircase":
        raise SystemExit("no staircase mechanism")
    kind = int if whole else float
    space = dp.atom_domain(T=int) if whole else dp.atom_domain(T=float, nan=False)
    make = dp.m.make_laplace if job["scalar"] in ("geometric", "laplace") else dp.m.make_gaussian
    mechanism = make(space, dp.absolute_distance(T=kind), scale=10.0)
    value = kind(128)
    return min(timed(lambda: [mechanism(value) for _ in range(job["calls"])]) for _ in range(2))


def choose(job):
    space = dp.vector_domain(dp.atom_domain(T=int))
    measure = dp.max_divergence() if job["choose"] == "pure" else dp.zero_concentrated_divergence()
    mechanism = dp.m.make_noisy_max(space, dp.linf_distance(T=int), measure, scale=2.0)
    scores = job["scores"]
    return min(timed(lambda: mechanism(scores)) for _ in range(job["runs"]))


def quantile(job):
    """Answers to the same data again and again, among the same candidates, at the epsilon given."""
    candidates = job["candidates"]
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    scores = space >> dp.t.then_quantile_score_candidates(candidates, alpha=job["quantile"])
    mechanism = dp.binary_search_chain(
        lambda scale: scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True),
        d_in=1, d_out=job["epsilon"],
    )  # fmt: skip
    return [candidates[mechanism(job["values"])] for _ in range(job["runs"])]


def timed(call):
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e9


job = json.load(sys.stdin)
if "quantile" in job:
    print(json.dumps({"answers": quantile(job), "version": version("opendp")}))
else:
    answer = choose if "choose" in job else scalar if "scalar" in job else vector
    print(json.dumps({"seconds": answer(job), "version": version("opendp")}))
