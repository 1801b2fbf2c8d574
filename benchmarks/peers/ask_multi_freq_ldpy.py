"""Runs inside multi-freq-ldpy's environment: randomises and decodes, and prints seconds of CPU and the estimate."""

import json
import sys
import time
from importlib.metadata import version

import numpy
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

job = json.load(sys.stdin)
size, epsilon, values = job["size"], job["epsilon"], job["values"]
client, decode = {
    "direct": (lambda v: GRR_Client(v, size, epsilon), lambda r: GRR_Aggregator_MI(r, size, epsilon)),
    "unary": (lambda v: UE_Client(v, size, epsilon, True), lambda r: UE_Aggregator_MI(r, epsilon, True)),
    "hashing": (lambda v: LH_Client(v, size, epsilon, True), lambda r: LH_Aggregator_MI(r, size, epsilon, True)),
}[job["survey"]]
client(values[0])  # what is compiled is compiled now
decode([client(value) for value in values[:2]])
start = time.process_time_ns()
reports = [client(value) for value in values]
middle = time.process_time_ns()
found = decode(reports)
end = time.process_time_ns()
answer = {"client": (middle - start) / 1e9, "decode": (end - middle) / 1e9, "version": version("multi-freq-ldpy")}
print(json.dumps({**answer, "frequency": numpy.asarray(found, dtype=float).tolist()}))
