"""Rows that belong to people through other tables: they mean what SQL means, and nobody moves more than is claimed, whatever
keys she repeats."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.engines.templates import chains
from dither.query.plan.chain import MOST_REPEATED, scanned
from dither.query.plan.describe import describe
from dither.query.sql.parse import parse
from tests.query.chain_shop import TABLES, AskedShop, ShopGrammar, policy, shop, without
from tests.query.owners import table_of
from tests.seeds import examples

ALONE = [
    "lines v",
    "returns v",
    "parcels v",
    "lines v JOIN wards w ON w.ward = v.ward",
    "returns v LEFT JOIN wards w ON w.ward = v.ward",
    "(SELECT * FROM lines WHERE cost > 1) v",
    "(SELECT ward, cost FROM lines UNION ALL SELECT ward, cost FROM returns) v",
]
ALONG = [
    "lines v JOIN orders o ON v.oid = o.oid",
    "orders o JOIN lines v ON v.oid = o.oid",
    "orders v JOIN lines l USING (oid)",
    "returns v JOIN lines l ON l.lid = v.lid",
    "returns v JOIN lines l ON l.lid = v.lid JOIN orders o ON o.oid = l.oid",
    "orders o JOIN lines l ON l.oid = o.oid JOIN returns v ON v.lid = l.lid",
    "lines l JOIN returns v ON v.lid = l.lid JOIN orders o ON o.oid = l.oid",
    "lines v JOIN orders o ON v.oid = o.oid AND v.ward = o.ward",
    "lines v JOIN wards w ON w.ward = v.ward JOIN orders o ON v.oid = o.oid",
    "orders o LEFT JOIN wards w ON w.ward = o.ward JOIN lines v ON v.oid = o.oid",
    "parcels v JOIN orders o ON o.oid = v.oid AND o.who = v.who",
    "(SELECT l.ward AS ward, l.cost AS cost FROM lines l JOIN orders o ON l.oid = o.oid WHERE o.cost > 1) v",
]
DIRECT = [
    "lines l JOIN orders o ON l.oid = o.oid JOIN buyers v ON v.who = o.who",
    "buyers v JOIN orders o ON v.who = o.who JOIN lines l ON l.oid = o.oid",
    "orders o JOIN buyers v ON v.who = o.who JOIN lines l ON l.oid = o.oid JOIN returns r ON r.lid = l.lid",
    "(SELECT o.who AS who, SUM(l.cost) AS cost, MIN(l.ward) AS ward FROM lines l JOIN orders o ON l.oid = o.oid"
    " GROUP BY o.who) v",
    "(SELECT o.who AS who, o.oid AS oid, SUM(l.cost) AS cost, MIN(l.ward) AS ward FROM lines l JOIN orders o"
    " ON l.oid = o.oid GROUP BY o.who, o.oid) v",
]
FULL = [
    "lines v JOIN orders o ON v.oid = o.oid JOIN buyers b ON b.cid = o.cid",
    "buyers v JOIN orders o ON v.cid = o.cid JOIN lines l ON l.oid = o.oid",
    "orders v JOIN lines l ON l.oid = v.oid JOIN buyers b ON b.cid = v.cid JOIN wards w ON w.ward = b.ward",
    "orders v JOIN buyers b ON b.cid = v.cid",
    "orders v",
]
RELATIONS = [
    (relation, direct)
    for both in (True, False)
    for relation, direct in [
        *((one, both) for one in ALONE + ALONG),
        *((one, both) for one in (DIRECT if both else FULL)),
    ]
]
WAYS = ["weights", "clip", "groups"]


def question(relation, rng):
    ward = "" if "MIN(" in relation or rng.random() < 0.3 else "v.ward"  # of the least ward nobody declared keys
    asked = rng.sample(["COUNT(*)", "SUM(v.cost)", "AVG(v.cost)", "COUNT(v.cost)"], rng.randrange(1, 3))
    shown = ", ".join(f"{one} AS a{at}" for at, one in enumerate(asked))
    where = rng.choice(["", "", " WHERE v.cost > 3", " WHERE v.ward <> 'A'"])
    by = f" GROUP BY {ward}" if ward else ""
    return f"SELECT {f'{ward}, ' if by else ''}{shown} FROM {relation}{where}{by}"


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=examples(50, 4000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_person_moves_no_more_than_is_claimed(unit, seed):
    rng = random.Random(seed)
    relation, direct = rng.choice(RELATIONS)
    sql, limits = question(relation, rng), (rng.choice([1, 3]), rng.choice([1, 3]))
    asked = AskedShop(sql, rng.choice(WAYS), unit, *limits, direct=direct)
    assert asked.moved_too_far(shop(rng), rng) is None, sql


def ask_at_random(seed, unit):
    """One random question about one random shop: refused (None), or nobody moves it further than is claimed."""
    rng = random.Random(seed)
    direct = rng.random() < 0.5
    sql = ShopGrammar(rng, direct=direct).question()
    try:
        asked = AskedShop(sql, rng.choice(WAYS), unit, rng.choice([1, 3]), rng.choice([1, 3]), direct=direct)
    except QuestionError:
        return None
    assert asked.moved_too_far(shop(rng, rng.choice([3, 12])), rng) is None, sql
    return asked


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=examples(40, 4000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_refused_or_one_person_moves_no_more_than_is_claimed(unit, seed):
    ask_at_random(seed, unit)


def test_random_questions_reach_chains():
    """Otherwise the test above would say nothing of them."""
    found = []
    for seed in range(1000):
        rng = random.Random(seed)
        direct = rng.random() < 0.5
        with suppress(QuestionError):
            found.append(describe(parse(ShopGrammar(rng, direct=direct).question(), policy(direct=direct))))
    assert sum("by the owner of its" in one for one in found) > 30
    assert sum("beside its" in one for one in found) > 20
    assert sum("beside its" in one and "a row for each person" in one for one in found) > 2


def broken_search(monkeypatch, name, planted, relations, unit=Unit.ADD_REMOVE):
    """Whether the same search finds a template that was changed."""
    plain = getattr(chains, name)
    monkeypatch.setattr(chains, name, lambda *given, **more: planted(plain(*given, **more)))
    rng = random.Random(4)
    for _ in range(120):
        asked = AskedShop(f"SELECT COUNT(*) AS n FROM {rng.choice(relations)}", "groups", unit, 1, 1)
        data = shop(rng)
        if asked.moved_too_far(data, rng) is not None:
            return True
    return False


PLANTED = {
    "one parent is chosen by content": ("_owners", "SELECT k0, min(p) AS p FROM ({}) AS b GROUP BY k0", ["lines v"]),
    "one parent is chosen, the last": ("_owners", "SELECT k0, max(p) AS p FROM ({}) AS b GROUP BY k0", ["lines v"]),
    "ambiguous rows are dropped": (
        "_owners", "SELECT k0, min(p) AS p FROM ({}) AS b GROUP BY k0 HAVING count(*) = 1", ["lines v"],
    ),
    "one parent is chosen, where it is shown": (
        "_few", 'SELECT * FROM ({}) AS b QUALIFY row_number() OVER (PARTITION BY "o.oid" ORDER BY who DESC) = 1',
        ["lines v JOIN orders o ON v.oid = o.oid"],
    ),
    "ambiguous rows are dropped, where they are shown": (
        "_few", 'SELECT * FROM ({}) AS b QUALIFY count(*) OVER (PARTITION BY "o.oid") = 1',
        ["lines v JOIN orders o ON v.oid = o.oid"],
    ),
    "repeated keys are counted among all people": (
        "_few", lambda sql: sql.replace('PARTITION BY q."who", ', "PARTITION BY "),
        ["lines v JOIN orders o ON v.oid = o.oid"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug, monkeypatch):
    name, planted, relations = PLANTED[bug]
    assert broken_search(monkeypatch, name, planted if callable(planted) else planted.format, relations), bug


@pytest.mark.parametrize(("relation", "direct"), RELATIONS)
def test_it_means_what_sql_means(relation, direct):
    """Where keys are those of one row, and limits do not bind, totals are those of DuckDB on the question as written."""
    rng = random.Random(3)
    data = {
        "buyers": [(at, at, rng.choice("ABC"), at / 4) for at in range(6)],
        "orders": [(at, at % 6, at % 6, rng.choice("ABC"), at / 2) for at in range(20)],
        "lines": [(f"l{at}", rng.randrange(20), rng.choice("ABC"), rng.randrange(200) / 4) for at in range(60)],
        "returns": [(f"l{rng.randrange(60)}", rng.choice("ABC"), rng.randrange(200) / 4) for _ in range(25)],
        "parcels": [(at, at % 6, rng.choice("ABC"), at / 4) for at in range(20)],
        "wards": [("A", "x"), ("B", "y"), ("C", "y")],
    }
    asked = AskedShop(
        f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM {relation}", "groups", groups=1, rows=10**6, direct=direct
    )
    (found,) = asked.totals(data, rng).values()
    with duckdb.connect() as engine:
        for name, rows in data.items():
            engine.register(name, table_of(name, rows, rng, TABLES))
        n, cost = engine.execute(f"SELECT COUNT(*), SUM(v.cost) FROM {relation}").fetchone()
    measures = [measure for family in asked.strategy.sets for measure in family.measures]
    by_kind = {measure.kind: total * measure.step for measure, total in zip(measures, found, strict=True)}
    assert by_kind["one"] == n > 0
    assert float(by_kind["steps"]) == pytest.approx(cost)


def totals(sql, data, direct=True, rows=1000):
    whole = {name: data.get(name, []) for name in TABLES}
    return AskedShop(sql, "groups", groups=1, rows=rows, direct=direct).totals(whole, random.Random(1))


def test_a_row_belongs_once_to_each_who_has_its_parent():
    """Nobody is chosen, nothing is dropped because two have a key; a row that leads nowhere is nobody's."""
    orders = [(1, 0, 1, "A", 1.0), (1, 0, 2, "A", 1.0), (1, 0, 2, "B", 1.0), (2, 0, None, "A", 1.0), (None, 0, 3, "A", 1.0)]
    lines = [("a", 1, "A", 1.0), ("b", 2, "A", 1.0), ("c", None, "A", 1.0), ("d", 7, "A", 1.0)]
    data = {
        "orders": orders,
        "lines": lines,
        "returns": [("a", "A", 1.0), ("A", "A", 1.0), ("a ", "A", 1.0), (None, "A", 1.0)],
    }
    assert totals("SELECT COUNT(*) AS n FROM lines", data) == {(): (2,)}  # of 1 and of 2, once each
    assert totals("SELECT COUNT(*) AS n FROM lines l JOIN orders o ON l.oid = o.oid", data) == {(): (3,)}  # pairs
    assert totals("SELECT COUNT(*) AS n FROM returns", data) == {(): (2,)}  # texts are compared by their bytes
    assert totals("SELECT COUNT(DISTINCT o.who) AS n FROM lines l JOIN orders o ON l.oid = o.oid", data) == {(): (2,)}


