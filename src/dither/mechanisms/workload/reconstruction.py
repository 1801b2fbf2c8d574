"""Least-squares reconstruction of the queries from what was released: R with R B = W, in whole numbers over a power of two.

R starts as W times the pseudo-inverse of B in doubles, which gives the least-squares answers, and is then corrected: with
E = R B - W computed exactly and P the pseudo-inverse in doubles, R - E P has the error E (I - P B). Each round gains about
as many digits as doubles have, less those of the condition of B. What is left of E in the end is known exactly:

    R (B x + noise) - W x = R noise + E x,    |(E x)_i| <= (sum over j of |E_ij|) * max_j |x_j|

so an answer is off by its noise and by at most `slack`, for counts up to 2^53 in size. A strategy from which the queries
do not follow leaves an E that no round makes smaller, and is refused. None of this is about privacy: R is fixed before
any data is seen, and what it does is post-processing.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import fmpz_mat

from dither.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST_COUNT = 2**53  # of a histogram for which half-widths are stated
PLACES = 128  # binary, of R, below the largest entry of the queries
MOST_ROUNDS = 6
NULL = 1e-12  # of the largest singular value of B
GOOD = 2.0**-24  # of the largest entry of the queries: a slack below it needs no further round
TOLERATED = Fraction(1, 2**16)  # of the largest entry of the queries: a slack above it is no answer


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The matrix R that leads from a release to answers, and how far R B is from the queries W."""

    whole: fmpz_mat  # R times 2^places
    places: int
    floats: NDArray[np.float64]  # R, each entry rounded to the nearest double
    slack: Fraction  # the most that E adds to an answer, for counts up to 2^53

    def answers(self, released: list[int]) -> NDArray[np.float64]:
        """R y: each answer is the double nearest to the exact one."""
        import numpy as np

        found = self.whole * fmpz_mat([[number] for number in released])
        return np.array([_float(int(row[0]), self.places) for row in found.tolist()])


def reconstruct(queries: NDArray[np.float64], strategy: NDArray[np.int64]) -> Reconstruction:
    """The R that gives the least-squares answers to these queries from this strategy; DataError where they do not follow."""
    import numpy as np

    largest = float(np.abs(queries).max())
    places = max(128, PLACES - math.frexp(largest)[1] + strategy.shape[0].bit_length())  # at least 116: W is exact there
    base = float(np.abs(strategy).max())
    inverse = np.linalg.pinv(strategy / base, rcond=NULL) / base
    wanted, matrix = _whole(queries, places), fmpz_mat(strategy.tolist())
    whole = _whole(queries @ inverse, places)
    error = whole * matrix - wanted
    most = _largest_row(error)
    enough = int(math.ldexp(largest * GOOD, places)) // LARGEST_COUNT
    for _ in range(MOST_ROUNDS):
        if most <= enough:
            break
        better = whole - _whole(_floats(error, places) @ inverse, places)
        left = better * matrix - wanted
        size = _largest_row(left)
        if size >= most:
            break
        whole, error, most = better, left, size
    slack = Fraction(most * LARGEST_COUNT, 2**places)
    if slack > TOLERATED * Fraction(largest):
        why = "the queries do not follow from it: they ask about differences that it does not show"
        instead = "one with a row for each cell, or no strategy: then the best one is found"
        raise DataError("strategy", f"{strategy.shape[0]} rows of {strategy.shape[1]}", why, instead)
    return Reconstruction(whole, places, _floats(whole, places), slack)


def _whole(values: NDArray[np.float64], places: int) -> fmpz_mat:
    """Doubles times 2^places, as integers; what is below is cut off."""
    import numpy as np

    return fmpz_mat([[int(entry) for entry in row] for row in np.ldexp(values, places).tolist()])


def _floats(matrix: fmpz_mat, places: int) -> NDArray[np.float64]:
    import numpy as np

    return np.array([[_float(int(entry), places) for entry in row] for row in matrix.tolist()])


def _float(number: int, places: int) -> float:
    """The double nearest to number / 2^places, and the largest one for what is beyond."""
    try:
        return number / (1 << places)
    except OverflowError:
        return sys.float_info.max if number > 0 else -sys.float_info.max


def _largest_row(matrix: fmpz_mat) -> int:
    """The largest sum of sizes of a row."""
    return max(sum(abs(int(entry)) for entry in row) for row in matrix.tolist())
