"""ROLLUP, CUBE and GROUPING SETS: one table as in SQL, parts that add up, what comes after the release, what is refused."""

from __future__ import annotations

import random
import re

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.query.answers.answer import Answer
from dither.query.workload.grouping_release import GroupingRelease
from tests.query.clinics import clinic, ledger
from tests.query.neighbours import COLUMNS, random_sets
from tests.query.test_plain_sql import COMPLETE, FACTS, clean_row

BY = ["ward", "sex", "EXTRACT(quarter FROM day)", "age >= 30", "FLOOR(age / 40)"]
ASKED = ["COUNT(*)", "COUNT(cost)", "SUM(cost)", "SUM(age)", "AVG(cost)", "AVG(weight)", "SUM(cost) / COUNT(*)"]


def plain(engine, groups, sets, asked):
    """What DuckDB says of rows whose keys are listed: each row by its keys and GROUPING."""
    names = [f"k{at}" for at in range(len(groups))]
    sets = re.sub(r"\d", lambda found: names[int(found[0]) - 1], sets)  # there a number in ROLLUP is a constant
    keys = ", ".join(f"{by} AS {name}" for by, name in zip(groups, names, strict=True))
    known = " AND ".join(f"({by}) IS NOT NULL" for by in groups)
    rows, named = f"(SELECT *, {keys} FROM visits WHERE {known}) AS v", ", ".join(names)
    result = engine.execute(f"SELECT {named}, GROUPING({named}) AS g, {asked} FROM {rows} GROUP BY {sets}")
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


@pytest.mark.parametrize("way", [None, "weights", "clip", "groups"])
def test_answers_are_plain_sql_and_add_up(tmp_path, way):
    rng, is_pure = random.Random(f"sets {way}"), way != "clip"
    book = ledger(tmp_path, dither.pure(10**9) if is_pure else dither.zcdp(10**15))
    rows = [clean_row(rng) for _ in range(300)]
    arrays = [pyarrow.array([row[place] for row in rows], kind) for place, kind in enumerate(COLUMNS.values())]
    table = pyarrow.table(dict(zip(COLUMNS, arrays, strict=True)))
    limits = {"person": "each row"} if way is None else {"person": "person", "max_groups": 16, "max_rows_per_group": 20}
    hard = [f"bounds.{column}" for column in FACTS["bounds"]]
    data = dither.protect(table, name="visits", ledger=book, complete=sorted(COMPLETE), hard=hard, **limits, **FACTS)
    price = {"epsilon": 10**6} if is_pure else {"rho": 10**12}
    with duckdb.connect() as engine:
        engine.register("visits", table)
        for _ in range(12):
            groups = rng.sample(BY, rng.randrange(1, 3))
            asked = [f"{one} AS a{at}" for at, one in enumerate(rng.sample(ASKED, 2))]
            named = ", ".join(f"{by} AS k{at}" for at, by in enumerate(groups))
            marks = f"GROUPING({', '.join(groups)})"
            sets = random_sets(rng, len(groups))
            sql = f"SELECT {named}, {marks} AS g, {', '.join(asked)} FROM visits GROUP BY {sets}"
            answer = data.quote(sql, bounding=way, **price).release()
            found = {_key(row, groups): row for row in plain(engine, groups, sets, ", ".join(asked))}
            assert found.keys() <= {_key(row, groups) for row in answer}
            for row in answer:
                truth = found.get(_key(row, groups), {})
                for at in range(2):
                    value, expected = row[f"a{at}"], truth.get(f"a{at}")
                    if expected is None:
                        continue  # nothing is there: no average to compare, and a sum of nothing is zero
                    assert value == pytest.approx(float(expected), abs=3, rel=1e-3), (sql, row)


def _key(row, groups):
    return (*(row[f"k{at}"] for at in range(len(groups))), row["g"])


