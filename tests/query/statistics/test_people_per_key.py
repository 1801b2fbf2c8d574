"""COUNT(DISTINCT ...) from the people of each key: exact laws for all neighbours, exact coverage, what rows give."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pyarrow
import pytest

import dither
from dither.errors import BrokenPromise
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.privacy.unit import Unit
from dither.query.statistics.people_per_key import PeoplePerKey
from dither.testing import seeded
from dither.testing.claim import Claim
from dither.testing.enumerate import outcomes
from tests.query.clinics import clinic, ledger, private_counts, repeated
from tests.query.statistics.test_distinct_keys import ASKED, GROUPED, holdings, table
from tests.seeds import rounds

UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]
BUDGETS = {"epsilon": dither.pure(10**6), "rho": dither.zcdp(10**6)}


def made(folder, price, amount, unit=Unit.ADD_REMOVE, *, keys="AB", sql=ASKED, **facts):
    """The statistic of a question."""
    budget = dither.pure(10**6, unit=unit) if price == "epsilon" else dither.zcdp(10**6, unit=unit)
    data = clinic(folder, keys={"ward": list(keys), "sex": ["f", "m"]}, budget=budget, **facts)
    (found,) = data.quote(sql, **{price: amount}).offer.others
    assert isinstance(found, PeoplePerKey)
    return found


# -- what one person moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", ["epsilon", "rho"])
@pytest.mark.parametrize("most", [1, 2])
def test_the_exact_law_keeps_the_promise_for_every_pair_of_neighbours(tmp_path, most, price, unit):
    """All that one or two people can hold of two keys beside others; noise that is made for one key less is caught."""
    statistic = made(tmp_path, price, {"epsilon": 2, "rho": "0.4"}[price], unit, max_groups=most)
    claim, own = Claim(statistic.guarantee), holdings(most, "AB")

    def counts(rest, held):
        return tuple(number + (key in held) for number, key in zip(rest, "AB", strict=True))

    pairs = {
        (counts(rest, one), counts(rest, two))
        for rest in [(0, 0), (1, 0)]
        for one, two in itertools.product(own, own if unit is Unit.REPLACE_ONE else [set()])
    }
    known = {}

    def law(of, vector):
        if (of, vector) not in known:
            known[of, vector] = outcomes(of.noisy, [list(vector)], cutoff="1e-7")
        return known[of, vector]

    for one, two in pairs:
        claim.check(one, two, law(statistic, one), law(statistic, two))
        claim.check(two, one, law(statistic, two), law(statistic, one))
    worst = max(pairs, key=lambda pair: sum(abs(a - b) for a, b in zip(*pair, strict=True)))
    moved, noise = sum(abs(a - b) for a, b in zip(*worst, strict=True)), statistic.mechanism
    assert moved == min(2, most * (1 if unit is Unit.ADD_REMOVE else 2))  # there are two keys
    if moved == 2:
        less = (
            Geometric(epsilon=noise.epsilon, sensitivity=1, unit=unit)
            if price == "epsilon"
            else Gaussian(rho="0.4", l2_squared=1, integers=True, unit=unit)
        )
        bare = replace(statistic, mechanism=less)
        with pytest.raises(BrokenPromise):
            claim.check(*worst, law(bare, worst[0]), law(bare, worst[1]))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize("sql", [ASKED, GROUPED])
def test_no_person_moves_the_counts_by_more_than_the_claim(tmp_path, sql, person, unit):
    """On rows, with keys that others have too; who is replaced brings rows like those of others."""
    worst = [0, 0]
    for rng in rounds(2, 1, "people per key", sql, person, unit.value):
        facts = {"person": person, "max_groups": 2, "max_rows_per_group": 1}
        if person == "each row":
            facts |= {"max_groups": None, "max_rows_per_group": None}
        rows = [(rng.randrange(3), rng.choice("ABCD"), rng.choice("fm"), 1.0, 1) for _ in range(9)]

        def counted(rows, facts=facts):
            data = clinic(tmp_path, table(rows), **facts, ledger=ledger(tmp_path, dither.pure(10**6, unit=unit)))
            quote = data.quote(sql, epsilon=1)
            return private_counts(quote), quote.offer.others[0]

        whole, statistic = counted(rows)
        for one in range(3) if person == "person" else range(len(rows)):
            kept = [row for at, row in enumerate(rows) if (row[0] if person == "person" else at) != one]
            if unit is Unit.REPLACE_ONE:
                copies = rng.sample(rows, 1 if person == "each row" else rng.randrange(1, 6))
                kept += [(one, *row[1:]) for row in copies]
            change = [a - b for a, b in zip(whole, counted(kept)[0], strict=True)]
            moved = [sum(map(abs, change)), sum(part**2 for part in change)]
            worst = [max(pair) for pair in zip(worst, moved, strict=True)]
            assert moved[0] <= statistic.bounding.l1(statistic.counters)
            assert moved[1] <= statistic.bounding.l2_squared(statistic.counters)
    assert worst[0] >= 1


# -- what the interval holds -------------------------------------------------------------------------------------------


def coverage(statistic, counts):
    """P(low <= number of keys <= high), by the exact law: each key is surely held, surely empty, or open, by itself."""
    law, margin = statistic.mechanism.law, statistic.margin
    states = {(0, 0): Fraction(1)}  # how many are surely held, how many surely empty
    for count in counts:
        held, empty = law.tail(margin - count), law.tail(margin + count - 1)  # N > h - c; N <= -h - c, turned round
        chances = [Fraction(held.lower), Fraction(empty.lower)]
        found: dict[tuple[int, int], Fraction] = {}
        for (a, b), chance in states.items():
            for move, part in (((1, 0), chances[0]), ((0, 1), chances[1]), ((0, 0), 1 - sum(chances))):
                place = a + move[0], b + move[1]
                found[place] = found.get(place, Fraction(0)) + chance * part
        states = found
    truth = sum(1 for count in counts if count > 0)
    return sum(chance for (held, empty), chance in states.items() if held <= truth <= len(counts) - empty)


@pytest.mark.parametrize("price", ["epsilon", "rho"])
@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999"])
def test_the_interval_holds_the_number_for_any_data_by_the_exact_law(tmp_path, price, level):
    statistic = made(tmp_path, price, {"epsilon": 1, "rho": "0.03"}[price], keys="ABCDE", max_groups=4)
    statistic = replace(statistic, confidence=Fraction(level))
    margin = statistic.margin
    for counts in itertools.combinations_with_replacement([0, 1, 2, margin, 2 * margin + 1, 10**6], 5):
        assert coverage(statistic, counts) >= Fraction(level) - Fraction(1, 10**12)
    tight = coverage(statistic, (0,) * 5)
    assert tight < 1
    assert coverage(replace(statistic, confidence=Fraction(1, 1000)), (0,) * 5) < tight  # a margin too small is seen


def test_the_margin_is_the_least_that_keeps_the_confidence(tmp_path):
    statistic = made(tmp_path, "epsilon", 1, keys="ABCDE", max_groups=4)
    margin, law = statistic.margin, statistic.mechanism.law
    assert (1 - law.tail(margin).upper) ** 5 >= 0.95 > (1 - law.tail(margin - 1).lower) ** 5


def test_ends_come_from_the_keys_and_the_value_lies_between(tmp_path):
    statistic = made(tmp_path, "epsilon", 1, keys="ABCDE", max_groups=4)
    margin = statistic.margin
    far = 10 * margin
    cases = {
        (far, far, far, far, far): (5, 5, 5),
        (far, far, far, far, 0): (4, 4, 5),
        (far, far, far, margin + 1, margin): (5, 4, 5),
        (far, 0, 0, 1 - margin, -margin): (1, 1, 4),
        (-far, -far, -far, -far, -margin): (0, 0, 0),
        (-1, 1, -1, 1, -1): (0, 0, 5),
        (1, 1, 1, 1, 1): (5, 0, 5),
    }
    values, lows, highs = statistic.read([list(counts) for counts in cases], 0)
    assert list(zip(values, lows, highs, strict=True)) == list(cases.values())


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
@pytest.mark.parametrize("budget", [dither.approx(10**6, "1e-6"), dither.pure(10**6)])
def test_four_keys_of_five_at_an_ordinary_price(tmp_path, budget):
    """2,000 people, four keys of 1,500 each and an empty one, four keys a person, epsilon 1: 1,000 releases."""
    keys = list("abcde")
    rows = {"p": [i for i in range(2000) for _ in range(3)], "w": [keys[(i + j) % 4] for i in range(2000) for j in range(3)]}
    facts = {"name": "t", "person": "p", "max_groups": 4, "max_rows_per_group": 1, "keys": {"w": keys}}
    data = dither.protect(pyarrow.table(rows), **facts, ledger=ledger(tmp_path, budget))
    quote = data.quote("SELECT COUNT(DISTINCT w) AS k FROM t", epsilon="1")
    (statistic,) = quote.offer.others
    assert coverage(statistic, (1500, 1500, 1500, 1500, 0)) >= Fraction(95, 100)
    with seeded(5):
        answers = [(one["k_low"][0], one["k"][0], one["k_high"][0]) for one in repeated(quote, 1000)]
    assert sum(low <= 4 <= high for low, _, high in answers) >= 950
    assert all(high - low <= 1 and low <= value <= high for low, value, high in answers)
    assert {answers.count((4, value, high)) > 0 for value, high in ((4, 5), (5, 5))} == {True}
    assert answer_is_at_least(quote)


def answer_is_at_least(quote):
    """Nobody said that four keys a person are all that there can be."""
    return quote.release().statements == {"k": "at least"}


def test_the_number_of_declared_keys_is_at_least_so_many(tmp_path):
    """Rows may have values that nobody declared, whatever limits are hard."""
    data = clinic(tmp_path, max_groups=2, hard=["max_groups"])
    assert data.quote(ASKED, epsilon=1).release().statements == {"wards": "at least"}
    told = data.quote(GROUPED, epsilon=1).explain()
    assert "keys of more are surely counted; of a person at most 2 pairs of group and key count" in told
