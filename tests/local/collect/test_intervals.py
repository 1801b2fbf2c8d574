"""Confidence intervals: how often they hold, exactly; and what they say of values that nobody has."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from dither.local.collect.intervals import interval
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.heavy_hitters import HeavyHitters


def coverage(people, chance, z):
    """How often the interval holds the chance of a flip, exactly."""
    counts = np.arange(people + 1)
    logs = [math.lgamma(people + 1) - math.lgamma(k + 1) - math.lgamma(people - k + 1) for k in counts]
    masses = np.exp(np.array(logs) + counts * math.log(chance) + (people - counts) * math.log1p(-chance))
    low, high = interval(counts / people, people, z)
    return float(masses[(low <= chance) & (chance <= high)].sum())


@pytest.mark.parametrize("people", [1, 20, 100, 180, 520, 1000, 5000])
def test_intervals_hold_as_often_as_they_say(people):
    z = NormalDist().inv_cdf(0.975)
    for chance in (1e-4, 0.001, 1 / 1027, 0.01, 0.1, 0.27, 0.5, 0.9, 0.9995):
        assert coverage(people, chance, z) >= 0.944


def test_intervals_hold_at_high_confidence_and_for_many_people():
    for confidence in (0.9999, 1 - 1e-9):
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        for people, chance in ((10**4, 0.0062), (10**4, 0.0069), (3000, 0.04), (3000, 0.3)):
            assert 1 - coverage(people, chance, z) <= 1.5 * (1 - confidence) + 1e-11
    for people in (10**6, 2**53):
        _, high = interval(np.array([0.0, 1 / people]), people, NormalDist().inv_cdf(0.975))
        assert high * people == pytest.approx([3.689, 6.57], rel=5e-3)


def test_yes_and_no_are_equally_certain():
    coin = CoinFlip(heads="1/2", yes="9/10")
    p, q = coin.support
    z = NormalDist().inv_cdf(0.975)
    for people, f in ((1000, 0.1), (1000, 0.0), (300, 0.9)):
        chance = 1 - (q + (p - q) * f)  # of a no
        assert coverage(people, chance, z) >= 0.944
    found = coin.estimate(coin.randomize([True] * 100 + [False] * 900))
    assert found.deviation[0] == pytest.approx(found.deviation[1])
    assert found.raw.sum() == pytest.approx(1)
    assert found.low[0] == pytest.approx(1 - found.high[1], abs=1e-9)


def test_values_without_a_report_are_not_certain():
    survey = DirectEncoding(range(1024), epsilon=1)
    found = survey.estimate(survey.randomize([0] * 200), method="raw")
    assert found.deviation.min() > 0.5


def test_nothing_is_listed_that_nobody_has():
    """At 95%, in 60 surveys: eleven or more false lists have probability below 1e-4 for each; all together 40 below 1e-6."""
    false = 0
    for epsilon, people in ((3, 300), (7, 300), (7, 2000), (2, 3000)):
        survey = HeavyHitters(epsilon=epsilon, longest=4, seeds=16 if people == 2000 else None)
        for _ in range(15):
            found = survey.estimate(survey.randomize(["oak"] * people))
            false += set(found.items) - {"oak"} != set()
    assert false <= 14
