"""A person's own totals as SQL, of one row for each person and key: a template for each class of `plan/person_totals.py`.

The value is called e, its steps n before the clamp and x after it, each with the place of the total. Totals are whole
numbers: counts, and sums of clamped steps. Division happens once, after the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dither.query.engines.templates.counters import clamped, counted
from dither.query.engines.templates.expressions import is_there, render, value
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


def own_values(words: Words, own: PersonTotal, place: int) -> list[str]:
    """What is read of a row."""
    if own.of is None:
        return []
    if own.counter is None:
        return [f"CASE WHEN {is_there(words, own.of)} THEN {render(words, own.of)} END AS e{place}"]
    e = value(words, own.counter)
    return [f"{e} AS e{place}", f"{counted(words, own.counter, e)} AS n{place}"]


def own_steps(words: Words, own: PersonTotal, place: int) -> list[str]:
    """What is added up of a row, if anything is."""
    return [] if own.counter is None else [f"{clamped(words, own.counter, f'e{place}', f'n{place}')} AS x{place}"]


def own_total(words: Words, own: PersonTotal, place: int) -> str:
    """The total of the rows of a person and key."""
    return TOTALS[type(own)](words, own, place)


def _sum(words: Words, own: PersonSum, place: int) -> str:
    there, lower = f"count(x{place})", own.counter.origin
    if own.is_whole:
        found = words.whole(f"({words.total(f'x{place}')} + {words.wide(str(lower))} * {there})")
        return f"CASE WHEN {there} > 0 THEN {found} END"
    return f"CASE WHEN {there} > 0 THEN {_above(words, own, place)} + {there} * {words.number(lower)} END"


def _mean(words: Words, own: PersonMean, place: int) -> str:
    there, lower = f"count(x{place})", words.number(own.counter.origin)
    return f"CASE WHEN {there} > 0 THEN {_above(words, own, place)} / {there} + {lower} END"


def _above(words: Words, own: PersonSum | PersonMean, place: int) -> str:
    """How far values lie above their lower bound, together."""
    return f"{words.double(words.total(f'x{place}'))} * {words.number(own.counter.step)}"


TOTALS: dict[type[PersonTotal], Callable[[Words, Any, int], str]] = {
    PersonRows: lambda words, own, place: "count(*)",
    PersonValues: lambda words, own, place: f"count(e{place})",
    PersonDistinct: lambda words, own, place: f"count(DISTINCT e{place})",
    PersonSum: _sum,
    PersonMean: _mean,
    PersonMin: lambda words, own, place: f"min(e{place})",
    PersonMax: lambda words, own, place: f"max(e{place})",
}
