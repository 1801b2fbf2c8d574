"""The sensitivity of B x, exactly: norms of the columns of a matrix of whole numbers, and of their differences.

A histogram x has one count for each cell, and a person is one count in one cell. Coming or going moves B x by a column
of B; being replaced moves it by the difference of two columns. Both hold for every x, since B x is linear and nothing
is rounded or bounded before it. (Counts must not be bounded first: where one of the two counts that a replacement moves
is stopped at a bound, B x moves by a whole column, which may be more than any difference.)

    |b_i - b_j|_2^2 = G_ii + G_jj - 2 G_ij, G = B'B
    |b_i - b_j|_1 = |b_i - b_j|_2^2 where all entries are 0 or 1

G is computed in doubles where the absolute values in every sum add up to less than 2^53, as then each product and each
partial sum is a whole number that doubles hold, in whatever order they are added; otherwise in integers of any length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST_ENTRY = 2**32  # of the matrix: sums of a few thousand of them stay far inside 64 bits
EXACT = 2**53


def largest_l1(matrix: NDArray[np.int64], *, replace: bool) -> int:
    """The largest L1 norm of a column, or of the difference of two columns."""
    import numpy as np

    if not replace:
        return int(np.abs(matrix).sum(axis=0).max())
    if bool(((matrix == 0) | (matrix == 1)).all()):
        return largest_l2_squared(matrix, replace=True)
    return max(int(np.abs(matrix - matrix[:, at : at + 1]).sum(axis=0).max()) for at in range(matrix.shape[1]))


def largest_l2_squared(matrix: NDArray[np.int64], *, replace: bool) -> int:
    """The square of the largest L2 norm of a column, or of the difference of two columns."""
    if not replace:
        return int((matrix.astype(object) ** 2).sum(axis=0).max())
    gram = _gram(matrix)
    size = matrix.shape[1]
    squares = gram.diagonal()
    return max(int((squares + squares[at] - 2 * gram[at]).max()) for at in range(size))


def _gram(matrix: NDArray[np.int64]) -> Any:
    """B'B, exactly: int64 where that is safe, Python integers otherwise."""
    import numpy as np
    from flint import fmpz_mat

    if matrix.shape[0] * int(np.abs(matrix).max()) ** 2 < EXACT:
        doubles = matrix.astype(np.float64)
        return (doubles.T @ doubles).astype(np.int64)
    whole = fmpz_mat(matrix.tolist())
    product = np.empty(matrix.shape[1:] * 2, dtype=object)
    product[:] = [[int(entry) for entry in row] for row in (whole.transpose() * whole).tolist()]
    return product
