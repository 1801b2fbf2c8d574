"""What differs between two columns of one name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dither.query.owner.changes.change import (
    LOOSENS,
    MEANING,
    NEUTRAL,
    NOTHING,
    TIGHTENS,
    PolicyChange,
    Rule,
    Verdict,
    fact_changes,
    factor,
    nothing,
    said,
)
from dither.query.policy.cell_format import CellFormat
from dither.query.policy.column import Column, Key
from dither.query.policy.origin import DATA


def column_changes(old: Column, new: Column, where: str, *, person: bool) -> Iterator[PolicyChange]:
    """Each fact that differs; `person`: whether the column says whose a row is, or leads there, in either policy."""
    yield from fact_changes(old, new, RULES, where)
    if old.type is not new.type:
        told = "Cells are read as another type: questions, bounds and keys are about other values."
        worse = " They say whose a row is, so that two people may become one."
        verdict: Verdict = LOOSENS if person else MEANING
        yield PolicyChange(f"{where}.type", old.type.value, new.type.value, verdict, told + worse * person)
    if old.cells != new.cells:
        yield from fact_changes(old.cells, new.cells, CELL_RULES_OF_PEOPLE if person else CELL_RULES, where)


def _bounds(old: Column, new: Column, where: str) -> Iterator[PolicyChange]:
    """Bounds of numbers, or of dates."""
    before, after = _ends(old), _ends(new)
    if before == after:
        return
    shown = _span(before), _span(after)
    if before is None or after is None:
        added = "Sums, means and groups of it may be asked for that could not be."
        removed = "A bound is gone: groups of it then have keys that are found in the data, within the price of a question."
        yield PolicyChange(f"{where}.bounds", *shown, LOOSENS, removed if after is None else added)
        return
    if old.type is not new.type:
        yield PolicyChange(f"{where}.bounds", *shown, LOOSENS, "They are bounds of values of another type.")
        return
    wider = after[0] < before[0] or after[1] > before[1]
    noise = ""
    if old.lower is not None and old.upper is not None and new.lower is not None and new.upper is not None:
        noise = factor(max(abs(old.lower), abs(old.upper)), max(abs(new.lower), abs(new.upper)))
    told = "Values further out count as they are" if wider else "Values beyond the new bounds count as the nearest of them"
    told += f"; the noise of sums {noise}." if noise else "."
    yield PolicyChange(f"{where}.bounds", *shown, LOOSENS if wider else TIGHTENS, told)


def _span(ends: tuple[Any, Any] | None) -> str:
    return NOTHING if ends is None else f"{ends[0]} to {ends[1]}"


def _ends(column: Column) -> tuple[Any, Any] | None:
    """Two numbers, days or moments: of one type of column they can be compared."""
    if column.first is not None and column.last is not None:
        return column.first, column.last
    return None if column.lower is None or column.upper is None else (column.lower, column.upper)


def _step(old: Column, new: Column, where: str) -> Iterator[PolicyChange]:
    own = "step" in old.facts or "step" in new.facts  # otherwise it follows from the bounds, which have a line
    if own and old.step != new.step:
        told = "Values are rounded to other multiples before they are added up."
        yield PolicyChange(f"{where}.step", said(old.step), said(new.step), MEANING, told)


def _keys(old: Column, new: Column, where: str) -> Iterator[PolicyChange]:
    if old.keys == new.keys:
        return
    before, after = (() if one.keys is None else one.keys for one in (old, new))
    shown = _count(old.keys), _count(new.keys)
    if new.keys is None:
        told = "The list is gone: groups then have keys that are found in the data, within the price of a question."
    elif old.keys is None:
        told = "Groups of each key that is listed are shown, also where few people or nobody is in one."
    else:
        more, less = _without(after, before), _without(before, after)
        told = " ".join([f"Groups of {said(more)} are shown too."] * bool(more))
        told += " " * bool(more and less) + f"Rows of {said(less)} are in no group any more." * bool(less)
        if not more:
            yield PolicyChange(f"{where}.keys", *shown, TIGHTENS, told)
            return
    yield PolicyChange(f"{where}.keys", *shown, LOOSENS, told)


def _count(keys: tuple[Key, ...] | None) -> str:
    return NOTHING if keys is None else f"{len(keys)} keys"


def _without(keys: tuple[Key, ...], others: tuple[Key, ...]) -> list[Key]:
    """Keys that are not among others; 1 and true are two keys."""
    known = {(type(key), key) for key in others}
    return [key for key in keys if (type(key), key) not in known]


def _nullable(old: Column, new: Column, where: str) -> Iterator[PolicyChange]:
    if old.nullable == new.nullable:
        return
    told = "Groups of it get one more, of missing cells." if new.nullable else "By the owner's word no cell is missing."
    yield PolicyChange(
        f"{where}.nullable", said(old.nullable), said(new.nullable), LOOSENS if new.nullable else MEANING, told
    )


def _auto(old: Column, new: Column, where: str) -> Iterator[PolicyChange]:
    if old.auto != new.auto:
        words = ["found privately" if one.auto else "stated" if one.has_bounds else NOTHING for one in (old, new)]
        told = "Each question finds them, at a part of its price." if new.auto else "No part of a price finds them any more."
        yield PolicyChange(f"{where}.bounds", words[0], words[1], MEANING, told)


def _known_from(old: Column, new: Column, where: str) -> Iterator[PolicyChange]:
    facts = {"bounds": (_ends(old), _ends(new)), "step": (old.step, new.step), "keys": (old.keys, new.keys)}
    kept = [name for name, (before, after) in facts.items() if name in new.facts and before == after]
    yield from origin_changes(old.known_from, new.known_from, kept, f"{where}.known_from")


def origin_changes(old: str | None, new: str | None, kept: list[str], where: str) -> Iterator[PolicyChange]:
    """Another origin; `kept` are facts that stay as they were."""
    if old == new:
        return
    if new == DATA:
        told, verdict = "Values from the data are outside the guarantee; all who ask are told so.", LOOSENS
    elif old == DATA and kept:
        told = f"The same {' and '.join(kept)} came from the data before: who asks is not told so any more."
        verdict = LOOSENS
    elif old == DATA:
        told, verdict = "Nothing that is stated here comes from the data any more.", TIGHTENS
    else:
        told, verdict = "The owner states another origin; prices and answers stay as they are.", NEUTRAL
    yield PolicyChange(where, said(old), said(new), verdict, told)  # type: ignore[arg-type]


def _read_as(old: CellFormat, new: CellFormat, where: str) -> Iterator[PolicyChange]:
    yield from _formats(old, new, where, MEANING, "Cells are read in another way: answers are about other values.")


def _read_as_people(old: CellFormat, new: CellFormat, where: str) -> Iterator[PolicyChange]:
    told = "Cells that say whose a row is are read in another way: two people may become one, or somebody nobody."
    yield from _formats(old, new, where, LOOSENS, told)


def _formats(old: CellFormat, new: CellFormat, where: str, verdict: Verdict, told: str) -> Iterator[PolicyChange]:
    before, after = old.stated(), new.stated()
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield PolicyChange(f"{where}.{name}", said(before.get(name)), said(after.get(name)), verdict, told)


CELL_FIELDS = ("decimal", "thousands", "date", "true", "false", "null")
CELL_RULES: dict[str, Rule[CellFormat]] = dict.fromkeys(CELL_FIELDS, _read_as)
CELL_RULES_OF_PEOPLE: dict[str, Rule[CellFormat]] = dict.fromkeys(CELL_FIELDS, _read_as_people)
RULES: dict[str, Rule[Column]] = {
    **dict.fromkeys(("name", "type", "cells"), nothing),  # columns are compared by name; type and cells: see above
    **dict.fromkeys(("lower", "upper", "first", "last"), _bounds),
    "auto": _auto,
    "step": _step,
    "keys": _keys,
    "nullable": _nullable,
    "known_from": _known_from,
}  # `clamped` is of inner questions, and no policy states it
