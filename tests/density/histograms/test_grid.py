"""Grids: where a row belongs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from dither.density import Bins, Categories, Grid, Marginals
from dither.errors import DataError, SizeError

GRID = Grid(Bins([0, 10, 20]), Categories(["a", "b", "c"]))


def test_the_last_axis_runs_fastest():
    assert GRID.size == 6
    assert GRID.shape == (2, 3)
    assert GRID.place([[5, 15, 15, 5], ["a", "a", "c", "b"]]).tolist() == [0, 3, 5, 1]
    assert [GRID.name(cell) for cell in (0, 5)] == ["[0, 10) x a", "[10, 20] x c"]
    assert GRID.count([[5, 15, 15], ["a", "c", "c"]]).tolist() == [1, 0, 0, 0, 0, 2]


def test_a_row_that_an_axis_has_no_cell_for_is_counted_nowhere():
    assert GRID.place([[5, None, 15], ["x", "a", None]]).tolist() == [-1, -1, -1]
    assert GRID.count([[None], ["a"]]).sum() == 0
    assert GRID.count([[], []]).sum() == 0


def test_plain_things():
    assert Grid(Bins([0, 10, 20]), Categories(["a", "b", "c"])) == GRID
    assert Grid(Bins([0, 10, 20])) != GRID
    assert hash(GRID) == hash(pickle.loads(pickle.dumps(GRID)))
    assert repr(GRID) == "<grid of 2 x 3 cells>"
    assert GRID.part((1,)) is GRID.axes[1]
    assert GRID.part((0, 1)) == GRID


def test_what_is_refused():
    with pytest.raises(DataError):
        Grid()
    with pytest.raises(DataError):
        Grid([1, 2, 3])
    with pytest.raises(SizeError, match="16777216"):
        Grid(Bins.even(0, 1, 5000), Bins.even(0, 1, 5000))
    for wrong in ([[1]], [[1], ["a"], [2]], "ab", None, [[1, 2], ["a"]]):
        with pytest.raises(SizeError):
            GRID.place(wrong)


def test_what_is_refused_of_a_table_is_said_without_its_cells():
    """An error lands in logs: it may say how many columns came, and of what type, but nothing that stands in them."""
    marginals = Marginals(grid=GRID, tables=[(0,), (0, 1)], epsilon=1)
    for call in (GRID.count, marginals.count, marginals.release):
        for table in ([[77_777, 3]], "77_777", {"77_777": [1]}, np.array([[77_777]]), (np.array([77_777]),)):
            with pytest.raises(SizeError) as refused:
                call(table)
            assert "77" not in str(refused.value)
