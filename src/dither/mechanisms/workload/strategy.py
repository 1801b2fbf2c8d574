"""Strategies of the matrix mechanism: what to release, a matrix of whole numbers, so that a fixed set of linear queries
has the least error.

Queries W of a histogram x are answered from B x + noise by least squares. B is chosen here from W alone, so the choice
costs no privacy; and B is whole, so that how far one person moves B x is known exactly
(`mechanisms/workload/column_norms.py`). Figures of utility are floats: none of them bounds a privacy loss.

    rmse       N(B) * sqrt(mean over queries of w (B'B)^+ w'),   N the largest column norm (L2 or L1), or norm of a
               difference of columns where one person is replaced: what each unit of noise costs
    gaussian   the best of: identity, trees, the queries themselves, and the optimum of
               `mechanisms/workload/strategy_optimum.py` times 2^bits, rounded
    laplace    the best of: identity, trees, the queries themselves

An optimum for fewer directions than cells would lose, by rounding, the directions that the queries have. So it gets one
more row for each cell, 2^-10 times as strong as the others: B then has full column rank whatever is rounded, and the
largest column norm grows by a factor of at most 1 + 2^-21.

A tree of branching b has a row for each cell, for each b neighbouring cells, for each b of those, and so on up to one for
all; the one "without root" leaves that last one out. Cells that no query asks about have a column of zeros.

Lower bounds hold for noise in proportion to L2 norms, and so for L1 norms, which are larger. They are about a person who
comes or goes: where one is replaced the total is free, and less than the bound can be enough, so none is given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias

from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.protocol import MatrixLike
from dither.mechanisms.workload.column_norms import LARGEST_ENTRY, largest_l1, largest_l2_squared
from dither.mechanisms.workload.strategy_optimum import optimise
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.int64]
    Floats = NDArray[np.float64]

Noise: TypeAlias = Literal["gaussian", "laplace"]  # which norm counts: L2 or L1

BRANCHINGS = (2, 3, 4, 8, 16)
MOST_CELLS = 1024
MOST_ENTRIES = 2**24  # of the queries
LARGEST, SMALLEST = 2.0**32, 2.0**-64  # sizes of entries other than 0
BITS, MOST_BITS = 30, 31
BRACE = 10  # the added rows are 2^-10 times as strong
GAP = 1e-4
ROUNDS = 100
TIE = 1e-6  # a plain strategy is preferred to an optimum that is better by less than this
NULL = 1e-12  # of the largest eigenvalue: directions that a strategy does not see
UNSEEN = 1e-9  # of the queries: more than that outside what a strategy sees, and it is useless
EXAMPLE = "a list of rows such as [[1, 1, 0], [0, 1, 1]]"


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """A matrix of whole numbers to release, and how well the queries follow from it."""

    name: str
    matrix: Matrix  # one row for each number that is released, one column for each cell; not to be written to
    noise: Noise  # which norm counts
    replace: bool  # whether the norm is that of a difference of columns
    norm: int  # the largest L1 norm, or the square of the largest L2 norm, exactly
    rmse: float  # root mean squared error of the queries for each unit of noise, of this matrix as it is
    compared: dict[str, float] = field(default_factory=dict)  # the same of each strategy that was tried
    svd_bound: float | None = None  # no strategy does better: from the singular values of the queries
    dual_bound: float | None = None  # no strategy does better: from the dual, where it was solved
    bits: int = 0  # an optimum was multiplied by 2^bits before it was rounded; 0 for the plain ones
    rounds: int = 0  # of the optimiser

    def __str__(self) -> str:
        bound = self.dual_bound or self.svd_bound
        known = "" if bound is None else f", and nothing is below {bound:.6g}"
        return f"{self.name} ({self.matrix.shape[0]} numbers): rmse {self.rmse:.6g} for each unit of noise{known}"


def gaussian(
    queries: MatrixLike,
    *,
    replace: bool = False,
    bits: SupportsIndex = BITS,
    gap: float = GAP,
    rounds: SupportsIndex = ROUNDS,
) -> Strategy:
    """The best strategy for Gaussian noise, up to `gap` (relative, of the rmse) or as far as so many rounds lead."""
    most, places = integer(rounds, name="rounds", least=1), integer(bits, name="bits", least=0)
    if places > MOST_BITS:
        raise NumberError("bits", bits, f"beyond {MOST_BITS} the noise is too wide for what it gains", str(BITS))
    task = _Task(read_queries(queries), "gaussian", replace)
    found = optimise(task.asked.T @ task.asked, gap=gap, rounds=most)
    tried = dict(_plain(task.asked))
    compared = {name: task.rmse(matrix) for name, matrix in tried.items()}
    name = min(compared, key=lambda one: compared[one])
    rounded = _rounded(found.matrix, places)
    reached = [task.rmse(matrix) for matrix in rounded]
    at = len(rounded) - 1 if reached[-1] * (1 + gap) < reached[0] else 0
    better = reached[at] * (1 + TIE) < compared[name]
    return task.strategy(
        "optimum" if better else name,
        rounded[at] if better else tried[name],
        bits=places if better else 0,
        compared={**compared, "optimum": reached[at]},
        svd_bound=None if replace else math.sqrt(found.svd / len(task.table)),
        dual_bound=None if replace else math.sqrt(found.lower / len(task.table)),
        rounds=found.rounds,
    )


def laplace(queries: MatrixLike, *, replace: bool = False) -> Strategy:
    """The best of the plain strategies for Laplace noise."""
    import numpy as np

    task = _Task(read_queries(queries), "laplace", replace)
    tried = dict(_plain(task.asked))
    compared = {name: task.rmse(matrix) for name, matrix in tried.items()}
    name = min(compared, key=lambda one: compared[one])
    svd = float(np.linalg.svd(task.asked, compute_uv=False).sum()) / math.sqrt(task.asked.size)
    return task.strategy(name, tried[name], compared=compared, svd_bound=None if replace else svd)


def norm_of(matrix: Matrix, noise: Noise, *, replace: bool) -> int:
    """How far one person moves B x, exactly: in L1 norm for Laplace noise, in squared L2 norm for Gaussian noise."""
    return (largest_l1 if noise == "laplace" else largest_l2_squared)(matrix, replace=replace)


class _Task:
    """The queries, and which norm counts. Strategies that are tried have columns for the cells that are asked about."""

    def __init__(self, table: Floats, noise: Noise, replace: bool) -> None:
        import numpy as np

        self.table, self.noise, self.replace = table, noise, replace
        self.cells = np.asarray(table.any(axis=0))
        self.asked = table[:, self.cells]
        self.gram = self.asked.T @ self.asked

    def rmse(self, matrix: Matrix) -> float:
        """Infinite where the queries do not follow from the strategy."""
        import numpy as np

        norm = norm_of(self.spread(matrix), self.noise, replace=self.replace)
        scale = float(np.abs(matrix).max())
        small = matrix / scale
        values, vectors = np.linalg.eigh(small.T @ small)
        shares = np.einsum("ij,ij->j", vectors, self.gram @ vectors)  # how much of the queries lies in each direction
        seen = values > values[-1] * NULL
        if float(np.abs(shares[~seen]).sum()) > UNSEEN * float(np.trace(self.gram)):
            return math.inf
        variance = float((shares[seen] / values[seen]).sum()) / len(self.table)
        size = norm / scale if self.noise == "laplace" else math.sqrt(norm) / scale
        return size * math.sqrt(max(variance, 0.0))

    def spread(self, matrix: Matrix) -> Matrix:
        """With columns of zeros for the other cells: to them, too, a person can be moved."""
        import numpy as np

        whole = np.zeros((matrix.shape[0], len(self.cells)), dtype=np.int64)
        whole[:, self.cells] = matrix
        whole.setflags(write=False)
        return whole

    def strategy(self, name: str, matrix: Matrix, **figures: Any) -> Strategy:
        whole, noise, replace = self.spread(matrix), self.noise, self.replace
        norm, rmse = norm_of(whole, noise, replace=replace), figures["compared"][name]
        return Strategy(name=name, matrix=whole, noise=noise, replace=replace, norm=norm, rmse=rmse, **figures)


# -- what is tried -----------------------------------------------------------------------------------------------------


def _rounded(matrix: Floats, bits: int) -> list[Matrix]:
    """The optimum in whole numbers: as it is where it is square, and with a row more for each cell."""
    import numpy as np

    whole = np.rint(np.ldexp(matrix, bits)).astype(np.int64)
    brace = np.eye(matrix.shape[1], dtype=np.int64) << max(bits - BRACE, 0)
    plain = [whole] if matrix.shape[0] == matrix.shape[1] and whole.any(axis=0).all() else []
    return [*plain, np.vstack([whole[whole.any(axis=1)], brace])]


def _plain(asked: Floats) -> Iterator[tuple[str, Matrix]]:
    import numpy as np

    cells = asked.shape[1]
    yield "identity", np.eye(cells, dtype=np.int64)
    for branching in BRANCHINGS:
        levels = tree(cells, branching)
        if 2 <= branching <= max(cells - 1, 2) and len(levels) > 1:
            yield f"tree of {branching}", np.vstack(levels)
            if len(levels) > 2:
                yield f"tree of {branching} without root", np.vstack(levels[:-1])
    own = whole_rows(asked)
    if own is not None:
        yield "queries", own


def tree(cells: int, branching: int) -> list[Matrix]:
    """The levels of a tree over so many cells, from the cells up to all of them; the last node of a level may be short."""
    import numpy as np

    levels, width = [np.eye(cells, dtype=np.int64)], 1
    while width < cells:
        width *= branching
        levels.append((np.arange(cells) // width == np.arange(-(-cells // width))[:, None]).astype(np.int64))
    return levels


def whole_rows(asked: Floats) -> Matrix | None:
    """The different queries in whole numbers without a common factor; None where that takes numbers that are too large."""
    import numpy as np

    rows = np.unique(asked, axis=0)
    rows = rows[rows.any(axis=1)]
    for bits in range(0, BITS + 1):
        scaled = np.ldexp(rows, bits)
        if np.abs(scaled).max() > LARGEST_ENTRY:
            return None
        if bool((scaled == np.rint(scaled)).all()):
            whole = scaled.astype(np.int64)
            return np.asarray(whole // np.gcd.reduce(np.abs(whole), axis=None))
    return None


# -- reading -----------------------------------------------------------------------------------------------------------


def read_queries(value: MatrixLike) -> Floats:
    """A matrix of whole numbers and doubles, each at its binary value; a query with no entry but 0 is allowed."""
    import numpy as np

    table = value if isinstance(value, np.ndarray) else _listed(value)
    if table.dtype.kind not in "iuf" or table.dtype.itemsize > 8:
        raise DataError("type of queries", table.dtype, "queries are whole numbers and doubles", "queries.astype(float)")
    if table.ndim != 2 or table.size == 0:
        raise SizeError("shape of queries", table.shape, "it takes one row a query and one column a cell", EXAMPLE)
    if table.shape[1] > MOST_CELLS or table.size > MOST_ENTRIES:
        why = f"at most {MOST_CELLS} cells and 2^24 entries are optimised"
        raise SizeError("shape of queries", table.shape, why, "fewer cells: join those that no query tells apart")
    found = table.astype(np.float64)
    if not np.isfinite(found).all():
        raise NumberError("queries", "nan or inf", "every entry weighs a count", EXAMPLE)
    sizes = np.abs(found[found != 0])
    if sizes.size == 0:
        raise DataError("queries", "all zero", "they ask nothing", EXAMPLE)
    if sizes.max() > LARGEST or sizes.min() < SMALLEST:
        worst = float(sizes.max() if sizes.max() > LARGEST else sizes.min())
        raise NumberError("queries", worst, "entries other than 0 lie between 2^-64 and 2^32 in size", "other units")
    return found + 0.0  # no -0.0: the same queries, the same strategy


def _listed(value: MatrixLike) -> NDArray[np.generic]:
    import numpy as np

    rows = list(value) if isinstance(value, (list, tuple)) else []
    if not rows or not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        raise DataError("queries", value, "it is no matrix", EXAMPLE)
    if len({len(row) for row in rows}) > 1:
        raise SizeError("queries", [len(row) for row in rows[:4]], "its rows differ in length", EXAMPLE)
    for entry in (entry for row in rows for entry in row):
        if isinstance(entry, (bool, np.bool_)) or not isinstance(entry, (int, float, np.integer, np.floating)):
            raise DataError("queries", entry, "an entry is a whole number or a float", EXAMPLE)
        if isinstance(entry, int) and abs(entry) > LARGEST:
            raise NumberError("queries", entry, "entries other than 0 lie between 2^-64 and 2^32 in size", "other units")
    return np.array(rows, dtype=np.float64)
