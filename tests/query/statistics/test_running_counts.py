"""Running sums: meaning, what one person moves, coverage, and how much less they err than sums of noisy counts."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from itertools import product

import duckdb
import numpy as np
import pyarrow
import pytest

import dither
from dither.density.histograms.tree import Tree
from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.testing import seeded
from tests.query.clinics import clinic, ledger, private_counts, visits
from tests.seeds import examples, of_the_day

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
MONTHS = "SELECT EXTRACT(month FROM day) AS m, SUM(COUNT(*)) OVER (ORDER BY m) AS so_far FROM visits GROUP BY m"
BY_SEX = "SELECT sex, ward, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY ward) AS so_far FROM visits GROUP BY ward, sex"
ONE_LIST = "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS so_far FROM visits GROUP BY ward"
BANDS = "CASE WHEN age < 30 THEN 1 WHEN age < 60 THEN 2 ELSE 3 END"
PURE, ROUNDED = dither.pure(10**9), dither.zcdp(10**9)


def table(rows) -> pyarrow.Table:
    names = ("person", "ward", "sex", "cost", "age")
    kinds = (pyarrow.int64(), pyarrow.string(), pyarrow.string(), pyarrow.float64(), pyarrow.int64())
    columns = [pyarrow.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    return pyarrow.table(dict(zip(names, columns, strict=True)))


# -- meaning -------------------------------------------------------------------------------------------------------------

MEANT = [
    ("EXTRACT(month FROM day)", [], range(1, 13)),
    ("EXTRACT(month FROM day)", ["sex"], range(1, 13)),
    ("ward", ["sex"], "ABC"),
    ("ward", ["sex", "EXTRACT(quarter FROM day)"], "ABC"),
    (BANDS, ["ward"], (1, 2, 3)),
]


@pytest.mark.parametrize("budget", [PURE, ROUNDED], ids=["geometric", "Gaussian"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("key", "others", "keys"), MEANT)
def test_it_means_what_plain_sql_means(tmp_path, key, others, keys, first, budget):
    groups = [key, *others] if first else [*others, key]
    divided = f"PARTITION BY {', '.join(others)} " if others else ""
    asked = f"SUM(COUNT(*)) OVER ({divided}ORDER BY {key}) AS so_far"
    question = f"SELECT {', '.join(groups)}, {asked} FROM visits GROUP BY {', '.join(groups)}"
    price = {"epsilon": 10**7} if budget is PURE else {"rho": 10**8}
    answer = clinic(tmp_path, budget=budget).quote(question, **price).release()
    plain = duckdb.connect()
    plain.register("visits", visits())
    at = groups.index(key)
    rows = plain.execute(f"SELECT {', '.join(groups)}, COUNT(*) FROM visits GROUP BY ALL").fetchall()
    windows = {tuple(row[:-1]): row[-1] for row in plain.execute(question).fetchall()}
    names = list(answer.columns)[: len(groups)]
    for found in answer.rows():
        cell = tuple(found[name] for name in names)
        rest = cell[:at] + cell[at + 1 :]
        true = sum(n for *own, n in rows if own[at] <= cell[at] and tuple(own[:at] + own[at + 1 :]) == rest)
        assert windows.get(cell, true) == true  # where plain SQL has the group, it says the same
        assert found["so_far_low"] <= true <= found["so_far_high"]
        assert found["so_far"] == true
    assert sorted(set(answer[names[at]])) == list(keys)
    assert answer.to_arrow().schema.field("so_far").type == pyarrow.int64()


def test_keys_of_dates_and_whole_numbers_run_in_their_order(tmp_path):
    days = [datetime.date(2025, 3, day) for day in (9, 1, 10)]
    data = pyarrow.table({"person": [1, 2, 3, 4], "day": [days[1], days[0], days[2], days[2]], "age": [10, 9, 9, 2]})
    facts = {"keys": {"day": days, "age": [10, 9, 2]}, "bounds": {}, "steps": {}, "complete": []}
    for key in ("day", "age"):
        question = f"SELECT {key}, SUM(COUNT(*)) OVER (ORDER BY {key}) AS so_far FROM visits GROUP BY {key}"
        answer = clinic(tmp_path, data, **facts).quote(question, epsilon=10**6).release()
        assert answer[key] == sorted(answer[key])
        assert answer["so_far"] == ([1, 2, 4] if key == "day" else [1, 3, 4])


# -- what one person moves -----------------------------------------------------------------------------------------------


def lines(counts, width):
    return [counts[at : at + width] for at in range(0, len(counts), width)]


def noised(mechanism, counts, width):
    """All whole numbers to which the mechanism adds noise: the cells, or the nodes of a tree."""
    found = []
    for line in lines(counts, width):
        level = list(line)
        found += level
        if isinstance(mechanism, Tree):
            for _ in mechanism.shape.sizes[1 : mechanism.shape.levels]:
                level = [sum(level[at : at + mechanism.branching]) for at in range(0, len(level), mechanism.branching)]
                found += level
    return found


def spent(quote, before, after):
    """The exact loss of two neighbours, and what it may be: epsilon, or mu squared."""
    part, law = quote.offer.others[0], quote.offer.others[0].chosen.mechanism.noise.law
    width, mechanism = len(part.question.groups[-1].keys), part.chosen.mechanism
    moved = [a - b for a, b in zip(*(noised(mechanism, counts, width) for counts in (before, after)), strict=True)]
    charge = part.guarantee.charge()
    if mechanism.rho is None:
        return sum(map(abs, moved)) * float(law.rate), float(charge.epsilon)
    return sum(move**2 for move in moved) / float(law.sigma2), 2 * float(charge.rho)


def extremes(rng):
    """People who could move the sums far: all rows in one cell, one in each, far too many."""
    yield [("A", "f")] * 6
    yield [("C", "m")] * 40
    yield list(product("ABC", "fm")) * 2
    yield [("A", "f"), ("C", "m")] * 3
    yield []
    yield [(rng.choice("ABCD"), rng.choice("fm")) for _ in range(9)]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize("limits", [(1, 6), (3, 2)])
@pytest.mark.parametrize("question", [BY_SEX, ONE_LIST])
def test_no_person_costs_more_than_is_charged(tmp_path, question, limits, person, pure, unit):
    """The mechanism's own noise against the change of everything to which it adds it: no theorem about groups between."""
    rng = of_the_day("running counts", question, limits, person, pure, unit)
    budget = dither.pure(1, unit=unit) if pure else dither.zcdp(1, unit=unit)
    facts = (
        {"max_groups": limits[0], "max_rows_per_group": limits[1]}
        if person == "person"
        else dict.fromkeys(("max_groups", "max_rows_per_group"))
    )
    price = {"epsilon": "0.5"} if pure else {"rho": "0.1"}
    others = [(place, rng.choice("ABC"), rng.choice("fm"), 1.0, 1) for place in range(2, 9)]

    def counted(rows):
        data = clinic(tmp_path, table(rows + others), person=person, ledger=ledger(tmp_path, budget), **facts)
        quote = data.quote(question, **price)
        return quote, private_counts(quote)

    people = [[(1, ward, sex, 1.0, 1) for ward, sex in own] for own in extremes(rng)]
    if person == "each row":
        people = [own[:1] for own in people]
    found = [counted(own) for own in people]
    assert found[0][0].guarantee.within(dither.pure("0.5", unit=unit) if pure else dither.gdp(mu2="0.2", unit=unit))
    most, allowed = 0.0, 0.0
    for (quote, before), (_, after) in product(found, found):
        if unit is Unit.REPLACE_ONE or before == counted_nobody(found) or after == counted_nobody(found):
            loss, allowed = spent(quote, before, after)
            assert loss <= allowed * (1 + 1e-9)
            most = max(most, loss)
    assert most > 0.24 * allowed  # somebody comes near to what is charged


