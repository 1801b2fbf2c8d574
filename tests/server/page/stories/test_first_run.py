"""The first run: open, change the question, see the price change, ask, see the chart, take it along, reuse it for free."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import expect

from tests.server.page.browser import Profile
from tests.server.page.stories.steps import (
    SQL,
    Clicks,
    answer,
    ask,
    ask_button,
    editor,
    priced,
    write,
    written,
)


def link(site) -> str:
    """As `dither serve --demo` prints it."""
    return f"/login#token={site.tokens['analyst']}"


def test_the_first_answer_takes_three_clicks(profile, site):
    clicks = Clicks()
    clicks.count += 1  # on the link, in the terminal
    page = profile(None).open(link(site))
    assert site.tokens["analyst"] not in page.url
    clicks.on(page.get_by_role("button", name="Log in"))
    expect(page.get_by_role("heading", name="Ask a question")).to_be_visible()
    written(page, "GROUP BY ward")
    clicks.on(ask_button(page))
    expect(answer(page).get_by_role("table")).to_contain_text("maternity")
    assert clicks.count <= 3


def test_the_first_answer_over_plain_http(browser, site):
    """From another machine: the browser trusts no such address, and says of no request which site it comes from."""
    plain = Profile(browser, site.where.replace("127.0.0.1", "gateway.test"))
    plain.expect("Cross-Origin-Opener-Policy")  # it is for addresses that are trusted
    page = plain.open(link(site))
    page.get_by_role("button", name="Log in").click()
    page.locator("#editor[data-state=codemirror]").wait_for()  # not while it takes the place of the text area
    with page.expect_response(lambda reply: "/v1/answers" in reply.url) as stored:
        write(page, SQL.format(22))
    assert stored.value.status == 200, "a script's GET, which has no Origin"
    ask(page)
    expect(answer(page).get_by_role("table")).to_contain_text("cardiology")
    assert not plain.close()


def test_the_whole_first_run(profile, site):
    sql = SQL.format(21)
    page = profile("analyst").open("/ask")
    priced(page, "It costs")
    before = page.locator("#price-words").inner_text()
    page.get_by_role("textbox", name="ε", exact=True).fill("0.2")
    priced(page, "0.2")
    assert page.locator("#price-words").inner_text() != before, "a higher price, a smaller error"
    write(page, sql)
    priced(page, "n is off by at most")
    ask(page)
    expect(answer(page).get_by_role("table")).to_contain_text("cardiology")
    expect(answer(page).get_by_role("img")).to_have_attribute("role", "img")
    assert page.evaluate("() => document.activeElement.id") == "answer", "the focus is where the news is"
    with page.expect_download() as download:
        answer(page).get_by_role("link", name="CSV").click()
    text = download.value.path().read_text("utf-8")
    assert text.startswith("ward,n")
    assert "cardiology" in text
    expect(answer(page)).to_contain_text("It was charged now, once")
    with page.expect_navigation():
        ask_button(page).click()  # the same again
    expect(answer(page)).to_contain_text("charges nothing")
    assert site.charges(sql) == 1


def test_the_first_run_by_keyboard_alone(profile, site):
    page = profile(None).open(link(site))
    page.keyboard.press("Enter")  # the focus is on the button already
    expect(page.get_by_role("heading", name="Ask a question")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    page.keyboard.press("Enter")
    reach(page, editor(page))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(SQL.format(22))
    priced(page, "n is off by at most")
    reach(page, page.get_by_role("textbox", name="ε", exact=True))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("0.3")
    priced(page, "0.3")
    reach(page, ask_button(page))
    page.keyboard.press("Enter")
    expect(answer(page)).to_be_focused()
    reach(page, answer(page).get_by_role("link", name="CSV"))
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".csv")


def reach(page, place, most: int = 60) -> None:
    """Tab until it has the focus."""
    for _ in range(most):
        if place.evaluate("(place) => place === place.getRootNode().activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{place} cannot be reached by {most} tabs")


def test_the_first_run_without_script(profile, site):
    page = profile(None, java_script_enabled=False).open("/")
    page.get_by_label("Your token").fill(site.tokens["analyst"])
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("textbox", name="Your question, in SQL").fill(SQL.format(23))
    page.get_by_role("textbox", name="ε", exact=True).fill("0.25")
    page.get_by_role("button", name="Show the price").click()
    expect(page.locator("#price")).to_contain_text("0.25")
    page.get_by_role("button", name=re.compile("^Ask: costs")).click()
    expect(answer(page).get_by_role("table")).to_contain_text("cardiology")
    expect(answer(page).get_by_role("img")).to_be_visible()
    with page.expect_download() as download:
        answer(page).get_by_role("link", name="JSON").click()
    assert download.value.suggested_filename.endswith(".json")
    page.get_by_role("button", name=re.compile("^Ask")).click()
    expect(answer(page)).to_contain_text("charges nothing")
    assert site.charges(SQL.format(23)) == 1
