"""Questions about a person's other rows: EXISTS, IN (SELECT ...), semi-, anti- and outer joins. They mean what SQL means,
and one person moves no more than is claimed."""

from __future__ import annotations

import itertools
import random
import re
import time

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.privacy.unit import Unit
from dither.query.plan.describe import describe
from dither.query.plan.joins import pairs
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.sql.parse import parse
from tests.query.owners import PEOPLE, PERSON, TABLES, Asked, clinic, policy, table_of, without
from tests.seeds import examples

HERS = "s.patient = v.person"
CONDITIONS = [
    "v.person IN (SELECT patient FROM stays)",
    "v.person NOT IN (SELECT patient FROM stays)",
    "v.person NOT IN (SELECT patient FROM stays WHERE nights > 3) OR v.cost > 5",
    "v.person IN (SELECT patient FROM stays GROUP BY patient HAVING COUNT(*) > 1 AND SUM(cost) > 3)",
    "v.person NOT IN (SELECT DISTINCT patient FROM stays WHERE ward = 'A')",
    "v.person IN (SELECT patient FROM stays UNION ALL SELECT mover FROM moves)",
    "v.person IN (SELECT s.patient FROM stays s JOIN wards w ON w.ward = s.ward WHERE w.site = 'x')",
    "v.person IN (SELECT s.patient FROM stays s WHERE s.ward = v.ward)",
    "(v.person, v.ward) IN (SELECT patient, ward FROM stays)",
    f"EXISTS (SELECT 1 FROM stays s WHERE {HERS})",
    f"NOT EXISTS (SELECT 1 FROM stays s WHERE {HERS} AND s.nights > 3)",
    f"EXISTS (SELECT * FROM stays s WHERE {HERS} AND s.cost < v.cost LIMIT 1)",
    f"NOT EXISTS (SELECT * FROM stays s WHERE {HERS} AND s.ward = v.ward AND s.cost + v.cost > 9)",
    f"EXISTS (SELECT 1 FROM stays s WHERE {HERS} AND v.age > 2)",
    f"NOT EXISTS (SELECT 1 FROM stays s WHERE {HERS} AND (v.age > 2 OR s.nights < 9))",
    "EXISTS (SELECT 1 FROM visits u WHERE u.person = v.person AND u.age > v.age)",
    f"EXISTS (SELECT 1 FROM stays s WHERE {HERS} AND NOT EXISTS (SELECT 1 FROM moves m WHERE m.mover = s.patient))",
    f"CASE WHEN EXISTS (SELECT 1 FROM stays s WHERE {HERS}) THEN v.cost > 5 ELSE v.cost < 40 END",
    f"(EXISTS (SELECT 1 FROM stays s WHERE {HERS})) = (v.cost > 20)",
    "v.ward IN (SELECT ward FROM wards WHERE floor > 1)",
    "v.ward NOT IN (SELECT ward FROM wards WHERE floor > 1)",
    "v.ward NOT IN (SELECT ward FROM wards)",
    "v.ward NOT IN (SELECT ward FROM wards WHERE floor > 100)",
    "NOT EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.site = 'x')",
    "EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.floor < v.age)",
    "EXISTS (SELECT 1 FROM wards WHERE floor > 2)",
    "v.ward IN (SELECT ward FROM wards WHERE site IN (SELECT site FROM wards WHERE floor = 1))",
    "v.cost IN (SELECT floor FROM wards)",
]
JOINS = [
    "(SELECT COALESCE(v.person, s.patient) AS p, SUM(v.cost) AS cost, COUNT(s.nights) AS n FROM visits v FULL JOIN stays s"
    " ON s.patient = v.person GROUP BY COALESCE(v.person, s.patient)) v WHERE p IN (SELECT mover FROM moves) OR n = 2",
    "visits v LEFT JOIN stays s ON v.person = s.patient",
    "visits v LEFT JOIN stays s ON v.person = s.patient AND s.ward = v.ward AND v.age > 2",
    "visits v LEFT JOIN stays s ON v.person = s.patient AND s.nights > 3 AND s.cost < v.cost WHERE s.patient IS NULL",
    "stays s RIGHT JOIN visits v ON v.person = s.patient AND s.nights > 20",
    "visits v FULL JOIN stays s ON v.person = s.patient",
    "visits v FULL OUTER JOIN stays s ON v.person = s.patient AND s.ward = v.ward AND s.cost + v.cost > 40",
    "visits v FULL JOIN stays s ON v.person = s.patient AND v.age > 3 AND s.nights > 3",
    "visits v LEFT JOIN (SELECT patient AS person, COUNT(*) AS n FROM stays GROUP BY patient) s USING (person)"
    " WHERE COALESCE(n, 0) < 2 AND person > 0",
    "(SELECT person, SUM(cost) AS cost FROM visits GROUP BY person) v FULL JOIN"
    " (SELECT patient, MAX(nights) AS n FROM stays GROUP BY patient) s ON v.person = s.patient",
    "(SELECT person, SUM(cost) AS cost FROM visits GROUP BY person) v FULL JOIN"
    " (SELECT patient, MAX(nights) AS n FROM stays GROUP BY patient) s ON v.person = s.patient AND s.n > v.cost",
    "(SELECT v.person AS p, COUNT(s.nights) AS cost FROM visits v LEFT JOIN stays s ON v.person = s.patient"
    " AND s.cost > 30 GROUP BY v.person) v",
    "visits v LEFT JOIN stays s ON v.person = s.patient LEFT JOIN moves m ON m.mover = v.person AND m.ward = s.ward",
    "visits v LEFT JOIN stays s ON v.person = s.patient LEFT JOIN wards w ON w.ward = s.ward",
    "visits v SEMI JOIN stays s ON v.person = s.patient AND s.ward = v.ward",
    "visits v ANTI JOIN stays s ON v.person = s.patient AND v.cost > 20",
    "visits v ANTI JOIN stays s ON v.person = s.patient AND v.cost > s.cost AND s.nights > 3",
    "visits v SEMI JOIN wards w ON v.ward = w.ward",
    "visits v ANTI JOIN wards w ON v.ward = w.ward AND w.site = 'x'",
    "wards w RIGHT JOIN visits v ON v.ward = w.ward",
    "(SELECT person AS who, cost FROM visits) v LEFT JOIN (SELECT patient AS who, cost AS c FROM stays) s USING (who)"
    " WHERE who IN (SELECT mover FROM moves)",
]  # fmt: skip
CONDITIONS += [
    "v.ward NOT IN (SELECT s.ward FROM stays s WHERE s.patient = v.person AND s.nights > v.age) OR v.cost > 20",
    "(v.ward IN (SELECT s.ward FROM stays s WHERE s.patient = v.person)) IS NULL",
]
FROM = [f"visits v WHERE {condition}" for condition in CONDITIONS] + JOINS


