"""Variances and deviations: meaning, what one person moves, coverage of their intervals and of all that shares counters."""

from __future__ import annotations

import itertools
import math
import random
import re
import zlib
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest

import dither
from dither import Gaussian, Geometric
from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.counters import intervals as interval
from dither.query.counters.counter_sets import choose_counters
from dither.query.counters.estimators import Guesses, MeanEstimator, Reader, SumEstimator
from dither.query.counters.variances import VarianceEstimator, _estimates
from dither.query.plan.expressions import ColumnValue
from dither.query.sql.parse import parse
from dither.query.statistics.choose_bounding import LARGEST, choose_bounding, with_shares
from dither.testing import seeded
from tests.query.clinics import clinic, private_totals, visits
from tests.query.neighbours import PEOPLE, Case, estimator, policy, random_row
from tests.seeds import of_the_day

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
NAMES = ["VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV"]
LEVEL = Fraction(9, 10)
COST = ColumnValue(policy(2, 3).tables[0].column("cost"))


def strategy_of(question: str, *, pure: bool = True, limits: tuple[int, int] = (2, 3)):
    plan = parse(question, policy(*limits))
    return plan, choose_counters(plan, pure=pure)


def kinds(strategy) -> list[list[str]]:
    return [[measure.kind for measure in family.measures] for family in strategy.sets]


# -- what is released ----------------------------------------------------------------------------------------------------


def test_four_counters_of_a_row_add_up_to_a_square():
    measures = strategy_of("SELECT VAR_POP(age) AS v, COUNT(*) AS n FROM visits")[1].sets[0].measures
    assert [measure.kind for measure in measures] == ["high", "middle", "low", "nothing"]
    assert {measure.reach for measure in measures} == {120**2}


def test_what_follows_from_the_counters_of_a_variance():
    asked = "SELECT VAR_POP(age) AS v, STDDEV(age) AS d, AVG(age) AS a FROM visits"
    assert kinds(strategy_of(asked)[1]) == [["high", "middle", "low"]]
    _, found = strategy_of(
        "SELECT VAR_POP(age) AS v, AVG(age) AS a, SUM(age) AS s, COUNT(age) AS c, COUNT(*) AS n FROM visits"
    )
    assert [type(estimator(found, at)) for at in range(5)] == [
        VarianceEstimator,
        MeanEstimator,
        SumEstimator,
        SumEstimator,
        SumEstimator,
    ]
    assert kinds(found) == [["high", "middle", "low", "nothing"]]
    _, found = strategy_of("SELECT VAR_POP(age) AS v, AVG(cost) AS a FROM visits")  # another expression has its own
    assert kinds(found) == [["high", "middle", "low"], ["above", "below"]]


def test_every_way_that_is_cheaper_would_have_been_taken(monkeypatch):
    """Counts beside a variance have their own family where that is the better split."""
    for columns in ("VAR_POP(age) AS v, COUNT(*) AS n", "VAR_POP(age) AS v, AVG(age) AS a, COUNT(*) AS n, SUM(cost) AS s"):
        for pure in (True, False):
            plan, found = strategy_of(f"SELECT {columns} FROM visits", pure=pure)
            monkeypatch.setattr("dither.query.counters.counter_sets.MOST_WAYS", 0)  # then all share what they can
            shared = choose_counters(plan, pure=pure)
            monkeypatch.undo()
            assert found.cost(pure=pure) <= shared.cost(pure=pure)
            assert all(
                measure.of is not None or measure.kind == "one" for family in found.sets for measure in family.measures
            )


def test_the_lattice_of_squares_is_coarse_and_within_the_bound():
    _, found = strategy_of("SELECT VAR_POP(cost) AS v, SUM(cost) AS s, AVG(cost) AS a FROM visits")
    assert found.sets[0].measures[0].step == Fraction(1, 4)  # 440 steps: its own
    assert (estimator(found, 0).rounding, estimator(found, 2).rounding) == (0, 0)
    wide = "cost * age"  # -1200 to 12000, in 2^20 steps for sums
    plan, found = strategy_of(
        f"SELECT VAR_POP({wide}) AS v, SUM({wide}) AS s, AVG({wide}) AS a FROM visits", limits=(10, 100)
    )
    assert found.sets[0].measures[0].steps == 2**10
    assert estimator(found, 0).rounding == Fraction(13200, 2**11)
    assert isinstance(estimator(found, 1), SumEstimator)
    assert found.sets[found.readings[1].statistic].measures[0].kind in ("steps", "above")  # never from coarse steps
    way = choose_bounding(plan, found, "weights", cells=1, unit=Unit.ADD_REMOVE, pure=True)
    assert way.l1(found.sets[0]) <= LARGEST
    assert way.resolution >= 2**8


