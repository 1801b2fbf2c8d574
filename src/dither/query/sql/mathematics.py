"""Functions of numbers in a question: division and remainders, logarithms, roots and powers; or why one is refused.

Divisors of remainders and whole quotients, exponents and bases are constants: what a row costs, and whether it has a value,
depends on one number of it. Numbers are compared before anything is computed of them, and so an engine gets them several
times: each is counted as often.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.expressions import Arithmetic, ColumnValue, Constant
from dither.query.plan.mathematics.division import Quotient, Remainder, Sign, WholeQuotient
from dither.query.plan.mathematics.elementary import Elementary, ElementaryName, Power
from dither.query.policy.column import Type
from dither.query.sql.functions import Reader
from dither.query.sql.syntax import refuse, shown

LARGEST = 2**53  # of a divisor
MOST_SCALE = 10**9  # one over the step of a decimal, of which remainders are taken
MOST_EXPONENT, LEAST_EXPONENT = Fraction(100), Fraction(1, 100)
NAMES: dict[type[exp.Expr], ElementaryName] = {exp.Ln: "ln", exp.Sqrt: "sqrt", exp.Exp: "exp"}
BASES: dict[Fraction, ElementaryName] = {Fraction(10): "log10", Fraction(2): "log2"}


def _constant(reader: Reader, node: exp.Expr | None) -> Fraction | None:
    """A number that is written out."""
    found = None if node is None else reader.meaning(node)
    value = found.value if isinstance(found, Constant) else None
    return value if isinstance(value, Fraction) else None


def _quotient(reader: Reader, node: exp.Expr) -> Expression:
    by = _constant(reader, node.expression)
    if by == 0:
        raise refuse(node, "nothing can be divided by zero", "a divisor that is not zero")
    if by is not None:
        return Arithmetic("/", reader.number(node.this), Constant(by))
    found = Quotient(reader.number(node.this, 3), reader.number(node.expression, 3))
    if found.by.facts.lower == found.by.facts.upper == 0:
        raise refuse(node, "nothing can be divided by zero", "a divisor that is not zero")
    return found


def _whole_quotient(reader: Reader, node: exp.Expr) -> Expression:
    of, by, what = reader.number(node.this), _constant(reader, node.expression), shown(node.this)
    if by is None or by.denominator != 1 or not 0 < by < LARGEST:
        why = f"{shown(node.expression)} is no constant whole number from 1 to 2^53"
        raise refuse(node, why, "a constant divisor; of two columns, FLOOR of what / gives")
    if of.facts.type is not Type.INTEGER:
        raise refuse(node, f"{what} is no whole number, and engines differ in what // means then", "FLOOR of what / gives")
    return WholeQuotient(of, int(by))


def _remainder(reader: Reader, node: exp.Expr) -> Expression:
    of, by, what = reader.number(node.this), _constant(reader, node.expression), shown(node.this)
    if not by or not abs(by) < LARGEST or MOST_SCALE % by.denominator:
        why = f"{shown(node.expression)} is no constant but for zero, below 2^53, with up to nine digits after the point"
        raise refuse(node, why, "a constant divisor")
    made = Remainder(of, abs(by))
    step = of.column.step if isinstance(of, ColumnValue) else None
    decimal = step is not None and step < 1 and MOST_SCALE % step.denominator == 0
    if of.facts.type is not Type.INTEGER and (not decimal or made.scale > MOST_SCALE):
        why = f"{what} has no step, such as 0.01, of which a remainder could be taken without rounding"
        raise refuse(node, why, "a remainder of whole numbers: FLOOR or ROUND of it first")
    return made


def _sign(reader: Reader, node: exp.Expr) -> Expression:
    return Sign(reader.number(node.this, 3))


def _elementary(reader: Reader, node: exp.Expr) -> Expression:
    return _has_values(Elementary(NAMES[type(node)], reader.number(node.this, 3)), node, node.this)


def _logarithm(reader: Reader, node: exp.Expr) -> Expression:
    """LOG(x) is by 10, as in DuckDB; LOG(b, x) by b."""
    inner = node.expression if node.args.get("expression") is not None else node.this
    base = Fraction(10) if inner is node.this else _constant(reader, node.this)
    if base not in BASES:
        raise refuse(
            node,
            f"logarithms are by 2, by 10, or natural ones, not by {shown(node.this)}",
            "LOG2, LOG10 or LN, divided by that of the base",
        )
    return _has_values(Elementary(BASES[base], reader.number(inner, 3)), node, inner)


def _power(reader: Reader, node: exp.Expr) -> Expression:
    exponent = _constant(reader, node.expression)
    if exponent is None or not LEAST_EXPONENT <= abs(exponent) <= MOST_EXPONENT:
        least, most = float(LEAST_EXPONENT), MOST_EXPONENT
        why = f"{shown(node.expression)} is no constant from {least} to {most} in size"
        raise refuse(node, why, "a constant exponent; a constant to the power of x is EXP of x times its LN")
    return _has_values(Power(reader.number(node.this, 5), exponent), node, node.this)


def _has_values(found: Elementary | Power, node: exp.Expr, inner: exp.Expr) -> Expression:
    """The same, unless no number within the bounds has a value."""
    of, least = found.of.facts, Fraction(0)
    everywhere = found.whole if isinstance(found, Power) else found.name == "exp"
    if of.upper is None or everywhere:
        return found
    positive = isinstance(found, Elementary) and found.name != "sqrt"
    if of.upper < least or (positive and of.upper == least):
        raise refuse(node, f"{shown(inner)} is at most {of.upper}, where it has no value", "an argument within its domain")
    return found


CALLS: dict[type[exp.Expr], Callable[[Reader, exp.Expr], Expression]] = {
    exp.Div: _quotient,
    exp.IntDiv: _whole_quotient,
    exp.Mod: _remainder,
    exp.Sign: _sign,
    exp.Log: _logarithm,
    exp.Pow: _power,
    **dict.fromkeys(NAMES, _elementary),
}
