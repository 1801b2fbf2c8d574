"""A scripted agent and a real gateway: whatever it calls, it never spends more than its share."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

import dither
from dither.server.core.gateway import Gateway
from dither.server.mcp.gateway_door import GatewayDoor
from dither.server.mcp.protocol import make_server
from tests.server.gateways import caller, config, run, running

CALLS = 200
SHARE = dither.pure("0.5")
OTHERS = {"analyst": "ben", "name": "ben", "share": "1", "key": "k", "token": "t", "policy": "p"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("agent")


@pytest.fixture(scope="module")
def gateway(folder) -> Iterator[Gateway]:
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    with running(config(folder, "clinic")) as made:
        with dither.open(folder / "clinic.toml").ledger as ledger:
            for name in ("bot", "ben", "eve"):
                ledger.share(name, SHARE)
        yield made
    os.environ["DITHER_HOME"] = before


@pytest.fixture(autouse=True)
def same_home(home, folder, monkeypatch) -> None:
    """Where the keys of its ledgers are."""
    monkeypatch.setenv("DITHER_HOME", str(folder / "home"))


class Agent:
    """It asks whatever a seed says, right and wrong, and remembers what it was told."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.quotes: list[tuple[str, Fraction]] = [("qt_none", Fraction(0))]
        self.charged: dict[str, Fraction] = {}  # by receipt
        self.told = Counter[str]()

    def next(self) -> tuple[str, dict[str, Any], Fraction]:
        draw = self.draw
        tool = draw.choices(["quote", "ask", "budget", "list_datasets"], [90, 90, 10, 5])[0]
        price = Fraction(draw.choice(["0.03", "0.07", "0.11", "0.5", "0.6", "3"]))
        given: dict[str, Any] = {}
        if tool == "quote":
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {draw.randrange(100)}"
            given = {"sql": draw.choice([sql, sql, [sql, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"], "DROP"])}
            given["epsilon"] = draw.choice([str(price), float(price)])
            if draw.random() < 0.1:
                given["epsilon"] = draw.choice(["-1", "nan", 1e-320, "1e999", True, 0])
        if tool == "ask":
            found, price = draw.choice(self.quotes[-4:])
            given = {"quote": found}
        if draw.random() < 0.1:
            name = draw.choice([*OTHERS])
            given[name] = OTHERS[name]
        return tool, given, price

    def hear(self, tool: str, price: Fraction, found: Any) -> None:
        kind = found["refused"]["kind"] if "refused" in found else "done"
        self.told[f"{tool} {kind}"] += 1
        if tool == "quote" and kind == "done":
            self.quotes.append((found["quote"], price))
        if tool == "ask" and kind == "done":
            self.charged[found["receipt"]] = price


def test_200_calls_never_exceed_the_share(gateway, folder):
    agent = Agent(5)

    async def work() -> None:
        door = GatewayDoor(gateway, caller(gateway, "bot"))
        async with Client(make_server(lambda _: door)) as client:
            for _ in range(CALLS):
                tool, given, price = agent.next()
                found = (await client.call_tool(tool, given)).structured_content
                assert "refused" not in found or found["refused"]["instead"], found
                agent.hear(tool, price, found)

    run(work())
    told = {"quote done", "quote refused", "ask done", "ask budget", "ask refused", "budget done"}
    assert told <= set(agent.told), agent.told
    spent = sum(agent.charged.values(), Fraction(0))
    with dither.open(folder / "clinic.toml").ledger as ledger:
        assert ledger.verify().ok
        entries = [entry for entry in ledger.history() if entry.kind == "reserved"]
        assert {entry.body["analyst"] for entry in entries} == {"bot"}, "the first test of its ledger"
        assert len(entries) == len(agent.charged)
        assert ledger.remaining("bot").totals()[0] == dither.Number(spent)
        assert spent <= Fraction(1, 2)
        assert spent > Fraction(1, 2) - Fraction("0.11"), "and it was used: what was refused would have been too much"
        assert ledger.remaining("ben").used == 0


def test_the_same_quote_is_charged_once_and_anothers_is_none(gateway):
    async def work() -> None:
        eve, ben = (GatewayDoor(gateway, caller(gateway, name)) for name in ("eve", "ben"))
        async with Client(make_server(lambda _: eve)) as client, Client(make_server(lambda _: ben)) as other:
            quote = (
                await client.call_tool("quote", {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"})
            ).structured_content
            assert (quote["left"], quote["price"]) == (5, "ε = 0.1 (add/remove one person)")
            assert (await other.call_tool("ask", {"quote": quote["quote"]})).structured_content["refused"][
                "where"
            ] == "quote"
            answers = [(await client.call_tool("ask", {"quote": quote["quote"]})).structured_content for _ in range(3)]
            assert answers[0] == answers[1] == answers[2]
            assert answers[0]["columns"] == ["n", "n_low", "n_high"]
            budget = (await client.call_tool("budget", {})).structured_content["budgets"][0]
            assert budget["share"]["left"] == "80%"
            facts = (await client.call_tool("list_datasets", {})).structured_content["datasets"]
            assert facts[0]["tables"][0]["columns"][1]["keys"] == ["A", "B"]

    run(work())
