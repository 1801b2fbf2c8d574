"""Two answers side by side, as the page shows them: both tables, and each difference with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dither.errors import DataError
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.answers.difference import Difference, DifferenceRow
from dither.query.answers.number_texts import decimals_of, high_text, low_text, number_text
from dither.server.core.questions import Question
from dither.server.http.formats import read_answer
from dither.server.page.facts.answer_facts import MOST_ROWS, AnswerFacts, answer_facts, cell_text, percent_text

MOST_KEYS = 50  # of one answer alone that are listed
Verdict = Literal["equal", "differ", "perhaps"]


@dataclass(frozen=True)
class PairFacts:
    """One number of both answers; None stands for what there is not."""

    key: list[str | None]
    column: str
    first: str | None
    second: str | None
    difference: str | None
    low: str | None
    high: str | None
    verdict: Verdict | None


@dataclass(frozen=True)
class DifferenceFacts:
    """Both answers, and how far they differ; or why that cannot be said."""

    first: AnswerFacts
    second: AnswerFacts
    keys: list[str]
    pairs: list[PairFacts]
    pair_count: int  # of the whole difference
    percent: str
    words: list[str]
    only: dict[str, list[str]]  # keys of one of them alone
    chart: str  # SVG, or ''
    has_several: bool = False  # one of them answers several questions
    problem: DataError | None = None


def difference_facts(first: Question, second: Question, address: str) -> DifferenceFacts:
    """What the page shows of two questions that are answered.

    Args:
        first: with its answer.
        second: with its answer, which is taken from the first.
        address: of this gateway, for code.
    """
    sides = answer_facts(first, address), answer_facts(second, address)
    answers = [read_answer(one.answer or "{}") for one in (first, second)]
    plain = [one for one in answers if not isinstance(one, BatchAnswer)]
    if len(plain) < 2:
        return _nothing(sides, has_several=True)
    try:
        found = plain[0].difference(plain[1])
    except DataError as error:
        return _nothing(sides, problem=error)
    rows = found.rows()
    return DifferenceFacts(
        *sides,
        keys=list(found.keys),
        pairs=[_pair(row) for row in rows[:MOST_ROWS]],
        pair_count=len(rows),
        percent=percent_text(found.confidence),
        words=found.words.splitlines(),
        only={"only_first": _keys(found.only_first), "only_second": _keys(found.only_second)},
        chart=_chart(found) if rows else "",
    )


def _nothing(sides: tuple[AnswerFacts, AnswerFacts], **why: Any) -> DifferenceFacts:
    return DifferenceFacts(*sides, keys=[], pairs=[], pair_count=0, percent="", words=[], only={}, chart="", **why)


def _chart(found: Difference) -> str:
    try:
        return found.svg(alone=False)
    except DataError:
        return ""


def _pair(row: DifferenceRow) -> PairFacts:
    decimals = decimals_of([row["low"]], [row["high"]])
    return PairFacts(
        key=[cell_text(part) for part in row["key"].values()],
        column=row["column"],
        first=number_text(row["a"], decimals),
        second=number_text(row["b"], decimals),
        difference=number_text(row["difference"], decimals),
        low=low_text(row["low"], decimals),
        high=high_text(row["high"], decimals),
        verdict=_verdict(row),
    )


def _verdict(row: DifferenceRow) -> Verdict | None:
    """What the interval says: whether it is 0 alone, leaves 0 out, or holds it among others."""
    if row["difference"] is None:
        return None
    low, high = row["low"], row["high"]
    if low == high == 0:
        return "equal"
    return "differ" if (low is not None and low > 0) or (high is not None and high < 0) else "perhaps"


def _keys(several: Sequence[dict[str, Any]]) -> list[str]:
    shown = [", ".join(cell_text(part) or "-" for part in key.values()) for key in several[:MOST_KEYS]]
    return [*shown, "..."] if len(several) > MOST_KEYS else shown
