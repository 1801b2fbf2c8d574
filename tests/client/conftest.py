"""A stub of a gateway for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dither.client import session
from tests.client.stub import Stub, serving


@pytest.fixture
def stub(monkeypatch) -> Iterator[Stub]:
    monkeypatch.setattr(session, "FIRST_PAUSE", 0.001)
    monkeypatch.delenv("DITHER_TOKEN", raising=False)
    with serving(Stub()) as made:
        yield made
