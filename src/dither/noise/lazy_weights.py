"""Categorical draws by inversion, with weights that are known roughly at first and exactly only where a draw asks for it.

Theorem. Let U be a uniform real whose bits are revealed from the left, F(i) = (w_0 + ... + w_i) / (w_0 + ... + w_n). "The
first i with U < F(i)" is i with probability w_i / (w_0 + ... + w_n), whatever was known of the weights when the first
bits were looked at, as long as the outcome is one that the known bits and weights leave no doubt about: doubt is settled
by more bits of the same U and sharper weights, never by drawing again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from dither.noise.entropy import _rehearsal, stream
from dither.noise.samplers.table import GUARD_BITS
from dither.noise.uniform_integers import weighted
from dither.numeric.balls import precision

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

WORD = 64
FIRST_PRECISION = WORD + GUARD_BITS  # of balls, at first; a higher one where it is too little
ROUNDING = 2.0**-50  # of the comparison itself: a word as a double, a product, a difference


def by_balls(weights: Callable[[], Sequence[arb]], word: int | None = None) -> int:
    """An index in proportion to the weights, which are balls at the working precision; they must shrink as it grows.

    The first 64 bits of the uniform real are drawn, unless they were before: then they are the `word`.
    """
    if word is None:
        rehearsal = _rehearsal.get()
        if rehearsal is not None:
            return rehearsal.draws(lambda: _likeliest_first(weights()), None)  # type: ignore[no-any-return]
        word = stream().word()
    bits = WORD
    while True:
        with precision(bits + GUARD_BITS):
            running = list(accumulate(weights()))
            below, above = running[-1] * word, running[-1] * (word + 1)
            before = None  # nothing lies below the first
            for index, reached in enumerate(running):
                scaled = reached * (1 << bits)
                if scaled >= above:
                    if before is None or before <= below:
                        return index
                    break
                before = scaled
        word, bits = (word << WORD) | stream().word(), bits + WORD


def by_floats(rough: NDArray[np.float64], doubt: float, exactly: Callable[[], Sequence[int]]) -> int:
    """An index in proportion to whole weights. `rough` holds them up to a common factor; each share of a running sum in
    the whole is off by at most `doubt`, summation included. `exactly` is called where that is too little."""
    if _rehearsal.get() is not None:
        return weighted(exactly())
    word = stream().word()
    running = np.cumsum(rough)
    whole = float(running[-1])
    target, margin = word * 2.0**-WORD * whole, (doubt + ROUNDING) * whole
    index = int(np.searchsorted(running, target, side="right"))
    inside = index < running.size and running[index] - target > margin
    if inside and (index == 0 or target - running[index - 1] > margin):
        return index
    return _settle(list(accumulate(exactly())), word)


def _settle(running: list[int], word: int) -> int:
    """The index for a uniform real that begins with this word, by exact running sums and as many more bits as it takes."""
    bits = WORD
    while True:
        index = bisect_right(running, word * running[-1] >> bits)  # the first beyond word / 2^bits of the whole
        if running[index] << bits >= (word + 1) * running[-1]:
            return index
        word, bits = (word << WORD) | stream().word(), bits + WORD


def _likeliest_first(weights: Sequence[arb]) -> Iterator[tuple[int, arb]]:
    whole = sum(weights[1:], start=weights[0])
    order = sorted((i for i, weight in enumerate(weights) if weight != 0), key=lambda i: -_middle(weights[i] / whole))
    return ((i, weights[i] / whole) for i in order)


def _middle(ball: arb) -> Fraction:
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
