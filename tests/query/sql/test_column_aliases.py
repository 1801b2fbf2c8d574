"""Names of columns behind the name of an inner question."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.sql.parse import parse
from tests.query.owners import policy

OWN = "SELECT person AS p, COUNT(*) AS n FROM visits GROUP BY person"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) FROM visits GROUP BY person) AS t (p, n)",
        "SELECT AVG(n) FROM (SELECT person AS a, COUNT(*) AS b FROM visits GROUP BY person) t(p, n)",
        "WITH t (p, n) AS (SELECT person, COUNT(*) FROM visits GROUP BY person) SELECT AVG(n) FROM t",
    ],
)
def test_they_are_the_names_of_the_columns(sql):
    assert parse(sql, policy()) == parse(f"SELECT AVG(n) FROM ({OWN}) t", policy())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) FROM visits GROUP BY person) AS t (n)",
        "SELECT AVG(n) FROM (SELECT * FROM stays) AS t (n)",
        "SELECT AVG(n) FROM (SELECT person, ward AS w, COUNT(*) FROM visits GROUP BY person, w) AS t (p, x, n)",
    ],
)
def test_what_does_not_fit_is_refused(sql):
    with pytest.raises(QuestionError, match="COLUMNS is not answered"):
        parse(sql, policy())
