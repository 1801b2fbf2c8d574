"""The hybrid mechanism for the mean of numbers: the piecewise one or that of Duchi et al., by a coin.

`surveys/number_survey.py` has what surveys of numbers share, `surveys/piecewise_and_duchi.py` the two mechanisms.
E = e^epsilon.

It is piecewise with probability 1 - e^(-epsilon / 2) and Duchi's otherwise, where epsilon is above 0.61; Duchi's alone
below. A report tells which it was. That is no secret: the coin falls before the value is looked at, and for either side
every ratio of probabilities is at most E. Each side is unbiased, so a report is. Its variance is nearly the same for all
values.

Wang et al. 2019.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.closed_form_rows import power
from dither.channels.matrix import MatrixEntry
from dither.local.client_law import exponential
from dither.local.surveys.number_survey import NumberSurvey
from dither.local.surveys.piecewise_and_duchi import Duchi, Piecewise
from dither.noise.bernoulli import Bernoulli
from dither.noise.uniform_integers import uniform
from dither.numeric.number import NumberLike
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_MIXED = Fraction(61, 100)  # below this epsilon a mixture is worse than its better part


@argument_errors
class Hybrid(NumberSurvey):
    """The hybrid mechanism for means, piecewise or Duchi by a coin that the report tells: little noise at every epsilon.

    Args:
        low: the lower bound of a number; smaller ones count as this.
        high: the upper bound of a number; larger ones count as this.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        reports: how many different reports the piecewise part has; chosen by epsilon unless it is given.
        window: how many of them are likelier; chosen by epsilon unless it is given.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: low is not below high, the window is as large as all reports, or a parameter is out of range.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import Hybrid
        >>> survey = Hybrid(0, 10, epsilon=2)
        >>> found = survey.estimate(survey.randomize([4] * 1000), confidence="0.999999999")
        >>> found.low < 4 < found.high
        True
    """

    kind: ClassVar[str] = "hybrid"

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
        self._bit = Duchi(low, high, epsilon=self.epsilon, unit=unit)
        windows = Piecewise(low, high, epsilon=self.epsilon, reports=reports, window=window, unit=unit)
        self._windows = windows if self.epsilon > LEAST_MIXED else None
        self.steps = self._bit.steps if self._windows is None else self._windows.steps

    @property
    def reports(self) -> int:
        """How many different reports there are: those of Piecewise, and then the two of Duchi."""
        return 2 if self._windows is None else self._windows.size + 2

    def parameters(self) -> dict[str, object]:
        """M and w of Piecewise, where it has a part, for the record."""
        return {} if self._windows is None else self._windows.parameters()

    @cached_property
    def _coin(self) -> Bernoulli:
        """Whether a report is by Duchi."""
        return Bernoulli.exp(self.epsilon / 2)

    def _encode(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        import numpy as np

        if self._windows is None:
            return self._bit._encode(places)
        bit = self._coin.sample(places.shape)
        found = np.empty(places.shape, dtype=np.int64)
        up = uniform(self.steps, int(bit.sum())) < places[bit]  # with probability i / steps
        found[bit] = self._windows.size + self._bit._encode(up.astype(np.int64))
        found[~bit] = self._windows._encode(places[~bit])
        return found

    def client_draws(self) -> dict[str, object]:
        """What Piecewise and Duchi draw from, and the chance of the latter; where there is no mixture, Duchi alone."""
        if self._windows is None:
            return self._bit.client_draws()
        return {**self._bit.client_draws(), **self._windows.client_draws(), "duchi": exponential(self.epsilon / 2)}

    def _rows(self) -> list[list[MatrixEntry]]:
        if self._windows is None:
            return self._bit._rows()
        root = power(self.epsilon / 2, 1)
        other = 1 / (root * root + 1)  # a lie of Duchi
        rows = []
        for i, row in enumerate(self._windows.rows(root * root)):
            one = other + (1 - 2 * other) * Fraction(i, self.steps)
            rows.append([entry * (1 - 1 / root) for entry in row] + [(1 - one) / root, one / root])
        return rows

    def exact_scores(self) -> list[MatrixEntry]:
        """The scores of Piecewise, and then those of Duchi."""
        if self._windows is None:
            return self._bit.exact_scores()
        grown = power(self.epsilon / 2, 2)
        return [*self._windows.affine(grown), -1 / (grown - 1), grown / (grown - 1)]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """What each report counts for, in floats."""
        import numpy as np

        return self._bit.scores if self._windows is None else np.concatenate([self._windows.scores, self._bit.scores])

    @cached_property
    def mean_squares(self) -> NDArray[np.float64]:
        import numpy as np

        if self._windows is None:
            return self._bit.mean_squares
        share, ends = math.exp(-float(self.epsilon) / 2), self._bit.mean_squares
        line = ends[0] + (ends[1] - ends[0]) * np.arange(self.steps + 1) / self.steps
        return np.asarray(share * line + (1 - share) * self._windows.mean_squares)
