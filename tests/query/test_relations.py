"""Joins and inner questions: they mean what SQL means, every row has one owner, and what breaks that is refused by name."""

from __future__ import annotations

import math
import random
import re

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.bounding import choose_bounding
from dither.query.engines.relation import relation_sql
from dither.query.engines.totals import totals_sql
from dither.query.parse import parse
from dither.query.policy import read_policy
from dither.query.relation import Scan
from dither.query.strategy import choose_strategy

VISITS = {"person": pyarrow.int64(), "ward": pyarrow.string(), "cost": pyarrow.float64(), "age": pyarrow.int64()}
STAYS = {"patient": pyarrow.int64(), "ward": pyarrow.string(), "cost": pyarrow.float64(), "nights": pyarrow.int64()}
WARDS = {"ward": pyarrow.string(), "floor": pyarrow.int64(), "site": pyarrow.string()}
TABLES = {"visits": VISITS, "stays": STAYS, "wards": WARDS}
NAN = math.nan


def policy(groups=2, rows=2, unit=Unit.ADD_REMOVE, **more):
    ward = {"type": "text", "keys": ["A", "B", "C"]}
    cost = {"type": "float", "bounds": [-10, 100], "step": "0.25"}
    limits = {"max_groups": groups, "max_rows_per_group": rows}
    visits = {"person": {"type": "integer"}, "ward": ward, "cost": cost, "age": {"type": "integer", "bounds": [0, 120]}}
    stays = {"patient": {"type": "integer"}, "ward": ward, "cost": cost, "nights": {"type": "integer", "bounds": [0, 30]}}
    wards = {
        "ward": {"type": "text"},
        "floor": {"type": "integer", "bounds": [0, 9]},
        "site": {"type": "text", "keys": ["x", "y"]},
    }
    return read_policy(
        {
            "version": 1,
            "domain": "clinic",
            "unit": unit.value,
            "tables": {
                "visits": {"person": "person", "columns": visits, **limits},
                "stays": {"person": "patient", "columns": stays, **limits},
                "wards": {"public": True, "columns": wards},
                "letters": {"person": "each row", "columns": {"ward": ward, "cost": cost}},
                **more,
            },
        }
    )


def table_of(name, rows, rng):
    """The rows in a random order, in random chunks."""
    kinds = TABLES[name]
    shuffled = rng.sample(rows, len(rows))
    cut = rng.randrange(0, len(shuffled) + 1)
    batches = [
        pyarrow.record_batch(
            [pyarrow.array([row[at] for row in part], kind) for at, kind in enumerate(kinds.values())], names=list(kinds)
        )
        for part in (shuffled[:cut], shuffled[cut:])
    ]
    return pyarrow.Table.from_batches(batches)


class Asked:
    """A question with everything that a quote would fix."""

    def __init__(self, sql, way="weights", unit=Unit.ADD_REMOVE, groups=2, rows=2, salt=7):
        self.plan = parse(sql, policy(groups, rows, unit))
        pure = way != "clip"
        self.strategy = choose_strategy(self.plan, pure=pure)
        cells = math.prod(len(group.keys) for group in self.plan.groups)
        wished = None if self.plan.table.person is None or self.plan.table.alone else way
        self.bounding = choose_bounding(self.plan, self.strategy, wished, cells=cells, unit=unit, pure=pure)
        self.salt = salt

    def sql(self):
        places = {name: (name, frozenset()) for name in TABLES}
        relation = self.plan.relation
        where = relation.table.name if isinstance(relation, Scan) else f"({relation_sql(relation, places)})"
        return totals_sql(self.plan, self.strategy.families, self.bounding, where, self.salt)

    def totals(self, data, rng):
        with duckdb.connect(config={"threads": rng.choice([1, 2, 8])}) as engine:
            for name in TABLES:
                engine.register(name, table_of(name, data[name], rng))
            found = engine.execute(self.sql()).fetchall()
        width = len(self.plan.groups)
        declared = [set(group.keys) for group in self.plan.groups]
        kept = [row for row in found if all(key in keys for key, keys in zip(row[:width], declared, strict=True))]
        assert len({row[:width] for row in kept}) == len(kept)
        return {row[:width]: tuple(int(total) for total in row[width:]) for row in kept}

    def breaks(self, one, other):
        place = 0
        for family in self.strategy.families:
            last = place + len(family.measures)
            none = (0,) * last
            changes = [
                a - b
                for key in {*one, *other}
                for a, b in zip(one.get(key, none)[place:last], other.get(key, none)[place:last], strict=True)
            ]
            if self.bounding.way != "clip" and sum(map(abs, changes)) > self.bounding.l1(family):
                return True
            if sum(change**2 for change in changes) > self.bounding.l2_squared(family):
                return True
            place = last
        return False


