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

    discrete Gaussian   E exp(s N) = e^(s^2 sigma2 / 2) times a sum of exp(-x^2 / (2 sigma2)) over a shifted lattice divided
                        by that over the lattice, and so at most e^(s^2 sigma2 / 2). Hence P(|S_i| > t) is at most
                        2 exp(-t^2 / (2 sigma2 |R_i|^2)), and t is such that these add up to 1 - confidence
    two-sided           E exp(s N) = 1 / (1 - (sinh(s/2) / sinh(r/2))^2) for |s| < r = epsilon / D: so P(|S_i| > t) is at
    geometric           most 2 exp(-s t) prod_j E exp(s R_ij N_j) for every s; the best of several s is taken for each
                        of the n different queries, with (1 - confidence) / n as its share

    both                all N_j stay within k with this confidence, k exact: then |S_i| <= k sum_j |R_ij|. This is the
                        smaller one where an answer has the noise of one released number only, and is exact there

They are computed in doubles and then made wider by one part in 2^20, thousands of times what doubles can be off.

Li, Miklau, Hay, McGregor and Rastogi 2015.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import frozen
from flint import fmpz_mat

from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.additive.additive import half_width, log_odds, read_confidence
from dither.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.mechanisms.workload.column_norms import LARGEST_ENTRY
from dither.mechanisms.workload.reconstruction import Reconstruction, reconstruct
from dither.mechanisms.workload.strategy import Strategy, gaussian, laplace, norm_of, read_queries
from dither.numeric.balls import round_up
from dither.numeric.lattice import as_array
from dither.numeric.number import Number, NumberLike
from dither.numeric.search import halve
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_price
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ANSWERS = 2**21  # queries times released numbers: R is held in whole numbers
MOST_ROWS = 2**12
WIDER = 1 + 2.0**-20  # what is computed in doubles is rounded up by this
EXAMPLE = "rows of whole numbers, such as [[1, 0], [0, 1], [1, 1]]"
TILTS = tuple(0.01 * 1.22**k for k in range(20)) + tuple(1 - 0.5 * 0.82**k for k in range(24))  # of r, in (0, 1)