@pytest.mark.parametrize("noise", ["geometric", "gaussian"])
@pytest.mark.parametrize("facts", [{"person": "each row", "max_groups": None, "max_rows_per_group": None}, {}])
def test_parts_add_up_to_their_totals(tmp_path, facts, noise):
    data = clinic(tmp_path, budget=dither.approx(100, "1e-6"), **facts)
    asked = "COUNT(*) AS n, SUM(age) AS s, COUNT(cost) AS c, AVG(age) AS m"
    answer = data.quote(f"SELECT ward, sex, {asked} FROM visits GROUP BY CUBE (ward, sex)", epsilon=1, noise=noise).release()
    rows = {(row["ward"], row["sex"]): row for row in answer}
    assert len(rows) == 12
    for name in ("n", "s", "c"):
        for ward in "ABC":
            assert rows[ward, None][name] == sum(rows[ward, sex][name] for sex in "fm")
        for sex in "fm":
            assert rows[None, sex][name] == sum(rows[ward, sex][name] for ward in "ABC")
        assert (
            rows[None, None][name] == sum(rows[ward, None][name] for ward in "ABC") == sum(rows[None, s][name] for s in "fm")
        )
    assert all(row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] for row in answer for name in ("n", "s"))
    assert all(row["m"] is None or row["m_low"] <= row["m"] <= row["m_high"] for row in answer)
    assert Answer.from_json(answer.to_json()).columns == answer.columns
    assert answer.kinds["n"] == "whole"


def test_parts_that_are_read_by_themselves_do_not_add_up(tmp_path, monkeypatch):
    """The test above finds parts that are rounded each by itself."""
    own = GroupingRelease._listed

    def apart(self, cells):
        return [one + place % 2 for place, one in enumerate(own(self, cells))]

    monkeypatch.setattr(GroupingRelease, "_listed", apart)
    with pytest.raises(AssertionError):
        test_parts_add_up_to_their_totals(tmp_path, {}, "gaussian")


ROLLUP = "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, sex)"


def test_rows_are_told_apart_named_sorted_and_kept_after_the_release(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10**6))

    def rows(sql):
        answer = data.quote(sql, epsilon=1000).release()
        return [tuple(row[name] for name in answer.columns if not name.endswith(("_low", "_high"))) for row in answer]

    every = rows(ROLLUP)
    assert [row[:2] for row in every] == [
        *((ward, sex) for ward in "ABC" for sex in "fm"),
        *((ward, None) for ward in "ABC"),
        (None, None),
    ]
    marked = rows(
        "SELECT COALESCE(ward, 'all wards') AS ward, CASE WHEN GROUPING(sex) = 1 THEN 'both' ELSE sex END AS sex,"
        " GROUPING(ward) AS w, GROUPING_ID(ward, sex) AS g, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, sex)"
        " HAVING GROUPING(sex) = 1 ORDER BY g DESC, ward"
    )
    assert [row[:4] for row in marked] == [("all wards", "both", 1, 3), *((ward, "both", 0, 1) for ward in "ABC")]
    assert [row[0] for row in rows("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward) HAVING ward IS NULL")] == [
        None
    ]
    top = rows("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward) ORDER BY n DESC LIMIT 2")
    assert top[0][0] is None
    assert top[0][1] == pytest.approx(60, abs=2)
    share = rows("SELECT ward, 2 * COUNT(*) AS twice, GROUPING(ward) FROM visits GROUP BY ROLLUP (ward)")
    assert share[-1][1:] == (pytest.approx(120, abs=4), 1)
    both = rows("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward, sex), (sex), ROLLUP (ward))")
    assert len(both) == 6 + 2 + 3 + 1
    composite = rows("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ROLLUP ((ward, sex))")
    assert len(composite) == 7
    assert len(rows("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, CUBE (sex)")) == 9


def test_it_is_answered_from_what_was_stored_of_the_plain_question(tmp_path):
    """Where noise is on the finest groups alone, it is the same release."""
    data = clinic(tmp_path, budget=dither.zcdp(10))
    plain = data.quote("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex", rho="0.1").release()
    left = str(data.ledger.remaining())
    quote = data.quote(ROLLUP, rho="0.1")
    assert quote.offer.counters[0].on_finest
    answer = quote.release()
    assert answer.is_replay
    assert str(data.ledger.remaining()) == left
    off = [abs(max(0, one) - other) for one, other in zip(answer["n"][:6], plain["n"], strict=True)]
    assert max(off) <= 1  # rounded so that parts add up, and not cut


