"""Answers at the source: yes or no, one of several, a place on a grid."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither import Flat, LocationResponse, RandomizedResponse, Unit, ln, pure
from dither.errors import BrokenPromise, InputError, UnitError
from dither.mechanisms.response.location_response import axis_covers
from dither.noise import Bernoulli
from dither.testing import check_mechanism, outcomes

CASES = [
    RandomizedResponse(p="3/4"),
    RandomizedResponse(p="1/3"),
    RandomizedResponse(epsilon=1),
    RandomizedResponse(epsilon=ln(9), unit=Unit.REPLACE_ONE_ROW),
    Flat(["a", "b", "c"], epsilon=ln(3)),
    Flat([1, 2], epsilon="0.5"),
    Flat([(0, 0), (0, 1), (1, 0), (1, 1)], epsilon=2),
    LocationResponse(epsilon=1, width=3, height=4),
    LocationResponse(epsilon=ln(5), width=1, height=6),
    LocationResponse(epsilon=2, width=2, height=2),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms_and_is_tight(mechanism):
    assert check_mechanism(mechanism).epsilon == pytest.approx(float(mechanism.epsilon), rel=1e-9)


class LiesTooLittle(RandomizedResponse):
    truthful = Bernoulli("4/5")


class TooNear(LocationResponse):
    """The rate of one axis for both."""

    rate = property(lambda self: self.epsilon / (self.width - 1))


def test_planted_bugs_are_caught():
    for bug in (LiesTooLittle(p="3/4"), TooNear(epsilon=1, width=3, height=3)):
        with pytest.raises(BrokenPromise, match="is false"):
            check_mechanism(bug)


# -- yes or no ---------------------------------------------------------------------------------------------------------


def test_the_coin_flip_is_ln_3():
    coin = RandomizedResponse(p="3/4")
    assert coin.epsilon == ln(3)
    assert coin.guarantee == pure(ln(3), unit=Unit.REPLACE_ONE)
    assert RandomizedResponse(p="1/4").epsilon == ln(3)
    assert RandomizedResponse(p="1/2").epsilon == 0
    assert RandomizedResponse(epsilon=ln(3), p="3/4") == coin
    answers = coin.randomize(np.ones(100_000, dtype=bool))
    assert abs(answers.sum() - 75_000) < 6 * 150
    assert coin.randomize([0, 1, 1]).shape == (3,)
    assert isinstance(coin.release(1), bool)


def test_bad_answers_are_refused():
    for bad in ({"p": 0}, {"p": 1}, {"p": "1.5"}, {"p": -1}, {"epsilon": 0}, {}, {"p": "3/4", "epsilon": 1}, {"p": "nan"}):
        with pytest.raises(InputError, match="is refused"):
            RandomizedResponse(**bad)
    coin = RandomizedResponse(p="3/4")
    for value in (2, "yes", None, 0.0, [True]):
        with pytest.raises(InputError):
            coin.release(value)
    for values in ([2, 0], ["a"], [0.5], np.array([1j])):
        with pytest.raises(InputError):
            coin.randomize(values)
    assert coin.randomize([]).tolist() == []
    assert coin.release(np.int64(1)) in (True, False)
    for unit in (Unit.ADD_REMOVE, Unit.ADD_REMOVE_ROW):
        for make in (lambda u: RandomizedResponse(p="3/4", unit=u), lambda u: Flat([1, 2], epsilon=1, unit=u),
                     lambda u: LocationResponse(epsilon=1, width=2, height=2, unit=u)):  # fmt: skip
            with pytest.raises(UnitError, match="public"):
                make(unit)
    with pytest.raises(InputError, match="deviation_of_survey"):
        coin.error(0.9)


# -- one of several ----------------------------------------------------------------------------------------------------


def test_the_flat_law():
    # a 10 x 10 grid, epsilon = ln 3: the truth with probability 3/102
    cells = list(product(range(10), range(10)))
    flat = Flat(cells, epsilon=ln(3))
    low, high = flat.truthful.p
    assert low <= 3 / 102 <= high
    law = outcomes(Flat("abcd".replace("", " ").split(), epsilon=ln(3)).release, "a")
    for letter, chance in zip("abcd", (3, 1, 1, 1), strict=True):
        assert law.probability(letter)[0] == pytest.approx(chance / 6)
    draws = flat.randomize([(4, 4)] * 20_000)
    assert abs(draws.count((4, 4)) - 20_000 * 3 / 102) < 6 * 25
    assert abs(draws.count((0, 9)) - 20_000 / 102) < 6 * 15
    places = Flat(["x", "y"], epsilon=50).randomize_places(np.array([[0, 1], [1, 0]]))
    assert places.tolist() == [[0, 1], [1, 0]]
    small = Flat(["x", "y"], epsilon=50).randomize_places(np.array([0, 1], dtype=np.uint64))
    assert (small.dtype, small.tolist()) == (np.int64, [0, 1])
    with pytest.raises(InputError):
        flat.randomize(3)


def test_bad_values_are_refused():
    for values in ([], ["a"], ["a", "a"], 3, "ab", [[1], [2]]):
        with pytest.raises(InputError, match="is refused"):
            Flat(values, epsilon=1)
    flat = Flat(["a", "b"], epsilon=1)
    for value in ("c", None, [1], 0):
        with pytest.raises(InputError, match="is refused"):
            flat.release(value)
    for places in (np.array([2]), np.array([-1]), np.array([0.0])):
        with pytest.raises(InputError):
            flat.randomize_places(places)
    with pytest.raises(InputError):
        flat.error(0.9)


# -- a grid ------------------------------------------------------------------------------------------------------------


def by_enumeration(rate, width, height):
    cells = list(product(range(width), range(height)))
    law = {}
    for true in cells:
        weights = {c: math.exp(-rate * (abs(c[0] - true[0]) + abs(c[1] - true[1]))) for c in cells}
        whole = sum(weights.values())
        law[true] = {c: w / whole for c, w in weights.items()}
    return max(math.log(law[a][c] / law[b][c]) for a in cells for b in cells for c in cells)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (3, 5), (1, 7), (6, 6)])
def test_the_exact_epsilon_of_a_bounded_grid(width, height):
    """The rate times the diameter: half of what the exponential mechanism's own theorem charges."""
    for rate in (0.1, 0.5, 2):
        assert by_enumeration(rate, width, height) == pytest.approx(rate * (width + height - 2), rel=1e-12)
    mechanism = LocationResponse(epsilon=1, width=width, height=height)
    assert by_enumeration(float(mechanism.rate), width, height) == pytest.approx(1, rel=1e-12)


