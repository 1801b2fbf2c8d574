"""Bernoulli draws: True with an exact probability, rational or not.

U < p for a uniform real U, revealed from the left: the first byte settles 255 draws of 256 (it differs from the first
byte of p), the next seven bytes nearly all others, and for the rest bits are appended to the same number while p is
evaluated as a ball of growing precision (`CumulativeTable.refine`). So p may be any number that balls can enclose:

    Bernoulli("1/3")                     a rational
    Bernoulli.exp(x)                     exp(-x), for an exact x >= 0
    Bernoulli.response(epsilon, k)       e^epsilon / (e^epsilon + k - 1): the honest answer among k
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from dither.arguments import argument_errors
from dither.errors import NumberError, show
from dither.noise.entropy import _rehearsal, stream
from dither.noise.laplace import OneSidedGeometric
from dither.noise.law import check_size, probability
from dither.noise.samplers.table import CHUNK, CumulativeTable
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Enclosure, Number, NumberLike, exact, integer, rational

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

LONG_CHUNK = 4 * CHUNK  # a draw takes one byte, so more of them fit the cache


@argument_errors
class Bernoulli:
    """True with an exact probability: a biased coin.

    Args:
        p: The probability of True, rational, from 0 to 1. For other numbers see `exp` and `response`.

    Raises:
        NumberError: `p` is not rational, or it lies outside of 0 to 1.

    Example:
        >>> from dither.noise import Bernoulli
        >>> Bernoulli("1/4").p
        Enclosure(lower=0.25, upper=0.25)
        >>> Bernoulli("1/4").sample((2, 3)).shape
        (2, 3)
    """

    def __init__(self, p: NumberLike) -> None:
        value = rational(p, name="p")
        if not 0 <= value <= 1:
            raise NumberError("p", p, "a probability lies between 0 and 1", "'1/3'")
        self._recipe: tuple[object, tuple[object, ...]] = (Bernoulli, (value,))
        self._start(partial(to_ball, value), f"'{Number(value)}'", value if value in (0, 1) else None)

    @classmethod
    def exp(cls, x: NumberLike) -> Bernoulli:
        """True with probability exp(-x), for an exact `x` that is not negative."""
        exponent = exact(x, name="x", nonnegative=True)
        self = cls.__new__(cls)
        self._recipe = (Bernoulli.exp, (exponent,))
        self._start(partial(_exp_ball, exponent), f"exp(-({exponent}))", Fraction(1) if exponent == 0 else None)
        return self

    @classmethod
    def response(cls, epsilon: NumberLike, k: SupportsIndex = 2) -> Bernoulli:
        """True with probability e^epsilon / (e^epsilon + k - 1): randomized response with `k` answers keeps the true one."""
        budget = exact(epsilon, name="epsilon", nonnegative=True)
        others = integer(k, name="k", least=1) - 1
        self = cls.__new__(cls)
        self._recipe = (Bernoulli.response, (budget, others + 1))
        label = f"response({budget}, {show(others + 1)})"
        self._start(partial(_response_ball, budget, others), label, None if others else Fraction(1))
        return self

    def _start(self, ball: Callable[[], arb], label: str, certain: Fraction | None) -> None:
        self._ball = ball
        self._label = label
        self._certain = None if certain is None else certain == 1
        if self._certain is None:
            self._table = CumulativeTable(lambda: [ball()], plain=2, prefix_bits=8)

    @property
    def p(self) -> Enclosure:
        """The probability of True: a pair of floats with the truth between them."""
        return probability(self._ball)

    @overload
    def sample(self, size: None = None) -> bool: ...
    @overload
    def sample(self, size: int | tuple[int, ...]) -> NDArray[np.bool_]: ...

    def sample(self, size: int | tuple[int, ...] | None = None) -> bool | NDArray[np.bool_]:
        """One draw as a bool; with a `size` (a count or a shape) an array of independent draws."""
        rehearsal = _rehearsal.get()
        if rehearsal is not None:
            return rehearsal.draws(self._outcomes, size, np.bool_)  # type: ignore[no-any-return]
        if size is None:
            return self._certain if self._certain is not None else self._table.draw_one(stream()) == 0
        shape = check_size(size)
        result = np.empty(math.prod(shape), dtype=np.bool_)
        if self._certain is not None:
            result.fill(self._certain)
        else:
            for start in range(0, result.size, LONG_CHUNK):
                self._fill(result[start : start + LONG_CHUNK])
        return result.reshape(shape)

    def _outcomes(self) -> Iterator[tuple[bool, arb]]:
        chance = self._ball() if self._certain is None else to_ball(int(self._certain))
        both = [(True, chance), (False, 1 - chance)]
        if chance < 1 - chance:
            both.reverse()  # the likeliest first
        return ((yes, ball) for yes, ball in both if not ball.is_zero())

    def _fill(self, part: NDArray[np.bool_]) -> None:
        bits = stream()
        first = np.empty(part.size, dtype=np.uint8)
        bits.fill(first)
        low, high = self._table.undecided_prefixes()
        np.less(first, low, out=part)
        undecided = np.flatnonzero((first >= low) & (first <= high))
        part[undecided] = self._table.extend(first[undecided].astype(np.uint16), bits) == 0

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self._recipe

    def __repr__(self) -> str:
        return f"Bernoulli({self._label})"


def _exp_ball(exponent: Number) -> arb:
    return (-to_ball(exponent)).exp()


def _response_ball(epsilon: Number, others: int) -> arb:
    return 1 / (1 + others * (-to_ball(epsilon)).exp())


def passes(gaps: NDArray[np.uint64], rate: Number) -> NDArray[np.bool_]:
    """For each gap g, independently, True with probability exp(-rate * g).

    A one-sided geometric G with this rate has P(G >= g) = exp(-rate * g), so one draw of it for each gap is enough.
    """
    rehearsal = _rehearsal.get()
    if rehearsal is not None:
        each = [Bernoulli.exp(rate * int(gap)) for gap in gaps]
        return np.array([rehearsal.draws(coin._outcomes, None) for coin in each], dtype=np.bool_)
    waits = OneSidedGeometric(rate=rate).sample(gaps.size)
    if waits.dtype == np.int64:
        return np.asarray(waits.astype(np.uint64) >= gaps)
    return np.array([int(wait) >= int(gap) for wait, gap in zip(waits, gaps, strict=True)], dtype=np.bool_)
