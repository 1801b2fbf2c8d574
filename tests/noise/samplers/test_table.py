"""The direct table, which is made from the floors at once, against every word that it speaks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither.noise.samplers.table import UNDECIDED, CumulativeTable
from dither.numeric.enclosure import to_ball


@pytest.mark.parametrize(("prefix_bits", "word_bits"), [(1, 1), (3, 3), (3, 6), (4, 9)])
def test_a_prefix_is_in_the_direct_table_exactly_if_all_its_words_agree(prefix_bits, word_bits):
    rng = np.random.default_rng(word_bits)
    top = 1 << word_bits
    for size in (1, 2, 5, 40):
        for _ in range(10):
            steps = sorted(rng.choice([0, 1, top - 2, top - 1, *rng.integers(0, top, 40)], size).tolist())
            table = CumulativeTable(
                lambda steps=steps: [to_ball(Fraction(step, top)) for step in steps],
                plain=max(1, size - 1),
                offset=size // 2,
                prefix_bits=prefix_bits,
                word_bits=word_bits,
            )
            words = np.arange(top, dtype=np.uint64)
            outcome, decided = (each.reshape(1 << prefix_bits, -1) for each in table.search(words))
            agree = decided.all(axis=1) & (outcome == outcome[:, :1]).all(axis=1) & (outcome[:, 0] < table.plain)
            expected = np.where(agree, outcome[:, 0] - table.offset, UNDECIDED)
            assert table.lookup.tolist() == expected.tolist()


class Words:
    """Given words of 16 bits, their leading bits first, and 1 in all bits that no table should look at."""

    def __init__(self, words, prefix_bits):
        self._words, self._tail = words, 16 - prefix_bits

    def fill(self, buffer):
        buffer[:] = self._words | ((1 << self._tail) - 1)

    def words(self, count):
        rest = self._words.astype(np.uint64) & np.uint64((1 << self._tail) - 1)
        return (rest << np.uint64(64 - self._tail) | np.uint64((1 << 64 - self._tail) - 1))[:count]


@pytest.mark.parametrize("prefix_bits", range(1, 17))
def test_a_draw_takes_its_leading_bits_alone(prefix_bits):
    """Of every word that leaves nothing open: however many of its bits are the prefix, the outcome is the same."""
    floors = np.array([9000, 30000, 41000, 65000])
    plain = CumulativeTable(lambda: [to_ball(Fraction(int(step), 2**16)) for step in floors], plain=5, word_bits=16)
    table = CumulativeTable(plain._cumulative, plain=5, prefix_bits=prefix_bits, word_bits=16)
    for word in (0, 8999, 9002, 29999, 30002, 33333, 40999, 41002, 64999, 65002, 65535):
        words = np.array([word], dtype=np.uint16)
        stream = Words(words, prefix_bits)
        assert table.draw(1, stream)[0].tolist() == [int((floors <= word).sum())]