def counted_nobody(found):
    return found[4][1]


def test_a_price_that_is_too_low_is_found(tmp_path, monkeypatch):
    """The same test with a unit's price instead of a person's."""
    monkeypatch.setattr("dither.query.statistics.running_counts.COMES", {})
    with pytest.raises(AssertionError):
        test_no_person_costs_more_than_is_charged(tmp_path, BY_SEX, (1, 6), "person", True, Unit.REPLACE_ONE)


def test_trees_are_charged_for_all_their_levels(tmp_path):
    """Many keys, so that a tree is chosen; somebody with all her weight in one cell uses all that is charged."""
    keys = list(range(200))
    rows = pyarrow.table({"person": [1] * 3 + [2, 3], "age": [7, 7, 7, 9, 150]})
    question = "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS so_far FROM visits GROUP BY age"
    for budget, price in ((dither.pure(1), {"epsilon": "0.5"}), (dither.zcdp(1), {"rho": "0.1"})):
        facts = {"keys": {"age": keys}, "bounds": {}, "steps": {}, "complete": [], "max_groups": 1, "max_rows_per_group": 3}
        whole, rest = (
            clinic(tmp_path, data, ledger=ledger(tmp_path, budget), **facts).quote(question, **price)
            for data in (rows, rows.slice(3))
        )
        assert isinstance(whole.offer.others[0].chosen.mechanism, Tree)
        loss, allowed = spent(whole, private_counts(whole), private_counts(rest))
        assert loss <= allowed * (1 + 1e-9)
        assert loss == pytest.approx(allowed, rel=1e-4)


