"""Confidence intervals for averages, variances and covariances of counters with noise, by Fieller's method.

A released total N and a released sum S are the true n and s with noise, and the truth is x = s / n. Then

    S - x N  =  (noise of S) - x (noise of N)

has a law that is known for every x, whatever n and s are. All x for which it stays within the (1 - alpha) quantile c(x) of
that law are a set that covers the truth with probability 1 - alpha at least: no approximation for large n, and no
division by a total that may be near zero. Where the total does not stand out from its noise the set is everything that is
possible; so it is, by choice, where it is empty or the total is less than one record.

Where s depends on something else that is not known (a variance on the mean: `moments/variance_intervals.py`), the set of
that is taken first, for a part of alpha, and all of it is gone through: both hold with probability 1 - alpha. Sets are gone
through in cells, and again in smaller cells between their ends. `moments/ratio_intervals.md` proves the quantile, and what
holds in a whole cell.

Fieller 1954; Anderson 1955; Proschan 1965.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHARES = 256  # cells of a share
AT_ONCE = 4096  # groups, in these
CELLS = 32  # of a variance or a covariance
ROUNDS = 3
APART = 1 + 1 / 512  # weights, from one to the next
LEAST = 2.0**-10  # of the largest weight: smaller ones are taken for this, which adds nothing that is seen
NEWTON = 9  # steps, from above
WIDER = 1 + 1e-6  # thousands of times what doubles can be off here
FARTHEST = 600.0  # log odds beyond which doubles hold no probability, and the bound of Chernoff is taken
FUZZ = 1e-12  # of the numbers that are compared


class CounterNoise(NamedTuple):
    """Two-sided geometric noise, or rounded normal noise, in records."""

    scale: float  # of the exponential tails, or the deviation; rounded up
    step: float  # how far it is from its continuous counterpart: one whole number, or a half
    normal: bool = False


class Pivot(NamedTuple):
    """The pivotal quantity S - x N, as far as it is known: for each cell of x (last axis) and of what else is not known."""

    weights: Floats  # the largest size of the weight of each noise: one axis more
    least: Floats  # S at its least
    most: Floats  # S at its most


def quantile(weights: Floats, noise: CounterNoise, odds: float) -> Floats:
    """What |sum of weights times noise| stays within but for probability e^-odds, from above; for all rows at once."""
    import numpy as np

    if noise.normal:
        beyond = -NormalDist().inv_cdf(math.exp(-odds) / 2) if odds < FARTHEST else math.sqrt(2 * (odds + math.log(2)))
        length = np.sqrt(np.sum(np.square(weights), axis=-1))
        normal: Floats = length * (beyond * noise.scale * WIDER) + np.sum(weights, axis=-1) * noise.step
        return normal
    top = np.max(weights, axis=-1)
    shares = np.sort(np.maximum(weights / np.where(top > 0, top, 1.0)[..., None], LEAST), axis=-1)
    for at in range(1, shares.shape[-1]):
        shares[..., at] = np.maximum(shares[..., at], shares[..., at - 1] * APART)
    largest = shares[..., -1:]
    # relative to the largest: e^-x is taken out, and x is counted in scales of the largest weight
    steep = (largest - shares) / shares
    apart = (shares[..., :, None] - shares[..., None, :]) * (shares[..., :, None] + shares[..., None, :])
    own = np.eye(shares.shape[-1], dtype=bool)
    factors = np.prod(np.where(own, 1.0, np.square(shares)[..., :, None] / np.where(own, 1.0, apart)), axis=-1)
    x = np.full(top.shape, 2 * (odds + math.log(2) + 0.3 * shares.shape[-1]))  # 2 (4/3)^k e^(-x/2): Chernoff
    for _ in range(NEWTON):
        parts = factors * np.exp(-np.minimum(x[..., None] * steep, 200.0))
        rest = np.sum(parts, axis=-1)
        slope = 1 + np.sum(parts * steep, axis=-1) / rest
        x = np.maximum(x + (np.log(rest * WIDER) - x + odds) / slope, 0.0)
    found: Floats = top * (x * largest[..., 0] * noise.scale * WIDER) + np.sum(weights, axis=-1) * noise.step
    return found


def interval(
    total: Floats | float,
    limits: tuple[float, float],
    pivot: Callable[[Floats, Floats], Pivot],
    noise: CounterNoise,
    odds: float,
) -> tuple[Floats, Floats]:
    """The ends of all x inside the limits with |S - x N| within its quantile; `pivot` says what is known in each cell."""
    import numpy as np

    low, high, some = interval_if_any(total, limits, pivot, noise, odds)
    return np.where(some, low, limits[0]), np.where(some, high, limits[1])


def interval_if_any(
    total: Floats | float,
    limits: tuple[Floats | float, Floats | float],
    pivot: Callable[[Floats, Floats], Pivot],
    noise: CounterNoise,
    odds: float,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The same, and whether there is any; not where the total is less than one record.

    N may have an axis, one entry a group, and so may the limits: it comes first in what `pivot` gets, and in what it gives.
    """
    import numpy as np

    whole = np.asarray(total, dtype=np.float64)
    low, high = (np.broadcast_to(np.asarray(limit, dtype=np.float64), whole.shape) for limit in limits)
    known = whole >= 1
    for _ in range(ROUNDS):
        ends = np.linspace(low, high, CELLS + 1, axis=-1)
        found = pivot(ends[..., :-1], ends[..., 1:])
        between = (1,) * (found.least.ndim - whole.ndim - 1)  # axes of what else is not known
        starts, stops = (part.reshape(*whole.shape, *between, CELLS) for part in (ends[..., :-1], ends[..., 1:]))
        of = np.maximum(whole, 1.0).reshape(*whole.shape, *between, 1)
        room = quantile(found.weights, noise, odds)
        room = room * WIDER + FUZZ * (np.abs(found.least) + np.abs(found.most) + of)
        first = np.maximum((found.least - room) / of, starts)
        last = np.minimum((found.most + room) / of, stops)
        fits = first <= last
        axes = tuple(range(whole.ndim, fits.ndim))
        going = known & (high > low)
        some = fits.any(axis=axes)
        known = known & (some | np.logical_not(going))
        going = going & some
        low = np.where(going, np.where(fits, first, np.inf).min(axis=axes), low)
        high = np.where(going, np.where(fits, last, -np.inf).max(axis=axes), high)
    return np.maximum(low, limits[0]), np.minimum(high, limits[1]), known


