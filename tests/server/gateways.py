"""Gateways of tests: a small clinic, with processes of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

import dither
from dither.server.core.callers import Caller
from dither.server.core.config import GatewayConfig, GatewayDataset, Limits
from dither.server.core.gateway import Gateway
from dither.server.core.processes.process_handle import PROGRAM
from dither.server.core.questions import Asked, Question
from dither.server.core.roles import Role

POLICY = """\
version = 1
domain = "{name}"
data_version = "1"
[ledger]
location = "{name}.ledger"
budget = {{ {budget} }}
[tables.visits]
source = "{name}.parquet"
person = "patient"
max_rows = 3
[tables.visits.columns]
patient = {{ type = "integer", nullable = false }}
ward = {{ type = "text", keys = ["A", "B"] }}
age = {{ type = "integer", bounds = [0, 100] }}
"""
ROWS = {"patient": [1, 1, 2, 3, 4], "ward": ["A", "B", "A", "B", "A"], "age": [30, 30, 44, 51, 67]}


def write_clinic(folder: Path, name: str = "clinic", *, budget: str = 'epsilon = "3"', rows: Any = None) -> Path:
    """A policy with its rows and its ledger; gives the path of the policy."""
    folder.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(ROWS if rows is None else rows), folder / f"{name}.parquet")
    path = folder / f"{name}.toml"
    path.write_text(POLICY.format(name=name, budget=budget), "utf-8")
    dither.create_ledger(path, write=True)
    return path


def config(folder: Path, *names: str, limits: Limits | None = None, workers: int = 1, **facts: Any) -> GatewayConfig:
    """The configuration of clinics in a folder, which are written where they are not there yet."""
    (folder / "gateway").mkdir(parents=True, exist_ok=True)
    datasets = []
    for name in names or ("clinic",):
        policy = folder / f"{name}.toml"
        datasets.append(GatewayDataset(name, policy if policy.exists() else write_clinic(folder, name), **facts))
    many = Limits(queries_per_second=1e5, quotes_per_second=1e5, under_way=1000)
    database = str(folder / "gateway" / "gateway.db")
    return GatewayConfig(tuple(datasets), database, workers=workers, limits=limits or many)


@contextmanager
def running(made: GatewayConfig, *, program: Sequence[str] = PROGRAM) -> Iterator[Gateway]:
    """A gateway with its processes."""
    with Gateway(made, program=program) as gateway:
        yield gateway


def caller(gateway: Gateway, name: str = "ana", role: Role = "analyst", datasets: Sequence[str] = ("*",)) -> Caller:
    """Somebody with a new token."""
    return gateway.caller(gateway.tokens.create(name=name, role=role, datasets=datasets)[1], "127.0.0.1")


def count(condition: str = "age >= 0", dataset: str = "clinic", **terms: Any) -> Asked:
    """A question."""
    return Asked(dataset, f"SELECT COUNT(*) AS n FROM visits WHERE {condition}", terms or {"epsilon": "0.1"})


_loop = asyncio.new_event_loop()


def run(work: Any) -> Any:
    """The result of a coroutine, on one loop for all: as in a server, what is under way goes on between two calls."""
    if not _loop.is_running():
        threading.Thread(target=_loop.run_forever, name="tests", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loop).result(120)


async def finished(gateway: Gateway, who: Caller, asked: Asked | str, **how: Any) -> Question:
    """A question, once it is over."""
    question = await gateway.ask(who, asked, wait=30, **how)
    assert question.ended.is_set()
    return question
