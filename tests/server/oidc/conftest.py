"""A provider for all tests, as good as new for each; and a gateway for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.oidc.doorkeeper import Doorkeeper, doorkeeper
from tests.server.oidc.providers import FakeProvider, serving


@pytest.fixture(scope="package")
def listening_provider() -> Iterator[FakeProvider]:
    with serving() as found:
        yield found


@pytest.fixture
def provider(listening_provider: FakeProvider) -> FakeProvider:
    listening_provider.reset()
    return listening_provider


@pytest.fixture
def gateway(provider: FakeProvider, tmp_path: Path) -> Iterator[Doorkeeper]:
    with doorkeeper(tmp_path, provider.issuer, bearer=True) as found:
        yield found
