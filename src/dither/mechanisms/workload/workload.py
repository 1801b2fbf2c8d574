"""Many linear queries of one histogram, answered together with the least noise that is known: the matrix mechanism.

Theorem. Let B be a matrix of whole numbers that does not depend on data, x a histogram in which a person is one count in
one cell, and D the largest norm of a column of B (add/remove), or of the difference of two columns (replace one). Then
B x + noise, and every function of it, is

    epsilon-DP     for independent two-sided geometric noise of scale D / epsilon, D in L1 norm
    rho-zCDP       for independent discrete Gaussian noise with sigma2 = D^2 / (2 rho), D in L2 norm

Proof. A person who comes or goes moves B x by a column, one who is replaced by a difference of two, so by at most D (where
somebody may be in no cell, a cell of zeros must stand for that: she moves B x by a whole column otherwise):
`Geometric` and `DiscreteGaussian` have the rest. D is computed in whole numbers (`mechanisms/workload/column_norms.py`),
and B x is computed in integers of any length, so nothing is rounded or bounded before the noise.

Answers are R (B x + noise) with R B = W (`workload/reconstruction.py`), in whole numbers, and then the nearest doubles;
answers beyond the largest double are moved to it. B is the strategy with the least error that is known for these queries
(`mechanisms/workload/strategy.py`), or one that you give; a wrong choice costs accuracy and never privacy.

Error. Query i is off by S_i = sum_j R_ij N_j, and by at most `slack`, for counts up to 2^53 in size.
 The half-width is the
smaller of two: a Chernoff bound (`workload/chernoff.py`), and k sum_j |R_ij| where all N_j stay within k with this
confidence, k exact. The second is smaller where an answer has the noise of one released number only, and is exact there.
They are computed in doubles and then made wider by one part in 2^20, thousands of times what doubles can be off.

Li, Miklau, Hay, McGregor and Rastogi 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import frozen
from flint import fmpz_mat

from dither.arguments import argument_errors
from dither.errors import DataError, SizeError
from dither.mechanisms.additive.additive import half_width, read_confidence
from dither.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.mechanisms.protocol import IntegersLike, MatrixLike
from dither.mechanisms.workload.chernoff import gaussian_width, geometric_width
from dither.mechanisms.workload.given_strategy import MOST_ANSWERS, is_whole, read_strategy
from dither.mechanisms.workload.reconstruction import Reconstruction, reconstruct
from dither.mechanisms.workload.strategy import Noise, Strategy, norm_of, read_queries
from dither.numeric.balls import round_up
from dither.numeric.lattice import as_array
from dither.numeric.number import Number, NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_price
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDER = 1 + 2.0**-20  # what is computed in doubles is rounded up by this


@argument_errors
@frozen(kw_only=True, slots=False, init=False, eq=False, repr=False)
class Workload:
    """The matrix mechanism: a fixed set of linear queries of a histogram, answered together; pure epsilon, or zCDP.

    Args:
        queries: a matrix, one row a query and one column a cell; whole numbers or doubles, at their binary value.
        epsilon: the pure privacy loss of one release, above zero; exactly one of epsilon and rho is given.
        rho: the zCDP parameter of one release, above zero.
        unit: the neighbouring relation, add/remove one person by default; a person is one count in one cell.
        strategy: what is released: a `Strategy`, or a matrix of whole numbers; by default the best that is known.

    Raises:
        NumberError: neither or both of epsilon and rho are given, or a number lies outside its range.
        DataError: queries or strategy are no matrices of numbers, or the queries do not follow from the strategy.
        SizeError: a matrix is too large, or its columns are not the cells.
        UnitError: the unit is unknown.

    Example:
        >>> from dither import Workload
        >>> mechanism = Workload(queries=[[1, 1, 1], [1, 1, 0], [1, 0, 0]], epsilon=1)
        >>> print(mechanism.guarantee)
        ε = 1 (add/remove one person)
        >>> mechanism.release([120, 45, 8]).shape
        (3,)
    """

    queries: NDArray[np.float64]  # one row a query, one column a cell, exactly; not to be written to
    epsilon: Number | None  # the promise: either this
    rho: Fraction | None  # or this
    unit: Unit  # whose coming, going or replacement moves the histogram by one count, or moves one count
    strategy: Strategy  # what is released

    def __init__(
        self,
        *,
        queries: MatrixLike,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        unit: UnitLike = Unit.ADD_REMOVE,
        strategy: Strategy | MatrixLike | None = None,
    ) -> None:
        (budget, square), table, whom = read_price(epsilon, rho), read_queries(queries), read_unit(unit)
        if table.size > MOST_ANSWERS:
            raise SizeError(
                "shape of queries", table.shape, "at most 2^21 weights lead from a release to answers", "fewer queries"
            )
        table.setflags(write=False)
        kind: Noise = "gaussian" if budget is None else "laplace"
        plan = read_strategy(strategy, table, kind, swaps=whom.replacement is whom)
        self.__attrs_init__(queries=table, epsilon=budget, rho=square, unit=whom, strategy=plan)
        # Noise that cannot be drawn and queries that do not follow are refused now, not at the first release.
        _ = self._matrix, self.noise, self.reconstruction

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon, or rho-zCDP: that of the noise."""
        return self.noise.guarantee

    def loss(self) -> Loss:
        """The dominating pair of any epsilon-DP release; refused under rho, where none is known for vectors."""
        return self.guarantee.loss()

    @cached_property
    def noise(self) -> Geometric | DiscreteGaussian:
        """The noise of every released number, with its promise: from the matrix of whole numbers and nothing else."""
        matrix = self.strategy.matrix
        norm = norm_of(matrix, self._kind, replace=self._replace)
        if norm == 0:
            why = "a person who is replaced moves none of the answers"
            raise DataError("queries", f"{len(self.queries)} queries", why, "publish them as they are, or add/remove")
        rows = matrix.shape[0]
        if self.epsilon is not None:
            return Geometric(epsilon=self.epsilon, sensitivity=norm, dimension=rows, unit=self.unit)
        return DiscreteGaussian(l2_squared=norm, rho=self.rho, dimension=rows, unit=self.unit)

    @property
    def _kind(self) -> Noise:
        return "gaussian" if self.epsilon is None else "laplace"

    @property
    def _replace(self) -> bool:
        return self.unit.replacement is self.unit

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """A half-width that all answers stay within together, with a probability of at least `confidence`.

        For counts up to 2^53.
        """
        import numpy as np

        rows, level = np.unique(np.abs(self.reconstruction.floats), axis=0), read_confidence(confidence)
        rows = rows[rows.any(axis=1)]
        return self._width(rows, level, half_width(self.noise.law, level, int(rows.any(axis=0).sum())))

    def errors(self, confidence: NumberLike) -> list[float]:
        """A half-width for each answer by itself, with a probability of at least `confidence`; for counts up to 2^53."""
        import numpy as np

        level = read_confidence(confidence)
        rows, which = np.unique(np.abs(self.reconstruction.floats), axis=0, return_inverse=True)
        found, within = [], {}  # how far so many numbers reach together, by how many they are
        for row in rows:
            count = max(1, int(row.any() and (row > 0).sum()))
            if count not in within:
                within[count] = half_width(self.noise.law, level, count)
            found.append(
                self._width(row[None, :], level, within[count]) if row.any() else round_up(self.reconstruction.slack)
            )
        return [found[int(at)] for at in which.reshape(-1)]

    def _width(self, rows: NDArray[np.float64], level: Fraction, within: int) -> float:
        """A half-width of answers together, where all their noise stays within so many steps."""
        if isinstance(self.noise, Geometric):
            width = geometric_width(rows, self.noise.law.rate.bounds().lower, level)
        else:
            width = gaussian_width(rows, self.noise.sigma2, level)
        plain = float(rows.sum(axis=1).max()) * within
        return round_up(Fraction(min(width, plain) * WIDER) + self.reconstruction.slack)

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, histogram: IntegersLike) -> NDArray[np.float64]:
        """An answer to every query, from a `histogram` of whole numbers with one count for each cell.

        Raises DataError where the counts are not whole, SizeError where they are not as many as cells.
        """
        counts = fmpz_mat([[count] for count in self._counts(histogram)])
        exactly = [int(row[0]) for row in (self._matrix * counts).tolist()]
        noise = self.noise.law.sample(len(exactly)).tolist()
        return self.reconstruction.answers([value + draw for value, draw in zip(exactly, noise, strict=True)])

    def truth(self, histogram: IntegersLike) -> list[Fraction]:
        """What a release is an estimate of: the queries of the `histogram`, exactly."""
        counts = self._counts(histogram)
        rows = self.queries.tolist()
        return [sum((Fraction(w) * x for w, x in zip(row, counts, strict=True) if w), start=Fraction(0)) for row in rows]

    def _counts(self, histogram: IntegersLike) -> list[int]:
        array, cells = as_array(histogram, name="histogram"), self.queries.shape[1]
        if array.dtype.kind not in "iuO" or not all(is_whole(count) for count in array.reshape(-1).tolist()):
            kind = type(histogram).__name__ if array.dtype.kind == "O" else array.dtype
            raise DataError("type of histogram", kind, "a histogram counts", "whole numbers, one for each cell")
        if array.shape != (cells,):
            raise SizeError("shape of histogram", array.shape, "it needs one count for each cell", f"a list of {cells}")
        return [int(count) for count in array.tolist()]

    @cached_property
    def _matrix(self) -> fmpz_mat:
        return fmpz_mat(self.strategy.matrix.tolist())

    @cached_property
    def reconstruction(self) -> Reconstruction:
        """How answers follow from what is released."""
        return reconstruct(self.queries, self.strategy.matrix)

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Every cell with one count more, or every pair of cells with one count moved."""
        cells = self.queries.shape[1]
        for start in (0, 10**12):
            for i in range(cells):
                others = range(i) if self._replace else [None]
                yield from ((_moved(cells, start, i), _moved(cells, start, j)) for j in others)

    # -- plain things ------------------------------------------------------------------------------------------

    def _identity(self) -> tuple[object, ...]:
        tables = (self.queries.shape, self.queries.tobytes(), self.strategy.matrix.shape, self.strategy.matrix.tobytes())
        return (*tables, self.epsilon, self.rho, self.unit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _rebuild, (self.queries, self.epsilon, self.rho, self.unit, self.strategy)

    def __repr__(self) -> str:
        paid = f"epsilon='{self.epsilon}'" if self.epsilon is not None else f"rho='{self.rho}'"
        size = " x ".join(str(side) for side in self.queries.shape)
        return f"Workload(queries=<{size}>, {paid}, strategy=<{self.strategy.name}>, unit='{self.unit}')"


def _rebuild(queries: MatrixLike, epsilon: Number | None, rho: Fraction | None, unit: Unit, strategy: Strategy) -> Workload:
    return Workload(queries=queries, epsilon=epsilon, rho=rho, unit=unit, strategy=strategy)


def _moved(cells: int, start: int, at: int | None) -> list[int]:
    return [start + (cell == at) for cell in range(cells)]
