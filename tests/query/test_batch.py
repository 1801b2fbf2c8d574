"""Several questions as one: what they cost, what they mean, what one person changes in all of them."""

from __future__ import annotations

import datetime
import itertools
import random
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest

import dither
from dither.errors import DataError, NumberError, QuestionError, SizeError
from dither.mechanisms.additive.geometric import Geometric
from dither.privacy.budget.filter import sum_filter
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import Reading
from dither.query.groups.shown_key_counts import ShownKeyCounts
from dither.query.sql.parse import parse
from dither.query.statistics.statistic import Price
from dither.query.workload import shared_counts as shared_file
from dither.query.workload.common_cells import find_common_cells
from tests.query.clinics import clinic, private_counts, visits
from tests.query.shop import shop
from tests.seeds import examples, of_the_day, rounds

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
SEX = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
BOTH = "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex"
APPROX = dither.approx(3, "1e-6")


COSTS = [None, float("nan"), float("inf"), -3.0, 0.5, 17.5, 60.0, 500.0]


def between(pairs):
    return [f"SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN {low} AND {high}" for low, high in pairs]


def random_where(rng):
    """Comparisons of one or two columns with constants, and sometimes a condition of another form."""
    parts = []
    for _ in range(rng.randrange(3)):
        low, high = sorted(rng.sample(range(-5, 130), 2))
        parts.append(
            rng.choice(
                [
                    f"age BETWEEN {low} AND {high}",
                    f"age {rng.choice(['<', '<=', '>', '>=', '='])} {low}",
                    f"{low} < age",
                    f"age IN ({low}, {high}, {high})",
                    f"cost >= {low}.5",
                    f"cost < {high}",
                    f"day < DATE '2025-0{rng.randrange(1, 9)}-15'",
                    f"ward = '{rng.choice('ABC')}'",
                ]
            )
        )
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def random_batch(rng):
    common = rng.choice(["", "cost * 2 > 100"])
    found = []
    for _ in range(rng.randrange(2, 7)):
        by = rng.choice(["", "ward", "sex", "ward, sex"])
        where = random_where(rng)
        if common:
            where = f"{where} AND {common}" if where else f" WHERE {common}"
        found.append(f"SELECT {by + ', ' if by else ''}COUNT(*) AS n FROM visits{where}{' GROUP BY ' + by if by else ''}")
    return found


def hostile(rng, rows=40):
    days = pyarrow.array([rng.choice([None, 19_700, 20_000, 20_100, 20_250]) for _ in range(rows)], pyarrow.int32())
    return pyarrow.table(
        {
            "person": pyarrow.array([rng.choice([None, 1, 2, 3, 4]) for _ in range(rows)], pyarrow.int64()),
            "ward": pyarrow.array([rng.choice(["A", "B", "C", "D", None]) for _ in range(rows)], pyarrow.string()),
            "sex": pyarrow.array([rng.choice(["f", "m", "x", None]) for _ in range(rows)], pyarrow.string()),
            "cost": pyarrow.array([rng.choice(COSTS) for _ in range(rows)], pyarrow.float64()),
            "age": pyarrow.array([rng.choice([None, -2, 0, 7, 40, 40, 119, 130]) for _ in range(rows)], pyarrow.int64()),
            "day": days.cast(pyarrow.date32()),
        }
    )


def together(whole, asked, *, pure=True, unit=Unit.ADD_REMOVE):
    """A quote for the first question that is answered together with the others, whether that is better or not."""
    atoms = find_common_cells([parse(sql, whole.policy) for sql in asked])
    if atoms is None:
        return None
    amount = dither.Number(1) if pure else Fraction(1, 10)
    part = shared_file.SharedCounts.make(atoms, Price(amount, pure, unit, 1, Fraction(95, 100)))
    quote = whole.quote(asked[0], epsilon=1)
    alike = {"statistics": (part,), "readings": (Reading(0, 0),), "bounding": part.bounding}
    return replace(quote, offer=replace(quote.offer, **alike))