def test_the_child_may_have_the_person_as_well():
    orders = [(1, 0, 1, "A", 1.0), (1, 0, 2, "A", 1.0)]
    parcels = [(1, 1, "A", 1.0), (1, 3, "A", 1.0), (1, None, "A", 1.0)]
    assert totals("SELECT COUNT(*) AS n FROM parcels", {"orders": orders, "parcels": parcels}) == {(): (1,)}


def test_a_person_who_repeats_a_key_is_left_out_of_it_alone():
    lines = [("a", 1, "A", 1.0)] * 3 + [("b", 2, "A", 1.0)]
    orders = [(1, 0, 1, "A", 1.0)] * MOST_REPEATED + [(2, 0, 2, "A", 1.0)]
    sql = "SELECT COUNT(*) AS n FROM lines l JOIN orders o ON l.oid = o.oid"
    assert totals(sql, {"lines": lines, "orders": orders}) == {(): (3 * MOST_REPEATED + 1,)}
    more = [*orders, (1, 0, 1, "A", 1.0), (1, 0, 2, "A", 1.0), (2, 0, 1, "B", 1.0)]
    assert totals(sql, {"lines": lines, "orders": more}) == {(): (1 + 3 + 1,)}
    assert totals("SELECT COUNT(*) AS n FROM lines", {"lines": lines, "orders": more}) == {(): (3 + 3 + 2,)}
    plan = parse(sql, policy())
    assert "more than 10 times" in describe(plan)
    assert plan.table.drops_people
    assert not plan.table.shares_rows
    alone = parse("SELECT COUNT(*) AS n FROM lines", policy()).relation
    assert alone.table.shares_rows  # a row may belong to several people, and count for each
    unique = scanned(replace(alone.links[0].table, hard=frozenset({"owner"})), alone.above).table
    assert not unique.shares_rows
    assert not unique.drops_people


