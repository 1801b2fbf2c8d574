"""Projections of released estimates: no counts below 0, the right total, prefixes that rise. Free: nothing here sees data.

    nonnegative(y)          the nearest point with no count below 0
    simplex(y, total)       the nearest point with no count below 0 and this total
    isotonic(y)             the nearest sequence that never falls; inside [low, high] where they are given
    tie_down(p, total)      prefixes moved on a straight line so that the last is the total

Nearest is in squares. The first three are projections onto convex sets that hold the truth, so they never move a release
further from it, and doing them twice changes nothing.

Proofs. nonnegative: cell by cell. simplex: `numeric/simplex.py`. isotonic: neighbours that fall share one value in the
nearest sequence, so they are pooled into their mean until none falls; a whole falling run can be pooled at once, since the
mean of its first part lies above the rest. Cutting the result at low and high gives the nearest sequence inside them.
tie_down is what least squares gives for noise of one variance in every cell and a known total.

Ayer, Brunk, Ewing, Reid and Silverman 1955; Held, Wolfe and Crowder 1974.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.arguments import argument_errors
from dither.density.histograms.columns import EstimatesLike
from dither.errors import DataError, NumberError, SizeError
from dither.numeric.number import NumberLike, rational
from dither.numeric.simplex import nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROUNDS = 64  # of pooling whole runs at once, before what is left is pooled one by one
EXAMPLE = "[3.2, -0.5, 1.1]"


@argument_errors
def nonnegative(counts: EstimatesLike) -> Floats:
    """The nearest counts that are not below 0.

    Args:
        counts: estimates, one for each cell.

    Raises:
        DataError: no list of numbers.
        SizeError: an empty list, or a nested one.
        NumberError: an estimate that is not finite.

    Example:
        >>> from dither.density import nonnegative
        >>> nonnegative([3.25, -0.5, 1.0]).tolist()
        [3.25, 0.0, 1.0]
    """
    import numpy as np

    return np.maximum(read_estimates(counts), 0.0)


@argument_errors
def simplex(counts: EstimatesLike, total: NumberLike) -> Floats:
    """Projection onto the simplex: the nearest counts that are not below 0 and add up to a total.

    Args:
        counts: estimates, one for each cell.
        total: what they add up to, 0 or more.

    Raises:
        DataError: no list of numbers.
        SizeError: an empty list, or a nested one.
        NumberError: an estimate that is not finite, or a total below 0.

    Example:
        >>> from dither.density import simplex
        >>> simplex([3.5, -0.5, 1.5], 4).tolist()
        [3.0, 0.0, 1.0]
    """
    import numpy as np

    y, size = read_estimates(counts), read_total(total)
    return nearest(y, size) if size else np.zeros(y.size)


@argument_errors
def isotonic(values: EstimatesLike, *, low: NumberLike | None = None, high: NumberLike | None = None) -> Floats:
    """Isotonic regression: the nearest sequence that never falls, within low and high where they are given.

    Args:
        values: estimates in order, such as running sums.
        low: what no value lies below; nothing unless said.
        high: what no value lies above; nothing unless said.

    Raises:
        DataError: no list of numbers.
        SizeError: an empty list, or a nested one.
        NumberError: a value that is not finite, or `low` above `high`.

    Example:
        >>> from dither.density import isotonic
        >>> isotonic([1.0, 3.0, 2.0, 4.0], high=3).tolist()
        [1.0, 2.5, 2.5, 3.0]
    """
    import numpy as np

    y = read_estimates(values)
    ends = [None if end is None else float(rational(end, name=name)) for end, name in ((low, "low"), (high, "high"))]
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        raise NumberError("low, high", (low, high), "the lower end does not lie above the upper one", "low=0, high=1")
    means, weights = y, np.ones(y.size)
    for _ in range(ROUNDS):
        falls = means[1:] < means[:-1]
        if not falls.any():
            break
        starts = np.flatnonzero(np.concatenate(([True], ~falls)))
        sums = np.add.reduceat(means * weights, starts)
        weights = np.add.reduceat(weights, starts)
        means = sums / weights
    else:
        means, weights = _pooled(means.tolist(), weights.tolist())
    found = np.repeat(means, weights.astype(np.int64))
    if ends[0] is not None:
        found = np.maximum(found, ends[0])
    return found if ends[1] is None else np.minimum(found, ends[1])


def _pooled(means: list[float], weights: list[float]) -> tuple[Floats, Floats]:
    """Blocks pooled one by one, each looking back: every block is made and lost once."""
    import numpy as np

    found: list[float] = []
    sizes: list[float] = []
    for value, size in zip(means, weights, strict=True):
        mean, weight = value, size
        while found and found[-1] > mean:
            before = sizes.pop()
            mean = (found.pop() * before + mean * weight) / (before + weight)
            weight += before
        found.append(mean)
        sizes.append(weight)
    return np.array(found), np.array(sizes)


@argument_errors
def tie_down(prefixes: EstimatesLike, total: NumberLike) -> Floats:
    """Prefixes moved so that the last is the total, the j-th of m by j/m of what the last is moved by.

    Args:
        prefixes: estimates of running sums, in order.
        total: what the last of them is, 0 or more.

    Raises:
        DataError: no list of numbers.
        SizeError: an empty list, or a nested one.
        NumberError: an estimate that is not finite, or a total below 0.

    Example:
        >>> from dither.density import tie_down
        >>> tie_down([1.0, 3.0, 8.0], 5).tolist()
        [0.0, 1.0, 5.0]
    """
    import numpy as np

    y = read_estimates(prefixes)
    found: Floats = y - (y[-1] - read_total(total)) * (np.arange(1, y.size + 1) / y.size)
    found[-1] = read_total(total)
    return found


def read_estimates(values: EstimatesLike) -> Floats:
    """Estimates as doubles: a list of one finite number or more."""
    import numpy as np

    if not isinstance(values, np.ndarray) and not isinstance(values, (list, tuple)):
        raise DataError("estimates", type(values).__name__, "they are a list of numbers", EXAMPLE)
    try:
        if np.asarray(values).dtype.kind == "c":  # numpy would drop the imaginary part, with a warning
            raise TypeError
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError("estimates", values, "they are a list of numbers", EXAMPLE) from None
    if array.ndim != 1 or array.size == 0:
        raise SizeError("shape of estimates", array.shape, "one number or more, in one list", EXAMPLE)
    if not np.isfinite(array).all():
        raise NumberError("estimates", values, "they are finite", EXAMPLE)
    return array


def read_total(total: NumberLike) -> float:
    """A public total as a double: a number that is not below 0."""
    return float(rational(total, name="total", nonnegative=True))
