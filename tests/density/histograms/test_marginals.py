"""Marginals: one promise for all tables, and tables that agree."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither.density import Bins, Categories, Grid, Marginals
from dither.density.histograms.marginals import orthogonal_part
from dither.density.histograms.noise_tails import sum_width
from dither.errors import DataError, InputError, SizeError, UnitError
from dither.testing import seeded
from tests.density.exact import ADD, REPLACE, UNITS, check_claim

GRID = Grid(Bins([0, 1, 2]), Categories(["a", "b", "c"]), Bins([0, 1, 2]))
SMALL = Grid(Bins([0, 1, 2]), Categories(["a", "b"]))


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_the_exact_law_of_all_cells_keeps_the_promise(unit):
    times = 2 if unit == REPLACE else 1
    marginals = Marginals(grid=SMALL, tables=[(0,), (1,)], epsilon=7 * 2 * times, unit=unit)
    check_claim(marginals, lambda counts: marginals.noise.release(np.concatenate(counts)), cutoff="1e-11")
    released = Marginals(
        grid=SMALL, tables=[(0,), (1,)], epsilon=7 * 2 * times, unit=unit, **({"rows": 5} if times == 2 else {})
    )
    check_claim(released, lambda counts: [one.raw.round(9).tolist() for one in released.release(counts)], cutoff="1e-11")


def test_neighbours_are_all_people_of_a_small_grid():
    for unit, size in ((ADD, 4), (REPLACE, 4 + 6)):
        pairs = list(Marginals(grid=SMALL, tables=[(0,), (1,)], epsilon=1, unit=unit).neighbours())
        assert len(pairs) == size
        assert pairs[0][0] == [[3, 3], [3, 3]]
        more = [other for one, other in pairs if one == [[3, 3], [3, 3]]]
        assert more == [[[4, 3], [4, 3]], [[4, 3], [3, 4]], [[3, 4], [4, 3]], [[3, 4], [3, 4]]]


def test_who_is_missing_in_one_column_is_in_no_table():
    marginals = Marginals(grid=GRID, tables=[(0, 1), (1, 2)], epsilon=1)
    columns = [[0.5, None, 1.5, 0.5], ["a", "a", "zz", "c"], [0.5, 0.5, 0.5, 1.5]]
    counts = marginals.count(columns)
    assert [one.tolist() for one in counts] == [[1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 1]]
    apart = Marginals(grid=GRID, tables=[(1, 2), (2,)], epsilon=1)  # no table asks for the first column
    assert [one.tolist() for one in apart.count(columns)] == [[2, 0, 0, 0, 0, 1], [2, 1]]
    assert apart.count([None, *columns[1:]])[1].tolist() == [2, 1]
    assert [one.sum() for one in marginals.count([[], [], []])] == [0, 0]
    with pytest.raises(SizeError):
        marginals.count([[1], ["a", "b"], [0]])


def test_bands_hold_where_values_are_missing():
    rng = np.random.default_rng(5)
    columns = [np.where(rng.random(400) < 0.4, np.nan, 0.5), rng.choice(["a", "b", "c"], 400), rng.uniform(0, 2, 400)]
    marginals = Marginals(grid=GRID, tables=[(0, 1), (1, 2)], epsilon=20)
    truth = marginals.count(columns)
    for one, counts in zip(marginals.release(truth, confidence=1 - 1e-9), truth, strict=True):
        assert (one.low <= counts).all()
        assert (counts <= one.high).all()


def test_tables_have_few_columns_and_only_shared_parts_are_gone_through(monkeypatch):
    wide = Grid(*[Bins([0, 1, 2])] * 12)
    with pytest.raises(SizeError, match="up to 10 columns"):
        Marginals(grid=wide, tables=[tuple(range(11))], epsilon=1)
    seen, plain = [], orthogonal_part
    monkeypatch.setattr(
        "dither.density.histograms.marginals.orthogonal_part",
        lambda values, table, shared: (seen.append(shared), plain(values, table, shared))[1],
    )
    marginals = Marginals(grid=wide, tables=[tuple(range(8)), tuple(range(7, 12))], epsilon=1)
    marginals.release(marginals.count([[0.5] * 9] * 12))
    assert sorted(seen) == [(), (), (7,), (7,)]


@pytest.mark.parametrize("unit", UNITS)
def test_noise_covers_one_person_in_every_table(unit):
    times = 2 if "replace" in unit else 1
    for tables in ([(0, 1)], [(0, 1), (1, 2)], [(0,), (1,), (2,), (0, 2)]):
        assert Marginals(grid=GRID, tables=tables, epsilon=1, unit=unit).noise.sensitivity == times * len(tables)
        assert Marginals(grid=GRID, tables=tables, rho="0.5", unit=unit).noise.sigma2 == times * len(tables)


@pytest.mark.parametrize("tables", [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2,)], [(0, 1, 2), (0, 1), (2,)], [(0,), (1,)]])
@pytest.mark.parametrize("rows", [None, 40])
def test_agreement_is_least_squares(tables, rows):
    marginals = Marginals(grid=GRID, tables=tables, epsilon=1, rows=rows, unit=ADD if rows is None else REPLACE)
    draw = np.random.default_rng(len(tables))
    noisy = [draw.integers(-5, 20, [GRID.shape[at] for at in table]).astype(float) for table in tables]
    cells = list(product(*(range(size) for size in GRID.shape)))
    design = np.array(
        [
            [float(tuple(cell[at] for at in table) == place) for cell in cells]
            for table, values in zip(tables, noisy, strict=True)
            for place in np.ndindex(values.shape)
        ]
    )
    right = np.concatenate([values.reshape(-1) for values in noisy])
    if rows is None:
        fitted = design @ np.linalg.lstsq(design, right, rcond=None)[0]
    else:  # a joint table with this total, plus anything whose total is 0
        start = np.full(len(cells), rows / len(cells))
        free = np.eye(len(cells)) - 1 / len(cells)
        fitted = design @ (start + free @ np.linalg.lstsq(design @ free, right - design @ start, rcond=None)[0])
    found = np.concatenate([table.reshape(-1) for table in marginals.agreed(noisy)])
    assert found == pytest.approx(fitted, abs=1e-9)


def test_released_tables_agree_and_have_bands_that_hold():
    tables = [(0, 1), (1, 2)]
    draws, misses = 60, 0
    rng = np.random.default_rng(2)
    columns = [rng.uniform(0, 2, 300), rng.choice(["a", "b", "c"], 300), rng.uniform(0, 2, 300)]
    for unit, rows in ((ADD, None), (REPLACE, 300)):
        marginals = Marginals(grid=GRID, tables=tables, epsilon=1, unit=unit, rows=rows)
        truth = marginals.count(columns)
        assert [one.sum() for one in truth] == [300, 300]
        with pytest.warns(UserWarning, match="NOT PRIVATE"), seeded(4):
            releases = [marginals.release(truth) for _ in range(draws)]
        for first, second in releases:
            assert first.raw.reshape(2, 3).sum(axis=0) == pytest.approx(second.raw.reshape(3, 2).sum(axis=1))
            misses += not all(
                (one.low <= counts).all() and (counts <= one.high).all()
                for one, counts in zip((first, second), truth, strict=True)
            )
            assert (first.counts >= 0).all()
    assert misses <= 0.05 * 2 * draws
    assert first.total == first.counts.sum() == pytest.approx(300)
    assert first.axis == Grid(GRID.axes[0], GRID.axes[1])


def test_one_table_has_the_exact_error():
    one = Marginals(grid=SMALL, tables=[(1,)], epsilon=1)
    assert one.error("0.95") == one.noise.error("0.95")
    two = Marginals(grid=SMALL, tables=[(1,), (0,)], epsilon=2)
    assert two.error("0.95") == sum_width(two.noise.law, squares=1.0, events=4, level=Fraction(95, 100)) >= one.error("0.95")
    assert one.count([[1, 1], ["a", "b"]])[0].tolist() == [1, 1]
    assert one.guarantee.epsilon() == 1
    public = Marginals(grid=SMALL, tables=[(0, 1)], epsilon=1, rows=40, unit=REPLACE)
    assert public.release([[10] * 4])[0].raw.sum() == pytest.approx(40)  # one table has the public total as well


@pytest.mark.parametrize("tables", [[], None, "ab", [()], [0], [(0, 0)], [(0, 5)], [(-1,)], [(0, 1), (1, 0)], [("a",)]])
def test_what_is_refused(tables):
    with pytest.raises(InputError):
        Marginals(grid=SMALL, tables=tables, epsilon=1)


def test_more_that_is_refused():
    with pytest.raises(DataError):
        Marginals(grid=Bins([0, 1]), tables=[(0,)], epsilon=1)
    with pytest.raises(UnitError):
        Marginals(grid=SMALL, tables=[(0,)], epsilon=1, rows=5)
    made = Marginals(grid=SMALL, tables=[(0,), (1,)], epsilon=1)
    for wrong in ([[1, 2]], [[1, 2], [1]], None, [[1, 2], [1.5, 2]]):
        with pytest.raises((SizeError, DataError)):
            made.release(wrong)
    with pytest.raises(SizeError):
        made.count([[1]])
    wide = Grid(Bins.even(0, 1, 2**12), Bins.even(0, 1, 2**12))
    with pytest.raises(SizeError):
        Marginals(grid=wide, tables=[(0, 1), (0,)], epsilon=1)
