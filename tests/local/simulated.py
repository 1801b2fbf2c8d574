"""Tallies of many people without asking any of them: counts have known laws. For the coverage of intervals."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

PEOPLE, VALUES, RUNS = 100_000, 100, 400


def shares(count=VALUES):
    """Zipf's law, as whole people."""
    weights = 1 / np.arange(1, count + 1) ** 1.1
    sizes = np.floor(PEOPLE * weights / weights.sum()).astype(int)
    sizes[0] += PEOPLE - sizes.sum()
    return sizes


def supporters(survey, sizes, rng):
    """How many reports support each value: of those who have it with probability p, of the others with q."""
    p, q = survey.support
    return rng.binomial(sizes, p) + rng.binomial(PEOPLE - sizes, q)


def check_coverage(survey, tally, runs=RUNS, nominal=0.95, slack=0.01):
    """`tally(rng, sizes)` is one collection. Intervals hold the truth about as often as they say, for every value.

    False alarms are rarer than 1e-6 together: a binomial of a slightly smaller share falls that low with 1e-6 / 101.
    """
    sizes, rng = shares(len(survey.domain)), np.random.default_rng(20)
    truth = sizes / PEOPLE
    hits = np.zeros(len(truth), dtype=int)
    for _ in range(runs):
        found = survey.estimate(tally(rng, sizes), method="raw")
        hits += (found.low <= truth) & (truth <= found.high)
    least = binom.ppf(1e-6 / (len(truth) + 1), runs, nominal - slack)
    most = binom.isf(1e-6 / (len(truth) + 1), runs, nominal + 2 * slack)
    assert least <= hits[0] <= most, f"top item: {hits[0] / runs}"
    assert (hits >= least).all(), hits.min() / runs
    assert abs(hits.mean() / runs - nominal) < 0.015, hits.mean() / runs
    return hits / runs
