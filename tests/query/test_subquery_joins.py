"""Subqueries that release nothing: about the person of a row, which are joins; about public tables, which are numbers."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.query.dataset import Dataset
from dither.query.public_constants import total_of, with_public_constants
from dither.query.sources.find_source import find_source
from tests.query.clinics import clinic, ledger, visits
from tests.query.owners import TABLES, policy, table_of
from tests.query.owners import clinic as random_clinic

OWN = "FROM visits AS o WHERE o.person = visits.person"
SAME = [
    f"cost > (SELECT AVG(cost) {OWN})",
    f"cost > 0.5 * (SELECT AVG(o.cost) + 3 {OWN})",
    f"cost > (SELECT AVG(o.cost) {OWN} AND o.ward = 'A') AND age > 20",
    f"cost >= (SELECT MAX(o.cost) {OWN})",
    f"(SELECT COUNT(*) {OWN} AND o.cost > 200) >= 2",
    f"0 < (SELECT COUNT(*) {OWN} AND o.cost > 300)",
    f"NOT cost < (SELECT AVG(cost) {OWN}) OR age < 30",
    f"(SELECT COUNT(o.cost) {OWN}) < 4",
    f"cost BETWEEN (SELECT MIN(o.cost) {OWN} AND o.sex = 'f') AND (SELECT SUM(o.cost) / 3 {OWN})",
    f"age > (SELECT AVG(age) FROM visits) AND cost = (SELECT MIN(o.cost) {OWN})",
    f"CASE WHEN cost > (SELECT AVG(o.cost) {OWN}) THEN age ELSE 99 END > 50",
]
REFUSED = [
    ("cost > (SELECT AVG(cost) FROM visits AS o WHERE o.ward = visits.ward)", "rows of several people"),
    (f"(SELECT COUNT(*) {OWN} AND o.cost > 200) < 2", "dropped by a join"),
    (f"NOT cost > (SELECT AVG(o.cost) {OWN} AND o.ward = 'A')", "dropped by a join"),
    (f"COALESCE((SELECT AVG(o.cost) {OWN} AND o.ward = 'A'), 3) < cost", "dropped by a join"),
    (f"(SELECT COUNT(*) + 1 {OWN} AND o.cost > 200) >= 1", "dropped by a join"),
    (f"cost > (SELECT AVG(cost) {OWN} AND o.cost < visits.cost)", "more than the equality of the person"),
    ("cost > (SELECT AVG(cost) FROM visits AS o WHERE o.person > visits.person)", "more than the equality"),
    ("cost > (SELECT AVG(cost) FROM visits AS o WHERE o.person = visits.person OR o.cost > 3)", "more than the equality"),
    (f"cost > (SELECT o.cost {OWN})", "no total of a person's own rows"),
    (f"cost > (SELECT AVG(o.cost) {OWN} GROUP BY o.ward)", "no total of a person's own rows"),
]


@pytest.mark.parametrize("condition", SAME)
def test_a_subquery_about_the_person_means_what_sql_means(tmp_path, condition):
    data = clinic(tmp_path, ledger=ledger(tmp_path, dither.pure(10**14)), max_rows_per_group=60)
    sql = f"SELECT COUNT(*) AS n, SUM(age) AS s FROM visits WHERE {condition}"
    quote = data.quote(sql, epsilon=10**6)
    with duckdb.connect() as engine:
        engine.register("visits", visits())
        ((n, total),) = engine.execute(sql).fetchall()
    (row,) = quote.release().rows()
    assert row["n"] == n
    assert row["s"] == pytest.approx(total, abs=1)
    assert len(quote.offer.inner) == condition.count("AVG(age)")  # nothing else is released first


@pytest.mark.parametrize(("condition", "why"), REFUSED)
def test_what_means_something_else_is_refused(tmp_path, condition, why):
    with pytest.raises(QuestionError, match=why) as caught:
        clinic(tmp_path).quote(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", epsilon=1)
    assert caught.value.instead


# -- public tables -------------------------------------------------------------------------------------------------------

WARDS = [("A", 1, "x"), ("B", 4, "y"), ("C", None, "x"), (None, 7, "y"), ("D", -(2**62), "x"), ("A", 3, None)]
NUMBERS = [
    "SELECT AVG(floor) FROM wards WHERE floor > 0",
    "SELECT MAX(floor) - 2 * MIN(w.floor) / 8 FROM wards AS w WHERE w.floor > 0",
    "SELECT COUNT(*) FROM wards",
    "SELECT COUNT(floor) FROM wards WHERE site = 'x'",
    "SELECT SUM(floor) FROM wards WHERE ward IN ('A', 'B')",
    "SELECT MEDIAN(floor) FROM wards WHERE floor BETWEEN 0 AND 9",
    "SELECT -COUNT(*) + 9 FROM wards WHERE ward IS NULL",
]


@pytest.fixture
def shop(tmp_path):
    rules, rng = policy(), random.Random(4)
    book = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(10**9))
    book.bind(rules.domain, rules.hash)
    data = random_clinic(rng) | {"wards": WARDS}
    return Dataset(rules, book, {name: find_source(table_of(name, data[name], rng), None, name) for name in TABLES})


@pytest.mark.parametrize("inner", NUMBERS)
def test_a_public_table_gives_an_exact_number_at_no_price(shop, inner):
    with duckdb.connect() as engine:
        engine.register("wards", table_of("wards", WARDS, random.Random(1)))
        ((expected,),) = engine.execute(inner).fetchall()
    quote = shop.quote(f"SELECT COUNT(*) AS n FROM visits WHERE age > ({inner})", epsilon=1)
    plain = shop.quote(f"SELECT COUNT(*) AS n FROM visits WHERE age > {expected!r}", epsilon=1)
    assert quote.question == plain.question  # the number is part of the question
    assert quote.guarantee == plain.guarantee
    assert not quote.offer.inner


def test_in_select_and_in_a_batch_and_beside_a_private_one(shop):
    sql = "SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM wards) AS x, COUNT(*) AS n FROM visits"
    (row,) = shop.quote(sql, epsilon=10**4).release().rows()
    assert row["x"] == pytest.approx(row["n"] * 100 / 6)
    private = "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits)"
    both = f"{private} AND age < (SELECT 9 * MAX(floor) FROM wards)"
    assert len(shop.quote(both, epsilon=1).offer.inner) == 1
    batch = shop.quote([sql, both], epsilon=1)
    assert len(batch) == 2


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("SELECT AVG(floor) FROM wards WHERE ward = 'nobody'", "it is NULL"),
        ("SELECT MIN(ward) FROM wards", "no number"),
        ("SELECT floor FROM wards", "no number of a public table"),
        ("SELECT AVG(floor), 3 FROM wards", "more than one column"),
        ("SELECT AVG(floor) FROM wards GROUP BY site", "of all rows of a public table"),
        ("SELECT AVG(floor) FROM wards WHERE ward = visits.ward", "is called wards here"),
        ("SELECT AVG(nothing) FROM wards", "no such column"),
    ],
)
def test_what_is_no_number_of_a_public_table_is_refused_before_any_charge(shop, inner, why):
    with pytest.raises(QuestionError, match=why):
        shop.quote(f"SELECT COUNT(*) AS n FROM visits WHERE age > ({inner})", epsilon=1)
    assert shop.ledger.remaining().used == 0


def test_a_text_without_such_a_subquery_stays_as_it_is(shop):
    for text in ("select  Count(*) from VISITS", "SELECT COUNT(*)  FROM (select * FROM visits) v"):
        assert with_public_constants(text, shop) == text


def test_totals_do_not_depend_on_the_order_of_rows():
    cells = [1e16, 1.0, -1e16, None, 0.1, 3, 2**60]
    for kind in ("sum", "avg", "min", "max", "median", "count"):
        found = {total_of(kind, random.Random(seed).sample(cells, len(cells))) for seed in range(20)}
        assert len(found) == 1, kind
    assert total_of("sum", [None]) is None
    assert total_of("count", [None, 1]) == 1
    assert total_of("sum", [2**62, 2**62]) == Fraction(2**63)
    with pytest.raises((OverflowError, ValueError)):
        total_of("sum", [math.inf, -math.inf])


def test_infinities_of_a_public_table_are_refused(tmp_path):
    rules, rng = policy(), random.Random(4)
    rates = {"public": True, "columns": {"rate": {"type": "float"}}}
    rules = policy(rates=rates)
    book = dither.Ledger.create(tmp_path / "b.ledger", budget=dither.pure(10))
    book.bind(rules.domain, rules.hash)
    data = random_clinic(rng)
    sources = {name: find_source(table_of(name, data[name], rng), None, name) for name in TABLES}
    table = pyarrow.table({"rate": [1.5, math.nan, math.inf]})
    shop = Dataset(rules, book, {**sources, "rates": find_source(table, None, "rates")})
    with pytest.raises(QuestionError, match="infinities"):
        shop.quote("SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT SUM(rate) FROM rates)", epsilon=1)
    quote = shop.quote("SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT MIN(rate) FROM rates)", epsilon=1)
    assert "cost > 1.5" in quote.sql  # what is no number is missing
