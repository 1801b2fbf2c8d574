"""Searches: on every small case against a plain look at all of it, on the side that they say, where they are unsure too."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dither.numeric.enclosure import to_ball
from dither.numeric.search import first_integer, golden, halve, halve_arrays, halve_integers, smallest, surely


def watched(true: int, seen: list[int]) -> Callable[[int], bool]:
    """Meets from there on; and what was asked for is noted."""

    def meets(n: int) -> bool:
        seen.append(n)
        return n >= true

    return meets


def test_the_first_integer_is_the_first_from_any_guess():
    for least in (-5, 0, 1, 7):
        for true in range(-9, 40):
            for guess in range(-8, 45):
                seen = []
                found = first_integer(
                    lambda n, true=true, seen=seen: bool(seen.append(n)) or n >= true, least=least, guess=guess
                )
                assert found == max(true, least)
                assert min(seen) >= least  # nothing below is asked for


def test_the_first_integer_is_found_in_few_looks():
    for true in (0, 1, 2, 3, 1000, 2**62, 10**300):
        seen = []
        assert first_integer(watched(true, seen)) == true
        assert len(seen) <= 2 * true.bit_length() + 2
        assert first_integer(lambda n, true=true: n >= true, guess=true + 3) == true


def test_what_is_unsure_errs_upward():
    """A question that is too close to call below the place of a yes: what is returned still said yes."""
    for unsure in range(1, 30):

        def meets(n: int, unsure: int = unsure) -> bool:
            return n > unsure  # surely from there on; the truth may be `unsure` itself

        assert first_integer(meets) == unsure + 1
        assert halve_integers(meets, 0, 100) == unsure + 1


def test_halved_integers_stay_between_the_ends():
    for low in range(-3, 4):
        for high in range(low + 1, 20):
            for true in range(-5, 25):
                assert halve_integers(lambda n, true=true: n >= true, low, high) == min(max(true, low + 1), high)


@pytest.mark.parametrize("root", [0.3, 1e-9, 0.999999, math.pi / 4])
def test_halved_floats_end_beside_each_other(root):
    low, high = halve(lambda x: x >= root, 0.0, 1.0, times=2000)
    assert low < root <= high == math.nextafter(low, 2.0)


def test_halved_fractions_keep_their_sides_and_stop_where_told():
    low, high = halve(lambda x: 3 * x >= 1, Fraction(0), Fraction(1), times=10)
    assert low < Fraction(1, 3) < high
    assert high - low == Fraction(1, 2**10)
    low, high = halve(
        lambda x: 3 * x >= 1, Fraction(0), Fraction(1), enough=lambda low, high: high - low <= Fraction(1, 100)
    )
    assert high - low == Fraction(1, 2**7)
    low, high = halve(lambda x: False, 0.0, 1.0)
    assert high == 1.0  # believed


def test_halved_arrays_are_halved_one_by_one():
    roots = np.array([0.1, 0.5, 0.9])
    up = halve_arrays(lambda x: x >= roots, np.zeros(3), np.ones(3), times=60)
    assert (up >= roots).all()
    assert (np.abs(up - roots) <= 1e-15).all()
    down = halve_arrays(lambda x: x <= roots, np.ones(3), np.zeros(3), times=60)
    assert (down <= roots).all()
    assert (np.abs(down - roots) <= 1e-15).all()


@pytest.mark.parametrize("guess", [1e-300, 0.5, math.sqrt(2), 1.5, 1e40, math.nan])
def test_the_smallest_float_is_enclosed_from_any_guess(guess):
    lower, upper = smallest(lambda x: surely(lambda: 2 - to_ball(x) * to_ball(x)), guess)
    assert Fraction(lower) ** 2 < 2 < Fraction(upper) ** 2
    assert upper - lower <= 2.0**-50


def test_what_never_meets_has_no_upper_end():
    assert smallest(lambda x: False, 1.0, most=100.0) == (0.0, math.inf)
    assert smallest(lambda x: True, 1.0) == (0.0, 0.0)


def test_a_question_without_an_answer_leaves_the_enclosure_wide():
    """None is no yes: the upper end said yes, and the lower one is below all that was unsure."""
    lower, upper = smallest(lambda x: None if 1 <= x < 2 else x >= 2, 1.5)
    assert lower < 1
    assert upper >= 2


def test_golden_sections_close_in_on_a_valley():
    (f, x), (g, y) = golden(lambda t: (t - 0.3) ** 2, 0.0, 1.0, times=60, close=1e-6)
    assert abs(x - 0.3) < 1e-6
    assert abs(y - 0.3) < 1e-6
    assert (f, g) == ((x - 0.3) ** 2, (y - 0.3) ** 2)
