"""A gateway that knows a little by heart: what HTTP does around one can be tested without processes, ledgers and noise."""

from __future__ import annotations

import asyncio
import datetime
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pyarrow

import dither
from dither.query.answers.free_answer import FreeAnswer
from dither.server.app import create_app
from dither.server.core.callers import Caller
from dither.server.core.config import GatewayConfig, GatewayDataset, Limits
from dither.server.core.problems import Problem, absent, failed
from dither.server.core.questions import Asked, Question
from dither.server.core.tokens import Token
from dither.server.http.formats import arrow_bytes
from dither.server.http.logs import RequestLog

CALLERS = {
    "owner": Caller("olga", "owner", ("*",), "t-owner"),
    "analyst": Caller("ana", "analyst", ("clinic",), "t-analyst"),
    "auditor": Caller("udo", "auditor", ("clinic",), "t-auditor"),
    "stranger": Caller("sam", "analyst", ("elsewhere",), "t-stranger"),
}
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
WARDS = ["=A1", "<b>", "é,\n"]  # hostile to spreadsheets, pages and lines
TOKEN = Token(
    "t-1", "bob", "analyst", ("clinic",), None, datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), None, None, None
)
ROWS = pyarrow.table({"ward": WARDS, "cost": [-1.5, 2.0, None], "day": [datetime.date(2026, 1, 2)] * 3})


def answer_json(folder: Path) -> str:
    """A real answer, with hostile keys."""
    ledger = dither.Ledger.create(folder / "people.ledger", budget=dither.pure(3))
    rows = pyarrow.table({"ward": WARDS})
    people = dither.protect(rows, name="visits", person="each row", ledger=ledger, keys={"ward": WARDS})
    found = people.quote(SQL, epsilon="0.5").release()
    ledger.close()
    return found.to_json()


def free_json() -> str:
    """An answer that cost nothing."""
    found = FreeAnswer(
        sql=SQL,
        columns={"ward": WARDS},
        kinds={"ward": "text"},
        keys=("ward",),
        guarantee=dither.pure("1e-9"),
        says="",
        explained="",
        frame_kind="",
    )
    assert found.confidence == Fraction(1)
    return found.to_json()


def question(id_: str, **facts: Any) -> Question:
    """A question of ana's."""
    made = Question(id_, Asked("clinic", SQL), "ana", "t-analyst", "key")
    for name, value in facts.items():
        setattr(made, name, value)
    if made.answer is not None or made.problem is not None:
        made.end("failed" if made.problem else "done")
    return made


