"""Answers to look at: in a terminal, and in a notebook."""

from __future__ import annotations

import html as escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dither.query.answer import Answer

MOST_ROWS = 50
DIGITS = 6  # of numbers that are not whole


def plain(value: Any) -> str:
    """A key as a text that can be shown: one of the data may hold what a terminal obeys, or what no chart can draw."""
    text = str(value)
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def number(value: Any) -> str:
    """A cell, as people read it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return plain(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{DIGITS}g}"


def table_text(answer: Answer) -> str:
    """A plain table; keys on the left, numbers on the right, a line below that says what the bars mean."""
    columns = {name: [number(value) for value in column[:MOST_ROWS]] for name, column in answer.columns.items()}
    keys = {group.name for group in answer.quote.plan.groups}
    widths = {name: max([len(name), *(len(cell) for cell in cells)]) for name, cells in columns.items()}

    def line(cells: dict[str, str]) -> str:
        placed = [cells[name].ljust(width) if name in keys else cells[name].rjust(width) for name, width in widths.items()]
        return "  ".join(placed).rstrip()

    lines = [line({name: name for name in columns}), "  ".join("-" * width for width in widths.values())]
    lines += [line(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
    if len(answer) > MOST_ROWS:
        lines.append(f"... and {len(answer) - MOST_ROWS:,} rows more")
    return "\n".join([*lines, caption(answer)])


def caption(answer: Answer) -> str:
    """What was promised, and what the bars hold."""
    percent = f"{float(answer.quote.confidence * 100):.4g}%"
    paid = "stored before, nothing charged now" if answer.is_replay else f"charged {answer.quote.price}"
    if answer.receipt.guarantee != answer.quote.guarantee and not answer.is_replay:
        paid = f"charged {answer.receipt.guarantee} with its whole batch"
    lines = [f"{paid}; each low to high holds the noise with {percent} probability"]
    quote = answer.quote
    bounding = quote.bounding if quote.strategy.families else quote.parts[0].bounding
    if bounding.way != "each row":
        rows = f"{bounding.rows} row{'s' if bounding.rows > 1 else ''}"
        groups = "" if not answer.quote.plan.groups else f" in each of {bounding.groups} groups"
        lines.append(f"nobody counts for more than about {rows}{groups}")
    return "\n".join(lines)


def html(answer: Answer) -> str:
    """A table with a bar for each interval."""
    shown = [aggregate.name for aggregate in answer.quote.plan.aggregates if aggregate.name in answer.columns]
    ends = {name: _range(answer, name) for name in shown}
    heads = "".join(f"<th>{escape.escape(name)}</th>" for name in answer.columns)
    bars = "".join(f"<th>{escape.escape(name)}</th>" for name in shown)
    body = []
    for row in answer.rows()[:MOST_ROWS]:
        cells = "".join(f"<td>{escape.escape(number(value))}</td>" for value in row.values())
        drawn = "".join(f"<td>{_bar(row, name, *ends[name])}</td>" for name in shown)
        body.append(f"<tr>{cells}{drawn}</tr>")
    more = f"<p>... and {len(answer) - MOST_ROWS:,} rows more</p>" if len(answer) > MOST_ROWS else ""
    note = f"<p>{escape.escape(caption(answer))}<br>receipt {escape.escape(answer.receipt.name)}</p>"
    return f"<table><thead><tr>{heads}{bars}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}{note}"


STYLE = (
    "body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }"
    " table { border-collapse: collapse } th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ccc }"
    " th:first-child, td:first-child { text-align: left } pre { white-space: pre-wrap; color: #444 }"
)


def page(body: str, told: str) -> str:
    """A page that stands by itself: a table, and below it what the numbers mean."""
    head = f'<meta charset="utf-8"><title>dither</title><style>{STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{body}{preformatted(told)}</body></html>"


def preformatted(text: str) -> str:
    """Plain words, as they are."""
    return f"<pre>{escape.escape(text)}</pre>"


def _range(answer: Answer, name: str) -> tuple[float, float]:
    low = min((float(value) for value in answer[f"{name}_low"]), default=0.0)
    high = max((float(value) for value in answer[f"{name}_high"]), default=1.0)
    return low, high if high > low else low + max(1.0, abs(low))  # beyond 2^53, one more is the same number


def _bar(row: dict[str, Any], name: str, low: float, high: float) -> str:
    """The interval as a line with a dot, 120 pixels wide."""
    first, middle, last = (120 * (float(row[name + end]) - low) / (high - low) for end in ("_low", "", "_high"))
    line = f'<line x1="{first:.1f}" x2="{last:.1f}" y1="7" y2="7" stroke="#567" stroke-width="2"/>'
    return f'<svg width="124" height="14">{line}<circle cx="{middle:.1f}" cy="7" r="3" fill="#246"/></svg>'
