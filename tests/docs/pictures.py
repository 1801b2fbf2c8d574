"""The pictures of the notes, made anew by the snippets of the pages that show them: `python -m tests.docs.pictures`.

A page makes the pictures that it both saves and shows from its own folder. Run it after a change of the charts or of a page;
what it writes is looked at by people, and compared by nobody, since another version of altair draws another file.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from tests.docs.snippets import Page

NOTES = Path(__file__).parent.parent.parent / "docs" / "notes"


def made_by(page: Path) -> list[str]:
    """The names of the pictures that a page saves and shows."""
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]*\]\(([\w-]+\.svg)\)", text)
    return [name for name in shown if f'"{name}"' in text]


def main(names: list[str]) -> None:
    """Run pages by their names, all if there are none, and keep their pictures."""
    for page in sorted(NOTES.glob("*.md")):
        if (not names or page.stem in names) and (pictures := made_by(page)):
            with tempfile.TemporaryDirectory() as folder:
                Page(page).run(Path(folder))
                for name in pictures:
                    shutil.copy(Path(folder) / name, NOTES / name)
                    print(page.name, name)


if __name__ == "__main__":
    main(sys.argv[1:])
