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

    A method such as 'simplex' lowers the error of all frequencies together, and takes a bias for it: where there are many
    values it takes something off each, so that they add up to one, and a frequency may leave the interval of its value. The
    interval stays with the raw estimate, where its probability is that which it says; the table shows both.

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

    def statement(self, interval: str) -> str:
        """What the intervals and frequencies say, in a line; `interval` is what an interval is called there."""
        told = f"each {interval} holds the noise of the reports with {self.confidence:.0%} probability"
        if self.method == "raw":
            return f"{told}; frequencies by 'raw'"
        return f"{told} around the raw estimate; frequencies by '{self.method}', which may lie outside"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        order = sorted(range(len(self.domain)), key=lambda at: -self.frequency[at])[:SHOWN]
        rows = [["value", "frequency", "raw", "low", "high", "people"]]
        for at in order:
            ends = [f"{low_end(self.low[at], 4):>7}", f"{high_end(self.high[at], 4):>7}"]
            shares = [f"{self.frequency[at]:.4f}", f"{self.raw[at]:>7.4f}"]
            rows.append([str(self.domain[at]), *shares, *ends, f"{self.counts[at]:.0f}"])
        if self.method == "raw":  # one and the same number
            rows = [[*row[:2], *row[3:]] for row in rows]
        lines = fitted_table(rows)
        if len(self.domain) > SHOWN:
            lines.append(f"... and {len(self.domain) - SHOWN} more")
        lines.append(wrapped(f"from {self.people} reports; {self.statement('low to high')}"))
        return "\n".join(lines)
