"""Neighbouring data, same requests, same draws: every reply is the same but for the noisy numbers.

The harness replays the noise in the worker, so what still differs is what rows did: a state, a text, an order, a length, a
charge, an entry. One person has every hostile cell that there is; in the second dataset she is missing, in the third
somebody else is in her place.
"""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from dither.server.core.problems import FAILED
from tests.server.attacks.core_door import replies
from tests.server.attacks.hostile_clinic import KINDS, gateway, hostile_clinic
from tests.server.attacks.http_door import Door
from tests.server.attacks.http_door import replies as replies_over_http
from tests.server.attacks.requests import ASKS, BUDGET, difference
from tests.server.gateways import caller, count, run

FAILS = [["age > 77", "read", "raise"]]


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory):
    """A gateway over three datasets that differ in one person, for each of two doors."""
    folder = tmp_path_factory.mktemp("neighbours")
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    names = {door: [f"{door}-{kind[2:7]}" for kind in KINDS] for door in ("core", "http")}
    datasets = [
        hostile_clinic(folder / name, name, kind, budget=BUDGET)
        for door in names.values()
        for name, kind in zip(door, KINDS, strict=True)
    ]
    datasets += [hostile_clinic(folder / name, name, "removed") for name in ("sound", "broken")]
    with (folder / "broken" / "visits.csv").open("a") as file:
        file.write('4242,A,2025-01-01,20,1,"never closed\n')
    rows = {dataset.name: str(dataset.policy.with_name("visits.csv")) for dataset in datasets}
    with gateway(folder, datasets, seed=7, events=FAILS, rows=rows) as found:
        yield found, names
    os.environ["DITHER_HOME"] = before


def test_every_reply_is_the_same_but_for_noisy_numbers(neighbours):
    found, names = neighbours[0], neighbours[1]["core"]
    ana, owner = caller(found, "ana"), caller(found, "olga", "owner")
    several = [run(replies(found, ana, owner, name)) for name in names]
    assert [difference(one, other) for one, *others in zip(*several, strict=True) for other in others if one != other] == []
    told = [json.loads(reply) for reply in several[0][2 : 3 * len(ASKS) : 3]]
    kinds = [one.get("type") or (one["problem"] or {}).get("type") or one["state"] for one in told]
    assert {kind.removeprefix("urn:dither:") for kind in kinds} == {
        "done",
        "refused",
        "failed",
        "conflict",
        "in-progress",
        "budget",
    }
    assert kinds.count("done") >= 18


def test_every_reply_over_http_is_the_same_in_all_formats(neighbours):
    found, names = neighbours[0], neighbours[1]["http"]
    door = Door(found)
    ana, owner = door.secret("bob"), door.secret("olga", "owner")
    several = [run(replies_over_http(door, ana, owner, name)) for name in names]
    assert [difference(one, other) for one, *others in zip(*several, strict=True) for other in others if one != other] == []
    statuses = Counter(json.loads(reply)[0] for reply in several[0])
    assert statuses.keys() == {200, 402, 404, 409, 422, 500}  # 404: a failure has a receipt and no answer
    assert statuses[500] == 1  # the question that the harness lets fail
    lines = [json.loads(line) for line in door.log.getvalue().splitlines()]
    logged = [(line["method"], line["route"], line["status"], line.get("receipt", "")[9:]) for line in lines]
    size = len(logged) // len(names)
    assert logged[:size] == logged[size : 2 * size] == logged[2 * size :]


def test_a_row_that_breaks_the_file_is_one_bit_and_costs_the_same(neighbours):
    """A quote that is never closed takes all that follows: the file fails as a whole, after the charge, in fixed words."""
    found = neighbours[0]
    ana, owner = caller(found, "ana"), caller(found, "olga", "owner")
    sound, broken = (run(found.ask(ana, count("age > 1", name, epsilon="0.5"), wait=30)) for name in ("sound", "broken"))
    assert (sound.state, broken.state) == ("done", "failed")
    assert broken.problem.why == FAILED
    used = [run(found.budget(ana, name))[0]["used"] for name in ("sound", "broken")]
    assert used == [0.5 / 16, 0.5 / 16]
    kinds = [[line["kind"] for line in run(found.ledger(owner, name))] for name in ("sound", "broken")]
    assert kinds[0] == [*kinds[1], "answered"]
