"""Schemas are left out of names where that changes nothing, and nowhere else."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.sql.rewrites.qualified_names import without_schemas
from dither.query.sql.syntax import read

SAME = {
    "SELECT a.t.x FROM a.t": "SELECT t.x FROM t",
    "SELECT c.a.t.x, A.T.y, t.z FROM c.a.t": "SELECT t.x, T.y, t.z FROM t",
    "SELECT v.x FROM a.t AS v JOIN b.u ON b.u.x = v.x": "SELECT v.x FROM t AS v JOIN u ON u.x = v.x",
    "SELECT x FROM a.t WHERE y IN (SELECT t.y FROM t)": "SELECT x FROM t WHERE y IN (SELECT t.y FROM t)",
}
REFUSED = [
    "SELECT x FROM a.t JOIN b.t AS u ON TRUE",  # two tables of one name
    "SELECT x FROM c.a.t JOIN d.a.t AS u ON TRUE",
    "WITH t AS (SELECT 1) SELECT x FROM a.t",  # WITH means another
    "SELECT a.t.x FROM a.t JOIN a.u AS t ON TRUE",  # an alias is called like the table
    "SELECT a.u.x FROM a.t AS u",  # a table is called by its alias
    "SELECT b.t.x FROM a.t",  # another schema
    "SELECT a.t.x FROM t",  # or one that nobody wrote
    "SELECT x FROM (SELECT 1 AS x) AS t JOIN a.t AS u ON a.t.x = 1",
]


@pytest.mark.parametrize(("sql", "expected"), SAME.items())
def test_a_schema_is_left_out(sql, expected):
    tree = read(sql)
    without_schemas(tree)
    assert tree == read(expected)


@pytest.mark.parametrize("sql", REFUSED)
def test_a_name_keeps_its_meaning(sql):
    with pytest.raises(QuestionError):
        without_schemas(read(sql))
