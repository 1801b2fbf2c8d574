"""What the numbers of an answer say, for every kind of expression under five sets of hard limits.

The table says of each expression what can be cut from it: rows of a person, values beyond bounds, values between steps. From
that alone follows the statement; no code of the package is asked for it.
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal

import duckdb
import pyarrow
import pytest

import dither
from dither.query.answers.derived.statements import said_by
from dither.query.dataset import Dataset
from dither.query.policy.policy import read_policy
from dither.query.sources.find_source import find_source

NEVER = "no owner can say so"  # of steps: an expression is counted on steps on which its values need not be
BOUNDS = {"bounds.cost", "bounds.delta", "bounds.age", "bounds.day", "people.bounds.height"}
STEPS = {"steps.cost", "steps.delta"}
ROWS = {"max_rows", "people.max_rows"}
POLICIES: dict[str, set[str]] = {
    "soft": set(),
    "bounds": BOUNDS,
    "bounds and steps": BOUNDS | STEPS,
    "rows": ROWS,
    "all": BOUNDS | STEPS | ROWS,
}
COST, DELTA = {"bounds.cost", "steps.cost"}, {"bounds.delta", "steps.delta"}
VISITS, JOIN, LEFT = (
    "visits v",
    "visits v JOIN people q ON q.who = v.person",
    "visits v LEFT JOIN people q ON q.who = v.person",
)
OWN = "(SELECT person, COUNT(*) AS n, MAX(cost) AS m, MIN(age) AS l FROM visits GROUP BY person) o"
ADDED = "(SELECT person, SUM(age) AS s, AVG(age) AS a FROM visits GROUP BY person) o"
ONE = {"max_rows"}
BOTH = {"max_rows", "people.max_rows"}
# what is asked; of which rows; whether it adds up what is not negative; limits of rows and facts of values on which it rests
CASES: list[tuple[str, str, bool, set[str], set[str]]] = [
    ("COUNT(*)", VISITS, True, ONE, set()),
    ("COUNT(cost)", VISITS, True, ONE, set()),
    ("COUNT(DISTINCT person)", VISITS, True, set(), set()),
    ("SUM(cost)", VISITS, True, ONE, COST),
    ("SUM(age)", VISITS, True, ONE, {"bounds.age"}),
    ("SUM(delta)", VISITS, False, ONE, DELTA),
    ("SUM(-cost)", VISITS, False, ONE, {"bounds.cost", NEVER}),
    ("AVG(cost)", VISITS, False, ONE, COST),
    ("AVG(age)", VISITS, False, ONE, {"bounds.age"}),
    ("AVG(delta)", VISITS, False, ONE, DELTA),
    ("MIN(cost)", VISITS, False, ONE, COST),
    ("MAX(cost)", VISITS, False, ONE, COST),
    ("MEDIAN(cost)", VISITS, False, ONE, COST),
    ("QUANTILE(cost, 0.9)", VISITS, False, ONE, COST),
    ("MEDIAN(age)", VISITS, False, ONE, {"bounds.age"}),
    ("MAX(age)", VISITS, False, ONE, {"bounds.age"}),
    ("MIN(delta)", VISITS, False, ONE, DELTA),
    ("MEDIAN(cost + delta)", VISITS, False, ONE, {"bounds.cost", "bounds.delta", NEVER}),
    ("VARIANCE(age)", VISITS, False, ONE, {"bounds.age"}),
    ("STDDEV(delta)", VISITS, False, ONE, DELTA),
    ("STDDEV(cost)", VISITS, False, ONE, COST),
    ("CORR(age, delta)", VISITS, False, ONE, {"bounds.age"} | DELTA),
    ("COVAR_POP(age, delta)", VISITS, False, ONE, {"bounds.age"} | DELTA),
    ("REGR_SLOPE(age, delta)", VISITS, False, ONE, {"bounds.age"} | DELTA),
    ("SUM(CASE WHEN cost > 9 THEN 1 ELSE 0 END)", VISITS, True, ONE, set()),
    ("AVG(CASE WHEN cost > 9 THEN 1 ELSE 0 END)", VISITS, False, ONE, set()),
    ("SUM(CASE WHEN age > 30 THEN cost ELSE 0 END)", VISITS, True, ONE, COST),
    ("AVG(CASE WHEN age > 30 THEN cost ELSE delta END)", VISITS, False, ONE, COST | DELTA),
    ("AVG(COALESCE(delta, 0))", VISITS, False, ONE, DELTA),
    ("AVG(COALESCE(delta, 0.3))", VISITS, False, ONE, DELTA),
    ("AVG(LEAST(cost, 50))", VISITS, False, ONE, COST),
    ("AVG(LEAST(cost, 50.005))", VISITS, False, ONE, COST),
    ("AVG(LEAST(cost, 33.3333333))", VISITS, False, ONE, {"bounds.cost", NEVER}),
    ("MEDIAN(GREATEST(delta, 0))", VISITS, False, ONE, DELTA),
    ("SUM(ABS(delta))", VISITS, True, ONE, {"bounds.delta", NEVER}),
    ("AVG(age * 2)", VISITS, False, ONE, {"bounds.age"}),
    ("SUM(age - 40)", VISITS, False, ONE, {"bounds.age"}),
    ("AVG(FLOOR(cost))", VISITS, False, ONE, {"bounds.cost"}),
    ("AVG(ROUND(cost, 1))", VISITS, False, ONE, {"bounds.cost", NEVER}),
    ("AVG(cost / 3)", VISITS, False, ONE, {"bounds.cost", NEVER}),
    ("AVG(SQRT(age))", VISITS, False, ONE, {"bounds.age", NEVER}),
    ("AVG(EXTRACT(month FROM day))", VISITS, False, ONE, set()),
    ("MEDIAN(EXTRACT(month FROM day))", VISITS, False, ONE, set()),
    ("AVG(DATE_DIFF('day', day, DATE '2025-06-01'))", VISITS, False, ONE, {"bounds.day"}),
    ("SUM(LENGTH(ward))", VISITS, True, ONE, {NEVER}),
    ("COUNT(*)", JOIN, True, BOTH, set()),
    ("AVG(height)", JOIN, False, BOTH, {"people.bounds.height"}),
    ("SUM(cost)", JOIN, True, BOTH, COST),
    ("MEDIAN(age)", JOIN, False, BOTH, {"bounds.age"}),
    ("COUNT(*)", LEFT, True, BOTH, set()),
    ("COUNT(*)", f"{LEFT} WHERE q.who IS NULL", True, ONE, set()),
    ("SUM(height)", "visits v FULL JOIN people q ON q.who = v.person", True, BOTH, {"people.bounds.height"}),
    ("SUM(cost)", "visits v WHERE EXISTS (SELECT 1 FROM people q WHERE q.who = v.person)", True, ONE, COST),
    ("COUNT(*)", "visits v JOIN wards w ON w.ward = v.ward", True, {NEVER}, set()),
    ("AVG(age)", "visits v JOIN wards w ON w.ward = v.ward", False, {NEVER}, {"bounds.age"}),
    ("COUNT(*)", "visits v JOIN wards w ON w.ward = v.ward AND w.floor = v.age", True, ONE, set()),
    ("COUNT(*)", "visits v JOIN wards w ON w.ward = v.ward AND w.floor + 1 = v.age", True, {NEVER}, set()),
    ("COUNT(*)", "visits v JOIN sites w ON w.level = v.age", True, ONE, set()),
    ("AVG(age)", "visits v LEFT JOIN sites w ON v.ward = w.site AND w.level = v.age", False, ONE, {"bounds.age"}),
    ("AVG(age)", "visits v JOIN sites w ON w.site = v.ward", False, {NEVER}, {"bounds.age"}),
    ("COUNT(*)", f"{OWN} JOIN sites w ON w.level = o.n", True, set(), set()),
    ("COUNT(*)", f"{OWN} JOIN sites w ON w.level = o.n JOIN wards d ON d.ward = w.site", True, {NEVER}, set()),
    ("AVG(n)", OWN, False, set(), {"max_rows"}),
    ("SUM(n)", OWN, True, set(), {"max_rows"}),
    ("MEDIAN(n)", OWN, False, set(), {"max_rows"}),
    ("AVG(s)", ADDED, False, set(), {"max_rows", "bounds.age"}),
    ("AVG(m)", OWN, False, set(), COST),
    ("MAX(m)", OWN, False, set(), COST),
    ("AVG(a)", ADDED, False, set(), {NEVER}),
    ("AVG(l)", OWN, False, set(), {"bounds.age"}),
    ("COUNT(*)", f"{OWN} WHERE n > 1", True, set(), set()),
    ("COUNT(*)", "(SELECT person FROM visits GROUP BY person HAVING SUM(cost) > 9) o", True, set(), COST),
    ("AVG(n)", f"{OWN} JOIN people q ON q.who = o.person", False, {"people.max_rows"}, {"max_rows"}),
    ("AVG(c)", "(SELECT person, cost AS c FROM visits) o", False, ONE, COST),
    ("AVG(c)", "(SELECT person, age * 2 AS c FROM visits) o", False, ONE, {"bounds.age"}),
    ("AVG(c)", "(SELECT person, LEAST(cost, 50) AS c FROM visits) o", False, ONE, COST),
    (
        "SUM(c)",
        "(SELECT person, LAG(age) OVER (PARTITION BY person ORDER BY day) AS c FROM visits) o",
        True,
        ONE,
        {"bounds.age"},
    ),
    ("AVG(c)", "(SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS c FROM visits) o", False, ONE, ONE),
    (
        "SUM(c)",
        "(SELECT person, age AS c FROM visits UNION ALL SELECT who, height FROM people) o",
        True,
        BOTH,
        {"bounds.age", "people.bounds.height"},
    ),
]


def expected(hard: set[str], *, sums: bool, rows: set[str], values: set[str]) -> str:
    """What is left out decides first, then whether values are changed."""
    everybody, as_they_are = rows <= hard, values <= hard
    if everybody:
        return "truth" if as_they_are else "of clamped values"
    return "at least" if sums and as_they_are else "of counted rows"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_expression_says_what_can_be_cut_of_it(policy, tmp_path):
    data, wrong = clinic(tmp_path, POLICIES[policy]), []
    for asked, source, sums, rows, values in CASES:
        offer = data.quote(f"SELECT {asked} AS x FROM {source}", epsilon=1).offer
        said, right = said_by(offer)["x"].value, expected(POLICIES[policy], sums=sums, rows=rows, values=values)
        wrong += [] if said == right else [(asked, source, said, right)]
    assert not wrong


def test_what_is_called_the_truth_is_what_plain_sql_says(tmp_path):
    """On rows that keep to all hard limits, with next to no noise."""
    data, checked, wrong = clinic(tmp_path, POLICIES["all"], rows_within_limits(), dither.zcdp(10**12)), 0, []
    with duckdb.connect() as engine:
        for name, table in rows_within_limits().items():
            engine.register(name, table)
        for asked, source, *_ in CASES:
            sql = f"SELECT {asked} AS x FROM {source}"
            if asked.startswith(("MEDIAN", "QUANTILE")):
                continue  # of an even number of values there are several
            quote = data.quote(sql, rho=10**9)
            if said_by(quote.offer)["x"].value != "truth":
                continue
            answer, truth = quote.release(), float(engine.execute(sql).fetchall()[0][0])
            low, high = answer["x_low"][0], answer["x_high"][0]
            far = 4 * (high - low) + 1e-6 * (1 + abs(truth))  # beyond what noise does in 10^6 runs
            checked += 1
            wrong += [] if low - far <= truth <= high + far else [(sql, truth, answer)]
    assert not wrong
    assert checked > 40


def rows_within_limits():
    rng = random.Random(5)
    visits = [(person, rng) for person in range(40) for _ in range(rng.randrange(5))]
    days = [datetime.date(2025, 1, 1) + datetime.timedelta(days=at) for at in rng.sample(range(365), len(visits))]
    people = [person for person in range(60) if rng.random() < 0.6]
    return {
        "visits": pyarrow.table(
            {
                "person": [person for person, _ in visits],
                "ward": [rng.choice("AB") for _ in visits],
                "cost": pyarrow.array([Decimal(rng.randrange(40001)) / 100 for _ in visits], pyarrow.decimal128(9, 2)),
                "delta": [rng.choice([None, rng.randrange(-20, 21) / 2]) for _ in visits],
                "age": [rng.randrange(121) for _ in visits],
                "day": days,
            }
        ),
        "people": pyarrow.table({"who": people, "height": [rng.randrange(251) for _ in people]}),
        "wards": pyarrow.table({"ward": ["A", "A", "B", None, None], "floor": [1, 44, 1, 1, 1]}),
        "sites": pyarrow.table({"site": ["A", "B", "A"], "level": [1, 2, 44]}),
    }


def clinic(folder, hard, rows=None, budget=None):
    def number(kind, lower, upper, **more):
        return {"type": kind, "bounds": [lower, upper], "nullable": False, **more}

    days = {"type": "date", "bounds": [datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)], "nullable": False}
    visits = {
        "person": {"type": "integer", "nullable": False},
        "ward": {"type": "text", "keys": ["A", "B"], "nullable": False},
        "cost": number("decimal", 0, 400, step="0.01"),
        "delta": {**number("float", -10, 10, step="0.5"), "nullable": True},
        "age": number("integer", 0, 120),
        "day": days,
    }
    people = {"who": {"type": "integer", "nullable": False}, "height": number("integer", 0, 250)}
    wards = {"ward": {"type": "text"}, "floor": number("integer", 0, 9)}
    sites = {"site": {"type": "text"}, "level": number("integer", 0, 9)}
    own = sorted(fact for fact in hard if not fact.startswith("people."))
    theirs = sorted(fact.removeprefix("people.") for fact in hard if fact.startswith("people."))
    tables = {
        "visits": {"person": "person", "max_rows": 4, "hard": own, "columns": visits},
        "people": {"person": "who", "max_rows": 1, "hard": theirs, "columns": people},
        "wards": {"public": True, "unique": ["ward", "floor"], "columns": wards},
        "sites": {"public": True, "unique": ["level"], "columns": sites},
    }
    rules = read_policy({"version": 1, "domain": "clinic", "tables": tables})
    rows = rows or {name: one.slice(0, 1) for name, one in rows_within_limits().items()}
    folder.mkdir(exist_ok=True)
    book = dither.Ledger.create(folder / "statements.ledger", budget=budget or dither.approx(100, "1e-6"))
    book.bind(rules.domain, rules.hash)
    return Dataset(rules, book, {name: find_source(one, None, name) for name, one in rows.items()})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (f"AVG(n) AS x FROM {OWN}", "; a person's n above 4 counts as 4)"),
        (f"MEDIAN(k) AS x FROM (SELECT n AS k, person FROM {OWN}) p", "; a person's k above 4 counts as 4)"),
        (f"SUM(n) / COUNT(*) AS x FROM {OWN}", "; a person's n above 4 counts as 4)"),
        (f"AVG(s) AS x FROM {ADDED}", "; a person's s above 480 counts as 480)"),
        (f"AVG(n) AS x FROM {OWN} JOIN people q ON q.who = o.person", "; a person's n above 4 counts as 4)"),
        (
            "AVG(s) AS x FROM (SELECT person, SUM(delta) AS s FROM visits GROUP BY person) o",
            "; a person's s above 40 counts as 40, below -40 counts as -40)",
        ),
        (
            "AVG(c) AS x FROM (SELECT person, COUNT(*) OVER (PARTITION BY person) AS c FROM visits) o",
            "; a person's c above 4 counts as 4)",
        ),
    ],
)
def test_own_totals_that_are_cut_are_named_with_their_limits(asked, told, tmp_path):
    quote = clinic(tmp_path, set()).quote(f"SELECT {asked}", epsilon=1)
    assert told[:-1] in " ".join(quote.explain().split())
    assert told in quote.release().says
    sure = clinic(tmp_path / "sure", POLICIES["all"]).quote(f"SELECT {asked}", epsilon=1)
    assert "counts as" not in sure.explain()


def test_keys_stay_hard_wherever_their_column_goes(tmp_path):
    """A total over wards is the truth where no row has another ward, and otherwise at least so much."""
    shapes = [
        VISITS,
        JOIN,
        LEFT,
        "(SELECT person, ward FROM visits) v",
        "(SELECT person, ward, COUNT(*) AS n FROM visits GROUP BY person, ward) v",
        "(SELECT person, ward, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS n FROM visits) v",
        "(SELECT person, ward FROM visits UNION ALL SELECT person, ward FROM visits) v",
        "visits v WHERE EXISTS (SELECT 1 FROM people q WHERE q.who = v.person)",
        "visits v WHERE v.age > 3 AND v.day > DATE '2025-02-01'",
    ]
    listed = clinic(tmp_path / "listed", {*POLICIES["all"], "keys.ward"})
    other = clinic(tmp_path / "other", POLICIES["all"])
    for source in shapes:
        sql = f"SELECT v.ward, COUNT(*) AS x FROM {source} GROUP BY ROLLUP (v.ward)"
        found = [said_by(data.quote(sql, epsilon=1).offer)["x"].value for data in (listed, other)]
        assert found == ["truth", "at least"], source
    sql = f"SELECT ward, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS x FROM {VISITS} GROUP BY ward"
    assert [said_by(data.quote(sql, epsilon=1).offer)["x"].value for data in (listed, other)] == ["truth", "at least"]
    assert "rows of other keys, or of none, are left out" in " ".join(
        other.quote(sql, epsilon=1).release().explain().split()
    )


def test_a_wrong_word_about_unique_rows_costs_truth_and_never_privacy(tmp_path):
    """What counts of a person is within her limits also where each of her rows has three matches."""
    visits = {"ward": ["A"] * 200, "delta": [0.0] * 200, "age": [4] * 200, "day": [datetime.date(2025, 1, 1)] * 200}
    costs = pyarrow.array([Decimal(1)] * 200, pyarrow.decimal128(9, 2))
    rows = rows_within_limits() | {"visits": pyarrow.table({"person": list(range(50)) * 4, **visits, "cost": costs})}
    for matches in (1, 3):
        rows["sites"] = pyarrow.table({"site": ["A"] * matches, "level": [4] * matches})
        data = clinic(tmp_path / str(matches), POLICIES["all"], rows, dither.zcdp(10**12))
        for source, most in (
            ("visits v JOIN sites w ON w.level = v.age", 200),
            (f"{OWN} JOIN sites w ON w.level = o.n", 50),  # one row a person, before
        ):
            quote = data.quote(f"SELECT COUNT(*) AS x FROM {source}", rho=10**9)
            assert said_by(quote.offer)["x"].value == "truth"
            assert abs(quote.release()["x"][0] - most) < 1, (source, matches)


def test_other_totals_are_not_cut(tmp_path):
    assert (
        "counts as"
        not in clinic(tmp_path, set()).quote(f"SELECT AVG(m) AS x, COUNT(*) AS n FROM {OWN}", epsilon=1).explain()
    )


UNLISTED = {
    "ward": ["A", "A", "AA", "B", "B", "B"],  # AA is not listed, and stands between those that are
    "code": [1, 2, 3, 7, 0, 7],
    "flag": [True, True, False, True, False, True],
    "seen": [datetime.date(2025, month, 1) for month in (1, 1, 2, 2, 3, 9)],
    "sex": ["f", "m", "f", "f", "m", "m"],
    "age": [1, 2, 3, 4, 5, 6],
}
LISTED = {"ward": ["A", "B"], "code": [1, 2, 3], "flag": [True], "seen": [datetime.date(2025, 1, 1)], "sex": ["f", "m"]}


def unlisted(folder, **facts):
    """Rows of which some have keys that nobody listed, and next to no noise."""
    book = dither.Ledger.create(folder / "unlisted.ledger", budget=dither.zcdp(10**12))
    given = {
        "keys": LISTED,
        "bounds": {"age": (0, 9)},
        "hard": ["bounds.age", "keys.sex"],
        "complete": list(UNLISTED),
        **facts,
    }
    return dither.protect(pyarrow.table(UNLISTED), name="t", person="each row", ledger=book, **given)


@pytest.mark.parametrize(
    ("key", "outside"),
    [
        ("ward", "at least"),
        ("flag", "at least"),
        ("seen", "at least"),
        ("code + 1", "at least"),
        ("CAST(ward = 'AA' AS INTEGER) + 1", "at least"),  # no listed ward meets the condition
        ("CAST(ward = 'AA' AS INTEGER) * 2 + CAST(age > 2 AS INTEGER)", "at least"),
        ("CASE WHEN code > 5 THEN age ELSE 3 END", "at least"),
        ("CASE WHEN ward = 'AA' THEN sex ELSE 'none' END", "at least"),
        ("CAST(age > 2 AND ward = 'AA' AS INTEGER) + CAST(sex = 'f' AS INTEGER)", "truth"),
        ("CAST(ward = 'AA' AS INTEGER)", "truth"),
        ("CASE ward WHEN 'AA' THEN 'x' ELSE 'y' END", "truth"),
        ("flag AND age > 2", "truth"),
        ("NOT flag", "truth"),
        ("sex", "truth"),
        ("age", "truth"),
        ("EXTRACT(month FROM seen)", "truth"),
    ],
)
def test_totals_hold_rows_whose_key_is_not_listed_or_do_not_say_truth(key, outside, tmp_path):
    """Rows in no group are in no total; of an inner number with bounds, all that lies between them is listed."""
    data, bounded = unlisted(tmp_path), "THEN age" in key
    for sql, said in (
        (f"SELECT {key} AS k, COUNT(*) AS x FROM t GROUP BY ROLLUP (k)", outside),
        (
            f"SELECT k, COUNT(*) AS x FROM (SELECT {key} AS k FROM t) o WHERE k IS NOT NULL GROUP BY ROLLUP (k)",
            "truth" if bounded else outside,
        ),
    ):
        answer = data.quote(sql, rho=10**9).release()
        assert answer.statements == {"x": said}, sql
        if said == "truth":
            assert answer["x"][answer["k"].index(None)] == len(UNLISTED["ward"]), sql


@pytest.mark.parametrize(
    ("expression", "keys", "said"),
    [
        ("SUM(COUNT(*)) OVER (ORDER BY ward)", "ward", "at least"),
        ("SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY ward)", "ward, sex", "at least"),
        ("SUM(COUNT(*)) OVER (PARTITION BY ward ORDER BY sex)", "ward, sex", "truth"),
        ("SUM(COUNT(*)) OVER (ORDER BY sex)", "sex", "truth"),
        ("LAG(COUNT(*)) OVER (ORDER BY ward)", "ward", "of counted rows"),
        ("LAG(COUNT(*)) OVER (PARTITION BY ward ORDER BY sex)", "ward, sex", "truth"),
        ("SUM(COUNT(*)) OVER (PARTITION BY ward)", "ward, sex", "truth"),
        ("SUM(COUNT(*)) OVER (PARTITION BY sex)", "ward, sex", "at least"),
        ("100 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY ward)", "ward, sex", "truth"),
    ],
)
def test_windows_say_truth_where_no_key_that_is_not_listed_comes_between(expression, keys, said, tmp_path):
    answer = unlisted(tmp_path).quote(f"SELECT {keys}, {expression} AS x FROM t GROUP BY {keys}", rho=10**9).release()
    assert answer.statements == {"x": said}
    with duckdb.connect() as engine:
        engine.register("t", pyarrow.table(UNLISTED))
        rows = engine.execute(f"SELECT {keys}, {expression} AS x FROM t GROUP BY {keys}").fetchall()
    plain, names = {row[:-1]: row[-1] for row in rows}, keys.split(", ")
    for *key, found in zip(*(answer[name] for name in (*names, "x")), strict=True):
        if tuple(key) in plain and plain[tuple(key)] is not None and said == "truth":
            assert found == pytest.approx(plain[tuple(key)], rel=0.01), key
        elif tuple(key) in plain and said == "at least":
            assert found <= plain[tuple(key)] + 0.01, key
