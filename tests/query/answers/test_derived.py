"""Computed columns: plain SQL where there is no noise, what they say, what they cost, and what is refused."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.query.answers.answer import Answer
from dither.query.answers.derived.values import rounded
from dither.query.pricing.fingerprint import question as spelled
from dither.testing import seeded
from tests.query.clinics import clinic, ledger, visits

GROUPED = "FROM visits GROUP BY ward"
TWO = {"ward": ["A", "B"], "sex": ["f", "m"]}
EXACT = [
    "SUM(cost) / SUM(age)",
    "100.0 * COUNT(*) / SUM(age)",
    "AVG(cost) - AVG(age)",
    "SUM(cost) + 2 * SUM(age) - 3",
    "-SUM(age) + COUNT(*) * COUNT(*)",
    "COUNT(*) / 4",
    "(COUNT(*) - 4) / 3 * 2",
    "ROUND(AVG(cost), 1)",
    "ROUND(COUNT(*) / 4)",
    "ROUND(SUM(age), -3)",
    "ROUND(-(COUNT(*) + 1) / 2)",
    "COALESCE(SUM(cost), 0)",
    "CAST(AVG(cost) AS INTEGER)",
    "CAST(COUNT(*) / 4 AS BIGINT)",
    "CAST(SUM(age) AS DOUBLE)",
    "NULLIF(COUNT(*), 26)",
    "COALESCE(NULLIF(COUNT(*), 26), -1)",
    "SUM(cost) / NULLIF(COUNT(*) - 26, 0)",
    "100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()",
    "SUM(COUNT(*)) OVER ()",
    "COUNT(*) - SUM(SUM(age)) OVER () / 10",
    "RANK() OVER (ORDER BY COUNT(*) DESC)",
    "ROW_NUMBER() OVER (ORDER BY SUM(cost), ward)",
    "DENSE_RANK() OVER (ORDER BY COUNT(*) / 100)",
    "LAG(COUNT(*)) OVER (ORDER BY ward)",
    "COUNT(*) - LAG(COUNT(*), 1) OVER (ORDER BY ward)",
    "LEAD(SUM(age)) OVER (ORDER BY ward DESC)",
    "COALESCE(LAG(COUNT(*)) OVER (ORDER BY ward), 0)",
    "COUNT(*) % 7",
    "MOD(SUM(age), 10)",
    "(3 - COUNT(*)) % 7",
    "(3 - COUNT(*)) // 7",
    "SUM(age) // COUNT(*)",
    "COUNT(*) % (SUM(age) // 100)",
    "AVG(COUNT(*)) OVER ()",
    "SUM(cost) - AVG(SUM(cost)) OVER (PARTITION BY ward)",
    "100.0 * COUNT(*) / MAX(COUNT(*)) OVER ()",
    "MIN(SUM(age)) OVER ()",
    "MAX(NULLIF(COUNT(*), 34)) OVER ()",
    "AVG(NULLIF(COUNT(*), 34)) OVER ()",
    "COUNT(*) OVER ()",
    "COUNT(NULLIF(COUNT(*), 34)) OVER ()",
    "CAST(AVG(cost) AS DECIMAL(10, 2))",
    "CAST(COUNT(*) / 4 AS DECIMAL(10, 1))",
    "SUM(cost)::NUMERIC",
]
QUALIFIED = [
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) <= 1",
    "SELECT ward, sex, COUNT(*) AS n, RANK() OVER (PARTITION BY ward ORDER BY n DESC) AS r FROM visits GROUP BY ward, sex "
    "QUALIFY r = 1 ORDER BY ward",
    "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex QUALIFY 100.0 * n / SUM(n) OVER () > 25 AND ward <> 'B'",
    "SELECT ward, sex, COUNT(*) AS n, 100 * n / SUM(n) OVER () AS share FROM visits GROUP BY ward, sex HAVING COUNT(*) > 12 "
    "QUALIFY NOT RANK() OVER (ORDER BY SUM(cost)) BETWEEN 2 AND 3 ORDER BY share DESC LIMIT 1",
    "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex QUALIFY n >= AVG(n) OVER () OR sex = 'f'",
    "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex QUALIFY LAG(n) OVER (ORDER BY ward, sex) IS NULL",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    book = ledger(tmp_path_factory.mktemp("exact"), dither.pure(10**14))
    return clinic(tmp_path_factory.mktemp("exact"), ledger=book, max_rows_per_group=60, keys=TWO)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """With the ward that nobody is ever in."""
    book = ledger(tmp_path_factory.mktemp("exact"), dither.pure(10**14))
    return clinic(tmp_path_factory.mktemp("exact"), ledger=book, max_rows_per_group=60)


def plain(sql: str, table: pyarrow.Table | None = None) -> list[tuple[object, ...]]:
    with duckdb.connect() as engine:
        engine.register("visits", visits() if table is None else table)
        return engine.execute(sql).fetchall()


@pytest.mark.parametrize("expression", EXACT)
def test_without_noise_it_is_plain_sql(data, expression):
    sql = f"SELECT ward, {expression} AS x, COUNT(*) AS n {GROUPED} ORDER BY ward"
    answer = data.quote(sql, epsilon=10**10, confidence="0.99999999").release()
    expected = plain(sql)
    assert answer["ward"] == [row[0] for row in expected]
    for row, (_, truth, _) in zip(answer, expected, strict=True):
        assert row["x"] == (None if truth is None else pytest.approx(float(truth), abs=1e-4)), expression
        if truth is not None and "x_low" in row:
            assert row["x_low"] <= float(truth) + 1e-9
            assert row["x_high"] >= float(truth) - 1e-9
    assert Answer.from_json(answer.to_json()).columns == answer.columns
    assert answer.to_arrow().num_rows == 2
    assert str(answer)
    assert answer.to_html()


def test_a_quotient_by_zero_is_missing(data, three):
    """DuckDB has infinity or NaN there, or NULL, by its version."""
    for expression in ("COUNT(*) / 0", "SUM(age) / (COUNT(*) - COUNT(*))", "SUM(cost) / (COUNT(*) - 26)"):
        answer = data.quote(f"SELECT ward, {expression} AS x {GROUPED}", epsilon=10**10).release()
        assert answer["x"][1] is None
    whole = three.quote("SELECT ward, SUM(cost) / COUNT(*) AS x FROM visits GROUP BY ward", epsilon=10**10).release()
    assert whole["x"][2] is None  # nobody is ever in ward C
    assert whole["x_low"][2] >= 0  # by the noise, mostly 0
    assert whole["x_high"][2] == 400  # by the bounds: what it is divided by may be zero
    assert "no end (None) of x" not in whole.says  # a missing number needs no end
    with (
        warnings.catch_warnings(action="ignore"),
        seeded(1),
    ):  # of 12 releases one has noise that leaves something out, and a number
        nothing = three.quote("SELECT ward, AVG(cost) - 1 AS x FROM visits GROUP BY ward", epsilon=10**10).release()
    assert (nothing["x"][2], nothing["x_low"][2], nothing["x_high"][2]) == (None, -1, 399)  # of nobody nothing is known
    assert nothing.uninformative == {"x": [2]}


@pytest.mark.parametrize("sql", QUALIFIED)
def test_qualify_keeps_what_plain_sql_keeps(data, sql):
    answer, expected = data.quote(sql, epsilon=10**10).release(), plain(sql)
    names = [name for name in answer.columns if not name.endswith(("_low", "_high"))]
    found = [tuple(row[name] for name in names) for row in answer]
    assert sorted(found) == sorted(
        tuple(float(cell) if isinstance(cell, float) else cell for cell in row) for row in expected
    )
    assert "QUALIFY chose the rows by released numbers" in answer.says
    assert set(answer.statements) <= set(names)  # what is computed for QUALIFY alone is not shown


def test_what_is_asked_for_qualify_alone_is_released_and_told(data):
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward QUALIFY RANK() OVER (ORDER BY SUM(cost) DESC) = 1"
    quote = data.quote(sql, epsilon=1)
    assert "not shown" in quote.explain()
    assert spelled(quote.offer) == spelled(
        data.quote(f"SELECT ward, COUNT(*) AS n, SUM(cost) AS s {GROUPED}", epsilon=1).offer
    )


def test_errors_of_computed_columns_are_known_where_noise_alone_decides(data):
    columns = "3 * n AS x, n - COUNT(*) AS z, ROUND(n / 2, 1) AS r, n * n AS q, RANK() OVER (ORDER BY n) AS k"
    quote = data.quote(f"SELECT ward, COUNT(*) AS n, {columns} {GROUPED}", epsilon=1)
    one = quote.errors["n"]
    assert quote.errors["x"] == pytest.approx(3 * one, rel=1e-3)
    assert quote.errors["z"] == 0
    assert quote.errors["r"] == pytest.approx(one / 2 + 0.05, rel=1e-3)
    assert quote.errors["q"] is quote.errors["k"] is None
    assert "how far it is off depends on the released numbers" in quote.explain()
    sums = data.quote(f"SELECT ward, SUM(cost) - SUM(age) AS d {GROUPED}", epsilon=1)
    answer = sums.release()
    wide = max(high - low for low, high in zip(answer["d_low"], answer["d_high"], strict=True)) / 2
    assert sums.errors["d"] == pytest.approx(wide, rel=0.02)


def test_windows_look_at_what_having_kept(data):
    sql = (
        "SELECT ward, sex, COUNT(*) AS n, 100.0 * n / SUM(n) OVER () AS share, "
        "RANK() OVER (PARTITION BY ward ORDER BY n DESC) AS r, "
        "n - LAG(n) OVER (PARTITION BY sex ORDER BY ward) AS d FROM visits GROUP BY ward, sex HAVING COUNT(*) > 5 "
        "ORDER BY share DESC, sex LIMIT 3"
    )
    answer = data.quote(sql, epsilon=10**10).release()
    expected = plain(sql)
    shown = [tuple(row[name] for name in ("ward", "sex", "n", "share", "r", "d")) for row in answer]
    assert [row[:3] + row[4:] for row in shown] == [row[:3] + row[4:] for row in expected]
    assert [row[3] for row in shown] == pytest.approx([row[3] for row in expected], abs=1e-5)
    assert "HAVING chose the rows" in answer.says
    assert "Selected   HAVING chose the rows" in answer.explain()
    limited = data.quote(f"SELECT ward, COUNT(*) AS n {GROUPED} ORDER BY n LIMIT 1", epsilon=1)
    assert "ORDER BY and LIMIT chose the rows" in limited.explain()
    assert (
        "chose the rows"
        not in data.quote(f"SELECT ward, COUNT(*) AS n {GROUPED} ORDER BY ward LIMIT 1", epsilon=1).explain()
    )


def test_having_and_order_name_computed_columns(three):
    sql = "SELECT ward, SUM(cost) / COUNT(*) AS r FROM visits GROUP BY ward"
    for rest in ("HAVING r > 181 ORDER BY r", "HAVING SUM(cost) / COUNT(*) > 181", "HAVING COUNT(*) > 30 ORDER BY COUNT(*)"):
        assert three.quote(f"{sql} {rest}", epsilon=10**10).release()["ward"] == ["A"]
    down = three.quote(f"{sql} ORDER BY SUM(cost) / COUNT(*) DESC", epsilon=10**10).release()
    assert down["ward"] == ["A", "B", "C"]  # what is missing comes last
    assert three.quote(f"{sql} ORDER BY r", epsilon=10**10).release()["ward"] == ["B", "A", "C"]


def test_arithmetic_costs_nothing_and_shares_the_stored_answer(data):
    first = data.quote(f"SELECT ward, SUM(cost) AS s, COUNT(*) AS n {GROUPED}", epsilon="0.5")
    texts = [
        f"SELECT ward, SUM(cost) / COUNT(*) AS r {GROUPED}",
        f"SELECT ward, SUM(cost) / COUNT(*) AS r, 2 * SUM(cost) - COUNT(*) AS q, RANK() OVER (ORDER BY r) AS k {GROUPED}",
        f"SELECT ward, COUNT(*) + 1 AS more, SUM(cost) AS s, COUNT(*) AS n {GROUPED} HAVING more > 3",
    ]
    paid = first.release()
    for text in texts:
        quote = data.quote(text, epsilon="0.5")
        assert spelled(quote.offer) == spelled(first.offer)
        assert quote.guarantee == first.guarantee
        answer = quote.release()
        assert answer.is_replay
        assert answer.released == paid.released
    assert list(data.quote(texts[0], epsilon="0.5").errors) == ["SUM(cost)", "COUNT(*)", "r"]  # the first two pay
    told = data.quote(texts[0], epsilon="0.5").explain()
    assert "Computed   r: (SUM(cost) / COUNT(*)), of released numbers, at no further price" in told
    assert "Computes   r: (SUM(cost) / COUNT(*))" in data.quote(texts[0], epsilon="0.5").describe()


def test_each_aggregate_is_released_once(data):
    sql = f"SELECT ward, COUNT(*) / SUM(age) AS a, SUM(age) AS s, SUM(age) - COUNT(*) AS b, s / 2 AS c {GROUPED}"
    offer = data.quote(sql, epsilon=1).offer
    assert [one.name for one in offer.question.aggregates] == ["s", "COUNT(*)"]
    assert len(offer.counters) == 2


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("COUNT(*) + SUM(age)", "at least"),
        ("ROUND(2 * COUNT(*) / 3, 1)", "at least"),
        ("COALESCE(COUNT(*), 0) - 3", "at least"),
        ("SUM(COUNT(*)) OVER ()", "at least"),
        ("COUNT(*) - SUM(age)", "of counted rows"),
        ("-COUNT(*)", "of counted rows"),
        ("COUNT(*) / SUM(age)", "of counted rows"),
        ("AVG(age) + 1", "of counted rows"),
        ("RANK() OVER (ORDER BY COUNT(*))", "of released numbers"),
    ],
)
def test_statements_where_people_are_bounded(tmp_path, expression, said):
    data = clinic(tmp_path, hard=["bounds.age", "steps.age"])
    answer = data.quote(f"SELECT ward, {expression} AS x {GROUPED}", epsilon=1).release()
    assert answer.statements == {"x": said}
    low = {"at least": "truth at least", "of counted rows": "counted from"}.get(said)
    assert (answer.heads.get("x"), answer.heads.get("x_low")) == ((None, low) if low else (said, None))
    assert answer.aggregates == ("x",)


def test_statements_of_the_truth(tmp_path):
    facts = {"bounds": {"cost": (0, 400), "age": (0, 120)}, "hard": ["bounds.age"], "keys": TWO, "complete": ["cost", "age"]}
    data = dither.protect(visits(), name="visits", person="each row", ledger=ledger(tmp_path), **facts)
    sql = f"SELECT ward, COUNT(*) / SUM(age) AS x, AVG(cost) - COUNT(*) AS y, RANK() OVER (ORDER BY x) AS r {GROUPED}"
    answer = data.quote(sql, epsilon=1).release()
    assert answer.statements == {"x": "truth", "y": "of clamped values", "r": "of released numbers"}
    kept = data.quote(
        f"SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS x {GROUPED} HAVING COUNT(*) > -99", epsilon=1
    ).release()
    assert kept.statements == {"x": "of counted rows"}  # of the rows that were kept


def test_columns_without_an_interval(data):
    sql = f"SELECT ward, MEDIAN(cost) * 2 AS m, MEDIAN(cost) - COUNT(*) AS d, RANK() OVER (ORDER BY COUNT(*)) AS r {GROUPED}"
    quote = data.quote(sql, epsilon=1)
    answer = quote.release()
    assert [name for name in answer.columns if name.endswith("_low")] == ["m_low"]
    assert quote.explain().count("it has no error bar") == 2
    assert answer.heads["r"] == "of released numbers"
    assert "m" not in answer.heads
    assert list(json.loads(answer.to_json())["kinds"].values()) == ["text", "number", "number", "number", "number", "whole"]


def test_kinds_follow_from_the_question(data):
    sql = (
        f"SELECT ward, COUNT(*) + 1 AS a, COUNT(*) / 1 AS b, CAST(AVG(age) AS INTEGER) AS c, ROUND(AVG(age)) AS d {GROUPED}"
    )
    answer = data.quote(sql, epsilon=1).release()
    kinds = {"a": "whole", "a_low": "whole", "b": "number", "c": "whole", "c_high": "whole", "d": "number"}
    assert {name: answer.kinds[name] for name in kinds} == kinds
    large = data.quote(f"SELECT ward, {' * '.join(['100000'] * 5)} * COUNT(*) AS x {GROUPED}", epsilon=10**10).release()
    assert large["x"] == [None, None]  # beyond 64 bits
    assert large.to_arrow()["x"].null_count == 2


def test_rounding_is_half_away_from_zero():
    halves = [Fraction(5, 2), Fraction(-5, 2), Fraction(1, 2), Fraction(-7, 2), Fraction(2675, 1000), Fraction(1250)]
    digits = [0, 0, 0, 0, 2, -2]
    found = plain("SELECT round(2.5), round(-2.5), round(0.5), round(-3.5), round(2.675, 2), round(1250, -2)")
    assert [rounded(one, at) for one, at in zip(halves, digits, strict=True)] == [Fraction(str(one)) for one in found[0]]


def test_shares_of_keys_that_a_release_chose(tmp_path):
    data = clinic(tmp_path, keys={"sex": ["f", "m"]}, budget=dither.approx(10**6, "1e-3"))
    sql = "SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY ward"
    answer = data.quote(sql, epsilon=1000, delta="1e-6").release()
    assert sum(answer["x"]) == pytest.approx(1)
    assert answer.statements == {"x": "of counted rows"}


REFUSED = [
    ("SQRT(COUNT(*))", "stands by itself", "COUNT(*) in a column of its own, and the rest after the answer has come"),
    (
        "CASE WHEN COUNT(*) > 3 THEN 1 END",
        "stands by itself",
        "COUNT(*) in a column of its own, and the rest after the answer has come",
    ),
    ("COUNT(*) + ward", "aggregates and numbers only", None),
    ("COUNT(*) / (SELECT COUNT(*) FROM visits GROUP BY ward)", "one row for each group", None),
    ("ROUND(COUNT(*), 40)", "whole number from -15", "a number of digits such as 2"),
    ("CAST(AVG(cost) AS VARCHAR)", "cast to INTEGER, BIGINT, DOUBLE or DECIMAL", None),
    ("NULLIF(COUNT(*), SUM(age))", "here stands a number", None),
    ("RANK() OVER ()", "nobody knows which row comes first", "OVER (ORDER BY <column>)"),
    ("LAG(COUNT(*), 1, 0) OVER (ORDER BY ward)", "said by COALESCE", None),
    ("LAG(COUNT(*), -1) OVER (ORDER BY ward)", "0 to 1000000 rows", None),
    ("SUM(COUNT(*)) OVER (PARTITION BY sex)", "divided by columns of GROUP BY", None),
    ("SUM(LAG(COUNT(*)) OVER (ORDER BY ward)) OVER ()", "does not look into another window", None),
    ("MODE(sex) + 1", "no number", "MODE(sex) by itself"),
    ("COUNT(*) + x", "computed from itself", None),
    ("AVG(cost) // 2", "no two engines mean the same", "/ between them, and FLOOR after the answer has come"),
    ("AVG(COUNT(*)) OVER (ORDER BY ward)", "only the running sum", None),
    ("MAX(cost) OVER ()", "only the running sum", None),
]


@pytest.mark.parametrize(("expression", "why", "instead"), REFUSED)
def test_what_is_refused_teaches_and_costs_nothing(tmp_path, expression, why, instead):
    data = clinic(tmp_path)
    with pytest.raises(QuestionError, match=why.replace("(", "\\(")) as caught:
        data.quote(f"SELECT ward, {expression} AS x, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1)
    if instead is not None:
        assert caught.value.instead == instead
    assert data.ledger.remaining().like(dither.pure(10**8)) == 1


def test_names_that_grow_are_stopped(tmp_path):
    columns = ", ".join(f"n{place} + n{place} AS n{place + 1}" for place in range(30))
    with pytest.raises(QuestionError, match="more than 1000 parts"):
        clinic(tmp_path).quote(f"SELECT COUNT(*) AS n0, {columns} FROM visits", epsilon=1)


def test_having_about_a_window_is_refused(tmp_path):
    sql = "SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward HAVING r < 3"
    with pytest.raises(QuestionError, match="rows that HAVING has kept"):
        clinic(tmp_path).quote(sql, epsilon=1)
