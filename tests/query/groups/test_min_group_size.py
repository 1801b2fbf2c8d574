"""min_group_size: which rows are shown is a function of noisy numbers, people are counted at a price, and the policy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pyarrow
import pytest

import dither
from dither.errors import PolicyError, QuestionError
from dither.ledger.entries.receipt import Receipt
from dither.privacy.unit import Unit
from dither.query.answers.estimates import read_answer
from dither.query.answers.released import Released
from dither.query.plan.aggregates import CountPersons, CountRows
from dither.query.plan.describe import describe
from dither.query.plan.question import HavingFilter
from tests.query.clinics import clinic, ledger, private_totals, visits

BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PEOPLE = "SELECT ward, COUNT(DISTINCT person) AS n FROM visits GROUP BY ward"
WARDS = ("A", "B", "C")
LEAST = 2


def of(rows):
    people, wards = zip(*rows, strict=True) if rows else ((), ())
    return pyarrow.table({"person": pyarrow.array(people, pyarrow.int64()), "ward": pyarrow.array(wards, pyarrow.string())})


def small(folder, rows, unit=Unit.ADD_REMOVE, **facts):
    stated = {"max_groups": 1, "max_rows_per_group": 1, "bounds": {}, "steps": {}, "keys": {"ward": list(WARDS)}}
    book = ledger(folder, dither.pure(100, unit=unit))
    return clinic(folder, of(rows), **(stated | {"complete": [], "ledger": book, "min_group_size": LEAST} | facts))


def shown(quote, people):
    """The wards that an answer shows, if these noisy numbers of people were released."""
    receipt = Receipt("0" * 32, 1, 1, "0" * 64, quote.guarantee, (1, "0" * 64), None)
    sets = [[[one] for one in people]] if len(quote.offer.counters) == 1 else [[[0]] * 3, [[one] for one in people]]
    return tuple(read_answer(quote.offer, Released(sets), receipt)["ward"])


def tail(count, ratio):
    """P(count + N >= LEAST), N geometric on both sides: P(N = x) proportional to ratio^|x|."""
    need = LEAST - count
    return ratio**need / (1 + ratio) if need > 0 else 1 - ratio ** (1 - need) / (1 + ratio)


def law(people, ratio):
    """The exact probability of each set of wards."""
    chances = [tail(count, ratio) for count in people]
    found = {}
    for which in product((True, False), repeat=3):
        chance = Fraction(1)
        for one, seen in zip(chances, which, strict=True):
            chance *= one if seen else 1 - one
        found[tuple(ward for ward, seen in zip(WARDS, which, strict=True) if seen)] = chance
    return found


@pytest.mark.parametrize("sql", [BY_WARD, PEOPLE])
def test_the_rows_that_are_shown_are_a_function_of_noisy_numbers(tmp_path, sql):
    """Of every vector near the minimum, and of no row: two tables that have nothing in common give the same."""
    hard = ["max_groups", "max_rows_per_group"]  # then nothing is said of people beyond the limits
    quotes = [small(tmp_path, rows, hard=hard).quote(sql, epsilon=1) for rows in ([], [(one, "A") for one in range(40)])]
    for people in product(range(-1, 5), repeat=3):
        expected = tuple(ward for ward, one in zip(WARDS, people, strict=True) if one >= LEAST)
        assert [shown(quote, people) for quote in quotes] == [expected, expected]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_the_law_of_what_is_shown_keeps_the_promise(tmp_path, unit):
    """Exact, for all tables of up to three people (one of them without a ward, or without a name) and all neighbours."""
    places = [*WARDS[:2], None]
    tables = [list(enumerate(chosen)) for size in range(4) for chosen in product(places, repeat=size)]
    tables.append([(0, "A"), (0, "B"), (0, "A"), (None, "A")])  # several rows of one, and a row of nobody
    worst = Fraction(1)
    known, ratios = {}, set()
    for rows in tables:
        quote = small(tmp_path, rows, unit).quote(PEOPLE, epsilon="ln(4)")
        (mechanism,) = [one.mechanism for one in quote.offer.counters]
        ratios.add(str(mechanism.law.rate))
        known[tuple(rows)] = tuple(total for (total,) in private_totals(quote))
    assert ratios == {"ln(4)" if unit is Unit.ADD_REMOVE else "0.5*ln(4)"}
    ratio = Fraction(1, 4) if unit is Unit.ADD_REMOVE else Fraction(1, 2)  # two wards change where one is replaced
    for rows, people in known.items():
        assert sum(law(people, ratio).values()) == 1
        for other, others in known.items():
            if not _neighbours(rows, other, unit):
                continue
            mine, theirs = law(people, ratio), law(others, ratio)
            for which, chance in mine.items():
                assert chance <= 4 * theirs[which]
                worst = max(worst, chance / theirs[which])
    assert worst > 2  # the bound is not idle


def _neighbours(rows, other, unit):
    """Of people 0, 1, 2 with one row each."""
    if any(who is None for who, _ in (*rows, *other)) or len(dict(rows)) < len(rows) or len(dict(other)) < len(other):
        return False
    mine, theirs = dict(rows), dict(other)
    if unit is Unit.ADD_REMOVE:
        return len(mine) + 1 == len(theirs) and mine.items() <= theirs.items()
    return mine.keys() == theirs.keys() and sum(mine[who] != theirs[who] for who in mine) == 1


# -- what it costs, and what is said ---------------------------------------------------------------------------------------


def test_people_are_released_beside_what_is_asked_and_not_shown(tmp_path):
    plain, ruled = clinic(tmp_path).quote(BY_WARD, epsilon=1), clinic(tmp_path, min_group_size=5).quote(BY_WARD, epsilon=1)
    assert ruled.guarantee.charge().epsilon == plain.guarantee.charge().epsilon
    assert list(ruled.errors) == ["n", "people"]
    assert ruled.errors["n"] > plain.errors["n"]  # at the same price
    told = ruled.explain()
    assert "people (for min_group_size, not shown)" in told
    assert "rows whose noisy number of people is below 5 are not shown (min_group_size)" in told
    assert "people >= 5 (min_group_size of the policy)" in describe(ruled.offer.question)
    answer = clinic(tmp_path, min_group_size=5).quote(BY_WARD, epsilon=1000).release()
    assert answer["ward"] == ["A", "B"]  # nobody is ever in ward C
    assert list(answer.columns) == ["ward", "n", "n_low", "n_high"]
    assert "below 5 are not shown" in str(answer)


def test_what_is_asked_for_already_is_not_counted_twice(tmp_path):
    plain, ruled = clinic(tmp_path).quote(PEOPLE, epsilon=1), clinic(tmp_path, min_group_size=5).quote(PEOPLE, epsilon=1)
    assert ruled.errors == plain.errors
    assert ruled.question == plain.question  # the same is released: a stored answer serves both


def test_where_each_row_is_a_person_rows_are_people(tmp_path):
    facts = {"person": "each row", "max_groups": None, "max_rows_per_group": None, "complete": []}
    question = clinic(tmp_path, min_group_size=5, **facts).quote(BY_WARD, epsilon=1).offer.question
    assert [type(one) for one in question.aggregates] == [CountRows]
    assert question.having == (HavingFilter("n", ">=", Fraction(5), "min_group_size"),)


def test_it_holds_for_a_row_without_groups_too(tmp_path):
    data = clinic(tmp_path, min_group_size=5)
    assert data.quote("SELECT COUNT(*) AS n FROM visits WHERE ward = 'C'", epsilon=1000).release()["n"] == []
    assert len(data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1000).release()["n"]) == 1


def test_shares_order_and_limit_are_of_the_rows_that_are_shown(tmp_path):
    rows = visits().to_pylist() + [{**visits().to_pylist()[0], "person": 100, "ward": "C"}] * 5
    data = clinic(tmp_path, pyarrow.Table.from_pylist(rows), min_group_size=5)
    share = "SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward"
    answer = data.quote(share, epsilon=10**5).release()
    assert answer["ward"] == ["A", "B"]
    assert sum(answer["share"]) == pytest.approx(1, abs=1e-3)
    assert data.quote(f"{BY_WARD} ORDER BY n LIMIT 1", epsilon=10**5).release()["ward"] != ["C"]


def test_beside_having_both_hold(tmp_path):
    data = clinic(tmp_path, min_group_size=5)
    assert data.quote(f"{BY_WARD} HAVING ward <> 'A'", epsilon=1000).release()["ward"] == ["B"]
    assert data.quote(f"{BY_WARD} HAVING ward = 'C' OR n < 0", epsilon=1000).release()["ward"] == []


def test_a_batch_keeps_the_rule(tmp_path):
    answers = clinic(tmp_path, min_group_size=5).quote([BY_WARD, PEOPLE], epsilon=1000).release()
    assert [answer["ward"] for answer in answers] == [["A", "B"], ["A", "B"]]


def test_names_that_are_taken_are_not_given_to_it(tmp_path):
    sql = "SELECT ward AS people, COUNT(*) AS people_2_low FROM visits GROUP BY ward"
    question = clinic(tmp_path, min_group_size=5).quote(sql, epsilon=1).offer.question
    assert question.aggregates[-1] == CountPersons("people_3")


def test_limits_that_are_found_keep_the_rule(tmp_path):
    data = clinic(tmp_path, min_group_size=5, budget=dither.approx(10**7, "1e-6"))
    assert data.quote(BY_WARD, epsilon=1000, limits="auto").release()["ward"] == ["A", "B"]


def test_of_several_tables_the_largest_minimum_holds(tmp_path):
    sql = "SELECT ward, COUNT(*) AS n FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits) AS t GROUP BY ward"
    question = clinic(tmp_path, min_group_size=7).quote(sql, epsilon=1).offer.question
    assert question.rules[0].value == 7


# -- refusals --------------------------------------------------------------------------------------------------------------


def test_a_running_sum_is_refused_for_free(tmp_path):
    data = clinic(tmp_path, min_group_size=5)
    sql = "SELECT age, {} AS n FROM visits GROUP BY age"
    with pytest.raises(QuestionError, match="min_group_size"):
        data.quote(sql.format("SUM(COUNT(*)) OVER (ORDER BY age)"), epsilon=1)
    assert data.ledger.remaining().used == 0
    data.quote(sql.format("COUNT(*)"), epsilon=1)


@pytest.mark.parametrize("bad", [0, -1, "2", 1.5, True, 10**7, [2]])
def test_what_is_no_size_is_refused(tmp_path, bad):
    with pytest.raises(PolicyError, match="min_group_size"):
        clinic(tmp_path, min_group_size=bad)


def test_the_hash_of_a_policy_without_it_is_what_it_was(tmp_path):
    hashes = {clinic(tmp_path, **facts).policy.hash for facts in ({}, {"min_group_size": 5}, {"min_group_size": 6})}
    assert len(hashes) == 3
