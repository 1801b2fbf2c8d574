"""HAVING: conditions on the rows of an answer, by released aggregates and by keys. It looks at no private row.

An aggregate that SELECT does not name is released too, and not shown. A condition is met if it is TRUE; what is missing, an
average of nothing or the key of all others together, makes it NULL (`plan/question.py`).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from dither.errors import QuestionError
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Compare, Comparison, Constant, InList, IsNull, Logic, Not, ReleasedConstant, Value
from dither.query.plan.question import Group, Having, HavingFilter, HavingLogic, HavingNot, HavingNull
from dither.query.policy.column import Key, Type
from dither.query.sql.expressions import SIGNS, TURNED, Reader
from dither.query.sql.syntax import refuse

CONDITIONS = (exp.LogicalAnd, exp.LogicalOr)  # of a group these are MIN and MAX of 0 and 1


@dataclass(frozen=True)
class HavingReader:
    """Reads the conditions of a HAVING."""

    reader: Reader
    groups: Sequence[Group]
    named: Callable[[exp.Expr], str | None]  # the released number that a node names or is; None where it is none
    meant: Callable[[exp.Expr], exp.Expr]  # what a name of SELECT stands for
    clause: str = "HAVING"

    def conditions(self, clause: exp.Expr) -> tuple[Having, ...]:
        """All of them must be met."""
        whole = clause.this
        parts = list(whole.flatten()) if isinstance(whole, exp.And) else [whole]
        return tuple(self._condition(part) for part in parts)

    def _condition(self, node: exp.Expr) -> Having:
        node = node.unnest()
        kind = type(node)
        if isinstance(node, (exp.And, exp.Or)):
            return HavingLogic(isinstance(node, exp.And), tuple(self._condition(part) for part in node.flatten()))
        if isinstance(node, exp.Not):
            return HavingNot(self._condition(node.this))
        if kind in SIGNS:
            for sign, one, other in (
                (SIGNS[kind], node.this, node.expression),
                (TURNED[SIGNS[kind]], node.expression, node.this),
            ):
                name = self.named(one.unnest())
                if name is not None:
                    return self._number(name, sign, one.unnest(), other, node)
        name = self.named(node.this.unnest()) if isinstance(node, (exp.Between, exp.Is)) else None
        if name is not None and isinstance(node, exp.Between):
            low, high = (self._number(name, sign, node.this, node.args[end], node) for sign, end in ENDS)
            return HavingLogic(True, (low, high))
        if name is not None and isinstance(node.expression, exp.Null):
            return HavingNull(name)
        name = self.named(node) if isinstance(node, CONDITIONS) else None
        return self._key(node) if name is None else HavingFilter(name, "=", Fraction(1))

    def _number(self, name: str, sign: Comparison, of: exp.Expr, node: exp.Expr, whole: exp.Expr) -> HavingFilter:
        value = self.reader.meaning(node)
        if isinstance(value, ReleasedConstant):
            return HavingFilter(name, sign, value)
        if isinstance(value, Constant) and isinstance(value.value, bool) and isinstance(of, CONDITIONS):
            return HavingFilter(name, sign, Fraction(value.value))
        if not isinstance(value, Constant) or not isinstance(value.value, Fraction):
            return self._difference(sign, whole)
        return HavingFilter(name, sign, value.value)

    def _difference(self, sign: Comparison, whole: exp.Expr) -> HavingFilter:
        """Two numbers of the answer: their difference is compared with zero, and missing where one of them is."""
        if type(whole) not in SIGNS or self.clause != "QUALIFY":
            raise self._refused(whole)
        one, other = whole.this, whole.expression
        turned = SIGNS[type(whole)] != sign and sign not in ("=", "<>")
        first, second = (other, one) if turned else (one, other)
        parts = {"this": exp.Paren(this=first.copy()), "expression": exp.Paren(this=second.copy())}
        name = self.named(exp.Sub(**parts))
        if name is None:
            raise self._refused(whole)
        return HavingFilter(name, sign, Fraction(0))

    def _key(self, node: exp.Expr) -> Having:
        """A condition on keys, read as one on rows: all rows of a group have its key."""
        copy = exp.Paren(this=node.copy())
        for column in list(copy.find_all(exp.Column)):
            meant = self.meant(column)
            if meant is not column:
                column.replace(exp.Paren(this=meant.copy()))
        try:
            by = self.reader.value(copy)
        except QuestionError:
            raise self._refused(node) from None
        found = self._of_groups(by, node)
        if found is None:
            raise self._refused(node)
        return found

    def _of_groups(self, by: Expression, node: exp.Expr) -> Having | None:
        name = next((group.name for group in self.groups if group.meaning == by), None)
        if name is not None and by.facts.type is Type.BOOLEAN:
            return HavingFilter(name, "=", True)
        match by:
            case Compare(sign, of, Constant(value)):
                return self._compared(of, sign, value, node)
            case Compare(sign, Constant(value), of):
                return self._compared(of, TURNED[sign], value, node)
            case InList(of, options):
                either = [self._compared(of, "=", option.value, node) for option in options]
                known = tuple(part for part in either if part is not None)
                return HavingLogic(False, known) if known else None
            case IsNull(of):
                group = self._group(of)
                return None if group is None else HavingNull(group.name)
            case Logic(every, parts):
                found = [self._of_groups(part, node) for part in parts]
                whole = tuple(part for part in found if part is not None)
                return HavingLogic(every, whole) if len(whole) == len(found) else None
            case Not(condition):
                inner = self._of_groups(condition, node)
                return None if inner is None else HavingNot(inner)
        return None

    def _compared(self, of: Expression, sign: Comparison, value: Value, node: exp.Expr) -> HavingFilter | None:
        group = self._group(of)
        if group is None:
            return None
        for open_key in group.open_keys:
            beyond = BEYOND.get(open_key.side)
            if beyond is not None and not _alike_beyond(sign, value, open_key.key, beyond):
                why = f"the group {open_key.text} stands for all that is beyond, and not all of that is alike to it"
                instead = f"a condition on all of {beyond} {_written(open_key.key)}, or on none of it"
                raise refuse(node, why, instead)
        return HavingFilter(group.name, sign, value)

    def _group(self, of: Expression) -> Group | None:
        return next((group for group in self.groups if group.meaning == of), None)

    def _refused(self, node: exp.Expr) -> QuestionError:
        why = f"{self.clause} compares an aggregate with a number, or a column of GROUP BY with constants"
        instead = "numbers that are written out; WHERE for conditions on rows, which are other conditions"
        return refuse(node, f"{why}; joined by AND, OR and NOT", instead)


BEYOND = {"below": "<=", "above": ">="}
ENDS: tuple[tuple[Comparison, str], ...] = ((">=", "low"), ("<=", "high"))


def _alike_beyond(sign: Comparison, value: Any, edge: Any, beyond: str) -> bool:
    """Whether a comparison says the same of the edge and of all that is beyond it."""
    if value == edge:
        return sign in ((">=", "<") if beyond == ">=" else ("<=", ">"))
    return bool(value < edge if beyond == ">=" else value > edge)


def _written(key: Key) -> str:
    return f"'{key}'" if isinstance(key, datetime.date) else str(key)
