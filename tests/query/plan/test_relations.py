"""Joins and inner questions: they mean what SQL means, every row has one owner, and what breaks that is refused by name."""

from __future__ import annotations

import random
import re
import time

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.plan.aggregates import CountDistinct, CountDistinctValues, CountPersons
from dither.query.plan.describe import describe
from dither.query.plan.joins.pairs import MOST_PAIRED
from dither.query.plan.relations import HIDDEN, OURS
from dither.query.sql.parse import parse
from tests.query.grammar import ask_at_random
from tests.query.owners import PEOPLE, Asked, clinic, policy, table_of, without
from tests.seeds import examples

RELATIONS = [
    "visits v",
    "visits v JOIN wards w ON v.ward = w.ward",
    "visits v LEFT JOIN wards w ON w.ward = v.ward AND w.floor = v.age",
    "visits v JOIN wards w USING (ward)",
    "visits v JOIN stays s ON v.person = s.patient",
    "visits v JOIN stays s ON s.patient = v.person AND v.ward = s.ward",
    "(SELECT * FROM visits WHERE cost > 1) v",
    "(SELECT ward, cost * 2 - age AS cost, age FROM visits) v",
    "(SELECT person, COUNT(*) AS n, SUM(cost) AS cost, MAX(age) AS age, MIN(ward) AS ward FROM visits GROUP BY person) v",
    "(SELECT ward, SUM(cost) AS cost, AVG(age) AS age FROM visits GROUP BY ward, person"
    " HAVING COUNT(*) > 1 AND SUM(cost) > 3) v",
    "(SELECT person, SUM(cost) AS cost FROM visits GROUP BY person, ward, age) v",
    "(SELECT DISTINCT person, ward, age, cost FROM visits) v",
    "(SELECT ward, cost, age FROM visits UNION ALL SELECT ward, cost, nights FROM stays) v",
    "(SELECT person, ward, cost, age FROM visits UNION ALL SELECT patient, ward, cost, nights FROM stays) v",
    "(SELECT person, AVG(cost) AS cost FROM visits GROUP BY person) t JOIN visits v ON t.person = v.person",
    "(SELECT patient, SUM(nights) AS age FROM stays GROUP BY patient) s"
    " JOIN (SELECT person, cost, ward FROM visits) v ON s.patient = v.person",
    "(SELECT person, ward, COUNT(DISTINCT cost) AS age, AVG(cost) AS cost"
    " FROM (SELECT * FROM visits WHERE age > 0) u GROUP BY person, ward) v",
    "visits v JOIN wards w ON v.ward = w.ward JOIN stays s ON s.patient = v.person",
]  # fmt: skip


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=examples(80, 4000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_refused_or_one_person_moves_no_more_than_is_claimed(unit, seed):
    ask_at_random(seed, unit)


@pytest.mark.parametrize("relation", RELATIONS)
def test_it_means_what_sql_means(relation):
    """Without limits that bind, on clean rows, totals are those of DuckDB on the question as it was written."""
    rng = random.Random(3)
    wards = [("A", 1, "x"), ("B", 2, "y"), ("A", 3, "y")]
    data = {
        "visits": [(rng.randrange(8), rng.choice("ABC"), rng.randrange(0, 200) / 4, rng.randrange(1, 5)) for _ in range(60)],
        "stays": [(rng.randrange(8), rng.choice("ABC"), rng.randrange(0, 200) / 4, rng.randrange(30)) for _ in range(25)],
        "wards": wards,
    }
    asked = Asked(f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM {relation}", "groups", groups=1, rows=10**6)
    (found,) = asked.totals(data, rng).values()
    with duckdb.connect() as engine:
        for name, rows in data.items():
            engine.register(name, table_of(name, rows, rng))
        n, cost = engine.execute(f"SELECT COUNT(*), SUM(v.cost) FROM {relation}").fetchone()
    measures = [measure for family in asked.strategy.sets for measure in family.measures]
    by_kind = {measure.kind: total * measure.step for measure, total in zip(measures, found, strict=True)}
    assert by_kind["one"] == n > 0
    if "AVG(cost)" not in relation:  # an average is not on the lattice
        assert float(by_kind["steps"]) == pytest.approx(cost)
    else:
        assert abs(float(by_kind["steps"]) - cost) < n


def test_who_a_row_belongs_to_is_known_in_a_union():
    both = "(SELECT person, ward FROM visits UNION ALL SELECT patient, ward FROM stays) v"
    assert parse(f"SELECT COUNT(DISTINCT person) FROM {both}", policy()).aggregates == (CountPersons("count"),)
    mixed = "(SELECT ward, person FROM visits UNION ALL SELECT ward, nights FROM stays) v"
    found = parse(f"SELECT COUNT(DISTINCT person) FROM {mixed}", policy()).aggregates
    assert [type(one) for one in found] == [CountDistinctValues]  # numbers beside ids: values of rows


def test_names_given_by_with():
    own = "SELECT person, SUM(cost) AS cost FROM visits GROUP BY person"
    given = f"WITH own AS ({own}), rich AS (SELECT * FROM own WHERE cost > 50)"
    plan = parse(f"{given} SELECT AVG(cost) FROM rich", policy())
    assert plan.table.alone
    shadow = parse("WITH visits AS (SELECT * FROM visits WHERE age > 3) SELECT COUNT(*) FROM visits", policy())
    assert [table.name for table in shadow.relation.tables] == ["visits"]


def test_another_column_under_the_persons_name_is_not_the_person():
    other = parse("SELECT COUNT(DISTINCT person) FROM (SELECT ward AS person, cost FROM visits) v", policy())
    assert isinstance(other.aggregates[0], CountDistinct)
    plan = parse("SELECT COUNT(DISTINCT who) FROM (SELECT person AS who, cost FROM visits) v", policy())
    assert isinstance(plan.aggregates[0], CountPersons)


def test_ambiguous_and_unknown_names_are_refused():
    joined = "visits v JOIN stays s ON v.person = s.patient"
    with pytest.raises(QuestionError, match="more than one table"):
        parse(f"SELECT SUM(cost) FROM {joined}", policy())
    with pytest.raises(QuestionError, match="no table is called that"):
        parse(f"SELECT SUM(x.cost) FROM {joined}", policy())
    assert parse(f"SELECT SUM(s.cost) FROM {joined}", policy()).aggregates[0].of.column.name == "s.cost"


PLANTED = {
    "a join that forgets the person": (
        "visits v JOIN stays s ON s.patient = v.person AND v.ward = s.ward", r'"person" = "patient" AND ', "", 1,
    ),
    "rows beyond those of the person": (
        "(SELECT person, COUNT(*) AS cost FROM visits GROUP BY person) v",
        r"count\(\*\) AS \"cost\"", 'sum(count(*)) OVER () AS "cost"', 15,
    ),
    "limits on rows that look at all people": (
        "visits v JOIN stays s ON s.patient = v.person",
        r'OVER \(PARTITION BY "\w+"\) AS', "OVER () + 991 AS", 1,
    ),
    "a person who is somebody else's": (
        "(SELECT cost, age FROM visits) v", r'"person" AS "whose row it is\u200b"', '"age" AS "whose row it is\u200b"', 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    relation, pattern, instead, most = PLANTED[bug]
    rng = random.Random(5)
    for _ in range(60):
        asked = Asked(f"SELECT SUM(v.cost) AS c FROM {relation}", "groups", groups=1, rows=most)
        broken = re.sub(pattern, instead, asked.sql())
        assert broken != asked.sql()
        asked.sql = lambda _=None, broken=broken: broken
        data = clinic(rng)
        whole = asked.totals(data, rng)
        if any(asked.breaks(whole, asked.totals(without(data, person), rng)) for person in PEOPLE):
            return
    raise AssertionError(bug)


def test_a13_a_person_with_a_thousand_matches_counts_no_more():
    rng = random.Random(1)
    data = {
        "visits": [(1, "A", 5.0, 30)] * 40 + [(2, "A", 5.0, 30)],
        "stays": [(1, "A", 5.0, 3)] * 25 + [(2, "B", 5.0, 3)],
        "wards": [("A", 1, "x")] * 50,
    }
    rest = {name: [row for row in rows if row[0] != 1] for name, rows in data.items()}
    for relation in ("visits v JOIN wards w ON v.ward = w.ward", "visits v JOIN stays s ON v.person = s.patient"):
        for way in ("weights", "clip", "groups"):
            asked = Asked(f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM {relation}", way, groups=1, rows=3)
            whole, without = asked.totals(data, rng), asked.totals(rest, rng)
            assert whole != without
            assert not asked.breaks(whole, without)


# -- what a hostile reader found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("people", [0, 1, 2, 1000])
def test_people_of_own_totals_are_counted(people):
    """Each person has one row, and that is what is counted: once it was a constant, or a failure where there are two."""
    own = "(SELECT person, SUM(cost) AS c FROM visits GROUP BY person) t"
    data = {"visits": [(person, "A", 1.0, 3) for person in range(people)] * 2}
    for more in ("", ", COUNT(*) AS m"):
        (found,) = Asked(f"SELECT COUNT(DISTINCT person) AS n{more} FROM {own}").totals(data, random.Random(1)).values()
        assert set(found) == {people}


def test_what_nobody_can_name_goes_no_further():
    """Keys of two parts that nobody sees may be a date here and a number there: the engine must not put them together."""
    ages = "COUNT(*) AS c FROM visits GROUP BY person, age"
    days = "COUNT(*) AS c FROM moves GROUP BY mover, day"
    for parts in ((f"person, {ages}", f"mover, {days}"), (ages, days)):
        asked = Asked(f"SELECT COUNT(*) AS out FROM (SELECT {parts[0]} UNION ALL SELECT {parts[1]}) u")
        assert {column.name for column in asked.question.table.columns if column.name.endswith(OURS)} <= {HIDDEN}
        rng = random.Random(2)
        assert asked.moved_too_far(clinic(rng), rng) is None


@pytest.mark.parametrize("name", [HIDDEN, f"own total 0{OURS}", f"key 1{OURS}"])
def test_hidden_columns_cannot_be_named(name):
    inner = f'(SELECT COUNT(*) AS n FROM visits GROUP BY person, ward HAVING "{name}" = 2 AND SUM(cost) > 3) v'
    for relation in (inner, f'visits "{name}"', f'(SELECT cost AS "{name}" FROM visits) v', f'visits v WHERE "{name}" = 2'):
        with pytest.raises(QuestionError):
            parse(f"SELECT COUNT(*) FROM {relation}", policy())


def test_the_person_may_stand_in_more_than_one_equality():
    asked = Asked("SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.person = s.patient AND v.age = s.patient", "groups")
    data = {"visits": [(3, "A", 1.0, 3), (3, "A", 1.0, 4), (4, "A", 1.0, 3)], "stays": [(3, "A", 1.0, 1)]}
    assert asked.totals(data, random.Random(1)) == {(): (1,)}


def test_two_long_lists_of_one_person_do_not_meet():
    """10^10 pairs would take the time, or the room, of all others, and so tell that she is there: she is left out."""
    asked = Asked("SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.person = s.patient", "groups", groups=1, rows=10**6)
    assert asked.question.relation.most_rows == (10**6, 10**6)  # what the owner allows is never left out
    asked = Asked("SELECT COUNT(*) AS n FROM visits v JOIN stays s ON v.person = s.patient", "groups", groups=100, rows=9)
    assert asked.question.relation.most_rows == (MOST_PAIRED, MOST_PAIRED)
    assert "at most 1000 rows of the first" in describe(asked.question)  # whoever reads the quote is told
    few = {"visits": [(1, "A", 1.0, 3)] * 2, "stays": [(1, "A", 1.0, 3)] * 3}
    rng = random.Random(1)
    assert asked.totals(few, rng) == {(): (6,)}
    many = {name: rows + [(2, "A", 1.0, 3)] * 100_000 for name, rows in few.items()}
    began = time.perf_counter()
    assert asked.totals(many, rng) == {(): (6,)}
    assert time.perf_counter() - began < 20
    own = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person) t"
    alone = Asked(f"SELECT COUNT(*) AS n FROM {own} JOIN stays s ON t.person = s.patient", "groups", groups=1, rows=5)
    assert alone.totals(many, rng) == {(): (3 + 5,)}  # where she has one row on a side, there is nothing to leave out


def test_keys_of_a_union_are_sorted():
    cases = "CASE WHEN cost > 3 THEN 'z' ELSE 'b' END AS k", "CASE WHEN cost > 3 THEN 'a' ELSE 'y' END AS k"
    plan = parse(
        f"SELECT k, COUNT(*) FROM (SELECT {cases[0]} FROM visits UNION ALL SELECT {cases[1]} FROM stays) u GROUP BY k",
        policy(),
    )
    assert plan.groups[0].keys == ("a", "b", "y", "z")


def test_own_totals_are_bounded_by_the_owners_limits():
    own = "SELECT person, SUM(cost) AS s, COUNT(*) AS n, AVG(cost) AS a, MAX(cost) AS m FROM visits GROUP BY person"
    table = parse(f"SELECT COUNT(*) FROM ({own}) t", policy(groups=2, rows=3)).table
    found = {column.name: (column.lower, column.upper) for column in table.columns[1:]}
    assert found == {"s": (-60, 600), "n": (0, 6), "a": (-10, 100), "m": (-10, 100)}


def test_a_column_of_a_union_holds_what_each_part_holds():
    plan = parse("SELECT SUM(age) FROM (SELECT age FROM visits UNION ALL SELECT nights - 7 FROM stays) u", policy())
    column = plan.table.column("age")
    assert (column.lower, column.upper, column.step) == (-7, 120, 1)


def test_those_who_are_not_there_are_found_by_a_union():
    """What LEFT JOIN ... IS NULL and NOT EXISTS would ask of one person, without looking at another."""
    both = "SELECT person, 1 AS visit, 0 AS stay FROM visits UNION ALL SELECT patient, 0, 1 FROM stays"
    own = f"SELECT person FROM ({both}) u GROUP BY person HAVING MAX(visit) = 1 AND MAX(stay) = 0"
    asked = Asked(f"SELECT COUNT(*) AS n FROM ({own}) t")
    data = {"visits": [(1, "A", 1.0, 3), (2, "A", 1.0, 3), (3, "A", 1.0, 3)], "stays": [(3, "A", 1.0, 3), (4, "A", 1.0, 3)]}
    assert asked.bounding.way == "each row"
    assert asked.totals(data, random.Random(1)) == {(): (2,)}


ODD = ["p", "g0", "e0", "k0", "x0", "n", "t0", "r", "l", "*", "rowid", "n0", "place", 'a"b', "it's", "r.cost", "--", "w0"]


@pytest.mark.parametrize("way", ["weights", "clip", "groups"])
def test_names_that_an_analyst_gives_are_only_names(way):
    inner = "SELECT cost AS a, age AS b, ward AS c FROM visits"
    plain = f"SELECT COUNT(*) AS rows, SUM(a) AS s FROM ({inner}) v WHERE a > 1 AND b < 100 GROUP BY c"
    rng = random.Random(9)
    data = clinic(rng)
    expected = Asked(plain, way, groups=3).totals(data, rng)
    for _ in range(20):
        a, b, c = ('"' + name.replace('"', '""') + '"' for name in rng.sample(ODD, 3))
        inner = f"SELECT cost AS {a}, age AS {b}, ward AS {c} FROM visits"
        asked = f"SELECT COUNT(*) AS rows, SUM({a}) AS s FROM ({inner}) v WHERE {a} > 1 AND {b} < 100 GROUP BY {c}"
        assert Asked(asked, way, groups=3).totals(data, rng) == expected
    swapped = "SELECT SUM(age) AS a, SUM(cost) AS b FROM (SELECT cost AS age, age AS cost FROM visits) v"
    assert Asked(swapped).totals(data, rng) == Asked("SELECT SUM(cost) AS a, SUM(age) AS b FROM visits").totals(data, rng)
