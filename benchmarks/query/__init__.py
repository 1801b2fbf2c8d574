"""Private SQL: quotes; a new price; count, sum and average by region; unknown keys, medians, joins, batches; peers."""

from __future__ import annotations

from benchmarks.query import lengths, medians, prices, questions, quotes, regions


def main(*, soak: bool) -> None:
    quotes.main(soak=soak)
    prices.main(soak=soak)
    questions.main(soak=soak)
    lengths.main(soak=soak)
    medians.main(soak=soak)
    regions.main(soak=soak)
