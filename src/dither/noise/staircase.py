"""The staircase law: geometric in strides of a whole sensitivity, flat inside a stride.

    P(X = x) proportional to b^k          for k w         <= |x| < k w + flat
                             b^(k+1)      for k w + flat  <= |x| < (k+1) w           b = exp(-rate), k = 0, 1, 2, ...

A stride has w integers, of which the first `flat` are high. Drawn in parts, each exactly: a stride k with weight b^k,
a place u in it uniformly, kept with probability 1 in the high part and b in the low part, then a fair sign; the pair
(0, minus) is thrown away, since 0 has one sign only. What is kept has weight b^k or b^(k+1) for every x, once.

Tails: with W = flat + (w - flat) b the weights of all x >= 0 add up to W / (1 - b), and of all x to 2 W / (1 - b) - 1.
Those above k, where k + 1 = j w + u, to b^j times (what is left of the stride from u on, plus b W / (1 - b)).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.noise.bernoulli import Bernoulli
from dither.noise.laplace import OneSidedGeometric
from dither.noise.law import Law, Sampler, check_rate
from dither.noise.uniform_integers import uniform
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike, integer

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

WIDEST = 2**40  # strides that stay far inside 64 bits


@argument_errors
class DiscreteStaircase(Law):
    """Integer noise in flat steps, falling by exp(-rate) every `width` integers, after `flat` of them.

    Args:
        rate: The fall of the logarithm in one stride, exact: epsilon, where a stride is the sensitivity.
        width: How many integers a stride has, 1 to 2^40: the sensitivity in steps.
        flat: How many integers of a stride are high, 1 to `width`.

    Raises:
        NumberError: `rate` is no exact number or out of range, or `width` or `flat` is no such whole number.

    Example:
        >>> from dither import ln
        >>> from dither.noise import DiscreteStaircase
        >>> law = DiscreteStaircase(rate=ln(2), width=4, flat=2)
        >>> law.pmf(1).lower > law.pmf(2).upper
        True
        >>> law.sample((5, 2)).shape
        (5, 2)
    """

    def __init__(self, *, rate: NumberLike, width: SupportsIndex, flat: SupportsIndex) -> None:
        self._rate = check_rate(rate, name="rate")
        self._width = integer(width, name="width", least=1)
        self._flat = integer(flat, name="flat", least=1)
        if self._width > WIDEST:
            raise NumberError("width", width, f"strides have up to {WIDEST} integers", "a coarser lattice")
        if self._flat > self._width:
            raise NumberError("flat", flat, "the high part of a stride is a part of it", f"1 to {self._width}")

    @property
    def rate(self) -> Number:
        """By how much the logarithm of the probability falls in one stride."""
        return self._rate

    def _key(self) -> tuple[object, ...]:
        return self._rate, self._width, self._flat

    def sampler(self) -> Sampler:
        return self._own_sampler

    @cached_property
    def _own_sampler(self) -> Sampler:
        return _StepSampler(self._rate, self._width, self._flat)

    def _fall(self, strides: int) -> arb:
        return (-(to_ball(self._rate) * strides)).exp()

    def _stride(self) -> arb:
        return self._flat + (self._width - self._flat) * self._fall(1)

    def _whole(self) -> arb:
        return 2 * self._stride() / (1 - self._fall(1)) - 1

    def mass(self, k: int) -> arb:
        stride, place = divmod(abs(k), self._width)
        return self._fall(stride + (place >= self._flat)) / self._whole()

    def above(self, k: int) -> arb:
        stride, place = divmod(k + 1, self._width)
        high, low = max(0, self._flat - place), self._width - max(self._flat, place)
        left = high + low * self._fall(1) + self._fall(1) * self._stride() / (1 - self._fall(1))
        return self._fall(stride) * left / self._whole()

    def __repr__(self) -> str:
        return f"DiscreteStaircase(rate='{self._rate}', width={self._width}, flat={self._flat})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _rebuild, self._key()


class _StepSampler(Sampler):
    def __init__(self, rate: Number, width: int, flat: int) -> None:
        self._strides, self._keep = OneSidedGeometric(rate=rate), Bernoulli.exp(rate)
        self._sign = Bernoulli("1/2")
        self._width, self._flat = width, flat

    def one(self) -> int:
        while True:
            proposal = self.propose()
            if proposal is not None:
                return proposal

    def propose(self) -> int | None:
        """One proposal: an integer, or None when everything must start again."""
        place = uniform(self._width)
        if place >= self._flat and not self._keep.sample():
            return None
        distance, minus = self._strides.sample() * self._width + place, self._sign.sample()
        if minus:
            return -distance or None
        return distance

    def many(self, count: int) -> NDArray[np.int64] | NDArray[np.object_]:
        kept: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        done = 0
        while done < count:
            size = count - done + 16
            place = uniform(self._width, size)
            high = (place < self._flat) | self._keep.sample(size)
            strides = self._strides.sample(size)
            if strides.dtype == np.int64 and strides.size and int(strides.max()) > 2**62 // self._width:
                strides = strides.astype(np.object_)  # practically never: nothing wraps
            distance, minus = strides * self._width + place, self._sign.sample(size)
            good = high & ((distance != 0) | ~minus)
            part = np.where(minus, -distance, distance)[good][: count - done]
            kept.append(part)
            done += part.size
        return np.concatenate(kept)


def _rebuild(rate: Number, width: int, flat: int) -> DiscreteStaircase:
    return DiscreteStaircase(rate=rate, width=width, flat=flat)
