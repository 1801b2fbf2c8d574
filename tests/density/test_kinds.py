"""What one row of another kind does: docs/known-limits.md says which calls refuse it, and which leave it out by itself."""

from __future__ import annotations

import pytest

from dither import Laplace, Lattice, NoisyMax, ReusableHoldout
from dither.density import Bins, Categories, Covariance, Grid, MagicKeys, Moments
from dither.errors import DataError

OTHER = ["x", [1, 2], 1j, object()]
NUMBERS = {
    "Lattice.index": Lattice(1).index,
    "Lattice.total": lambda row: Lattice(1).total([1.0, row]),
    "Laplace.release": lambda row: Laplace(epsilon=1, sensitivity=1, dimension=2).release([1.0, row]),
    "NoisyMax.release": lambda row: NoisyMax(epsilon=1, sensitivity=1, candidates=2).release([1.0, row]),
}
CELLS = Grid(Bins([0, 1]), Categories(["a", "b"]))
MOMENTS, PAIRS = Moments(epsilon=1, low=0, high=1), Covariance(epsilon=1, first=(0, 1), second=(0, 1))
LEAVE_OUT = {
    "Bins.count": lambda row: Bins([0, 1, 2]).count([1.0, row]).tolist() == [0, 1],
    "Grid.count": lambda row: CELLS.count([[1.0, row], ["a", "b"]]).tolist() == [1, 0],
    "Moments.count": lambda row: MOMENTS.count([1.0, row]) == MOMENTS.count([1.0]),
    "Covariance.count": lambda row: PAIRS.count([1.0, row], [1.0, 0.5]) == PAIRS.count([1.0], [1.0]),
    "Categories.count": lambda row: Categories(["a"]).count(["a", row]).tolist() == [1],
    "MagicKeys.count": lambda row: "a" in MagicKeys(epsilon=1, delta="1e-5", max_keys=1).count([(1, "a"), (2, row)]),
    "ReusableHoldout.ask": lambda row: ReusableHoldout([0], [0, row], threshold=9, epsilon=999).ask(lambda x: x).value == 0,
}


@pytest.mark.parametrize("call", NUMBERS)
def test_kinds_that_are_refused(call):
    read = NUMBERS[call]
    for row in [*OTHER, "1", True, None]:
        with pytest.raises(DataError):
            read(row)
    for row in (float("nan"), float("inf"), -1e308, 10**400):
        read(row)  # never for what a number is


@pytest.mark.parametrize("call", LEAVE_OUT)
def test_kinds_that_are_left_out(call):
    for row in [*OTHER, None, float("nan")]:
        assert LEAVE_OUT[call](row)
