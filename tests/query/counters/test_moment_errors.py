"""The errors that a quote states for deviations, covariances, correlations and slopes: from public guesses, and kept."""

from __future__ import annotations

import math

import numpy as np
import pyarrow
import pytest

import dither
from dither.errors import NumberError, QuestionError
from dither.query.counters import moment_errors
from dither.testing import seeded
from tests.query.clinics import all_counts, clinic, ledger, repeated

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
ALIKE = ["STDDEV_POP(y)", "VAR_POP(y)", "COVAR_POP(y, x)"]  # those of a sample are hardly other numbers
NAMES = ["STDDEV(y)", "VARIANCE(y)", "COVAR_SAMP(y, x)", "CORR(y, x)", "REGR_R2(y, x)", "REGR_SLOPE(y, x)"]
BUDGETS = {"geometric": dither.pure(10**6), "Gaussian": dither.approx(10**4, "1e-6")}
DRAWS, MOST = 60, 14  # of 60 with 1 of 20 each, 15 are off with a probability below 1e-6
ROWS = 5000


def columns(kind):
    """x from 0 to 100 and y from 0 to 1000, on whole numbers."""
    rng = np.random.default_rng(5)
    if kind == "at the bounds":  # as far from the mean as a column can be that deviates so much
        far = rng.random(ROWS) < 0.1
        x, y = far * 100, far * 1000
    elif kind == "heavy":
        x, y = rng.pareto(1.2, ROWS) * 9, rng.pareto(1.0, ROWS) * 90
    else:
        x = rng.uniform(0, 100, ROWS)
        y = 900 - 8 * x + rng.normal(0, 60, ROWS)
    return np.round(np.clip(x, 0, 100)), np.round(np.clip(y, 0, 1000))


def dataset(folder, x, y, noise="geometric"):
    facts = {"bounds": {"x": (0, 100), "y": (0, 1000)}, "steps": {"x": 1, "y": 1}, "complete": ["x", "y"]}
    table = pyarrow.table({"x": x, "y": y})
    return dither.protect(table, name="t", person="each row", ledger=ledger(folder, BUDGETS[noise]), **facts)


def guesses(x, y):
    return {"size": len(x), "spread": {"x": float(x.std()), "y": float(y.std())}}


def truth_of(name, x, y):
    n, c, vx, vy = len(x), np.mean(x * y) - x.mean() * y.mean(), x.var(), y.var()
    sample = n / (n - 1)
    return {
        **{"VAR_POP(y)": vy, "VARIANCE(y)": vy * sample, "STDDEV_POP(y)": vy**0.5, "STDDEV(y)": (vy * sample) ** 0.5},
        **{"COVAR_POP(y, x)": c, "COVAR_SAMP(y, x)": c * sample, "REGR_SLOPE(y, x)": c / vx},
        **{"CORR(y, x)": c / math.sqrt(vx * vy), "REGR_R2(y, x)": c * c / (vx * vy)},
    }[name]


def misses(folder, name, kind, noise, epsilon=2):
    """How many of so many releases are off by more than the quote said, of values that are counted once."""
    x, y = columns(kind)
    quote = dataset(folder, x, y, noise).quote(f"SELECT {name} AS a FROM t", epsilon=epsilon, **guesses(x, y))
    ((statistic, counts),) = all_counts(quote)
    with seeded(1234):
        released = [statistic.noisy(counts)[0] for _ in range(DRAWS)]
    off = np.abs(np.array(statistic.read(released, 0)[0]) - truth_of(name, x, y))
    return int(np.sum(off > quote.errors["a"])), quote.errors["a"] / np.quantile(off, 0.95)


@pytest.mark.parametrize(("kind", "noise"), [("at the bounds", "Gaussian"), ("heavy", "geometric")])
@pytest.mark.parametrize("name", NAMES)
def test_quoted_errors_are_kept(tmp_path, name, kind, noise):
    """And not much wider than they must be; of the square of a correlation near zero the worst case is another one."""
    off, width = misses(tmp_path, name, kind, noise, epsilon=4)
    assert off <= MOST
    assert width < 6 or (name == "REGR_R2(y, x)" and kind == "heavy")


