"""What goes wrong has words and a way on: refusals, a used-up budget, a token that ended, a dead worker, two tabs."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import expect

from tests.server.page.served_clinic import KILL, SLOW
from tests.server.page.stories.steps import (
    SQL,
    answer,
    ask,
    ask_button,
    priced,
    problem,
    write,
    written,
)


def test_a_place_in_the_question_is_pointed_at(profile):
    page = profile("analyst").open("/ask")
    write(page, "SELECT ward, COUNT(*) AS n\nFROM visits WHERE agee > 3\nGROUP BY ward")
    expect(page.locator("dither-editor .mark")).to_have_text("agee")
    expect(page.get_by_text("the table visits has no such column")).to_be_visible()
    expect(problem(page)).to_contain_text("did you mean age?")


def test_a_budget_that_is_used_up(profile, site):
    page = profile("analyst").open("/ask?dataset=small")
    write(page, "SELECT COUNT(*) AS n FROM visits")
    priced(page, "It costs")
    ask(page)
    write(page, "SELECT COUNT(*) AS n FROM visits WHERE age > 30")
    expect(page.locator("#price")).to_contain_text("does not cover this question")
    ask_button(page).click()
    expect(problem(page)).to_contain_text("Ways on")
    written(page, "age > 30")
    assert site.charges("age > 30", "small") == 0
    # What was paid for is free, though nothing is left.
    write(page, "SELECT COUNT(*) AS n FROM visits")
    ask_button(page).click()
    expect(answer(page)).to_contain_text("charges nothing")


def test_a_token_that_ends_while_somebody_types(profile, site):
    token = site.token("eve")
    page = profile(token=token).open("/ask")
    priced(page, "It costs")
    site.end(token)
    write(page, SQL.format(31))
    expect(problem(page)).to_contain_text("Your login has ended")
    page.get_by_role("link", name="Log in and go on").click()
    page.get_by_label("Your token").fill(site.token("eve"))
    page.get_by_role("button", name="Log in").click()
    written(page, "age >= 31")
    priced(page, "It costs")
    assert site.charges(SQL.format(31)) == 0


def test_a_token_that_ended_when_somebody_asks(profile, site):
    token = site.token("eve")
    page = profile(token=token).open("/ask")
    write(page, SQL.format(32))
    priced(page, "It costs")
    site.end(token)
    ask_button(page).click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Your token has ended")
    page.get_by_label("Your token").fill(site.token("eve"))
    page.get_by_role("button", name="Log in").click()
    written(page, "age >= 32")
    ask(page)
    assert site.charges(SQL.format(32)) == 1


def test_a_worker_is_killed_while_somebody_asks(profile, site):
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {KILL}"
    who = profile("analyst")
    who.expect("status: 500 POST")
    page = who.open("/ask")
    write(page, sql)
    priced(page, "It costs")
    ask_button(page).click()
    told = page.get_by_text("it costs nothing more")
    expect(told).to_be_visible()
    written(page, KILL)
    while not answer(page).get_by_role("table").is_visible():  # until the lease of the dead one is over
        with page.expect_navigation():
            page.get_by_role("button", name=re.compile("^Ask")).click()
    assert site.charges(sql) == 1, "the second time is free"


def test_a_question_that_takes_long_is_followed(profile, site):
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {SLOW}"
    page = profile("analyst").open("/ask")
    write(page, sql)
    priced(page, "It costs")
    ask_button(page).click()
    expect(page.get_by_role("heading", name="Your question is under way")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text(re.compile(r"It runs: \d+ s"))
    site.go_on()
    expect(answer(page).get_by_role("table")).to_be_visible()
    assert site.charges(sql) == 1


@pytest.mark.parametrize("keys", ["one key", "two keys"])
def test_two_tabs_race_and_one_pays(profile, site, keys):
    sql = SQL.format(41 if keys == "one key" else 42)
    who = profile("analyst")
    tabs = [who.open("/ask"), who.open("/ask")]
    for tab in tabs:
        write(tab, sql)
        priced(tab, "It costs")
    made = [tab.locator("input[name=key]").input_value() for tab in tabs]
    assert made[0] != made[1]
    if keys == "one key":  # as in a tab that was duplicated
        tabs[1].locator("input[name=key]").evaluate("(field, key) => { field.value = key }", made[0])
    for tab in tabs:
        ask_button(tab).click(no_wait_after=True)
    for tab in tabs:
        while not answer(tab).get_by_role("table").is_visible():  # the other one may be under way still
            with tab.expect_navigation():
                tab.get_by_role("button", name=re.compile("^Ask")).click()
    numbers = [answer(tab).get_by_role("table").inner_text() for tab in tabs]
    assert numbers[0] == numbers[1]
    assert site.charges(sql) == 1
