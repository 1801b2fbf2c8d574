"""An estimate of frequencies, with standard errors and confidence intervals."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from dither.arguments import argument_errors
from dither.errors import DataError, show
from dither.numeric.number import integer
from dither.numeric.representation import high_end, low_end
from dither.terminal import fitted_table, wrapped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 20
NOTHING = "–"  # in the place of a number that would say nothing
ROUNDING = 1e-9  # what floats, not noise, take a raw estimate beyond 0 or 1


@argument_errors
@dataclass(frozen=True, eq=False)
class Estimate:
    """Frequencies of all values, with confidence intervals on the raw estimate.

    A method such as 'simplex' lowers the error of all frequencies together, and takes a bias for it: where there are many
    values it takes something off each, so that they add up to one, and a frequency may leave the interval of its value. The
    interval stays with the raw estimate, where its probability is that which it says; the table shows both. How many people
    have a value is told by the raw estimate as well, so that numbers of people may be added up.

    An interval that lies wholly below 0 or above 1 is empty: its ends are NaN. A share whose error is larger than 1 is shown
    neither as a raw estimate nor as a number of people; `raw` and `counts` have it all the same, for sums over many values.

    Args:
        domain: the values that an answer can have.
        frequency: of each value, by the method that was asked for.
        raw: the unbiased estimate of each frequency; may be below zero, and need not add up to one.
        deviation: the standard error of each raw estimate.
        low: the lower end of an interval for each value by itself, cut to [0, 1]; NaN if nothing is left of it.
        high: the upper end.
        half_width: half the length of each interval before it is cut: the error of the raw estimate.
        people: how many reports were counted.
        method: how the raw estimate became frequencies.
        confidence: with which probability each interval holds.
        why: why the method is this one, or where it stopped; may be empty.

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
    half_width: NDArray[np.float64]
    people: int
    method: str
    confidence: float
    why: str = ""

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

    @property
    def vague(self) -> NDArray[np.bool_]:
        """Where the error of a share exceeds 1, so that it says nothing about the number of people."""
        return self.half_width > 1

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Where the interval lies wholly below 0 or above 1."""
        import numpy as np

        return np.isnan(self.low)

    def warning(self) -> str:
        """The first line of a table whose numbers say little; empty where there is nothing to warn of."""
        count = int(self.vague.sum())
        if not count:
            return ""
        has = "has" if count == 1 else "have"
        shares = "Every share has" if count == self.raw.size else f"{count} of {self.raw.size} shares {has}"
        widest = f"up to ±{self.half_width.max():.3g}"
        return f"{shares} an error above 1 ({widest}, {self.confidence:.0%}): no number of people can be told from it."

    def statement(self, interval: str) -> str:
        """What the intervals and frequencies say, in a line; `interval` is what an interval is called there."""
        told = f"{interval}: {self.confidence:.0%} confidence interval of each value by itself, from the raw estimate"
        by = f"frequencies by '{self.method}'{f' ({self.why})' if self.why else ''}"
        return f"{told}; {by}{'' if self.method == 'raw' else ' may lie outside'}{self._beyond()}"

    def _beyond(self) -> str:
        """What noise took beyond 0 or 1: ends of intervals are cut there, raw estimates are not."""
        cut = "; intervals are cut to 0 to 1" if (self.low <= 0).any() or (self.high >= 1).any() else ""
        beyond = int(((self.raw < -ROUNDING) | (self.raw > 1 + ROUNDING)).sum())
        lie = "lies" if beyond == 1 else "lie"
        if beyond and not self.vague.all():
            cut += f"; {beyond} of {self.raw.size} raw estimates {lie} below 0 or above 1, by noise"
        empty = int(self.empty.sum())
        are = "is" if empty == 1 else "are"
        return cut + (
            f"; {empty} of {self.raw.size} intervals {are} empty ({NOTHING}): no share fits (noise)" if empty else ""
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        order = sorted(range(len(self.domain)), key=lambda at: -self.frequency[at])[:SHOWN]
        rows, counts, vague = [["value", "frequency", "raw", "low", "high", "people"]], self.counts, self.vague
        for at in order:
            ends = [NOTHING] * 2 if self.empty[at] else [low_end(self.low[at], 4), high_end(self.high[at], 4)]
            raw, people = [NOTHING] * 2 if vague[at] else [f"{self.raw[at]:z.4f}", f"{counts[at]:z.0f}"]
            shares = [f"{self.frequency[at]:z.4f}", f"{raw:>7}"]
            rows.append([_printable(self.domain[at]), *shares, *(f"{end:>7}" for end in ends), people])
        if self.method == "raw":  # one and the same number
            rows = [[*row[:2], *row[3:]] for row in rows]
        if vague.all():
            rows = [[*row[:2], *row[-3:-1]] for row in rows]
        lines = [wrapped(self.warning())] if vague.any() else []
        lines += fitted_table(rows)
        if len(self.domain) > SHOWN:
            lines.append(f"... and {len(self.domain) - SHOWN} more")
        people = "" if self.method == "raw" or vague.all() else "; people by the raw estimate, unbiased"
        lines.append(wrapped(f"from {self.people} reports{people}; {self.statement('low to high')}"))
        return "\n".join(lines)


class Frequencies(NamedTuple):
    """Frequencies, the method that they are by, and why it is this one or where it stopped."""

    values: NDArray[np.float64]
    method: str
    why: str = ""


def cut(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals cut to [0, 1]; NaN at both ends of one that lies wholly outside."""
    import numpy as np

    outside = (high < -ROUNDING) | (low > 1 + ROUNDING)
    return tuple(np.where(outside, np.nan, np.clip(end, 0.0, 1.0)) for end in (low, high))  # type: ignore[return-value]


def _printable(value: Hashable) -> str:
    """A value as a text; it may hold what a terminal obeys."""
    text = str(value)
    return text if text.isprintable() else text.encode("unicode_escape").decode()
