"""Names that WITH gives inside a question: a subquery means the rows that are called so where it stands."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.sql.parse import parse, read_subqueries
from tests.query.owners import policy

FEW = "SELECT person, cost FROM visits WHERE cost < 10"
ABOVE = "SELECT person, cost FROM visits WHERE cost > (SELECT AVG(cost) FROM stays)"


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH stays AS ({FEW}) SELECT COUNT(*) AS n FROM ({ABOVE}) t",
        f"SELECT COUNT(*) AS n FROM (WITH stays AS ({FEW}) {ABOVE}) t",
        f"WITH t AS (WITH stays AS ({FEW}) {ABOVE}) SELECT COUNT(*) AS n FROM t",
        f"WITH stays AS ({FEW}), t AS ({ABOVE}) SELECT COUNT(*) AS n FROM t",
    ],
)
def test_a_subquery_is_asked_with_the_names_around_it(sql):
    assert read_subqueries(sql, policy()) == [f"WITH stays AS ({FEW}) SELECT AVG(cost) FROM stays"]


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH t AS ({ABOVE}), stays AS ({FEW}) SELECT COUNT(*) AS n FROM t",  # a name that is given later
        f"SELECT COUNT(*) AS n FROM ({ABOVE}) t JOIN (WITH stays AS ({FEW}) SELECT person FROM stays GROUP BY person) u"
        " ON t.person = u.person",
    ],
)
def test_names_of_other_questions_are_not_its_own(sql):
    assert read_subqueries(sql, policy()) == ["SELECT AVG(cost) FROM stays"]


def test_a_name_that_is_given_twice_is_refused():
    sql = f"WITH stays AS ({FEW}) SELECT COUNT(*) AS n FROM (WITH stays AS (SELECT * FROM stays WHERE cost < 5) {ABOVE}) t"
    (text,) = read_subqueries(sql, policy())
    with pytest.raises(QuestionError, match="the name stays twice"):
        parse(text, policy())


def test_rows_of_another_name_are_not_the_row_itself():
    """A row is among the rows of its own table; it need not be among others that are called so."""
    own = "SELECT COUNT(*) FROM visits o WHERE o.person = v.person"
    around = "SELECT COUNT(*) AS n FROM visits v WHERE v.cost > 45 OR ({}) = 0"
    assert parse(around.format(own), policy())
    with pytest.raises(QuestionError, match="dropped by a join"):
        parse(around.format(f"WITH visits AS ({FEW}) {own}"), policy())


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT person, cost FROM visits) SELECT COUNT(*) AS n FROM visits"
        " WHERE cost > (SELECT AVG(cost) FROM a)",
        "WITH a (p, cost) AS (SELECT person, age FROM visits) SELECT COUNT(*) AS n FROM visits"
        " WHERE cost > (SELECT AVG(cost) FROM a)",
        "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM (SELECT patient, cost FROM stays) s)",
        "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM (SELECT * FROM stays) s)",
        "WITH stays AS (SELECT person, cost FROM visits) SELECT COUNT(*) AS n FROM visits"
        " WHERE cost > (SELECT AVG(cost) FROM stays WHERE person > 3)",
    ],
)
def test_a_column_of_an_inner_question_is_not_one_of_the_row_around(sql):
    assert len(read_subqueries(sql, policy())) == 1


def test_a_column_that_an_inner_question_lacks_is_one_of_the_row_around():
    inner = "SELECT patient, cost AS c FROM stays"
    for sql in (
        f"SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(c) FROM ({inner}) s WHERE patient = person)",
        f"WITH a AS ({inner}) SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(c) FROM a WHERE patient = person)",
    ):
        assert read_subqueries(sql, policy()) == []
        assert parse(sql, policy()).table.person == "person"
