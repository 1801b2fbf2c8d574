"""The noise of each family is the one that its claim and its share of the price call for, exactly."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.errors import NumberError
from dither.noise.laplace import DiscreteLaplace
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from tests.query.clinics import clinic, ledger, private_totals

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS c, SUM(age) AS a FROM visits GROUP BY ward",
    "SELECT ward, SUM(age - 50) AS a, COUNT(DISTINCT person) AS p, COUNT(day) AS d FROM visits GROUP BY ward",
]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("sql", QUESTIONS)
def test_geometric_noise_has_the_scale_of_its_claim(tmp_path, sql, unit):
    data = clinic(tmp_path, budget=dither.pure(9, unit=unit))
    quote = data.quote(sql, epsilon="0.7")
    rates = [one.mechanism.law.rate * one.bounding.l1(one.counters) for one in quote.offer.counters]
    rates += [one.mechanism.law.rate * (1 if unit is Unit.ADD_REMOVE else 2) for one in quote.offer.others]
    assert sum(rates, start=dither.Number(0)) == dither.Number("0.7")
    assert (quote.guarantee.charge().epsilon, quote.guarantee.unit) == (dither.Number("0.7"), unit)
    assert 0.7 <= quote.epsilon() < 0.7001  # long moves are counted as continuous noise, which is a hair more
    *shares, people = (rate / dither.Number("0.7").fraction() for rate in rates)
    assert people == Fraction(1, 10)  # for how many people have more than is counted of them
    of_counters = choose_counters(quote.offer.question, pure=True).shares(pure=True)
    assert shares == [share * Fraction(9, 10) for share in of_counters]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("sql", QUESTIONS)
def test_gaussian_noise_has_the_scale_of_its_claim(tmp_path, sql, unit):
    data = clinic(tmp_path, budget=dither.zcdp(9, unit=unit))
    quote = data.quote(sql, rho="0.3")
    rhos = [Fraction(one.bounding.l2_squared(one.counters)) / (2 * one.mechanism.law.sigma2) for one in quote.offer.counters]
    rhos += [(1 if unit is Unit.ADD_REMOVE else 2) / (2 * one.mechanism.law.sigma2) for one in quote.offer.others]
    assert sum(rhos) == Fraction(3, 10)
    assert quote.guarantee.charge().rho == Fraction(3, 10)
    assert quote.loss().unit is unit
    assert quote.epsilon("1e-6") == dither.gdp(mu2="0.6").epsilon("1e-6")  # all of its noise together is one Gaussian


def test_what_is_stored_is_the_totals_and_the_noise_of_the_quote(tmp_path, monkeypatch):
    """Every number has a draw of its own, from the law of its family."""
    data = clinic(tmp_path, ledger=ledger(tmp_path, dither.pure(9)))
    quote = data.quote(QUESTIONS[1], epsilon=1)
    drawn = []

    def sample(law: DiscreteLaplace, shape: tuple[int, ...]) -> np.ndarray:
        drawn.append((law, np.arange(np.prod(shape)).reshape(shape) * 1000 + 7))
        return drawn[-1][1]

    monkeypatch.setattr(DiscreteLaplace, "sample", sample)
    answer = quote.release()
    totals = np.array(private_totals(quote), dtype=object)
    assert [law for law, _ in drawn] == [one.mechanism.law for one in quote.offer.statistics]
    noise = np.concatenate([numbers for _, numbers in drawn[:-1]], axis=1)  # the last is of people beyond the limits
    released = np.concatenate([np.array(family, dtype=object) for family in answer.released.counters], axis=1)
    assert (released == totals + noise).all()
    (stored,) = [entry.answer for entry in data.ledger.history() if entry.kind == "answered"]
    assert json.loads(stored)["released"] == answer.released.counters


def test_a_wished_error_that_no_double_holds_is_a_slip(tmp_path):
    data = clinic(tmp_path)
    with pytest.raises(NumberError, match="above 1e\\+300"):
        data.quote(QUESTIONS[0], error={"n": "1e400"})
    assert data.ledger.remaining().like(dither.pure(1)) > 0


@pytest.mark.parametrize("epsilon", ["1.1e18", "1e50", "1e300", "1e400"])
def test_an_epsilon_that_hides_nothing_is_refused_before_its_noise_is_looked_for(tmp_path, epsilon):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"))
    with pytest.raises(NumberError, match="above 1e18") as found:
        data.quote(QUESTIONS[0], epsilon=epsilon)
    assert found.value.where == "epsilon"


def test_an_epsilon_that_says_nothing_is_a_slip(tmp_path):
    data = clinic(tmp_path)
    with pytest.raises(NumberError, match="below 1e-100"):
        data.quote(QUESTIONS[0], epsilon="0.99e-100")
    assert data.quote(QUESTIONS[0], epsilon="1e-6").epsilon() == pytest.approx(1e-6)
