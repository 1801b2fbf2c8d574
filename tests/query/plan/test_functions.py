"""Functions of a row: what they mean is what DuckDB means, they never fail, and their facts hold."""

from __future__ import annotations

import datetime
import math
import random
import struct
from fractions import Fraction

import duckdb
import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dither
from dither.errors import QuestionError
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import render
from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import start_of
from dither.query.plan.describe import describe
from dither.query.plan.expressions import Constant
from dither.query.plan.functions import LONGEST_TEXT, GreatestLeast, Round, WidthBucket
from dither.query.policy.column import Type
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse
from tests.query.clinics import clinic, private_totals
from tests.query.engines.templates.test_expressions import CELLS, ROWS
from tests.query.sql.test_parse import cell, plan, summed, where

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

D = datetime.date

# -- values, beside plain DuckDB ---------------------------------------------------------------------------------------

TEXTS = [
    *("upper({t})", "lower({t})", "trim({t})", "ltrim({t})", "rtrim({t})", "left({t}, 2)", "right({t}, 2)", "left({t}, 0)"),
    *("substring({t}, 2)", "substring({t}, 2, 1)", "substr({t}, 1999, 3)", "{t} || {u}", "concat({t}, {u}, '-')"),
    *("coalesce({t}, {u})", "coalesce({t}, 'none')", "nullif({t}, 'A')", "greatest({t}, {u})", "least({t}, 'b')"),
]
NUMBERS = [
    *("length({t})", "abs({n})", "round({n})", "round({n}, 1)", "round({n}, -2)", "floor({n})", "ceil({n})", "{n} / 3"),
    *("{n} / -0.25", "coalesce({n}, {m})", "coalesce({n}, 7)", "nullif({n}, 3)", "greatest({n}, {m}, 2)"),
    *("least({n}, {m})", "{n} + {m}", "least(greatest({n}, 0), 9)"),
    *("{n} / nullif({m}, 0)", "ln(abs({n}) + 1)", "log10(abs({n}) + 2)", "log2(abs({n}) + 1)", "sqrt(abs({n}))"),
    *("exp(least({n}, 5))", "power({n}, 2)", "power({n}, 3)", "power(abs({n}) + 1, -0.5)", "sign({n})", "trunc({n})"),
    *("age % 7", "round({n}) % 5", "month // 2", "floor(sign({n}) % 2)"),
]
DATES = [f"date_trunc('{period}', {{d}})" for period in ("year", "quarter", "month", "week", "day")]
DATES += ["coalesce({d}, DATE '2026-01-01')", "greatest({d}, {d})"]


def random_sql(rng: random.Random, kind: str, depth: int = 2) -> str:
    """An expression of the grammar."""
    leaves = {"t": ["name", "ward", "'it''s'"], "n": ["age", "cost", "weight", "2.5", "month"], "d": ["seen", "born"]}
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(leaves[kind])
    template = rng.choice({"t": TEXTS, "n": NUMBERS, "d": DATES}[kind])
    inner = {name: random_sql(rng, "tndtn"["tndum".index(name)], depth - 1) for name in "tndum"}
    return f"({template.format(**inner)})"


def meant(sql: str) -> Expression:
    found = where(f"{sql} IS NULL")
    return found.value


def clean_rows(rng: random.Random, count: int) -> pyarrow.Table:
    """Cells within all bounds; missing where the policy allows it."""
    texts = [None, "", "A", "b ", " Äß", "🎲x", "it's", "x" * 2500, "A\u0301", "\u00a0a\t"]
    days = [None, D(2026, 1, 31), D(1, 1, 1), D(9999, 12, 31), D(1969, 7, 20)]
    times = [None, datetime.datetime(2026, 1, 31, 12, 30), datetime.datetime(1969, 12, 31, 23, 59, 59, 9)]
    columns = {
        "patient_id": [rng.randrange(9) for _ in range(count)],
        "ward": rng.choices([None, "A", "B", "C"], k=count),
        "name": rng.choices(texts, k=count),
        "cost": [rng.choice([None, rng.randrange(200_000) / 100]) for _ in range(count)],
        "age": [rng.randrange(121) for _ in range(count)],
        "weight": [rng.choice([None, rng.uniform(-1, 300)]) for _ in range(count)],
        "income": [rng.choice([None, rng.uniform(-1e6, 1e6)]) for _ in range(count)],
        "seen": rng.choices(days, k=count),
        "born": rng.choices(days, k=count),
        "at": rng.choices(times, k=count),
        "month": rng.choices([None, 1, 2], k=count),
    }
    kinds = {name: kind for name, (kind, _) in CELLS.items()}
    return pyarrow.table({name: pyarrow.array(cells, kinds[name]) for name, cells in columns.items()})


