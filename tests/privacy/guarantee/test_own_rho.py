"""The rho of a pure epsilon, and of discrete Laplace noise: against Renyi divergences of enumerated laws, at many orders."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, fmpq

from dither import Geometric, Guarantee, Unit, approx, ln, pure, zcdp
from dither.errors import GuaranteeError, NumberError
from dither.numeric.balls import precision
from dither.numeric.number import Number
from dither.privacy.budget.filter import approx_filter, from_json, sum_filter, zcdp_filter
from dither.privacy.formulas import discrete_laplace, randomized_response
from dither.privacy.guarantee.approx import Approx

ORDERS = (*(1 + Fraction(1, 10**k) for k in (6, 4, 2, 1)), Fraction(3, 2), 2, 3, 5, 8, 16, 64)
ODDS = (Fraction(11, 10), Fraction(3, 2), Fraction(3), Fraction(20), Fraction(1000))  # e^epsilon


def ball(value: Fraction | int) -> arb:
    number = Fraction(value)
    return arb(fmpq(number.numerator, number.denominator))


def divergence(p: list[Fraction], q: list[Fraction], alpha: Fraction) -> arb:
    """The Renyi divergence of two enumerated laws."""
    order = ball(alpha)
    total = sum((ball(a) ** order * ball(b) ** (1 - order) for a, b in zip(p, q, strict=True)), start=arb(0))
    return total.log() / (order - 1)


def response(odds: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    yes = odds / (1 + odds)
    return [yes, 1 - yes], [1 - yes, yes]


def bounded_geometric(b: Fraction, size: int) -> list[list[Fraction]]:
    """Rows of the channel of geometric noise, P(x) ~ b^|x|, moved into 0 .. size-1: exact, and nothing is lost by it.

    Values at the two ends see the full law, since all losses are between or beyond them.
    """
    if size == 1:
        return [[Fraction(1)]]
    inside = (1 - b) / (1 + b)
    rows = []
    for at in range(size):
        row = [inside * b ** abs(y - at) for y in range(size)]
        row[0], row[-1] = b**at / (1 + b), b ** (size - 1 - at) / (1 + b)
        assert sum(row) == 1
        rows.append(row)
    return rows


def times(*laws: list[Fraction]) -> list[Fraction]:
    return [math.prod(chances, start=Fraction(1)) for chances in product(*laws)]


@pytest.mark.parametrize("odds", ODDS)
def test_randomized_response_has_the_rho_of_a_pure_epsilon_and_no_less(odds):
    p, q = response(odds)
    charged = pure(ln(odds)).charge().rho
    with precision(256):
        found = [divergence(p, q, order) / ball(order) for order in ORDERS]
        assert all(bool(one < ball(charged)) for one in found)
        assert bool(found[0] > ball(charged) * (1 - arb("1e-4")))  # reached at order 1, so no smaller number is true
    assert charged < pure(ln(odds)).charge(classical=True).rho


@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(3)])
def test_copies_and_mixtures_of_randomized_response_stay_below_the_sum(odds):
    p, q = response(odds)
    more = response(odds + 1)
    charged = (2 * pure(ln(odds)) + pure(ln(odds + 1))).charge().rho
    with precision(256):
        for order in ORDERS:
            assert bool(divergence(times(p, p, more[0]), times(q, q, more[1]), order) < ball(order * charged))


@pytest.mark.parametrize("b", [Fraction(9, 10), Fraction(1, 2), Fraction(1, 20)])
@pytest.mark.parametrize("moved", [1, 2, 3, 6])
def test_geometric_noise_stays_below_its_own_rho_at_every_order(b, moved):
    """Every move up to the sensitivity, both directions; the largest move reaches it as the order tends to 1."""
    rate = ln(1 / b)
    mechanism = Geometric(epsilon=rate * moved, sensitivity=moved)
    charged = mechanism.guarantee.charge().rho
    rows = bounded_geometric(b, moved + 3)
    with precision(256):
        for one, other in product(range(len(rows)), repeat=2):
            if 0 < abs(one - other) <= moved:
                for order in ORDERS:
                    assert bool(divergence(rows[one], rows[other], order) < ball(order * charged)), (one, other, order)
        ends = bounded_geometric(b, moved + 1)
        assert bool(divergence(ends[0], ends[-1], ORDERS[0]) > ball(charged) * (1 - arb("1e-4")))
    assert mechanism.guarantee.charge().epsilon == rate * moved
    if moved > 1:
        assert charged < pure(rate * moved).charge().rho
    else:
        assert mechanism.guarantee == pure(rate)


@pytest.mark.parametrize("b", [Fraction(9, 10), Fraction(1, 2)])
@pytest.mark.parametrize("moves", [(1, 1), (2, 1), (1, 1, 1), (3, 1), (2, 2)])
def test_vectors_stay_below_the_rho_of_one_number_that_moves_by_all_of_it(b, moves):
    whole = sum(moves)
    charged = Geometric(epsilon=ln(1 / b) * whole, sensitivity=whole, dimension=len(moves)).guarantee.charge().rho
    laws = [bounded_geometric(b, move + 1) for move in moves]
    with precision(256):
        for order in ORDERS:
            found = divergence(times(*(rows[0] for rows in laws)), times(*(rows[-1] for rows in laws)), order)
            assert bool(found < ball(order * charged))


def test_scales_that_differ_have_the_rho_of_the_largest_rate():
    fine, coarse = Fraction(1, 2), Fraction(3, 4)
    for moves in product(range(4), repeat=2):
        epsilon = ln(1 / fine) * moves[0] + ln(1 / coarse) * moves[1]
        if epsilon == 0:
            continue
        charged = discrete_laplace.charged_rho(epsilon, ln(1 / fine))
        laws = [bounded_geometric(b, move + 1) for b, move in zip((fine, coarse), moves, strict=True) if move]
        with precision(256):
            for order in ORDERS:
                found = divergence(times(*(rows[0] for rows in laws)), times(*(rows[-1] for rows in laws)), order)
                assert bool(found < ball(order * charged)), moves


def test_a_smaller_rho_is_found_out():
    """What the tests above would see of a wrong claim: the Laplace limit for whole numbers, and half of the truth."""
    b, moved = Fraction(1, 2), 2
    epsilon = math.log(2) * moved
    ends = bounded_geometric(b, moved + 1)
    with precision(256):
        found = divergence(ends[0], ends[-1], ORDERS[0])
        assert bool(found > ball(Fraction(epsilon + math.exp(-epsilon) - 1)))
        assert not bool(
            found < ball(Geometric(epsilon=ln(2) * 2, sensitivity=2).guarantee.charge().rho * Fraction(999, 1000))
        )


@pytest.mark.parametrize("people", [2, 3])
@pytest.mark.parametrize("b", [Fraction(9, 10), Fraction(1, 2)])
def test_groups_and_other_units_hold(b, people):
    moved = 2
    promise = Geometric(epsilon=ln(1 / b) * moved, sensitivity=moved).guarantee.group(people)
    ends = bounded_geometric(b, moved * people + 1)
    with precision(256):
        for order in ORDERS:
            assert bool(divergence(ends[0], ends[-1], order) < ball(order * promise.charge().rho))
    assert promise.charge().rho <= pure(ln(1 / b) * moved * people).charge().rho
    if people == 2:
        replaced = Geometric(epsilon=ln(1 / b) * moved, sensitivity=moved).guarantee.to(Unit.REPLACE_ONE)
        assert replaced.charge() == promise.charge()


def test_a_rho_of_ones_own_is_forgotten_where_no_group_theorem_is_known():
    part = Approx.of(Number(1), Fraction(1, 10**6), Fraction(1, 5))
    assert part.charged_rho() == Fraction(1, 5)
    assert part.group(2).charged_rho() == pure(2).charge().rho
    assert part.group(1).entries[0].epsilon == 1


def test_values_of_the_theory():
    for sensitivity, rho in ((1, 0.462117), (2, 0.393469), (6, 0.370796), (10**9, 0.367879)):
        assert Geometric(epsilon=1, sensitivity=sensitivity).guarantee.rho() == pytest.approx(rho, abs=1e-6)
    for epsilon in ("1e-100", "1e-9", "0.1", 1, 40, 10**4):
        charged = pure(epsilon).charge().rho
        truth = float(epsilon) * math.tanh(float(epsilon) / 2)
        assert charged <= pure(epsilon).charge(classical=True).rho
        assert truth == 0 or float(charged) == pytest.approx(truth, rel=1e-9)
        own = discrete_laplace.charged_rho(Number(epsilon), Number(epsilon) / 7)
        assert charged / 2 < own <= charged


def test_rounding_is_upwards_and_short():
    for odds in ODDS:
        epsilon = ln(odds)
        charged = randomized_response.charged_rho(epsilon)
        assert charged.numerator.bit_length() <= 64
        with precision(512):
            truth = randomized_response.rho(epsilon)
            assert bool(truth <= ball(charged))
            assert bool(truth * (1 + arb("1e-18")) > ball(charged))


def test_renyi_takes_the_smaller_of_both_and_the_lower_end_claims_nothing():
    own, every = pure(3, rho="0.1"), pure(3)
    assert own.renyi(2) == pytest.approx(0.2)
    assert own.renyi(10**6) == every.renyi(10**6) <= 3
    assert own.epsilon("1e-6") <= every.epsilon("1e-6")
    assert own.bracket("1e-6").lower == 0 < every.bracket("1e-6").lower
    assert (own + every).charge().rho == Fraction(1, 10) + every.charge().rho
    assert [one.copies for one in (own + own + every).parts[0].entries] == [1, 2]
    with pytest.raises(NumberError):
        pure(1, rho=-1)


def test_records_with_a_rho_are_of_version_2_and_all_others_as_ever():
    own = Geometric(epsilon=1, sensitivity=2).guarantee
    text = own.to_json()
    assert json.loads(text)["guarantee"] == 2
    assert Guarantee.from_json(text) == own
    assert json.loads(pure(1).to_json()) == {
        "guarantee": 1,
        "unit": "add/remove one person",
        "parts": [{"kind": "approx", "entries": [["1", "0", 1]]}],
    }
    with pytest.raises(GuaranteeError):
        Guarantee.from_json(text.replace('"guarantee": 2', '"guarantee": 1'))
    with pytest.raises(GuaranteeError):
        Guarantee.from_json(text.replace('", "0", 1, "', '", "0", 1, "-'))
    assert own.without_own_rho() == pure(1)


def test_filters_of_version_1_count_as_they_did():
    for made in (zcdp_filter(1, "1e-6"), approx_filter(3, "1e-6", delta_events="5e-7")):
        text = made.to_json()
        assert json.loads(text)["filter"] == 2
        old = from_json(text.replace('"filter": 2', '"filter": 1'))
        assert from_json(text) == made != old
        assert made.has_ceiling_of(old)
        assert not made.has_ceiling_of(zcdp_filter(2))
        geometric = Geometric(epsilon=1, sensitivity=2).guarantee
        assert old.price(pure(1))[0] == old.price(geometric)[0] == Fraction(1, 2)
        assert old.price(approx("0.1", "1e-9"))[0] == Fraction(1, 200)
        assert made.price(pure(1))[0] == pure(1).charge().rho
        assert made.price(geometric)[0] == geometric.charge().rho < made.price(pure(1))[0]
        assert old.counted(geometric) == pure(1)
        assert made.counted(geometric) == geometric
        assert made.price(zcdp("0.1")) == old.price(zcdp("0.1"))
        assert from_json(old.to_json()) == old
    plain = sum_filter(1)
    assert json.loads(plain.to_json())["filter"] == 1
    assert plain.counted(Geometric(epsilon=1, sensitivity=2).guarantee) == pure(1)
