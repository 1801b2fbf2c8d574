"""The docs as a site: it builds, strictly, with a reference of every public name; links and pictures lead somewhere."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from mkdocs_hooks import reference
from tools.api import FRONTS, MODULES

import dither
from dither import errors
from tests.docs.docstrings import parameters, public, sections
from tests.docs.site_browser import FEW
from tests.docs.site_browser import faults as browser_faults
from tests.seeds import examples
from tests.server.page.browser import chromium

ROOT = Path(__file__).parent.parent.parent
SIGNATURE = re.compile(r'<div class="doc-signature highlight">(.*?)</div>', re.DOTALL)


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


def build(docs: Path, out: Path, *, reference: bool = True, repository: str = "") -> subprocess.CompletedProcess[str]:
    settings = (ROOT / "mkdocs.yml").read_text().replace("docs_dir: docs", f"docs_dir: {docs}")
    if not reference:
        settings = re.sub(r"^(plugins|nav|extra_css):.*\n(  .*\n)*", "", settings, flags=re.MULTILINE)
        settings = settings.replace("hooks: [mkdocs_hooks.py, ", "hooks: [")
        settings = settings if repository else re.sub(r"^edit_uri:.*\n", "", settings, flags=re.MULTILINE)
    settings = re.sub(r"\bmkdocs_\w+\.py", lambda found: str(ROOT / found[0]), settings)  # hooks, and an extension
    file = out.parent / "mkdocs.yml"
    file.write_text(settings.replace("paths: [src]", f"paths: [{ROOT / 'src'}]"))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(file), "-d", str(out)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DITHER_REPOSITORY": repository}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=variables)


def test_the_site_builds_and_is_whole(tmp_path):
    """Built once, and strictly, so that a warning about a docstring fails as well."""
    made = build(ROOT / "docs", tmp_path / "out")
    assert made.returncode == 0, made.stderr
    check_links(tmp_path / "out")
    check_reference(tmp_path / "out")
    check_order(tmp_path / "out")
    check_constructors(tmp_path / "out")
    check_formulas(tmp_path / "out")
    check_lines(tmp_path / "out")
    if chromium() is None:
        pytest.skip("Chromium is not on the path: the site was not looked at in a browser")
    check_in_a_browser(tmp_path / "out")


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


def entry(page: str, value: Any) -> str:
    """What the reference says of a class or function, without its methods."""
    name = re.escape(f"{value.__module__}.{value.__qualname__}")
    found = re.search(rf'<h2 id="{name}" .*?(?=<h[23] |</article>)', page, re.DOTALL)
    return found[0] if found else ""


def faults(said: str, value: Any) -> list[str]:
    """What an entry lacks: parameters with their types, and what the docstring says under its heads."""
    if not said:
        return ["no entry"]
    signature = html.unescape(re.sub(r"<[^>]+>", "", " ".join(SIGNATURE.findall(said))))  # several, of a call with overloads
    found = [f"{name} has no type" for name in parameters(value) if not re.search(rf"\b{name}\s*: \S", signature)]
    heads = sections(vars(value).get("__doc__") or "" if isinstance(value, type) else value.__doc__ or "")
    for head, title in (("Args", "Parameters:"), ("Raises", "Raises:"), ("Example", "Examples:")):
        if head in heads and f'<span class="doc-section-title">{title}</span>' not in said:
            found.append(f"{head} is no section")
    rows = set(re.findall(r'<tr class="doc-section-item">\s*<td>\s*<code>(\w+)</code>', said))
    if "Args" in heads:
        found += [f"{name} has no row" for name in parameters(value) if name not in rows]
    if heads.get("Example", "").count(">>>") > said.count('<span class="gp">&gt;&gt;&gt; </span>'):
        found.append("an example is no code")
    return found


def check_reference(site: Path) -> None:
    """Every public callable is in it, with its types and the sections of its docstring."""
    pages = {name: (site / "api" / f"{name}.html").read_text() for name in reference()}
    assert set(pages) == {*FRONTS, *MODULES} >= {"dither.amplify", "dither.filter", "dither.channels.graph", "dither.errors"}
    found = {}
    for front in FRONTS:
        for name, value in public(front):
            said = faults(entry(pages[name.rpartition(".")[0]], value), value)
            if said:
                found[name] = said
    assert found == {}
    assert all(entry(pages["dither.errors"], getattr(errors, name)) for name in errors.__all__)


def check_order(site: Path) -> None:
    """A newcomer meets what she calls first; a table leads to all names by subject, and signatures are seen whole."""
    page = (site / "api" / "dither.html").read_text()
    assert [name.rpartition(".")[2] for name in re.findall(r'<h2 id="([\w.]+)"', page)[:4]] == [
        *("protect", "open", "Ledger", "Answer")
    ]
    table = page[page.index("<table>") : page.index("</table>")]
    listed = [place.rpartition(".")[2] for place in re.findall(r'href="#([\w.]+)"', table)]
    assert sorted(listed) == sorted(name.rpartition(".")[2] for name, _ in public("dither") if name.count(".") == 1)
    for one in (site / "api").glob("*.html"):
        for found in SIGNATURE.findall(one.read_text()):
            lines = html.unescape(re.sub(r"<[^>]+>", "", found)).splitlines()
            assert max(map(len, lines)) <= 90, (one.name, max(lines, key=len))


def check_constructors(site: Path) -> None:
    """Types are shown however a class is made: by hand, by attrs, as a named tuple, by `__new__`; methods of bases, too."""
    page = (site / "api" / "dither.html").read_text()
    for value in (dither.Geometric, dither.Flat, dither.Enclosure, dither.Number):
        said = entry(page, value)
        assert faults(said, value) == []
        without = SIGNATURE.sub("", said)
        assert faults(without, value) == [f"{name} has no type" for name in parameters(value)]  # planted
    assert 'id="dither.mechanisms.additive.geometric.Geometric.release"' in page


def check_formulas(site: Path) -> None:
    """Formulas are MathML, and nothing is loaded from elsewhere to show them."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert pages["privacy.html"].count("<math ") > 20
    for name, page in pages.items():
        assert "arithmatex" not in page, name
        assert "edit/main" not in page, name  # nobody has said where the sources are published
        assert not re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*", page), name


