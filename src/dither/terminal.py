"""What a terminal shows: text and tables that are no wider than it is.

The width is that of the terminal to which standard output goes. Where it goes elsewhere, to a file, a pipe or a notebook,
lines have up to 80 columns, so that what is written there is the same on every machine. The command line alone takes another
width for them, if the variable COLUMNS of its environment states one, as other programs do.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from dither.svg.labels import distinct_labels, part_widths, shortened
from dither.table import cell_width, table

WIDTH, NARROWEST = 80, 40
LABEL = re.compile(r" *(?:[A-Z][a-z]+(?: [a-z]+)* {2,}|\d+\. )")  # what stands before a statement; its lines go on below it
LEAST_KEY = 16  # columns of a key, at least
_ELSEWHERE: ContextVar[int] = ContextVar("columns where there is no terminal", default=WIDTH)


class Explanation(str):
    """Text for people, a statement a line. Shown or printed it is wrapped to the terminal; as a str its lines are whole."""

    __slots__ = ()

    def __str__(self) -> str:
        return wrapped(self[:])

    def __repr__(self) -> str:
        return str(self)

    def __format__(self, spec: str) -> str:
        return format(self[:], spec)  # inside another text it is a text like others


def terminal_width() -> int:
    """How many columns a line may have."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
    except (AttributeError, OSError, ValueError):  # none, closed, or one that is no file
        found = 0
    return max(NARROWEST, found or _ELSEWHERE.get())


@contextmanager
def stated_width(columns: str | None) -> Iterator[None]:
    """Inside the block, lines have so many columns where there is no terminal.

    Args:
        columns: a whole number as a text, such as COLUMNS of the environment; None, or what is no such number, for 80.
    """
    stated = columns is not None and columns.isascii() and columns.isdigit() and 0 < len(columns) < 5 and int(columns)
    token = _ELSEWHERE.set(stated or WIDTH)
    try:
        yield
    finally:
        _ELSEWHERE.reset(token)


def wrapped(text: str, width: int | None = None) -> str:
    """The lines of a text, none wider than the terminal; what goes on stands below the statement that it belongs to.

    Args:
        text: lines as long as they are.
        width: in columns; None for the terminal's.
    """
    wide = terminal_width() if width is None else width
    return "\n".join(line for whole in text.splitlines() for line in _lines(whole, wide))


def _lines(whole: str, width: int) -> Iterator[str]:
    if cell_width(whole) <= width:
        yield whole
        return
    label = LABEL.match(whole)
    indent = len(label[0]) if label else len(whole) - len(whole.lstrip()) + 2
    indent = min(indent, width // 2)
    line = ""
    for word in _words(whole, width - indent):
        if line.strip() and cell_width(line + word.rstrip()) > width:
            yield line.rstrip()
            line = " " * indent
        line += word
    yield line.rstrip()


def _words(whole: str, room: int) -> Iterator[str]:
    """Words with the spaces around them; one that is wider than a line, in pieces."""
    for word in re.findall(r"^\s*\S+\s*|\S+\s*", whole):
        piece = ""
        for sign in word:
            if cell_width(piece + sign) > room and not sign.isspace() and piece.strip():
                yield piece
                piece = ""
            piece += sign
        yield piece


def fitted_table(
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    rule: int = 0,
    keys: int = 1,
    together: Sequence[int] = (),
    width: int | None = None,
) -> list[str]:
    """A table no wider than the terminal: where its columns do not fit, they come in blocks, each with the keys again.

    Args:
        rows: cells as texts, all rows of one length.
        left: columns to the left; others to the right.
        rule: how many rows are the head.
        keys: how many columns, from the first, each block has.
        together: for each column, a number; neighbours that share it stay in one block if they fit.
        width: in columns; None for the terminal's.
    """
    wide = terminal_width() if width is None else width
    if not rows or _width_of([_widest(column) for column in zip(*rows, strict=True)]) <= wide:
        return table(rows, left=left, rule=rule)
    columns = [list(column) for column in zip(*rows, strict=True)]
    widths = [_widest(column) for column in columns]
    room = _key_room(widths, keys, together, wide)
    if not room:  # so many keys leave no room beside them: they are columns like others
        columns[:keys] = [_narrow(column, LEAST_KEY, rule) for column in columns[:keys]]
        keys = 0
    beside = wide - (room + 2 if keys else 0)
    columns[keys:] = [_narrow(column, beside, rule) for column in columns[keys:]]
    widths[keys:] = [_widest(column) for column in columns[keys:]]
    blocks = _blocks(widths, keys, together, beside)
    free = wide - 2 - max(_width_of([widths[at] for at in block]) for block in blocks)  # what no block takes is the keys'
    rooms = part_widths(widths[:keys], free - 2 * (keys - 1))
    columns[:keys] = [_narrow(*each, rule) for each in zip(columns[:keys], rooms, strict=True)]
    lines: list[str] = []
    for block in blocks:
        places = [*range(keys), *block]
        cells = list(zip(*(columns[at] for at in places), strict=True))
        lines += [""] if lines else []
        lines += table(cells, left=[at for at, place in enumerate(places) if place in left], rule=rule)
    return lines


def _key_room(widths: Sequence[int], keys: int, together: Sequence[int], wide: int) -> int:
    """How much of a line keys take: what all others leave, what the widest group leaves of a half, or half of it, where that
    parts a group; 0 if it is too little."""
    groups = [_width_of([widths[at] for at in group]) for group in _groups(widths, keys, together, wide)]
    beside = wide - max(groups, default=0) - 2
    for room in (wide - _width_of(widths[keys:]) - 2, min(wide // 2, beside), beside, wide // 2):
        rooms = part_widths(widths[:keys], room - 2 * (keys - 1))
        if keys and all(least >= min(width, LEAST_KEY) for least, width in zip(rooms, widths[:keys], strict=True)):
            return _width_of([int(one) for one in rooms])
    return 0


def _blocks(widths: Sequence[int], keys: int, together: Sequence[int], room: int) -> list[list[int]]:
    """The places of columns, block by block: as many as fit, those that belong together not parted."""
    blocks: list[list[int]] = []
    for group in _groups(widths, keys, together, room):
        if blocks and _width_of([widths[place] for place in [*blocks[-1], *group]]) <= room:
            blocks[-1] += group
        else:
            blocks.append(list(group))
    return blocks or [[]]


def _groups(widths: Sequence[int], keys: int, together: Sequence[int], room: int) -> list[list[int]]:
    """The places of columns that belong together, as far as they fit."""
    groups: list[list[int]] = []
    for at in range(keys, len(widths)):
        joined = bool(groups) and at < len(together) and together[at] == together[groups[-1][-1]]
        if joined and _width_of([widths[place] for place in [*groups[-1], at]]) <= room:
            groups[-1].append(at)
        else:
            groups.append([at])
    return groups


def _narrow(column: Sequence[str], room: float, rule: int) -> list[str]:
    """Cells no wider than there is room: cut in the middle, those that differ still do."""
    if _widest(column) <= room:
        return list(column)
    heads = [shortened(cell, room, cell_width) for cell in column[:rule]]
    return [*heads, *distinct_labels(column[rule:], room, cell_width)]


def _widest(column: Sequence[str]) -> int:
    return max(map(cell_width, column), default=0)


def _width_of(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * max(0, len(widths) - 1)
