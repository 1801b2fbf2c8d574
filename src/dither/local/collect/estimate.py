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
ROUNDING = 1e-9  # what floats, not noise, take a raw estimate beyond 0 or 1


@argument_errors
@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of all values, with confidence intervals on the raw estimate.

    A method such as 'simplex' lowers the error of all frequencies together, and takes a bias for it: where there are many
    values it takes something off each, so that they add up to one, and a frequency may leave the interval of its value. The
    interval stays with the raw estimate, where its probability is that which it says; the table shows both. How many people
    have a value is told by the raw estimate as well, so that numbers of people may be added up.

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
        """How many people have each value: the raw estimate times all reports, unbiased by every method.

        Sums of it are unbiased, too. Noise may take one below zero or above `people`, and nothing is cut off.
        """
        found: NDArray[np.float64] = self.raw * self.people
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
            return f"{told}; frequencies by 'raw'{self._beyond()}"
        return f"{told} around the raw estimate; frequencies by '{self.method}', which may lie outside{self._beyond()}"

    def _beyond(self) -> str:
        """What noise took beyond 0 or 1: ends of intervals are cut there, raw estimates are not."""
        cut = "; intervals are cut to 0 to 1" if (self.low <= 0).any() or (self.high >= 1).any() else ""
        beyond = int(((self.raw < -ROUNDING) | (self.raw > 1 + ROUNDING)).sum())
        lie = "lies" if beyond == 1 else "lie"
        return cut + (f"; {beyond} of {self.raw.size} raw estimates {lie} below 0 or above 1, by noise" if beyond else "")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        order = sorted(range(len(self.domain)), key=lambda at: -self.frequency[at])[:SHOWN]
        rows, counts = [["value", "frequency", "raw", "low", "high", "people"]], self.counts
        for at in order:
            ends = [f"{low_end(self.low[at], 4):>7}", f"{high_end(self.high[at], 4):>7}"]
            shares = [f"{self.frequency[at]:z.4f}", f"{self.raw[at]:>z7.4f}"]
            rows.append([_printable(self.domain[at]), *shares, *ends, f"{counts[at]:z.0f}"])
        if self.method == "raw":  # one and the same number
            rows = [[*row[:2], *row[3:]] for row in rows]
        lines = fitted_table(rows)
        if len(self.domain) > SHOWN:
            lines.append(f"... and {len(self.domain) - SHOWN} more")
        people = "" if self.method == "raw" else "; people by the raw estimate, unbiased"
        lines.append(wrapped(f"from {self.people} reports{people}; {self.statement('low to high')}"))
        return "\n".join(lines)


def _printable(value: Hashable) -> str:
    """A value as a text; it may hold what a terminal obeys."""
    text = str(value)
    return text if text.isprintable() else text.encode("unicode_escape").decode()
