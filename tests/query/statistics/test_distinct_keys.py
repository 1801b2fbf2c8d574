"""COUNT(DISTINCT ...) of declared keys: what one person changes, which release answers it, what is said and refused."""

from __future__ import annotations

import itertools

import pyarrow
import pytest

import dither
from dither.errors import BrokenPromise, QuestionError
from dither.privacy.unit import Unit
from dither.query.counters.value_ranges import shown_columns
from dither.query.statistics.distinct_keys import DistinctKeys
from dither.query.statistics.people_per_key import PeoplePerKey
from dither.testing.claim import Claim
from dither.testing.enumerate import outcomes
from tests.query.clinics import clinic, ledger, private_counts, visits
from tests.seeds import rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
ASKED = "SELECT COUNT(DISTINCT ward) AS wards FROM visits"
GROUPED = "SELECT sex, COUNT(DISTINCT ward) AS wards FROM visits GROUP BY sex"


def table(rows):
    names = ("person", "ward", "sex", "cost", "age")
    kinds = (pyarrow.int64(), pyarrow.string(), pyarrow.string(), pyarrow.float64(), pyarrow.int64())
    columns = [pyarrow.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    return pyarrow.table(dict(zip(names, columns, strict=True)))


def numbers(quote):
    """The exact number of different keys in each group."""
    counts, width = private_counts(quote), len(quote.offer.others[0].question.groups[-1].keys)
    return [sum(1 for count in counts[at : at + width] if count > 0) for at in range(0, len(counts), width)]


def test_keys_are_counted_once_and_only_declared_ones(tmp_path):
    rows = [
        (1, "A", "f", 1.0, 1),
        (2, "A", "m", 1.0, 1),
        (3, "D", "f", 1.0, 1),
        (4, None, "f", 1.0, 1),
        (5, "B", "m", 1.0, 1),
    ]
    data = clinic(tmp_path, table(rows))
    assert numbers(data.quote(ASKED, epsilon=1)) == [2]
    assert numbers(data.quote(GROUPED, epsilon=1)) == [1, 2]
    answer = data.quote(GROUPED, epsilon=10**4).release()
    assert answer["wards"] == answer["wards_low"] == answer["wards_high"] == [1, 2]
    assert answer.to_arrow().schema.field("wards").type == pyarrow.int64()


def number(data, sql, **terms):
    """The statistic where the number itself is released: an error that is wished for makes it so."""
    made = data.quote(sql, **(terms or {"error": {"wards": 1}})).offer.others[0]
    assert isinstance(made, DistinctKeys)
    return made


def moves(before, after):
    change = [a - b for a, b in zip(before, after, strict=True)]
    return sum(map(abs, change)), sum(part * part for part in change)


@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("sql", [ASKED, GROUPED])
def test_no_person_moves_the_numbers_by_more_than_the_claim(tmp_path, sql, groups, person):
    facts = {"person": person, "ledger": ledger(tmp_path)}
    if person == "person":
        facts |= {"max_groups": groups, "max_rows_per_group": 1}
    else:
        facts |= {"max_groups": None, "max_rows_per_group": None}
    worst = 0
    for rng in rounds(6, 2, "distinct keys", sql, groups, person):
        rows = [(rng.randrange(3), rng.choice("ABCD"), rng.choice("fm"), 1.0, 1) for _ in range(7)]
        whole = clinic(tmp_path, table(rows), **(facts | {"ledger": ledger(tmp_path)})).quote(sql, epsilon=1)
        claim = whole.offer.others[0].mechanism.sensitivity
        people = range(3) if person == "person" else range(len(rows))
        for one in people:
            kept = [row for at, row in enumerate(rows) if (row[0] if person == "person" else at) != one]
            less = clinic(tmp_path, table(kept), **(facts | {"ledger": ledger(tmp_path)})).quote(sql, epsilon=1)
            l1, _ = moves(numbers(whole), numbers(less))
            assert l1 <= claim
            worst = max(worst, l1)
    assert worst == claim  # no more noise than is needed


def test_who_is_replaced_moves_them_by_twice_as_much_and_the_root_of_two_in_length(tmp_path):
    """Exactly: all pairs of what two people can hold, added to what others hold."""
    for most in (1, 2):
        pairs = list(itertools.product("fm", "ABC"))
        holdings = [set(held) for size in range(most + 1) for held in itertools.combinations(pairs, size)]
        others = [set(), {("f", "A")}, {("f", "A"), ("m", "B"), ("m", "C")}]
        worst = [0, 0]
        for rest, one, two in itertools.product(others, holdings, holdings):
            before, after = rest | one, rest | two
            change = [
                len({key for s, key in before if s == sex}) - len({key for s, key in after if s == sex}) for sex in "fm"
            ]
            worst = [max(worst[0], sum(map(abs, change))), max(worst[1], sum(part**2 for part in change))]
        facts = {"max_groups": most, "ledger": ledger(tmp_path, dither.zcdp(10**6, unit=Unit.REPLACE_ONE))}
        data = clinic(tmp_path, **facts)
        assert number(data, GROUPED).mechanism.l2_squared == worst[1] == 2 * most**2
        assert number(data, ASKED).mechanism.l2_squared == most**2  # of one number: those of one or of the other
        facts["ledger"] = ledger(tmp_path, dither.pure(10**6, unit=Unit.REPLACE_ONE))
        data = clinic(tmp_path, **facts)
        assert number(data, GROUPED).mechanism.sensitivity == worst[0] == 2 * most
        assert number(data, ASKED).mechanism.sensitivity == most


def holdings(most, pairs):
    """What a person may have that counts."""
    return [set(held) for size in range(most + 1) for held in itertools.combinations(pairs, size)]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("price", ["epsilon", "rho"])
def test_the_exact_law_of_the_number_keeps_its_promise_for_every_pair_of_neighbours(tmp_path, price, unit):
    """Two of three keys a person; others hold none, one, two or all of them; and half of the noise is caught."""
    budget = dither.pure(10**6, unit=unit) if price == "epsilon" else dither.zcdp(10**6, unit=unit)
    made = number(clinic(tmp_path, max_groups=2, budget=budget), ASKED)
    claim, own = Claim(made.guarantee), holdings(2, "ABC")
    pairs = set()
    for rest in (set(), {"A"}, {"A", "B"}, set("ABC")):
        for one, two in itertools.product(own, own if unit is Unit.REPLACE_ONE else [set()]):
            pairs.add((len(rest | one), len(rest | two)))
    laws = {held: outcomes(made.noisy, [[1] * held + [0] * (3 - held)]) for held in range(4)}
    for one, two in pairs:
        claim.check(one, two, laws[one], laws[two])
        claim.check(two, one, laws[two], laws[one])
    bare = outcomes(lambda counts: [value // 2 for value in made.noisy([[1] * (2 * sum(counts[0]))])], [[1, 1, 0]])
    with pytest.raises(BrokenPromise):
        claim.check(2, 0, bare, outcomes(lambda counts: [value // 2 for value in made.noisy(counts)], [[0, 0, 0]]))


# -- which of the two is released, and what its interval holds ----------------------------------------------------------


def test_the_number_is_released_where_its_interval_is_shorter_than_half_of_the_keys_or_an_error_is_wished_for(tmp_path):
    few, many = clinic(tmp_path), clinic(tmp_path, keys={"ward": [f"w{at}" for at in range(200)]})
    kinds = [(few, 1, PeoplePerKey), (few, 10**4, DistinctKeys), (many, 1, DistinctKeys), (many, "0.1", PeoplePerKey)]
    for data, epsilon, kind in kinds:
        quote = data.quote(ASKED, epsilon=epsilon)
        (made,) = quote.offer.others
        assert type(made) is kind
        assert (quote.errors["wards"] is None) == (kind is PeoplePerKey)
        if kind is DistinctKeys:
            assert 4 * quote.errors["wards"] < len(made.question.groups[-1].listed)
    assert isinstance(few.quote(ASKED, error={"wards": 2}).offer.others[0], DistinctKeys)


@pytest.mark.parametrize("budget", [dither.pure(10**6), dither.zcdp(10**6)])
def test_intervals_never_collapse_and_hold_the_truth(tmp_path, budget):
    """By the exact law, for every number of keys: also where the noisy number is far below zero or above all keys."""
    made = number(clinic(tmp_path, keys={"ward": list("ABCDE")}, budget=budget), ASKED, error={"wards": 3})
    half, reach = 3, 40
    assert made.error(0, made.confidence) == half
    released = list(range(-reach, reach + 6))
    (values, lows, highs), unknown = shown_columns(made.read(released, 0), made.value_range(0), whole=True)
    assert unknown == {row for row in range(len(released)) if (lows[row], highs[row]) == (0, 5)}
    for value, low, high in zip(values, lows, highs, strict=True):
        assert 0 <= low <= value <= high <= 5
        assert high - low >= half
    for truth in range(6):
        held = sum(
            made.mechanism.law.pmf(noisy - truth).lower
            for noisy, low, high in zip(released, lows, highs, strict=True)
            if low <= truth <= high
        )
        assert held >= made.confidence


def test_the_price_is_shared_with_counters_and_the_answer_is_stored(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    quote = data.quote("SELECT COUNT(*) AS n, COUNT(DISTINCT ward) AS wards FROM visits", epsilon=1)
    assert [str(one.guarantee.charge().epsilon) for one in quote.offer.statistics] == ["0.45", "0.45", "0.1"]
    assert quote.guarantee.epsilon() == 1
    told = quote.explain()
    assert "at most 3 pairs of group and key" in told
    assert "geometric for wards" in told
    first, again = quote.release(), data.quote("SELECT COUNT(DISTINCT ward) AS k, COUNT(*) AS m FROM visits", epsilon=1)
    low, value, high = (first[name][0] for name in ("wards_low", "wards", "wards_high"))
    assert (low, high) == (0, 3) if value is None else low <= value <= high
    assert again.question["statistics"] == quote.question["statistics"]
    assert data.quote("SELECT COUNT(*) AS n, COUNT(DISTINCT ward) AS w FROM visits", epsilon=1).release().is_replay


def test_a_wished_error_is_met(tmp_path):
    quote = clinic(tmp_path).quote(ASKED, error={"wards": 2})
    assert quote.errors["wards"] <= 2
    with pytest.raises(QuestionError, match="says nothing about wards"):
        clinic(tmp_path).quote(f"{ASKED[:-12]}, COUNT(*) AS n FROM visits", error={"n": 2})


@pytest.mark.parametrize("inner", ["ward, sex", "'A'", "*"])
def test_what_is_no_value_of_a_row_is_not_counted(tmp_path, inner):
    data = clinic(tmp_path, visits(), budget=dither.pure(1))
    with pytest.raises(QuestionError, match="refused"):
        data.quote(f"SELECT COUNT(DISTINCT {inner}) FROM visits", epsilon="0.1")
    assert "ε = 1 left" in str(data.ledger.remaining())


def test_more_cells_than_can_be_counted_are_refused_before_the_charge(tmp_path):
    keys = {"ward": [f"w{at}" for at in range(2000)], "sex": [f"s{at}" for at in range(2000)]}
    data = clinic(tmp_path, keys=keys)
    with pytest.raises(QuestionError, match="2,000 groups of 2,000 keys"):
        data.quote("SELECT ward, COUNT(DISTINCT sex) AS n FROM visits GROUP BY ward", epsilon=1)