def visit(rng, person=None):
    whose = rng.choice([None, 1, 2, 2, 3, 3, 4]) if person is None else person
    cost = rng.choice([None, NAN, math.inf, 1e308, -1e308, 0.125, 99.9, 5.0, 0.1, 0.2, 33.3])
    return (whose, rng.choice(["A", "B", "C", "D", None]), cost, rng.choice([None, 0, 29, 30, 200, -(2**63), 2**63 - 1]))


def stay(rng, person=None):
    return (*visit(rng, person)[:3], rng.choice([None, 0, 1, 7, 31, 2**63 - 1]))


def clinic(rng):
    wards = [(rng.choice(["A", "B", "C", None]), rng.choice([0, 1, 5, None]), rng.choice(["x", "y", "z"])) for _ in range(5)]
    visits, stays = ([make(rng) for _ in range(rng.randrange(0, 14))] for make in (visit, stay))
    return {"visits": visits + visits[:3], "stays": stays + stays[:2], "wards": wards}


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
    "(SELECT ward, SUM(cost) AS cost, AVG(age) AS age FROM visits GROUP BY ward, person HAVING COUNT(*) > 1 AND SUM(cost) > 3) v",
    "(SELECT DISTINCT person, ward, age, cost FROM visits) v",
    "(SELECT ward, cost, age FROM visits UNION ALL SELECT ward, cost, nights FROM stays) v",
    "(SELECT person, ward, cost, age FROM visits UNION ALL SELECT patient, ward, cost, nights FROM stays) v",
    "(SELECT person, AVG(cost) AS cost FROM visits GROUP BY person) t JOIN visits v ON t.person = v.person",
    "(SELECT patient, SUM(nights) AS age FROM stays GROUP BY patient) s JOIN (SELECT person, cost, ward FROM visits) v ON s.patient = v.person",
    "(SELECT person, ward, COUNT(DISTINCT cost) AS age, AVG(cost) AS cost FROM (SELECT * FROM visits WHERE age > 0) u GROUP BY person, ward) v",
    "visits v JOIN wards w ON v.ward = w.ward JOIN stays s ON s.patient = v.person",
    # these are refused, or would be wrong
    "visits v JOIN visits u ON v.person = u.person",
    "visits v JOIN stays s ON v.ward = s.ward",
    "visits v LEFT JOIN stays s ON v.person = s.patient",
    "visits v RIGHT JOIN wards w ON v.ward = w.ward",
    "visits v FULL JOIN wards w ON v.ward = w.ward",
    "visits v CROSS JOIN wards w",
    "(SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward) v",
    "(SELECT DISTINCT ward, cost, age FROM visits) v",
    "(SELECT person, cost, ward FROM visits ORDER BY cost LIMIT 3) v",
    "(SELECT ward, cost, age FROM visits UNION SELECT ward, cost, nights FROM stays) v",
    "(SELECT ward, cost, ROW_NUMBER() OVER (ORDER BY cost) AS age FROM visits) v",
    "wards w LEFT JOIN visits v ON v.ward = w.ward",
]  # fmt: skip
WHERES = ["", " WHERE v.cost > 3", " WHERE v.ward IN ('A', 'B')", " WHERE v.cost IS NOT NULL AND NOT v.ward = 'A'"]
WHERES += [" WHERE v.ward NOT IN (SELECT ward FROM stays)", " WHERE EXISTS (SELECT 1 FROM stays)"]


