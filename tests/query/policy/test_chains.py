"""Owners through other tables, as an owner states them: what is read, and what is refused with its place."""

from __future__ import annotations

import copy

import pytest

from dither.errors import PolicyError
from dither.query.policy.chains import LONGEST_CHAIN, parents
from dither.query.policy.owner import HIDDEN, MOST_KEYS
from dither.query.policy.policy import read_policy

ALONE = "bb97f52e4d21fcdd73e9e9dcb1de6dfa045def936f159689701891a615bb453a"
WHOLE, TEXT = {"type": "integer"}, {"type": "text"}
STATED = {
    "version": 1,
    "domain": "shop",
    "tables": {
        "customer": {"person": "c_custkey", "max_rows": 1, "columns": {"c_custkey": WHOLE, "c_name": TEXT}},
        "orders": {
            "owner": {"through": "customer", "on": {"child": "o_custkey", "parent": "c_custkey"}},
            "max_rows": 5,
            "columns": {"o_orderkey": WHOLE, "o_custkey": WHOLE, "o_price": {"type": "float"}, "o_site": TEXT},
        },
        "lineitem": {
            "owner": {"through": "orders", "on": "o_orderkey"},
            "max_rows": 10,
            "columns": {"o_orderkey": WHOLE, "price": {"type": "decimal", "bounds": [0, 9]}, "l_text": TEXT},
        },
        "nation": {"public": True, "columns": {"o_orderkey": WHOLE}},
        "letters": {"person": "each row", "columns": {"o_orderkey": WHOLE}},
    },
}


def changed(table, **facts):
    stated = copy.deepcopy(STATED)
    stated["tables"].setdefault(table, {}).update(facts)
    return stated


def test_a_chain_is_read():
    policy = read_policy(STATED)
    lines = policy.table("lineitem")
    assert (lines.person, lines.owner.through, lines.owner.on) == (HIDDEN, "orders", (("o_orderkey", "o_orderkey"),))
    assert [table.name for table in parents(lines, policy.tables)] == ["orders", "customer"]
    assert parents(policy.table("customer"), policy.tables) == ()
    assert policy.table("orders").ids == {"o_orderkey", "o_custkey"}
    assert policy.table("customer").ids == {"c_custkey"}
    told = policy.explain()
    assert "orders: by the owner of its customer (o_custkey = c_custkey), 5 rows in all" in told
    assert "lineitem: by the owner of its orders (o_orderkey), 10 rows in all" in told


def test_the_hash_covers_the_owner_and_nothing_changes_without_one():
    other = changed("lineitem", owner={"through": "customer", "on": {"child": "o_orderkey", "parent": "c_custkey"}})
    assert read_policy(other).hash != read_policy(STATED).hash
    on = changed("lineitem", owner={"through": "orders", "on": [{"child": "o_orderkey", "parent": "o_orderkey"}]})
    assert read_policy(on).hash == read_policy(STATED).hash
    hard = changed("lineitem", hard=["owner"])
    assert read_policy(hard).hash != read_policy(STATED).hash
    alone = {**STATED, "tables": {"customer": STATED["tables"]["customer"]}}
    assert read_policy(alone).hash == ALONE  # as it was before there were owners


def test_keys_of_several_columns():
    on = ["o_orderkey", {"child": "l_text", "parent": "o_site"}]
    policy = read_policy(changed("lineitem", owner={"through": "orders", "on": on}))
    assert policy.table("lineitem").owner.on == (("o_orderkey", "o_orderkey"), ("l_text", "o_site"))