@pytest.mark.parametrize(("relation", "direct"), RELATIONS)
def test_many_keys_of_one_person_take_no_longer_than_the_table_allows(relation, direct):
    """20,000 parents of hers with one key, beside 20,000 rows that have it: 4 x 10^8 pairs, were they made."""
    many = 20_000
    data = {
        "buyers": [(1, 1, "A", 1.0)] * many,
        "orders": [(1, 1, 1, "A", 1.0)] * many,
        "lines": [("a", 1, "A", 1.0)] * many,
        "returns": [("a", "A", 1.0)] * many,
        "parcels": [(1, 1, "A", 1.0)] * many,
        "wards": [("A", "x")],
    }
    began = time.perf_counter()
    totals(f"SELECT COUNT(*) AS n FROM {relation}", data, direct, rows=3)
    assert time.perf_counter() - began < 20


@pytest.mark.parametrize(
    "relation",
    [
        "lines l JOIN orders o ON l.ward = o.ward",
        "lines l JOIN returns r ON l.oid = 3",
        "orders o JOIN lines l ON l.oid = o.oid JOIN parcels p ON p.oid = o.oid AND p.who = o.who",
        "parcels p JOIN orders o ON p.oid = o.oid",
        "lines l JOIN lines m ON l.oid = m.oid",
        "lines l JOIN orders o ON l.oid = o.oid JOIN orders x ON x.oid = l.oid",
        "lines l LEFT JOIN orders o ON l.ward = o.ward",
        "orders o LEFT JOIN lines l ON l.oid = o.cid",
        "(SELECT oid, cost FROM lines) l JOIN orders o ON l.oid = o.oid",
        "lines l JOIN (SELECT * FROM orders) o ON l.oid = o.oid",
        "lines l JOIN buyers b ON l.oid = b.cid",
        "returns r JOIN orders o ON r.lid = o.ward",
        "lines l JOIN parcels p ON l.oid = p.oid",
        "(SELECT ward, SUM(cost) AS c FROM lines GROUP BY ward) l",
        "(SELECT oid, SUM(cost) AS c FROM parcels GROUP BY oid) l",
    ],
)  # fmt: skip
def test_other_joins_stay_refused(relation):
    for direct in (True, False):
        with pytest.raises(QuestionError) as refused:
            parse(f"SELECT COUNT(*) AS n FROM {relation}", policy(direct=direct))
        assert str(refused.value).isprintable()


