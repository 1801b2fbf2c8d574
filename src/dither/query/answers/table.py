"""Answers to look at: a text table for a terminal, an HTML table with confidence intervals for a notebook."""

from __future__ import annotations

import html as escape
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dither.query.answers.interval_table import drawn_columns
from dither.query.answers.number_texts import decimals_of, high_text, low_text, number_text
from dither.query.plan.text import key_text, number
from dither.svg.element import element
from dither.svg.theme import STYLE as COLOURS
from dither.svg.ticks import real
from dither.terminal import fitted_table, wrapped

MOST_ROWS = 50
UNKNOWN = "–"
PAGE = 100  # columns of text on a page
BAR, EDGE = 120.0, 10.0  # how wide an interval is drawn, and the room beside it, so that no dot is cut


def table_text(
    columns: Mapping[str, Sequence[Any]],
    keys: Collection[str],
    heads: Mapping[str, str],
    aggregates: Collection[str],
    uninformative: Mapping[str, Sequence[int]],
) -> str:
    """A plain table, no wider than the terminal; keys on the left, numbers on the right; below each name, what it says."""
    texts = cell_texts(columns, keys, aggregates, uninformative)
    below = [[heads.get(name, "")] if heads else [] for name in columns]
    shown = [[number(name), *head, *texts[name]] for name, head in zip(columns, below, strict=True)]
    names = list(columns)
    first = next((at for at, name in enumerate(names) if name not in keys), len(names))
    together = [names.index(_owner(name, aggregates)) for name in names]
    left = {at for at, name in enumerate(names) if name in keys}
    rows = list(zip(*shown, strict=True))
    lines = fitted_table(rows, left=left, rule=2 if heads else 1, keys=first, together=together)
    return "\n".join([*lines, *_more(columns)])


def cell_texts(
    columns: Mapping[str, Sequence[Any]],
    keys: Collection[str],
    aggregates: Collection[str],
    uninformative: Mapping[str, Sequence[int]],
) -> dict[str, list[str]]:
    """The cells of the first rows as texts: numbers with as many decimals as their intervals are worth, ends outwards; a
    dash for a number whose interval says nothing, and for its ends. Keys are labels: the year 2025 has no comma."""
    words = {name: key_text if name in keys else number for name in columns}
    texts = {name: [words[name](cell) for cell in column[:MOST_ROWS]] for name, column in columns.items()}
    for name in aggregates:
        if {name, f"{name}_low", f"{name}_high"} <= columns.keys():
            lows, highs = (columns[f"{name}{end}"][:MOST_ROWS] for end in ("_low", "_high"))
            decimals = decimals_of(lows, highs)
            for end, text in (("", number_text), ("_low", low_text), ("_high", high_text)):
                cells = columns[f"{name}{end}"][:MOST_ROWS]
                texts[f"{name}{end}"] = [number(cell) if cell is None else str(text(cell, decimals)) for cell in cells]
    for name, rows in uninformative.items():
        for each in (texts[name + end] for end in ("", "_low", "_high") if name + end in texts):
            each[:] = [UNKNOWN if row in rows else cell for row, cell in enumerate(each)]
    return texts


def _owner(name: str, aggregates: Collection[str]) -> str:
    """The column to which an end belongs; any other is its own."""
    return next((name.removesuffix(end) for end in ("_low", "_high") if name.removesuffix(end) in aggregates), name)


