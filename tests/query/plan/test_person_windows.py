"""Windows within one person: nobody moves totals further than is claimed, answers are plain SQL, facts follow."""

from __future__ import annotations

import datetime
import random

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dither
from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.plan.describe import describe
from dither.query.plan.relations import FilterRows, Project, Scan, WindowByPerson
from dither.query.plan.spelling import spell
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse
from dither.query.statistics.choose_bounding import choose_bounding
from tests.query.chain_shop import AskedShop, shop
from tests.query.clinics import ledger
from tests.query.grammar import Grammar
from tests.query.owners import Asked, clinic, policy, table_of
from tests.seeds import examples

BY = "OVER (PARTITION BY person ORDER BY age{})"
INNER = {  # each with a number c, and a ward
    "change": f"SELECT person, ward, cost - LAG(cost) {BY.format('')} AS c FROM visits",
    "next": f"SELECT ward, LEAD(cost, 2) {BY.format(' DESC')} AS c FROM visits",
    "first row": f"SELECT *, cost AS c FROM visits QUALIFY ROW_NUMBER() {BY.format('')} = 1",
    "first ward": f"SELECT person, FIRST_VALUE(ward) {BY.format('')} AS ward, cost AS c FROM visits",
    "before": f"SELECT person, LAG(ward) {BY.format('')} AS ward, RANK() {BY.format('')} AS c FROM visits WHERE cost > 1",
    "so far": f"SELECT person, ward, SUM(cost) {BY.format('')} AS c FROM visits",
    "last three": f"SELECT person, ward, AVG(cost) {BY.format(' ROWS 2 PRECEDING')} AS c FROM visits",
    "share": "SELECT person, ward, cost - MAX(cost) OVER (PARTITION BY person, ward) AS c FROM visits",
    "both": f"SELECT person, ward, ROW_NUMBER() {BY.format('')} AS c, ROW_NUMBER() {BY.format(' DESC')} AS d FROM visits"
    " QUALIFY c = d",
    "distinct": "SELECT DISTINCT person, ward,"
    f" LAST_VALUE(cost) {BY.format(' ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING')} AS c FROM visits",
    "totals": f"SELECT person, ward, SUM(k) AS c FROM (SELECT person, ward, ROW_NUMBER() {BY.format('')} AS k FROM visits) u"
    " GROUP BY person, ward",
    "of groups": "SELECT person, ward, SUM(cost) - LAG(SUM(cost)) OVER (PARTITION BY person ORDER BY ward) AS c"
    " FROM visits GROUP BY person, ward",
    "of groups kept": "SELECT v.ward, v.person, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY v.person) AS c"
    " FROM visits v WHERE age > 1 GROUP BY 1, v.person HAVING COUNT(*) > 1"
    " QUALIFY RANK() OVER (PARTITION BY person ORDER BY COUNT(*) DESC, ward) < 3",
    "of a join": "SELECT v.person, v.ward, v.cost - LAG(s.cost) OVER (PARTITION BY v.person ORDER BY nights, age) AS c"
    " FROM visits v JOIN stays s ON v.person = s.patient",
    "of public rows": "SELECT person, v.ward, LAG(floor) OVER (PARTITION BY person ORDER BY site, cost) AS c"
    " FROM visits v JOIN wards w ON v.ward = w.ward",
}


