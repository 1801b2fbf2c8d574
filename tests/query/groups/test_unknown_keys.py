"""Keys that nobody declared: whose they are, who moves what, what is shown, stored and refused."""

from __future__ import annotations

import datetime
from fractions import Fraction

import duckdb
import pyarrow
import pytest
from flint import arb
from scipy.stats import binom

import dither
from dither.density import GaussianKeys, GeometricKeys, MagicKeys
from dither.density.unknown_keys.rho_keys import RhoKeys
from dither.density.unknown_keys.sole_holder_loss import any_shown
from dither.density.unknown_keys.truncated_keys import TruncatedGaussianKeys, TruncatedGeometricKeys, TruncatedRhoKeys
from dither.errors import BudgetError, DataError, DitherError, GuaranteeError, NumberError, QuestionError
from dither.noise.laplace import DiscreteLaplace
from dither.noise.truncation import Truncated
from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.privacy.budget.filter import sum_filter
from dither.privacy.unit import Unit
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.group_keys import key
from dither.query.groups.noise_tails import log_normal_tail
from dither.query.groups.shown_key_counts import ShownKeyCounts, intervals
from dither.testing import seeded
from tests.query.clinics import ledger
from tests.query.shop import KINDS, LONG, LOUD, TEXTS, counted, each_row, held, row, shop
from tests.seeds import rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
BY_PRODUCT = "SELECT product, COUNT(*) AS n FROM sales GROUP BY product"
PEOPLE = "SELECT product, COUNT(DISTINCT person) AS n FROM sales GROUP BY product"
SUMS = sum_filter(10**6, "0.5")


def of(person, product, number=0, day=None, new=None, ward="A", cost=1.0):
    return (person, product, number, day, new, ward, cost)


def shown_of_one(rule) -> Fraction:
    """The probability that a key of one holder is shown, not rounded down."""
    if isinstance(rule, MagicKeys):
        return rule.exact_chance(1)
    with precision(256):
        return ends(rule.shown_chance(rule.threshold, rule.below, 1))[1]


# -- A10 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("kind", ["rho", "epsilon", "counts"])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a10_any_key_of_one_person_alone_is_shown_with_probability_delta_at_most_through_sql(tmp_path, most, kind, unit):
    """For every number of keys of her own, up to more than she may hold: what the SELECT counts, by the rule's exact law."""
    budget = dither.zcdp(3, delta="1e-6", unit=unit) if kind == "rho" else sum_filter(3, "1e-6", unit=unit)
    price = {"rho": 1} if kind == "rho" else {"epsilon": 1}
    sql = PEOPLE if kind == "counts" else BY_PRODUCT
    for own in range(1, most + 3):
        rows = [of(person, f"p{key}") for person in range(9) for key in range(3)] + [
            of(99, f"mine {at}") for at in range(own)
        ]
        quote = shop(tmp_path, rows, budget=budget, max_groups=most).quote(sql, **price)
        mine = {key: count for key, count in held(quote).items() if key[0].startswith("mine")}
        assert set(mine.values()) == {1}
        assert len(mine) == min(own, most)
        with precision(256):
            assert any_shown(to_ball(shown_of_one(quote.offer.choice.rule)), len(mine)) <= quote.offer.choice.rule.delta
        assert quote.guarantee.charge().delta == quote.offer.choice.rule.delta


def test_a10_opendp_2922_the_count_at_the_threshold_is_part_of_delta():
    """Laplace noise of scale 1 and a threshold of 5: claimed 0.0049; a count *at* the threshold is shown too, so 0.0134."""
    law = DiscreteLaplace(rate=1)
    with precision(128):
        above, at_or_above = float(1 - law.cdf(4)), float(1 - law.cdf(3))  # the noise that a count of 1 needs
    assert above == pytest.approx(0.0049, abs=1e-4)
    assert at_or_above == pytest.approx(0.0134, abs=1e-4)  # they measured 0.0131
    for rule in (GeometricKeys(epsilon=1, delta="0.0049", max_keys=1), MagicKeys(epsilon=1, delta="0.0049", max_keys=1)):
        assert shown_of_one(rule) <= Fraction("0.0049")
    ours = GeometricKeys(epsilon=1, delta="0.0049", max_keys=1)
    with precision(128):
        assert ours.shown_chance(ours.threshold - 1, Fraction(0), 1) > to_ball(Fraction("0.0049"))  # one lower would not do


