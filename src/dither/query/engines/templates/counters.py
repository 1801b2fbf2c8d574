"""Values as whole steps between bounds: what is added up (`plan/counters.py`), from the SQL of a value."""

from __future__ import annotations

from fractions import Fraction

from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.counters import Counter
from dither.query.plan.expressions import ColumnValue, DatePart
from dither.query.plan.functions import Length, WidthBucket
from dither.query.policy.column import Type

WHOLE = (ColumnValue, DatePart, Length, WidthBucket)  # their whole numbers are of 64 bits, all other numbers may be doubles
LARGEST = 2**62


def holds_integers(node: Expression) -> bool:
    """Whether its values are whole numbers of 64 bits, not doubles."""
    return isinstance(node, WHOLE) and node.facts.type is Type.INTEGER


def is_whole(measure: Counter) -> bool:
    """Whether a value is its own number of steps, in 64 bits."""
    if measure.of is None or not holds_integers(measure.of) or measure.step != 1:
        return False
    return measure.low + _origin(measure) > -LARGEST and measure.high + _origin(measure) < LARGEST


def counted(words: Words, measure: Counter, e: str) -> str:
    """The value `e` in steps, before the clamp; NULL where it has none, or lies beyond 2^63 steps."""
    if is_whole(measure):
        return words.cast("NULL", words.types[Type.INTEGER])  # not needed: `clamped` takes the value itself
    origin = _origin(measure)
    shifted = e if origin == 0 else f"({e} - {words.number(origin)})"
    inverse = 1 / measure.step
    by = f"* {words.number(inverse)}" if inverse.denominator == 1 else f"/ {words.number(measure.step)}"
    return words.whole(words.floor(f"{shifted} {by} + {words.double('0.5')}"))


def clamped(words: Words, measure: Counter, e: str, k: str) -> str:
    """The steps `k` of the value `e`, from `low` to `high` whatever the row holds; NULL where e is NULL or NaN.

    k is missing for NaN, which is above every number, and for values beyond 2^63 steps, which the sign tells apart. `above`
    counts from the lower bound, `steps` from zero.
    """
    low, high, origin = words.integer(measure.low), words.integer(measure.high), _origin(measure)
    if is_whole(measure):
        first, last = measure.low + int(origin), measure.high + int(origin)
        shifted = e if origin == 0 else f"{e} - ({int(origin)})"
        inside = f"{e} BETWEEN {first} AND {last} THEN {shifted}"
        return f"CASE WHEN {inside} WHEN {e} > {last} THEN {high} WHEN {e} < {first} THEN {low} END"
    far = f"CASE WHEN {e} > {words.number(origin)} THEN {high} ELSE {low} END"
    inside = f"{k} BETWEEN {low} AND {high} THEN {k} WHEN {k} > {high} THEN {high} WHEN {k} < {low} THEN {low}"
    return f"CASE WHEN {inside} WHEN {words.is_real(e)} THEN {far} END"


def _origin(measure: Counter) -> Fraction:
    assert measure.of is not None
    assert measure.of.facts.lower is not None
    return measure.of.facts.lower if measure.kind == "above" else Fraction(0)
