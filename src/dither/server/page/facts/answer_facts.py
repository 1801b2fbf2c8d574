"""An answer as the page shows it: texts, and places of bars, made from what was released and from nothing else.

Keys, names and questions may be anybody's text. Templates show what nobody sees of it, escape it, and lay it out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dither.errors import DataError
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.explain import beyond_words
from dither.query.answers.free_answer import FreeAnswer
from dither.query.answers.interval_table import drawn_columns
from dither.query.answers.number_texts import decimals_of, high_text, low_text, number_text
from dither.query.answers.table import scale_words
from dither.query.plan.text import key_text, number
from dither.query.statistics.people_beyond import Beyond
from dither.server.core.questions import Question
from dither.server.http.formats import read_answer
from dither.server.page.facts.answer_code import curl_code, is_stored, python_code, sql_code

MOST_ROWS = 1000  # that a page shows; an export has all
WIDTH = 120.0  # of a bar, in the units of its drawing
EDGE = 4.0  # left and right of it, for the dot
Paid = Literal["free", "stored", "charged"]


@dataclass(frozen=True)
class Head:
    """The head of a column, or of a number and its interval."""

    name: str
    says: str = ""  # of a number without an interval: what it says
    low_says: str = ""  # what the ends of its interval hold
    high_says: str = ""
    is_number: bool = False
    has_interval: bool = False
    scale: str = ""  # of its bars, such as 0 … 4,000


@dataclass(frozen=True)
class Bar:
    """Where an interval and its number are, as coordinates."""

    low: str
    middle: str
    high: str


@dataclass(frozen=True)
class Cell:
    """A key, or a number with its interval; None stands for what there is not."""

    text: str | None
    is_number: bool = False
    has_interval: bool = False
    is_unknown: bool = False  # its interval says nothing
    low: str | None = None
    high: str | None = None
    bar: Bar | None = None


@dataclass(frozen=True)
class TableFacts:
    """The answer to one question."""

    sql: str
    heads: list[Head]
    rows: list[list[Cell]]
    row_count: int  # of the whole answer
    percent: str  # with which each interval holds; '' where there is none
    holds_truth: bool
    says: list[str]
    note: str
    beyond: dict[str, str | None] | None
    unprotected: str
    chart: str  # SVG, or ''

    @property
    def rows_left_out(self) -> int:
        """How many rows the page does not show."""
        return self.row_count - len(self.rows)


@dataclass(frozen=True)
class AnswerFacts:
    """All of an answer: a table a question, what was paid, and how to have it again."""

    id: str
    dataset: str
    analyst: str
    tables: list[TableFacts]
    price: str
    paid: Paid
    receipt: str | None
    is_stored: bool
    explained: str
    python: str
    sql: str
    curl: str
    formats: list[str]


def answer_facts(question: Question, address: str) -> AnswerFacts:
    """What the page shows of a question that is answered.

    Args:
        question: with its answer.
        address: of this gateway, such as 'https://gateway.example', for code.

    Raises:
        DataError: there is no answer, or it is none that dither wrote.
    """
    found = read_answer(question.answer or "{}")
    several = list(found) if isinstance(found, BatchAnswer) else [found]
    tables = [_table(one) for one in several]
    free = isinstance(found, FreeAnswer) or question.receipt is None
    formats = ["json", "html"] if isinstance(found, BatchAnswer) else ["csv", "json", "arrow", "html"]
    if len(tables) == 1 and tables[0].chart:
        formats.append("svg")
    price = question.price or (str(found.guarantee) if isinstance(found, BatchAnswer) else found.price)
    return AnswerFacts(
        id=question.id,
        dataset=question.dataset,
        analyst=question.analyst,
        tables=tables,
        price=price,
        paid="free" if free else "stored" if question.replay else "charged",
        receipt=question.receipt,
        is_stored=is_stored(question),
        explained=found.explained,
        python=python_code(question, address),
        sql=sql_code(question),
        curl=curl_code(question, address),
        formats=formats,
    )


def _table(answer: Answer) -> TableFacts:
    columns, heads = drawn_columns(answer.columns, answer.uninformative), answer.heads
    intervals = {name for name in answer.aggregates if {f"{name}_low", f"{name}_high"} <= columns.keys()}
    hidden = {f"{name}{end}" for name in intervals for end in ("_low", "_high")}
    names = [name for name in columns if name not in hidden]
    shown = [
        Head(
            name,
            heads.get(name, ""),
            heads.get(f"{name}_low", "") if name in intervals else "",
            heads.get(f"{name}_high", "") if name in intervals else "",
            is_number=_is_number(answer, name),
            has_interval=name in intervals,
            scale=scale_words(*(columns[name + end][:MOST_ROWS] for end in ("_low", "", "_high")))
            if name in intervals
            else "",
        )
        for name in names
    ]
    sides = [_cells(answer, columns, name, has_interval=name in intervals) for name in names]
    beyond = None if answer.beyond is None else Beyond(**answer.beyond)  # type: ignore[arg-type]
    told = None if beyond is None else beyond_words(beyond, answer.confidence)
    return TableFacts(
        sql=answer.sql,
        heads=shown,
        rows=[list(row) for row in zip(*sides, strict=True)],
        row_count=len(answer) if columns else 0,
        percent=percent_text(answer.confidence) if intervals else "",
        holds_truth=set(answer.statements.values()) <= {"truth", "of released numbers"},
        says=[line for line in answer.says.splitlines() if line != told],
        note=answer.note,
        beyond=None if beyond is None else _beyond_texts(beyond, answer.confidence),
        unprotected=answer.unprotected,
        chart=_chart(answer) if len(answer) else "",
    )


def _beyond_texts(beyond: Beyond, confidence: Fraction) -> dict[str, str | None]:
    return {name: cell_text(part) for name, part in beyond._asdict().items()} | {"percent": percent_text(confidence)}


def _chart(answer: Answer) -> str:
    """The chart as SVG for a page; '' where nothing in the answer has an interval."""
    try:
        return answer.svg(alone=False)
    except DataError:
        return ""


def percent_text(confidence: Fraction) -> str:
    """A probability in percent, such as 95%."""
    return f"{float(confidence * 100):.4g}%"


def _is_number(answer: Answer, name: str) -> bool:
    return answer.kinds.get(name) in ("whole", "number")


def cell_text(value: Any, words: Callable[[Any], str] = number) -> str | None:
    """A cell as people read it; a text stays as it is."""
    return None if value is None else value if isinstance(value, str) else words(value)


def _cells(answer: Answer, columns: Mapping[str, Sequence[Any]], name: str, *, has_interval: bool) -> list[Cell]:
    values, kind = columns[name][:MOST_ROWS], _is_number(answer, name)
    unknown = set(answer.uninformative.get(name, ()))
    if not has_interval:
        label = key_text if name in answer.keys else number
        return [Cell(cell_text(value, label), is_number=kind, is_unknown=row in unknown) for row, value in enumerate(values)]
    ends = [columns[f"{name}{end}"][:MOST_ROWS] for end in ("_low", "_high")]
    bars, decimals = _bars(values, *ends), decimals_of(*ends)
    return [
        Cell(
            number_text(value, decimals),
            is_number=kind,
            has_interval=True,
            is_unknown=row in unknown,
            low=low_text(low, decimals),
            high=high_text(high, decimals),
            bar=bar,
        )
        for row, (value, low, high, bar) in enumerate(zip(values, *ends, bars, strict=True))
    ]


def _bars(values: Sequence[Any], lows: Sequence[Any], highs: Sequence[Any]) -> list[Bar | None]:
    """A bar for each number, all on one scale; an open end goes to the edge."""
    halves = [[_half(value) for value in column] for column in (values, lows, highs)]
    known = [half for column in halves for half in column if half is not None]
    first, last = min(known, default=0.0), max(known, default=0.0)
    width = last - first  # of halves: the whole may be more than a float holds

    def place(half: float | None, otherwise: float) -> str:
        part = otherwise if half is None else 0.5 if width == 0 else (half - first) / width
        return f"{EDGE + WIDTH * part:.1f}"

    return [
        None if middle is None else Bar(place(low, 0.0), place(middle, 0.5), place(high, 1.0))
        for middle, low, high in zip(*halves, strict=True)
    ]


def _half(value: Any) -> float | None:
    """Half of a number, which is finite where the number is; None for what has no place on a scale."""
    try:
        half = float(value) / 2
    except (TypeError, ValueError, OverflowError):
        return None
    return half if math.isfinite(half) else None
