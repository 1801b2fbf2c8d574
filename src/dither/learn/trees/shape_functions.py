"""Shape functions: what an additive model says of each column, in words and as charts.

A score is the intercept and one effect of each column. Effects are made of released numbers alone, so to show all of them
costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dither.altair_theme import series, themed
from dither.extras import needs
from dither.learn.base.cells import Floats
from dither.learn.base.columns import CategoryColumn, Column
from dither.learn.trees.bins import bin_edges, bin_words, row_bins
from dither.learn.trees.boosting import PrivateBoosting
from dither.table import table
from dither.terminal import Explanation

with needs("dither[learn]"):
    from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import altair

CHARTS_ABREAST, CHART_WIDTH, LETTER_WIDTH = 3, 220, 14


class AdditiveModel(PrivateBoosting):
    """A model that is a sum of functions of one column each."""

    def _output_names(self) -> list[str]:
        """What each score is about."""
        raise NotImplementedError

    def _score_words(self) -> str:
        """What a score means."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Floats:
        rows = self._predicted(X)
        bins = row_bins(rows, self.facts_.columns)
        total = np.repeat(np.asarray(self.intercept_)[None, :], rows.count, axis=0)
        for at, shape in enumerate(self.shapes_):
            total = total + shape[bins[:, at]]
        return total

    def explain(self) -> Explanation:
        """What was released, at which price; and the shape functions: of each column its importance, and effects by bin.

        Bins of numbers beside each other with the same effects stand in one line. The rows of a bin have noise too: an
        effect that rests on few of them is that of bins which shared its groups.
        """
        check_is_fitted(self, "guarantee_")
        outputs = self._output_names()
        starts = [f"{name}: {value:+.3f}" for name, value in zip(outputs, self.intercept_, strict=True)]
        lines = [super().explain(), "", f"A score is the intercept and one effect of each column: {self._score_words()}."]
        lines += [f"Rows in bins have noise of deviation {self.histogram_deviation_:.0f} each."]
        lines.append(f"Intercept  {', '.join(starts)}")
        for at in np.argsort(-self.importances_, kind="stable"):
            name, column, shape = self.facts_.names[at], self.facts_.columns[at], self.shapes_[at]
            found = [[name, "rows", *outputs]]
            for low, high in _runs(shape, merged=not isinstance(column, CategoryColumn)):
                rows = max(0.0, float(self.histograms_[at][low:high].sum()))
                found.append([_words(column, low, high), f"{rows:.0f}", *(f"{effect:+.3f}" for effect in shape[low])])
            lines += [
                "",
                f"{name}: importance {self.importances_[at]:.3f}, the mean size of its effects",
                *table(found, rule=1),
            ]
        return Explanation("\n".join(lines))

    def plot(self) -> altair.ConcatChart:
        """One chart for each column: the effect of each of its bins on the score. All of them; made of released numbers.

        Raises:
            MissingExtraError: altair is not installed (`pip install "dither[plot]"`).
            NotFittedError: nothing was fitted.

        Example:
            >>> import numpy as np
            >>> from dither.learn import BoostingRegressor
            >>> X = np.random.default_rng(1).uniform(0, 1, (1000, 2))
            >>> model = BoostingRegressor(epsilon=1, delta="1e-6", bounds=(0, 1), target_bounds=(0, 1)).fit(X, X[:, 0])
            >>> len(model.plot().to_dict()["concat"])
            2
        """
        check_is_fitted(self, "guarantee_")
        with needs("dither[plot]"):
            import altair

        outputs, charts = self._output_names(), []
        for at in np.argsort(-self.importances_, kind="stable"):
            name, column, shape = self.facts_.names[at], self.facts_.columns[at], self.shapes_[at]
            kind = isinstance(column, CategoryColumn)
            places: list[Any] = (
                bin_words(column) if isinstance(column, CategoryColumn) else bin_edges(column.low, column.high)
            )
            effects = shape if kind else np.concatenate([shape, shape[-1:]])  # the last step reaches the upper bound
            values = [
                {"output": output, "effect": float(effect), "bin": place}
                for place, row in zip(places, effects, strict=True)
                for output, effect in zip(outputs, row, strict=True)
            ]
            width = max(CHART_WIDTH, LETTER_WIDTH * len(places)) if kind else CHART_WIDTH
            base = altair.Chart(altair.InlineData(values=values), title=name, width=width, height=160)
            legend = altair.Undefined if len(outputs) > 1 else None
            color = altair.Color("output:N", sort=outputs, title=None, legend=legend)
            y = altair.Y("effect:Q", title="effect on the score")
            if kind:
                x = altair.X("bin:N", sort=places, title=None)
                form = altair.Shape("output:N", sort=outputs, title=None, legend=legend)
                charts.append(base.mark_point(filled=True, size=50).encode(x=x, y=y, color=color, shape=form))
            else:
                x = altair.X("bin:Q", scale=altair.Scale(domain=[places[0], places[-1]]), title=None)
                charts.append(base.mark_line(interpolate="step-after").encode(x=x, y=y, **series("output", outputs)))
        drawn: altair.ConcatChart = altair.concat(*charts, columns=CHARTS_ABREAST)
        return themed(drawn)


def _words(column: Column, low: int, high: int) -> str:
    """What the bins from one to before another hold."""
    if isinstance(column, CategoryColumn):
        return bin_words(column)[low]
    edges = bin_edges(column.low, column.high)
    return f"{edges[low]:.6g} to {edges[high]:.6g}"


def _runs(shape: Floats, merged: bool) -> list[tuple[int, int]]:
    """First bin and the one after the last, of bins beside each other that have the same effects."""
    starts = [0] + [at for at in range(1, len(shape)) if not merged or not np.array_equal(shape[at], shape[at - 1])]
    return list(zip(starts, [*starts[1:], len(shape)], strict=True))
