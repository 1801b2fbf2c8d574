"""EXISTS that stands in WHERE, and children that are looked at without their owners: the same whole numbers as without."""

from __future__ import annotations

import random

import pytest

from dither.privacy.unit import Unit
from dither.query.engines.templates import relations, semi_joins
from dither.query.plan.expressions import ColumnValue, Logic
from dither.query.plan.joins import pairs
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.relations import FilterRows
from dither.query.sql.parse import parse
from tests.query.chain_shop import AskedShop, policy, shop
from tests.seeds import examples, of_the_day

OID, LID = "l.oid = v.oid", "r.lid = v.lid"
CHILDREN = {  # children by the whole key; those of the second list have the person in buyers alone
    f"orders v WHERE EXISTS (SELECT * FROM lines l WHERE {OID} AND l.cost > 3)": True,
    f"orders v WHERE NOT EXISTS (SELECT * FROM lines l WHERE {OID} AND l.ward = v.ward)": True,
    f"orders v WHERE v.cost > 3 AND NOT (EXISTS (SELECT * FROM lines l WHERE {OID})) AND v.ward = 'A'": True,
    f"orders v WHERE v.cost > 3 OR EXISTS (SELECT * FROM lines l WHERE {OID} AND l.cost > 3)": True,
    "orders v WHERE v.oid NOT IN (SELECT oid FROM lines WHERE ward <> 'A')": True,
    "lines v WHERE EXISTS (SELECT 1 FROM lines l WHERE l.oid = v.oid AND l.lid = v.lid)": True,
    "lines v JOIN orders o ON o.oid = v.oid WHERE v.oid IN (SELECT oid FROM lines l WHERE l.ward = v.ward)": True,
    f"lines v WHERE EXISTS (SELECT 1 FROM returns r WHERE {LID}) AND NOT EXISTS (SELECT 1 FROM lines l WHERE {OID})": True,
    f"lines v JOIN wards w ON w.ward = v.ward WHERE EXISTS (SELECT 1 FROM returns r WHERE {LID} AND r.cost > 3)": True,
    f"(SELECT v.oid AS oid, v.cost AS cost FROM orders v WHERE EXISTS (SELECT 1 FROM lines l WHERE {OID})) v": True,
    "orders v WHERE (v.oid, v.who) IN (SELECT p.oid, p.who FROM parcels p)": True,
    # parents; rows of the person that no key finds; people who are counted; a part of the key
    "lines v WHERE EXISTS (SELECT 1 FROM orders o WHERE o.oid = v.oid AND o.cost > 3)": False,
    f"orders v WHERE EXISTS (SELECT 1 FROM lines l WHERE {OID} AND l.cost > v.cost)": False,
    "orders v WHERE EXISTS (SELECT 1 FROM lines l JOIN returns r ON r.lid = l.lid WHERE l.oid = v.oid)": False,
}
FULL = {
    "buyers v WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.cid = v.cid)": True,
    "orders v WHERE EXISTS (SELECT 1 FROM orders o WHERE o.cid = v.cid AND o.ward = v.ward)": True,
}
ASKED = [*((rest, True) for rest in CHILDREN), *((rest, False) for rest in FULL)]


def semi_join(rest, *, direct):
    """The first semi-join of a question."""
    found = parse(f"SELECT COUNT(*) AS n FROM {rest}", policy(direct=direct)).relation
    while not isinstance(found, SemiJoin):
        found = found.of
    while isinstance(found.of, SemiJoin):
        found = found.of
    return found


@pytest.mark.parametrize(("rest", "direct"), ASKED)
def test_which_rows_are_own_children(rest, direct):
    assert (semi_joins.own_children(semi_join(rest, direct=direct)) is not None) == {**CHILDREN, **FULL}[rest]


@pytest.mark.parametrize(("rest", "direct"), ASKED)
def test_the_same_whole_numbers_as_with_owners(rest, direct, monkeypatch):
    rng = of_the_day("semi-joins", rest, direct)
    by = "v.ward" if not rest.startswith("(") else ""
    asked = f"SELECT {by}{', ' if by else ''}COUNT(*) AS n, SUM(v.cost) AS c FROM {rest}{f' GROUP BY {by}' if by else ''}"
    for _ in range(examples(1, 60)):
        monkeypatch.setattr(pairs, "MOST_PAIRED", rng.choice([1, 3, 1000]))
        here, data = AskedShop(asked, "groups", rows=9, direct=direct), shop(rng, 20)
        fast, text = here.totals(data, rng), here.sql()
        with monkeypatch.context() as patch:
            patch.setattr(relations, "own_children", lambda _: None)
            patch.setattr(relations, "asserted", lambda _: {})
            assert here.sql() != text
            assert here.totals(data, rng) == fast


def test_conditions_that_hold_in_every_row_that_is_kept():
    a, b = (ColumnValue(semi_join(f"orders v WHERE {n} EXISTS (SELECT 1 FROM lines l WHERE {OID})", direct=True).match)
            for n in ("", "NOT"))  # fmt: skip
    assert semi_joins.asserted(Logic(True, (a, Logic(True, (b,))))) == {a.column.name: True}
    assert semi_joins.asserted(Logic(False, (a, b))) == {}
    assert semi_joins.asserted(None) == {}


# -- planted bugs ----------------------------------------------------------------------------------------------------------


def _parents_too(join):
    """Parents taken for children: another person may have one with the same key."""
    other = join.other
    while isinstance(other, FilterRows):
        other = other.of
    return other.links[0].table if hasattr(other, "links") and other.above else None


def _moves(rest, unit):
    rng = random.Random(7)
    for _ in range(60):
        asked = AskedShop(f"SELECT COUNT(*) AS n FROM {rest}", "groups", unit, 1, 1, direct=False)
        if asked.moved_too_far(shop(rng), rng) is not None:
            return True
    return False


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_parents_without_owners_are_found_by_the_search(unit, monkeypatch):
    rest = "lines v WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.oid = v.oid AND o.cost > 3)"
    monkeypatch.setattr(relations, "own_children", _parents_too)
    assert _moves(rest, unit)


def test_rows_that_an_or_would_keep_are_found(monkeypatch):
    rest = f"orders v WHERE v.cost > 3 OR EXISTS (SELECT * FROM lines l WHERE {OID} AND l.cost > 3)"
    rng = random.Random(3)
    here, data = AskedShop(f"SELECT COUNT(*) AS n FROM {rest}", "groups", rows=9), shop(rng, 30)
    whole = here.totals(data, rng)
    name = semi_join(rest, direct=True).match.name
    monkeypatch.setattr(relations, "asserted", lambda _: {name: True})
    assert here.totals(data, rng) != whole
