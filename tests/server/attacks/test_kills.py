"""kill -9 of workers, of the desk and of the ledger's server, at every stage: nothing is paid twice, nothing answered twice.

Whatever happens to a process, the same question with the same key is asked again until it has an answer. Then the ledger has
one charge and one answer for each question, and verifies.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace

import psycopg
import pytest

from dither.server.core.config import Limits
from dither.server.core.problems import Problem
from tests.ledger.servers import postgres
from tests.seeds import examples
from tests.server.attacks.hostile_clinic import gateway, hostile_clinic
from tests.server.gateways import caller, count, run

STAGES = ("task", "reserve", "touch", "read", "noise", "commit", "reply")
PRICE = "0.01"
LIMITS = Limits(under_way=1000, queue=1000, queries_per_second=1e5, quotes_per_second=1e5, seconds=20.0, memory_mb=2048)


async def answered(gateway, who, asked, key: str):
    """The question, asked until it has an answer; and what it said on the way."""
    said, until = [], time.monotonic() + 90
    while time.monotonic() < until:
        try:
            question = await gateway.ask(who, asked, key=key, wait=30)
        except Problem as problem:
            said.append(problem.kind)
        else:
            if question.answer is not None:
                return question, said
            said.append("waiting" if question.problem is None else question.problem.kind)
        await asyncio.sleep(0.05)
    raise AssertionError(f"no answer: {said}")


async def all_answered(gateway, who, asks):
    return await asyncio.gather(*(answered(gateway, who, asked, key) for key, asked in asks.items()))


async def told(work):
    """What is told once it can be told."""
    until = time.monotonic() + 60
    while True:
        try:
            return await work()
        except Problem:
            assert time.monotonic() < until
            await asyncio.sleep(0.05)


def must_be_paid_once(gateway, who, name: str, questions) -> None:
    """One charge and one answer for each question, and not a single number that differs when it is asked again."""
    owner = caller(gateway, "olga", "owner")
    run(told(lambda: gateway.budget(owner, name)))  # the desk is there again, and its ledger
    lines = run(gateway.ledger(owner, name, last=100_000))
    kinds = Counter(line["kind"] for line in lines)
    assert kinds["reserved"] == kinds["answered"] == len(questions)
    assert kinds["refunded"] == 0
    assert len({question.receipt for question in questions}) == len(questions)
    assert run(gateway.budget(who, name))[0]["used"] == pytest.approx(len(questions) * float(PRICE) / 100)
    verified = run(gateway.verify(owner, name))
    assert (verified["ok"], verified["faults"]) == (True, [])


def test_workers_killed_at_every_stage(tmp_path):
    rounds = examples(2, 10)
    conditions = {
        f"{stage} {turn}": f"age > {20 + place}.{turn}5" for place, stage in enumerate(STAGES) for turn in range(rounds)
    }
    events = [[condition, name.split()[0], "kill"] for name, condition in conditions.items()]
    events += [["age > 70.5", "read", "eat"], ["age > 71.5", "read", "write"], ["age > 72.5", "read", "sleep 3600"]]
    conditions |= {"memory": "age > 70.5", "disk": "age > 71.5", "time": "age > 72.5"}
    (tmp_path / "once").mkdir()
    dataset = hostile_clinic(tmp_path / "kills", "kills", budget='{ epsilon = "100" }')
    facts = {"events": events, "once": str(tmp_path / "once"), "lease": 1}
    with gateway(tmp_path, [dataset], workers=2, limits=replace(LIMITS, seconds=3.0), **facts) as made:
        ana = caller(made, "ana")
        asks = {name: count(condition, "kills", epsilon=PRICE) for name, condition in conditions.items()}
        found = run(all_answered(made, ana, asks))
        assert len(list((tmp_path / "once").iterdir())) == len(asks)  # all of it happened
        for name, (question, said) in zip(asks, found, strict=True):
            assert "failed" in said, name
            assert set(said) <= {"failed", "in-progress", "waiting"}, name
            assert question.replay == (name.split()[0] in ("commit", "reply")), name
        must_be_paid_once(made, ana, "kills", [question for question, _ in found])


def test_workers_and_the_desk_killed_at_random(tmp_path):
    kills, rng = examples(10, 200), random.Random(20)
    dataset = hostile_clinic(tmp_path / "kills", "kills", budget='{ epsilon = "100" }')
    with gateway(tmp_path, [dataset], workers=2, limits=LIMITS, lease=1) as made:
        ana = caller(made, "ana")
        asks = {f"{place}": count(f"age > {place}.5", "kills", epsilon=PRICE) for place in range(2 * kills)}

        async def killed() -> None:
            for place in range(kills):
                handles = [made.desk._handle] if place % 4 == 3 else made.workers.handles
                handle = rng.choice(handles)
                handle._process.kill()  # one that is dead already is left alone
                while handle.alive:
                    await asyncio.sleep(0.001)
                until = time.monotonic() + 60
                while made.workers.alive < 1 and time.monotonic() < until:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(rng.uniform(0, 0.2))  # so that they fall anywhere; nothing waits for it

        async def both():
            found, _ = await asyncio.gather(all_answered(made, ana, asks), killed())
            return found

        found = run(both())
        must_be_paid_once(made, ana, "kills", [question for question, _ in found])
        assert run(made.quote(ana, count("age > 1", "kills", epsilon=PRICE)))["left"] > 0


def test_the_server_of_the_ledger_killed(tmp_path):
    """PostgreSQL with the ledger dies while a question is computed; what came after the charge is charged once."""
    with postgres() as server:
        address = server.get_uri().replace("postgres:@", "postgres@")
        dataset = hostile_clinic(tmp_path / "kills", "kills", budget='{ epsilon = "100" }', location=f"{address}#kills")
        (tmp_path / "once").mkdir()
        facts = {"events": [["age > 1.5", "noise", "sleep 1.5"]], "once": str(tmp_path / "once"), "lease": 1}
        with gateway(tmp_path, [dataset], limits=LIMITS, **facts) as made:
            ana = caller(made, "ana")
            asks = {f"{place}": count(f"age > {place}.5", "kills", epsilon=PRICE) for place in range(4)}

            async def killed() -> None:
                while not (tmp_path / "once" / "0").exists():  # until it is charged, and computed
                    await asyncio.sleep(0.01)
                os.kill(server.get_pid(), signal.SIGKILL)
                while not _is_up(server, address):
                    await asyncio.sleep(0.05)

            async def both():
                found, _ = await asyncio.gather(all_answered(made, ana, asks), killed())
                return found

            found = run(both())
            assert any(said for _, said in found)
            must_be_paid_once(made, ana, "kills", [question for question, _ in found])


def _is_up(server, address: str) -> bool:
    try:
        server.ensure_postgres_running()
        psycopg.connect(address).close()
    except (subprocess.SubprocessError, psycopg.OperationalError):  # processes of the killed one are still there
        return False
    return True
