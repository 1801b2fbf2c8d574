"""Draws by weights that are known roughly at first: the outcome is that of the exact weights, for any bits."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from flint import arb, ctx

from dither.noise.entropy import swapped
from dither.noise.lazy_weights import FIRST_PRECISION, by_balls, by_floats
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes


class Words:
    """A stream that says what it is told; then zeros, or whatever the filling is."""

    def __init__(self, *words, filling=0):
        self._words, self._filling, self.asked = list(words), filling, 0

    def word(self):
        self.asked += 1
        return self._words.pop(0) if self._words else self._filling


def expected(weights, word, bits=64):
    """The outcome of U in [word, word + 1) / 2^bits, where that is certain."""
    whole = sum(weights)
    running = [Fraction(x, whole) for x in accumulate(weights)]
    low, high = Fraction(word, 2**bits), Fraction(word + 1, 2**bits)
    first = next(i for i, x in enumerate(running) if x > low)
    return first if running[first] >= high else None


def hard_words(weights):
    """Words at and around every border."""
    whole = sum(weights)
    for reached in accumulate(weights):
        at = reached * 2**64 // whole
        yield from (word for word in range(at - 2, at + 3) if 0 <= word < 2**64)
    yield from (0, 2**64 - 1)


WEIGHTS = [[1], [1, 1], [1, 2, 3], [0, 5, 0, 7, 0], [1, 10**30, 1], [3**60, 5**40, 7**30, 1], [2**64 - 1, 1]]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("error", [0.0, 1e-9, 0.2])
def test_floats_give_the_outcome_of_the_exact_weights(weights, error):
    rng = random.Random(1)
    for word in [*hard_words(weights), *(rng.getrandbits(64) for _ in range(50))]:
        rough = np.array([w * (1 + error * rng.uniform(-1, 1)) for w in weights], dtype=float) * 2.0**-500
        wanted = expected(weights, word)
        extended = expected(weights, word << 64, 128) if wanted is None else wanted  # zeros follow
        with swapped(Words(word)):
            assert by_floats(rough, 3 * error + len(weights) * 2.0**-52, lambda: weights) == extended


@pytest.mark.parametrize("weights", WEIGHTS)
def test_balls_give_the_outcome_of_the_exact_weights(weights):
    rng = random.Random(2)

    def balls():
        if ctx.prec > FIRST_PRECISION:
            return [to_ball(w) for w in weights]
        return [to_ball(w) * (1 + arb(0, 1e-9)) for w in weights]

    for word in [*hard_words(weights), *(rng.getrandbits(64) for _ in range(50))]:
        wanted = expected(weights, word)
        wanted = expected(weights, word << 64, 128) if wanted is None else wanted
        with swapped(Words(word)):
            assert by_balls(balls) == wanted


def test_exact_weights_are_asked_for_only_where_there_is_doubt():
    def never():
        raise AssertionError("there was no doubt")

    rough = np.array([1.0, 1.0])
    for word, outcome in ((2**62, 0), (3 * 2**62, 1), (2**63 - 2**30, 0), (2**63 + 2**30, 1)):
        with swapped(Words(word)):
            assert by_floats(rough, 2.0**-40, never) == outcome
    with swapped(Words(2**63 - 1)), pytest.raises(AssertionError, match="doubt"):
        by_floats(rough, 2.0**-40, never)
    with swapped(Words(2**62)), pytest.raises(AssertionError, match="doubt"):
        by_floats(np.array([0.0, 0.0]), 0.0, never)
    with swapped(Words(2**62)), pytest.raises(AssertionError, match="doubt"):
        by_floats(rough, float("nan"), never)


def test_bits_are_appended_until_the_border_is_passed():
    # U = 1/3 to 64 bits; the border is 1/3, whose bits go on with 0101...
    third = 2**64 // 3
    for weights in ([1, 2],):
        for following, outcome in ((0, 0), (2**64 - 1, 1), (third - 1, 0), (third + 1, 1)):
            stream = Words(third, following)
            with swapped(stream):
                assert by_floats(np.array([1.0, 2.0]), 1.0, lambda: weights) == outcome  # noqa: B023
            assert stream.asked == 2
            stream = Words(third, following)
            with swapped(stream):
                assert by_balls(lambda: [to_ball(w) for w in weights]) == outcome  # noqa: B023
            assert stream.asked == 2


def test_the_law_that_is_rehearsed():
    law = outcomes(lambda weights: by_floats(np.ones(3), 1.0, lambda: weights), [1, 2, 5])
    assert law.missing <= 1e-40
    with precision(192):
        for outcome, chance in ((0, Fraction(1, 8)), (1, Fraction(1, 4)), (2, Fraction(5, 8))):
            assert abs(law.masses["int", repr(outcome)] - to_ball(chance)) < 1e-50
        law = outcomes(lambda _: by_balls(lambda: [to_ball(0), arb(2).sqrt(), arb(8).sqrt()]), None)
        assert abs(law.masses["int", "1"] - to_ball(Fraction(1, 3))) < 1e-50
        assert abs(law.masses["int", "2"] - to_ball(Fraction(2, 3))) < 1e-50
