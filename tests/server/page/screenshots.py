"""Pictures of the page for the docs: `python -m tests.server.page.screenshots` writes docs/pictures/page-*.png.

They are of the demo, with noise as it falls; so a new picture is a new answer, and nothing compares them.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.server.page.browser import Profile, launched
from tests.server.page.demo_process import demo_process

PICTURES = Path(__file__).resolve().parents[3] / "docs" / "pictures"
DESK, PHONE = {"width": 1200, "height": 860}, {"width": 360, "height": 640}
MOST_BYTES = 120_000


def entered(profile: Profile, link: str) -> Page:
    """Logged in, with the price of the first question."""
    page = profile.open(link)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("dither-editor")).to_have_attribute("data-state", "codemirror")
    expect(page.locator("#price-costs")).to_contain_text("It costs")
    return page


def kept(page: Page, name: str, top: str | None = None) -> None:
    """Write what is seen, from a place on."""
    if top is not None:
        page.locator(top).first.evaluate("(place) => window.scrollTo(0, place.getBoundingClientRect().top + scrollY - 12)")
    path = PICTURES / f"page-{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    assert path.stat().st_size < MOST_BYTES, f"{path.name} has {path.stat().st_size} bytes"


def main() -> None:
    """All of them."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, launched("--force-color-profile=srgb") as browser:
        os.environ["DITHER_HOME"] = home
        with demo_process() as (where, (analyst, owner)):
            light = Profile(browser, where, viewport=DESK, device_scale_factor=0.75, color_scheme="light")
            page = entered(light, analyst)
            kept(page, "ask")
            page.get_by_role("button", name=re.compile("^Ask:")).click()
            expect(page.get_by_role("region", name="Answer", exact=True)).to_be_visible()
            kept(page, "answer", "#answer")
            dark = Profile(browser, where, viewport=DESK, device_scale_factor=0.75, color_scheme="dark")
            kept(entered(dark, analyst), "ask-dark")
            phone = Profile(browser, where, viewport=PHONE, color_scheme="light")
            kept(entered(phone, analyst), "phone", "fieldset.price")
            page = entered(Profile(browser, where, viewport=DESK, device_scale_factor=0.75, color_scheme="light"), owner)
            page.goto("/people")
            kept(page, "people")
            page.goto("/data/new")
            page.get_by_role("button", name=re.compile("^Make a policy for")).first.click()
            for reply in (None, "yes"):
                if reply is not None:
                    page.get_by_role("radio", name=reply, exact=True).check()
                with page.expect_navigation():
                    page.get_by_role("button", name="Next").click()
            kept(page, "wizard")


if __name__ == "__main__":
    main()