class StandIn:
    """What `Gateway` has, by heart; what it was asked is in `calls`."""

    def __init__(self, *, proxy: bool = False, limits: Limits | None = None, answer: str | None = None) -> None:
        self.config = GatewayConfig(
            (GatewayDataset("clinic", Path("policy.toml")),), "gateway.db", proxy=proxy, limits=limits or Limits()
        )
        self.calls: list[tuple[str, Any]] = []
        self.answer_text = free_json() if answer is None else answer
        self.asked = {
            "done": {"answer": self.answer_text, "receipt": "r-1", "replay": True},
            "running": {"state": "running"},
        }
        self.asked["failed"] = {"problem": failed("r-2")}
        self.known = {"clinic": None}
        self.workers, self.questions = SimpleNamespace(alive=2), SimpleNamespace(under_way=lambda: 0)
        self.releases, self.desk = SimpleNamespace(ends=Counter(done=3)), SimpleNamespace(ask=self._desk)

    async def _desk(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"used": 0.25}

    def caller(self, secret: str | None, address: str) -> Caller:
        self.calls.append(("caller", (secret, address)))
        found = CALLERS.get(secret or "")
        if found is None:
            raise Problem("unauthorized", why="there is no valid token", instead="a token")
        return found

    def _seen(self, caller: Caller, name: str) -> None:
        if name != "clinic" or not caller.sees(name):
            raise absent()

    async def datasets(self, caller: Caller) -> list[dict[str, Any]]:
        return [await self.dataset(caller, "clinic")] if caller.sees("clinic") else []

    async def dataset(self, caller: Caller, name: str) -> dict[str, Any]:
        self._seen(caller, name)
        return {"name": name, "domain": "c", "unit": "add/remove one person", "data_version": "1", "tables": []}

    async def quote(self, caller: Caller, asked: Asked, *, door: str = "http") -> dict[str, Any]:
        self._seen(caller, asked.dataset)
        self.calls.append(("quote", asked))
        told: dict[str, Any] = {"id": "qt_1", "dataset": asked.dataset, "sql": asked.sql, "free": False, "price": "p"}
        told |= {"epsilon": 0.1, "guarantee": {}, "confidence": "19/20", "errors": {"n": 1.0}, "left": 3, "words": "w"}
        return told | {"explain": "", "describe": "", "unprotected": "", "slot": None, "expires": "x"}

    async def ask(self, caller: Caller, asked: Asked | str, *, key: str | None = None, wait: float = 10.0) -> Question:
        self.calls.append(("ask", (asked, key, wait)))
        caller.must("ask")
        if isinstance(asked, str) and asked not in self.asked:
            raise absent()
        if isinstance(asked, Asked):
            self._seen(caller, asked.dataset)
            asked = "done"
        return question("qy_1", **self.asked[asked])

    async def question(self, caller: Caller, id: str, *, wait: float = 0.0) -> Question:  # noqa: A002
        self.calls.append(("question", (id, wait)))
        if id not in self.asked or caller.name != "ana":
            raise absent()
        return question(id, **self.asked[id])

    async def watch(self, caller: Caller, id: str) -> Any:  # noqa: A002
        await self.question(caller, id)
        for state in ("queued", "running", "done"):
            yield {"state": state, "seconds": 1}

    async def budget(self, caller: Caller, dataset: str | None = None) -> list[dict[str, Any]]:
        if dataset is not None:
            self._seen(caller, dataset)
        return [{"dataset": "clinic", "left": "50%"}]

    async def answers(self, caller: Caller, *, dataset: str | None = None, **how: Any) -> list[dict[str, Any]]:
        self.calls.append(("answers", how))
        if dataset is not None:
            self._seen(caller, dataset)
        return []

    async def answer(self, caller: Caller, id: str) -> Question:  # noqa: A002
        if id != "r-1" or not caller.sees("clinic"):
            raise absent()
        return question("r-1", **self.asked["done"])

    async def ledger(self, caller: Caller, dataset: str, *, last: int = 100) -> list[dict[str, Any]]:
        self._seen(caller, dataset)
        caller.must("history")
        return [{"entry": 1}]

    async def verify(self, caller: Caller, dataset: str) -> dict[str, Any]:
        self._seen(caller, dataset)
        caller.must("history")
        return {"ok": True, "faults": [], "entries": 1}

    async def policy_diff(self, caller: Caller, dataset: str, text: str) -> dict[str, Any]:
        self._seen(caller, dataset)
        caller.must("own")
        self.calls.append(("diff", text))
        return {"loosens": False, "lines": []}

    async def first_questions(self, caller: Caller, dataset: str) -> dict[str, Any]:
        self._seen(caller, dataset)
        return {"questions": []}

    async def sample(self, caller: Caller, dataset: str, rows: int) -> dict[str, bytes]:
        self._seen(caller, dataset)
        self.calls.append(("sample", rows))
        return {"visits": arrow_bytes(ROWS), "wards": arrow_bytes(ROWS)}

    async def create_token(self, caller: Caller, **facts: Any) -> tuple[Token, str]:
        caller.must("own")
        self.calls.append(("token", facts))
        return TOKEN, "dth_secret"

    async def list_tokens(self, caller: Caller) -> list[Token]:
        caller.must("own")
        return [TOKEN]

    async def revoke_token(self, caller: Caller, id: str) -> Token:  # noqa: A002
        caller.must("own")
        if id != "t-1":
            raise absent()
        return TOKEN

    async def health(self) -> dict[str, Any]:
        return {"status": "ok", "workers": 2}


def call(gateway: StandIn, method: str, url: str, who: str | None = "analyst", **request: Any) -> httpx.Response:
    """One request."""
    return calls(gateway, [(method, url, who, request)])[0]


def calls(gateway: StandIn, requests: list[Any], log: Any = None) -> list[httpx.Response]:
    """Several requests, of one application."""

    async def run() -> list[httpx.Response]:
        app = create_app(gateway, log=RequestLog(log))
        found = []
        transport = httpx.ASGITransport(app, client=("192.0.2.1", 5), raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            for method, url, who, request in requests:
                headers = dict(request.pop("headers", {}))
                if who is not None:
                    headers["Authorization"] = f"Bearer {who}"
                found.append(await client.request(method, url, headers=headers, **request))
        return found

    return asyncio.run(run())


def body(**facts: Any) -> str:
    """A body that asks."""
    return json.dumps({"dataset": "clinic", "sql": SQL, "epsilon": "0.1"} | facts)