def html_table(
    columns: Mapping[str, Sequence[Any]],
    keys: Collection[str],
    aggregates: Sequence[str],
    note: str,
    says: Mapping[str, str],
    uninformative: Mapping[str, Sequence[int]],
) -> str:
    """A table with a bar for each interval, and over the bars the ends of their scale. Texts are on the left, numbers on the
    right. It takes its colours from the page, light or dark."""
    texts, columns = cell_texts(columns, keys, aggregates, uninformative), drawn_columns(columns, uninformative)
    ends = {name: _range(columns, name) for name in aggregates}
    side = {name: aligned(left=name in keys or _is_text(column)) for name, column in columns.items()}
    heads = "".join(f"<th{side[name]}>{escape.escape(number(name))}{_small(says.get(name, ''))}</th>" for name in columns)
    scales = {name: scale_words(*(columns[name + end][:MOST_ROWS] for end in ("_low", "", "_high"))) for name in aggregates}
    over = {name: _small(scales[name] or "its interval") for name in aggregates}
    bars = "".join(f"<th{aligned(left=True)}>{escape.escape(number(name))}{over[name]}</th>" for name in aggregates)
    body = []
    for at, values in enumerate(list(zip(*columns.values(), strict=True))[:MOST_ROWS]):
        row = dict(zip(columns, values, strict=True))
        cells = "".join(f"<td{side[name]}>{escape.escape(texts[name][at])}</td>" for name in columns)
        drawn = "".join(f"<td{aligned(left=True)}>{_bar(row, name, *ends[name])}</td>" for name in aggregates)
        body.append(f"<tr>{cells}{drawn}</tr>")
    more = "".join(f"<p>{line}</p>" for line in _more(columns))
    return (
        f"<table><thead><tr>{heads}{bars}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"
        f"<p>{'<br>'.join(escape.escape(note).splitlines())}</p>"
    )


def aligned(*, left: bool) -> str:
    """The attributes of a cell on the left or on the right: a style too, since notebooks put all cells on the right."""
    side = "left" if left else "right"
    return f' align="{side}" style="text-align: {side}"'


def _is_text(column: Sequence[Any]) -> bool:
    return any(isinstance(cell, str) for cell in column)


def scale_words(lows: Sequence[Any], middles: Sequence[Any], highs: Sequence[Any]) -> str:
    """The ends of the scale on which the intervals of a column are drawn, such as 0 … 4,000; '' where nothing is drawn."""
    known = [value for value in (*lows, *middles, *highs) if isinstance(value, (int, float)) and real(value) is not None]
    if not known:
        return ""
    decimals = decimals_of(lows, highs)
    return f"{low_text(min(known), decimals)} … {high_text(max(known), decimals)}"


def _small(head: str) -> str:
    return f'<br><small style="white-space: nowrap">{escape.escape(head)}</small>' if head else ""


def _more(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    left = len(next(iter(columns.values()))) - MOST_ROWS
    return [f"... and {left:,} rows more"] if left > 0 else []


STYLE = (
    ":root { color-scheme: light dark }"
    " body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }"
    " table { border-collapse: collapse } th, td { padding: .2em .8em; border-bottom: 1px solid #8888 }"
    " pre { white-space: pre-wrap; font-family: monospace }"
    f" .chart {{ display: block; max-width: 100%; height: auto }} {COLOURS}"
)


def page(body: str, told: str) -> str:
    """A page that stands by itself: a table, and below it what the numbers mean."""
    head = f'<meta charset="utf-8"><title>dither</title><style>{STYLE}</style>'
    return (
        f"<!doctype html><html><head>{head}</head><body>{body}<pre>{escape.escape(wrapped(told, PAGE))}</pre></body></html>"
    )


def preformatted(text: str) -> str:
    """Text as it is, for a notebook: spaces and line breaks stay, and columns line up."""
    style = "font-family: monospace; white-space: pre-wrap; text-align: left"
    return f'<pre style="{style}">{escape.escape(wrapped(text, PAGE))}</pre>'


def _range(columns: Mapping[str, Sequence[Any]], name: str) -> tuple[float, float]:
    shown = [value for end in ("_low", "", "_high") for value in columns[f"{name}{end}"][:MOST_ROWS]]
    ends = [float(value) for value in shown if value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return low, high if high > low else low + max(1.0, abs(low))  # beyond 2^53, one more is the same number


def _bar(row: dict[str, Any], name: str, low: float, high: float) -> str:
    """The interval as a line with a dot, in the colour of the text around it."""
    if row[name] is None:
        return ""
    ends = ((low, "_low"), (low, ""), (high, "_high"))  # without an end the line goes as far as there is room
    first, middle, last = (
        EDGE + BAR * (float(none if row[name + end] is None else row[name + end]) / 2 - low / 2) / (high / 2 - low / 2)
        for none, end in ends  # in halves: the whole may be more than a float holds
    )
    line = element("line", x1=first, x2=last, y1=7, y2=7, stroke="currentColor", stroke_width=2, stroke_opacity="0.5")
    dot = element("circle", cx=middle, cy=7, r=3.5, fill="currentColor")
    return element("svg", line, dot, width=round(BAR + 2 * EDGE), height=14)
