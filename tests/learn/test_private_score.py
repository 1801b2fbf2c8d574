"""Scores of private rows: the law, the intervals, and rows that look at each other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import dither
from dither.errors import BudgetError, DataError
from dither.learn import GaussianNB, LinearRegression, PrivateSearch
from dither.learn.base import private_score as scores
from dither.learn.base.columns import NumberColumn
from dither.learn.base.facts import Facts
from dither.learn.base.price import read_price
from dither.learn.base.regressor import PrivateRegressor
from dither.learn.base.row_count import released_count
from dither.noise.laplace import DiscreteLaplace
from dither.testing import seeded

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

UNITS = ("add/remove one person", "replace one person")


class NoNoise:
    scales: list[Fraction] = []  # noqa: RUF012 - of all fits

    def __init__(self, scale):
        self.scales.append(Fraction(scale))

    def sample(self, size):
        return np.zeros(size, dtype=np.int64)


def first_is_label(cells):
    value = cells.columns[0][0]
    if value == 13:
        raise ValueError("a row that fails")
    return np.array([value])


def facts(kind, times=1):
    price = read_price(1, None, None, UNITS[0], ("pure",))
    target = NumberColumn(-1.0, 1.0) if kind == "target" else None
    return Facts((NumberColumn(-1.0, 1.0),), ("x",), price, ("a", "b") if kind == "classes" else (), target, None, times)


def exact_sums(monkeypatch, kind, rows, unit, epsilon="1/2"):
    """What is released without noise, and the scale that the noise would have."""
    monkeypatch.setattr("dither.learn.base.release.DiscreteLaplace", NoNoise)
    asked = scores.Asked.of(epsilon, unit, "0.9", None, "")
    X = np.array([[row[0]] for row in rows], dtype=object).reshape(len(rows), 1)
    y = np.array([row[1] for row in rows], dtype=object)
    of = scores.classifier_score if kind == "classes" else scores.regressor_score
    return of("model", first_is_label, facts(kind), X, y, None, asked).released, NoNoise.scales[-1]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["classes", "target"])
def test_the_law_of_a_score_on_every_pair_of_neighbours(kind, unit, monkeypatch):
    """The loss at the worst output is the L1 distance over the scale: exact, and with rows that fail, and labels unknown."""
    rows = {
        "classes": [("a", "a"), ("a", "b"), ("b", "b"), (13, "a"), ("b", "other"), (None, None)],
        "target": [(1.0, 1.0), (-1.0, 1.0), (13, 0.0), (np.nan, -1.0), (0.3, np.nan), (np.inf, -np.inf), ("x", 0.1)],
    }[kind]
    data = [list(some) for size in range(3) for some in product(rows, repeat=size)]
    found = {repr(some): exact_sums(monkeypatch, kind, some, unit) for some in data}
    worst = Fraction(0)
    for some in data:
        for who in range(len(some)):
            without = some[:who] + some[who + 1 :]
            others = [without] if unit == UNITS[0] else [[*without, row] for row in rows]
            for other in others:
                (one, scale), (two, _) = found[repr(some)], found[repr(other)]
                worst = max(worst, Fraction(sum(abs(a - b) for a, b in zip(one, two, strict=True))) / scale)
    assert Fraction(1, 4) < worst <= Fraction(1, 2)


def test_a_row_that_enters_twice_is_found(monkeypatch):
    """A planted bug: a right answer counts twice."""
    monkeypatch.setattr(scores, "is_right", lambda answer, label: 2 * int(answer == label))
    (right, wrong), scale = exact_sums(monkeypatch, "classes", [("a", "a")], UNITS[0])
    assert (abs(right) + abs(wrong)) / scale > Fraction(1, 2)


def test_rows_are_asked_about_alone():
    """A model that looks at the whole table sees one row, so nobody else's answer moves."""
    seen = []

    def answers(cells):
        seen.append(cells.rows)
        return np.array(["a"])

    asked = scores.Asked.of(1, UNITS[0], "0.9", None, "")
    scores.classifier_score("model", answers, facts("classes"), np.zeros((5, 1)), ["a"] * 5, None, asked)
    assert seen == [1] * 5


def test_the_first_rows_of_a_person_count(monkeypatch):
    monkeypatch.setattr("dither.learn.base.release.DiscreteLaplace", NoNoise)
    asked = scores.Asked.of(1, UNITS[0], "0.9", None, "")
    X = np.array([["a"], ["a"], ["a"], ["b"], ["b"]], dtype=object)
    person = [1, 1, 1, 2, None]
    found = scores.classifier_score("model", first_is_label, facts("classes", 2), X, ["a"] * 5, person, asked)
    assert found.released == (2, 1)
    assert NoNoise.scales[-1] == 2


# -- intervals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1, 3])
def test_the_reach_of_two_noises_is_exact(scale):
    law = DiscreteLaplace(scale)
    q = np.exp(-1 / scale)
    chance = np.array([(1 - q) / (1 + q) * (1 if k == 0 else 2) * q**k for k in range(400)])
    both = np.convolve(chance, chance)[:400].cumsum()
    for level in ("0.5", "0.9", "0.95", "0.999"):
        reach = scores.joint_reach(law, Fraction(level))
        assert both[reach] >= float(Fraction(level)) > both[reach - 1]