@pytest.mark.parametrize(
    ("owner", "where", "words"),
    [
        ("orders", "owner", "a table to go through"),
        ({"through": "orders", "on": "o_orderkey", "if": 1}, "owner", "a table to go through"),
        ({"on": "o_orderkey"}, "owner.through", "not the name of a table"),
        ({"through": "orders"}, "owner.on", "names no column of both"),
        ({"through": "orders", "on": {"child": "o_orderkey"}}, "owner.on", "names no column of both"),
        ({"through": "orders", "on": []}, "owner.on", "1 to 8 columns"),
        ({"through": "orders", "on": ["o_orderkey"] * (MOST_KEYS + 1)}, "owner.on", "1 to 8 columns"),
        ({"through": "orders", "on": ["o_orderkey", "o_orderkey"]}, "owner.on", "twice"),
        ({"through": "orders", "on": "nothing"}, "owner.on", "this table has no such column"),
        ({"through": "orders", "on": "price"}, "owner.on", "does not tell rows apart"),
        ({"through": "orders", "on": "l_text"}, "owner.on", "the table orders has no such column"),
        ({"through": "orders", "on": {"child": "o_orderkey", "parent": "O_OrderKey"}}, "owner.on", "no such column"),
        ({"through": "orders", "on": {"child": "o_orderkey", "parent": "o_site"}}, "owner.on", "is text in orders"),
        ({"through": "orders", "on": {"child": "o_orderkey", "parent": "o_price"}}, "owner.on", "is float in orders"),
        ({"through": "order", "on": "o_orderkey"}, "owner.through", "no such table"),
        ({"through": "nation", "on": "o_orderkey"}, "owner.through", "public"),
        ({"through": "letters", "on": "o_orderkey"}, "owner.through", "one row is one person there"),
        ({"through": "lineitem", "on": "o_orderkey"}, "owner", "comes back to where it was"),
    ],
)  # fmt: skip
def test_what_does_not_lead_to_a_person_is_refused(owner, where, words):
    with pytest.raises(PolicyError, match=words) as refused:
        read_policy(changed("lineitem", owner=owner))
    assert refused.value.where == f"tables.lineitem.{where}"


def test_circles_are_refused():
    orders = {"through": "lineitem", "on": "o_orderkey"}
    with pytest.raises(PolicyError, match="comes back to where it was") as refused:
        read_policy(changed("orders", owner=orders))
    assert refused.value.came == "orders -> lineitem -> orders"
    beside = changed("orders", owner=orders)
    tables = {"parts": {**beside["tables"]["lineitem"], "owner": {"through": "lineitem", "on": "o_orderkey"}}}
    beside["tables"] = tables | beside["tables"]  # one that leads into a circle, and is read first
    with pytest.raises(PolicyError, match="comes back to where it was"):
        read_policy(beside)


def test_chains_have_at_most_eight_steps():
    def chain(steps):
        key = {"columns": {"k": WHOLE, "who": WHOLE}, "max_rows": 1}
        tables = {"t0": {"person": "who", **key}}
        tables |= {f"t{at}": {"owner": {"through": f"t{at - 1}", "on": "k"}, **key} for at in range(1, steps + 1)}
        return {**STATED, "tables": tables}

    policy = read_policy(chain(LONGEST_CHAIN))
    assert len(parents(policy.tables[-1], policy.tables)) == LONGEST_CHAIN
    with pytest.raises(PolicyError, match="at most 8 steps"):
        read_policy(chain(LONGEST_CHAIN + 1))


@pytest.mark.parametrize(
    ("facts", "where", "words"),
    [
        ({"person": "o_orderkey"}, "person", "its owner is stated too"),
        ({"public": True}, "owner", "a public table is about nobody"),
        ({"max_rows": None}, "max_rows", "no limit is stated"),
        ({"hard": ["owners"]}, "hard", "no such limit"),
    ],
)
def test_facts_that_do_not_go_together(facts, where, words):
    stated = changed("lineitem", **facts)
    if facts == {"max_rows": None}:
        del stated["tables"]["lineitem"]["max_rows"]
    if "public" in facts:
        del stated["tables"]["lineitem"]["max_rows"]
    with pytest.raises(PolicyError, match=words) as refused:
        read_policy(stated)
    assert refused.value.where == f"tables.lineitem.{where}"


def test_a_person_is_never_called_hard_for_an_owner():
    with pytest.raises(PolicyError, match="no such limit"):
        read_policy(changed("customer", hard=["owner"]))
