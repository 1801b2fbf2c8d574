"""The sampler for small scales: inversion with a table of the integers near zero, and one outcome for the rest.

The rest (beyond the table on either side, less than 2^-40 of the mass) is drawn from its exact conditional law:
a fair sign, then the distance by `lazy_index`. So the support is complete; the table cuts no tail off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dither.noise.entropy import stream
from dither.noise.law import Sampler, TableLaw
from dither.noise.samplers.table import CHUNK, CumulativeTable, lazy_index

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray


class DirectSampler(Sampler):
    """Outcomes -reach..reach (or 0..reach), then one more for whatever lies beyond."""

    def __init__(self, law: TableLaw, reach: int, *, prefix_bits: int = 16, word_bits: int = 64) -> None:
        self.law = law
        self.reach = reach
        self._step = word_bits
        self.lowest = -reach if law.two_sided else 0
        self.plain = reach - self.lowest + 1
        self.table = CumulativeTable(
            self.cumulative,
            plain=self.plain,
            offset=-self.lowest,
            prefix_bits=prefix_bits,
            word_bits=word_bits,
        )

    def cumulative(self) -> list[arb]:
        """Balls around the cumulative probabilities of the integers in the table."""
        above = self.law.aboves(self.reach)
        if not self.law.two_sided:
            return [1 - ball for ball in above]
        outside = above[-1]
        left = [above[-x - 1] - outside for x in range(-self.reach, 0)]
        return left + [1 - ball - outside for ball in above]

    def draw_tail(self) -> int:
        """A value beyond the table, drawn from its exact conditional law."""
        bits, law, reach = stream(), self.law, self.reach
        distance = reach + 1 + lazy_index(lambda j: 1 - law.above(reach + 1 + j) / law.above(reach), bits, self._step)
        return -distance if law.two_sided and bits.bits(1) else distance

    def one(self) -> int:
        outcome = self.table.draw_one(stream())
        return outcome + self.lowest if outcome < self.plain else self.draw_tail()

    def many(self, count: int) -> NDArray[np.int64] | NDArray[np.object_]:
        bits = stream()
        result = np.empty(count, dtype=np.int64)
        tails: dict[int, int] = {}
        for start in range(0, count, CHUNK):
            part = result[start : start + CHUNK]
            values, special = self.table.draw(part.size, bits)
            part[:] = values
            tails.update((start + int(at), self.draw_tail()) for at in special.positions)
        return put(result, tails)


def put(array: NDArray[np.int64], values: dict[int, int]) -> NDArray[np.int64] | NDArray[np.object_]:
    """Write exact integers into an array, which gives up 64 bits if one of them does not fit."""
    if all(-(2**63) <= value < 2**63 for value in values.values()):
        for at, value in values.items():
            array[at] = value
        return array
    wide = array.astype(np.object_)
    for at, value in values.items():
        wide[at] = value
    return wide