@pytest.mark.parametrize("budget", [dither.zcdp(100, delta="0.5"), SUMS])
def test_a10_of_a_hundred_thousand_keys_of_single_people_no_more_than_delta_are_shown(tmp_path, budget):
    many, delta = 100_000, Fraction("0.01")
    rows = pyarrow.table({"person": range(many), "product": [f"only {at}" for at in range(many)]})
    data = dither.protect(
        rows,
        **{"name": "sales", "person": "person", "max_groups": 1, "max_rows_per_group": 1, "min_people": 1},
        ledger=ledger(tmp_path, budget),
    )
    found = len(data.quote(PEOPLE, guarantee=costing(budget, delta)).release())
    assert binom.sf(found - 1, many, float(delta)) > 1e-6
    assert found > 700  # and the delta is used


def costing(budget, delta):
    return dither.approx(2, delta) if budget is SUMS else dither.zcdp("0.5", delta=delta)


# -- what one person moves ---------------------------------------------------------------------------------------------

BY = ["product", "number", "day", "product, number", "product, new", "ward, product"]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("person", ["person", "each row"])
def test_in_stage_one_a_person_moves_at_most_so_many_keys_by_one_each(tmp_path, person, unit):
    make, reached = (shop, {"max_groups": 2}) if person == "person" else (each_row, {}), 0
    same = ledger(tmp_path, dither.zcdp(3, delta="1e-6", unit=unit))  # nothing is charged to it
    for case, rng in enumerate(rounds(6, 6, "stage one", person, unit)):
        by, other = BY[case % len(BY)], "others" if case % len(BY) in (0, 1, 2, 5) and rng.random() < 0.5 else None
        where = rng.choice(["", " WHERE cost > 2", " WHERE product <> 'a' OR number = 1"])
        sql = f"SELECT {by}, COUNT(*) AS n FROM sales{where} GROUP BY {by}"
        rows = [row(rng) for _ in range(rng.randrange(1, 14))]

        def count(rows, sql=sql, other=other):
            return held(make[0](tmp_path, rows, ledger=same, **make[1]).quote(sql, rho=1, other=other))

        whole, most = count(rows), 2 if person == "person" else 1
        assert count(rng.sample(rows, len(rows))) == whole
        assert not any(None in key for key in whole)
        for one in (1, 2, 3) if person == "person" else rng.sample(range(len(rows)), min(3, len(rows))):
            rest = [found for at, found in enumerate(rows) if (found[0] if person == "person" else at) != one]
            if unit is Unit.REPLACE_ONE:
                rest += [row(rng, one) for _ in range(rng.randrange(0, 5) if person == "person" else 1)]
            less = count(rest)
            change = [whole.get(key, 0) - less.get(key, 0) for key in {*whole, *less}]
            gone, came = sum(max(0, c) for c in change), sum(max(0, -c) for c in change)
            assert max(map(abs, change), default=0) <= 1
            assert gone <= most
            assert came <= (most if unit is Unit.REPLACE_ONE else 0)
            reached = max(reached, gone)
    assert reached == (2 if person == "person" else 1)


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("way", ["weights", "clip", "groups", None])
def test_in_stage_two_a_person_moves_the_totals_by_no_more_than_is_claimed(tmp_path, way, unit):
    pure = way in ("weights", None)
    budget = sum_filter(100, "1e-6", unit=unit) if pure else dither.zcdp(3, delta="1e-6", unit=unit)
    price, same = {"epsilon": 1} if pure else {"rho": 1}, ledger(tmp_path, budget)
    keys = {"product": [["a"], ["é"], ["e\u0301"], ["a\0b"], ["'; --"]], "number": [[0], [-(2**63)], [1]]}
    keys |= {"day": [["2024-02-29"], ["0001-01-01"]], "product, new": [["a", True], ["", False], ["a", False]]}
    for case, rng in enumerate(rounds(0, 8, "stage two", way, unit)):
        by = list(keys)[case % len(keys)]
        other = "others" if case % len(keys) < 3 and rng.random() < 0.7 else None
        sql = f"SELECT {by}, ward, COUNT(*) AS n, SUM(cost) AS c FROM sales GROUP BY {by}, ward"
        rows = [row(rng) for _ in range(rng.randrange(1, 25))]
        released = {"keys": keys[by] if rng.random() < 0.8 else [], "counts": None}

        def quoted(rows, sql=sql, other=other):
            if way is None:
                return each_row(tmp_path, rows, ledger=same).quote(sql, epsilon=1, other=other)
            return shop(tmp_path, rows, ledger=same).quote(sql, bounding=way, other=other, **price)

        quote = quoted(rows)
        whole = counted(quote, released)
        for one in (1, 2, 3):
            rest = [found for at, found in enumerate(rows) if (found[0] if way else at) != one]
            if unit is Unit.REPLACE_ONE and (way or len(rest) < len(rows)):
                rest += [row(rng, one) for _ in range(rng.randrange(0, 5) if way else 1)]
            less, place, together = counted(quoted(rest), released), 0, Fraction(0)
            for statistic in quote.offer.counters:
                family = statistic.counters
                last = place + len(family.measures)
                change = [a - b for key in whole for a, b in zip(whole[key][place:last], less[key][place:last], strict=True)]
                squares = Fraction(sum(c * c for c in change), quote.offer.bounding.l2_squared(family))
                together += squares * statistic.amount if way == "clip" else 0
                assert way == "clip" or squares <= 1
                assert way == "clip" or sum(map(abs, change)) <= quote.offer.bounding.l1(family)
                place = last
            assert way != "clip" or together <= sum(statistic.amount for statistic in quote.offer.counters)


