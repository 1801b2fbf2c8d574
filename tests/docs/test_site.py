"""The docs as a site: it builds, strictly, with a reference of every public name; links and pictures lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import dither
import dither.density
import dither.local
import dither.noise

ROOT = Path(__file__).parent.parent.parent


class Links(HTMLParser):
    """Where a page leads to, and which places of it can be led to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.to: set[str] = set()
        self.ids: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.to.add(value)
            if name in ("id", "name") and value:
                self.ids.add(value)


def build(docs: Path, out: Path) -> subprocess.CompletedProcess[str]:
    settings = (ROOT / "mkdocs.yml").read_text().replace("docs_dir: docs", f"docs_dir: {docs}")
    settings = settings.replace("hooks: [mkdocs_hooks.py]", f"hooks: [{ROOT / 'mkdocs_hooks.py'}]")
    file = out.parent / "mkdocs.yml"
    file.write_text(settings.replace("paths: [src]", f"paths: [{ROOT / 'src'}]"))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(file), "-d", str(out)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=variables)


def test_the_site_builds_and_is_whole(tmp_path):
    made = build(ROOT / "docs", tmp_path / "out")
    assert made.returncode == 0, made.stderr
    check_links(tmp_path / "out")
    check_reference(tmp_path / "out")


def check_links(site: Path) -> None:
    """Every link leads somewhere."""
    pages = {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) > 35
    for page, links in pages.items():
        for link in links.to:
            place = urlsplit(link)
            if place.scheme or place.netloc:
                continue
            target = page if not place.path else (page.parent / unquote(place.path)).resolve()
            assert target.exists(), f"{page.relative_to(site)} leads to {link}"
            if place.fragment and target in pages:
                assert unquote(place.fragment) in pages[target].ids, f"{page.relative_to(site)} leads to {link}"


def check_reference(site: Path) -> None:
    """Every public class and function is in it."""
    for front in (dither, dither.density, dither.local, dither.noise):
        page = (site / "api" / f"{front.__name__}.html").read_text()
        for name in front.__all__:
            if callable(getattr(front, name)):
                assert re.search(rf"\b{name}\b", page), f"{front.__name__}.{name}"


def test_a_page_that_leads_nowhere_fails_the_build(tmp_path):
    """Planted: a link to a page that is not there."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# A page\n\n[nowhere](nowhere.md)\n")
    made = build(docs, tmp_path / "out")
    assert made.returncode != 0
