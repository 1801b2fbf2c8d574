"""Confidence sets for a quotient of two sums with noise, by Fieller's method; also where nothing bounds the quotient.

Theorem. Let S = s + sum of a_i Z_i and N = n + sum of b_i Z_i be released, n not 0, x = s / n. Let c(x) be what
|sum of (a_i - x b_i) Z_i| stays within with probability 1 - alpha (`counters/noise_sums.py`). Then the set of all y with
|S - y N| <= c(y) holds x with probability 1 - alpha at least, whatever s and n are; so does each interval around that
set, and its part within limits that x is known to keep.

Proof. S - x N = s - x n + the noise = the noise at x, since s = x n. The set holds x exactly when that noise is within c(x).

How the set is found. The line is cut into cells whose ends are powers of 2^(1/32) times a scale, of both signs, with one
cell around zero. |a_i - y b_i| is convex in y, so in a cell it is at most the larger of its values at the two ends, and c,
which grows with every weight, is at most c of those: in the cell |S - y N| <= that number is an interval, which is cut with
the cell. Beyond the last cell z = 1 / y is taken: |z S - N| <= c of the weights |z a_i - b_i|, z from 0. Cells decide how
much is added to the set, and nothing is ever left out, so that the scale may follow from what was released. If z = 0 is in
the set, N does not stand out from its noise: every y that is large enough is in the set, and it has no end there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dither.query.counters.noise_sums import NoiseSum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CELLS = 32  # to a factor of two
TWOS = 12  # factors of two on each side of the scale
AT_ONCE = 512  # groups
FUZZ = 1e-11  # of the numbers that are compared: they are doubles


def quotient_interval(
    sums: Floats, totals: Floats, of_sum: Floats, of_total: Floats, noise: NoiseSum, limits: tuple[float, float]
) -> tuple[Floats, Floats]:
    """The ends of the sets of several quotients whose noises have the same weights; infinite where there is no end.

    `limits` are what the truth is known to keep; one that is released beyond them, by more than noise has, is at the nearer.
    """
    import numpy as np

    low_limit, high_limit = limits
    scale = _scale(sums, totals, of_sum, of_total)
    grid = scale * np.exp2(np.arange(-TWOS * CELLS, TWOS * CELLS + 1) / CELLS)
    starts, stops = np.append(0.0, grid[:-1]), grid
    if low_limit < 0:
        starts, stops = np.concatenate([-stops[::-1], starts]), np.concatenate([-starts[::-1], stops])
    room = noise.reach(np.maximum(*(np.abs(of_sum - end[:, None] * of_total) for end in (starts, stops))))
    last = 1 / grid[-1]
    sides = (1.0,) if low_limit >= 0 else (1.0, -1.0)
    beyond = [
        (side, float(noise.reach(np.maximum(np.abs(of_total), np.abs(of_total - side * last * of_sum))[None, :])[0]))
        for side in sides
    ]
    lows, highs = np.empty(len(sums)), np.empty(len(sums))
    for at in range(0, len(sums), AT_ONCE):
        s, n = sums[at : at + AT_ONCE, None], totals[at : at + AT_ONCE, None]
        first, end = _within(s, n, starts, stops, room)
        for side, wide in beyond:
            near, far = _within(n[:, 0] * side, s[:, 0], np.array(0.0), np.array(last), np.array(wide))
            fits = near <= far
            with np.errstate(divide="ignore"):
                small, large = 1 / np.where(fits, far, 1.0), 1 / np.where(fits, near, 1.0)
            ends = (small, large) if side > 0 else (-large, -small)
            first = np.append(first, np.where(fits, ends[0], np.inf)[:, None], axis=1)
            end = np.append(end, np.where(fits, ends[1], -np.inf)[:, None], axis=1)
        lows[at : at + AT_ONCE], highs[at : at + AT_ONCE] = first.min(axis=1), end.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = np.clip(np.nan_to_num(sums / totals), low_limit, high_limit)
    low, high = np.clip(lows, low_limit, high_limit), np.clip(highs, low_limit, high_limit)
    none = ~(np.maximum(lows, low_limit) <= np.minimum(highs, high_limit))
    return np.where(none, nearest, low), np.where(none, nearest, high)


def _within(s: Floats, n: Floats, starts: Floats, stops: Floats, room: Floats) -> tuple[Floats, Floats]:
    """The y of each cell with |s - y n| within its room, as an interval; from inf to -inf where there is none."""
    import numpy as np

    room = room + FUZZ * (np.abs(s) + np.abs(n) * np.maximum(np.abs(starts), np.abs(stops)))
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (s - room) / n, (s + room) / n
    first, last = np.minimum(one, two), np.maximum(one, two)
    flat, inside = n == 0, np.abs(s) <= room
    first, last = (
        np.where(flat, np.where(inside, part, other), found)
        for part, other, found in ((starts, np.inf, first), (stops, -np.inf, last))
    )
    first, last = np.maximum(first, starts), np.minimum(last, stops)
    fits = first <= last
    return np.where(fits, first, np.inf), np.where(fits, last, -np.inf)


def _scale(sums: Floats, totals: Floats, of_sum: Floats, of_total: Floats) -> float:
    """About the size of the quotients: the middle one, or that of their noise."""
    import numpy as np

    known = (sums != 0) & (totals != 0)
    sizes = np.abs(sums[known] / totals[known])
    found = float(np.median(sizes)) if len(sizes) else 0.0
    if not (math.isfinite(found) and found > 0):
        weights = float(np.max(np.abs(of_sum))), float(np.max(np.abs(of_total)))
        found = weights[0] / weights[1] if min(weights) > 0 else 1.0
    return min(max(found, 1e-150), 1e150)
