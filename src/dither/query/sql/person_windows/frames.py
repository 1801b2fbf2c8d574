"""The order of a window, and its frame: ROWS BETWEEN 2 PRECEDING AND CURRENT ROW."""

from __future__ import annotations

import re

from sqlglot import exp

from dither.query.plan.expressions import Constant
from dither.query.plan.person_windows.frames import ALL_ROWS, UP_TO_PEERS, Frame, SortKey
from dither.query.sql.expressions import Reader
from dither.query.sql.syntax import refuse, shown

MOST_OFFSET = 1_000_000  # rows
MOST_SORT_KEYS = 20
FRAMES = "a frame such as ROWS BETWEEN <number> PRECEDING AND CURRENT ROW"


def sort_keys(node: exp.Window, reader: Reader) -> tuple[SortKey, ...]:
    """By what the rows of a window are sorted; none where nothing is said."""
    order = node.args.get("order")
    items = [] if order is None else order.expressions
    if len(items) > MOST_SORT_KEYS:
        raise refuse(node, f"more than {MOST_SORT_KEYS} columns are not sorted by", "fewer of them")
    found = []
    for item in items:
        of = reader.value(item.this)
        if isinstance(of, Constant):
            raise refuse(item, "a constant puts no row before another", "a column to sort by")
        found.append(SortKey(of, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(found)


def frame_of(node: exp.Window) -> Frame:
    """The frame of a window; where nothing is said, all rows, or with ORDER BY those up to the peers of the row."""
    spec, ordered = node.args.get("spec"), node.args.get("order") is not None
    if spec is None:
        return UP_TO_PEERS if ordered else ALL_ROWS
    kind = str(spec.args.get("kind") or "").upper()
    if kind not in ("ROWS", "RANGE"):
        raise refuse(node, f"{kind} is no frame that is answered", FRAMES)
    start = _end(node, spec.args.get("start"), spec.args.get("start_side"), kind, first=True)
    last = spec.args.get("end")
    end = 0 if last is None else _end(node, last, spec.args.get("end_side"), kind, first=False)
    if start is not None and end is not None and start > end:
        raise refuse(node, "the frame ends before it starts", FRAMES)
    if start is None and end is None:
        return ALL_ROWS
    if not ordered:
        raise refuse(node, "without ORDER BY nobody knows which row comes first", "ORDER BY <column> in the window")
    return Frame(kind == "RANGE", start, end)


def _end(node: exp.Window, place: exp.Expr | str | None, side: str | None, kind: str, *, first: bool) -> int | None:
    """An end of a frame, in rows from the row itself; None for the first or the last row of all."""
    word, side = str(place).upper(), str(side or "").upper()
    if word == "CURRENT ROW":
        return 0
    if word == "UNBOUNDED" and side == ("PRECEDING" if first else "FOLLOWING"):
        return None
    if kind == "RANGE":
        why = "RANGE with a distance looks at sums of values, which are rounded; rows are counted by ROWS"
        raise refuse(node, why, "ROWS BETWEEN <number> PRECEDING AND CURRENT ROW, which is another window")
    number = whole_number(place)
    if number is None or side not in ("PRECEDING", "FOLLOWING"):
        why = (
            f"a frame starts and ends at the first row, the last, this one, or a constant number of up to {MOST_OFFSET} rows"
        )
        raise refuse(node, why, "ROWS BETWEEN <number> PRECEDING AND CURRENT ROW")
    return -number if side == "PRECEDING" else number


def whole_number(node: exp.Expr | str | None) -> int | None:
    """A constant number of rows, as written."""
    if not isinstance(node, exp.Literal) or node.is_string or not re.fullmatch("[0-9]{1,7}", str(node.this)):
        return None
    return int(node.this) if int(node.this) <= MOST_OFFSET else None


def check_order(node: exp.Window, order: tuple[SortKey, ...]) -> None:
    """Refuse a window whose rows are not sorted."""
    if not order:
        name = shown(node.this)
        raise refuse(node, "without ORDER BY nobody knows which row comes first", f"ORDER BY <column> behind {name}")
