"""Servers of the benchmark: a gateway on the made-up clinic, and a bare endpoint; and what CPU their processes took."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.gateway.bare import SECRET
from dither import create_ledger, demo
from dither.server.core.config import read_gateway
from dither.server.core.tokens import TokenStore

GATEWAY = """\
version = 1
database = "gateway.db"
[limits]
quotes_per_second = 1e5
queries_per_second = 1e5
[datasets.clinic]
policy = "policy.toml"
"""
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server in a process of its own, and one connection to it."""

    def __init__(self, process: subprocess.Popen[str], address: str, token: str) -> None:
        self.process, self.token = process, token
        place = urlsplit(address)
        assert place.hostname is not None
        self._connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)

    def post(self, path: str, body: dict[str, str]) -> Any:
        """The reply, which must be a good one."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self._connection.request("POST", path, json.dumps(body).encode(), headers)
        reply = self._connection.getresponse()
        told = reply.read()
        assert reply.status == 200, told
        return json.loads(told)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def cpu(self) -> float:
        """Seconds of CPU that its processes took so far; Linux says it."""
        return sum(_cpu(pid) for pid in _family(self.process.pid))


def _family(first: int) -> list[int]:
    found = [first]
    for parent in found:  # it grows meanwhile
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            found += [int(pid) for pid in children.read_text().split()]
    return found


def _cpu(pid: int) -> float:
    facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(facts[11]) + int(facts[12])) / TICKS


def clinic(folder: Path) -> Path:
    """The made-up clinic, with a budget that a benchmark does not use up; its policy."""
    demo.save(folder)
    policy = folder / "policy.toml"
    text = demo.POLICY.replace('{ epsilon = "3", delta = "1e-6" }', '{ rho = "20" }')
    text = text.replace("clinic.ledger", "benchmark.ledger").replace('domain = "clinic"', 'domain = "benchmark"')
    policy.write_text(text.replace('[limits]\nper_question = { epsilon = "1", delta = "1e-6" }\n', ""))
    create_ledger(policy, write=True)
    return policy


@contextmanager
def gateway(folder: Path) -> Iterator[Server]:
    """A gateway on the clinic of a folder."""
    (folder / "gateway.toml").write_text(GATEWAY)
    store = TokenStore(read_gateway(folder / "gateway.toml").database)
    _, secret = store.create(name="bench", role="analyst", datasets=("clinic",))
    store.close()
    command = ["-m", "dither", "serve", "--config", str(folder / "gateway.toml"), "--port", "0"]
    with _started(command, secret) as found:
        yield found


@contextmanager
def bare() -> Iterator[Server]:
    """The bare endpoint."""
    with _started(["-m", "benchmarks.gateway.bare"], SECRET) as found:
        yield found


@contextmanager
def _started(command: list[str], token: str) -> Iterator[Server]:
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert "listening on " in line, "it did not start"
        with closing(Server(process, line.split()[-1], token)) as server:
            yield server
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
