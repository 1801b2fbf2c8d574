"""Fences around templates, texts, scripts and styles: words in one place, nothing inline, unescaped or unused."""

from __future__ import annotations

import re
import tomllib
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from dither.server.page.assets import assets
from dither.server.page.render import POLICY
from dither.server.page.visible_text import visible

PAGE = Path(str(files("dither.server.page")))
TEMPLATES = sorted((PAGE / "templates").rglob("*.html"))
SCRIPTS = sorted(path for path in (PAGE / "assets").glob("*.js") if path.name != "codemirror.js")
JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
WORDS = re.compile(r"[A-Za-z]{2,}")
SPOKEN = {"alt", "aria-description", "aria-label", "aria-roledescription", "placeholder", "title"}  # attributes in words
HERE = re.compile(r"\{% block here %\}\w+\{% endblock %\}")  # the name of a page, which is no word for people
OURS = {"dither"}  # a name, in every language
USE = re.compile(r"text\.(\w+)(?:\.(\w+)|\[(?:'(\w+)'|\"(\w+)\"|([^\]]+))\])")


class Words(HTMLParser):
    """Words of a template that people read and that are not from the texts; and what may stand in no page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.forbidden: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self._hidden += tag in ("script", "style")
        for name, value in attributes:
            if name == "style" or name.startswith("on"):
                self.forbidden.append(f"{tag} {name}")
            if name in SPOKEN:
                self.found += WORDS.findall(value or "")
        if tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json"):
            self.forbidden.append(tag)
        for name in ("src", "href", "action"):
            if re.match(r"\w+:|//", given.get(name) or ""):
                self.forbidden.append(f"{tag} {given[name]}")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.found += WORDS.findall(data)


def words(text: str) -> Words:
    found = Words()
    found.feed(JINJA.sub("", HERE.sub("", text)))
    return found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_words_are_in_the_texts_and_nothing_is_inline(path: Path):
    found = words(path.read_text("utf-8"))
    assert set(found.found) <= OURS
    assert found.forbidden == []


def test_the_fence_finds_words_and_what_is_inline():
    found = words('<p title="Hm hm">Ask {{ now }}</p><b style="a" onclick="b"></b><style></style><script>x</script>')
    assert found.found == ["Hm", "hm", "Ask"]
    assert found.forbidden == ["b style", "b onclick", "style", "script"]
    assert words('<a href="https://example.org/a">{{ x }}</a>').forbidden == ["a https://example.org/a"]


def test_every_text_is_used_and_every_use_has_a_text():
    told = {path.stem: set(tomllib.loads(path.read_text("utf-8"))) for path in (PAGE / "texts" / "en").glob("*.toml")}
    used: dict[str, set[str]] = {page: set() for page in told}
    sources = [*TEMPLATES, *PAGE.rglob("*.py")]
    for path in sources:
        for page, name, *quoted, computed in USE.findall(path.read_text("utf-8")):
            if page not in told:
                continue
            used[page] |= {name, *quoted} - {""}
            if computed:  # which one is decided by a value: all of the page may be meant
                used[page] |= told[page]
    for page, names in used.items():
        assert names <= told[page], (page, names - told[page])
        assert told[page] <= names, (page, "unused", told[page] - names)


def test_nothing_but_charts_is_taken_for_markup():
    uses = [
        (path.name, line.strip()) for path in TEMPLATES for line in path.read_text("utf-8").splitlines() if "safe" in line
    ]
    assert all(re.search(r"chart\s*\|\s*safe", line) for _, line in uses), uses
    for path in PAGE.rglob("*.py"):
        assert "Markup(" not in path.read_text("utf-8"), path.name
    assert not any("autoescape false" in path.read_text("utf-8") for path in TEMPLATES)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_build_no_markup_and_know_no_other_site(path: Path):
    text = path.read_text("utf-8")
    for bad in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "createPolicy"):
        assert bad not in text, bad
    assert not re.search(r"https?://|[\"'`]//", text.replace("http://www.w3.org/2000/svg", ""))
    assert "localStorage" not in text  # what was asked stays in the tab


def test_our_own_scripts_are_short():
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in SCRIPTS}
    assert sum(lines.values()) < 1200, lines


def test_styles_fetch_nothing():
    for name, asset in assets().items():
        if name.endswith(".css"):
            assert not re.search(rb"@import|url\(|expression", asset.plain), name


def test_the_policy_of_content_allows_nothing_inline_and_nobody_else():
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    parts = dict(part.strip().split(" ", 1) for part in POLICY.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"] == parts["style-src"] == parts["connect-src"] == parts["form-action"] == "'self'"
    assert parts["require-trusted-types-for"] == "'script'"
    assert parts["trusted-types"] == parts["frame-ancestors"] == parts["base-uri"] == "'none'"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ward A", "ward A"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\x00\x1b[31m", "a⟨U+0000⟩⟨U+001B⟩[31m"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("क्‍ष é 中 😀", "क्‍ष é 中 😀"),
        ("\ud800\u2028\u200b\ufeff", "⟨U+D800⟩⟨U+2028⟩⟨U+200B⟩⟨U+FEFF⟩"),
    ],
)
def test_signs_that_nobody_sees_are_written_out(text: str, shown: str):
    assert visible(text) == shown
