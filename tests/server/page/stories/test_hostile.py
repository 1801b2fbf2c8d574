"""Names, keys and texts that attack whoever shows them: on every page, in every export, they stay text."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import expect

from tests.server.page.served_clinic import ANALYST, COLUMN, COUNT, HOSTILE_SQL, TABLE, TURN
from tests.server.page.stories.steps import answer, ask, editor, priced, problem, write


def must_be_harmless(page) -> None:
    """Nothing of it ran, nothing of it became an element, and lines run from left to right."""
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img[src=x], b[onmouseover], i[onclick], svg[onload], main script").count() == 0
    assert page.evaluate("() => getComputedStyle(document.body).direction") == "ltr"
    assert TURN not in page.locator("body").inner_text(), "a sign that turns the line is written out"


def test_attacks_in_names_and_keys_stay_text_on_every_page(profile, site):
    who = profile(token=site.token(ANALYST, "owner"))
    page = who.open("/ask?" + urlencode({"dataset": "hostile", "sql": HOSTILE_SQL}))
    priced(page, "It costs")
    must_be_harmless(page)
    page.get_by_text("keys:").first.click()
    expect(page.get_by_role("region", name="Tables")).to_contain_text("=1+1")
    ask(page)
    expect(answer(page).get_by_role("table")).to_contain_text("</textarea></script><svg onload=window.pwned=3>")
    expect(answer(page).get_by_role("table")).to_contain_text(COUNT)
    must_be_harmless(page)
    receipt = parse_qs(urlsplit(page.url).query)["answer"][0]
    for form in ("csv", "json", "html", "svg"):
        with page.expect_download() as download:
            answer(page).locator(f"a[href$='/export/{form}']").click()
        text = download.value.path().read_text("utf-8")
        assert "<svg onload" not in text or form in ("csv", "json")  # where it is no markup
        if form == "csv":
            assert not any(cell.startswith(("=", "+", "@")) for line in text.splitlines() for cell in line.split(","))
        else:
            assert TURN not in text or form == "json"
        if form in ("html", "svg"):
            shown = who.context.new_page()  # an empty document, in which the file is read as a browser reads it
            assert shown.evaluate(PARSED, text) == []
            shown.close()
    for path in (
        f"/answers/{receipt}", f"/answers/compare?a={receipt}&b={receipt}", "/answers?dataset=hostile",
        "/answers?words=pwned",
        "/budget", "/data", "/data/new", "/people", "/history?dataset=hostile", "/policy?dataset=hostile",
    ):  # fmt: skip
        page.goto(path)
        must_be_harmless(page)
    page.goto("/history?dataset=hostile")
    page.get_by_role("button", name="Verify the ledger").click()
    must_be_harmless(page)


# Elements and attributes that could run something, in a document made of a text.
PARSED = """(text) => [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("*")].filter((each) =>
    each.localName === "script" || each.src || [...each.attributes].some(({name}) => name.startsWith("on"))
).map((each) => each.outerHTML)"""


def test_attacks_in_questions_and_refusals_stay_text(profile):
    page = profile("owner").open("/ask?dataset=hostile")
    for sql in (
        f'SELECT "{COUNT}" FROM "{TABLE.replace(chr(34), 2 * chr(34))}"',
        "SELECT </textarea><script>window.pwned=8</script>",
        f"SELECT '{TURN}' <img src=x onerror=window.pwned=9>",
    ):
        write(page, sql)
        expect(problem(page)).not_to_be_empty()
        must_be_harmless(page)
    page.get_by_role("button", name="Ask").first.click()
    expect(problem(page)).not_to_be_empty()
    must_be_harmless(page)


def test_attacks_in_completions_stay_text(profile):
    page = profile("owner").open("/ask?dataset=hostile")
    expect(page.locator("dither-editor")).to_have_attribute("data-state", "codemirror")
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("SELECT ")
    page.keyboard.press("Control+Space")
    expect(page.get_by_role("listbox")).to_contain_text(COLUMN)
    must_be_harmless(page)


@pytest.mark.parametrize(
    "path", ["/login?next=javascript:alert(1)", "/login?next=//elsewhere.test/", "/ask?sql=%3Csvg%20onload"]
)
def test_attacks_in_addresses_stay_text(profile, site, path):
    who = profile(None)
    page = who.open(path)
    page.get_by_label("Your token").fill(site.tokens["analyst"])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Ask a question")).to_be_visible()
    assert page.url.startswith(f"{site.where}/ask")


def test_a_policy_full_of_attacks_is_compared_as_text(profile):
    page = profile("owner").open("/policy?dataset=hostile")
    text = page.get_by_role("textbox").input_value()
    page.get_by_role("textbox").fill(text.replace("max_rows = 3", "max_rows = 4"))
    page.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_role("table")).to_contain_text("max_rows")
    must_be_harmless(page)
    page.get_by_role("textbox").fill(f"<script>window.pwned=1</script>{TURN} = = 3")
    page.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_role("alert")).to_be_visible()
    must_be_harmless(page)
