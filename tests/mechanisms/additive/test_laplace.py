"""The Laplace mechanism on its lattice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dither import Laplace, Unit, ln, pure, sensitivity
from dither.errors import InputError, NumberError
from dither.testing import check_mechanism

CASES = [
    Laplace(epsilon=1, sensitivity=1, step="0.5"),
    Laplace(epsilon=ln(3), sensitivity="0.7", step="0.25"),
    Laplace(epsilon=2, sensitivity=1, step=2),  # a step above the sensitivity
    Laplace(epsilon="0.5", sensitivity="1/3", step="1/3"),  # no power of two
    Laplace(epsilon=1, sensitivity=1, step=1, dimension=1),
]
VECTORS = [
    Laplace(epsilon=6, sensitivity=1, step=1, dimension=2),
    Laplace(epsilon=6, sensitivity="1.5", step=1, dimension=2, unit=Unit.REPLACE_ONE),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    found = check_mechanism(mechanism).epsilon
    used = mechanism.lattice.scalar_cost(mechanism.sensitivity) / Fraction(mechanism.reach)  # the rest is spare
    assert abs(found - float(mechanism.epsilon) * used) < 1e-9


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_conform(mechanism):
    report = check_mechanism(mechanism, cutoff="1e-10")
    assert float(mechanism.epsilon) * 0.6 < report.epsilon <= float(mechanism.epsilon) + 1e-9


def test_the_lattice_comes_from_the_sensitivity_and_not_from_data():
    one = Laplace(epsilon=1, sensitivity=1)
    assert one.step == Fraction(1, 2**12)
    assert one.reach == 2**12 + 1  # one step to spare
    assert Laplace(epsilon="0.001", sensitivity=3).reach == 3 * 2**11 + 1
    many = Laplace(epsilon=1, sensitivity=1, dimension=1000)
    assert many.step == Fraction(1, 2**22)
    assert many.reach * many.step - 1 < Fraction(1, 2**12)
    assert Laplace(epsilon=1, sensitivity="1e-9").step < Fraction(1, 10**12)
    assert Laplace(epsilon=1, sensitivity=10**9).step == 2**17


def test_the_error_matches_the_textbook_on_a_fine_lattice():
    # P(|noise| > t b) = e^-t
    for epsilon, level in ((1, 0.95), (0.1, 0.5), (3, 0.999)):
        mechanism = Laplace(epsilon=epsilon, sensitivity=2)
        expected = -math.log(1 - level) * 2 / epsilon
        assert abs(mechanism.error(level) / expected - 1) < 1e-3
    vector = Laplace(epsilon=1, sensitivity=1, dimension=100)
    exact = -math.log(1 - 0.95 ** (1 / 100))
    assert abs(vector.error(0.95) / exact - 1) < 1e-3
    assert vector.error(0.95) < math.log(100 / 0.05)  # the union bound is wider


def test_for_error_has_the_least_epsilon():
    for width, dimension in ((3, None), ("0.25", None), (10, 8)):
        found = Laplace.for_error(width, 0.95, sensitivity=1, dimension=dimension)
        assert found.error(0.95) <= Fraction(width)
        less = Laplace(epsilon=found.epsilon * Fraction(9999, 10_000), sensitivity=1, dimension=dimension)
        assert less.error(0.95) > Fraction(width)
    with pytest.raises(NumberError, match="finer step"):
        Laplace.for_error("0.1", 0.95, sensitivity=1, step=1)


def test_floats_that_move_by_more_than_their_decimals():
    # 1.25 - 1.15 is above one tenth in binary, and a sum of floats is rounded: the spare step covers both
    for size, step, pair in (
        ("0.1", "0.1", (1.15, 1.25)),
        ("0.3", "0.1", (154.45, 154.75)),
        (1, 1, (0.49999999999999994, 1.5)),
    ):
        check_mechanism(Laplace(epsilon=1, sensitivity=size, step=step), pairs=[pair])
    rows = [0.0, math.nextafter(2**-13, 0), 1.0]
    check_mechanism(Laplace(epsilon=1, sensitivity=1, step="0.25"), query=math.fsum, universe=rows, rows=2)
    assert Laplace(epsilon=1, sensitivity=sensitivity.sum(0, 0.1)).sensitivity > Fraction(1, 10)


def test_the_way_back_from_a_float():
    for epsilon in (1, "0.3", 2):
        mechanism = Laplace(epsilon=epsilon, sensitivity=1)
        for level in ("0.5", "0.95"):
            assert Laplace.for_error(mechanism.error(level), level, sensitivity=1).epsilon <= mechanism.epsilon
    assert Laplace.for_error(10**18, 0.95, sensitivity=1).error(0.95) <= 10**18
    assert Laplace.for_error(3, 1 - Fraction(1, 10**400), sensitivity=1).epsilon > 100


def test_what_comes_out():
    mechanism = Laplace(epsilon=1, sensitivity=1)
    assert isinstance(mechanism.release(2), float)
    assert mechanism.guarantee == pure(1)
    assert (mechanism.release(0.1) / float(mechanism.step)).is_integer()
    released = Laplace(epsilon=1, sensitivity=1, dimension=4).release(np.zeros((2, 2)))
    assert released.shape == (2, 2)
    assert released.dtype == np.float64
    assert Laplace(epsilon=1, sensitivity=sensitivity.sum(-5, 2)).sensitivity == 5
    far = Laplace(epsilon=1, sensitivity=1).release(math.inf)
    assert 2.0**49 < far <= 2.0**50 == mechanism.limit  # saturated at a public bound
    assert Laplace(epsilon=1, sensitivity=1, dimension=10**6).limit > 10**9


def test_bad_input_is_refused_with_words():
    for bad in (
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": "1e-30"},
        {"sensitivity": "1e305"},
        {"sensitivity": "1e-305"},
        {"sensitivity": 0},
        {"sensitivity": float("nan")},
        {"step": 0},
        {"step": "x"},
        {"step": "1e-30"},
        {"dimension": -1},
    ):
        with pytest.raises(InputError, match="is refused"):
            Laplace(**{"epsilon": 1, "sensitivity": 1, **bad})
    with pytest.raises(NumberError, match="needs no noise"):
        Laplace(epsilon=1, sensitivity=sensitivity.sum(0, 0))
