"""The limits of joined tables: the product of both sides', enforced whatever the tables hold, and hard where both are."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

import dither
from dither.privacy.unit import Unit
from dither.query.answers.derived.statements import said_by
from dither.query.dataset import Dataset
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.pairs import MOST_PAIRED, most_paired
from dither.query.plan.relations import JoinOnPerson, limits_groups
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse
from tests.query.owners import INT, TEXT, Asked, engine_with, table_of

KINDS = {"rows": {"person": INT, "ward": TEXT, "cost": INT}, "people": {"who": INT, "sex": TEXT, "part": INT}}
FROM = {
    "join": "rows r JOIN people p ON p.who = r.person",
    "join on more": "rows r JOIN people p ON p.who = r.person AND p.part = r.cost",
    "left": "rows r LEFT JOIN people p ON p.who = r.person",
    "left on more": "rows r LEFT JOIN people p ON p.who = r.person AND p.part = r.cost",
    "right": "rows r RIGHT JOIN people p ON p.who = r.person AND p.part > r.cost",
    "full": "rows r FULL JOIN people p ON p.who = r.person",
    "full on more": "rows r FULL JOIN people p ON p.who = r.person AND p.part = r.cost",
    "unmatched": "rows r LEFT JOIN people p ON p.who = r.person AND p.part = r.cost WHERE p.part IS NULL",
    "unmatched inside": "(SELECT person, ward, sex, cost FROM rows r LEFT JOIN people p ON p.who = r.person"
    " WHERE p.who IS NULL) q",
    "semi": "rows r JOIN people p ON p.who = r.person WHERE EXISTS (SELECT 1 FROM rows s WHERE s.person = p.who)",
    "own total": "(SELECT person, COUNT(*) AS cost FROM rows GROUP BY person) r JOIN people p ON p.who = r.person",
    "own totals of pairs": "(SELECT person, sex, COUNT(*) AS cost FROM rows r JOIN people p ON p.who = r.person"
    " GROUP BY person, sex) r",
    "window": "(SELECT person, ward, sex, ROW_NUMBER() OVER (PARTITION BY person ORDER BY cost) AS cost FROM rows r"
    " JOIN people p ON p.who = r.person) q",
    "three": "rows r JOIN people p ON p.who = r.person JOIN (SELECT who, MAX(part) AS m FROM people GROUP BY who) o"
    " ON o.who = p.who",
}  # fmt: skip
GROUPS = {"": "", "ward": "ward, ", "sex": "sex, ", "ward, sex": "ward, sex, "}
LIMITS = {
    "rows": ({"max_rows": 3, "hard": ["max_rows"]}, {"max_rows": 2, "hard": ["max_rows"]}),
    "groups": (
        {"max_groups": 2, "max_rows_per_group": 2, "hard": ["max_groups", "max_rows_per_group"]},
        {"max_rows": 1, "hard": ["max_rows"]},
    ),
    "one": ({"max_rows": 2, "max_groups": 1, "hard": ["max_rows"]}, {"max_rows": 1, "hard": ["max_rows"]}),
}
WARDS, SEXES = "ABA", "fmf"


def stated(limits, unit=Unit.ADD_REMOVE, **more):
    left, right = LIMITS[limits] if isinstance(limits, str) else limits
    number = {"type": "integer", "bounds": [0, 9], "nullable": False}
    ward, sex = ({"type": "text", "keys": keys} for keys in (["A", "B"], ["f", "m"]))
    rows = {"person": "person", **left, "columns": {"person": {"type": "integer"}, "ward": ward, "cost": number}}
    people = {"person": "who", **right, "columns": {"who": {"type": "integer"}, "sex": sex, "part": number}}
    tables = {"rows": {**rows, **more}, "people": people}
    return read_policy({"version": 1, "domain": "pairs", "unit": unit.value, "tables": tables})


class Pairs(Asked):
    kinds = KINDS


def clinic(rows, people):
    """Rows of person 1, so many in each table, beside those of another."""
    return {
        "rows": [(1, WARDS[at % 3], at % 2) for at in range(rows)] + [(2, "A", 1), (2, "B", 7)],
        "people": [(1, SEXES[at % 3], at % 2) for at in range(people)] + [(2, "m", 1)],
    }


def question(source, groups=""):
    by = f" GROUP BY {groups}" if groups else ""
    return f"SELECT {GROUPS[groups]}COUNT(*) AS n FROM {FROM[source]}{by}"


def questions(*groups):
    for source, by in itertools.product(FROM, groups):
        if "ward" not in by or not source.startswith("own total"):
            yield question(source, by)


def all_totals(asked, sizes):
    return {size: asked.totals(clinic(*size), random.Random(1)) for size in sizes}


def moves_too_far(sql, way="weights"):
    """Two lists of rows of one person, most of them longer than the owner says, that differ by more than is claimed."""
    units = {unit: Pairs(sql, way, unit, stated=stated("one", unit)) for unit in (Unit.ADD_REMOVE, Unit.REPLACE_ONE)}
    found = all_totals(units[Unit.ADD_REMOVE], itertools.product(range(5), range(3)))
    for unit, asked in units.items():
        assert asked.sql() == units[Unit.ADD_REMOVE].sql()
        others = [(0, 0)] if unit is Unit.ADD_REMOVE else list(found)
        yield from ((size, other) for size in found for other in others if asked.breaks(found[size], found[other]))


@pytest.mark.parametrize(("way", "groups"), [("weights", ""), ("clip", "ward, sex")])
def test_hard_limits_that_the_data_exceeds_are_enforced(way, groups):
    for sql in questions(groups):
        assert not list(moves_too_far(sql, way)), sql


@pytest.mark.parametrize("join", [JoinOnPerson, OuterJoin])
def test_a_planted_bug_is_found(join, monkeypatch):
    """Rows that are hard are taken for rows that nothing needs to bound."""
    table = join.__dict__["table"].func

    def believed(self):
        found = table(self)
        return found if found.hard_rows is None else replace(found, alone=True)

    monkeypatch.setattr(join, "table", property(believed))
    source = "join" if join is JoinOnPerson else "full"
    assert list(moves_too_far(question(source)))


ROWS, GROUPED, BOTH, ONE = (
    {"max_rows": 20},
    {"max_groups": 2, "max_rows_per_group": 10},
    {"max_rows": 15, "max_groups": 2, "max_rows_per_group": 10},
    {"max_rows": 1},
)


@pytest.mark.parametrize(
    ("left", "right", "source", "limits"),
    [
        (ROWS, ONE, "join", (20, 20, 20)),
        (ROWS, ONE, "left", (20, 20, 20)),
        (ROWS, ONE, "full", (20, 20, 20)),
        (ROWS, ONE, "full on more", (21, 21, 21)),
        (GROUPED, ONE, "join", (20, 2, 10)),
        (BOTH, ONE, "join", (15, 2, 10)),
        (ROWS, ROWS, "join", (400, 400, 400)),
        (GROUPED, GROUPED, "join", (400, 4, 100)),
        (BOTH, GROUPED, "join", (300, 4, 100)),
        (ROWS, ROWS, "unmatched", (20, 20, 20)),
        (GROUPED, ROWS, "unmatched", (20, 2, 10)),
        (ROWS, ROWS, "unmatched inside", (20, 20, 20)),
        (ROWS, ROWS, "own total", (20, 20, 20)),
        (ROWS, ROWS, "three", (400, 400, 400)),
        ({"max_rows": 10**6}, ROWS, "join", (10**6, 10**6, 10**6)),
    ],
)
def test_limits_are_the_product_of_both_sides(left, right, source, limits):
    for hard in ([], ["max_rows"] if "max_rows" in left and "max_rows" in right else []):
        table = parse(question(source), stated(({**left, "hard": hard}, {**right, "hard": hard}))).table
        assert (table.most_rows, table.max_groups, table.max_rows_per_group) == limits
        assert table.hard_rows == (limits[0] if hard and limits[0] < 10**6 else None)


@pytest.mark.parametrize(("limits", "rows", "people", "fewest"), [("rows", 3, 2, 40), ("groups", 3, 1, 20)])
def test_who_is_within_hard_limits_of_both_sides_is_counted_in_full(limits, rows, people, fewest):
    """As plain SQL counts, wherever bounding is said to change nothing."""
    said = 0
    for sql in questions(*GROUPS):
        asked = Pairs(sql, "clip" if "BY" in sql else "weights", stated=stated(limits))
        if not asked.bounding.complete or asked.question.table.drops_people:
            continue
        said += 1
        for size, totals in all_totals(asked, itertools.product((0, rows), (0, people))).items():
            counted = {key: total / asked.bounding.resolution for key, (total,) in totals.items() if total}
            assert counted == plain(sql, clinic(*size)), (sql, size)
    assert said >= fewest


HARD_GROUPS = {"max_groups": 2, "max_rows_per_group": 2, "hard": ["max_groups", "max_rows_per_group"]}
BESIDE = ("join", "left", "semi", "beside a subquery", "three")
OF = {
    **FROM,
    "alone": "rows",
    "semi": "rows r WHERE EXISTS (SELECT 1 FROM people p WHERE p.who = r.person AND p.part > r.cost)",
    "beside a subquery": "(SELECT person, ward, cost FROM rows r JOIN people p ON p.who = r.person) q",
}


@pytest.mark.parametrize(
    "limits",
    [
        {"max_rows": 3},
        {"max_rows": 3, "hard": ["max_rows"]},
        {"max_groups": 2, "max_rows_per_group": 2},
        {**HARD_GROUPS, "hard": ["max_groups"]},
        HARD_GROUPS,
        {**HARD_GROUPS, "max_rows": 3, "hard": ["max_rows", "max_groups", "max_rows_per_group"]},
        {**HARD_GROUPS, "max_rows": 3, "hard": ["max_rows_per_group"]},
        {"max_groups": 5, "max_rows_per_group": 9, "max_rows": 3, "hard": ["max_groups", "max_rows_per_group"]},
        {"max_rows": 5, "max_sum": {"cost": 7}, "hard": ["max_sum.cost", "bounds.cost"]},
    ],
)
@pytest.mark.parametrize("asked", ["COUNT(*)", "SUM(cost)", "AVG(cost)", "MEDIAN(cost)", "COUNT(DISTINCT person)"])
def test_a_side_of_one_row_a_person_changes_no_limit_and_no_statement(limits, asked):
    rules = stated((limits, {"max_rows": 1, "hard": ["max_rows"]}))
    for groups, pure in itertools.product(("", "ward"), (False, True)):
        said = {source: reading(asked, source, groups, rules, pure=pure) for source in ("alone", *BESIDE)}
        assert set(said.values()) == {said["alone"]}, (groups, said)


def reading(asked, source, groups, rules, *, pure):
    """Limits of what is counted, and what the number says."""
    sql = f"SELECT {GROUPS[groups]}{asked} AS n FROM {OF[source]}{' GROUP BY ' + groups if groups else ''}"
    book = dither.Ledger.temporary(dither.pure(9) if pure else dither.approx(9, "1e-6"))
    offer = Dataset(rules, book, {}).quote(sql, epsilon=1).offer
    one = offer.columns[0][1].bounding
    return said_by(offer)["n"], type(one), one.groups, one.rows, one.most, one.complete


def test_hard_groups_are_those_by_cells():
    """A person in two wards, once in each: she has two rows of one number of rows, where one row a group is hard."""
    hard = {"max_groups": 2, "max_rows_per_group": 1, "hard": ["max_groups", "max_rows_per_group"]}
    rules = stated((hard, {"max_rows": 1, "hard": ["max_rows"]}))
    totals = "(SELECT person, ward, COUNT(*) AS k FROM rows GROUP BY person, ward) q"
    for by, source, complete in [
        ("ward", totals, True),
        ("k", totals, False),
        ("ward, k", totals, False),
        ("sex", FROM["join"], False),
        ("ward, sex", FROM["join"], True),
        ("ward, sex", FROM["left"], True),
        ("ward, sex", FROM["left on more"], False),
        ("ward", FROM["full on more"], False),
        ("ward", FROM["unmatched"], True),
        ("sex", FROM["unmatched"], False),
    ]:
        sql = f"SELECT {by}, COUNT(*) AS n FROM {source} GROUP BY {by}"
        assert Pairs(sql, "clip", stated=rules).bounding.complete is complete, (by, source)


def test_hard_groups_of_a_table_are_not_by_cells_of_its_parents():
    """Two items of each kind, all of one order: by its region, four rows are in one group, where two a group are hard."""
    key, text = {"type": "integer", "nullable": False}, {"type": "text", "nullable": False}
    orders = {"id": key, "who": key, "region": {**text, "keys": ["N", "S"]}}
    items = {"owner": {"through": "orders", "on": [{"child": "order", "parent": "id"}]}, "columns": {"order": key}}
    items |= {"max_groups": 2, "max_rows_per_group": 2, "hard": ["max_groups", "max_rows_per_group", "owner"]}
    items["columns"]["kind"] = {**text, "keys": ["A", "B"]}
    tables = {"orders": {"person": "who", "max_rows": 9, "columns": orders}, "items": items}
    rules = read_policy({"version": 1, "domain": "shop", "tables": tables})
    data = Dataset(rules, dither.Ledger.temporary(dither.approx(9, "1e-6")), {})
    chain = 'items i JOIN orders o ON i."order" = o.id'
    for by, source, said in [
        ("kind", "items", "truth"),
        ("kind", chain, "truth"),
        ("region", chain, "at least"),
        ("kind, region", chain, "at least"),
        ("region", f"(SELECT who, region AS region FROM {chain}) q", "at least"),
    ]:
        offer = data.quote(f"SELECT {by}, COUNT(*) AS n FROM {source} GROUP BY {by}", epsilon=1).offer
        assert said_by(offer)["n"].value == said, (by, source)
    assert said_by(data.quote(f"SELECT COUNT(*) AS n FROM {chain}", epsilon=1).offer)["n"].value == "truth"


def test_whoever_has_two_rows_where_one_is_hard_is_in_no_pair():
    """Nobody has more pairs than rows, however long the other side is."""
    rules = stated(({"max_rows": 3}, {"max_rows": 1, "hard": ["max_rows"]}))
    for source, counted in {"join": 2, "left": 2, "full": 2, "unmatched": 1}.items():
        sql = f"SELECT COUNT(*) AS n FROM {OF[source]}"
        asked, data = Pairs(sql, "clip", stated=rules), clinic(3, 2)
        assert asked.totals(data, random.Random(1))[()][0] == counted * asked.bounding.resolution, source


def plain(sql, data):
    engine = engine_with(1)
    for name in KINDS:
        engine.register(name, table_of(name, data[name], random.Random(1), KINDS))
    return {row[:-1]: row[-1] for row in engine.execute(sql).fetchall() if None not in row and row[-1]}


def test_each_side_is_paired_up_to_its_own_limit():
    many, few = MOST_PAIRED * 3, MOST_PAIRED + 1
    policy = stated(({"max_rows": many}, {"max_rows": few}))
    left, right = policy.tables
    assert most_paired(left, right) == (many, few)
    assert most_paired(right, left) == (few, many)
    assert most_paired(replace(left, max_rows=2), right) == (MOST_PAIRED, few)


@pytest.mark.parametrize(
    ("source", "where", "expected"),
    [("left", "", False), ("left", " WHERE r.cost > 1", False), ("unmatched", "", True), ("full", "", False)],
)
def test_limits_of_groups_hold_on_a_side_by_itself(source, where, expected):
    """Rows of the left that are in no pair are there once each; others as often as they are paired."""
    found = parse(f"SELECT ward, COUNT(*) AS n FROM {FROM[source]}{where} GROUP BY ward", stated("rows"))
    assert limits_groups(found.relation, found.where, [group.by for group in found.groups]) is expected
