"""The page of a question in a real browser: the price while somebody types, and what the script makes of bad replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import Page, Route, expect

from tests.server.page.browser import Profile
from tests.server.page.served_clinic import ServedClinic

Profiles = Callable[..., Profile]
READY = "dither-editor[data-state=codemirror]"
PRICED = "() => document.querySelector('[name=quote]').value && !document.querySelector('#price[aria-busy]')"


def opened(who: Profile, path: str = "/ask?dataset=clinic") -> Page:
    """The page, once its editor is there."""
    page = who.open(path)
    page.wait_for_selector(READY)
    return page


def typed(page: Page, sql: str) -> None:
    """Somebody writes another question, by keys."""
    page.get_by_label("Your question, in SQL").last.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(sql)


def test_price_error_and_button_follow_every_key_and_the_slider(profile: Profiles):
    page = opened(profile())
    words, button = page.locator("#price-words"), page.locator("#ask-button")
    expect(words).to_contain_text("n is off by at most 427")
    typed(page, "SELECT COUNT(*) AS patients FROM visits")
    expect(words).to_contain_text("patients is off by at most")
    expect(page.locator("#price-live")).to_contain_text("patients is off by at most")
    page.get_by_label("Price, from cheap to dear").press("ArrowRight")
    expect(page.locator("#number")).to_have_value("0.2")
    expect(button).to_contain_text("Ask: costs ε 0.2")
    page.locator("#number").fill("0.05")
    assert page.locator("#scale").get_attribute("aria-valuetext") == "ε 0.05"
    expect(button).to_contain_text("Ask: costs ε 0.05")
    page.locator("#number").press("Enter")  # shows the price, and never pays
    page.wait_for_function(PRICED)
    assert page.url.endswith("/ask?dataset=clinic")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Probability of the error bars").fill("0.9")
    expect(words).to_contain_text("With 90% probability")
    typed(page, "SELECT DISTINCT ward FROM visits")
    expect(button).to_have_text("Ask: free")


def test_names_go_into_the_question_by_a_click(profile: Profiles):
    page = opened(profile())
    typed(page, "SELECT COUNT(*) AS n FROM visits WHERE ward = ")
    page.locator("summary", has_text="keys:").click()
    page.get_by_role("button", name="oncology").click()
    assert page.evaluate("document.querySelector('dither-editor').value").endswith("ward = 'oncology'")
    page.wait_for_function(PRICED)
    assert page.evaluate("new FormData(document.querySelector('#ask')).get('sql')").endswith("ward = 'oncology'")
    page.locator("a[data-sql]").first.click()
    expect(page.locator("dither-editor .cm-content")).to_have_text("SELECT COUNT(*) AS n FROM visits")


def test_a_refusal_is_underlined_until_it_is_mended(profile: Profiles):
    page = opened(profile())
    typed(page, "SELECT ward, COUNT(*) AS n\nFROM visits GROUP BY wrad")
    expect(page.locator("dither-editor .mark")).to_have_text("wrad")
    expect(page.locator("#problem")).to_contain_text("ward")
    typed(page, "SELECT ward, COUNT(*) AS n\nFROM visits GROUP BY ward")
    expect(page.locator("#problem")).to_be_empty()
    expect(page.locator("dither-editor .mark")).to_have_count(0)
    expect(page.locator("#ask-button")).to_contain_text("Ask: costs")


def test_a_wished_error_is_priced_and_asked(profile: Profiles):
    page = opened(profile())
    page.get_by_label("I say how far it may be off").check()
    page.get_by_label("n within ±").fill("200")
    expect(page.locator("#price-words")).to_contain_text("n is off by at most 200")
    typed(page, "SELECT COUNT(*) AS visits FROM visits WHERE age > 30")
    expect(page.get_by_label("visits within ±")).to_have_value("200")
    expect(page.locator("#price-words")).to_contain_text("visits is off by at most")
    page.wait_for_function(PRICED)
    page.locator("#ask-button").click()
    page.wait_for_url("**/ask?answer=*")
    assert "way=error&error%3Avisits=200" in page.url
    assert page.evaluate("document.activeElement.id") == "answer"
    expect(page.get_by_label("visits within ±")).to_have_value("200")


def test_two_clicks_are_one_question_and_the_same_is_found_again(profile: Profiles):
    who = profile()
    page = opened(who)
    sent = list[str]()
    page.on("request", lambda request: sent.append(f"{request.method} {request.url.removeprefix(who.where)}"))
    typed(page, "SELECT COUNT(*) AS n FROM visits WHERE age > 31")
    page.wait_for_function(PRICED)
    page.evaluate("""() => {
        const ask = document.querySelector('#ask-button');
        ask.click();
        setTimeout(() => ask.form.requestSubmit(ask), 5);
    }""")
    page.wait_for_url("**/ask?answer=*")
    assert sent.count("POST /ask") == 1
    again = opened(who)
    typed(again, "SELECT COUNT(*) AS n\nFROM visits WHERE age > 31")
    expect(again.locator("#price-same")).to_contain_text("The same question was answered on")
    again.get_by_role("link", name="Open it: free").click()
    again.wait_for_url("**/answers/*")


def test_a_late_reply_to_an_older_text_is_passed_over(profile: Profiles):
    who = profile()
    page = who.context.new_page()
    page.add_init_script("AbortController.prototype.abort = () => {}")  # so that the older reply does come
    held = list[Route]()

    def hold(route: Route) -> None:
        if "older" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/v1/quotes", hold)
    page.goto("/ask?dataset=clinic")
    page.wait_for_selector(READY)
    with page.expect_request("**/v1/quotes"):
        typed(page, "SELECT COUNT(*) AS older FROM visits")
    typed(page, "SELECT COUNT(*) AS newer FROM visits")
    expect(page.locator("#price-words")).to_contain_text("newer is off by")
    with page.expect_response("**/v1/quotes") as reply:
        held[0].continue_()
    assert "older is off by" in reply.value.json()["words"]
    page.wait_for_function(PRICED)
    assert "newer is off by" in page.locator("#price-words").inner_text()


QUIET = {429: "Too many requests", 503: "The dataset cannot be asked now", 0: "The gateway cannot be reached"}


@pytest.mark.parametrize("status", QUIET)
def test_no_price_is_told_quietly_and_tried_again(profile: Profiles, status: int):
    who = profile()
    page = opened(who)
    who.expect("net::ERR_FAILED")
    count = 0

    def refuse(route: Route) -> None:
        nonlocal count
        count += 1
        if count > 1:
            route.continue_()
        elif status:
            body = json.dumps({"title": QUIET[status], "status": status})
            route.fulfill(status=status, headers={"Retry-After": "1", "Content-Type": "application/problem+json"}, body=body)
        else:
            route.abort()

    page.route("**/v1/quotes", refuse)
    typed(page, "SELECT COUNT(*) AS m FROM visits")
    expect(page.locator("#price-state")).to_contain_text(QUIET[status])
    expect(page.locator("#ask-button")).to_have_text("Ask")
    expect(page.locator("#price-words")).to_contain_text("m is off by at most")
    expect(page.locator("#price-state")).to_be_hidden()


@pytest.mark.parametrize("long", [False, True])
def test_a_login_that_ends_while_somebody_types_comes_back_with_the_text(profile: Profiles, site: ServedClinic, long: bool):
    secret = site.token("typist", "analyst", "clinic")
    who = profile(token=secret)
    page = opened(who)
    site.end(secret)
    sql = f"SELECT COUNT(*) AS n -- {'long ' * 600 if long else ''}text\nFROM visits"
    typed(page, sql)
    link = page.get_by_role("link", name="Log in and go on")
    link.click()
    page.get_by_label("Token").fill(site.tokens["analyst"])
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    assert page.evaluate("document.querySelector('dither-editor').value") == sql
    page.wait_for_function(PRICED)


def facts(page: Page) -> Any:
    return page.evaluate("""() => ({scripts: document.scripts.length, pwned: window.pwned ?? null,
        wide: document.documentElement.scrollWidth > innerWidth})""")


def test_hostile_names_are_texts_at_320_pixels(profile: Profiles):
    page = opened(profile(viewport={"width": 320, "height": 640}), "/ask?dataset=hostile")
    before = facts(page)
    page.locator("details.table > summary").click()
    for button in page.locator("li > span[data-insert] > button").all():
        button.click()
    expect(page.locator("#problem .notice")).to_be_visible()
    assert facts(page) == {"scripts": before["scripts"], "pwned": None, "wide": False}


def test_a_wish_that_cannot_be_had_is_told_once_and_an_emptied_field_stays_empty(profile: Profiles):
    page = opened(profile())
    page.wait_for_function(PRICED)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/v1/quotes") else None)
    page.get_by_label("I say how far it may be off").check()
    page.wait_for_function(PRICED)
    asked.clear()
    wish = page.locator("#wish-0")
    wish.fill("0.001")
    expect(page.locator("#problem")).to_contain_text("no epsilon or rho that people use gives such an error")
    page.wait_for_function("() => document.querySelector('#price-live').textContent.includes('What would work')")
    assert len(asked) <= 2, "its problem, and which columns there are"
    wish.press("ControlOrMeta+a")
    wish.press("Backspace")
    expect(page.locator("#problem")).not_to_contain_text("such an error")
    expect(wish).to_have_value("")
    wish.press_sequentially("200")
    expect(page.locator("#price-words")).to_contain_text("n is off by at most 200")
    expect(wish).to_have_value("200")
