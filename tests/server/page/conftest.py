"""A gateway with a small clinic, and people with tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dither.server.core.gateway import Gateway
from tests.server.gateways import config, running
from tests.server.page.browser_fixtures import browser, profile, site
from tests.server.page.visitor import Visitor

__all__ = ["browser", "clinic", "profile", "site", "visitor"]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One for all tests of a file."""
    with running(config(tmp_path_factory.mktemp("clinic"))) as gateway:
        yield gateway


@pytest.fixture
def visitor(clinic: Gateway) -> Visitor:
    """Nobody yet, with tokens of an analyst, an owner and an auditor."""
    made = Visitor(clinic)
    made.add("ana")
    made.add("olga", "owner")
    made.add("aude", "auditor")
    return made