def test_levels_with_noise_are_another_question(tmp_path):
    data = clinic(
        tmp_path, budget=dither.zcdp(10), person="each row", max_groups=None, max_rows_per_group=None,
        keys={"ward": [f"w{at}" for at in range(50)], "sex": ["f", "m"]},
    )  # fmt: skip
    rollup, plain = (
        data.quote(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY {by}", rho="0.1") for by in ("ROLLUP (ward)", "ward")
    )
    assert not rollup.offer.counters[0].on_finest
    assert rollup.question != plain.question
    assert rollup.question["levels"][0][0]["groups"] == [0]
    assert rollup.release().is_replay is False
    assert rollup.release().is_replay
    told = rollup.explain()
    assert "Rows       50 by ward, 1 in all, whether the data has them or not" in told
    assert "Levels     noise for n is put on: by ward (" in told
    assert "Sets       by ward; in all" in rollup.describe()


REFUSED = {
    "SELECT ward, COUNT(DISTINCT person) AS n FROM visits GROUP BY ROLLUP (ward)": "does not add up",
    "SELECT ward, MEDIAN(age) AS n FROM visits GROUP BY CUBE (ward)": "does not add up",
    "SELECT ward, VARIANCE(age) AS n FROM visits GROUP BY ROLLUP (ward)": "does not add up",
    "SELECT ward, MODE(sex) AS n FROM visits GROUP BY ROLLUP (ward)": "does not add up",
    "SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ROLLUP (ward)": "looks at other rows",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city)": "nobody declared the keys",
    "SELECT ward, GROUPING(sex) AS g, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)": "no column of GROUP BY",
    "SELECT COALESCE(o, 'all') AS o, COUNT(*) AS n FROM (SELECT age > 9 AS o FROM visits) v GROUP BY ROLLUP (o)": "text",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward), CUBE (ward, sex, ward, sex)": "16 groupings",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY CUBE (ward, sex, ward, sex, age)": "16 groupings",
    "SELECT ward FROM visits GROUP BY ROLLUP (ward)": "at least one COUNT",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward UNION ALL SELECT 'a', COUNT(*) FROM visits WHERE sex = 1": "own",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_does_not_follow_is_refused_before_any_charge(tmp_path, sql):
    data = clinic(tmp_path, budget=dither.approx(9, "1e-6"))
    if "city" in sql:
        columns = {"person": [1, 2], "city": ["x", "y"]}
        data = dither.protect(
            pyarrow.table(columns), name="visits", person="person", max_groups=1, max_rows_per_group=1,
            ledger=ledger(tmp_path, dither.approx(9, "1e-6")),
        )  # fmt: skip
    left = str(data.ledger.remaining())
    with pytest.raises(QuestionError, match=REFUSED[sql]) as refused:
        data.quote(sql, epsilon=1)
    assert refused.value.instead
    assert str(data.ledger.remaining()) == left


def test_a_refusal_names_questions_that_are_answered(tmp_path):
    data = clinic(tmp_path)
    with pytest.raises(QuestionError) as refused:
        data.quote("SELECT ward, MEDIAN(age) AS m FROM visits GROUP BY ROLLUP (ward)", epsilon=1)
    assert refused.value.instead == "a batch of 2 questions: GROUP BY ward; no GROUP BY"
    several = ["SELECT ward, MEDIAN(age) AS m FROM visits GROUP BY ward", "SELECT MEDIAN(age) AS m FROM visits"]
    assert len(data.quote(several, epsilon=1).release()) == 2


def test_in_a_batch_and_without_rows(tmp_path):
    data = clinic(tmp_path)
    batch = data.quote([ROLLUP, "SELECT COUNT(*) AS n FROM visits"], epsilon=2)
    first, second = batch.release()
    assert len(first) == 10
    assert len(second) == 1
    empty = data.quote(f"{ROLLUP} LIMIT 0").release()
    assert list(empty.columns) == ["ward", "sex", "n"]
    none = clinic(tmp_path, pyarrow.table({name: column[:0] for name, column in _columns().items()}))
    assert len(none.quote(ROLLUP, epsilon=1).release()) == 10


def _columns():
    return {name: pyarrow.array([None], kind) for name, kind in [
        ("person", pyarrow.int64()), ("ward", pyarrow.string()), ("sex", pyarrow.string()), ("cost", pyarrow.float64()),
        ("age", pyarrow.int64()), ("day", pyarrow.date32()),
    ]}  # fmt: skip


