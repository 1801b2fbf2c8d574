"""What all additive mechanisms share: shapes, extremes, and the floats that come out (attacks A1, A2, A3)."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import attrs
import numpy as np
import pytest

from dither import DiscreteGaussian, Gaussian, Geometric, Laplace, Lattice, Mechanism, Staircase, sensitivity
from dither.errors import DataError, InputError, SizeError
from dither.numeric.lattice import LARGEST_INDEX

REALS = [
    Laplace(epsilon=1, sensitivity=1),
    Laplace(epsilon=1, sensitivity="0.3"),
    Laplace(epsilon=1, sensitivity=1, step="0.1"),
    Gaussian(l2_sensitivity=1, rho=1),
    Staircase(epsilon=1, sensitivity=1),
]
WHOLE = [
    Geometric(epsilon=1, sensitivity=1),
    Gaussian(l2_sensitivity=1, rho=1, integers=True),
    DiscreteGaussian(l2_sensitivity=1, rho=1),
]
VECTORS = [
    Laplace(epsilon=1, sensitivity=1, dimension=4),
    Gaussian(l2_sensitivity=1, rho=1, dimension=4),
    Geometric(epsilon=1, sensitivity=1, dimension=4),
    Gaussian(l2_sensitivity=1, rho=1, dimension=4, integers=True),
    DiscreteGaussian(l2_sensitivity=1, rho=1, dimension=4),
]
ALL = REALS + WHOLE + VECTORS


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_a_mechanism_is_a_frozen_value(mechanism):
    assert isinstance(mechanism, Mechanism)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(mechanism) == hash(attrs.evolve(mechanism))
    assert attrs.evolve(mechanism) == mechanism
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        mechanism.unit = None


# -- A1, A2: the floats that come out do not depend on the value --------------------------------------------------------


@pytest.mark.parametrize("mechanism", REALS, ids=repr)
def test_releases_from_all_values_live_on_one_lattice(mechanism):
    step = mechanism.step
    for value in (0.0, 1.0, 0.1, 1e-9, 12345.678, math.pi, 2**-30, Fraction(1, 3), Decimal("0.7")):
        for _ in range(300):
            released = mechanism.release(value)
            index = round(Fraction(released) / step)
            assert released == float(index * step)  # the float of a whole number of steps, and nothing else


def lowest_bits(values: np.ndarray) -> set[int]:
    """The exponents of the lowest set bits of doubles."""
    mantissas, exponents = np.frexp(values[values != 0])
    whole = np.abs(mantissas * 2.0**53).astype(np.int64)
    return set((exponents - 53 + np.log2((whole & -whole).astype(float)).astype(int)).tolist())


@pytest.mark.parametrize(
    "make",
    [lambda **how: Laplace(epsilon=1, sensitivity=1, **how), lambda **how: Gaussian(l2_sensitivity=1, sigma=1, **how)],
)
def test_the_lowest_bit_test_sees_nothing(make):
    # Outputs near zero from 0 and from 1: in float noise the former have finer bits than the latter ever have.
    count = 200_000
    mechanism = make(dimension=count, step=Fraction(1, 2**16))
    window = [x[np.abs(x) < 0.25] for x in (mechanism.release(np.zeros(count)), mechanism.release(np.ones(count)))]
    assert min(part.size for part in window) > 5000
    assert min(lowest_bits(window[0])) == min(lowest_bits(window[1])) == -16
    rng = np.random.default_rng(1)  # the control: float noise, which is exposed
    exposed = [x[np.abs(x) < 0.25] for x in (0 + rng.laplace(size=count), 1 + rng.laplace(size=count))]
    assert min(lowest_bits(exposed[0])) < min(lowest_bits(exposed[1]))


# -- A3: sums, in any order ---------------------------------------------------------------------------------------------


def test_sums_on_the_lattice_move_by_one_row():
    # rows between M and M + 1, in any order, one of them removed or replaced: never by more than the claim
    rng = np.random.default_rng(5)
    for power in (0, 10, 30, 40, 52):
        low, high = 2.0**power, 2.0**power + 1
        mechanism = Laplace(epsilon=1, sensitivity=sensitivity.sum(low, high))
        lattice, claim = mechanism.lattice, mechanism.reach * mechanism.step
        for _ in range(20):
            rows = np.clip(low + rng.random(2**12), low, high)
            total = lattice.total(rows)
            assert lattice.total(rng.permutation(rows)) == total
            assert abs(total - lattice.total(rng.permutation(rows)[1:])) <= claim
    near_the_end = Lattice(1)
    assert near_the_end.total(np.full(2**12, 2**62, dtype=np.int64)) == 2**12 * LARGEST_INDEX
    assert near_the_end.total(np.full(2**12, -(2**62), dtype=np.int64)) == -(2**12) * LARGEST_INDEX
    assert near_the_end.total([]) == 0
    assert near_the_end.total([[1.4, 2.5], [math.nan, -1]]) == 3


# -- extremes and shapes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", REALS, ids=repr)
def test_no_real_value_raises_or_passes_through(mechanism):
    limit = float(LARGEST_INDEX * mechanism.step)
    for value in (
        math.nan,
        math.inf,
        -math.inf,
        1e308,
        -1e308,
        5e-324,
        10**400,
        Decimal("1e500"),
        Decimal("NaN"),
        np.float32(2),
    ):
        released = mechanism.release(value)
        assert math.isfinite(released)
        assert abs(released) <= limit
    assert abs(mechanism.release(math.nan)) < 1000  # NaN counts as 0
    for value in (None, "1", 1j, True, [1.0], np.array(1.0), object()):
        with pytest.raises(DataError):
            mechanism.release(value)


@pytest.mark.parametrize("mechanism", WHOLE, ids=repr)
def test_no_whole_value_raises_or_wraps(mechanism):
    for value in (2**62, 2**63, 2**64, 10**400, np.int64(2**63 - 1), np.uint64(2**64 - 1)):
        assert LARGEST_INDEX - 1000 < mechanism.release(value) <= LARGEST_INDEX
        if not isinstance(value, np.generic):
            assert -LARGEST_INDEX <= mechanism.release(-value) < -LARGEST_INDEX + 1000
    for value in (None, "1", 1.0, math.nan, True, Fraction(3), [1], np.float64(2)):
        with pytest.raises(DataError):
            mechanism.release(value)


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_keep_their_shape_and_refuse_others(mechanism):
    for value in ([1, 2, 3, 4], np.arange(4), np.ones((2, 2), dtype=np.int32), (5, 6, 7, 8), np.arange(4, dtype=np.uint64)):
        released = mechanism.release(value)
        assert released.shape == np.shape(value)
        assert released.dtype == (np.int64 if mechanism.lattice is None else np.float64)
    for wrong in ([], [1, 2, 3], np.arange(5), 7, [[1, 2], [3]]):
        with pytest.raises((SizeError, DataError)):
            mechanism.release(wrong)
    for wrong in (["a"] * 4, [None] * 4, [True] * 4, np.array([True] * 4), np.array([1j] * 4), np.array(["a"] * 4),
                  np.ma.masked_array([1, 2, 3, 4], mask=[0, 0, 0, 1]), bytearray(4), b"abcd"):  # fmt: skip
        with pytest.raises(DataError):
            mechanism.release(wrong)


def test_vectors_of_extremes():
    reals = np.array([math.nan, math.inf, -math.inf, 1e308])
    for mechanism in VECTORS[:2]:
        assert np.all(np.isfinite(mechanism.release(reals)))
        assert np.all(np.isfinite(mechanism.release(list(reals))))
    for mechanism in VECTORS[2:]:
        assert np.all(np.abs(mechanism.release([2**70, -(2**70), 2**62, 0])) <= LARGEST_INDEX)
        for floats in (reals, list(reals), [1, 2, 3, 4.0]):
            with pytest.raises(DataError, match="Laplace or Gaussian"):
                mechanism.release(floats)


@pytest.mark.parametrize("mechanism", [REALS[0], WHOLE[0], VECTORS[0]], ids=repr)
def test_releases_vary_and_centre_on_the_value(mechanism):
    value = 100 if mechanism.dimension is None else [100] * 4
    draws = np.array([mechanism.release(value) for _ in range(2000)], dtype=float).ravel()
    assert len(set(draws.tolist())) > 5
    assert abs(draws.mean() - 100) < 6 * 1.5 / len(draws) ** 0.5  # one in 10^8


def test_confidences_are_checked():
    for level in (0, 1, "1.5", -0.5, float("nan"), None):
        with pytest.raises(InputError):
            REALS[0].error(level)
