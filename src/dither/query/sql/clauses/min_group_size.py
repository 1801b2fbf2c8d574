"""The owner's minimum size of a group: a row of the answer whose noisy number of people is below it is not shown.

It is a HAVING that the policy writes, `COUNT(DISTINCT person) >= min_group_size`, beside that of the question. Where SELECT
does not ask for the number of people, it is released too, at its part of the price, and not shown. Of several tables the
largest minimum holds. It acts before windows, ORDER BY and LIMIT, as every HAVING does: shares, ranks and totals over the
answer are of the rows that are shown.

Theorem. The rule changes no guarantee.

    M    the release of the question, with the noisy number of people of every declared or chosen group
    g    which rows are shown: a function of what M released, and of the policy

Proof. The answer is g(M(x)): it reads no row, so that P(g(M(x)) in S) = P(M(x) in g^-1(S)), and every bound on M's output
probabilities holds for g's. M is priced with the number of people in it.

What protects is M's noise, and not this rule: a group that is not shown is as private as one that is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate, CountPersons, CountRows
from dither.query.plan.question import HavingFilter, Question
from dither.query.sql.syntax import refuse

RULE = "min_group_size"


def with_min_group_size(question: Question, tree: exp.Select) -> Question:
    """The question with the owner's rule as one of its conditions; as it is, where no table has one."""
    least = max(table.min_group_size for table in question.relation.tables)
    if least == 0:
        return question
    if any(one.of_all_groups for one in question.aggregates):
        why = f"a running sum is of all groups, and the policy shows none of fewer than {least} people ({RULE})"
        window = next((found for found in tree.expressions if found.find(exp.Window)), tree)
        raise refuse(window, why, "the number of rows of each group, without a window")
    if question.sets and question.table.person is not None:
        why = f"people do not add up over groups, and the policy shows none of fewer than {least} people ({RULE})"
        raise refuse(tree.args["group"], why, "GROUP BY without ROLLUP, CUBE and GROUPING SETS")
    people = CountRows("") if question.table.person is None else CountPersons("")
    asked = next((one for one in question.aggregates if replace(one, name="") == people), None)
    added: tuple[Aggregate, ...] = ()
    if asked is None:
        asked = replace(people, name=_unused(question))
        added = (asked,)
    rule = HavingFilter(asked.name, ">=", Fraction(least), RULE)
    return replace(question, aggregates=question.aggregates + added, having=(*question.having, rule))


def _unused(question: Question) -> str:
    """A name that no column of the answer has, nor the ends of an interval."""
    numbers = [one.name for one in question.aggregates] + [one.name for one in question.derived]
    taken = {group.name.lower() for group in question.groups}
    taken |= {f"{name.lower()}{end}" for name in numbers for end in ("", "_low", "_high")}
    number, name = 1, "people"
    while {name, f"{name}_low", f"{name}_high"} & taken:
        number += 1
        name = f"people_{number}"
    return name
