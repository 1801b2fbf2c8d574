"""Conditions that keep one row of a person at most: the first purchase of everybody.

Theorem. Let k be ROW_NUMBER() OVER (PARTITION BY person ORDER BY ...), the person alone, in the rows of a relation, or in
rows that conditions, further windows and other columns have made of it. A condition that holds only where k is one constant
keeps at most one row of each person. So she needs no other limit.

Proof. Numbers of a person's rows differ, and conditions, windows and columns of a row make at most one row of one row. ∎

Joins and unions make several rows of one; through these nothing is concluded.
"""

from __future__ import annotations

from fractions import Fraction

from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue, Compare, Constant, InList, Logic
from dither.query.plan.person_windows.window_functions import WindowPlace
from dither.query.plan.relations import FilterRows, Project, Relation, WindowByPerson
from dither.query.policy.column import Column


def filtered(relation: Relation, condition: Expression) -> FilterRows:
    """The rows that meet a condition; where nobody can have two of them, that is said."""
    found = not relation.table.alone and any(_numbers_rows(column, relation) for column in _one_value(condition))
    return FilterRows(relation, condition, alone=found)


def _one_value(condition: Expression) -> list[Column]:
    """The columns that have one value in all rows that meet a condition; of whole numbers from 1 on also those up to 1."""
    match condition:
        case Compare("=", ColumnValue(column), Constant()) | Compare("=", Constant(), ColumnValue(column)):
            return [column]
        case InList(ColumnValue(column), (_,)):
            return [column]
        case Compare("<=", ColumnValue(column), Constant(Fraction() as most)) if most < 2:
            return [column]
        case Compare("<", ColumnValue(column), Constant(Fraction() as most)) if most <= 2:
            return [column]
        case Logic(True, parts):
            return [column for part in parts for column in _one_value(part)]
    return []


def _numbers_rows(column: Column, relation: Relation) -> bool:
    """Whether a column numbers the rows of each person, all of hers."""
    match relation:
        case WindowByPerson(of, window):
            if column == window.column:
                return isinstance(window, WindowPlace) and window.kind == "row_number" and not window.by
            return _numbers_rows(column, of)
        case FilterRows(of):
            return _numbers_rows(column, of)
        case Project(of, columns):
            by = next((by for here, by in columns if here == column), None)
            return isinstance(by, ColumnValue) and _numbers_rows(by.column, of)
    return False
