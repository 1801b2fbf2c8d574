"""Unknown keys: units, writings of one key, people and pairs of every kind, and extreme promises."""

from __future__ import annotations

import math
import time
import warnings
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import count
from uuid import UUID

import numpy as np
import pytest
from flint import arb

from dither import density
from dither.density import GaussianKeys, GeometricKeys, MagicKeys, WeightedKeys, bound_keys
from dither.density.unknown_keys import choose as key_choice
from dither.density.unknown_keys.key_counts import DEEPEST, plain_key, plain_person, read_totals
from dither.density.unknown_keys.magic_keys import MOST_HOLDERS
from dither.errors import DataError, InputError, NotPrivateWarning, NumberError, PrecisionError, UnitError
from dither.numeric.balls import precision
from dither.testing import seeded
from dither.testing.enumerate import outcomes

UNITS = ["add/remove one person", "replace one person"]
RULES = [MagicKeys, GeometricKeys, GaussianKeys, WeightedKeys]
NEW_YEAR = date(2020, 1, 2)
with warnings.catch_warnings():  # newer NumPy deprecates to make them; data may have them
    warnings.simplefilter("ignore", DeprecationWarning)
    NO_DATE, NO_TIME, FIVE = np.datetime64("NaT"), np.timedelta64("NaT"), np.timedelta64(5)


def nested(depth: int, inside: object = 1) -> object:
    for _ in range(depth):
        inside = (inside,)
    return inside


# -- units -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RULES)
def test_units_of_rows_are_refused_since_one_row_can_change_two_counts(kind):
    for rows, people in [("add/remove one row", UNITS[0]), ("replace one row", UNITS[1])]:
        with pytest.raises(UnitError, match=people):
            kind(epsilon=1, delta="1e-5", max_keys=1, unit=rows)
        with pytest.raises(UnitError, match=people):
            density.keys(epsilon=1, delta="1e-5", max_keys=1, unit=rows)
    before, after = ([("ann", "a")], [("ann", "a"), ("ann", "b")])
    assert bound_keys(before, max_keys=1) == [("a",)]
    low, high = outcomes(lambda rows: bound_keys(rows, max_keys=1), after).probability([("b",)])
    assert low <= 0.5 <= high  # the key a has gone, and b has come


# -- writings of one key -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_a_key_under_two_writings_has_the_larger_count_in_any_order():
    writings = {np.datetime64("2020-01-02"): 7, NEW_YEAR: 5, (NEW_YEAR,): 2, (np.datetime64("2020-01-02"),): 9, "a": 1}
    for order in (list, reversed):
        keys, totals = read_totals({key: writings[key] for key in order(list(writings))})
        assert dict(zip(keys, totals.tolist(), strict=True)) == {NEW_YEAR: 7, (NEW_YEAR,): 9, "a": 1}
    assert read_totals({NEW_YEAR: -3, np.datetime64("2020-01-02"): 0})[0] == []
    rule = GeometricKeys(epsilon=1, delta="1e-5", max_keys=1)
    with seeded(1):
        assert abs(rule.release({np.datetime64("2020-01-02"): 10**6, NEW_YEAR: 10**6})[NEW_YEAR] - 10**6) < 100
        assert MagicKeys(epsilon=1, delta="1e-5", max_keys=1).release(
            {NEW_YEAR: 10**6, np.datetime64("2020-01-02"): 10**6}
        ) == (NEW_YEAR,)


def test_numpy_dates_are_told_by_their_unit_and_never_become_numbers():
    for unit in "YMWD":
        assert plain_key(np.datetime64("2020-01-01", unit)) == np.datetime64("2020-01-01", unit).item()
        assert plain_key(np.datetime64("NaT", unit)) is None
        assert plain_key(np.datetime64(10**15, unit)) is None  # a day, but none that can be written: missing
    assert plain_key(NO_DATE) is None
    assert plain_key(np.array(np.datetime64("2020-01-02"))) == NEW_YEAR
    refused = [np.datetime64("2020-01-01", unit) for unit in ("h", "m", "s", "ms", "us", "ns")]
    refused += [np.timedelta64(5, unit) for unit in ("D", "s", "ns", "M")] + [FIVE, NO_TIME]
    refused += [np.datetime64("NaT", "ns"), np.void(b"ab"), np.longdouble(1), np.array(np.datetime64("2020-01-01", "ns"))]
    for bad in [*refused, *[("a", one) for one in refused]]:
        assert plain_key(bad) is None
    record = np.array([("a", "2020-01-02")], dtype=[("name", "U1"), ("day", "M8[D]")])[0]
    assert plain_key(record) == ("a", NEW_YEAR)
    assert plain_key(np.array([("a", "2020-01-02")], dtype=[("name", "U1"), ("day", "M8[ns]")])[0]) is None


