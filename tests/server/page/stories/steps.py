"""What people do on a page, by the names that a screen reader says."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

QUESTION = "Your question, in SQL"
SQL = "SELECT ward, COUNT(*) AS n FROM visits WHERE age >= {} GROUP BY ward"


def editor(page: Page) -> Locator:
    """Where the question is written, with script or without."""
    return page.get_by_role("textbox", name=QUESTION)


def write(page: Page, sql: str) -> None:
    """Write another question over the one that is there, and leave: suggestions would hide what stands below."""
    expect(page.locator("dither-editor")).to_have_attribute("data-state", "codemirror")
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(sql)
    editor(page).blur()


def written(page: Page, words: str) -> None:
    """Wait until the question has these words."""
    expect(page.locator("#sql")).to_have_value(re.compile(re.escape(words)))


def ask_button(page: Page) -> Locator:
    """Has the price in it."""
    return page.get_by_role("button", name=re.compile("^Ask:"))


def priced(page: Page, words: str) -> None:
    """Wait until the price of what is written is shown, with these words."""
    expect(page.get_by_role("group", name="Price").locator("xpath=following::*[@id='price']").first).to_contain_text(words)
    expect(page.locator("#price")).not_to_have_attribute("aria-busy", "true")


def ask(page: Page) -> None:
    """One click, and the answer is there."""
    ask_button(page).click()
    expect(answer(page)).to_be_visible()


def answer(page: Page) -> Locator:
    """The section with the answer."""
    return page.get_by_role("region", name="Answer", exact=True)


def problem(page: Page) -> Locator:
    """What is said of a question that is refused."""
    return page.locator("#problem")


class Clicks:
    """Counts them."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, place: Locator) -> None:
        """One more."""
        self.count += 1
        place.click()