@frozen(kw_only=True, slots=False, init=False, eq=False, repr=False)
class Workload:
    """A fixed set of linear queries of a histogram, answered together: pure epsilon, or zCDP."""

    queries: NDArray[np.float64]  # one row a query, one column a cell, exactly; not to be written to
    epsilon: Number | None  # the promise: either this
    rho: Fraction | None  # or this
    unit: Unit  # whose coming, going or replacement moves the histogram by one count, or moves one count
    strategy: Strategy  # what is released

    def __init__(
        self,
        *,
        queries: object,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        unit: UnitLike = Unit.ADD_REMOVE,
        strategy: object = None,
    ) -> None:
        (budget, square), table, whom = read_price(epsilon, rho), read_queries(queries), read_unit(unit)
        if table.size > MOST_ANSWERS:
            raise SizeError(
                "shape of queries", table.shape, "at most 2^21 weights lead from a release to answers", "fewer queries"
            )
        table.setflags(write=False)
        kind = "gaussian" if budget is None else "laplace"
        plan = read_strategy(strategy, table, kind, swaps=whom.replacement is whom)
        self.__attrs_init__(queries=table, epsilon=budget, rho=square, unit=whom, strategy=plan)
        _ = self._matrix, self._noise, self._back  # refuse noise that cannot be drawn and queries that do not follow, now

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or rho-zCDP."""
        return self._noise.guarantee

    def loss(self) -> Loss:
        """Of any release with this promise; of discrete Gaussian noise in several dimensions no pair is known."""
        return self.guarantee.loss()

    @cached_property
    def _noise(self) -> Geometric | DiscreteGaussian:
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
    def _kind(self) -> str:
        return "gaussian" if self.epsilon is None else "laplace"

    @property
    def _replace(self) -> bool:
        return self.unit.replacement is self.unit

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """A half-width that all answers stay within together, with at least this probability; for counts up to 2^53."""
        import numpy as np

        rows, level = np.unique(np.abs(self._back.floats), axis=0), read_confidence(confidence)
        rows = rows[rows.any(axis=1)]
        return self._width(rows, level, half_width(self._noise.law, level, int(rows.any(axis=0).sum())))

    def errors(self, confidence: NumberLike) -> list[float]:
        """A half-width for each answer by itself, with at least this probability; for counts up to 2^53."""
        import numpy as np

        level = read_confidence(confidence)
        rows, which = np.unique(np.abs(self._back.floats), axis=0, return_inverse=True)
        found, within = [], {}  # how far so many numbers reach together, by how many they are
        for row in rows:
            count = max(1, int(row.any() and (row > 0).sum()))
            if count not in within:
                within[count] = half_width(self._noise.law, level, count)
            found.append(self._width(row[None, :], level, within[count]) if row.any() else round_up(self._back.slack))
        return [found[int(at)] for at in which.reshape(-1)]

    def _width(self, rows: NDArray[np.float64], level: Fraction, within: int) -> float:
        """Of answers together, where all their noise stays within so many steps."""
        width = self._tilted(rows, level) if self.epsilon is not None else self._normal(rows, level)
        plain = float(rows.sum(axis=1).max()) * within
        return round_up(Fraction(min(width, plain) * WIDER) + self._back.slack)

    def _normal(self, rows: NDArray[np.float64], level: Fraction) -> float:
        import numpy as np

        assert isinstance(self._noise, DiscreteGaussian)
        spreads = math.sqrt(self._noise.sigma2) * np.sqrt(np.square(rows).sum(axis=1))

        def inside(width: float) -> bool:
            exponents = -np.square(width / spreads) / 2
            most = float(exponents.max())
            return most + math.log(2 * float(np.exp(exponents - most).sum())) <= -log_odds(1, level)

        return halve(inside, 0.0, float(spreads.max()) * math.sqrt(2 * log_odds(2 * len(rows), level)), times=40)[1]

    def _tilted(self, rows: NDArray[np.float64], level: Fraction) -> float:
        import numpy as np

        assert isinstance(self._noise, Geometric)
        rate = self._noise.law.rate.bounds().lower
        wanted = log_odds(2 * len(rows), level)
        shares = rows / rows.max(axis=1, keepdims=True)
        best = np.full(len(rows), math.inf)
        for tilt in TILTS:
            at = rate * tilt * shares  # s R_ij: below the rate
            ratios = np.exp((at - rate) / 2) * np.expm1(-at) / math.expm1(-rate)  # sinh(at / 2) / sinh(rate / 2)
            spent = -np.log1p(-np.square(ratios)).sum(axis=1)
            best = np.minimum(best, (wanted + spent) / (rate * tilt))
        return float((best * rows.max(axis=1)).max())

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, histogram: object) -> NDArray[np.float64]:
        """An answer to every query, from a histogram of whole numbers with one count for each cell."""
        counts = fmpz_mat([[count] for count in self._counts(histogram)])
        exactly = [int(row[0]) for row in (self._matrix * counts).tolist()]
        noise = self._noise.law.sample(len(exactly)).tolist()
        return self._back.answers([value + draw for value, draw in zip(exactly, noise, strict=True)])

    def truth(self, histogram: object) -> list[Fraction]:
        """What a release is an estimate of: the queries, exactly."""
        counts = self._counts(histogram)
        rows = self.queries.tolist()
        return [sum((Fraction(w) * x for w, x in zip(row, counts, strict=True) if w), start=Fraction(0)) for row in rows]

    def _counts(self, histogram: object) -> list[int]:
        array, cells = as_array(histogram, name="histogram"), self.queries.shape[1]
        if array.dtype.kind not in "iuO" or not all(_is_whole(count) for count in array.reshape(-1).tolist()):
            kind = type(histogram).__name__ if array.dtype.kind == "O" else array.dtype
            raise DataError("type of histogram", kind, "a histogram counts", "whole numbers, one for each cell")
        if array.shape != (cells,):
            raise SizeError("shape of histogram", array.shape, "it needs one count for each cell", f"a list of {cells}")
        return [int(count) for count in array.tolist()]

    @cached_property
    def _matrix(self) -> fmpz_mat:
        return fmpz_mat(self.strategy.matrix.tolist())

    @cached_property
    def _back(self) -> Reconstruction:
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


def _rebuild(queries: object, epsilon: NumberLike, rho: NumberLike, unit: UnitLike, strategy: object) -> Workload:
    return Workload(queries=queries, epsilon=epsilon, rho=rho, unit=unit, strategy=strategy)


def read_strategy(value: object, queries: NDArray[np.float64], kind: str, *, swaps: bool) -> Strategy:
    """The strategy that was given, as one or as a matrix; without any the best that is known for this noise."""
    if value is None:
        value = (laplace if kind == "laplace" else gaussian)(queries, replace=swaps)
    matrix = read_matrix(value.matrix if isinstance(value, Strategy) else value)
    if isinstance(value, Strategy):
        found = replace(value, matrix=matrix)
    else:
        norm = norm_of(matrix, kind, replace=swaps)
        found = Strategy(name="given", matrix=matrix, noise=kind, replace=swaps, norm=norm, rmse=math.nan)
    (rows, cells), wanted = matrix.shape, queries.shape[1]
    if cells != wanted:
        raise SizeError("shape of strategy", matrix.shape, "it has a column for each cell", f"{wanted} columns")
    if rows > MOST_ROWS or rows * len(queries) > MOST_ANSWERS:
        why = f"at most {MOST_ROWS} numbers are released, and 2^21 entries lead back to the queries"
        raise SizeError("strategy", (rows, len(queries)), why, "fewer queries")
    return found


def read_matrix(value: object) -> NDArray[np.int64]:
    """A strategy of your own: a matrix of whole numbers, copied, so that nobody changes it later."""
    import numpy as np

    array = as_array(value, name="strategy")
    if array.ndim != 2 or array.size == 0:
        raise SizeError("shape of strategy", array.shape, "it takes one row for each released number", EXAMPLE)
    items = array.reshape(-1).tolist()
    if array.dtype.kind not in "iuO" or not all(_is_whole(entry) for entry in items):
        raise DataError("strategy", array.dtype, "only whole numbers have an exact norm", EXAMPLE)
    if max(abs(int(entry)) for entry in items) > LARGEST_ENTRY:
        raise NumberError("strategy", "a large entry", "entries are at most 2^32 in size", EXAMPLE)
    matrix = array.astype(np.int64)
    matrix.setflags(write=False)
    return matrix


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _moved(cells: int, start: int, at: int | None) -> list[int]:
    return [start + (cell == at) for cell in range(cells)]
