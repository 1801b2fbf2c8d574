"""Questions that find their limits and bounds privately: what they cost, what they say, what is refused."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pyarrow
import pytest

import dither
from dither.errors import PolicyError, QuestionError
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.plan.text import rounded
from dither.query.pricing import price
from dither.query.pricing.limit_searches import searches
from dither.query.release import released_numbers
from dither.query.sql.parse import parse
from dither.testing import seeded
from tests.query.clinics import ledger

REGIONS = [f"r{place}" for place in range(3)]
BUDGETS = {
    "pure": dither.pure(10**6),
    "approx": dither.approx(10**6, "1e-6"),
    "rho": dither.zcdp(10**6),
    "replace": dither.pure(10**6, unit="replace one person"),
}
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM sales",
    "SELECT SUM(value) AS s FROM sales",
    "SELECT region, COUNT(*) AS n, SUM(value) AS s, AVG(value) AS a FROM sales GROUP BY region",
    "SELECT region, SUM(signed) AS s FROM sales GROUP BY region",
    "SELECT region, COUNT(DISTINCT person) AS p FROM sales GROUP BY region",
    "SELECT MEDIAN(value) AS m FROM sales",
    "SELECT QUANTILE(value, 0.25) AS a, MEDIAN(value) AS b, QUANTILE(value, 0.9) AS c, MAX(value) AS d FROM sales",
    "SELECT region, STDDEV(signed) AS d, COUNT(DISTINCT person) AS p FROM sales GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM sales GROUP BY region ORDER BY n DESC LIMIT 1",
]


def zipf(people: int = 3000, most: int = 500, seed: int = 5) -> pyarrow.Table:
    rng = random.Random(seed)
    counts = [min(most, int(rng.paretovariate(1.1))) for _ in range(people)]
    whose = [person for person, rows in enumerate(counts) for _ in range(rows)]
    values = [min(10**6, int(100 * rng.paretovariate(1.5))) for _ in whose]
    regions = [REGIONS[(person * 7 + at) % 3] for at, person in enumerate(whose)]
    signed = [value if rng.random() < 0.7 else -value for value in values]
    return pyarrow.table({"person": whose, "region": regions, "value": values, "signed": signed})


def shop(tmp_path, budget=BUDGETS["pure"], table=None, **facts) -> dither.Dataset:
    facts = {"limits": "auto", "bounds": {"value": "auto", "signed": "auto"}} | facts
    return dither.protect(
        zipf() if table is None else table,
        name="sales",
        person="person",
        ledger=ledger(tmp_path, budget),
        keys={"region": REGIONS},
        complete=["value", "signed"],
        **facts,
    )


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_price_is_the_same_whatever_is_found(tmp_path, budget):
    """Every limit of each ladder, and the corners of all together: what follows is within what was charged for it."""
    data = shop(tmp_path, BUDGETS[budget])
    for sql in QUESTIONS:
        offer = data.quote(sql, **({"rho": "0.02"} if budget == "rho" else {"epsilon": 1})).offer
        found = offer.found
        assert found is not None, sql
        ladders = [one.limits for one in found.histograms]
        corners = list(itertools.product(*((one[0], one[-1]) for one in ladders)))
        lines = [
            tuple(limit if at == place else one[len(one) // 2] for at, one in enumerate(ladders))
            for place, ladder in enumerate(ladders)
            for limit in ladder[:: max(1, len(ladder) // 6)]
        ]
        for limits in [*corners, *lines]:
            after = found.at(limits)
            assert price.total(after.released).within(found.second), (sql, limits)
            assert after.found is None
        assert price.total(offer.released) == price.total([*found.histograms, found])
        whole = price.total(offer.released)
        if budget in ("pure", "replace"):
            assert whole.within(dither.pure(1, unit=BUDGETS[budget].unit))
            assert sum(one.guarantee.charge().epsilon for one in found.histograms) == dither.Number("1/5")
        elif budget == "rho":
            assert whole.charge().rho <= 1 / 50 * (1 + 1e-12)
        else:
            assert whole.within(dither.approx(1, "1e-6"))


def test_a_price_that_changed_would_be_noticed(tmp_path, monkeypatch):
    """Planted: what follows takes all of the price, and not what is left of it."""
    from dither.query.pricing import ways
    from dither.query.pricing.spend import Spend

    real = Spend.part
    monkeypatch.setattr(Spend, "part", lambda self, share: self if share == 1 - ways.SHARE else real(self, share))
    offer = shop(tmp_path).quote("SELECT COUNT(*) AS n FROM sales", epsilon=1).offer
    assert not price.total(offer.released).within(dither.pure(1))


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
@pytest.mark.parametrize("budget", ["pure", "approx"])
def test_low_ends_are_of_the_truth_on_heavy_tails(tmp_path, budget):
    """A hundred releases of both stages: the limit is not the same in all of them."""
    table = zipf()
    quote = shop(tmp_path, BUDGETS[budget], table).quote(
        "SELECT region, COUNT(*) AS n, COUNT(DISTINCT person) AS p FROM sales GROUP BY region", epsilon=1
    )
    frame = table.to_pandas().groupby("region")
    truth = {"n": frame.size(), "p": frame["person"].nunique()}
    held, limits = {"n": [], "p": []}, set()
    with seeded(3):
        for run in range(100):
            answer = quote.release(idempotency_key=f"run {run}") if run == 0 else again(quote)
            limits.add(answer.says)
            assert answer.statements["n"] == "at least"
            for name in truth:
                held[name] += list(
                    np.array(answer[f"{name}_low"]) <= np.array([truth[name][key] for key in answer["region"]])
                )
    assert len(limits) > 1
    assert all(np.mean(found) >= 0.96 for found in held.values()), {name: np.mean(found) for name, found in held.items()}


def again(quote):
    """Another release of the same question, past the ledger, as only a test may."""
    from dither.query.answers.estimates import read_answer
    from dither.query.counts import TablePlaces
    from dither.query.engines.duckdb.words import DUCKDB
    from dither.query.engines.templates.relations import rows_of, with_tables

    sources = {table.name: quote.holdings.table_source(table) for table in quote.offer.question.relation.tables}
    place = TablePlaces(
        DUCKDB, {name: rows_of(DUCKDB, name) for name in sources}, {name: s.texts for name, s in sources.items()}
    )
    heads = {name: source.relation for name, source in sources.items()}
    with quote.holdings.engine.opened([*sources.values()], 1) as opened:
        run = opened.read(None, 7)
        numbers = released_numbers(quote.offer, lambda sql, keep: run(with_tables(DUCKDB, heads, sql), keep), place, [])
    receipt = quote.release(idempotency_key="run 0").receipt
    return read_answer(quote.offer, numbers, receipt)


def test_an_answer_says_what_was_found_and_how_many_are_beyond(tmp_path):
    data = shop(tmp_path)
    quote = data.quote("SELECT COUNT(*) AS n FROM sales", epsilon=1)
    assert quote.errors == {"n": None}
    assert "Found      privately, at a fifth of the price: max_rows (1 to 1,000,000)" in quote.explain()
    answer = quote.release()
    assert "limits found privately: max_rows" in str(answer)
    assert "people beyond the limits" in str(answer)
    assert answer.beyond is not None
    assert answer.beyond["low"] <= answer.beyond["people"] <= answer.beyond["high"]
    again = quote.release()
    assert again.is_replay
    assert again.columns == answer.columns
    assert dither.Answer.from_json(answer.to_json()).says == answer.says
    assert "Gaussian" not in str(quote.compare())


def test_a_batch_of_such_questions_is_charged_once_and_adds_up(tmp_path):
    data = shop(tmp_path)
    batch = data.quote(QUESTIONS[:3], epsilon=1)
    assert batch.guarantee.within(dither.pure(1))
    answers = list(batch.release())
    assert all("limits found privately" in answer.says for answer in answers)
    assert [answer.columns for answer in batch.release()] == [answer.columns for answer in answers]


def test_hard_limits_are_taken_where_no_search_could_be_nearer(tmp_path):
    table = zipf(most=4)
    data = shop(tmp_path, table=table, max_rows=4, hard=["max_rows"], limits="auto")
    offer = data.quote("SELECT COUNT(*) AS n FROM sales", epsilon=1).offer
    assert offer.found is None
    assert "Limits     those that nobody can exceed" in data.quote("SELECT COUNT(*) AS n FROM sales", epsilon=1).explain()
    answer = data.quote("SELECT COUNT(*) AS n FROM sales", epsilon=1).release()
    assert answer.statements == {"n": "truth"}
    wide = shop(tmp_path, max_rows=10**5, hard=["max_rows"])
    assert wide.quote("SELECT COUNT(*) AS n FROM sales", epsilon=1).offer.found is not None
    assert wide.quote("SELECT COUNT(*) AS n FROM sales", epsilon=1, size=10**9).offer.found is None


def test_hard_limits_may_be_wished_for_and_bars_then_hold_the_truth(tmp_path):
    data = shop(tmp_path, max_rows=10**5, hard=["max_rows"])
    sql = "SELECT COUNT(*) AS n FROM sales"
    quote = data.quote(sql, epsilon=1, limits="hard")
    assert quote.offer.found is None
    width = quote.errors["n"]
    assert width is not None
    assert f"errors would be n {rounded(width)}, and of the truth (limits='hard')" in data.quote(sql, epsilon=1).explain()
    assert quote.release().statements == {"n": "truth"}
    soft = shop(tmp_path, max_rows=10**5)
    with pytest.raises(QuestionError, match="no error bar can hold the truth"):
        soft.quote(sql, epsilon=1, limits="hard")


def test_a_question_may_wish_for_what_its_policy_does_not_say(tmp_path):
    data = shop(tmp_path, limits=None, max_rows=500, bounds={"value": (0, 10**6), "signed": (-(10**6), 10**6)})
    plain = "SELECT SUM(value) AS s FROM sales"
    assert data.quote(plain, epsilon=1).offer.found is None
    found = data.quote(plain, epsilon=1, limits="auto").offer.found
    assert [one.fact for one in found.histograms] == ["max_sum.value"]
    found = data.quote(plain, epsilon=1, bounds="auto").offer.found
    assert [one.fact for one in found.histograms] == ["upper bound of value"]
    found = data.quote("SELECT AVG(signed) AS a FROM sales", epsilon=1, bounds="auto", limits="auto").offer.found
    assert [one.fact for one in found.histograms] == ["max_rows", "upper bound of signed", "lower bound of signed"]
    answer = data.quote("SELECT AVG(signed) AS a FROM sales", epsilon=5, bounds="auto").release()
    truth = np.mean(zipf()["signed"].to_pylist())
    assert abs(answer.scalar() - truth) < 200


def test_bounds_of_rows_that_are_people_are_found(tmp_path):
    rng = random.Random(8)
    ages = [min(10**6, int(100 * rng.paretovariate(1.5))) for _ in range(20_000)]
    table = pyarrow.table({"wage": ages})
    facts = {"name": "wages", "person": "each row", "complete": ["wage"]}
    data = dither.protect(table, ledger=ledger(tmp_path, dither.pure(100)), bounds={"wage": [0, "auto"]}, **facts)
    sql = "SELECT SUM(wage) AS s, AVG(wage) AS a FROM wages"
    answer = data.quote(sql, epsilon=2, confidence="0.9999999999").release()  # a bar that fails is no accident
    assert answer.statements == {"s": "of clamped values", "a": "of clamped values"}
    cap = float(answer.says.partition("upper bound of wage ")[2].split(" (")[0].replace(",", ""))
    clamped = sum(min(wage, cap) for wage in ages)
    assert answer["s_low"][0] <= clamped <= answer["s_high"][0]
    assert 1000 < cap < 10**6


def test_nothing_that_is_found_can_make_a_release_fail(tmp_path):
    """A release that failed is asked for again at no price, and tells each time that it did: under [-64, 0], GREATEST(v, 0)
    is the same for every row, which is refused."""
    table = pyarrow.table({"person": list(range(3000)), "v": [-(at % 100) for at in range(3000)]})
    facts = {"name": "t", "person": "person", "max_rows": 1, "bounds": {"v": "auto"}, "complete": ["v"]}
    data = dither.protect(table, ledger=ledger(tmp_path, dither.pure(100)), **facts)
    for sql in ["SELECT SUM(GREATEST(v, 0)) AS s FROM t", "SELECT AVG(LEAST(GREATEST(v, 0), 50)) AS s FROM t"]:
        quote = data.quote(sql, epsilon=5)
        for limits in itertools.product(*(one.limits[:4] + one.limits[-2:] for one in quote.offer.found.histograms)):
            assert quote.offer.found.at(limits).found is None
        answer = quote.release()
        assert "upper bound of v 1 (" in answer.says
        assert "lower bound of v -128 (" in answer.says


def test_limits_from_which_nothing_follows_give_way_to_the_highest(tmp_path):
    """None are known; should there be some, nobody is to learn of it by a failure."""
    found = shop(tmp_path).quote("SELECT COUNT(*) AS n FROM sales", epsilon=1).offer.found

    def offer_at(limits):
        if limits != (10**6,):
            raise QuestionError("FROM", "limits", "they are not the highest", "others")
        return found.at(limits)

    broken = replace(found, offer_at=offer_at)
    nobody = [[0] * len(found.histograms[0].limits)]
    assert found.found(nobody) == {"max_rows": 1}
    assert broken.found(nobody) == {"max_rows": 10**6}
    assert broken.offer(nobody) is found.highest


def test_what_differs_under_some_limits_only_is_another_question(tmp_path):
    """Under the lowest limits all are the same: a person is in one group, and few counts make one search the best."""
    data = shop(tmp_path, BUDGETS["rho"])
    sql = "SELECT region, COUNT(*) AS n FROM sales GROUP BY region"
    plain, stated = data.quote(sql, rho=1), data.quote(sql, rho=1, bounding="weights")
    assert plain.offer.found.lowest.bounding.way == stated.offer.found.lowest.bounding.way
    assert plain.offer.found.highest.bounding.way != stated.offer.found.highest.bounding.way
    assert plain.question != stated.question
    assert not plain.release().is_replay
    assert not stated.release().is_replay
    quartiles = "SELECT QUANTILE(value, 0.25) AS a, QUANTILE(value, 0.75) AS b FROM sales"
    assert data.quote(quartiles, rho=1).question != data.quote(quartiles, rho=1, intervals="0.3").question
    assert data.quote(sql, rho=1).question == plain.question


def test_a_hard_limit_above_what_is_counted_is_not_the_end_of_the_ladder(tmp_path):
    """Nobody has more than 1,000 rows, and six count: the highest limit is one that people are beyond."""
    facts = {"max_rows": 1000, "max_groups": 2, "max_rows_per_group": 3, "hard": ["max_rows"]}
    quote = shop(tmp_path, **facts).quote("SELECT COUNT(*) AS n FROM sales", epsilon=5)
    assert quote.offer.found is not None
    assert "nobody can exceed" not in quote.explain()
    answer = quote.release()
    assert answer.statements == {"n": "at least"}
    assert answer.beyond["people"] > 0
    bounds = {"value": (0, 1000), "signed": "auto"}
    low = shop(tmp_path, max_rows=10, max_sum={"value": 10**6}, hard=["max_sum.value"], bounds=bounds)
    assert "nobody can exceed" not in low.quote("SELECT SUM(value) AS s FROM sales", epsilon=1).explain()


def test_a_sum_is_of_the_truth_under_the_highest_limit_where_rows_and_values_are_hard(tmp_path):
    bounds = {"value": (0, 10**6), "signed": "auto"}
    data = shop(tmp_path, max_rows=500, hard=["max_rows", "bounds.value"], bounds=bounds)
    for sql in ["SELECT SUM(value) AS s FROM sales", "SELECT region, SUM(value) AS s FROM sales GROUP BY region"]:
        quote = data.quote(sql, epsilon=1)
        assert "and of the truth (limits='hard')" in quote.explain()
        ((_, top, at),), ((_, low, _),) = quote.offer.found.highest.columns, quote.offer.found.lowest.columns
        assert top.statement(at).value == "truth"
        assert low.statement(at).value == "at least"
    odd = shop(tmp_path, max_rows=500, max_sum={"value": "99.5"}, hard=["max_sum.value", "bounds.value"], bounds=bounds)
    ((_, top, at),) = odd.quote("SELECT SUM(value) AS s FROM sales", epsilon=1, limits="auto").offer.found.highest.columns
    assert top.statement(at).value == "truth"  # a limit between two steps


def test_nothing_is_paid_for_a_ladder_of_one_hard_limit(tmp_path):
    data = shop(tmp_path, table=zipf(most=1), max_rows=1, hard=["max_rows"], bounds={"value": (0, 100), "signed": "auto"})
    assert data.quote("SELECT AVG(value) AS a FROM sales", epsilon=1).offer.found is None


def test_bounds_may_be_wished_for_where_a_sum_is_found_instead(tmp_path):
    quote = shop(tmp_path).quote("SELECT SUM(value) AS s FROM sales", epsilon=1, limits="auto", bounds="auto")
    assert [one.fact for one in quote.offer.found.histograms] == ["max_sum.value"]


def test_people_beyond_each_of_several_limits_are_told(tmp_path):
    """One weight for all: who is beyond the limit of a sum loses rows too, and is not among those beyond that of rows."""
    answer = shop(tmp_path).quote("SELECT COUNT(*) AS n, SUM(value) AS s FROM sales", epsilon=5).release()
    line = answer.says.splitlines()[-1]
    assert line.startswith("limits found privately: max_rows ")
    assert line.count(" people beyond it: ") == 2
    assert answer.beyond is None


def test_people_with_values_beyond_a_bound_are_told(tmp_path):
    """Twenty people of whom nobody shows: the average is of values clamped to one step, and the answer says of how many."""
    table = pyarrow.table({"person": list(range(20)), "v": [70] * 20})
    facts = {"name": "t", "person": "person", "max_rows": 1, "bounds": {"v": [0, "auto"]}, "complete": ["v"]}
    data = dither.protect(table, ledger=ledger(tmp_path, dither.pure(9)), **facts)
    answer = data.quote("SELECT AVG(v) AS a FROM t", epsilon=1).release()
    assert answer.scalar() <= 1
    assert "upper bound of v 1 (" in answer.says
    assert " people beyond it: " in answer.says


WRONG = [
    ("SELECT COUNT(*) AS n FROM sales", {"error": {"n": 20}}, "how far a number is off depends on the limits"),
    ("SELECT COUNT(*) AS n FROM sales", {"epsilon": 1, "limits": "manual"}, "they are those of the policy"),
    ("SELECT COUNT(*) AS n FROM sales", {"epsilon": 1, "bounds": "auto"}, "adds up no column with bounds"),
    (
        "SELECT AVG(t) AS a FROM (SELECT person, SUM(value) AS t FROM sales GROUP BY person) AS own",
        {"epsilon": 1},
        "questions that read one protected table",
    ),
]


@pytest.mark.parametrize(("sql", "terms", "why"), WRONG)
def test_what_is_refused_says_why_and_costs_nothing(tmp_path, sql, terms, why):
    data = shop(tmp_path)
    with pytest.raises(QuestionError, match=why):
        data.quote(sql, **terms)
    assert data.ledger.remaining().like(dither.pure(1)) == 10**6


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"limits": "yes"}, "limits are stated one by one"),
        ({"bounds": {"value": "wide"}}, "bounds are two numbers"),
        ({"bounds": {"value": ["auto", 1, 2]}}, "bounds are two numbers"),
        ({"limits": None, "bounds": {}}, "no limit is stated"),
        (
            {"public": {"stores": pyarrow.table({"region": ["r0"], "size": [3]})}, "bounds": {"stores.size": "auto"}},
            "can be looked up",
        ),
    ],
)
def test_a_policy_that_says_it_wrongly_is_refused(tmp_path, facts, why):
    with pytest.raises(PolicyError, match=why):
        shop(tmp_path, **facts)


def test_steps_are_needed_where_bounds_are_found(tmp_path):
    table = pyarrow.table({"person": [1, 2], "wage": [1.5, 2.5]})
    facts = {"name": "wages", "person": "person", "limits": "auto", "bounds": {"wage": "auto"}}
    with pytest.raises(PolicyError, match="need the unit"):
        dither.protect(table, ledger=ledger(tmp_path, dither.pure(1)), **facts)
    data = dither.protect(table, ledger=ledger(tmp_path, dither.pure(1)), steps={"wage": "0.01"}, **facts)
    assert "bounds found privately" in data.explain()
    assert "limits found privately for each question, within 1000000 rows" in data.explain()
    answer = data.quote("SELECT SUM(wage) AS s FROM wages", epsilon=1).release()  # two people do not show
    assert answer.says.partition("max_sum.wage ")[2].startswith("0.01")


@pytest.mark.parametrize("pure", [True, False])
def test_people_are_counted_by_the_norm_in_which_they_are_bounded(tmp_path, pure):
    """By sums for Laplace noise, and where there is one cell; by squares for Gaussian noise over several."""
    policy = shop(tmp_path).policy
    for sql, cells in ((QUESTIONS[0], 1), (QUESTIONS[1], 1), (QUESTIONS[2], 3), (QUESTIONS[3], 3)):
        question = parse(sql, policy)
        found = searches(question, choose_counters(question, pure=pure), cells=cells, unit=Unit.ADD_REMOVE, pure=pure)
        several = [one for one in found if one.fact == "max_rows" or one.fact.startswith("max_sum")]
        assert several
        assert {one.sizes.squared for one in several} == {not pure and cells > 1}, sql
