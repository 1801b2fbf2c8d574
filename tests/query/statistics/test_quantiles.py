"""MEDIAN, QUANTILE, MIN and MAX: what one person moves, what is counted, what comes out, what is charged."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.plan.aggregates import Quantile
from dither.query.statistics.choose_bounding import UNITS
from dither.query.statistics.quantiles import ALL_CELLS, FEWEST_CELLS
from dither.testing import seeded
from tests.query.clinics import KEYS, clinic, ledger, private_counts, visits
from tests.seeds import rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
ASKED = "SELECT MEDIAN(cost) AS m FROM visits"
GROUPED = "SELECT ward, MEDIAN(cost) AS m FROM visits GROUP BY ward"
ODD = [None, math.nan, math.inf, -math.inf, -5.0, 0.0, 0.004, 0.005, 399.999, 400.0, 1e300, -1e300, 17.23]


def table(rows):
    names = ("person", "ward", "sex", "cost", "age")
    kinds = (pyarrow.int64(), pyarrow.string(), pyarrow.string(), pyarrow.float64(), pyarrow.int64())
    columns = [pyarrow.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    return pyarrow.table(dict(zip(names, columns, strict=True)))


def hostile(rng, rows=12):
    """Rows with missing, infinite and misplaced values, of few people."""
    wards = ["A", "B", "C", "D", None]
    return [(rng.choice([1, 1, 1, 2, 3, None]), rng.choice(wards), "f", rng.choice(ODD), 1) for _ in range(rows)]


def facts_of(person, tmp_path, unit=Unit.ADD_REMOVE):
    limits = (2, 2) if person == "person" else (None, None)
    budget = dither.pure(10**8, unit=unit)
    return {"person": person, "ledger": ledger(tmp_path, budget), "max_groups": limits[0], "max_rows_per_group": limits[1]}


# -- what one person moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize(
    "sql", [ASKED, GROUPED, "SELECT ward, MEDIAN(CASE WHEN cost > 3 THEN 2 * cost END) FROM visits GROUP BY 1"]
)
def test_no_person_moves_the_counts_of_all_groups_and_cells_by_more_than_the_mass(tmp_path, sql, person):
    worst = 0
    for rng in rounds(1, 2, "quantiles", sql, person):
        rows = hostile(rng, 40)
        whole = clinic(tmp_path, table(rows), **facts_of(person, tmp_path)).quote(sql, epsilon=1)
        (mechanism,) = whole.offer.others[0].mechanisms
        units = 1 if person == "each row" else 2 * 2 * UNITS  # also without groups
        assert mechanism.mass == units
        assert mechanism.histograms == (3 if "GROUP" in sql else 1)
        counts = np.array(private_counts(whole))
        for one in {row[0] for row in rows} - {None} if person == "person" else range(len(rows)):
            if person == "each row" and one >= 3 and worst == units:
                break  # enough of them; the first few may be rows that do not count
            kept = [row for at, row in enumerate(rows) if (row[0] if person == "person" else at) != one]
            less = clinic(tmp_path, table(kept), **facts_of(person, tmp_path)).quote(sql, epsilon=1)
            change = counts - np.array(private_counts(less))
            assert change.min() >= 0
            assert change.sum() <= units
            worst = max(worst, change.sum())
    assert worst > 0.95 * units  # no more noise than is needed, but for the rounding of weights


def test_who_is_replaced_moves_them_by_twice_the_mass_and_the_mechanism_is_made_for_that(tmp_path):
    rng = random.Random(5)
    worst = 0
    for _ in range(6):
        others = [row for row in hostile(rng) if row[0] != 1]
        found = []
        for _ in range(2):
            own = [(1, rng.choice("ABC"), "f", rng.choice(ODD[4:]), 1) for _ in range(rng.randrange(9))]
            quote = clinic(tmp_path, table(others + own), **facts_of("person", tmp_path, Unit.REPLACE_ONE)).quote(
                GROUPED, epsilon=1
            )
            found.append(np.array(private_counts(quote)))
        worst = max(worst, np.abs(found[0] - found[1]).sum())
    (mechanism,) = quote.offer.others[0].mechanisms
    assert mechanism.unit is Unit.REPLACE_ONE
    assert 0 < worst <= 2 * mechanism.mass  # tests/density: what that costs, exactly, for all that two people can hold


def test_a_row_counts_in_the_cell_of_its_value_and_nowhere_else(tmp_path):
    rows = [(at, "A", "f", value, 1) for at, value in enumerate(ODD)]
    rows += [(50, "D", "f", 1.0, 1), (51, None, "f", 1.0, 1), (None, "A", "f", 1.0, 1)]
    quote = clinic(tmp_path, table(rows)).quote(GROUPED, epsilon=1)
    bucket = quote.offer.others[0].question.groups[-1].by
    assert (bucket.step, bucket.width, bucket.size) == (Fraction(1, 100), 10, 4001)
    counts = np.array(private_counts(quote)).reshape(3, -1)
    assert counts[1:].sum() == 0
    wanted = np.zeros(4001, dtype=int)
    for value in ODD:
        if value is not None and not math.isnan(value):
            wanted[math.floor(min(max(value, 0), 400) * 100 + 0.5) // 10] += UNITS
    assert counts[0].tolist() == wanted.tolist()


# -- what comes out ----------------------------------------------------------------------------------------------------


def test_whole_numbers_stay_whole_and_hold_the_median(tmp_path):
    rows = [(at, "AB"[at % 2], "f", 1.0, 30 + at % 2 * 10) for at in range(400)]
    data = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1)
    sql = "SELECT ward, MEDIAN(age) AS m, QUANTILE(2 * age, 0.9) AS q FROM visits GROUP BY ward"
    with seeded(1):  # the interval of an empty group is not always all there is
        answer = data.quote(sql, epsilon=50).release()
    assert answer["m"][:2] == answer["m_low"][:2] == answer["m_high"][:2] == [30, 40]
    assert answer["q"][:2] == [60, 80]
    assert (answer["m_low"][2], answer["m_high"][2]) == (0, 120), "an empty group"
    kinds = answer.to_arrow().schema
    assert kinds.field("m").type == kinds.field("q_low").type == pyarrow.int64()
    assert all(type(number) is int for name in ("m", "m_low", "m_high") for number in answer[name][:2])


def test_a_cell_of_several_steps_has_its_middle_and_its_ends(tmp_path):
    rows = [(at, "A", "f", 123.47, 1) for at in range(500)]
    answer = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1).quote(ASKED, epsilon=50).release()
    assert (answer["m_low"], answer["m"], answer["m_high"]) == ([123.4], [123.44], [123.49])
    last = [(at, "A", "f", 400.0, 1) for at in range(500)]
    answer = clinic(tmp_path, table(last), max_groups=1, max_rows_per_group=1).quote(ASKED, epsilon=50).release()
    assert (answer["m_low"], answer["m"], answer["m_high"]) == ([400.0], [400.0], [400.0])
    facts = {"max_groups": 1, "max_rows_per_group": 1, "bounds": {"cost": (0, "399.95"), "age": (0, 120)}}
    answer = clinic(tmp_path, table(last), **facts).quote(ASKED, epsilon=50).release()  # the last cell has six steps of ten
    assert (answer["m_low"], answer["m"], answer["m_high"]) == ([399.9], [399.92], [399.95])


@pytest.mark.parametrize("people", [0, 3, 40, 2000])
@pytest.mark.parametrize("budget", [dither.pure(10**6), dither.approx(10**6, "1e-6")])
def test_intervals_hold_the_true_quantiles(tmp_path, people, budget):
    """Of three shares in two groups and a third without anybody, at 80%, over repeated releases."""
    rng = np.random.default_rng(people)
    ages = [
        np.sort(rng.integers(18, 90, people)),
        np.sort(np.where(rng.random(people) < 0.6, 0, rng.integers(0, 120, people))),
    ]
    rows = [(at + 10**6 * ward, "AB"[ward], "f", 1.0, int(age)) for ward in (0, 1) for at, age in enumerate(ages[ward])]
    data = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1, budget=budget)
    sql = "SELECT ward, MIN(age) AS a, MEDIAN(age) AS b, QUANTILE(age, 0.8) AS c, MAX(age) AS d FROM visits GROUP BY ward"
    part = data.quote(sql, guarantee=None, epsilon=4, confidence="0.8").offer.others[0]
    counts = np.zeros((3, 121), dtype=int)
    for ward in (0, 1):
        np.add.at(counts[ward], ages[ward], UNITS)
    missed = {}
    with seeded(people):
        for _ in range(25):
            released = part.noisy(counts.tolist())
            columns = [part.read(released, place) for place in range(4)]
            for group in range(3):
                assert [columns[at][0][group] for at in range(4)] == sorted(columns[at][0][group] for at in range(4))
                for place, share in enumerate((0, 0.5, 0.8, 1)):
                    value, low, high = (columns[place][end][group] for end in range(3))
                    assert low <= value <= high
                    below, upto = counts[group, :low].sum(), counts[group, : high + 1].sum()
                    total, one = counts[group].sum(), min(1, counts[group].sum())
                    wanted = {0: one, 1: total - one}.get(share, share * total)
                    missed[place, group] = missed.get((place, group), 0) + (not below <= wanted <= upto)
    assert max(missed.values()) <= 14  # 5 expected at worst: four and a half deviations more


def test_extremes_are_values_near_the_end(tmp_path):
    rows = [(at, "A", "f", 100 + at / 100, 1) for at in range(10_000)]
    data = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1)
    quote = data.quote("SELECT MIN(cost), MAX(cost) FROM visits", epsilon=2)
    with seeded(1):  # one release in thirty has a value farther out
        answer = quote.release()
    assert answer["min_low"] == [0]
    assert 100 < answer["min"][0] < 101
    assert 199 < answer["max"][0] < 200
    assert answer["max_high"] == [400]
    told = quote.explain()
    assert "not the least value, which is somebody's: a value with about" in told
    assert "rows' worth above it" in told
    assert "near the largest cost" in quote.describe()


def test_having_order_and_limit_are_about_released_quantiles(tmp_path):
    rows = [(at, "ABC"[at % 3], "f", 100.0 * (at % 3), 1) for at in range(900)]
    data = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1)
    sql = (
        "SELECT ward, MEDIAN(cost) AS m FROM visits GROUP BY ward HAVING MEDIAN(cost) > 50 ORDER BY QUANTILE(cost, 0.5) DESC"
    )
    answer = data.quote(sql, epsilon=50).release()
    assert answer["ward"] == ["C", "B"]
    assert answer["m"] == pytest.approx([200, 100], abs=0.1)
    answer.plot()
    assert "<svg" in answer._repr_html_()
    quote = data.quote("SELECT MEDIAN(cost) AS m FROM visits HAVING QUANTILE(cost, 0.4) > 50", epsilon=1)
    assert "quantile (for HAVING, not shown)" in quote.explain()


# -- how it is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "share", "name"),
    [
        ("MEDIAN(cost)", "1/2", "median"),
        ("MIN(cost)", "0", "min"),
        ("max(cost)", "1", "max"),
        ("QUANTILE(cost, 0.9)", "9/10", "quantile"),
        ("QUANTILE_CONT(cost, 0.25)", "1/4", "quantile"),
        ("QUANTILE_DISC(cost, 0)", "0", "quantile"),
        ("APPROX_QUANTILE(cost, 0.99)", "99/100", "quantile"),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost)", "9/10", "quantile"),
        ("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY cost ASC)", "9/10", "quantile"),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost DESC)", "1/10", "quantile"),
    ],
)
def test_all_ways_to_write_a_quantile(tmp_path, written, share, name):
    plan = clinic(tmp_path).quote(f"SELECT {written} FROM visits", epsilon=1).offer.question
    (found,) = plan.aggregates
    assert found == Quantile(name, found.of, Fraction(share))
    assert found.of.column.name == "cost"
    assert plan.shown == (name,)


def test_several_of_one_expression_are_one_release_and_share_its_price(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    quote = data.quote(
        "SELECT COUNT(*) AS n, MEDIAN(cost) AS m, MAX(cost) AS x, MEDIAN(age) AS a, QUANTILE(cost, 0.5) AS z FROM visits",
        epsilon=1,
    )
    assert [len(part.mechanisms) for part in quote.offer.others[:2]] == [2, 1]
    shares = [one.guarantee.charge().epsilon * Fraction(10, 9) for one in quote.offer.statistics]
    assert shares[:3] == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    assert quote.guarantee.epsilon() == 1
    answer = quote.release()
    assert answer["m"] == answer["z"]
    again = data.quote("SELECT MEDIAN(age) AS q, COUNT(*) AS k FROM visits", epsilon="0.5")
    assert again.release()["k"] is not None
    same = data.quote(
        "SELECT QUANTILE(age, 0.5), COUNT(*) FROM visits HAVING QUANTILE(age, 0.5) > 3", epsilon="0.5"
    ).release()
    assert same.is_replay
    assert not data.quote("SELECT QUANTILE(age, 0.6), COUNT(*) FROM visits", epsilon="0.5").release().is_replay


def test_what_is_said(tmp_path):
    quote = clinic(tmp_path, budget=dither.approx(3, "1e-6")).quote(GROUPED, epsilon=1)
    told = quote.explain()
    assert "Price      (ε = 1, δ = 1e-06)" in told
    assert "Counts     up to 15 rows of a person count in full" in told
    assert "rows' worth on either side, in the order of values" in told
    assert "each value to 0 to 400, in 4,001 cells of 0.1" in told
    assert "exponential mechanism for m" in told
    assert quote.errors == {"m": None}
    assert quote.loss().epsilon("1e-6") <= 1
    both = clinic(tmp_path).quote(f"SELECT COUNT(DISTINCT ward) AS k, COUNT(*) AS n, {ASKED[7:]}", epsilon=1).explain()
    assert "for k: everybody once in each of at most 3 groups" in both
    assert "permute-and-flip for m" in both


def test_a_wished_error_is_refused_and_nothing_is_charged(tmp_path):
    data = clinic(tmp_path, visits(), budget=dither.pure(1))
    with pytest.raises(QuestionError, match="depends on the data"):
        data.quote(ASKED, error={"m": 2})
    wide = {f"k{at}": [f"{number:03d}" for number in range(200)] for at in range(2)}
    assert ALL_CELLS // FEWEST_CELLS < 200**2
    cells = {name: pyarrow.array(["001"]) for name in wide}
    many = pyarrow.table({"cost": [1.0], **cells})
    crowd = dither.protect(many, name="visits", person="each row", bounds={"cost": (0, 400)}, keys=wide, ledger=data.ledger)
    with pytest.raises(QuestionError, match="at most 16,384 groups at once, and there are 40,000"):
        crowd.quote("SELECT MEDIAN(cost) FROM visits GROUP BY k0, k1", epsilon="0.1")
    assert "ε = 1 left" in str(data.ledger.remaining())


def test_cells_are_fewer_where_groups_are_many(tmp_path):
    keys = {**KEYS, "sex": [f"{number:04d}" for number in range(1000)]}
    for sql, size in (
        (ASKED, 4001),
        ("SELECT MEDIAN(cost) FROM visits GROUP BY sex", 1026),
        ("SELECT MEDIAN(age) FROM visits GROUP BY sex", 121),
    ):
        quote = clinic(tmp_path, keys=keys).quote(sql, epsilon=1)
        assert quote.offer.others[0].question.groups[-1].by.size == size
        assert size * quote.offer.others[0].mechanisms[0].histograms <= ALL_CELLS


@pytest.mark.parametrize("asked", [{"epsilon": 1}, {"guarantee": dither.approx(1, "1e-6")}])
@pytest.mark.parametrize(
    "columns", ["MEDIAN(cost)", "COUNT(*), MEDIAN(cost)", "COUNT(*), MIN(cost), MEDIAN(age), QUANTILE(cost, 0.9)"]
)
def test_an_epsilon_that_was_stated_is_kept_at_its_delta(tmp_path, columns, asked):
    """Choices of the rho of Gaussian noise may have a larger epsilon than the noise has: 1.2 for a count and a median."""
    quote = clinic(tmp_path, budget=dither.approx(3, "1e-6")).quote(f"SELECT {columns} FROM visits", **asked)
    spent = quote.epsilon("1e-6")
    assert quote.guarantee.within(dither.approx(1, "1e-6"))
    assert spent <= 1
    assert spent > (0.97 if "," in columns else 0.8)  # three choices of a median stay below: rho is what is stated
    if "epsilon" in asked:
        assert quote.price == "(ε = 1, δ = 1e-06) (add/remove one person)"


def test_a_way_to_bound_people_that_is_wished_for_and_cannot_be_is_refused(tmp_path):
    data = clinic(tmp_path)
    assert data.quote(ASKED, epsilon=1, bounding="weights").offer.others[0].bounding.way == "weights"
    with pytest.raises(QuestionError, match="in one way: 'weights'"):
        data.quote(ASKED, epsilon=1, bounding="groups")


def test_who_has_many_rows_counts_as_much_as_the_limits_say(tmp_path):
    rows = [(1, "A", "f", 1.0, 1)] * 5000 + [(2, "A", "f", 3.0, 1)]
    counts = private_counts(clinic(tmp_path, table(rows)).quote(ASKED, epsilon=1))
    assert counts[30] == UNITS
    assert 14.9 * UNITS < counts[10] <= 15 * UNITS


def test_extremes_of_two_values_miss_more_often_where_a_number_is_shown_and_that_is_said(tmp_path):
    """Nobody meets the condition: most numbers are missing, and some that are shown are wrong; of all releases few are."""
    table = pyarrow.table({"who": list(range(300)), "x": [False] * 300, "n": [1] * 300})
    book = ledger(tmp_path, dither.pure(300))
    data = dither.protect(table, name="t", person="who", max_rows=1, bounds={"n": (0, 2)}, ledger=book)
    asked, shown = "SELECT BOOL_OR(x) AS o FROM t", []
    with seeded(1):
        for draw in range(200):
            answer = data.quote(asked, epsilon=Fraction(500 + draw, 1000)).release()
            assert (answer["o_low"][0], answer["o_high"][0]) in ((0, 1), (0, 0), (1, 1))
            shown += [value for value in answer["o"] if value is not None]
    assert 0 < shown.count(1) <= 31  # of 200 with 1 of 20 each, more miss with a probability below 1e-6
    assert shown.count(1) > len(shown) / 20
    said = (
        "o: the confidence of 90% is over all releases, those without a number included; numbers that are shown, taken alone"
    )
    quote, batch = (data.quote(one, epsilon=1, confidence="0.9") for one in (asked, [asked]))
    for told in (quote.explain(), quote.release().says, batch.explain()):
        assert said in " ".join(told.split())
    assert "is over all releases" not in data.quote("SELECT MAX(n) AS o FROM t", epsilon=1).explain()


def test_cells_start_at_the_lower_bound(tmp_path):
    rows = [(at, "A", "f", 60.25, -7) for at in range(500)]
    facts = {"max_groups": 1, "max_rows_per_group": 1, "bounds": {"cost": ("50.5", 80), "age": (-20, 120)}}
    quote = clinic(tmp_path, table(rows), **facts).quote("SELECT MEDIAN(age) AS a, MAX(cost) AS c FROM visits", epsilon=50)
    with seeded(1):  # one interval in thirty is wider
        answer = quote.release()
    assert (answer["a_low"], answer["a"], answer["a_high"]) == ([-7], [-7], [-7])
    assert (answer["c_low"], answer["c"], answer["c_high"]) == ([60.25], [60.25], [80.0])
