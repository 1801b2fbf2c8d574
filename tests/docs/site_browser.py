"""The built site in a real browser: nothing comes from elsewhere, no page is wider than its window, axe finds nothing, no
entry of the navigation is half behind its title (before its end), no table of parameters scrolls sideways.

Every page is looked at with `--all`, and otherwise one of each kind: the home page, formulas, a wide table, a note,
the reference.
"""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.server.page.axe import violations
from tests.server.page.browser import Profile, launched

FEW = ("index.html", "privacy.html", "attacks.html", "notes/density.html", "api/dither.amplify.html")
WINDOWS: tuple[dict[str, Any], ...] = (
    {"viewport": {"width": 320, "height": 900}, "color_scheme": "dark"},
    {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
)
THEME = ("landmark-unique", "region", "heading-order")  # advice of axe, no rule of WCAG, on what the theme writes

HALF_HIDDEN = """() => {
  const box = document.querySelector(".md-sidebar--primary .md-sidebar__scrollwrap");
  if (box.scrollTop + box.clientHeight > box.scrollHeight - 2) return [];
  const title = document.querySelector(".md-nav--primary > .md-nav__title").getBoundingClientRect();
  return [...document.querySelectorAll(".md-sidebar--primary .md-nav__link")].filter((link) => {
    const { top, bottom, height } = link.getBoundingClientRect();
    return height > 0 && top < title.bottom - 1 && bottom > title.bottom + 1;
  }).map((link) => link.textContent.trim());
}"""  # at the end of the navigation the last entries decide where it stands; on a phone it is a drawer
SIDEWAYS = """() => [...document.querySelectorAll(".wide:has(.doc-section-item)")]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent.trim().slice(0, 40))"""


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class has
        pass


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The site at an address of this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def faults(site: Path, pages: tuple[str, ...] = FEW) -> list[str]:
    """What is wrong with pages of a site, at two widths, light and dark."""
    found: list[str] = []
    with served(site) as where, launched() as browser:
        for window in WINDOWS:
            profile, width = Profile(browser, where, **window), window["viewport"]["width"]
            for name in pages:
                page = profile.open(f"/{name}")
                wide = page.evaluate("() => document.documentElement.scrollWidth")
                found += [f"{name}: {wide} pixels wide, in a window of {width}"] if wide > width else []
                found += [f"{name} at {width}: parameters scroll sideways: {one!r}" for one in page.evaluate(SIDEWAYS)]
                half = page.evaluate(HALF_HIDDEN) if width > 320 else []
                found += [f"{name}: {one!r} is half behind the title of the navigation" for one in half]
                found += [f"{name} at {width}: {one}" for one in violations(page) if not one.startswith(THEME)]
                page.close()
            found += profile.close()
    return found