# -- error ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [PURE, ROUNDED], ids=["geometric", "Gaussian"])
@pytest.mark.parametrize("cells", [1, 12, 100, 2][: examples(3, 4)])
def test_bars_hold_all_sums_together(tmp_path, cells, budget):
    """Seeded: 95% bars of all sums of a list; each of them rises, and holds its own middle. 92% is 1e-6 away in 1,000 runs.

    They are not much too wide either: bars of 0.8 times the width fail, and at most 97.5% hold (99.3% and more by Chernoff's
    bound); 99% in trees of geometric noise, where each sum has its exact law and all together have a product.
    """
    price = {"epsilon": "0.5"} if budget is PURE else {"rho": "0.05"}
    facts = {"keys": {"age": list(range(cells))}, "bounds": {}, "steps": {}, "complete": [], "max_groups": 2}
    question = "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS so_far FROM visits GROUP BY age"
    part = clinic(tmp_path, budget=budget, **facts).quote(question, **price).offer.others[0]
    counts = [900, *((at * at) % 37 if at % 3 else 0 for at in range(1, cells))]  # at 0 one end alone could miss
    runs, narrow = 1000, 0
    sums, held, most = np.cumsum(counts), 0, 2 * part.error(0, part.confidence) + 2
    with seeded(cells):
        for _ in range(runs):
            released = part.noisy([[count * part.bounding.resolution for count in counts]])
            middle, low, high = (np.array(column) for column in part.read(released, 0))
            held += bool(((low <= sums) & (sums <= high)).all())
            assert ((low <= middle) & (middle <= high)).all()
            assert all((np.diff(column) >= 0).all() for column in (middle, low, high))
            assert (high - low <= most).all()
            off = np.abs(np.cumsum(released[0]) / part.bounding.resolution - sums).max()
            narrow += bool(off <= 0.8 * part.error(0, part.confidence))
    tree = budget is PURE and isinstance(part.chosen.mechanism, Tree)
    assert 0.92 * runs <= held <= (0.99 if tree else 0.975) * runs
    assert narrow < 0.92 * runs


@pytest.mark.parametrize(("price", "times"), [({"epsilon": 1}, 1.8), ({"rho": "0.1"}, 4.0)])
def test_sums_of_plain_counts_err_far_more(tmp_path, price, times):
    """A year of days, one row a person: the root mean square of all sums, in 40 runs."""
    data = pyarrow.table({"age": [place * 7 % 365 for place in range(5000)]})
    facts = {"person": "each row", "max_groups": None, "max_rows_per_group": None, "bounds": {}, "steps": {}, "complete": []}
    budget = PURE if "epsilon" in price else ROUNDED
    asked = clinic(tmp_path, data, budget=budget, keys={"age": list(range(365))}, **facts)
    sums = asked.quote("SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS so_far FROM visits GROUP BY age", **price)
    plain = asked.quote("SELECT age, COUNT(*) AS n FROM visits GROUP BY age", **price)
    counts = private_counts(sums)
    truth, squares = np.cumsum(counts), [0.0, 0.0]
    with seeded(5):
        for _ in range(40):
            ours = np.array(sums.offer.others[0].read(sums.offer.others[0].noisy([counts]), 0)[0])
            theirs = np.cumsum(np.array(counts) + plain.offer.counters[0].mechanism.law.sample(len(counts)))
            squares = [
                one + float(np.mean((found - truth) ** 2)) for one, found in zip(squares, (ours, theirs), strict=True)
            ]
    assert math.sqrt(squares[1] / squares[0]) > times


