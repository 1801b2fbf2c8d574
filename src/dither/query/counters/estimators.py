"""How an aggregate is read off noisy counters: its value, its interval, its error before anything is read, in words.

    sum        counters times weights: sums, and counts, whose weights make each row one
    mean       above / (above + below), by Fieller's method
    variance   of `counters/variances.py`

An interval holds what noise changes. `resolution` is in how many parts a row is counted, `noise` the mechanism of every
counter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import TYPE_CHECKING, Any

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.query.counters import intervals as interval
from dither.query.plan.base import Expression
from dither.query.plan.describe import words
from dither.query.plan.text import number, rounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Noise = Geometric | Gaussian
Range = tuple[Fraction | float, Fraction | float]  # the ends; floats are infinite
UNBOUNDED: Range = (-inf, inf)
Columns = tuple[list[Any], list[Any], list[Any]]  # values, lower ends, upper ends: one of each a group of the question
WIDE = 2**62  # what a row may add where sums are whole numbers of 64 bits
MANY = 10**9  # rows of a group, where an error falls with their number and nobody said what it is
UNKNOWN = (
    "how far an average is off depends on how many rows it is about, which is private",
    "size=1000 beside it: a public guess of the rows in a group",
)


@dataclass(frozen=True)
class Guesses:
    """Public guesses about a group, for errors that depend on its rows."""

    size: int | None = None  # its rows
    spread: tuple[tuple[str, Fraction], ...] = ()  # the standard deviations of expressions, by their names

    def deviation(self, of: Expression) -> Fraction | None:
        """The standard deviation of an expression, if somebody guessed it."""
        return dict(self.spread).get(name_of(of))


def name_of(of: Expression) -> str:
    """The name of an expression in `spread`: that of a column, or the words of what is computed."""
    return spread_name(words(of))


def spread_name(text: str) -> str:
    """A name as it is compared: in small letters, without brackets around it."""
    text = " ".join(text.split()).lower()
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


@dataclass(frozen=True)
class Reader:
    """What an estimator needs beside the counters."""

    noise: Noise
    resolution: int
    confidence: Fraction
    guesses: Guesses = Guesses()


@dataclass(frozen=True)
class Estimator(ABC):
    """One aggregate, from the counters of one set."""

    @abstractmethod
    def squares(self, reach: int) -> float:
        """The sum of the squares of the weights with which noise enters it, in what one row of so much reach can add."""

    @abstractmethod
    def read(self, counters: Sequence[Sequence[int]], by: Reader) -> Columns:
        """Values with their intervals, one a group."""

    @abstractmethod
    def error(self, by: Reader) -> float | None:
        """The half-width; None if it depends on what nobody guessed, or if noise leaves nothing of the number."""

    def unknown(self, guesses: Guesses) -> tuple[str, str] | None:
        """Why a half-width is not known at any price, and what would work; None where it is."""
        return None

    @abstractmethod
    def told(self, by: Reader) -> str:
        """The half-width in words."""

    @property
    def clamps(self) -> bool:
        """Whether values are clamped to their bounds before they are counted."""
        return True

    @property
    def rounds(self) -> bool:
        """Whether values are counted in coarser steps than their own, which its interval does not hold."""
        return False

    @property
    def adds_up(self) -> bool:
        """Whether it is a sum over rows to which no row adds less than nothing."""
        return False

    @property
    def value_range(self) -> Range:
        """The range of the number that it estimates, whatever the data."""
        return UNBOUNDED

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number of 64 bits."""
        return False