def test_a_refusal_names_the_chain():
    with pytest.raises(QuestionError, match=r"lines JOIN orders ON lines\.oid = orders\.oid"):
        parse("SELECT COUNT(*) AS n FROM lines l JOIN orders o ON l.ward = o.ward", policy())


def test_a_refusal_names_no_table_that_the_question_does_not():
    """Orders have their owners through buyers, of whom nothing is asked."""
    with pytest.raises(QuestionError) as refused:
        parse("SELECT COUNT(*) AS n FROM orders o JOIN parcels p ON o.who = p.who", policy(direct=False))
    assert "parcels JOIN orders ON parcels.oid = orders.oid AND parcels.who = orders.who" in refused.value.instead


def test_limits_are_those_of_the_first_table():
    plan = parse("SELECT COUNT(*) AS n FROM lines l JOIN orders o ON l.oid = o.oid", policy(3, 4))
    assert (plan.table.max_groups, plan.table.max_rows_per_group, plan.table.person) == (3, 4, "who")
    names = [column.name for column in plan.table.columns]
    assert len(set(names)) == len(names)


def test_a_neighbour_is_what_the_theorem_says():
    """The brute force of these tests: rows whose chains end at her alone go or stay as nobody's, others stay."""
    rng = random.Random(1)
    orders = [(1, 0, 1, "A", 1.0), (2, 0, 1, "A", 1.0), (2, 0, 2, "A", 1.0)]
    data = {name: [] for name in TABLES} | {"orders": orders, "lines": [("a", 1, "A", 1.0), ("b", 2, "A", 1.0)]}
    found = [without(data, 1, rng, direct=True, come=False) for _ in range(20)]
    assert {len(one["lines"]) for one in found} == {1, 2}
    assert all(("b", 2, "A", 1.0) in one["lines"] and one["orders"] == orders[2:] for one in found)
