"""Runs inside dp-accounting's environment: reads a job, prints seconds of CPU and the value."""

import json
import sys
import time

from dp_accounting import dp_event
from dp_accounting.mechanism_calibration import calibrate_dp_mechanism
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp import RdpAccountant

job = json.load(sys.stdin)


def epsilon(*events: tuple[dp_event.DpEvent, int]) -> float:
    accountant = PLDAccountant()
    for event, count in events:
        accountant.compose(event, count)
    return accountant.get_epsilon(1e-6)


def sigma(accountant: type) -> float:
    def event(s: float) -> dp_event.DpEvent:
        return dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(s), 1000)

    return calibrate_dp_mechanism(accountant, event, 1, 1e-6)


def sampled(scale: float, rate: float = 0.01) -> dp_event.DpEvent:
    return dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(scale))


def discrete_laplace(count: int) -> float:
    each = privacy_loss_distribution.from_discrete_laplace_mechanism(0.05, value_discretization_interval=1e-4)
    return each.self_compose(count).get_epsilon_for_delta(1e-6)


JOBS = {
    "a": lambda: epsilon((dp_event.GaussianDpEvent(20), 1000)),
    "b": lambda: epsilon((dp_event.LaplaceDpEvent(20), 1000)),
    "c": lambda: epsilon((sampled(1), 10**4)),
    "e": lambda: epsilon((dp_event.GaussianDpEvent(1000), 10**6)),
    "d": lambda: discrete_laplace(1000),
    "m": lambda: epsilon(
        *((dp_event.GaussianDpEvent(20 + i), 1) for i in range(125)),
        *((dp_event.LaplaceDpEvent(30 + i), 1) for i in range(125)),
    ),
    "s": lambda: epsilon(
        *((dp_event.GaussianDpEvent(20 + i), 1) for i in range(20)),
        *((dp_event.LaplaceDpEvent(30 + i), 1) for i in range(20)),
        *((sampled(1 + i / 10), 50) for i in range(20)),
    ),
    "f": lambda: sigma(PLDAccountant),
    "r": lambda: sigma(RdpAccountant),
}
times, value = [], 0.0
for _ in range(job["runs"]):
    start = time.process_time()
    value = JOBS[job["job"]]()
    times.append(time.process_time() - start)
print(json.dumps({"seconds": min(times), "value": value}))
