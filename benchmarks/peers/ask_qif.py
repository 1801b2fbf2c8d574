"""Runs inside qif's environment: the best mechanism for a count, or the smallest epsilon of a geometric channel."""

import json
import sys
import time
from importlib.metadata import version

import numpy
import qif

job = json.load(sys.stdin)
size, epsilon = job["size"], job["epsilon"]
answer = {"version": version("qif")}
if job["ask"] == "optimal":
    prior = numpy.full(size, 1 / size)
    start = time.process_time_ns()
    found = qif.mechanism.d_privacy.min_loss_given_d(
        prior, size, lambda x, y: epsilon * abs(float(x) - float(y)), lambda w, x: float(abs(float(w) - float(x)))
    )
    answer["seconds"] = (time.process_time_ns() - start) / 1e9
    matrix = numpy.array(found)
    if matrix.shape != (size, size) or not numpy.allclose(matrix.sum(axis=1), 1, atol=1e-6):
        raise RuntimeError("no mechanism was found")
    answer["utility"] = -float((matrix * numpy.abs(numpy.arange(size)[:, None] - numpy.arange(size))).sum() / size)
else:
    matrix = qif.mechanism.d_privacy.geometric(size, epsilon)
    distance = qif.metric.euclidean(qif.uint)
    start = time.process_time_ns()
    found = qif.measure.d_privacy.smallest_epsilon(matrix, distance)
    answer["seconds"], answer["epsilon"] = (time.process_time_ns() - start) / 1e9, found
print(json.dumps(answer))
