"""Private search: exact laws of choices on all neighbours, the best of random runs, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Plain

import dither
from dither.errors import BudgetError, DataError, GuaranteeError, NumberError, SizeError
from dither.learn import GaussianNB, LogisticRegression, NearestCentroid, PrivateSearch
from dither.learn.base.cells import read_cells
from dither.learn.search import model_scores as scoring
from dither.learn.search import random_runs
from dither.testing import seeded

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

UNITS = ("add/remove one person", "replace one person")
CELLS = [[(0, 1)], [(1, 2)], [(0, 2)]]


def near_one(row):
    return 1 - abs(row[0] - 1)


def fails_at_zero(row):
    return 1 / row[0]


class Zero:
    def predict(self, table):
        return np.zeros(len(table), dtype=int)


class Parity:
    def predict(self, table):
        return np.asarray(table)[:, 0].astype(int) % 2


CASES = {
    "cells": (CELLS, None),
    "functions": ([near_one, fails_at_zero, lambda _: math.nan], None),
    "models": ([Zero(), Parity(), fails_at_zero], [0, 1, "x"]),
}


def chances(name, unit, epsilon="1/2"):
    """The law of the choice for every data set of at most two rows, from the exact channel of the mechanism."""
    models, labels = CASES[name]
    rows = list(product([0.0, 1.0, math.nan], labels or [None]))
    data = [some for size in range(3) for some in product(rows, repeat=size)]
    search = PrivateSearch(models, epsilon=epsilon, unit=unit)
    mechanism = search._mechanism(search._price(), labels is not None)
    law = {}
    for some in data:
        X = np.array([[row[0]] for row in some], dtype=float).reshape(len(some), 1)
        y = None if labels is None else np.array([row[1] for row in some], dtype=object)
        found = scoring.model_scores(models, read_cells(X), y, np.ones(len(some), dtype=bool))
        channel = mechanism.channel([found.tolist()])
        law[some] = channel.matrix.ravel().tolist()
    return rows, law


def worst(rows, law, unit):
    found = 0.0
    for some in law:
        for who in range(len(some)):
            without = some[:who] + some[who + 1 :]
            for other in [without] if unit == UNITS[0] else [(*some[:who], row, *some[who + 1 :]) for row in rows]:
                found = max(found, *(abs(math.log(a / b)) for a, b in zip(law[some], law[other], strict=True)))
    return found


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", CASES)
def test_no_choice_tells_neighbours_apart_by_more_than_epsilon(name, unit):
    found = worst(*chances(name, unit), unit)
    assert 0.1 < found <= 0.5 + 1e-12


def test_a_row_that_enters_twice_is_found(monkeypatch):
    honest = scoring._inside
    monkeypatch.setattr(scoring, "_inside", lambda cell, numbers, kept: 2 * honest(cell, numbers, kept))
    assert worst(*chances("cells", UNITS[0]), UNITS[0]) > 0.5


def test_scores_that_look_at_all_rows_are_found(monkeypatch):
    """A planted bug: the share of right answers in place of their number, in steps."""

    def share(cell, numbers, kept):
        return 4 * int((numbers[0] < cell[0][1]).sum()) // max(1, len(kept))

    monkeypatch.setattr(scoring, "_inside", share)
    assert worst(*chances("cells", UNITS[0]), UNITS[0]) > 0.5


def test_a_model_sees_one_row_at_a_time():
    seen = []

    class Nosy:
        def predict(self, table):
            seen.append(len(table))
            return [0]

    PrivateSearch([Nosy(), Zero()], epsilon=1).fit(np.zeros((4, 2)), [0] * 4)
    assert seen == [1] * 4


def test_the_utility_theorem_holds():
    """At 95%: of 400 choices at the worst scores, fewer than 350 within the bound has a chance below 1e-8."""
    search = PrivateSearch([[(k, k + 1)] for k in range(20)], epsilon="0.5")
    within = int(search.quote(1000).words[0].split("within ")[1].split()[0])
    X = np.concatenate([np.zeros(50 + within + 1), np.repeat(np.arange(1, 20), 50)])[:, None]
    mechanism = search._mechanism(search._price(), False)
    scores = scoring.model_scores(search.models, read_cells(X), None, np.ones(len(X), dtype=bool))
    with seeded(3):
        assert sum(mechanism.release(scores) == 0 for _ in range(400)) >= 350
    assert "guess" in str(search.quote(2))


@pytest.mark.parametrize("frame", [np.asarray, pandas.DataFrame, polars.DataFrame])
def test_the_better_model_is_chosen(frame):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    table = X if frame is np.asarray else frame({"one": X[:, 0], "two": X[:, 1]})
    good_table = X if frame is polars.DataFrame else table
    good, bad = Plain().fit(good_table, y), Plain().fit(good_table, 1 - y)
    with dither.Ledger.temporary(dither.pure(1), domain="learn") as ledger, seeded(2):
        search = PrivateSearch([bad, good], epsilon=1, ledger=ledger).fit(table, y)
        assert search.best_model_ is good
        assert (search.predict(good_table) == y).mean() > 0.9
        assert search.receipt_.ledger == ledger.identity
        assert "95%" in search.explain()
        assert "ot counted" not in search.explain()
        with pytest.raises(BudgetError):
            clone(search).fit(table, y)


class Logistic:
    """A model from elsewhere, whose arithmetic wants numbers: numpy has no exp of objects."""

    def predict(self, table):
        column = table["one"] if hasattr(table, "columns") else table[:, 0]
        return (np.asarray(np.exp(-column)) < 0.5).astype(int)


@pytest.mark.parametrize(
    "container",
    [
        np.asarray,
        list,
        lambda X: X.tolist(),
        lambda X: X.astype(int).tolist(),
        lambda X: pandas.DataFrame(X, columns=["one", "two"]),
        lambda X: pandas.DataFrame(X, columns=["one", "two"]).astype("Int64"),
        lambda X: pandas.DataFrame(X, columns=["one", "two"]).astype("int64[pyarrow]"),
        lambda X: polars.DataFrame(X, schema=["one", "two"]).cast(polars.Int64),
    ],
)
def test_models_from_elsewhere_are_given_numbers_whatever_the_container(container):
    """A row is typed by its own cells: one that is no number turns no other row into objects."""
    X, seen = np.arange(200.0).reshape(100, 2) % 7, []
    y = (X[:, 0] > 0.5).astype(int)

    def scores(table):
        cells = read_cells(table, 2)
        frame = None if cells.names is None else type(table)
        return scoring.model_scores([Logistic()], cells, y, np.ones(cells.rows, dtype=bool), frame).tolist()

    assert scores(container(X)) == [100]
    rows = container(X)
    if isinstance(rows, list):
        for odd in (None, "x", [1.0], Logistic(), 10**400):
            seen += scores([[odd, 1.0], *rows[1:]])
        assert set(seen) <= {99, 100}


def test_persons_with_several_rows():
    search = PrivateSearch(CELLS, epsilon=1, max_rows=2)
    assert search._mechanism(search._price(), False).sensitivity == 2
    search.fit([[0.5]] * 4, person=[1, 1, 1, None])
    assert "rows of the best" in str(search.quote(10))


def test_what_is_refused_before_any_charge():
    X, y = np.zeros((3, 1)), [0, 1, 0]
    with pytest.raises(DataError, match="exactly one"):
        PrivateSearch(epsilon=1).fit(X, y)
    with pytest.raises(DataError, match="right answers"):
        PrivateSearch([Zero()], epsilon=1).fit(X)
    with pytest.raises(DataError, match="not fitted"):
        PrivateSearch([GaussianNB()], epsilon=1).fit(X, y)
    with pytest.raises(SizeError, match="columns"):
        PrivateSearch([[(0, 1), (0, 1)]], epsilon=1).fit(X)
    with pytest.raises(DataError, match="does not predict"):
        PrivateSearch([3], epsilon=1).fit(X)
    with pytest.raises(GuaranteeError, match="pure"):
        PrivateSearch(estimator=LogisticRegression(), settings=[{}], epsilon=1).fit(X, y)
    model = NearestCentroid(bounds=(0, 1), classes=[0, 1])
    for settings, why in (([{"epsilon": 9}], "the search sets"), ([{"depth": 9}], "no parameter"), ([], "list")):
        with pytest.raises(DataError, match=why):
            PrivateSearch(estimator=model, settings=settings, epsilon=1).fit(X, y)
    with pytest.raises(NumberError, match="mean_runs"):
        PrivateSearch(estimator=model, settings=[{}], epsilon=1, mean_runs=1).fit(X, y)
    with pytest.raises(DataError, match="pays"):
        PrivateSearch(estimator=clone(model).set_params(epsilon=1), settings=[{}], epsilon=1).fit(X, y)


# -- the best of random runs -----------------------------------------------------------------------------------------------


def winner(law, m, weights=None):
    """The exact law of the best run, by its definition; outputs are (score, name), and the first of the best wins."""
    q, found = 1 - 1 / m, dict.fromkeys(law, 0.0)
    counts = np.arange(1, 1500)
    chance = q**counts / counts / math.log(m) if weights is None else weights(counts)
    for score in {output[0] for output in law}:
        below = sum(p for output, p in law.items() if output[0] < score)
        here = sum(p for output, p in law.items() if output[0] == score)
        best = float((chance * ((below + here) ** counts - below**counts)).sum())
        for output, p in law.items():
            if output[0] == score:
                found[output] += best * p / here
    return found


def neighbouring(rng, epsilon, size=6):
    """Two laws on the same outputs, no chance of which differs by more than a factor e^epsilon."""
    outputs = [(int(rng.integers(0, 4)), name) for name in range(size)]
    ends = np.exp(rng.choice([-epsilon / 2, epsilon / 2], (2, size)))
    base = rng.dirichlet(np.ones(size))
    one, other = (base * side for side in ends)
    one, other = one / one.sum(), other / other.sum()
    loss = max(float(np.abs(np.log(one / other)).max()), 1e-9)
    return dict(zip(outputs, one, strict=True)), dict(zip(outputs, other, strict=True)), loss


def largest_ratio(weights=None):
    """The loss of the best run over that of one run, the largest over many pairs of laws."""
    rng, found = np.random.default_rng(4), 0.0
    for _ in range(60):
        one, other, loss = neighbouring(rng, float(rng.uniform(0.1, 2)))
        if loss < 0.01:
            continue  # nearly the same law: floats would decide
        a, b = winner(one, 30, weights), winner(other, 30, weights)
        found = max(found, max(abs(math.log(a[y] / b[y])) for y in one) / loss)
    return found


def test_the_best_run_costs_at_most_twice_one_run():
    found = largest_ratio()
    assert 1.1 < found <= 2 + 1e-9  # more than one run costs, so a cost of one would be wrong


def test_a_fixed_number_of_runs_costs_more_and_is_found():
    """A planted bug: 30 runs each time. Their best costs more than twice one run."""
    found = largest_ratio(lambda counts: (counts == 30).astype(float))
    assert found > 2


def test_the_number_of_runs_has_its_law():
    m = random_runs.ends(5)
    assert (m - 1) / math.log(m) >= 5 > (m - 2) / math.log(m - 1)
    with seeded(6):
        drawn = np.array([random_runs.run_count(m) for _ in range(1500)])
    for k in (1, 2, 3, 10):
        chance = (1 - 1 / m) ** k / k / math.log(m)
        off = abs((drawn == k).mean() - chance)
        assert off < 5.5 * math.sqrt(chance / 1500)  # below 1e-6, were it not seeded


def test_the_first_of_the_best_runs_wins(monkeypatch):
    monkeypatch.setattr(random_runs, "run_count", lambda m: 4)
    runs = iter([(1, "a"), (3, "b"), (3, "c"), (2, "d")])
    assert random_runs.best_run(lambda: next(runs), 5) == (3, "b")


@pytest.mark.parametrize(("max_rows", "unit", "times"), [(1, "add/remove one person", 1), (3, "replace one person", 6)])
def test_a_search_among_settings_spends_its_price(monkeypatch, max_rows, unit, times):
    """Scales of noise of one run add up to half the price; the model's promise is that of the search."""
    spent = []

    class Law:
        def __init__(self, scale):
            spent.append(Fraction(scale))

        def sample(self, size):
            return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr("dither.learn.base.release.DiscreteLaplace", Law)
    monkeypatch.setattr(random_runs, "run_count", lambda m: 3)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = rng.normal(40 + 20 * y[:, None], 5, (200, 2))
    settings = [{"bounds": (0, 100)}, {"bounds": (-10000, 10000)}]
    promise, how = dither.pure(1, unit=unit), {"epsilon": 1, "max_rows": max_rows, "unit": unit}
    with dither.Ledger.temporary(promise, domain="learn") as ledger:
        search = PrivateSearch(estimator=GaussianNB(classes=[0, 1]), settings=settings, ledger=ledger, **how)
        search.fit(X, y, person=np.arange(200))
        assert search.best_model_.guarantee_ == search.guarantee_ == promise
        assert search.best_model_.receipt_ is search.receipt_
        assert "ε = 1" in search.best_model_.explain()
    norms = [2 * 2**20, 1] * 3  # of the fit, and of the score; before them each setting is rehearsed
    runs = [norm * times / scale for norm, scale in zip(norms, spent[len(settings) :], strict=True)]
    assert [sum(runs[place : place + 2]) for place in (0, 2, 4)] == [Fraction(1, 2)] * 3
    assert search.best_score_ == (search.predict(X) == y).sum()
    assert "fits" in search.explain()


def test_suggestions_follow_public_numbers():
    suggest = dither.learn.suggest
    assert suggest(100, 4, 3, "0.1").estimator == "ForestClassifier"
    assert suggest(427, 30, 2, 3).estimator == "NearestCentroid"
    assert suggest(427, 30, 2, 1, "1e-6").estimator == "LogisticRegression"
    assert suggest(24421, 12, 2, 1, "1e-6").estimator == "BoostingClassifier"
    assert suggest(331, 10, None, 1, "1e-6").estimator == "LinearRegression"
    assert "n mu / d is" in str(suggest(331, 10, None, "0.1", "1e-6"))
    assert suggest(331, 10, None, 1).estimator == "ForestRegressor"
    with pytest.raises(NumberError):
        suggest(0, 1, 2, 1)
