"""A lattice: the multiples of one public step. Noise is drawn and added here, in whole steps.

Rounding rule: x goes to floor(x / step + 1/2), ties upwards. The rule must commute with shifts by a whole step,
because only then does rounding a function of sensitivity D cost at most ceil(D / step) steps:

    let |x - y| <= D <= m * step, m whole. Rounding is monotone, so r(x) <= r(y + m * step) = r(y) + m.

Rounding halves to even, as most float routines do, breaks the equality: 0.5 and 1.5 would go to 0 and 2.
For a vector each coordinate moves by less than one step more than it did, so the L1 change, a whole number below
D1 / step + d, is at most ceil(D1 / step) + d - 1, and the L2 change at most D2 / step + sqrt(d). Sums of values that were
rounded one by one are sums of whole steps: they cost nothing further.

Private values pass through here, so no number is refused: NaN goes to 0, and whatever lies beyond the saturation
bound goes to the bound. Both are fixed maps of the value, chosen before any data is seen. What is no number (None, text,
a truth value) is refused by its kind: whoever makes the list sees to it that it holds numbers.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, overload

from dither.arguments import argument_errors
from dither.errors import DataError, NumberError
from dither.numeric.balls import nearest_float
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number, NumberLike, RealLike, integer, rational
from dither.numeric.rounding import LARGEST_INDEX, round_float, round_floats, shift

if TYPE_CHECKING:
    from dither.numeric.rounding import AnyArray, FloatArray, IntegerArray

__all__ = ["LARGEST_DECIMAL", "LARGEST_INDEX", "AnyArray", "Lattice", "SupportsArray", "ValuesLike", "add", "as_array"]


class SupportsArray(Protocol):
    """An array of numpy, or a column of a data frame."""

    def __array__(self) -> Any: ...


# Private values: numbers in a list, rows of them, an array, a column of a data frame.
ValuesLike: TypeAlias = Sequence[RealLike] | Sequence[Sequence[RealLike]] | SupportsArray
MOST_SCALING = 1000  # a power-of-two step must scale floats without loss
LARGEST_DECIMAL = 20_000  # decimal exponents: a step has at most 4096 bits above and below its line


@argument_errors
class Lattice:
    """The multiples of `step`; powers of two are fastest and exact for floats.

    Args:
        step: the distance of neighbouring points, a rational above 0.

    Raises:
        NumberError: the step is no number, not rational, or not above 0.

    Example:
        >>> from dither import Lattice
        >>> tenths = Lattice("0.1")
        >>> tenths.index(0.72), tenths.value(7)
        (7, Fraction(7, 10))
        >>> tenths.total([0.1] * 10)
        Fraction(1, 1)
    """

    __slots__ = ("exponent", "step")
    step: Fraction
    exponent: int | None  # e where the step is 2^e, None where it is no power of two

    def __init__(self, step: NumberLike) -> None:
        size = rational(step, name="step", positive=True)
        object.__setattr__(self, "step", size)
        object.__setattr__(self, "exponent", _exponent(size))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Lattice does not change")

    @classmethod
    def below(cls, size: NumberLike) -> Lattice:
        """The lattice whose step is the largest power of two that is not above `size`."""
        bound = rational(size, name="size", positive=True)
        exponent = bound.numerator.bit_length() - bound.denominator.bit_length()
        while Fraction(2) ** exponent > bound:
            exponent -= 1
        return cls(Fraction(2) ** exponent)

    # -- to whole steps ----------------------------------------------------------------------------------------

    def index(self, value: RealLike) -> int:
        """The number of steps nearest to a value (ties upwards); NaN is 0, the rest saturates below 2^62."""
        if type(value) is float and self.exponent is not None and -MOST_SCALING <= self.exponent <= MOST_SCALING:
            return round_float(value, self.exponent)
        if isinstance(value, Decimal):
            return self._decimal(value)
        kind = type(value).__name__
        if isinstance(value, (float, int, Fraction)) and kind != "bool":
            exact = value
        elif isinstance(value, numbers.Integral) and kind != "bool":  # numpy's integers
            exact = int(value)
        elif kind in ("float16", "float32"):
            exact = float(value)
        else:
            raise DataError("type of value", kind, "only numbers have a place on a lattice", "an int, float or Decimal")
        if isinstance(exact, float) and not math.isfinite(exact):
            return 0 if math.isnan(exact) else (LARGEST_INDEX if exact > 0 else -LARGEST_INDEX)
        return self._nearest(Fraction(exact))

    def _nearest(self, value: Fraction) -> int:
        steps = math.floor(value / self.step + Fraction(1, 2))
        return max(-LARGEST_INDEX, min(LARGEST_INDEX, steps))

    def _decimal(self, value: Decimal) -> int:
        if value.is_nan():
            return 0
        if value.is_infinite():
            return -LARGEST_INDEX if value.is_signed() else LARGEST_INDEX
        if value and abs(value.adjusted()) > LARGEST_DECIMAL:  # far beyond any step: do not write out the digits
            far = value.adjusted() > 0
            return (-LARGEST_INDEX if value.is_signed() else LARGEST_INDEX) if far else 0
        return self._nearest(Fraction(value)) if value else 0

    def indices(self, values: ValuesLike) -> IntegerArray:
        """`index` of many values: an array of integers or floats, or a list, whose elements are taken one by one."""
        import numpy as np

        array = as_array(values, name="values")
        exponent = self.exponent
        if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and exponent is not None and abs(exponent) <= MOST_SCALING:
            return round_floats(array.astype(np.float64), exponent)
        if array.dtype.kind in "iu" and exponent is not None and abs(exponent) < 62:
            return shift(array, exponent)
        if array.dtype.kind in "iuO" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
            flat: IntegerArray = np.array([self.index(value) for value in array.reshape(-1).tolist()], dtype=np.int64)
            return flat.reshape(array.shape)
        raise DataError("values", array.dtype, "only ints and doubles are rounded exactly", "values.astype('float64')")

    def total(self, values: ValuesLike) -> Fraction:
        """The exact sum of many values, each put on the lattice: the same in any order, and nothing overflows."""
        import numpy as np

        places = self.indices(values).reshape(-1)
        whole = 0
        for start in range(0, places.size, 2**31):  # halves of so many values add up inside 64 bits
            part = places[start : start + 2**31]
            whole += (int(np.sum(part >> 32)) << 32) + int(np.sum(part & 0xFFFFFFFF))
        return self.step * whole

    # -- and back ----------------------------------------------------------------------------------------------

    def value(self, index: int) -> Fraction:
        """The exact value at an index, a whole number of steps."""
        return self.step * index

    def number(self, index: int) -> float:
        """The float nearest to the value at an index."""
        if self.exponent is not None and -MOST_SCALING <= self.exponent <= MOST_SCALING - 64 and abs(index) < 2**64:
            return math.ldexp(index, self.exponent)
        return nearest_float(self.step * index)

    def values(self, indices: ValuesLike) -> FloatArray:
        """The floats nearest to the values at these indices: a fixed map, the same for every data set."""
        import numpy as np

        array = _whole(indices, name="indices")
        exponent = self.exponent
        if array.dtype == np.int64 and exponent is not None and abs(exponent) <= MOST_SCALING:
            with np.errstate(over="ignore"):  # a point beyond the largest float shows as infinity
                return np.ldexp(array.astype(np.float64), exponent)
        result = np.array([nearest_float(self.step * k) for k in array.reshape(-1).tolist()], dtype=np.float64)
        return result.reshape(array.shape)

    # -- what rounding costs -----------------------------------------------------------------------------------

    def scalar_cost(self, sensitivity: NumberLike) -> int:
        """The sensitivity, in steps, of a rounded number."""
        return math.ceil(rational(sensitivity, name="sensitivity", nonnegative=True) / self.step)

    def l1_cost(self, sensitivity: NumberLike, dimension: SupportsIndex) -> int:
        """The L1 sensitivity, in steps, of a rounded vector of this dimension."""
        bound = rational(sensitivity, name="sensitivity", nonnegative=True)
        count = integer(dimension, name="dimension", least=1)
        return self.scalar_cost(bound) + count - 1 if bound else 0

    def l2_cost(self, sensitivity: NumberLike, dimension: SupportsIndex) -> Enclosure:
        """The L2 sensitivity, in steps, of a rounded vector of this dimension: use the upper end."""
        bound = rational(sensitivity, name="sensitivity", nonnegative=True)
        count = integer(dimension, name="dimension", least=1)
        if count == 1:
            return Number(self.scalar_cost(bound)).bounds()
        return certify(lambda: to_ball(bound / self.step) + to_ball(count).sqrt())

    # -- equality and text ---------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lattice) and self.step == other.step

    def __hash__(self) -> int:
        return hash((Lattice, self.step))

    def __repr__(self) -> str:
        return f"Lattice('{Number(self.step)}')"

    def __reduce__(self) -> tuple[type[Lattice], tuple[Fraction]]:
        return Lattice, (self.step,)


@overload
def add(values: int, noise: int, *, bound: int = LARGEST_INDEX) -> int: ...
@overload
def add(values: ValuesLike, noise: ValuesLike, *, bound: int = LARGEST_INDEX) -> AnyArray: ...


def add(values: int | ValuesLike, noise: int | ValuesLike, *, bound: int = LARGEST_INDEX) -> int | AnyArray:
    """values + noise in whole steps, then one saturation at ±bound.

    The sum is exact before it saturates: in 64 bits where both parts are below 2^62 (their sum then has room), in Python
    integers otherwise. Saturating at a public bound is post-processing.
    """
    import numpy as np

    limit = integer(bound, name="bound", least=1)
    if isinstance(values, (int, np.integer)) and isinstance(noise, (int, np.integer)):
        return max(-limit, min(limit, int(values) + int(noise)))
    left, right = _whole(values, name="values"), _whole(noise, name="noise")
    if left.shape != right.shape:
        raise NumberError("noise shape", right.shape, f"the values have shape {left.shape}", "one noise per value")
    if _small(left) and _small(right):
        whole = left.astype(np.int64) + right.astype(np.int64)
        return np.clip(whole, -limit, limit) if limit < 2**63 else whole
    sums = (a + b for a, b in zip(left.reshape(-1).tolist(), right.reshape(-1).tolist(), strict=True))
    clipped = np.empty(left.size, dtype=np.object_)
    clipped[:] = [max(-limit, min(limit, total)) for total in sums]
    return (clipped.astype(np.int64) if limit < 2**63 else clipped).reshape(left.shape)


def as_array(values: object, *, name: str) -> AnyArray:
    """An array as it is; a list with its elements kept apart, since numpy would give them one type after the largest."""
    import numpy as np

    if type(values).__name__ == "MaskedArray" or isinstance(values, (bytes, bytearray, memoryview)):
        raise DataError(name, type(values), "masks and raw bytes say nothing about numbers", "values.filled(0), or a list")
    if hasattr(values, "__array__"):  # arrays and columns of data frames have one type already
        return np.asarray(values)
    try:
        return np.array(values, dtype=np.object_)
    except ValueError as error:
        raise DataError(name, type(values), "its rows differ in length", "a list of numbers, or an array") from error


def _whole(values: int | ValuesLike, *, name: str) -> AnyArray:
    """int64 where that holds everything, Python integers otherwise; refused by type, never by size."""
    import numpy as np

    array = as_array(values, name=name)
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64)
    items = array.reshape(-1).tolist()
    if array.dtype.kind not in "uO" or not all(isinstance(x, numbers.Integral) and not isinstance(x, bool) for x in items):
        raise DataError(name, array.dtype, "noise is added to whole steps only", "integers from Lattice.indices")
    exact = np.empty(array.size, dtype=np.object_)
    exact[:] = [int(item) for item in items]
    return exact.reshape(array.shape)


def _small(array: AnyArray) -> bool:
    import numpy as np

    if array.dtype != np.int64:
        return False
    return array.size == 0 or bool(int(array.max()) <= LARGEST_INDEX and int(array.min()) >= -LARGEST_INDEX)


def _exponent(step: Fraction) -> int | None:
    top, bottom = step.numerator, step.denominator
    if top & (top - 1) or bottom & (bottom - 1):
        return None
    return top.bit_length() - bottom.bit_length()
