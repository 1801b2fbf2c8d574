"""A lower bound of the number of different values: what is counted, exact laws for all neighbours, when it is taken."""

from __future__ import annotations

import datetime
import itertools
import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pyarrow
import pytest
from flint import arb

import dither
from dither.density.unknown_keys.choose import rule_at
from dither.errors import BrokenPromise
from dither.privacy.budget.filter import sum_filter
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.sql.parse import parse
from dither.query.statistics.distinct_values import DistinctValues, ShownValues
from dither.query.statistics.registry import make_statistic
from dither.query.statistics.statistic import Price
from dither.testing import seeded
from dither.testing.claim import Claim
from dither.testing.enumerate import Outcomes, as_key, outcomes
from tests.query.clinics import clinic, ledger, repeated
from tests.query.neighbours import policy, random_row
from tests.query.statistics.test_distinct_values import asked, case
from tests.seeds import rounds

UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]
EVENTS = dither.approx(30, "1e-6")
ASKED = "SELECT COUNT(DISTINCT item) AS n FROM visits"


def statistic(stated, sql, unit=Unit.ADD_REMOVE, *, pure=False, amount="1", lost="1e-2"):
    """The lower bound of a question, at a price."""
    question = parse(sql, stated)
    (request,) = choose_counters(question, pure=pure).requests
    cells = math.prod(len(group.keys) for group in question.groups)
    price = Price(Fraction(amount), pure, unit, cells, Fraction(95, 100), lost=Fraction(lost))
    return ShownValues.make(request, question, price)


def law(of, values, single):
    """The exact law of the number: values are shown or not one by one, each by how many people hold it."""
    found, missing = {0: arb(1)}, arb(0)
    for people in (people for people, several in values.items() for _ in range(several)):
        if people not in single:
            single[people] = outcomes(of.noisy, [{people: 1}], cutoff="1e-9")
        one, after = single[people], {}
        for shown, chance in found.items():
            for more in (0, 1):
                part = chance * one.masses.get(as_key([more]), arb(0))
                after[shown + more] = after.get(shown + more, arb(0)) + part
        found, missing = after, missing + one.missing
    return Outcomes(
        {as_key([shown]): one for shown, one in found.items()}, {as_key([shown]): [shown] for shown in found}, missing, 1
    )


def counts(made, rows, rng):
    """What `noisy` gets, of a question without groups."""
    return [{people: values for (people,), (values,) in case(made).totals(rows, rng).items()}]


# -- what is counted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [True, False])
@pytest.mark.parametrize("least", [1, 2])
def test_people_of_each_value_are_counted_as_python_would(person, least):
    for rng in rounds(30, 5, "people of values", person, least):
        rows = [random_row(rng) for _ in range(rng.randrange(1, 40))]
        name, place = rng.choice([("cost", 4), ("age", 5), ("day", 3), ("weight", 6)])
        made = statistic(policy(1000, 1000, person=person, min_people=least), asked(name, "sex"))
        holders: dict[object, set[object]] = {}
        for at, row in enumerate(rows):
            known = row[place] is not None and row[place] == row[place] and (row[0] is not None or not person)
            if known and row[2] in ("f", "m"):
                holders.setdefault((row[2], row[place]), set()).add(row[0] if person else at)
        expected = Counter((sex, len(own)) for (sex, _), own in holders.items() if len(own) >= made.rule.min_people)
        assert {key: values for key, (values,) in case(made).totals(rows, rng).items()} == expected


