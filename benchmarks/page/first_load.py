"""All bytes that come over the wire when somebody opens the page for the first time, and how much script of it is ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.server.page.browser import Profile

import dither
from benchmarks.page.entrance import entered, ready
from benchmarks.report import table

MOST_BYTES, MOST_LINES = 250_000, 1200
ASSETS = Path(dither.__file__).parent / "server" / "page" / "assets"
BUNDLE = "codemirror.js"


def first_load(profile: Profile, link: str) -> None:
    """Print each file with its bytes, headers among them."""
    page = entered(profile, link)
    session = profile.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    names: dict[str, str] = {}
    sizes: dict[str, float] = {}

    def sent(event: dict[str, Any]) -> None:
        names[event["requestId"]] = event["request"]["url"].partition("?")[0].rpartition("/")[2] or "/"

    def finished(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", sent)
    session.on("Network.loadingFinished", finished)
    page.goto("/ask")
    ready(page)
    page.wait_for_load_state("networkidle")
    profile.close()
    rows = [[names[key], f"{size / 1000:.1f}"] for key, size in sorted(sizes.items(), key=lambda each: -each[1])]
    whole = sum(sizes.values())
    verdict = f"{MOST_BYTES / 1000:g} kB {'reached' if whole <= MOST_BYTES else 'MISSED'}"
    table("the first load of /ask, over the wire", ["file", "kB"], [*rows, [f"all ({verdict})", f"{whole / 1000:.1f}"]])


def script_lines() -> None:
    """Print how many lines of JavaScript are our own."""
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in ASSETS.glob("*.js") if path.name != BUNDLE}
    whole = sum(lines.values())
    rows = [[name, f"{count}"] for name, count in sorted(lines.items())]
    verdict = f"{MOST_LINES:,} {'reached' if whole <= MOST_LINES else 'MISSED'}"
    table("our own JavaScript", ["file", "lines"], [*rows, [f"all ({verdict})", f"{whole}"]])
