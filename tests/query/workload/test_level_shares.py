"""Which levels get noise: never worse than the finest groups alone, and the sum of squares is the true one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither.query.counters.marginals import Marginals, size_of, subsets
from dither.query.workload import level_shares
from dither.query.workload.level_shares import choose_shares, finest_only, marginals_of
from tests.seeds import rounds


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("rng", rounds(10, 5, "levels"))
def test_squares_are_those_of_the_estimate(rng, pure):
    sizes = tuple(rng.choice([1, 2, 7, 30]) for _ in range(rng.choice([1, 2, 3])))
    every = list(subsets(range(len(sizes))))
    sets = tuple(rng.sample(every, rng.randrange(1, len(every) + 1)))
    claims = (rng.choice([3, 9]), *([9] * len(sets)))
    found = choose_shares(sizes, sets, claims, pure=pure)
    own = [claims[0] if len(level) == len(sizes) else 9 for level in found.levels]
    made = marginals_of(sizes, found, own, pure=pure)
    variances = [
        float((claim / share) ** 2 if pure else claim / share) for claim, share in zip(own, found.shares, strict=True)
    ]
    squares = 0.0
    for level in sets:
        assert made.knows(level)
        one = sum(float(share.factor) ** 2 * share.times * variances[share.level] for share in made.shares(level))
        squares += one * size_of(sizes, level)
    assert squares == pytest.approx(found.squares)
    alone = finest_only(sizes, sets, claims[0], pure=pure)
    assert found.squares <= alone.squares
    assert sum(found.shares) == 1
    assert min(found.shares) > 0


def test_totals_get_noise_of_their_own_where_they_have_many_parts():
    many = choose_shares((100,), ((0,), ()), (1, 1, 1), pure=False)
    assert many.levels == ((0,), ())
    assert many.squares < 0.75 * finest_only((100,), ((0,), ()), 1, pure=False).squares
    assert choose_shares((100, 100), ((0,), (1,)), (1, 1, 1), pure=False).levels == ((0,), (1,))  # not one of 10,000 cells
    few = choose_shares((2,), ((0,),), (1, 1), pure=True)
    assert few == ((((0,),), (Fraction(1),), few.squares))


def test_least_squares_is_the_best_weighing():
    """Other weights than 1 / variance give no smaller variance."""
    found = choose_shares((12, 3), ((0, 1), (0,), ()), (1, 1, 1, 1), pure=False)
    made = marginals_of((12, 3), found, [1] * len(found.levels), pure=False)
    rng = np.random.default_rng(1)
    for _ in range(20):
        weights = tuple(weight * Fraction(int(rng.integers(1, 9)), 4) for weight in made.weights)
        other = Marginals((12, 3), made.levels, weights)
        for level in ((0, 1), (0,), ()):
            least, more = (
                sum(share.factor**2 * share.times / found.shares[share.level] for share in one.shares(level))
                for one in (made, other)
            )
            assert least <= more


@pytest.mark.parametrize("pure", [True, False])
def test_noise_on_totals_is_taken_where_it_helps_enough(monkeypatch, pure):
    sizes, sets = (30, 30), ((), (0,), (0, 1))
    several, alone = choose_shares(sizes, sets, (9, 9, 9, 9), pure=pure), finest_only(sizes, sets, 9, pure=pure)
    assert several.squares < alone.squares
    monkeypatch.setattr(level_shares, "BETTER", several.squares / alone.squares * 0.9)
    assert choose_shares.__wrapped__(sizes, sets, (9, 9, 9, 9), pure=pure) == alone