def alike(found: object, expected: object) -> bool:
    if isinstance(found, (float, int)) and isinstance(expected, (float, int)):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-9)
    if isinstance(expected, datetime.datetime) and type(found) is datetime.date:
        return expected == datetime.datetime.combine(found, datetime.time())  # DATE_TRUNC of a DATE stays a DATE here
    return found == expected


def test_values_are_those_of_plain_duckdb():
    rng = random.Random(11)
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("visits", clean_rows(rng, 60))
        for turn in range(250):
            sql = random_sql(rng, "tnd"[turn % 3])
            node = meant(sql)  # long texts are left out: functions look at so many characters
            short = f"FROM visits WHERE name IS NULL OR length(name) < {LONGEST_TEXT}"
            rows = engine.execute(f"SELECT {render(DUCKDB, node)}, {sql} {short}").fetchall()
            for found, expected in rows:
                assert alike(found, expected), (sql, found, expected)


def test_facts_hold_where_cells_are_within_theirs():
    rng = random.Random(12)
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("visits", clean_rows(rng, 80))
        bounded = 0
        for _ in range(300):
            node = meant(random_sql(rng, "n", 3))
            facts = node.facts
            for (found,) in engine.execute(f"SELECT {render(DUCKDB, node)} FROM visits").fetchall():
                assert found is not None or facts.nullable
                if found is not None and facts.is_bounded:
                    bounded += 1
                    slack = Fraction(1, 10**9) * max(1, abs(facts.lower), abs(facts.upper))
                    assert facts.lower - slack <= Fraction(found) <= facts.upper + slack, node
                    if facts.type is Type.INTEGER:
                        assert float(found).is_integer()
        assert bounded > 5000


BROKEN = [b"ab\xff\xfe", b"\xc3", b"", b"\xe2\x82", b"\xf0\x9f\x8e\xb2 ok", b"x" * 5000, b"\xed\xa0\x80", b"\0"]


def hostile() -> pyarrow.Table:
    """Hostile cells, also texts that are no UTF-8: an Arrow table may hold such."""
    table = {column: pyarrow.array([row[column] for row in ROWS], kind) for column, (kind, _) in CELLS.items()}
    cells = [BROKEN[place % len(BROKEN)] for place in range(len(ROWS))]
    ends = [0]
    for text in cells:
        ends.append(ends[-1] + len(text))
    buffers = [None, pyarrow.py_buffer(struct.pack(f"<{len(ends)}i", *ends)), pyarrow.py_buffer(b"".join(cells))]
    table["name"] = pyarrow.Array.from_buffers(pyarrow.string(), len(cells), buffers)
    return pyarrow.table(table)


def test_no_cell_makes_them_fail():
    rng = random.Random(13)
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("visits", hostile())
        for turn in range(300):
            node = meant(random_sql(rng, "tnd"[turn % 3], 3))
            # not a count alone, which looks at no value
            added = f"SELECT count(*), sum(hash({render(DUCKDB, node)})) FROM visits"
            ((count, _),) = engine.execute(added).fetchall()
            assert count == len(ROWS)


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
def test_the_ends_of_time(kind):
    """DATE_TRUNC fails in DuckDB at the ends of its calendar; here such dates are missing."""
    ends = ("5877642-06-25 (BC)", "5881580-07-10")
    ends = ends if kind == "DATE" else ("290309-12-22 (BC)", "294247-01-10 04:00:54.775806")
    days = [*ends, "infinity", "-infinity", "0001-01-01 (BC)", "9999-12-31", "2026-05-06", "0001-01-01"]
    column, failed = "seen" if kind == "DATE" else "at", 0
    for period in ("year", "quarter", "month", "week", "day", *(["hour"] if kind == "TIMESTAMP" else [])):
        node = meant(f"date_trunc('{period}', {column})")
        for some in [days, days[:1], days[1:2], days[4:]]:
            with duckdb.connect(config={"threads": 1}) as engine:
                rows = ", ".join(f"('{day}'::{kind})" for day in some)
                engine.execute(f'CREATE TABLE visits AS SELECT d AS "{column}" FROM (VALUES {rows}) t(d)')
                found = engine.execute(f"SELECT ({render(DUCKDB, node)})::VARCHAR FROM visits").fetchall()
                assert len(found) == len(some)
                engine.execute(f"SELECT count(*) FROM visits WHERE {render(DUCKDB, node)} < '2026-01-01'::{kind}").fetchall()
                if some is days:
                    assert found[:5] == [(None,)] * 5  # what Python cannot write is missing from the read on
                    expected = start_of(period, datetime.date(2026, 5, 6))
                    assert found[6][0].startswith(str(expected))
                    assert found[5][0].startswith(str(start_of(period, datetime.date(9999, 12, 31))))
                try:
                    engine.execute(f"SELECT date_trunc('{period}', \"{column}\")::VARCHAR FROM visits").fetchall()
                except duckdb.Error:
                    failed += 1
    assert failed > 0  # if DuckDB learns it, the TRY may go


