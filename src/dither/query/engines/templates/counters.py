"""Values as whole steps between bounds: what is added up (`plan/counters.py`), from the SQL of a value.

With the origin o (the lower bound for `AboveCounter`, zero for `StepCounter`) and the step s, the value e has
k = floor((e - c) / s) steps, c = o - s / 2: the nearest. `counted` computes k, `clamped` makes of it what is added up. In
doubles an edge between two steps may be off by the rounding of e - c and of the quotient, by far less than a step where
doubles tell steps apart.

Why the clamp is within [low, high]. Each value that `clamped` gives is k, tested as a whole number to lie between them, or
one of the two, or NULL: whatever e and k are. So it does not matter how doubles are rounded. Beyond the ends k is NULL: -inf
gives low, +inf and 1.7e308 high. NULL and NaN give NULL: k is NULL, and they are no real.

Why nothing fails on a row. e is compared with the ends, o + low s and o + high s, before anything is computed of it; ends, c
and s are finite, and far from the ends of doubles. Let a = e - c, as computed. Overflow: a / s is at most high + 1 and at
least low - 1, beside what the rounding of c and the ends takes, 2^-52 * 2^100 = 2^48 steps: below 2^63 (there are at most
2^62). Nor does a / s underflow, which PostgreSQL calls an error: a is zero, or |a| >= s / 2^56. For if |a| < s / 4, then |c|
>= s / 2: that is c for `StepCounter`, while for `AboveCounter` e is no less than o, s / 2 above c, unless rounding takes
s / 4 away: then |c| >= 2^49 s. So e and c are above s / 5, their ulp is above s / 2^56, and they differ by multiples of it.
Where steps are too small or too large for all this, `is_coarse`, nothing is computed.
"""

from __future__ import annotations

from fractions import Fraction

from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.counters import Counter
from dither.query.plan.dates import DateDiff
from dither.query.plan.expressions import ColumnValue, DatePart
from dither.query.plan.functions import Length, WidthBucket
from dither.query.plan.mathematics.division import Remainder, Sign, WholeQuotient
from dither.query.policy.column import Type

WHOLE = (
    ColumnValue,
    DateDiff,
    DatePart,
    Length,
    Remainder,
    Sign,
    WholeQuotient,
    WidthBucket,
)  # their whole numbers are of 64 bits, all other numbers may be doubles
LARGEST = 2**62
SMALLEST, WIDEST = Fraction(1, 2**900), 2**900  # steps: far from where doubles underflow and overflow
FARTHEST = 2**100  # steps of an end from zero: such doubles are 2^48 steps apart


def holds_integers(node: Expression) -> bool:
    """Whether its values are whole numbers of 64 bits, not doubles."""
    return isinstance(node, WHOLE) and node.facts.type is Type.INTEGER


def is_whole(measure: Counter) -> bool:
    """Whether a value is its own number of steps, in 64 bits."""
    if measure.of is None or not holds_integers(measure.of) or measure.step != 1:
        return False
    first, last = _ends(measure)
    return first > -LARGEST and last < LARGEST


def is_coarse(measure: Counter) -> bool:
    """Whether steps are none that doubles tell apart: too small, too large, or too far from zero."""
    far = max(map(abs, _ends(measure))) > FARTHEST * measure.step
    return far or not SMALLEST <= measure.step <= WIDEST


def counted(words: Words, measure: Counter, e: str) -> str:
    """The value `e` in steps, before the clamp; NULL where it has none, or lies beyond the ends."""
    if is_whole(measure) or is_coarse(measure):
        return words.cast("NULL", words.types[Type.INTEGER])  # not needed: `clamped` takes the value itself
    first, last = (words.number(end) for end in _ends(measure))
    above = f"({e} - {words.number(measure.origin - measure.step / 2)})"
    inverse = 1 / measure.step  # by which whole numbers of hundredths, say, are told apart more exactly
    by = f"* {words.number(inverse)}" if inverse.denominator == 1 else f"/ {words.number(measure.step)}"
    return f"CASE WHEN {e} BETWEEN {first} AND {last} THEN {words.narrow(words.floor(f'{above} {by}'))} END"


def clamped(words: Words, measure: Counter, e: str, k: str) -> str:
    """The steps `k` of the value `e`, from `low` to `high` whatever the row holds; NULL where e is NULL or NaN."""
    low, high, (first, last) = words.integer(measure.low), words.integer(measure.high), _ends(measure)
    if is_whole(measure):
        shifted = e if (origin := int(measure.origin)) == 0 else f"{e} - ({origin})"
        inside = f"{e} BETWEEN {first} AND {last} THEN {shifted}"
        return f"CASE WHEN {inside} WHEN {e} > {last} THEN {high} WHEN {e} < {first} THEN {low} END"
    inside = "" if is_coarse(measure) else f"WHEN {k} BETWEEN {low} AND {high} THEN {k} "
    beyond = f"CASE WHEN {e} <= {words.number((first + last) / 2)} THEN {low} ELSE {high} END"
    return f"CASE {inside}WHEN {words.is_real(e)} THEN {beyond} END"


def _ends(measure: Counter) -> tuple[Fraction, Fraction]:
    """The values that are `low` and `high` steps."""
    return measure.origin + measure.low * measure.step, measure.origin + measure.high * measure.step
