"""Handouts for a class, made from the pages when the site is built: notebooks of the notes, and sheets of exercises.

A notebook (`notes/basics.ipynb`) has the text and the code of its page, with what the page prints as outputs and its
pictures inside. A sheet (`sheets/basics.md`) has the exercises of one set of notes without their solutions, with room to
write. Neither is kept in the repository: the pages are the one source. Without a site,

    python mkdocs_handouts.py FOLDER

writes all of them into a folder.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent / "docs"
EXERCISES = "exercises.md"
BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+\.svg)\)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
SHEET = re.compile(r"(\d+) to (\d+)\s+(?:belong\s+)?to \[([^\]]+)\]\(notes/(\w+)\.md\)")
EXERCISE = re.compile(r"^## (\d+) (.+)\n\n((?:.+\n)+)", re.MULTILINE)
WAYS = (
    "This notebook is made from a page of the docs. It needs dither with charts: `pip install '.[plot]'` in a checkout. "
    "Outputs are those of the page; noise is fresh whenever a cell runs. So that a class sees the same numbers, put "
    "`with dither.testing.seeded(7):` around the lines that release something: noise from a seed is not private, and a "
    "warning says so."
)
ROOM = '<div class="room" style="height: 14em"></div>'


# -- notebooks -----------------------------------------------------------------------------------------------------------


def notebook(page: Path) -> str:
    """A page as a notebook, in the format 4.5 of Jupyter."""
    text, cells, end = page.read_text(encoding="utf-8"), [], 0
    title, _, text = text.partition("\n")
    cells.append(_text_cell(f"{title}\n\n{WAYS}", page))
    for found in BLOCK.finditer(text):
        kind, code = found.groups()
        if kind == "python":
            cells += [_text_cell(text[end : found.start()], page)] if text[end : found.start()].strip() else []
            cells.append(_code_cell(code))
            end = found.end()
        elif kind.startswith("output"):
            if text[end : found.start()].strip():
                raise ValueError(f"{page.name}: an output stands behind a text, not behind the code that prints it:\n{code}")
            cells[-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": _lines(code)}]
            end = found.end()
    cells += [_text_cell(text[end:], page)] if text[end:].strip() else []
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    made = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _text_cell(text: str, page: Path) -> dict[str, Any]:
    """Text, with its pictures inside; links are their words, since other pages are not beside the notebook."""
    inside: dict[str, dict[str, str]] = {}

    def attached(found: re.Match[str]) -> str:
        name = found[2].rpartition("/")[2]
        inside[name] = {"image/svg+xml": base64.b64encode((page.parent / found[2]).read_bytes()).decode()}
        return f"![{found[1]}](attachment:{name})"

    shown = LINK.sub(r"\1", PICTURE.sub(attached, text.strip()))
    cell = {"cell_type": "markdown", "id": "", "metadata": {}, "source": _lines(shown)}
    return {**cell, "attachments": inside} if inside else cell


def _code_cell(code: str) -> dict[str, Any]:
    lines = _lines(code.rstrip("\n"))
    return {"cell_type": "code", "execution_count": None, "id": "", "metadata": {}, "outputs": [], "source": lines}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# -- sheets --------------------------------------------------------------------------------------------------------------


def sheets(exercises: str) -> dict[str, str]:
    """A sheet for each set of notes that the page of exercises names, by the name of the page of these notes."""
    found = {int(number): (title, question) for number, title, question in EXERCISE.findall(exercises)}
    [letters] = re.findall(r"^Letters: .+$", exercises, re.MULTILINE)
    made: dict[str, str] = {}
    for first, last, title, name in SHEET.findall(exercises):
        parts = [
            f"# Exercises to {title}",
            f"{letters} Each is a question, or a statement to prove. Some statements need a condition that is not "
            "written there, and some are wrong: then say what is right.",
        ]
        for number in range(int(first), int(last) + 1):
            heading, question = found.pop(number)
            parts += [f"## {number} {heading}", _plain(question), ROOM]
        made[name] = "\n\n".join(parts) + "\n"
    if found:
        raise ValueError(f"the page of exercises does not say which notes these belong to: {sorted(found)}")
    return made


def _plain(question: str) -> str:
    """The words of an exercise, which the page sets in italics."""
    return LINK.sub(r"\1", re.sub(r"^\*(.+?)\*(?=\s|$)", r"\1", question.strip(), count=1, flags=re.DOTALL))


# -- the site ------------------------------------------------------------------------------------------------------------


def pages(files: Any) -> list[str]:
    """The pages of which there are notebooks, among the files of a site."""
    return sorted(one.src_uri for one in files if re.fullmatch(rf"notes/\w+\.md|{EXERCISES}", one.src_uri))


def on_files(files: Any, config: Any) -> Any:
    """The handouts as files of the site."""
    from mkdocs.structure.files import File  # who makes handouts from a checkout needs no mkdocs

    folder = Path(config.docs_dir)
    for name in pages(files):
        files.append(File.generated(config, _notebook(name), content=notebook(folder / name)))
        if name == EXERCISES:
            for notes, text in sheets((folder / name).read_text(encoding="utf-8")).items():
                files.append(File.generated(config, f"sheets/{notes}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Links to the handouts, below the title of a page that has them."""
    if page.file.src_uri not in pages(files):
        return markdown
    name = _notebook(page.file.src_uri).rpartition("/")[2]
    said = f'<a href="{name}" download>This page as a notebook</a>'
    if page.file.src_uri == EXERCISES:
        listed = [f"[{title}](sheets/{notes}.md)" for _, _, title, notes in SHEET.findall(markdown)]
        said += f" · Sheets without solutions, to print: {', '.join(listed)}"
    title, _, text = markdown.partition("\n")
    return f"{title}\n\n{said}\n{text}"


def _notebook(name: str) -> str:
    return name.removesuffix(".md") + ".ipynb"


def main(folder: Path) -> None:
    """Write all handouts into a folder."""
    for page in sorted([*(DOCS / "notes").glob("*.md"), DOCS / EXERCISES]):
        _write(folder / _notebook(page.name), notebook(page))
    for name, text in sheets((DOCS / EXERCISES).read_text(encoding="utf-8")).items():
        _write(folder / f"sheet-{name}.md", text)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    print(file)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python mkdocs_handouts.py FOLDER")
    main(Path(sys.argv[1]))