@pytest.mark.parametrize("place", range(examples(5, 40)))
def test_sums_over_cells_are_what_each_question_counts_by_itself(tmp_path, place):
    """Beside plain DuckDB, for rows that are persons: then nothing is bounded. NaN is a missing value here."""
    rng = of_the_day("sums over cells", place)
    data, connection = hostile(rng), duckdb.connect()
    connection.register("held", data)
    connection.execute("CREATE VIEW visits AS SELECT * REPLACE (nullif(cost, 'nan'::DOUBLE) AS cost) FROM held")
    facts = {"person": "each row", "max_groups": None, "max_rows_per_group": None, "complete": []}
    whole = clinic(tmp_path, data, **facts)
    tried = 0
    while tried < 5:
        asked = random_batch(rng)
        quote = together(whole, asked)
        if quote is None:
            continue
        tried += 1
        counts, atoms = private_counts(quote), quote.offer.others[0].atoms
        for sql, (first, last) in zip(asked, atoms.places, strict=True):
            told = {tuple(row[:-1]): row[-1] for row in connection.execute(sql).fetchall()}
            cells = itertools.product(*(group.keys for group in parse(sql, whole.policy).groups))
            wanted = [told.get(cell, 0) for cell in cells]
            assert [sum(counts[at] for at in cells) for cells in atoms.rows[first:last]] == wanted, sql


def moved(part, before, after):
    """The change of all released numbers, before noise: of what the mechanism releases, not of what is asked."""
    change = [0] * (max(part.merged) + 1)
    for at, one, two in zip(part.merged, before, after, strict=True):
        if at >= 0:
            change[at] += one - two
    matrix = part.workload.strategy.matrix[:, : len(change)].astype(object)
    return (matrix @ np.array(change, dtype=object)).tolist()


def cost(part, change):
    """The exact privacy loss of a change: epsilon for geometric noise, rho for discrete Gaussian noise."""
    noise = part.workload.noise
    if isinstance(noise, Geometric):
        return noise.law.rate * sum(map(abs, change))
    return Fraction(sum(step * step for step in change)) / (2 * Fraction(noise.sigma2))


def worst_cost(tmp_path, pure, unit, person, fixed=1, day=1):
    """The largest part of the price that one person costs, over random tables and batches."""
    facts = {"complete": [], "person": person, "max_groups": None, "max_rows_per_group": None}
    if person == "person":
        facts |= {"max_groups": 2, "max_rows_per_group": 2}
    worst = 0.0
    for rng in rounds(fixed, day, "cost of a person", unit, person, pure):
        quote = None
        while quote is None:
            data, asked = hostile(rng, 14), [*random_batch(rng), WARD, SEX]
            quote = together(clinic(tmp_path, data, **facts), asked, pure=pure, unit=unit)
        part, counts = quote.offer.others[0], private_counts(quote)
        claim = part.guarantee.charge().epsilon if pure else part.guarantee.charge().rho
        people = [1, 2, 3, 4] if person == "person" else range(data.num_rows)
        whose = data["person"].to_pylist() if person == "person" else list(people)
        for one in people:
            rest = data.filter([other != one for other in whose])
            others = [rest]
            if unit is Unit.REPLACE_ONE:
                own = hostile(rng, 14 if person == "person" else 1)
                own = own.set_column(0, "person", pyarrow.array([one] * own.num_rows, pyarrow.int64()))
                others.append(pyarrow.concat_tables([rest, own]))
            for table in others:
                other = replace(quote, holdings=clinic(tmp_path, table, **facts))
                spent = cost(part, moved(part, counts, private_counts(other)))
                assert spent <= claim
                worst = max(worst, float(spent) / float(claim))
    return worst


@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("pure", [True, False])
def test_no_person_costs_more_than_the_share_of_all_answers(tmp_path, pure, unit, person):
    assert worst_cost(tmp_path, pure, unit, person) > 0.1  # and hardly more noise than is needed


def test_somebody_replaced_by_nobody_in_any_cell_is_paid_for(tmp_path):
    """She moves the answers by a whole column, and not by the difference of two, which may be nothing."""
    same = ["SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B')"] * 2
    for asked in (same, [*same, "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'"]):
        for pure in (True, False):
            part = together(clinic(tmp_path), asked, pure=pure, unit=Unit.REPLACE_ONE).offer.others[0]
            claim = part.guarantee.charge().epsilon if pure else part.guarantee.charge().rho
            for cell in range(max(part.merged) + 1):
                counts = [part.units * (at == part.merged.index(cell)) for at in range(len(part.merged))]
                change = moved(part, counts, [0] * len(counts))
                assert any(change)
                assert cost(part, change) <= claim


