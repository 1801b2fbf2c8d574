"""Subset selection: k of the d values, the own one among them more often than chance would have it.

The own value is in the set with probability p = E k / (d - k + E k), E = e^epsilon; the other ones fill it up to k, every
choice of them equally likely.

Theorem. This is epsilon-differentially private, and for no smaller epsilon.

Proof. A set that holds the own value is p / C(d-1, k-1) likely, another one (1 - p) / C(d-1, k). As p / (1 - p) =
E k / (d - k) and C(d-1, k) / C(d-1, k-1) = (d - k) / k, the first is E times as likely as the second. So every ratio is E,
1 or 1 / E, and for two values some sets hold one of them only.

A report supports the values of its set: q = (p (k - 1) + (1 - p) k) / (d - 1) for any other value, as all of them are alike.
k is d / (E + 1), rounded, and at least one; then p is about 1/2 and the error is the least that any survey has, by a little.
A report takes d bits, as that of `UnaryEncoding` does.

Ye and Barg 2018; Wang et al. 2016.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import power
from dither.errors import SizeError
from dither.local.client_law import response
from dither.local.survey import DomainLike, Survey
from dither.local.surveys.packed_bits import as_reports, as_rows, column_sums, has_spare_bits, row_type
from dither.noise.bernoulli import Bernoulli
from dither.noise.subsets import Subsets, row_sums
from dither.numeric.number import NumberLike, ln
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ENTRIES = 1 << 14  # of a whole channel
PART = 1 << 12  # rows whose ones are counted at once


@argument_errors
class SubsetSelection(Survey):
    """A subset of the values, the own one often in it: the least error of all surveys, by a little.

    Args:
        domain: the values that an answer can have (texts, whole numbers, truth values, pairs of whole numbers), or how many.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: epsilon is no number, or out of range.
        DataError, SizeError: the domain lists a value twice, one of another kind, or not 2 to 2^20 values.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import SubsetSelection
        >>> survey = SubsetSelection(range(8), epsilon=1)
        >>> survey.chosen
        2
        >>> int(survey.tally(survey.randomize([0, 5])).counts.sum())
        4
    """

    kind: ClassVar[str] = "subset"
    chosen: int  # k, how many values a report names

    def __init__(self, domain: DomainLike, *, epsilon: NumberLike, unit: UnitLike = Unit.REPLACE_ONE) -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        size, small = len(self.domain), math.exp(-float(self.epsilon))
        self.chosen = max(1, round(size * small / (1 + small)))
        self._subsets = Subsets(size, self.chosen)
        odds = self.epsilon + ln(self.chosen) - ln(size - self.chosen)  # the logarithm of p / (1 - p)
        self._likely = odds.sign() >= 0
        self._coin = Bernoulli.response(odds if self._likely else -odds)

    @cached_property
    def support(self) -> tuple[float, float]:
        """E k / (d - k + E k), and what that leaves for each of the others."""
        size, k = len(self.domain), self.chosen
        p = 1 / (1 + (size - k) / k * math.exp(-float(self.epsilon)))
        return p, (k - p) / (size - 1)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: a bit for each value, as bytes."""
        return row_type(len(self.domain))

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        return as_reports(self._subsets.sample(places, self._coin.sample(places.size) == self._likely))

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        size, rows = len(self.domain), as_rows(payload)
        bad = has_spare_bits(rows, size)
        for start in range(0, len(rows), PART):
            part = slice(start, start + PART)
            bad[part] |= row_sums(rows[part]) != self.chosen
        rejected = int(bad.sum())
        return column_sums(rows[~bad] if rejected else rows)[:size], rejected

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        return counts.astype(np.float64)

    def channel(self) -> Channel:
        """The exact matrix of one answer, for few values: outputs are the sets, as lists of places."""
        size, k = len(self.domain), self.chosen
        if size * math.comb(size, k) > MOST_ENTRIES:
            why = f"there are {math.comb(size, k) if size < 64 else 'too many'} sets of {k} among {size} values"
            raise SizeError("domain", size, why, "a handful of values; its two entries are in the theorem")
        grown = power(self.epsilon, 1)
        other = 1 / (grown * k + (size - k)) * (size - k) / math.comb(size - 1, k)
        sets = list(combinations(range(size), k))
        rows = [[grown * other if at in listed else other for listed in sets] for at in range(size)]
        return Channel(rows, self.domain, sets)

    def client_draws(self) -> dict[str, object]:
        """How many values there are and are named, and the chance that the own one is among them."""
        size, k = len(self.domain), self.chosen
        return {"values": size, "chosen": k, "own": response(self.epsilon, Fraction(size - k, k))}

    def parameters(self) -> dict[str, object]:
        """How many values a report names, for the record."""
        return {"chosen": self.chosen}
