"""Shape functions: what an additive model says of each column, in words and as charts.

A score is the intercept and one effect of each column. Effects are made of released numbers alone, so to show all of them
costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dither.extras import needs
from dither.learn.base.cells import Floats
from dither.learn.base.columns import CategoryColumn
from dither.learn.trees.bins import bin_edges, bin_words, row_bins
from dither.learn.trees.boosting import PrivateBoosting
from dither.table import table

with needs("dither[learn]"):
    from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import altair

CHARTS_ABREAST = 3


class AdditiveModel(PrivateBoosting):
    """A model that is a sum of functions of one column each."""

    def _output_names(self) -> list[str]:
        """What each score is about."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Floats:
        rows = self._predicted(X)
        bins = row_bins(rows, self.facts_.columns)
        total = np.repeat(np.asarray(self.intercept_)[None, :], rows.count, axis=0)
        for at, shape in enumerate(self.shapes_):
            total = total + shape[bins[:, at]]
        return total

    def explain(self) -> str:
        """What was released, at which price; and the shape functions: of each column its importance, and effects by bin.

        Bins of numbers beside each other with the same effects stand in one line.
        """
        check_is_fitted(self, "guarantee_")
        outputs = self._output_names()
        lines = [super().explain(), "", "A score is the intercept and one effect of each column."]
        starts = [f"{name}: {value:+.3f}" for name, value in zip(outputs, self.intercept_, strict=True)]
        lines.append(f"Intercept  {', '.join(starts)}")
        for at in np.argsort(-self.importances_, kind="stable"):
            name, column = self.facts_.names[at], self.facts_.columns[at]
            lines += ["", f"{name}: importance {self.importances_[at]:.3f}, the mean size of its effects"]
            found = [[name, *outputs]]
            words = bin_words(column) if isinstance(column, CategoryColumn) else None
            for low, high in _runs(self.shapes_[at], merged=words is None):
                if words is None:
                    edges = bin_edges(column.low, column.high)
                    shown = f"{edges[low]:.4g} to {edges[high]:.4g}"
                else:
                    shown = words[low]
                found.append([shown, *(f"{effect:+.3f}" for effect in self.shapes_[at][low])])
            lines += table(found, rule=1)
        return "\n".join(lines)

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

        charts = []
        outputs = self._output_names()
        for at in np.argsort(-self.importances_, kind="stable"):
            name, column, shape = self.facts_.names[at], self.facts_.columns[at], self.shapes_[at]
            values = [
                {"output": output, "effect": float(effect), **_place(column, low)}
                for low in range(len(shape))
                for output, effect in zip(outputs, shape[low], strict=True)
            ]
            base = altair.Chart(altair.InlineData(values=values), title=name, width=220, height=160)
            color = altair.Color("output:N", sort=outputs, title=None)
            effect = altair.Y("effect:Q", title="effect on the score")
            if isinstance(column, CategoryColumn):
                names = bin_words(column)
                x = altair.X("bin:N", sort=names, title=None)
                charts.append(base.mark_point(filled=True).encode(x=x, y=effect, color=color))
            else:
                scale = altair.Scale(domain=[column.low, column.high])
                x = altair.X("bin:Q", scale=scale, title=None)
                charts.append(base.mark_line(interpolate="step-after").encode(x=x, y=effect, color=color))
        drawn: altair.ConcatChart = altair.concat(*charts, columns=CHARTS_ABREAST)
        return drawn


def _place(column: Any, at: int) -> dict[str, Any]:
    """Where a bin stands on its axis."""
    if isinstance(column, CategoryColumn):
        return {"bin": bin_words(column)[at]}
    return {"bin": bin_edges(column.low, column.high)[at]}


def _runs(shape: Floats, merged: bool) -> list[tuple[int, int]]:
    """First bin and the one after the last, of bins beside each other that have the same effects."""
    starts = [0] + [at for at in range(1, len(shape)) if not merged or not np.array_equal(shape[at], shape[at - 1])]
    return list(zip(starts, [*starts[1:], len(shape)], strict=True))
