"""min_people: keys of fewer people stay in the engine and are never shown; what one person moves; the policy."""

from __future__ import annotations

import pytest

import dither
from dither.density.unknown_keys.threshold_keys import ThresholdKeys
from dither.density.unknown_keys.truncated_keys import TruncatedKeys
from dither.errors import PolicyError
from dither.privacy.budget.filter import sum_filter
from dither.privacy.unit import Unit
from dither.query.groups.shown_key_counts import ShownKeyCounts
from dither.query.groups.unknown_keys import UnknownKeys
from tests.query.clinics import _reading, ledger
from tests.query.groups.test_unknown_keys import BY_PRODUCT, PEOPLE, crowd, of
from tests.query.shop import LOUD, each_row, held, row, shop
from tests.seeds import rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
SUMS = sum_filter(10**6, "0.5")


def counted(quote) -> dict:
    """What leaves the engine."""
    choice = quote.offer.choice
    with _reading(quote, 2) as (run, place):
        found = run(place.choice(choice), choice.keeps)
    width = len(choice.question.groups)
    return {one[:width]: one[width] for one in found}


@pytest.mark.parametrize("make", [shop, each_row])
@pytest.mark.parametrize("least", [None, 1, 2, 5])
def test_keys_of_fewer_people_stay_in_the_engine(tmp_path, make, least):
    sizes = {f"p{size}": size for size in range(1, 9)}
    facts = {} if least is None else {"min_people": least}
    quote = make(tmp_path, crowd(sizes), **facts).quote(BY_PRODUCT, epsilon=1)
    least = 2 if least is None else least  # unless the owner says otherwise
    assert quote.offer.choice.rule.min_people == quote.offer.choice.min_people == least
    assert counted(quote) == {(key,): size for key, size in sizes.items() if size >= least}


def test_people_are_counted_after_they_were_bounded(tmp_path):
    """Forty people hold three keys each, of which one counts: a key that 40 hold is one of 13 or so."""
    rows = [of(person, f"p{key}") for person in range(40) for key in range(3)]
    quotes = [shop(tmp_path, rows, max_groups=1, min_people=least).quote(BY_PRODUCT, epsilon=1) for least in (1, 2, 40)]
    everybody, some, nobody = (counted(quote) for quote in quotes)
    assert sum(everybody.values()) == sum(some.values()) == 40
    assert everybody == held(quotes[2])  # as many count for a key, whoever asks
    assert nobody == {}


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("make", [shop, each_row])
def test_a_person_moves_what_leaves_the_engine_by_one_in_so_many_keys(tmp_path, make, unit):
    """Of what exceeds min_people - 1: a key that comes or goes there does so by one."""
    same, reached, most = ledger(tmp_path, dither.zcdp(3, delta="1e-6", unit=unit)), 0, 2 if make is shop else 1
    for case, rng in enumerate(rounds(8, 12, "min_people", make.__name__, unit)):
        least = 2 + case % 2
        rows = [row(rng, None if make is each_row else rng.randrange(6)) for _ in range(rng.randrange(10, 40))]

        def beyond(rows, least=least):
            quote = make(tmp_path, rows, ledger=same, min_people=least).quote(BY_PRODUCT, rho=1)
            found, raw = counted(quote), held(quote)
            assert found == {key: n for key, n in raw.items() if n >= least}
            return {key: n - (least - 1) for key, n in found.items()}

        whole = beyond(rows)
        for one in range(3):
            rest = [found for at, found in enumerate(rows) if (found[0] if make is shop else at) != one]
            if unit is Unit.REPLACE_ONE:
                rest += [row(rng, one) for _ in range(rng.randrange(0, 5) if make is shop else 1)]
            less = beyond(rest)
            change = [whole.get(key, 0) - less.get(key, 0) for key in {*whole, *less}]
            assert max(map(abs, change), default=0) <= 1
            gone, came = sum(max(0, c) for c in change), sum(max(0, -c) for c in change)
            assert gone <= most
            assert came <= (most if unit is Unit.REPLACE_ONE else 0)
            reached = max(reached, gone)
    assert reached == most


