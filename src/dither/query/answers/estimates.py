"""From released numbers to the table of an answer: values, intervals, and which rows are shown in which order.

One row for each combination of declared keys, whether the data has it or not, and of the keys that a private release chose
where nobody declared them; sorted by key unless the question says otherwise. `x_low` and `x_high` hold the true value of
the bounded data with the stated probability, each by itself.
"""

from __future__ import annotations

from dither.errors import QuestionError
from dither.ledger.entries.receipt import Receipt
from dither.query.answers.answer import Answer, Column, Kind
from dither.query.answers.explain import beyond_words, bound_note, explain_offer, found_words, statements
from dither.query.answers.released import Released
from dither.query.plan.question import Question
from dither.query.policy.column import Type
from dither.query.pricing.offer import Offer
from dither.query.statistics.people_beyond import Beyond, PeopleBeyond

KINDS: dict[Type, Kind] = {
    Type.TEXT: "text",
    Type.BOOLEAN: "boolean",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp",
    Type.FLOAT: "number",
    Type.DECIMAL: "number",
    Type.INTEGER: "whole",
}
ENDS = ("", "_low", "_high")


def read_answer(offer: Offer, released: Released, receipt: Receipt) -> Answer:
    """The answer to a question, of what was stored of it."""
    whole, found = offer, offer.found
    if found is not None:
        assert released.limits is not None
        offer = found.offer(released.limits)
    says = [
        f"{head}: {', '.join(shown)} ({told})"
        for head, names, told in statements(offer)
        if (shown := [name for name in names if name in offer.question.shown])
    ]
    beyond = _beyond(offer, released) if found is None else found.beyond(released.limits or [])
    if all(statistic.complete for _, statistic, _ in offer.columns):
        beyond = None
    question = offer.question
    return Answer(
        sql=offer.sql,
        columns=_columns(offer, released),
        kinds=_kinds(offer),
        keys=tuple(group.name for group in question.groups),
        aggregates=tuple(aggregate.name for aggregate in question.aggregates if aggregate.name in question.shown),
        confidence=offer.confidence,
        price=whole.price,
        guarantee=whole.guarantee,
        statements={
            name: statistic.statement(place).value for name, statistic, place in offer.columns if name in question.shown
        },
        says="\n".join([*says, *found_words(whole, released.limits), *([] if beyond is None else [beyond_words(beyond)])]),
        beyond=None if beyond is None else beyond._asdict(),
        note=bound_note(offer),
        explained=explain_offer(whole),
        frame_kind=offer.frame,
        released=released,
        receipt=receipt,
    )


def _beyond(offer: Offer, released: Released) -> Beyond | None:
    """How many people have more than is counted of them, where it was released."""
    for one, stored in zip(offer.statistics, released.statistics, strict=True):
        if isinstance(one, PeopleBeyond):
            return one.beyond(stored)
    return None


def _columns(offer: Offer, released: Released) -> dict[str, Column]:
    """The table, column by column."""
    question = offer.question
    cells = offer.chosen(released.chosen).shown
    whole: dict[str, Column] = {group.name: [cell[place] for cell in cells] for place, group in enumerate(question.groups)}
    for (at, place), aggregate in zip(offer.readings, question.aggregates, strict=True):
        statistic, found = offer.statistics[at], released.statistics[at]
        columns = statistic.read(found, place) if found != [] else ([], [], [])
        for end, column in zip(ENDS if statistic.has_interval(place) else ENDS[:1], columns, strict=False):
            whole[aggregate.name + end] = column
    kept = _kept(question, whole, len(cells))
    shown = [name for base in question.shown for end in ENDS if (name := base + end) in whole]
    keys = [group.name for group in question.groups if group.name not in shown]
    named = {group.name: group.named(whole[group.name]) for group in question.groups}  # sorted by then
    return {name: [named.get(name, whole[name])[row] for row in kept] for name in [*keys, *shown]}


def _kinds(offer: Offer) -> dict[str, Kind]:
    """What the columns hold: by the question, not by what came out."""
    question = offer.question
    kinds: dict[str, Kind] = {
        group.name: "text" if group.names else "whole" if (kind := group.by.facts.type).is_number else KINDS[kind]
        for group in question.groups
    }
    for name, statistic, place in offer.columns:
        ends = ENDS if statistic.has_interval(place) else ENDS[:1]
        kinds |= dict.fromkeys((name + end for end in ends), KINDS[statistic.type(place)])
    return kinds


def _kept(question: Question, whole: dict[str, Column], count: int) -> list[int]:
    """Which rows are shown, in which order: HAVING, ORDER BY and LIMIT, on released values."""
    rows = list(range(count))
    for keep in question.having:
        rows = [row for row in rows if keep.holds({name: whole[name][row] for name in keep.names})]
    for order in reversed(question.order):
        if order.name not in whole:
            raise QuestionError("ORDER BY", order.name, "the answer has no such column", ", ".join(whole))
        column = whole[order.name]  # the key of all others together may be None: it is sorted as the last one
        rows.sort(key=lambda row, of=column: (of[row] is None, of[row]), reverse=order.descending)  # type: ignore[misc]
    return rows if question.limit is None else rows[: question.limit]
