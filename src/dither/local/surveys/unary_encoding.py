"""Unary encoding: a bit for each value, 1 for the own one and 0 for the others, and every bit randomised.

    symmetric   every bit is kept with probability s / (1 + s), s = e^(epsilon / 2)
    optimised   the own bit is 1 with probability 1/2, any other with probability 1 / (e^epsilon + 1)

Theorem. With P(1) = p for the own bit and q < p for the others it is epsilon-differentially private for
epsilon = ln(p (1 - q) / (q (1 - p))), and for no smaller one.

Proof. Bits are independent, and for two values only two of them have another law: one is own for the first value, one for
the second. A report with bits a and b there is p^a (1-p)^(1-a) q^b (1-q)^(1-b) likely for the first value, and for the
second the same with a and b exchanged, so the ratio is (p (1 - q) / (q (1 - p)))^(a - b). It is largest for a = 1, b = 0.
Symmetric: (s / 1) (s / 1) = e^epsilon. Optimised: (1 - q) / q = e^epsilon.

A report supports the values whose bits are 1. The variance of a rare value, times n, is 4 E / (E - 1)^2 for the optimised
one, whatever d is: for many values. A report takes d bits; `LocalHashing` has the same error with a few bytes.

Wang, Blocki, Li and Jha 2017; the symmetric one is Erlingsson, Pihur and Korolova's 2014.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import power
from dither.errors import DataError, NumberError, SizeError
from dither.local.client_law import response
from dither.local.survey import DomainLike, Survey
from dither.local.surveys.packed_bits import as_reports, as_rows, column_sums, has_spare_bits, row_type
from dither.noise.bernoulli import Bernoulli
from dither.noise.packed_flips import Flips
from dither.numeric.number import NumberLike
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_EPSILON = 64
PART = 1 << 20  # bytes of reports at a time
MOST_VALUES = 10  # of a whole channel: it has 2^d outputs


@argument_errors
class UnaryEncoding(Survey):
    """A bit for each value, each of them randomised: for many values.

    Args:
        domain: the values that an answer can have (texts, whole numbers, truth values, pairs of whole numbers), or how many.
        epsilon: the privacy parameter of one report, from 1e-9 to 64.
        optimised: whether the own bit is a fair coin (less error); otherwise all bits are kept with one probability.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: epsilon is no number, or out of range.
        DataError, SizeError: the domain lists a value twice, one of another kind, or not 2 to 2^20 values.
        DataError: optimised is not a truth value.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import UnaryEncoding
        >>> survey = UnaryEncoding(range(20), epsilon=1)
        >>> survey.dtype.itemsize
        3
        >>> survey.tally(survey.randomize([4, 4, 19])).people
        3
    """

    kind: ClassVar[str] = "unary"
    optimised: bool  # or symmetric

    def __init__(
        self, domain: DomainLike, *, epsilon: NumberLike, optimised: bool = True, unit: UnitLike = Unit.REPLACE_ONE
    ) -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        if self.epsilon > MOST_EPSILON:
            raise NumberError("epsilon", epsilon, f"bits are flipped up to an epsilon of {MOST_EPSILON}", "another survey")
        if not isinstance(optimised, bool):
            raise DataError("optimised", optimised, "it says yes or no", "True")
        self.optimised = optimised
        self._kept = Bernoulli.response(self.epsilon if optimised else self.epsilon / 2)
        self._own, self._others = Bernoulli("1/2"), Flips(self._kept, ones=False)

    @cached_property
    def support(self) -> tuple[float, float]:
        """1/2 and 1 / (e^epsilon + 1), or s / (1 + s) and 1 / (1 + s)."""
        small = math.exp(-float(self.epsilon) / (1 if self.optimised else 2))
        return (0.5 if self.optimised else 1 / (1 + small)), small / (1 + small)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: a bit for each value, as bytes."""
        return row_type(len(self.domain))

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        import numpy as np

        size = len(self.domain)
        rows = np.empty((places.size, self.dtype.itemsize), dtype=np.uint8)
        step = max(1, PART // rows.shape[1])
        for start in range(0, places.size, step):
            own = places[start : start + step]
            part = self._others.sample(own.size, size)
            at, bit = (np.arange(own.size), own >> 3), np.left_shift(1, own & 7).astype(np.uint8)
            if self.optimised:
                part[at] = (part[at] & ~bit) | (bit * self._own.sample(own.size))
            else:
                part[at] ^= bit
            rows[start : start + step] = part
        return as_reports(rows)

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        size, rows = len(self.domain), as_rows(payload)
        bad = has_spare_bits(rows, size)
        rejected = int(bad.sum())
        return column_sums(rows[~bad] if rejected else rows)[:size], rejected

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        return counts.astype(np.float64)

    @cached_property
    def _chances(self) -> tuple[Any, Any]:
        """P(1) of the own bit and of any other, exactly."""
        if self.optimised:
            return Fraction(1, 2), 1 / (power(self.epsilon, 1) + 1)
        grown = power(self.epsilon / 2, 1)
        return grown / (grown + 1), 1 / (grown + 1)

    def coordinate(self) -> Channel:
        """The exact matrix of one bit: whether it is the own one, and what is reported.

        Two bits have another law when a value is replaced, so the promise is ln(p (1 - q) / (q (1 - p))).
        """
        p, q = self._chances
        return Channel([[p, 1 - p], [q, 1 - q]], (True, False), (1, 0))

    def channel(self) -> Channel:
        """The exact matrix of one answer: all rows of bits, for few values."""
        size = len(self.domain)
        if size > MOST_VALUES:
            why = f"a report has 2^{size} forms, and the matrix a column for each"
            raise SizeError("domain", size, why, f"coordinate(), or at most {MOST_VALUES} values")
        p, q = self._chances
        outputs = list(product((0, 1), repeat=size))
        own, other = {1: p, 0: 1 - p}, [math.prod([q] * ones + [1 - q] * (size - 1 - ones)) for ones in range(size)]
        rows = [[own[bits[at]] * other[sum(bits) - bits[at]] for bits in outputs] for at in range(size)]
        return Channel(rows, self.domain, outputs)

    def client_draws(self) -> dict[str, object]:
        """The chance of a one: of the own bit, and of any other."""
        kept = response(self.epsilon if self.optimised else self.epsilon / 2)
        return {"values": len(self.domain), "own": Fraction(1, 2) if self.optimised else kept, "other": 1 - kept}

    def parameters(self) -> dict[str, object]:
        """Whether it is the optimised or the symmetric encoding, for the record."""
        return {"optimised": self.optimised}
