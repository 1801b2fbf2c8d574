"""Which mechanism for a distribution: compared by error at one price, from public facts only.

    histogram(axis, ...)    every cell by itself: compared by the half-width that all cells stay within at 95%
    cdf(bins, ...)          running sums, how many people lie below each edge: compared by their expected error

Expected errors are root mean squares over prefixes, in closed form (`histograms/tree_shape.py`). They choose and promise
nothing: the promise is that of the mechanism, whichever it is, and so is the error at a confidence. For cells the
half-width of flat noise is exact and that of a tree is a bound, so the half-widths decide: a tree of few cells may err a
little less on the whole, where one is replaced, but nothing as small can be promised of it. Nothing of the choice reads
data, so it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

from dither.arguments import argument_errors
from dither.density.histograms.axis import Axis, Bins, read_axis, read_bins
from dither.density.histograms.columns import CountsLike, EstimatesLike
from dither.density.histograms.consistency import isotonic, simplex, tie_down
from dither.density.histograms.distribution import Distribution
from dither.density.histograms.histogram import Histogram
from dither.density.histograms.prefix_workload import MOST_CELLS, PrefixWorkload
from dither.density.histograms.tree import Tree, cost, read_root, read_rows
from dither.density.histograms.tree_shape import TreeShape, branchings
from dither.mechanisms.additive.additive import read_confidence
from dither.numeric.number import NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike, read_unit
from dither.terminal import Explanation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PLAINER = 0.95  # a histogram of whole numbers is kept unless another error is below this times its own
AT = Fraction(95, 100)  # the confidence by which histograms are compared
TREES = 3  # of each kind that is shown
COMPARED = {  # by what
    True: "Expected error of a running sum (root mean square)",
    False: "What all cells stay within with 95% probability",
}
ROOTS = {"noisy": "with a noisy root", "absent": "without root", "exact": "with an exact root"}


@argument_errors
@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The mechanism that was chosen for a distribution, and why. `histogram` and `cdf` make it.

    Args:
        axis: what is counted.
        mechanism: what releases.
        ordered: whether running sums count, or single cells.
        rows: how many people are counted in some cell, where that is public.
        compared: the error of each candidate by which it is chosen, the best first.

    Raises:
        SizeError: from `release`, where there is not one count for each cell.
        DataError: from `release`, where counts are no whole numbers.
        NumberError: from any method, where a confidence is no probability between 0 and 1.

    Example:
        >>> from dither.density import Bins, histogram
        >>> plan = histogram(Bins([0, 18, 65, 120]), epsilon=1)
        >>> plan.error("0.95"), next(iter(plan.compared))
        (4.0, 'noise in every cell')
        >>> plan.release([5, 7, 2])
        <Distribution over <3 bins from 0 to 120>, ...>
    """

    axis: Axis
    mechanism: Histogram | Tree | PrefixWorkload
    ordered: bool
    rows: int | None
    compared: dict[str, float]
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism that was chosen."""
        return self.mechanism.guarantee

    def error(self, confidence: NumberLike) -> float:
        """A half-width for all running sums together, or for all cells together, with probability `confidence`."""
        return float((self.mechanism.prefix_error if self.ordered else self.mechanism.error)(confidence))

    def release(self, counts: CountsLike, *, confidence: NumberLike = "0.95") -> Distribution:
        """The distribution, from `counts`: one for each cell; its bands have this `confidence`."""
        return self.read(self.mechanism.release(counts), confidence=confidence)

    def read(self, released: EstimatesLike, *, confidence: NumberLike = "0.95") -> Distribution:
        """The distribution from what the mechanism `released` before, with bands of this `confidence`: no data, no draw."""
        import numpy as np

        level = read_confidence(confidence)
        cell_error, prefix_error, range_error = self._errors(level)
        raw = np.array(released, dtype=np.float64)
        return Distribution(
            axis=self.axis,
            raw=raw,
            counts=self._rising(raw) if self._layered else self._possible(raw),
            rows=self.rows,
            confidence=float(level),
            cell_error=cell_error,
            prefix_error=prefix_error,
            range_error=range_error,
            guarantee=self.guarantee,
        )

    def _errors(self, level: Fraction) -> tuple[float, float, float]:
        """Half-widths for all cells, all running sums and all ranges: computed once for a confidence."""
        if level not in self._known:
            made = self.mechanism
            self._known[level] = float(made.error(level)), float(made.prefix_error(level)), float(made.range_error(level))
        return self._known[level]

    @cached_property
    def _known(self) -> dict[Fraction, tuple[float, float, float]]:
        return {}

    @property
    def _layered(self) -> bool:
        """Whether running sums have less noise than cells would give them: then they are what is made possible.

        Where every cell has noise of its own, the cells are: that was never further off, and half as far for spiky data.
        """
        if isinstance(self.mechanism, Tree):
            return self.ordered and self.mechanism.shape.levels > 1
        return self.ordered and isinstance(self.mechanism, PrefixWorkload)

    def _possible(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """No cell below 0. The total stays as it was released: cutting cells at 0 alone would add to it."""
        return simplex(raw, self.rows if self.rows is not None else max(0.0, float(raw.sum())))

    def _rising(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cells of which no running sum lies below the one before it."""
        import numpy as np

        sums = np.cumsum(raw)
        if self.rows is not None:
            sums = tie_down(sums, self.rows)
        rising = isotonic(sums, low=0, high=self.rows)
        if self.rows is not None:
            rising[-1] = self.rows
        return np.diff(rising, prepend=0.0)

    def explain(self) -> Explanation:
        """What was compared, and why this one was taken."""
        what = "running sum" if self.ordered else "cell"
        taken = describe(self.mechanism)
        lines = [
            f"{self.axis.size} cells, {self.guarantee}.",
            f"{COMPARED[self.ordered]}, from public facts only:",
            *(f"  {error:10.4g}  {name}{'   <- taken' if name == taken else ''}" for name, error in self.compared.items()),
        ]
        first = next(iter(self.compared))
        if first != taken:
            lines.append(f"'{taken}' is taken: it is plainer, and '{first}' is better by less than 5%.")
        lines.append(f"With 95% probability every {what} stays within {self.error('0.95'):.4g} of the truth, all together.")
        return Explanation("\n".join(lines))