def test_tuples_nested_too_deeply_are_left_out():
    assert plain_key(nested(DEEPEST)) == nested(DEEPEST)
    for depth in (DEEPEST + 1, 3000):
        assert plain_key(nested(depth)) is None
        assert plain_key(("a", nested(depth))) is None
    assert bound_keys([(1, nested(3000)), (1, "a")], max_keys=2) == [("a",)]
    assert bound_keys([(nested(3000), "a"), (2, "b")], max_keys=2) == [("b",)]
    rule = GeometricKeys(epsilon=1, delta="1e-5", max_keys=1)
    assert list(rule.release({nested(3000): 1000, nested(DEEPEST): 1000, "a": 1000})) == ["a", nested(DEEPEST)]


# -- people and pairs --------------------------------------------------------------------------------------------------


def test_nobody_stops_a_release():
    for nobody in (None, math.nan, Decimal("NaN"), Decimal("sNaN"), np.float64("nan"), complex("nan"), NO_DATE):
        assert plain_person(nobody) is None
        assert plain_person(("ann", nobody)) is None
        assert bound_keys([(nobody, "a"), ("bob", "b"), ((1, nobody), "c")], max_keys=1) == [("b",)]


def test_a_person_under_two_writings_is_one():
    """Else more than max_keys keys of one person would be counted."""
    twos = [
        (NEW_YEAR, np.datetime64("2020-01-02")),
        (1, np.int64(1)),
        ("ann", np.str_("ann")),
        (("a", 1), ("a", np.int8(1))),
    ]
    twos += [(("a", NEW_YEAR), ("a", np.datetime64("2020-01-02"))), (Decimal(1), 1.0)]
    for one, other in twos:
        assert len(bound_keys([(one, "a"), (other, "b")], max_keys=1)) == 1
    for fine in (UUID(int=5), datetime(2020, 1, 1), frozenset({1}), Fraction(1, 2), b"x"):
        assert plain_person(fine) == fine


class Rude:
    """No key, and nobody."""

    def __hash__(self):
        raise RuntimeError("who asks?")


KEYLESS = [
    [1],
    {1},
    {"a": 1},
    np.array([1, 2]),
    Decimal(1),
    1j,
    frozenset(),
    Fraction(1, 2),
    object(),
]
KEYLESS += [
    Rude(),
    datetime(2020, 1, 1),
    np.longdouble(1),
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(5, "D"),
    ("a", [1]),
]
NOBODY = [[1], {1}, {"a": 1}, np.array([1, 2]), ("a", [1]), np.longdouble(1), np.datetime64("2020-01-01", "ns"), Rude()]


@pytest.mark.parametrize("kind", RULES)
def test_no_key_and_no_person_of_any_kind_stops_a_release(kind):
    """Each is left out by itself: the law of what is counted is that of the others' rows."""
    rule, others = kind(epsilon=1, delta="1e-5", max_keys=2), [("ann", "a"), ("ann", "b"), ("bob", "b")]
    for bad in KEYLESS:
        for rows in ([("eve", bad), *others], [*others, ("ann", bad)], [*others, ("ann", bad), ("ann", bad)]):
            assert rule.count(rows) == rule.count(others)
    for nobody in NOBODY:
        assert plain_person(nobody) is None
        assert rule.count([(nobody, "a"), *others, (nobody, "zebra")]) == rule.count(others)


