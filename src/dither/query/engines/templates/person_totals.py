"""A person's own totals as SQL, of one row for each person and key: a template for each class of `plan/person_totals.py`.

The value is called e, its steps n before the clamp and x after it, each with the place of the total. Totals are whole
numbers: counts, and sums of clamped steps. Division happens once, after the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dither.query.engines.templates.counters import clamped, counted
from dither.query.engines.templates.expressions import as_column, settled, value
from dither.query.engines.words import Words
from dither.query.plan.person_totals import (
    PersonDistinct,
    PersonMax,
    PersonMean,
    PersonMin,
    PersonRows,
    PersonSum,
    PersonTotal,
    PersonValues,
)
from dither.query.policy.column import Type


def own_values(words: Words, own: PersonTotal, place: int) -> list[str]:
    """What is read of a row."""
    if own.of is None:
        return []
    if own.counter is None:
        return [f"{settled(words, own.of)} AS e{place}"]
    e = value(words, own.counter)
    return [f"{e} AS e{place}", f"{counted(words, own.counter, e)} AS n{place}"]


def own_steps(words: Words, own: PersonTotal, place: int) -> list[str]:
    """What is added up of a row, if anything is."""
    return [] if own.counter is None else [f"{clamped(words, own.counter, f'e{place}', f'n{place}')} AS x{place}"]


def own_total(words: Words, own: PersonTotal, place: int, over: str = "") -> str:
    """The total of the rows of a person and key; with `over` behind each aggregate, of the rows of a window."""
    return TOTALS[type(own)](words, own, place, over)


def _sum(words: Words, own: PersonSum, place: int, over: str) -> str:
    there, lower = f"count(x{place}){over}", own.counter.origin
    if own.is_whole:
        found = words.whole(f"({words.narrow_total(f'x{place}', over)} + {words.wide(str(lower))} * {there})")
        return f"CASE WHEN {there} > 0 THEN {found} END"
    return f"CASE WHEN {there} > 0 THEN {_above(words, own, place, over)} + {there} * {words.number(lower)} END"


def _mean(words: Words, own: PersonMean, place: int, over: str) -> str:
    there, lower = f"count(x{place}){over}", words.number(own.counter.origin)
    return f"CASE WHEN {there} > 0 THEN {_above(words, own, place, over)} / {there} + {lower} END"


def _above(words: Words, own: PersonSum | PersonMean, place: int, over: str) -> str:
    """How far values lie above their lower bound, together."""
    total = words.narrow_total(f"x{place}", over)
    return f"{words.double(f'({total})' if over else total)} * {words.number(own.counter.step)}"


def _end(words: Words, own: PersonMin | PersonMax, of: str, numbers: str, conditions: str) -> str:
    """The least or the largest; PostgreSQL has neither of conditions, for which each engine has AND and OR."""
    return as_column(words, own.values, f"{conditions if own.values.facts.type is Type.BOOLEAN else numbers}{of}")


TOTALS: dict[type[PersonTotal], Callable[[Words, Any, int, str], str]] = {
    PersonRows: lambda words, own, place, over: f"count(*){over}",
    PersonValues: lambda words, own, place, over: f"count(e{place}){over}",
    PersonDistinct: lambda words, own, place, over: f"count(DISTINCT e{place}){over}",
    PersonSum: _sum,
    PersonMean: _mean,
    PersonMin: lambda words, own, place, over: _end(words, own, f"(e{place}){over}", "min", "bool_and"),
    PersonMax: lambda words, own, place, over: _end(words, own, f"(e{place}){over}", "max", "bool_or"),
}
