"""Random rounding: exact law, exact mean, floats and fractions alike, and nothing refused for what it is."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import InputError, NotPrivateWarning
from dither.noise import random_rounding as rounding
from dither.noise.random_rounding import round_randomly
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes, seeded


def one(value, low=Fraction(0), high=Fraction(1), steps=4):
    return int(round_randomly([value], low=low, high=high, steps=steps)[0])


@pytest.mark.parametrize("value", [0.1, Fraction(1, 3), Decimal("0.7"), 0.99, 5e-324])
def test_the_law_is_exact(value):
    law = outcomes(one, value)
    place = Fraction(value) * 4
    low = place.numerator // place.denominator
    with precision(200):
        assert abs(law.masses[("int", str(low))] - to_ball(low + 1 - place)) < 1e-28
        assert abs(law.masses.get(("int", str(low + 1)), to_ball(0)) - to_ball(place - low)) < 1e-28


def test_places_stay_where_they_are_and_outside_is_moved_to_the_bounds():
    inf, nan = float("inf"), float("nan")
    cases = {0.25: 1, 0: 0, 1: 4, -3: 0, 7: 4, inf: 4, -inf: 0, Fraction(3, 4): 3, 10**400: 4}
    for value, place in cases.items():
        assert one(value) == place
    assert one(nan) == 0
    assert one(nan, Fraction(-1), Fraction(1)) == 2  # NaN counts as 0
    assert one(nan, Fraction(3), Fraction(4)) == 0
    far = [Decimal("1e999999999"), Decimal("-1e999999999"), Decimal("1e-999999999"), Decimal("nan"), Decimal("inf")]
    assert [one(value) for value in far] == [4, 0, 0, 0, 4]
    array = np.array([0.25, -np.inf, np.inf, np.nan, 0.5, 1e308, -1e308, 1.0])
    assert round_randomly(array, low=Fraction(0), high=Fraction(1), steps=4).tolist() == [1, 0, 4, 0, 2, 4, 0, 4]


@pytest.mark.parametrize(
    ("low", "high", "steps"),
    [(Fraction(0), Fraction(1), 7), (Fraction(-1, 3), Fraction(2, 7), 1000), (Fraction(10**9), Fraction(10**9 + 1), 3)],
)
def test_floats_and_fractions_agree_bit_by_bit(low, high, steps, monkeypatch):
    """The same words give the same places, whether floats settle them or fractions do."""
    rng = np.random.default_rng(2)
    values = float(low) + float(high - low) * rng.random(400)
    with pytest.warns(NotPrivateWarning), seeded(5):
        fast = round_randomly(values, low=low, high=high, steps=steps)
    with pytest.warns(NotPrivateWarning), seeded(5):
        words = rounding.stream().words(values.size) >> np.uint64(64 - rounding.LEADING)
    slow = [
        rounding.round_place(rounding.place_of(float(value), low, high, steps), int(word), rounding.LEADING)
        for value, word in zip(values, words, strict=True)
    ]
    assert fast.tolist() == slow


class Given:
    """A stream whose first words are given."""

    def __init__(self, words):
        self._words = np.array(words, dtype=np.uint64)

    def words(self, count):
        return self._words

    def word(self):
        return 2**63


def test_the_last_bits_decide_where_they_must(monkeypatch):
    """V on either side of where the floor changes, by one unit and by more: floats never decide wrongly."""
    third = Fraction(1, 3)
    for low, high, steps in [(-third, third * 2, 1000), (10**9 + third, 10**9 + third + 1, 1), (0, third, 3)]:
        low, high = Fraction(low), Fraction(high)
        value = float(low + (high - low) * Fraction(37, 101))
        place = (Fraction(value) - low) / (high - low) * steps
        turn = (1 - place % 1) * 2**52
        near = [int(turn) + side * shift for shift in (0, 1, 3, 2**10, 2**20, 2**24, 2**28) for side in (1, -1)]
        monkeypatch.setattr(rounding, "stream", lambda near=near: Given([word << 12 for word in near]))
        found = round_randomly(np.full(len(near), value), low=low, high=high, steps=steps)
        half = Fraction(1, 2**53) + Fraction(1, 2**200)  # the bits that follow are 1000...
        for word, whole in zip(near, found.tolist(), strict=True):
            if word != int(turn):
                assert whole == (place + Fraction(word, 2**52) + half) // 1


def test_the_mean_is_the_value():
    """Within 5 deviations of the mean: a false alarm is rarer than 1e-6."""
    for value, low, high, steps in [(0.3, 0, 1, 1), (0.1, 0, 1, 10), (-2.7, -3, 5, 4)]:
        found = round_randomly(np.full(100_000, value), low=Fraction(low), high=Fraction(high), steps=steps)
        place = (value - low) / (high - low) * steps
        assert abs(found.mean() - place) <= 5 * (0.25 / 100_000) ** 0.5
        assert set(found.tolist()) <= {int(place), int(place) + 1}


def test_bounds_that_floats_cannot_tell_apart():
    low, high = Fraction(10**17), Fraction(10**17) + Fraction(1, 2)
    found = round_randomly([Fraction(10**17) + Fraction(1, 8)] * 4000, low=low, high=high, steps=1)
    assert abs(found.mean() - 0.25) <= 5 * (3 / 16 / 4000) ** 0.5
    assert round_randomly(np.array([1e17]), low=low, high=high, steps=1).tolist() == [0]
    huge = Fraction(10) ** 320
    assert round_randomly([10**320, -(10**320), 0.0], low=-huge, high=huge, steps=2).tolist() == [2, 0, 1]


def test_what_is_no_number_is_refused():
    for bad in (["a"], [None], [True], [1 + 2j], np.array([True]), np.array(["x"]), [[1, 2]], np.zeros((2, 2)), b"ab"):
        with pytest.raises(InputError, match="is refused"):
            round_randomly(bad, low=Fraction(0), high=Fraction(1), steps=1)
    assert round_randomly([], low=Fraction(0), high=Fraction(1), steps=1).size == 0
    assert one(np.int64(1)) == 4
    assert one(np.float32(0.5)) == 2
