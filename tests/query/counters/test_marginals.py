"""Marginals that add up: the estimate of least squares, how noise enters it, and rounding that keeps sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither.query.counters.marginals import Marginals, marginal, rounded_parts, size_of, subsets
from tests.seeds import rounds


def adding(sizes, level):
    """A_l."""
    cells = list(product(*map(range, sizes)))
    keys = product(*(range(sizes[place]) for place in level))
    return np.array([[float(tuple(cell[place] for place in level) == key) for cell in cells] for key in keys])


def random_case(rng):
    sizes = tuple(rng.choice([1, 2, 3, 4]) for _ in range(rng.choice([1, 2, 3])))
    every = list(subsets(range(len(sizes))))
    levels = tuple(rng.sample(every, rng.randrange(1, len(every) + 1)))
    weights = tuple(Fraction(rng.randrange(1, 9), rng.randrange(1, 9)) for _ in levels)
    return Marginals(sizes, levels, weights), every


@pytest.mark.parametrize("rng", rounds(20, 10, "marginals"))
def test_the_estimate_is_that_of_least_squares(rng):
    made, every = random_case(rng)
    roots = [np.sqrt(float(weight)) for weight in made.weights]
    noisy = [
        np.array([rng.randrange(-9, 9) for _ in range(size_of(made.sizes, level))], dtype=object).reshape(made.shape(level))
        for level in made.levels
    ]
    inverse = np.linalg.pinv(
        np.vstack([root * adding(made.sizes, own) for root, own in zip(roots, made.levels, strict=True)])
    )
    values = np.concatenate([root * table.reshape(-1).astype(float) for root, table in zip(roots, noisy, strict=True)])
    found, below = made.cells(noisy)
    assert np.allclose(inverse @ values, (found / below).reshape(-1).astype(float))
    scales = np.concatenate([np.full(table.size, root) for root, table in zip(roots, noisy, strict=True)])
    for level in filter(made.knows, every):
        first, shares = 0, made.shares(level)
        reads = adding(made.sizes, level) @ inverse * scales
        for at, own in enumerate(made.levels):
            last = first + size_of(made.sizes, own)
            expected = [share.factor for share in shares if share.level == at for _ in range(share.times)]
            expected += [0] * (last - first - len(expected))
            for row in reads:  # the same numbers in every row, in some order
                assert np.allclose(sorted(row[first:last]), sorted(map(float, expected)))
            first = last


@pytest.mark.parametrize("rng", rounds(10, 5, "unbiased"))
def test_without_noise_every_marginal_that_follows_is_the_truth(rng):
    made, every = random_case(rng)
    truth = np.array([rng.randrange(99) for _ in range(size_of(made.sizes, every[-1]))], dtype=object).reshape(made.sizes)
    found, below = made.cells([marginal(truth, level) for level in made.levels])
    for level in filter(made.knows, every):
        assert (marginal(found, level) == below * marginal(truth, level)).all()


@pytest.mark.parametrize("rng", rounds(20, 10, "rounding"))
def test_rounded_parts_are_near_in_every_sum_over_the_last_columns(rng):
    sizes = tuple(rng.choice([1, 2, 5]) for _ in range(rng.choice([1, 2, 3])))
    below = rng.choice([1, 2, 7, 1024])
    above = np.array([rng.randrange(-5000, 5000) for _ in range(size_of(sizes, range(len(sizes))))], dtype=object).reshape(
        sizes
    )
    found = rounded_parts(above, below)
    assert all(type(one) is int for one in found.reshape(-1))
    for size in range(len(sizes) + 1):
        level = tuple(range(size))
        off = marginal(found, level) * below - marginal(above, level)
        assert (abs(off) < below).all() or below == 1
    assert abs(2 * (found.sum() * below - above.sum())) <= below