def test_a_missing_key_takes_the_place_of_no_key(tmp_path):
    """Of everybody one key counts: not the NULL, the long text or the day that nobody can write."""
    rows = [of(person, product) for person in range(20) for product in (None, "a", LONG)]
    assert held(shop(tmp_path, rows, max_groups=1).quote(BY_PRODUCT, epsilon=1)) == {("a",): 20}
    rows = [of(person, "a", day=day) for person in range(20) for day in (None, 3_000_000, datetime.date(2024, 1, 1))]
    asked = shop(tmp_path, rows, max_groups=1).quote("SELECT day, COUNT(*) AS n FROM sales GROUP BY day", epsilon=1)
    assert held(asked) == {(datetime.date(2024, 1, 1),): 20}


# -- which keys are one key --------------------------------------------------------------------------------------------


def test_keys_are_what_the_engine_takes_for_one_key_and_nothing_else(tmp_path):
    days = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), 3_000_000, -800_000, None]
    rows = [
        of(
            person,
            TEXTS[at % len(TEXTS)],
            [1, 0, -(2**63), 2**63 - 1, None][at % 5],
            days[at % 5],
            [True, False, None][at % 3],
        )
        for person in range(4)
        for at in range(60)
    ]
    data = shop(tmp_path, rows, budget=LOUD, max_groups=60, max_rows_per_group=60)

    def keys(by):
        answer = data.quote(
            f"SELECT {by}, COUNT(*) AS n FROM sales GROUP BY {by}", guarantee=dither.zcdp(10**8, delta="0.1")
        )
        found = answer.release()
        assert found["n"] == [sum(1 for one in rows if one[list(KINDS).index(by)] == key) for key in found[by]]
        return found[by]

    assert keys("product") == sorted(text for text in TEXTS if text not in (None, LONG))
    assert keys("number") == [-(2**63), 0, 1, 2**63 - 1]
    assert keys("day") == [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]


