"""Ibis expressions as questions: the same plan as the SQL that a person would write, or a refusal."""

from __future__ import annotations

import datetime

import pytest

import dither
from dither.errors import QuestionError
from dither.query.policy.policy import read_policy
from dither.query.sql.ibis import as_sql
from dither.query.sql.parse import parse
from tests.query.clinics import clinic

ibis = pytest.importorskip("ibis", reason="ibis is not installed: pip install 'dither[ibis]'")
pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

KINDS = {"integer": "int64", "text": "string", "float": "float64", "date": "date", "timestamp": "timestamp"}
VISITS = {
    "person": {"type": "integer"},
    "ward": {"type": "text", "keys": ["A", "B"]},
    "cost": {"type": "float", "bounds": [0, 100]},
    "age": {"type": "integer", "bounds": [0, 120]},
    "day": {"type": "date"},
    "at": {"type": "timestamp"},
}
WARDS = {"ward": {"type": "text"}, "site": {"type": "text", "keys": ["north", "south"]}}
POLICY = read_policy(
    {
        "version": 1,
        "domain": "clinic",
        "tables": {
            "visits": {"person": "person", "max_groups": 3, "max_rows_per_group": 5, "columns": VISITS},
            "wards": {"public": True, "columns": WARDS},
        },
    }
)
t = ibis.table({name: KINDS[facts["type"]] for name, facts in VISITS.items()}, name="visits")
w = ibis.table({name: KINDS[facts["type"]] for name, facts in WARDS.items()}, name="wards")
YEAR = (t.day >= "2026-01-01", t.day < ibis.date("2027-01-01"))

SAME = [
    (t.count().name("n"), "SELECT COUNT(*) AS n FROM visits"),
    (t.person.nunique().name("n"), "SELECT COUNT(DISTINCT person) AS n FROM visits"),
    (t.cost.mean().name("m"), "SELECT AVG(cost) AS m FROM visits"),
    (t.aggregate(n=t.count(), s=t.cost.sum()), "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"),
    (
        t.group_by("ward").aggregate(n=t.count(), m=t.cost.mean()),
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward",
    ),
    (
        t.group_by("ward").aggregate(n=t.count()).order_by(ibis.desc("n")).limit(3),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 3",
    ),
    (
        t.group_by("ward").aggregate(n=t.count()).filter(lambda x: x.n > 10).order_by("ward"),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10 ORDER BY ward",
    ),
    (
        t.group_by("ward").having(lambda x: x.count() > 10).aggregate(n=t.count()),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10",
    ),
    (
        t.group_by(old=t.age >= 65).aggregate(n=t.count()),
        "SELECT age >= 65 AS old, COUNT(*) AS n FROM visits GROUP BY old",
    ),
    (
        t.group_by(part=(t.age / 10).floor()).aggregate(n=t.count()),
        "SELECT FLOOR(age / 10) AS part, COUNT(*) AS n FROM visits GROUP BY part",
    ),
    (
        t.filter(t.ward.isin(["A", "B"]), t.cost.between(1, 5), ~t.age.isnull()).count().name("n"),
        "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE "
        "ward IN ('A', 'B') AND cost BETWEEN 1 AND 5 AND NOT age IS NULL) t",
    ),
    (
        t.filter(*YEAR).group_by(month=lambda x: x.day.truncate("M")).aggregate(n=lambda x: x.count()),
        "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM "
        "(SELECT * FROM visits WHERE day >= DATE '2026-01-01' AND day < DATE '2027-01-01') t GROUP BY month",
    ),
    (
        t.group_by(month=t.day.month()).aggregate(n=t.count()),
        "SELECT EXTRACT(month FROM day) AS month, COUNT(*) AS n FROM visits GROUP BY month",
    ),
    (
        t.filter(t["at"] > ibis.timestamp("2026-01-01 12:30:00")).count().name("n"),
        "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE at > TIMESTAMP '2026-01-01 12:30:00') t",
    ),
    (
        t.group_by("person").aggregate(own=t.cost.sum()).aggregate(m=lambda x: x.own.mean()),
        "SELECT AVG(own) AS m FROM (SELECT person, SUM(cost) AS own FROM visits GROUP BY person) t",
    ),
    (
        t.mutate(u=t.ward.lower()).select("u", "cost").group_by("u").aggregate(n=lambda x: x.cost.count()),
        "SELECT u, COUNT(cost) AS n FROM (SELECT LOWER(ward) AS u, cost FROM visits) t GROUP BY u",
    ),
    (
        t.filter(t.cost.abs() > 1, t.cost.round(2) > 0.5, t.cost.ceil() > 1, ibis.greatest(t.cost, t.age) > 3)
        .count()
        .name("n"),
        "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE "
        "ABS(cost) > 1 AND ROUND(cost, 2) > 0.5 AND CEIL(cost) > 1 AND GREATEST(cost, age) > 3) t",
    ),
    (
        t.join(w, "ward").group_by("site").aggregate(n=lambda x: x.count()),
        "SELECT site, COUNT(*) AS n FROM (SELECT t2.person, t2.ward, t2.cost, t2.age, t2.day, t2.at, t3.site "
        "FROM visits t2 JOIN wards t3 ON t2.ward = t3.ward) t GROUP BY site",
    ),
]