def test_an_interval_holds_all_accuracies_within_reach():
    for right, wrong, reach in product((-4, -1, 0, 2, 5), (-4, -1, 0, 3, 6), (1, 3, 5)):
        low, high = scores.accuracy_interval(right, wrong, reach)
        near = [
            r / (r + w) for r, w in product(range(13), repeat=2) if r + w > 0 and abs(r - right) + abs(w - wrong) <= reach
        ]
        assert all(low <= one <= high for one in near)
        if near and abs(right) + abs(wrong) > reach:  # as narrow as can be
            assert low == pytest.approx(min(near))
            assert high == pytest.approx(max(near))


def test_an_interval_holds_r_squared_within_reach():
    rng = np.random.default_rng(1)
    for _ in range(300):
        u, told = rng.uniform(-1, 1, (2, int(rng.integers(1, 6))))
        true = scores.error_sums(u, told)
        reach = int(rng.integers(1, 10**6))
        noisy = true + rng.integers(-reach, reach + 1, 4)
        variation = scores._variation(*true[:3].tolist())
        _, (low, high) = scores.r2_interval(noisy.tolist(), reach)
        if variation > 0:
            assert low <= float(1 - Fraction(int(true[3])) / variation) <= high


def test_intervals_cover_as_often_as_they_say():
    """2,000 draws at 90%: fewer than 86% have a chance below 1e-8."""
    asked = scores.Asked.of(1, UNITS[0], "0.9", None, "")
    law, reach = asked.law(1, 1), scores.joint_reach(asked.law(1, 1), Fraction(9, 10))
    with seeded(3):
        noise = np.asarray(law.sample((2000, 2)))
    held = 0
    for a, b in noise.tolist():
        low, high = scores.accuracy_interval(7 + a, 5 + b, reach)
        held += low <= 7 / 12 <= high
    assert held >= 1720


# -- the way through an estimator ------------------------------------------------------------------------------------------


def test_a_score_is_charged_and_told():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = rng.normal(40 + 20 * y[:, None], 5, (400, 2))
    with dither.Ledger.temporary(dither.pure(2), domain="learn") as ledger, seeded(5):
        model = GaussianNB(epsilon=1, bounds=(0, 100), classes=[0, 1], ledger=ledger).fit(X, y)
        found = model.private_score(X, y, epsilon="0.5", ledger=ledger)
        assert found.value > 0.9
        assert found.interval[0] <= found.value <= found.interval[1]
        assert found.receipt.ledger == ledger.identity
        assert "accuracy" in str(found)
        assert "not counted" not in str(found)
        with pytest.raises(BudgetError):
            model.private_score(X, y, epsilon=1, ledger=ledger)
        with pytest.raises(DataError, match="ledger"):
            model.private_score(X, y, epsilon=1, ledger="clinic")
        with pytest.raises(ValueError, match="features"):
            model.private_score(X[:, :1], y, epsilon="0.1", ledger=ledger)


class Slope(PrivateRegressor):
    """A regressor that knows the answer, and pays for a count all the same."""

    _kinds = ("pure",)

    def __init__(self, *, epsilon=None, bounds=None, target_bounds=None, ledger=None):
        self.epsilon, self.bounds, self.target_bounds, self.ledger = epsilon, bounds, target_bounds, ledger
        self.delta = self.guarantee = self.rows = None
        self.unit, self.max_rows, self.analyst = UNITS[0], 1, ""

    def _learn(self, facts, release):
        return {"n_": released_count(facts, release)[0]}

    def predict(self, X):
        return 10 * self._predicted(X).numbers[:, 0] + 1


def test_a_regressor_is_scored():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (3000, 1))
    y = 10 * X[:, 0] + rng.normal(0, 2, 3000)
    with seeded(4):
        model = Slope(epsilon=1, bounds=(-1, 1), target_bounds=(-15, 15)).fit(X, y)
        found = model.private_score(X, y, epsilon=1)
    low, high = found.interval
    assert low <= model.score(X, y, public=True) <= high
    assert low > 0.7
    assert high - low < 0.3
    assert found.receipt is None
    assert "R squared" in str(found)


def test_scores_and_searches_say_that_rows_of_nobody_are_not_counted():
    X, y = np.array([[20.0], [80.0]] * 50), np.array([0, 1] * 50)
    person = [None, *range(99)]
    model = GaussianNB(epsilon=10, bounds=(0, 100), classes=[0, 1]).fit(X, y)
    line = LinearRegression(epsilon=10, delta="1e-6", bounds=(0, 100), target_bounds=(0, 1)).fit(X, y)
    for one in (model, line):
        assert str(one.private_score(X, y, epsilon=10, person=person)).endswith("; rows without a person are not counted")
    search = PrivateSearch([model, model], epsilon=10)
    assert "Not counted  rows without a person" in search.fit(X, y, person=person).explain().splitlines()
    assert "ot counted" not in search.fit(X, y).explain()
