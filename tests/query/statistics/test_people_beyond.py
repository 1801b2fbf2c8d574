"""How many people have more than is counted of them: counted as it says, moved by one person by no more than is claimed."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dither
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.dataset import Dataset
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.totals import totals_sql
from dither.query.plan.aggregates import CountRows
from dither.query.policy.policy import read_policy
from dither.query.statistics.choose_bounding import choose_bounding
from dither.query.statistics.counter_release import CounterRelease, OneMechanism, mechanisms
from dither.query.statistics.people_beyond import KINDS, RATIO, PeopleBeyond
from dither.testing import seeded
from tests.query.clinics import all_counts, ledger
from tests.query.neighbours import PEOPLE, Case, engine_with, random_case, random_row, table_of
from tests.seeds import examples


def made(case, unit=Unit.ADD_REMOVE) -> PeopleBeyond:
    return PeopleBeyond.make(case.question, case.bounding, Fraction(1), pure=False, confidence=Fraction(95, 100))


def counted(statistic: PeopleBeyond, rows, rng) -> list[int]:
    """People of each kind, by the engine."""
    engine = engine_with(rng.choice([1, 2, 8]))
    engine.register("visits", table_of(rows, rng))
    sql = totals_sql(DUCKDB, statistic.question, (statistic.counters,), statistic.bounding, "visits", 7)
    found = dict(engine.execute(sql).fetchall())
    return [int(found.get(kind, 0)) for kind in range(1, KINDS + 1)]


def expected(statistic: PeopleBeyond, case, rows, rng) -> list[int]:
    """The same by hand: each row asked by itself in which group it is, if in any: without GROUP BY no rows make one too."""
    question = replace(case.question, aggregates=(CountRows("n"),), shown=("n",))
    plan = choose_counters(question, pure=True)
    asked = Case(question, plan, choose_bounding(question, plan, None, cells=1, unit=Unit.ADD_REMOVE, pure=True))
    mine: dict[object, Counter] = {person: Counter() for person in PEOPLE}
    for row in rows:
        if row[0] is None:
            continue
        loose = [(1, *row[1:])]
        cell = next((cell for cell, (counted,) in asked.totals(loose, rng).items() if counted), None)
        if cell is not None:
            mine[row[0]][cell] += 1
    found = [0] * KINDS
    for own in mine.values():
        size = sum(n * n for n in own.values()) if statistic.bounding.squared else sum(own.values())
        kind = sum(size > edge for edge in statistic.bounding.edges)
        if kind:
            found[kind - 1] += 1
    return found


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("way", ["weights", "clip", "clip sum"])
@settings(max_examples=examples(8, 300), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_people_are_counted_by_their_rows_and_each_moves_no_more_than_is_claimed(way, unit, seed):
    rng = random.Random(seed)
    case = random_case(rng, way, unit)
    statistic, rows = made(case), [random_row(rng) for _ in range(rng.randrange(0, 40))]
    whole = counted(statistic, rows, rng)
    assert whole == expected(statistic, case, rows, rng)
    factor = 1 if unit is Unit.ADD_REMOVE else 2
    assert statistic.mechanism.l2_squared == factor
    for person in PEOPLE:
        rest = [row for row in rows if row[0] != person]
        if unit is Unit.REPLACE_ONE:
            rest += [(person, *random_row(rng)[1:]) for _ in range(rng.randrange(0, 30))]
        change = [a - b for a, b in zip(whole, counted(statistic, rest, rng), strict=True)]
        assert sum(map(abs, change)) <= factor
        assert sum(c * c for c in change) <= factor


def zipf(rng: random.Random, people: int, most: int) -> list[int]:
    """Rows of people, heavy-tailed, at most so many."""
    return [min(most, int(rng.paretovariate(1.1))) for _ in range(people)]


def shop(tmp_path, counts, budget, **limits):
    people = [person for person, rows in enumerate(counts) for _ in range(rows)]
    regions = [f"r{(person * 7 + at) % 5}" for person, rows in enumerate(counts) for at in range(rows)]
    table = pyarrow.table({"person": people, "region": regions, "value": [1 + at % 9 for at in range(len(people))]})
    return table, dither.protect(
        table,
        name="sales",
        person="person",
        ledger=ledger(tmp_path, budget),
        bounds={"value": (0, 10)},
        keys={"region": [f"r{key}" for key in range(5)]},
        complete=["value"],
        **limits,
    )


SQL = (
    "SELECT region, COUNT(*) AS n, SUM(value) AS s, AVG(value) AS a, COUNT(DISTINCT person) AS p FROM sales GROUP BY region"
)
RUNS = 1000


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
@pytest.mark.parametrize("budget", [dither.pure(10**9), dither.approx(10**9, "1e-6")], ids=["pure", "approx"])
@pytest.mark.parametrize("hard", [True, False])
def test_statements_hold_on_heavy_tailed_data(tmp_path, budget, hard):
    """Where limits are hard, the bars hold the truth; where not, the truth is at least the low end, and the answer says so.

    A thousand draws of noise from a seed, on one set of totals, read as answers are.
    """
    counts = zipf(random.Random(5), 2000, 60)
    limits = {"max_rows": 60, "hard": ["max_rows", "bounds.value"]} if hard else {"max_rows": 4, "hard": ["bounds.value"]}
    table, data = shop(tmp_path, counts, budget, **limits)
    quote = data.quote(SQL, epsilon=1)
    frame = table.to_pandas().groupby("region")
    values = frame["value"]
    truth = {"n": frame.size(), "s": values.sum(), "a": values.mean(), "p": frame["person"].nunique()}
    said = {name: statistic.statement(place).value for name, statistic, place in quote.offer.columns}
    bounded = {"n": "at least", "s": "at least", "a": "of counted rows", "p": "at least"}
    assert said == (dict.fromkeys(truth, "truth") if hard else bounded)
    inside, below, beyond, real = Counter(), Counter(), 0, sum(rows > 4 for rows in counts)
    fewest, left_out = [], sum(max(0, rows - 4) for rows in counts)
    before = all_counts(quote)
    with seeded(1):
        for _ in range(RUNS):
            stored = {id(one): one.noisy(found) for one, found in before}
            for name, statistic, place in quote.offer.columns:
                _, lows, highs = statistic.read(stored[id(statistic)], place)
                inside[name] += sum(low <= value <= high for low, value, high in zip(lows, truth[name], highs, strict=True))
                below[name] += sum(low <= value for low, value in zip(lows, truth[name], strict=True))
            if not hard:
                people = before[-1][0].beyond(stored[id(before[-1][0])])
                beyond += people.low <= real <= people.high
                fewest.append(people.rows or 0)
    if hard:
        assert all(count >= 0.93 * 5 * RUNS for count in inside.values()), inside
        assert not any(isinstance(one, PeopleBeyond) for one, _ in before)
    else:
        assert all(below[name] >= 0.96 * 5 * RUNS for name in ("n", "s", "p")), below
        assert inside["n"] < 0.1 * 5 * RUNS  # a bar of what was counted does not hold the truth, and does not say so
        if before[0][0].bounding.way == "weights":  # by rows; under clip, by the length of a person's vector
            assert beyond >= 0.93 * RUNS
            assert sum(rows <= left_out for rows in fewest) >= 0.93 * RUNS
            assert sorted(fewest)[RUNS // 2] > left_out / 20  # it tells something, of few people at a tenth of the price


def test_columns_of_one_answer_divide(tmp_path):
    """Sums and counts of one answer have one weight: their ratio is the average of the same answer, within its bars."""
    counts = [60 if person % 10 == 0 else 1 for person in range(2000)]
    _, data = shop(tmp_path, counts, dither.approx(10**6, "1e-6"), max_groups=3, max_rows_per_group=2, hard=["bounds.value"])
    answer = data.quote(SQL, epsilon=100).release()
    ratios = np.array(answer["s"], float) / np.array(answer["n"], float)
    assert (np.array(answer["a_low"]) - 0.05 < ratios).all()
    assert (ratios < np.array(answer["a_high"]) + 0.05).all()


def test_sets_with_one_weight_are_one_mechanism(tmp_path):
    _, data = shop(tmp_path, [1, 2], dither.zcdp(9), max_groups=3, max_rows_per_group=2)
    offer = data.quote("SELECT region, COUNT(*) AS n, SUM(value) AS s FROM sales GROUP BY region", rho=1).offer
    joint = [one for one in mechanisms(offer.statistics) if isinstance(one, OneMechanism)]
    assert [len(one.parts) for one in joint] == [2]
    assert offer.guarantee.charge().rho == 1
    part = joint[0].parts[0]
    assert isinstance(part, CounterRelease)
    with pytest.raises(AssertionError, match="one mechanism"):
        _ = part.guarantee
    assert math.isclose(float(sum(part.bounding.shares)), 1, rel_tol=1e-6)


def test_the_ladder_starts_at_the_limit():
    case = random_case(random.Random(4), "weights")
    edges = made(case).bounding.edges
    assert edges[0] == case.bounding.most
    assert [b // a for a, b in itertools.pairwise(edges)] == [RATIO] * (KINDS - 1)


@pytest.mark.parametrize(
    "asked", ["MEDIAN(value)", "MAX(value)", "AVG(value)", "SUM(value)", "STDDEV(value)", "QUANTILE(value, 0.9)"]
)
@pytest.mark.parametrize("person", ["person", "each row"])
def test_values_beyond_bounds_that_are_not_hard_are_no_truth(tmp_path, asked, person):
    """All values are 9 and the bounds end at 5: what is said is about clamped values, unless the owner says that none is."""
    table = pyarrow.table({"person": list(range(50)), "value": [9] * 50})
    for hard, said in ((["bounds.value"], "truth"), ([], "of clamped values")):
        limits = {"max_rows": 1, "hard": [*hard, "max_rows"]} if person == "person" else {"hard": hard}
        book = ledger(tmp_path, dither.pure(10**6))
        data = dither.protect(table, name="t", person=person, ledger=book, bounds={"value": (0, 5)}, **limits)
        answer = data.quote(f"SELECT {asked} AS x FROM t", epsilon=100).release()
        assert answer.statements == {"x": said}


def test_a_mode_is_a_choice(tmp_path):
    _, data = shop(tmp_path, [1, 2], dither.pure(9), max_rows=3, hard=["max_rows"])
    answer = data.quote("SELECT MODE(region) AS m FROM sales", epsilon=1).release()
    assert answer.statements == {"m": "chosen"}
    assert str(answer).startswith("m: chosen")


PAIRS = "visits AS a JOIN {} AS b ON a.person = b.person"
OWN = "(SELECT person, SUM({}) AS s FROM visits GROUP BY person) AS t"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (f"SELECT COUNT(DISTINCT a.person) AS x FROM {PAIRS.format('calls')}", "at least"),  # who has very many is left out
        (f"SELECT COUNT(DISTINCT a.person) AS x FROM {PAIRS.format('stays')}", "truth"),  # nobody has
        ("SELECT COUNT(DISTINCT person) AS x FROM visits", "truth"),
        (
            f"SELECT COUNT(*) AS x FROM {OWN.format('part')} WHERE s > 3",
            "of clamped values",
        ),  # a condition on rounded values
        (f"SELECT COUNT(*) AS x FROM {OWN.format('part')}", "of clamped values"),
        (f"SELECT COUNT(*) AS x FROM {OWN.format('value')} WHERE s > 3", "truth"),
        ("SELECT SUM(part) AS x FROM visits", "of clamped values"),  # values between two steps
        ("SELECT SUM(LENGTH(word)) AS x FROM visits", "of clamped values"),  # of a long text, the beginning is read
        ("SELECT SUM(value) AS x FROM visits", "truth"),
        ("SELECT COUNT(DISTINCT word) AS x FROM visits", "at least"),  # of declared keys
    ],
)
def test_what_changes_values_or_leaves_people_out_is_no_truth(tmp_path, asked, said):
    column = {"type": "integer", "nullable": False}
    columns = {
        "person": column,
        "value": {**column, "bounds": [0, 9]},
        "part": {"type": "decimal", "bounds": [0, 9], "step": 1, "nullable": False},
        "word": {"type": "text", "keys": ["a", "b"]},
    }
    hard = ["max_rows", "bounds.value", "bounds.part"]
    table = {"person": "person", "max_rows": 5, "hard": hard, "columns": columns}
    tables = {"visits": table, "stays": table, "calls": {**table, "hard": hard[1:]}}
    policy = read_policy({"version": 1, "domain": "d", "tables": tables})
    data = Dataset(policy, ledger(tmp_path, dither.pure(9)), {})
    assert [one.statement(place).value for _, one, place in data.quote(asked, epsilon=1).offer.columns] == [said]


OWN = "FROM (SELECT person, COUNT(*) AS n FROM sales WHERE value > 2 GROUP BY person) o"


def histogram(quote) -> list[int]:
    """The exact numbers of people behind the last statistic, which must count own rows."""
    statistic, ((*counts,),) = all_counts(quote)[-1]
    assert isinstance(statistic, PeopleBeyond)
    assert statistic.own_counts
    return [int(count) for count in counts]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("asked", ["AVG(n)", "MEDIAN(n)", "SUM(n) / COUNT(*)"])
def test_people_whose_own_count_is_cut_are_counted_and_each_moves_one(tmp_path, asked, unit):
    rng = random.Random(f"{asked} {unit.value}")
    people = [rng.choice("abcd") for _ in range(60)] + ["e"] * 300
    rows = [(person, rng.randrange(10)) for person in people]

    def counted(rows: list[tuple[str, int]], place: str) -> list[int]:
        (tmp_path / place).mkdir()
        table = pyarrow.table({"person": [one for one, _ in rows], "value": [value for _, value in rows]})
        book = dither.Ledger.create(tmp_path / place / "book", budget=dither.pure(100, unit=unit))
        data = dither.protect(table, name="sales", person="person", max_rows=3, bounds={"value": (0, 10)}, ledger=book)
        return histogram(data.quote(f"SELECT {asked} AS x {OWN} WHERE n > 0", epsilon=1))

    def by_hand(rows: list[tuple[str, int]]) -> list[int]:
        sizes = Counter(person for person, value in rows if value > 2).values()
        return [sum(3 * RATIO**k < size <= 3 * RATIO ** (k + 1) for size in sizes) for k in range(KINDS)]

    whole = counted(rows, "whole")
    assert whole == by_hand(rows)
    assert sum(whole) > 1
    for person in "abcde":
        rest = [row for row in rows if row[0] != person]
        if unit is Unit.REPLACE_ONE:
            rest += [(person, rng.randrange(10)) for _ in range(rng.randrange(0, 90))]
        change = [abs(a - b) for a, b in zip(whole, counted(rest, f"without {person}"), strict=True)]
        assert sum(change) <= (1 if unit is Unit.ADD_REMOVE else 2)


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
@pytest.mark.parametrize("budget", [dither.pure(10**9), dither.approx(10**9, "1e-6")], ids=["pure", "approx"])
def test_an_average_of_own_counts_says_how_many_people_are_cut(tmp_path, budget):
    counts = zipf(random.Random(6), 2000, 500)
    _, data = shop(tmp_path, counts, budget, max_rows=4)
    own = "FROM (SELECT person, COUNT(*) AS n FROM sales GROUP BY person) o"
    quote = data.quote(f"SELECT AVG(n) AS a {own}", epsilon=1)
    assert "how many people have more than is counted of them" in quote.explain()
    price = sum((one.guarantee for one in quote.offer.statistics[1:]), quote.offer.statistics[0].guarantee)
    assert price.within(quote.guarantee)
    beyond, left_out = sum(rows > 4 for rows in counts), sum(max(0, rows - 4) for rows in counts)
    before, missed, fewest = all_counts(quote)[-1], 0, []
    with seeded(2):
        for _ in range(RUNS):
            found = before[0].beyond(before[0].noisy(before[1]))
            missed += not found.low <= beyond <= found.high
            fewest.append(found.rows or 0)
        answer = quote.release()
    assert missed <= RUNS * 0.05 + 4 * math.sqrt(RUNS * 0.05 * 0.95)
    assert sum(rows > left_out for rows in fewest) <= RUNS * 0.05 + 4 * math.sqrt(RUNS * 0.05 * 0.95)
    assert answer.beyond["low"] <= answer.beyond["people"] <= answer.beyond["high"]
    assert "people beyond the limits: " in str(answer)
    keyed = "FROM (SELECT person, region, COUNT(*) AS n FROM sales GROUP BY person, region) o"
    assert data.quote(f"SELECT AVG(n) AS a {keyed}", epsilon=1).release().beyond is None
    assert (
        data.quote("SELECT AVG(m) AS a FROM (SELECT person, MAX(value) AS m FROM sales GROUP BY person) o", epsilon=1)
        .release()
        .beyond
        is None
    )
    few = [min(rows, 4) for rows in counts]
    (tmp_path / "hard").mkdir()
    _, sure = shop(tmp_path / "hard", few, budget, max_rows=4, hard=["max_rows"])
    assert sure.quote(f"SELECT AVG(n) AS a {own}", epsilon=1).release().beyond is None


ALL = "FROM (SELECT person, COUNT(*) AS n, COUNT(DISTINCT region) AS k FROM sales GROUP BY person) o"


@pytest.mark.parametrize(
    ("asked", "source", "cut"),
    [
        ("AVG(n)", ALL, "n > 4"),
        ("AVG(-n)", ALL, "n > 4"),
        ("AVG(k)", ALL.replace("region", "value"), "k > 4"),
        ("AVG(n)", f"{ALL} WHERE n <= 4", "FALSE"),
        ("MEDIAN(n)", f"{ALL} WHERE n > 20 OR k = 1", "n > 20"),
        ("AVG(n)", f"{ALL} WHERE person < 0", "FALSE"),
        ("AVG(n) FILTER (WHERE n <= 9)", ALL, "n BETWEEN 5 AND 9"),
        ("AVG(CASE WHEN k > 2 THEN n ELSE 0 END)", ALL, "n > 4 AND k > 2"),
        ("AVG(LEAST(n, 30))", ALL, "n > 4"),
        ("AVG(COALESCE(n, 0))", ALL, "n > 4"),
        ("AVG(m)", f"FROM (SELECT person, COALESCE(n, 0) AS m {ALL}) q", "m > 4"),
        ("AVG(LEAST(n, 3))", ALL, None),
        ("AVG(CASE WHEN n > 4 THEN 1 ELSE 0 END)", ALL, None),
        ("COUNT(n)", ALL, None),
        ("AVG(n)", f"FROM (SELECT person, n {ALL} UNION ALL SELECT person, value FROM sales) u", None),
    ],
)
def test_people_beyond_are_those_in_the_question_whose_number_is_cut(tmp_path, asked, source, cut):
    table, data = shop(tmp_path, zipf(random.Random(3), 300, 100), dither.pure(9), max_rows=4)
    quote = data.quote(f"SELECT {asked} AS x {source}", epsilon=1)
    if cut is None:
        assert not any(isinstance(one, PeopleBeyond) for one in quote.offer.statistics)
        assert "UNION" in source or "counts as" not in quote.explain()
        return
    with duckdb.connect() as engine:
        engine.register("sales", table)
        where = f"{source}{' AND' if 'WHERE' in source else ' WHERE'} ({cut})".replace("OR k = 1 AND", "AND")
        assert [sum(histogram(quote))] == [*engine.execute(f"SELECT COUNT(*) {where}").fetchone()]
    assert "counts as 4" in quote.explain().replace("\n", " ")
