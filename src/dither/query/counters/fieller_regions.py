"""Confidence sets of a parameter that solves a linear equation in the totals, where other parameters are not known either.

    M          totals without noise: n, sums, sums of products; what is released of them is M + Z, Z the noise
    t, h       the parameter, and others beside it (means, a ratio of deviations)
    A, B       vectors that follow from h, each multilinear in its entries, with A(h) M = t B(h) M at the truth

Theorem. Let H be a box that holds the true h but for probability b, and c(w) what |w Z| stays within but for probability
a (`density/moments/ratio_intervals.md`), w = A(h) - t B(h). Then the set of all t for which |w (M + Z)| <= c(w) for some
h in H holds the true t with probability 1 - a - b at least, whatever M is; so does each interval around it.

Proof. At the true t and h w M = 0, so |w (M + Z)| = |w Z| <= c(w) but for a; and h is in H but for b.

How it is found. t = s / k is a direction (k, s), k >= 0; with w = k A(h) - s B(h) the inequality has the same solutions for
all positive multiples of a direction, and t without end is one of them, k = 0: where it is in the set, B M does not stand
out from its noise, and the set has no end. Directions are cut into cells between two of them, e and f. Each direction of a
cell is a multiple of one of the segment from e to f. On the segment and the box w (M + Z) and every entry of w are
multilinear, so that their extremes are at the corners; c grows with the size of every entry. So a cell without a solution
is found by its corners: the interval that is left of zero by more than c, or right of it. Cells are halved where the set
begins and where it ends, and nothing is ever left out. A box may be cut into several, which all are gone through."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dither.density.moments.ratio_intervals import CounterNoise, quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Form = Callable[..., tuple[Sequence[Floats | float], Sequence[Floats | float]]]

CELLS, FINER, ROUNDS = 32, 16, 3
FUZZ = 1e-11  # of the numbers that are compared: they are doubles
WIDER = 1e-13  # of an end
EVERYWHERE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Totals:
    """Released totals, and how each noise enters them."""

    values: Floats  # M + Z
    weights: Floats  # a row for each total, a column for each noise
    noise: CounterNoise

    def region(
        self,
        form: Form,
        boxes: Sequence[tuple[Floats | float, Floats | float]],
        odds: float,
        *,
        limits: tuple[float, float] = EVERYWHERE,
        scale: float = 1.0,
    ) -> tuple[float, float]:
        """The ends of the set of t within its limits; of all of them where it is empty. `form` gives A and B of h, `boxes`
        are the ends of each entry of h, arrays where boxes are cut; `scale` is about the size of t."""
        import numpy as np

        over, under = self._corners(form, boxes)
        angles = np.linspace(math.atan(limits[0] / scale), math.atan(limits[1] / scale), CELLS + 1)
        kept = self._kept(over, under, angles[:-1], angles[1:], scale, odds)
        if not kept.any():
            return limits
        first, last = int(kept.argmax()), CELLS - 1 - int(kept[::-1].argmax())
        low, high = (angles[first], angles[first + 1]), (angles[last], angles[last + 1])
        for _ in range(ROUNDS):
            both = np.stack([np.linspace(*cell, FINER + 1) for cell in (low, high)])
            kept = self._kept(over, under, both[:, :-1].ravel(), both[:, 1:].ravel(), scale, odds).reshape(2, FINER)
            ends = kept[0].argmax(), FINER - 1 - kept[1, ::-1].argmax()
            # where the set is in no part of a cell, what is beside the cell
            low = (both[0, ends[0]], both[0, ends[0] + 1]) if kept[0].any() else (low[1], low[1])
            high = (both[1, ends[1]], both[1, ends[1] + 1]) if kept[1].any() else (high[0], high[0])
        if low[0] > high[1]:  # no part of the only cell is left
            return limits
        least, most = _at(float(low[0]), scale), _at(float(high[1]), scale)
        room = [WIDER * (abs(end) + scale) if math.isfinite(end) else 0.0 for end in (least, most)]
        return max(limits[0], least - room[0]), min(limits[1], most + room[1])

    def _corners(self, form: Form, boxes: Sequence[tuple[Floats | float, Floats | float]]) -> tuple[Floats, Floats]:
        """A and B at all corners of the boxes: axes of parts, of corners and of totals."""
        import numpy as np

        parts = np.broadcast_shapes((1,), *(np.shape(end) for box in boxes for end in box))
        shape = (*parts, 2 ** len(boxes))
        ends = [np.stack([np.broadcast_to(np.asarray(end, np.float64), parts) for end in box], axis=-1) for box in boxes]
        corners = [end[:, np.arange(shape[1]) >> place & 1] for place, end in enumerate(ends)]  # parts, corners
        over, under = (
            np.stack([np.broadcast_to(np.asarray(one, np.float64), shape) for one in vector], axis=-1)
            for vector in form(*corners)
        )
        return over, under

    def _kept(
        self, over: Floats, under: Floats, starts: Floats, stops: Floats, scale: float, odds: float
    ) -> NDArray[np.bool_]:
        """In which cells, from one angle to another, the set may be."""
        import numpy as np

        angles = np.concatenate([starts, stops])
        k, s = np.cos(angles), np.sin(angles) * scale
        k = np.where(np.abs(angles) >= math.pi / 2, 0.0, k)
        a, b = over @ self.values, under @ self.values  # parts, corners
        sizes = np.abs(over) @ np.abs(self.values), np.abs(under) @ np.abs(self.values)
        found = k * a[..., None] - s * b[..., None]
        fuzz = FUZZ * (k * sizes[0].max(axis=1)[:, None] + np.abs(s) * sizes[1].max(axis=1)[:, None])
        noise = np.abs(
            k[:, None] * (over @ self.weights)[..., None, :] - s[:, None] * (under @ self.weights)[..., None, :]
        ).max(axis=1)  # parts, ends, noises
        least, most = (np.split(part, 2, axis=1) for part in (found.min(axis=1), found.max(axis=1)))
        room = quantile(np.maximum(*np.split(noise, 2, axis=1)), self.noise, odds) + np.maximum(*np.split(fuzz, 2, axis=1))
        kept: NDArray[np.bool_] = ((np.minimum(*least) <= room) & (np.maximum(*most) >= -room)).any(axis=0)
        return kept


def _at(angle: float, scale: float) -> float:
    """The number in a direction; without end where the direction is upright."""
    if abs(angle) >= math.pi / 2:
        return math.copysign(math.inf, angle)
    return math.tan(angle) * scale
