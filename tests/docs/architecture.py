"""What docs/architecture.md says about the rooms, made of the code: the tables, the list of caches and the picture.

The order of rooms is that of `tests/test_layers.py`, which reads every import; what a place holds is the first sentence of
its docstring. A test compares the page with what is made here. After a room has moved, or a docstring has changed:

    .venv/bin/python -m tests.docs.architecture
"""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path

from dither.svg.theme import FONT, RULE, STYLE
from tests.test_layers import FLOORS, SOURCE

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE, PICTURE = DOCS / "architecture.md", DOCS / "architecture.svg"
COMMAND = ".venv/bin/python -m tests.docs.architecture"
MARKED = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
CACHED = re.compile(r"^@(?:lru_cache|cache)\b", re.MULTILINE)
Floors = list[list[str]]


# -- the page --------------------------------------------------------------------------------------------------------


def page(text: str) -> str:
    """The page with everything between its marks made anew."""
    parts = {"rooms": rooms(FLOORS), "places": places(), "caches": caches()}
    return MARKED.sub(lambda found: f"{found[1]}\n{parts[found[2]]}\n{found[3]}", text)


def rooms(floors: Floors) -> str:
    """All rooms, the lowest floor first."""
    rows = [f"| {height} | {_row(room)}" for height, floor in enumerate(floors) for room in floor]
    return "\n".join(["| floor | place | what it holds |", "|--:|---|---|", *rows, ""])


def places() -> str:
    """The folders and files of each room that has folders, by their names."""
    found = []
    for room in sorted({path.parent.parent for path in SOURCE.glob("*/*/__init__.py")}):
        rows = [f"| {_row(f'{room.name}/{place}')}" for place in inside(room)]
        found.append("\n".join([f"### Inside `{room.name}/`\n", "| place | what it holds |", "|---|---|", *rows, ""]))
    return "\n".join(found)


def inside(room: Path) -> list[str]:
    """The folders and files of a room, by their names."""
    folders = [path.parent.name for path in room.glob("*/__init__.py")]
    return sorted([*folders, *(path.stem for path in room.glob("*.py") if path.name != "__init__.py")])


def caches() -> str:
    """The files whose functions keep what they gave, for as long as the process lives."""
    files = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if CACHED.search(path.read_text())]
    return "".join(f"- `{file}`\n" for file in sorted(files))


def holds(place: str) -> str:
    """The first sentence of the docstring of a folder or a file."""
    text = ast.get_docstring(ast.parse(_file(place).read_text())) or ""
    return SENTENCE.split(" ".join(text.partition("\n\n")[0].split()))[0]


def _file(place: str) -> Path:
    file = SOURCE / f"{place}.py"
    return file if file.exists() else SOURCE / place / "__init__.py"


def _row(place: str) -> str:
    """The name of a folder or a file in its room, and what it holds."""
    ending = ".py" if _file(place).stem != "__init__" else "/"
    return f"`{place.rpartition('/')[2]}{ending}` | {holds(place).replace('|', chr(92) + '|')} |"


# -- the picture -----------------------------------------------------------------------------------------------------

ROW, GAP, LEFT = 40, 60, 20
LETTERS, LETTER, ROOM = 14, 8, 16  # the size of letters; how wide one is, at most on average; what a box has beside its name


def picture(floors: Floors) -> str:
    """The house, lowest floor at the bottom."""
    width, height = max(sum(map(_need, floor)) for floor in floors), 2 * GAP + ROW * len(floors) - 20
    wide = width + 2 * LEFT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {height}" width="{wide}" role="img" class="chart" '
        f'aria-label="The floors of the package; imports point downward" font-family="{FONT}" font-size="{LETTERS}">',
        f'<style>{STYLE}</style><rect width="{wide}" height="{height}" class="chart-paper" fill="none"/>',
        *_tower("dither, floor by floor", LEFT, width, height - 20, floors),
    ]
    return "\n".join([*lines, "</svg>", ""])


def _need(room: str) -> int:
    """How wide a box is at least, so that its name stands inside."""
    return LETTER * len(room) + ROOM


def _tower(title: str, left: int, width: int, bottom: int, floors: Floors) -> list[str]:
    """Boxes as wide as their names need, and each a like part of what is left over on its floor."""
    lines = [_text(title, left + width / 2, bottom - ROW * len(floors) - 14, "bold")]
    for height, floor in enumerate(floors):
        more = (width - sum(map(_need, floor))) / len(floor)
        x, y = float(left), bottom - ROW * (height + 1)
        for room in floor:
            wide = _need(room) + more
            box = f'x="{x + 2:.2f}" y="{y + 2}" width="{wide - 4:.2f}" height="{ROW - 4}" rx="3"'
            fill = 'fill="currentColor" fill-opacity="0.06"'
            lines.append(f'<rect {box} {fill} stroke="currentColor" stroke-opacity="{RULE}"/>')
            lines.append(_text(room, x + wide / 2, y + ROW // 2 + 5))
            x += wide
    return lines


def _text(text: str, x: float, y: float, weight: str = "normal") -> str:
    return f'<text x="{x:.2f}" y="{y}" text-anchor="middle" font-weight="{weight}" fill="currentColor">{escape(text)}</text>'


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture(FLOORS), encoding="utf-8")
