"""The mechanism of Duchi et al. and the piecewise mechanism, for the mean of numbers under local differential privacy.

`surveys/number_survey.py` has what surveys of numbers share. E = e^epsilon.

Duchi. The place is 0 or 1 (low or high), and the report is a randomized response of it. With x in [-1, 1] standing for the
value, the place is 1 with probability (1 + x) / 2, so P(1) = 1/2 + x (E - 1) / (2 (E + 1)). Scores: (o - q) / (p - q) with
p = E / (E + 1), q = 1 / (E + 1), whose mean is the place: E / (E - 1) for a 1 and -1 / (E - 1) for a 0. For small epsilon.

Piecewise. Reports 0..M - 1. Place i gives weight E to each of the w reports i..i + w - 1 and weight 1 to the others.
Theorem. It is epsilon-differentially private. Proof. The weights add up to Z = w E + M - w whatever the place, so every
ratio of probabilities is E, 1 or 1 / E.
Theorem. The mean of the report is affine in the place, so an affine map of it is an unbiased score. Proof. It is (M (M -
1) / 2 + (E - 1) (w i + w (w - 1) / 2)) / Z.
There are M - w + 1 places. w / M is near 1 / (e^(epsilon / 2) + 1), which is where the continuous mechanism of Wang et
al. 2019 has it; M is so large that rounding to places costs nothing that one could see. For large epsilon.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.closed_form_rows import flat, power
from dither.channels.matrix import MatrixEntry
from dither.errors import NumberError
from dither.local.client_law import response
from dither.local.surveys.number_survey import MOST_REPORTS, NumberSurvey
from dither.mechanisms.response.k_ary_response import Flat
from dither.noise.bernoulli import Bernoulli
from dither.noise.uniform_integers import uniform
from dither.numeric.number import Number, NumberLike, integer, ln
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST, NARROWEST = 2**10, 16  # reports, and reports in a window, unless others are asked for


@argument_errors
class Duchi(NumberSurvey):
    """Duchi's one-bit mechanism for means: a number is rounded at random to a bound, told by randomized response.

    Args:
        low: the lower bound of a number; smaller ones count as this.
        high: the upper bound of a number; larger ones count as this.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: low is not below high, or a parameter is no number or out of range.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import Duchi
        >>> survey = Duchi(0, 10, epsilon="ln(2)")
        >>> print(*survey.exact_scores())
        -1 2
        >>> len(survey.randomize([0.5, 7, 12]))
        3
    """

    kind: ClassVar[str] = "duchi"
    steps = 1
    reports = 2

    def __init__(self, low: NumberLike, high: NumberLike, *, epsilon: NumberLike, unit: UnitLike = Unit.REPLACE_ONE) -> None:
        super().__init__(low, high, epsilon=epsilon, unit=unit)
        self._flat = Flat((0, 1), epsilon=self.epsilon, unit=self.unit)

    def _encode(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._flat.randomize_places(places)

    def client_draws(self) -> dict[str, object]:
        """The chance of the true bound."""
        return {**super().client_draws(), "truth": response(self.epsilon)}

    def _rows(self) -> list[list[MatrixEntry]]:
        return flat(2, self.epsilon)

    def exact_scores(self) -> list[MatrixEntry]:
        """-1 / (E - 1) and E / (E - 1)."""
        grown = power(self.epsilon, 1)
        return [-1 / (grown - 1), grown / (grown - 1)]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """What each report counts for: -1 / (E - 1) and E / (E - 1), in floats."""
        import numpy as np

        over = 1 / math.expm1(float(self.epsilon))
        return np.array([-over, 1 + over])

    @cached_property
    def mean_squares(self) -> NDArray[np.float64]:
        import numpy as np

        low, high = self.scores**2
        q = 1 / (1 + math.exp(float(self.epsilon)))
        return np.array([(1 - q) * low + q * high, q * low + (1 - q) * high])


@argument_errors
class Piecewise(NumberSurvey):
    """The piecewise mechanism for means: reports in a window around the number are likelier; for large epsilon.

    Args:
        low: the lower bound of a number; smaller ones count as this.
        high: the upper bound of a number; larger ones count as this.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        reports: M, how many different reports there are, up to 32768; at least 1024 unless it is given.
        window: w, how many of them are likelier; near M / (e^(epsilon / 2) + 1) unless it is given.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: low is not below high, the window is as large as all reports, or a parameter is out of range.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import Piecewise
        >>> survey = Piecewise(0, 10, epsilon=4)
        >>> survey.reports, survey.window
        (1024, 122)
        >>> len(survey.randomize([0.5, 7, 12]))
        3
    """

    kind: ClassVar[str] = "piecewise"

    def __init__(
        self,
        low: NumberLike,
        high: NumberLike,
        *,
        epsilon: NumberLike,
        reports: SupportsIndex | None = None,
        window: SupportsIndex | None = None,
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        super().__init__(low, high, epsilon=epsilon, unit=unit)
        self.size, self.window = _shape(self.epsilon, reports, window)
        self.steps = self.size - self.window

    @property
    def reports(self) -> int:
        """M, how many different reports there are."""
        return self.size

    def parameters(self) -> dict[str, object]:
        """M and w, for the record."""
        return {"reports": self.size, "window": self.window}

    @cached_property
    def _near(self) -> Bernoulli:
        """Whether a report lies in the window: w E / (w E + M - w)."""
        return Bernoulli.response(self.epsilon + ln(self.window), self.steps + 1)

    def _encode(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        import numpy as np

        near = self._near.sample(places.shape)
        found = np.empty(places.shape, dtype=np.int64)
        inside = places[near]
        found[near] = inside + uniform(self.window, inside.shape)
        outside = places[~near]
        other = uniform(self.steps, outside.shape)
        found[~near] = np.where(other < outside, other, other + self.window)
        return found

    def client_draws(self) -> dict[str, object]:
        """M and w, and the chance of a report in the window."""
        near = response(self.epsilon, Fraction(self.steps, self.window))
        return {**super().client_draws(), "reports": self.size, "window": self.window, "near": near}

    def _rows(self) -> list[list[MatrixEntry]]:
        return self.rows(power(self.epsilon, 1))

    def rows(self, grown: MatrixEntry) -> list[list[MatrixEntry]]:
        """The matrix from places to reports, for `grown`: E as a fraction or a ratio of exponentials."""
        small = 1 / (grown * self.window + self.steps)
        return [
            [grown * small if i <= o < i + self.window else small for o in range(self.size)] for i in range(self.steps + 1)
        ]

    def exact_scores(self) -> list[MatrixEntry]:
        """(o - the mean at place 0) / slope / steps, for each report o."""
        return self.affine(power(self.epsilon, 1))

    def affine(self, grown: MatrixEntry) -> list[MatrixEntry]:
        """The scores of all reports, for `grown`: E as a fraction or a ratio of exponentials."""
        size, window = self.size, self.window
        whole = grown * window + self.steps
        start = ((grown - 1) * Fraction(window * (window - 1), 2) + Fraction(size * (size - 1), 2)) / whole
        slope = (grown - 1) * window / whole * self.steps
        return [(o - start) / slope for o in range(size)]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """What each report counts for, in floats: from the middle, where nothing cancels."""
        import numpy as np

        a = math.exp(-float(self.epsilon))
        slope = -math.expm1(-float(self.epsilon)) * self.window / (self.window + a * self.steps)
        return np.asarray(0.5 + (np.arange(self.size) - (self.size - 1) / 2) / (slope * self.steps))

    @cached_property
    def mean_squares(self) -> NDArray[np.float64]:
        import numpy as np

        a = math.exp(-float(self.epsilon))
        running = np.concatenate([[0.0], np.cumsum(self.scores**2)])
        near = running[self.window :] - running[: self.steps + 1]
        return np.asarray((near + a * (running[-1] - near)) / (self.window + a * self.steps))


def _shape(epsilon: Number, reports: SupportsIndex | None, window: SupportsIndex | None) -> tuple[int, int]:
    """M and w: as asked for, or w / M near 1 / (e^(epsilon / 2) + 1) with a window that is not too narrow."""
    share = 1 / (math.exp(min(float(epsilon), 64.0) / 2) + 1)  # chooses a shape only; every shape keeps the promise
    if reports is None:
        size = FEWEST
        while size * share < NARROWEST and 2 * size <= MOST_REPORTS // 2:
            size *= 2
    else:
        size = integer(reports, name="reports", least=2)
    if size > MOST_REPORTS // 2:
        raise NumberError("reports", reports, f"there are up to {MOST_REPORTS // 2} reports", str(FEWEST))
    width = max(1, min(size - 1, round(size * share))) if window is None else integer(window, name="window", least=1)
    if width >= size:
        raise NumberError("window", window, "a window of all reports says nothing", f"1 to {size - 1}")
    return size, width
