"""Direct encoding: k-ary randomized response among d listed values, for few values.

The true value has probability e^epsilon / (e^epsilon + d - 1), any other is equally likely. That is the flat mechanism
(`mechanisms/response/k_ary_response.py` has its theorem and proof). A report supports the
value that it names: p = e^epsilon q, q = 1 / (e^epsilon + d - 1). The variance of a rare value, times n, is (E + d - 2) /
(E - 1)^2: it grows with d, so beyond d = 3 E + 2 other surveys are better (`choose`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.kernels import FlatKernel
from dither.local.client_law import response
from dither.local.collect.bayesian_update import updated
from dither.local.collect.estimate import Frequencies
from dither.local.collect.reconstruct import water_filling
from dither.local.collect.tally import Tally
from dither.local.survey import DomainLike, Survey
from dither.mechanisms.response.k_ary_response import Flat
from dither.numeric.number import NumberLike
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@argument_errors
class DirectEncoding(Survey):
    """K-ary randomized response: a value among d, the true one likeliest; for few values.

    Args:
        domain: the values that an answer can have (texts, whole numbers, truth values, pairs of whole numbers), or how many.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: epsilon is no number, or out of range.
        DataError, SizeError: the domain lists a value twice, one of another kind, or not 2 to 2^20 values.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import DirectEncoding
        >>> survey = DirectEncoding(["red", "green", "blue"], epsilon="ln(2)")
        >>> survey.channel().row("red")["red"] == 2 * survey.channel().row("red")["blue"]
        True
        >>> len(survey.randomize(["red", "red", "blue"]))
        3
    """

    kind: ClassVar[str] = "direct"
    methods: ClassVar[tuple[str, ...]] = (*Survey.methods, "likelihood", "bayes", "smooth")

    def __init__(self, domain: DomainLike, *, epsilon: NumberLike, unit: UnitLike = Unit.REPLACE_ONE) -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        self._flat = Flat(self.domain, epsilon=self.epsilon, unit=self.unit)

    @cached_property
    def support(self) -> tuple[float, float]:
        """e^epsilon / (e^epsilon + d - 1) and 1 / (e^epsilon + d - 1)."""
        small = math.exp(-float(self.epsilon))
        whole = 1 + (len(self.domain) - 1) * small
        return 1 / whole, small / whole

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: the smallest unsigned integer that holds the number of a value."""
        return smallest(len(self.domain))

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        return self._flat.randomize_places(places).astype(self.dtype)

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        return histogram(payload, len(self.domain))

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        return counts.astype(np.float64)

    def _reconstruct(self, method: str | None, raw: NDArray[np.float64], tally: Tally) -> Frequencies:
        """Also the likeliest distribution, and step by step towards it; "smooth" is for values in order."""
        if method == "likelihood":
            return Frequencies(water_filling(tally.counts, self.epsilon), method)
        if method in ("bayes", "smooth"):
            return updated(FlatKernel(len(self.domain), self.epsilon), tally.counts, method)
        return super()._reconstruct(method, raw, tally)

    def channel(self) -> Channel:
        """The exact matrix of one answer."""
        return self._flat.channel()

    def client_draws(self) -> dict[str, object]:
        """How many values there are, and the chance of the truth."""
        return {"values": len(self.domain), "truth": response(self.epsilon, len(self.domain) - 1)}


def smallest(size: int) -> np.dtype[Any]:
    """The smallest unsigned type for numbers below a size, little-endian."""
    import numpy as np

    return np.dtype("<u1" if size <= 2**8 else "<u2" if size <= 2**16 else "<u4")


def histogram(payload: NDArray[Any], size: int) -> tuple[NDArray[np.int64], int]:
    """How often each number below a size came, and how many others did."""
    import numpy as np

    if payload.dtype.itemsize <= 2:  # at most 65,536 different numbers: all are counted
        counts = np.bincount(payload, minlength=size).astype(np.int64)
        return counts[:size], int(counts[size:].sum())
    inside = payload < size
    kept = payload if inside.all() else payload[inside]
    return np.bincount(kept, minlength=size).astype(np.int64), len(payload) - len(kept)
