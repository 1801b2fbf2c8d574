"""An answer in a real browser: buttons that copy its code, or mark it where there is no clipboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("playwright", reason="not run: no Chromium can be driven without playwright")

from playwright.sync_api import expect

from tests.server.page.browser import Profile

FREE = "/ask?dataset=clinic&sql=SELECT+DISTINCT+ward+FROM+visits"


def test_code_is_copied_or_marked(profile: Callable[..., Profile]):
    page = profile().open(FREE)
    page.get_by_role("button", name="Ask: free").click()
    page.get_by_text("Python", exact=True).click()
    code = page.locator("#answer-python")
    button = page.get_by_role("button", name="Copy Python")
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text } }")
    button.click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("() => window.copied") == code.text_content()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()) }")
    button.click()
    expect(page.get_by_text("Selected: copy it with Ctrl+C")).to_be_visible()
    assert page.evaluate("() => String(getSelection())").strip() == (code.text_content() or "").strip()