@pytest.mark.parametrize("name", ["STDDEV(y)", "CORR(y, x)", "REGR_SLOPE(y, x)"])
def test_an_error_that_is_too_small_is_found(tmp_path, monkeypatch, name):
    whole = moment_errors.quantile
    monkeypatch.setattr(moment_errors, "quantile", lambda *given: whole(*given) / 8)
    assert misses(tmp_path, name, "at the bounds", "Gaussian", epsilon=4)[0] > MOST


def test_the_error_of_a_variance_is_that_of_one_counter_at_the_worst_mean(tmp_path):
    """Nearly nothing varies: then noise enters the variance with a weight of 1 at a bound, and of 1 again per value."""
    x, y = columns("plain")
    quote = dataset(tmp_path, x, y, "Gaussian").quote(
        "SELECT VAR_POP(y) AS v FROM t", epsilon=4, size=ROWS, spread={"y": "0.5"}
    )
    law = quote.offer.statistics[0].mechanism.law
    one = 1.96 * math.sqrt(law.sigma2) / 1000**2 / ROWS
    assert quote.errors["v"] / 1000**2 == pytest.approx(one, rel=0.05)


@pytest.mark.parametrize("noise", ["geometric", "Gaussian"])
@pytest.mark.parametrize("sql", ["AVG(c) AS a, STDDEV(c) AS s", "AVG(c) AS a, VAR_POP(c) AS s", "STDDEV_POP(c) AS s"])
def test_quoted_errors_hold_the_rounding_to_coarser_steps(tmp_path, sql, noise):
    """Prices at 9 below and above a whole step of 625/32: rounding moves each nearly as far as it can."""
    c = np.repeat([107.0, 127.0, 147.0], 3000)  # counted as 97.7 + 19.5 k, or one more
    facts = {"bounds": {"c": (0, 20_000)}, "steps": {"c": 1}, "complete": ["c"], "ledger": ledger(tmp_path, BUDGETS[noise])}
    data = dither.protect(pyarrow.table({"c": c}), name="t", person="each row", **facts)
    quote = data.quote(f"SELECT {sql} FROM t", epsilon=2000, size=len(c), spread={"c": float(c.std())})
    truths = {"a": c.mean(), "s": {"STD": c.std(), "VAR": c.var()}[sql.partition(", ")[2][:3] or sql[:3]]}
    assert "the rounding of values to coarser steps" in " ".join(quote.explain().split())
    with seeded(3):
        answers = list(repeated(quote, 20))
    for name, error in quote.errors.items():
        assert sum(abs(answer.columns[name][0] - truths[name]) > error for answer in answers) <= 6
        assert all(answer.columns[f"{name}_high"][0] - answer.columns[f"{name}_low"][0] < 4 * error for answer in answers)
    if "a" in quote.errors:
        told = " ".join(data.quote(f"SELECT {sql} FROM t", epsilon=2000).explain().split())
        assert "9.766 for the rounding of values to coarser steps" in told
        assert "the rounding of" not in data.quote("SELECT AVG(c) AS a FROM t", epsilon=2000).explain()


# -- what is said and refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, *ALIKE])
def test_without_guesses_there_is_no_figure_and_no_wish(tmp_path, name):
    x, y = columns("plain")
    data, sql = dataset(tmp_path, x, y), f"SELECT {name} AS a FROM t"
    stated = guesses(x, y)
    for missing in (("size", "spread"), ("size",), ("spread",)):
        given = {word: value for word, value in stated.items() if word not in missing}
        quote = data.quote(sql, epsilon=1, **given)
        assert quote.errors == {"a": None}
        assert f"(say {' and '.join(f'{word}=' for word in missing)} for a" in " ".join(quote.explain().split())
        with pytest.raises(QuestionError, match="depends on") as refused:
            data.quote(sql, error={"a": 1}, **given)
        assert all(f"{word}=" in str(refused.value) for word in missing)
        assert "y" in str(refused.value) if "spread" in missing else True


def test_a_wish_is_met_and_guesses_touch_nothing_that_is_released(tmp_path):
    x, y = columns("plain")
    data, stated = dataset(tmp_path, x, y, "Gaussian"), guesses(x, y)
    for name, wish in (("STDDEV(y)", "2"), ("CORR(y, x)", "0.05"), ("REGR_SLOPE(y, x)", 1), ("COVAR_POP(y, x)", 20)):
        quote = data.quote(f"SELECT {name} AS a FROM t", error={"a": wish}, **stated)
        assert 0.99 * float(wish) < quote.errors["a"] <= float(wish)
    plain = data.quote("SELECT CORR(y, x) AS a FROM t", epsilon=1)
    assert data.quote("SELECT CORR(y, x) AS a FROM t", epsilon=1, **stated).question == plain.question


