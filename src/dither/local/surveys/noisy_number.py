"""A number with truncated geometric noise, added at the source.

`surveys/number_survey.py` has what surveys of numbers share.

Two-sided geometric noise on the places 0..G, releases beyond an end staying at it: `mechanisms/additive/geometric.py` has
its theorem and proof. With many places this is Laplace noise. What stays at an end is biased, but not for good:

Theorem. With a = e^(-epsilon / G), the score o inside, -a / (1 - a) at 0 and G + a / (1 - a) at G has mean i at place i.
Proof. Let Y = i + noise before it is cut. Given Y <= 0, -Y is geometric, whatever i (no memory), with mean a / (1 - a);
given Y >= G, so is Y - G. So the score is the mean of Y given the report, and the mean of Y is i.

So its variance is below that of the noise. `Hybrid` (`surveys/piecewise_and_duchi.py`) has less noise at every epsilon
that was tried, 0.1 to 8; this one shows each number, and so serves where more than the mean is of interest.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.closed_form_rows import power, truncated
from dither.channels.kernels import GeometricKernel
from dither.channels.matrix import MatrixEntry
from dither.errors import NumberError
from dither.local.client_law import geometric
from dither.local.surveys.number_survey import MOST_REPORTS, NumberSurvey
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.lattice import add
from dither.numeric.number import NumberLike, integer
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

USUAL_STEPS = 2**10


@argument_errors
class NoisyNumber(NumberSurvey):
    """The number and geometric noise, with what lies beyond the bounds counted at its mean.

    Args:
        low: the lower bound of a number; smaller ones count as this.
        high: the upper bound of a number; larger ones count as this.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        steps: G, in how many steps the range is divided; below 65536.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: low is not below high, or a parameter is no number or out of range.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import NoisyNumber
        >>> survey = NoisyNumber(0, 100, epsilon=1, steps=100)
        >>> survey.reports
        101
        >>> len(survey.randomize([20, 31.5, 64]))
        3
    """

    kind: ClassVar[str] = "noisy number"

    def __init__(
        self,
        low: NumberLike,
        high: NumberLike,
        *,
        epsilon: NumberLike,
        steps: SupportsIndex = USUAL_STEPS,
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        super().__init__(low, high, epsilon=epsilon, unit=unit)
        self.steps = integer(steps, name="steps", least=1)
        if self.steps >= MOST_REPORTS:
            raise NumberError("steps", steps, f"there are fewer than {MOST_REPORTS} steps", str(USUAL_STEPS))
        self._noise = Geometric(epsilon=self.epsilon, sensitivity=self.steps, bounds=(0, self.steps), unit=self.unit)

    @property
    def reports(self) -> int:
        """How many different reports there are: one for each place 0..G."""
        return self.steps + 1

    def parameters(self) -> dict[str, object]:
        """The number of steps, for the record."""
        return {"steps": self.steps}

    def _encode(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        import numpy as np

        noisy: Any = add(places, self._noise.law.sample(places.shape))
        return np.asarray(np.clip(noisy, 0, self.steps))

    def client_draws(self) -> dict[str, object]:
        """Weights of noise 0, 1, ..., G - 1 on either side, and of all from G on."""
        return {**super().client_draws(), "weights": geometric(self.epsilon / self.steps, self.steps)}

    def _rows(self) -> list[list[MatrixEntry]]:
        return [truncated(i, self.reports, self.epsilon / self.steps) for i in range(self.reports)]

    def exact_scores(self) -> list[MatrixEntry]:
        """What report o counts for: o / G inside, and the mean of what was cut at the ends."""
        beyond = 1 / (power(self.epsilon / self.steps, 1) - 1)
        inside: list[MatrixEntry] = [Fraction(o, self.steps) for o in range(1, self.steps)]
        return [-beyond / self.steps, *inside, 1 + beyond / self.steps]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """What each report counts for, in floats."""
        import numpy as np

        found = np.arange(self.reports) / self.steps
        beyond = 1 / math.expm1(float(self.epsilon) / self.steps) / self.steps
        found[0], found[-1] = -beyond, 1 + beyond
        return found

    @cached_property
    def mean_squares(self) -> NDArray[np.float64]:
        return GeometricKernel(self.reports, self.epsilon / self.steps).pull(self.scores**2)