def check_lines(site: Path) -> None:
    """Next and previous, dark pages, tables that scroll in boxes of their own, names that break where they may."""
    page = (site / "attacks.html").read_text(encoding="utf-8")
    assert 'class="md-footer__link md-footer__link--prev"' in page
    assert 'class="md-footer__link md-footer__link--next"' in page
    assert 'data-md-color-scheme="slate"' in page
    assert page.count("<table>") == page.count('<div class="wide"') > 0
    assert "<code>tests/<wbr>numeric/<wbr>test_<wbr>lattice.<wbr>py</code>" in page


def check_in_a_browser(site: Path) -> None:
    """Nothing comes from elsewhere, nothing scrolls sideways, light and dark can be read; and a fault is seen."""
    others = sorted(str(page.relative_to(site)) for page in site.rglob("*.html") if page.name != "404.html")
    pages = list(dict.fromkeys([*FEW, *others]))[: examples(len(FEW), len(others))]
    assert "\n".join(browser_faults(site, tuple(pages))) == ""
    planted = (site / "index.html").read_text(encoding="utf-8")
    planted = planted.replace("</article>", '<img src="picture.png"><p style="width: 600px">wide</p></article>', 1)
    (site / "planted.html").write_text(planted, encoding="utf-8")
    seen = " ".join(browser_faults(site, ("planted.html",)))
    assert all(word in seen for word in ("pixels wide, in a window of 320", "image-alt", "status: 404"))


def test_a_page_that_leads_nowhere_fails_the_build(tmp_path):
    """Planted: a link to a page that is not there, on a site of one page without a reference."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for link, code in (("index.md", 0), ("nowhere.md", 1)):
        (docs / "index.md").write_text(f"# A page\n\n[a page]({link})\n")
        made = build(docs, tmp_path / "out", reference=False)
        assert made.returncode == code, made.stderr
    assert "nowhere.md" in made.stderr


def test_a_page_can_be_edited_where_the_sources_are_published(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# A page\n")
    made = build(docs, tmp_path / "out", reference=False, repository="https://example.org/dither")
    assert made.returncode == 0, made.stderr
    assert 'href="https://example.org/dither/edit/main/docs/index.md"' in (tmp_path / "out" / "index.html").read_text()
