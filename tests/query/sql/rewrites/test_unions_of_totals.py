"""UNION ALL of totals is a question by several groupings, and means what SQL means."""

from __future__ import annotations

import duckdb
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.query.sql.parse import parse
from tests.query.neighbours import policy

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
SAME = [
    (f"{BY_WARD} UNION ALL SELECT 'all', COUNT(*) FROM visits",
     "SELECT COALESCE(ward, 'all') AS ward, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward), ())"),
    (f"{BY_WARD} UNION ALL SELECT NULL, COUNT(*) FROM visits",
     "SELECT ward, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward), ())"),
    ("SELECT ward AS w, sex, SUM(cost) AS c FROM visits WHERE age > 3 GROUP BY 1, 2 UNION ALL (SELECT ward, 'both', "
     "SUM(cost) FROM visits WHERE age > 3 GROUP BY ward UNION ALL SELECT 'all', 'both', SUM(cost) "
     "FROM visits WHERE age > 3) ORDER BY c",
     "SELECT COALESCE(ward, 'all') AS w, COALESCE(sex, 'both') AS sex, SUM(cost) AS c FROM visits WHERE age > 3 "
     "GROUP BY GROUPING SETS ((sex, ward), (ward), ()) ORDER BY c"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "meant"), SAME)
def test_they_are_grouping_sets(sql, meant):
    assert parse(sql, policy(2, 2)) == parse(meant, policy(2, 2))


@pytest.mark.parametrize(
    "sql",
    [
        f"{BY_WARD} UNION SELECT 'all', COUNT(*) FROM visits",
        f"{BY_WARD} UNION ALL SELECT 'all', COUNT(*) FROM visits WHERE age > 3",
        f"{BY_WARD} UNION ALL SELECT 'all', COUNT(cost) FROM visits",
        f"{BY_WARD} UNION ALL SELECT 'all', COUNT(*) FROM visits UNION ALL SELECT 'again', COUNT(*) FROM visits",
        f"{BY_WARD} UNION ALL {BY_WARD}",
        f"{BY_WARD} UNION ALL SELECT COUNT(*), 'all' FROM visits",
        f"{BY_WARD} UNION ALL SELECT COUNT(*) FROM visits",
        f"{BY_WARD} UNION ALL SELECT 3, COUNT(*) FROM visits",
        f"{BY_WARD} UNION ALL SELECT sex, COUNT(*) FROM visits GROUP BY sex",
        "SELECT 'a' AS k, COUNT(*) AS n FROM visits UNION ALL SELECT 'b', COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits EXCEPT SELECT COUNT(*) FROM visits",
        f"{BY_WARD} HAVING COUNT(*) > 3 UNION ALL SELECT 'all', COUNT(*) FROM visits",
    ],
)
def test_what_is_no_total_of_the_same_rows_is_refused(sql):
    with pytest.raises(QuestionError, match="a table of its own"):
        parse(sql, policy(2, 2))


def test_the_numbers_are_those_of_plain_sql_and_add_up(tmp_path):
    rows = pyarrow.table({"p": list(range(60)), "k": ["a", "b", "c"] * 20, "v": [float(n % 7) for n in range(60)]})
    ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(10**7))
    data = dither.protect(
        rows, name="t", person="p", max_rows=1, hard=["max_rows"], keys={"k": ["a", "b", "c"]}, bounds={"v": (0, 7)},
        complete=["k"], ledger=ledger,
    )  # fmt: skip
    sql = "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY k UNION ALL SELECT 'all', COUNT(*), SUM(v) FROM t"
    answer = data.quote(sql, epsilon=10**6).release()
    plain = duckdb.connect()
    plain.register("t", rows)
    found = dict(zip(answer["k"], zip(answer["n"], answer["s"], strict=True), strict=True))
    expected = {k: (n, s) for k, n, s in plain.execute(sql).fetchall()}
    assert found.keys() == expected.keys()
    for key, (n, s) in expected.items():
        assert (round(found[key][0]), found[key][1]) == (n, pytest.approx(s, abs=0.5))
    assert found["all"][0] == sum(found[key][0] for key in "abc")
