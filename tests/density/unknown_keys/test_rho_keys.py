"""Keys priced in rho: the exact law of all neighbouring counts against the promise, both units."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from dither import density
from dither.density.unknown_keys.rho_keys import RhoKeys
from dither.density.unknown_keys.sole_holder_loss import any_shown
from dither.errors import NumberError, UnitError
from dither.numeric.balls import precision
from dither.testing.enumerate import BITS
from tests.density.unknown_keys.test_key_rule import UNITS, key_law, moves, stick


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("rho", "delta", "max_keys"), [("0.5", "0.05", 1), ("2", "0.01", 2), ("0.1", "0.2", 1)])
def test_every_neighbouring_count_keeps_the_promise(rho, delta, max_keys, unit):
    rule = RhoKeys(rho=rho, delta=delta, max_keys=max_keys, unit=unit)

    @cache
    def floats(total: int) -> dict:
        with precision(BITS):
            return {output: float(mass) for output, mass in key_law(rule, total).items()}

    levels, seen, closest = [0, 1, 2, rule.threshold], set(), 0.0
    for change in moves(max_keys, unit):
        moved = tuple(sorted(step for step in change if step))
        for counts in product(levels, repeat=len(moved)):
            after = [count + step for count, step in zip(counts, moved, strict=True)]
            pair = tuple(sorted(zip(counts, after, strict=True)))
            if min(after) < 0 or pair in seen:
                continue
            seen.add(pair)
            for epsilon in (0, 0.3, 1, 3):
                found = stick([floats(c) for c in counts], [floats(c) for c in after], epsilon)
                promised = rule.guarantee.delta(Fraction(epsilon))
                assert found <= promised * (1 + 1e-9)
                closest = max(closest, found / promised)
    assert closest > 0.75  # the promise is no larger than it has to be


@pytest.mark.parametrize("max_keys", [1, 2, 7, 100])
def test_all_keys_of_one_person_together_are_shown_with_probability_delta_at_most(max_keys):
    rule = RhoKeys(rho="0.01", delta="1e-6", max_keys=max_keys)
    with precision(BITS):
        shown = any_shown(rule.shown_chance(rule.threshold, rule.below, 1), max_keys)
        more = any_shown(rule.shown_chance(rule.threshold, rule.below + Fraction(1, 512), 1), max_keys)
    assert shown <= rule.delta < more  # and not a share more than is needed


def test_it_needs_far_fewer_holders_than_an_epsilon_of_the_same_rho():
    for max_keys in (1, 5, 50):
        mine = RhoKeys(rho="0.005", delta="1e-8", max_keys=max_keys).holders("0.5")
        theirs = density.keys(epsilon="0.1", delta="1e-8", max_keys=max_keys)
        assert Fraction("0.00499") < theirs.guarantee.charge().rho < Fraction("0.005")
        assert 2.5 * mine < min(need for need in theirs.needs.values() if need is not None)


def test_what_it_costs():
    charge = RhoKeys(rho="0.01", delta="1e-9", max_keys=5).guarantee.charge()
    assert (charge.rho, charge.delta, charge.epsilon) == (Fraction("0.01"), Fraction("1e-9"), None)


def test_refusals():
    with pytest.raises(NumberError, match="delta"):
        RhoKeys(rho=1, delta=0, max_keys=1)
    with pytest.raises(NumberError, match="rho"):
        RhoKeys(rho=0, delta="1e-6", max_keys=1)
    with pytest.raises(UnitError, match="unit"):
        RhoKeys(rho=1, delta="1e-6", max_keys=1, unit="add/remove one row")


def test_noise_as_wide_as_is_drawn_is_taken():
    """A deviation of 2^59, of which 2^62 is more than five."""
    assert RhoKeys(rho=Fraction(1, 2 * 4**59), delta="1e-6", max_keys=1).threshold > 2**61
    with pytest.raises(NumberError, match="that wide"):
        RhoKeys(rho=Fraction(1, 2 * 4**60), delta="1e-6", max_keys=1)
