"""CPU time of a call: the best of several short runs, since other work on the machine only ever adds."""

from __future__ import annotations

import time
from collections.abc import Callable


def best(call: Callable[[], object], *, runs: int = 9) -> float:
    """Seconds of CPU for one call."""
    times = []
    for _ in range(runs):
        start = time.process_time_ns()
        call()
        times.append(time.process_time_ns() - start)
    return min(times) / 1e9


def in_turns(calls: dict[str, Callable[[], object]], *, runs: int = 9) -> dict[str, float]:
    """Seconds of CPU for each call, the calls taking turns so that a noisy moment hits all of them."""
    times: dict[str, list[int]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.process_time_ns()
            call()
            times[name].append(time.process_time_ns() - start)
    return {name: min(values) / 1e9 for name, values in times.items()}
