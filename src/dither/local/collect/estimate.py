"""An estimate of frequencies, with standard errors and confidence intervals."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

from dither.arguments import argument_errors
from dither.errors import DataError, show
from dither.numeric.number import integer
from dither.numeric.representation import high_end, low_end
from dither.terminal import fitted_table, wrapped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 20


@argument_errors
@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of all values, with confidence intervals on the raw estimate.

    Args:
        domain: the values that an answer can have.
        frequency: of each value, by the method that was asked for.
        raw: the unbiased estimate of each frequency; may be below zero, and need not add up to one.
        deviation: the standard error of each raw estimate.
        low: the lower end of an interval for each value by itself, cut to [0, 1].
        high: the upper end.
        people: how many reports were counted.
        method: how the raw estimate became frequencies.
        confidence: with which probability each interval holds.

    Raises:
        ValueError: `estimate[value]` where the survey has no such value.

    Example:
        >>> import numpy as np
        >>> from dither.local import DirectEncoding, Tally
        >>> survey = DirectEncoding(["a", "b", "c"], epsilon="ln(2)")
        >>> estimate = survey.estimate(Tally(survey.record, np.array([500, 250, 250]), people=1000))
        >>> round(estimate["a"], 6)
        1.0
    """

    domain: tuple[Hashable, ...]
    frequency: NDArray[np.float64]
    raw: NDArray[np.float64]
    deviation: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    people: int
    method: str
    confidence: float

    @property
    def counts(self) -> NDArray[np.float64]:
        """How many people have each value, estimated."""
        found: NDArray[np.float64] = self.frequency * self.people
        return found

    def __getitem__(self, value: Hashable) -> float:
        if value not in self.domain:
            known = ", ".join(show(each) for each in self.domain[:5]) + (", ..." if len(self.domain) > 5 else "")
            raise DataError("value", value, "the survey did not ask for it", known)
        return float(self.frequency[self.domain.index(value)])

    def top(self, count: SupportsIndex = 10) -> list[tuple[Hashable, float]]:
        """The most frequent values, `count` of them or all there are, with their frequencies; a NumberError below 0."""
        most = integer(count, name="count", least=0)
        order = sorted(range(len(self.domain)), key=lambda at: -self.frequency[at])[:most]
        return [(self.domain[at], float(self.frequency[at])) for at in order]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        order = sorted(range(len(self.domain)), key=lambda at: -self.frequency[at])[:SHOWN]
        shares = ((self.domain[at], self.frequency[at], self.low[at], self.high[at], self.counts[at]) for at in order)
        rows = [
            [str(value), f"{f:.4f}", f"{low_end(low, 4):>7}", f"{high_end(high, 4):>7}", f"{n:.0f}"]
            for value, f, low, high, n in shares
        ]
        lines = fitted_table([["value", "frequency", "low", "high", "people"], *rows])
        if len(self.domain) > SHOWN:
            lines.append(f"... and {len(self.domain) - SHOWN} more")
        told = f"each low to high holds the noise of the reports with {self.confidence:.0%} probability"
        lines.append(wrapped(f"from {self.people} reports; {told}; frequencies by '{self.method}'"))
        return "\n".join(lines)
