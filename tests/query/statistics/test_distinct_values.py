"""COUNT(DISTINCT x) of values that nobody declared: what is counted, what one person moves, exact laws, what is said."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import BrokenPromise
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.counters.value_ranges import shown_columns
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.totals import totals_sql
from dither.query.sql.parse import parse
from dither.query.statistics.distinct_values import DistinctValues, KeepValues
from dither.query.statistics.registry import make_statistic
from dither.query.statistics.statistic import Price
from dither.testing.claim import Claim
from dither.testing.enumerate import outcomes
from tests.query.clinics import clinic, ledger
from tests.query.neighbours import PEOPLE, Case, policy, random_row
from tests.seeds import rounds

UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]
VALUES = ["cost", "age", "day", "weight", "LOWER(ward)", "cost * 2 - age", "ward || sex", "age > 30", "FLOOR(cost)"]
GROUPS = ["", "ward", "sex", "ward, sex"]


def statistic(stated, sql, unit=Unit.ADD_REMOVE, *, pure=True, amount=1):
    """The statistic of a question."""
    question = parse(sql, stated)
    (request,) = choose_counters(question, pure=pure).requests
    cells = math.prod(len(group.keys) for group in question.groups)
    made = make_statistic(request, question, Price(Fraction(amount), pure, unit, cells, Fraction(95, 100)))
    assert isinstance(made, DistinctValues)
    return made


def case(made, salt=7):
    """The statistic as a case of the fuzz: its SELECT, its totals on rows, its claims."""
    strategy = replace(choose_counters(made.question, pure=True), sets=(made.counters,))
    return Case(made.question, strategy, made.bounding, salt, (Fraction(1),))


def asked(value, groups):
    by = f" GROUP BY {groups}" if groups else ""
    return f"SELECT {f'{groups}, ' if groups else ''}COUNT(DISTINCT {value}) AS n FROM visits{by}"


def some_rows(rng):
    rows = [random_row(rng) for _ in range(rng.randrange(1, 30))]
    return rows + rng.choices(rows, k=5)


def like_others(rng, rows, person):
    """Rows of a person, most of them with values that others have, and some of them twice."""
    own = [(person, *(rng.choice(rows) if rows and rng.random() < 0.7 else random_row(rng))[1:]) for _ in range(9)]
    return own + rng.choices(own, k=3)


# -- what is counted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [True, False])
def test_different_values_are_counted_as_python_would(person):
    """Within the limits: neither NULL nor NaN is a value, infinities are, and the two zeros are one."""
    columns = {"cost": 4, "age": 5, "day": 3, "weight": 6}
    for rng in rounds(30, 5, "distinct values", person):
        rows, (name, place) = some_rows(rng), rng.choice(list(columns.items()))
        made = statistic(policy(1000, 1000, person=person), asked(name, "sex"))
        found = case(made).totals(rows, rng)
        for sex in "fm":
            own = {row[place] for row in rows if row[2] == sex and (row[0] is not None or not person)}
            values = {value for value in own if value is not None and value == value}
            assert found.get((sex,), (0,))[0] == len(values)


def test_texts_are_compared_by_their_bytes_and_cut_like_all_others(tmp_path):
    long = "x" * 2000
    texts = ["a", "A", "ä", "a\u0308", "", None, "a", long, long + "y", long + "z"]  # the last three begin alike
    data = clinic(
        tmp_path, pyarrow.table({"person": range(len(texts)), "s": texts}), keys={}, bounds={}, steps={}, complete=[]
    )
    answer = data.quote("SELECT COUNT(DISTINCT s) AS n FROM visits", epsilon=10**6).release()
    assert answer["n"] == [6]


def test_a_collation_of_the_file_does_not_matter(tmp_path):
    path = tmp_path / "texts.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute("CREATE TABLE t (p BIGINT, s VARCHAR COLLATE NOCASE)")
        engine.execute("INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, 'b'), (3, 'B'), (3, 'b')")
    facts = {"name": "t", "person": "p", "max_groups": 3, "max_rows_per_group": 3}
    data = dither.protect(path, **facts, ledger=ledger(tmp_path))
    assert data.quote("SELECT COUNT(DISTINCT s) AS n FROM t", epsilon=10**6).release()["n"] == [4]


def test_texts_that_are_no_texts_stop_nothing(tmp_path):
    """A frame may hold bytes that are not UTF-8: each is a value, and only numbers leave the engine."""
    bytes_ = pyarrow.array([b"\xff\xfe", b"ok", b"\xff\xfe", b"\xc3"], pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 4, bytes_.buffers())
    data = clinic(tmp_path, pyarrow.table({"person": range(4), "s": texts}), keys={}, bounds={}, steps={}, complete=[])
    assert data.quote("SELECT COUNT(DISTINCT s) AS n FROM visits", epsilon=10**6).release()["n"] == [3]


def test_a_person_with_many_values_counts_with_as_many_as_the_limit(tmp_path):
    rows = pyarrow.table({"person": [1] * 50 + [2] * 2, "cost": [float(at) for at in range(50)] + [1e6, 1e6]})
    facts = {"keys": {}, "bounds": {}, "steps": {}, "complete": []}
    for most in (1, 3):
        quote = clinic(tmp_path, rows, max_groups=most, **facts).quote(
            "SELECT COUNT(DISTINCT cost) AS n FROM visits", epsilon=10**6
        )
        assert quote.release()["n"] == [most + 1]


def test_the_two_zeros_are_one_value_and_nan_is_none(tmp_path):
    rows = pyarrow.table({"person": [1, 1, 2, 3, 4], "cost": [0.0, -0.0, -0.0, math.nan, math.inf]})
    facts = {"keys": {}, "bounds": {}, "steps": {}, "complete": [], "max_groups": 1}
    quote = clinic(tmp_path, rows, **facts).quote("SELECT COUNT(DISTINCT cost) AS n FROM visits", epsilon=10**6)
    assert quote.release()["n"] == [2]


# -- what one person moves ---------------------------------------------------------------------------------------------


def broken(made, rows, rest, rng, sql=None):
    """Whether two neighbours differ by more than is claimed."""
    own = case(made, 7)
    ((l1, l2_squared),) = own.moved(own.totals(rows, rng, sql), own.totals(rest, rng, sql))
    return l1 > made.bounding.l1(made.counters) or l2_squared > made.bounding.l2_squared(made.counters)


@pytest.mark.parametrize("unit", UNITS)
def test_one_person_moves_the_numbers_by_no_more_than_is_claimed(unit):
    """Random expressions, groups, limits, storage and threads; who comes brings values that others have, also twice."""
    for rng in rounds(60, 10, "distinct values moved", unit.value):
        stated = policy(rng.choice([1, 2, 3]), rng.choice([1, 5]), unit=unit)
        made = statistic(stated, asked(rng.choice(VALUES), rng.choice(GROUPS)), unit)
        rows = some_rows(rng)
        assert case(made).totals(rows, rng) == case(made).totals(rows, rng)  # another order, other chunks, other threads
        for person in PEOPLE:
            rest = [row for row in rows if row[0] != person]
            assert not broken(made, rows, rest, rng)
            other = rest + like_others(rng, rest, person)
            assert not broken(made, other, rows if unit is Unit.REPLACE_ONE else rest, rng)


@pytest.mark.parametrize("unit", UNITS)
def test_where_each_row_is_a_person_one_moves_them_by_one_or_two(unit):
    for rng in rounds(20, 5, "distinct values of rows", unit.value):
        made = statistic(policy(1, 1, person=False, unit=unit), asked(rng.choice(VALUES), rng.choice(GROUPS)), unit)
        rows = some_rows(rng)
        for place in range(0, len(rows), 4):
            other = [random_row(rng)] if unit is Unit.REPLACE_ONE else []
            assert not broken(made, rows, rows[:place] + rows[place + 1 :] + other, rng)


def greedy(sql):
    """Values that few others have first: a choice that looks at other people."""
    seen = "FROM (SELECT *, count(*) OVER (PARTITION BY x0) AS others FROM (SELECT p, "
    return (
        sql.replace("FROM (SELECT p, ", seen, 1)
        .replace(") AS mine", ") AS all_pairs) AS mine")
        .replace("ORDER BY hash(", "ORDER BY others, hash(")
    )


PLANTED = {
    "all values count": lambda sql: sql.split(" WHERE place <= ")[0] + (" GROUP BY" + sql.split(" GROUP BY")[-1]),
    "as many in each group": lambda sql: sql.replace("PARTITION BY p ORDER", "PARTITION BY p, g0 ORDER"),
    "one too many": lambda sql: sql.replace("place <= ", "place <= 1 + "),
    "a choice that looks at others": greedy,
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    rng = random.Random(3)
    for _ in range(300):
        made = statistic(policy(rng.choice([1, 2]), 5), asked(rng.choice(["cost", "age"]), "sex"))
        rows = some_rows(rng)
        sql = PLANTED[bug](case(made).sql())
        assert sql != case(made).sql()
        if any(broken(made, rows, [row for row in rows if row[0] != person], rng, sql) for person in PEOPLE):
            return
    pytest.fail("nobody noticed")


def test_a_choice_that_is_left_to_the_engine_is_found():
    rng = random.Random(4)
    for _ in range(200):
        made, rows = statistic(policy(1, 5), asked("cost", "sex")), some_rows(rng)
        sql = case(made).sql()
        start, end = sql.index("ORDER BY hash("), sql.index(") AS place")
        found = [case(made).totals(rows, rng, f"{sql[:start]}ORDER BY 1{sql[end:]}") for _ in range(4)]
        if any(other != found[0] for other in found):
            return
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", ["epsilon", "rho"])
def test_the_exact_law_keeps_the_promise_for_every_pair_of_neighbours(price, unit):
    """Values 1, 2, 3; all that two people can have. The engine counts; noise that is made for one value is caught."""
    rng = random.Random(5)
    made = statistic(policy(2, 5, unit=unit), asked("age", ""), unit, pure=price == "epsilon", amount=1)
    sets = [held for size in range(4) for held in itertools.combinations((1, 2, 3), size)]

    def rows(person, held):
        return [(person, "A", "f", None, None, value, None) for value in (*held, *held[:1])]

    known = {}

    def number(others, held):
        if (others, held) not in known:
            known[others, held] = case(made).totals(rows(1, others) + rows(2, held), rng)[()][0]
        return known[others, held]

    pairs = {
        (number(others, one), number(others, two))
        for others in sets
        for one, two in itertools.product(sets, sets if unit is Unit.REPLACE_ONE else [()])
    }
    assert max(abs(one - two) for one, two in pairs) == 2 == made.bounding.groups
    laws = {held: outcomes(made.noisy, [(held,)]) for held in range(4)}
    claim = Claim(made.guarantee)
    for one, two in pairs:
        claim.check(one, two, laws[one], laws[two])
        claim.check(two, one, laws[two], laws[one])
    less = (
        Geometric(epsilon=1, sensitivity=1, unit=unit)
        if price == "epsilon"
        else Gaussian(rho=1, l2_squared=1, integers=True, unit=unit)
    )
    bare = replace(made, mechanism=less)
    with pytest.raises(BrokenPromise):
        claim.check(2, 0, outcomes(bare.noisy, [(2,)]), outcomes(bare.noisy, [(0,)]))


# -- what is said ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pure", [True, False])
def test_the_interval_holds_the_number_and_never_ends_below_zero(pure):
    made = statistic(policy(3, 5), asked("age", ""), pure=pure, amount=Fraction(1, 2))
    half = int(made.error(0, made.confidence))
    released = list(range(-12 * half, 12 * half))
    (values, lows, highs), _ = shown_columns(made.read(released, 0), made.value_range(0), whole=True)
    assert all(
        0 <= low <= value <= high and high - low >= half for value, low, high in zip(values, lows, highs, strict=True)
    )
    for truth in (0, 1, half, 5 * half):
        held = sum(
            made.mechanism.law.pmf(number - truth).lower
            for number, low, high in zip(released, lows, highs, strict=True)
            if low <= truth <= high
        )
        assert held >= Fraction(95, 100)


def test_it_is_the_truth_where_nobody_can_have_more_values_and_at_least_otherwise():
    def says(limits, **more):
        return statistic(policy(*limits, **more), asked("age", "sex")).statement(0).value

    assert says((3, 2)) == "at least"
    assert says((3, 2), max_rows=3) == "at least"
    assert says((3, 2), max_rows=3, hard=["max_rows"]) == "truth"
    assert says((3, 2), max_rows=4, hard=["max_rows"]) == "at least"  # four rows may have four values, and three count
    assert says((3, 1), hard=["max_groups", "max_rows_per_group"]) == "truth"
    assert says((3, 1), hard=["max_groups"]) == "at least"  # in one group there may be many values
    assert statistic(policy(1, 1, person=False), asked("age", "sex")).statement(0).value == "truth"


def test_it_is_released_beside_others_stored_and_told(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(10, "1e-6"))
    sql = "SELECT ward, MEDIAN(cost) AS m, COUNT(DISTINCT age) AS ages, COUNT(*) AS n, COUNT(DISTINCT day) AS days"
    quote = data.quote(f"{sql} FROM visits GROUP BY ward", epsilon=1)
    answer = quote.release()
    assert [answer.statements[name] for name in ("ages", "days", "n")] == ["at least"] * 3
    assert all(answer[f"{name}_low"][row] <= answer[name][row] <= answer[f"{name}_high"][row]
               for name in ("ages", "days") for row in range(3))  # fmt: skip
    assert data.quote(f"{sql} FROM visits GROUP BY ward", epsilon=1).release().is_replay
    told = quote.explain()
    assert "of a person at most 3 pairs of group and value count" in told
    assert (
        data.quote("SELECT COUNT(DISTINCT age) AS n FROM visits", epsilon=1)
        .describe()
        .endswith("how many different values of age")
    )
    one, other = (data.quote(f"SELECT COUNT(DISTINCT {x}) AS n FROM visits", epsilon=1).question for x in ("age", "day"))
    assert one != other
    assert data.quote("SELECT COUNT(DISTINCT cost) AS n FROM visits", error={"n": 20}).errors["n"] <= 20


def test_groups_that_nobody_declared_and_batches(tmp_path):
    rows = pyarrow.table(
        {
            "person": range(2000),
            "town": ["abc"[at % 3] for at in range(2000)],
            "street": [f"s{at % 70}" for at in range(2000)],
        }
    )
    facts = {"keys": {}, "bounds": {}, "steps": {}, "complete": [], "max_groups": 1}
    data = clinic(tmp_path, rows, budget=dither.approx(10**6, "1e-3"), **facts)
    answer = data.quote("SELECT town, COUNT(DISTINCT street) AS n FROM visits GROUP BY town", epsilon=2000).release()
    assert dict(zip(answer["town"], answer["n"], strict=True)) == {"a": 70, "b": 70, "c": 70}
    both = data.quote(
        ["SELECT COUNT(DISTINCT street) AS n FROM visits", "SELECT COUNT(DISTINCT town) AS n FROM visits"], epsilon=5000
    ).release()
    assert [one["n"] for one in both] == [[70], [3]]


def test_the_way_has_a_name_of_its_own():
    made = statistic(policy(3, 2), asked("age", ""))
    assert isinstance(made.bounding, KeepValues)
    assert made.bounding.words == "everybody with at most 3 values"
    assert statistic(policy(1, 2), asked("age", "sex")).bounding.words == "everybody with at most 1 pair of group and value"
    assert "place <= 3" in totals_sql(DUCKDB, made.question, (made.counters,), made.bounding, "visits", 7)