def test_gaussian_noise_takes_the_shorter_people(tmp_path):
    """With several groups a person the length is less than the sum: few keys take it, many take a tree."""
    few = clinic(tmp_path, budget=ROUNDED).quote(MONTHS, rho="0.1")
    assert few.offer.others[0].bounding.way == "clip"
    assert few.guarantee.charge().rho == Fraction(1, 10)
    one = clinic(tmp_path, budget=ROUNDED, max_groups=1).quote(MONTHS, rho="0.1")
    assert one.offer.others[0].bounding.way == "weights"
    assert one.guarantee.within(dither.gdp(mu2="0.2"))
    assert "scaled down to the length of 5 in each of 3 groups" in few.explain()
    assert "weigh at most 5 together" in one.explain()


def test_a_wished_error_is_met(tmp_path):
    quote = clinic(tmp_path).quote(MONTHS, error={"so_far": 40})
    assert 30 < quote.errors["so_far"] <= 40


# -- the way of a question -----------------------------------------------------------------------------------------------


def test_it_is_stored_and_shares_its_price(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"))
    quote = data.quote(BY_SEX.replace("SELECT", "SELECT COUNT(*) AS n,"), epsilon=1)
    assert quote.price == str(dither.approx(1, "1e-6"))
    assert quote.epsilon("1e-6") == pytest.approx(1, rel=1e-6)
    first = quote.release()
    again = data.quote(BY_SEX.replace("SELECT", "SELECT COUNT(*) AS k,").replace("so_far", "run"), epsilon=1).release()
    assert again.is_replay
    assert again["run"] == first["so_far"]
    assert "how many rows there are up to each ward" in quote.describe()


KEYED = "FROM visits GROUP BY ward"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (f"SELECT ward, SUM(cost) OVER () AS s {KEYED}", "only the running sum"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward DESC) AS s {KEYED}", "goes up one key"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward, ward) AS s {KEYED}", "goes up one key"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward NULLS FIRST) AS s {KEYED}", "NULLS FIRST"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward ROWS 2 PRECEDING) AS s {KEYED}", "ROWS or RANGE"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY sex) AS s {KEYED}", "key of GROUP BY"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY COUNT(*)) AS s {KEYED}", "key of GROUP BY"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY ward) AS s {KEYED}", "within each combination"),
        (f"SELECT ward, sex, SUM(COUNT(*)) OVER (ORDER BY ward) AS s {KEYED}, sex", "PARTITION BY all columns"),
        (f"SELECT ward, SUM(COUNT(DISTINCT person)) OVER (ORDER BY ward) AS s {KEYED}", "counted in each"),
        (f"SELECT ward, SUM(COUNT(cost)) OVER (ORDER BY ward) AS s {KEYED}", "only the running sum"),
        (f"SELECT ward, SUM(SUM(cost)) OVER (ORDER BY ward) AS s {KEYED}", "only the running sum"),
        (f"SELECT ward, AVG(COUNT(*)) OVER (ORDER BY ward) AS s {KEYED}", "only the running sum"),
        (f"SELECT ward, COUNT(*) OVER (ORDER BY ward) AS s {KEYED}", "only the running sum"),
        (f"SELECT ward, ROW_NUMBER() OVER (ORDER BY ward) AS s {KEYED}", "windows show single rows"),
        (f"SELECT ward, CUME_DIST() OVER (ORDER BY ward) AS s {KEYED}", "divided after the answer"),
        (f"SELECT ward, SUM(COUNT(*)) FILTER (WHERE cost > 1) OVER (ORDER BY ward) AS s {KEYED}", "only the running sum"),
        (f"SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS s {KEYED} HAVING s > 3", "HAVING would leave some out"),
        ("SELECT SUM(COUNT(*)) OVER (ORDER BY ward) AS s FROM visits", "key of GROUP BY"),
        ("SELECT COUNT(*) FROM visits WHERE SUM(cost) OVER (ORDER BY ward) > 3", "windows show single rows"),
    ],
)
def test_other_windows_are_refused_and_cost_nothing(tmp_path, question, words):
    data = clinic(tmp_path, budget=dither.pure(1))
    with pytest.raises(QuestionError, match=words):
        data.quote(question, epsilon="0.1")
    assert "ε = 1 left" in str(data.ledger.remaining())
