"""Elements of SVG as text. All text and every attribute is escaped here, and only elements that draw are written.

What is drawn may be hostile: names and keys are text of others. An element or attribute that is not listed below is a
mistake in a chart, and is refused: no script, link, style attribute or id can be written, so that charts on one page share
no names and need no permission of a content policy.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import TypeAlias

ELEMENTS = {"svg", "g", "title", "desc", "rect", "line", "circle", "polyline", "text"}
ATTRIBUTES = {
    *("xmlns", "viewBox", "width", "height", "role", "class", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "points"),
    *("fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linejoin"),
    *("text-anchor", "font-family", "font-size", "font-weight"),
}
ISOLATES = "\u2068\u2069"  # keep the direction of a name to itself
Value: TypeAlias = str | int | float | Fraction


class Markup(str):
    """Text that an element gave: it is escaped."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: Value) -> Markup:
    """An element: children that are no markup are escaped; `_` in names of attributes is `-`.

    Args:
        tag: one of ELEMENTS.
        children: markup, or text.
        attributes: numbers are written with one decimal; a last `_`, as in `class_`, falls.
    """
    if tag not in ELEMENTS:
        raise ValueError(f"{tag} is no element that draws")
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    if not ATTRIBUTES.issuperset(names):
        raise ValueError(f"{', '.join(sorted(set(names) - ATTRIBUTES))}: no attributes that draw")
    told = "".join(f' {name}="{text(value if isinstance(value, str) else fixed(value))}"' for name, value in names.items())
    inside = "".join(each if isinstance(each, Markup) else text(each) for each in children)
    return Markup(f"<{tag}{told}>{inside}</{tag}>" if inside else f"<{tag}{told}/>")


def joined(*parts: Markup) -> Markup:
    """Elements one after the other."""
    return Markup("".join(parts))


def text(value: str) -> Markup:
    """Text between elements or in quotes. What no document may hold (control signs, surrogates) becomes U+FFFD."""
    kept = "".join(sign if sign.isprintable() or sign in ISOLATES else "\ufffd" for sign in value)
    return Markup(escape(kept, quote=True))


def fixed(value: float | Fraction) -> str:
    """A coordinate, with one decimal unless it is a whole number; the same letters on every machine."""
    if isinstance(value, int):
        return str(value)
    written = f"{float(value):.1f}"
    return "0.0" if written == "-0.0" else written
