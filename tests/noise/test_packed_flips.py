"""Packed flips: the law of every byte, on every string of bits, and the fast path against the slow one."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dither import ln
from dither.noise.bernoulli import Bernoulli
from dither.noise.entropy import swapped
from dither.noise.packed_flips import Flips, sums
from dither.noise.samplers.table import UNDECIDED, CumulativeTable
from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes
from tests.noise import exact


class Playing:
    """A script of bits for arrays: only the leading bits of a word that a table looks at are taken from it."""

    def __init__(self, script, prefix_bits, word_bits):
        self._script, self._prefix, self._tail = script, prefix_bits, word_bits - prefix_bits

    def fill(self, buffer):
        for at in range(buffer.size):
            buffer[at] = self._script.bits(self._prefix) << (16 - self._prefix)

    def words(self, count):
        return np.array([self._script.bits(self._tail) << (64 - self._tail) for _ in range(count)], dtype=np.uint64)

    def bits(self, count):
        return self._script.bits(count)


def law_by_tree(flips, width, prefix_bits, word_bits, depth, rows=1):
    """The law of rows of so many flips, from every string of bits up to a depth."""
    flips.table = CumulativeTable(
        partial(sums, flips.chance, width), plain=1 << width, prefix_bits=prefix_bits, word_bits=word_bits
    )

    def draw():
        from dither.noise.entropy import stream

        with swapped(Playing(stream(), prefix_bits, word_bits)):
            return int.from_bytes(flips.sample(rows, width).tobytes(), "little")

    return exact.tree(draw, depth)


def byte_law(ball, width):
    def mass(number):
        q = ball()
        return q ** number.bit_count() * (1 - q) ** (width - number.bit_count())

    return mass


COINS = [Bernoulli("1/3"), Bernoulli.response(1), Bernoulli.response(ln(3)), Bernoulli("999/1000")]


@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("coin", COINS, ids=repr)
@pytest.mark.parametrize(("width", "prefix_bits", "word_bits"), [(1, 1, 2), (2, 3, 4), (3, 2, 6), (3, 5, 5), (2, 1, 3)])
def test_every_string_of_bits_gives_exactly_the_law(coin, ones, width, prefix_bits, word_bits):
    """Words of 2 to 6 bits leave a good part of the draws open, so bits are appended several times."""
    flips = Flips(coin, ones=ones)
    masses, unsettled = law_by_tree(flips, width, prefix_bits, word_bits, depth=12)
    exact.assert_law(masses, unsettled, byte_law(flips.chance, width))
    assert unsettled < Fraction(1, 10)


def test_two_rows_are_independent():
    flips = Flips(Bernoulli.response(1))
    masses, unsettled = law_by_tree(flips, 1, 3, 4, depth=14, rows=2)
    both = {x + (y << 8) for x in (0, 1) for y in (0, 1)}
    assert set(masses) == both
    exact.assert_law(masses, unsettled, byte_law(flips.chance, 2))


def test_the_bits_of_the_first_ball_are_not_enough():
    """q is 2^-3 + 2^-9: with words of 3 bits its boundary is only found among the bits that are appended."""
    flips = Flips(Bernoulli(Fraction(1, 8) + Fraction(1, 512)))
    masses, unsettled = law_by_tree(flips, 1, 3, 3, depth=12)
    assert masses[1] <= Fraction(1, 8) + Fraction(1, 512) <= masses[1] + unsettled
    assert unsettled <= Fraction(1, 2**10)
    assert masses[1] > Fraction(1, 8) or masses[0] > Fraction(7, 8) - Fraction(1, 256)


def test_a_law_that_stops_at_the_first_word_is_caught():
    flips = Flips(Bernoulli.response(1))
    flips_table = CumulativeTable(partial(sums, flips.chance, 2), plain=4, prefix_bits=3, word_bits=4)
    guess = lambda bits: int(np.searchsorted(flips_table.words, bits.bits(4), side="right"))  # noqa: E731

    def draw():
        from dither.noise.entropy import stream

        return guess(stream())

    masses, unsettled = exact.tree(draw, 13)
    with pytest.raises(AssertionError):
        exact.assert_law(masses, unsettled, byte_law(flips.chance, 2))


@pytest.mark.parametrize(
    "coin", [Bernoulli.response(1), Bernoulli.response("0.01"), Bernoulli.response(12), Bernoulli("1/7")]
)
def test_what_sixteen_bits_decide_is_right_for_every_prefix(coin):
    flips = Flips(coin, ones=False)
    with precision(200):
        borders = [ends(ball) for ball in sums(flips.chance)]
        q = flips.chance()
        assert abs(sums(flips.chance)[-1] + q**8 - 1) < 1e-50
    table = flips.table.lookup
    assert np.count_nonzero(table == UNDECIDED) <= 512
    for prefix in range(0, 1 << 16, 7):
        byte = int(table[prefix])
        if byte != UNDECIDED:
            assert byte == 255 or Fraction(prefix + 1, 1 << 16) <= borders[byte][1]
            assert byte == 0 or Fraction(prefix, 1 << 16) >= borders[byte - 1][0]


def test_a_rehearsal_goes_through_every_flip():
    law = outcomes(lambda _: Flips(Bernoulli.response(ln(3)), ones=False).sample(1, 3).tobytes(), None)
    assert len(law.masses) == 8
    with precision(128):
        for key, mass in law.masses.items():
            ones = law.outputs[key][0].bit_count()
            assert abs(mass - to_ball(Fraction(3 ** (3 - ones), 4**3))) < 1e-30


def test_rows_are_packed_and_spare_bits_are_zero():
    flips = Flips(Bernoulli("1/2"))
    for width in (1, 7, 8, 9, 1024):
        rows = flips.sample(50, width)
        assert rows.shape == (50, -(-width // 8))
        assert not np.unpackbits(rows, axis=1, bitorder="little")[:, width:].any()
    assert flips.sample(0, 9).shape == (0, 2)
    assert (Flips(Bernoulli(1)).sample(3, 9) == [255, 1]).all()
    assert (Flips(Bernoulli(1), ones=False).sample(3, 9) == 0).all()


def test_shares_of_long_samples():
    """Every one of 16 places, and pairs of neighbours: six deviations, so a false alarm is rarer than 1e-7."""
    for coin, q in ((Flips(Bernoulli.response(1), ones=False), 0.2689414213699951), (Flips(Bernoulli("9/10")), 0.9)):
        bits = np.unpackbits(coin.sample(200_000, 16), axis=1, bitorder="little").astype(float)
        wide = 6 * (q * (1 - q) / 200_000) ** 0.5
        assert np.abs(bits.mean(axis=0) - q).max() < wide
        joint = (bits[:, 1:] * bits[:, :-1]).mean(axis=0)
        assert np.abs(joint - q * q).max() < 6 * (q * q * (1 - q * q) / 200_000) ** 0.5


def test_copies_have_the_same_law():
    copy = pickle.loads(pickle.dumps(Flips(Bernoulli.response(5), ones=False)))
    assert repr(copy) == repr(Flips(Bernoulli.response(5), ones=False))
    assert copy.sample(2000, 8).mean() < 30
