"""Answers to look at: a text table for a terminal, an HTML table with confidence intervals for a notebook."""

from __future__ import annotations

import html as escape
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dither.query.plan.text import number
from dither.svg.theme import LIGHT
from dither.table import table

MOST_ROWS = 50
WIDTH = 80  # of what stands above and below a table


def table_text(columns: Mapping[str, Sequence[Any]], keys: Collection[str], heads: Mapping[str, str]) -> str:
    """A plain table; keys on the left, numbers on the right; below each name, what the number says."""
    below = [[heads.get(name, "")] if heads else [] for name in columns]
    shown = [
        [name, *head, *map(number, column[:MOST_ROWS])] for (name, column), head in zip(columns.items(), below, strict=True)
    ]
    left = {at for at, name in enumerate(columns) if name in keys}
    return "\n".join([*table(list(zip(*shown, strict=True)), left=left, rule=2 if heads else 1), *_more(columns)])


def wrapped(text: str) -> str:
    """The lines of a text, each no wider than a terminal is at least; words that are longer stay whole."""
    options: dict[str, Any] = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}
    return "\n".join("\n".join(textwrap.wrap(line, WIDTH, **options)) for line in text.splitlines())


def html_table(columns: Mapping[str, Sequence[Any]], aggregates: Sequence[str], note: str, says: Mapping[str, str]) -> str:
    """A table with a bar for each interval."""
    ends = {name: _range(columns, name) for name in aggregates}
    heads = "".join(f"<th>{escape.escape(name)}{_small(says.get(name, ''))}</th>" for name in columns)
    bars = "".join(f"<th>{escape.escape(name)}</th>" for name in aggregates)
    body = []
    for values in list(zip(*columns.values(), strict=True))[:MOST_ROWS]:
        row = dict(zip(columns, values, strict=True))
        cells = "".join(f"<td>{escape.escape(number(value))}</td>" for value in values)
        drawn = "".join(f"<td>{_bar(row, name, *ends[name])}</td>" for name in aggregates)
        body.append(f"<tr>{cells}{drawn}</tr>")
    more = "".join(f"<p>{line}</p>" for line in _more(columns))
    caption, _, receipt = escape.escape(note).rpartition("\n")
    return (
        f"<table><thead><tr>{heads}{bars}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"
        f"<p>{caption}<br>{receipt}</p>"
    )


def _small(head: str) -> str:
    return f"<br><small>{escape.escape(head)}</small>" if head else ""


def _more(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    left = len(next(iter(columns.values()))) - MOST_ROWS
    return [f"... and {left:,} rows more"] if left > 0 else []


STYLE = (
    "body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }"
    " table { border-collapse: collapse } th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ccc }"
    " th:first-child, td:first-child { text-align: left } pre { white-space: pre-wrap; color: #444 }"
    f" .chart {{ display: block; max-width: 100%; height: auto }} {LIGHT}"
)


def page(body: str, told: str) -> str:
    """A page that stands by itself: a table, and below it what the numbers mean."""
    head = f'<meta charset="utf-8"><title>dither</title><style>{STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{body}{preformatted(told)}</body></html>"


def preformatted(text: str) -> str:
    """Text as it is, in HTML: spaces and line breaks stay."""
    return f"<pre>{escape.escape(text)}</pre>"


def _range(columns: Mapping[str, Sequence[Any]], name: str) -> tuple[float, float]:
    ends = [float(value) for end in ("_low", "", "_high") for value in columns[f"{name}{end}"] if value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    return low, high if high > low else low + max(1.0, abs(low))  # beyond 2^53, one more is the same number


def _bar(row: dict[str, Any], name: str, low: float, high: float) -> str:
    """The interval as a line with a dot, 120 pixels wide."""
    if row[name] is None:
        return ""
    ends = ((low, "_low"), (low, ""), (high, "_high"))  # without an end the line goes as far as there is room
    first, middle, last = (
        120 * (float(none if row[name + end] is None else row[name + end]) - low) / (high - low) for none, end in ends
    )
    line = f'<line x1="{first:.1f}" x2="{last:.1f}" y1="7" y2="7" stroke="#567" stroke-width="2"/>'
    return f'<svg width="124" height="14">{line}<circle cx="{middle:.1f}" cy="7" r="3" fill="#246"/></svg>'
