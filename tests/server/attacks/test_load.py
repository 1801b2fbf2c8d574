"""Fifty analysts at once, over HTTP on this machine: no error but 429, and the ledger has what they were told."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import httpx

from dither.server.core.tokens import TokenStore
from tests.seeds import examples
from tests.server.attacks.hostile_clinic import hostile_clinic
from tests.server.attacks.served import served
from tests.server.gateways import run

ANALYSTS, SECONDS = 50, examples(10, 60)
GATEWAY = """\
version = 1
database = "gateway/gateway.db"
[server]
workers = 2
[limits]
queue = 1000
[datasets.clinic]
policy = "clinic/policy.toml"
"""


async def analyst(client: httpx.AsyncClient, number: int, secret: str, end: float) -> tuple[Counter[int], set[str]]:
    """Quotes, questions that somebody asked before, new ones, budgets; about three requests a second."""
    found, receipts, place = Counter[int](), set[str](), 0
    headers = {"Authorization": f"Bearer {secret}"}
    while time.monotonic() < end:
        place += 1
        new = place % 8 == number % 8
        body = {
            "dataset": "clinic",
            "sql": f"SELECT COUNT(*) AS n FROM visits WHERE age > {number if new else place % 5}.{place if new else 0}",
        }
        body["epsilon"] = "0.0001"
        replies = [await client.post("/v1/quotes", json=body, headers=headers)]
        replies.append(await client.post("/v1/queries", json=body, headers=headers | {"Idempotency-Key": f"{place}"}))
        replies.append(await client.get("/v1/budget", headers=headers))
        found.update(reply.status_code for reply in replies)
        receipts |= {reply.headers["dither-receipt"] for reply in replies if "dither-receipt" in reply.headers}
        await asyncio.sleep(0.7)  # she thinks
    return found, receipts


def test_fifty_analysts(tmp_path):
    hostile_clinic(tmp_path / "clinic", "clinic")
    (tmp_path / "gateway").mkdir()
    (tmp_path / "gateway.toml").write_text(GATEWAY)
    with (tmp_path / "output").open("w") as output, served(tmp_path / "gateway.toml", output) as web:
        store = TokenStore(str(tmp_path / "gateway" / "gateway.db"))
        secrets = [store.create(name=f"analyst {number}")[1] for number in range(ANALYSTS)]
        store.close()

        async def together():
            limits = httpx.Limits(max_connections=ANALYSTS, max_keepalive_connections=ANALYSTS)
            async with httpx.AsyncClient(base_url=web.where, timeout=60, limits=limits) as client:
                end = time.monotonic() + SECONDS
                return await asyncio.gather(*(analyst(client, *one, end) for one in enumerate(secrets)))

        told = run(together())
        statuses = sum((found for found, _ in told), Counter[int]())
        assert statuses.keys() <= {200, 202, 429}
        assert statuses[200] > 3 * ANALYSTS
        receipts = set[str]().union(*(mine for _, mine in told))
        owner = web.header("owner")
        lines = httpx.get(f"{web.where}/v1/ledger?dataset=clinic&last=10000", headers=owner, timeout=60).json()["entries"]
        charged = {line["entry"] for line in lines if line["kind"] == "reserved"}
        assert {int(receipt.partition("-")[2]) for receipt in receipts} <= charged
        assert httpx.post(f"{web.where}/v1/ledger/verify?dataset=clinic", headers=owner, timeout=60).json()["ok"]
        assert httpx.get(f"{web.where}/health").json()["status"] == "ok"
