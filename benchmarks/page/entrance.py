"""Into the page by the link that the demo prints."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from tests.server.page.browser import Profile


def entered(profile: Profile, link: str) -> Page:
    """The page on which questions are asked, with the price of the first one."""
    page = profile.open(link)
    page.get_by_role("button", name="Log in").click()
    ready(page)
    return page


def ready(page: Page) -> None:
    """Wait until the editor and the price are there."""
    expect(page.locator("dither-editor")).to_have_attribute("data-state", "codemirror")
    expect(page.locator("#price-costs")).to_contain_text("It costs")
