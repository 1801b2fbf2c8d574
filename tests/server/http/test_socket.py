"""The socket that a gateway listens at: replies do not wait for acknowledgements."""

from __future__ import annotations

import socket

from dither.server.listener import open_socket


def test_connections_send_at_once():
    with open_socket("127.0.0.1", 0, "server.port") as bound, socket.create_connection(bound.getsockname()):
        accepted, _ = bound.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
