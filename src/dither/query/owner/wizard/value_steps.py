"""Steps about the values of a column: bounds, the unit in which it is counted, keys. None is ever proposed from rows."""

from __future__ import annotations

from typing import Any

from dither.query.owner.wizard.column_view import ColumnView, fitting
from dither.query.owner.wizard.replies import NONE, moment, number, two_ends, words
from dither.query.owner.wizard.step import Step, Steps
from dither.query.policy.column import AUTO, Type

FINE = "fine"


def value_steps(view: ColumnView, kind: Type, facts: dict[str, Any]) -> Steps:
    """Bounds, step or keys, as facts; none where nothing is stated."""
    if kind is Type.BOOLEAN:
        return {}
    if kind is Type.TEXT:
        return (yield from _keys(view, facts))
    found: dict[str, Any] = yield from (_days(view, kind, facts) if kind.is_date else _bounds(view, kind, facts))
    if found and kind in (Type.DECIMAL, Type.FLOAT):
        found |= yield from _grain(view, facts | found)
    return found


def _bounds(view: ColumnView, kind: Type, facts: dict[str, Any]) -> Steps:
    key, example = f"{view.key}.bounds", "0 to 5000"

    def read(reply: str) -> dict[str, Any]:
        if reply.casefold() in NONE:
            return {}
        if reply.casefold() == AUTO:
            return {"bounds": AUTO}
        ends = [AUTO if end.casefold() == AUTO else number(key, end) for end in two_ends(key, reply, example)]
        unit = {"step": 1} if AUTO in ends and kind is not Type.INTEGER else {}  # the next step asks for it
        found = fitting(view, {**facts, **unit, "bounds": ends}, "bounds")
        return {"bounds": AUTO} if ends == [AUTO, AUTO] else found

    return (
        yield Step(
            key,
            f"Column {view.name}: will it be added up or averaged? Then the smallest and the largest value that may count.",
            "Values beyond are moved to the nearest bound, so that no one value shows through the noise: the "
            "noise grows with "
            "their distance. Take them from what is known without a look: a tariff, a law, a form. With auto each question "
            "finds them privately, at a part of its price.",
            (example, AUTO, NONE[0]),
            read,
            choices=((NONE[0], "it is only counted, or compared"), (AUTO, "found privately")),
            seen=view.seen,
            assumed=NONE[0],
        )
    )


def _grain(view: ColumnView, facts: dict[str, Any]) -> Steps:
    key, auto = f"{view.key}.step", "bounds" in facts and AUTO in str(facts["bounds"])

    def read(reply: str) -> dict[str, Any]:
        if reply.casefold() == FINE and not auto:
            return {}
        return fitting(view, {**facts, "step": reply}, "step")

    return (
        yield Step(
            key,
            f"Column {view.name}: in which unit is it counted?",
            "Values are rounded to whole multiples of it, and sums are exact then: 0.01 for cents.",
            ("0.01", "1", *([] if auto else [FINE])),
            read,
            default=None if auto else FINE,
            choices=() if auto else ((FINE, "a millionth of the distance between the bounds"),),
        )
    )


def _days(view: ColumnView, kind: Type, facts: dict[str, Any]) -> Steps:
    key, example = f"{view.key}.bounds", "2025-01-01 to 2025-12-31"

    def read(reply: str) -> dict[str, Any]:
        if reply.casefold() in NONE:
            return {}
        return fitting(view, {**facts, "bounds": [moment(end) for end in two_ends(key, reply, example)]}, "bounds")

    return (
        yield Step(
            key,
            f"Column {view.name}: will answers be grouped by it, by month say? Then the first and the last day.",
            "Every month between them is shown, whether anybody has it or not; so that a month of one person is no news. "
            "Take the days from what is known: when the register began, the year of the report.",
            (example, NONE[0]),
            read,
            choices=((NONE[0], "it is not grouped by"),),
            assumed=NONE[0],
        )
    )


def _keys(view: ColumnView, facts: dict[str, Any]) -> Steps:
    key, example = f"{view.key}.keys", "North, South"

    def read(reply: str) -> dict[str, Any]:
        if reply.casefold() in NONE:
            return {}
        return fitting(view, {**facts, "keys": words(key, reply, f'{example}; or ["North, new", "South"]')}, "keys")

    return (
        yield Step(
            key,
            f"Column {view.name}: will answers be grouped by it? Then all words that it may hold.",
            "Each word has its row in an answer, even if nobody has it: so that no row says that somebody is "
            "there. Take the "
            "list from what is known: the plan of the house, the form. Without a list each question finds words that many "
            "people share, at a part of its price.",
            (example, '["North, new", "South"]', NONE[0]),
            read,
            choices=((NONE[0], "it is not grouped by, or words are found privately"),),
            seen=view.seen,
            assumed=NONE[0],
        )
    )
