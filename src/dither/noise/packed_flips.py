"""Bernoulli draws with one probability, packed eight to the byte: for reports that hold a bit for each of many values.

Theorem. Eight independent flips with P(1) = q make a byte b with probability q^ones (1 - q)^zeros, ones being the number
of its bits that are 1. So a draw among 256 outcomes with these probabilities is eight flips. `CumulativeTable` makes it
exactly from the leading 16 bits of a uniform real; where these leave it open, more bits are appended to the same real, as
many as it takes, while q is evaluated as a ball of growing precision. So nothing is approximate, not even beyond 64 bits.

That is 2 random bits a flip. (Comparing bit by bit with q, 64 flips to a word, takes 7.3 of them, and the comparisons.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dither.noise.bernoulli import Bernoulli
from dither.noise.entropy import _rehearsal, stream
from dither.noise.law import check_size
from dither.noise.samplers.table import CHUNK, CumulativeTable

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

WIDTH = 8  # flips of one draw


class Flips:
    """Independent flips of a coin, packed: bit i of byte j is flip 8 j + i, and what is left of a last byte is zero."""

    def __init__(self, coin: Bernoulli, *, ones: bool = True) -> None:
        self._coin = coin
        self._ones = ones  # whether a bit is 1 where the coin says yes, or where it says no
        if coin._certain is None:
            self.table = CumulativeTable(partial(sums, self.chance), plain=1 << WIDTH)

    def chance(self) -> arb:
        """A ball around the probability that a bit is 1."""
        return self._coin._ball() if self._ones else 1 - self._coin._ball()

    def sample(self, count: int, flips: int) -> NDArray[np.uint8]:
        """`count` rows of so many flips each."""
        rows, columns = check_size((count, flips))
        if _rehearsal.get() is not None:
            drawn = self._coin.sample((rows, columns)) == self._ones
            return np.packbits(drawn, axis=1, bitorder="little")
        result = np.empty((rows, -(-columns // WIDTH)), dtype=np.uint8)
        flat = result.reshape(-1)
        if self._coin._certain is not None:
            flat.fill(255 * (self._coin._certain == self._ones))
        else:
            bits = stream()
            for start in range(0, flat.size, CHUNK):
                part = flat[start : start + CHUNK]
                part[:] = self.table.draw(part.size, bits)[0]
        if columns % WIDTH:
            result[:, -1] &= (1 << columns % WIDTH) - 1
        return result

    def __reduce__(self) -> tuple[object, tuple[Bernoulli]]:
        return partial(Flips, ones=self._ones), (self._coin,)

    def __repr__(self) -> str:
        return f"Flips({self._coin}, ones={self._ones})"


def sums(chance: Callable[[], arb], width: int = WIDTH) -> list[arb]:
    """How likely so many flips, read as a number with the first flip last, are to be at most 0, 1, ..., 2^width - 2."""
    q = chance()
    each = [q**ones * (1 - q) ** (width - ones) for ones in range(width + 1)]
    total, found = each[0], [each[0]]
    for number in range(1, (1 << width) - 1):
        total = total + each[number.bit_count()]
        found.append(total)
    return found
