"""The exponential mechanism over samples, weight exp(-rate * level), drawn exactly: rejection sampling in blocks of levels.

Layer cake. With D_t = e^(-r t) - e^(-r (t+1)), e^(-r u) is the sum of D_t over all t >= u. So a pair (t, sample) that is
drawn in proportion to D_t among those with level(sample) <= t has a sample with the law that is wanted.

Blocks. Cut the levels 0, 1, 2, ... into blocks first..last, the last of them without an end. Choose a block with weight V
times the sum of its D_t, V being the number of samples within its *last* level (all samples, for the last block); a
sample among those; and keep it if its level is at most t, for t drawn from the block in proportion to D_t. Otherwise
start again from the choice of a block. What is kept has weight V (sum of D_t) (1/V) (sum of D_t over t >= level) / (sum
of D_t): the pairs above, each in its own block. This holds for any blocks, so which blocks are used is a matter of speed
alone. No level is left out.

The sum of D_t over first..last is e^(-r first) - e^(-r (last+1)), and over t >= first it is e^(-r first).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import arb, ctx

from dither.density.samples.base_measures import BaseMeasure
from dither.density.samples.distance_bands import DistanceBands
from dither.density.samples.lattice_paths import LatticePaths
from dither.noise.lazy_weights import FIRST_PRECISION, by_balls
from dither.numeric.balls import precision
from dither.numeric.number import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLOWEST, FASTEST = 1e-290, 1e250  # rates beyond these plan as if they were these
REMAINDER = 20.0  # the last block is reached with a chance of e^-20 or so
MOST_BLOCKS = 400  # then rejections are taken as they come
WORTHWHILE = 0.5  # of the proposals are kept, at least, unless that takes more blocks


@dataclass(frozen=True)
class LevelBlock:
    """Levels first..last, and the logarithm of how many samples lie within the last of them."""

    first: int
    last: int
    log_total: float


class BlockSampler:
    """The levels around one data set, cut into blocks."""

    def __init__(self, bands: DistanceBands, base: BaseMeasure, rate: Number) -> None:
        self._bands, self._base, self._rate = bands, base, rate
        self._r = min(max(float(rate), SLOWEST), FASTEST)
        self._known: dict[
            tuple[int, bool], arb
        ] = {}  # totals by level: rough ones, and exact ones where they were asked for
        self._paths = lru_cache(maxsize=8)(self._find_paths)  # with their rows they take megabytes each
        self.blocks = self._plan()

    # -- which blocks: speed alone -----------------------------------------------------------------------------

    def _plan(self) -> list[LevelBlock]:
        nearest = self._bands.nearest()
        everything = math.log(self._base.everything)
        step = max(1, math.ceil(1 / self._r))
        blocks = [self._block(nearest, nearest)]
        while (last := blocks[-1].last) < self._bands.furthest:
            if everything - self._r * (last + 1) < max(self._kept(blocks)) - REMAINDER:
                break
            blocks.append(self._block(last + 1, min(last + step, self._bands.furthest)))
            step *= 2
        while len(blocks) < MOST_BLOCKS:
            most = max(map(self._log_weight, blocks))
            proposed = [math.exp(self._log_weight(block) - most) for block in blocks]
            kept = [math.exp(log - most) for log in self._kept(blocks)]
            if sum(kept) >= WORTHWHILE * sum(proposed):
                break
            at = max(range(len(blocks)), key=lambda i: proposed[i] - kept[i])
            block = blocks[at]
            middle = (block.first + block.last) // 2
            blocks[at : at + 1] = [self._block(block.first, middle), LevelBlock(middle + 1, block.last, block.log_total)]
        return blocks

    def _block(self, first: int, last: int) -> LevelBlock:
        self._total(last)
        return LevelBlock(first, last, self._paths(last).log_total)

    def _log_weight(self, block: LevelBlock) -> float:
        return block.log_total + self._log_span(block)

    def _log_span(self, block: LevelBlock) -> float:
        return -self._r * block.first + math.log(-math.expm1(-self._r * (block.last + 1 - block.first)))

    def _kept(self, blocks: list[LevelBlock]) -> list[float]:
        """The logarithms of what is surely kept of each block."""
        return [self._surely(block, blocks[at - 1] if at else None) for at, block in enumerate(blocks)]

    def _surely(self, block: LevelBlock, before: LevelBlock | None) -> float:
        """The logarithm of what is kept of a block at least: all samples that lie within the block before."""
        if block.first == block.last:
            return self._log_weight(block)
        return self._log_span(block) + before.log_total if before else -math.inf

    # -- draws -------------------------------------------------------------------------------------------------

    def _find_paths(self, last: int) -> LatticePaths:
        band = self._bands.band(last)
        assert band is not None, "no block ends below the nearest sample"
        return LatticePaths(self._base, *band)

    def _total(self, last: int) -> arb:
        """How many samples lie within a level: roughly at the first precision of a draw, exactly at any higher one."""
        exactly = ctx.prec > FIRST_PRECISION
        if (last, exactly) not in self._known:
            with precision(max(ctx.prec, FIRST_PRECISION)):
                self._known[last, exactly] = self._paths(last).total()
        return self._known[last, exactly]

    def draw(self) -> NDArray[np.int64]:
        """A sample with exactly this law, as running totals."""
        while True:
            found = self.attempt()
            if found is not None:
                return found

    def attempt(self) -> NDArray[np.int64] | None:
        """One proposal: a sample, or None when it is rejected and everything must start again."""
        at = by_balls(self._weights)
        if at == len(self.blocks):
            first, last, totals = self.blocks[-1].last + 1, None, self._base.any()
        else:
            first, last = self.blocks[at].first, self.blocks[at].last
            totals = self._paths(last).draw()
        level = self._bands.level(totals)
        if level <= first or by_balls(lambda: [self._span(level, last), self._span(first, level - 1)]) == 0:
            return totals
        return None

    def _weights(self) -> list[arb]:
        found = [self._span(block.first, block.last) * self._total(block.last) for block in self.blocks]
        return [*found, self._span(self.blocks[-1].last + 1, None) * self._base.everything]

    def _span(self, first: int, last: int | None) -> arb:
        """The sum of D_t over first..last, or over all from first on."""
        rate = self._rate.ball()
        start = (-(rate * first)).exp()
        return start if last is None else start * -((-(rate * (last + 1 - first))).expm1())