def ratio_interval(
    total: Floats | float, sum_: Floats | float, of_total: Floats, of_sum: Floats, noise: CounterNoise, odds: float
) -> tuple[Floats, Floats]:
    """For a share from 0 to 1: the weights of each noise in the total and in the sum are given."""
    import numpy as np

    low, high = shares_within(total, sum_, share_quantiles(of_total, of_sum, noise, odds), nearest=False)
    known = np.asarray(total) >= 1
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def share_quantiles(of_total: Floats, of_sum: Floats, noise: CounterNoise, odds: float) -> Floats:
    """What |S - x N| stays within for all x of a cell, for each cell of shares: the same for all groups."""
    import numpy as np

    ends = np.arange(SHARES + 1) / SHARES
    sizes = np.sort(np.abs(of_sum - ends[:, None] * of_total), axis=-1)[:, ::-1]
    sums = np.cumsum(sizes, axis=-1)
    return quantile(np.diff(np.maximum(sums[:-1], sums[1:]), axis=-1, prepend=0.0), noise, odds) * WIDER


def shares_within(
    total: Floats | float, sum_: Floats | float, room: Floats, *, nearest: bool = True
) -> tuple[Floats, Floats]:
    """The ends of all x from 0 to 1 with |S - x N| within the room of its cell.

    Where there is none, noise being beyond its quantile for every x: of the nearest cell, or of all of them.
    """
    import numpy as np

    whole, part = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (total, sum_)))
    if whole.ndim and len(whole) > AT_ONCE:
        starts = range(0, len(whole), AT_ONCE)
        pieces = [shares_within(whole[at : at + AT_ONCE], part[at : at + AT_ONCE], room, nearest=nearest) for at in starts]
        low, high = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
        return low, high
    ends = np.arange(SHARES + 1) / SHARES
    n, s = whole[..., None], part[..., None]
    room = room + FUZZ * (np.abs(s) + np.abs(n))
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = (s - room) / n, (s + room) / n
    first, last = np.minimum(first, last), np.maximum(first, last)
    flat, inside = n == 0, np.abs(s) <= room  # a total of 0: the same for every x
    first, last = np.where(flat, np.where(inside, 0.0, 2.0), first), np.where(flat, np.where(inside, 1.0, -1.0), last)
    first, last = np.maximum(first, ends[:-1]), np.minimum(last, ends[1:])
    fits = first <= last
    taken = ~fits.any(axis=-1, keepdims=True)
    if nearest:
        off = np.abs(s - n * (ends[:-1] + ends[1:]) / 2) - room
        taken = taken & (np.arange(SHARES) == np.argmin(off, axis=-1)[..., None])
    low = np.where(taken, ends[:-1], np.where(fits, first, np.inf)).min(axis=-1)
    high = np.where(taken, ends[1:], np.where(fits, last, -np.inf)).max(axis=-1)
    return low, high
