"""What mechanisms that add noise share (output perturbation): value -> whole steps -> + noise -> value.

A value is put on the lattice (whole numbers are on it already), bounded, given integer noise, bounded again, and read
back. Bounding is a contraction before the noise and post-processing after it, so neither costs privacy; both hold for
every value, so nothing is ever raised because of what a value is. NaN counts as 0.

Sensitivities of real values are taken 1/1024 of a step larger than stated (`additive/lattice_step.py`).

Error. Noise N with T(k) = P(|N| > k) in each of d coordinates, independent: all of them stay within k steps with
probability (1 - T(k))^d, so the half-width is the smallest k for which that is at least the confidence. A real value
lies up to half a step from its place on the lattice, which is added. (The float nearest to k steps is off by half a
unit in its last place at most; error bars do not count that. It is nothing for steps that are powers of two and
values below 2^53 steps.) With bounds at w steps from each other a release cannot lie further off than w, and more
than k off on both sides only if 2k + 2 <= w; on one side only if k < w.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from flint import arb

from dither.errors import NumberError, SizeError
from dither.mechanisms.additive.calibration import HALF, least_rate, steps_within
from dither.mechanisms.additive.whole_numbers import whole_number, whole_numbers
from dither.mechanisms.norms import SLIVERS
from dither.mechanisms.protocol import ValuesLike
from dither.noise.law import Law
from dither.numeric.balls import MOST_BITS, round_up
from dither.numeric.enclosure import to_ball
from dither.numeric.lattice import LARGEST_INDEX, Lattice, add, as_array
from dither.numeric.number import NumberLike, RealLike, integer, rational
from dither.numeric.search import first_integer, surely
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Additive(ABC):
    """A mechanism that adds integer noise on a lattice."""

    dimension: int | None  # None for one number, d for a vector of d numbers

    def __attrs_post_init__(self) -> None:
        _ = self.law  # refuses a scale that cannot be drawn, now and not at the first release

    # -- what each of them says for itself ---------------------------------------------------------------------

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised about every release."""

    @property
    @abstractmethod
    def law(self) -> Law:
        """The noise, in whole steps of the lattice."""

    @property
    @abstractmethod
    def lattice(self) -> Lattice | None:
        """The lattice that real values are rounded to; None for whole numbers."""

    @property
    def limits(self) -> tuple[int, int]:
        """The bounds of values and releases, in whole steps."""
        return -LARGEST_INDEX, LARGEST_INDEX

    @abstractmethod
    def shifts(self) -> Iterator[tuple[Fraction, ...]]:
        """Changes of the largest norm that one person can make, the hardest for rounding among them."""

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss()

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> int | float:
        """The smallest half-width that all coordinates stay within together, with a probability of at least `confidence`."""
        steps = half_width(self.law, read_confidence(confidence), self.dimension or 1, self._widest)
        return steps if self.lattice is None else round_up((steps + HALF) * self.lattice.step)

    def _least_rate(
        self,
        half_width: NumberLike,
        confidence: NumberLike,
        law: Callable[[Fraction], Law],
        guess: Callable[[Fraction, int, int], float],
    ) -> Fraction:
        """The smallest x for which noise of the law of x, in place of this one's, stays within `half_width`: `for_error`.

        A first guess is made from the confidence, the number of coordinates and the steps that the noise may take.
        """
        k, level, size = steps_within(half_width, self.lattice), read_confidence(confidence), self.dimension or 1
        return least_rate(law, lambda noise: covers(noise, k, level, size, self._widest), guess=guess(level, size, k))

    @property
    def limit(self) -> float:
        """The largest size of a value and of a release, in units of the value; what lies beyond is moved to it."""
        step = Fraction(1) if self.lattice is None else self.lattice.step
        return round_up(self.limits[1] * step)

    @cached_property
    def _widest(self) -> int:
        low, high = self.limits
        return high - low

    # -- release -----------------------------------------------------------------------------------------------

    @overload  # before numbers, since an array may have an index
    def release(self, value: NDArray[Any]) -> NDArray[Any]: ...  # type: ignore[overload-overlap]
    @overload
    def release(self, value: RealLike) -> int | float: ...
    @overload
    def release(self, value: ValuesLike) -> NDArray[Any]: ...

    def release(self, value: Any) -> Any:
        """The `value` with noise: a number for a number, an array of the same shape for an array or a list.

        Raises DataError where the value is of the wrong type, SizeError where it has another dimension; never for its size.
        """
        if self.dimension is None:
            return self._one(value)
        steps = self._many(value)
        low, high = self.limits
        noisy: Any = add(clipped(steps, low, high), self.law.sample(steps.shape))
        noisy = clipped(noisy, low, high)
        return noisy if self.lattice is None else self.lattice.values(noisy)

    def _one(self, value: RealLike) -> int | float:
        low, high = self.limits
        noisy = max(low, min(high, self.place(value) + self.law.sample()))
        return noisy if self.lattice is None else self.lattice.number(noisy)

    def place(self, value: RealLike) -> int:
        """Where one `value` stands before the noise, in whole steps and inside the limits."""
        low, high = self.limits
        steps = whole_number(value) if self.lattice is None else self.lattice.index(value)
        return max(low, min(high, steps))

    def _many(self, value: ValuesLike) -> NDArray[np.int64]:
        array = as_array(value, name="value")
        if array.size != self.dimension:
            why = f"this mechanism was made for {self.dimension} numbers"
            raise SizeError("shape of value", array.shape, why, f"an array of {self.dimension}, or dimension={array.size}")
        return whole_numbers(array) if self.lattice is None else self.lattice.indices(array)

    def truth(self, value: Any) -> Any:
        """What a release of this `value` is an estimate of: the value, moved into the bounds."""
        step = Fraction(1) if self.lattice is None else self.lattice.step
        low, high = (end * step for end in self.limits)
        return max(low, min(high, value)) if self.dimension is None else [max(low, min(high, x)) for x in value]

    # -- for the conformance suite -----------------------------------------------------------------------------

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of values, starting where rounding and bounds are hardest."""
        for start, shift in product(self._starts(), self.shifts()):
            other = tuple(x + y for x, y in zip(start, shift, strict=True))
            yield self._as_value(start), self._as_value(other)

    def _starts(self) -> list[tuple[Fraction, ...]]:
        size = self.dimension or 1
        low, high = self.limits
        if self.lattice is None:
            bounded = self._widest < 2 * LARGEST_INDEX
            ends = [low - 1, low, low + 1, (low + high) // 2, high - 1, high] if bounded else [0, 10**12]
            return [tuple(Fraction(point) for _ in range(size)) for point in ends]
        step = self.lattice.step
        places = (Fraction(0), HALF, HALF - Fraction(1, 2 * SLIVERS), -HALF, Fraction(-1, 3), Fraction(10**12))
        return [tuple(place * step for _ in range(size)) for place in places]

    def _as_value(self, point: tuple[Fraction, ...]) -> Fraction | int | list[Fraction | int]:
        plain = [x if self.lattice else int(x) for x in point]
        return plain[0] if self.dimension is None else plain


# -- shared by the constructors --------------------------------------------------------------------------------------


def read_flag(value: bool, *, name: str) -> bool:
    """True or False, and nothing that merely counts as one."""
    if not isinstance(value, bool):
        raise NumberError(name, value, "it is so or not", "True or False")
    return value


def read_dimension(value: SupportsIndex | None) -> int | None:
    """None, or how many numbers a value has."""
    return None if value is None else integer(value, name="dimension", least=1)


def read_confidence(value: NumberLike, *, name: str = "confidence") -> Fraction:
    """A probability strictly between 0 and 1."""
    level = rational(value, name=name)
    if not 0 < level < 1:
        raise NumberError(name, value, "it is a probability strictly between 0 and 1", "0.95")
    return level


def clipped(values: Any, low: int, high: int) -> Any:
    """Each of the values, moved to the nearest bound if it lies outside."""
    import numpy as np

    return values if high >= LARGEST_INDEX and low <= -LARGEST_INDEX else np.clip(values, low, high)


# -- half-widths -----------------------------------------------------------------------------------------------------


def covers(law: Law, k: int, confidence: Fraction, dimension: int, widest: int = 2 * LARGEST_INDEX) -> bool:
    """Whether it is certain that all coordinates stay within k steps with this probability."""
    if k >= widest:
        return True
    sides = 2 if law.two_sided and 2 * k + 2 <= widest else 1

    def excess() -> arb:
        outside = sides * law.above(k)
        if dimension == 1:
            return outside - to_ball(1 - confidence)
        return to_ball(confidence).log() - dimension * (-outside).log1p()

    certain = surely(excess, most=MOST_BITS // 4)
    if certain is not None:
        return certain
    tail = law.exactly_above(k)  # they are equal, or nearly so: rationals tell
    return tail is not None and (1 - sides * tail) ** dimension >= confidence


@lru_cache(maxsize=128)  # a quote tells it, its release reads it, and so does everybody who asks at that price
def half_width(law: Law, confidence: Fraction, dimension: int, widest: int = 2 * LARGEST_INDEX) -> int:
    """The smallest k for which all coordinates stay within k steps with this probability."""
    return first_integer(lambda k: covers(law, k, confidence, dimension, widest))


def guess_laplace(level: Fraction, size: int, steps: int) -> float:
    """About the rate for which `size` Laplace variables stay within so many steps."""
    return log_odds(size, level) / (steps + 1)


def log_odds(size: int, level: Fraction) -> float:
    """ln(size / (1 - level)), also where 1 - level is below the smallest float: only a first guess."""
    left = 1 - level
    return math.log(size) + math.log(left.denominator) - math.log(left.numerator)
