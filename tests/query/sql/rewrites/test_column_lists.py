"""Columns by their places: names behind an alias, parts of UNION ALL, and what plain SQL says of the same."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.sql import from_clause
from tests.query.noiseless import differences
from tests.query.sql.rewrites.plain import data, engine

OWN = "SELECT COUNT(*) AS k, person FROM visits GROUP BY person"
ASKED = [
    "SELECT SUM(n) AS s FROM (SELECT person, COUNT(*) FROM visits GROUP BY person) AS t (who, n)",
    f"SELECT SUM(n) AS s FROM ({OWN}) AS t (n, who)",  # the person is written last
    f"SELECT SUM(n) AS s, COUNT(DISTINCT person) AS p FROM ({OWN}) AS t (n)",
    f"WITH t (n, who) AS ({OWN}) SELECT SUM(n) AS s FROM t",
    f"WITH t (n, who) AS ({OWN}) SELECT SUM(z) AS s FROM t AS u (z, y)",
    "SELECT w, SUM(c) AS s FROM (SELECT ward, cost FROM visits) AS t (w, c) GROUP BY w",
    "SELECT w, COUNT(*) AS n FROM visits AS v (p, w) WHERE v.p < 20 GROUP BY w",
    "SELECT a, COUNT(*) AS n FROM (SELECT ward AS b, person AS a FROM visits) AS t (a, b) GROUP BY a",  # names change places
    f"SELECT SUM(x) AS s FROM ({OWN} UNION ALL SELECT age, person FROM visits) AS u (x, y)",
    f"SELECT SUM(k) AS s FROM ({OWN} UNION ALL SELECT age, person FROM visits) u",
    f"SELECT SUM(age) AS s FROM (SELECT age, person FROM visits UNION ALL {OWN}) u",
    "SELECT COUNT(*) AS n FROM (SELECT ward, MAX(age) AS m, person FROM visits GROUP BY person, ward UNION ALL "
    "SELECT ward, age, person FROM visits) u WHERE m > 1",
]
REFUSED = {
    "SELECT COUNT(*) AS n FROM (SELECT * FROM visits) AS t (a, b)": "instead of \\*",
    f"SELECT COUNT(*) AS n FROM ({OWN}) AS t (a, b, c)": "2 columns",
    f"SELECT COUNT(*) AS n FROM ({OWN}) AS t (a, A)": "each one of its own",
    f"SELECT SUM(k) AS n FROM ({OWN}) AS t (a, b)": "no such column",
}


@pytest.mark.parametrize("sql", ASKED)
def test_places_are_those_that_are_written(tmp_path, sql):
    with engine() as plain:
        assert differences(data(tmp_path), plain, sql, sql, 0.6) == []


@pytest.mark.parametrize(("sql", "words"), REFUSED.items())
def test_lists_that_mean_nothing_are_refused(tmp_path, sql, words):
    with pytest.raises(QuestionError, match=words):
        data(tmp_path).quote(sql, epsilon=1)


def test_places_of_the_relation_are_noticed(tmp_path, monkeypatch):
    """The order that relations have of themselves, in UNION ALL: ages would be added to persons."""
    monkeypatch.setattr(from_clause, "in_written_order", lambda relation, _: relation)
    bounds = {"age": (0, 5), "person": (0, 50)}
    with engine() as plain:
        assert differences(data(tmp_path, bounds=bounds, hard=[], steps={}), plain, ASKED[-3], ASKED[-3], 0.6)
