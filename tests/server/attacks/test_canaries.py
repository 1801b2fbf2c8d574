"""Canaries in rows: whatever goes right or wrong, no reply, log, metric, error, output, database or file has one."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from dither.server.core.config import Limits
from tests.server.attacks.hostile_clinic import CANARY, NUMBER, gateway, hostile_clinic
from tests.server.attacks.http_door import FORMATS, Door
from tests.server.attacks.requests import ASKS, BUDGET
from tests.server.gateways import run

NEEDLES = [CANARY.encode(), CANARY.encode("utf-16-le"), b"987654321", struct.pack("<d", NUMBER), struct.pack(">d", NUMBER)]
EVENTS = [
    ["age > 71.5", "read", "raise"], ["age > 72.5", "noise", "kill"], ["age > 73.5", "read", "eat"],
    ["age > 74.5", "read", "write"],
    ["age > 75.5", "noise", "sleep 3600"], ["age > 76.5", "commit", "kill"],
]  # fmt: skip
LIMITS = Limits(under_way=1000, queue=1000, queries_per_second=1e5, quotes_per_second=1e5, seconds=3.0, memory_mb=2048)


def found_in(data: bytes) -> list[bytes]:
    return [needle for needle in NEEDLES if needle in data]


@pytest.mark.filterwarnings("default::ResourceWarning")
def test_nobody_sings(tmp_path, monkeypatch, capfd, home):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))  # of the processes
    monkeypatch.setattr(tempfile, "tempdir", None)  # and of this one
    data = tmp_path / "data"
    datasets = [hostile_clinic(data / name, name, budget=BUDGET) for name in ("clinic", "gone", "other")]
    told: list[bytes] = []
    cores = set(Path.cwd().glob("core*"))
    with gateway(tmp_path, datasets, limits=LIMITS, events=EVENTS) as made:
        door = Door(made)
        ana, owner = door.secret("ana"), door.secret("olga", "owner")
        (data / "gone" / "visits.csv").unlink()
        (data / "other" / "visits.csv").write_text(f"person,{CANARY}\n1,{NUMBER}\n")

        async def asked() -> None:
            bodies = [(sql, terms) for sql, terms, _ in ASKS]
            bodies += [(f"SELECT COUNT(*) AS n FROM visits WHERE {text}", {"epsilon": "0.01"}) for text, _, _ in EVENTS]
            for place, (sql, terms) in enumerate(bodies):
                for dataset in ("clinic", "gone", "other") if place % 8 == 0 else ("clinic",):
                    accept = FORMATS[place % 4] if isinstance(sql, str) else FORMATS[0]
                    body = {"dataset": dataset, "sql": sql, **terms}
                    keep(await door.ask("POST", "/v1/queries", ana, body, Accept=accept, Prefer="wait=30"))
            for path in ("/v1/datasets", "/v1/budget", "/v1/answers", "/health", "/openapi.json", "/nothing", "/v1/me"):
                keep(await door.ask("GET", path, ana))
            for name in ("clinic", "gone", "other"):
                keep(await door.ask("GET", f"/v1/ledger?dataset={name}", owner))
                keep(await door.ask("POST", f"/v1/ledger/verify?dataset={name}", owner))
                keep(await door.ask("GET", f"/v1/datasets/{name}/sample?rows=20", ana))

        statuses = []

        def keep(reply) -> None:
            statuses.append(reply.status_code)
            told.extend([reply.content, str(reply.headers).encode()])

        run(asked())
        assert {200, 402, 422, 500, 503} <= set(statuses)  # so that there was something to tell
        assert statuses.count(500) >= len(EVENTS) - 1
        told += [door.log.getvalue().encode(), generate_latest(door.metrics.registry)]
    assert [found_in(part) for part in told if found_in(part)] == []
    assert [found_in(part.encode()) for part in capfd.readouterr()] == [[], []]
    rows = {data / name / file for name in ("clinic", "gone", "other") for file in ("visits.csv", "tests.parquet")}
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file not in rows]
    assert home.exists()
    assert any(file.name == "gateway.db" for file in files)
    assert [file for file in files if found_in(file.read_bytes())] == []
    assert list(scratch.iterdir()) == []
    assert set(Path.cwd().glob("core*")) == cores
