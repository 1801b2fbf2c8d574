"""Every pair has the truth between its ends, and is as tight as floats allow."""

from __future__ import annotations

import math
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from dither import ln
from dither.errors import NumberError, PrecisionError
from dither.numeric import enclosure
from dither.numeric.balls import ceil_of, ends, floor_scaled, precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure

numbers = st.fractions(min_value=-700, max_value=700, max_denominator=1000)


def high(function, value: Fraction) -> tuple[Fraction, Fraction]:
    with precision(2000):
        return ends(function(to_ball(value)))


@given(numbers)
def test_functions_enclose_and_are_tight(x):
    for pair, function in (
        (enclosure.exp(x), lambda b: b.exp()),
        (enclosure.erfc(x / 50), lambda b: (b / 50).erfc()),
        (enclosure.normal_tail(x / 50), lambda b: (b / 50 / arb(2).sqrt()).erfc() / 2),
        (enclosure.log(abs(x) + 1), lambda b: (abs(b) + 1).log()),
    ):
        low, top = high(function, x)
        assert Fraction(pair.lower) <= low
        assert top <= Fraction(pair.upper)
        assert math.nextafter(math.nextafter(pair.lower, math.inf), math.inf) >= pair.upper


def test_planted_bug_the_nearest_float_is_not_a_bound():
    nearest = math.exp(0.1)
    low, top = enclosure.exp("0.1")
    assert low < top
    assert not (Fraction(nearest) <= high(lambda b: b.exp(), Fraction(1, 10))[0] and nearest == top)


def test_ends_of_the_range():
    assert enclosure.exp(0) == (1.0, 1.0)
    assert enclosure.exp(10**6) == (1.7976931348623157e308, math.inf)
    assert enclosure.exp(-(10**6)) == (0.0, 5e-324)
    assert enclosure.exp("-1e15") == (0.0, 5e-324)  # nothing is written out in full
    assert enclosure.exp("1e15")[1] == math.inf
    assert enclosure.log(1) == (0.0, 0.0)
    assert enclosure.erfc(40)[1] < 1e-300
    assert enclosure.normal_tail(0) == (0.5, 0.5)
    assert 0.0 <= enclosure.normal_tail(30).lower < enclosure.normal_tail(30).upper < 1e-197
    for bad in (0, -1, "nan", True, float("inf")):
        with pytest.raises(NumberError):
            enclosure.log(bad)
    assert enclosure.exp("1e399") == (1.7976931348623157e308, math.inf)


def test_sums_do_not_depend_on_their_order():
    terms = ["1e16", "1", "-1e16", "0.1", ln(3)]
    assert enclosure.total(terms) == enclosure.total(terms[::-1])
    low, top = enclosure.total(terms)
    assert low <= 1.1 + math.log(3) <= top
    assert enclosure.total([]) == (0.0, 0.0)
    pair = enclosure.total([Enclosure(0.1, 0.2), Enclosure(0.3, 0.4)])
    assert Fraction(pair.lower) <= Fraction(0.1) + Fraction(0.3)
    assert Fraction(0.2) + Fraction(0.4) <= Fraction(pair.upper)
    with pytest.raises(NumberError):
        enclosure.total([Enclosure(0.0, math.inf)])
    with pytest.raises(NumberError):
        enclosure.total([math.nan])


def test_membership():
    pair = enclosure.exp(1)
    assert Fraction(27182818284590452, 10**16) not in pair or pair.width > 0
    assert 1 in Enclosure(0.5, 1.5)
    assert 2 not in Enclosure(0.5, 1.5)
    assert 2 in Enclosure(-math.inf, math.inf)
    assert ln(3) in Enclosure(1.0, 1.1)


@given(st.fractions(min_value=0, max_value=1), st.integers(1, 80))
def test_floor_scaled_is_within_two(x, bits):
    with precision(bits + 20):
        floor = floor_scaled(to_ball(x), bits)
    assert floor <= x * 2**bits < floor + 2


@given(st.fractions(min_value=-(2**70), max_value=2**70))
def test_ceil_is_not_below(x):
    with precision(40):
        assert ceil_of(to_ball(x)) >= x


def test_wide_balls_are_refused_not_guessed():
    with precision(64):
        with pytest.raises(PrecisionError):
            floor_scaled(arb(0.5, 0.01), 64)
        with pytest.raises(PrecisionError):
            ends(arb.nan())
        with pytest.raises(PrecisionError):
            ends((-(arb(10) ** 15)).exp())
    with pytest.raises(PrecisionError):
        certify(lambda: arb.pos_inf())
    wide = certify(lambda: arb(0.5, 0.01))  # more bits do not help: what is known is given
    assert wide.lower < 0.5 < wide.upper


def test_precision_is_restored_also_after_an_error():
    before = ctx.prec
    with precision(999):
        assert ctx.prec == 999
    with pytest.raises(ZeroDivisionError), precision(999):
        raise ZeroDivisionError
    assert ctx.prec == before


def test_threads_do_not_disturb_each_other():
    failures = []

    def work(bits: int) -> None:
        for _ in range(200):
            with precision(bits):
                if ctx.prec != bits:
                    failures.append(bits)

    threads = [threading.Thread(target=work, args=(60 + 10 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_ball_across_an_integer_has_the_floor_of_its_lower_end():
    with precision(104):
        assert floor_scaled(arb(0.5, 2.0**-70), 64) == 2**63 - 1
        assert floor_scaled(arb(0.5), 64) == 2**63
        assert floor_scaled(arb((-3, -2)), 0) == -1