def question(rng, rest):
    asked = rng.sample(["COUNT(*)", "SUM(v.cost)", "AVG(v.cost)", "COUNT(v.cost)"], rng.randrange(1, 3))
    shown = ", ".join(f"{one} AS a{at}" for at, one in enumerate(asked))
    by = "v.ward" if "(SELECT" not in rest.partition("WHERE")[0] and rng.random() < 0.5 else ""
    return f"SELECT {f'{by}, ' if by else ''}{shown} FROM {rest}{f' GROUP BY {by}' if by else ''}"


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=examples(50, 6000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_person_moves_no_more_than_is_claimed(unit, seed):
    """Also where people have more rows than are paired; and rows without a person change nothing."""
    rng = random.Random(seed)
    sql = question(rng, rng.choice(FROM))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "MOST_PAIRED", rng.choice([1, 2, 1000]))
        asked = Asked(sql, rng.choice(["weights", "clip", "groups"]), unit, rng.choice([1, 3]), rng.choice([1, 3]))
        data = clinic(rng, rng.choice([4, 14]))
        assert asked.moved_too_far(data, rng) is None, sql
        named = {name: [row for row in rows if name not in PERSON or row[0] is not None] for name, rows in data.items()}
        assert asked.totals(named, rng) == asked.totals(data, rng), sql


def all_databases():
    """Visits and stays of up to two rows each: of one of two people or of nobody; visits with a cost, or without."""
    visits = [(person, "A", cost, 1) for person in (1, 2, None) for cost in (1.0, None)]
    stays = [(person, "A", 1.0, 1) for person in (1, 2, None)]
    tables = [
        [list(found) for size in range(3) for found in itertools.combinations_with_replacement(rows, size)]
        for rows in (visits, stays)
    ]
    return [{name: [] for name in TABLES} | {"visits": v, "stays": s} for v, s in itertools.product(*tables)]


