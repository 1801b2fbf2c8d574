"""Values on a lattice: the rounding rule, what it costs, and what happens to values that are no numbers."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dither import Lattice
from dither.errors import DataError, NumberError
from dither.numeric.lattice import LARGEST_INDEX, add

floats = st.floats(allow_nan=False, allow_infinity=False)
exponents = st.integers(-60, 60)


def rule(value: Fraction, step: Fraction) -> int:
    return max(-LARGEST_INDEX, min(LARGEST_INDEX, math.floor(value / step + Fraction(1, 2))))


@given(st.lists(floats, max_size=20), exponents)
def test_arrays_of_floats_are_rounded_exactly(values, exponent):
    lattice = Lattice(Fraction(2) ** exponent)
    expected = [rule(Fraction(value), lattice.step) for value in values]
    assert lattice.indices(np.array(values, dtype=float)).tolist() == expected
    assert [lattice.index(value) for value in values] == expected


AWKWARD = [0.5, 1.5, 0.49999999999999994, 0.5000000000000001, 1e-20, 4503599627370495.5, 4503599627370497.0, 5e-324]


@pytest.mark.parametrize("value", AWKWARD + [-value for value in AWKWARD])
def test_awkward_floats(value):
    assert Lattice(1).indices([value]).tolist() == [rule(Fraction(value), Fraction(1))]


@given(st.lists(floats, min_size=1, max_size=5), st.fractions(min_value=Fraction(1, 100), max_value=100))
def test_any_step_follows_the_rule(values, step):
    lattice = Lattice(step)
    assert lattice.indices(np.array(values)).tolist() == [rule(Fraction(v), step) for v in values]


@given(
    st.fractions(min_value=-50, max_value=50, max_denominator=40),
    st.fractions(min_value=0, max_value=20, max_denominator=40),
    st.fractions(min_value=Fraction(1, 30), max_value=3, max_denominator=30),
)
def test_rounding_costs_what_is_said(x, change, step):
    lattice = Lattice(step)
    moved = lattice.index(x + change) - lattice.index(x)
    assert 0 <= moved <= lattice.scalar_cost(change)


def test_planted_bug_rounding_halves_to_even_costs_more():
    assert abs(round(1.5) - round(0.5)) == 2 > Lattice(1).scalar_cost(1)
    assert abs(int(np.rint(1.5)) - int(np.rint(0.5))) == 2
    assert Lattice(1).index(1.5) - Lattice(1).index(0.5) == 1


@given(st.integers(1, 6), st.data())
def test_vectors_cost_what_is_said(dimension, data):
    coordinates = st.fractions(min_value=-9, max_value=9, max_denominator=20)
    x = data.draw(st.lists(coordinates, min_size=dimension, max_size=dimension))
    y = data.draw(st.lists(coordinates, min_size=dimension, max_size=dimension))
    step = data.draw(st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(3, 7)]))
    lattice = Lattice(step)
    moved = [lattice.index(a) - lattice.index(b) for a, b in zip(x, y, strict=True)]
    change1 = sum(abs(a - b) for a, b in zip(x, y, strict=True))
    assert sum(abs(m) for m in moved) <= lattice.l1_cost(change1, dimension)
    square = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    bound = Fraction(math.isqrt(math.ceil(square * 10**12)) + 1, 10**6)  # not below the L2 change
    assert sum(m * m for m in moved) <= Fraction(lattice.l2_cost(bound, dimension).upper) ** 2


def test_costs_in_numbers():
    lattice = Lattice("0.25")
    assert lattice.scalar_cost("0.3") == 2
    assert lattice.scalar_cost("0.25") == 1
    assert lattice.scalar_cost(0) == 0
    assert lattice.l1_cost("0.3", 1) == 2
    assert lattice.l1_cost("0.3", 10) == 2 + 9
    assert lattice.l1_cost(0, 10) == 0
    low, high = lattice.l2_cost("0.3", 9)
    assert low <= 4.2 <= high
    for bad in (-1, "nan", True):
        with pytest.raises(NumberError):
            lattice.scalar_cost(bad)
    for bad in (0, -1, 2.0, True):
        with pytest.raises(NumberError):
            lattice.l1_cost(1, bad)


def test_values_that_are_no_numbers_have_a_fixed_place():
    lattice = Lattice(1)
    values = [math.nan, math.inf, -math.inf, 1e300, -1e300, -math.nan]
    expected = [0, LARGEST_INDEX, -LARGEST_INDEX, LARGEST_INDEX, -LARGEST_INDEX, 0]
    assert lattice.indices(np.array(values)).tolist() == expected
    assert [lattice.index(value) for value in values] == expected
    decimals = ["nan", "inf", "-inf", "1e999999", "-1e999999", "1e-999999", "-1e-999999", "0e999999"]
    assert [lattice.index(Decimal(text)) for text in decimals] == [0, LARGEST_INDEX, -LARGEST_INDEX, LARGEST_INDEX,
                                                                   -LARGEST_INDEX, 0, 0, 0]  # fmt: skip
    tiny, large = Lattice(Fraction(1, 2**900)), Lattice(2**900)
    assert tiny.indices([1.0, -1.0]).tolist() == [LARGEST_INDEX, -LARGEST_INDEX]
    assert large.indices([1.0, -1.0, 1e300, 5e-324]).tolist() == [0, 0, rule(Fraction(1e300), large.step), 0]


def test_integers_and_decimals():
    assert Lattice("0.01").index(Decimal("12.345")) == 1235
    assert Lattice(1).indices(np.array([2**63 - 1, -(2**63), 5])).tolist() == [LARGEST_INDEX, -LARGEST_INDEX, 5]
    assert Lattice(1).indices(np.array([2**64 - 1, 5], dtype=np.uint64)).tolist() == [LARGEST_INDEX, 5]
    assert Lattice(1).indices(np.array([-128, 127], dtype=np.int8)).tolist() == [-128, 127]
    assert Lattice(2).indices(np.array([1, 2, 3, -1])).tolist() == [1, 1, 2, 0]
    assert Lattice(1).indices(np.array([0.5, 1.5], dtype=np.float32)).tolist() == [1, 2]
    assert Lattice(1).indices([]).shape == (0,)
    for bad in ("5", True, None, 1j):
        with pytest.raises(DataError, match="What would work"):
            Lattice(1).index(bad)
    for bad in (["5"], [True], [None], np.array([1], dtype=np.longdouble)):
        with pytest.raises(DataError, match="What would work"):
            Lattice(1).indices(bad)


@given(st.lists(st.integers(-(2**62) + 1, 2**62 - 1), max_size=6), exponents)
def test_and_back(indices, exponent):
    lattice = Lattice(Fraction(2) ** exponent)
    array = np.array(indices, dtype=np.int64)
    assert lattice.values(array).tolist() == [float(lattice.value(k)) for k in indices]
    thirds = Lattice("1/3")
    assert thirds.values(array).tolist() == [float(Fraction(k, 3)) for k in indices]


def test_huge_indices_become_floats_without_error():
    assert Lattice(1).values(np.array([2**70, -(2**70)], dtype=object)).tolist() == [2.0**70, -(2.0**70)]
    assert Lattice(2**1000).values(np.array([2**200], dtype=object)).tolist() == [math.inf]


wide = st.integers(-(2**130), 2**130)


@given(st.lists(st.tuples(wide, wide), max_size=6), st.sampled_from([1, 10**6, LARGEST_INDEX, 2**63 - 1, 2**100]))
def test_addition_is_exact_then_saturates(pairs, bound):
    left = np.array([a for a, _ in pairs], dtype=object)
    right = np.array([b for _, b in pairs], dtype=object)
    expected = [max(-bound, min(bound, a + b)) for a, b in pairs]
    assert np.asarray(add(left, right, bound=bound)).tolist() == expected
    assert [add(a, b, bound=bound) for a, b in pairs] == expected


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)), max_size=6))
def test_addition_of_64_bit_arrays_never_wraps(pairs):
    left = np.array([a for a, _ in pairs], dtype=np.int64)
    right = np.array([b for _, b in pairs], dtype=np.int64)
    expected = [max(-LARGEST_INDEX, min(LARGEST_INDEX, a + b)) for a, b in pairs]
    assert np.asarray(add(left, right)).tolist() == expected


def test_addition_refuses_what_is_not_on_a_lattice():
    for values, noise in (([0.5], [1]), ([1], [0.5]), (["a"], [1])):
        with pytest.raises(DataError, match="What would work"):
            add(values, noise)
    with pytest.raises(NumberError, match="shape"):
        add([1, 2], [1])
    with pytest.raises(NumberError):
        add(1, 2, bound=0)


def test_lattices_are_values():
    assert Lattice("0.5") == Lattice(Fraction(1, 2)) != Lattice(1)
    assert len({Lattice("0.5"), Lattice(0.5)}) == 1
    assert pickle.loads(pickle.dumps(Lattice("1/3"))) == Lattice("1/3")
    assert repr(Lattice(0.125)) == "Lattice('0.125')"
    assert Lattice(8).exponent == 3
    assert Lattice("1/8").exponent == -3
    assert Lattice("1/3").exponent is Lattice(12).exponent is None
    for size, step in ((1, 1), ("0.99", Fraction(1, 2)), (5, 4), ("0.1", Fraction(1, 16)), (1024, 1024)):
        assert Lattice.below(size).step == step
    for bad in (0, -1, "nan", True, "ln(3)"):
        with pytest.raises(NumberError):
            Lattice(bad)
    with pytest.raises(AttributeError):
        Lattice(1).step = 2  # type: ignore[misc]


def test_one_element_does_not_change_how_others_are_rounded():
    """numpy would read a list of large ints as floats as soon as one float is in it."""
    lattice, big = Lattice(1), 2**60 + 127
    for last in (0, 0.5, 2**63, -1, Decimal("0.5"), math.nan, np.float32(1), np.int8(3)):
        found = lattice.indices([big] * 5 + [last])
        assert found[:5].tolist() == [big] * 5
        assert found[5] == lattice.index(last)
    assert lattice.indices([1, 2**64, 10**30]).tolist() == [1, LARGEST_INDEX, LARGEST_INDEX]
    assert lattice.indices(np.array([-(2**63)], dtype=">i8")).tolist() == [-LARGEST_INDEX]
    assert lattice.indices(np.array([5], dtype=np.int32)).tolist() == [5]


@given(
    st.integers(-400, 400),
    st.integers(1, 999),
    st.integers(0, 999),
    st.integers(-300, 300),
)
def test_decimals_cost_what_is_said(exponent, digits, change, step_exponent):
    lattice = Lattice(Fraction(10) ** step_exponent)
    x, y = Decimal(f"{digits}e{exponent}"), Decimal(f"{digits + change}e{exponent}")
    assert lattice.index(x) == rule(Fraction(x), lattice.step)
    moved = lattice.index(y) - lattice.index(x)
    assert 0 <= moved <= max(lattice.scalar_cost(Fraction(y) - Fraction(x)), 0) if Fraction(y - x) < 10**390 else True


def test_decimals_far_out():
    assert Lattice(Fraction(10**1100)).index(Decimal("9e1000")) == 0
    assert Lattice(Fraction(1, 10**1100)).index(Decimal("1e-1001")) == LARGEST_INDEX
    assert Lattice("1e300").index(Decimal("1.80e308")) == 180_000_000
    assert Lattice(1).index(Decimal("sNaN")) == Lattice(1).index(Decimal("-NaN")) == 0
    assert Lattice(1).index(Decimal("-1e99999")) == -LARGEST_INDEX


def test_no_private_value_in_a_message():
    for call in (lambda: Lattice(1).index("1234.5"), lambda: Lattice(1).indices(["1234.5"]), lambda: add(["1234.5"], [1])):
        with pytest.raises(DataError) as caught:
            call()
        assert "1234" not in str(caught.value)
        assert "1234" not in repr(caught.value.came)


def test_addition_of_single_values_and_lists():
    assert np.asarray(add(np.array(2**62), np.array(5))).item() == LARGEST_INDEX
    assert np.asarray(add(np.array(5), np.array(2**70, dtype=object))).item() == LARGEST_INDEX
    assert np.asarray(add([2**63, -1], [1, 1])).tolist() == [LARGEST_INDEX, 0]
    assert np.asarray(add(np.array([2**63], dtype=np.uint64), [1])).tolist() == [LARGEST_INDEX]
    for bad in (np.array([1.5], dtype=object), [math.nan], [True], np.array([True])):
        with pytest.raises(DataError):
            add(bad, [1])
    for bad in ([math.nan], [1.5], ["x"]):
        with pytest.raises(DataError):
            Lattice(1).values(bad)
    with pytest.raises(DataError):
        Lattice(1).indices([[1, 2], [3]])


@given(st.integers(-61, 61), st.sampled_from(["int8", "uint16", "int32", "int64", "uint64"]), st.data())
@settings(deadline=None)
def test_integer_arrays_land_where_single_integers_do(exponent, kind, data):
    lattice, ends = Lattice(Fraction(2) ** exponent), np.iinfo(kind)
    near = st.sampled_from([ends.min, ends.max, ends.max // 2, ends.max // 2 + 1, ends.min // 2, 0, 1])
    values = data.draw(st.lists(st.integers(int(ends.min), int(ends.max)) | near, min_size=1, max_size=6))
    assert lattice.indices(np.array(values, dtype=kind)).tolist() == [lattice.index(int(value)) for value in values]


@given(st.integers(-1000, 1000), st.floats(width=64))
@example(986, 1.797693134859046e308)  # rounds up past the largest float
@settings(deadline=None)
def test_single_floats_land_where_fractions_do(exponent, value):
    lattice = Lattice(Fraction(2) ** exponent)
    if np.isfinite(value):
        assert lattice.index(value) == lattice.index(Fraction(value)) == lattice.indices(np.array([value]))[0]
        place = lattice.index(value)
        assert lattice.number(place) == lattice.values(np.array([place]))[0]
    else:
        assert lattice.index(value) == lattice.indices(np.array([value]))[0]
