"""Rational roots: one just below, one just above, and a float that is not below; of whole squares the root itself."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dither.mechanisms.norms import float_root, root_above, root_below

SQUARES = [Fraction(n, d) for n in (1, 2, 3, 10**6 + 1, 10**40) for d in (1, 7, 2**90, 10**30)]


@pytest.mark.parametrize("square", SQUARES, ids=str)
def test_roots_lie_on_their_side_and_near(square):
    below, above = root_below(square), root_above(square)
    assert below**2 <= square <= above**2
    assert above - below <= above / 2**40
    assert math.isclose(Fraction(float_root(square)), above, rel_tol=1e-15)
    assert Fraction(repr(float_root(square))) ** 2 >= square


@pytest.mark.parametrize("root", [Fraction(1), Fraction(7, 3), Fraction(10**20, 3)])
def test_roots_of_squares_are_exact(root):
    assert root_below(root**2) == root_above(root**2) == root
