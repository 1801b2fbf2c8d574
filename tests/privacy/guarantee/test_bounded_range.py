"""Bounded range: the profile is exact, rho is a quarter, and sums hold against finite pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb

from dither import Guarantee, Unit, bounded_range, ln, pure, zcdp
from dither.errors import InputError
from tests.privacy.pairs import delta, divergence, fold

ODDS = [Fraction(4), Fraction(3, 2), Fraction(9)]


def pair(odds, t):
    """Losses ln(t) and ln(t / odds): all that a range of ln(odds) allows, for 1 <= t <= odds."""
    high = (odds - t) / (odds - 1)  # of P: the mean of Q/P is one
    p = (high, 1 - high)
    return p, (high / t, (1 - high) * odds / t)


def tilts(odds):
    return [1 + (odds - 1) * Fraction(k, 12) for k in range(13)]


@pytest.mark.parametrize("odds", ODDS)
def test_the_profile_is_exact(odds):
    promise = bounded_range(ln(odds))
    for k in range(1, 12):
        level = 1 + (odds - 1) * Fraction(k, 12)
        worst = max(delta(pair(odds, t), level) for t in [*tilts(odds), *(_root(odds * level),)])
        bound = promise.delta(ln(level))
        assert worst <= Fraction(bound)
        assert float(worst) == pytest.approx(bound, rel=1e-6)  # attained at t = sqrt(odds * level)
        assert promise.epsilon(Fraction(bound)) == pytest.approx(math.log(level), rel=1e-9)
    assert promise.delta(ln(odds)) == 0
    assert promise.epsilon() == pytest.approx(math.log(odds))
    assert promise.bracket("0.01").lower == pytest.approx(promise.bracket("0.01").upper)


def _root(x):
    return Fraction(math.isqrt(int(x * 10**20)), 10**10)


@pytest.mark.parametrize("odds", ODDS)
def test_renyi_and_rho_hold(odds):
    promise = bounded_range(ln(odds))
    for t, alpha in product(tilts(odds)[1:-1], (Fraction(3, 2), Fraction(2), Fraction(5), Fraction(40))):
        truth = divergence(pair(odds, t), alpha)
        assert truth.lower() <= arb(promise.renyi(alpha))
        assert truth.lower() <= arb(promise.rho()) * float(alpha)
    assert promise.rho() == pytest.approx(math.log(odds) ** 2 / 8)
    assert pure(ln(odds)).rho() == pytest.approx(math.log(odds) * math.tanh(math.log(odds) / 2))


def test_sums_hold_against_pairs():
    promise = bounded_range(ln(4)) + bounded_range(ln(2)) + bounded_range(ln(2))
    for t, s in product(tilts(Fraction(4))[::3], tilts(Fraction(2))[::3]):
        composed = fold(pair(Fraction(4), t), pair(Fraction(2), s), pair(Fraction(2), s))
        for level in (Fraction(1), Fraction(2), Fraction(5), Fraction(12)):
            assert delta(composed, level) <= Fraction(promise.delta(ln(level)))
    assert promise.epsilon() == pytest.approx(math.log(16))
    assert (100 * bounded_range("0.1")).epsilon("1e-6") < (100 * pure("0.1")).epsilon("1e-6")
    assert (100 * bounded_range("0.1")).epsilon("1e-6") > 1  # not the profile of one
    assert bounded_range("0.1").renyi(2) == pytest.approx(0.01 / 4)
    assert bounded_range(10).renyi(200) <= 10.1  # for large orders the largest loss is smaller
    large = 2000 * bounded_range(1)
    assert large.within(large)
    assert not large.within(1500 * bounded_range(1))
    assert bounded_range(2).epsilon("0.9") == 0
    assert bounded_range(ln(3)).charge().rho >= Fraction(str(math.log(3) ** 2 / 8)) - Fraction(1, 10**16)
    assert (100 * bounded_range("0.1")).rho() == pytest.approx(100 * 0.01 / 8)
    mixed = bounded_range(1) + zcdp("0.1") + pure("0.1")
    assert mixed.rho() == pytest.approx(1 / 8 + 0.1 + 0.1 * math.tanh(0.05))


def test_what_follows_from_what():
    assert bounded_range(1).within(pure(1))
    assert bounded_range(1).within(zcdp("1/8"))
    assert not bounded_range(1).within(zcdp("0.12"))
    assert not pure(1).within(bounded_range(1))  # permute-and-flip is one that has not
    assert bounded_range(1).within(bounded_range(2))
    assert not bounded_range(2).within(bounded_range(1))
    assert (2 * bounded_range(1)).within(3 * bounded_range(1))
    assert not (3 * bounded_range(1)).within(2 * bounded_range(1))
    assert bounded_range(1).group(3) == bounded_range(3)
    assert bounded_range(1).to(Unit.REPLACE_ONE) == bounded_range(2, unit=Unit.REPLACE_ONE)
    charge = bounded_range(2).charge()
    assert (charge.rho, charge.delta, charge.epsilon) == (Fraction(1, 2), 0, 2)
    assert bounded_range(ln(3)).charge().rho >= Fraction(math.log(3) ** 2 / 8) * (1 - Fraction(1, 10**15))


def test_records_and_words():
    for promise in (bounded_range(0), bounded_range("0.1"), 3 * bounded_range(ln(3)) + bounded_range(2) + pure(1)):
        assert Guarantee.from_json(promise.to_json()) == promise
    assert str(4 * bounded_range("0.5")) == "4 × ε = 0.5 of bounded range (add/remove one person)"
    assert str(bounded_range("0.5")) == "ε = 0.5 of bounded range (add/remove one person)"
    assert bounded_range(1) + bounded_range(2) == bounded_range(2) + bounded_range(1)
    assert bounded_range(0).delta(0) == 0
    assert bounded_range(0).epsilon("1e-6") == 0
    assert bounded_range("1e-9").delta(0) < 1e-9
    assert bounded_range(300).delta(1) <= 1
    assert bounded_range(1).tradeoff("0.05") <= pure(1).tradeoff("0.05")
    for bad in (-1, "nan", None):
        with pytest.raises(InputError):
            bounded_range(bad)
    start = '{"guarantee": 1, "unit": "add/remove one person", "parts": [{"kind": "range", "entries": '
    for entries in ("[]", '[["1", 0]]', '[["-1", 1]]', "3"):
        with pytest.raises(InputError):
            Guarantee.from_json(start + entries + "}]}")
