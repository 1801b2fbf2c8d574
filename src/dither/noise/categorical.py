"""Exact softmax draws: candidate i of many with weight exp(rate * score_i), scores being integers.

This is the sampler under the exponential mechanism and its relatives. Only the gap to the best score matters:

* Candidates are sorted into cells by gap, cell h holding gaps hM..hM + M - 1 with M = 2^k, and a tail for gaps so large
  that all of them together weigh less than 2^-72 of the best candidate.
* A cell is drawn with weight count(h) exp(-rate h M), by a `CumulativeTable` (exact), then a candidate in it uniformly,
  which is kept with probability exp(-rate (gap - h M)), otherwise everything starts again. A kept candidate has weight
  exp(-rate gap), as stated. With few different gaps M = 1 and nothing is ever thrown away.
* The weight of the tail is a sum over its candidates. Building the table needs only that it lies between zero and
  2^-72; when a draw falls there, or bits must be appended, the sum is evaluated in full.

Rational weights exp(w_i) are scores after multiplication with a common denominator: see `from_weights`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, overload

import numpy as np
from flint import ctx

from dither.errors import DataError
from dither.noise.entropy import Bits, _rehearsal, stream
from dither.noise.law import check_size
from dither.noise.samplers.table import CHUNK, GUARD_BITS, CumulativeTable, below, lazy_index
from dither.noise.uniform_integers import uniform_each, uniform_one
from dither.numeric.balls import ceil_of, floor_scaled, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.lattice import as_array
from dither.numeric.number import NumberLike, exact, rational
from dither.numeric.parse import LARGEST_BITS

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

MOST_CELLS = 4096
MOST_CANDIDATES = 2**27
TAIL_BITS = 72
ScoresLike: TypeAlias = "Sequence[SupportsIndex] | NDArray[Any]"


class Categorical:
    """A softmax draw: candidate i of 0..n-1 with probability proportional to exp(rate * scores[i]).

    Args:
        scores: A whole number for each candidate, up to 2^27 of them. A fractional score is a multiple of a lattice step.
        rate: The factor of the scores, exact and not negative.

    Raises:
        NumberError: `rate` is no exact number, or it is negative.
        DataError: `scores` is no list of whole numbers, or an empty one.

    Example:
        >>> from dither.noise import Categorical
        >>> Categorical([0, 0, -500], rate=1)
        Categorical(3 candidates, rate='1')
        >>> Categorical([0, 0, -500]).sample(10).shape
        (10,)
    """

    def __init__(self, scores: ScoresLike, *, rate: NumberLike = 1) -> None:
        self._rate = exact(rate, name="rate", nonnegative=True)
        self._gaps = _gaps(scores)
        if self._rate == 0:
            self._gaps = np.zeros(self._gaps.size, dtype=np.uint64)
        self._cell_bits, tail = self._shape()
        cells = np.minimum(self._gaps >> self._cell_bits, tail)
        self._cell_of = cells.astype(np.uint16)
        counts = np.bincount(self._cell_of, minlength=tail + 1)
        self._present = np.flatnonzero(counts)  # the cells that hold a candidate; the last may be the tail
        self._counts = counts[self._present]
        self._tail = tail
        self._plain = int(np.sum(self._present < tail))
        self._table = CumulativeTable(self._cumulative, plain=self._plain)

    @classmethod
    def from_weights(cls, weights: Sequence[NumberLike]) -> Categorical:
        """Candidates with `weights` exp(w_i), for a list of exact rational w_i."""
        if not isinstance(weights, (list, tuple)):
            raise DataError("weights", type(weights), "exact weights come in a list", "['1/3', '0.25', 0]")
        values = [rational(weight, name="weight") for weight in weights]
        common = math.lcm(*(value.denominator for value in values)) if values else 1
        if common.bit_length() > LARGEST_BITS:
            raise DataError("weights", common, "their common denominator is too large", "weights on one lattice")
        return cls([int(value * common) for value in values], rate=Fraction(1, common))

    # -- the cells ---------------------------------------------------------------------------------------------

    def _shape(self) -> tuple[int, int]:
        """How many low bits of a gap a cell leaves out, and the first cell of the tail."""
        if self._rate == 0:
            return 0, 1
        with precision(64):
            bits = TAIL_BITS + self._gaps.size.bit_length()
            furthest = ceil_of(bits * to_ball(2).log() / to_ball(self._rate)) + 1
        cell_bits = max(0, furthest.bit_length() - MOST_CELLS.bit_length() + 1)
        return cell_bits, (furthest >> cell_bits) + 1

    def _cumulative(self) -> list[arb]:
        cells = zip(self._present[: self._plain].tolist(), self._counts.tolist(), strict=False)
        weights = [self._decay(cell << self._cell_bits) * count for cell, count in cells]
        if self._plain < self._present.size:
            weights.append(self._tail_weight())
        running = list(accumulate(weights))
        return [ball / running[-1] for ball in running[:-1]]

    def _decay(self, gap: int) -> arb:
        return (-(to_ball(self._rate) * gap)).exp()

    # -- the tail: less than 2^-72 of the mass, in full only when it is needed ---------------------------------

    @cached_property
    def _tail_gaps(self) -> tuple[list[int], list[int]]:
        """The different gaps in the tail, and how many candidates have each."""
        gaps, counts = np.unique(self._gaps[self._cell_of == self._tail], return_counts=True)
        return [int(gap) for gap in gaps], counts.tolist()

    def _tail_sums(self) -> list[arb]:
        gaps, counts = self._tail_gaps
        return list(accumulate(count * self._decay(gap) for gap, count in zip(gaps, counts, strict=True)))

    def _tail_weight(self) -> arb:
        if ctx.prec > 64 + GUARD_BITS:
            return self._tail_sums()[-1]
        bound = int(self._counts[-1]) * self._decay(self._tail << self._cell_bits)
        return bound.union(to_ball(0))

    def _draw_tail(self, bits: Bits) -> int:
        sums: dict[int, list[arb]] = {}

        def conditional(j: int) -> arb:
            balls = sums.setdefault(ctx.prec, []) or sums[ctx.prec]
            if not balls:
                balls.extend(self._tail_sums())
            return to_ball(1) if j >= len(balls) - 1 else balls[j] / balls[-1]

        gap = self._tail_gaps[0][lazy_index(conditional, bits)]
        members = np.flatnonzero(self._gaps == gap)
        return int(members[uniform_one(members.size, bits)])

    # -- draws -------------------------------------------------------------------------------------------------

    @overload
    def sample(self, size: None = None) -> int: ...
    @overload
    def sample(self, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...

    def sample(self, size: int | tuple[int, ...] | None = None) -> int | NDArray[np.int64]:
        """The number of one candidate; with a `size` (a count or a shape) an array of independent draws."""
        rehearsal = _rehearsal.get()
        if rehearsal is not None:
            return rehearsal.draws(self._outcomes, size)  # type: ignore[no-any-return]
        if size is None:
            return self._one(stream())
        shape = check_size(size)
        result = np.empty(math.prod(shape), dtype=np.int64)
        for start in range(0, result.size, CHUNK):
            part = result[start : start + CHUNK]
            todo = np.arange(part.size)
            while todo.size:
                part[todo], kept = self._propose(todo.size, stream())
                todo = todo[~kept]
        return result.reshape(shape)

    def _outcomes(self) -> Iterator[tuple[int, arb]]:
        order = sorted(range(self._gaps.size), key=lambda candidate: int(self._gaps[candidate]))  # the likeliest first
        weights = [self._decay(int(self._gaps[candidate])) for candidate in order]
        whole = sum(weights, start=to_ball(0))
        return ((candidate, weight / whole) for candidate, weight in zip(order, weights, strict=True))

    def _one(self, bits: Bits) -> int:
        while True:
            candidate = self._round(bits)
            if candidate is not None:
                return candidate

    def _round(self, bits: Bits) -> int | None:
        """One proposal: a candidate, or None when it is rejected and everything must start again."""
        outcome = self._table.draw_one(bits)
        if outcome == self._plain:
            return self._draw_tail(bits)
        members = np.flatnonzero(self._cell_of == self._present[outcome])
        candidate = int(members[uniform_one(members.size, bits)])
        return candidate if self._keeps(candidate, bits) else None

    def _excess(self, candidate: int) -> int:
        """How far the candidate's gap lies beyond the near end of its cell."""
        gap = int(self._gaps[candidate])
        return gap - (gap >> self._cell_bits << self._cell_bits)

    def _keeps(self, candidate: int, bits: Bits, a: int = 0, a_bits: int = 0) -> bool:
        excess = self._excess(candidate)
        return excess == 0 or below(lambda: self._decay(excess), bits, a, a_bits)

    @cached_property
    def _order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All candidates sorted by cell, and where each cell begins."""
        order = np.argsort(self._cell_of, kind="stable")
        return order.astype(np.int64), np.concatenate([[0], np.cumsum(self._counts)[:-1]]).astype(np.int64)

    def _propose(self, count: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Candidates, and which of them are kept."""
        outcome, special = self._table.draw(count, bits)
        order, begins = self._order
        candidate = order[begins[outcome] + uniform_each(self._counts[outcome], bits)]
        kept = np.ones(count, dtype=np.bool_)
        if self._cell_bits:
            a = bits.words(count) >> np.uint64(34)
            for at in np.flatnonzero(a >= self._surely_kept):  # the others are below exp(-rate M) and so below p
                kept[at] = self._keeps(int(candidate[at]), bits, int(a[at]), 30)
        for at in special.positions:
            candidate[at], kept[at] = self._draw_tail(bits), True
        return candidate, kept

    @cached_property
    def _surely_kept(self) -> int:
        """An integer not above 2^30 exp(-rate M)."""
        with precision(64 + GUARD_BITS):
            return floor_scaled(self._decay(1 << self._cell_bits), 30)

    def __repr__(self) -> str:
        return f"Categorical({self._gaps.size} candidates, rate='{self._rate}')"


