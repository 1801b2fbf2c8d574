"""Neighbouring data, same requests, same draws: every reply is the same but for the noisy numbers.

The harness replays the noise in the worker, so what still differs is what rows did: a state, a text, an order, a length, a
charge, an entry. One person has every hostile cell that there is; in the second dataset she is missing, in the third
somebody else is in her place.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.server.attacks.core_door import replies
from tests.server.attacks.hostile_clinic import KINDS, gateway, hostile_clinic
from tests.server.attacks.requests import ASKS, BUDGET, difference
from tests.server.gateways import caller, run

FAILS = [["age > 77", "read", "raise"]]


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory):
    """A gateway over three datasets that differ in one person."""
    folder = tmp_path_factory.mktemp("neighbours")
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    names = {kind: f"clinic-{kind[2:7]}" for kind in KINDS}
    datasets = [hostile_clinic(folder / kind, name, kind, budget=BUDGET) for kind, name in names.items()]
    with gateway(folder, datasets, seed=7, events=FAILS) as found:
        yield found, list(names.values())
    os.environ["DITHER_HOME"] = before


def test_every_reply_is_the_same_but_for_noisy_numbers(neighbours):
    found, names = neighbours
    ana, owner = caller(found, "ana"), caller(found, "olga", "owner")
    several = [run(replies(found, ana, owner, name)) for name in names]
    assert [difference(one, other) for one, *others in zip(*several, strict=True) for other in others if one != other] == []
    told = [json.loads(reply) for reply in several[0][2 : 3 * len(ASKS) : 3]]
    kinds = [one.get("type") or (one["problem"] or {}).get("type") or one["state"] for one in told]
    assert {kind.removeprefix("urn:dither:") for kind in kinds} == {"done", "refused", "failed", "conflict", "in-progress", "budget"}
    assert kinds.count("done") >= 18
