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
    assert abs(check_mechanism(mechanism).epsilon - float(mechanism.epsilon)) < 1e-9  # tight for one number


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_conform(mechanism):
    report = check_mechanism(mechanism, cutoff="1e-10")
    assert float(mechanism.epsilon) * 0.6 < report.epsilon <= float(mechanism.epsilon) + 1e-9


def test_the_lattice_comes_from_the_sensitivity_and_not_from_data():
    one = Laplace(epsilon=1, sensitivity=1)
    assert one.step == Fraction(1, 2**16)
    assert one.reach == 2**16  # nothing lost
    assert Laplace(epsilon="0.001", sensitivity=3).reach == 3 * 2**15
    many = Laplace(epsilon=1, sensitivity=1, dimension=1000)
    assert many.step == Fraction(1, 2**26)
    assert many.reach * many.step - 1 < Fraction(1, 2**16)
    assert Laplace(epsilon=1, sensitivity="1e-9").step < Fraction(1, 10**13)
    assert Laplace(epsilon=1, sensitivity=10**9).step == 2**13


def test_the_error_matches_the_textbook_on_a_fine_lattice():
    # P(|noise| > t b) = e^-t
    for epsilon, level in ((1, 0.95), (0.1, 0.5), (3, 0.999)):
        mechanism = Laplace(epsilon=epsilon, sensitivity=2)
        expected = -math.log(1 - level) * 2 / epsilon
        assert abs(mechanism.error(level) / expected - 1) < 1e-4
    vector = Laplace(epsilon=1, sensitivity=1, dimension=100)
    exact = -math.log(1 - 0.95 ** (1 / 100))
    assert abs(vector.error(0.95) / exact - 1) < 1e-4
    assert vector.error(0.95) < math.log(100 / 0.05)  # the union bound is wider


def test_for_error_has_the_least_epsilon():
    for width, dimension in ((3, None), ("0.25", None), (10, 8)):
        found = Laplace.for_error(width, 0.95, sensitivity=1, dimension=dimension)
        assert found.error(0.95) <= Fraction(width)
        less = Laplace(epsilon=found.epsilon * Fraction(9999, 10_000), sensitivity=1, dimension=dimension)
        assert less.error(0.95) > Fraction(width)
    with pytest.raises(NumberError, match="finer step"):
        Laplace.for_error("0.1", 0.95, sensitivity=1, step=1)


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
    assert 2.0**45 < far < 2.0**47  # saturated at a public bound


def test_bad_input_is_refused_with_words():
    for bad in (
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": "1e-30"},
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
