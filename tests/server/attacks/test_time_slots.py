"""Time slots: an answer leaves when its slot ends, however long it took, and nobody else's waiting depends on it."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from dither.server.core.questions import Asked
from tests.server.attacks.hostile_clinic import gateway, hostile_clinic
from tests.server.gateways import caller, run

SHORT, LONG = 2.0, 600.0
EVENTS = [["age > 61", "noise", "sleep 0.4"], ["age > 71", "noise", "sleep 3600"]]
MUCH = 10.0  # seconds: a machine may be slow; what leaves so much later did not leave at its slot


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slots")
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    datasets = [hostile_clinic(folder / name, name, slots=(SHORT, LONG)) for name in ("ours", "theirs")]
    with gateway(folder, datasets, events=EVENTS) as made:
        yield made
    os.environ["DITHER_HOME"] = before


def asked(condition: str, slot: float = SHORT, dataset: str = "ours") -> Asked:
    return Asked(dataset, f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", {"epsilon": "0.1"}, slot)


async def timed(gateway, who, several: list[Asked]):
    """The questions, put one after the other without waiting, and when each of them ended."""

    async def one(what: Asked):
        question = await gateway.ask(who, what, wait=0)
        await asyncio.wait_for(question.ended.wait(), 60)
        return question, time.monotonic()

    return await asyncio.gather(*(one(what) for what in several))


@pytest.mark.parametrize("condition", ["age > 1", "age > 61"])
def test_an_answer_leaves_at_the_slot(found, condition):
    ((question, end),) = run(timed(found, caller(found, "ana"), [asked(condition)]))
    assert question.state == "done"
    assert SHORT <= end - question.began < SHORT + MUCH


def test_what_is_too_slow_is_the_one_failure_at_the_slot_and_charged(found):
    ana = caller(found, "ana")
    before = run(found.budget(ana, "ours"))[0]["used"]
    ((question, end),) = run(timed(found, ana, [asked("age > 71")]))
    assert question.problem.kind == "failed"
    assert SHORT <= end - question.began < SHORT + MUCH
    assert run(found.budget(ana, "ours"))[0]["used"] == pytest.approx(before + 0.1 / 16)


@pytest.mark.parametrize("condition", ["age > 2", "age > 61.5"])
def test_waiting_does_not_depend_on_how_long_somebody_else_took(found, condition):
    """One worker: the second question begins when the slot of the first is over, be it fast or slow."""
    ((first, _), (second, _)) = run(
        timed(found, caller(found, "ana"), [asked(condition, dataset="theirs"), asked(condition)])
    )
    assert (first.state, second.state) == ("done", "done")
    assert SHORT <= second.began - first.began < SHORT + MUCH


def test_what_no_row_was_read_for_leaves_at_once_and_keeps_no_worker(found):
    """Refusals, free answers and stored answers, in slots of ten minutes, and with one worker."""
    ana = caller(found, "ana")
    run(timed(found, ana, [asked("age > 1")]))
    free = Asked("ours", "SELECT DISTINCT ward FROM visits", {}, LONG)
    refused = Asked("ours", "SELECT * FROM visits", {"epsilon": "0.1"}, LONG)
    several = run(timed(found, ana, [refused, free, asked("age > 1", LONG), refused, asked("age > 1", LONG)]))
    kinds = ["replay" if one.replay else one.problem.kind if one.problem else one.state for one, _ in several]
    assert kinds == ["refused", "done", "replay", "refused", "replay"]


def test_the_same_question_twice_does_not_tell_when_the_first_was_ready(tmp_path):
    """Two workers: the second finds the answer of the first in the ledger, and keeps it for as long as its own slot."""
    dataset = hostile_clinic(tmp_path / "ours", "ours", slots=(SHORT, 2 * SHORT))
    with gateway(tmp_path, [dataset], workers=2, events=EVENTS) as made:
        ana = caller(made, "ana")
        found = run(timed(made, ana, [asked("age > 61", 2 * SHORT), asked("age > 61", SHORT)]))
        computed = [question.state == "done" and not question.replay for question, _ in found]
        assert sorted(computed) == [False, True]  # whoever comes first
        assert all(
            one.replay or one.problem.kind == "in-progress" for (one, _), own in zip(found, computed, strict=True) if not own
        )
        for (question, end), slot in zip(found, (2 * SHORT, SHORT), strict=True):
            assert slot <= end - question.began < slot + MUCH
