"""Distributions: errors beside baselines and peers at equal epsilon, and what they cost in time and memory."""

from __future__ import annotations

from benchmarks.density import keys
from benchmarks.density import histograms
from benchmarks.density import moments
from benchmarks.density import quantiles


def main(*, soak: bool = False) -> None:
    """Each part prints its own tables."""
    keys.main(soak=soak)
    histograms.main(soak=soak)
    moments.main(soak=soak)
    quantiles.main(soak=soak)