def test_what_a_figure_is_for_is_said(tmp_path):
    x, y = columns("plain")
    sql = "SELECT STDDEV(y) AS s, CORR(y, x) AS r, REGR_INTERCEPT(y, x) AS i FROM t"
    quote = dataset(tmp_path, x, y).quote(sql, epsilon=9, size=5000, spread={"X": 20, " y ": "150.5"})
    told = " ".join(quote.explain().split())
    assert "where a group has 5,000 values with standard deviation 150.5 r:" in told
    assert "standard deviations 20 (x) and 150.5 (y), whatever their means and their correlation are" in told
    assert "i: no figure: how far an intercept is off depends on the mean of x" in told
    assert quote.errors["i"] is None


def test_noise_as_large_as_a_variance_leaves_no_figure(tmp_path):
    x, y = columns("plain")
    data, sql = dataset(tmp_path, x, y), "SELECT CORR(y, x) AS r, REGR_SLOPE(y, x) AS b, STDDEV(y) AS s FROM t"
    few = data.quote(sql, epsilon="0.1", size=10, spread={"x": 1, "y": 1})
    assert few.errors == {"r": None, "b": None, "s": None}
    assert "no figure: at this price noise can be as large as the number itself" in " ".join(few.explain().split())
    many = data.quote("SELECT CORR(y, x) AS r FROM t", error={"r": "0.1"}, size=10, spread={"x": 50, "y": 500})
    assert many.errors["r"] <= 0.1  # at a price where there is one
    for size in (1, 2):
        both = data.quote("SELECT STDDEV(y) AS s, VARIANCE(y) AS v FROM t", epsilon=9, size=size, spread={"y": 500})
        assert all(error is None or error > 0 for error in both.errors.values())


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        ({"costs": 3}, "did you mean cost"),
        ({"day": 3, "cost": 3}, "no column with numbers"),
        ({"ward": 3}, "no column with numbers"),
        ({"cost": 0}, "above zero"),
        ({"cost": -1}, "above zero"),
        ({"cost": math.nan}, "not finite"),
        ({"cost": math.inf}, "not finite"),
        ({"cost": "wide"}, "does not read as a number"),
        ({"cost": None}, "not a number"),
        ({"cost": "200.1"}, "between 0 and 400 is above 200"),
        ({"cost - age": 301}, "is above 260"),
        ({"age": 61}, "between 0 and 120 is above 60"),
        ({"cost": 3, "COST": 3}, "stated twice"),
        (3, "names no column"),
        ({3: 3}, "names no column"),
    ],
)
def test_guesses_that_cannot_be_are_refused_in_words(tmp_path, spread, words):
    sql = "SELECT STDDEV(cost) AS s, VAR_POP(cost - age) AS v FROM visits"
    for one in (sql, [sql, "SELECT COUNT(*) AS n FROM visits"]):
        with pytest.raises((QuestionError, NumberError), match=words):
            clinic(tmp_path, person="person").quote(one, epsilon=1, size=100, spread=spread)


def test_guesses_are_of_expressions_of_batches_of_subqueries_and_of_all_columns(tmp_path):
    data = clinic(tmp_path)
    spread = {"cost": 200, "age": 20, "(cost - age)": 130}
    several = ["SELECT STDDEV(cost) AS s FROM visits", "SELECT VAR_POP(cost - age) AS v FROM visits"]
    batch = data.quote(several, epsilon=10**3, size=1000, spread=spread)
    assert all(error is not None for errors in batch.errors for error in errors.values())
    sql = "SELECT STDDEV(cost) AS s FROM visits WHERE age > (SELECT STDDEV(age) FROM visits)"
    inner = data.quote(sql, epsilon=10**3, size=1000, spread={"cost": 200, "age": 20})
    assert all(error is not None for error in inner.errors.values())
    assert data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1, spread={"cost": 3}).errors["n"] is not None
    plan = data.plan([{"sql": several[0], "times": 2, "error": {"s": 5}, "size": 1000, "spread": {"cost": "100"}}])
    assert plan.fits
