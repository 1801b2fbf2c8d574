"""Counts of reports without people: for tests that need very many of them."""

from __future__ import annotations

import numpy as np

from dither.local.collect.tally import Tally


def zipf(size, power=1.1):
    weights = np.arange(1, size + 1) ** -power
    return weights / weights.sum()


def unimodal(size):
    weights = np.exp(-0.5 * ((np.arange(size) - 0.4 * size) / (0.1 * size)) ** 2)
    return weights / weights.sum()


def two_hills(size):
    place = np.arange(size) / size
    weights = np.exp(-0.5 * ((place - 0.25) / 0.03) ** 2) + np.exp(-0.5 * ((place - 0.7) / 0.08) ** 2) / 2
    return weights / weights.sum()


def whole(shares, people):
    """People with each value, as near to the shares as whole numbers are."""
    sizes = np.floor(np.asarray(shares) * people).astype(int)
    sizes[0] += people - sizes.sum()
    return sizes


def direct_counts(survey, sizes, rng, runs):
    """Reports of direct encoding: each is kept with probability p - q, and otherwise uniform among all values."""
    p, q = survey.support
    kept = rng.binomial(sizes, p - q, size=(runs, len(sizes)))
    return kept + rng.multinomial(sizes.sum() - kept.sum(axis=1), np.full(len(sizes), 1 / len(sizes)))


def tally(survey, counts):
    return Tally(survey.record, counts.astype(np.int64), int(counts.sum()))
