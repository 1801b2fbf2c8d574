"""Steps about one column: whether it stays, what it holds, and how that is written; those of its values follow."""

from __future__ import annotations

from typing import Any

from dither.errors import PolicyError
from dither.query.owner.type_inference import Inferred
from dither.query.owner.wizard.column_view import ColumnView, fitting
from dither.query.owner.wizard.decisions import ColumnDecisions, Decisions
from dither.query.owner.wizard.origin_steps import origin_steps
from dither.query.owner.wizard.policy_text import toml
from dither.query.owner.wizard.replies import NONE, one_of, words, yes_or_no
from dither.query.owner.wizard.step import Step, Steps
from dither.query.owner.wizard.value_steps import value_steps
from dither.query.policy.column import AUTO, Type

TYPES = {
    Type.INTEGER: "whole numbers, such as ages or numbers of pieces",
    Type.DECIMAL: "amounts with decimals, such as money",
    Type.FLOAT: "measurements",
    Type.TEXT: "words, or codes such as 0071",
    Type.BOOLEAN: "true or false, yes or no",
    Type.DATE: "days",
    Type.TIMESTAMP: "days with a time",
}
ISO, PLAIN = "iso", "plain"


def column_steps(said: Decisions, column: ColumnDecisions, view: ColumnView) -> Steps:
    """All steps of a column; what they decide is put into `column`."""
    if not view.is_person and not (yield from _keep(view)):
        column.left_out = view.out or "no"
        return
    kind: Type = view.kind if view.kind is not None else (yield from _type(view))
    facts: dict[str, Any] = {"type": kind.value}
    if view.kind is None and not view.is_person:
        facts |= yield from _written(view, kind)
    column.facts = facts
    if view.is_person:
        return
    values = yield from value_steps(view, kind, facts)
    facts |= values
    stated = {name for name in values if not (name == "bounds" and values[name] == AUTO)}
    if stated and not view.is_public:
        what = "keys" if "keys" in values else "bounds" if "bounds" in stated else "step"
        facts |= yield from origin_steps(said, view.key, f"the {what} of {view.name}")


def _keep(view: ColumnView) -> Steps:
    proposed = f" It is proposed to leave it out: {view.out}." if view.out else ""
    return (
        yield Step(
            f"{view.key}.keep",
            f"Column {view.name}: shall questions be able to use it?{proposed}",
            "What a policy does not have cannot be asked about. Names, addresses and free texts are never "
            "needed for a number.",
            ("yes", "no"),
            yes_or_no(f"{view.key}.keep"),
            default="no" if view.out else "yes",
        )
    )


def _type(view: ColumnView) -> Steps:
    key = f"{view.key}.type"
    kinds = (Type.INTEGER, Type.TEXT) if view.is_person else tuple(Type)
    found = None if view.found is None else view.found.type
    if view.is_person:  # of '1.000' and '1000' a number would make one person: as it is written unless they are plain
        found = Type.INTEGER if view.found is not None and found is Type.INTEGER and not view.found.styles else Type.TEXT
    return (
        yield Step(
            key,
            f"Column {view.name}: what do its cells hold?",
            "It decides what can be asked: numbers can be added up, words can be grouped by. A cell that cannot be read so "
            "counts as missing.",
            (kinds[0].value, Type.TEXT.value),
            one_of(key, {kind.value: kind for kind in kinds}),
            default=None if found is None else found.value,
            choices=tuple((kind.value, TYPES[kind]) for kind in kinds),
            assumed=Type.TEXT.value,
        )
    )


# -- how cells are written -----------------------------------------------------------------------------------------------


def _written(view: ColumnView, kind: Type) -> Steps:
    facts: dict[str, Any] = {}
    known = view.found if view.found is not None and view.found.type is kind else None
    if kind.is_date:
        facts |= yield from _format(view, kind, known)
    if kind is Type.BOOLEAN:
        facts |= yield from _truth(view, known)
    if kind is not Type.TEXT:
        facts |= yield from _missing(view, kind, facts, known)
    return facts


def _format(view: ColumnView, kind: Type, known: Inferred | None) -> Steps:
    key, stated = f"{view.key}.format", None if known is None else known.facts.get("format", ISO)
    several = () if known is None else known.formats
    example = "DD.MM.YYYY hh:mm" if kind is Type.TIMESTAMP else "DD.MM.YYYY"

    def read(reply: str) -> dict[str, Any]:
        return {} if reply.casefold() == ISO else fitting(view, {"type": kind.value, "format": reply}, "format")

    return (
        yield Step(
            key,
            f"Column {view.name}: how are its dates written?",
            "Nothing is guessed when rows are read: 02.03.2025 is in February for some and in March for others. YYYY is the "
            "year, MM the month, DD the day, hh the hour, mm the minute, ss the second.",
            (example, ISO),
            read,
            default=None if several else ISO if known is None else stated,
            choices=((ISO, "2025-03-31" if kind is Type.DATE else "2025-03-31 12:30:00"), *((one, "") for one in several)),
        )
    )


def _truth(view: ColumnView, known: Inferred | None) -> Steps:
    key, example = f"{view.key}.words", "ja / nein"

    def read(reply: str) -> dict[str, Any]:
        if reply.casefold() == PLAIN:
            return {}
        sides = reply.split("/")
        if len(sides) != 2:
            raise PolicyError(key, reply, "it does not say words for true, a slash, and words for false", example)
        true, false = (words(key, side.strip(), example) for side in sides)
        return fitting(view, {"type": Type.BOOLEAN.value, "true": true, "false": false}, "true", "false")

    default = PLAIN
    if known is not None and "true" in known.facts:
        default = " / ".join(", ".join(known.facts[fact]) for fact in ("true", "false"))
    return (
        yield Step(
            key,
            f"Column {view.name}: which words mean true, and which false?",
            "They are compared letter by letter; a cell with any other word counts as missing.",
            (example, "ja, Ja / nein, Nein"),
            read,
            default=default,
            choices=((PLAIN, "true and false"),),
        )
    )


def _missing(view: ColumnView, kind: Type, facts: dict[str, Any], known: Inferred | None) -> Steps:
    key, example = f"{view.key}.missing", "NA, k.A."

    def read(reply: str) -> dict[str, Any]:
        if reply.casefold() in NONE:
            return {}
        return fitting(view, {"type": kind.value, **facts, "null": words(key, reply, example)}, "null")

    nulls = [] if known is None else known.facts.get("null", [])
    return (
        yield Step(
            key,
            f"Column {view.name}: which words say that a value is missing, beside the empty cell?",
            "Any word that is no value counts as missing anyway. Said here, it is not reported as a mistake.",
            (example, '["?"]', NONE[1]),
            read,
            default=_as_reply(nulls) or NONE[1],
        )
    )


def _as_reply(found: list[str]) -> str:
    """Words as they would be typed: in brackets where a face would take them for something else."""
    return toml(found) if found and found[0] in ("?", "<") else ", ".join(found)
