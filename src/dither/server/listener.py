"""The server: listens at an address until it is told to end, by SIGINT or SIGTERM.

Who listens beyond this machine has a certificate, or a proxy that ends TLS: `read_gateway` refuses others.
"""

from __future__ import annotations

import logging
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TextIO
from wsgiref.simple_server import WSGIServer

from dither.errors import ConflictError, PolicyError
from dither.extras import needs
from dither.server.app import create_app
from dither.server.core.config import GatewayConfig
from dither.server.core.gateway import Gateway
from dither.server.http.logs import RequestLog
from dither.server.http.metrics import Metrics
from dither.server.http.protocol import TimedProtocol

with needs("dither[server]"):
    import uvicorn
    from prometheus_client import start_http_server

BACKLOG = 1024
CONNECTIONS = 1000  # at a time; more are told to come later
HEAD_BYTES = 32_768  # of a request line and its headers
END_SECONDS = 10  # that replies under way have to end


@dataclass(frozen=True)
class Listening:
    """A gateway that listens."""

    gateway: Gateway
    address: str
    metrics: str | None  # where metrics are, if anywhere


class Server(uvicorn.Server):
    """Says when it listens; a signal ends it, and is no failure."""

    def __init__(self, config: uvicorn.Config, told: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._told()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The library raises the signal again when all is over; here the end is the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def open_socket(host: str, port: int, where: str) -> socket.socket:
    """A socket that is bound; port 0 is any that is free.

    Raises:
        ConflictError: the address is not of this machine, or somebody listens there.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        made = socket.create_server(found[0][4][:2], family=found[0][0], backlog=BACKLOG)
        # Connections inherit it. asyncio sets it itself only where the protocol is named, and without it a reply in two
        # parts waits for the client's late acknowledgement, 40 ms.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made
    except OSError as error:
        why = f"nobody can listen there: {error.strerror or 'no such address'}"
        raise ConflictError(where, f"{host}:{port}", why, "another port in [server]; 0 for any that is free") from error


def address(config: GatewayConfig, port: int) -> str:
    """Where the gateway is, for people and programs on this machine."""
    host = "127.0.0.1" if config.host in ("0.0.0.0", "::") else config.host  # noqa: S104 - compared, not bound
    host = f"[{host}]" if ":" in host else host
    return f"{'http' if config.certificate is None else 'https'}://{host}:{port}"


def check_certificate(config: GatewayConfig) -> None:
    """Refuse a certificate that does not fit its key, before anything starts."""
    if config.certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.certificate, config.certificate_key)
    except (ssl.SSLError, OSError) as error:
        why = "it cannot be read with its key"
        raise PolicyError("server.certificate", str(config.certificate), why, "both files in PEM, of one pair") from error


def listen(config: GatewayConfig, told: Callable[[Listening], None], log: TextIO | None) -> None:
    """Run a gateway over HTTP until a signal ends it.

    Args:
        config: where, for which datasets, within which limits.
        told: is called once it listens.
        log: where requests are logged, a line each.

    Raises:
        ConflictError: somebody else listens at its address.
        PolicyError: the certificate cannot be read with its key.
        MissingExtraError: `dither[server]` is not installed.
        DitherError: a policy or a ledger cannot be opened.
    """
    check_certificate(config)
    with ExitStack() as stack:
        bound = stack.enter_context(open_socket(config.host, config.port, "server.port"))
        gateway = stack.enter_context(Gateway(config))
        metrics = Metrics(gateway)
        counted = None
        if config.metrics_port is not None:
            server = stack.enter_context(_metrics_server(config, config.metrics_port, metrics))
            counted = f"{address(replace(config, certificate=None), server.server_port)}/metrics"
        app = create_app(gateway, log=RequestLog(log), metrics=metrics)
        listening = Listening(gateway, address(config, bound.getsockname()[1]), counted)
        _silence()
        Server(_settings(config, app), lambda: told(listening)).run([bound])


def _settings(config: GatewayConfig, app: Callable[..., object]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # who is believed is decided in address.py
        server_header=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_graceful_shutdown=END_SECONDS,
        ssl_certfile=config.certificate,
        ssl_keyfile=config.certificate_key,
    )


def _silence() -> None:
    """The server's own log has texts of errors and parts of requests; ours has what may be kept."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False


@contextmanager
def _metrics_server(config: GatewayConfig, port: int, metrics: Metrics) -> Iterator[WSGIServer]:
    """Metrics on a port of their own, in a thread."""
    try:
        server, thread = start_http_server(port, config.host, metrics.registry)
    except OSError as error:
        why = f"nobody can listen there: {error.strerror}"
        raise ConflictError("server.metrics_port", f"{config.host}:{port}", why, "another port, or none") from error
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
