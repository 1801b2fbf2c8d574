"""The staircase mechanism: pure epsilon, less error at large epsilon, one number only."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dither import Laplace, Staircase, ln
from dither.errors import InputError
from dither.testing import check_mechanism

CASES = [
    Staircase(epsilon=1, sensitivity=1, step="0.25"),
    Staircase(epsilon=ln(3), sensitivity="0.7", step="0.25"),
    Staircase(epsilon=3, sensitivity=1, step="0.125", gamma="0.5"),
    Staircase(epsilon=1, sensitivity=1, step=1),
    Staircase(epsilon=2, sensitivity=1, step="0.25", gamma=1),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    found, whole = check_mechanism(mechanism).epsilon, float(mechanism.epsilon)
    assert abs(found - whole) < 1e-9  # tight: any shift of a step can cross from a high part to a low one


def expected_size(mechanism) -> float:
    """E|noise|, term by term."""
    law, step = mechanism.law, float(mechanism.step)
    return 2 * step * sum(k * law.pmf(k).upper for k in range(1, int(40 * mechanism.reach / float(mechanism.epsilon))))


def test_the_expected_error_is_that_of_the_theorem():
    # Geng and Viswanath: D e^(epsilon/2) / (e^epsilon - 1), against D / epsilon for Laplace noise
    for epsilon in (1, 4):
        optimal = math.exp(epsilon / 2) / math.expm1(epsilon)
        fine = Staircase(epsilon=epsilon, sensitivity=1, step="1/64")
        assert abs(expected_size(fine) / optimal - 1) < 0.02
        assert expected_size(fine) < expected_size(Laplace(epsilon=epsilon, sensitivity=1, step="1/64"))
        for gamma in ("0.05", "0.9"):
            assert expected_size(fine) < expected_size(Staircase(epsilon=epsilon, sensitivity=1, step="1/64", gamma=gamma))


def test_for_error_needs_little():
    found = Staircase.for_error(2, 0.95, sensitivity=1)
    assert found.error(0.95) <= 2
    less = Staircase(epsilon=found.epsilon * Fraction(999, 1000), sensitivity=1)
    assert less.error(0.95) > 2


def test_bad_input_is_refused_with_words():
    for bad in ({"epsilon": 0}, {"gamma": 0}, {"gamma": "1.1"}, {"sensitivity": 0}, {"step": -1}, {"sensitivity": "x"}):
        with pytest.raises(InputError, match="is refused"):
            Staircase(**{"epsilon": 1, "sensitivity": 1, **bad})
    with pytest.raises(TypeError):
        Staircase(epsilon=1, sensitivity=1, dimension=2)
    with pytest.raises(InputError):
        Staircase(epsilon=1, sensitivity=1).release([1.0, 2.0])
