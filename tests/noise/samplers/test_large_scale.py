"""The band around a chord: wide enough for every cell, cheap, and without influence on what is drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither.noise.entropy import Keystream, stream, swapped
from dither.noise.gaussian import DiscreteNormal, RoundedGaussian
from dither.noise.laplace import DiscreteLaplace, OneSidedGeometric
from dither.noise.samplers.large_scale import StaircaseSampler
from dither.numeric.balls import ends, precision
from dither.numeric.number import ln
from tests.noise import exact
from tests.noise.test_exactness import acceptance

PRODUCTION = [
    DiscreteLaplace(34),
    DiscreteLaplace(Fraction(10**9 + 7, 3001)),
    DiscreteLaplace(2**60),
    DiscreteLaplace(rate=ln(3) / 1000),
    OneSidedGeometric(rate=(ln(2) + ln(5)) / 10**12),
    RoundedGaussian(135),
    RoundedGaussian(sigma2=Fraction(10**60 + 7, 3**60)),
    RoundedGaussian(10**12),
    RoundedGaussian(2**60),
    DiscreteNormal(Fraction(2**31 - 1, 7)),
    DiscreteNormal(10**24 + 1),
    DiscreteNormal(2**120),
]
COARSE = [  # a fall of many times the weight within a cell: shapes that no law chooses, and the bound must hold for them too
    (DiscreteLaplace(Fraction(1, 2**20)), 0, 3),
    (DiscreteLaplace(3), 4, 5),
    (OneSidedGeometric(rate=ln(3)), 10, 3),
    (RoundedGaussian(Fraction(1, 1000)), 2, 4),
    (RoundedGaussian(5), 4, 4),
    (RoundedGaussian(10**6), 24, 4),
    (DiscreteNormal(Fraction(1, 3)), 0, 5),
    (DiscreteNormal(900), 1, 60),
    (DiscreteNormal(900), 9, 3),
]


def certain_gap(law, near, far):
    """width^2 max|weight''| / 8 / (near - far) from the definition, in balls."""
    if isinstance(law, (DiscreteNormal, RoundedGaussian)):
        variance = exact.ball(law.sigma2)
        bends = [abs(exact.ball(Fraction(y) ** 2 / law.sigma2) - 1) / variance for y in (near, far)]
        bend = bends[0].max(bends[1]) * law.weight(near)
    else:
        bend = law.rate.ball() ** 2 * law.weight(near)
    return bend * exact.ball(Fraction((far - near) ** 2, 8)) / (law.weight(near) - law.weight(far))


def excesses(sampler) -> list[tuple[int, Fraction, Fraction]]:
    """For each cell its slack, and the ends of a ball around the bound, in the same units."""
    law, found = sampler.law, []
    assert sampler.slack.tolist() == sampler.slack_list
    assert len(sampler.slack_list) == sampler.count
    with precision(300):
        for v, slack in zip(range(sampler.first, sampler.cells), sampler.slack_list, strict=True):
            if law.rounded and v in (-1, 0):
                assert slack == sampler.unit  # the peak may lie inside: the bound does not hold
                continue
            gap = certain_gap(law, sampler.edge(v), sampler.edge(v, 1)) * sampler.unit
            found.append((slack, *ends(gap)))
    return found


@pytest.mark.parametrize("law", PRODUCTION, ids=[repr(law)[:50] for law in PRODUCTION])
def test_the_slack_of_every_cell_covers_the_certified_bound_and_little_more(law):
    sampler = law.build_sampler()
    assert isinstance(sampler, StaircaseSampler)
    found = excesses(sampler)
    assert len(found) > 400
    for slack, low, high in found:
        assert high + 1 <= slack <= low * Fraction(10_001, 10_000) + 2


@pytest.mark.parametrize(("law", "cell_bits", "cells"), COARSE, ids=lambda value: repr(value)[:50])
def test_the_slack_covers_the_bound_for_cells_of_any_width(law, cell_bits, cells):
    sampler = StaircaseSampler(law, cell_bits, cells)
    for slack, _, high in excesses(sampler):
        assert slack == sampler.unit or high + 1 <= slack < sampler.unit


def kept_too_often_or_too_rarely(sampler, truth) -> int:
    """In how many places of the cells the share of uniforms that are kept, or are not, is more than the law allows."""
    faults = 0
    for v in range(sampler.first, sampler.cells):
        for low in range(sampler.width):
            masses, _ = exact.tree(lambda v=v, low=low: int(sampler.accepts_quickly(v, low, stream())), 8)
            x = v * sampler.width + low
            yes = exact.exactly(lambda v=v, x=x: acceptance(sampler, truth, v, x, slope=True))
            faults += masses.get(1, 0) > yes[1] or masses.get(0, 0) > 1 - yes[0]
    return faults


@pytest.mark.parametrize(
    ("law", "truth"),
    [
        (DiscreteLaplace(20), exact.laplace(Fraction(20))),
        (DiscreteNormal(900), exact.gaussian(Fraction(900))),
    ],
    ids=["laplace", "gaussian"],
)
def test_a_slack_that_is_too_small_breaks_the_law(law, truth, monkeypatch):
    assert kept_too_often_or_too_rarely(StaircaseSampler(law, 4, 4, prefix_bits=8, word_bits=8), truth) == 0
    gaps = type(law).chord_gaps
    monkeypatch.setattr(type(law), "chord_gaps", lambda *given: [gap // 2 for gap in gaps(*given)])
    assert kept_too_often_or_too_rarely(StaircaseSampler(law, 4, 4, prefix_bits=8, word_bits=8), truth) > 3


class Fixed(Keystream):
    """The keystream that draws use, with a key that is known."""

    def key_material(self) -> bytes:
        return bytes(range(48))


SAMPLERS = {
    "production, laplace": (DiscreteLaplace(10**6), {}, 20_000),
    "production, rounded": (RoundedGaussian(10**6), {}, 20_000),
    "production, discrete": (DiscreteNormal(10**12), {}, 20_000),
    # words of 8 bits, so that many uniforms are open and get more bits
    "short words, laplace": (DiscreteLaplace(40), {"cell_bits": 4, "cells": 60}, 500),
    "short words, rounded": (RoundedGaussian(30), {"cell_bits": 3, "cells": 20}, 500),
}


@pytest.mark.parametrize(("law", "shape", "count"), SAMPLERS.values(), ids=SAMPLERS)
def test_the_same_bits_give_the_same_draws_whatever_the_slack(law, shape, count, monkeypatch):
    """Values, and how many bits they took: single draws, vectors, and each slope in balls."""
    sampler = StaircaseSampler(law, **shape, prefix_bits=8, word_bits=8) if shape else law.build_sampler()
    slow = []
    accepts = StaircaseSampler.accepts
    monkeypatch.setattr(StaircaseSampler, "accepts", lambda *given, **named: slow.append(1) or accepts(*given, **named))
    monkeypatch.setattr(type(law), "chord_gaps", None)  # made with the sampler: no draw computes one
    computed, visits, found = sampler.slack, [], []
    for slack in (computed, np.minimum(2 * computed, sampler.unit), np.full_like(computed, sampler.unit)):
        sampler.slack, sampler.slack_list = slack, slack.tolist()
        bits = Fixed()
        with swapped(bits):
            values = [*sampler.many(count).tolist(), *(sampler.one() for _ in range(count // 2))]
        found.append((values, bits.word(), bits.words(2).tolist()))  # equal bits next: as many were taken
        visits.append(len(slow))
        slow.clear()
    assert found[0] == found[1] == found[2]
    assert visits[0] <= visits[1] < visits[2]
    assert visits[2] > count // 200