# -- one person ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("inner", INNER)
def test_one_person_moves_no_more_than_is_claimed(inner, unit):
    rng = random.Random(inner)
    for way in ("weights", "clip", "groups"):
        of = rng.choice(["COUNT(*) AS n, SUM(c) AS s", "COUNT(*) AS n, SUM(c) AS s", "COUNT(c) AS n"])
        asked = Asked(f"SELECT ward, {of} FROM ({INNER[inner]}) q GROUP BY ward", way, unit, rng.choice([1, 3]))
        for _ in range(2):
            assert asked.moved_too_far(clinic(rng, rng.choice([3, 14])), rng) is None


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@settings(max_examples=examples(15, 3000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_random_windows_are_refused_or_move_no_more_than_is_claimed(unit, seed):
    rng = random.Random(seed)
    grammar = Grammar(rng, 0.05)
    text, columns = grammar.windowed(rng.choice([0, 0, 1, 2]))
    keys = [f"q.{name}" for name, kind in columns if kind in ("ward", "site")][:1]
    asked = grammar.outer([(f"q.{name}", kind) for name, kind in columns])
    by = f" GROUP BY {keys[0]}" if keys else ""
    sql = f"SELECT {', '.join([*keys, ''])}{rng.choice(asked)} AS out FROM ({text}) q{by}"
    try:
        made = Asked(sql, rng.choice(["weights", "clip", "groups"]), unit, rng.choice([1, 3]), rng.choice([1, 3]))
    except QuestionError:
        return
    assert made.moved_too_far(clinic(rng, rng.choice([2, 3, 14])), rng) is None, sql


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize(
    "inner",
    [
        "SELECT l.ward, l.cost - LAG(l.cost) OVER (PARTITION BY o.who ORDER BY l.lid) AS c",
        "SELECT l.ward, l.cost AS c, ROW_NUMBER() OVER (PARTITION BY o.who ORDER BY o.cost, l.cost) AS k",
    ],
)
def test_windows_along_a_chain_of_tables(inner, unit):
    rng = random.Random(inner)
    joined = f"({inner} FROM lines l JOIN orders o ON l.oid = o.oid{' QUALIFY k = 1' if ' AS k' in inner else ''}) q"
    for way in ("weights", "groups"):
        asked = AskedShop(f"SELECT ward, COUNT(*) AS n, SUM(c) AS s FROM {joined} GROUP BY ward", way, unit)
        for _ in range(6):
            assert asked.moved_too_far(shop(rng), rng) is None


# -- plain SQL -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", INNER)
def test_it_means_what_sql_means(inner):
    """Without limits that bind, on rows that ORDER BY tells apart, totals are those of DuckDB on the text as it is."""
    rng = random.Random(3)
    ages = rng.sample(range(121), 100)
    data = {
        "visits": [(rng.randrange(8), rng.choice("ABC"), rng.randrange(0, 200) / 4, ages.pop()) for _ in range(60)],
        "stays": [(rng.randrange(8), rng.choice("ABC"), rng.randrange(0, 200) / 4, at) for at in range(25)],
        "wards": [("A", 1, "x"), ("B", 2, "y"), ("C", 3, "z")],
    }
    asked = Asked(
        f"SELECT COUNT(*) AS n, COUNT(c) AS m, SUM(c) AS s FROM ({INNER[inner]}) q", "groups", groups=1, rows=10**4
    )
    (found,) = asked.totals(data, rng).values()
    with duckdb.connect() as engine:
        for name, rows in data.items():
            engine.register(name, table_of(name, rows, rng))
        n, m, total = engine.execute(f"SELECT COUNT(*), COUNT(c), SUM(c) FROM ({INNER[inner]}) q").fetchone()
    measures = [measure for family in asked.strategy.sets for measure in family.measures]
    by_kind = {measure.kind: float(count * measure.step) for measure, count in zip(measures, found, strict=True)}
    assert n > 0
    assert by_kind["one"] == n
    step = float(next(measure.step for measure in measures if measure.kind == "steps"))
    assert abs(by_kind["steps"] - total) <= m * step  # of each value, the nearest step is counted


DAYS = {
    "bounds": {"day": (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)), "paid": (0, 100)},
    "steps": {"paid": "0.25"},
}
QUESTIONS = [
    "SELECT AVG(gap) AS a, COUNT(gap) AS n"
    " FROM (SELECT p, DATE_DIFF('day', LAG(day) OVER (PARTITION BY p ORDER BY day), day) AS gap FROM sales) q",
    "SELECT AVG(gap) AS a FROM (SELECT p, day - LAG(day) OVER (PARTITION BY p ORDER BY day) AS gap FROM sales) q",
    "WITH firsts AS"
    " (SELECT * FROM sales QUALIFY ROW_NUMBER() OVER (PARTITION BY p, DATE_TRUNC('month', day) ORDER BY day) = 1)"
    " SELECT EXTRACT(month FROM day) AS m, COUNT(*) AS n, SUM(paid) AS s FROM firsts GROUP BY m",
    "SELECT k, COUNT(*) AS n FROM (SELECT p, ROW_NUMBER() OVER (PARTITION BY p ORDER BY day) AS k FROM sales) q"
    " WHERE k <= 5 GROUP BY k",
    "SELECT COUNT(*) AS n FROM (SELECT p, MIN(k) AS until FROM (SELECT p, paid,"
    " ROW_NUMBER() OVER (PARTITION BY p ORDER BY day) AS k FROM sales) u WHERE paid > 50 GROUP BY p) t WHERE until <= 3",
    "SELECT SUM(grown) AS s"
    " FROM (SELECT p, paid - FIRST_VALUE(paid) OVER (PARTITION BY p ORDER BY day) AS grown FROM sales) q",
    "SELECT COUNT(*) AS n"
    " FROM (SELECT p, SUM(paid) OVER (PARTITION BY p ORDER BY day) AS so_far FROM sales) q WHERE so_far > 99",
]  # fmt: skip


@pytest.mark.parametrize("sql", QUESTIONS)
def test_answers_are_plain_sql(tmp_path, sql):
    """With limits that nobody reaches and next to no noise, of people with one sale a day."""
    rng, first = random.Random(5), datetime.date(2024, 1, 1)
    rows = [
        (person, first + datetime.timedelta(days=day), rng.randrange(0, 400) / 4)
        for person in range(40)
        for day in rng.sample(range(366), rng.randrange(1, 12))
    ]
    table = pyarrow.table({name: [row[at] for row in rows] for at, name in enumerate(("p", "day", "paid"))})
    book = ledger(tmp_path, dither.pure(10**9))
    data = dither.protect(table, name="sales", person="p", max_rows=20, hard=["max_rows", "bounds.day"], ledger=book, **DAYS)
    answer = data.quote(sql, epsilon=10**6).release()
    with duckdb.connect() as engine:
        engine.register("sales", table)
        result = engine.execute(sql)
        names = [column[0] for column in result.description]
        plain = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    keys = list(answer.keys)
    expected = {tuple(row[key] for key in keys): row for row in plain}
    assert {tuple(row[key] for key in keys) for row in answer} >= set(expected)
    for row in answer:
        for name in set(names) - set(keys):
            truth = expected.get(tuple(row[key] for key in keys), {}).get(name) or 0
            truth = truth.days if isinstance(truth, datetime.timedelta) else truth
            assert float(row[name]) == pytest.approx(float(truth), abs=0.2 + 1e-3 * abs(float(truth))), (name, row)


# -- facts ---------------------------------------------------------------------------------------------------------------


def column(sql, stated=None):
    return parse(f"SELECT COUNT(*) FROM ({sql}) q", stated or policy(groups=2, rows=3)).table.column("c")


def test_facts_follow_from_the_column():
    lag = column(f"SELECT LAG(cost) {BY.format('')} AS c FROM visits")
    assert (lag.lower, lag.upper, lag.step, lag.nullable) == (-10, 100, 0.25, True)
    assert column(f"SELECT LAG(ward) {BY.format('')} AS c FROM visits").keys == ("A", "B", "C")
    assert column(f"SELECT LAG(age - 1) {BY.format('')} AS c FROM visits").lower == -1
    count = column("SELECT COUNT(*) OVER (PARTITION BY person) AS c FROM visits")
    assert (count.lower, count.upper, count.nullable) == (0, 6, False)
    three = column(f"SELECT SUM(cost) {BY.format(' ROWS 2 PRECEDING')} AS c FROM visits")
    assert (three.lower, three.upper) == (-30, 300)  # of three rows, however many she has
    assert column(f"SELECT SUM(cost) {BY.format('')} AS c FROM visits").upper == 600


def sales(**more):
    columns = {
        "p": {"type": "integer"},
        "day": {"type": "date", "bounds": [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]},
    }
    columns["paid"] = {"type": "float", "bounds": [0, 100], "step": "0.25"}
    table = {"person": "p", "columns": columns, **more}
    return read_policy({"version": 1, "domain": "d", "unit": "add/remove one person", "tables": {"sales": table}})


def test_a_number_of_rows_goes_as_far_as_limits_and_is_believed_where_they_are_hard():
    sql = "SELECT p, ROW_NUMBER() OVER (PARTITION BY p ORDER BY day) AS c FROM sales"
    for limits, upper, hard in (
        ({"max_rows": 7}, 7, False),
        ({"max_rows": 7, "hard": ["max_rows"]}, 7, True),
        ({"max_groups": 2, "max_rows_per_group": 2, "max_rows": 9, "hard": ["max_rows"]}, 9, True),
        ({"max_rows": 1}, 2, False),
    ):
        table = parse(f"SELECT COUNT(*) FROM ({sql}) q", sales(**limits)).table
        assert (table.column("c").lower, table.column("c").upper) == (1, upper)
        assert ("bounds.c" in table.hard) is hard
    both = "SELECT p, paid, ROW_NUMBER() OVER (PARTITION BY p ORDER BY day) AS c FROM sales"
    sure = sales(max_rows=7, hard=["max_rows"])
    again = parse(f"SELECT COUNT(*) FROM (SELECT p, c AS k, paid AS c FROM ({both}) u) q", sure).table
    assert "bounds.k" in again.hard
    assert "bounds.c" not in again.hard  # said of a column that had this name before


def test_sums_over_windows_are_of_clamped_values():
    for inner, clamps in (("so far", True), ("last three", True), ("change", False), ("share", False), ("before", False)):
        assert parse(f"SELECT COUNT(*) FROM ({INNER[inner]}) q", policy()).table.clamps_values is clamps


def test_dates_keep_their_range():
    lag = column("SELECT LAG(day) OVER (PARTITION BY p ORDER BY paid) AS c FROM sales", sales(max_rows=3))
    assert (lag.first, lag.last) == (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))
    gap = column("SELECT day - LAG(day) OVER (PARTITION BY p ORDER BY day) AS c FROM sales", sales(max_rows=3))
    assert (gap.lower, gap.upper) == (-365, 365)


