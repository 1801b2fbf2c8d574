"""The benchmark of the gateway: what is counted and printed; with --all, a short run on real servers."""

from __future__ import annotations

import pytest
from benchmarks.gateway import requests
from benchmarks.gateway.requests import Measured, measure


def measured(name: str, times: list[float], used: float) -> Measured:
    found = Measured(name, lambda _: None, None)
    found.times, found.used = times, used
    return found


def test_medians_cpu_and_bars():
    calls = []
    for name, ms in (("quote", 4.0), ("stored answer", 9.0), ("new answer", 50.0)):
        calls += [measured(name, [ms] * 99 + [1000.0], 0.3), measured(f"{name}, library", [ms - 1] * 100, 0.2)]
    with requests.console.capture() as captured:
        requests._report(calls, 3.0)
    said = captured.get()
    assert "p50 5 ms reached, 150/s reached" in said  # 3 ms of CPU each
    assert "p50 8 ms MISSED, 100/s reached" in said
    assert "p50 51 ms reached" in said  # 45, and the disk twice
    assert said.count("2 ms reached") == 3
    assert "1000.00" not in said  # one of a hundred is beyond the 99th percentile


def test_a_call_is_timed_and_its_cpu_counted():
    spent = iter((1.0, 1.5, 2.0, 2.25))
    found = Measured("quote", lambda number: number, lambda: next(spent))
    found.once(1)
    found.once(2)
    assert (len(found.times), found.mean_cpu) == (2, 375.0)


def test_a_short_run(every):
    if not every:
        pytest.skip("with --all")
    with requests.console.capture() as captured:
        measure(2)
    assert "what the gateway adds" in captured.get()
