"""Uniform integers, random order and samples without replacement: no modulo, so no bias.

* An integer below m takes the fewest bits that can hold m - 1 and is drawn again while it is m or more.
* A weighted choice looks up such an integer below the sum of the weights among their running sums.
* A random order sorts independent 64-bit keys and starts again when two are equal. Given that all keys differ, every
  order of them is equally likely, so the order is exactly uniform.
* A sample without replacement keeps the first k different values of independent uniform draws: whatever was kept
  before, the next new value is uniform among those left.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, permutations
from typing import TYPE_CHECKING, SupportsIndex, TypeVar, overload

import numpy as np

from dither.arguments import argument_errors
from dither.errors import DataError, NumberError
from dither.noise.entropy import Bits, _rehearsal, stream
from dither.noise.law import check_size
from dither.noise.samplers.table import CHUNK
from dither.numeric.enclosure import to_ball
from dither.numeric.number import integer

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

T = TypeVar("T")
LARGEST_ARRAY = 2**63


@overload
def uniform(below: SupportsIndex, size: None = None) -> int: ...
@overload
def uniform(below: SupportsIndex, size: int | tuple[int, ...]) -> NDArray[np.int64]: ...


@argument_errors
def uniform(below: SupportsIndex, size: int | tuple[int, ...] | None = None) -> int | NDArray[np.int64]:
    """Uniform integers 0..below-1, each equally likely.

    Args:
        below: How many integers there are, at least 1. One draw takes any number of them; an array up to 2^63.
        size: None for one draw as a Python int; a count or a shape for an array of independent draws.

    Raises:
        NumberError: `below` is no whole number above zero, or too large for an array.
        SizeError: `size` is neither a count nor a shape, or it does not fit any memory.

    Example:
        >>> from dither.noise import uniform
        >>> uniform(1)
        0
        >>> uniform(6, (2, 3)).shape
        (2, 3)
    """
    bound = integer(below, name="below", least=1)
    rehearsal = _rehearsal.get()
    if rehearsal is not None:
        return rehearsal.draws(lambda: equally_likely(range(bound), bound), size)  # type: ignore[no-any-return]
    if size is None:
        return uniform_one(bound, stream())
    if bound > LARGEST_ARRAY:
        raise NumberError("below", below, "an array holds 64-bit integers", "single draws, or a bound up to 2**63")
    shape = check_size(size)
    return _many(bound, math.prod(shape), stream()).reshape(shape)


@argument_errors
def weighted(weights: Sequence[int]) -> int:
    """A number 0..n-1, number i with probability weights[i] / sum(weights).

    Args:
        weights: Whole numbers of any size, none negative and not all of them zero.

    Raises:
        NumberError: A weight is negative, or no whole number.
        DataError: All weights are zero, or there are none.

    Example:
        >>> from dither.noise import weighted
        >>> weighted([0, 10**100, 0])
        1
    """
    running = list(accumulate(integer(weight, name="weight", least=0) for weight in weights))
    if not running or running[-1] == 0:
        raise DataError("weights", weights, "something must have a weight above zero", "[3, 1]")
    rehearsal = _rehearsal.get()
    if rehearsal is not None:
        whole = running[-1]
        likely = sorted((i for i, weight in enumerate(weights) if weight), key=lambda i: -weights[i])
        return rehearsal.draws(lambda: ((i, to_ball(Fraction(weights[i], whole))) for i in likely), None)  # type: ignore[no-any-return]
    return bisect_right(running, uniform_one(running[-1], stream()))


def uniform_one(bound: int, bits: Bits) -> int:
    width = (bound - 1).bit_length()
    while True:
        value = bits.bits(width)
        if value < bound:
            return value


def _many(bound: int, count: int, bits: Bits) -> NDArray[np.int64]:
    width = (bound - 1).bit_length()
    result = np.zeros(count, dtype=np.int64)
    if width == 0:
        return result
    size = next(size for size in (8, 16, 32, 64) if size >= width)
    done = 0
    while done < count:
        # The kept proposals are independent and uniform; their order is the order of the result.
        wanted = min(CHUNK, (count - done) * 2**width // bound + 16)
        raw = np.empty(wanted, dtype=f"u{size // 8}")
        bits.fill(raw)
        raw >>= raw.dtype.type(size - width)
        kept = raw[raw < bound] if bound < 2**width else raw
        kept = kept[: count - done]
        result[done : done + kept.size] = kept
        done += kept.size
    return result


def uniform_each(bounds: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """One uniform integer below each of the bounds (all at least 1)."""
    # The smallest 2^w - 1 that is not below bound - 1, by smearing its leading bit downwards.
    mask = (bounds - 1).astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    result = np.zeros(bounds.size, dtype=np.int64)
    todo = np.flatnonzero(bounds > 1)
    while todo.size:
        raw = (bits.words(todo.size) & mask[todo]).astype(np.int64)
        kept = raw < bounds[todo]
        result[todo[kept]] = raw[kept]
        todo = todo[~kept]
    return result


@argument_errors
def permutation(count: SupportsIndex) -> NDArray[np.int64]:
    """The integers 0..count-1 in random order, every order equally likely.

    Args:
        count: How many integers there are.

    Raises:
        NumberError: `count` is negative, or no whole number.
        SizeError: That many do not fit any memory.

    Example:
        >>> from dither.noise import permutation
        >>> sorted(permutation(4).tolist())
        [0, 1, 2, 3]
    """
    (length,) = check_size(integer(count, name="count", least=0))
    rehearsal = _rehearsal.get()
    if rehearsal is not None:
        return np.array(rehearsal.draws(lambda: orders(length, length), None), dtype=np.int64)
    while True:
        keys = stream().words(length)
        order = np.argsort(keys)
        keys = keys[order]
        if not np.any(keys[1:] == keys[:-1]):
            return order.astype(np.int64)


@argument_errors
def choose(population: SupportsIndex, count: SupportsIndex) -> NDArray[np.int64]:
    """A sample without replacement: different integers from 0..population-1 in random order, every such list equally likely.

    Args:
        population: How many integers there are to choose from, up to 2^63.
        count: How many are chosen, at most the population.

    Raises:
        NumberError: One of the two is negative, no whole number or too large.
        SizeError: That many do not fit any memory.

    Example:
        >>> from dither.noise import choose
        >>> len(set(choose(1000, 5).tolist()))
        5
    """
    total = integer(population, name="population", least=0)
    (wanted,) = check_size(integer(count, name="count", least=0))
    if total > LARGEST_ARRAY:
        raise NumberError("population", population, "an array holds 64-bit integers", "a population up to 2**63")
    if wanted > total:
        raise NumberError("count", count, f"there are only {total} to choose from", f"a count up to {total}")
    rehearsal = _rehearsal.get()
    if rehearsal is not None:
        return np.array(rehearsal.draws(lambda: orders(total, wanted), None), dtype=np.int64)
    if total <= 4 * wanted:
        return permutation(total)[:wanted]
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < wanted:
        # Fewer than a quarter are taken, so a few more draws than are missing are enough most of the time.
        missing = wanted - drawn.size
        drawn = np.concatenate([drawn, uniform(total, missing + missing // 2 + 8)])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return drawn[:wanted]


def equally_likely(outcomes: Iterable[T], count: int) -> Iterator[tuple[T, arb]]:
    """Each of the outcomes with the same probability."""
    return ((outcome, to_ball(Fraction(1, count))) for outcome in outcomes)


def orders(population: int, count: int) -> Iterator[tuple[tuple[int, ...], arb]]:
    """Every list of different integers, each with the same probability."""
    return equally_likely(permutations(range(population), count), math.perm(population, count))
