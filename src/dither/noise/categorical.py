"""Exact softmax draws: candidate i of many with weight exp(rate * score_i), scores being integers.

This is the sampler under the exponential mechanism and its relatives. Only the gap to the best score matters, so the
draw is left to `cell_sampler.py`. Rational weights exp(w_i) are scores after multiplication with a common denominator:
see `from_weights`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, overload

import numpy as np

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.noise.cell_sampler import CellSampler
from dither.noise.entropy import _rehearsal, stream
from dither.noise.law import check_size
from dither.numeric.lattice import as_array
from dither.numeric.number import NumberLike, exact, rational
from dither.numeric.parse import LARGEST_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CANDIDATES = 2**27
ScoresLike: TypeAlias = "Sequence[SupportsIndex] | NDArray[Any]"


@argument_errors
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
        gaps = _gaps(scores)
        if self._rate == 0:
            gaps = np.zeros(gaps.size, dtype=np.uint64)
        self._sampler = CellSampler(gaps, self._rate)

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

    @overload
    def sample(self, size: None = None) -> int: ...
    @overload
    def sample(self, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...

    def sample(self, size: int | tuple[int, ...] | None = None) -> int | NDArray[np.int64]:
        """The number of one candidate; with a `size` (a count or a shape) an array of independent draws."""
        rehearsal = _rehearsal.get()
        if rehearsal is not None:
            return rehearsal.draws(self._sampler.outcomes, size)  # type: ignore[no-any-return]
        if size is None:
            return self._sampler.one(stream())
        shape = check_size(size)
        return self._sampler.many(math.prod(shape)).reshape(shape)

    def __repr__(self) -> str:
        return f"Categorical({self._sampler.gaps.size} candidates, rate='{self._rate}')"


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