def test_limits_that_are_found_and_a_wished_error(tmp_path):
    data = clinic(tmp_path, budget=dither.zcdp(10**6))
    found = data.quote(ROLLUP, rho=1, limits="auto").release()
    assert found["n"][-1] == sum(found["n"][:6])
    quote = data.quote(ROLLUP, error={"n": 20})
    assert quote.errors["n"] <= 20
    assert data.quote(ROLLUP.replace("COUNT(*)", "AVG(cost)"), rho=1, size=50).errors["n"] > 0


def test_totals_that_leave_out_rows_without_a_key_are_no_truth(tmp_path):
    """Rows without a ward, or with one that nobody listed, are in no total: a count is a lower bound, and signed sums and
    averages are of counted rows."""
    bounds = {"bounds": {"cost": (-10, 400), "age": (0, 120)}}
    limits = {"max_rows": 15, "max_groups": None, "max_rows_per_group": None}
    hard = ["max_rows", "bounds.cost", "steps.cost", "bounds.age", "keys.ward", "keys.sex"]
    asked = "COUNT(*) AS n, SUM(age) AS a, SUM(cost) AS s, AVG(age) AS m FROM visits"

    def said(data, sql):
        return list(data.quote(sql, epsilon=1).release().statements.values())

    less = ["at least", "at least", "of counted rows", "of counted rows"]
    data, whole = (
        clinic(tmp_path, hard=hard, **limits, **bounds, complete=["person", "cost", "age", "sex", *more])
        for more in ([], ["ward"])
    )
    assert said(data, f"SELECT ward, {asked} GROUP BY ROLLUP (ward)") == less
    assert said(data, f"SELECT ward, sex, {asked} GROUP BY GROUPING SETS ((ward), (sex))") == less
    assert said(whole, f"SELECT ward, {asked} GROUP BY ROLLUP (ward)") == ["truth"] * 4
    for sql in (
        f"SELECT sex, {asked} GROUP BY ROLLUP (sex)",
        f"SELECT ward, sex, {asked} GROUP BY GROUPING SETS ((ward, sex), (ward))",
        f"SELECT ward, {asked} WHERE ward IN ('A', 'B') AND age > 3 GROUP BY ROLLUP (ward)",
        f"SELECT ward, {asked} WHERE ward IS NOT NULL GROUP BY CUBE (ward)",
    ):
        assert said(data, sql) == ["truth"] * 4, sql
    assert said(data, f"SELECT ward, {asked} WHERE ward = 'A' OR age > 3 GROUP BY ROLLUP (ward)") == less
    listed = clinic(tmp_path, hard=hard[:4], **limits, **bounds, complete=["person", "cost", "age", "sex", "ward"])
    for sql in (
        f"SELECT ward, {asked} GROUP BY ROLLUP (ward)",
        f"SELECT UPPER(ward) AS w, {asked} GROUP BY ROLLUP (w)",
        f"SELECT ward, {asked} WHERE ward IN ('A', 'elsewhere') GROUP BY ROLLUP (ward)",
        f"SELECT w, {asked.replace('visits', '(SELECT person, ward AS w, age, cost FROM visits) v')} GROUP BY ROLLUP (w)",
    ):
        assert said(listed, sql) == less, sql
    for sql in (
        f"SELECT ward = 'A' AS w, {asked} GROUP BY ROLLUP (w)",
        f"SELECT CASE ward WHEN 'A' THEN 'a' ELSE 'b' END AS w, {asked} GROUP BY ROLLUP (w)",
        f"SELECT age, {asked} GROUP BY ROLLUP (age)",
        f"SELECT ward, {asked} WHERE ward IN ('A', 'B') GROUP BY ROLLUP (ward)",
    ):
        assert said(listed, sql) == ["truth"] * 4, sql
    (share,) = said(listed, "SELECT ward, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY ward")[-1:]
    assert share == "of counted rows"
    soft = clinic(tmp_path, **limits, **bounds)
    assert said(soft, f"SELECT ward, {asked} GROUP BY ROLLUP (ward)")[1:] == ["of counted rows"] * 3
