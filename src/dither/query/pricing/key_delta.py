"""The delta of a question about keys, or values, that nobody declared: how much, and from where.

    budget approx(epsilon, delta)    half of delta is kept for such events, see `ledger/entries/budget.py`
    budget zcdp(rho, delta)          all of its delta
    a sum of epsilons and deltas     all of its delta
    other budgets                    none: there keys must be declared

One question takes a hundredth of that unless `delta` says otherwise. A guarantee with a delta of its own says it by itself.
What is stated for a batch is that of the whole batch: its questions about such keys have equal parts of it.

Where values are counted (`COUNT(DISTINCT x)` of undeclared x), a choice of values may be released and need not be
(`statistics/distinct_values.py`): without a delta it is not made, and a delta that no choice takes is not charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dither.errors import GuaranteeError, NumberError
from dither.numeric.number import NumberLike
from dither.privacy.budget.filter import ApproxFilter, Filter, SumFilter, ZcdpFilter
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_delta
from dither.query.groups.group_choice import unknown_groups
from dither.query.plan.aggregates import CountDistinctValues
from dither.query.plan.question import Question

QUESTIONS = 100  # with keys that nobody declared, unless delta is stated


def of_events(budget: Filter) -> Fraction:
    """The delta that a budget keeps for questions with a delta of their own."""
    if isinstance(budget, ApproxFilter):
        return budget.delta_events
    return budget.delta if isinstance(budget, (SumFilter, ZcdpFilter)) else Fraction(0)


def read_lost(
    question: Question, budget: Filter, stated: NumberLike | None, guarantee: Guarantee | None, *, counts_rho: bool
) -> Fraction:
    """The delta of the choice of keys; 0 where all are declared."""
    names = ", ".join(group.name for group in unknown_groups(question))
    if counts_values(question):
        return _of_values(budget, stated, guarantee, counts_rho=counts_rho)
    if not names:
        if stated is not None:
            raise NumberError("delta", stated, "all keys of this question are declared, which needs none", "leaving it out")
        return Fraction(0)
    whole, lost = of_events(budget), None if stated is None else read_delta(stated)
    declare = "keys = [...] in the policy"
    if whole == 0:
        why = "the policy declares no keys for it. Those that people hold could be shown at the price of a delta, "
        why += f"and the budget, {budget.ceiling}, has none"
        raise GuaranteeError("GROUP BY", names, why, f"{declare}; or a budget such as approx(3, '1e-6')")
    if lost == 0:
        raise NumberError("delta", stated, f"nobody declared the keys of {names}, which are shown at a price", declare)
    if isinstance(guarantee, Guarantee):
        mine = guarantee.charge().delta
        if mine == 0:
            why = f"its delta is 0, and nobody declared the keys of {names}, which are shown at the price of a delta"
            raise GuaranteeError(
                "guarantee", str(guarantee), why, f"approx('0.5', '1e-9'), zcdp('0.01', delta='1e-9'), or {declare}"
            )
        shared = counts_rho and isinstance(guarantee.parts[0], Approx)  # with the noise, which has a part of delta too
        lost = (mine / 2 if shared else mine) if lost is None else lost
        if lost > mine or (shared and lost == mine):
            raise NumberError("delta", stated, f"the guarantee is {guarantee}", "less")
    lost = whole / QUESTIONS if lost is None else lost
    if lost > whole:
        why = f"the budget, {budget.ceiling}, keeps {float(whole):.3g} for all such questions together"
        raise NumberError("delta", str(stated or guarantee), why, f"'{float(whole / QUESTIONS):.3g}', or leaving it out")
    return lost


def counts_values(question: Question) -> bool:
    """True if values are counted that nobody declared, in groups that are known: a choice of them may be released."""
    return not unknown_groups(question) and any(isinstance(one, CountDistinctValues) for one in question.aggregates)


def _of_values(budget: Filter, stated: NumberLike | None, guarantee: Guarantee | None, *, counts_rho: bool) -> Fraction:
    """The delta of a choice of values, which may be made and need not: 0 where the price has none."""
    whole, lost = of_events(budget), None if stated is None else read_delta(stated)
    if isinstance(guarantee, Guarantee):
        mine = guarantee.charge().delta
        most = mine / 2 if counts_rho and isinstance(guarantee.parts[0], Approx) else mine
        return min(whole, most if lost is None else min(lost, most))
    return min(whole, whole / QUESTIONS if lost is None else lost)


def share_lost(
    questions: Sequence[Question],
    budget: Filter,
    stated: NumberLike | None,
    guarantee: Guarantee | None,
    *,
    counts_rho: bool,
) -> list[Fraction]:
    """The delta of each question of a batch; those that may choose values have none where it is not enough for all."""
    unknown = [question for question in questions if unknown_groups(question)]
    values = [question for question in questions if counts_values(question)]
    several = len(unknown) + len(values)
    lost = read_lost((unknown or values or questions)[0], budget, stated, guarantee, counts_rho=counts_rho)
    if stated is not None or isinstance(guarantee, Guarantee):
        lost /= max(1, several)
    if lost * len(unknown) > of_events(budget):
        most = of_events(budget)
        why = f"nobody declared the keys of so many, and the budget, {budget.ceiling}, keeps {float(most):.3g} for all"
        raise NumberError("questions", len(unknown), why, f"delta='{float(most / QUESTIONS):.3g}' for all of them together")
    also = lost if lost * several <= of_events(budget) else Fraction(0)
    return [lost if unknown_groups(one) else also if counts_values(one) else Fraction(0) for one in questions]
