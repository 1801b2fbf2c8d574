"""One choice in each of many rows of candidates, whose weights fall with whole gaps: exp(-rate * gap), gap 0 being the best.

Rough weights are doubles, and the draws are exact all the same: doubt is settled by balls, of the same random bits.

Rough weights. exp(-rate g) is the product of exp(-rate 2^i) over the bits i of g. Each factor is off by a part of
at most 2^-52 and each product by 2^-53: that of at most 63 factors by less than 2^-45. A gap beyond `furthest`, where the
weight is below 2^-72, counts as that one: off by less than 2^-72. Products of a few bits stand in tables, which depend
on the rate alone: public, and kept.

Theorem 1 (`weighted_rows`). Candidate i of a row has probability exp(-rate g_i) / sum of exp(-rate g_j).

Proof. By inversion: with a uniform real U, whose first 64 bits are drawn, the outcome is the first i with U W < R_i, for
the running sums R_i of the weights and their sum W. Each of n terms is off by a part of 2^-45 and by 2^-72, and the n
roundings of a running sum by n 2^-53 of it; W >= 1, since some gap is 0, and U W is off by as much and 2^-50 W besides.
Where the rough target lies further than `margin` = (2^-43 + n 2^-51) W from both its neighbours, the outcome is theirs
whatever the true weights and the other bits of U are. Otherwise `by_balls` finds it, from the same bits and more of them.

Theorem 2 (`flipped_rows`). Each candidate passes with probability exp(-rate g_i), independently, and of those that pass one
is chosen with equal chances: permute-and-flip (`mechanisms/selection/permute_and_flip.py` has the proof).

Proof. Passes: U < exp(-rate g_i) for a uniform real U, of which 16 bits w are drawn. In units of 2^-16 the rough weight is
off by less than 2^-28 = `SLACK` / 2, so w + 1 <= rough - SLACK passes and w >= rough + SLACK does not, whatever follows;
otherwise `below` decides, by the same bits and more of them. A gap of 0 always passes: some candidate does.

Nothing but the bits decides, and what bits are drawn does not depend on how doubles were rounded.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from dither.noise.entropy import _rehearsal, stream
from dither.noise.lazy_weights import by_balls
from dither.noise.samplers.table import below
from dither.noise.uniform_integers import uniform_each
from dither.numeric.balls import ceil_of, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

TAIL_BITS = 72
TABLE_BITS = 12  # of a gap that one table takes: its doubles stay in the cache
LARGEST_GAP = 2**63 - 1
AT_ONCE = 2**15  # candidates of rows that are drawn together
SLACK = 2.0**-27


class _RoughWeights:
    """exp(-rate g) as doubles."""

    def __init__(self, rate: Number) -> None:
        with precision(128):
            furthest = ceil_of(TAIL_BITS * to_ball(2).log() / to_ball(rate)) + 1
            self.furthest = min(furthest, LARGEST_GAP)
            factors = [float((-(to_ball(rate) * (1 << bit))).exp()) for bit in range(self.furthest.bit_length())]
        parts = -(-len(factors) // TABLE_BITS)
        self.bits = -(-len(factors) // parts)
        self.tables = [self._products(factors[at : at + self.bits]) for at in range(0, len(factors), self.bits)]

    @staticmethod
    def _products(factors: list[float]) -> NDArray[np.float64]:
        """The product of the factors that the bits of a place say, for each place."""
        table = np.ones(1)
        for factor in factors:
            table = np.concatenate([table, table * factor])
        return table

    def of(self, gaps: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The rough weight of each gap."""
        left = np.minimum(gaps, np.uint64(self.furthest)).astype(np.int64)
        mask, last = (1 << self.bits) - 1, len(self.tables) - 1
        found = self.tables[0].take(left & mask if last else left, mode="clip")
        for place, table in enumerate(self.tables[1:], 1):
            left >>= self.bits
            found *= table.take(left & mask if place < last else left, mode="clip")
        return found


@lru_cache(maxsize=64)
def _rough_weights(rate: Number) -> _RoughWeights:
    return _RoughWeights(rate)


def weighted_rows(gaps: NDArray[np.uint64], rate: Number) -> NDArray[np.int64]:
    """For each row of gaps, of which one at least is 0, the place of one: drawn in proportion to exp(-rate * gap)."""
    rough, bits = _rough_weights(rate), stream()
    chosen = np.empty(len(gaps), dtype=np.int64)
    for start, part in _parts(gaps):
        words = bits.words(len(part))
        running = np.cumsum(rough.of(part), axis=1)
        whole = running[:, -1]
        target = words * 2.0**-64 * whole
        place = np.array([row.searchsorted(at, side="right") for row, at in zip(running, target, strict=True)])
        margin = (2.0**-43 + part.shape[1] * 2.0**-51) * whole
        rows, last = np.arange(len(part)), part.shape[1] - 1
        above = running[rows, np.minimum(place, last)] - target
        under = np.where(place > 0, target - running[rows, np.maximum(place, 1) - 1], np.inf)
        for at in np.flatnonzero((above <= margin) | (under <= margin)):
            place[at] = by_balls(partial(_ball_weights, part[at], rate), int(words[at]))
        chosen[start : start + len(part)] = place
    return chosen


def _ball_weights(gaps: NDArray[np.uint64], rate: Number) -> list[arb]:
    each, places = np.unique(gaps, return_inverse=True)
    weights = [_weight(int(gap), rate) for gap in each]
    return [weights[place] for place in places]


def _weight(gap: int, rate: Number) -> arb:
    return (-(to_ball(rate) * gap)).exp()


def flipped_rows(gaps: NDArray[np.uint64], rate: Number) -> NDArray[np.int64]:
    """For each row of gaps, of which one at least is 0, the place of one that passes, with equal chances."""
    rough, bits = _rough_weights(rate), stream()
    chosen = np.empty(len(gaps), dtype=np.int64)
    for start, part in _parts(gaps):
        first = np.empty(part.shape, dtype=np.uint16)
        bits.fill(first)
        most = rough.of(part)
        most *= 2.0**16
        most -= first  # what is left above the first bits: exact, or within what SLACK spares
        passed = most >= 1 + SLACK
        passed |= part == 0
        for row, at in zip(*np.nonzero((most > -SLACK) & ~passed), strict=True):
            passed[row, at] = below(partial(_weight, int(part[row, at]), rate), bits, int(first[row, at]), 16)
        numbers = np.count_nonzero(passed, axis=1)
        places = np.flatnonzero(passed) % part.shape[1]
        chosen[start : start + len(part)] = places[np.cumsum(numbers) - numbers + uniform_each(numbers, bits)]
    return chosen


def are_rehearsed() -> bool:
    """Whether a test goes through all outcomes of draws: then each row is drawn by itself, by coins and laws it can list."""
    return _rehearsal.get() is not None


def _parts(gaps: NDArray[np.uint64]) -> list[tuple[int, NDArray[np.uint64]]]:
    """Rows that are drawn together, and where they begin."""
    size = max(1, AT_ONCE // gaps.shape[1])
    return [(start, gaps[start : start + size]) for start in range(0, len(gaps), size)]