@pytest.mark.parametrize(
    "rest",
    [
        "visits v WHERE v.person NOT IN (SELECT patient FROM stays)",
        "visits v WHERE EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person AND s.cost >= v.cost)",
        "visits v FULL JOIN stays s ON v.person = s.patient AND s.cost >= v.cost",
        "visits v LEFT JOIN stays s ON v.person = s.patient",
    ],
)
def test_every_small_database_and_every_neighbour(rest):
    """All that differ in one person: two of them where she comes or goes, any two where she is replaced."""
    rng, sql = random.Random(1), f"SELECT COUNT(*) AS n FROM {rest}"
    one, both = (Asked(sql, "groups", unit, 1, 1) for unit in (Unit.ADD_REMOVE, Unit.REPLACE_ONE))
    assert one.sql() == both.sql()
    found = []
    engine = duckdb.connect(config={"threads": 1})
    for data in all_databases():
        for name in ("visits", "stays"):
            engine.register(name, table_of(name, data[name], rng))
        found.append((data, one._totals(engine, one.cases[0])))
    for person in (1, 2):
        alike: dict[str, list] = {}
        for data, totals in found:
            others = without(data, person)
            alike.setdefault(repr((others["visits"], others["stays"])), []).append((others == data, totals))
        assert all(sum(is_bare for is_bare, _ in same) == 1 for same in alike.values())
        for same in alike.values():
            for (is_bare, first), (_, second) in itertools.product(same, same):
                assert not both.breaks(first, second)
                assert not (is_bare and one.breaks(first, second))
    assert len(found) == 280
    assert len({repr(totals) for _, totals in found}) > 2


# -- what it means -------------------------------------------------------------------------------------------------------


def people_and_rows(rng, most=8):
    wards = [("A", 1, "x"), ("B", 2, "y"), ("A", 3, "y"), ("D", 4, "x")]
    ward = ["A", "B", "C", None]
    return {
        "visits": [(rng.randrange(8), rng.choice(ward), rng.randrange(200) / 4, rng.randrange(1, 5)) for _ in range(60)],
        "stays": [(rng.randrange(3, 11), rng.choice(ward), rng.randrange(200) / 4, rng.randrange(30)) for _ in range(16)],
        "moves": [(rng.randrange(most), rng.choice(ward), rng.randrange(200) / 4, None) for _ in range(6)],
        "wards": wards,
    }


def plain(sql, data, rng, tables=TABLES):
    with duckdb.connect() as engine:
        for name, rows in data.items():
            engine.register(name, table_of(name, rows, rng, tables))
        return engine.execute(sql).fetchall()


def compared(asked, sql, data, rng, tables=TABLES):
    """The totals, beside those of plain SQL."""
    (found,) = asked.totals({name: data.get(name, []) for name in tables}, rng).values()
    measures = [measure for family in asked.strategy.sets for measure in family.measures]
    by_kind = {measure.kind: float(total * measure.step) for measure, total in zip(measures, found, strict=True)}
    ((n, cost),) = plain(sql, data, rng, tables)
    assert by_kind["one"] == n, sql
    assert by_kind["steps"] == pytest.approx(cost or 0), sql
    return n


@pytest.mark.parametrize("rest", FROM)
def test_it_means_what_sql_means(rest):
    sql = f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM {rest}"
    kept = 0
    for seed in range(3):
        rng = random.Random(seed)
        data = people_and_rows(rng)
        if "NOT IN (SELECT ward FROM wards)" in rest and seed:
            data["wards"].append((None, 1, "x"))  # then it is unknown for all others, in SQL and here: it is public
        kept += compared(Asked(sql, "groups", groups=1, rows=10**6), sql, data, rng)
    assert kept > 0


def test_not_in_does_not_look_at_rows_without_a_person():
    data = {name: [] for name in TABLES} | {"visits": [(1, "A", 1.0, 1), (2, "A", 1.0, 1)], "stays": [(1, "A", 1.0, 1)]}
    sql = "SELECT COUNT(*) AS n FROM visits v WHERE v.person NOT IN (SELECT patient FROM stays)"
    asked, rng = Asked(sql, "groups", groups=1, rows=9), random.Random(1)
    assert asked.totals(data, rng) == {(): (1,)}
    data["stays"].append((None, "A", 1.0, 1))
    assert asked.totals(data, rng) == {(): (1,)}
    assert plain(sql, {name: data[name] for name in ("visits", "stays")}, rng) == [(0,)]
    assert "in SQL it keeps nobody where a person is missing" in describe(parse(sql, policy()))