# -- privacy ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("least", [1, 2])
def test_the_exact_law_keeps_the_promise_for_every_pair_of_neighbours(pure, unit, least):
    """Values 1, 2, 3; all that three people can have, of whom one has a value of another, or none. The engine counts."""
    rng = random.Random(5)
    stated = policy(2, 5, unit=unit, min_people=least)
    made = statistic(stated, asked("age", ""), unit, pure=pure, amount="3/2", lost="1/20")
    assert made.guarantee.charge().delta == made.rule.delta == Fraction(1, 20)
    sets = [held for size in range(4) for held in itertools.combinations((1, 2, 3), size)]

    def rows(person, held):
        return [(person, "A", "f", None, None, value, None) for value in (*held, *held[:1])]

    known = {}

    def found(others, held, also):
        if (others, held, also) not in known:
            people = rows(1, others) + rows(2, others[:also]) + rows(3, held)
            known[others, held, also] = tuple(sorted(counts(made, people, rng)[0].items()))
        return known[others, held, also]

    pairs = {
        (found(others, one, also), found(others, two, also))
        for others, also in itertools.product(sets[:3] + sets[4:5], (0, 1))
        for one, two in itertools.product(sets, sets if unit is Unit.REPLACE_ONE else [()])
    }

    def laws(of):
        single = {}
        return {held: law(of, dict(held), single) for pair in pairs for held in pair}

    claim, exact = Claim(made.guarantee), laws(made)
    for one, two in pairs:
        claim.check(one, two, exact[one], exact[two])
        claim.check(two, one, exact[two], exact[one])
    bugs = [{"delta": Fraction(1, 5)}]  # too large, and
    bugs += [{"max_keys": 1}] if least == 1 else []  # made for one value of a person, who has two
    for bug in bugs:
        facts = {"pure": pure, "delta": Fraction(1, 20), "max_keys": 2, "unit": unit, "min_people": least} | bug
        wrong = laws(ShownValues(made.question, made.bounding, rule_at(Fraction(3, 2), **facts), made.of))
        assert any(breaks(claim, one, two, wrong) for one, two in pairs)


def breaks(claim, one, two, laws):
    """Whether a pair of neighbors breaks a promise, one way or the other."""
    try:
        claim.check(one, two, laws[one], laws[two])
        claim.check(two, one, laws[two], laws[one])
    except BrokenPromise:
        return True
    return False


def test_no_value_is_shown_that_nobody_has():
    made = statistic(policy(2, 5), asked("age", "sex"), amount="100", lost="0.4")
    for _ in range(100):
        assert made.noisy([{}, {}]) == [0, 0]
        shown = made.noisy([{1: 50}, {2: 3, 1000: 4}])
        assert shown[0] == 0  # one person each: fewer than min_people
        assert 4 <= shown[1] <= 7


def test_the_delta_that_is_charged_is_that_of_the_choice(tmp_path):
    for budget in (EVENTS, dither.zcdp(3, delta="1e-6"), sum_filter(30, "1e-6")):
        data = shop(tmp_path, budget, most=200)
        price = {"rho": "0.03"} if "zcdp" in type(budget).__name__.lower() else {"epsilon": 1}
        quote = data.quote(ASKED, **price)
        (one,) = quote.offer.statistics
        assert isinstance(one, ShownValues)
        assert quote.guarantee.charge().delta == one.rule.delta > 0
        assert data.quote(ASKED, **price, delta="1e-9").guarantee.charge().delta == Fraction(1, 10**9)


# -- when it is taken, and what it says ---------------------------------------------------------------------------------


def shop(folder, budget=EVENTS, most=60, items=40, **facts):
    """Of 40 items, each person has bought some; the last is one person's."""
    rng = random.Random(3)
    rows = [(person, f"i{int(rng.random() ** 2 * items)}") for person in range(2000) for _ in range(12)] + [(1, "own")]
    table = pyarrow.table({"person": [one for one, _ in rows], "item": [one for _, one in rows]})
    facts = {"keys": {}, "bounds": {}, "steps": {}, "complete": ["person"], "max_rows": most} | facts
    return clinic(folder, table, ledger=ledger(folder, budget), max_groups=None, max_rows_per_group=None, **facts)


