"""Shares that come with tokens over HTTP follow the rules of `dither token create`; quotes tell what they leave."""

from __future__ import annotations

import pytest

from dither import approx
from dither.server.core.processes.dataset_tasks import DatasetTasks
from dither.server.http.models import TokenRequest
from tests.server.gateways import write_clinic

SQL = "SELECT COUNT(*) AS n FROM visits"
HALF = {"epsilon": "0.5", "delta": None, "rho": None}


@pytest.fixture
def tasks(tmp_path):
    made = DatasetTasks({"clinic": write_clinic(tmp_path, budget='epsilon = "3", delta = "1e-6"')}, rows=True)
    yield made
    made.close()


def grant(tasks, name, share=None, daily=None, role="analyst", write=True):
    facts = {"analyst": name, "role": role, "share": share, "daily": daily, "write": write}
    return tasks.done({"task": "grant", "dataset": "clinic", **facts})


def asked(tasks, task, name, epsilon, daily=None):
    facts = {"sql": SQL, "terms": {"epsilon": epsilon}, "analyst": name, "daily": daily}
    return tasks.done({"task": task, "dataset": "clinic", **facts, "key": None, "door": "http", "seconds": 30})


def test_a_share_has_the_delta_of_the_budget_and_is_written_once(tasks):
    ledger = tasks.datasets["clinic"].ledger
    assert grant(tasks, "ana", HALF, write=False) == {"done": {"portion": None}}
    assert not ledger.shared_out
    assert grant(tasks, "ana", HALF) == {"done": {"portion": None}}
    assert ledger.remaining("ana").ceiling == approx("0.5", "1e-6")
    entries = ledger.head.entries
    for share in (HALF, None):  # a second token spends what is there
        assert "done" in grant(tasks, "ana", share)
    assert ledger.head.entries == entries


@pytest.mark.parametrize(
    ("name", "share", "daily", "role", "where"),
    [
        ("ana", HALF | {"epsilon": "2"}, None, "analyst", "share"),  # she has another one
        ("ben", None, None, "analyst", "name"),  # nothing could be asked
        ("ben", None, HALF, "analyst", "daily"),
        ("ben", HALF, HALF | {"epsilon": "0.6"}, "analyst", "daily"),
        ("ben", HALF, {"epsilon": None, "rho": "0.001", "delta": None}, "analyst", "daily"),
        ("ben", HALF, HALF | {"delta": "1e-9"}, "analyst", "daily.delta"),
        ("ben", HALF, None, "auditor", "role"),
    ],
)
def test_what_the_command_refuses_is_refused_over_http(tasks, name, share, daily, role, where):
    grant(tasks, "ana", HALF)
    entries = tasks.datasets["clinic"].ledger.head.entries
    problem = grant(tasks, name, share, daily, role)["problem"]
    assert (problem["kind"], problem["where"]) == ("refused", where)
    assert problem["why"]
    assert tasks.datasets["clinic"].ledger.head.entries == entries


def test_a_quote_tells_what_is_left_of_today(tasks):
    portion = grant(tasks, "ana", HALF, {"epsilon": "0.1", "delta": "1e-6", "rho": None})["done"]["portion"]
    small = asked(tasks, "quote", "ana", "0.03", portion)["done"]
    assert 0 < small["left"] < asked(tasks, "quote", "ana", "0.03")["done"]["left"]
    assert small["words"].endswith("are left of today's portion of ana")
    assert small["explain"].splitlines()[-1].startswith("Today      100% of the portion of ana: about ")
    large = asked(tasks, "quote", "ana", "0.1", portion)["done"]
    assert (large["left"], asked(tasks, "release", "ana", "0.1", portion)["problem"]["kind"]) == (0, "budget")


def test_who_has_no_share_is_told_so_by_the_quote(tasks):
    assert asked(tasks, "quote", "olga", "0.1")["done"]["left"] > 0
    grant(tasks, "ana", HALF)
    told = asked(tasks, "quote", "olga", "0.1")["done"]
    assert (told["left"], told["words"].split("; ")[-1]) == (0, "no more such question is left for olga, who has no share")
    assert asked(tasks, "release", "olga", "0.1")["problem"]["kind"] == "budget"


def test_a_price_that_a_share_cannot_count_is_refused_and_not_put_off(tasks):
    grant(tasks, "ana", HALF | {"delta": "0"})
    quoted, released = (asked(tasks, task, "ana", "0.1")["problem"] for task in ("quote", "release"))
    assert quoted == released
    assert (quoted["kind"], quoted["where"]) == ("refused", "guarantee")


def test_a_token_ends_after_ninety_days_unless_it_is_said():
    assert TokenRequest(name="ana", datasets=["clinic"]).days == 90
    assert TokenRequest(name="ana", datasets=["clinic"], days=None).days is None
