"""The mean of numbers under local differential privacy: what all surveys of numbers share.

    randomize(values) -> Reports        at the source: a number inside known bounds becomes one of finitely many reports
    tally(reports) -> Tally             at the collector: how often each report came; tallies add up, and nothing overflows
    estimate(found) -> MeanEstimate     the mean, with its error
    guarantee, error(people), for_error(people=, half_width=), channel()

The way of a value: moved into [low, high] (NaN counts as 0, then moved), rounded at random to one of the places 0..steps,
so that its mean is itself (`noise/random_rounding.py`), and then a report drawn for the place. Every report o has a score
g(o), and the mean of the score, given the place i, is i / steps. So the mean of the scores is an unbiased estimate of the
mean of the values, as a share of [low, high]. Each survey proves its own scores.

Privacy is that of the matrix from places to reports: what is rounded at random is a mixture of two of its rows, and a
ratio of mixtures of rows is at most the largest ratio of rows.

Error. The scores of n people are independent, so the deviation of their mean is at most s / sqrt(n), s being the
deviation of one score among all people (with people as they are it is less: the spread of their values counts as well).
The interval is z times that, widened by z^2 / 2n times the range of the scores, which is nothing for many people and
honest for few.
Before collecting: the largest s for any people. With m(i) the mean square of the score at place i and x = i / steps, the
variance is the mean of m less the square of the mean of x; its largest value over all distributions of people is the
smallest over c of the largest m(i) - 2 c x + c^2 (a concave function of the distribution, a convex one of c: minimax).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex

from dither.channels.channel import Channel
from dither.channels.matrix import MatrixEntry
from dither.errors import DataError, NumberError, SizeError
from dither.local.collect.intervals import normal_quantile
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.least_epsilon import least_epsilon
from dither.local.portable_survey import PortableSurvey
from dither.local.survey import read_epsilon
from dither.local.surveys.direct_encoding import histogram, smallest
from dither.noise.random_rounding import round_randomly
from dither.numeric.number import Number, NumberLike, RealLike, integer, rational
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike, read_replacement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_REPORTS = 2**16  # different ones
MOST_ENTRIES = 2**16  # of a matrix that is written out


@dataclass(frozen=True)
class MeanEstimate:
    """The mean of people's numbers, and how certain it is."""

    mean: float  # unbiased; noise may take it out of the bounds
    deviation: float  # its standard error
    low: float  # a confidence interval, cut to the bounds
    high: float
    people: int
    confidence: float

    def __str__(self) -> str:
        inside = self.low <= self.mean <= self.high
        beyond = "" if inside else " (noise took it beyond the bounds; the interval is cut to them)"
        return (
            f"{self.mean:.6g} ± {self.deviation:.3g}{beyond}, {self.low:.6g} to {self.high:.6g} with {self.confidence:.0%} "
            f"probability, from {self.people} reports"
        )


