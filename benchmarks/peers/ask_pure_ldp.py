"""Runs inside pure-ldp's environment: randomises and decodes, and prints seconds of CPU and the estimate."""

import contextlib
import io
import json
import sys
import time
from importlib.metadata import version

from pure_ldp.frequency_oracles import (
    DEClient,
    DEServer,
    HadamardResponseClient,
    HadamardResponseServer,
    LHClient,
    LHServer,
    UEClient,
    UEServer,
)

job = json.load(sys.stdin)
size, epsilon, values = job["size"], job["epsilon"], job["values"]
with contextlib.redirect_stdout(io.StringIO()):
    if job["survey"] == "direct":
        client, server = DEClient(epsilon, size), DEServer(epsilon, size)
    elif job["survey"] == "unary":
        client, server = UEClient(epsilon, size, use_oue=True), UEServer(epsilon, size, use_oue=True)
    elif job["survey"] == "hashing":
        client, server = LHClient(epsilon, size, use_olh=True), LHServer(epsilon, size, use_olh=True)
    else:
        server = HadamardResponseServer(epsilon, size)
        client = HadamardResponseClient(epsilon, size, server.get_hash_funcs())
    start = time.process_time_ns()
    reports = [client.privatise(value + 1) for value in values]
    middle = time.process_time_ns()
    for report in reports:
        server.aggregate(report)
    found = server.estimate_all(range(1, size + 1), suppress_warnings=True)
    end = time.process_time_ns()
answer = {"client": (middle - start) / 1e9, "decode": (end - middle) / 1e9, "version": version("pure-ldp")}
print(json.dumps({**answer, "frequency": [float(x) / len(values) for x in found]}))
