"""Metrics for Prometheus, on a port of their own: how many requests, how long, and what is left of budgets.

Labels are templates of routes, statuses, kinds of problems and names of datasets: a closed set, which no request can make
longer. Durations are those of the log, rounded up to 10 ms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from dither.extras import needs
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem

with needs("dither[server]"):
    from prometheus_client import CollectorRegistry, Counter, Histogram
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

SECONDS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Counts of one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self.registry = CollectorRegistry()
        names = ("method", "route", "status")
        self._requests = Counter("dither_requests", "Requests that were answered.", names, registry=self.registry)
        self._seconds = Histogram(
            "dither_request_seconds", "Time to the end of a reply.", ("route",), buckets=SECONDS, registry=self.registry
        )
        self.registry.register(GatewayFacts(gateway))

    def count(self, method: str, route: str, status: int, milliseconds: int) -> None:
        """One request more."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(milliseconds / 1000)


class GatewayFacts:
    """What the gateway and the ledgers say when they are asked."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def describe(self) -> list[Metric]:
        """Nothing is looked up to say what there is."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The state of now; called in a thread of its own."""
        gateway = self._gateway
        yield GaugeMetricFamily("dither_workers", "Worker processes that can work.", gateway.workers.alive)
        yield GaugeMetricFamily("dither_questions_waiting", "Questions under way.", gateway.questions.under_way())
        ends = CounterMetricFamily("dither_questions", "Questions that ended, by what became of them.", labels=["end"])
        for end, count in sorted(gateway.releases.ends.items()):
            ends.add_metric([end], count)
        yield ends
        yield asyncio.run(self._left())

    async def _left(self) -> Metric:
        left = GaugeMetricFamily("dither_budget_left", "The part of a budget that is left.", labels=["dataset"])
        for name in self._gateway.known:
            with suppress(Problem):  # the ledger cannot be asked now: no number is better than an old one
                found = await self._gateway.desk.ask("budget", name, analyst="")
                left.add_metric([name], max(0.0, 1.0 - float(found["used"])))
        return left
