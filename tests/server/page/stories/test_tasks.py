"""Ten tasks without a manual, each by what is written on the page.

The first is in `test_first_run.py`: the first answer in three clicks. How many clicks a task takes is part of it.
"""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import expect

from tests.server.page.stories.steps import (
    SQL,
    Clicks,
    answer,
    ask,
    ask_button,
    editor,
    priced,
    problem,
    write,
    written,
)


def go(page, name: str):
    """To a page, by its name at the top."""
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()
    return page


def test_2_the_same_question_cheaper(profile):
    page = profile("analyst").open("/ask")
    priced(page, "It costs")
    slider = page.get_by_role("slider", name="Price, from cheap to dear")
    slider.focus()
    before = page.get_by_role("textbox", name="ε", exact=True).input_value()
    page.keyboard.press("ArrowLeft")
    cheaper = page.get_by_role("textbox", name="ε", exact=True).input_value()
    assert float(cheaper) < float(before)
    expect(ask_button(page)).to_contain_text(cheaper)
    priced(page, cheaper)


def test_3_a_wished_error(profile, site):
    page = profile("analyst").open("/ask")
    write(page, SQL.format(53))
    priced(page, "It costs")
    page.get_by_role("radio", name="I say how far it may be off").check()
    page.get_by_role("textbox", name="n within ±").fill("60")
    expect(page.locator("#price-words")).to_contain_text(re.compile(r"n is off by at most (60|5\d)\b"))
    ask(page)
    assert site.charges(SQL.format(53)) == 1


def test_4_a_refusal_mended(profile):
    clicks, page = Clicks(), profile("analyst").open("/ask")
    write(page, "SELECT wards, COUNT(*) AS n FROM visits GROUP BY wards")
    expect(problem(page)).to_contain_text("did you mean ward?")
    write(page, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    expect(problem(page)).to_be_empty()
    priced(page, "It costs")
    clicks.on(ask_button(page))
    expect(answer(page).get_by_role("table")).to_contain_text("surgery")
    assert clicks.count == 1


def test_5_an_answer_reused(profile, site):
    site.answered(SQL.format(55))
    clicks, page = Clicks(), profile("analyst").open("/ask")
    clicks.on(page.get_by_role("link", name="Stored answers"))
    page.get_by_label("Words in the question, or who asked").fill("55")
    page.keyboard.press("Enter")
    clicks.on(page.get_by_role("link", name=SQL.format(55)))
    expect(page.get_by_role("heading", name="A stored answer")).to_be_visible()
    expect(page.get_by_role("table")).to_contain_text("oncology")
    expect(page.get_by_role("img").first).to_be_visible()
    assert clicks.count == 2
    assert site.charges(SQL.format(55)) == 1


def test_6_two_answers_compared(profile, site):
    site.answered(SQL.format(56))
    site.answered(SQL.format(65))
    page = go(profile("analyst").open("/ask"), "Answers")
    for sql in (SQL.format(56), SQL.format(65)):
        row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=sql))
        row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Compare two answers").first.click()
    expect(page.get_by_role("heading", name="Two answers compared")).to_be_visible()
    expect(page.get_by_role("table").first).to_contain_text("oncology")
    expect(page.get_by_text("holds the true difference with 90% probability at least")).to_be_visible()


def test_7_a_table_exported(profile, site):
    receipt = site.answered(SQL.format(57))
    page = profile("analyst").open(f"/answers/{receipt}")
    for name, start in (("CSV", b"ward,n"), ("JSON", b"{"), ("HTML page", b"<!doctype html>"), ("SVG chart", b"<svg")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        assert download.value.path().read_bytes().lstrip().startswith(start), name
        assert receipt in download.value.suggested_filename or "clinic" in download.value.suggested_filename
    page.get_by_text("curl", exact=True).click()
    expect(page.locator("pre", has_text="curl ").first).to_contain_text(site.where)


def test_8_a_person_is_given_a_token(profile, site):
    page = go(profile("owner").open("/data"), "People")
    page.get_by_label("Name").first.fill("nora")
    page.get_by_role("checkbox", name=re.compile("^people")).check()
    page.get_by_role("textbox", name=re.compile("^ε")).fill("1")
    page.get_by_role("button", name="Create the token").click()
    if page.get_by_role("alert").is_visible():  # the first share of a dataset: all others need one from now on
        page.get_by_role("alert").get_by_role("checkbox").check()
        page.get_by_role("button", name=re.compile("^Create")).click()
    link = page.get_by_role("link", name="Link to log in with it").get_attribute("href")
    assert link.startswith("/login#token=dth_")
    nora = profile(None).open(link)
    nora.get_by_role("button", name="Log in").click()
    expect(nora.get_by_text("nora, analyst")).to_be_visible()
    priced(nora, "It costs")
    go(page, "People")
    expect(page.get_by_role("row").filter(has_text="nora")).to_contain_text("people")


def test_9_the_budget_explained(profile, site):
    site.answered(SQL.format(59))
    page = go(profile("analyst").open("/ask"), "Budget")
    expect(page.get_by_role("heading", name="The whole budget").first).to_be_visible()
    expect(page.get_by_text("more questions like your last one").first).to_be_visible()
    expect(page.get_by_text("times (e^0.15) as likely").first).to_be_visible()


def test_10_the_history_verified(profile, site):
    site.answered(SQL.format(60))
    clicks, page = Clicks(), profile("auditor").open("/answers")
    clicks.on(page.get_by_role("navigation", name="Pages").get_by_role("link", name="History"))
    expect(page.get_by_role("table")).to_contain_text("age >= 60")
    clicks.on(page.get_by_role("button", name=re.compile("Verify")))
    expect(page.get_by_role("status").first).to_contain_text("clinic")
    assert clicks.count == 2
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("CSV")).click()
    assert b"age >= 60" in download.value.path().read_bytes()


def test_a_click_on_a_name_writes_it_into_the_question(profile):
    page = profile("analyst").open("/ask")
    write(page, "SELECT COUNT(*) AS n FROM visits WHERE")
    page.get_by_role("region", name="Tables").get_by_role("button", name="age", exact=True).click()
    editor(page).focus()
    page.keyboard.type(" > 3")
    written(page, "WHERE age > 3")
    priced(page, "It costs")