def test_texts_are_cut():
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.execute("CREATE TABLE visits AS SELECT repeat('ab', 3000) || 'z' AS name, NULL::VARCHAR AS ward")
        for sql, expected in [
            ("length(name)", LONGEST_TEXT),
            ("length(upper(name))", LONGEST_TEXT),
            ("length(name || name || name)", LONGEST_TEXT),
            ("name || 'x' = left(name || 'x', 2000)", True),
            ("right(name, 3)", "abz"),
            ("substring(name, 1999)", "ab"),
            ("concat(name, ward, 'x') = name", False),
            ("name || ward", None),
            ("length(concat(ward, 'x'))", 1),
        ]:
            assert engine.execute(f"SELECT {render(DUCKDB, meant(sql))} FROM visits").fetchall() == [(expected,)], sql


# -- buckets -----------------------------------------------------------------------------------------------------------


def bucket(value: Fraction, low: Fraction, high: Fraction, count: int) -> int:
    """As the standard says."""
    if value < low:
        return 0
    return count + 1 if value >= high else math.floor((value - low) * count / (high - low)) + 1


@settings(max_examples=60, deadline=None)
@given(st.integers(-999, 999), st.integers(1, 2000), st.integers(1, 10_000), st.lists(st.integers(-3000, 3000), min_size=1))
@example(0, 18, 14, [9])  # where a division by the width of a part is off
def test_buckets_of_whole_numbers_are_exact(low, width, count, values):
    node = WidthBucket(cell("age"), Fraction(low), Fraction(low + width), count)
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("visits", pyarrow.table({"age": pyarrow.array(values, pyarrow.int64())}))
        found = [row[0] for row in engine.execute(f"SELECT {render(DUCKDB, node)} FROM visits").fetchall()]
    assert found == [bucket(Fraction(value), node.low, node.high, count) for value in values]


EDGES = [(0, 1), ("-0.1", "0.3"), (-(10**400), 10**400), (0, Fraction(1, 10**400)), (1e300, 1e308)]


@pytest.mark.parametrize(("low", "high"), EDGES, ids=range(len(EDGES)))
def test_buckets_of_any_number(low, high):
    cells = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 0.1, 0.3, 0.99999999999999994, 1.0]
    node = WidthBucket(cell("weight"), Fraction(low), Fraction(high), 7)
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("visits", pyarrow.table({"weight": pyarrow.array(cells, pyarrow.float64())}))
        found = [row[0] for row in engine.execute(f"SELECT {render(DUCKDB, node)} FROM visits").fetchall()]
    assert found[:2] == [None, None]
    assert all(type(value) is int and 0 <= value <= 8 for value in found[2:])
    assert found[2] == 8
    assert found[3] == (0 if abs(Fraction(low)) < 10**309 else 1)  # of such bounds doubles know the sign alone


# -- what they become, and what is known of them -----------------------------------------------------------------------


