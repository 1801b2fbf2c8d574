"""Runs inside dp-accounting's environment: reads a job, prints seconds of CPU and the value."""

import json
import sys
import time

from dp_accounting import dp_event
from dp_accounting.mechanism_calibration import calibrate_dp_mechanism
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp import RdpAccountant

job = json.load(sys.stdin)


def epsilon(sigma: float, count: int) -> float:
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(sigma), count)
    return accountant.get_epsilon(1e-6)


def sigma(accountant: type) -> float:
    def event(s: float) -> dp_event.DpEvent:
        return dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(s), 1000)

    return calibrate_dp_mechanism(accountant, event, 1, 1e-6)


JOBS = {
    "a": lambda: epsilon(20, 1000),
    "e": lambda: epsilon(1000, 10**6),
    "f": lambda: sigma(PLDAccountant),
    "r": lambda: sigma(RdpAccountant),
}
times, value = [], 0.0
for _ in range(job["runs"]):
    start = time.process_time()
    value = JOBS[job["job"]]()
    times.append(time.process_time() - start)
print(json.dumps({"seconds": min(times), "value": value}))
