"""Mistakes that other libraries shipped, asked of us: the same shape of question, the measured change against the claim.

Each name is that of a public report. What they share: a bound that was true at one step was still claimed after another
step had broken it. Here bounding comes once, after everything, so that there is no earlier bound to lose.
"""

from __future__ import annotations

import random
from fractions import Fraction

import duckdb
import pyarrow
import pytest

from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import relation_sql
from dither.query.engines.templates.totals import totals_sql
from dither.query.plan.relations import Scan
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse
from dither.query.statistics.choose_bounding import choose_bounding
from tests.query.owners import Asked, policy

WAYS = ["weights", "clip", "groups"]
UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]


def everywhere(person, rows):
    """A person with many rows in every ward, at every age."""
    wards = "ABC"
    return [(person, wards[place % 3], float(place % 100), place % 120) for place in range(rows)]


def moves(sql, way, unit, data, rest, **limits):
    """The exact totals change, and by no more than is claimed."""
    asked, rng = Asked(sql, way, unit, **limits), random.Random(3)
    one, other = asked.totals(data, rng), asked.totals(rest, rng)
    assert one != other
    assert not asked.breaks(one, other)
    return asked


def crowd(rows=100):
    others = [row for person in range(2, 40) for row in everywhere(person, 3)]
    hers, wards = everywhere(1, rows), [("A", 1, "x")] * 3
    rest = {"visits": others, "stays": others[:50], "wards": wards}
    return {"visits": others + hers, "stays": others[:50] + hers, "wards": wards}, rest


REDEFINED = [
    # the key is another column under its name
    "SELECT ward, COUNT(*) AS n FROM (SELECT CASE WHEN age < 60 THEN 'A' ELSE 'B' END AS ward FROM visits) v GROUP BY ward",
    # after a person's rows were brought down to one a key, the key is made coarser, so that she has many again
    "SELECT ward, COUNT(*) AS n FROM (SELECT CASE WHEN age < 60 THEN 'A' ELSE 'B' END AS ward"
    " FROM (SELECT DISTINCT person, age FROM visits) d) v GROUP BY ward",
    # after her own totals by key, the key goes
    "SELECT COUNT(*) AS n FROM (SELECT person, age, COUNT(*) AS m FROM visits GROUP BY person, age) v",
    # after she has one row, a public table gives her many
    "SELECT COUNT(*) AS n FROM (SELECT person, MIN(ward) AS ward FROM visits GROUP BY person) v"
    " JOIN wards w ON v.ward = w.ward",
    # after she has one row, another table gives her many
    "SELECT COUNT(*) AS n FROM (SELECT person, COUNT(*) AS m FROM visits GROUP BY person) v"
    " JOIN stays s ON v.person = s.patient",
    # after she has one row in each part, she has two
    "SELECT COUNT(*) AS n FROM"
    " (SELECT person FROM visits GROUP BY person UNION ALL SELECT patient FROM stays GROUP BY patient) u",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sql", REDEFINED)
def test_opendp_2949_a_redefined_column_keeps_no_old_bound(sql, way, unit):
    whole, rest = crowd()
    asked = moves(sql, way, unit, whole, rest, groups=1, rows=1)
    assert asked.bounding.way != "each row"  # nobody is taken to have one row where she can have two


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("way", WAYS)
def test_opendp_2945_what_is_claimed_once_is_not_true_twice(way, unit):
    """Claimed 1, true 2: two counts of the same rows are two numbers, each with its claim and its share of the budget."""
    sql = "SELECT ward, COUNT(*) AS n, COUNT(cost) AS m, COUNT(age) AS k FROM visits GROUP BY ward"
    whole, rest = crowd(3)
    asked = moves(sql, way, unit, whole, rest, groups=1, rows=1)
    assert len(asked.strategy.sets) == 3
    assert sum(asked.strategy.shares(pure=asked.pure)) == 1
    both = "(SELECT ward, cost FROM visits UNION ALL SELECT ward, cost FROM visits) v"
    twice = moves(f"SELECT ward, COUNT(*) AS n FROM {both} GROUP BY ward", way, unit, whole, rest, groups=1, rows=1)
    assert twice.question.table.max_rows_per_group == 2  # the rows of one table, twice: said, and paid for


def test_opendp_2922_a_key_is_declared_or_chosen_at_a_price():
    """A threshold that shows too many: keys come from rows in no other way (test_unknown_keys.py has the law)."""
    for relation in ("(SELECT MIN(ward) AS k FROM visits GROUP BY person) v", "visits v JOIN wards w ON v.ward = w.ward"):
        key = "k" if "k" in relation.split() else "w.ward"
        plan = parse(f"SELECT {key}, COUNT(*) FROM {relation} GROUP BY 1", policy())
        assert plan.groups[0].keys is None
    asked, rng = (
        Asked("SELECT site, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY site"),
        random.Random(1),
    )
    data = {"visits": [(1, "A", 1.0, 3)], "wards": [("A", 1, "only here")]}
    assert asked.totals(data, rng) == {}


@pytest.mark.parametrize("lower", [2**40, 2**52 - 1, 2**61])
@pytest.mark.parametrize("unit", UNITS)
def test_opendp_2923_a_sum_of_large_numbers_in_a_narrow_range(lower, unit):
    """Bounds M and M + 1, thousands of rows: added up in doubles, one row moves the sum by more than M + 1."""
    columns = {"person": {"type": "integer"}, "x": {"type": "integer", "bounds": [lower, lower + 1]}}
    table = {"person": "person", "max_groups": 1, "max_rows_per_group": 1, "columns": columns}
    rules = read_policy({"version": 1, "domain": "clinic", "unit": unit.value, "tables": {"visits": table}})
    rng = random.Random(7)
    rows = [(person, lower + rng.randrange(2)) for person in range(4096)]
    other = rows[1:] if unit is Unit.ADD_REMOVE else [(0, -5), *rows[1:]]
    own = "(SELECT person, SUM(x) AS x FROM visits GROUP BY person) v"
    for sql in ("SELECT SUM(x) AS s FROM visits", "SELECT AVG(x) AS s FROM visits", f"SELECT SUM(x) AS s FROM {own}"):
        plan = parse(sql, rules)
        strategy = choose_counters(plan, pure=True)
        wished = None if plan.table.alone else "groups"
        bounding = choose_bounding(plan, strategy, wished, cells=1, unit=unit, pure=True)
        found = [exact(plan, strategy, bounding, table, threads) for table in (rows, other) for threads in (1, 8)]
        assert found[0] == found[1] != found[2] == found[3]
        place = 0
        for family in strategy.sets:
            part = slice(place, place := place + len(family.measures))
            moved = [a - b for a, b in zip(found[0][part], found[2][part], strict=True)]
            assert sum(map(abs, moved)) <= bounding.l1(family)
            assert sum(change**2 for change in moved) <= bounding.l2_squared(family)
        if "SUM" in sql and "GROUP" not in sql:
            assert Fraction(found[0][0]) * strategy.sets[0].measures[0].step == sum(x for _, x in rows)


def exact(plan, strategy, bounding, rows, threads):
    where = (
        "visits"
        if isinstance(plan.relation, Scan)
        else f"({relation_sql(DUCKDB, plan.relation, {'visits': ('visits', frozenset())})})"
    )
    with duckdb.connect(config={"threads": threads}) as engine:
        engine.register("visits", pyarrow.table({"person": [row[0] for row in rows], "x": [row[1] for row in rows]}))
        (found,) = engine.execute(totals_sql(DUCKDB, plan, strategy.sets, bounding, where, 5)).fetchall()
    return [int(total) for total in found]
