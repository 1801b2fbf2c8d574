"""Rows without a person are in no answer: each quote and each answer says so, unless the policy says that there are none."""

from __future__ import annotations

import json
import tomllib

import pyarrow
import pytest

import dither
from dither.query.plan.describe import uncounted_rows
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse
from dither.server.core.processes.quote_facts import quote_facts
from tests.query.clinics import clinic

COUNT = "SELECT COUNT(*) AS n FROM visits"
LINE = "Not counted  rows without person"
SAID = "rows without person are not counted"
SHOP = """
version = 1
domain = "shop"
data_version = "1"
unit = "add/remove one person"
[tables.customers]
person = "customer"
max_rows = 1
columns = { customer = { type = "integer", nullable = false }, age = { type = "integer" } }
[tables.orders]
person = "buyer"
max_rows = 5
columns = { order_id = { type = "integer" }, buyer = { type = "integer" } }
[tables.items]
owner = { through = "orders", on = "order_id" }
max_rows = 9
columns = { order_id = { type = "integer" }, item = { type = "text" } }
[tables.visits]
person = "each row"
columns = { page = { type = "text" } }
[tables.products]
public = true
columns = { item = { type = "text" }, kind = { type = "text" } }
"""


def test_a_quote_and_its_answer_say_it(tmp_path):
    data = clinic(tmp_path, complete=["cost"])
    quote = data.quote(COUNT, epsilon=1)
    assert LINE in quote.explain().splitlines()
    assert quote_facts(quote, "ana")["words"].endswith(f"; {SAID}")
    answer = quote.release()
    assert SAID in answer.says.splitlines()
    assert SAID in str(answer)
    assert SAID in json.loads(answer.to_json())["says"]
    assert SAID in dither.Answer.from_json(answer.to_json()).says


def test_a_batch_and_a_plan_say_it_once(tmp_path):
    data = clinic(tmp_path, complete=["cost"])
    several = [COUNT, f"{COUNT} WHERE age > 30"]
    batch = data.quote(several, epsilon=1)
    assert batch.explain().splitlines().count(LINE) == 1
    assert quote_facts(batch, "ana")["words"].count(SAID) == 1
    assert all(SAID in answer.says for answer in batch.release())
    plan = data.plan([{"sql": sql, "times": 2, "epsilon": 1} for sql in several])
    assert str(plan).splitlines().count(LINE) == 1


@pytest.mark.parametrize(
    "facts", [{"complete": ["person"]}, {"person": "each row", "max_groups": 1, "max_rows_per_group": 1}]
)
def test_where_every_row_has_a_person_nothing_is_said(tmp_path, facts):
    data = clinic(tmp_path, **({"complete": []} | facts))
    quote = data.quote(COUNT, epsilon=1)
    assert "Not counted" not in quote.explain()
    assert "not counted" not in quote.release().says
    assert "not counted" not in quote_facts(quote, "ana")["words"]


def test_what_reads_no_row_says_nothing(tmp_path):
    wards = pyarrow.table({"ward": ["A", "B"], "beds": [20, 12]})
    data = clinic(tmp_path, complete=[], public={"wards": wards})
    for sql in ("SELECT DISTINCT sex FROM visits", "SELECT SUM(beds) AS beds FROM wards"):
        quote = data.quote(sql)
        assert "not counted" not in f"{quote.explain()} {quote.release().says}".lower()


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("orders", "rows without buyer"),
        ("customers", ""),
        ("visits", ""),
        ("items", "rows whose order_id leads to no buyer"),
        ("items JOIN orders USING (order_id)", "rows whose order_id leads to no buyer"),
        ("items JOIN products USING (item)", "rows whose order_id leads to no buyer"),
        ("orders JOIN customers ON buyer = customer", "rows of orders without buyer"),
        ("orders LEFT JOIN customers ON buyer = customer", "rows of orders without buyer"),
        ("customers WHERE EXISTS (SELECT 1 FROM orders WHERE buyer = customer)", "rows of orders without buyer"),
        ("(SELECT buyer, COUNT(*) AS m FROM orders GROUP BY buyer) q", "rows without buyer"),
        (
            "(SELECT buyer, order_id FROM orders UNION ALL SELECT customer, age FROM customers) q",
            "rows of orders without buyer",
        ),
    ],
)
def test_each_table_has_its_own(rows, told):
    assert uncounted_rows([parse(f"SELECT COUNT(*) AS n FROM {rows}", read_policy(tomllib.loads(SHOP))).relation]) == told
