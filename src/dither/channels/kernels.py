"""Matrix-free channels: products with a vector in time proportional to its length, or by a Fourier transform.

    push(p)    p C: how likely each output is, for a prior p
    pull(w)    C w: what each input expects, for a value w of each output
    push_squares(p)    p C with every entry of C squared: the mean of the squared chance of an output

    FlatKernel(size, epsilon)              C = c 1 1' + c (E - 1) I with c = 1 / (E + size - 1): a sum and a product
    GeometricKernel(size, epsilon)         C = K diag(k), K[i, j] = a^|i - j|, a = e^-epsilon, k = (1 - a)/(1 + a) inside
                                           and 1/(1 + a) at the ends (all noise beyond an end stays at it). Within a
                                           block K is a small matrix; what lies outside weighs a^m at distance m
                                           from the edge, and its sum runs from block to block:
                                           f(i) = v(i) + b f(i - 1), b = a^block
    GridKernel(width, height, rate)        C[x, z] = exp(-rate |x - z|) / Z(x), |.| Euclidean: a convolution, by a Fourier
                                           transform of twice the size, and a division by Z

Everything is in floats, for estimates and utilities; no promise is computed from it. Several vectors at once are rows of
an array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from attrs import frozen

from dither.arguments import argument_errors
from dither.errors import DataError, SizeError
from dither.numeric.number import Number, NumberLike, RealLike, exact, integer
from dither.numeric.representation import short_repr
from dither.privacy.records import read_epsilon

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FlatKernel", "GeometricKernel", "GridKernel"]

VectorLike: TypeAlias = "Sequence[RealLike] | Sequence[Sequence[RealLike]] | NDArray[Any]"
BLOCK = 64  # places that are multiplied out at once


@argument_errors
@frozen(slots=False, init=False)
class FlatKernel:
    """k-ary randomized response: the truth with weight e^epsilon, every other value with weight 1.

    Args:
        size: How many values there are, at least 2.
        epsilon: The promise, an exact number above zero.

    Raises:
        NumberError: `size` is no such whole number, or `epsilon` is not above zero.

    Example:
        >>> from dither import ln
        >>> from dither.channels.kernels import FlatKernel
        >>> FlatKernel(2, ln(3)).push([1, 0]).round(6).tolist()
        [0.75, 0.25]
    """

    size: int
    epsilon: Number
    __repr__ = short_repr

    def __init__(self, size: SupportsIndex, epsilon: NumberLike) -> None:
        self.__attrs_init__(integer(size, name="size", least=2), read_epsilon(epsilon))

    @cached_property
    def _weights(self) -> tuple[float, float]:
        """Of what is the same for all outputs, and of the truth on top of it: c and c (E - 1)."""
        small = math.exp(-float(self.epsilon))
        whole = 1 + (self.size - 1) * small
        return small / whole, -math.expm1(-float(self.epsilon)) / whole

    def push(self, prior: VectorLike) -> NDArray[np.float64]:
        """How likely each output is, for a `prior` of the inputs."""
        import numpy as np

        vector = _vector(prior, self.size)
        every, own = self._weights
        return np.asarray(own * vector + every * vector.sum(axis=-1, keepdims=True))

    pull = push  # the matrix is symmetric

    def push_squares(self, prior: VectorLike) -> NDArray[np.float64]:
        """`push` of `prior` with squared entries: c^2 everywhere, and c^2 (E^2 - 1) more for the truth."""
        import numpy as np

        vector = _vector(prior, self.size)
        every, own = self._weights
        return np.asarray(own * (own + 2 * every) * vector + every**2 * vector.sum(axis=-1, keepdims=True))


@argument_errors
@frozen(slots=False, init=False)
class GeometricKernel:
    """The truncated geometric mechanism on 0..size - 1.

    Args:
        size: How many answers there are.
        epsilon: The promise between answers that are one apart, an exact number above zero.

    Raises:
        NumberError: `size` is no whole number above zero, or `epsilon` is not above zero.

    Example:
        >>> from dither import ln
        >>> from dither.channels.kernels import GeometricKernel
        >>> GeometricKernel(3, ln(3)).push([1, 0, 0]).round(6).tolist()
        [0.75, 0.166667, 0.083333]
    """

    size: int
    epsilon: Number
    __repr__ = short_repr

    def __init__(self, size: SupportsIndex, epsilon: NumberLike) -> None:
        self.__attrs_init__(integer(size, name="size", least=1), read_epsilon(epsilon))

    @cached_property
    def scales(self) -> tuple[float, NDArray[np.float64]]:
        """a = e^-epsilon, and the scale k of each output."""
        import numpy as np

        a = math.exp(-float(self.epsilon))
        scales = np.full(self.size, np.tanh(float(self.epsilon) / 2))  # (1 - a)/(1 + a), without cancellation
        scales[[0, -1]] = 1 / (1 + a)
        return a, scales if self.size > 1 else np.ones(1)

    def push(self, prior: VectorLike) -> NDArray[np.float64]:
        """How likely each output is, for a `prior` of the inputs."""
        return _smooth(_vector(prior, self.size), float(self.epsilon)) * self.scales[1]

    def pull(self, values: VectorLike) -> NDArray[np.float64]:
        """The mean of `values` of the outputs, for each input."""
        return _smooth(_vector(values, self.size) * self.scales[1], float(self.epsilon))

    def push_squares(self, prior: VectorLike) -> NDArray[np.float64]:
        """`push` of `prior` with squared entries: a^2 in place of a, k^2 in place of k."""
        return _smooth(_vector(prior, self.size), 2 * float(self.epsilon)) * self.scales[1] ** 2


def _smooth(v: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """The sum of e^(-rate |i - j|) v(j) over all j, for every i: in blocks, and then from block to block."""
    import numpy as np

    count = v.shape[-1]
    if count <= BLOCK:
        return np.asarray(v @ _powers(rate, count))
    found = _blocks(v) @ _powers(rate, BLOCK)
    carried = np.empty((*found.shape[:-1], 2))  # by how much the ends of the block on the left, on the right, weigh
    carried[..., 0] = _before(found[..., -1], BLOCK * rate)
    carried[..., 1] = _before(found[..., ::-1, 0], BLOCK * rate)[..., ::-1]
    found += carried @ _edges(rate)
    return np.asarray(found.reshape(*v.shape[:-1], -1)[..., :count])


def _running(v: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """The sum of e^(-rate (i - j)) v(j) over all j up to i: f(i) = v(i) + a f(i - 1)."""
    import numpy as np

    count = v.shape[-1]
    if count <= 2 * BLOCK:
        return np.asarray(v @ _powers(rate, count, left=True))
    found = _blocks(v) @ _powers(rate, BLOCK, left=True)
    found += _before(found[..., -1], BLOCK * rate)[..., None] * _edges(rate)[0]
    return np.asarray(found.reshape(*v.shape[:-1], -1)[..., :count])


def _before(v: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """The running sum one place further left, and nothing at the first place."""
    import numpy as np

    found = np.zeros_like(v)
    found[..., 1:] = _running(v[..., :-1], rate)
    return found


def _blocks(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last axis cut into blocks, the last block padded with zeros."""
    import numpy as np

    count = -(-v.shape[-1] // BLOCK)
    if count * BLOCK > v.shape[-1]:
        filled = np.zeros((*v.shape[:-1], count * BLOCK))
        filled[..., : v.shape[-1]] = v
        v = filled
    return np.asarray(v.reshape(*v.shape[:-1], count, BLOCK))


@lru_cache(maxsize=64)
def _powers(rate: float, size: int, left: bool = False) -> NDArray[np.float64]:
    import numpy as np

    place = np.arange(size)
    found = np.exp(-rate * np.abs(place[:, None] - place))
    return np.triu(found) if left else found


@lru_cache(maxsize=64)
def _edges(rate: float) -> NDArray[np.float64]:
    """What an end next to a block weighs at its places: e^-rate, e^(-2 rate), ..., and the other way round."""
    import numpy as np

    falling = np.exp(-rate * np.arange(1, BLOCK + 1))
    return np.stack([falling, falling[::-1]])


@argument_errors
@frozen(slots=False, init=False)
class GridKernel:
    """The exponential mechanism on the cells of a grid: likelier the nearer to the true cell; vectors go row by row.

    Args:
        width: How many cells a row has.
        height: How many rows there are.
        rate: By how much the logarithm of a weight falls for each cell of Euclidean distance, an exact number above zero.

    Raises:
        NumberError: `width` or `height` is no whole number above zero, or `rate` is not above zero.

    Example:
        >>> from dither.channels.kernels import GridKernel
        >>> GridKernel(3, 2, 1).push([0, 1, 0, 0, 0, 0]).argmax().item()
        1
    """

    width: int
    height: int
    rate: Number
    __repr__ = short_repr

    def __init__(self, width: SupportsIndex, height: SupportsIndex, rate: NumberLike) -> None:
        across, down = integer(width, name="width", least=1), integer(height, name="height", least=1)
        self.__attrs_init__(across, down, exact(rate, name="rate", positive=True))

    @cached_property
    def _transform(self) -> tuple[NDArray[np.complex128], tuple[int, int]]:
        import numpy as np

        shape = (2 * self.height, 2 * self.width)
        rows, columns = (np.minimum(np.arange(n), n - np.arange(n)) for n in shape)
        weights = np.exp(-float(self.rate) * np.hypot(rows[:, None], columns[None, :]))
        return np.fft.rfft2(weights), shape

    def _spread(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of exp(-rate |x - z|) v(x) over all cells x, for every cell z."""
        import numpy as np

        transform, shape = self._transform
        cells = vector.reshape(*vector.shape[:-1], self.height, self.width)
        spread = np.fft.irfft2(np.fft.rfft2(cells, s=shape) * transform, s=shape)
        return np.asarray(spread[..., : self.height, : self.width].reshape(vector.shape))

    @cached_property
    def normaliser(self) -> NDArray[np.float64]:
        """Z(x), the sum of the weights around each cell: smaller near the border."""
        import numpy as np

        return self._spread(np.ones(self.width * self.height))

    def push(self, prior: VectorLike) -> NDArray[np.float64]:
        """How likely each cell is to be reported, for a `prior` of the true cells."""
        import numpy as np

        found = self._spread(_vector(prior, self.width * self.height) / self.normaliser)
        return np.maximum(found, 0.0)  # the transform is off by some 1e-16 of the largest

    def pull(self, values: VectorLike) -> NDArray[np.float64]:
        """The mean of `values` of the reported cells, for each true cell."""
        return self._spread(_vector(values, self.width * self.height)) / self.normaliser

    def push_squares(self, prior: VectorLike) -> NDArray[np.float64]:
        """`push` of `prior` with squared entries: twice the rate, and Z squared."""
        import numpy as np

        found = self._twice._spread(_vector(prior, self.width * self.height) / self.normaliser**2)
        return np.maximum(found, 0.0)

    @cached_property
    def _twice(self) -> GridKernel:
        return GridKernel(self.width, self.height, 2 * self.rate)


def _vector(values: VectorLike, size: int) -> NDArray[np.float64]:
    import numpy as np

    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("vector", values, "it is no list of numbers", f"{size} numbers") from error
    if not np.isfinite(found).all():
        raise DataError("vector", "nan or inf", "its entries are finite", f"{size} numbers")
    if found.ndim == 0 or found.shape[-1] != size:
        raise SizeError("vector", found.shape, f"the channel has {size}", f"{size} numbers")
    return found