def test_small_and_capital_letters_stay_apart_in_a_column_that_says_they_are_one(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute("CREATE TABLE sales (person BIGINT, product VARCHAR COLLATE NOCASE)")
        engine.execute("INSERT INTO sales SELECT i, CASE WHEN i % 2 = 0 THEN 'tea' ELSE 'Tea' END FROM range(40) t(i)")
    data = dither.protect(
        path, name="sales", person="person", max_groups=2, max_rows_per_group=2, ledger=ledger(tmp_path, LOUD)
    )
    found = data.quote(BY_PRODUCT, guarantee=dither.zcdp(10**8, delta="0.1")).release()
    assert found["product"] == ["Tea", "tea"]


# -- what is shown -----------------------------------------------------------------------------------------------------


def crowd(sizes: dict[str, int]):
    rows, person = [], 0
    for product, size in sizes.items():
        for _ in range(size):
            rows.append(of(person, product))
            person += 1
    return rows


def test_a_key_that_is_not_shown_is_told_nowhere(tmp_path):
    data = shop(tmp_path, [*crowd({"bread": 400, "milk": 500}), of(10**6, "insulin")])
    without = shop(tmp_path, crowd({"bread": 400, "milk": 500}))
    quote = data.quote(BY_PRODUCT, epsilon=1)
    assert quote.explain() == without.quote(BY_PRODUCT, epsilon=1).explain()
    answer = quote.release()
    assert answer["product"] == ["bread", "milk"]
    told = [str(answer), answer.explain(), answer._repr_html_(), answer.to_json(), repr(quote.question)]
    assert not any("insulin" in text for text in told)
    again = data.quote("SELECT COUNT(*) AS m, product AS p FROM sales GROUP BY 2", epsilon=1).release()
    assert again.is_replay
    assert (again["p"], again["m"]) == (answer["product"], answer["n"])
    assert all(b"insulin" not in path.read_bytes() for path in tmp_path.glob("*.ledger*"))


def test_counts_of_people_come_with_the_keys_at_the_whole_price(tmp_path):
    data = shop(tmp_path, crowd({"bread": 400, "milk": 500, "rare": 1}))
    quote, two = data.quote(PEOPLE, epsilon=1), data.quote(BY_PRODUCT, epsilon=1)
    assert isinstance(quote.offer.others[0], ShownKeyCounts)
    assert quote.offer.choice.rule.rho == 2 * two.offer.choice.rule.rho
    assert quote.offer.choice.rule.threshold < two.offer.choice.rule.threshold
    assert quote.guarantee.charge() == two.guarantee.charge()
    assert quote.price == two.price == "(ε = 1, δ = 1e-06) (add/remove one person)"
    answer = quote.release()
    assert answer["product"] == ["bread", "milk"]
    assert all(low <= n <= high for n, low, high in zip(answer["n"], answer["n_low"], answer["n_high"], strict=True))
    rows = each_row(tmp_path, crowd({"bread": 400})).quote(BY_PRODUCT, epsilon=1)
    assert isinstance(rows.offer.others[0], ShownKeyCounts)
    assert rows.offer.choice.rule.max_keys == 1


@pytest.mark.parametrize(
    "rule",
    [
        RhoKeys(rho="0.05", delta="1e-3", max_keys=2),
        GeometricKeys(epsilon=1, delta="1e-3", max_keys=1),
        GaussianKeys(epsilon=2, delta="1e-2", max_keys=2),
        RhoKeys(rho="0.05", delta="1e-3", max_keys=2, min_people=7),
        TruncatedRhoKeys(rho="0.05", delta="1e-3", max_keys=2, min_people=2),
        TruncatedGeometricKeys(epsilon=1, delta="1e-3", max_keys=2, min_people=20),
        TruncatedGaussianKeys(epsilon=2, delta="1e-2", max_keys=2),
    ],
)
def test_the_error_bars_hold_given_that_a_key_is_shown(rule):
    """Exactly, for every number of holders: the mass of shown counts whose interval holds it, over the mass of all shown."""
    counts = list(range(rule.threshold - 1, rule.threshold + 260))
    ends_ = list(zip(counts, *intervals(rule, counts, 0.1), strict=True))
    worst, last = 1.0, rule.threshold + 60
    law = {away: float(rule.law.mass(away)) for away in range(rule.threshold - 1 - last, counts[-1])}
    for n in range(rule.min_people, last):
        mass = {c: law[c - n] * (1 if c >= rule.threshold else float(rule.below)) for c in counts}
        inside = sum(mass[c] for c, low, high in ends_ if low <= n <= high)
        worst = min(worst, inside / sum(mass.values()))
    assert 0.9 - 1e-6 <= worst < 0.96
    if isinstance(rule.law, Truncated):  # whatever the confidence: the truth lies within the bound, always
        for c, low, high in zip(counts[1:], *intervals(rule, counts[1:], 1e-9), strict=True):
            assert c - rule.bound <= low <= c <= high <= c + rule.bound
            assert low >= rule.min_people
    assert intervals(rule, [], 0.1) == ([], [])


@pytest.mark.parametrize("x", [-30.0, -8.5, -1.0, -1e-9, 0.0, 0.5, 8.0, 35.9, 36.0, 36.1, 100.0, 1e5])
def test_the_tail_of_the_normal_law_is_accurate_far_out(x):
    """ln P(Z >= x), beside balls: so that error bars of shown keys need no library beyond the base."""
    with precision(2000):
        truth = ((arb(x) / arb(2).sqrt()).erfc() / 2).log()
        assert abs(arb(log_normal_tail(x)) - truth) <= abs(truth) * arb("2e-12")


def test_nobody_holds_a_key(tmp_path):
    for sql in (
        BY_PRODUCT,
        PEOPLE,
        "SELECT product, day, AVG(cost) AS a, COUNT(DISTINCT ward) AS w FROM sales GROUP BY 1, 2",
    ):
        quote = shop(tmp_path, []).quote(sql, epsilon=1)
        answer = quote.release()
        assert len(answer) == 0
        assert answer.rows() == []
        assert answer.to_arrow().schema.field("product").type == pyarrow.string()
        assert answer.to_arrow().num_rows == answer.to_pandas().shape[0] == 0
        assert "product" in str(answer)
        assert "<table>" in answer._repr_html_()
        assert answer.plot() is not None
        with pytest.raises(DataError, match="not one number"):
            answer.scalar()
        again = quote.release()
        assert again.is_replay
        assert again.rows() == []


def test_at_most_so_many_keys_are_shown_and_texts_fit_into_the_ledger(tmp_path, monkeypatch):
    rows = [of(person, f"p{key}") for person in range(30) for key in range(8)]
    data = shop(tmp_path, rows, budget=LOUD, max_groups=8)
    asked = {"guarantee": dither.zcdp(10**8, delta="0.1")}
    monkeypatch.setattr("dither.query.pricing.candidates.MOST_SHOWN", 3)
    quote = data.quote(BY_PRODUCT, **asked)
    assert "at most 3 are shown" in "".join(quote.offer.choice.told(quote.offer.question))
    assert quote.release()["product"] == ["p0", "p1", "p2"]
    monkeypatch.setattr("dither.query.pricing.candidates.MOST_SHOWN", 100)
    monkeypatch.setattr("dither.query.groups.unknown_keys.LONGEST_LIST", 13)
    assert data.quote(BY_PRODUCT, **asked).release()["product"] == ["p0", "p1"]


# -- others ------------------------------------------------------------------------------------------------------------


def test_all_other_rows_are_counted_together(tmp_path):
    loud = {"guarantee": dither.zcdp(10**8, delta="1e-9"), "other": "others"}
    rows = [*crowd({"bread": 30, "others": 25, "rare": 1}), of(999, None), of(998, LONG)]
    data = each_row(tmp_path, rows, budget=LOUD)
    answer = data.quote(BY_PRODUCT, **loud).release()
    assert (answer["product"], answer["n"]) == (["bread", "others"], [30, 28])
    numbers = [of(at, "a", number=7) for at in range(30)] + [of(50, "a", number=0), of(51, "a", number=None)]
    found = each_row(tmp_path, numbers, budget=LOUD).quote(
        "SELECT number, COUNT(*) AS n FROM sales GROUP BY number ORDER BY number", **loud
    )
    answer = found.release()
    assert dict(zip(answer["number"], answer["n"], strict=True)) == {7: 30, None: 2}
    assert answer.to_arrow()["number"].to_pylist() == [7, None]
    assert answer.plot() is not None
    none = each_row(tmp_path, crowd({"rare": 1}), budget=LOUD).quote(BY_PRODUCT, **loud).release()
    assert (none["product"], none["n"]) == (["others"], [1])
    days = [of(at, "a", day=datetime.date(2000, 1, 1)) for at in range(30)] + [of(99, "a", day=datetime.date(2000, 1, 2))]
    asked = "SELECT day, ward, COUNT(*) AS n FROM sales GROUP BY day, ward"
    answer = shop(tmp_path, days, budget=LOUD).quote(asked, **loud).release()
    assert answer["day"] == [datetime.date(2000, 1, 1)] * 3 + [None] * 3
    assert answer["n"] == [30, 0, 0, 1, 0, 0]


def test_the_group_of_others_counts_in_a_persons_bound(tmp_path):
    """Two groups at most: one key that is shown, one more, and others; whichever two are kept, no third."""
    rows = [of(1, "a"), of(1, "b"), of(1, "rare")]
    quote = shop(tmp_path, rows, budget=sum_filter(10, "1e-6")).quote(
        BY_PRODUCT, epsilon=1, other="others", bounding="groups"
    )
    whole = counted(quote, {"keys": [["a"], ["b"]], "counts": None})
    assert sorted(total for (total,) in whole.values()) == [0, 1, 1]


# -- prices ------------------------------------------------------------------------------------------------------------


def test_what_it_costs_and_what_a_delta_is_taken_from(tmp_path):
    rows = crowd({"bread": 30})
    quote = shop(tmp_path, rows).quote(BY_PRODUCT, epsilon=1)
    assert quote.guarantee.charge().delta == Fraction("1e-6") / 200
    assert quote.guarantee.within(dither.approx(1, "1e-6"))
    assert quote.epsilon("1e-6") <= 1
    assert quote.affordable <= 100
    assert shop(tmp_path, rows).quote(BY_PRODUCT, epsilon=1, delta="2e-7").guarantee.charge().delta == Fraction("2e-7")
    given = dither.approx("0.7", "1e-7")
    assert shop(tmp_path, rows).quote(BY_PRODUCT, guarantee=given).guarantee.within(given)
    zcdp = shop(tmp_path, rows, budget=dither.zcdp(1, delta="1e-6"))
    assert zcdp.quote(BY_PRODUCT, rho="0.1").guarantee.charge() == zcdp.quote(PEOPLE, rho="0.1").guarantee.charge()
    assert zcdp.quote(BY_PRODUCT, rho="0.1").guarantee.charge().rho == Fraction("0.1")
    asked = zcdp.quote(BY_PRODUCT, guarantee=dither.zcdp("0.1", delta="1e-8")).guarantee.charge()
    assert (asked.rho, asked.delta) == (Fraction("0.1"), Fraction("1e-8"))
    sums = shop(tmp_path, rows, budget=sum_filter(3, "1e-6")).quote(BY_PRODUCT, guarantee=dither.approx(1, "1e-8"))
    assert sums.price == "(ε = 1, δ = 1e-08) (add/remove one person)"
    before = shop(tmp_path, rows)
    before.quote(BY_PRODUCT, epsilon=1).release()
    assert before.ledger.remaining().totals()[-1] == Fraction("1e-6") / 200


def test_a_wished_error_is_met_and_the_keys_cost_as_much_again(tmp_path):
    data = shop(tmp_path, crowd({"bread": 30}))
    two, one = data.quote(BY_PRODUCT, error={"n": 200}), data.quote(PEOPLE, error={"n": 50})
    assert two.errors["n"] <= 200
    assert two.offer.choice.rule.rho == two.offer.counters[0].mechanism.guarantee.charge().rho
    assert one.errors["n"] <= 50
    assert one.offer.counters == []


def test_the_deltas_of_questions_run_out(tmp_path):
    data = shop(tmp_path, crowd({"bread": 30}))
    first = data.quote(BY_PRODUCT, rho="0.01", delta="3e-7")
    first.release()
    with pytest.raises(BudgetError):
        data.quote(BY_PRODUCT, rho="0.02", delta="3e-7").release()
    assert data.quote(BY_PRODUCT, rho="0.01", delta="3e-7").release().is_replay


REFUSED = [
    ({"budget": dither.pure(3)}, BY_PRODUCT, {"epsilon": 1}, "declares no keys"),
    ({"budget": dither.zcdp(3)}, BY_PRODUCT, {"rho": 1}, "declares no keys"),
    ({}, "SELECT person, COUNT(*) AS n FROM sales GROUP BY person", {"epsilon": 1}, "about one person"),
    ({}, "SELECT cost, COUNT(*) AS n FROM sales GROUP BY cost", {"epsilon": 1}, "declares no keys"),
    ({}, "SELECT number + 1 AS m, COUNT(*) AS n FROM sales GROUP BY 1", {"epsilon": 1}, "not known beforehand"),
    ({}, BY_PRODUCT, {"epsilon": 1, "delta": 0}, "at a price"),
    ({}, BY_PRODUCT, {"epsilon": 1, "delta": "6e-7"}, "for all such questions"),
    ({}, BY_PRODUCT, {"guarantee": dither.pure(1)}, "its delta is 0"),
    ({}, BY_PRODUCT, {"guarantee": dither.approx(1, "1e-8"), "delta": "1e-8"}, "the guarantee is"),
    ({}, "SELECT ward, COUNT(*) AS n FROM sales GROUP BY ward", {"epsilon": 1, "delta": "1e-8"}, "leaving it out"),
    ({}, "SELECT ward, COUNT(*) AS n FROM sales GROUP BY ward", {"epsilon": 1, "other": "x"}, "nobody declared"),
    (
        {},
        "SELECT product, number, COUNT(*) AS n FROM sales GROUP BY 1, 2",
        {"epsilon": 1, "other": "x"},
        "there are several",
    ),
    ({}, BY_PRODUCT, {"epsilon": 1, "other": ""}, "printable"),
    ({}, BY_PRODUCT, {"epsilon": 1, "other": 3}, "printable"),
]


@pytest.mark.parametrize(("facts", "sql", "how", "why"), REFUSED)
def test_refusals_cost_nothing(tmp_path, facts, sql, how, why):
    data = shop(tmp_path, crowd({"bread": 3}), **facts)
    with pytest.raises((QuestionError, GuaranteeError, NumberError), match=why) as caught:
        data.quote(sql, **how)
    assert isinstance(caught.value, DitherError)
    assert data.ledger.remaining().used == 0


def test_the_same_seed_gives_the_same_keys(tmp_path):
    sizes = {f"p{at}": 55 + at for at in range(40)}
    found = []
    for _ in range(2):
        with seeded(5):
            found.append(each_row(tmp_path, crowd(sizes)).quote(BY_PRODUCT, epsilon=1).release().rows())
    assert found[0] == found[1]


def test_keys_of_the_data_that_no_chart_can_draw_are_written_out(tmp_path):
    answer = (
        shop(tmp_path, crowd({"\x1b[31m": 200, "a\0b": 200, "<b>": 200}), budget=dither.approx(50, "1e-6"))
        .quote(BY_PRODUCT, epsilon=5)
        .release()
    )
    drawn = answer.plot("n").svg
    assert all(f">{name}</text>" in drawn for name in ("\\x1b[31m", "a\\x00b", "&lt;b&gt;"))
    answer.plot("n").save(tmp_path / "n.svg")
    assert (tmp_path / "n.svg").read_text() == drawn
    assert "<b>" not in answer.to_html()


def test_in_a_batch_delta_and_other_concern_the_questions_with_such_keys(tmp_path):
    data = shop(tmp_path, crowd({"a": 300}), budget=dither.approx(50, "1e-6"))
    declared = "SELECT ward, COUNT(*) AS n FROM sales GROUP BY ward"
    batch = data.quote([BY_PRODUCT, declared], epsilon=5, delta="1e-9", other="rest")
    assert [quote.offer.choice is None for quote in batch] == [False, True]
    assert batch.guarantee.charge().delta == Fraction(1, 10**9)
    assert batch.release()[0]["product"][-1] == "rest"
    for term in ({"delta": "1e-9"}, {"other": "rest"}):
        with pytest.raises((NumberError, QuestionError), match="declared"):
            data.quote([declared, declared], epsilon=1, **term)


# -- seams -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("other", [None, "rest"])
def test_quantiles_in_groups_that_nobody_declared(tmp_path, unit, other):
    """As many groups as were chosen, none, one or several, of the most that the mechanism was made for."""
    asked = {"guarantee": dither.zcdp(10**6, delta="0.1", unit=unit), "other": other}
    sql = "SELECT product, MEDIAN(cost) AS m, COUNT(DISTINCT ward) AS w FROM sales GROUP BY product"
    for products in ([], ["a"], ["a", "b", "c"]):
        rows = [of(person, product, cost=at) for at, product in enumerate(products, 1) for person in range(40)]
        quote = shop(tmp_path, rows, budget=dither.zcdp(10**9, delta="0.5", unit=unit), max_groups=3).quote(sql, **asked)
        assert quote.offer.others[0].mechanisms[0].histograms == 2**10
        answer = quote.release()
        found = {
            key: (low, high, w)
            for key, low, high, w in zip(*(answer[n] for n in ("product", "m_low", "m_high", "w")), strict=True)
        }
        assert list(found) == products + [other] * (other is not None)
        for at, product in enumerate(products, 1):
            assert found[product][0] <= at <= found[product][1]
            assert found[product][1] - found[product][0] < 0.1
            assert found[product][2] == 1
        assert quote.release().is_replay


def test_a_list_of_keys_beside_all_others_is_looked_through_once(tmp_path):
    """The engine takes the square of the time for IN within IN: 90,000 keys took many minutes."""
    quote = shop(tmp_path, []).quote(BY_PRODUCT, epsilon=1, other="rest")
    (group,) = quote.offer.chosen({"keys": [["a"], ["b"]], "counts": None}).question.groups
    assert group.keys == ("a", "b", "rest")
    assert key(DUCKDB, group.by, group.keys).count(" IN ") == 1
    assert key(DUCKDB, group.by, ("a", "rest")).count(" IN ") > 1  # b is not listed, so it is no key


def test_a_case_that_gives_more_than_the_keys_is_looked_through_again(tmp_path):
    """ward is A, B or C: a row with Z has no group, and what it adds is dropped before its person is bounded."""
    rows = [of(1, "a", ward=ward) for ward in "AZZZ"]
    sql = "SELECT CASE WHEN ward IN ('A', 'Z') THEN ward ELSE 'rest' END AS w, COUNT(*) AS n FROM sales GROUP BY 1"
    quote = shop(tmp_path, rows, budget=LOUD, max_groups=1, max_rows_per_group=1).quote(sql, rho=10**6)
    assert quote.offer.question.groups[0].keys == ("A", "rest")
    assert counted(quote, None)[("A",)] == (quote.offer.bounding.resolution,)


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_a_wished_error_of_people_is_met_where_only_epsilons_count(tmp_path, unit):
    """Gaussian noise of the same epsilon shows keys of fewer holders, but is wider than was wished for."""
    for most in (1, 2, 5):
        data = shop(tmp_path, [], budget=sum_filter(30, "1e-6", unit=unit), max_groups=most)
        for wished in (20, 100):
            assert data.quote(PEOPLE, error={"n": wished}).errors["n"] <= wished


@pytest.mark.parametrize("other", ["a", "b", "", "0"])
def test_all_others_may_be_called_like_any_key(tmp_path, other):
    data = shop(tmp_path, crowd({"a": 300, "b": 200}), budget=dither.approx(50, "1e-6"))
    if not other:
        with pytest.raises(QuestionError, match="no name"):
            data.quote(BY_PRODUCT, epsilon=5, other=other)
        return
    answer = data.quote(BY_PRODUCT, epsilon=5, other=other).release()
    assert answer["product"] == [*(key for key in ("a", "b") if key != other), other]