def test_a_value_that_is_missing_is_in_no_list():
    """NOT IN of protected rows is unknown where the value is; whether others have rows is not looked at."""
    data = {"visits": [(1, None, 1.0, 1), (1, "B", 1.0, 1)], "stays": [(1, "A", 1.0, 1)]}
    data = {name: data.get(name, []) for name in TABLES}
    sql = "SELECT COUNT(*) AS n FROM visits v WHERE v.ward NOT IN (SELECT ward FROM stays s WHERE s.patient = v.person)"
    asked = Asked(sql, "groups", groups=1, rows=9)
    assert asked.totals(data, random.Random(1)) == {(): (1,)}
    assert plain(sql, data, random.Random(1)) == [(1,)]


@pytest.mark.parametrize(
    ("rest", "kept"),
    [
        ("visits v LEFT JOIN stays s ON v.person = s.patient", 1),
        ("visits v FULL JOIN stays s ON v.person = s.patient", 2),
        ("visits v WHERE NOT EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person AND s.cost < v.cost)", 1),
        ("visits v WHERE NOT EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person)", 4),
    ],
)
def test_whoever_has_too_many_rows_on_a_side_is_left_out_of_both(rest, kept, monkeypatch):
    """Of person 1 there are three visits, of 2 three stays, of 3 one of each, of 4 a stay. Equalities need no limit."""
    monkeypatch.setattr(pairs, "MOST_PAIRED", 2)
    data = {name: [] for name in TABLES}
    data["visits"] = [(person, "A", 1.0, 1) for person in (1, 1, 1, 2, 3)]
    data["stays"] = [(person, "A", 5.0, 1) for person in (2, 2, 2, 3, 4)]
    asked = Asked(f"SELECT COUNT(*) AS n FROM {rest}", "groups", groups=1, rows=1)
    sql = asked.sql().replace("<= 1 THEN", "<= 99 THEN")  # all her rows
    asked.sql = lambda _=None: re.sub(r"ELSE [^E]+ END", "ELSE 1 END", sql)
    assert asked.question.table.drops_people is (kept < 4)
    (total,) = asked.totals(data, random.Random(1))[()]
    assert total == (3 if kept == 4 else kept)


