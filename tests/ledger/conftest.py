"""A home of its own for every test, and both kinds of database."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from dither import Ledger, pure
from tests.ledger.servers import postgres

_schemas = itertools.count()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """Keys and memories of this test alone."""
    folder = tmp_path / "home"
    monkeypatch.setenv("DITHER_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL for all tests."""
    with postgres() as found:
        yield found.get_uri()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full("a PostgreSQL server"))])
def location(request, tmp_path) -> str:
    """A place for a ledger."""
    if request.param == "sqlite":
        return str(tmp_path / "clinic.ledger")
    return f"{request.getfixturevalue('server')}#test_{next(_schemas)}"


@pytest.fixture
def ledger(location) -> Iterator[Ledger]:
    """A budget of 1, for one domain."""
    with Ledger.create(location, budget=pure(1), domain="clinic") as made:
        yield made