def random_question(rng):
    relation = rng.choice(RELATIONS)
    asked = rng.sample(
        ["COUNT(*)", "SUM(v.cost)", "AVG(v.cost)", "COUNT(v.ward)", "AVG(v.age)", "COUNT(DISTINCT v.person)"], 2
    )
    groups = rng.choice([[], [], ["v.ward"], ["site"], ["v.ward", "site"]])
    by = f" GROUP BY {', '.join(groups)}" if groups else ""
    shown = ", ".join(f"{one} AS a{at}" for at, one in enumerate(asked))
    return f"SELECT {', '.join([*groups, ''])}{shown} FROM {relation}{rng.choice(WHERES)}{by}"


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_refused_or_one_person_moves_no_more_than_is_claimed(unit, seed):
    rng = random.Random(seed)
    try:
        asked = Asked(
            random_question(rng), rng.choice(["weights", "clip", "groups"]), unit, rng.choice([1, 3]), rng.choice([1, 3])
        )
    except QuestionError:
        return
    data = clinic(rng)
    whole = asked.totals(data, rng)
    assert asked.totals(data, rng) == whole  # another order, other chunks, other threads
    for person in (1, 2, 3, 4):
        rest = {name: [row for row in rows if name == "wards" or row[0] != person] for name, rows in data.items()}
        if unit is Unit.REPLACE_ONE:
            rest["visits"] += [visit(rng, person) for _ in range(rng.randrange(0, 6))]
            rest["stays"] += [stay(rng, person) for _ in range(rng.randrange(0, 6))]
        assert not asked.breaks(whole, asked.totals(rest, rng))


ALLOWED = RELATIONS[:17]
REFUSED = RELATIONS[17:]


@pytest.mark.parametrize("relation", ALLOWED)
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
        for name in TABLES:
            engine.register(name, table_of(name, data[name], rng))
        n, cost = engine.execute(f"SELECT COUNT(*), SUM(v.cost) FROM {relation}").fetchone()
    measures = [measure for family in asked.strategy.families for measure in family.measures]
    by_kind = {measure.kind: total * measure.step for measure, total in zip(measures, found, strict=True)}
    assert by_kind["one"] == n > 0
    if "AVG(cost)" not in relation:  # an average is not on the lattice
        assert float(by_kind["steps"]) == pytest.approx(cost)
    else:
        assert abs(float(by_kind["steps"]) - cost) < n


@pytest.mark.parametrize("relation", REFUSED)
def test_rows_without_one_owner_are_refused(relation):
    with pytest.raises(QuestionError):
        parse(f"SELECT COUNT(*) FROM {relation}", policy())


def test_who_a_row_belongs_to_is_known_in_a_union():
    both = "(SELECT person, ward FROM visits UNION ALL SELECT patient, ward FROM stays) v"
    assert parse(f"SELECT COUNT(DISTINCT person) FROM {both}", policy()).aggregates[0].kind == "persons"
    mixed = "(SELECT ward, person FROM visits UNION ALL SELECT ward, nights FROM stays) v"
    with pytest.raises(QuestionError, match="counts persons"):
        parse(f"SELECT COUNT(DISTINCT person) FROM {mixed}", policy())