@pytest.mark.parametrize(
    ("budget", "most", "terms", "kind"),
    [
        (EVENTS, 60, {}, ShownValues),
        (EVENTS, 2, {}, DistinctValues),  # its noise is narrower than a value needs people
        (EVENTS, 60, {"error": {"n": 500}}, DistinctValues),
        (EVENTS, 60, {"noise": "geometric", "epsilon": 1}, DistinctValues),
        (EVENTS, 60, {"guarantee": dither.pure(1)}, DistinctValues),
        (EVENTS, 60, {"guarantee": dither.approx(1, "1e-9")}, ShownValues),
        (dither.pure(30), 60, {}, DistinctValues),
        (sum_filter(30, "1e-6"), 60, {}, DistinctValues),
        (sum_filter(30, "1e-6"), 200, {}, ShownValues),
        (EVENTS, 60, {"limits": "auto", "epsilon": 1}, None),
    ],
    ids=str,
)
def test_public_facts_decide(tmp_path, budget, most, terms, kind):
    quote = shop(tmp_path, budget, most).quote(ASKED, **(terms or {"epsilon": 1}))
    if kind is None:
        assert quote.offer.found is not None
        return
    (one, *_) = quote.offer.statistics
    assert type(one) is kind
    assert (quote.guarantee.charge().delta > 0) == (kind is ShownValues)
    if kind is DistinctValues:  # as if no delta had been thought of
        question = parse(ASKED, quote.holdings.policy)
        (request,) = choose_counters(question, pure=False).requests
        price = Price(Fraction(1), False, Unit.ADD_REMOVE, 1, Fraction(95, 100))
        assert replace(DistinctValues.number(request, question, price), mechanism=one.mechanism) == one


def test_the_rule_is_that_noise_hides_more_values_than_the_choice_hides_people():
    found = []
    for most in range(1, 40):
        question = parse(asked("age", ""), policy(most, 1))
        (request,) = choose_counters(question, pure=False).requests
        price = Price(Fraction(1, 40), False, Unit.ADD_REMOVE, 1, Fraction(95, 100), lost=Fraction(1, 10**8))
        made = make_statistic(request, question, price)
        half = DistinctValues.number(request, question, price).error(0, price.confidence)
        holders = ShownValues.make(request, question, price).rule.holders("0.5")
        assert isinstance(made, ShownValues) == (half > holders)
        found.append(isinstance(made, ShownValues))
    assert found == sorted(found)  # from some limit on
    assert set(found) == {False, True}


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_it_is_a_lower_bound_in_every_release(tmp_path):
    quote = shop(tmp_path).quote(ASKED, epsilon=1)
    with seeded(4):
        several = [(one["n_low"][0], one["n"][0], one["n_high"][0]) for one in repeated(quote, 100)]
    assert {low == value for low, value, _ in several} == {True}
    assert {high for _, _, high in several} == {None}
    assert 5 < min(value for _, value, _ in several) <= max(value for _, value, _ in several) <= 40
    answer = quote.release()
    assert answer.statements == {"n": "at least"}
    assert "values that few people hold are not counted: a lower bound of the truth, for certain" in answer.says
    assert "no end (None)" not in answer.says
    assert quote.release().is_replay
    assert dither.Answer.from_json(answer.to_json()).columns == answer.columns
    told = quote.explain()
    assert "at least so many, without an upper end; a value is counted half of the time if" in told
    assert quote.errors == {"n": None}
    assert answer.to_arrow()["n_high"].null_count == 1
    assert answer.svg()


