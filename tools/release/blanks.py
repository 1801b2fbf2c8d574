"""Blanks: what only the publisher of a release can state. Nothing is published while one stands.

A blank is a line of a file with the word BLANK in capitals, or something that a file lacks. Tests pass with blanks: they are
no fault of the code. `python -m tools.release check` fails with them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PAGES = ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff")  # where a line may be left blank
WORD = re.compile(r"\bBLANK\b")
LINKS = ("Source", "Issues", "Documentation")


class Blank(NamedTuple):
    """Something that is not stated yet: the file, the line (0: the file as a whole), and what is wanted."""

    file: str
    line: int
    wanted: str

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.wanted}"


def blanks(root: Path = ROOT) -> list[Blank]:
    """All that stand in a checkout."""
    return [*_lines(root), *_project(root), *_changes(root)]


def version(root: Path = ROOT) -> str:
    """The version of the package, from its one source."""
    text = (root / "src" / "dither" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit('src/dither/__init__.py has no version. What would work: a line __version__ = "1.2.3"')
    return found[1]


def _lines(root: Path) -> Iterator[Blank]:
    for name in PAGES:
        if not (root / name).is_file():
            yield Blank(name, 0, "the file")
            continue
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), start=1):
            if WORD.search(line):
                yield Blank(name, number, line.strip(" |#"))


def _project(root: Path) -> Iterator[Blank]:
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    for name in LINKS:
        if not str(stated.get(name, "")).startswith("https://"):
            yield Blank("pyproject.toml", 0, f"[project.urls] {name}: an address that begins with https://")


def _changes(root: Path) -> Iterator[Blank]:
    """The changelog has a section of this version with a date: `## 0.1.0 (2027-01-31)`."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version(root))} \(\d{{4}}-\d{{2}}-\d{{2}}\)$", text, re.MULTILINE):
        yield Blank("CHANGELOG.md", 0, f"## {version(root)} with the day of the release, as (2027-01-31)")