@pytest.mark.parametrize("budget", [LOUD, SUMS])
@pytest.mark.parametrize("sql", [BY_PRODUCT, PEOPLE])
def test_a_key_of_fewer_people_is_never_shown_however_little_noise_there_is(tmp_path, budget, sql):
    price = dither.approx(500, "0.4") if budget is SUMS else dither.zcdp(10**6, delta="0.4")
    sizes = {"many": 60, "enough": 25, "few": 19, "one": 1}
    for _ in range(5):
        data = shop(tmp_path, crowd(sizes), budget=budget, min_people=20)
        assert data.quote(sql, guarantee=price).release()["product"] == ["enough", "many"]


def test_the_counts_of_the_choice_are_the_counts_that_are_shown(tmp_path):
    """One release: people are all that is asked for, so the choice has the whole price; its counts have bars given it."""
    sizes = {"bread": 400, "milk": 90, "rare": 3}
    data = shop(tmp_path, crowd(sizes), budget=dither.approx(100, "1e-6"), max_groups=16, min_people=3)
    quote, two = data.quote(PEOPLE, epsilon=1), data.quote(BY_PRODUCT, epsilon=1)
    (statistic,) = quote.offer.statistics
    assert isinstance(statistic, ShownKeyCounts)
    rule = quote.offer.choice.rule
    assert isinstance(rule, TruncatedKeys)
    assert rule.threshold == rule.bound + 3
    assert quote.guarantee.charge() == two.guarantee.charge()
    assert rule.rho == 2 * two.offer.choice.rule.rho  # beside rows the choice has a half
    assert "truncated Gaussian" in quote.explain()
    answer = quote.release()
    assert answer["product"][0] == "bread"
    for key, n, low, high in zip(*(answer[name] for name in ("product", "n", "n_low", "n_high")), strict=True):
        assert abs(n - sizes[key]) <= rule.bound
        assert max(3, n - rule.bound) <= low <= n <= high <= n + rule.bound


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_the_rule_with_the_fewest_people_is_taken(tmp_path, unit):
    for kind in ("rho", "epsilon"):
        budget = dither.zcdp(3, delta="1e-6", unit=unit) if kind == "rho" else sum_filter(3, "1e-6", unit=unit)
        for groups, price in ((1, "1"), (3, "0.1"), (16, "0.01")):
            data = shop(tmp_path, [], budget=budget, max_groups=groups)
            rule = data.quote(PEOPLE, **{kind: price}).offer.choice.rule
            assert isinstance(rule, ThresholdKeys)
            assert rule.min_people == 2
            if groups == 16:
                assert isinstance(rule, TruncatedKeys)


# -- the policy ----------------------------------------------------------------------------------------------------------


def test_the_quote_says_who_is_never_shown(tmp_path):
    told = shop(tmp_path, [], min_people=20).quote(BY_PRODUCT, epsilon=1).explain()
    assert "a key that fewer than 20 people hold is never shown (min_people)" in told
    old = shop(tmp_path, [], min_people=1).quote(BY_PRODUCT, epsilon=1).explain()
    assert "one person alone holds has a probability of at most" in old


def test_what_is_stored_tells_rules_with_other_floors_apart(tmp_path):
    questions = [repr(shop(tmp_path, [], min_people=m).quote(BY_PRODUCT, epsilon=1).question) for m in (2, 3)]
    assert questions[0] != questions[1]
    hashes = [shop(tmp_path, [], **facts).policy.hash for facts in ({}, {"min_people": 2}, {"min_people": 3})]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize("bad", [0, -1, "2", 1.5, True, 10**7, [2]])
def test_what_is_no_number_of_people_is_refused(tmp_path, bad):
    with pytest.raises(PolicyError, match="min_people"):
        shop(tmp_path, [], min_people=bad)


def test_of_several_tables_the_larger_floor_counts(tmp_path):
    sql = "SELECT product, COUNT(*) AS n FROM (SELECT * FROM sales UNION ALL SELECT * FROM sales) AS t GROUP BY product"
    quote = shop(tmp_path, crowd({"a": 8, "b": 2}), min_people=7).quote(sql, epsilon=1)
    assert isinstance(quote.offer.choice, UnknownKeys)
    assert quote.offer.choice.min_people == 7
    assert set(counted(quote)) == {("a",)}
