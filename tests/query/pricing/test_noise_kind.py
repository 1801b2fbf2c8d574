"""Which noise a question gets, what each kind costs where rho is counted, and quotes that show both."""

from __future__ import annotations

import json
import uuid
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pyarrow
import pytest
from flint import arb

import dither
from dither import Gaussian, Geometric, approx, ln, pure, zcdp
from dither.errors import BudgetError, DataError, GuaranteeError, NumberError, QuestionError
from dither.numeric.balls import precision
from dither.query.statistics.bounding import Clip, ClipSum
from dither.query.statistics.counter_release import OneMechanism
from tests.privacy.guarantee.test_own_rho import ORDERS, ball, bounded_geometric, divergence

BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY ward"
COUNT = "SELECT COUNT(*) AS n FROM visits"
HALF = Fraction(1, 2)


@pytest.fixture
def clinic(tmp_path):
    visits = pyarrow.table({"person": [1, 2, 2, 3], "ward": ["A", "A", "B", "B"], "cost": [1, 2, 3, 4]})

    def make(budget, **more):
        ledger = dither.Ledger.create(tmp_path / f"{uuid.uuid4().hex}.ledger", budget=budget)
        limits = {"max_groups": 2, "max_rows_per_group": 3, "keys": {"ward": ["A", "B"]}, "bounds": {"cost": (0, 10)}}
        limits |= {"hard": ["max_groups", "max_rows_per_group", "bounds.cost"]}
        return dither.protect(visits, name="visits", person="person", ledger=ledger, **(limits | more))

    return make


def noises(quote) -> set[str]:
    return {statistic.noise for statistic in quote.offer.statistics}


def test_left_out_the_budget_decides(clinic):
    assert noises(clinic(approx(3, "1e-6")).quote(BY_WARD, epsilon=1)) == {"Gaussian"}
    assert noises(clinic(zcdp("0.5")).quote(BY_WARD, rho="0.01")) == {"Gaussian"}
    assert noises(clinic(pure(3)).quote(BY_WARD, epsilon=1)) == {"geometric"}
    loud = clinic(zcdp(10**6))
    assert noises(loud.quote(COUNT, rho=1000)) == {"Gaussian"}  # at such prices geometric noise errs less, and is not taken


@pytest.mark.parametrize("budget", [approx(3, "1e-6"), zcdp("0.5", delta="1e-6"), zcdp("0.5")])
def test_stated_noise_is_taken_where_rho_counts(clinic, budget):
    data = clinic(budget)
    geometric = data.quote(BY_WARD, epsilon="0.1", noise="geometric")
    assert noises(geometric) == {"geometric"}
    assert geometric.price == "ε = 0.1 (add/remove one person)"
    assert geometric.guarantee == data.quote(BY_WARD, guarantee=pure("0.1")).guarantee
    assert data.quote(BY_WARD, rho="0.01", noise="gaussian").guarantee == data.quote(BY_WARD, rho="0.01").guarantee
    assert noises(data.quote(COUNT, error={"n": 500}, noise="geometric")) == {"geometric"}
    assert noises(data.quote(COUNT, guarantee=approx("0.1", "1e-9"), noise="geometric")) == {"geometric"}
    both = data.quote([BY_WARD, COUNT], epsilon="0.2", noise="geometric")
    assert both.price == "ε = 0.2 (add/remove one person)"


def test_noise_that_has_no_price_is_refused_before_any_charge(clinic):
    data = clinic(pure(3))
    with pytest.raises(GuaranteeError, match="Gaussian noise has none without a delta"):
        data.quote(BY_WARD, epsilon=1, noise="gaussian")
    with pytest.raises(GuaranteeError, match="Gaussian noise has none"):
        data.quote(BY_WARD, error={"n": 50, "cost": 500}, noise="gaussian")
    with pytest.raises(GuaranteeError, match="Gaussian noise has none"):
        data.quote([BY_WARD, COUNT], epsilon=1, noise="gaussian")
    with pytest.raises(QuestionError, match="no kind of noise"):
        data.quote(BY_WARD, epsilon=1, noise="Laplace")
    with pytest.raises(GuaranteeError, match="no epsilon without a delta"):
        clinic(zcdp(1)).quote(COUNT, guarantee=pure(1), noise="gaussian")
    with pytest.raises(GuaranteeError, match="no price"):
        clinic(dither.filter.gaussian_filter(1)).quote(COUNT, epsilon=1, noise="geometric")
    assert str(data.ledger.remaining()).startswith("100%: ε = 3 left")


