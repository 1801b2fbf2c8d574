"""Cells: where a value belongs, and what is refused."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dither.density import Bins, Categories, ClippingRange, Tree
from dither.density.histograms.axis import MOST_CELLS, read_axis, read_bins
from dither.density.histograms.counts import LARGEST_COUNT, read_counts
from dither.errors import DataError, InputError, NumberError, SizeError


def test_a_cell_has_its_lower_edge_and_the_last_both():
    bins = Bins([0, 10, 20])
    assert bins.place([0, 9.99, 10, 19, 20]).tolist() == [0, 0, 1, 1, 1]
    assert [bins.name(0), bins.name(1)] == ["[0, 10)", "[10, 20]"]
    assert bins.size == len(bins) == 2
    assert bins.edges.tolist() == [0, 10, 20]


def test_values_beyond_the_ends_go_to_the_nearest_cell_and_missing_ones_nowhere():
    bins = Bins.even(0, 20, 2)
    values = [-1, math.inf, -math.inf, 10**400, -(10**400), None, math.nan, Decimal("1e999999"), Decimal("sNaN"), 1e-320]
    assert bins.place(values).tolist() == [0, 1, 0, 1, 0, -1, -1, 1, -1, 0]
    assert bins.count(values).tolist() == [4, 3]
    assert bins.count([]).tolist() == [0, 0]
    assert bins.place([Decimal("1e-9999999"), Fraction(21, 2), np.int64(3)]).tolist() == [0, 1, 0]


def test_even_bins_end_where_they_should():
    bins = Bins.even("0.1", "0.7", 6)
    assert bins.edges[0] == 0.1
    assert bins.edges[-1] == 0.7
    assert np.allclose(bins.edges, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert Bins.even(0, 1, 10**6).size == 10**6


def test_every_value_is_in_the_cell_whose_edges_hold_it():
    rng = np.random.default_rng(1)
    edges = np.unique(rng.normal(size=40))
    values = rng.normal(size=2000)
    for value, cell in zip(values, Bins(edges).place(values), strict=True):
        inside = min(max(value, edges[0]), edges[-1])
        assert edges[cell] <= inside <= edges[cell + 1]


@pytest.mark.parametrize(
    ("edges", "error"),
    [
        ([0], SizeError),
        ([], SizeError),
        ([[0, 1], [2, 3]], NumberError),
        ([0, 0], NumberError),
        ([1, 0], NumberError),
        ([0, 2, 1], NumberError),
        ([0, math.nan], NumberError),
        ([0, None], NumberError),
        ([0, math.inf], NumberError),
        ([-math.inf, 0], NumberError),
        ([0, 10**400], NumberError),
        ([2**60, 2**60 + 1], NumberError),
        (["a", "b"], NumberError),
        (np.array(["a", "b"]), DataError),
        (np.zeros((2, 2)), DataError),
        (np.array([0, 1j]), DataError),
        (np.zeros(MOST_CELLS + 2), SizeError),
    ],
)
def test_edges_that_are_refused(edges, error):
    with pytest.raises(error):
        Bins(edges)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((0, 0, 3), NumberError),
        ((1, 0, 3), NumberError),
        ((0, math.inf, 3), NumberError),
        ((math.nan, 1, 3), NumberError),
        ((0, 10**400, 3), NumberError),
        ((0, 1, 0), NumberError),
        ((0, 1, 1.5), NumberError),
        ((0, 1, MOST_CELLS + 1), SizeError),
        ((1, 1 + Fraction(1, 2**52), 10), NumberError),
    ],
)
def test_even_bins_that_are_refused(arguments, error):
    with pytest.raises(error):
        Bins.even(*arguments)


def test_the_limit_of_cells_is_said():
    with pytest.raises(SizeError, match="at most 16777216 cells are kept in memory"):
        Bins.even(0, 1, 10**9)


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([1j]), np.zeros((2, 2)), 3, "ab", {"a": 1}])
def test_containers_of_another_kind_or_shape_are_refused(values):
    with pytest.raises(DataError):
        Bins([0, 1]).count(values)


def test_cells_of_a_list_that_are_no_numbers_are_missing():
    """Each by itself: a refusal would tell of one person."""
    assert Bins([0, 1, 2]).place(["a", 1j, [1], [2, 3], (), object(), True, "0.5", 1.5]).tolist() == [-1] * 6 + [1, 0, 1]


def test_categories():
    wards = Categories(["A", "B"])
    assert wards.count(["A", "A", "Z", None, ["unhashable"], "B"]).tolist() == [2, 1]
    assert wards.count(np.array(["B", "B"])).tolist() == [0, 2]
    assert wards.name(1) == "B"
    assert wards == Categories(("A", "B"))
    assert hash(wards) == hash(Categories(("A", "B")))
    for labels in ([], ["a", "a"], "ab", 3, [math.nan], [[1]]):
        with pytest.raises(DataError):
            Categories(labels)
    for values in ("AB", 3):
        with pytest.raises(DataError):
            wards.count(values)


def test_bins_are_values():
    bins = Bins([0, 1, 2])
    assert bins == Bins.even(0, 2, 2)
    assert bins != Bins([0, 1, 3])
    assert len({bins, Bins([0, 1, 2])}) == 1
    assert pickle.loads(pickle.dumps(bins)) == bins
    assert repr(bins) == "<2 bins from 0 to 2>"
    with pytest.raises(ValueError, match="read-only"):
        bins.edges[0] = 5
    assert read_axis(bins, name="axis") is bins
    for reader in (read_axis, read_bins):
        with pytest.raises(DataError):
            reader([0, 1], name="axis")
    with pytest.raises(DataError):
        read_bins(Categories(["a"]), name="bins")


def test_counts_are_whole_and_bounded():
    assert read_counts([3, -1, 2**70], cells=3).tolist() == [3, 0, LARGEST_COUNT]
    assert read_counts(np.array([2**63], dtype=np.uint64), cells=1).tolist() == [LARGEST_COUNT]
    assert read_counts(np.array([-5, 5], dtype=np.int8), cells=2).tolist() == [0, 5]
    assert read_counts(np.array([-5, -(2**63), 2**63 - 1]), cells=3).tolist() == [0, 0, LARGEST_COUNT]
    assert read_counts(np.array([-5, 2**50]), cells=2, most=2**45).tolist() == [0, 2**45]
    assert read_counts([-5, 2**50], cells=2, most=2**45).tolist() == [0, 2**45]
    for wrong in ([1, 2], [[1, 2, 3]], 3, []):
        with pytest.raises(SizeError):
            read_counts(wrong, cells=3)
    for wrong in ([1.0, 2, 3], np.zeros(3), ["1", 2, 3], [True, 2, 3], [None, 1, 2]):
        with pytest.raises(DataError):
            read_counts(wrong, cells=3)


@pytest.mark.parametrize(
    "edges",
    [
        Bins.even(10**6, 10**6 + 1, 4).edges,
        [1.0, math.nextafter(1, 2), math.nextafter(math.nextafter(1, 2), 2)],
        [-1e308, 0, 5e-324, 1e308],
        np.linspace(99.5, 100.5, 1001),
        [1.5e-7, 2.5e-7, 999999.5, 1000000.5],
    ],
)
def test_no_two_cells_have_one_name(edges):
    bins = Bins(edges)
    names = [bins.name(at) for at in range(bins.size)]
    assert len(set(names)) == bins.size
    assert len({bins.text(edge) for edge in bins.edges}) == bins.size + 1


def test_names_are_short_where_that_is_enough():
    assert [Bins.even(0, 1, 3).name(at) for at in (0, 2)] == ["[0, 0.333333)", "[0.666667, 1]"]
    assert Bins.even(10**6, 10**6 + 1, 4).name(0) == "[1000000, 1000000.25)"
    assert repr(Bins.even(10**6, 10**6 + 1, 4)) == "<4 bins from 1000000 to 1000001>"


def test_an_array_of_one_number_is_no_list():
    for call in (lambda: Categories(np.array("a")), lambda: Categories(["a"]).place(np.array("a"))):
        with pytest.raises(DataError):
            call()
    with pytest.raises(DataError):
        Categories([1]).place(np.array(1))


def test_words_are_read_as_words():
    for call in (
        lambda: Tree(cells=4, epsilon=1, unit=np.array([1, 2])),
        lambda: Tree(cells=4, epsilon=1, root=np.array([1, 2])),
        lambda: ClippingRange(bins=Bins([0, 1, 2]), epsilon=1, ends=np.array([1, 2])),
    ):
        with pytest.raises(InputError):
            call()
