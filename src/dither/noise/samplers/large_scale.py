"""The sampler for large scales: rejection from a staircase above the law, a table for its steps, fresh bits inside a step.

The integers are cut into cells of width M = 2^k: x = v M + low with 0 <= low < M. On a cell the weight g falls from
`near` (the end towards zero) to `far` (its continuation M further on). The table has two outcomes for each cell:

    level v, with weight far(v)             the flat part: low is uniform, nothing more to decide
    slope v, with weight near(v) - far(v)   the rest: draw low uniformly, accept with probability
                                            (g(x) - far) / (near - far), otherwise start again

and one outcome for all cells beyond the table. A proposal lands on x with probability proportional to near(v), and
is then kept with probability far/near + (1 - far/near) (g - far)/(near - far) = g(x)/near(v). So a kept x has
exactly the law g, and the normalising constant is never needed. A level is taken in 96% of the draws or more.

For a *rounded* law g is a density: x = round(y), and y = x - 1/2 + u where u is a uniform real, revealed lazily.

Accepting. With d = distance from the near end, (g - far)/(near - far) differs from the chord 1 - d/M by at most
M^2 max|g''| / 8 / (near - far). `slack` is any whole number of 2^-30 that is larger (`TableLaw.chord_gaps`). A 30-bit
uniform a/2^30 further than that from the chord is settled with integers; nearer, the *same* uniform gets more bits and g
is evaluated in balls until the answer is certain (`accepts`).

How large the slack is changes nothing but time. A gap comes with one unit to spare, so for what integers settle the true
ratio is a unit or more beyond the uniform, for every fraction u that is still possible. The first balls of `accepts` have
126 bits, of which the factor 2^30 and the differences take less than 60 (near - far > 2^-16 near in the shapes that laws
choose): they would have settled it the same way, and asked for no further bit.

All gaps are computed when the sampler is made, from the law alone and not from what is drawn. To compute one when a draw
first needs it would show, to whoever measures time, that noise has fallen on a slope where it had not been before.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import numpy as np

from dither.noise.entropy import Bits, stream
from dither.noise.law import Sampler, TableLaw
from dither.noise.samplers.small_scale import put
from dither.noise.samplers.table import CHUNK, CumulativeTable, Special, below, lazy_index
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

ACCEPT_BITS = 30  # the chord and the acceptance uniform are counted in units of 2^-30
HALF = Fraction(1, 2)
WIDEST_INT64_CELL = 46  # cells of 2^46, and at most 2^14 of them, stay far inside 64 bits


class StaircaseSampler(Sampler):
    """Cells of width 2^cell_bits, `cells` of them on each side in the table."""

    def __init__(self, law: TableLaw, cell_bits: int, cells: int, *, prefix_bits: int = 16, word_bits: int = 64) -> None:
        assert cells <= 1 << 14
        self.law = law
        self.cell_bits = cell_bits
        self.width = 1 << cell_bits
        self.cells = cells
        self._step = word_bits
        self.accept_bits = min(ACCEPT_BITS, word_bits)
        self.unit = 1 << self.accept_bits
        self.first = -cells if law.two_sided else 0
        self.count = cells - self.first
        self.table = CumulativeTable(
            self.cumulative,
            plain=self.count,
            offset=-self.first,
            prefix_bits=prefix_bits,
            word_bits=word_bits,
        )
        self.slack = self._chord_slack()
        self.slack_list: list[int] = self.slack.tolist()
        self.fraction_bits = max(0, self.accept_bits + 2 - cell_bits) if law.rounded else 0

    # -- the shape of the stairs -------------------------------------------------------------------------------

    def edge(self, v: int, steps: int = 0) -> Fraction | int:
        """The distance from zero of the near end of cell v, or of the one `steps` cells further out."""
        inward, outward = (-HALF, HALF) if self.law.rounded else (0, 1)
        if v >= 0:
            return max(0, (v + steps) * self.width + inward)
        return (-v - 1 + steps) * self.width + outward

    def _edges(self) -> tuple[list[arb], list[arb]]:
        """near(v) and far(v) for every cell in the table."""
        right = self._side(0)
        if not self.law.two_sided:
            return right[:-1], right[1:]
        left = self._side(-1)
        return left[-2::-1] + right[:-1], left[:0:-1] + right[1:]

    def _side(self, v: int) -> list[arb]:
        """The weights at the edges of one side, from the near end of its first cell outwards."""
        peak = [self.law.weight(self.edge(v))]
        return peak + list(islice(self.law.ladder(self.edge(v, 1), self.width), self.cells))

    def cumulative(self) -> list[arb]:
        """Balls around the cumulative probabilities of levels, then slopes; that of the tail, 1, is left out."""
        near, far = self._edges()
        parts = far + [n - f for n, f in zip(near, far, strict=True)]
        share = 1 / (sum(near, start=to_ball(0)) + self.law.beyond(self.cells, self.width))
        return [running * share for running in accumulate(parts)]

    def _chord_slack(self) -> NDArray[np.int64]:
        """The slack of every cell in acceptance units, from the leftmost on."""
        right = self._side_slack(0)
        left = self._side_slack(-1) if self.law.two_sided else []
        return np.array(left[::-1] + right, dtype=np.int64)

    def _side_slack(self, v: int) -> list[int]:
        """The slack of one side outwards; everything where the peak may lie inside the cell."""
        peak = [self.unit] if self.law.rounded else []
        start = self.edge(v, len(peak))
        gaps = self.law.chord_gaps(start, self.width, self.cells - len(peak), self.unit)
        return peak + [min(self.unit, gap + 1) for gap in gaps]

    # -- one draw ----------------------------------------------------------------------------------------------

    def one(self) -> int:
        bits = stream()
        while True:
            value = self.propose(bits)
            if value is not None:
                return value

    def propose(self, bits: Bits) -> int | None:
        """One proposal: a value, or None when it is rejected and everything must start again."""
        outcome = self.table.draw_one(bits)
        if outcome == 2 * self.count:
            return self.propose_tail(bits)
        low = bits.bits(self.cell_bits)
        if outcome < self.count:
            return (outcome + self.first) * self.width + low
        v = outcome - self.count + self.first
        return v * self.width + low if self.accepts_quickly(v, low, bits) else None

    def accepts_quickly(self, v: int, low: int, bits: Bits) -> bool:
        """Whether a proposal on one slope is accepted: by integers where they are enough, otherwise by balls (`accepts`)."""
        a, u = bits.bits(self.accept_bits), bits.bits(self.fraction_bits)
        span = self.cell_bits + self.fraction_bits
        d = (low << self.fraction_bits) + u
        if v < 0:
            d = (1 << span) - 1 - d
        nearest = (d << self.accept_bits) >> span
        slack = self.slack_list[v - self.first]
        if a + nearest + slack + 2 <= self.unit:
            return True
        if a + nearest - slack >= self.unit:
            return False
        return self.accepts(v, low, bits, a, self.accept_bits, u, self.fraction_bits)

    def accepts(
        self, v: int, low: int, bits: Bits, a: int = 0, a_bits: int = 0, u: int = 0, u_bits: int = 0, slope: bool = True
    ) -> bool:
        """Whether the uniform real that begins with the bits of a is below the acceptance probability.

        On a slope that is (g - far)/(near - far); for a whole cell (slope=False) it is g/near.
        """
        law, x = self.law, v * self.width + low
        while True:
            with precision(max(a_bits, u_bits) + 96):
                near = law.weight(self.edge(v))
                far = law.weight(self.edge(v, 1)) if slope else to_ball(0)
                if law.rounded:
                    start = x - HALF + Fraction(u, 1 << u_bits)
                    end = start + Fraction(1, 1 << u_bits)
                    g = law.weight(abs(start)).union(law.weight(abs(end)))
                    if start < 0 < end:
                        g = g.union(law.weight(0))
                else:
                    g = law.weight(abs(x))
                ratio = (g - far) / (near - far) * (1 << a_bits)
                if ratio >= a + 1:
                    return True
                if ratio <= a:
                    return False
            a, a_bits = (a << self._step) | bits.bits(self._step), a_bits + self._step
            if law.rounded:
                u, u_bits = (u << self._step) | bits.bits(self._step), u_bits + self._step

    def propose_tail(self, bits: Bits) -> int | None:
        """A proposal beyond the table: its cell by the exact sum of the staircase there, then as everywhere.

        A rejected one starts again from the whole table. Starting again from the tail would give the tail the weight
        of the staircase over it, which is too much.
        """
        law, cells, width = self.law, self.cells, self.width
        # Cells are numbered outwards, both sides together.
        v = cells + lazy_index(lambda j: 1 - law.beyond(cells + j + 1, width) / law.beyond(cells, width), bits, self._step)
        if law.two_sided and not below(partial(self._right_share, v), bits, step=self._step):
            v = -v - 1
        low = bits.bits(self.cell_bits)
        return v * width + low if self.accepts(v, low, bits, slope=False) else None

    def _right_share(self, ring: int) -> arb:
        """Of the two cells at the same place on either side, the right one's share of the staircase."""
        right, left = self.law.weight(self.edge(ring)), self.law.weight(self.edge(-ring - 1))
        return right / (right + left)

    # -- many draws --------------------------------------------------------------------------------------------

    def many(self, count: int) -> NDArray[np.int64] | NDArray[np.object_]:
        bits = stream()
        if self.cell_bits > WIDEST_INT64_CELL:
            wide = np.empty(count, dtype=np.object_)
            wide[:] = [self.one() for _ in range(count)]
            return wide
        result = np.empty(count, dtype=np.int64)
        tails: dict[int, int] = {}
        rejected = [
            start + self._fill(result[start : start + CHUNK], start, tails, bits) for start in range(0, count, CHUNK)
        ]
        todo = np.concatenate([np.empty(0, dtype=np.intp), *rejected])
        values = put(result, tails)
        if todo.size:  # start again, at these places only
            again = self.many(todo.size)
            if again.dtype != values.dtype:
                values, again = values.astype(np.object_), again.astype(np.object_)
            values[todo] = again
        return values

    def _fill(self, part: NDArray[np.int64], start: int, tails: dict[int, int], bits: Bits) -> NDArray[np.intp]:
        """Draw for every place; note values from beyond the table, and return the places that were rejected."""
        values, special = self.table.draw(part.size, bits)
        part[:] = values
        part <<= self.cell_bits
        part += self.draw_low(part.size, bits)
        rejected = self.settle(part, special, bits)
        for at in special.positions[special.outcomes == 2 * self.count]:
            value = self.propose_tail(bits)
            if value is None:
                rejected = np.append(rejected, at)
            else:
                tails[start + int(at)] = value
        return rejected

    def draw_low(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """Uniform integers of cell_bits bits."""
        size = next(size for size in (16, 32, 64) if size >= self.cell_bits)
        raw = np.empty(count, dtype=f"u{size // 8}")
        if self.cell_bits == 0:
            return raw.astype(np.int64) * 0
        bits.fill(raw)
        raw >>= raw.dtype.type(size - self.cell_bits)
        return raw.astype(np.int64)

    def settle(self, part: NDArray[np.int64], special: Special, bits: Bits) -> NDArray[np.intp]:
        """Decide every slope; write what is accepted, return the positions of what is not."""
        slope = special.outcomes < 2 * self.count
        positions, at = special.positions[slope], special.outcomes[slope] - self.count
        v = at + self.first
        low = self.draw_low(v.size, bits)
        word = bits.words(v.size)  # the acceptance uniform from its top, the fraction from its bottom: no bit twice
        a = (word >> np.uint64(64 - self.accept_bits)).astype(np.int64)
        u = (word & np.uint64((1 << self.fraction_bits) - 1)).astype(np.int64)
        # d counts fractions 2^-fraction_bits of an integer; for a rounded law it stands for [d, d + 1).
        span = self.cell_bits + self.fraction_bits
        d = (low << self.fraction_bits) + u
        d = np.where(v >= 0, d, (1 << span) - 1 - d)
        shift = span - self.accept_bits
        nearest = d >> shift if shift >= 0 else d << -shift
        furthest = nearest + 1 if shift >= 0 else nearest
        slack = self.slack[at]
        accepted = a + 1 + furthest + slack <= self.unit
        rejected = a + nearest - slack >= self.unit
        for i in np.flatnonzero(~(accepted | rejected)):
            accepted[i] = self.accepts(
                int(v[i]), int(low[i]), bits, int(a[i]), self.accept_bits, int(u[i]), self.fraction_bits
            )
        part[positions[accepted]] = (v[accepted] << self.cell_bits) + low[accepted]
        return positions[~accepted]
