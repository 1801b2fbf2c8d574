"""Uniform random subsets of a given size, as rows of bits: for reports that name many values.

Each place but one is taken or left by a coin of its own (`packed_flips.py`), and then places are added or removed, one at
a time, each equally likely among those that can be, until the size is right.

Theorem. Every set of that size is equally likely, whatever the coin.

Proof. All places have the same coin, so given how many were taken, every set of so many is equally likely. Adding a place
to such a set, equally likely among those outside, gives every set of one more equally often (each comes from as many sets
of one fewer as it has elements), and removing one likewise. A place that cannot be added is drawn again, so the one that is
added is equally likely among those that can be.

The coin is about right for the size, so a row of 1,000 places takes about ten changes and not a thousand draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.noise.bernoulli import Bernoulli
from dither.noise.entropy import Rehearsal, _rehearsal
from dither.noise.packed_flips import Flips
from dither.noise.uniform_integers import equally_likely, uniform

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

ROWS = 1 << 13  # at a time


class Subsets:
    """Sets of `size` places among 0..population-1, of which one place is given: in the set, or not in it."""

    def __init__(self, population: int, size: int) -> None:
        assert 1 <= size < population
        self._population, self._size = population, size
        self._flips = Flips(Bernoulli(Fraction(2 * size - 1, 2 * (population - 1))))

    def sample(self, places: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """A row of bits for each place: with that place or without it, the other ones equally likely."""
        rehearsal = _rehearsal.get()
        if rehearsal is not None:
            return self._rehearse(rehearsal, places, inside)
        result = np.empty((places.size, -(-self._population // 8)), dtype=np.uint8)
        for start in range(0, places.size, ROWS):
            part = slice(start, start + ROWS)
            result[part] = self._draw(places[part], inside[part])
        return result

    def _draw(self, places: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.uint8]:
        rows = self._flips.sample(places.size, self._population)
        at, bit = (np.arange(places.size), places >> 3), np.left_shift(1, places & 7).astype(np.uint8)
        rows[at] = (rows[at] & ~bit) | bit * inside
        lacks = self._size - row_sums(rows)
        todo = np.flatnonzero(lacks)
        while todo.size:
            drawn = uniform(self._population, todo.size)
            column, bit = drawn >> 3, np.left_shift(1, drawn & 7).astype(np.uint8)
            byte, wanted = rows[todo, column], lacks[todo]
            moves = ((byte & bit) == 0) == (wanted > 0)
            moves &= drawn != places[todo]
            rows[todo, column] = byte ^ bit * moves
            left = wanted - np.sign(wanted) * moves
            lacks[todo] = left
            todo = todo[left != 0]
        return rows

    def _rehearse(self, rehearsal: Rehearsal, places: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.uint8]:
        bits = np.zeros((places.size, self._population), dtype=np.bool_)
        for row, place, own in zip(bits, places.tolist(), inside.tolist(), strict=True):
            others = [other for other in range(self._population) if other != place]
            row[list(rehearsal.draws(partial(self._outcomes, others, own), None))] = True
            row[place] = own
        return np.packbits(bits, axis=1, bitorder="little")

    def _outcomes(self, others: list[int], own: bool) -> Iterator[tuple[Any, arb]]:
        size = self._size - own
        return equally_likely(combinations(others, size), math.comb(len(others), size))


def row_sums(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many ones each row has."""
    width = next(width for width in (8, 4, 2, 1) if rows.shape[1] % width == 0)
    return np.asarray(np.bitwise_count(rows.view(f"u{width}")).sum(axis=1, dtype=np.int64))
