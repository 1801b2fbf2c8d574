"""A gateway over HTTP as a process, with the harness program: `python -m tests.server.attacks.served gateway.toml FACTS`.

It says on standard output where it listens, and a token of each role.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from dither.server import listener
from dither.server.core.config import GatewayConfig, read_gateway
from dither.server.core.gateway import Gateway
from dither.server.core.roles import ROLES
from tests.server.attacks.hostile_clinic import program


@dataclass
class Served:
    """A gateway in a process of its own."""

    process: subprocess.Popen[str]
    where: str
    tokens: dict[str, str]  # secrets, by role

    @property
    def pid(self) -> int:
        return self.process.pid

    def header(self, role: str = "analyst") -> dict[str, str]:
        """Of requests by somebody in that role."""
        return {"Authorization": f"Bearer {self.tokens[role]}"}


@contextmanager
def served(config: Path, output: IO[str], **facts: Any) -> Iterator[Served]:
    """Start it, and kill it at the end if it is still there."""
    command = [sys.executable, "-m", "tests.server.attacks.served", str(config), json.dumps(facts)]
    environment = os.environ | {"DITHER_TOKEN": "dth_of_somebody"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True, env=environment)
    try:
        assert process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            assert ready.select(60), "the gateway does not start"
        told = json.loads(process.stdout.readline())
        yield Served(process, told["where"], told["tokens"])
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def main(path: Path, facts: dict[str, Any]) -> None:
    """Serve until a signal comes."""

    def told(listening: listener.Listening) -> None:
        tokens = {role: listening.gateway.tokens.create(name=f"the {role}", role=role)[1] for role in ROLES}
        print(json.dumps({"where": listening.address, "tokens": tokens}), flush=True)

    def made(config: GatewayConfig) -> Gateway:
        return Gateway(config, program=program(**facts))

    listener.Gateway = made  # type: ignore[assignment, misc]
    listener.listen(replace(read_gateway(path), port=0), told, sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
