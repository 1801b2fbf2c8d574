"""A server on a free port of this machine, in a thread, and raw requests to it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dither.server.listener import Server, _settings, open_socket

SECONDS = 60.0  # that nothing takes; a test that waits so long has failed


@contextmanager
def listening(app: Any, config: Any) -> Iterator[int]:
    """The port of an application that listens."""
    bound, ready = open_socket("127.0.0.1", 0, "port"), threading.Event()
    server = Server(_settings(config, app), ready.set)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        assert ready.wait(SECONDS)
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        bound.close()
        assert not thread.is_alive()


def raw(port: int, *parts: bytes) -> bytes:
    """The whole reply to bytes as they are; the server may end the connection before all of them are sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except OSError:
                break
        found = b""
        try:
            while chunk := connection.recv(65_536):
                found += chunk
        except OSError:  # it ended the connection
            pass
        return found


def status(reply: bytes) -> int:
    """Of a raw reply."""
    return int(reply.split(b" ", 2)[1])


def ended(reply: bytes, *statuses: int) -> bool:
    """Whether it was refused so. Who still sends when the connection ends may not see the reply any more."""
    return not reply or status(reply) in statuses
