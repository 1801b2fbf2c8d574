"""The editor in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.server.page.editor_page import HOSTILE, TEXT, WHERE, EditorPage

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def editor(browser: Browser, request: pytest.FixtureRequest) -> Iterator[EditorPage]:
    """The page, without faults at the end; `blocked` is the file that does not come."""
    from tests.server.page.browser import Profile

    blocked = getattr(request, "param", "")
    profile = Profile(browser, WHERE)
    if blocked:
        profile.expect(blocked, "net::ERR_FAILED")
    yield EditorPage(profile, blocked)
    assert profile.close() == []


def test_who_types_before_the_editor_has_come_goes_on(browser):
    from tests.server.page.browser import Profile

    profile = Profile(browser, WHERE)
    editor = EditorPage(profile, typed=", 'early'")
    assert editor.host.get_attribute("data-state") == "codemirror"
    editor.page.keyboard.type("!")
    assert editor.value == f"{TEXT}, 'early'!"
    assert editor.host.locator(".mark").all_text_contents() == ["visits"]
    assert editor.host.locator("#hint").text_content() == "early"
    assert profile.close() == []


FALLBACKS = pytest.mark.parametrize("editor", ["codemirror.js", "editor.css"], indirect=True)


def test_the_field_of_the_form_has_what_is_typed(editor):
    assert editor.host.get_attribute("data-state") == "codemirror"
    assert editor.value == TEXT
    box = editor.page.get_by_role("textbox", name="Your question")
    assert box.count() == 1  # the text area is hidden from all
    editor.run("(editor) => { window.changes = 0; document.addEventListener('change', () => window.changes++) }")
    box.click()
    editor.page.keyboard.press("Control+End")
    editor.page.keyboard.type(", 'é'")
    assert editor.value == f"{TEXT}, 'é'"
    assert editor.page.evaluate("window.changes") == 5
    editor.page.get_by_role("button", name="Price").click()
    editor.page.wait_for_url("**/asked")
    assert editor.sent == [{"sql": [f"{TEXT}, 'é'".replace("\n", "\r\n")], "action": ["price"]}]


def test_a_rewrite_is_undone_in_one_step_and_again(editor):
    editor.run("(editor) => editor.focus()")
    editor.page.keyboard.type(" ")
    editor.run("(editor, text) => { editor.value = text }", "SELECT 1\r\nAS a")
    assert editor.value == "SELECT 1\nAS a"
    editor.page.keyboard.type("x")
    for expected in ("SELECT 1\nAS a", f"{TEXT} ", TEXT):
        editor.page.keyboard.press("Control+z")
        assert editor.value == expected
    editor.page.keyboard.press("Control+y")
    assert editor.value == f"{TEXT} "


def test_keys_of_the_keyboard(editor):
    page = editor.page
    page.locator("#first").focus()
    page.keyboard.press("Tab")  # into the editor, and out of it in both directions
    assert page.evaluate("document.activeElement.localName") == "dither-editor"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Price"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "first"
    assert editor.value == TEXT
    editor.write(f"{TEXT} HAVING town = ")
    assert len(editor.offers()) > len(HOSTILE)
    page.keyboard.press("Tab")  # nor does a list that is open take it
    assert page.evaluate("document.activeElement.textContent") == "Price"
    assert page.get_by_role("listbox").count() == 0
    page.get_by_text("Your question").click()  # a label leads to its field
    assert page.evaluate("document.activeElement.localName") == "dither-editor"
    page.keyboard.press("Control+/")
    assert "--" in editor.value
    page.locator("[value=ask]").evaluate("(button) => { button.disabled = true }")
    page.keyboard.press("Control+Enter")  # nothing is sent twice
    assert editor.sent == []
    page.locator("[value=ask]").evaluate("(button) => { button.disabled = false }")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/asked")
    assert [each["action"] for each in editor.sent] == [["ask"]]


def test_an_empty_field_says_so_at_the_editor(editor):
    editor.write("")
    editor.page.locator("#first").focus()
    editor.page.get_by_role("button", name="Price").click()
    editor.host.locator("#hint").wait_for()
    assert editor.sent == []
    assert editor.page.evaluate("document.activeElement.localName") == "dither-editor"


def test_names_and_keys_are_offered_as_sql_needs_them(editor):
    editor.write("SELECT wa")
    assert editor.offers() == ["ward"]
    assert editor.take(0) == "SELECT ward"
    for text, label, written in [
        ("SELECT COUNT(*) FROM visits WHERE fir", "first day", '"first day"'),
        ("SELECT COUNT(*) FROM visits WHERE or", "order", '"order"'),
        ("SELECT COUNT(*) FROM visits WHERE ward = 'mat", "maternity", "'maternity'"),
        ("SELECT COUNT(*) FROM visits v WHERE v.ward IN ('surgery', ", "maternity", "'maternity'"),
        ('SELECT COUNT(*) FROM visits WHERE "first day" = ', "2024-01-01", "DATE '2024-01-01'"),
        ("SELECT med", "MEDIAN", "MEDIAN("),
    ]:
        editor.write(text)
        place = editor.offers().index(label)
        assert editor.take(place).endswith(written)
    editor.write("SELECT COUNT(*) FROM visits WHERE ward = 'mat'")
    editor.page.keyboard.press("ArrowLeft")
    editor.offers()
    assert editor.take(0).endswith("ward = 'maternity'")  # one quote at the end, not two
    editor.write("SELECT 'wa")  # a text that is compared with no column
    editor.page.keyboard.press("Control+Space")
    editor.page.keyboard.type("r")
    assert editor.page.get_by_role("listbox").count() == 0


def test_hostile_names_are_text_and_are_quoted(editor):
    for place, name in enumerate(HOSTILE):
        editor.write("SELECT COUNT(*) FROM visits WHERE town = ")
        offers = editor.offers()
        assert offers[2:4] == ["two⟨U+000A⟩lines", "⟨U+202E⟩gnp.exe"]
        assert not set("\n\u202e\u0007") & set("".join(offers))
        key = name.replace("'", "''")
        assert editor.take(place).endswith(f"= '{key}'")
        editor.write('SELECT COUNT(*) FROM "<b>t</b>" t WHERE t.')
        assert len(editor.offers()) == len(HOSTILE)
        column = name.replace('"', '""')
        assert editor.take(place).endswith(f't."{column}"')
    assert editor.host.locator("img, b").count() == 0
    editor.write("SELECT '\u202e' AS \u0007")
    assert editor.host.locator(".cm-specialChar").all_text_contents() == ["⟨U+202E⟩", "⟨U+0007⟩"]
    editor.run("(editor, message) => editor.mark({line: 1, column: 1, message})", "\n".join(HOSTILE))
    assert editor.host.locator("#hint").text_content() == "\n".join(HOSTILE)


MARKS = [(2, 6, 6, "visits"), (1, 8, 4, "ward"), (3, 10, 400, "ward"), (1, 400, 1, "n"), (9, 1, 5, "GROUP"), (0, 0, 0, "S")]


def test_a_mark_stands_under_its_place(editor):
    box = editor.page.get_by_role("textbox", name="Your question")
    assert box.get_attribute("aria-invalid") == "true"  # as the text area came
    for line, column, length, marked in MARKS:
        mark = {"line": line, "column": column, "length": length, "message": "Not <b>so</b>."}
        editor.run("(editor, mark) => editor.mark(mark)", mark)
        assert editor.host.locator(".mark").all_text_contents() == [marked]
    assert editor.host.locator("#hint").text_content() == "Not <b>so</b>."
    assert box.get_attribute("aria-invalid") == "true"
    described = "(box) => box.ariaDescribedByElements.map((part) => part.textContent)"
    assert box.evaluate(described) == ["Not <b>so</b>.", "One SELECT."]
    assert "wavy" in editor.host.locator(".mark").evaluate("(mark) => getComputedStyle(mark).textDecoration")
    editor.run("(editor) => editor.clearMarks()")
    assert editor.host.locator(".mark").count() == 0
    assert box.get_attribute("aria-invalid") is None
    assert editor.host.locator("#hint").is_hidden()


def test_columns_of_marks_count_characters(editor):
    editor.write("SELECT '\U0001f600\U0001f600', ward")
    editor.run("(editor) => editor.mark({line: 1, column: 14, length: 4})")
    assert editor.host.locator(".mark").all_text_contents() == ["ward"]
    editor.write("")  # nothing to stand under
    editor.run("(editor) => editor.mark({line: 1, column: 1, length: 1, message: 'empty'})")
    assert editor.host.locator(".mark").count() == 0
    assert editor.host.locator("#hint").text_content() == "empty"


INSERTIONS = [
    ("SELECT |", "SELECT age|"),
    ("SELECT| FROM v", "SELECT age| FROM v"),
    ("SELECT ward| FROM v", "SELECT ward, age| FROM v"),
    ("SELECT |ward FROM v", "SELECT age|, ward FROM v"),
    ("SELECT COUNT(|) FROM v", "SELECT COUNT(age|) FROM v"),
    ("SELECT v.| FROM v", "SELECT v.age| FROM v"),
    ("GROUP BY ward|", "GROUP BY ward, age|"),
    ("WHERE ward = 1 AND |", "WHERE ward = 1 AND age|"),
    ("WHERE ward IN ('a') OR|", "WHERE ward IN ('a') OR age|"),
    ("WHERE ward IN ('a'|)", "WHERE ward IN ('a', age|)"),
]
SELECT = """(editor, [at, text]) => { editor.value = text; editor.focus();
    const area = editor.querySelector("textarea"); if (!area.hidden) area.setSelectionRange(at, at) }"""


def check_insertions(editor: EditorPage) -> None:
    """Each insertion at its place; the next key comes after it."""
    for before, after in INSERTIONS:
        at = before.index("|")
        editor.run(SELECT, [at, before.replace("|", "")])
        if editor.host.get_attribute("data-state") == "codemirror":
            for _ in range(len(before) - 1 - at):
                editor.page.keyboard.press("ArrowLeft")
        editor.page.locator("#first").focus()  # as one who clicks elsewhere
        editor.run("(editor) => editor.insert('age')")
        editor.page.keyboard.type("|")
        assert editor.value == after


def test_an_insertion_has_the_commas_that_it_needs(editor):
    check_insertions(editor)


@FALLBACKS
def test_the_text_area_serves_where_the_editor_does_not_come(editor):
    assert editor.host.get_attribute("data-state") == "textarea"
    area = editor.page.get_by_role("textbox", name="Your question")
    assert area.is_visible()
    check_insertions(editor)
    editor.run("(editor) => { window.changes = 0; document.addEventListener('change', () => window.changes++) }")
    area.fill("SELECT 1")
    editor.page.locator("#first").focus()
    assert editor.page.evaluate("window.changes") == 1
    editor.run("(editor) => editor.mark({line: 1, column: 1, length: 1, message: 'no'})")
    assert area.get_attribute("aria-invalid") == "true"
    editor.run("(editor) => editor.clearMarks()")
    area.focus()
    editor.page.keyboard.press("Control+Enter")
    editor.page.wait_for_url("**/asked")
    assert editor.sent == [{"sql": ["SELECT 1"], "action": ["ask"]}]


def test_a_phone_and_dark_colours(editor):
    page = editor.page
    page.set_viewport_size({"width": 320, "height": 500})
    editor.write("SELECT " + "a" * 300 + ", wa")
    editor.offers()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert editor.host.locator(".cm-scroller").evaluate("(part) => part.scrollWidth <= part.clientWidth")  # lines are broken
    page.evaluate("document.documentElement.style.setProperty('--paper', 'rgb(1, 2, 3)')")
    page.evaluate("document.documentElement.style.setProperty('--ink', 'rgb(250, 251, 252)')")
    for part in (".cm-editor", ".cm-tooltip"):
        style = "(part) => { const found = getComputedStyle(part); return [found.backgroundColor, found.color] }"
        assert editor.host.locator(part).evaluate(style) == ["rgb(1, 2, 3)", "rgb(250, 251, 252)"]
    page.locator("form").evaluate("(form) => form.reset()")
    assert editor.value == TEXT


def test_who_types_over_a_selection_leaves_no_style_in_the_page(editor):
    """Chromium itself would write a style attribute, which the policy of the page forbids: a fault, see `browser.py`."""
    editor.page.get_by_role("textbox", name="Your question").click()
    editor.page.keyboard.press("Control+a")
    editor.page.keyboard.type("SELECT 1")
    assert editor.value == "SELECT 1"
    editor.page.keyboard.press("Control+z")
    editor.page.keyboard.press("Control+z")
    assert editor.value == TEXT