REFUSALS = [
    # what is asked, why it is refused, what would work
    ("visits v JOIN visits u ON v.person = u.person", "every pair of her rows", "own totals"),
    ("visits v JOIN stays s ON v.ward = s.ward", "joined on the person", "ON v.person = s.patient"),
    ("visits v LEFT JOIN stays s ON v.person = s.patient", "other half is missing", "INNER JOIN"),
    ("visits v RIGHT JOIN wards w ON v.ward = w.ward", "nobody's", "INNER JOIN"),
    ("visits v FULL JOIN wards w ON v.ward = w.ward", "nobody's", "INNER JOIN"),
    ("visits v CROSS JOIN wards w", "nobody's", "INNER JOIN"),
    ("visits v ANTI JOIN wards w ON v.ward = w.ward", "nobody's", "INNER JOIN"),
    ("visits v SEMI JOIN stays s ON v.person = s.patient", "nobody's", "INNER JOIN"),
    ("visits v, wards w", "without ON", "ON with"),
    ("visits v JOIN wards w ON v.ward < w.ward", "by equalities", "ON a.ward = b.ward"),
    ("visits v JOIN wards w ON v.ward = 'A'", "one table on its left", "ON a.ward = b.ward"),
    ("visits v JOIN wards w ON v.ward = w.floor", "a text is compared with an integer", "a text on both sides"),
    ("visits v JOIN wards v ON v.ward = v.ward", "two tables are called v", "an alias"),
    ("wards w JOIN visits v ON v.ward = w.ward", "an owner from the first table on", "the protected table first"),
    ("wards v", "it is public", "one of visits"),
    ("letters v JOIN wards w ON v.ward = w.ward", "two persons of one", "column of the person"),
    ("letters v JOIN visits u ON v.ward = u.ward", "without a name", "column of the person"),
    ("(SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward) v", "rows of several people", "person among"),
    ("(SELECT DISTINCT ward, cost FROM visits) v", "rows of several people", "person among"),
    ("(SELECT SUM(cost) AS cost FROM visits) v", "has no owner", "GROUP BY person"),
    ("(SELECT person, cost FROM visits LIMIT 3) v", "because of others'", "without LIMIT"),
    ("(SELECT person, cost FROM visits ORDER BY cost) v", "order of rows", "at the very end"),
    ("(SELECT ward, cost FROM visits UNION SELECT ward, cost FROM stays) v", "because of another's", "UNION ALL"),
    ("(SELECT ward, cost FROM visits UNION ALL SELECT cost, ward FROM stays) v", "different columns", "the same columns"),
    ("(SELECT ward, cost FROM visits UNION ALL SELECT ward, cost FROM letters) v", "could be there twice", "names the column"),
    ("(SELECT cost FROM letters UNION ALL SELECT cost FROM letters) v", "could be there twice", "names the column"),
    ("(SELECT DISTINCT person FROM visits GROUP BY person, cost) v", "DISTINCT beside GROUP BY", "GROUP BY alone"),
    ("(SELECT person, MIN(cost, 3) AS cost FROM visits GROUP BY person) v", "is not answered", "MIN"),
    ("(SELECT person, SUM(age + 85070591730234615865843651857942052864) AS cost FROM visits GROUP BY person) v", "too far", "smaller"),
    ("(SELECT person, COUNT(*) AS n FROM visits GROUP BY person, 2) v", "names its columns", "with names"),
    ("(SELECT ward, cost FROM visits EXCEPT SELECT ward, cost FROM stays) v", "several joined by UNION ALL", "SELECT"),
    ("(SELECT ROW_NUMBER() OVER (ORDER BY cost) AS cost FROM visits) v", "windows", "GROUP BY"),
    ("(SELECT person, SUM(cost) AS cost FROM visits GROUP BY person HAVING SUM(nothing) > 3) v", "no such column", "person"),
    ("(SELECT cost AS a, ward AS a FROM visits) v", "are called a", "AS another_name"),
    ("(SELECT COUNT(*) AS cost FROM letters GROUP BY ward) v", "nothing to group by person", "without the inner"),
    ("(SELECT cost AS \"whose row it is\u200b\" FROM visits) v", "printable", "AS another_name"),
    ("(SELECT * FROM visits)", "needs a name", "AS t"),
    ("(SELECT cost FROM nothing) v", "no table of that name", "one of visits"),
    ("(SELECT cost) v", "a question is about a table", "FROM visits"),
    ("(SELECT cost FROM visits HAVING cost > 3) v", "HAVING needs GROUP BY", "WHERE"),
    ("visits v JOIN (SELECT ward, cost FROM stays) s ON v.ward = s.ward", "joined on the person", "among the columns of both"),
]  # fmt: skip


