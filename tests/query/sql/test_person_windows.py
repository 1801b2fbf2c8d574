"""Windows within one person in SQL: what is read, what is refused, and what the refusals name."""

from __future__ import annotations

import random

import pytest

from dither.errors import QuestionError
from dither.query.sql.parse import parse
from tests.query.owners import Asked, policy

BY_AGE = "OVER (PARTITION BY person ORDER BY age"  # ~ in what follows
REFUSED = [
    ("LAG(cost) OVER (ORDER BY age)", "other people's rows", "person in PARTITION BY"),
    ("LAG(cost) OVER (PARTITION BY ward ORDER BY age)", "other people's rows", "person in PARTITION BY"),
    ("LAG(cost) OVER (PARTITION BY person)", "nobody knows which row comes first", "ORDER BY"),
    ("ROW_NUMBER() OVER (PARTITION BY person)", "nobody knows which row comes first", "ORDER BY"),
    ("RANK() OVER (PARTITION BY person)", "nobody knows which row comes first", "ORDER BY"),
    ("LAG(cost, 1, 0) ~)", "said by COALESCE", "COALESCE(<it>, <number>)"),
    ("LAG(cost, -1) ~)", "0 to 1000000 rows away", "such as 1"),
    ("LAG(cost, age) ~)", "a constant number", "such as 1"),
    ("LAG(cost IGNORE NULLS) ~)", "whether they have a value", "without a value"),
    ("LAG(cost) ~ ROWS 2 PRECEDING)", "has no frame", "without ROWS"),
    ("LAG(cost) OVER (PARTITION BY person ORDER BY 1)", "puts no row before another", "a column to sort by"),
    ("LAG(LAG(cost) ~)) ~)", "into another", "inner"),
    ("LAST_VALUE(cost) ~)", "ends at the row itself", "UNBOUNDED FOLLOWING"),
    ("NTH_VALUE(cost, 2) ~)", "ends at the row itself", "UNBOUNDED FOLLOWING"),
    ("NTH_VALUE(cost, 0) ~ ROWS 2 PRECEDING)", "row 1 to", "from 1 on"),
    ("SUM(cost) OVER (PARTITION BY person ORDER BY cost RANGE BETWEEN 2 PRECEDING AND CURRENT ROW)", "rounded", "ROWS"),
    ("SUM(cost) ~ GROUPS 2 PRECEDING)", "GROUPS", "ROWS"),
    ("SUM(cost) ~ ROWS BETWEEN 1 PRECEDING AND 2 PRECEDING)", "before it starts", "ROWS"),
    ("SUM(cost) ~ ROWS BETWEEN age PRECEDING AND CURRENT ROW)", "a constant", "ROWS"),
    ("SUM(cost) ~ ROWS 2 PRECEDING EXCLUDE TIES)", "EXCLUDE", "does not need it"),
    ("SUM(cost) OVER (PARTITION BY person ROWS 2 PRECEDING)", "nobody knows which row comes first", "ORDER BY"),
    ("SUM(1) ~ ROWS 2 PRECEDING)", "the same for every row", "COUNT(*)"),
    ("SUM(ward) OVER (PARTITION BY person)", "only numbers with bounds", "LENGTH(ward)"),
    ("COUNT(DISTINCT ward) OVER (PARTITION BY person)", "counted by an inner question", "DISTINCT values"),
    ("MEDIAN(cost) OVER (PARTITION BY person)", "not answered within one person", "ROW_NUMBER"),
    ("NTILE(4) ~)", "not answered within one person", "ROW_NUMBER"),
    ("LAG(nothing) ~)", "no such column", "person"),
]  # fmt: skip
MANY = ", ".join(f"LAG(cost, {at}) ~) AS c{at}" for at in range(21))
WHOLE = [
    ("SELECT COUNT(*) FROM (SELECT person, LAG(ward) OVER (PARTITION BY person ORDER BY ward) AS c"
     " FROM visits GROUP BY 1, 'x') q", "beside GROUP BY", "inner question of its own"),
    ("SELECT COUNT(*) FROM (SELECT person, ward, LAG(cost) OVER (PARTITION BY person ORDER BY ward) AS c"
     " FROM visits GROUP BY person, ward) q", "no such column", "key 1, key 2"),
    ("SELECT COUNT(*) FROM (SELECT ward, RANK() OVER (ORDER BY COUNT(*)) AS c FROM visits GROUP BY ward) q",
     "rows of several people", "person among"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY age = 1) q", "there is none", "WHERE"),
    ("SELECT COUNT(*) FROM visits QUALIFY ROW_NUMBER() ~) = 1", "columns of GROUP BY", "PARTITION BY a column"),
    ("SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY ward ORDER BY pages) AS r FROM letters) q", "one row is", ""),
    ("SELECT COUNT(*) FROM (SELECT LAG(n) OVER (PARTITION BY n ORDER BY n) AS c FROM (SELECT age AS n FROM visits) u) q",
     "other people's rows", "shows her"),
    ('SELECT COUNT(*) FROM (SELECT LAG(cost) ~) AS c, "window 1\u200b" AS d FROM visits) q',
     "is no name", "a column"),
    (f"SELECT COUNT(*) FROM (SELECT {MANY} FROM visits) q", "more than 20 windows", "fewer"),
    ("SELECT COUNT(*) FROM (SELECT cost FROM visits WHERE LAG(cost) ~) > 3) q",
     "windows show single rows", "QUALIFY"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "why", "instead"),
    [*((f"SELECT COUNT(*) FROM (SELECT person, {what} AS c FROM visits) q", why, to) for what, why, to in REFUSED), *WHOLE],
)
def test_what_is_refused_says_what_would_work(sql, why, instead):
    with pytest.raises(QuestionError) as caught:
        parse(sql.replace("~", BY_AGE), policy())
    assert why in caught.value.why
    assert instead.replace("~", BY_AGE) in caught.value.instead