@pytest.mark.parametrize(("expression", "sql"), SAME, ids=[sql[:70] for _, sql in SAME])
def test_the_same_plan_as_sql(expression, sql):
    assert parse(as_sql(expression), POLICY) == parse(sql, POLICY)


ANSWERED = [
    t.left_join(w, "ward").group_by("site").aggregate(n=lambda x: x.count()),
    t.group_by("person").aggregate(own=t.count()).filter(lambda x: x.own > 2).count(),
    t.ward.value_counts(),
    t.distinct().count(),
    t.mutate(b=ibis.cases((t.age < 18, "child"), else_="adult")).group_by("b").aggregate(n=lambda x: x.count()),
    t.mutate(k=t.ward.fill_null("none")).group_by("k").aggregate(n=lambda x: x.count()),
    t.filter((t.age + 1) * 2 < 100, t.cost / 2 > 1.5, t.ward.like("A%")).count(),
]


@pytest.mark.parametrize("expression", ANSWERED)
def test_other_shapes_are_read(expression):
    assert parse(as_sql(expression), POLICY).aggregates


REFUSED = [
    (t, "single rows"),
    (t.ward.upper(), "neither an aggregate"),
    (t.limit(5).count(), "LIMIT keeps"),
    (t.select("ward").distinct().count(), "person"),
    (t.cost.kurtosis(), "aggregate"),
    (t.group_by("ward").aggregate(n=t.count()).limit(2).order_by("n"), "LIMIT"),
    (t.mutate(r=ibis.row_number()).count(), "OVER|windows"),
    (t.join(t.view(), "person").count(), "joined with itself"),
    (ibis.literal(3), "about a table"),
    (ibis.table({"x": "int64"}, name="secret").count(), "no table of that name"),
]


@pytest.mark.parametrize(("expression", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_refusals(expression, why):
    with pytest.raises(QuestionError, match=why):
        parse(as_sql(expression), POLICY)


def test_from_expression_to_answer(tmp_path):
    data = clinic(tmp_path)
    visits = ibis.table({"person": "int64", "ward": "string", "cost": "float64", "day": "date"}, name="visits")
    with dither.testing.seeded(1):
        quote = data.quote(visits.group_by("ward").aggregate(n=visits.count()), epsilon=5)
        answer = quote.release()
    assert answer["ward"] == ["A", "B", "C"]
    again = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    before = str(data.ledger.remaining())
    assert again.release()["n"] == answer["n"]  # the same question: free
    assert str(data.ledger.remaining()) == before
    with pytest.raises(QuestionError, match="single rows"):
        data.quote(visits, epsilon=5)
    assert str(data.ledger.remaining()) == before


def test_what_ibis_cannot_write_is_refused():
    class Odd:
        pass

    Odd.__module__ = "ibis.expr.odd"
    with pytest.raises(QuestionError, match="Ibis cannot write it"):
        as_sql(Odd())
    assert as_sql(datetime.date(2026, 1, 1)) == datetime.date(2026, 1, 1)
    assert as_sql(None) is None
