"""Readers of privacy parameters and of stored records: which values they take, at the ends of each range."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither.errors import NumberError
from dither.numeric.number import Number
from dither.privacy.records import read_delta, read_price, stored_count, stored_delta, stored_fraction


def test_a_price_is_an_epsilon_or_a_rho():
    assert read_price("0.1", None) == (Number("0.1"), None)
    assert read_price(None, "0.1") == (None, Fraction(1, 10))
    for both in ((None, None), (1, 1)):
        with pytest.raises(NumberError, match="exactly one"):
            read_price(*both)
    for price in ((0, None), (None, 0), (-1, None), (None, "-1e-9")):
        with pytest.raises(NumberError):
            read_price(*price)


def test_a_delta_is_below_one():
    assert read_delta(0) == 0
    assert read_delta("0.999") == Fraction(999, 1000)
    for delta in (1, "1.5", -1):
        with pytest.raises(NumberError):
            read_delta(delta)


def test_what_is_stored_may_have_been_touched():
    assert (stored_count(1), stored_count(10**18)) == (1, 10**18)
    for count in (0, -1, 10**18 + 1, True, 1.0, "1"):
        with pytest.raises(ValueError, match="a count"):
            stored_count(count)
    assert (stored_delta("1"), stored_delta("0"), stored_fraction("7/2")) == (1, 0, Fraction(7, 2))
    for read, value in ((stored_delta, "3/2"), (stored_fraction, "-1"), (stored_fraction, "1e9"), (stored_fraction, 1)):
        with pytest.raises(ValueError, match=r"a probability|a rational"):
            read(value)