def test_facts():
    for sql, kind, lower, upper in [
        ("age / 4", Type.DECIMAL, 0, 30),
        ("weight / -2", Type.FLOAT, -150, Fraction(1, 2)),
        ("abs(weight)", Type.FLOAT, 0, 300),
        ("abs(weight + 2)", Type.FLOAT, 1, 302),
        ("abs(weight - 400)", Type.FLOAT, 100, 401),
        ("floor(cost / 7)", Type.INTEGER, 0, 285),
        ("ceil(cost / 7)", Type.INTEGER, 0, 286),
        ("round(weight / 7, 1)", Type.FLOAT, Fraction(-1, 10), Fraction(429, 10)),
        ("round(age, -2)", Type.INTEGER, 0, 100),
        ("greatest(age, 18)", Type.INTEGER, 18, 120),
        ("least(age, 18)", Type.INTEGER, 0, 18),
        ("greatest(cost, 18)", Type.DECIMAL, 18, 2000),
        ("greatest(cost, weight)", Type.FLOAT, -1, 2000),
        ("least(cost, weight)", Type.FLOAT, -1, 2000),
        ("least(greatest(income, 0), 9)", Type.FLOAT, 0, 9),
        ("greatest(least(income, 9), 0)", Type.FLOAT, 0, 9),
        ("coalesce(cost, -1)", Type.DECIMAL, -1, 2000),
        ("length(name)", Type.INTEGER, 0, 2000),
        ("width_bucket(income, 0, 10, 5)", Type.INTEGER, 0, 6),
    ]:
        facts = summed(sql).facts
        assert (facts.type, facts.lower, facts.upper) == (kind, lower, upper), sql
    for sql, nullable in [("coalesce(cost, 1)", False), ("greatest(cost, 1)", False), ("greatest(cost, weight)", True)]:
        assert meant(sql).facts.nullable is nullable
    assert meant("floor(age)") == cell("age")
    assert meant("round(cost, 2)") == Round(cell("cost"), 2)
    assert not meant("greatest(income, 0)").facts.is_bounded
    assert meant("greatest(age, 1)") == GreatestLeast(True, (cell("age"), Constant(Fraction(1))))


def test_deep_nesting_stays_quick():
    for name, rest in [("greatest", ", 1"), ("coalesce", ", 1"), ("abs", ""), ("round", ", 1")]:
        assert meant(f"{name}(" * 30 + "cost" + f"{rest})" * 30).facts.is_bounded
    for sql in ["nullif(" * 30 + "cost" + ", 1)" * 30, "width_bucket(" * 30 + "cost" + ", 0, 9, 9)" * 30]:
        with pytest.raises(QuestionError, match="parts"):
            meant(sql)


# -- groups ------------------------------------------------------------------------------------------------------------


def keys(by: str, condition: str = "TRUE", table: str = "visits") -> tuple[object, ...]:
    return plan(f"SELECT {by} AS g, COUNT(*) FROM {table} WHERE {condition} GROUP BY g").groups[0].keys


YEAR = "born >= DATE '2026-01-01' AND born < DATE '2027-01-01'"


def test_keys():
    assert keys("width_bucket(income, 0, 10, 3)") == (0, 1, 2, 3, 4)
    assert keys("floor(age / 50)") == (0, 1, 2)
    assert keys("age > 65") == (False, True)
    assert keys("lower(ward)") == ("a", "b", "c")
    assert keys("coalesce(ward, 'none')") == ("A", "B", "C", "none")
    assert keys("left(ward || 'x', 1)") == ("A", "B", "C")
    assert keys("CASE WHEN smokes THEN 'yes' END") == ("yes",)
    assert keys("CASE WHEN ward = 'A' THEN 'first' ELSE ward END") == ("B", "C", "first")
    assert keys("date_trunc('month', seen)") == (D(2025, 12, 1), D(2026, 1, 1))
    assert keys("date_trunc('week', seen)") == (D(2025, 12, 29),)
    assert keys("year(seen)") == (2025, 2026)
    assert keys("abs(month - 2)") == (0, 1)
    assert len(keys("concat(ward, upper(ward), coalesce(ward, 'x'))")) == 4