def test_two_lattices_of_one_expression_are_counted_each_on_its_own():
    """Coarse steps of squares beside the fine ones of an average: columns of the same values, not the same columns."""
    plan, found = strategy_of("SELECT VAR_POP(cost * age) AS v FROM visits WHERE cost > 0 AND age > 0")
    of = plan.aggregates[0].of
    families = (
        *found.sets,
        choose_counters(strategy_of("SELECT AVG(cost * age) AS a FROM visits")[0], pure=True).sets[0],
    )
    way = choose_bounding(plan, found, "groups", cells=1, unit=Unit.ADD_REMOVE, pure=True)
    rng = random.Random(8)
    rows = [random_row(rng) for _ in range(30)]
    (totals,) = Case(plan, replace(found, sets=families), way).totals(rows, rng).values()
    high, middle, low, above, below = totals
    fine, coarse = families[1].measures[0].steps, families[0].measures[0].steps
    assert of == families[1].measures[0].of
    assert (coarse, fine) == (2**10, 2**20)
    number = (high + middle + low) / coarse**2
    assert number > 3
    assert (above + below) / fine == pytest.approx(number, abs=0.01)
    assert above / fine == pytest.approx((high + middle / 2) / coarse**2, abs=0.02)


# -- sensitivity ---------------------------------------------------------------------------------------------------------

VARIED = [
    "SELECT VAR_POP(age) AS v FROM visits",
    "SELECT VAR_POP(cost) AS v, AVG(cost) AS a, COUNT(*) AS n FROM visits",
    "SELECT ward, STDDEV(cost * age) AS d, AVG(cost * age) AS a, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT sex, VAR_SAMP(weight) AS d, SUM(weight) AS s, COUNT(weight) AS c FROM visits WHERE age > 3 GROUP BY sex",
    "SELECT ward, sex, STDDEV_POP(age - 40) AS d, SUM(age) AS s FROM visits GROUP BY ward, sex",
]


def cases(way, unit, rng):
    for question, limits in itertools.product(VARIED, [(1, 1), (2, 5)]):
        plan = parse(question, policy(*limits, person=way is not None, unit=unit))
        pure = way != "clip"
        strategy, cells = choose_counters(plan, pure=pure), math.prod(len(group.keys) for group in plan.groups)
        made = choose_bounding(plan, strategy, way, cells=cells, unit=unit, pure=pure)
        shares = (Fraction(1, len(strategy.sets)),) * len(strategy.sets)
        yield Case(plan, strategy, with_shares(made, shares), rng.getrandbits(64), shares)


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("way", [None, "weights", "clip", "groups"])
def test_one_person_moves_the_counters_by_no_more_than_is_claimed(way, unit):
    rng = of_the_day("variances", way, unit)
    most = 0.0
    for case in cases(way, unit, rng):
        rows = [random_row(rng) for _ in range(24)]
        whole = case.totals(rows, rng)
        assert case.totals(rows, rng) == whole
        assert all(total >= 0 for totals in whole.values() for total in totals[:3])
        for person in PEOPLE:
            if way is None:
                rest = rows[:person] + rows[person + 1 :]
                rest += [random_row(rng)] if unit is Unit.REPLACE_ONE else []
            else:
                rest = [row for row in rows if row[0] != person]
                rest += [(person, *random_row(rng)[1:]) for _ in range(12)] if unit is Unit.REPLACE_ONE else []
            other = case.totals(rest, rng)
            assert not case.breaks(whole, other)
            most = max(most, case.moved(whole, other)[0][1] / case.bounding.l2_squared(case.strategy.sets[0]))
    assert most > 0.2  # people who move them far are among those that were tried