@argument_errors
def histogram(
    axis: Axis,
    *,
    epsilon: NumberLike | None = None,
    rho: NumberLike | None = None,
    rows: SupportsIndex | None = None,
    unit: UnitLike = Unit.ADD_REMOVE,
) -> Plan:
    """The best mechanism for single cells: bins, categories, or a grid of them.

    Args:
        axis: what is counted.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        rows: how many people are counted in some cell, where that is public and one is replaced.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        DataError: an `axis` that is none.
        NumberError: both or neither of `epsilon` and `rho`, one that is not positive, or noise that is not drawn.
        UnitError: a unit that is not known, or `rows` where people come and go.

    Example:
        >>> from dither.density import Categories, histogram
        >>> print(histogram(Categories(["a", "b", "c"]), epsilon=1).explain())
        3 cells, ε = 1 (add/remove one person).
        What all cells stay within with 95% probability, from public facts only:
                   4  noise in every cell   <- taken
        ...
    """
    cells, whom = read_axis(axis, name="axis"), read_unit(unit)
    return _plan(cells, epsilon, rho, read_rows(rows, whom), whom, ordered=False)


@argument_errors
def cdf(
    bins: Bins,
    *,
    epsilon: NumberLike | None = None,
    rho: NumberLike | None = None,
    rows: SupportsIndex | None = None,
    unit: UnitLike = Unit.ADD_REMOVE,
    known_loss: bool = False,
) -> Plan:
    """The best mechanism for a distribution function: how many people lie below each edge of the bins.

    With `known_loss`, of those whose loss is known exactly: a strategy with discrete Gaussian noise is zCDP and no more is
    known, so that at a delta it costs a larger epsilon than rounded Gaussian noise of the same rho.

    Args:
        bins: the cells of the line.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        rows: how many people are counted in some cell, where that is public and one is replaced.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.
        known_loss: whether only mechanisms are compared whose privacy loss is known exactly.

    Raises:
        DataError: `bins` that are none.
        NumberError: both or neither of `epsilon` and `rho`, one that is not positive, or noise that is not drawn.
        UnitError: a unit that is not known, or `rows` where people come and go.

    Example:
        >>> from dither.density import Bins, cdf
        >>> plan = cdf(Bins.even(0, 1024, 1024), epsilon=1)
        >>> plan.mechanism.branching, plan.mechanism.root
        (15, 'absent')
        >>> plan.release([1] * 1024).prefixes().estimate.shape
        (1024,)
    """
    cells, whom = read_bins(bins), read_unit(unit)
    return _plan(cells, epsilon, rho, read_rows(rows, whom), whom, ordered=True, strategies=not known_loss)


