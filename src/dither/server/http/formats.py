"""Formats of answers, chosen by `Accept`: JSON, CSV, Arrow and HTML.

All are written from the stored answer, which has nothing but what was released. Text of keys is data: HTML escapes it, and
in CSV no text begins with what a spreadsheet would compute.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.free_answer import FreeAnswer
from dither.query.answers.table import STYLE
from dither.server.http.refusals import not_acceptable

Format: TypeAlias = Literal["json", "csv", "arrow", "html"]
TYPES: dict[Format, str] = {
    "json": "application/json",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "html": "text/html",
}
CONTENT: dict[Format, str] = {**TYPES, "csv": "text/csv; charset=utf-8; header=present", "html": "text/html; charset=utf-8"}
ALL: tuple[Format, ...] = ("json", "csv", "arrow", "html")
SEVERAL: tuple[Format, ...] = ("json", "html")  # formats that hold several tables
COMPUTED = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
PAGE_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'"


def choose(values: Sequence[str], among: Sequence[Format] = ALL) -> Format:
    """The format that a client likes best of those that are written; JSON where it likes all.

    Args:
        values: of the header Accept; none is as `*/*`.
        among: what can be written, the best first.

    Raises:
        Problem: it likes none of them. That is said before anything is asked.
    """
    ranges = [_range(each) for each in ",".join(values).split(",") if each.strip()] or [("*/*", 1.0)]
    liked = {each: _liking(TYPES[each], ranges) for each in among}
    best = max(among, key=lambda each: liked[each])  # the first of equals
    if liked[best] <= 0:
        raise not_acceptable(", ".join(TYPES[each] for each in among))
    return best


def _range(text: str) -> tuple[str, float]:
    kind, *parameters = (part.strip().lower() for part in text.split(";"))
    weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
    try:
        liking = float(weight)
    except ValueError:
        liking = 0.0
    return kind, liking if 0 <= liking <= 1 else 0.0  # also for what is no number


def _liking(kind: str, ranges: list[tuple[str, float]]) -> float:
    """How much a type is liked: what names it most exactly counts."""
    for wanted in (kind, f"{kind.partition('/')[0]}/*", "*/*"):
        found = [liking for each, liking in ranges if each == wanted]
        if found:
            return max(found)
    return 0.0


def write(text: str, form: Format) -> bytes | None:
    """A stored answer as a table or a page; None where it answers several questions, which are no one table."""
    answer = read_answer(text)
    if form == "html":
        return answer.to_html().encode()
    if isinstance(answer, BatchAnswer):
        return None
    return arrow_bytes(answer.to_arrow()) if form == "arrow" else _csv(answer.columns)


def read_answer(text: str) -> Answer | BatchAnswer:
    """The answer of a stored text: to one question, to several, or a free one."""
    found = json.loads(text)
    if "batch_answer" in found:
        return BatchAnswer.from_json(text)
    return FreeAnswer.from_json(text) if "free_answer" in found else Answer.from_json(text)


def arrow_bytes(table: Any) -> bytes:
    """An Arrow table as a stream."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def _csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(map(csv_cell, columns))
    writer.writerows(map(csv_cell, row) for row in zip(*columns.values(), strict=True))
    return file.getvalue().encode()


def csv_cell(value: Any) -> Any:
    """A cell that no spreadsheet computes: numbers as they are, texts that look like a formula behind an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(COMPUTED) else value


def table_of(stream: bytes, form: Format) -> bytes:
    """A table of made-up rows, from its Arrow stream, in a format."""
    if form == "arrow":
        return stream
    rows = rows_of(stream)
    return _csv({name: [row[name] for row in rows] for name in _names(stream)})


def rows_of(stream: bytes) -> list[dict[str, Any]]:
    """The rows of an Arrow stream."""
    import pyarrow

    with pyarrow.ipc.open_stream(stream) as reader:
        found: list[dict[str, Any]] = reader.read_all().to_pylist()
    return found


def _names(stream: bytes) -> list[str]:
    import pyarrow

    with pyarrow.ipc.open_stream(stream) as reader:
        return list(reader.schema.names)