def test_keys_that_are_none_take_no_place_among_those_that_are_kept():
    pairs = [("ann", "a"), ("ann", "b"), ("ann", [1]), ("ann", Decimal(2))]
    for own in (("a",), ("b",)):
        low, high = outcomes(lambda rows: bound_keys(rows, max_keys=1), pairs).probability([own])
        assert low <= 0.5 <= high
    assert read_totals({"a": 3, Decimal(1): 4, frozenset(): 5, None: 6})[0] == ["a"]


def test_pairs_are_tuples_lists_or_rows():
    good = [[("ann", "a")], [["ann", "a"]], np.array([["ann", "a"]]), np.array([["ann", "a"]], dtype=object), {("ann", "a")}]
    good += [np.array([("ann", "a")], dtype=[("who", "U3"), ("key", "U1")]), iter([("ann", "a")])]
    for pairs in good:
        assert bound_keys(pairs, max_keys=1) == [("a",)]
    bad = [[{"person": 1, "key": 2}], [{1, 2}], ["ab"], [b"ab"], [np.array(5)], [np.void(b"ab")], [("a", "b", "c")], [None]]
    bad += [np.zeros((1, 3)), np.zeros(3), np.zeros((1, 2, 2)), [np.zeros((2, 2))]]
    for pairs in bad:
        with pytest.raises(DataError, match="type of a pair"):
            bound_keys(pairs, max_keys=1)
    for pairs in (np.array(5), None, "ab", b"ab", {"a": 1}, 3):
        with pytest.raises(DataError, match="type of pairs"):
            bound_keys(pairs, max_keys=1)


def test_weights_of_many_people_are_not_cut_off():
    rule = WeightedKeys(epsilon=1, delta="1e-5", max_keys=4)
    people = 10**9
    with pytest.warns(NotPrivateWarning), seeded(1):
        shown = rule.release({"a": people * rule.parts, "b": 2**100})
    assert abs(shown["a"] - people) < 1000
    assert abs(shown["b"] - 2**35) < 1000


# -- what a person can move --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
def test_all_ways_to_hold_weighted_keys_are_looked_at(unit):
    """Of t keys u are nobody else's: the others move by (t - u) w(t)^2 / W^2, and each of the u starts at w(t)."""
    rule = WeightedKeys(epsilon=1, delta="1e-4", max_keys=5, unit=unit)
    found = rule.contributions(rule.threshold, Fraction(0))
    worked = []
    for t in range(1, 6):
        weight = max(w for w in range(1025) if t * w * w <= 1024 * 1024)
        alone = 1 - float(rule.law.cdf(rule.threshold - 1 - weight))
        worked += [(Fraction((t - u) * weight * weight, 1024 * 1024), 1 - (1 - alone) ** u) for u in range(t + 1)]
    assert [one.moved for one in found] == [moved for moved, _ in worked]
    for one, (_, shown) in zip(found, worked, strict=True):
        assert float(one.shown) == pytest.approx(shown, rel=1e-6, abs=1e-14)


def test_all_ways_to_hold_keys_that_weigh_the_same_are_looked_at():
    rule = GeometricKeys(epsilon=1, delta="1e-4", max_keys=5)
    assert [one.moved for one in rule.contributions(rule.threshold, rule.below)] == [5, 4, 3, 2, 1, 0]


# -- promises at the ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RULES[1:])
def test_noise_that_is_not_drawn_is_refused_soon_and_in_words_of_the_promise(kind):
    extremes = [(10**400, "1e-5"), ("1e15", "1e-5"), ("1e-400", "1e-300"), ("1e-20", "1e-300"), ("1e-400", "1e-400")]
    for epsilon, delta in extremes:
        start = time.process_time()
        with pytest.raises(NumberError, match="epsilon, delta, max_keys") as caught:
            kind(epsilon=epsilon, delta=delta, max_keys=3)
        assert "lattice" not in str(caught.value)
        assert time.process_time() - start < 1
    assert kind(epsilon=2**20, delta="1e-5", max_keys=1).holders("0.5") == 2


def test_a_threshold_beyond_64_bits_is_refused_as_input():
    with pytest.raises(NumberError, match="narrow"):
        GeometricKeys(epsilon=Fraction(1, 2**60), delta="1e-5", max_keys=1)