def _plan(
    axis: Axis,
    epsilon: NumberLike | None,
    rho: NumberLike | None,
    rows: int | None,
    unit: Unit,
    *,
    ordered: bool,
    strategies: bool = True,
) -> Plan:
    size, price = axis.size, {"epsilon": epsilon, "rho": rho}
    flat = Histogram(cells=size, unit=unit, **price)
    plainest = math.sqrt(flat.variance * (size + 1) / 2) if ordered else float(flat.error(AT))
    found: list[tuple[float, Callable[[], Any], str]] = [(plainest, lambda: flat, describe(flat))]
    if size > 1:
        found += _trees(size, rows, unit, price, ordered=ordered)
    if strategies and ordered and rho is not None and 1 < size <= MOST_CELLS:
        best = PrefixWorkload(cells=size, rho=rho, unit=unit)
        spread = math.sqrt(best.workload.strategy.rmse**2 / (2 * float(best.rho)))
        found.append((spread, lambda: best, describe(best)))
    found.sort(key=lambda one: one[0])
    plain = found[0][0] >= PLAINER * plainest
    mechanism = flat if plain and not (ordered and rows is not None) else found[0][1]()
    return Plan(
        axis=axis, mechanism=mechanism, ordered=ordered, rows=rows, compared={name: error for error, _, name in found}
    )


def _trees(
    size: int, rows: int | None, unit: Unit, price: dict[str, Any], *, ordered: bool
) -> list[tuple[float, Callable[[], Any], str]]:
    """The trees with the least cost, each with the error by which it is compared."""
    roots = read_root(None, rows, unit)
    shapes = [TreeShape(cells=size, branching=b, root=root) for b in branchings(size) for root in roots]
    shapes = [shape for shape in shapes if shape.levels > 1 or shape.root == "exact"]  # one level without root is flat

    def loss(shape: TreeShape) -> float:
        part = 1 if ordered else shape.leaf_square() / shape.mean_prefix()
        return cost(shape, unit, gaussian=price["epsilon"] is None) * part

    found: list[tuple[float, Callable[[], Any], str]] = []
    for shape in sorted(shapes, key=loss)[:TREES]:
        tree = Tree(cells=size, branching=shape.branching, root=shape.root, rows=rows, unit=unit, **price)
        error = math.sqrt(tree.variance * shape.mean_prefix()) if ordered else tree.error(AT)
        found.append((error, lambda tree=tree: tree, describe(tree)))  # type: ignore[misc]
    return found


def describe(mechanism: Histogram | Tree | PrefixWorkload) -> str:
    """What a mechanism does, in a few words."""
    if isinstance(mechanism, Histogram):
        return "noise in every cell"
    if isinstance(mechanism, PrefixWorkload):
        return "the best strategy for running sums"
    several = f"{mechanism.shape.levels} level{'s' * (mechanism.shape.levels > 1)}"
    return f"tree of {mechanism.branching} {ROOTS[mechanism.root]}, {several} of noise"