@pytest.mark.parametrize("budget", [approx(3, "1e-6"), zcdp("0.5")])
@pytest.mark.parametrize("sql", [COUNT, BY_WARD, [BY_WARD, COUNT]])
def test_a_rho_for_geometric_noise_is_spent_and_not_exceeded(clinic, budget, sql):
    quote = clinic(budget).quote(sql, rho="0.02", noise="geometric")
    charged = quote.guarantee.charge().rho
    assert Fraction("0.01998") < charged <= Fraction("0.02")
    assert quote.guarantee.charge().epsilon > Fraction("0.2")  # 0.2^2 / 2 is 0.02: all that the classical bound allows


def test_the_ledger_charges_the_rho_of_the_mechanism_and_adds_up(clinic):
    data = clinic(zcdp("0.5"))
    quote = data.quote(COUNT, epsilon="0.5", noise="geometric")
    reach = quote.offer.statistics[0].mechanism.sensitivity
    assert quote.guarantee == Geometric(epsilon="0.5", sensitivity=reach).guarantee
    assert quote.guarantee.charge().rho < pure("0.5").charge().rho < Fraction(1, 8)
    quote.release()
    assert data.ledger.remaining().totals()[0] == quote.guarantee.charge().rho
    assert data.ledger.verify().ok
    assert json.loads(next(e.body["guarantee"] for e in data.ledger.history() if e.kind == "reserved"))["guarantee"] == 2


def test_a_budget_that_adds_up_epsilons_writes_what_it_always_wrote(clinic):
    data = clinic(pure(3))
    quote = data.quote(COUNT, epsilon="0.5")
    assert quote.guarantee == pure("0.5")
    quote.release()
    assert data.ledger.verify().ok
    written = next(entry.body["guarantee"] for entry in data.ledger.history() if entry.kind == "reserved")
    assert written == pure("0.5").to_json()


def test_compare_shows_the_other_noise_at_the_same_charge_and_at_the_same_epsilon(clinic):
    data = clinic(approx(3, "1e-6"))
    quote = data.quote(COUNT, epsilon="0.5")
    told = quote.compare()
    rows = told.rows()
    assert [row["noise"] for row in rows] == ["Gaussian", "geometric", "geometric"]
    assert [row["compared with 1"] for row in rows] == ["", "same charge", "same ε"]
    shares = [word for row in rows for word in row["of the budget"].split() if word.endswith("%")]
    assert shares[0] == shares[1] == "4.38%"  # the ρ of both
    errors = [float(row["error of n"]) for row in rows]
    assert errors[2] < errors[0] < errors[1]
    back = data.quote(COUNT, epsilon="0.5", noise="geometric").compare().rows()
    assert [row["noise"] for row in back] == ["geometric", "Gaussian", "Gaussian"]
    assert "Charge     ρ: " in data.quote(COUNT, epsilon="0.5", noise="geometric").explain()
    assert "it needs room in one of the two sums" in data.quote(COUNT, epsilon="0.5", noise="geometric").explain()
    assert "Charge     " not in quote.explain()


def test_compare_says_no_more_than_there_is(clinic):
    alone = str(clinic(pure(3)).quote(COUNT, epsilon=1).compare())
    assert "geometric" in alone
    assert "Gaussian" not in alone
    assert "same" not in alone
    assert "same ε" not in str(
        clinic(zcdp(1)).quote(COUNT, rho="0.1").compare()
    )  # without a delta Gaussian noise has no epsilon
    limited = clinic(approx(3, "1e-6"), per_question=approx("0.5", "1e-6"))
    told = str(limited.quote(COUNT, epsilon="0.5", noise="geometric").compare())
    assert "Gaussian noise at the same charge: the policy allows" in told
    with pytest.raises(BudgetError):
        limited.quote(COUNT, epsilon=1, noise="geometric")
    batch = clinic(zcdp(1)).quote([COUNT, BY_WARD], rho="0.1")
    assert "Gaussian" in str(batch[0].compare())


def test_medians_and_unknown_keys_have_a_price_with_geometric_noise(clinic):
    data = clinic(approx(3, "1e-6"), keys={})
    quote = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1, noise="geometric")
    assert quote.guarantee.charge().epsilon == 1
    assert quote.guarantee.charge().delta > 0
    median = data.quote("SELECT MEDIAN(cost) AS m FROM visits", epsilon="0.5", noise="geometric")
    assert median.guarantee.charge().epsilon == HALF
    assert median.compare()


# -- sets with one weight: one mechanism -----------------------------------------------------------------------------