def _gaps(scores: ScoresLike) -> NDArray[np.uint64] | NDArray[np.object_]:
    """The distance of every score to the largest, exactly."""
    array = as_array(scores, name="scores")
    if array.ndim != 1 or not 0 < array.size <= MOST_CANDIDATES:
        raise DataError("scores", array.shape, f"a draw needs one row of 1 to {MOST_CANDIDATES} candidates", "[3, 1, 2]")
    if array.dtype.kind == "i":
        wide = array.astype(np.int64)
        # Modulo 2^64 this difference is the true distance.
        return np.asarray(wide.max().astype(np.uint64) - wide.astype(np.uint64), dtype=np.uint64)
    if array.dtype.kind == "u":
        return np.asarray(array.max() - array, dtype=np.uint64)
    if array.dtype == np.object_ and all(isinstance(score, int) and not isinstance(score, bool) for score in array):
        best = max(array)
        result = np.empty(array.size, dtype=np.object_)
        result[:] = [best - score for score in array]
        return result.astype(np.uint64) if max(result) < 2**63 else result
    raise DataError(
        "scores",
        array.dtype,
        "scores are whole numbers of lattice steps, so that weights are exact",
        "Lattice(step).indices(scores) with rate=rate*step, or Categorical.from_weights for rationals",
    )
