"""Least squares by clipped gradients, whose steps are scaled by released second moments: one rule for all sizes of noise.

    x   (row, constant) on the lattice, |x|_2^2 <= X^2 + c^2                           (`moments/second_moments.py`)
    w   weights on the lattice 2^-18, within 2^10                                      public: made of earlier releases
    r   x w - y on the lattice 2^-16, clipped to 1/2
    G   the sum of x r over rows
    H   the second moments of x with noise of deviation s, at a fifth of the price; the rest is shared by 8 steps

    w <- w - (H+ + k I)^-1 G,      k = s sqrt(width / 2) + g sqrt(width),   g the deviation of the noise of G

Theorem. One row adds to G a vector of whole numbers of L2 norm at most 2^15 sqrt(X^2 + c^2), whatever it holds, and no other
row's part changes.

Proof. x w is a sum of whole products below 2^53, exact in any order; division by 2^18, rounding down, the difference and the
clipping look at one row each. |x r|_2 = |x|_2 |r|, and sums are exact. H has its own theorem; shares add up to 1.

The step knows the noise: where H is no larger than the noise, k makes it small. Clipping makes it a regression by Huber's
loss: residuals of more than a quarter of the target's range count as if they were a quarter of it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.exact_sums import exact_scores
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows
from dither.learn.linear.coefficient_region import slope_penalty
from dither.learn.moments.second_moments import (
    BITS,
    MOST_WIDTH,
    REACH,
    SecondMoments,
    bounded_products,
    released_moments,
    row_vectors,
    target_values,
    with_constant,
)

STEPS, MOMENT_SHARE = 8, Fraction(1, 5)
CLIP = REACH // 2
WEIGHT_BITS, LARGEST_WEIGHT = 18, 2.0**10


def gradient_solution(
    facts: Facts, release: Release, *, norm: float, constant: int, penalty: float
) -> tuple[Floats, SecondMoments]:
    """beta of (x, c) for y, all on the lattice, and the moments of x; `penalty` is added to the squares of the slopes."""
    moments = released_moments(facts, release, norm=norm, constant=constant, target=False, share=MOMENT_SHARE)
    size, share = facts.width + 1, (1 - MOMENT_SHARE) / STEPS
    norm2 = (REACH**2 + constant**2) * CLIP**2
    noise = float(release.variance(norm2, share)) ** 0.5
    slopes = slope_penalty(size, penalty)
    values, vectors = np.linalg.eigh(moments.matrix)
    ridge = moments.noise + noise * float(np.sqrt(facts.width))
    squares = (vectors * np.maximum(values, 0.0)) @ vectors.T + ridge * np.eye(size) + slopes
    weights = np.zeros(size)
    for _ in range(STEPS):
        whole = np.rint(weights * 2**WEIGHT_BITS)
        gradient = release.gaussian(
            lambda rows, whole=whole: residual_sums(rows, facts, norm, constant, whole),  # type: ignore[misc]
            (size,),
            norm2=norm2,
            share=share,
        )
        step = np.linalg.solve(squares, gradient + slopes @ weights)
        weights = np.clip(np.nan_to_num(weights - step), -LARGEST_WEIGHT, LARGEST_WEIGHT)  # NaN would not be whole
    return weights, moments


def residual_sums(rows: Rows, facts: Facts, norm: float, constant: int, weights: Floats) -> Integers:
    """The sum of x r over rows, in steps of 2^-32; weights are in steps of 2^-18."""
    vectors = with_constant(row_vectors(rows, facts, norm), constant)
    largest = 2 * REACH * int(np.sqrt(MOST_WIDTH + 1) + 1) * int(LARGEST_WEIGHT) * 2**WEIGHT_BITS
    scores = np.floor(exact_scores(vectors, weights, largest) / 2.0**WEIGHT_BITS)
    residuals = np.clip(scores - target_values(rows), -CLIP, CLIP)
    return bounded_products(vectors, residuals[:, None], 2 ** (2 * BITS))[:, 0]