class NumberSurvey(PortableSurvey):
    """Numbers inside known bounds, randomised by the people who have them."""

    kind: ClassVar[str]  # its name on the wire

    low: Fraction  # values outside are moved to these
    high: Fraction
    epsilon: Number  # the promise
    steps: int  # places are 0..steps
    unit: Unit

    def __init__(self, low: NumberLike, high: NumberLike, *, epsilon: NumberLike, unit: UnitLike = Unit.REPLACE_ONE) -> None:
        self.low, self.high = rational(low, name="low"), rational(high, name="high")
        if not self.low < self.high:
            raise NumberError("low, high", (low, high), "the lower bound lies below the upper one", "0 and 100")
        self.epsilon = read_epsilon(epsilon)
        self.unit = read_replacement(unit)

    # -- what each of them says for itself ---------------------------------------------------------------------

    @property
    @abstractmethod
    def reports(self) -> int:
        """How many different reports there are: 0..reports - 1."""

    @property
    @abstractmethod
    def scores(self) -> NDArray[np.float64]:
        """What each report counts for, as a share of [low, high]: nearest floats."""

    @abstractmethod
    def exact_scores(self) -> list[MatrixEntry]:
        """What each report counts for, as a share of [low, high], exactly."""

    @property
    @abstractmethod
    def mean_squares(self) -> NDArray[np.float64]:
        """The mean square of the score at each place."""

    @abstractmethod
    def _encode(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Randomised reports for values that were rounded to places 0..steps."""

    @abstractmethod
    def _rows(self) -> list[list[MatrixEntry]]:
        """The exact matrix from places to reports."""

    def parameters(self) -> dict[str, object]:
        """What a collector must know besides the bounds and epsilon, as plain JSON."""
        return {}

    def client_draws(self) -> dict[str, object]:
        """The bounds and the number of steps to which a client rounds at random; and what each kind adds."""
        return {"low": self.low, "high": self.high, "steps": self.steps}

    # -- the promise -------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure, for replacing one person's number: that somebody answered is public."""
        return pure(self.epsilon, unit=self.unit)

    def channel(self) -> Channel:
        """The exact matrix from the values of the places to the reports, for few of them."""
        size = (self.steps + 1) * self.reports
        if size > MOST_ENTRIES:
            raise SizeError("channel", size, f"a matrix of up to {MOST_ENTRIES} entries is written out", "a coarser survey")
        places = [self.low + (self.high - self.low) * Fraction(i, self.steps) for i in range(self.steps + 1)]
        return Channel(self._rows(), places, range(self.reports))

    @cached_property
    def record(self) -> dict[str, object]:
        """What says which survey this is: reports and tallies carry it, and those of another survey are refused."""
        return {
            "kind": self.kind,
            "low": str(self.low),
            "high": str(self.high),
            "epsilon": self.epsilon.to_json(),
            "unit": self.unit.value,
            **self.parameters(),
        }

    # -- at the source -----------------------------------------------------------------------------------------

    def randomize(self, values: Iterable[RealLike]) -> Reports:
        """A report for each of the `values`; a DataError where they are no numbers in a list. Run it where they are."""
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise DataError("values", values, "the numbers of many people come in a list", "[1.5, 2, 0]")
        given = values if hasattr(values, "__array__") else list(values)
        places = round_randomly(given, low=self.low, high=self.high, steps=self.steps)
        return Reports(self.record, self._encode(places).astype(self.dtype))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of one report: the smallest whole number that holds it."""
        return smallest(self.reports)

    # -- at the collector --------------------------------------------------------------------------------------

    def tally(self, reports: Reports) -> Tally:
        """How often each of the `reports` came. What is no report of this survey is counted, and left out."""
        if not isinstance(reports, Reports):
            raise DataError("reports", type(reports), "they are no reports", "what randomize gave, or Reports.from_bytes")
        reports.check(self.record)
        payload = reports.one_per_client().payload_as(self.dtype)
        return Tally.of(self.record, reports, len(payload), *histogram(payload, self.reports))

    def estimate(self, found: Reports | Tally, *, confidence: NumberLike = "0.95") -> MeanEstimate:
        """The mean of all numbers, from what was `found`, reports or a tally; an interval at this `confidence`."""
        tally = found if isinstance(found, Tally) else self.tally(found)
        tally.check(self.record, self.reports)
        count = tally.people
        if count == 0:
            raise SizeError("reports", 0, "there is nothing to estimate from", "at least one report")
        z, scores = normal_quantile(confidence), self.scores
        mean = float((tally.counts * scores).sum()) / count
        variance = float((tally.counts * (scores - mean) ** 2).sum()) / max(count - 1, 1)
        deviation = math.sqrt(variance / count)
        half = math.hypot(z * deviation, z * z / (2 * count) * float(scores.max() - scores.min()))
        return MeanEstimate(
            mean=self._value(mean),
            deviation=deviation * float(self.high - self.low),
            low=self._value(min(max(mean - half, 0.0), 1.0)),
            high=self._value(min(max(mean + half, 0.0), 1.0)),
            people=count,
            confidence=float(rational(confidence, name="confidence")),
        )

    def _value(self, part: float) -> float:
        """A share of [low, high] as a value."""
        return float(self.low + (self.high - self.low) * Fraction(part))

    # -- before anything is collected --------------------------------------------------------------------------

    @cached_property
    def worst_variance(self) -> float:
        """The largest variance of one score, whoever the people are, as a share of (high - low)^2."""
        import numpy as np

        squares, x = self.mean_squares, np.arange(self.steps + 1) / self.steps
        low, high = 0.0, 1.0
        for _ in range(60):  # the largest of convex functions of c is convex: thirds find its lowest point
            left, right = low + (high - low) / 3, high - (high - low) / 3
            a, b = (float((squares - 2 * c * x + c * c).max()) for c in (left, right))
            low, high = (low, right) if a <= b else (left, high)
        return float((squares - 2 * low * x + low * low).max())

    @cached_property
    def worst_noise(self) -> float:
        """The largest variance of one score for one and the same value, as a share of (high - low)^2: noise alone.

        Between two places the mean square is a line b x + c, and b x + c - x^2 is largest at b / 2, or at the end near it.
        """
        import numpy as np

        squares, x = self.mean_squares, np.arange(self.steps + 1) / self.steps
        rise = np.diff(squares) * self.steps
        top = np.clip(rise / 2, x[:-1], x[1:])
        return float((squares[:-1] + rise * (top - x[:-1]) - top**2).max())

    def error(self, people: SupportsIndex, confidence: NumberLike = "0.95") -> float:
        """The half-width of the interval of the mean, from so many `people`, whoever they are, at this `confidence`."""
        count, z = integer(people, name="people", least=1), normal_quantile(confidence)
        return z * math.sqrt(self.worst_variance / count) * float(self.high - self.low)

    @classmethod
    def for_error(
        cls,
        low: NumberLike,
        high: NumberLike,
        *,
        people: SupportsIndex,
        half_width: NumberLike,
        confidence: NumberLike = "0.95",
        **same: Any,
    ) -> Self:
        """The survey with the least epsilon whose error from so many `people` is within `half_width` at this `confidence`.

        `low`, `high` and what is the `same` for every epsilon go to the class. A NumberError where no epsilon will do.
        """
        wanted = rational(half_width, name="half_width", positive=True)

        def error(epsilon: Fraction) -> float:
            return cls(low, high, epsilon=epsilon, **same).error(people, confidence)

        return cls(low, high, epsilon=least_epsilon(error, wanted, half_width), **same)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({Number(self.low)} to {Number(self.high)}, epsilon='{self.epsilon}')"
