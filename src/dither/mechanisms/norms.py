"""Changes of a given size in the L1 and the L2 norm: what the conformance suite tries on a vector."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from dither.numeric.balls import round_up

SLIVERS = 512  # of a step
MOST_LISTED = 8  # whole changes up to this are tried one by one


def l1_shifts(size: Fraction, dimension: int, *, sliver: Fraction | None = None) -> Iterator[tuple[Fraction, ...]]:
    """Changes with an L1 norm of at most `size`: along an axis, spread evenly, and nearly all in one coordinate.

    Without a sliver they are whole. A sliver is just enough to cross from one lattice point to the next.
    """
    if sliver is None and size <= MOST_LISTED and dimension <= 3:
        yield from _whole(math.floor(size), dimension, power=1, most=size)
        return
    even = size / dimension if sliver else Fraction(math.floor(size / dimension))
    yield from _ones(size, dimension, sliver)
    yield from _spread(size, even, dimension, sliver)


def l2_shifts(squared: Fraction, dimension: int, *, sliver: Fraction | None = None) -> Iterator[tuple[Fraction, ...]]:
    """Changes with an L2 norm of at most the root of `squared`, in the same ways."""
    reach, even = root_below(squared), root_below(squared / dimension)
    if sliver is None:
        if reach <= MOST_LISTED and dimension <= 4:
            yield from _whole(math.floor(reach), dimension, power=2, most=squared)
            return
        reach, even = Fraction(math.floor(reach)), Fraction(math.floor(even))
    yield from _ones(squared, dimension, sliver)
    yield from _spread(reach, even, dimension, sliver)


def _ones(most: Fraction, dimension: int, sliver: Fraction | None) -> Iterator[tuple[Fraction, ...]]:
    """As many coordinates as may move by one step each, all the same way or one of them the other way."""
    count = min(dimension, math.floor(most))
    if sliver is None and count:
        for sign in (1, -1):
            yield (Fraction(sign),) + (Fraction(1),) * (count - 1) + (Fraction(0),) * (dimension - count)


def _spread(reach: Fraction, even: Fraction, dimension: int, sliver: Fraction | None) -> Iterator[tuple[Fraction, ...]]:
    rest = (Fraction(0),) * (dimension - 1)
    yield from ((one, *rest) for one in (reach, -reach, *([reach * Fraction(3, 4)] if sliver else [])))
    if dimension > 1:
        yield (even,) * dimension
        yield (even, *(-even,) * (dimension - 1))
        if sliver and sliver * dimension < reach:
            yield (reach - (dimension - 1) * sliver, *(sliver,) * (dimension - 1))


def _whole(reach: int, dimension: int, *, power: int, most: Fraction) -> Iterator[tuple[Fraction, ...]]:
    """All whole changes up to this norm but zero, up to the order of coordinates and most signs."""
    for sizes in product(range(reach, -1, -1), repeat=dimension):
        if list(sizes) == sorted(sizes, reverse=True) and 0 < sum(x**power for x in sizes) <= most:
            yield tuple(Fraction(x) for x in sizes)
            yield (Fraction(-sizes[0]), *(Fraction(x) for x in sizes[1:]))


def root_below(square: Fraction) -> Fraction:
    """The square root, or a rational number just below it."""
    scale = 4 ** max(64, square.denominator.bit_length())
    near = Fraction(math.isqrt(math.floor(square * scale)), math.isqrt(scale))
    whole = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return whole if whole**2 == square else near


def root_above(square: Fraction) -> Fraction:
    """The square root, or a rational number just above it."""
    below = root_below(square)
    return below if below**2 == square else 1 / root_below(1 / square)


def float_root(square: Fraction) -> float:
    """The square root as a float that is not below it, also when it is read back at the decimal that it prints."""
    root = round_up(root_above(square))
    while Fraction(repr(root)) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
