"""A picture: a title that says what is seen, panels one below the other, notes, and its numbers in words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from dither.svg.element import Markup, element, joined
from dither.svg.labels import shortened, text_width
from dither.svg.theme import FONT, LETTERS, SMALL, STYLE, WIDTH
from dither.svg.ticks import MARGIN

HEAD, NOTE = 18.0, 15.0  # lines of a title, and of a note
BOLD = 1.1  # how much wider letters are
Panel = tuple[str, Callable[[float], tuple[Markup, float]]]  # its head, and what draws it below a place


def draw_picture(title: str, told: str, panels: Sequence[Panel], notes: Sequence[str], *, alone: bool) -> str:
    """An <svg> element.

    Args:
        title: what is seen, in a line.
        told: the numbers in a sentence or two.
        panels: from the top.
        notes: what is not shown, and how marks are to be read.
        alone: with its own colours, for a file or an image; else a page gives them, and there is no <style>.
    """
    room = WIDTH - 2 * MARGIN
    parts, top = [], MARGIN + LETTERS
    for line in _lines(title, (LETTERS + 1) * BOLD, most=3):
        parts.append(element("text", line, x=MARGIN, y=top, font_weight="bold", font_size=LETTERS + 1))
        top += HEAD
    for head, draw in panels:
        if head:
            top += 6
            parts.append(element("text", shortened(head, room, LETTERS * BOLD), x=MARGIN, y=top, font_weight="bold"))
            top += 8
        drawn, height = draw(top)
        parts.append(drawn)
        top += height + 6
    for note in notes:
        for line in _lines(note, SMALL, most=3):
            top += NOTE
            parts.append(element("text", line, x=MARGIN, y=top - 4, font_size=SMALL, fill_opacity="0.8"))
    height = round(top + 8)
    paper = element("rect", width=WIDTH, height=height, class_="chart-paper", fill="none")
    style = Markup(f"<style>{STYLE}</style>") if alone else Markup()
    return element(
        "svg",
        element("title", title),
        element("desc", told),
        style,
        paper if alone else Markup(),
        joined(*parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {height}",
        width=round(WIDTH),
        height=height,
        role="img",
        class_="chart",
        font_family=FONT,
        font_size=LETTERS,
        fill="currentColor",
    )


def _lines(told: str, size: float, most: int) -> list[str]:
    """A text in lines that fit, by its words; what is longer is cut in the middle of the last one."""
    room, wide = WIDTH - 2 * MARGIN, max(text_width(told, size), 1.0)
    letters = max(8, int(len(told) * room / wide))
    lines = textwrap.wrap(told, letters, break_long_words=False, break_on_hyphens=False) or [""]
    lines = [*lines[: most - 1], " ".join(lines[most - 1 :])] if len(lines) > most else lines
    return [shortened(line, room, size) for line in lines]
