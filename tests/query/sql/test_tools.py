"""Statements in the manner of Metabase, Superset, Tableau, Power BI, Looker, DBeaver and Grafana: by hand, not captured.

Each has its verdict. What is answered is what plain DuckDB says of the same text; what is free is charged nothing.
"""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.answers.free_answer import FREE
from tests.query.sql.rewrites.plain import compare, data, engine

VISITS = '"main"."visits"'
MONTH = f"CAST(DATE_TRUNC('month', {VISITS}.\"day\") AS DATE)"
ANSWERED = {
    "Metabase, a count by a column": (
        f'SELECT {VISITS}."ward" AS "ward", COUNT(*) AS "count" FROM {VISITS} GROUP BY {VISITS}."ward"'
        f' ORDER BY {VISITS}."ward" ASC'
    ),
    "Metabase, a sum by month": (
        f'SELECT {MONTH} AS "month", SUM({VISITS}."cost") AS "sum" FROM {VISITS}'
        f" WHERE ({VISITS}.\"day\" >= DATE '2024-01-01') AND ({VISITS}.\"day\" < DATE '2024-03-01')"
        f" GROUP BY {MONTH} ORDER BY {MONTH} ASC"
    ),
    "Metabase, people since a moment": (
        f'SELECT COUNT(DISTINCT {VISITS}."person") AS "count" FROM {VISITS}'
        f" WHERE {VISITS}.\"moment\" >= timestamp with time zone '2024-01-31 00:00:00.000Z'"
        f" AND (LOWER({VISITS}.\"name\") LIKE '%an%')"
    ),
    "Superset, a table of a time range": (
        'SELECT ward AS ward, COUNT(*) AS count, AVG(cost) AS "AVG(cost)" FROM main.visits'
        " WHERE day >= TO_DATE('2024-01-01', 'YYYY-MM-DD') AND day < TO_DATE('2024-02-01', 'YYYY-MM-DD')"
        " GROUP BY ward ORDER BY count DESC LIMIT 100"
    ),
    "Superset, a time series": (
        "SELECT DATE_TRUNC('day', moment) AS __timestamp, SUM(cost) AS \"SUM(cost)\" FROM main.visits"
        " WHERE moment >= TO_TIMESTAMP('2024-01-30 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')"
        " AND moment < TO_TIMESTAMP('2024-02-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')"
        " GROUP BY DATE_TRUNC('day', moment) LIMIT 50000"
    ),
    "Superset, a virtual table": (
        "SELECT ward AS ward, COUNT(*) AS count FROM (SELECT * FROM main.visits WHERE name ILIKE '%an%') AS virtual_table"
        " GROUP BY ward HAVING COUNT(*) > 1 ORDER BY count DESC LIMIT 1000"
    ),
    "Tableau, rows and an average": (
        'SELECT SUM(1) AS "cnt:visits:ok", AVG("visits"."cost") AS "avg:cost:ok" FROM "main"."visits" "visits"'
        ' WHERE ("visits"."ward" = \'A\') HAVING (COUNT(1) > 0)'
    ),
    "Tableau, a calculated field": (
        'SELECT (CASE WHEN ("visits"."cost" > 20) THEN \'high\' ELSE \'low\' END) AS "Calculation_1",'
        ' COUNT(DISTINCT "visits"."person") AS "ctd:person:ok" FROM "main"."visits" "visits" GROUP BY 1'
    ),
    "Power BI, a sum by a column": (
        'select "rows"."ward" as "ward", sum("rows"."cost") as "a0"'
        ' from (select "ward", "cost" from "main"."visits" "$Table") "rows" group by "ward" limit 1000001'
    ),
    "Power BI, a count of a time range": (
        'select count(1) as "a0" from (select "_"."ward", "_"."day" from "main"."visits" "_"'
        ' where "_"."day" >= date \'2024-01-01\' and "_"."day" < timestamp \'2024-02-01 00:00:00\') "rows"'
    ),
    "Looker, a measure with a filter": (
        'SELECT visits.ward AS "visits.ward",'
        ' COUNT(DISTINCT CASE WHEN visits.smokes THEN visits.person ELSE NULL END) AS "visits.smokers"'
        " FROM main.visits AS visits WHERE ((( visits.moment ) >= (TIMESTAMP '2024-01-01 00:00:00')"
        " AND ( visits.moment ) < (TIMESTAMP '2024-02-01 00:00:00')))"
        " GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY"
    ),
    "DBeaver, the rows of a filtered table": (
        "SELECT COUNT(*) AS n FROM ( SELECT * FROM main.visits v WHERE v.ward IS DISTINCT FROM 'A' ) dbvrcnt"
    ),
    "Grafana, a panel": (
        'SELECT DATE_TRUNC(\'day\', moment) AS "time", COUNT(*) FILTER (WHERE smokes) AS "smokers" FROM main.visits'
        " WHERE moment BETWEEN '2024-01-30T00:00:00Z' AND '2024-01-31T23:59:59Z' GROUP BY 1 ORDER BY 1"
    ),
}
AT_NO_PRICE = {
    "Metabase, the values of a filter": f'SELECT {VISITS}."ward" FROM {VISITS} GROUP BY {VISITS}."ward" LIMIT 1001',
    "Tableau, the columns of a table": 'SELECT * FROM (SELECT * FROM "main"."visits") "probe" WHERE (1 = 0)',
}
REFUSED = {
    "DBeaver, the first rows": ("SELECT * FROM main.visits LIMIT 200", "single rows"),
}
MACROS = (
    "CREATE MACRO to_date(text, form) AS CAST(text AS DATE)",
    "CREATE OR REPLACE MACRO to_timestamp(text, form) AS CAST(text AS TIMESTAMP)",
)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    return data(tmp_path_factory.mktemp("held"))


@pytest.mark.parametrize("name", ANSWERED)
def test_what_tools_ask_is_answered(held, name):
    with engine() as plain:
        for macro in MACROS:
            plain.execute(macro)
        compare(held.quote(ANSWERED[name], epsilon=10**6).release(), plain.execute(ANSWERED[name]))


@pytest.mark.parametrize("name", AT_NO_PRICE)
def test_what_tools_probe_is_free(held, name):
    assert held.quote(AT_NO_PRICE[name]).release().price == FREE


@pytest.mark.parametrize("name", REFUSED)
def test_single_rows_are_refused(held, name):
    sql, why = REFUSED[name]
    with pytest.raises(QuestionError, match=why):
        held.quote(sql, epsilon=1)


def test_fifteen_of_sixteen():
    assert (len(ANSWERED) + len(AT_NO_PRICE), len(REFUSED)) == (15, 1)
