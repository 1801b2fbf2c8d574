"""The policy of a question that finds limits and bounds privately: before, and with what was found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from dither.errors import QuestionError
from dither.query.policy.column import AUTO, Column
from dither.query.policy.policy import Policy
from dither.query.policy.table import LIMITS, Table

HARD = "hard"  # instead of limits that are found: those that nobody can exceed
UPPER, LOWER = "upper bound of ", "lower bound of "


def with_auto(policy: Policy, limits: str | None, bounds: str | None) -> Policy:
    """The policy where a question wishes to find limits or bounds privately, within those that are stated."""
    if limits not in (None, AUTO, HARD):
        why = "they are those of the policy, found privately, or those that nobody can exceed"
        raise QuestionError("limits", limits, why, "'auto', 'hard', or leaving it out")
    if bounds not in (None, AUTO):
        raise QuestionError(
            "bounds", bounds, "they are those of the policy, or found privately", "'auto', or leaving it out"
        )
    if limits is None and bounds is None:
        return policy
    tables = []
    for table in policy.tables:
        auto = (table.auto or limits == AUTO) and limits != HARD and table.person is not None
        columns = [
            replace(column, auto=column.auto or (bounds == AUTO and column.lower is not None)) for column in table.columns
        ]
        tables.append(table if table.public else replace(table, auto=auto, columns=tuple(columns)))
    return replace(policy, tables=tuple(tables))


def is_hard(fact: str, table: Table, top: int) -> bool:
    """Whether nobody is beyond the highest limit of a ladder, by the owner's word; the top may be below what she said."""
    if fact == "max_rows":
        return table.hard_rows is not None and table.hard_rows <= top
    if fact.startswith("max_sum."):
        said = fact in table.hard and _sum_of(fact, table, top) == table.sum_limit(fact.removeprefix("max_sum."))
        return said or (table.hard_rows is not None and table.hard_rows * _reach(fact, table) <= top)
    end = next((end for end in (UPPER, LOWER) if fact.startswith(end)), None)
    return fact in table.hard if end is None else f"bounds.{fact.removeprefix(end)}" in table.hard


def _reach(fact: str, table: Table) -> Fraction:
    """The most steps of a value, once it was clamped."""
    column = table.column(fact.removeprefix("max_sum."))
    assert column is not None
    assert column.lower is not None
    assert column.upper is not None
    assert column.step is not None
    return max(abs(column.lower), abs(column.upper)) / column.step


def _sum_of(fact: str, table: Table, steps: int) -> Fraction:
    """So many steps of a column, but no more than is stated, which may lie between two steps."""
    column = table.column(fact.removeprefix("max_sum."))
    assert column is not None
    assert column.step is not None
    found, stated = steps * column.step, table.sum_limit(column.name)
    return found if stated is None else min(found, stated)


def policy_with(policy: Policy, name: str, found: dict[str, int]) -> Policy:
    """The policy of a table with what was found; nothing is found any more."""
    return replace(policy, tables=tuple(_with(table, found) if table.name == name else table for table in policy.tables))


def _with(table: Table, found: dict[str, int]) -> Table:
    after = replace(table, auto=False)
    if "max_rows" in found:
        after = with_rows(after, found["max_rows"])
    if "max_groups" in found:
        after = replace(after, max_groups=found["max_groups"])
    sums, columns = dict(table.max_sum), []
    for column in table.columns:
        if f"max_sum.{column.name}" in found:
            fact = f"max_sum.{column.name}"
            sums[column.name] = _sum_of(fact, table, found[fact])
        columns.append(_with_bounds(column, found) if column.auto else column)
    after = replace(after, max_sum=tuple(sums.items()), columns=tuple(columns))
    return replace(after, hard=frozenset(one for one in table.hard if _same(one, table, after)))


def with_rows(table: Table, most: int) -> Table:
    """The table with another limit of rows; the other two are at most that."""
    groups, rows = min(table.max_groups, most), min(table.max_rows_per_group, most)
    return replace(table, max_rows=most, max_groups=groups, max_rows_per_group=rows)


def _with_bounds(column: Column, found: dict[str, int]) -> Column:
    """Found bounds are steps from zero; they are moved outwards to a step from the old lower bound."""
    lower, upper, step = column.lower, column.upper, column.step
    assert lower is not None
    assert upper is not None
    assert step is not None
    high, low = found.get(f"{UPPER}{column.name}"), found.get(f"{LOWER}{column.name}")
    last = upper if high is None else min(upper, lower + max(1, ceil((high * step - lower) / step)) * step)
    first = lower if low is None else max(lower, lower + floor((-low * step - lower) / step) * step)
    if first >= last:
        first, last = (first, first + step) if first + step <= upper else (last - step, last)
    return replace(column, lower=first, upper=last, auto=False)


def _same(hard: str, before: Table, after: Table) -> bool:
    """Whether what nobody can exceed is still what it was."""
    if hard == "owner":
        return True
    if hard in LIMITS:
        return bool(getattr(before, hard) == getattr(after, hard))
    what, _, name = hard.partition(".")
    if what == "max_sum":
        return before.sum_limit(name) == after.sum_limit(name)
    old, new = before.column(name), after.column(name)
    assert old is not None
    assert new is not None
    ends = [(column.lower, column.upper, column.first, column.last) for column in (old, new)]
    return what in ("steps", "keys") or ends[0] == ends[1]