PLANTED = {
    "squares of what is beyond the bounds": (None, r"ELSE (\d+)::BIGINT END END", r"ELSE 3 * \1::BIGINT END END"),
    "middle is counted twice": ("weights", r"2::HUGEINT \* \((\d+)::HUGEINT \* c", r"4::HUGEINT * (\1::HUGEINT * c"),
    "the squares have no weight": ("weights", r"sum\(\(\(x(\d) \* x\d\) \* w\)\)", r"1048576 * sum(x\1 * x\1)"),
    "one square is not taken": ("groups", r"coalesce\(sum\(\(x(\d) \* x\d\)\), 0\)\)::HUGEINT AS t0", "0)::HUGEINT AS t0"),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    way, pattern, instead = PLANTED[bug]
    rng = random.Random(4)
    changed = False
    for _ in range(20):
        for case in cases(way, Unit.ADD_REMOVE, rng):
            broken = re.sub(pattern, instead, case.sql())
            changed |= broken != case.sql()
            rows = [random_row(rng) for _ in range(24)]
            whole = case.totals(rows, rng, broken)
            others = [[row for row in rows if row[0] != person] for person in PEOPLE]
            if way is None:
                others = [rows[:place] + rows[place + 1 :] for place in range(8)]
            sums = [sum(totals[:3]) % case.strategy.sets[0].reach for totals in whole.values()]
            if broken == case.sql():
                continue
            if any(case.breaks(whole, case.totals(rest, rng, broken)) for rest in others) or (way == "groups" and any(sums)):
                return
    assert changed
    pytest.fail("nobody noticed")


def test_sums_do_not_overflow(tmp_path):
    """Somebody at every bound, under limits that leave the least room."""
    table = pyarrow.table({"person": [1] * 5000, "cost": [4e2] * 2500 + [0.0] * 2500})
    data = clinic(tmp_path, table, max_groups=1, max_rows_per_group=2**12, keys={}, bounds={"cost": (0, 400)}, complete=[])
    for way in ("weights", "groups"):
        quote = data.quote("SELECT VAR_POP(cost) AS v FROM visits", epsilon=1, bounding=way)
        ((high, middle, low),) = private_totals(quote)
        family = quote.offer.counters[0].counters
        assert middle == 0
        assert abs(high - low) <= 1
        assert 0.99 * quote.offer.bounding.l1(family) < high + low <= quote.offer.bounding.l1(family)


# -- meaning -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [dither.pure(10**9), dither.zcdp(10**10)])
@pytest.mark.parametrize("column", ["age", "cost", "age * 2 - 30"])
def test_it_means_what_plain_sql_means(tmp_path, budget, column):
    price = {"epsilon": 10**7} if budget.epsilon(0) < math.inf else {"rho": 10**9}
    columns = ", ".join(f"{name}({column}) AS a{place}" for place, name in enumerate([*NAMES, "AVG", "SUM", "COUNT"]))
    question = f"SELECT ward, {columns}, COUNT(*) AS n FROM visits GROUP BY ward"
    answer = clinic(tmp_path, budget=budget).quote(question, **price, confidence="0.9999999999").release()
    plain = duckdb.connect()
    plain.register("visits", visits())
    truth = plain.execute(f"{question} ORDER BY ward").fetchall()
    step = 400 / 2**10 if column == "cost" else 0.0
    assert len(truth) == 2
    for place, row in enumerate(truth):
        for number, true in enumerate(row[1:-1]):
            low, found, high = (answer[f"a{number}{end}"][place] for end in ("_low", "", "_high"))
            assert low <= true <= high
            assert found == pytest.approx(true, rel=1e-3, abs=1e-3 + (2 * step * 120 if number < 3 else step))
        assert answer["n"][place] == row[-1]
    assert (answer["a0_low"][2], answer["a3_low"][2]) == (0, 0)  # nobody is in ward C: all that is possible
    width = 240 if "*" in column else 120 if column == "age" else 400
    assert answer["a0_high"][2] == pytest.approx(width**2 / 4)
    assert answer["a4_high"][2] == pytest.approx(width / math.sqrt(2))


@pytest.mark.parametrize("way", [None, "weights", "groups"])
def test_missing_values_are_rows_and_not_values(tmp_path, way):
    """COUNT(*) beside a variance has a counter of its own for them."""
    ages = [20, None, 30, None, None, 50]
    table = pyarrow.table({"person": list(range(6)), "age": pyarrow.array(ages, pyarrow.int64())})
    facts = {"keys": {}, "bounds": {"age": (0, 120)}, "steps": {}, "complete": []}
    if way is None:
        facts |= {"person": "each row", "max_groups": None, "max_rows_per_group": None}
    question = "SELECT VAR_POP(age) AS v, AVG(age) AS a, SUM(age) AS s, COUNT(age) AS c, COUNT(*) AS n FROM visits"
    quote = clinic(tmp_path, table, **facts).quote(question, epsilon=10**6, bounding=way)
    assert [[measure.kind for measure in family.measures] for family in [one.counters for one in quote.offer.counters]] == [
        ["high", "middle", "low", "nothing"]
    ]
    answer = quote.release()
    assert [answer[name][0] for name in ("s", "c", "n")] == [100, 3, 6]
    assert answer["a"][0] == pytest.approx(100 / 3, abs=0.01)
    assert answer["v"][0] == pytest.approx(np.var([20, 30, 50]), abs=0.5)


# -- intervals -----------------------------------------------------------------------------------------------------------

G = 16
DATA = {
    "one value": [5],
    "two alike": [3, 3],
    "two apart": [0, G],
    "constant at a bound": [0] * 60,
    "constant": [7] * 60,
    "two points": [0] * 30 + [G] * 30,
    "one outlier": [0] * 59 + [G],
    "spread": [place % (G + 1) for place in range(170)],
    "many": [(place * place) % (G + 1) for place in range(3000)],
}
NOISES = [Geometric(epsilon=1, sensitivity=G * G), Gaussian(rho="0.5", l2_squared=G**4, integers=True)]


def counters(values) -> list[int]:
    return [sum(q * q for q in values), sum(2 * q * (G - q) for q in values), sum((G - q) ** 2 for q in values)]


@pytest.mark.parametrize("noise", NOISES, ids=["geometric", "Gaussian"])
@pytest.mark.parametrize("kind", ["variance", "sample deviation"])  # a root covers where its square does
@pytest.mark.parametrize("name", DATA)
def test_intervals_cover(name, kind, noise):
    """Seeded, so that 86 of 100 is a fixed fact; a fresh 400 draws of a coverage of 90% fall below it once in 250."""
    values, runs = DATA[name], 400
    reading = VarianceEstimator("sample" in kind, "deviation" in kind, Fraction(G), G * G, Fraction(0), COST)
    with seeded(zlib.crc32(f"{name} {kind} {noise}".encode())):
        drawn = noise.law.sample((runs, 3)).tolist()
    rows = [[c + n for c, n in zip(counters(values), draw, strict=True)] for draw in drawn]
    middle, low, high = reading.read(rows, Reader(noise, 1, LEVEL))
    most = (0.5 if reading.of_sample else 0.25) * G * G
    assert all(
        0 <= a <= b <= c <= (math.sqrt(most) if reading.is_root else most) * 1.001
        for a, b, c in zip(low, middle, high, strict=True)
    )
    if len(values) == 1 and reading.of_sample:
        return  # NULL in SQL: there is nothing to cover
    truth = np.var(values, ddof=int(reading.of_sample))
    truth = math.sqrt(truth) if reading.is_root else truth
    covered = sum(a <= truth <= b for a, b in zip(low, high, strict=True))
    assert covered >= 0.86 * runs
    if name == "many":  # and is not much too wide
        wide = float(np.median(np.array(high) - np.array(low)))
        guesses = Guesses(len(values), (("cost", Fraction(float(np.std(values)))),))
        assert wide < 3 * reading.error(Reader(noise, 1, LEVEL, guesses))


@pytest.mark.parametrize("noise", NOISES, ids=["geometric", "Gaussian"])
@pytest.mark.parametrize("name", DATA)
def test_means_and_counts_from_the_same_counters_cover(name, noise):
    values, runs = DATA[name], 1200
    with seeded(zlib.crc32(f"{name} {noise}".encode())):
        drawn = noise.law.sample((runs, 3))
    high, middle, low = (np.array(counters(values)) + drawn).T
    limits = interval.quantiles(noise, LEVEL, of_squares=True)
    assert np.array_equal(limits, limits[::-1])
    assert (np.diff(limits[: len(limits) // 2 + 1]) <= limits[0] / 512).all()  # weights that are alike are taken apart
    first, last = interval.fractions(high + middle / 2, low + middle / 2, limits)
    truth = np.mean(values) / G
    assert ((first <= truth) & (truth <= last)).mean() >= 0.861
    half = interval.sum_error(noise, [Fraction(1, G * G)] * 3, LEVEL)
    assert (np.abs((high + middle + low) / G**2 - len(values)) <= half).mean() >= 0.861
    weights = [Fraction(1, G), Fraction(1, 2 * G), Fraction(0)]  # of a sum whose lower bound is 0
    assert (np.abs((high + middle / 2) / G - sum(values)) <= interval.sum_error(noise, weights, LEVEL)).mean() >= 0.861


def test_four_noises_stay_within_their_error():
    for noise in (Geometric(epsilon=1, sensitivity=3), Gaussian(sigma=4, l2_squared=1, integers=True)):
        half = interval.sum_error(noise, [Fraction(1)] * 4, LEVEL)
        reach = max(noise.law.quantile("0.9999999999")) + 2
        one = [noise.law.pmf(k).lower for k in range(reach + 1)]
        law = np.array(one[:0:-1] + one)
        four = np.convolve(np.convolve(law, law), np.convolve(law, law))
        sizes = np.abs(np.arange(len(four)) - len(four) // 2)
        assert four[sizes <= half].sum() >= float(LEVEL) - 1e-8
        loose = 9 if isinstance(noise, Geometric) else 5  # twice what whole numbers are from their continuous law
        assert four[sizes <= half - loose].sum() < float(LEVEL)


def test_rounding_to_coarse_steps_is_in_the_interval(tmp_path):
    """Values half a step off, all to the same side, at a huge epsilon: only the steps are in the way."""
    step = Fraction(400, 2**10)
    for values in ([float(step * 10 + step * Fraction(49, 100))] * 50, [0.19, 399.9] * 25):
        table = pyarrow.table({"person": list(range(50)), "cost": values})
        data = clinic(tmp_path, table, keys={}, bounds={"cost": (0, 400)}, complete=[])
        question = "SELECT STDDEV_POP(cost) AS d, VAR_SAMP(cost) AS v, AVG(cost) AS a FROM visits"
        answer = data.quote(question, epsilon=10**7).release()
        for name, true in (("d", np.std(values)), ("v", np.var(values, ddof=1)), ("a", np.mean(values))):
            assert answer[f"{name}_low"][0] <= true <= answer[f"{name}_high"][0]
            assert answer[f"{name}_low"][0] <= answer[name][0] <= answer[f"{name}_high"][0]


# -- quotes and refusals -------------------------------------------------------------------------------------------------


def test_all_of_them_are_one_release(tmp_path):
    data = clinic(tmp_path)
    first = data.quote("SELECT VAR_POP(age) AS v FROM visits", epsilon=1)
    other = data.quote("SELECT STDDEV(age) AS d FROM visits", epsilon=1)
    assert first.question == other.question
    first.release()
    assert other.release().is_replay


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("person", "states no bounds"),
        ("3", "same for every row"),
        ("ward", "cannot be added up"),
        ("DISTINCT age", "COUNT only"),
    ],
)
def test_what_has_no_variance_is_refused_and_costs_nothing(tmp_path, name, inner, words):
    data = clinic(tmp_path, budget=dither.pure(1))
    with pytest.raises(QuestionError, match=words):
        data.quote(f"SELECT {name}({inner}) FROM visits", epsilon="0.1")
    assert "ε = 1 left" in str(data.ledger.remaining())


@pytest.mark.parametrize("kind", ["variance", "sample variance", "deviation", "sample deviation"])
def test_estimates_follow_from_the_counters_alone(kind):
    """Counters without noise under a law so wide that no interval moves the estimate."""
    wide = Geometric(epsilon=1, sensitivity=100 * G * G)
    reading = VarianceEstimator("sample" in kind, "deviation" in kind, Fraction(G), G * G, Fraction(0), COST)
    values = DATA["spread"]
    truth = np.var(values, ddof=int(reading.of_sample))
    for resolution in (1, 64):
        rows = [[resolution * counter for counter in counters(values)]]
        middle, _, _ = reading.read(rows, Reader(wide, resolution, LEVEL))
        assert middle[0] == pytest.approx(math.sqrt(truth) if reading.is_root else truth, rel=1e-9)


def test_a_mean_that_noise_takes_beyond_a_bound_does_not_take_the_variance_with_it():
    """A hundredth of the rows at the upper bound, all others at the lower one, and noise that hides them in the sum."""
    found = _estimates(np.array([100.0]), np.array([-0.5]), np.array([1.0]), sample=False)
    assert found[0] == pytest.approx(0.01)