def test_dates_between_two_days():
    assert keys("date_trunc('month', born)", YEAR) == tuple(D(2026, month, 1) for month in range(1, 13))
    assert keys("date_trunc('quarter', born)", YEAR) == tuple(D(2026, month, 1) for month in (1, 4, 7, 10))
    assert keys("date_trunc('year', born)", YEAR) == (D(2026, 1, 1),)
    weeks = keys("date_trunc('week', born)", YEAR)
    assert weeks[0] == D(2025, 12, 29)
    assert weeks[-1] == D(2026, 12, 28)
    assert len(weeks) == 53
    assert len(keys("date_trunc('day', born)", YEAR)) == 365
    assert keys("year(born)", "born BETWEEN '2024-05-01' AND '2026-01-01' AND age > 3") == (2024, 2025, 2026)
    assert keys("year(born)", "'2024-05-01' < born AND '2025-01-01' > born") == (2024,)
    assert keys("date_trunc('day', born)", "born = '2024-05-01'") == (D(2024, 5, 1),)
    assert keys("date_trunc('day', born)", "born > '2024-05-01' AND born <= '2024-05-03'") == (D(2024, 5, 2), D(2024, 5, 3))
    assert keys("date_trunc('year', born)", "born > '9998-05-01' AND born <= '9999-12-31'")[-1] == D(9999, 1, 1)
    assert keys("date_trunc('week', born)", "born >= '0001-01-01' AND born <= '0001-01-03'") == (D(1, 1, 1),)
    hours = keys("date_trunc('hour', at)", "at >= '2026-01-01 22:30' AND at < '2026-01-02'")
    assert hours == (datetime.datetime(2026, 1, 1, 22), datetime.datetime(2026, 1, 1, 23))
    month = keys("date_trunc('month', at)", "at >= '2026-01-01' AND at < '2026-02-01'")
    assert month == (datetime.datetime(2026, 1, 1),)


def test_dates_between_two_days_of_an_inner_question():
    for inner in [
        f"(SELECT * FROM visits WHERE {YEAR}) t",
        f"(SELECT born, patient_id FROM visits WHERE {YEAR}) t",
        f"(SELECT b AS born FROM (SELECT born AS b FROM visits WHERE {YEAR}) u) t",
        f"(SELECT * FROM visits WHERE {YEAR} AND age > 3) t",
    ]:
        assert len(keys("date_trunc('month', born)", table=inner)) == 12
    assert len(keys("date_trunc('month', born)", "born < '2026-03-01'", f"(SELECT * FROM visits WHERE {YEAR}) t")) == 2
    own = f"(SELECT patient_id, MAX(born) AS born FROM visits WHERE {YEAR} GROUP BY patient_id) t"
    with pytest.raises(QuestionError, match="not known"):
        keys("date_trunc('month', born)", table=own)  # true as it may be, nothing is concluded from a total


@pytest.mark.parametrize("period", ["year", "quarter", "month", "week", "day", "hour"])
def test_python_and_duckdb_agree_on_starts(period):
    rng = random.Random(period)
    first = datetime.datetime(1, 1, 1)
    times = [first, datetime.datetime.max] + [
        first + datetime.timedelta(microseconds=rng.randrange(315537897600_000_000)) for _ in range(500)
    ]
    with duckdb.connect() as engine:
        engine.register("t", pyarrow.table({"at": pyarrow.array(times, pyarrow.timestamp("us"))}))
        found = [row[0] for row in engine.execute(f"SELECT date_trunc('{period}', t.at) FROM t").fetchall()]
    assert found == [start_of(period, time) for time in times]


# -- from question to answer -------------------------------------------------------------------------------------------


def test_groups_hold_every_row(tmp_path):
    data = clinic(tmp_path, max_groups=12, max_rows_per_group=60)
    year = "day >= DATE '2025-01-01' AND day < DATE '2026-01-01'"
    for by, condition, size in [
        ("DATE_TRUNC('month', day)", year, 12),
        ("DATE_TRUNC('week', day)", year, 53),
        ("WIDTH_BUCKET(cost, 0, 400, 8)", "TRUE", 10),
        ("FLOOR(age / 10)", "TRUE", 13),
        ("LOWER(ward)", "TRUE", 3),
        ("age >= 40", "TRUE", 2),
        ("COALESCE(sex, '?')", "TRUE", 3),
        ("EXTRACT(year FROM day)", year, 1),
    ]:
        for way in ("weights", "groups"):
            sql = f"SELECT {by} AS g, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY g"
            quote = data.quote(sql, epsilon=1, bounding=way)
            totals = private_totals(quote)
            assert len(totals) == size
            weight = quote.offer.bounding.resolution if way == "weights" else 1
            assert sum(total[0] for total in totals) == 60 * weight, (by, way)
    with dither.testing.seeded(1):
        sql = f"SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits WHERE {year} GROUP BY m"
        answer = data.quote(sql, epsilon=9).release()
    assert answer["m"][0] == datetime.date(2025, 1, 1)
    assert answer.to_arrow().num_rows == 12
    assert answer.plot("n") is not None


