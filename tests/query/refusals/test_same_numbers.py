"""Rewrites that are other spellings count the same rows: refused SQL and its rewrite, side by side in plain DuckDB."""

from __future__ import annotations

import pytest

from tests.query.refusals.questions import refused
from tests.query.sql.rewrites.plain import data, engine

CONDITIONS = [
    "smokes IS TRUE",
    "smokes IS NOT TRUE",
    "smokes IS FALSE",
    "smokes IS NOT FALSE",
    "name ~ '.*nn.*'",
    "name SIMILAR TO 'A.*'",
    "name GLOB 'a*'",
    "name LIKE ward",
    "DAYNAME(day) = 'Wednesday'",
    "MONTHNAME(day) <> 'January'",
    "TRY_CAST(age AS INT) = 1",
    "CAST(age AS VARCHAR) = '1'",
    "GREATEST(smokes, FALSE)",
    "age IN (age)",
    "age IN ()",
    "CASE WHEN smokes THEN NULL WHEN age > 1 THEN FALSE ELSE TRUE END",
    "name = $$Anna$$",
]
WHOLE = [
    "(SELECT COUNT(*) FROM visits)",
    "SELECT COUNT(*) FROM visits;;",
    "SELECT DISTINCT COUNT(*) FROM visits",
    "SELECT ward, ward AS w, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT APPROX_COUNT_DISTINCT(ward) FROM visits",
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return data(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def plain():
    with engine() as made:
        yield made


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_keep_the_same_rows(asked, plain, condition):
    sql = f"SELECT COUNT(*) FROM visits WHERE {condition}"
    error = refused(sql, asked.policy)
    assert error is not None
    assert error.rewrite is not None
    assert plain.execute(error.rewrite).fetchall() == plain.execute(sql).fetchall()


@pytest.mark.parametrize("sql", WHOLE)
def test_questions_have_the_same_answer(asked, plain, sql):
    error = refused(sql, asked.policy)
    assert error.rewrite is not None
    theirs, ours = (sorted(plain.execute(text).fetchall(), key=str) for text in (sql, error.rewrite))
    assert [{*row} for row in ours] == [{*row} for row in theirs]
