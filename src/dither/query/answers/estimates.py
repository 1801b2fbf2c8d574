"""From released numbers to the table of an answer: values, intervals, and which rows are shown in which order.

One row for each combination of declared keys, whether the data has it or not, and of the keys that a private release chose
where nobody declared them; sorted by key unless the question says otherwise. `x_low` and `x_high` hold the true value of
the bounded data with the stated probability, each by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, inf, isfinite
from typing import Any, NamedTuple

from dither.errors import QuestionError
from dither.ledger.entries.receipt import Receipt
from dither.query.answers.answer import Answer
from dither.query.answers.caption import statement_line, uninformative_words
from dither.query.answers.derived.interval_arithmetic import Ends
from dither.query.answers.derived.intervals import DerivedIntervals
from dither.query.answers.derived.statements import has_interval, is_whole, read_derived, said_by, uninformative_rows
from dither.query.answers.derived.values import DerivedValues, in_order
from dither.query.answers.derived.words import constant_words, open_words, selected_words, slope_words, two_value_words
from dither.query.answers.explain import beyond_words, bound_note, explain_offer, found_words, statements
from dither.query.answers.grouping_words import open_key_rows, open_key_words, total_words
from dither.query.answers.interval_table import NOT_COUNTED
from dither.query.answers.record import Column, Kind
from dither.query.answers.released import Released
from dither.query.counters.value_ranges import ReleasedColumns, shown_columns
from dither.query.plan.aggregates import CountRows, Quantile
from dither.query.policy.column import Type
from dither.query.policy.policy import MADE_UP
from dither.query.pricing.offer import Offer
from dither.query.statistics.people_beyond import Beyond, PeopleBeyond, cut_counts

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
    whole, before = offer, offer if offer.constants is None else offer.constants.at(released.values)
    found, offer = before.found, resolved(offer, released)
    columns, uninformative = table_of(offer, released)
    constants = read_constants(whole, released)
    said = {name: one for name, one in said_by(offer).items() if name in offer.question.shown}
    says = [statement_line(*each) for each in statements(offer, said)]
    room = _most_people(offer, columns)
    beyond = _beyond(offer, released, room) if found is None else found.beyond(released.limits or [], room)
    if all(statistic.complete for _, statistic, _ in offer.columns) and cut_counts(offer.question) is None:
        beyond = None
    question = offer.question
    open_rows = open_key_rows(question.groups, columns)
    quantiles = [one.name for one in question.aggregates if isinstance(one, Quantile)]
    missing = uninformative_words(uninformative, columns, quantiles, [column.name for column in question.derived])
    return Answer(
        sql=offer.sql,
        columns=columns,
        kinds={name: kind for name, kind in _kinds(offer).items() if name in columns},
        keys=(*(group.name for group in question.groups), *(mark.name for mark in question.grouping)),
        aggregates=tuple(said),
        confidence=offer.confidence,
        price=whole.price,
        guarantee=whole.guarantee,
        statements={name: one.value for name, one in said.items()},
        says="\n".join(
            [
                *([MADE_UP] if whole.made_up else []),
                *says,
                *([f"{whole.uncounted} {NOT_COUNTED}"] if whole.uncounted else []),
                *total_words(question),
                *selected_words(offer),
                *open_words(offer, columns),
                *slope_words(whole),
                *two_value_words(whole),
                *found_words(before, released.limits),
                *constant_words(whole, constants),
                *([] if beyond is None else [beyond_words(beyond, offer.confidence)]),
                *([whole.unprotected] if whole.outside else []),
            ]
        ),
        beyond=None if beyond is None else beyond._asdict(),
        note="\n".join(line for line in (bound_note(offer), *missing, *open_key_words(question.groups, open_rows)) if line),
        explained=explain_offer(whole),
        frame_kind=offer.frame,
        released=released,
        receipt=receipt,
        constants=constants,
        uninformative=uninformative,
        open_keys=open_rows,
        unprotected=whole.unprotected,
    )


def resolved(offer: Offer, released: Released) -> Offer:
    """The offer that was released in the end: what its scalar subqueries gave, and the limits that were found, are known."""
    if offer.constants is not None:
        offer = offer.constants.at(released.values)
    if offer.found is not None:
        assert released.limits is not None
        offer = replace(offer.found.offer(released.limits), inner=offer.inner)
    return offer


def scalar(offer: Offer, released: Released, level: Fraction | None = None) -> tuple[Any, Any, Any]:
    """The number of a scalar subquery with the ends of its interval, None where it has none; at another confidence."""
    offer = resolved(offer, released)
    (name,) = offer.question.shown
    if level is not None and level != offer.confidence:
        used = {at for at, _ in offer.readings}
        several = (one.at(level) if at in used else one for at, one in enumerate(offer.statistics))
        made = tuple(one if again is None else again for one, again in zip(offer.statistics, several, strict=True))
        offer = replace(offer, confidence=level, statistics=made)
    columns, _ = table_of(offer, released)
    value, low, high = (columns[name + end][0] if name + end in columns else None for end in ENDS)
    return value, low, high


def scalar_text(offer: Offer, released: Released) -> str | None:
    """The number of a scalar subquery as it is stored, and as the question around it sees it; None for NULL."""
    value, _, _ = scalar(offer, released)
    return None if value is None or not isfinite(value) else repr(value)


def read_constants(offer: Offer, released: Released) -> dict[str, dict[str, Any]]:
    """What scalar subqueries gave, with their own intervals, by their texts."""
    if offer.constants is None:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for text, one, (value, own) in zip(offer.constants.texts, offer.constants.offers, released.constants, strict=True):
        _, low, high = scalar(one, own)
        found[text] = {"value": None if value is None else json.loads(value), "low": low, "high": high}
    return found


def _scalar_ends(offer: Offer, released: Released) -> Callable[[int, Fraction], Ends]:
    def ends(place: int, level: Fraction) -> Ends:
        value, own = released.values[place], released.constants[place][1]
        _, *ends = scalar(offer.inner[place], own, level)
        low, high = (Fraction(end) if end is not None else other for end, other in zip(ends, (-inf, inf), strict=True))
        return (low, high) if value is None else (min(low, value), max(high, value))

    return ends


def _unknown_scalars(offer: Offer, released: Released) -> frozenset[int]:
    """The places of scalar subqueries whose interval says nothing."""
    found = set[int]()
    for place, (one, value) in enumerate(zip(offer.inner, released.values, strict=True)):
        if value is None:
            own = released.constants[place][1]
            found |= {place} if table_of(resolved(one, own), own).uninformative else set()
    return frozenset(found)


def _most_people(offer: Offer, columns: dict[str, Column]) -> int | None:
    """The people that the released number of rows has room for, if each counts with all rows that the limit allows."""
    if offer.question.groups:
        return None
    ends = (columns.get(f"{one.name}_high", []) for one in offer.question.aggregates if isinstance(one, CountRows))
    return min(
        (max(0, floor(end)) // offer.bounding.most for column in ends for end in column if end is not None), default=None
    )


def _beyond(offer: Offer, released: Released, room: int | None) -> Beyond | None:
    """How many people have more than is counted of them, where it was released."""
    for one, stored in zip(offer.statistics, released.statistics, strict=True):
        if isinstance(one, PeopleBeyond):
            return one.beyond(stored, None if one.own_counts else room)
    return None


class AnswerTable(NamedTuple):
    """The table of an answer, column by column, and by column the rows without a number, since its interval says nothing."""

    columns: dict[str, Column]
    uninformative: dict[str, list[int]]


def table_of(offer: Offer, released: Released) -> AnswerTable:
    """The table as it is shown."""
    question = offer.question
    cells = offer.chosen(released.chosen).shown
    whole: dict[str, Column] = {group.name: [cell[place] for cell in cells] for place, group in enumerate(question.groups)}
    for mark in question.grouping:
        whole[mark.name] = [mark.of([place for place, key in enumerate(cell) if key is not None]) for cell in cells]
    uncut: dict[str, Column] = {}
    unknown: dict[str, frozenset[int]] = {}
    for (at, place), aggregate in zip(offer.readings, question.aggregates, strict=True):
        statistic, found, name = offer.statistics[at], released.statistics[at], aggregate.name
        columns = statistic.read(found, place) if found != [] else ([], [], [])
        uncut[name] = columns[0]
        if not statistic.has_interval(place):
            whole[name] = columns[0]
            continue
        shown, unknown[name] = shown_columns(
            columns, statistic.value_range(place), whole=statistic.type(place) is Type.INTEGER
        )
        for end, column in zip(ENDS, shown, strict=True):
            whole[name + end] = [None if cell in (inf, -inf) else cell for cell in column]  # without an end
        whole[name] = [None if row in unknown[name] else cell for row, cell in enumerate(whole[name])]
    kept, of_derived = _derived(offer, released, ReleasedColumns(whole, uncut, unknown), whole, cells)
    names = [name for base in question.shown for end in ENDS if (name := base + end) in whole]
    keys = [group.name for group in question.groups if group.name not in names]
    named = {group.name: group.named([cell[place] for cell in cells]) for place, group in enumerate(question.groups)}
    table = {name: [named.get(name, whole[name])[row] for row in kept] for name in [*keys, *names]}
    missing = {name: [at for at, row in enumerate(kept) if row in rows] for name, rows in (unknown | of_derived).items()}
    return AnswerTable(table, {name: rows for name, rows in missing.items() if rows and name in table})


def _derived(
    offer: Offer, released: Released, columns: ReleasedColumns, whole: dict[str, Column], cells: Sequence[Sequence[Any]]
) -> tuple[list[int], dict[str, frozenset[int]]]:
    """Which rows are shown, in which order: HAVING, windows, ORDER BY and LIMIT, on released values.

    Columns that are computed are added to `whole`; returned with the rows in which nothing is known of them. What is
    unknown meets no condition of HAVING and QUALIFY, and ORDER BY sorts it last in either direction.
    """
    question, rows = offer.question, list(range(len(cells)))
    ends, unknown_scalars = _scalar_ends(offer, released), _unknown_scalars(offer, released)
    tested = {name for keep in question.having for name in keep.names}

    def readers() -> tuple[DerivedValues, DerivedIntervals]:
        values = DerivedValues(cells, columns, rows)
        intervals = DerivedIntervals(offer, released, values, ends)
        values.unknown_scalars = unknown_scalars
        values.uninformative = lambda term: uninformative_rows(term, offer, values.rows, intervals)
        return values, intervals

    values, intervals = readers()
    for column in question.derived:
        if column.name in tested:
            found, *_ = read_derived(column, offer, values, rows, intervals).shown(whole=is_whole(column.of, offer))
            whole[column.name] = [found[row] for row in rows]
    for keep in question.having:
        rows = [row for row in rows if keep.holds({name: whole[name][row] for name in keep.names})]
    for group in question.groups:  # SQL sorts by the names of totals, too
        if group.total is not None:
            whole[group.name] = [group.total if key is None else key for key in whole[group.name]]
    if question.having:
        values, intervals = readers()
    sorts = {name for keep in question.qualify for name in keep.names} | {order.name for order in question.order}
    by = {
        column.name: read_derived(column, offer, values, rows, intervals).values
        for column in question.derived
        if column.name in sorts
    }
    for keep in question.qualify:
        rows = [row for row in rows if keep.holds({name: by.get(name, whole.get(name, []))[row] for name in keep.names})]
    for order in reversed(question.order):
        if order.name not in whole and order.name not in by:
            raise QuestionError("ORDER BY", order.name, "the answer has no such column", ", ".join(whole))
        rows = in_order(rows, by.get(order.name, whole.get(order.name, [])), descending=order.descending)
    rows = rows[question.offset :]
    rows = rows if question.limit is None else rows[: question.limit]
    unknown: dict[str, frozenset[int]] = {}
    for column in question.derived:
        read = read_derived(column, offer, values, rows, intervals)
        unknown[column.name] = read.uninformative
        for end, part in zip(ENDS, read.shown(whole=is_whole(column.of, offer)), strict=False):
            whole[column.name + end] = [part.get(row) for row in range(len(cells))]
    return rows, unknown


def _kinds(offer: Offer) -> dict[str, Kind]:
    """What the columns hold: by the question, not by what came out."""
    question = offer.question
    kinds: dict[str, Kind] = {
        group.name: "text"
        if group.total is not None
        else "whole"
        if (kind := group.by.facts.type).is_number
        else KINDS[kind]
        for group in question.groups
    } | dict.fromkeys((mark.name for mark in question.grouping), "whole")
    for name, statistic, place in offer.columns:
        ends = ENDS if statistic.has_interval(place) else ENDS[:1]
        kinds |= dict.fromkeys((name + end for end in ends), KINDS[statistic.type(place)])
    for column in question.derived:
        ends = ENDS if has_interval(column, offer) else ENDS[:1]
        kinds |= dict.fromkeys((column.name + end for end in ends), "whole" if is_whole(column.of, offer) else "number")
    return kinds
