"""A browser and a served gateway for all tests of a worker; people with profiles, whose faults fail the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.page.served_clinic import ServedClinic, served_clinic

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.server.page.browser import Profile


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this folder; not for longer, since it leaves an event loop that runs to this thread."""
    pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")
    from tests.server.page.browser import chromium, launched

    if chromium() is None:
        pytest.skip("not run: no Chromium here; apt-get install chromium")
    with launched() as made:
        yield made


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedClinic]:
    """A gateway in a process of its own, which listens."""
    with served_clinic(tmp_path_factory.mktemp("page")) as made:
        yield made


@pytest.fixture
def profile(browser: Browser, site: ServedClinic) -> Iterator[Callable[..., Profile]]:
    """`profile("analyst")` is the browser of somebody who is logged in, `profile(None)` of nobody."""
    from tests.server.page.browser import Profile

    made: list[Profile] = []

    def of(role: str | None = "analyst", *, token: str | None = None, **options: Any) -> Profile:
        secret = token if token is not None or role is None else site.tokens[role]
        made.append(Profile(browser, site.where, secret, **options))
        return made[-1]

    yield of
    faults = [fault for each in made for fault in each.close()]
    assert not faults, faults
