"""A gateway with two small datasets and four tokens, which listens: real processes, ledgers and noise."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.server.app import create_app
from dither.server.core.config import GatewayConfig, GatewayDataset, Limits
from dither.server.core.gateway import Gateway
from dither.server.http.logs import RequestLog
from dither.server.http.metrics import Metrics
from tests.server.http.listening import listening

CANARY = "Canariensis"
POLICY = """
version = 1
domain = "{name}"
[ledger]
location = "{name}.ledger"
budget = {{ epsilon = "100", delta = "1e-6" }}
[tables.visits]
source = "visits.parquet"
person = "patient"
max_rows = 2
[tables.visits.columns]
patient = {{ type = "text", nullable = false }}
ward = {{ type = "text", keys = ["A", "B"] }}
cost = {{ type = "integer", bounds = [0, 100] }}
"""
ROWS = {"patient": [CANARY, CANARY, "p2", "p3"], "ward": ["A", CANARY, "B", None], "cost": [31_415_926, 5, 50, None]}


@dataclass
class Real:
    """What tests ask."""

    port: int
    gateway: Gateway
    metrics: Metrics
    log: io.StringIO
    secrets: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, url: str, who: str | None = "ana", **request: object) -> httpx.Response:
        """One request."""
        headers = dict(request.pop("headers", {}))  # type: ignore[call-overload]
        if who is not None:
            headers["Authorization"] = f"Bearer {self.secrets.get(who, who)}"
        return httpx.request(method, f"http://127.0.0.1:{self.port}{url}", headers=headers, timeout=60, **request)  # type: ignore[arg-type]

    def entries(self, name: str = "clinic") -> int:
        """How many entries the ledger of a dataset has."""
        found: int = self.call("POST", f"/v1/ledger/verify?dataset={name}", "olga").json()["entries"]
        return found


def made(folder: Path, name: str) -> GatewayDataset:
    """A dataset in a folder, with its ledger."""
    folder.mkdir()
    pyarrow.parquet.write_table(pyarrow.table(ROWS), folder / "visits.parquet")
    (folder / "policy.toml").write_text(POLICY.format(name=name))
    dither.create_ledger(folder / "policy.toml", write=True)
    return GatewayDataset(name, folder / "policy.toml")


@pytest.fixture(scope="package")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    folder = tmp_path_factory.mktemp("gateway")
    limits = Limits(quotes_per_second=1e5, queries_per_second=1e5, under_way=100, wrong_tokens_per_minute=10_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(folder / "home"))
        datasets = tuple(made(folder / name, name) for name in ("clinic", "other"))
        config = GatewayConfig(datasets, str(folder / "gateway.db"), workers=1, limits=limits)
        with Gateway(config) as gateway:
            log, metrics = io.StringIO(), Metrics(gateway)
            with listening(create_app(gateway, log=RequestLog(log), metrics=metrics), config) as port:
                found = Real(port, gateway, metrics, log)
                for name, role, which in (
                    ("ana", "analyst", "clinic"),
                    ("bob", "analyst", "other"),
                    ("udo", "auditor", "clinic"),
                    ("olga", "owner", "*"),
                ):
                    found.secrets[name] = gateway.tokens.create(name=name, role=role, datasets=(which,))[1]  # type: ignore[arg-type]
                yield found
