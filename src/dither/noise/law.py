"""Probability laws on the integers: draws, probability mass, tails and quantiles.

A law states its weight (probability or density up to a factor), its tail and its mass as balls, which hold at any
working precision; everything that users call follows from these.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count as naturals
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from dither.errors import NumberError, SizeError
from dither.noise.entropy import _rehearsal
from dither.numeric.balls import MOST_BITS
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number, NumberLike, exact, integer, rational
from dither.numeric.search import halve_integers, surely

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

SMALLEST = Fraction(1, 2**20)
LARGEST = Fraction(2**60)


class Sampler(ABC):
    """How a law is drawn: one integer, or many at once."""

    @abstractmethod
    def one(self) -> int: ...

    @abstractmethod
    def many(self, count: int) -> NDArray[np.int64] | NDArray[np.object_]: ...


class Law(ABC):
    """A probability law on the integers, symmetric unless `two_sided` is False (then on 0, 1, 2, ...)."""

    two_sided = True

    # -- what a law states about itself ------------------------------------------------------------------------

    @abstractmethod
    def _key(self) -> tuple[object, ...]:
        """What the law is made of: equal keys, equal laws."""

    @abstractmethod
    def sampler(self) -> Sampler:
        """The sampler of these parameters, built once."""

    @abstractmethod
    def above(self, k: int) -> arb:
        """A ball around P(X > k), for k >= 0."""

    @abstractmethod
    def mass(self, k: int) -> arb:
        """A ball around P(X = k)."""

    def exactly_above(self, k: int) -> Fraction | None:
        """P(X > k) for k >= 0, where it is rational and small enough to be written out."""
        return None

    def cdf(self, k: int) -> arb:
        """A ball around P(X <= k)."""
        if k >= 0:
            return 1 - self.above(k)
        return self.above(-k - 1) if self.two_sided else to_ball(0)

    def _outcomes(self) -> Iterator[tuple[int, arb]]:
        """All integers with their probabilities, the likeliest first."""
        for k in naturals():
            yield k, self.mass(k)
            if self.two_sided and k:
                yield -k, self.mass(-k)

    # -- draws -------------------------------------------------------------------------------------------------

    @overload
    def sample(self, size: None = None) -> int: ...
    @overload
    def sample(self, size: int | tuple[int, ...]) -> NDArray[np.int64] | NDArray[np.object_]: ...

    def sample(self, size: int | tuple[int, ...] | None = None) -> int | NDArray[np.int64] | NDArray[np.object_]:
        """One draw as a Python int; with a `size` (a count or a shape) an array of independent draws.

        The array holds int64. From about scale 2^52 on, and in the practically impossible case that a draw does not
        fit, it holds Python integers instead (dtype object): nothing wraps.
        """
        rehearsal = _rehearsal.get()
        if rehearsal is not None:
            return rehearsal.draws(self._outcomes, size)  # type: ignore[no-any-return]
        if size is None:
            return self.sampler().one()
        shape = check_size(size)
        return self.sampler().many(math.prod(shape)).reshape(shape)

    # -- probabilities -----------------------------------------------------------------------------------------

    def pmf(self, k: SupportsIndex) -> Enclosure:
        """P(X = `k`), the probability mass: a pair of floats with the truth between them."""
        point = integer(k, name="k")
        return probability(lambda: self.mass(point))

    def tail(self, k: SupportsIndex) -> Enclosure:
        """P(X > `k`): a pair of floats with the truth between them."""
        point = integer(k, name="k")
        return probability(lambda: self.above(point) if point >= 0 else 1 - self.cdf(point))

    def quantile(self, p: NumberLike) -> tuple[int, int]:
        """The smallest k with P(X <= k) >= `p`, as a pair (lower, upper): equal unless p lies on a step."""
        level = rational(p, name="p")
        if not 0 < level < 1:
            raise NumberError("p", p, "a quantile needs a probability strictly between 0 and 1", "'0.95'")
        return self._search(level, strictly=True), self._search(level, strictly=False)

    def _search(self, level: Fraction, *, strictly: bool) -> int:
        """The smallest k that is not surely below the level (strictly) or that is surely at it (otherwise)."""

        def reached(k: int) -> bool:
            def short() -> arb:  # compare the smaller side, where relative precision is kept
                return self.above(k) - to_ball(1 - level) if k >= 0 else to_ball(level) - self.cdf(k)

            certain = surely(short, most=MOST_BITS // 4)
            return strictly if certain is None else certain

        width = 1
        while not reached(width) or reached(-width):
            width *= 2
        return halve_integers(reached, -width, width)

    # -- equality ----------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Law) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))


class TableLaw(Law):
    """A law with a falling weight, whose sampler is a table over it."""

    rounded = False  # True where the law is a density rounded to the nearest integer

    @abstractmethod
    def weight(self, y: Fraction | int) -> arb:
        """A ball around the weight at distance y >= 0 from zero: decreasing in y, weight(0) = 1."""

    @abstractmethod
    def ladder(self, start: Fraction | int, step: int) -> Iterator[arb]:
        """weight(start), weight(start + step), ... without end; faster than one by one, a few bits wider."""

    @abstractmethod
    def chord_gaps(self, start: Fraction | int, width: int, cells: int, unit: int) -> list[int]:
        """How far the weight is from its chord, as a share of its fall, at most: a whole number of 1/`unit`, for each cell.

        The `cells`, of this `width`, begin at the distances start, start + width, ... (whole or half numbers). With near and
        far the weights at the two ends of a cell, a gap is an integer not below unit * width^2 max|weight''| / 8 / (near -
        far). It depends on the law and the cell alone, so it takes the same time whatever is drawn.
        """

    @abstractmethod
    def beyond(self, cells: int, width: int) -> arb:
        """The sum of the largest weights of all cells of this width past the first `cells` on each side."""

    def aboves(self, last: int) -> list[arb]:
        """P(X > k) for k = 0..last."""
        return [self.above(k) for k in range(last + 1)]

    @abstractmethod
    def build_sampler(self) -> Sampler:
        """A new sampler; which table it has does not change the law."""

    def sampler(self) -> Sampler:
        return self._own_sampler

    @cached_property
    def _own_sampler(self) -> Sampler:
        return _shared_sampler(self)


@lru_cache(maxsize=128)
def _shared_sampler(law: TableLaw) -> Sampler:
    """The sampler that equal laws share: its table is built once."""
    return law.build_sampler()


def probability(compute: Callable[[], arb]) -> Enclosure:
    """A certified pair inside [0, 1]."""
    lower, upper = certify(compute)
    return Enclosure(max(lower, 0.0), min(upper, 1.0))


def check_size(size: SupportsIndex | tuple[SupportsIndex, ...]) -> tuple[int, ...]:
    """A shape from an int or a tuple of ints; negative sizes and truth values are refused."""
    parts = size if isinstance(size, tuple) else (size,)
    for part in parts:
        if isinstance(part, (bool, np.bool_)) or not isinstance(part, (int, np.integer)) or part < 0:
            raise SizeError("size", size, "a size counts draws", "None for one draw, 1000, or a shape such as (10, 3)")
    shape = tuple(int(part) for part in parts)
    if len(shape) > 32 or max(shape, default=0) > 2**36 or math.prod(shape) > 2**36:
        raise SizeError("size", size, "that many draws do not fit any memory", "several smaller samples")
    return shape


def check_scale(value: NumberLike, *, name: str) -> Fraction:
    """A rational scale between 2^-20 and 2^60."""
    scale = rational(value, name=name, positive=True)
    _check_range(SMALLEST <= scale <= LARGEST, value, name)
    return scale


def check_variance(value: NumberLike, *, name: str) -> Fraction:
    """A rational variance whose square root lies between 2^-20 and 2^60."""
    variance = rational(value, name=name, positive=True)
    _check_range(SMALLEST**2 <= variance <= LARGEST**2, value, name, power=2)
    return variance


def check_rate(value: NumberLike, *, name: str) -> Number:
    """An exact rate (one over a scale) between 2^-60 and 2^20."""
    rate = exact(value, name=name, positive=True)
    _check_range(1 / LARGEST <= rate <= 1 / SMALLEST, value, name, power=-1)
    return rate


def _check_range(inside: bool, value: NumberLike, name: str, power: int = 1) -> None:
    if not inside:
        ends = sorted((-20 * power, 60 * power))
        raise NumberError(
            name,
            value,
            f"it must lie between 2^{ends[0]} and 2^{ends[1]}",
            "a lattice step that brings it into this range",
        )
