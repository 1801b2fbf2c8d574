"""Post-processing of a frequency estimate: from an unbiased one to a distribution.

raw         as it is: unbiased, maybe below zero, and its sum need not be one
clip        negative ones to zero, and all divided by their sum: biased, and the largest most of all
simplex     the nearest point (least squares) among all distributions: everything lowered by one number, and
            negative ones to zero
likelihood  the distribution under which the reports are likeliest; for direct encoding it has a formula
bayes, smooth   towards the likeliest one step by step, stopping in time (`collect/bayesian_update.py`)

`invert` gives the raw estimate of any square channel; `project` makes it a distribution.

Water-filling. Sort the shares of the reports, h(1) >= h(2) >= ..., let t(k) = (h(1) + ... + h(k)) / (D + k q), with
q = 1 / (e^epsilon + d - 1) and D = (e^epsilon - 1) q, and k the last place with h(k) > q t(k).

Theorem. p(i) = max(0, h(i) / t(k) - q) / D is the only maximum-likelihood distribution (`reconstruct.md` has the proof).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import DataError, NumberError, SizeError
from dither.numeric.number import NumberLike, RealLike, exact
from dither.numeric.simplex import nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CountsLike: TypeAlias = "Sequence[RealLike] | NDArray[Any]"  # a number for each value
MatrixLike: TypeAlias = "Sequence[Sequence[NumberLike]] | NDArray[Any]"  # a row for each input

WORST_CONDITION = 1e8  # of a matrix that is inverted: half of the digits are left

__all__ = ["clip", "invert", "simplex", "water_filling"]


def project(raw: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """A raw estimate by one of the three methods that need nothing else."""
    if method == "raw":
        return raw
    return clip(raw) if method == "clip" else simplex(raw)


@argument_errors
def clip(raw: CountsLike) -> NDArray[np.float64]:
    """Negative entries to zero, and the rest divided by their sum; uniform where none is above zero.

    Args:
        raw: an estimate of frequencies.

    Raises:
        DataError, SizeError: it is no row of numbers, or one is not finite.

    Example:
        >>> from dither.local import reconstruct
        >>> reconstruct.clip([0.75, 0.75, -0.5]).tolist()
        [0.5, 0.5, 0.0]
    """
    import numpy as np

    kept = np.maximum(read_estimate(raw), 0.0)
    whole = kept.sum()
    return np.asarray(kept / whole) if whole > 0 else np.full_like(kept, 1 / kept.size)


@argument_errors
def simplex(raw: CountsLike) -> NDArray[np.float64]:
    """The nearest distribution (least squares): max(raw - t, 0) for the t that makes it add up to one.

    Args:
        raw: an estimate of frequencies.

    Raises:
        DataError, SizeError: it is no row of numbers, or one is not finite.

    Example:
        >>> from dither.local import reconstruct
        >>> reconstruct.simplex([1.0, 0.5, -0.5]).tolist()
        [0.75, 0.25, 0.0]
    """
    return nearest(read_estimate(raw), 1.0)


@argument_errors
def water_filling(shares: CountsLike, epsilon: NumberLike) -> NDArray[np.float64]:
    """The maximum-likelihood distribution for k-ary randomized response (direct encoding); time d log d.

    Args:
        shares: of the reports of each value, or their counts.
        epsilon: the privacy parameter of one report.

    Raises:
        DataError, SizeError: shares are no row of numbers, one is below zero, or all are zero.
        NumberError: epsilon is not a positive number.

    Example:
        >>> from dither.local import reconstruct
        >>> reconstruct.water_filling([600, 400], "ln(3)").round(6).tolist()
        [0.7, 0.3]
    """
    import numpy as np

    h, e = read_shares(shares), float(exact(epsilon, name="epsilon", positive=True))
    small = math.exp(-e)
    whole = 1 + (h.size - 1) * small
    q, gap = small / whole, -math.expm1(-e) / whole  # q and D
    falling = np.sort(h)[::-1]
    levels = np.cumsum(falling) / (gap + q * np.arange(1, h.size + 1))
    last = np.flatnonzero(falling > q * levels)[-1]  # the first always is: 1 > q / (D + q)
    found = np.maximum(h / levels[last] - q, 0.0)
    return np.asarray(found / found.sum())


@argument_errors
def invert(channel: Channel | MatrixLike, shares: CountsLike) -> NDArray[np.float64]:
    """The raw estimate by inversion: the p with p C = shares, for a square channel. It may have entries below zero.

    Args:
        channel: a channel, or its matrix with a row for each input.
        shares: of the reports of each output, or their counts.

    Raises:
        DataError, SizeError: the channel is not square, or shares are no row of numbers of its size.
        NumberError: the matrix is singular, or nearly so.

    Example:
        >>> from dither.local import reconstruct
        >>> reconstruct.invert([["3/4", "1/4"], ["1/4", "3/4"]], [600, 400]).round(6).tolist()
        [0.7, 0.3]
    """
    import numpy as np

    matrix = (channel if isinstance(channel, Channel) else Channel(channel)).matrix
    height, width = matrix.shape
    if height != width:
        why = "it has not as many outputs as inputs, so there is nothing to invert"
        raise SizeError("channel", matrix.shape, why, "a square channel, or the method 'bayes'")
    h = read_shares(shares, width)
    condition = float(np.linalg.cond(matrix))
    if not condition <= WORST_CONDITION:
        why = f"two inputs look the same to it, or nearly so: it multiplies errors by {condition:.1e}"
        raise NumberError("channel", f"{height} by {width}", why, "the method 'bayes', which needs no inverse")
    return np.asarray(np.linalg.solve(matrix.T, h))


def read_shares(counts: CountsLike, size: int | None = None) -> NDArray[np.float64]:
    """Counts of reports, or shares of them, as shares that add up to one."""
    import numpy as np

    found = read_counts(counts, size)
    return np.asarray(found / found.sum())


def read_counts(counts: CountsLike, size: int | None = None, *, name: str = "counts") -> NDArray[np.float64]:
    """A row of numbers that are not below zero, and not all zero."""
    import numpy as np

    found = _numbers(counts, name)
    if found.ndim != 1 or found.size < 1 or (size is not None and found.size != size):
        wanted = "one number for each value" if size is None else f"{size} numbers"
        raise SizeError(name, found.shape, "the channel has another size", wanted)
    if not np.isfinite(found).all() or (found < 0).any() or not found.sum() > 0:
        raise DataError(name, counts, "none is below zero, and at least one is above", "counts of reports")
    return found


def read_estimate(raw: CountsLike) -> NDArray[np.float64]:
    """A row of finite numbers, which may be below zero."""
    import numpy as np

    found = _numbers(raw, "raw")
    if found.ndim != 1 or found.size < 1:
        raise SizeError("raw", found.shape, "it is no row of numbers", "one number for each value")
    if not np.isfinite(found).all():
        raise DataError("raw", raw, "a frequency is finite", "one number for each value")
    return found


def _numbers(values: CountsLike, name: str) -> NDArray[np.float64]:
    import numpy as np

    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(name, values, "they are not numbers", "one number for each value") from error
