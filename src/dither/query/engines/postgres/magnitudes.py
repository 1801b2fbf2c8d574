"""Which arithmetic stays within doubles, whatever the rows hold: PostgreSQL fails where one overflows or underflows.

*Theorem.* If `check_numbers` does not refuse an expression, no operation of it overflows or underflows on any row.

*Legend.* A node has the exponents (l, f) if each value of it is zero, an infinity, NaN, or a multiple of 2^f of size at most
2^l. A double is a multiple of its size times 2^-53.

*Proof.* By induction. Cells that are computed with are zero or of sizes 2^-100 to 2^100 (`Words.operands`): (100, -153);
whole numbers of 64 bits are (63, 0). Sums are (1 + max l, min f), products (l + l', f + f'), quotients by a constant of size
between 2^a and 2^b, b <= a + 1, (l - a, f - b - 53). Quotients of two, powers, roots, logarithms and exponentials compare
their operands first (`templates/mathematics.py`) and so fail nowhere; of operands of sizes from 2^f to 2^l follow sizes of
theirs from 2^m to 2^n, no further than that comparison lets them, and (n, m - 53). Rounding to a double keeps this: numbers
that are multiples of 2^f and no doubles lie between doubles which are multiples of 2^f. What only chooses or rounds (CASE,
greatest, floor, abs) has the largest l and the least f of its parts, or of 1, and computes nothing. With l <= 1000 and
f >= -1000 of all that is computed, nothing leaves the doubles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor
from typing import Any

from dither.errors import QuestionError
from dither.query.engines.templates.counters import holds_integers
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Arithmetic, Constant
from dither.query.plan.functions import Round, WidthBucket
from dither.query.plan.mathematics.division import Quotient, Remainder
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.plan.question import Question

LEAF, WHOLE = (100, -153), (63, 0)
FARTHEST = 1000
QUOTIENT, POWER = 1000, 997  # how far comparisons let them: 2^500 / 2^-500, and 10^300
EXPONENTIAL = (-1011, 1011)  # e^-700 to e^700
LOGARITHM = (-55, 11)  # by ten of 1 - 2^-53, by two of 2^-1074
PLAIN = {str, int, bool, date}
Exponents = tuple[int, int]


def check_numbers(question: Question | Expression) -> None:
    """Refuse what could overflow or underflow on some row; of a question, or a part of one."""
    for node in nodes(question):
        found = _checked(node) if isinstance(node, Expression) else None
        if found is not None and (found[0] > FARTHEST or found[1] < -FARTHEST):
            why = "numbers of so many factors, or so large or small, could overflow, and PostgreSQL fails there"
            raise QuestionError("question", type(node).__name__, why, "fewer factors, or constants nearer to 1")


def _checked(node: Expression) -> Exponents | None:
    """l and f of what is computed for a node; None where nothing is, or only what was compared before."""
    if isinstance(node, (Arithmetic, Constant, Round, WidthBucket)):
        return exponents(node)
    if isinstance(node, Remainder) and node.scale > 1:  # of steps, which are halved to round them
        of = exponents(node.of)
        return None if of is None else (of[0] + node.scale.bit_length() + 1, of[1])
    return None


def exponents(node: Expression) -> Exponents | None:
    """l and f of a number; None for what is none."""
    if isinstance(node, Constant):
        return _of_constant(node.value) if isinstance(node.value, (int, Fraction)) else None
    if not node.facts.type.is_number:
        return None
    if isinstance(node, Arithmetic):
        return _computed(node)
    if holds_integers(node):
        return WHOLE
    if isinstance(node, (Quotient, Elementary, Power)):
        least, most = _sizes(node)
        return most, least - 53
    parts = [found for part in _parts(node) if (found := exponents(part)) is not None]
    largest, finest = max([LEAF[0], *(part[0] for part in parts)]), min([LEAF[1], *(part[1] for part in parts)])
    if isinstance(node, Round):
        return largest + 4 * abs(node.digits), finest - 53 - 4 * abs(node.digits)
    if isinstance(node, WidthBucket):
        span, count = _of_constant(node.high - node.low), node.count.bit_length()
        return largest + count - span[0], finest - span[0] - 53
    return largest, finest


def _sizes(node: Quotient | Elementary | Power) -> Exponents:
    """Between which powers of two its values are in size, those of zero aside; operands are of sizes from 2^f to 2^l."""
    of = exponents(node.of)
    assert of is not None
    if isinstance(node, Quotient):
        by = exponents(node.by)
        assert by is not None
        return max(-QUOTIENT, of[1] - by[0]), min(QUOTIENT, of[0] - by[1])
    if isinstance(node, Elementary) and node.name != "sqrt":
        return EXPONENTIAL if node.name == "exp" else LOGARITHM
    exponent, farthest = (Fraction(1, 2), FARTHEST) if isinstance(node, Elementary) else (node.exponent, POWER)
    ends = sorted(exponent * end for end in of)
    return max(-farthest, floor(ends[0])), min(farthest, ceil(ends[1]))


def _computed(node: Arithmetic) -> Exponents:
    left, right = exponents(node.left), exponents(node.right)
    assert left is not None
    assert right is not None
    if node.operator == "*":
        return left[0] + right[0], left[1] + right[1]
    if node.operator == "/":
        least = right[1] + 53  # a constant: its size is between 2^least and 2^l
        return left[0] - least, left[1] - right[0] - 53
    return 1 + max(left[0], right[0]), min(left[1], right[1])


def _of_constant(value: int | Fraction) -> Exponents:
    """Of a size between 2^a and 2^(a + 1): (a + 1, a - 53)."""
    if value == 0:
        return WHOLE
    size = abs(Fraction(value))
    low = size.numerator.bit_length() - size.denominator.bit_length() - 1
    while Fraction(2) ** (low + 1) <= size:
        low += 1
    return low + 1, low - 53


def nodes(node: Any) -> Iterator[Any]:
    """All nodes of a question, each with those inside it."""
    if not isinstance(node, tuple):
        yield node
    yield from (found for part in _fields(node) for found in nodes(part))


def _parts(node: Any) -> Iterator[Expression]:
    """The expressions that stand right inside a node."""
    for part in _fields(node):
        if isinstance(part, Expression):
            yield part
        elif isinstance(part, tuple):
            yield from _parts(part)


def _fields(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        if not set(map(type, node)) <= PLAIN:  # of keys, of which there may be a million, none is a node
            yield from node
    elif is_dataclass(node) and not isinstance(node, type):
        yield from (getattr(node, one.name) for one in fields(node))
