"""Exact numbers: what goes in comes out, order is decided, and bad input is refused with words."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dither.errors import NumberError, show
from dither.numeric.balls import float_ends, round_down, round_up
from dither.numeric.number import Number, exact, integer, ln, rational

small = st.fractions(min_value=-20, max_value=20, max_denominator=50)
positive = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)


@pytest.mark.parametrize(
    ("given_", "value"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int32(-7), Fraction(-7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.10"), Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("1E+3", Fraction(1000)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-2/4", Fraction(-1, 2)),
        ("1 / 3", Fraction(1, 3)),
        ("0.5/0.25", Fraction(2)),
        ("1/2 + 1/3 - 1", Fraction(-1, 6)),
        (5e-324, Fraction("5e-324")),
        (1.7976931348623157e308, Fraction("1.7976931348623157e308")),
        (-0.0, Fraction(0)),
        ("ln(1)", Fraction(0)),
    ],
)
def test_what_is_read(given_, value):
    assert Number(given_).fraction() == value


def test_logarithms_are_exact():
    assert Number("ln(3)") == ln(3) == Number("ln ( 3 )")
    assert Number("1/2 - 2*ln(3/4) + 0.5*ln(2)") == Fraction(1, 2) - 2 * ln("3/4") + ln(2) / 2
    assert ln(6) == ln(2) + ln(3)
    assert ln(12) - ln(4) == ln(3)
    assert ln(4) == 2 * ln(2)
    assert ln("1/2") == -ln(2)
    assert ln(1) == 0
    assert ln(2) / 2 + ln(2) / 2 == ln(2)
    assert ln(8) / 3 == ln(2)
    assert hash(ln(6)) == hash(ln(2) + ln(3))
    assert len({ln(4), 2 * ln(2), ln(2) + ln(2), ln(5)}) == 2
    assert not ln(2).is_rational
    assert (ln(2) - ln(2)).is_rational


def test_powers_of_one_base_do_not_pile_up():
    assert ln(2) + ln(2**4000) == 4001 * ln(2)
    assert ln(3**2000) + ln(3) == 2001 * ln(3)
    assert ln(Fraction(6**1000, 10**900)) == 100 * ln(2) + 1000 * ln(3) - 900 * ln(5)
    assert not Number(0)
    assert not ln(2) - ln(2)
    assert ln(2)


def test_near_misses_are_told_apart():
    close = Fraction(math.log(3))  # the nearest double, written out
    assert ln(3) != Number(close)
    assert (ln(3) > close) != (ln(3) < close)
    many = 10**12 * ln(3)
    assert many > 10**12 * ln(3) - Fraction(1, 10**40)
    assert ln(10**30 + 1) > ln(10**30)
    huge = 10**30 * ln(3) - 10**30 * ln(2)  # s would need 10^30 bits written out
    assert huge == 10**30 * ln("3/2")


@given(small, positive, small, positive)
def test_order_agrees_with_high_precision(r, s, q, t):
    from flint import arb, ctx, fmpq

    left, right = Number(r) + ln(s), Number(q) + ln(t)
    before = ctx.prec
    ctx.prec = 400
    try:
        gap = arb(fmpq(r.numerator, r.denominator)) - arb(fmpq(q.numerator, q.denominator))
        gap += arb(fmpq(s.numerator, s.denominator)).log() - arb(fmpq(t.numerator, t.denominator)).log()
        sign = 1 if gap > 0 else -1 if gap < 0 else 0
    finally:
        ctx.prec = before
    assert (left - right).sign() == sign
    assert (left < right, left == right, left > right) == (sign < 0, sign == 0, sign > 0)
    assert (left <= right, left >= right) == (sign <= 0, sign >= 0)


@given(small, positive, st.integers(-10, 10))
def test_arithmetic_is_exact_and_reversible(r, s, n):
    number = Number(r) + ln(s)
    assert number + number == 2 * number == number * 2
    assert n * number - (n - 1) * number == number
    assert (-number).__neg__() == number
    assert (number / 7) * 7 == number
    assert 1 - number == -(number - 1)
    assert pickle.loads(pickle.dumps(number)) == number
    low, high = number.bounds()
    assert low <= float(number) <= high
    assert Fraction(low) <= number <= Fraction(high)


@given(small, st.lists(st.tuples(st.integers(1, 30), st.fractions(-5, 5, max_denominator=6)), max_size=3))
def test_text_reads_back(r, terms):
    number = Number(r)
    for base, coefficient in terms:
        number += ln(base) * coefficient
    if len(str(number)) <= 64:
        assert Number(str(number)) == number
        assert eval(repr(number), {"Number": Number}) == number


def test_text_is_short_and_exact():
    assert str(Number("0.1")) == "0.1"
    assert str(Number(Fraction(1, 3))) == "1/3"
    assert str(Number(-2)) == "-2"
    assert str(Number("0.5") + 2 * ln(3)) == "0.5 + 2*ln(3)"
    assert str(-ln(3)) == "-ln(3)"
    assert str(Number(0)) == "0"
    assert str(Number("1e-30")) == "1/1000000000000000000000000000000"
    str(10**3 * ln(Fraction(2**4000 + 1, 2**4000)))  # not an error, however long


BAD = [
    *(float("nan"), float("inf"), -float("inf"), "nan", "inf", "-inf", Decimal("nan"), Decimal("inf")),
    *(True, False, np.bool_(True), np.float32(0.1), np.float16(1), np.longdouble(1)),
    *(None, 1j, b"1", [1], object(), np.array(1.0), np.array([1, 2])),
    *("", " ", "0x10", "1_000", "1 2", "1,5", "٣", "1//2", "1/2/3", "1/0", "--1", "1+", "*", "e", "1e"),
    *("ln", "ln()", "ln(0)", "ln(-1)", "ln(ln(3))", "ln(3)*2"),
    *(
        "1e999999999",
        "1e-401",
        "1e401",
        Decimal("1e401"),
        Decimal("1e-999999"),
        "9" * 65,
        10**5000,
        Fraction(1, 2**5000),
    ),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: f"{type(bad).__name__}-{show(bad)[:14]}")
def test_bad_numbers_are_refused_with_words(bad):
    with pytest.raises(NumberError) as caught:
        exact(bad, name="epsilon")
    text = str(caught.value)
    assert text.startswith("epsilon = ")
    assert "is refused" in text
    assert "What would work" in text
    assert len(text) < 400
    assert caught.value.where == "epsilon"


def test_signs_are_asked_for_where_they_matter():
    assert exact(0, name="x", nonnegative=True) == 0
    for bad in (0, -1, ln(1), ln("1/2"), Number("1.0986") - ln(3)):
        with pytest.raises(NumberError, match="above zero"):
            exact(bad, name="x", positive=True)
    for bad in (-1, "-1e-300", ln("1/2")):
        with pytest.raises(NumberError, match="below zero"):
            exact(bad, name="x", nonnegative=True)
    with pytest.raises(NumberError, match="rational"):
        rational(ln(3), name="scale")
    with pytest.raises(NumberError):
        ln(0)
    with pytest.raises(NumberError):
        ln(3) / 0


def test_whole_numbers():
    assert integer(np.int64(3), name="n") == 3
    for bad in (3.0, "3", True, np.bool_(1), None, Fraction(3)):
        with pytest.raises(NumberError, match="whole number"):
            integer(bad, name="n")
    with pytest.raises(NumberError, match="at least 1"):
        integer(0, name="n", least=1)


def test_numbers_do_not_mix_with_floats_silently():
    for other in (0.5, "1", None, 1j, True):
        for operation in (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a < b, lambda a, b: a / b):
            with pytest.raises(TypeError):
                operation(ln(3), other)
        assert ln(3) != other
    with pytest.raises(TypeError):
        ln(3) * ln(3)
    with pytest.raises(AttributeError):
        ln(3)._rational = Fraction(0)  # type: ignore[misc]


def test_bounds_that_are_zero_have_no_sign():
    for value in (Number(0), Number("1e-400"), -Number("1e-400"), ln(3) - ln(3)):
        assert all(math.copysign(1, end) == 1 for end in value.bounds() if end == 0), value
    assert [math.copysign(1, end) for end in float_ends(arb(0))] == [1, 1]
    assert [math.copysign(1, end) for end in (round_down(Fraction(0)), round_up(Fraction(0)))] == [1, 1]
    assert math.copysign(1, round_up(Fraction(-1, 10**400))) == 1


def test_extreme_values_have_a_nearest_float():
    assert float(Number("1e400")) == math.inf
    assert float(-Number("1e400")) == -math.inf
    assert float(Number("1e-400")) == 0.0
    assert Number("1e400").bounds() == (1.7976931348623157e308, math.inf)
    assert Number("1e-400").bounds() == (0.0, 5e-324)
    assert float(ln(3)) == math.log(3)
