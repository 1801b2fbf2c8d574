"""A real PostgreSQL for the tests of this folder."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ledger.servers import postgres


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a database of our own."""
    pytest.importorskip("psycopg")
    with postgres() as found:
        yield found.get_uri().replace("postgres:@", "postgres@")


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def link(address) -> Iterator[Any]:
    """The owner's connection: may do anything."""
    import psycopg

    with psycopg.connect(address, autocommit=True, options="-c TimeZone=UTC -c client_min_messages=error") as found:
        yield found
