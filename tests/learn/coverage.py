"""How often regions and intervals of coefficients hold what they are about, over seeded fits of one data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dither.learn import LinearRegression, Ridge
from dither.learn.linear.linear_regression import CONSTANT, coefficient_units
from dither.learn.moments.second_moments import REACH, lattice_steps, row_vectors, target_values, with_constant
from dither.testing import seeded
from tests.learn.recorder import rows_of


def uniform(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    X = rng.uniform(-1, 1, (count, 2))
    return X, X @ [0.5, -0.3] + rng.uniform(-0.1, 0.1, count)


def heavy_tails(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    X = 0.3 * rng.standard_t(1.5, (count, 2))
    return X, X @ [0.5, -0.3] + 0.3 * rng.standard_t(1.5, count)  # many cells are moved to the bounds


def far_from_linear(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    X = rng.uniform(-1, 1, (count, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0.5, 5.0, -0.2)


def constant_column(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    X = np.stack([rng.uniform(-1, 1, count), np.full(count, 0.25)], axis=1)  # least squares has many solutions
    return X, X[:, 0] ** 3


JOBS = ["clerk", "worker", "official", "owner"]


def jobs(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Pay by age and job, four levels of unequal size, with residuals that have no variance."""
    age, job = rng.integers(18, 91, count), rng.choice(4, count, p=[0.5, 0.3, 0.12, 0.08])
    X = np.array([[years, JOBS[at]] for years, at in zip(age.tolist(), job, strict=True)], dtype=object).reshape(count, 2)
    pay = 1200 + 15 * age + np.array([0, -200, 600, 100])[job]
    return X, pay + 300 * rng.standard_t(1.5, count)


SETS = {
    "uniform": (uniform, 3000),
    "heavy tails": (heavy_tails, 3000),
    "far from linear": (far_from_linear, 300),
    "constant column": (constant_column, 1000),
    "five rows": (uniform, 5),
    "jobs": (jobs, 20_000),
}
FACTS = {"jobs": {"bounds": [(18, 90), JOBS], "target_bounds": (0, 6000)}}  # of the others all columns have one range


def make(name: str = "", **changed: Any) -> LinearRegression:
    given = {"epsilon": 1, "delta": "1e-6", "bounds": (-1, 1), "target_bounds": (-1, 1)}
    return (Ridge if "alpha" in changed else LinearRegression)(**given | FACTS.get(name, {}) | changed)


def least_squares(model: LinearRegression, X: Any, y: Any) -> Any:
    """Of the rows as they were clipped and rounded to the lattice, without noise; the shortest of several.

    Of `Ridge` it is ridge regression: least squares with one more row for each slope.
    """
    facts, rows = rows_of(model, X, y)
    norm = facts.norm(model.norm)
    steps = lattice_steps(facts.width, norm)
    whole = with_constant(row_vectors(rows, facts, norm), CONSTANT)
    penalty = np.eye(facts.width, facts.width + 1) * steps * np.sqrt(getattr(model, "alpha", 0.0))
    target = np.append(target_values(rows), np.zeros(facts.width))
    beta = np.linalg.lstsq(np.concatenate([whole, penalty]) / REACH, target / REACH, rcond=1e-9)[0]
    units, shift = coefficient_units(facts, steps)
    return units @ beta + shift


def fits(name: str, count: int, **changed: Any) -> Iterator[tuple[LinearRegression, Any]]:
    """Models of one data set, read once, each with other noise, and least squares of its clipped rows."""
    draw, size = SETS[name]
    X, y = draw(np.random.default_rng(7), size)
    beta = least_squares(make(name, **changed), X, y)
    facts, rows = rows_of(make(name, **changed), X, y)
    for seed in range(count):
        model = make(name, **changed)
        with seeded(seed):
            stored = model._released(facts, rows)
        yield model._model(facts, stored, None), beta


def region_coverage(name: str, count: int, confidence: str = "0.95", **changed: Any) -> int:
    """How many of `count` regions hold least squares of the clipped rows."""
    return sum(model.region(confidence).holds(beta) for model, beta in fits(name, count, **changed))


def extent_coverage(name: str, count: int, confidence: str = "0.95", **changed: Any) -> tuple[int, int]:
    """How many of `count` lists of intervals hold all coefficients, and how many are bounded."""
    held = bounded = 0
    for model, beta in fits(name, count, **changed):
        given = model.intervals(confidence)
        held += all(one.low <= true <= one.high for one, true in zip(given, beta, strict=True))
        bounded += not any(one.unbounded for one in given)
    return held, bounded


def population_coverage(name: str, count: int, confidence: str = "0.95", **changed: Any) -> list[int]:
    """How many of `count` intervals hold least squares of the clipped population (a million rows), by coefficient.

    Rows are drawn anew for each fit. A penalty is the same for each row of the population.
    """
    draw, size = SETS[name]
    population = {"alpha": changed["alpha"] * 10**6 / size} if "alpha" in changed else {}
    truth = least_squares(make(name, **changed | population), *draw(np.random.default_rng(11), 10**6))
    held = np.zeros(len(truth), dtype=int)
    for seed in range(count):
        X, y = draw(np.random.default_rng(1000 + seed), size)
        with seeded(seed):
            model = make(name, **changed).fit(X, y)
        given = model.intervals(confidence, kind="population")
        held += [one.low <= true <= one.high for one, true in zip(given, truth, strict=True)]
    return held.tolist()
