"""Hadamard response: a number, from the half of all numbers that belongs to the own value, or from the other half.

Let K be the least power of two above d. For x = 1..d the numbers y = 0..K-1 fall into two halves, by whether x and y have
an even number of ones in common: H[x, y] = (-1)^ones(x & y) is +1 or -1. A person with value number x - 1 reports a
uniform number of the half +1 with probability e^epsilon / (e^epsilon + 1), and of the half -1 otherwise.

Theorem. This is epsilon-differentially private, and for no smaller epsilon.

Proof. Each number is reported with probability 2 E / (K (E + 1)) or 2 / (K (E + 1)), E = e^epsilon, by which half it is in.
So every ratio is E, 1 or 1 / E, and two different halves differ somewhere.

A report y supports the values in whose half +1 it is. That is p = E / (E + 1) for the own one. For other values q = 1/2:
for x and z different and above 0 the sums over y of H[x, y], of H[z, y] and of H[x, y] H[z, y] = H[x ^ z, y] are all zero
(each changes its sign with a bit of y), so either half of x has as many numbers in one half of z as in the other.
How many reports support each value is (n + the Walsh-Hadamard transform of their histogram) / 2, which takes K log2 K
steps.

The variance of a rare value, times n, is ((E + 1) / (E - 1))^2. A report takes log2 K bits.

Acharya, Sun and Zhang 2019.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import power
from dither.errors import SizeError
from dither.local.client_law import response
from dither.local.survey import Survey
from dither.local.surveys.direct_encoding import histogram, smallest
from dither.noise.bernoulli import Bernoulli
from dither.noise.uniform_integers import uniform

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PART = 1 << 16  # people at a time: they stay in the cache
MOST_ENTRIES = 1 << 14  # of a whole channel


@argument_errors
class HadamardResponse(Survey):
    """Hadamard response, a report of few bits with the fastest collector: for many values.

    Args:
        domain: the values that an answer can have (texts, whole numbers, truth values, pairs of whole numbers), or how many.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: epsilon is no number, or out of range.
        DataError, SizeError: the domain lists a value twice, one of another kind, or not 2 to 2^20 values.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import HadamardResponse
        >>> survey = HadamardResponse(range(1000), epsilon=1)
        >>> survey.numbers
        1024
        >>> survey.tally(survey.randomize([7, 7, 999]))
        Tally(hadamard, 3 reports, 0 rejected)
    """

    kind: ClassVar[str] = "hadamard"

    @cached_property
    def numbers(self) -> int:
        """How many numbers there are: the least power of two above d."""
        return 1 << len(self.domain).bit_length()

    @cached_property
    def support(self) -> tuple[float, float]:
        """e^epsilon / (e^epsilon + 1) and 1/2."""
        return 1 / (1 + math.exp(-float(self.epsilon))), 0.5

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: the smallest unsigned integer that holds it."""
        return smallest(self.numbers)

    @cached_property
    def _truthful(self) -> Bernoulli:
        return Bernoulli.response(self.epsilon)

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        import numpy as np

        result = np.empty(places.size, dtype=self.dtype)
        for start in range(0, places.size, PART):
            own = places[start : start + PART] + 1
            drawn = uniform(self.numbers, own.size)
            other_half = np.bitwise_count(own & drawn) & 1
            wrong = other_half == self._truthful.sample(own.size)  # in -1 and truthful, or in +1 and not
            # The lowest bit that x has changes the half, and pairs up the numbers of the two halves.
            result[start : start + PART] = drawn ^ ((own & -own) * wrong)
        return result

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        return histogram(payload, self.numbers)

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        whole = transform(counts)
        return np.asarray((whole[0] + whole[1 : len(self.domain) + 1]) / 2)

    def client_draws(self) -> dict[str, object]:
        """How many values and numbers there are, and the chance of a number of the own half."""
        return {"values": len(self.domain), "numbers": self.numbers, "truth": response(self.epsilon)}

    def channel(self) -> Channel:
        """The exact matrix of one answer, for few values."""
        size = len(self.domain)
        if size * self.numbers > MOST_ENTRIES:
            why = f"the matrix of one answer has {size} rows and {self.numbers} columns"
            raise SizeError("domain", size, why, "at most 64 values; larger ones have the same two entries in every row")
        other = 1 / (power(self.epsilon, 1) + 1) / (self.numbers // 2)
        own = power(self.epsilon, 1) * other
        rows = [[other if (x & y).bit_count() & 1 else own for y in range(self.numbers)] for x in range(1, size + 1)]
        return Channel(rows, self.domain, range(self.numbers))


def transform(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum over y of (-1)^ones(x & y) counts[y], for every x: whole numbers, in log2 K passes."""
    import numpy as np

    found, other = counts.copy(), np.empty_like(counts)
    for _ in range(counts.size.bit_length() - 1):
        # The first half of the result has the sums of neighbours, the second their differences: after as many passes
        # as there are bits, every bit of y was the last one once, and became that bit of x.
        pairs, half = found.reshape(-1, 2), counts.size // 2
        np.add(pairs[:, 0], pairs[:, 1], out=other[:half])
        np.subtract(pairs[:, 0], pairs[:, 1], out=other[half:])
        found, other = other, found
    return found
