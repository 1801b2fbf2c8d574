"""Hierarchical histograms, with the sums of neighbouring cells: the right choice for prefixes and ranges over many cells.

Theorem. Cells are the leaves of a tree in which every node has b children, and a node counts all cells below it; H levels
take noise. In a histogram a person is one count in at most one cell. Then all nodes + N, N independent, is

    epsilon-DP     for two-sided geometric noise of scale D / epsilon
    rho-zCDP       for rounded Gaussian noise with sigma2 = D / (2 rho), even sqrt(2 rho)-Gaussian DP

    D      H                      add/remove: one node on each level moves by 1
           2 H                    replace-one, and the root has no noise: it is `rows`, a public total, or absent
           2 (H - 1)              replace-one, and the root has noise; H is 2 at least

Proof. Every node moves by at most 1 (counts are moved into 0..2^35 in every cell, a contraction; two cells in one node that
move, move against each other), so the L1 norm and the squared L2 norm are at most the number of nodes that move. For the
last line: if two cells move, the root keeps its count, and 2 (H - 1) nodes below it move; if only one does (a person comes
from no cell, or is stopped at a bound), H nodes move, which is no more, as a tree of two cells or more has H >= 2.
`Geometric` and `Gaussian` have the rest. What follows is post-processing, in which `rows` is a public number of people in
cells: a false one (it counts people whose values are missing, say) makes answers wrong and gives nothing away.

Consistency: of all histograms the one that is nearest to what was released, in squares; the best linear estimate. In two
passes: upwards each node takes the best mean of its own count and the sum of its children, downwards each node gives the
difference between its final count and its children's sum to them, in proportion to their variances
(`histograms/tree_shape.py`, with proofs). It runs on what each node differs from the sum of its leaves by, a whole number
that is noise alone: so large counts lose no digits.

Error. `histograms/tree_shape.py` bounds the squares of the weights that noise has in an answer, and shows that no weight
exceeds 1; `histograms/noise_tails.py` has the rest, with a share of the missing probability for each cell, prefix or range.
For up to 512 cells all prefixes together have a smaller one, by the law of each (`histograms/sum_maxima.py`).

Hay, Rastogi, Miklau and Suciu 2010; Qardaji, Yang and Li 2013.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import LARGEST_COUNT, read_counts
from dither.density.histograms.histogram import count_neighbours, count_noise, read_cells, replaces
from dither.density.histograms.noise_tails import sum_width, variance
from dither.density.histograms.sum_maxima import tree_width
from dither.density.histograms.tree_least_squares import corrections
from dither.density.histograms.tree_shape import Root, TreeShape, branchings
from dither.errors import DataError, SizeError
from dither.mechanisms.additive.additive import read_confidence
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.lattice import add
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_price
from dither.privacy.unit import Unit, UnitLike, read_replacement, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LISTED = 2**16  # prefixes whose variances are computed one by one; beyond, all have the bound on them


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Tree:
    """Hierarchical counts (the tree mechanism), with noise in every node, made consistent: pure epsilon, or zCDP.

    Args:
        cells: how many leaves there are, 2 to 2^24.
        branching: children of a node; the one that is best for prefixes unless said.
        root: "noisy", "absent", or "exact" where `rows` is given; the better one unless said.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        rows: how many people are counted in some cell, where that is public and one is replaced.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        NumberError: both or neither of `epsilon` and `rho`, one that is not positive, or noise that is not drawn.
        SizeError: more cells than are kept in memory, or more children than cells.
        DataError: a root that the other arguments do not allow.
        UnitError: a unit that is not known, or `rows` where people come and go.

    Example:
        >>> from dither.density import Histogram, Tree
        >>> tree = Tree(cells=256, epsilon=1)
        >>> tree.branching, tree.root
        (9, 'absent')
        >>> tree.prefix_error("0.95") < Histogram(cells=256, epsilon=1).prefix_error("0.95")
        True
        >>> tree.release([1] * 256).shape
        (256,)
    """

    code: ClassVar[str] = "tree"

    cells: int  # how many leaves
    branching: int  # children of a node; chosen for prefixes where none is given
    root: Root  # "noisy", "absent", or "exact" where rows are public; chosen where it is not given
    epsilon: Number | None  # the promise: either this
    rho: Fraction | None  # or this
    rows: int | None  # how many people are counted in some cell, where that is public
    unit: Unit  # whose coming, going or replacement is hidden
    __repr__ = short_repr

    def __init__(
        self,
        *,
        cells: SupportsIndex,
        branching: SupportsIndex | None = None,
        root: Root | None = None,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        rows: SupportsIndex | None = None,
        unit: UnitLike = Unit.ADD_REMOVE,
    ) -> None:
        size, whom = read_cells(cells, least=2), read_unit(unit)
        public, (budget, square) = read_rows(rows, whom), read_price(epsilon, rho)
        roots = read_root(root, public, whom)
        tried = branchings(size) if branching is None else [read_branching(branching, size)]
        shapes = [TreeShape(cells=size, branching=one, root=kind) for one in tried for kind in roots]
        chosen = shapes[0] if len(shapes) == 1 else min(shapes, key=lambda one: cost(one, whom, gaussian=budget is None))
        b, top = chosen.branching, chosen.root
        self.__attrs_init__(cells=size, branching=b, root=top, epsilon=budget, rho=square, rows=public, unit=whom)
        _ = self.noise  # refuses noise that cannot be drawn, now and not at the first release

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or Gaussian DP, and so rho-zCDP."""
        return self.noise.guarantee

    @cached_property
    def shape(self) -> TreeShape:
        """Levels, and how accurate answers are in units of a node's noise."""
        return TreeShape(cells=self.cells, branching=self.branching, root=self.root)

    @cached_property
    def noise(self) -> Geometric | Gaussian:
        """The mechanism that gives every node its noise."""
        nodes = sum(self.shape.sizes[: self.shape.levels])
        return count_noise(nodes_moved(self.shape, self.unit), nodes, epsilon=self.epsilon, rho=self.rho, unit=self.unit)

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """A half-width that all cells stay within together, with probability `confidence`."""
        return self._width(self.shape.leaf_square(), self.cells, confidence)

    def prefix_error(self, confidence: NumberLike) -> float:
        """A half-width for the sums of the first 1, 2, ... cells, all together with probability `confidence`."""
        if self.cells > LISTED:
            return self._width(self.shape.prefix_square(), self.cells, confidence)
        most = self._width(self.shape.prefix_squares(), 1, confidence)
        return tree_width(self.noise.law, self.shape, level=read_confidence(confidence), most=most)

    def range_error(self, confidence: NumberLike) -> float:
        """A half-width for all ranges together, with probability `confidence`."""
        pairs = self.cells * (self.cells + 1) // 2
        own = self._width(self.shape.range_square(), pairs, confidence)
        return min(own, 2 * self.prefix_error(confidence))

    def _width(self, squares: float | NDArray[np.float64], events: int, confidence: NumberLike) -> float:
        level = read_confidence(confidence)
        return sum_width(self.noise.law, squares=squares, events=events, level=level)

    @property
    def variance(self) -> float:
        """The variance of the noise of a node: what expected errors are compared by."""
        return variance(self.noise.law)

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike) -> NDArray[np.float64]:
        """Estimates of the `counts`: real numbers, some of them below 0, from which every range follows by adding."""
        return self.consistent(self.nodes(counts))

    def nodes(self, counts: CountsLike, *, most: int = LARGEST_COUNT) -> list[NDArray[np.int64]]:
        """All nodes over `counts`, up to `most` a cell, with noise, leaves first; the root without, where it is exact."""
        import numpy as np

        levels = [read_counts(counts, cells=self.cells, most=most)]
        for _ in self.shape.sizes[1 : self.shape.levels]:
            levels.append(self._parents(levels[-1]))
        noisy: list[Any] = [add(level, self.noise.law.sample(level.size)) for level in levels]
        return noisy if self.rows is None else [*noisy, np.array([self.rows], dtype=np.int64)]

    def consistent(self, nodes: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        """The histogram that is nearest to noisy `nodes`, in squares."""
        return nodes[0] + self.corrections(nodes)

    def corrections(self, nodes: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        """What that adds to each leaf of noisy `nodes`: of noise alone, however large counts are."""
        return corrections(self.shape, self._differences(nodes))

    def _differences(self, nodes: list[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
        """By how much each node above the leaves exceeds the sum of its leaves: whole numbers, and then doubles."""
        import numpy as np

        below, found = nodes[0], []
        mosts = [max(2**38, 2**61 // self.cells)] + [2**61] * len(nodes)
        wide = any(np.abs(level).max() >= most for level, most in zip(nodes, mosts, strict=False))
        if wide:  # sums could leave 64 bits; doubles lose nothing against noise of that size
            below = below.astype(np.float64)
        for level in nodes[1:]:
            below = self._parents(below)
            found.append((level - below).astype(np.float64))
        return found

    def _parents(self, level: Any) -> Any:
        import numpy as np

        return np.add.reduceat(level, np.arange(0, level.size, self.branching))

    def truth(self, counts: CountsLike) -> list[int]:
        """What a release of these `counts` is an estimate of; not to be published."""
        return [int(count) for count in read_counts(counts, cells=self.cells)]

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Every cell with one count more; and every count moved to another cell, where a person is replaced."""
        return count_neighbours(self.cells, self.unit)


# -- what is chosen and read ---------------------------------------------------------------------------------------------


def nodes_moved(shape: TreeShape, unit: Unit) -> int:
    """D of the theorem: how many nodes a person moves by 1, at most."""
    if not replaces(unit):
        return shape.levels
    return 2 * (shape.levels - 1) if shape.root == "noisy" else 2 * shape.levels


def cost(shape: TreeShape, unit: Unit, *, gaussian: bool) -> float:
    """The expected squared error of a prefix, up to a factor that all trees share: variance, times what the levels cost."""
    moved = nodes_moved(shape, unit)
    return shape.mean_prefix() * (moved if gaussian else moved**2)


def read_branching(value: SupportsIndex, cells: int) -> int:
    """How many children a node has, 2 or more and no more than there are cells."""
    found = integer(value, name="branching", least=2)
    if found > cells:
        raise SizeError("branching", value, f"there are {cells} cells", f"{cells} or fewer")
    return found


def read_root(value: Root | None, rows: int | None, unit: Unit) -> list[Root]:
    """The roots to choose from. Where one is replaced noise in the root costs nothing, so there it is never absent."""
    possible: list[Root] = ["noisy", "absent"] if rows is None else ["exact"]
    if value is None:
        return possible[:1] if replaces(unit) else possible
    if not isinstance(value, str) or value not in possible:
        why = "a root is exact where the number of rows is public, and only there"
        raise DataError("root", value, why, " or ".join(map(repr, possible)))
    return [value]


def read_rows(value: SupportsIndex | None, unit: Unit) -> int | None:
    """None, or how many people are counted in some cell: public only where one is replaced and none comes or goes.

    Who is in no cell (a missing value) is not among them. Where that can happen `rows` is not public: it is left out, or
    missing values get a cell of their own.
    """
    if value is None:
        return None
    read_replacement(unit)
    rows = integer(value, name="rows", least=0)
    if rows > LARGEST_COUNT:
        raise SizeError("rows", value, f"up to {LARGEST_COUNT} people are counted", "fewer")
    return rows
