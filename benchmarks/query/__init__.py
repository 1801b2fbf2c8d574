"""Private SQL: a new price; count, sum and average by region; unknown keys, medians, joins, batches; beside peers."""

from __future__ import annotations

from benchmarks.query import lengths, medians, prices, questions, regions


def main(*, soak: bool) -> None:
    prices.main(soak=soak)
    questions.main(soak=soak)
    lengths.main(soak=soak)
    medians.main(soak=soak)
    regions.main(soak=soak)