def test_a_table_that_is_too_long_is_refused_before_it_is_made(monkeypatch):
    start = time.process_time()
    with pytest.raises(NumberError, match="1048576 holders"):
        MagicKeys(epsilon="1e-6", delta="1e-300", max_keys=1)
    assert time.process_time() - start < 1
    for epsilon, delta, max_keys in [
        (1, "1e-5", 1),
        ("0.1", "1e-9", 2),
        (5, "0.3", 1),
        ("1e-400", "0.02", 1),
        (900, "0.1", 1),
    ]:
        rule = MagicKeys(epsilon=epsilon, delta=delta, max_keys=max_keys)
        last = next(n for n in count() if rule.exact_chance(n) == 1)
        with precision(2048):
            gain = (rule.epsilon / max_keys).ball().expm1()
            half = (gain * max_keys / (2 * arb(rule.delta.numerator) / rule.delta.denominator)).log1p() / gain.log1p()
            assert 2 * half - 1 <= last  # never refused wrongly
            assert last <= 2 * half + 2  # and rarely made in vain
        monkeypatch.setattr("dither.density.unknown_keys.magic_keys.MOST_HOLDERS", last)
        assert MagicKeys(epsilon=epsilon, delta=delta, max_keys=max_keys).holders("0.5") <= last
        monkeypatch.setattr("dither.density.unknown_keys.magic_keys.MOST_HOLDERS", last - 1)
        with pytest.raises(NumberError, match="holders might not be shown"):
            MagicKeys(epsilon=epsilon, delta=delta, max_keys=max_keys)
        monkeypatch.setattr("dither.density.unknown_keys.magic_keys.MOST_HOLDERS", MOST_HOLDERS)


@pytest.mark.parametrize("kind", RULES)
def test_what_is_refused_is_named_as_the_caller_calls_it(kind):
    rule = kind(epsilon=1, delta="1e-5", max_keys=1)
    for bad in ("0.99...", 1, 0):
        with pytest.raises(NumberError, match=r"^chance"):
            rule.holders(bad)
        with pytest.raises(NumberError, match=r"^confidence"):
            rule.error(bad)


# -- the choice --------------------------------------------------------------------------------------------------------


def test_the_first_refusal_is_told():
    with pytest.raises(NumberError, match="1048576 holders"):  # of magic; the others refuse for other reasons
        density.keys(epsilon="1e-20", delta="1e-300", max_keys=1)
    with pytest.raises(InputError, match="narrow"):
        density.keys(epsilon=10**400, delta="1e-5", max_keys=1, counts=True)
    needs = density.keys(epsilon=10**400, delta="1e-5", max_keys=1).needs
    assert needs == {name: 2 if name == "magic" else None for name in key_choice.RULES}


def test_a_rule_that_cannot_be_computed_stops_no_other(monkeypatch):
    def unsure(*_, **__):
        raise PrecisionError("threshold", 1, "none was found", "less extreme parameters")

    monkeypatch.setitem(key_choice.RULES, "magic", unsure)
    choice = density.keys(epsilon=1, delta="1e-5", max_keys=1)
    assert choice.name == "truncated geometric"
    assert (choice.needs["magic"], choice.needs["geometric"], choice.needs["gaussian"]) == (None, 12, 18)


def test_a_rule_that_does_not_say_what_it_needs_is_not_taken(monkeypatch):
    def unsure(*_, **__):
        raise PrecisionError("threshold", 1, "none was found", "less extreme parameters")

    monkeypatch.setattr(GaussianKeys, "holders", unsure)
    choice = density.keys(epsilon=1, delta="1e-5", max_keys=4)
    assert choice.name == "truncated gaussian"
    assert (choice.needs["magic"], choice.needs["geometric"], choice.needs["gaussian"]) == (44, 50, None)
    for kind in key_choice.RULES.values():
        monkeypatch.setattr(kind, "holders", unsure)
    with pytest.raises(PrecisionError):
        density.keys(epsilon=1, delta="1e-5", max_keys=4)
