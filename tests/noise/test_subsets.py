"""Random sets: every one of a size equally likely, on every string of bits."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dither.noise import subsets
from dither.noise.entropy import stream
from dither.noise.subsets import Subsets, row_sums
from dither.noise.uniform_integers import uniform_one
from dither.testing import outcomes
from tests.noise import exact


class FairFlips:
    """Any coin will do: this one takes one bit of the script a flip."""

    def sample(self, count, flips):
        bits = [[stream().bits(1) for _ in range(flips)] for _ in range(count)]
        return np.packbits(np.array(bits, dtype=bool), axis=1, bitorder="little")


def one_by_one(bound, count):
    return np.array([uniform_one(bound, stream()) for _ in range(count)], dtype=np.int64)


def law_by_tree(sampler, place, inside, depth):
    sampler._flips = FairFlips()
    return exact.tree(lambda: int(sampler.sample(np.array([place]), np.array([inside]))[0, 0]), depth)


@pytest.mark.parametrize(("population", "size"), [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)])
@pytest.mark.parametrize("inside", [True, False])
def test_every_string_of_bits_gives_exactly_the_law(monkeypatch, population, size, inside):
    monkeypatch.setattr(subsets, "uniform", one_by_one)
    place = population - 2
    masses, unsettled = law_by_tree(Subsets(population, size), place, inside, depth=12)
    others = [other for other in range(population) if other != place]
    wanted = {sum(1 << other for other in listed) + (inside << place) for listed in combinations(others, size - inside)}
    assert set(masses) == wanted
    chance = exact.ball(Fraction(1, math.comb(population - 1, size - inside)))
    exact.assert_law(masses, unsettled, lambda _: chance)
    assert len(set(masses.values())) == 1  # none of them is ahead of another at any depth


def test_adding_a_place_that_is_not_drawn_again_is_caught(monkeypatch):
    """The next free place instead of another draw: some places are then likelier."""

    def next_free(population, count):
        return np.array([min(uniform_one(population, stream()), 1) for _ in range(count)], dtype=np.int64)

    monkeypatch.setattr(subsets, "uniform", next_free)
    masses, unsettled = law_by_tree(Subsets(4, 1), 2, False, depth=12)
    with pytest.raises(AssertionError):
        exact.assert_law(masses, unsettled, lambda _: exact.ball(Fraction(1, 3)))


def test_real_draws_are_even():
    """20 sets of 3 among 6 others, within six deviations each; the same for large sets, place by place."""
    count = 60_000
    rows = Subsets(7, 3).sample(np.full(count, 4), np.zeros(count, dtype=bool))
    seen = Counter(rows[:, 0].tolist())
    assert len(seen) == 20
    assert all(abs(times - count / 20) < 6 * math.sqrt(count * 0.05 * 0.95) for times in seen.values())
    places = np.arange(20_000) % 77
    rows = Subsets(77, 30).sample(places, places % 2 == 0)
    assert (row_sums(rows) == 30).all()
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    assert not bits[:, 77:].any()
    assert (bits[np.arange(20_000), places] == (places % 2 == 0)).all()
    assert np.abs(bits[places == 5][:, 20:77].mean() - 30 / 76) < 6 * math.sqrt(0.24 / (260 * 57))


def test_a_rehearsal_goes_through_every_set():
    law = outcomes(lambda inside: Subsets(5, 2).sample(np.array([3]), np.array([inside])).tobytes(), True)
    assert {output[0] for output in law.outputs.values()} == {0b1001, 0b1010, 0b1100, 0b11000}
    law = outcomes(lambda inside: Subsets(5, 2).sample(np.array([3]), np.array([inside])).tobytes(), False)
    assert len(law.masses) == 6


def test_no_rows():
    assert Subsets(20, 3).sample(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)).shape == (0, 3)
    rows = np.random.default_rng(1).integers(0, 256, (50, 24), dtype=np.uint8)
    for width in (1, 2, 3, 4, 6, 8, 24):
        cut = np.ascontiguousarray(rows[:, :width])
        assert (row_sums(cut) == np.unpackbits(cut, axis=1).sum(axis=1)).all()
