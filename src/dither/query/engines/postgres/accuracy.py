"""Where logarithms, exponentials and powers may stand on PostgreSQL: where a row counts within one step of DuckDB's.

IEEE rounds sums, products, quotients and square roots in one way; LN, LOG, EXP and POWER are as good as a machine's library,
so that two engines, or two machines, may differ in the last digits. For privacy that is of no matter: neighbours are read by
one engine on one machine, and the claim rests on the clamp alone (`plan/mathematics/elementary.py`).

Theorem. If `check_accuracy` does not refuse a question, every row that is added up has values on both engines or on none,
and they are the same number of steps, or next to each other. All that decides by a border (WHERE, keys, inner questions,
rounding) is of exact values, and so the same.

Legend. v, v' are the values of a row on the two engines, M the larger of |v| and |v'|. A node has the difference (r, a) if
both are missing or |v - v'| <= r M + a, on every row. s is the step, B the larger end of the bounds in size plus s.

Proof. Functions of libraries are within 2^-50 of the truth, and get exact values, so that missing is decided alike: (2^-48,
0), with one sign, and zero alike. By induction, with sizes of at most S = 2^l (`magnitudes.py`): a product of two with a = 0
has (r + r' + 2^-48, 0), one by a constant c (r + 2^-48, a |c|), a quotient by c (r + 2^-48, a / |c|), a sum (2^-48,
r S + a + r' S' + a'); 2^-48 is more than rounding and r r' take. (Where a > 0, signs may differ; a product with an infinity
would tell.) CASE and COALESCE choose alike, by exact conditions and by what is missing. |x| differs as x does. Of the
largest or least of several the values lie between v and v' of one of them, so that it has twice the largest r, and the
largest a. All else is refused. Now let 2 r B + a <= s / 8. If v or v' is between the ends, M <= 2 B, and they differ by at
most s / 8; if both are beyond, they are beyond the same end, or they would differ by s or more, which takes M <= 2 a < s.
Since r >= 2^-48, B <= 2^44 s: rounding e - c and its quotient by s (`templates/counters.py`) takes less than s / 16,
so that the quotients differ by less than 1, their floors by 0 or 1, and at the ends, half a step from a border, by 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from dither.errors import QuestionError
from dither.query.engines.postgres.magnitudes import exponents, nodes
from dither.query.engines.templates.counters import is_coarse
from dither.query.plan.aggregates import Aggregate, CountValues, PairAggregate
from dither.query.plan.base import Expression
from dither.query.plan.counters import AboveCounter
from dither.query.plan.expressions import Arithmetic, Case, ColumnValue, Constant
from dither.query.plan.functions import Abs, Coalesce, GreatestLeast
from dither.query.plan.lattice import bounded_step
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.plan.question import Question
from dither.query.plan.relations import Relation

ROUNDED = Fraction(1, 2**48)  # how far libraries differ, in parts of a value; rounding to a double takes less
INSTEAD = "SUM(...) or another aggregate of it, in the outer question; or the same rows in files"
Difference = tuple[Fraction, Fraction]
EXACT: Difference = (Fraction(0), Fraction(0))


def is_exact(node: Expression | Relation) -> bool:
    """Whether all engines compute the same: nothing in it is rounded by a machine's library."""
    return _inexact(node) is None


def check_accuracy(question: Question) -> None:
    """Refuse functions that engines round differently, but where a row counts within one step."""
    _must_be_exact(question.relation, "stands in an inner question, where all that follows could hang on it")
    for part in (question.where, *question.groups):
        _must_be_exact(part, "decides which rows or groups there are")
    for aggregate in question.aggregates:
        values = aggregate.pair if isinstance(aggregate, PairAggregate) else (aggregate.of,)
        for of in values:
            if of is not None and not is_exact(of):
                _check_aggregate(aggregate, of)


def _check_aggregate(aggregate: Aggregate, of: Expression) -> None:
    if not isinstance(aggregate, CountValues) and not aggregate.needs_bounds:
        _must_be_exact(of, "decides what is counted")
    found = difference(of)
    if found is None:
        _must_be_exact(of, "is compared, rounded or put into another function")
    if isinstance(aggregate, CountValues):
        return
    if any(isinstance(node, ColumnValue) and node.column.auto for node in nodes(of)):
        _must_be_exact(of, "has bounds that are found later")
    step = bounded_step(of)
    if step is not None and found is not None and not is_within_a_step(of, step, found):
        _must_be_exact(of, "is counted in steps as fine as doubles")


def is_within_a_step(of: Expression, step: Fraction, found: Difference) -> bool:
    """Whether values of such a difference are the same number of steps, or next to each other."""
    facts, (relative, absolute) = of.facts, found
    assert facts.lower is not None
    assert facts.upper is not None
    largest = max(abs(facts.lower), abs(facts.upper)) + step
    return 2 * relative * largest + absolute <= step / 8 and not is_coarse(AboveCounter(of, step))


def difference(node: Expression) -> Difference | None:
    """r and a; None where engines may differ by more, or in whether there is a value."""
    if is_exact(node):
        return EXACT
    match node:
        case Elementary(_, of) | Power(of, _):
            return (ROUNDED, Fraction(0)) if is_exact(of) else None
        case Abs(of):
            return difference(of)
        case GreatestLeast(_, parts):
            found = _largest(parts)
            return None if found is None else (2 * found[0], found[1])
        case Coalesce(parts):
            return _largest(parts)
        case Case(branches, otherwise):
            chosen = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
            return _largest(chosen) if all(is_exact(condition) for condition, _ in branches) else None
        case Arithmetic():
            return _computed(node)
    return None


def _computed(node: Arithmetic) -> Difference | None:
    left, right = difference(node.left), difference(node.right)
    if left is None or right is None:
        return None
    if node.operator in ("*", "/"):
        for side, other in ((node.right, left), (node.left, right)):
            if isinstance(side, Constant) and isinstance(side.value, Fraction):
                factor = abs(side.value) if node.operator == "*" else 1 / abs(side.value)
                return other[0] + ROUNDED, other[1] * factor
        return (left[0] + right[0] + ROUNDED, Fraction(0)) if left[1] == right[1] == 0 else None
    for side, other in ((node.left, right), (node.right, left)):
        if side == Constant(Fraction(0)):  # the sign changes, and nothing is rounded
            return other
    parts = [found[0] * _size(of) + found[1] for of, found in ((node.left, left), (node.right, right))]
    return ROUNDED, sum(parts, Fraction(0))


def _size(node: Expression) -> Fraction:
    found = exponents(node)
    assert found is not None
    return Fraction(2) ** found[0]


def _largest(parts: Iterable[Expression]) -> Difference | None:
    each = [difference(part) for part in parts]
    known = [one for one in each if one is not None]
    return (max(r for r, _ in known), max(a for _, a in known)) if len(known) == len(each) else None


def _inexact(part: Any) -> Elementary | Power | None:
    return next((node for node in nodes(part) if isinstance(node, (Elementary, Power)) and not node.exact), None)


def _must_be_exact(part: Any, role: str) -> None:
    found = _inexact(part)
    if found is not None:
        name = found.name.upper() if isinstance(found, Elementary) else f"POWER by {found.exponent}"
        why = f"{name} {role}, and engines differ in its last digits"
        raise QuestionError("question", name, why, INSTEAD)