def joint(*mechanisms) -> OneMechanism:
    ways = [(ClipSum if isinstance(one, Geometric) else Clip)(1, 1, 1, one.unit, "") for one in mechanisms]
    parts = zip(mechanisms, ways, strict=True)
    return OneMechanism(tuple(SimpleNamespace(mechanism=one, bounding=way) for one, way in parts))


def test_geometric_sets_with_one_weight_are_no_composition():
    """All moves within the joint norm: a family alone may move by all of it, which a sum of the parts does not allow for."""
    two, one = Geometric(epsilon=ln(2) * 2, sensitivity=2), Geometric(epsilon=ln(2), sensitivity=1)
    promise, parts = joint(two, one).guarantee, two.guarantee + one.guarantee
    assert promise.charge().epsilon == parts.charge().epsilon == ln(8)
    worst = Fraction(0)
    for moves in product(range(4), repeat=2):
        if not 0 < sum(moves) <= 3:  # both have the rate ln 2: the losses add up to at most 3 ln 2
            continue
        laws = [bounded_geometric(HALF, move + 1) for move in moves]
        p = [a * b for a, b in product(laws[0][0], laws[1][0])]
        q = [a * b for a, b in product(laws[0][-1], laws[1][-1])]
        with precision(256):
            for order in ORDERS:
                assert bool(divergence(p, q, order) < ball(order * promise.charge().rho)), moves
        for level in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(7)):
            truth = sum((max(a - level * b, Fraction(0)) for a, b in zip(p, q, strict=True)), start=Fraction(0))
            assert truth <= Fraction(promise.delta(ln(level)))
            worst = max(worst, truth - Fraction(parts.delta(ln(level))))
    with precision(256):
        ends = bounded_geometric(HALF, 4)
        assert bool(divergence(ends[0], ends[-1], ORDERS[0]) > ball(parts.charge().rho) * arb("1.2"))  # the sum is false
    assert worst > Fraction(1, 100)  # and so is its profile
    assert joint(two, one).loss().epsilon(0) == pytest.approx(float(ln(8)))


def test_gaussian_sets_with_one_weight_add_up():
    noises = [Gaussian(rho="0.1", l2_squared=4, integers=True), Gaussian(rho="0.3", l2_squared=1, integers=True)]
    assert joint(*noises).guarantee == noises[0].guarantee + noises[1].guarantee


def test_one_weight_under_a_pure_price_is_charged_as_one_epsilon(clinic):
    quote = clinic(zcdp(1)).quote(BY_WARD, guarantee=pure(1), bounding="clip sum")
    assert len(quote.guarantee.parts[0].entries) == 1
    assert quote.guarantee.charge().epsilon == 1
    assert Fraction("0.3678") < quote.guarantee.charge().rho < Fraction("0.3679")


def test_compare_at_several_prices(clinic):
    data = clinic(approx(3, "1e-6"))
    before = list(data.ledger.history())
    quote = data.quote(COUNT, epsilon="0.2")
    rows = quote.compare(epsilon=[0.1, "0.5", Fraction(1)]).rows()
    assert [row["price"] for row in rows] == [f"(ε = {each}, δ = 1e-06)" for each in ("0.2", "0.1", "0.5", "1")]
    errors = [float(row["error of n"]) for row in rows]
    assert errors[1] > errors[0] > errors[2] > errors[3]
    for row, each in zip(rows[1:], ("0.1", "0.5", "1"), strict=True):
        assert row["error of n"] == data.quote(COUNT, epsilon=each).compare().rows()[0]["error of n"]
    both = quote.compare(data.quote(COUNT, epsilon="0.3"), epsilon=[1]).rows()
    assert [row["price"].split(",")[0] for row in both] == ["(ε = 0.2", "(ε = 0.3", "(ε = 1"]
    assert list(data.ledger.history()) == before


def test_compare_at_prices_that_are_none(clinic):
    data = clinic(approx(3, "1e-6"), per_question=approx(1, "1e-6"))
    told = data.quote(COUNT, epsilon="0.2").compare(epsilon=["0.5", 2])
    assert len(told.rows()) == 2
    assert told.refused[0].startswith("ε = 2: the policy allows (ε = 1, δ = 1e-06)")
    with pytest.raises(NumberError):
        data.quote(COUNT, epsilon="0.2").compare(epsilon=[0])
    with pytest.raises(DataError, match="come in a list"):
        data.quote(COUNT, epsilon="0.2").compare(epsilon="0.5")
    with pytest.raises(DataError, match="part of a batch"):
        data.quote([COUNT], epsilon="0.2")[0].compare(epsilon=[1])