@dataclass(frozen=True)
class SumEstimator(Estimator):
    """An aggregate that is a sum of released numbers, each times a weight."""

    weights: tuple[Fraction, ...]
    quantum: Fraction  # the answer is a multiple of this: 1 for counts
    least: Fraction  # that one row adds to it
    most: Fraction
    of_values: bool  # or a count, for which no value matters

    @property
    def row(self) -> Fraction:
        """The most that one row moves it."""
        return max(abs(self.least), abs(self.most))

    def squares(self, reach: int) -> float:
        """Of its weights."""
        return sum(float(weight * reach / self.row) ** 2 for weight in self.weights)

    def read(self, counters: Sequence[Sequence[int]], by: Reader) -> Columns:
        """In quanta: to the nearest, down and up. All are quotients of whole numbers, by one denominator each."""
        weights, quantum, half = self._weights(by), self.quantum, Fraction(self.error(by))
        common = lcm(*(weight.denominator for weight in weights))
        steps = [int(weight * common) for weight in weights]
        one, up, down = common * quantum.numerator, half.numerator * common, half.denominator
        values, lows, highs = [], [], []
        for numbers in counters:
            total = sum(step * number for step, number in zip(steps, numbers, strict=True))
            values.append((2 * total * quantum.denominator + one) // (2 * one))
            lows.append((total * down - up) * quantum.denominator // (one * down))
            highs.append(-((-total * down - up) * quantum.denominator // (one * down)))
        return self.plain(values), self.plain(lows), self.plain(highs)

    def plain(self, quanta: Sequence[int]) -> list[int | float]:
        """So many quanta each, as a column holds them."""
        return [_plain(count, self.quantum) for count in quanta]

    def error(self, by: Reader) -> float:
        """The half-width of a weighted sum of noise."""
        return interval.sum_error(by.noise, self._weights(by), by.confidence)

    def told(self, by: Reader) -> str:
        """The half-width."""
        return f"{rounded(self.error(by))}"

    def _weights(self, by: Reader) -> list[Fraction]:
        return [weight / by.resolution for weight in self.weights]

    @property
    def clamps(self) -> bool:
        """Counts do not look at values."""
        return self.of_values

    @property
    def adds_up(self) -> bool:
        """Unless values may be negative."""
        return self.least >= 0

    @property
    def value_range(self) -> Range:
        """A sum of what is not negative is not negative; of how many rows is private."""
        return (Fraction(0) if self.least >= 0 else -inf, Fraction(0) if self.most <= 0 else inf)

    @property
    def is_whole(self) -> bool:
        """Where all that it can be are whole numbers."""
        return self.quantum.denominator == 1 and self.row < WIDE


@dataclass(frozen=True)
class MeanEstimator(Estimator):
    """An average: lower + width * A / (A + B), where A and B are above and below, or their squares, each with half
    of the cross product."""

    lower: Fraction
    width: Fraction  # G steps
    row: int  # what a row adds to A + B: G, or G^2
    of_squares: bool = False
    rounding: Fraction = Fraction(0)  # what the lattice of a variance may have changed, beyond the column's own

    def squares(self, reach: int) -> float:
        """Where the weights of noise are largest: at either bound."""
        return 1.25 if self.of_squares else 1.0

    @property
    def value_range(self) -> Range:
        """The bounds of the values."""
        return self.lower, self.lower + self.width

    def read(self, counters: Sequence[Sequence[int]], by: Reader) -> Columns:
        """By Fieller's method."""
        last, shared = (2, 0.5) if self.of_squares else (1, 0)
        above, below = ([numbers[place] + shared * numbers[1] for numbers in counters] for place in (0, last))
        limits = interval.quantiles(by.noise, by.confidence, of_squares=self.of_squares)
        low, high = interval.fractions(above, below, limits)
        if self.rounding:  # what the coarser steps of a variance may have changed
            hidden = float(self.rounding / self.width)
            low, high = (low - hidden).clip(0.0), (high + hidden).clip(None, 1.0)
        return self.within(above, below, low, high, by.resolution)

    def within(
        self, above: Sequence[float], below: Sequence[float], low: NDArray[np.float64], high: NDArray[np.float64], one: int
    ) -> Columns:
        """The averages of A and B, within the ends of their fractions; a row counts in `one` parts."""
        floor = self.row * one  # as if at least one row had counted
        middle = [min(1.0, max(0.0, a / max(a + b, floor))) for a, b in zip(above, below, strict=True)]
        lower, width = float(self.lower), float(self.width)
        inside = (max(a, min(b, c)) for a, b, c in zip(low.tolist(), middle, high.tolist(), strict=True))
        return tuple([lower + width * float(part) for part in column] for column in (list(inside), low, high))  # type: ignore[return-value]

    def error(self, by: Reader) -> float | None:
        """The half-width where a group has as many rows as somebody guessed, with what rounding changes."""
        size = by.guesses.size
        return None if size is None else self._noise_error(by, size) + float(self.rounding)

    def unknown(self, guesses: Guesses) -> tuple[str, str] | None:
        """It needs the rows of a group."""
        return UNKNOWN if guesses.size is None else None

    def told(self, by: Reader) -> str:
        """The half-width, or what it is divided by."""
        if by.guesses.size is None:
            more = f", and {rounded(float(self.rounding))} for {ROUNDING}" if self.rounding else ""
            return f"about {rounded(self._noise_error(by, MANY) * MANY)} {OVER_VALUES}{more}"
        more = f", with {ROUNDING}" if self.rounding else ""
        about = rounded(self._noise_error(by, by.guesses.size) + float(self.rounding))
        return f"about {about} where a group has {number(by.guesses.size)} values{more}"

    def _noise_error(self, by: Reader, size: int) -> float:
        unit = self.row * by.resolution
        return interval.average_error(by.noise, size, unit, by.confidence, of_squares=self.of_squares) * float(self.width)


ROUNDING = "the rounding of values to coarser steps"
OVER_VALUES = "/ n for a group of n values (say size= for a figure)"


def _plain(count: int, quantum: Fraction) -> int | float:
    whole, rest = divmod(count * quantum.numerator, quantum.denominator)
    return count * quantum.numerator / quantum.denominator if rest else whole