def test_groups_of_times(tmp_path):
    at = [datetime.datetime(2025, 1, 1 + place % 3, place % 24, 30) for place in range(60)]
    data = clinic(tmp_path, pyarrow.table({"person": list(range(60)), "at": at}), bounds={}, steps={}, keys={}, complete=[])
    kept = "at >= '2025-01-01' AND at < '2025-01-04'"
    sql = f"SELECT DATE_TRUNC('day', at) AS day, COUNT(*) AS n FROM visits WHERE {kept} GROUP BY day"
    assert [total[0] for total in private_totals(data.quote(sql, epsilon=1, bounding="groups"))] == [20, 20, 20]
    with dither.testing.seeded(1):
        answer = data.quote(sql, epsilon=9).release()
    assert answer["day"][0] == datetime.datetime(2025, 1, 1)
    assert "2025-01-01" in str(answer)
    assert answer.to_arrow().num_rows == len(answer.to_pandas()) == 3


def test_two_spellings_are_one_question(tmp_path):
    data = clinic(tmp_path)
    pairs = [("LEFT(ward, 1) = 'A'", "SUBSTRING(ward FROM 1 FOR 1) = 'A'"), ("ABS(cost) > 3", "@cost > 3")]
    for one, other in pairs:
        first, second = (data.quote(f"SELECT COUNT(*) FROM visits WHERE {sql}", epsilon=1) for sql in (one, other))
        assert first.question == second.question
    before = data.ledger.remaining()
    for sql in ("SELECT COUNT(*) FROM visits WHERE cost / 0 > 1", "SELECT COUNT(*) FROM visits GROUP BY UPPER(day)"):
        with pytest.raises(QuestionError):
            data.quote(sql, epsilon=1)
    assert str(data.ledger.remaining()) == str(before)


def test_they_are_explained():
    for sql, words in [
        ("date_trunc('month', seen) = seen", "the start of the month of seen = seen"),
        ("upper(name) = 'A'", "name in capital letters = 'A'"),
        ("left(name, 2) || right(name, 1) = 'A'", "2 characters of name from number 1 on followed by the last 1 characters"),
        ("length(trim(name)) > 1", "the length of name without the spaces around it > 1"),
        ("coalesce(cost, 1) > 1", "the first that is there of (cost, 1) > 1"),
        ("greatest(cost, least(1, age)) > 1", "the largest of (cost, the least of (1, age)) > 1"),
        ("abs(cost) > floor(weight)", "cost without its sign > weight rounded down"),
        ("round(cost, 1) > ceil(cost)", "cost rounded to 1 digits after the point > cost rounded up"),
        ("width_bucket(cost, 0, 10, 5) > cost / 2", "which of 5 equal parts of 0 to 10 cost lies in > (cost / 2)"),
    ]:
        assert words in describe(plan(f"SELECT COUNT(*) FROM visits WHERE {sql}"))


def test_images_of_odd_letters():
    table = {"person": "each row", "columns": {"x": {"type": "text", "keys": ["ß", "İ", "ŉ", "SS", "i", "I", "ſ"]}}}
    policy = read_policy({"version": 1, "domain": "d", "tables": {"t": table}})
    found = parse("SELECT UPPER(x) AS g, COUNT(*) FROM t GROUP BY g", policy).groups[0].keys
    with duckdb.connect() as engine:
        expected = [engine.execute("SELECT upper(?)", [key]).fetchall()[0][0] for key in table["columns"]["x"]["keys"]]
    assert found == tuple(sorted(set(expected)))


@pytest.mark.parametrize("call", ["WIDTH_BUCKET(age)", "WIDTH_BUCKET(age, 0)", "WIDTH_BUCKET(age, 0, 9)"])
def test_a_bucket_without_its_bounds_is_refused(call):
    with pytest.raises(QuestionError, match="WIDTH_BUCKET"):
        plan(f"SELECT COUNT(*) AS n FROM visits WHERE {call} = 1")


def test_rounding_before_the_point_gives_keys_that_can_occur():
    found = plan("SELECT ROUND(cost, -2) AS c, COUNT(*) AS n FROM visits GROUP BY c").groups[0].keys
    assert found == tuple(range(0, 2001, 100))
