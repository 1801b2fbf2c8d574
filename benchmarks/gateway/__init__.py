"""What a gateway adds: quotes, stored answers and new ones over HTTP, beside a bare endpoint, the library and DuckDB."""

from __future__ import annotations

from benchmarks.gateway.requests import measure


def main(*, soak: bool = False) -> None:
    measure(times=1000 if soak else 150)
