"""Limits found privately: who is counted where, how far one person moves it, and what the two stages promise together."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet, choose_counters
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.totals import totals_sql
from dither.query.plan.aggregates import CountRows, Sum
from dither.query.plan.counters import StepCounter, ValueCounter
from dither.query.plan.expressions import ColumnValue
from dither.query.statistics.bounding import EachRow
from dither.query.statistics.choose_bounding import choose_bounding
from dither.query.statistics.limit_histogram import BETA, LimitHistogram, ladder
from dither.query.statistics.people_beyond import Beyond
from dither.query.statistics.people_by_size import PeopleByGroups, PeopleByRows, PeopleBySums, PeopleByValues
from dither.query.statistics.people_sums import sum_of_counts
from dither.testing import seeded
from tests.query.neighbours import PEOPLE, Case, engine_with, random_case, random_row, table_of
from tests.seeds import examples

UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]


def test_a_ladder_has_ratios_of_at_most_two_and_ends_at_the_top():
    for top in [*range(1, 200), 10**6, 2**30]:
        steps = ladder(top)
        assert steps[0] == 1
        assert steps[-1] == top
        assert all(a < b <= 2 * a for a, b in itertools.pairwise(steps)), top


# -- who is counted where ------------------------------------------------------------------------------------------


def sizes_of(case: Case, rng: random.Random):
    """A histogram by each size that there is, on a short ladder."""
    name = rng.choice(["cost", "age", "weight"])
    column = next(one for one in case.question.table.columns if one.name == name)
    assert column.step is not None
    counter, question, unit = StepCounter(ColumnValue(column), column.step), case.question, case.bounding.unit
    plain = {"of": question, "complete": True}
    few, many = (1, 2, 4), (0, 1, 30, 100, 401)
    return [
        PeopleByRows(1, 1, 1, unit, "", edges=few, **plain),
        PeopleByRows(1, 1, 1, unit, "", edges=(1, 4, 16), squared=True, **plain),
        PeopleByGroups(1, 1, 1, unit, "", edges=few, **plain),
        PeopleBySums(1, 1, 1, unit, "", edges=many, counter=counter, **plain),
        PeopleBySums(1, 1, 1, unit, "", edges=tuple(edge**2 for edge in many), counter=counter, squared=True, **plain),
        PeopleByValues(1, 1, 1, unit, "", edges=many, counter=counter, **plain),
        PeopleByValues(1, 1, 1, unit, "", edges=many, counter=counter, negative=True, **plain),
    ]


def counted(sizes, rows, rng) -> list[int]:
    """People of each kind, by the engine."""
    engine = engine_with(rng.choice([1, 2, 8]))
    engine.register("visits", table_of(rows, rng))
    sql = totals_sql(DUCKDB, sizes.of, (), sizes, "visits", 7)
    found = dict(engine.execute(sql).fetchall())
    return [int(found.get(kind, 0)) for kind in range(1, len(sizes.edges) + 1)]


def expected(sizes, case: Case, rows, rng) -> list[int]:
    """The same by hand: each row asked by itself in which group it is, and how many steps it has."""
    own = replace(case.question, aggregates=(CountRows("n"),), shown=("n",))
    plan = choose_counters(own, pure=True)
    there = Case(own, plan, choose_bounding(own, plan, None, cells=1, unit=Unit.ADD_REMOVE, pure=True))
    mine: dict[object, dict[object, list[int | None]]] = {person: defaultdict(list) for person in PEOPLE}
    for row in rows:
        if row[0] is None:
            continue
        loose = [(1, *row[1:])]
        cell = next((cell for cell, (n,) in there.totals(loose, rng).items() if n), None)
        if cell is not None:
            mine[row[0]][cell].append(steps_of(sizes, case, loose, rng))
    found = [0] * len(sizes.edges)
    for cells in mine.values():
        size = size_by_hand(sizes, cells)
        kind = 0 if size is None else sum(size > edge for edge in sizes.edges)
        if kind:
            found[kind - 1] += 1
    return found


def steps_of(sizes, case: Case, loose, rng) -> int | None:
    """The value of a row in steps, as counters read it; None where it has none."""
    if not isinstance(sizes, (PeopleBySums, PeopleByValues)):
        return None
    question = replace(case.question, where=None, groups=())
    families = (CounterSet((sizes.counter,)), CounterSet((ValueCounter(sizes.counter.of, Fraction(1)),)))
    engine = engine_with(1)
    engine.register("visits", table_of(loose, rng))
    sql = totals_sql(DUCKDB, question, families, EachRow.of(Unit.ADD_REMOVE), "visits", 7)
    ((steps, there),) = engine.execute(sql).fetchall()
    return int(steps) if there else None


def size_by_hand(sizes, cells) -> int | None:
    flat = [steps for values in cells.values() for steps in values if steps is not None]
    if isinstance(sizes, PeopleByRows):
        each = [len(values) for values in cells.values()]
        return sum(n * n for n in each) if sizes.squared else sum(each)
    if isinstance(sizes, PeopleByGroups):
        return len(cells)
    if isinstance(sizes, PeopleByValues):
        return max((-one if sizes.negative else one for one in flat), default=None)
    sums = [sum(steps for steps in values if steps is not None) for values in cells.values()]
    return sum(one * one for one in sums) if sizes.squared else sum(abs(one) for one in sums)


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=examples(5, 300), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_each_person_is_in_one_kind_and_moves_no_more_than_is_claimed(unit, seed):
    rng = random.Random(seed)
    case = random_case(rng, "weights", unit)
    rows = [random_row(rng) for _ in range(rng.randrange(0, 40))]
    factor = 1 if unit is Unit.ADD_REMOVE else 2
    for sizes in sizes_of(case, rng):
        whole = counted(sizes, rows, rng)
        assert whole == expected(sizes, case, rows, rng), sizes.way
        for person in PEOPLE:
            rest = [row for row in rows if row[0] != person]
            if unit is Unit.REPLACE_ONE:
                rest += [(person, *random_row(rng)[1:]) for _ in range(rng.randrange(0, 20))]
            change = [a - b for a, b in zip(whole, counted(sizes, rest, rng), strict=True)]
            assert sum(map(abs, change)) <= factor, sizes.way
            assert sum(c * c for c in change) <= factor, sizes.way


def test_a_person_in_two_kinds_would_be_found(monkeypatch):
    """The check above sees it, if rows and not people are counted."""
    from dither.query.engines.templates import people_sizes, totals

    def each_row(shape, bounding, rows, salt):
        return people_sizes._counted(shape.words, bounding, f"SELECT {shape.words.wide('2')} AS s FROM ({rows}) AS r")

    monkeypatch.setitem(totals.SELECTS, PeopleByRows, each_row)
    rng = random.Random(1)
    case = random_case(rng, "weights", Unit.ADD_REMOVE, {})
    rows = [(2, "A", "f", None, 5.0, 30, 2.2)] * 3
    sizes = replace(sizes_of(case, rng)[0], of=replace(case.question, where=None, groups=()))
    assert sum(counted(sizes, rows, rng)) - sum(counted(sizes, [], rng)) > 1


# -- the noise of several counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "count"), [*itertools.product([Fraction(1, 20), 1, 5], [1, 2, 3, 7, 40]), (Fraction(1, 1000), 3)]
)
@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-8])
def test_noise_of_several_counts_is_within_its_bound_and_hardly_more(epsilon, count, alpha):
    law = Geometric(epsilon=epsilon, sensitivity=1).law
    bound = sum_of_counts(Geometric(epsilon=epsilon, sensitivity=1), count, alpha)
    q = math.exp(-float(law.rate))
    reach = int((40 + 4 * count) / float(epsilon)) + 2
    one = np.array([(1 - q) / (1 + q) * q ** abs(z) for z in range(-reach, reach + 1)])
    size = 1 << (2 * count * reach + 2).bit_length()
    whole = np.fft.irfft(np.fft.rfft(one, size) ** count, size)[: 2 * count * reach + 1]
    centre = count * reach

    def beyond(t):
        return float(whole[: centre - t].sum() + whole[centre + t + 1 :].sum())

    assert beyond(bound) <= alpha * (1 + 1e-6) + 1e-13
    slack = 0 if float(epsilon) * 256 >= 1 else count + 2
    if alpha > 1e-3:  # of smaller ones, doubles in the transform here tell too little
        assert beyond(max(0, bound - slack - 1)) >= alpha * 0.99 or bound == 0


def test_noise_of_several_normal_counts_is_within_its_bound():
    noise = Gaussian(rho=Fraction(1, 100), l2_squared=1, integers=True)
    rng = np.random.default_rng(4)
    drawn = np.rint(rng.normal(0, math.sqrt(noise.sigma2), (20_000, 9))).sum(axis=1)
    bound = sum_of_counts(noise, 9, 0.05)
    assert 0.02 < np.mean(np.abs(drawn) > bound) < 0.05  # 4 of 47 are for the rounding of nine counts


# -- which limit is found ------------------------------------------------------------------------------------------


def histogram(limits: tuple[int, ...], *, epsilon=None, rho=None, unit=Unit.ADD_REMOVE) -> LimitHistogram:
    case = random_case(random.Random(0), "weights", unit, {})
    sizes = PeopleByRows(1, 1, 1, unit, "", of=case.question, edges=limits, complete=True)
    amount, pure = (epsilon, True) if rho is None else (rho, False)
    return LimitHistogram.make("max_rows", limits, sizes, amount, pure=pure, confidence=Fraction(95, 100))


def test_the_lowest_limit_beyond_which_nobody_shows_is_found():
    one = histogram(ladder(100), epsilon=Fraction(1))
    nobody = [0] * len(one.limits)
    assert one.limits[one.place(nobody)] == 1
    for at in range(len(one.limits)):
        counts = list(nobody)
        counts[at] = one.clear
        assert one.place(counts) == min(at + 1, len(one.limits) - 1)
        counts[at] = one.clear - 1
        assert one.place(counts) == 0
    spread = list(nobody)
    spread[3:7] = [one.shown[4] // 4 + 1] * 4  # few between any two neighbours, many in all
    assert max(spread) < one.clear
    assert one.place(spread) >= 4
    assert one.place([10**9] * len(one.limits)) == len(one.limits) - 1
    assert one.place([-(10**9)] * len(one.limits)) == 0


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
@pytest.mark.parametrize("price", [{"epsilon": Fraction(1, 5)}, {"rho": Fraction(1, 200)}])
def test_noise_alone_makes_no_limit_higher(price):
    """By the law of each sum of noisy counts, added up."""
    one = histogram(ladder(10**6), **price)
    total = sum(len(one.limits) * float(BETA) / (len(one.shown) * len(one.limits)) for _ in one.shown)
    assert total <= float(BETA) * (1 + 1e-9)
    with seeded(6):
        for _ in range(300):
            assert one.place(one.noisy([[0] * len(one.limits)])) == 0


def test_people_beyond_are_told_with_a_bar_and_a_lower_bound_of_their_rows():
    one = histogram(ladder(64), epsilon=Fraction(1))
    counts = [0] * len(one.limits)
    counts[2] = 1000  # beyond 3, up to 4
    counts[4] = 10  # beyond 6, up to 8
    found = one.beyond(counts)
    assert one.limits[one.place(counts)] == 4
    assert (found.people, found.low, found.high) == (10, 0, 10 + one.half)
    assert found.rows is None  # ten people are no more than noise
    counts[3:6] = 0, 1000, 2000  # of at least 7 and 9 rows
    assert one.limits[3:6] == (4, 6, 8)
    of = partial(Beyond.of, counts, one.half, one.bounding, 3)  # 4 rows of each count
    assert of().rows == 3000 - one.half + 2 * (3000 - one.half) + 2 * (2000 - one.half)
    assert of(most_people=100).rows == 100 + 2 * 100 + 2 * 100  # the released number of rows has room for no more
    assert of(most_people=0).rows is None
    top = one.beyond([10**6] * len(one.limits))
    assert top.people == 10**6
    assert one.beyond([-5] * len(one.limits)).people == 0


def test_rows_are_told_where_the_low_end_of_people_is_clearly_above_zero():
    one = histogram(ladder(64), epsilon=Fraction(1))
    sizes = replace(one.bounding, edges=(1,))
    assert Beyond.of([2 * one.half], one.half, sizes).rows is None
    assert Beyond.of([2 * one.half + 1], one.half, sizes).rows == one.half + 1
    squared = Beyond.of([10**6], one.half, replace(one.bounding, edges=(1,), squared=True))
    assert squared.rows is None


def test_nobody_has_more_rows_than_the_owner_says():
    one = histogram((2, 4, 8), epsilon=Fraction(1))
    sizes = one.bounding
    table = replace(sizes.of.table, max_rows=8, hard=frozenset({"max_rows"}))
    hard = replace(sizes, of=replace(sizes.of, relation=replace(sizes.of.relation, table=table)))
    assert Beyond.of([0, 0, 1000], one.half, sizes).rows == (1000 - one.half) * 7
    assert Beyond.of([0, 0, 1000], one.half, hard).rows == (1000 - one.half) * 3  # nobody has more than 8


@pytest.mark.parametrize("counts", [(3, 0, 0), (30, 10, 0), (60, 40, 25)], ids=str)
def test_all_that_is_told_of_people_beyond_each_limit_holds_together(counts):
    """By the law of the noise: the probability that an interval of people misses, or that rows are too many, at any limit.

    Whatever chooses the limit, also the same noise, chooses among these.
    """
    reach, edges = 12, (1, 4, 16)
    one = histogram(edges, epsilon=Fraction(1))
    sizes, law = one.bounding, law_of(one.mechanism, reach)
    people = [sum(counts[at:]) for at in range(3)]
    left_out = [sum(n * (edge + 1 - edges[at]) for n, edge in zip(counts[at:], edges[at:], strict=True)) for at in range(3)]
    misses = too_many = 0.0
    for noise in itertools.product(law, repeat=3):
        released = [n + z for n, z in zip(counts, noise, strict=True)]
        told = [Beyond.of(released, one.half, sizes, at) for at in range(3)]
        chance = math.prod(law[z] for z in noise)
        wrong = any((found.rows or 0) > rows for found, rows in zip(told, left_out, strict=True))
        too_many += chance * wrong
        misses += chance * (wrong or not all(found.low <= n <= found.high for found, n in zip(told, people, strict=True)))
    assert misses <= 0.05
    assert too_many <= 0.025
    if max(people) <= one.half:
        assert too_many < 1e-3


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_noise_on_high_limits_is_not_taken_for_rows():
    one = histogram(ladder(10**6), epsilon=Fraction(1, 5))
    with seeded(9):
        told = [one.beyond(one.noisy([[16] + [0] * (len(one.limits) - 1)])) for _ in range(200)]
    assert all(found.rows is None for found in told)


# -- both stages, exactly ------------------------------------------------------------------------------------------

LIMITS = (1, 2, 4)


def law_of(noise, reach: int) -> dict[int, float]:
    """P(noise = z), for all z that matter; what lies beyond the last is theirs."""
    rate = float(noise.law.rate)
    q = math.exp(-rate)
    found = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-reach + 1, reach)}
    found |= dict.fromkeys((-reach, reach), q**reach / (1 + q))
    return found


def found_law(people: tuple[int, ...], one: LimitHistogram, reach: int) -> list[float]:
    """P(each limit is found), for people with so many rows each, by all outcomes of the noise."""
    counts = [sum(edge < rows for rows in people) for edge in LIMITS]
    kinds = [counts[at] - (counts[at + 1] if at + 1 < len(counts) else 0) for at in range(len(counts))]
    law, found = law_of(one.mechanism, reach), [0.0] * len(LIMITS)
    for noise in itertools.product(law, repeat=len(LIMITS)):
        where = one.place([kind + z for kind, z in zip(kinds, noise, strict=True)])
        found[where] += math.prod(law[z] for z in noise)
    return found


@pytest.mark.parametrize("unit", UNITS)
def test_both_stages_together_promise_the_sum_of_their_prices(unit, monkeypatch):
    """All data sets of at most three people with one to six rows, and all their neighbours: the law of (limit, answer)."""
    monkeypatch.setattr(LimitHistogram, "shown", {1: 2, 2: 3})  # thresholds that such few people reach; any rule will do
    first, second = Fraction(3, 4), Fraction(1)
    one, reach = histogram(LIMITS, epsilon=first, unit=unit), 14
    sets = [people for size in range(4) for people in itertools.combinations_with_replacement((1, 2, 3, 6), size)]
    limits = {people: found_law(people, one, reach) for people in sets}
    total = float(first + second)
    for people in sets:
        others = [people[:at] + people[at + 1 :] for at in range(len(people))]
        if unit is Unit.REPLACE_ONE:
            others = [tuple(sorted((*rest, rows))) for rest in others for rows in (1, 2, 3, 6)]
        for other in others:
            worst = 0.0
            for at, limit in enumerate(LIMITS):
                noise = Geometric(epsilon=second, sensitivity=limit, unit=unit)
                q = math.exp(-float(noise.law.rate))
                a, b = (sum(min(rows, limit) for rows in mine) for mine in (people, other))
                for answer in range(-30, 45):
                    mine, theirs = (limits[who][at] * q ** abs(answer - t) for who, t in ((people, a), (other, b)))
                    worst = max(worst, abs(math.log(mine / theirs)))
            assert worst <= total + 1e-9, (people, other)


def test_a_limit_found_without_noise_would_be_seen():
    """Planted: the exact histogram decides. Then one person decides alone, and the law of the limit has no ratio."""
    one = histogram(LIMITS, epsilon=Fraction(3, 4))
    counts = [0] * len(LIMITS)
    counts[0] = one.clear - 1
    assert one.place(counts) == 0
    counts[0] += 1
    assert one.place(counts) == 1


def test_sums_are_read_of_the_aggregate_that_is_asked():
    rng = random.Random(3)
    case = random_case(rng, "weights", Unit.ADD_REMOVE, {})
    cost = next(one for one in case.question.table.columns if one.name == "cost")
    of = ColumnValue(cost)
    question = replace(case.question, aggregates=(Sum("s", of),), shown=("s",), where=None, groups=())
    counter = StepCounter(of, cost.step)
    sizes = PeopleBySums(1, 1, 1, Unit.ADD_REMOVE, "", of=question, edges=(0, 19, 20), counter=counter, complete=True)
    assert sizes.families == (CounterSet((counter,)),)
    rows = [(1, "A", "f", None, 5.0, 3, 1.0), (2, "A", "f", None, 5.25, 3, 1.0), (3, "A", "f", None, None, 3, 1.0)]
    assert counted(sizes, rows, rng) == [0, 1, 1]