def test_limits_that_are_found_privately_are_refused(tmp_path):
    inner = "(SELECT p, paid - LAG(paid) OVER (PARTITION BY p ORDER BY day) AS c FROM sales) q"
    table = pyarrow.table({"p": [1], "day": [datetime.date(2024, 1, 1)], "paid": [1.0]})
    book = ledger(tmp_path, dither.pure(10))
    data = dither.protect(table, name="sales", person="p", max_rows=5, ledger=book, **DAYS)
    for wish in ({"limits": "auto"}, {"bounds": "auto"}):
        with pytest.raises(QuestionError, match="found privately for questions that read one protected table"):
            data.quote(f"SELECT SUM(c) AS s FROM {inner}", epsilon=1, **wish)
    assert book.remaining().used == 0


NUMBERED = f"SELECT *, ROW_NUMBER() {BY.format('')} AS k FROM visits"
ONE_ROW = [
    f"{NUMBERED} QUALIFY k = 1",
    f"SELECT ward, cost FROM ({NUMBERED}) u WHERE k = 3 AND cost > 1",
    f"SELECT * FROM ({NUMBERED}) u WHERE k <= 1",
    f"SELECT * FROM ({NUMBERED}) u WHERE k < 2",
    f"SELECT * FROM (SELECT cost, ward, k AS first FROM ({NUMBERED}) u WHERE age > 3) u WHERE 1 = first",
    f"SELECT *, LAG(cost) {BY.format('')} AS l FROM visits QUALIFY ROW_NUMBER() {BY.format(' DESC')} IN (1)",
]
MORE_ROWS = [
    f"SELECT * FROM ({NUMBERED}) u WHERE k <= 2",
    f"SELECT * FROM ({NUMBERED}) u WHERE k = 1 OR cost > 1",
    f"SELECT * FROM ({NUMBERED}) u WHERE NOT k = 1",
    f"SELECT *, RANK() {BY.format('')} AS k FROM visits QUALIFY k = 1",
    "SELECT *, ROW_NUMBER() OVER (PARTITION BY person, ward ORDER BY age) AS k FROM visits QUALIFY k = 1",
    f"SELECT * FROM (SELECT ward, cost, age AS k FROM ({NUMBERED}) u) u WHERE k = 1",
    f"SELECT v.cost, v.ward FROM ({NUMBERED}) v JOIN wards w ON v.ward = w.ward WHERE k = 1",
    f"SELECT cost, ward FROM ({NUMBERED} UNION ALL {NUMBERED}) u WHERE k = 1",
]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("inner", [*ONE_ROW, *MORE_ROWS])
def test_where_one_row_is_kept_a_person_needs_no_other_limit(inner, unit):
    rng = random.Random(inner)
    asked = Asked(f"SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM ({inner}) q GROUP BY ward", "weights", unit)
    assert asked.question.table.alone is (inner in ONE_ROW)
    assert asked.bounding.way == ("each row" if inner in ONE_ROW else "weights")
    for most in (3, 40):
        assert asked.moved_too_far(clinic(rng, most), rng) is None


