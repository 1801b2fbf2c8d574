"""Joins leave out people with very many rows. Where rows that are left out could make others appear, no lower bound is
claimed; where one is, there is no row that plain SQL does not have."""

from __future__ import annotations

import random
from collections import Counter

import duckdb
import pytest

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import relation_sql
from dither.query.plan.joins import pairs
from dither.query.sql.parse import parse
from tests.query.owners import TABLES, policy, table_of
from tests.query.plan.test_other_rows import people_and_rows

PAIRS = "SELECT s.patient AS p, s.cost AS c FROM stays s JOIN moves m ON s.patient = m.mover"
OWN = f"SELECT p, COUNT(*) AS k FROM ({PAIRS}) o GROUP BY p"
BOTH = f"SELECT person AS p, cost AS c FROM visits UNION ALL {PAIRS}"
UNCERTAIN = [
    f"SELECT person AS p FROM visits v WHERE NOT EXISTS (SELECT 1 FROM ({PAIRS}) t WHERE t.p = v.person)",
    f"SELECT person AS p FROM visits WHERE person NOT IN (SELECT p FROM ({PAIRS}) t)",
    f"SELECT v.person AS p FROM visits v ANTI JOIN ({PAIRS}) t ON t.p = v.person",
    f"SELECT v.person AS p FROM visits v LEFT JOIN ({OWN}) t ON t.p = v.person WHERE t.k IS NULL",
    f"SELECT COALESCE(t.p, v.person) AS p FROM ({OWN}) t FULL JOIN (SELECT person FROM visits GROUP BY person) v"
    " ON t.p = v.person WHERE t.k IS NULL",
    f"SELECT p FROM (SELECT p, COUNT(*) AS k FROM ({BOTH}) u GROUP BY p) t WHERE k < 9",
    f"SELECT p FROM (SELECT p, COUNT(*) OVER (PARTITION BY p) AS k FROM ({BOTH}) u) t WHERE k < 9",
    f"SELECT p FROM (SELECT p, RANK() OVER (PARTITION BY p ORDER BY c DESC) AS k, c FROM ({BOTH}) u) t"
    " WHERE k = 1 AND c < 40",
]  # fmt: skip
CERTAIN = [
    PAIRS,
    BOTH,
    OWN,
    f"SELECT p FROM ({OWN}) t WHERE k < 9",
    "SELECT v.person AS p FROM visits v LEFT JOIN stays s ON v.person = s.patient WHERE s.nights IS NULL",
    "SELECT COALESCE(v.person, s.patient) AS p FROM visits v FULL JOIN stays s ON v.person = s.patient AND s.cost > v.cost",
    "SELECT person AS p FROM visits v WHERE NOT EXISTS"
    " (SELECT 1 FROM stays s WHERE s.patient = v.person AND s.cost > v.cost)",
]  # fmt: skip


def people(engine, sql):
    names = [column[0] for column in engine.execute(sql).description]
    return names, engine.fetchall()


def more_than_sql(inner, seed):
    """Whether a person has more rows than in plain SQL."""
    rng = random.Random(seed)
    data = people_and_rows(rng)
    relation = parse(f"SELECT COUNT(*) AS n FROM ({inner}) q", policy()).relation
    with duckdb.connect() as engine:
        for name in TABLES:
            engine.register(name, table_of(name, data.get(name, []), rng))
        found = []
        for sql, person in (
            (relation_sql(DUCKDB, relation, {name: (name, frozenset()) for name in TABLES}), str(relation.table.person)),
            (inner, "p"),
        ):
            names, rows = people(engine, sql)
            found.append(Counter(row[names.index(person)] for row in rows))
    return bool(found[0] - found[1])


@pytest.mark.parametrize("inner", UNCERTAIN)
def test_no_lower_bound_is_claimed_where_rows_that_are_left_out_make_others_appear(inner, monkeypatch):
    table = parse(f"SELECT COUNT(*) AS n FROM ({inner}) q", policy()).table
    assert table.drops_people
    assert table.clamps_values
    monkeypatch.setattr(pairs, "MOST_PAIRED", 1)
    assert any(more_than_sql(inner, seed) for seed in range(9))


@pytest.mark.parametrize("inner", CERTAIN)
def test_a_lower_bound_is_one(inner, monkeypatch):
    table = parse(f"SELECT COUNT(*) AS n FROM ({inner}) q", policy()).table
    assert table.drops_people
    assert not table.clamps_values
    monkeypatch.setattr(pairs, "MOST_PAIRED", 1)
    assert not any(more_than_sql(inner, seed) for seed in range(9))
