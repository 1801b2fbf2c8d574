"""The charts of the pages, made anew by the code that the pages show: `python -m tests.docs.pictures`.

A page makes the pictures that it both saves and shows from its own folder; so does an example that a page links to, for that
page. Run it after a change of the charts or of a page; what it writes is looked at by people, and compared by nobody, since
another version of altair draws another file, and another release has other noise.
"""

from __future__ import annotations

import contextlib
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

from tests.docs.snippets import Page

DOCS = Path(__file__).parent.parent.parent / "docs"
EXAMPLE = re.compile(r"\]\((\.\./examples/\w+\.py)\)")


def made_by(code: Path, page: Path) -> list[str]:
    """The names of the pictures that a page shows and that some code saves: its own, or that of an example."""
    shown = re.findall(r"!\[[^\]]*\]\(([\w-]+\.svg)\)", page.read_text(encoding="utf-8"))
    saved = code.read_text(encoding="utf-8")
    return [name for name in shown if f'"{name}"' in saved]


def main(names: list[str]) -> None:
    """Run pages by their paths in docs, all if there are none, and keep their pictures."""
    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("notes/*.md")]):
        called = page.relative_to(DOCS).as_posix()
        if names and called not in names:
            continue
        examples = [page.parent / link for link in EXAMPLE.findall(page.read_text(encoding="utf-8"))]
        for code in (page, *examples):
            if pictures := made_by(code, page):
                with tempfile.TemporaryDirectory() as folder:
                    if code == page:
                        Page(page).run(Path(folder))
                    else:
                        with contextlib.chdir(folder):
                            runpy.run_path(str(code.resolve()), run_name="__main__")
                    for name in pictures:
                        [made] = Path(folder).rglob(name)  # a page may go into a folder that it makes
                        shutil.copy(made, page.parent / name)
                        print(called, name)


if __name__ == "__main__":
    main(sys.argv[1:])
