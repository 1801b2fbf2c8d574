"""Limits of a person: how they are spread over groups, and what a bound leaves of people who are within hard ones."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import QuestionError
from dither.query.counters.counter_sets import CounterSet, choose_counters
from dither.query.counters.estimators import Guesses
from dither.query.engines.templates.clip import coefficient
from dither.query.plan.counters import RowCounter
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import ClipSum
from dither.query.statistics.choose_bounding import choose_bounding, with_shares
from dither.query.statistics.counter_release import CounterRelease, OneMechanism
from dither.query.statistics.limits import HardLimits, Limits, hard_limits, limits_of
from tests.query.neighbours import Case, policy, random_case, random_limits, random_row
from tests.seeds import examples


def table(groups: int, rows: int, **more: object):
    return policy(groups, rows, **more).tables[0]


def test_a_question_without_groups_counts_all_rows_that_the_owner_allowed():
    assert limits_of(table(3, 2), 1) == Limits(1, 6, 6)
    assert limits_of(table(3, 2), 2) == Limits(2, 3, 6)
    assert limits_of(table(3, 2), 3) == Limits(3, 2, 6) == limits_of(table(3, 2), 50)
    assert limits_of(table(20, 5, max_rows=7), 1) == Limits(1, 7, 7)
    assert limits_of(table(20, 5, max_rows=7), 50) == Limits(7, 5, 7)
    assert limits_of(table(3, 2, hard=["max_rows_per_group"]), 2) == Limits(2, 2, 4)  # nobody has more in a group


def test_hard_limits_are_what_the_owner_says():
    assert hard_limits(table(3, 2), 50) == HardLimits(50, None, None)
    assert hard_limits(table(3, 2, hard=["max_groups"]), 50) == HardLimits(3, None, None)
    assert hard_limits(table(3, 2, hard=["max_groups", "max_rows_per_group"]), 50) == HardLimits(3, 2, 6)
    assert hard_limits(table(3, 2, hard=["max_groups", "max_rows_per_group"]), 1) == HardLimits(1, 6, 6)
    assert hard_limits(table(9, 9, max_rows=4, hard=["max_rows"]), 50) == HardLimits(4, 4, 4)


@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (1, 5), (3, 2), (4, 3)])
def test_the_largest_sum_of_squares(groups, rows):
    for most in range(1, groups * rows + 1):
        possible = [v for v in itertools.product(range(rows + 1), repeat=groups) if sum(v) <= most]
        assert Limits(groups, rows, most).squares == max(sum(n * n for n in v) for v in possible)


@given(share=st.integers(1, 2**30), claim=st.integers(1, 2**88))
@settings(max_examples=300, deadline=None)
def test_the_coefficient_of_one_weight_is_rounded_up(share, claim):
    exact = Fraction(share, 2**30)
    away, factor, shift = coefficient(exact, claim)
    found, wanted = Fraction(factor, 2**shift), exact * 2 ** (40 + away) / claim
    assert wanted <= found <= wanted * (1 + Fraction(1, 2**28)) + Fraction(1, 2**shift)
    assert factor < 2**41
    assert (claim * 2**40 // 2**away + 1) * factor < 2**126  # whoever has more counts as nothing


WAYS = ["weights", "clip", "clip sum", "groups", "persons"]


def within(rng: random.Random, case: Case, hard: HardLimits, sums: dict[str, Fraction]) -> list:
    """Rows of one person who is within the hard limits: of rows, of groups, and of what her values add up to."""
    found, groups = [], {}
    for _ in range(rng.randrange(0, 25)):
        row = (1, *random_row(rng)[1:])
        cell = next(iter(case.totals([row], rng)), None)
        one = [*found, row]
        own = {**groups, cell: groups.get(cell, 0) + 1} if cell is not None else groups
        rows = sum(own.values())
        if (hard.most is not None and rows > hard.most) or len(own) > hard.groups:
            continue
        if hard.rows is not None and max(own.values(), default=0) > hard.rows:
            continue
        places = {"cost": 4, "age": 5}
        values = {name: sum(abs(_number(row[place])) for row in one) for name, place in places.items()}
        if any(values[name] > most for name, most in sums.items()):
            continue
        found, groups = one, own
    return found


def _number(cell: object) -> float:
    return 0.0 if cell is None or cell != cell else float(cell)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(7, 1000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_bound_that_says_it_changes_nothing_changes_nothing(way, seed):
    """People within the hard limits of random policies: their totals are those of all their rows."""
    rng = random.Random(seed)
    case = hard_case(rng, way)
    if not case.bounding.complete:
        return
    cells = math.prod(len(group.keys) for group in case.question.groups)
    table = case.question.table
    sums = {name: most for name, most in table.max_sum if f"max_sum.{name}" in table.hard}
    rows = within(rng, case, hard_limits(table, cells), sums)
    bounded = case.totals(rows, rng)
    free = replace(case, bounding=huge(case))
    scale, whole = case.bounding.resolution, free.bounding.resolution
    plain = {cell: tuple(total // whole for total in totals) for cell, totals in free.totals(rows, rng).items()}
    assert {cell: tuple(Fraction(total, scale) for total in totals) for cell, totals in bounded.items()} == plain


def hard_case(rng: random.Random, way: str) -> Case:
    """A case whose limits are hard, or some of them."""
    limits = random_limits(rng)
    names = ["max_groups", "max_rows_per_group"] + (["max_rows"] if "max_rows" in limits else [])
    names += [f"max_sum.{name}" for name in limits.get("max_sum", {})]
    hard = [name for name in names if rng.random() < 0.6]
    return random_case(rng, way, limits={**limits, "hard": hard})


def huge(case: Case):
    """The same way with limits that nobody reaches."""
    loose = replace(case.question.table, max_groups=10**4, max_rows_per_group=10**4, max_rows=None, max_sum=())
    question = replace(case.question, relation=replace(case.question.relation, table=loose))
    cells = math.prod(len(group.keys) for group in question.groups)
    wished = None if case.strategy.sets[0].counts_persons else "groups"
    return choose_bounding(question, case.strategy, wished, cells=cells, unit=case.bounding.unit, pure=True)


def test_a_sum_limit_that_is_not_hard_is_not_the_truth():
    stated = policy(3, 2, max_rows=4, max_sum={"age": 100}, hard=["max_rows"])
    question = parse("SELECT SUM(age) AS s FROM visits", stated)
    counters = choose_counters(question, pure=True)
    made = choose_bounding(question, counters, None, cells=1, unit=stated.unit, pure=True)
    assert made.decides(counters.sets[0])  # 100 is less than 4 rows of 120
    assert not made.complete
    hard = policy(3, 2, max_rows=4, max_sum={"age": 100}, hard=["max_sum.age"])
    question = parse("SELECT SUM(age) AS s FROM visits", hard)
    assert choose_bounding(question, counters, None, cells=1, unit=stated.unit, pure=True).complete


def test_shares_are_rounded_up_and_only_where_several_have_one_weight():
    stated = policy(3, 2)
    question = parse("SELECT ward, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY ward", stated)
    counters = choose_counters(question, pure=False)
    made = choose_bounding(question, counters, None, cells=4, unit=stated.unit, pure=False)
    assert made.joint
    shares = with_shares(made, [Fraction(1, 3), Fraction(2, 3)]).shares
    assert all(share >= exact for share, exact in zip(shares, (Fraction(1, 3), Fraction(2, 3)), strict=True))
    assert sum(shares) - 1 < Fraction(1, 2**28)
    one = CounterSet((RowCounter(),))
    alone = parse("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", stated)
    single = choose_bounding(alone, choose_counters(alone, pure=False), None, cells=4, unit=stated.unit, pure=False)
    assert not single.joint
    assert with_shares(single, [Fraction(1)]) is single
    assert single.alone_squared(one) == 12


def test_a_weight_by_sums_is_for_geometric_noise_alone():
    """With Gaussian noise one person could put all of it into one column, and move it by more than all prices allow."""
    stated = policy(3, 2)
    question = parse("SELECT SUM(cost) AS s, COUNT(*) AS n FROM visits", stated)
    counters = choose_counters(question, pure=False)
    with pytest.raises(QuestionError, match="needs the length"):
        choose_bounding(question, counters, "clip sum", cells=1, unit=stated.unit, pure=False)
    part = CounterRelease.make(
        *(question, ClipSum(1, 6, 1, stated.unit, "", joint=True), counters.sets[0], counters.estimators[0], Fraction(1)),
        **{"pure": False, "confidence": Fraction(95, 100), "guesses": Guesses()},
    )
    with pytest.raises(AssertionError):
        _ = OneMechanism((part, part)).guarantee
