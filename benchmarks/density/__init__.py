"""Distributions: errors beside baselines and peers at equal epsilon, and what they cost in time and memory."""

from __future__ import annotations

from benchmarks.density import histograms, keys, moments, quantiles, rates, samples


def main(*, soak: bool = False) -> None:
    """Each part prints its own tables."""
    for part in (histograms, quantiles, keys, samples, rates, moments):
        part.main(soak=soak)
