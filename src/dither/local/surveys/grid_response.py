"""Cells of a grid under local differential privacy: how many people are where, each place randomised at the source.

    scores="distance"   near cells are likelier than far ones: the client is `mechanisms/response/location_response.py`
    scores="uniform"    all false cells are equally likely: the client is `mechanisms/response/k_ary_response.py`

Both have exactly the epsilon that is promised, for any two cells (theorems and proofs there).

With distances a report supports its neighbourhood, and no single p and q describe it. Shares of cells are estimated by
inversion, F = (A')^-1 H (B')^-1, H being the shares of the reports, A and B the matrices of the two axes. That is unbiased
(`surveys/axis_matrices.py`).

So a report counts for its own cell and the eight around it, with weights M. F is a mean of n independent weights, and its
variance is at most (sum of M^2 H - F^2) / n (the delta rule, which is exact here, as F is linear): with people as they are
it is less, as the variance within people is below the variance of all. An interval is F +- z times that deviation, widened
by z^2 / n times the range of the weights, which is what a cell with no report at all needs. It is for one cell at a time.

Inversion is hopeless where the noise is wide (the half-widths say so), so shares are by the Bayesian update, which needs no
inverse (`collect/bayesian_update.py`). Where held-out reports say that it should run to its end, the method is called
"likelihood", and otherwise "bayes". The simplex has no part in that choice: with distances it was the worst on every map
that was tried, and with all false cells alike held-out reports did not prefer it. Where nearly all people are in one cell
it is nearer nevertheless (up to 1.4 times), as "likelihood" is with distances (up to 1.5 times): ask for them by name.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.kernels import FlatKernel
from dither.errors import DataError, GuaranteeError, SizeError
from dither.local.client_law import falling, response
from dither.local.collect.bayesian_update import updated
from dither.local.collect.estimate import Estimate, Frequencies, cut
from dither.local.collect.intervals import normal_quantile
from dither.local.collect.reconstruct import project, water_filling
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.least_epsilon import least_epsilon
from dither.local.survey import MOST_VALUES, Survey
from dither.local.surveys.axis_matrices import AxisMatrices, KroneckerKernel, axis_matrices
from dither.local.surveys.direct_encoding import histogram, smallest
from dither.mechanisms.response.k_ary_response import Flat
from dither.mechanisms.response.location_response import LocationResponse
from dither.numeric.number import NumberLike, integer, rational
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scores: TypeAlias = Literal["distance", "uniform"]
SCORES: tuple[Scores, ...] = ("distance", "uniform")


@argument_errors
class GridResponse(Survey):
    """Cells (column, row) of a grid, each person's place randomised by herself.

    Args:
        width: how many columns there are.
        height: how many rows there are; up to 2^20 cells in all.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        scores: whether near cells are likelier than far ones ("distance"), or all false cells alike ("uniform").
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        DataError: scores is another word.
        NumberError: a parameter is no number or out of range, or there is one cell only.
        SizeError: there are too many cells.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import GridResponse
        >>> survey = GridResponse(width=4, height=3, epsilon=2)
        >>> survey.places([(0, 0), (3, 2)]).tolist()
        [0, 11]
        >>> survey.tally(survey.randomize([(0, 0), (3, 2)])).people
        2
    """

    kind: ClassVar[str] = "grid"
    methods: ClassVar[tuple[str, ...]] = ("bayes", "likelihood", "simplex", "clip", "raw")

    def __init__(
        self,
        *,
        width: SupportsIndex,
        height: SupportsIndex,
        epsilon: NumberLike,
        scores: Scores = "distance",
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        if scores not in SCORES:
            raise DataError("scores", scores, "cells are likelier the nearer they are, or all alike", ", ".join(SCORES))
        self._grid = LocationResponse(width=width, height=height, epsilon=epsilon, unit=unit)
        self.width, self.height, self.scores = self._grid.width, self._grid.height, scores
        if self.width * self.height > MOST_VALUES:
            raise SizeError("width, height", (width, height), f"a survey has up to {MOST_VALUES} cells", "coarser cells")
        super().__init__(product(range(self.width), range(self.height)), epsilon=epsilon, unit=unit)

    @cached_property
    def record(self) -> dict[str, object]:
        """What says which survey this is; the sizes of the grid say which cells there are."""
        sizes = {"width": self.width, "height": self.height, "scores": self.scores}
        return {"kind": self.kind, **sizes, "epsilon": self.epsilon.to_json(), "unit": self.unit.value}

    @cached_property
    def _flat(self) -> Flat:
        return Flat(self.domain, epsilon=self.epsilon, unit=self.unit)

    @cached_property
    def support(self) -> tuple[float, float]:
        """p and q of the flat mechanism; with distances there is no such pair."""
        if self.scores == "distance":
            why = "a report supports near cells more than far ones, so no p and q describe it"
            raise GuaranteeError("scores", self.scores, why, "scores='uniform', or channel()")
        small = math.exp(-float(self.epsilon))
        whole = 1 + (len(self.domain) - 1) * small
        return 1 / whole, small / whole

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: the smallest unsigned integer that holds the number of a cell, column by column."""
        return smallest(len(self.domain))

    def places(self, values: Iterable[Hashable]) -> NDArray[np.int64]:
        """The number of each cell of `values`: pairs, or an integer array with two columns."""
        import numpy as np

        if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 2 and values.dtype.kind in "iu":
            outside = ((values < 0) | (values >= np.array([self.width, self.height]))).any(axis=1)
            if outside.any():
                at = int(np.argmax(outside))
                why = f"the grid has {self.width} columns and {self.height} rows"
                raise DataError(f"values[{at}]", values[at].tolist(), why, f"(0, 0) to {self.domain[-1]}")
            return np.asarray(values[:, 0].astype(np.int64) * self.height + values[:, 1].astype(np.int64))
        return super().places(values)

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        if self.scores == "uniform":
            return self._flat.randomize_places(places).astype(self.dtype)
        columns, rows = self._grid.randomize_places(places // self.height, places % self.height)
        found: NDArray[Any] = (columns * self.height + rows).astype(self.dtype)
        return found

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        return histogram(payload, len(self.domain))

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        return counts.astype(np.float64)

    def channel(self) -> Channel:
        """The exact matrix of one answer."""
        return self._flat.channel() if self.scores == "uniform" else self._grid.channel()

    def client_draws(self) -> dict[str, object]:
        """The chance of the true cell, or weights of distances along either axis."""
        sizes = {"width": self.width, "height": self.height, "scores": self.scores}
        if self.scores == "uniform":
            return {**sizes, "truth": response(self.epsilon, len(self.domain) - 1)}
        return {**sizes, "weights": falling(self._grid.rate, max(self.width, self.height))}

    # -- at the collector --------------------------------------------------------------------------------------

    @cached_property
    def axes(self) -> tuple[AxisMatrices, AxisMatrices]:
        """The matrices of columns and of rows."""
        return axis_matrices(self.width, float(self._grid.rate)), axis_matrices(self.height, float(self._grid.rate))

    def estimate(self, found: Reports | Tally, *, method: str | None = None, confidence: NumberLike = "0.95") -> Estimate:
        """Shares of all cells, by the Bayesian update or by inversion, with intervals on the inversion.

        `found` are reports or a tally. `method` is one of `methods`; None is the update, and held-out reports say when it
        stops, "bayes", or that it should run to its end, "likelihood". Each interval is of the raw estimate of one cell and
        holds at this `confidence`, whatever the method.
        """
        import numpy as np

        if self.scores == "uniform":
            return super().estimate(found, method=method, confidence=confidence)
        tally = found if isinstance(found, Tally) else self.tally(found)
        tally.check(self.record, self._nothing.size)
        self._check_method(method)
        if tally.people == 0:
            raise SizeError("reports", 0, "there is nothing to estimate from", "at least one report")
        z, count = normal_quantile(confidence), tally.people
        across, down = self.axes
        share = tally.counts.reshape(self.width, self.height) / count
        raw = across.inverse @ share @ down.inverse.T
        squares = across.inverse**2 @ share @ (down.inverse**2).T
        variance = np.maximum(squares - raw**2, 0.0) / count
        half = np.hypot(z * np.sqrt(variance), z * z / count * self._range)
        low, high = cut((raw - half).reshape(-1), (raw + half).reshape(-1))
        flat = raw.reshape(-1)
        frequencies = self._reconstruct(method, flat, tally)
        return Estimate(
            self.domain,
            frequency=frequencies.values,
            raw=flat,
            deviation=np.sqrt(variance).reshape(-1),
            low=low,
            high=high,
            half_width=half.reshape(-1),
            people=count,
            method=frequencies.method,
            confidence=float(rational(confidence, name="confidence")),
            why=frequencies.why,
        )

    @cached_property
    def _range(self) -> NDArray[np.float64]:
        """The range of the weights that a report can have, for each cell: from the lowest to the highest product of two."""
        import numpy as np

        ends = [(m.inverse.min(axis=1), m.inverse.max(axis=1)) for m in self.axes]
        corners = np.stack([np.outer(a, b) for a in ends[0] for b in ends[1]])
        return np.asarray(corners.max(axis=0) - corners.min(axis=0))

    def _reconstruct(self, method: str | None, raw: NDArray[np.float64], tally: Tally) -> Frequencies:
        if method == "likelihood" and self.scores == "uniform":
            return Frequencies(water_filling(tally.counts, self.epsilon), method)
        if method in (None, "bayes", "likelihood"):
            return updated(self.kernel, tally.counts, method)
        return Frequencies(project(raw, method), method)

    @cached_property
    def kernel(self) -> FlatKernel | KroneckerKernel:
        """The channel as products with vectors."""
        if self.scores == "uniform":
            return FlatKernel(len(self.domain), self.epsilon)
        return KroneckerKernel(*(axis.matrix for axis in self.axes))

    # -- before anything is collected --------------------------------------------------------------------------

    def error(self, people: SupportsIndex, confidence: NumberLike = "0.95") -> float:
        """The half-width of the interval of one cell at this `confidence`, for the worst cell and wherever `people` are.

        A person at x adds, for cell i, a weight with mean 1 or 0 (whether x is i) and a mean square v(x). With a share t at
        i and all others where v is largest, the variance is t v(i) + (1 - t) v* - t^2.
        """
        import numpy as np

        if self.scores == "uniform":
            return super().error(people, confidence)
        count, z = integer(people, name="people", least=1), normal_quantile(confidence)
        across, down = (m.matrix @ (m.inverse**2).T for m in self.axes)  # mean squares [x, i] along one axis
        own = np.outer(np.diagonal(across), np.diagonal(down))
        others = [square - np.diag(np.diagonal(square)) for square in (across, down)]  # the place itself left out
        best = np.maximum(
            np.outer(others[0].max(axis=0), down.max(axis=0)), np.outer(across.max(axis=0), others[1].max(axis=0))
        )
        t = np.clip((own - best) / 2, 0.0, 1.0)
        return z * math.sqrt(float((t * own + (1 - t) * best - t * t).max()) / count)

    @classmethod
    def for_error(  # type: ignore[override]
        cls,
        *,
        width: SupportsIndex,
        height: SupportsIndex,
        people: SupportsIndex,
        half_width: SupportsIndex,
        confidence: NumberLike = "0.95",
        scores: Scores = "distance",
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> GridResponse:
        """The survey with the least epsilon whose error from so many `people` is within `half_width` at this `confidence`.

        `width`, `height`, `scores` and `unit` as in the class. A NumberError where no epsilon will do.
        """
        wanted = rational(half_width, name="half_width", positive=True)

        def make(epsilon: NumberLike) -> GridResponse:
            return cls(width=width, height=height, epsilon=epsilon, scores=scores, unit=unit)

        return make(least_epsilon(lambda e: make(e).error(people, confidence), wanted, half_width))

    def __repr__(self) -> str:
        return f"GridResponse({self.width} x {self.height}, epsilon='{self.epsilon}', scores='{self.scores}')"