def test_one_row_is_also_kept_by_the_outermost_condition_and_several_by_joins():
    question = parse(f"SELECT AVG(cost) AS a FROM ({NUMBERED}) q WHERE k = 1 AND cost > 2", policy())
    assert question.table.alone
    assert question.where is None
    joined = f"({NUMBERED} QUALIFY k = 1) q JOIN wards w ON q.ward = w.ward"
    assert not parse(f"SELECT COUNT(*) FROM {joined}", policy()).table.alone  # a row may have several matches
    assert parse(f"SELECT COUNT(*) FROM {joined}", policy(2, 3)).table.most_rows == 6
    plain = parse("SELECT COUNT(*) FROM visits WHERE age = 1", policy())
    assert plain.where is not None


def test_only_columns_that_are_read_are_sorted_by():
    relation = parse(f"SELECT AVG(c) FROM (SELECT cost - LAG(cost) {BY.format('')} AS c FROM visits) q", policy()).relation
    assert isinstance(relation, Project)
    assert isinstance(relation.of, WindowByPerson)
    assert isinstance(relation.of.of, Project)
    assert [one.name for one in relation.of.of.table.columns] == ["person", "cost", "age"]
    whole = parse(
        f"SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() {BY.format('')} = 1) q", policy()
    ).relation
    assert isinstance(whole.of, FilterRows)
    assert isinstance(whole.of.of.of, Scan)


