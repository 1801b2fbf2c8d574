"""Inner joins in any spelling mean what they mean in SQL: each question beside plain DuckDB, at a price without noise."""

from __future__ import annotations

import random

import duckdb
import pyarrow
import pyarrow.csv
import pytest

from dither.errors import QuestionError
from tests.policies import opened

POLICY = """
version = 1
domain = "shop"
ledger = { location = "shop.ledger", budget = { epsilon = "1000000000" } }
[tables.orders]
source = "orders.csv"
person = "cust"
max_rows = 100
columns = { okey = { type = "integer" }, cust = { type = "integer" }, price = { type = "integer", bounds = [0, 100] } }
[tables.lines]
source = "lines.csv"
owner = { through = "orders", on = { child = "lkey", parent = "okey" } }
max_rows = 100
[tables.lines.columns]
lkey = { type = "integer" }
qty = { type = "integer", bounds = [0, 50] }
part = { type = "integer", bounds = [0, 9] }
[tables.calls]
source = "calls.csv"
person = "who"
max_rows = 100
columns = { who = { type = "integer" }, minutes = { type = "integer", bounds = [0, 60] } }
[tables.parts]
source = "parts.csv"
public = true
columns = { pkey = { type = "integer" }, colour = { type = "text", keys = ["red", "blue", "green"] } }
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("shop"), random.Random(2)
    orders = [(o, o % 50, draw.choice([None, *range(1, 100)])) for o in range(300)]
    lines = [
        (draw.choice([o, o, o, None]), draw.randrange(1, 50), draw.randrange(6)) for o, _, _ in orders for _ in range(3)
    ]
    tables = {
        "orders": dict(zip(["okey", "cust", "price"], zip(*orders, strict=True), strict=True)),
        "lines": dict(zip(["lkey", "qty", "part"], zip(*lines, strict=True), strict=True)),
        "calls": {"who": [c for c in range(40) for _ in range(2)], "minutes": [draw.randrange(60) for _ in range(80)]},
        "parts": {"pkey": [0, 1, 2, 3, 3], "colour": ["red", "blue", "red", "green", "blue"]},
    }
    plain = duckdb.connect()
    for name, columns in tables.items():
        pyarrow.csv.write_csv(pyarrow.table({key: list(column) for key, column in columns.items()}), folder / f"{name}.csv")
        owned = " WHERE lkey IS NOT NULL" if name == "lines" else ""  # a line of no order is nobody's, and in no answer
        plain.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.csv'{owned}")
    (folder / "policy.toml").write_text(POLICY)
    return opened(folder / "policy.toml"), plain


SAME = [
    "SELECT COUNT(*) AS n FROM lines, orders WHERE lines.lkey = orders.okey AND qty > 3",
    "SELECT COUNT(*) AS n FROM orders, lines WHERE okey = lkey",
    "SELECT colour, SUM(qty) AS n FROM parts, orders, lines WHERE part = pkey AND lkey = okey AND price < 9 GROUP BY colour",
    "SELECT colour, SUM(qty) AS n FROM parts JOIN lines ON pkey = part GROUP BY colour",
    "SELECT SUM(qty) AS n FROM lines JOIN orders ON lkey = okey AND price > 30",
    "SELECT SUM(qty) AS n FROM lines INNER JOIN orders ON (lkey = okey AND (price > 30 OR qty < 5)) WHERE qty <> 7",
    "SELECT COUNT(*) AS n FROM lines CROSS JOIN orders WHERE lkey = okey",
    "SELECT COUNT(*) AS n FROM lines AS l, orders AS o WHERE (l.lkey = o.okey) AND (qty > 3 OR price > 7)",
    "SELECT COUNT(*) AS n FROM calls, orders WHERE who = cust AND minutes > 5 AND price > 5",
    "SELECT COUNT(*) AS n FROM (SELECT cust, COUNT(*) c FROM orders, lines WHERE okey = lkey GROUP BY cust) t WHERE c > 2",
]


@pytest.mark.parametrize("sql", SAME)
def test_a_join_is_answered_as_in_sql(shop, sql):
    data, plain = shop
    answer = data.quote(sql, epsilon=10**6).release()
    keys = [key for key in answer.keys if key in answer.columns]
    found = {tuple(row[key] for key in keys): row["n"] for row in answer.rows()}
    wanted = {row[:-1]: row[-1] for row in plain.execute(sql).fetchall()}
    assert found == {**dict.fromkeys(found, 0), **wanted}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM lines, orders",
        "SELECT COUNT(*) AS n FROM lines, orders WHERE lkey > okey",
        "SELECT COUNT(*) AS n FROM lines, orders WHERE lkey = 3 OR lkey = okey",
        "SELECT COUNT(*) AS n FROM lines, orders, parts WHERE lkey = okey",
    ],
)
def test_every_row_beside_every_other_is_refused(shop, sql):
    with pytest.raises(QuestionError, match="every row would meet every other"):
        shop[0].quote(sql, epsilon=1)


def test_tables_of_people_are_still_joined_on_the_person_or_along_a_chain(shop):
    with pytest.raises(QuestionError, match="joined on the person"):
        shop[0].quote("SELECT COUNT(*) AS n FROM calls, orders WHERE minutes = price", epsilon=1)
    with pytest.raises(QuestionError, match="joined on the person"):
        shop[0].quote("SELECT COUNT(*) AS n FROM calls, lines WHERE minutes = qty", epsilon=1)


def test_outer_joins_are_left_as_they_are(shop):
    data, plain = shop
    sql = "SELECT COUNT(*) AS n FROM lines LEFT JOIN parts ON part = pkey"
    assert data.quote(sql, epsilon=10**6).release().scalar() == plain.execute(sql).fetchone()[0]
