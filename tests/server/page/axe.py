"""axe-core in a page: rules of accessibility that a machine can check.

It is run by the debugger, so the content security policy of the page stays as it is.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from playwright.sync_api import Page


@cache
def _source() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What is wrong with a page as it stands: the rule, what it says, and where."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_source())
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:200]} {(node.get('failureSummary') or '')[:200]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
