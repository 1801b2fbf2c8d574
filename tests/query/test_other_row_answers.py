"""Questions about a person's other rows, from the text to the answer: with next to no noise they are what plain SQL says."""

from __future__ import annotations

import random

import duckdb
import pytest

import dither
from dither.errors import QuestionError
from dither.query.dataset import Dataset
from dither.query.sources.find_source import find_source
from dither.query.sql.parse import parse
from tests.query import chain_shop
from tests.query.owners import TABLES, policy, table_of
from tests.query.plan.test_other_rows import people_and_rows

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits WHERE person NOT IN (SELECT patient FROM stays WHERE nights > 3)",
    "SELECT COUNT(DISTINCT v.person) AS n FROM visits v WHERE EXISTS"
    " (SELECT 1 FROM stays s WHERE s.patient = v.person AND s.cost < v.cost)",
    "SELECT person IN (SELECT patient FROM stays) AS stayed, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY stayed",
    "SELECT v.ward, COUNT(*) AS n FROM visits v LEFT JOIN stays s ON v.person = s.patient AND s.ward = v.ward"
    " GROUP BY v.ward",
    "SELECT COUNT(*) AS n FROM visits v FULL JOIN stays s ON v.person = s.patient",
    "SELECT n, COUNT(*) AS people FROM (SELECT v.person AS p, COUNT(s.nights) AS n FROM (SELECT person FROM visits"
    " GROUP BY person) v LEFT JOIN stays s ON v.person = s.patient GROUP BY v.person) t WHERE n IN (0, 1, 2, 3) GROUP BY n",
    "SELECT COUNT(*) AS n FROM visits WHERE ward NOT IN (SELECT ward FROM wards WHERE floor > 2)",
    "SELECT COUNT(*) AS n FROM visits v SEMI JOIN wards w ON w.ward = v.ward AND w.floor < v.age",
]  # fmt: skip
CHAINS = [
    "SELECT ward, COUNT(*) AS n FROM orders WHERE EXISTS (SELECT * FROM lines WHERE lines.oid = orders.oid AND cost > 9)"
    " GROUP BY ward",
    "SELECT SUM(o.cost) AS c FROM orders o WHERE o.oid NOT IN (SELECT oid FROM lines GROUP BY oid HAVING COUNT(*) > 2)",
    "SELECT COUNT(*) AS n FROM orders o LEFT JOIN lines l ON l.oid = o.oid WHERE l.lid IS NULL",
    "SELECT n, COUNT(*) AS orders FROM (SELECT o.oid, COUNT(l.lid) FROM orders o LEFT JOIN lines l ON l.oid = o.oid"
    " GROUP BY o.oid) AS t (oid, n) WHERE n IN (0, 1, 2, 3) GROUP BY n",
]


def opened(rules, rows, tables, folder, rng):
    ledger = dither.Ledger.create(folder / "a.ledger", budget=dither.pure(10**10))
    ledger.bind(rules.domain, rules.hash)
    found = {name: table_of(name, rows.get(name, []), rng, tables) for name in tables}
    return Dataset(rules, ledger, {name: find_source(one, None, name) for name, one in found.items()}), found


def check(data, tables, questions):
    with duckdb.connect() as engine:
        for name, rows in tables.items():
            engine.register(name, rows)
        for sql in questions:
            quote = data.quote(sql, epsilon=10**6, bounding=None)
            answer = quote.release()
            assert data.quote(sql, epsilon=10**6).release().is_replay
            result = engine.execute(sql)
            names = [column[0] for column in result.description]
            keys = list(answer.keys)
            plain = {tuple(row[: len(keys)]): dict(zip(names, row, strict=True)) for row in result.fetchall()}
            for row in answer:
                truth = plain.get(tuple(row[key] for key in keys), {})
                for aggregate in quote.offer.question.aggregates:
                    name = aggregate.name
                    # a sum has noise of 240 rows of 100 at an epsilon of 10^6: 25 times its scale is below 1e-10
                    assert row[name] == pytest.approx(truth.get(name) or 0, abs=0.6), (sql, row)


def test_answers_are_plain_sql(tmp_path):
    rng = random.Random(8)
    data, tables = opened(policy(4, 60), people_and_rows(rng), TABLES, tmp_path, rng)
    check(data, tables, QUESTIONS)


@pytest.mark.parametrize("direct", [True, False])
def test_answers_along_chains_are_plain_sql(tmp_path, direct):
    rng = random.Random(9)
    rows = {
        "buyers": [(at, at, rng.choice("ABC"), at / 4) for at in range(8)],
        "orders": [(at, at % 6, at % 6, rng.choice("ABC"), at / 2) for at in range(20)],
        "lines": [(f"l{at}", rng.randrange(15), rng.choice("ABC"), rng.randrange(200) / 4) for at in range(40)],
    }
    rules = chain_shop.policy(4, 40, direct=direct)
    data, tables = opened(rules, rows, chain_shop.TABLES, tmp_path, rng)
    check(data, tables, CHAINS)


def test_limits_are_found_beside_a_public_table_that_is_looked_at(tmp_path):
    """A public table does not change whose limits they are; other rows of the person do, so they are stated."""
    rng = random.Random(3)
    rows = people_and_rows(rng)
    data, _ = opened(policy(2, 2), rows, TABLES, tmp_path, rng)
    sql = "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM wards)"
    assert data.quote(sql, epsilon=10, limits="auto").release()["n"][0] is not None
    with pytest.raises(QuestionError, match="read one protected table"):
        data.quote("SELECT COUNT(*) AS n FROM visits WHERE person IN (SELECT patient FROM stays)", epsilon=10, limits="auto")


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT 1 FROM stays s WHERE s.patient = v.person QUALIFY ROW_NUMBER() OVER (PARTITION BY patient) = 2",
        "SELECT ROW_NUMBER() OVER (ORDER BY nights) FROM stays s WHERE s.patient = v.person",
    ],
)
def test_windows_inside_exists_are_not_passed_over(inner):
    with pytest.raises(QuestionError):
        parse(f"SELECT COUNT(*) FROM visits v WHERE EXISTS ({inner})", policy())
