"""EXISTS, IN (SELECT ...) and outer joins along chains of tables: by the key of a chain, whoever repeats it."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.plan.joins import pairs
from dither.query.sql.parse import parse
from tests.query.chain_shop import PEOPLE, TABLES, AskedShop, policy, shop, without
from tests.query.plan.test_other_rows import compared
from tests.seeds import examples

CONDITIONS = [
    "orders v WHERE EXISTS (SELECT * FROM lines l WHERE l.oid = v.oid AND l.cost > 3)",
    "orders v WHERE NOT EXISTS (SELECT * FROM lines l WHERE l.oid = v.oid AND l.cost < v.cost)",
    "orders v WHERE v.oid IN (SELECT oid FROM lines WHERE ward <> 'A')",
    "orders v WHERE v.oid NOT IN (SELECT oid FROM lines)",
    "lines v WHERE EXISTS (SELECT 1 FROM lines l WHERE l.oid = v.oid AND l.ward <> v.ward)",
    "lines v JOIN orders o ON o.oid = v.oid WHERE EXISTS (SELECT 1 FROM lines l WHERE l.oid = o.oid AND l.ward <> v.ward)"
    " AND NOT EXISTS (SELECT 1 FROM lines l WHERE l.oid = v.oid AND l.ward <> v.ward AND l.cost > 25)",
    "lines v WHERE v.oid IN (SELECT o.oid FROM orders o WHERE o.cost > 3)",
    "lines v WHERE NOT EXISTS (SELECT 1 FROM returns r WHERE r.lid = v.lid)",
    "returns v WHERE EXISTS (SELECT 1 FROM lines l JOIN orders o ON o.oid = l.oid WHERE l.lid = v.lid AND o.cost > 3)",
    "orders v WHERE EXISTS (SELECT 1 FROM lines l JOIN returns r ON r.lid = l.lid WHERE l.oid = v.oid)",
    "orders v JOIN lines l ON l.oid = v.oid WHERE l.lid NOT IN (SELECT lid FROM returns)",
    "orders v WHERE (v.oid, v.who) IN (SELECT p.oid, p.who FROM parcels p)",
    "lines v LEFT JOIN wards w ON w.ward = v.ward WHERE w.site IS NULL OR EXISTS (SELECT 1 FROM orders WHERE oid = v.oid)",
]
OUTER = [
    "orders v WHERE v.oid IN (SELECT oid FROM lines GROUP BY oid HAVING SUM(cost) > 60)",
    "orders v WHERE v.oid NOT IN (SELECT DISTINCT oid FROM lines WHERE cost > 9)",
    "(SELECT oid, SUM(cost) AS cost FROM lines GROUP BY oid) v",
    "(SELECT o.oid AS oid, COUNT(*) AS cost FROM orders o LEFT JOIN lines l ON l.oid = o.oid GROUP BY o.oid) v",
    "orders o LEFT JOIN (SELECT oid, COUNT(*) AS cost FROM lines GROUP BY oid) v ON v.oid = o.oid",
    "orders v LEFT JOIN lines l ON l.oid = v.oid",
    "orders v LEFT JOIN lines l ON l.oid = v.oid AND l.cost > 5 AND l.ward = v.ward",
    "orders v LEFT JOIN lines l ON l.oid = v.oid WHERE l.lid IS NULL",
    "lines l RIGHT JOIN orders v ON l.oid = v.oid",
    "orders o FULL JOIN lines v ON v.oid = o.oid AND v.cost > 9",
    "orders v LEFT JOIN lines l ON l.oid = v.oid LEFT JOIN returns r ON r.lid = l.lid",
    "lines v LEFT JOIN returns r ON r.lid = v.lid AND r.cost > 9",
    "lines v ANTI JOIN returns r ON r.lid = v.lid",
    "orders v SEMI JOIN lines l ON l.oid = v.oid AND l.cost > v.cost",
]
DIRECT = [
    "buyers v WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.who = v.who)",
    "buyers v WHERE v.who IN (SELECT o.who FROM lines l JOIN orders o ON o.oid = l.oid GROUP BY o.who HAVING COUNT(*) > 2)",
    "(SELECT v.who AS who, COUNT(o.oid) AS cost FROM buyers v LEFT JOIN orders o ON o.who = v.who AND o.ward <> 'A'"
    " GROUP BY v.who) v",
]
FULL = [
    "buyers v WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.cid = v.cid)",
    "buyers v WHERE EXISTS (SELECT 1 FROM lines l JOIN orders o ON o.oid = l.oid WHERE o.cid = v.cid AND l.cost > v.cost)",
    "(SELECT v.who AS who, COUNT(o.oid) AS cost FROM buyers v LEFT JOIN orders o ON o.cid = v.cid AND o.ward <> 'A'"
    " GROUP BY v.who) v",
    "orders v WHERE EXISTS (SELECT 1 FROM orders o WHERE o.cid = v.cid AND o.oid <> v.oid)",
]
FROM = [
    (rest, direct) for direct in (True, False) for rest in CONDITIONS + OUTER + (DIRECT if direct else FULL)
]  # fmt: skip
FROM = [(rest, direct) for rest, direct in FROM if direct or "parcels" not in rest]  # its owner is then not that of the key


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=examples(45, 6000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_person_moves_no_more_than_is_claimed(unit, seed):
    """Whatever keys of others she repeats, also where people have more rows than are paired."""
    rng = random.Random(seed)
    rest, direct = rng.choice(FROM)
    asked = rng.choice(["COUNT(*) AS n", "SUM(v.cost) AS c", "COUNT(*) AS n, AVG(v.cost) AS c"])
    by = "v.ward" if ") v" not in rest and rng.random() < 0.4 else ""  # where v is a table
    sql = f"SELECT {f'{by}, ' if by else ''}{asked} FROM {rest}{f' GROUP BY {by}' if by else ''}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "MOST_PAIRED", rng.choice([1, 3, 1000]))
        way, limits = rng.choice(["weights", "clip", "groups"]), (rng.choice([1, 3]), rng.choice([1, 3]))
        found = AskedShop(sql, way, unit, *limits, direct=direct)
        assert found.moved_too_far(shop(rng), rng) is None, sql


@pytest.mark.parametrize(("rest", "direct"), FROM)
def test_it_means_what_sql_means(rest, direct):
    """Where a key is that of one row."""
    kept = 0
    for seed in range(2):
        rng = random.Random(seed)
        data = {
            "buyers": [(at, at, rng.choice("ABC"), at / 4) for at in range(8)],
            "orders": [(at, at % 6, at % 6, rng.choice("ABC"), at / 2) for at in range(20)],
            "lines": [(f"l{at}", rng.randrange(15), rng.choice("ABC"), rng.randrange(200) / 4) for at in range(40)],
            "returns": [(f"l{rng.randrange(40)}", rng.choice("ABC"), rng.randrange(200) / 4) for _ in range(25)],
            "parcels": [(at, at % 6, rng.choice("ABC"), at / 4) for at in range(9)],
            "wards": [("A", "x"), ("B", "y")],
        }
        sql = f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM {rest}"
        kept += compared(AskedShop(sql, "groups", groups=1, rows=10**6, direct=direct), sql, data, rng, TABLES)
    assert kept > 0


def test_children_of_a_key_that_two_people_have_are_both_peoples():
    """As in SQL: of each parent those with its key. A child looks at the parents of its own owner."""
    orders = [(1, 0, 1, "A", 1.0), (1, 0, 2, "B", 9.0)]
    data = {name: [] for name in TABLES} | {"orders": orders, "lines": [("a", 1, "A", 5.0)]}
    rng = random.Random(1)

    def n(rest):
        return AskedShop(f"SELECT COUNT(*) AS n FROM {rest}", "groups", groups=1, rows=9).totals(data, rng)[()]

    assert n("orders v WHERE EXISTS (SELECT 1 FROM lines l WHERE l.oid = v.oid)") == (2,)
    assert n("orders v LEFT JOIN lines l ON l.oid = v.oid AND l.cost > v.cost WHERE l.lid IS NULL") == (1,)
    assert n("lines v WHERE EXISTS (SELECT 1 FROM orders o WHERE o.oid = v.oid AND o.cost > 3)") == (1,)


@pytest.mark.parametrize(
    "rest",
    [
        "orders v WHERE EXISTS (SELECT 1 FROM lines l WHERE l.ward = v.ward)",
        "orders v WHERE EXISTS (SELECT 1 FROM lines l WHERE l.oid = v.oid OR l.cost > 3)",
        "orders v WHERE EXISTS (SELECT 1 FROM lines l WHERE l.oid = v.cid)",
        "orders v WHERE v.cid IN (SELECT oid FROM lines)",
        "orders v WHERE EXISTS (SELECT 1 FROM parcels p WHERE p.oid = v.oid)",
        "lines v LEFT JOIN parcels p ON p.oid = v.oid",
        "lines v WHERE EXISTS (SELECT 1 FROM returns r WHERE r.ward = v.ward)",
        "returns v WHERE v.lid IN (SELECT ward FROM orders)",
        "orders v WHERE EXISTS (SELECT 1 FROM (SELECT oid + 0 AS oid FROM lines) l WHERE l.oid = v.oid)",
    ],
)
def test_other_equalities_are_refused(rest):
    for direct in (True, False):
        with pytest.raises(QuestionError, match="equality of the two persons"):
            parse(f"SELECT COUNT(*) AS n FROM {rest}", policy(direct=direct))


PLANTED = {
    "a match among all parents of a key": (
        "lines v WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.oid = v.oid AND o.cost > 3)",
        r'l\."[^"]+" = r\."who" AND ',
    ),
    "pairs by the key alone": (
        "lines v LEFT JOIN orders o ON o.oid = v.oid AND o.cost > 3 WHERE o.oid IS NULL", r'l\."[^"]+" = r\."who" AND ',
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    rest, pattern = PLANTED[bug]
    rng = random.Random(5)
    for _ in range(100):
        asked = AskedShop(f"SELECT COUNT(*) AS n FROM {rest}", "groups", groups=1, rows=1)
        broken = re.sub(pattern, "", asked.sql())
        assert broken != asked.sql()
        asked.sql = lambda _=None, broken=broken: broken
        data = shop(rng)
        whole = asked.totals(data, rng)
        others = [without(data, person, rng, direct=True, come=False) for person in PEOPLE]
        others += [without(data, 9, rng, direct=True, come=True) for _ in range(2)]
        if any(asked.breaks(whole, asked.totals(rest, rng)) for rest in others):
            return
    raise AssertionError(bug)
