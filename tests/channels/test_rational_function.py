"""Exact entries: functions of e^epsilon that are compared without error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import Number, ln
from dither.channels.rational_function import Ratio
from dither.errors import NumberError

small = st.fractions(min_value=-5, max_value=5, max_denominator=6)
polynomials = st.lists(small, min_size=1, max_size=4)


def built(epsilon, coefficients):
    total = Ratio.of(epsilon, 0)
    for power, c in enumerate(coefficients):
        total = total + Ratio.power(epsilon, power) * c
    return total


def value(coefficients, e):
    return sum((c * e**power for power, c in enumerate(coefficients)), start=Fraction(0))


@given(a=polynomials, b=polynomials, c=polynomials)
def test_arithmetic_is_that_of_fractions_where_e_is_one(a, b, c):
    epsilon, e = ln("3/2"), Fraction(3, 2)
    x, y, z = (built(epsilon, p) for p in (a, b, c))
    vx, vy, vz = (value(p, e) for p in (a, b, c))
    assert x + y * z - 2 == vx + vy * vz - 2
    assert 1 - x == 1 - vx
    assert (x < y, x <= y, x > y, x >= y) == (vx < vy, vx <= vy, vx > vy, vx >= vy)
    if vy:
        assert x / y == vx / vy
        assert 1 / y == 1 / vy
    assert float(x) == pytest.approx(float(vx), abs=1e-12)


def test_zero_is_recognised_for_every_kind_of_e():
    for epsilon in (Number(1), ln(2), ln(3) / 2, ln(2) * Fraction(2, 3), ln(2) + 1):
        e = Ratio.power(epsilon, 1)
        assert (e + 1) * (e - 1) == e * e - 1
        assert e / e == 1
        assert e * e != e + 1
        assert e > 1
    root = Ratio.power(ln(3) / 2, 1)  # the square root of 3
    assert root * root == 3
    assert (root + 1) * (root - 1) == 2
    assert 1 / (root - 1) == (root + 1) / 2
    cube = Ratio.power(ln(4) / 3, 1)  # 4^(1/3) = 2^(2/3)
    assert cube * cube * cube == 4
    assert cube * cube != Fraction(5, 2)


def test_floats_are_near_also_where_terms_cancel():
    tiny = Ratio.power(Number("1e-50"), 1) - 1
    assert float(tiny) == pytest.approx(1e-50)
    assert float(1 / tiny) == pytest.approx(1e50)
    mixed = Ratio.power(ln(2) / 2 + ln(3) / 3, 1)  # 6th power: 8 * 9
    sixth = mixed * mixed * mixed * mixed * mixed * mixed
    assert sixth == 72
    assert mixed * mixed * mixed != 8


def test_refusals():
    with pytest.raises(NumberError, match="too high a degree"):
        _ = Ratio.power(ln(2) / 10**7, 1) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ratio.power(Number(1), 1))
    one, other = Ratio.power(Number(1), 1), Ratio.power(Number(2), 1)
    with pytest.raises(NumberError, match="does not go with"):
        one + other
    with pytest.raises(NumberError, match="divided by zero"):
        one / (one - one)
    with pytest.raises(NumberError, match="divided by zero"):
        Ratio.power(ln(2), 1) / (Ratio.power(ln(2), 1) - 2)


def test_logarithms_of_powers_have_their_roots_taken():
    """ln(9) / 2 is ln 3, so E is 3; with x^2 - 9, which is not irreducible, E = 3 was neither zero nor not."""
    for rate, degree, value in (
        (ln(9) / 2, 1, Fraction(3)),
        (ln(8) / 3, 1, Fraction(2)),
        (ln(Fraction(9, 4)) / 2, 1, Fraction(3, 2)),
        (ln(4) * Fraction(3, 2), 1, Fraction(8)),
        (ln(4) / 4, 2, None),
        (ln(12) / 2, 2, None),
    ):
        assert (rate.root_degree(), rate.exp_fraction()) == (degree, value)
        grown = Ratio.power(rate, 1)
        assert (grown == value) if value else (grown * grown == (rate * 2).exp_fraction())