NAMED = [
    ("LAG(cost) OVER w AS c FROM visits WINDOW w AS (PARTITION BY person ORDER BY age)", "LAG(cost) ~) AS c FROM visits"),
    ("LAG(cost) OVER (w ORDER BY age) AS c FROM visits WINDOW W AS (PARTITION BY person)", "LAG(cost) ~) AS c FROM visits"),
    (
        "RANK() OVER w AS c, SUM(cost) OVER (w ROWS 2 PRECEDING) AS d FROM visits"
        " WINDOW w AS (PARTITION BY person ORDER BY age)",
        "RANK() ~) AS c, SUM(cost) ~ ROWS 2 PRECEDING) AS d FROM visits",
    ),
]


@pytest.mark.parametrize(("named", "plain"), NAMED)
def test_windows_by_their_names_are_what_they_stand_for(named, plain):
    plain = plain.replace("~", BY_AGE)
    questions = [parse(f"SELECT COUNT(*) AS n FROM (SELECT {one}) q", policy()) for one in (named, plain)]
    assert questions[0] == questions[1]


@pytest.mark.parametrize(
    "window",
    [
        "OVER v AS c FROM visits WINDOW w AS (PARTITION BY person ORDER BY age)",
        "OVER (w ORDER BY cost) AS c FROM visits WINDOW w AS (PARTITION BY person ORDER BY age)",
        "OVER w AS c FROM visits WINDOW w AS (PARTITION BY person ORDER BY age), w AS (ORDER BY cost)",
        "OVER w AS c FROM visits WINDOW v AS (PARTITION BY person), w AS (v ORDER BY age)",
    ],
)
def test_names_of_windows_that_sql_reads_by_rules_of_its_own_are_refused(window):
    with pytest.raises(QuestionError, match=r"WINDOW is not answered here|a window by its name is not answered here"):
        parse(f"SELECT COUNT(*) AS n FROM (SELECT LAG(cost) {window}) q", policy())


def test_a_window_takes_the_rows_that_where_has_kept():
    """And QUALIFY may name what SELECT calls it."""
    data = {"visits": [(1, "A", 1.0, 1), (1, "A", 2.0, 2), (1, "A", 4.0, 3), (2, "A", 8.0, 9)]}
    inner = f"SELECT person, cost, ROW_NUMBER() {BY_AGE}) AS k FROM visits WHERE age > 1 QUALIFY k = 1"
    asked = Asked(f"SELECT SUM(cost) AS s FROM ({inner}) q", "groups")
    assert asked.totals(data, random.Random(1)) == {(): ((2 + 8) * 4,)}