@pytest.mark.parametrize("rest", FROM)
def test_many_rows_of_one_person_take_no_longer_than_others_need(rest):
    """20,000 rows of hers on both sides: 4 x 10^8 pairs, were they made."""
    many = 20_000
    data = {name: [] for name in TABLES} | {"wards": [("A", 1, "x")]}
    data["visits"] = [(1, "A", 1.0, 3)] * many
    data["stays"] = [(1, "A", 2.0, 5)] * many
    data["moves"] = [(1, "A", 2.0, None)] * 50
    began = time.perf_counter()
    Asked(f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM {rest}", "groups", groups=1, rows=3).totals(data, random.Random(1))
    assert time.perf_counter() - began < 20


# -- what is known of it -------------------------------------------------------------------------------------------------


def test_a_semi_join_keeps_what_is_known_of_a_persons_rows():
    hard = {"max_rows": 4, "hard": ["max_rows", "bounds.cost"]}
    columns = {"person": {"type": "integer"}, "cost": {"type": "float", "bounds": [0, 9], "step": "0.25"}}
    more = {"visits": {"person": "person", "columns": columns, **hard}}
    plan = parse("SELECT COUNT(*) FROM visits WHERE person IN (SELECT patient FROM stays)", policy(**more))
    assert isinstance(plan.relation, SemiJoin)
    assert plan.table.hard_rows == 4
    assert "bounds.cost" in plan.table.hard
    assert not plan.table.drops_people
    own = "(SELECT patient, COUNT(*) AS n FROM stays GROUP BY patient) s"
    plan = parse(f"SELECT COUNT(*) FROM visits LEFT JOIN {own} ON person = patient", policy(**more))
    assert isinstance(plan.relation, OuterJoin)
    assert plan.table.hard_rows == 4  # each row once
    assert plan.table.column("n").nullable
    plan = parse("SELECT COUNT(*) FROM visits LEFT JOIN stays ON person = patient", policy(**more))
    assert plan.table.hard_rows is None
    assert plan.table.drops_people


def test_who_has_two_rows_is_known():
    one = "(SELECT person, SUM(cost) AS c FROM visits GROUP BY person) v"
    two = "(SELECT patient, SUM(cost) AS d FROM stays GROUP BY patient) s"
    alone = {
        f"{one} LEFT JOIN {two} ON person = patient": True,
        f"{one} LEFT JOIN {two} ON person = patient AND c > d": True,
        f"{one} FULL JOIN {two} ON person = patient": True,
        f"{one} FULL JOIN {two} ON person = patient AND c > d": False,  # her row of each side, apart
        f"{one} LEFT JOIN stays ON person = patient": False,
    }
    for relation, is_alone in alone.items():
        assert parse(f"SELECT COUNT(*) FROM {relation}", policy()).table.alone is is_alone


def test_people_are_counted_by_whichever_side_is_there():
    rng = random.Random(2)
    data = {name: [] for name in TABLES} | {
        "notes": [("a", "A", 1.0, 1)],
        "calls": [("7", "A", 1.0, 1), (None, "A", 1.0, 1)],
    }
    sql = "SELECT COUNT(DISTINCT who) AS n FROM notes FULL JOIN calls USING (who)"
    assert Asked(sql).totals(data, rng) == {(): (2,)}
    own = "SELECT who AS p, COUNT(*) AS k FROM notes FULL JOIN calls USING (who) GROUP BY who"
    sql = f"SELECT COUNT(DISTINCT p) AS n FROM ({own}) t"
    assert Asked(sql).totals(data, rng) == {(): (2,)}


def test_a_match_may_be_a_column():
    sql = "SELECT EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person), COUNT(*) AS n FROM visits v GROUP BY 1"
    plan = parse(sql, policy())
    assert plan.groups[0].keys == (False, True)
    assert plan.groups[0].name == "EXISTS(SELECT 1 FROM stays AS s WHERE s.patient = v.person)"
    assert len(plan.relation.tables) == 2  # SELECT and GROUP BY ask for one and the same
    inner = "SELECT person IN (SELECT patient FROM stays) AS stayed, cost FROM visits"
    plan = parse(f"SELECT stayed, SUM(cost) AS c FROM ({inner}) v GROUP BY stayed", policy())
    assert plan.groups[0].keys == (False, True)
    every = parse("SELECT COUNT(*) FROM (SELECT * FROM visits WHERE person IN (SELECT patient FROM stays)) v", policy())
    assert [column.name for column in every.table.columns] == ["person", "ward", "cost", "age"]


# -- the same tests find what they should find ---------------------------------------------------------------------------

PLANTED = {
    "a match of anybody": ("visits v WHERE EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person)",
                           r'WHERE l\."person" = r\."patient"', "WHERE TRUE"),
    "a match of anybody, where pairs are compared": (
        "visits v WHERE EXISTS (SELECT 1 FROM stays s WHERE s.patient = v.person AND s.cost < v.cost)",
        r'l\."person" = r\."patient" AND ', ""),
    "a pair of two people": (
        "visits v LEFT JOIN stays s ON s.patient = v.person AND s.ward = v.ward WHERE s.patient IS NULL",
        r'l\."person" = r\."patient" AND ', ""),
    "who is left out depends on all": ("visits v LEFT JOIN stays s ON s.patient = v.person",
                                       r'OVER \(PARTITION BY "\w+"\) AS', "OVER () + 991 AS"),
    "who is left out of the other side depends on all": (
        "visits v FULL JOIN stays s ON s.patient = v.person",
        r'GROUP BY "\w+" HAVING count\(\*\) > \d+', 'GROUP BY ALL HAVING (SELECT count(*) FROM stays) > 3'),
    "a row without a left side is somebody else's": (
        "visits v FULL JOIN stays s ON s.patient = v.person",
        r'coalesce\(l\."person", r\."patient"\)', 'coalesce(l."person", r."nights")'),
    "SQL's own NOT IN": ("visits v WHERE v.person NOT IN (SELECT patient FROM stays)",
                         r'EXISTS \(SELECT 1 FROM .* AS r WHERE l."person" = r."patient"\)',
                         'l."person" IN (SELECT patient FROM stays)'),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    rest, pattern, instead = PLANTED[bug]
    rng = random.Random(5)
    for _ in range(100):
        asked = Asked(f"SELECT COUNT(*) AS n FROM {rest}", "groups", groups=1, rows=1)
        broken = re.sub(pattern, instead, asked.sql())
        assert broken != asked.sql()
        asked.sql = lambda _=None, broken=broken: broken
        data = clinic(rng)
        whole = asked.totals(data, rng)
        named = {name: [row for row in rows if name not in PERSON or row[0] is not None] for name, rows in data.items()}
        if any(asked.breaks(whole, asked.totals(without(data, person), rng)) for person in PEOPLE):
            return
        if asked.totals(named, rng) != whole:
            return
    raise AssertionError(bug)
