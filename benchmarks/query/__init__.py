"""Private SQL: count, sum and average by region; unknown keys, medians, joins and batches; beside plain DuckDB and peers."""

from __future__ import annotations

from benchmarks.query import lengths, medians, questions, regions


def main(*, soak: bool) -> None:
    questions.main(soak=soak)
    lengths.main(soak=soak)
    medians.main(soak=soak)
    regions.main(soak=soak)
