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