def test_grid_errors_cover_everywhere():
    mechanism = LocationResponse(epsilon=3, width=5, height=3)
    laws = {true: outcomes(mechanism.release, true) for true in product(range(5), range(3))}
    for level in ("0.3", "0.5", "0.9"):
        columns, rows = mechanism.error(level)
        for true, law in laws.items():
            inside = sum(
                float(mass)
                for key, mass in law.masses.items()
                if abs(law.outputs[key][0] - true[0]) <= columns and abs(law.outputs[key][1] - true[1]) <= rows
            )
            assert inside >= float(Fraction(level)) - 1e-12
    assert mechanism.error("0.999999") == (4, 2)
    assert LocationResponse(epsilon=50, width=5, height=3).error("0.5") == (0, 0)
    assert LocationResponse(epsilon=10, width=9, height=1).error("0.95") == (3, 0)  # wider in the middle than at the ends
    for place, radius in product(range(9), (0, 1, 3)):
        weights = [math.exp(-10 / 8 * abs(place - c)) for c in range(9)]
        inside = sum(w for c, w in enumerate(weights) if abs(place - c) <= radius) / sum(weights)
        assert axis_covers(LocationResponse(epsilon=10, width=9, height=1).rate, radius, 9, Fraction(1, 2)) <= (
            inside >= 0.5
        )


def test_grid_input():
    mechanism = LocationResponse(epsilon=1000, width=4, height=4)
    assert mechanism.release((9, -3)) == (3, 0)  # moved to the border
    assert mechanism.release([1, 2]) == (1, 2)
    for value in (3, "ab", (1,), (1, 2, 3), (1.5, 2), None):
        with pytest.raises(InputError, match="is refused"):
            mechanism.release(value)
    for bad in ({"width": 0}, {"width": 1, "height": 1}, {"width": 10**6}, {"epsilon": 0}, {"height": "x"}):
        with pytest.raises(InputError, match="is refused"):
            LocationResponse(**{"epsilon": 1, "width": 3, "height": 3, **bad})