@pytest.mark.parametrize(("relation", "why", "instead"), REFUSALS, ids=[relation for relation, _, _ in REFUSALS])
def test_refusals_teach(relation, why, instead):
    with pytest.raises(QuestionError) as caught:
        parse(f"SELECT COUNT(*) FROM {relation}", policy())
    assert why in caught.value.why
    assert instead in caught.value.instead


@pytest.mark.parametrize(
    "where",
    ["ward NOT IN (SELECT ward FROM stays)", "EXISTS (SELECT 1 FROM stays)", "cost > (SELECT AVG(cost) FROM visits)"],
)
def test_conditions_about_other_people_are_refused(where):
    with pytest.raises(QuestionError):
        parse(f"SELECT COUNT(*) FROM visits WHERE {where}", policy())


def test_names_given_by_with():
    own = "WITH own AS (SELECT person, SUM(cost) AS cost FROM visits GROUP BY person), rich AS (SELECT * FROM own WHERE cost > 50)"
    plan = parse(f"{own} SELECT AVG(cost) FROM rich", policy())
    assert plan.table.alone
    with pytest.raises(QuestionError, match="asks itself"):
        parse("WITH RECURSIVE own AS (SELECT * FROM visits) SELECT COUNT(*) FROM own", policy())


def test_another_column_under_the_persons_name_is_not_the_person():
    other = parse("SELECT COUNT(DISTINCT person) FROM (SELECT ward AS person, cost FROM visits) v", policy())
    assert other.aggregates[0].kind == "different"
    plan = parse("SELECT COUNT(DISTINCT who) FROM (SELECT person AS who, cost FROM visits) v", policy())
    assert plan.aggregates[0].kind == "persons"


def test_ambiguous_and_unknown_names_are_refused():
    joined = "visits v JOIN stays s ON v.person = s.patient"
    with pytest.raises(QuestionError, match="more than one table"):
        parse(f"SELECT SUM(cost) FROM {joined}", policy())
    with pytest.raises(QuestionError, match="no table is called that"):
        parse(f"SELECT SUM(x.cost) FROM {joined}", policy())
    assert parse(f"SELECT SUM(s.cost) FROM {joined}", policy()).aggregates[0].of.column.name == "s.cost"


PLANTED = {
    "a join that forgets the person": (
        "visits v JOIN stays s ON s.patient = v.person AND v.ward = s.ward", r'"person" = "their patient\u200b" AND ', "", 1,
    ),
    "rows beyond those of the person": (
        "(SELECT person, COUNT(*) AS cost FROM visits GROUP BY person) v",
        r"count\(\*\) AS \"cost\"", 'sum(count(*)) OVER () AS "cost"', 15,
    ),
    "a person who is somebody else's": (
        "(SELECT cost, age FROM visits) v", r'"person" AS "whose row it is\u200b"', '"age" AS "whose row it is\u200b"', 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    relation, pattern, instead, most = PLANTED[bug]
    rng, found = random.Random(5), False
    for _ in range(60):
        asked = Asked(f"SELECT SUM(v.cost) AS c FROM {relation}", "groups", groups=1, rows=most)
        broken = re.sub(pattern, instead, asked.sql())
        assert broken != asked.sql()
        asked.sql = lambda broken=broken: broken
        data = clinic(rng)
        whole = asked.totals(data, rng)
        for person in (1, 2, 3, 4):
            rest = {name: [row for row in rows if name == "wards" or row[0] != person] for name, rows in data.items()}
            found |= asked.breaks(whole, asked.totals(rest, rng))
    assert found


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
