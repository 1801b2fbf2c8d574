"""Rejection sampling among candidates whose weights fall with an integer gap: exp(-rate * gap), gap 0 being the best.

* Candidates are sorted into cells by gap, cell h holding gaps hM..hM + M - 1 with M = 2^k, and a tail for gaps so large
  that all of them together weigh less than 2^-72 of the best candidate.
* A cell is drawn with weight count(h) exp(-rate h M), by a `CumulativeTable` (exact), then a candidate in it uniformly,
  which is kept with probability exp(-rate (gap - h M)), otherwise everything starts again. A kept candidate has weight
  exp(-rate gap), as stated. With few different gaps M = 1 and nothing is ever thrown away.
* The weight of the tail is a sum over its candidates. Building the table needs only that it lies between zero and
  2^-72; when a draw falls there, or bits must be appended, the sum is evaluated in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from flint import ctx

from dither.noise.entropy import Bits, stream
from dither.noise.samplers.table import CHUNK, GUARD_BITS, CumulativeTable, below, lazy_index
from dither.noise.uniform_integers import uniform_each, uniform_one
from dither.numeric.balls import ceil_of, floor_scaled, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

MOST_CELLS = 4096
TAIL_BITS = 72


class CellSampler:
    """Candidates 0..n-1, candidate i drawn with probability proportional to exp(-rate * gaps[i])."""

    def __init__(self, gaps: NDArray[np.uint64] | NDArray[np.object_], rate: Number) -> None:
        self.gaps, self.rate = gaps, rate
        self.cell_bits, tail = self._shape()
        cells = np.minimum(self.gaps >> self.cell_bits, tail)
        self.cell_of = cells.astype(np.uint16)
        counts = np.bincount(self.cell_of, minlength=tail + 1)
        self.present = np.flatnonzero(counts)  # the cells that hold a candidate; the last may be the tail
        self.counts = counts[self.present]
        self.tail = tail
        self.plain = int(np.sum(self.present < tail))
        self.table = CumulativeTable(self.cumulative, plain=self.plain)

    # -- the cells ---------------------------------------------------------------------------------------------

    def _shape(self) -> tuple[int, int]:
        """How many low bits of a gap a cell leaves out, and the first cell of the tail."""
        if self.rate == 0:
            return 0, 1
        with precision(64):
            bits = TAIL_BITS + self.gaps.size.bit_length()
            furthest = ceil_of(bits * to_ball(2).log() / to_ball(self.rate)) + 1
        cell_bits = max(0, furthest.bit_length() - MOST_CELLS.bit_length() + 1)
        return cell_bits, (furthest >> cell_bits) + 1

    def cumulative(self) -> list[arb]:
        """Balls around the cumulative probabilities of the cells, the last one left out."""
        cells = zip(self.present[: self.plain].tolist(), self.counts.tolist(), strict=False)
        weights = [self.decay(cell << self.cell_bits) * count for cell, count in cells]
        if self.plain < self.present.size:
            weights.append(self._tail_weight())
        running = list(accumulate(weights))
        return [ball / running[-1] for ball in running[:-1]]

    def decay(self, gap: int) -> arb:
        """A ball around exp(-rate * gap)."""
        return (-(to_ball(self.rate) * gap)).exp()

    # -- the tail: less than 2^-72 of the mass, in full only when it is needed ---------------------------------

    @cached_property
    def tail_gaps(self) -> tuple[list[int], list[int]]:
        """The different gaps in the tail, and how many candidates have each."""
        gaps, counts = np.unique(self.gaps[self.cell_of == self.tail], return_counts=True)
        return [int(gap) for gap in gaps], counts.tolist()

    def _tail_sums(self) -> list[arb]:
        gaps, counts = self.tail_gaps
        return list(accumulate(count * self.decay(gap) for gap, count in zip(gaps, counts, strict=True)))

    def _tail_weight(self) -> arb:
        if ctx.prec > 64 + GUARD_BITS:
            return self._tail_sums()[-1]
        bound = int(self.counts[-1]) * self.decay(self.tail << self.cell_bits)
        return bound.union(to_ball(0))

    def draw_tail(self, bits: Bits) -> int:
        """A candidate of the tail, from its exact conditional law."""
        sums: dict[int, list[arb]] = {}

        def conditional(j: int) -> arb:
            balls = sums.setdefault(ctx.prec, []) or sums[ctx.prec]
            if not balls:
                balls.extend(self._tail_sums())
            return to_ball(1) if j >= len(balls) - 1 else balls[j] / balls[-1]

        gap = self.tail_gaps[0][lazy_index(conditional, bits)]
        members = np.flatnonzero(self.gaps == gap)
        return int(members[uniform_one(members.size, bits)])

    # -- draws -------------------------------------------------------------------------------------------------

    def many(self, count: int) -> NDArray[np.int64]:
        """An array of independent draws."""
        result = np.empty(count, dtype=np.int64)
        for start in range(0, result.size, CHUNK):
            part = result[start : start + CHUNK]
            todo = np.arange(part.size)
            while todo.size:
                part[todo], kept = self.propose(todo.size, stream())
                todo = todo[~kept]
        return result

    def outcomes(self) -> Iterator[tuple[int, arb]]:
        """All candidates with their probabilities, the likeliest first."""
        order = sorted(range(self.gaps.size), key=lambda candidate: int(self.gaps[candidate]))  # the likeliest first
        weights = [self.decay(int(self.gaps[candidate])) for candidate in order]
        whole = sum(weights, start=to_ball(0))
        return ((candidate, weight / whole) for candidate, weight in zip(order, weights, strict=True))

    def one(self, bits: Bits) -> int:
        """The number of one candidate."""
        while True:
            candidate = self.propose_one(bits)
            if candidate is not None:
                return candidate

    def propose_one(self, bits: Bits) -> int | None:
        """One proposal: a candidate, or None when it is rejected and everything must start again."""
        outcome = self.table.draw_one(bits)
        if outcome == self.plain:
            return self.draw_tail(bits)
        members = np.flatnonzero(self.cell_of == self.present[outcome])
        candidate = int(members[uniform_one(members.size, bits)])
        return candidate if self._keeps(candidate, bits) else None

    def excess(self, candidate: int) -> int:
        """How far the candidate's gap lies beyond the near end of its cell."""
        gap = int(self.gaps[candidate])
        return gap - (gap >> self.cell_bits << self.cell_bits)

    def _keeps(self, candidate: int, bits: Bits, a: int = 0, a_bits: int = 0) -> bool:
        excess = self.excess(candidate)
        return excess == 0 or below(lambda: self.decay(excess), bits, a, a_bits)

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All candidates sorted by cell, and where each cell begins."""
        order = np.argsort(self.cell_of, kind="stable")
        return order.astype(np.int64), np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    def propose(self, count: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Candidates, and which of them are kept."""
        outcome, special = self.table.draw(count, bits)
        order, begins = self.order
        candidate = order[begins[outcome] + uniform_each(self.counts[outcome], bits)]
        kept = np.ones(count, dtype=np.bool_)
        if self.cell_bits:
            a = bits.words(count) >> np.uint64(34)
            for at in np.flatnonzero(a >= self._surely_kept):  # the others are below exp(-rate M) and so below p
                kept[at] = self._keeps(int(candidate[at]), bits, int(a[at]), 30)
        for at in special.positions:
            candidate[at], kept[at] = self.draw_tail(bits), True
        return candidate, kept

    @cached_property
    def _surely_kept(self) -> int:
        """An integer not above 2^30 exp(-rate M)."""
        with precision(64 + GUARD_BITS):
            return floor_scaled(self.decay(1 << self.cell_bits), 30)