def test_the_same_window_is_computed_once():
    twice = f"SELECT LAG(cost) {BY.format('')} + 1 AS c, LAG(cost) {BY.format('')} AS d FROM visits"
    relation = parse(f"SELECT COUNT(*) FROM ({twice}) q", policy()).relation
    assert not isinstance(relation.of.of, WindowByPerson)


def test_windows_are_told_in_words_and_stored_by_codes():
    sql = f"SELECT COUNT(*) FROM (SELECT person, LAG(cost) {BY.format(' DESC')} AS c FROM visits) q"
    question = parse(sql, policy())
    told = "visits) with c: cost of the row before of the same person, by age downwards and then all columns"
    assert told in describe(question)
    window = spell(question.relation)["of"]["window"]
    assert window["is"] == "window_value"
    assert window["order"] == [
        {"is": "sort_key", "of": {"is": "column", "column": "age"}, "descending": True, "nulls_first": False}
    ]
    spelled = {str(spell(parse(f"SELECT COUNT(*) FROM ({inner}) q", policy()).relation)) for inner in INNER.values()}
    assert len(spelled) == len(INNER)
    for inner in INNER.values():
        assert "of the same person" in describe(parse(f"SELECT COUNT(*) FROM ({inner}) q", policy()))


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_hard_limits_of_groups_are_not_about_places(unit):
    """Nobody is in two wards, by the owner's word; by the places of her rows she is in as many groups as she has rows."""
    columns = {"person": {"type": "integer"}, "ward": {"type": "text", "keys": ["A", "B"]}, "cost": {"type": "integer"}}
    hard = {"max_groups": 1, "max_rows_per_group": 4, "hard": ["max_groups", "max_rows_per_group"]}
    rules = policy(unit=unit, visits={"person": "person", "columns": columns, **hard})
    inner = "(SELECT person, ward, ROW_NUMBER() OVER (PARTITION BY person ORDER BY cost) AS k FROM visits) q"
    for aggregate, is_complete in (("COUNT(*)", True), ("COUNT(DISTINCT person)", False)):
        question = parse(f"SELECT k, {aggregate} AS n FROM {inner} GROUP BY k", rules)
        assert question.table.hard_rows == 4
        counters = choose_counters(question, pure=True)
        assert choose_bounding(question, counters, None, cells=4, unit=unit, pure=True).complete is is_complete
