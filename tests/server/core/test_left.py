"""What a share and a portion of a day leave: quotes tell it, and releases hold to it."""

from __future__ import annotations

import pytest

from dither.server.core.processes.dataset_tasks import DatasetTasks
from dither.server.http.models import TokenRequest
from tests.server.gateways import write_clinic

SQL = "SELECT COUNT(*) AS n FROM visits"
HALF = {"epsilon": "0.5"}


@pytest.fixture
def tasks(tmp_path):
    made = DatasetTasks({"clinic": write_clinic(tmp_path, budget='epsilon = "3", delta = "1e-6"')}, rows=True)
    yield made
    made.close()


def grant(tasks, name, share):
    return tasks.done({"task": "grant", "dataset": "clinic", "name": name, "role": "analyst", "share": share, "write": True})


def asked(tasks, task, name, epsilon, daily=None):
    facts = {"sql": SQL, "terms": {"epsilon": epsilon}, "analyst": name, "daily": daily}
    return tasks.done({"task": task, "dataset": "clinic", **facts, "key": None, "door": "http", "seconds": 30})


def test_a_quote_tells_what_is_left_of_today(tasks):
    portion = grant(tasks, "ana", HALF | {"daily": "0.1"})["done"]["portion"]
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
