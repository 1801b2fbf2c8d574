"""Frames: how the processes of a gateway talk: one JSON text each way, over a pair of sockets.

JSON, since a process that holds rows must not unpickle what a process that talks to the network sends.
"""

from __future__ import annotations

import json
import socket
from multiprocessing.connection import Connection
from typing import Any

LARGEST = 256 * 2**20  # bytes of one frame


def pair() -> tuple[Connection, int]:
    """This end as a connection, and the number of the other end, which a child inherits."""
    ours, theirs = socket.socketpair()
    return Connection(ours.detach()), theirs.detach()


def send(connection: Connection, message: dict[str, Any]) -> None:
    """One frame; OSError where nobody listens any more."""
    connection.send_bytes(json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))


def receive(connection: Connection) -> dict[str, Any]:
    """The next frame; EOFError or OSError where there will be none."""
    found = json.loads(connection.recv_bytes(LARGEST).decode("utf-8", "surrogatepass"))
    if not isinstance(found, dict):
        raise OSError("not a frame")
    return found
