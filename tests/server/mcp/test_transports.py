"""The protocol over HTTP, each request with its token, and over stdio in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse

import dither
from dither.server.core.callers import Caller
from dither.server.core.config import Limits
from dither.server.core.problems import Problem
from dither.server.core.questions import Asked, Question
from dither.server.mcp import remote_door
from dither.server.mcp.door import AGAIN
from dither.server.mcp.protocol import mount_mcp
from dither.server.mcp.remote_door import RemoteDoor
from dither.server.mcp.tools import call
from tests.client.conftest import stub
from tests.client.stub import DATASET, QUOTE, TOKEN, Said, Stub, done, problem, serving
from tests.golden.formats import FOLDER

__all__ = ["stub"]
ANSWER = json.loads((FOLDER / "answer-2.json").read_text())
SQL = "SELECT COUNT(*) AS n FROM visits"
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class FakeGateway:
    """Tells who asked what."""

    def __init__(self) -> None:
        self.config = SimpleNamespace(limits=Limits())
        self.tokens = {"one": "ana", "two": "ben"}
        self.heard: list[tuple[str, str]] = []

    async def datasets(self, caller: Caller) -> list[dict[str, Any]]:
        self.heard.append((caller.name, "datasets"))
        return [DATASET]

    async def dataset(self, caller: Caller, name: str) -> dict[str, Any]:
        return DATASET

    async def quote(self, caller: Caller, asked: Asked, *, door: str) -> dict[str, Any]:
        self.heard.append((caller.name, door))
        return QUOTE

    async def ask(self, caller: Caller, id: str, *, key: str, wait: float, door: str) -> Question:  # noqa: A002
        self.heard.append((caller.name, key))
        made = Question("qy_1", Asked("clinic", SQL), caller.name, "", key)
        if id == "qt_slow":
            return made
        if id == "qt_bad":
            made.problem = Problem("budget", why="the share of ana has ε = 0.01 left", instead="a smaller price")
            return made
        if id != "qt_1":
            raise Problem("absent")
        made.answer = ANSWER
        return made

    async def budget(self, caller: Caller) -> list[dict[str, Any]]:
        return [{"dataset": "clinic", "left": caller.name}]


def mounted() -> tuple[FakeGateway, Starlette]:
    gateway, app = FakeGateway(), Starlette()

    async def caller_of(request: Request) -> Caller:
        found = gateway.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if found is None:
            raise Problem("unauthorized")
        return Caller(found, "analyst", ("*",), found)

    async def told(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Problem)
        return JSONResponse(error.to_json(), error.status)

    app.add_exception_handler(Problem, told)
    mount_mcp(app, gateway, caller_of)
    return gateway, app


def rpc(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def posted(app: Starlette, token: str, *bodies: Any, **how: Any) -> list[httpx.Response]:
    async def work() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway.example") as client:
            headers = JSON | {"Authorization": f"Bearer {token}"}
            return [await client.post("/mcp", headers=headers, **({"json": body} | how)) for body in bodies]

    return asyncio.run(work())


def tool(app: Starlette, token: str, name: str, **given: Any) -> Any:
    (found,) = posted(app, token, rpc("tools/call", name=name, arguments=given))
    assert found.status_code == 200
    return found.json()["result"]["structuredContent"]


def test_over_http_the_token_says_who_asks():
    gateway, app = mounted()
    assert tool(app, "one", "quote", sql=SQL, epsilon="0.1")["quote"] == "qt_1"
    assert tool(app, "two", "quote", sql=SQL, epsilon="0.1")["left"] == 41
    assert [who for who, what in gateway.heard if what == "mcp"] == ["ana", "ben"]
    answer = tool(app, "one", "ask", quote="qt_1")
    assert answer["columns"][0] == "ward"
    assert gateway.heard[-1] == ("ana", "mcp-qt_1")
    assert tool(app, "one", "budget") == {"budgets": [{"dataset": "clinic", "left": "ana"}]}
    assert tool(app, "one", "ask", quote="qt_0")["refused"]["where"] == "quote"
    assert tool(app, "one", "ask", quote="qt_bad")["refused"]["kind"] == "budget"
    assert tool(app, "one", "ask", quote="qt_slow") == {
        **{"state": "queued", "seconds": 0, "instead": "ask with the same quote again, which costs nothing more"},
    }


def test_over_http_a_token_that_is_none_is_the_problem_of_every_door():
    gateway, app = mounted()
    for token in ("", "three", "one "):
        (found,) = posted(app, token or "x", rpc("tools/list"))
        assert (found.status_code, found.json()["type"]) == (401, "urn:dither:unauthorized")
    del gateway.tokens["one"]
    assert posted(app, "one", rpc("tools/list"))[0].status_code == 401, "a token that was revoked, at once"
    assert gateway.heard == []


def test_over_http_what_is_no_request_is_refused_and_not_repeated():
    _, app = mounted()
    bodies = ["SECRET", "[" * 50_000, "[]", '{"jsonrpc": "SECRET"}', "\xff", "", '"SECRET"', "1" * 5000]
    bodies += [
        json.dumps(rpc("tools/list") | part) for part in ({"jsonrpc": "1"}, {"id": []}, {"method": 5}, {"params": "x"})
    ]
    bodies += [json.dumps(rpc("tools/list") | {"SECRET": 1}), '{"jsonrpc": "2.0", "id": 1, "result": {}}']
    for body in bodies:
        (found,) = posted(app, "one", None, content=body.encode("latin-1"), json=None)
        assert found.status_code == 422
        assert found.json()["why"] == "it is no message of the Model Context Protocol"
        assert "SECRET" not in found.text
    for body in (rpc("SECRET"), rpc("tools/call", name=5), rpc("tools/call", arguments=[]), rpc("prompts/get", name=[])):
        assert "error" in posted(app, "one", body)[0].json()
    (found,) = posted(app, "one", None, content=b" " * 70_000, json=None)
    assert found.status_code == 413

    async def others() -> list[int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway.example") as client:
            headers = JSON | {"Authorization": "Bearer one"}
            return [(await client.request(method, "/mcp", headers=headers)).status_code for method in ("PUT", "DELETE")]

    assert all(400 <= status < 500 for status in asyncio.run(others()))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_stdio_in_a_process_of_its_own(monkeypatch, mode):
    monkeypatch.delenv("DITHER_TOKEN", raising=False)
    made = Stub()
    told = {"dataset": "clinic", "left": "90%", "used": 0.1, "words": "90% left"}
    made.replies["GET /v1/budget"] = Said(body={"budgets": [told]})
    made.replies["POST /v1/queries"] = [problem("budget", 402, why="too much", instead="a smaller price"), done(ANSWER)]

    async def work(url: str) -> None:
        home = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH", "DITHER_HOME") if name in os.environ}
        command = ["-m", "dither", "mcp", "--url", url]
        started = StdioServerParameters(command=sys.executable, args=command, env={**home, "DITHER_TOKEN": TOKEN})
        async with Client(stdio_client(started), mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["list_datasets", "quote", "ask", "budget"]

            async def called(name: str, **given: Any) -> Any:
                return (await client.call_tool(name, given)).structured_content

            assert (await called("list_datasets"))["datasets"][0]["tables"][0]["name"] == "visits"
            quote = await called("quote", sql=SQL, epsilon=0.1)
            assert (quote["quote"], quote["left"], quote["errors"]) == ("qt_1", 41, {"n": 6.0})
            assert (await called("ask", quote="qt_1"))["refused"]["instead"] == "a smaller price"
            assert (await called("ask", quote="qt_1"))["columns"][0] == "ward"
            assert (await called("ask", quote="qt_2"))["refused"]["where"] == "quote"
            assert (await called("budget"))["budgets"][0]["words"] == "90% left"
            made.replies["POST /v1/quotes"] = problem("refused", 422, where="sql", why="no", instead="yes")
            assert (await called("quote", sql="DROP"))["refused"]["instead"] == "yes"

    with serving(made):
        asyncio.run(work(made.url))
    keys = {one.headers["Idempotency-Key"] for one in made.asked("POST", "/v1/queries")}
    assert len(keys) == 1
    assert {one.headers["Authorization"] for one in made.heard} == {f"Bearer {TOKEN}"}


def test_over_stdio_a_quote_ages_and_the_oldest_are_forgotten(stub, monkeypatch):
    door = RemoteDoor(dither.connect(stub.url, TOKEN))
    stub.replies["POST /v1/queries"] = done(ANSWER)

    def called(name: str, **given: Any) -> Any:
        return asyncio.run(call(door, name, given))

    for at in range(3):
        stub.replies["POST /v1/quotes"] = Said(body=QUOTE | {"id": f"qt_{at}"})
        called("quote", sql=SQL, epsilon="0.1")
    assert called("ask", quote="qt_0")["receipt"]
    monkeypatch.setattr(remote_door, "MOST_QUOTES", 3)
    stub.replies["POST /v1/quotes"] = Said(body=QUOTE | {"id": "qt_3"})
    called("quote", sql=SQL, epsilon="0.1")
    assert called("ask", quote="qt_0")["refused"]["why"] == "it is older than ten minutes, or was never made"
    assert called("ask", quote="qt_1")["receipt"]
    monkeypatch.setattr(remote_door, "LIFE", -1.0)
    before = len(stub.heard)
    assert called("ask", quote="qt_3")["refused"]["instead"].startswith("quote first")
    assert len(stub.heard) == before, "nothing was sent"
    stub.replies["POST /v1/queries"] = Said(202, {"id": "qy_1", "state": "running", "seconds": 1})
    monkeypatch.setattr(remote_door, "LIFE", 600.0)
    monkeypatch.setattr(remote_door, "WAIT", 0.0)
    assert called("ask", quote="qt_3") == {"state": "running", "instead": AGAIN}