def test_beside_others_in_groups_in_computed_columns_and_in_a_batch(tmp_path):
    rng = random.Random(6)
    rows = [(person, rng.choice("AB"), f"i{rng.randrange(9)}") for person in range(900) for _ in range(5)]
    table = pyarrow.table(dict(zip(["person", "ward", "item"], map(list, zip(*rows, strict=True)), strict=True)))
    facts = {"keys": {"ward": ["A", "B", "C"]}, "bounds": {}, "steps": {}, "complete": ["person"], "max_rows": 60}
    facts |= {"max_groups": None, "max_rows_per_group": None}
    data = clinic(tmp_path, table, budget=dither.zcdp(10**9, delta="0.5"), **facts)
    sql = (
        "SELECT ward, COUNT(DISTINCT item) AS n, COUNT(*) AS c, COUNT(DISTINCT item) * 2 AS twice FROM visits GROUP BY ward"
    )
    quote = data.quote(sql, rho=20)
    answer = quote.release()
    assert any(isinstance(one, ShownValues) for one in quote.offer.statistics)
    assert answer["n"] == [9, 9, None]  # where nothing is shown, nothing is known
    assert answer.uninformative == {"n": [2], "twice": [2]}
    assert answer["twice_low"] == [18, 18, 0]
    assert answer["n_high"] == answer["twice_high"] == [None] * 3
    assert "no end (None) of twice" in answer.says
    batch = data.quote([ASKED, "SELECT COUNT(*) AS c FROM visits"], rho=20)
    assert batch.release()[0]["n"] == [9]
    assert batch.guarantee.charge().delta > 0
    largest = data.quote(
        "SELECT ward, COUNT(*) AS c, COUNT(DISTINCT item) AS n FROM visits GROUP BY ward ORDER BY c DESC LIMIT 2", rho=20
    )
    assert sorted(largest.release()["ward"]) == ["A", "B"]


@pytest.mark.parametrize(
    ("column", "bounds", "hard", "most"),
    [
        ("x", {"x": (0, 3)}, ["bounds.x"], 4),
        ("x", {"x": (0, 3)}, [], None),
        ("x % 2", {"x": (0, 3)}, ["bounds.x"], 2),
        ("x > 1", {}, [], 2),
        ("yes", {}, [], 2),
        ("day", {"day": (datetime.date(2025, 1, 1), datetime.date(2025, 1, 9))}, ["bounds.day"], 9),
        ("day", {"day": (datetime.date(2025, 1, 1), datetime.date(2025, 1, 9))}, [], None),
    ],
)
@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
@pytest.mark.parametrize("rows", [1, 200])
def test_there_are_no_more_values_than_there_can_be(tmp_path, column, bounds, hard, most, rows):
    """Truth values, whole numbers and days within hard bounds: neither the number nor an end is larger."""
    places = range(4000)
    found = {"p": [at % 2000 for at in places], "x": [at % 4 for at in places], "yes": [at % 3 == 0 for at in places]}
    table = pyarrow.table(found | {"day": [datetime.date(2025, 1, 1 + at % 9) for at in places]})
    facts = {"person": "p", "max_rows": rows, "bounds": bounds, "hard": hard}
    data = dither.protect(table, name="t", ledger=ledger(tmp_path, EVENTS), **facts)
    for seed in range(4):
        with seeded(seed):
            answer = data.quote(f"SELECT COUNT(DISTINCT {column}) AS n FROM t", epsilon=f"0.0{seed + 1}").release()
        value, low, high = (answer["n" + end][0] for end in ("", "_low", "_high"))
        if most is None:
            assert high is None or high > 9
        else:
            assert 0 <= low <= high <= most
            assert (value is None) == ((low, high) == (0, most))


def test_under_hard_limits_the_number_is_the_truth_where_that_is_asked_for(tmp_path):
    data = shop(tmp_path, hard=["max_rows"])
    assert isinstance(data.quote(ASKED, epsilon=1).offer.statistics[0], ShownValues)
    for quote in (data.quote(ASKED, epsilon=1, limits="hard"), data.quote([ASKED], epsilon=1, limits="hard")[0]):
        assert isinstance(quote.offer.statistics[0], DistinctValues)
        assert quote.release().statements == {"n": "truth"}


def test_a_batch_takes_a_delta_only_for_what_chooses(tmp_path):
    data = shop(tmp_path, most=2)
    alone = data.quote(["SELECT COUNT(*) AS c FROM visits", ASKED], epsilon=1)
    assert alone.guarantee.charge().delta == 0
    many = shop(tmp_path).quote([f"{ASKED} WHERE item <> 'i{at}'" for at in range(101)], epsilon=1)
    assert many.guarantee.charge().delta == 0  # a hundredth for each would be more than there is
