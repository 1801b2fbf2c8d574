"""The requests of `requests.py` over HTTP, in every format, and what came back: status, headers in their order, body."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import httpx
import pyarrow

from dither.server.app import create_app
from dither.server.core.gateway import Gateway
from dither.server.http.formats import write
from dither.server.http.logs import RequestLog
from dither.server.http.metrics import Metrics
from tests.server.attacks.requests import ASKS, NUMBERS, masked, without_noise

FORMATS = ("application/json", "text/csv", "application/vnd.apache.arrow.stream", "text/html")
CHART = re.compile(r'<svg [^>]*class="chart".*?</svg>', re.DOTALL)
CELLS = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class Door:
    """The application of a gateway, asked in process; what it logs is kept."""

    def __init__(self, gateway: Gateway) -> None:
        self.log, self.metrics = io.StringIO(), Metrics(gateway)
        self.gateway = gateway
        self.app = create_app(gateway, log=RequestLog(self.log), metrics=self.metrics)
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://gateway", timeout=60)

    def secret(self, name: str, role: str = "analyst", datasets: tuple[str, ...] = ("*",)) -> dict[str, str]:
        """The header of somebody with a new token."""
        return {"Authorization": f"Bearer {self.gateway.tokens.create(name=name, role=role, datasets=datasets)[1]}"}  # type: ignore[arg-type]

    async def ask(self, method: str, path: str, who: dict[str, str], body: Any = None, **headers: str) -> httpx.Response:
        """One request."""
        told = {name.replace("_", "-"): value for name, value in headers.items()} | who
        return await self.client.request(method, path, json=body, headers=told)


async def replies(door: Door, ana: dict[str, str], owner: dict[str, str], dataset: str) -> list[str]:
    """What each request gives, about one dataset, with all taken out that may differ between neighbours."""
    found = [await door.ask("GET", f"/v1/datasets/{dataset}", ana)]
    for place, (sql, terms, key) in enumerate(ASKS):
        body = {"dataset": dataset, "sql": sql, **terms}
        found.append(await door.ask("POST", "/v1/quotes", ana, body))
        keyed = {} if key is None else {"Idempotency_Key": key}
        accept = "application/json" if isinstance(sql, list) else FORMATS[place % len(FORMATS)]
        asked = await door.ask("POST", "/v1/queries", ana, body, Accept=accept, **keyed)
        found.append(asked)
        where = asked.headers.get("content-location")
        if where is not None:
            several = [await door.ask("GET", where, ana, Accept=form) for form in FORMATS]
            must_be_made_of_the_answer(several[0], several[-1])
            found += several
            found.append(await door.ask("GET", f"{where}/events", ana))
        if "dither-receipt" in asked.headers:
            found.append(await door.ask("GET", f"/v1/answers/{asked.headers['dither-receipt']}", ana))
        found.append(await door.ask("GET", f"/v1/budget?dataset={dataset}", ana))
    found.append(await door.ask("GET", f"/v1/answers?dataset={dataset}", ana))
    found.append(await door.ask("GET", f"/v1/ledger?dataset={dataset}", owner))
    found.append(await door.ask("POST", f"/v1/ledger/verify?dataset={dataset}", owner))
    return [told(one, dataset) for one in found]


def must_be_made_of_the_answer(plain: httpx.Response, page: httpx.Response) -> None:
    """A page with its chart, whose ticks and marks follow from noisy numbers, is made of the answer that is told as JSON."""
    if plain.status_code == 200 and page.headers.get("content-type", "").startswith("text/html"):
        assert page.content == write(json.dumps(plain.json()["answer"], ensure_ascii=False), "html")


def told(reply: httpx.Response, dataset: str) -> str:
    """All of a reply, noisy numbers at a fixed width."""
    kind, body = reply.headers.get("content-type", ""), reply.text
    noisy = reply.status_code == 200 and ("dither-replay" in reply.headers)
    if noisy and kind.startswith("application/json"):
        found = json.loads(body)
        body = json.dumps(found | {"answer": without_noise(json.dumps(found["answer"], ensure_ascii=False))})
    elif noisy and "arrow" in kind:
        with pyarrow.ipc.open_stream(reply.content) as stream:
            table = stream.read_all()
        text = {name: table[name].to_pylist() for name in table.column_names if pyarrow.types.is_string(table[name].type)}
        body = f"{len(reply.content)} bytes, {table.num_rows} rows of {table.schema}: {text}"
    elif noisy and "csv" in kind:
        body = CELLS.sub("#", masked(body, dataset))
    elif noisy:
        body = NUMBERS.sub("#", masked(CHART.sub("CHART", body), dataset))
    elif "event-stream" in kind:
        body = NUMBERS.sub("#", body)  # whole seconds
    headers = [(name, value) for name, value in reply.headers.multi_items() if not (noisy and name == "content-length")]
    return masked(json.dumps([reply.status_code, headers, body], ensure_ascii=False), dataset)