def test_the_bound_that_is_lost_is_found(tmp_path, monkeypatch):
    """Planted: a person counts for twice as much as is paid for."""
    real = shared_file.bounding_of
    monkeypatch.setattr(shared_file, "bounding_of", lambda *a: replace(real(*a), rows=2 * real(*a).rows))
    kept = shared_file.SharedCounts.units.fget
    monkeypatch.setattr(shared_file.SharedCounts, "units", property(lambda self: kept(self) // 2))
    with pytest.raises(AssertionError):
        worst_cost(tmp_path, pure=True, unit=Unit.ADD_REMOVE, person="person", fixed=12, day=0)


def test_hundred_ranges_cost_far_less_together(tmp_path):
    rng = random.Random(1)
    asked = between(sorted(rng.sample(range(120), 2)) for _ in range(100))
    for budget, least in ((dither.pure(10), 5), (APPROX, 2)):
        batch = clinic(tmp_path, budget=budget).quote(asked, epsilon=1)
        (gain,) = batch.gains
        assert gain.questions == tuple(range(100))
        assert gain.apart > least * gain.together
        assert batch.epsilon(0 if budget is not APPROX else "1e-6") <= 1


def test_the_price_of_a_batch_is_that_of_its_parts_and_is_charged_once(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    asked = [WARD, SEX, BOTH, "SELECT AVG(cost) AS c FROM visits", "SELECT COUNT(DISTINCT ward) AS k FROM visits"]
    batch = data.quote(asked, epsilon=1)
    assert batch.guarantee.epsilon() == 1
    assert len(batch.parts) == 2
    assert sum(len(quote.offer.others) for quote in batch) == 4
    answers = batch.release()
    assert "ε = 9 left" in str(data.ledger.remaining())
    assert len(answers) == 5
    assert [len(answer) for answer in answers] == [3, 2, 6, 1, 1]
    again = data.quote(asked, epsilon=1).release()
    assert again.is_replay
    assert [answer.rows() for answer in again] == [answer.rows() for answer in answers]
    assert "ε = 9 left" in str(data.ledger.remaining())
    assert f"charged with its whole batch ({answers[0].price} for this question)" in " ".join(str(answers[0]).split())
    assert str(answers).endswith("\n\ncharged ε = 1 (add/remove one person) for all of them")
    assert str(again).endswith("\n\nstored before, nothing charged now")


def test_answers_say_the_price_that_was_asked(tmp_path):
    """And not the mu that is charged for it, nor an epsilon that is rounded away from it."""
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"))
    told = "(ε = 0.2, δ = 1e-06) (add/remove one person)"
    for asked in ({"epsilon": "0.2"}, {"guarantee": dither.approx("0.2", "1e-6")}):
        quote = data.quote(WARD, **asked)
        assert quote.price == told
        assert quote.release().explain().endswith(f"charged {told}") or "guarantee" in asked  # stored before
    answers = data.quote([WARD, SEX], epsilon="0.2").release()
    assert answers.price == told
    assert answers.explain().endswith(f": charged {told}")
    assert f"charged {told} for all of them" in str(answers)
    assert "Gaussian DP" not in str(answers)
    assert dither.BatchAnswer.from_json(answers.to_json()).price == told


def test_answers_of_one_batch_agree(tmp_path):
    """Sums of cells are one estimate: parts add up to the whole, but for rounding to whole numbers."""
    facts = {"person": "each row", "max_groups": None, "max_rows_per_group": None}
    total = "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B', 'C')"
    ward, _, all_ = clinic(tmp_path, budget=dither.pure(10), **facts).quote([WARD, BOTH, total], epsilon=1).release()
    assert abs(sum(ward["n"]) - all_.scalar()) <= 2


@pytest.mark.parametrize("budget", [dither.pure(100), APPROX, dither.pure(100, unit=Unit.REPLACE_ONE)])
def test_error_bars_of_a_batch_hold_as_often_as_they_say(tmp_path, budget):
    """Alike for all data, so a few runs of many answers are enough; false alarm below 1e-6 (binomial)."""
    with dither.testing.seeded(11):
        facts = {"person": "each row", "max_groups": None, "max_rows_per_group": None}
        data = clinic(tmp_path, visits(), budget=budget, **facts)
        exactly = duckdb.connect()
        exactly.register("visits", visits())
        rng, outside, runs = random.Random(5), 0, 15
        for run in range(runs):
            asked = between(sorted(rng.sample(range(120), 2)) for _ in range(6))
            answers = data.quote([*asked, f"SELECT COUNT(*) AS n FROM visits WHERE age > {run}"], epsilon="0.05").release()
            sql, answer = next((one.sql, one) for one in answers)
            (true,) = exactly.execute(sql).fetchone()
            outside += not answer["n_low"][0] <= true <= answer["n_high"][0]
        assert outside <= 8  # of 15 at 5%: P(> 8) < 1e-7


def test_what_cannot_be_answered_together_is_answered_one_by_one(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    for asked in (
        ["SELECT COUNT(*) AS n FROM visits WHERE age < 3 OR cost > 5", "SELECT COUNT(*) AS n FROM visits WHERE age > 3"],
        [WARD, "SELECT COUNT(*) AS n FROM visits WHERE ward > 'A'"],
        ["SELECT SUM(cost) AS s FROM visits", "SELECT AVG(age) AS a FROM visits"],
    ):
        batch = data.quote(asked, epsilon=1)
        assert batch.gains == ()
        assert batch.guarantee.epsilon() == pytest.approx(1)
        assert batch.release().answers


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_the_same_question_several_times_and_questions_that_no_row_meets(tmp_path, unit):
    data = clinic(tmp_path, budget=dither.pure(10**6, unit=unit))
    never = [f"SELECT COUNT(*) AS n FROM visits WHERE age < {at} AND age > {at + 5}" for at in (10, 20)]
    for asked, wanted in (
        (["SELECT COUNT(*) AS n FROM visits"] * 3, [60, 60, 60]),
        (["SELECT COUNT(*) AS n FROM visits WHERE age < 50"] * 2, [30, 30]),
        (never, [0, 0]),
        ([never[0]] * 2, [0, 0]),
        ([never[0], "SELECT COUNT(*) AS n FROM visits WHERE age < 50"], [0, 30]),
    ):
        batch = data.quote(asked, epsilon=10**4)
        assert batch.guarantee.epsilon() == pytest.approx(10**4)
        assert [answer["n"][0] for answer in batch.release()] == wanted


def test_rows_that_no_question_asks_about_use_up_no_limit(tmp_path):
    """As in a question by itself, where they do not meet its condition."""
    ages = [21, 22, *range(51, 90)]
    data = pyarrow.table({"person": [p for p in range(20) for _ in ages], "age": ages * 20})
    whole = clinic(
        tmp_path, data, max_groups=1, max_rows_per_group=2, keys={}, steps={}, bounds={"age": (0, 120)}, complete=[]
    )
    asked = [f"SELECT COUNT(*) AS n FROM visits WHERE age < {most}" for most in (22, 30)]
    batch = whole.quote(asked, epsilon=10**4)
    assert batch.gains
    assert [answer["n"] for answer in batch.release()] == [[20], [40]]


def test_batches_of_the_same_cuts_and_matrix_about_other_rows_are_other_questions(tmp_path):
    """The part itself says which rows it counts: what is stored of one is never the answer to the other."""
    data, asked = clinic(tmp_path), "SELECT COUNT(*) AS n FROM visits WHERE "
    one = data.quote([asked + "age < 22 AND cost < 5", asked + "age < 30 AND cost < 9"], epsilon=1)
    two = data.quote([asked + "22 <= age AND age < 30 AND cost < 5", asked + "age >= 22 AND cost < 9"], epsilon=1)
    assert [part.merged for part in one.parts] == [part.merged for part in two.parts]
    assert (one.parts[0].workload.queries == two.parts[0].workload.queries).all()
    assert one.parts[0].spelled() != two.parts[0].spelled()
    assert one.question != two.question


def test_a_batch_is_explained_and_shown(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    batch = data.quote([WARD, SEX, BOTH], epsilon=1)
    told = batch.explain()
    assert "3 questions, charged and released as one" in told
    assert "Together   1, 2, 3" in told
    assert str(batch) == str(told)
    assert batch[0].sql == WARD
    assert len(batch.errors) == len(batch) == 3
    assert batch.affordable == 10
    answers = batch.release()
    page = answers.to_html()
    assert page.count("<table>") == 3
    assert page.startswith("<!doctype html>")
    assert "SELECT sex" in str(answers)
    assert "Receipt" in answers.explain()


def test_a_batch_says_of_error_bars_what_its_questions_say(tmp_path):
    """One sentence where all agree, otherwise which is true of which question."""
    people, mode = "SELECT COUNT(DISTINCT person) AS n FROM visits", "SELECT MODE(ward) AS m FROM visits"
    data = clinic(tmp_path, budget=dither.pure(10))

    def last(asked):
        batch = data.quote(asked, epsilon=1)
        found = batch.explain()[:].splitlines()
        return found, [data.quote(one, epsilon=1).explain()[:].splitlines()[-1] for one in asked]

    found, alone = last([people, people + " WHERE age > 30"])
    assert found[-1] == alone[0] == alone[1] == "The error bars hold the truth."
    found, alone = last([people, WARD, people + " WHERE age > 30", mode])
    assert len(set(alone)) == 3
    said = [f"Bars       1, 3: {alone[0]}", f"Bars       2: {alone[1]}", f"Bars       4: {alone[3]}"]
    assert found[-3:] == said
    found, alone = last([WARD, SEX])
    assert found[-1] == alone[0] == alone[1]
    assert "do not hold what clamping" in found[-1]


@pytest.mark.parametrize(
    ("asked", "error", "match"),
    [
        ([], SizeError, "1 to 1000"),
        ([WARD] * 1001, SizeError, "1 to 1000"),
        ([WARD, "SELECT 1"], QuestionError, "about a table"),
        ([WARD, None], QuestionError, "not SQL"),
        ([WARD, 3], QuestionError, "not SQL"),
    ],
)
def test_bad_batches_are_refused_and_cost_nothing(tmp_path, asked, error, match):
    data = clinic(tmp_path, budget=dither.pure(1))
    with pytest.raises(error, match=match):
        data.quote(asked, epsilon="0.5")
    assert "ε = 1 left" in str(data.ledger.remaining())


def test_wishes_for_errors_are_for_single_questions(tmp_path):
    with pytest.raises(QuestionError, match="shared"):
        clinic(tmp_path).quote([WARD, SEX], error={"n": 3})


def test_the_limit_of_one_question_holds_for_a_batch(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10), per_question=dither.pure("0.5"))
    data.quote([WARD, SEX], epsilon="0.5")
    with pytest.raises(dither.errors.BudgetError):
        data.quote([WARD, SEX], epsilon="0.6")


def test_quotes_are_compared(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    cheap, dear = data.quote(WARD, epsilon="0.1"), data.quote(WARD, epsilon=1)
    told = str(cheap.compare(dear))
    assert told.splitlines()[0] == f"All ask {WARD}"
    assert "ε = 0.1" in told
    assert "error of n" in told
    other = str(cheap.compare(data.quote("SELECT AVG(cost) AS c FROM visits", epsilon=1)))
    assert "not asked" in other
    assert "depends on the data" in other
    with pytest.raises(DataError, match="not a quote"):
        cheap.compare(3)
    assert "<pre" in cheap._repr_html_()
    assert "<b>" not in other
    assert cheap.compare(dear)._repr_html_().count("<tr>") == 8
    assert repr(cheap.compare(dear)) == told


# -- seams: keys that nobody declared, days between two others, questions without any cells ----------------------------


def test_questions_that_list_different_days_of_one_expression_count_their_own(tmp_path):
    """The months of the one are not those of the other: each is looked for among all of them."""
    months = "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits"
    months += " WHERE day >= DATE '{}' AND day < DATE '{}' GROUP BY 1"
    asked = [months.format("2025-01-01", "2025-04-01"), months.format("2025-03-01", "2025-12-01")]
    facts = {"person": "each row", "max_groups": None, "max_rows_per_group": None, "complete": []}
    days = [datetime.date(2025, month, 3) for month in range(1, 13) for _ in range(month)]
    data = visits(len(days)).set_column(5, "day", pyarrow.array(days))
    whole = clinic(tmp_path, data, **facts)
    quote = together(whole, asked)
    counts, atoms = private_counts(quote), quote.offer.others[0].atoms
    found = [[sum(counts[cell] for cell in atoms.rows[row]) for row in range(*place)] for place in atoms.places]
    assert found == [[1, 2, 3], [3, 4, 5, 6, 7, 8, 9, 10, 11]]


def test_a_question_twice_has_all_of_the_price_once(tmp_path):
    data = clinic(tmp_path)
    batch = data.quote(["SELECT COUNT(*) AS n FROM visits", "SELECT COUNT(*) AS m FROM visits"], epsilon=1)
    answers = batch.release()
    assert answers[0]["n"] == answers[1]["m"]
    assert batch.guarantee.charge().epsilon == 1
    assert batch.errors[0]["n"] <= 1.01 * data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).errors["n"]
    assert (
        data.quote(["SELECT COUNT(*) AS a FROM visits", "SELECT COUNT(*) AS b FROM visits"], epsilon=1).release().is_replay
    )


def test_a_stated_way_to_bound_is_kept_in_a_batch(tmp_path):
    asked = between([(10, 20), (15, 30), (12, 18), (10, 30)])
    data = clinic(tmp_path, max_groups=1, max_rows_per_group=1)
    assert data.quote(asked, epsilon=1).gains
    batch = data.quote(asked, epsilon=1, bounding="groups")
    assert not batch.gains
    assert {quote.offer.bounding.way for quote in batch} == {"groups"}


PRICES = [
    (dither.approx(3, "1e-6"), {"epsilon": 1}, dither.approx(1, "1e-6")),
    (dither.approx(3, "1e-6"), {"guarantee": dither.approx(1, "1e-7")}, dither.approx(1, "1e-7")),
    (dither.zcdp(1, delta="1e-6"), {"guarantee": dither.zcdp("0.3", delta="1e-8")}, dither.zcdp("0.3", delta="1e-8")),
    (sum_filter(3, "1e-6"), {"guarantee": dither.approx(1, "1e-8")}, dither.approx(1, "1e-8")),
    (sum_filter(3, "1e-6"), {"epsilon": 1, "delta": "1e-8"}, dither.approx(1, "1e-8")),
]


@pytest.mark.parametrize(("budget", "price", "kept"), PRICES)
def test_keys_that_nobody_declared_are_priced_with_the_rest_of_a_batch(tmp_path, budget, price, kept):
    """One delta for all such questions; people counted at their part of the price; others asked as ever."""
    rows = [(person, f"p{person % 3}", 0, None, None, "A", 1.0) for person in range(300)]
    asked = [
        "SELECT product, COUNT(DISTINCT person) AS n FROM sales GROUP BY product",
        "SELECT product, COUNT(*) AS n, MEDIAN(cost) AS m FROM sales GROUP BY product",
        "SELECT ward, COUNT(*) AS n FROM sales GROUP BY ward",
    ]
    data = shop(tmp_path, rows, budget=budget, per_question=kept)
    batch = data.quote(asked, other="rest", **price)
    assert batch.guarantee.within(kept)
    assert batch.guarantee == sum((offer.guarantee for offer in batch.offers[1:]), start=batch[0].guarantee)
    assert batch[0].offer.choice.rule.delta == batch[1].offer.choice.rule.delta
    assert [quote.offer.choice is None or quote.offer.choice.other for quote in batch] == ["rest", "rest", True]
    batch.release()
    assert data.quote(asked, other="rest", **price).release().is_replay
    assert not data.quote(asked[::-1], other="rest", **price).release().is_replay
    people = data.quote([asked[0]], **price)
    assert isinstance(people[0].offer.others[0], ShownKeyCounts)
    assert people.guarantee.within(kept)


def test_what_is_said_of_keys_in_a_batch_without_such_keys_is_refused(tmp_path):
    data = shop(tmp_path, [], budget=APPROX)
    ward = "SELECT ward, COUNT(*) AS n FROM sales GROUP BY ward"
    product = "SELECT product, COUNT(*) AS n FROM sales GROUP BY product"
    with pytest.raises(NumberError, match="all keys of this question are declared"):
        data.quote([ward, ward], epsilon=1, delta="1e-9")
    with pytest.raises(QuestionError, match="whose keys nobody declared"):
        data.quote([ward, ward], epsilon=1, other="rest")
    with pytest.raises(NumberError, match="keeps 5e-07 for all"):
        data.quote([product] * 101, epsilon=1)
    assert data.quote([product] * 101, epsilon=1, delta="1e-8").guarantee.charge().delta == Fraction("1e-8")
    assert data.ledger.remaining().used == 0
