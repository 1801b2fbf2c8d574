"""The steps of the policy wizard for tables of a real server: from its catalogue alone, to a policy that is asked."""

from __future__ import annotations

import tomllib
from pathlib import Path

import psycopg
import pytest

from dither.errors import ConflictError, DataError
from dither.query.owner.wizard.wizard import Wizard
from dither.query.policy.policy import read_policy
from tests.policies import opened
from tests.query.owner.wizard.hospital import walk

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
SHOP = """
DROP SCHEMA IF EXISTS guided CASCADE; CREATE SCHEMA guided;
CREATE TABLE guided.customers (id bigint PRIMARY KEY, name text, photo bytea);
CREATE TABLE guided.orders (number bigint PRIMARY KEY, customer bigint REFERENCES guided.customers, amount numeric(9, 2));
CREATE TABLE guided.wards (ward text);
INSERT INTO guided.customers SELECT n, 'canary' FROM generate_series(1, 4) AS rows (n);
INSERT INTO guided.orders SELECT n, n % 4 + 1, n FROM generate_series(1, 8) AS rows (n);
"""
REPLIES = {
    "domain": "customers",
    "customers.person": "id",
    "customers.max_rows": "1",
    "customers.known_from": "law",
    "orders.person": "through customers",
    "orders.number.bounds": "no",
    "orders.amount.bounds": "0 to 100",
    "orders.amount.step": "0.01",
    "orders.amount.known_from": "law",
    "orders.max_rows": "5",
    "orders.known_from": "other",
    "wards.keep": "no",
    "budget.people": "1000",
    "ledger.location": "shop.ledger",
    "ledger.witness": "none",
}


def test_tables_with_an_owner_behind_a_foreign_key(address, link, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    link.execute(SHOP)
    stated = f"{address}&schema=guided"
    with pytest.raises(ConflictError, match="known without its rows"):
        Wizard(stated, read_data=True)
    with psycopg.connect(link.info.dsn) as other:  # no row is read: somebody holds the tables for herself meanwhile
        other.execute("LOCK TABLE guided.customers, guided.orders, guided.wards IN ACCESS EXCLUSIVE MODE")
        wizard, asked = Wizard(stated), []
        while wizard.step is not None:
            asked.append(wizard.step.key)
            wizard.answer(REPLIES.get(wizard.step.key, ""))
    assert "canary" not in wizard.draft() + wizard.to_json()
    assert "orders.customer.keep" not in asked  # a key that leads to the owner stays
    assert "customers.name.keep" in asked
    tables = tomllib.loads(wizard.draft())["tables"]
    assert list(tables) == ["customers", "orders"]
    assert tables["customers"]["columns"] == {"id": {"type": "integer"}}
    assert "# photo: left out, since it is stored as bytea" in wizard.draft()
    assert tables["orders"]["owner"] == {"through": "customers", "on": {"child": "customer", "parent": "id"}}
    assert read_policy(tomllib.loads(wizard.draft())).tables[1].max_rows == 5
    assert Wizard.from_json(wizard.to_json()).policy == wizard.policy
    text = wizard.draft().replace('"1"', '"2000000"').replace('"0.25"', '"2000000"')
    Path("policy.toml").write_text(text, encoding="utf-8")
    assert opened("policy.toml").quote("SELECT COUNT(*) AS n FROM orders", epsilon=10**6).release()["n"] == [8]


def test_an_address_that_is_refused_as_a_reply(address, link):
    link.execute(SHOP)
    wizard = Wizard()
    with pytest.raises(Exception, match="which tables"):
        wizard.answer(address)
    assert walk(wizard, {"source": f"{address}&table=guided.orders"}, until="domain").step.key == "domain"
    with pytest.raises(DataError):
        Wizard(f"{address}&table=guided.nothing")
