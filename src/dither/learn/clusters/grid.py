"""A grid over few directions, and the counts of its cells: what k-means sees of the rows first.

    v   a row on the lattice 2^-12, |v|_2 <= 2^12                                     (`base/rows.py`)
    W   directions on the lattice 2^-14, no entry above 1                              public: made of earlier releases
    z   v W, whole numbers;  cell of a row: floor((z - low) / step), moved into the grid where it lies outside

Theorem. One row is one count in one cell, whatever it holds, and no other row's cell changes: L1 and L2 norm 1. To second
moments it adds the upper triangle of x x^T / 2^12 with x = (v, 2^12), cut to whole numbers: with weight 1 on the diagonal
and 1/2 beside it the sum of f_j^2 / w_j is at most (|x|^2 / 2^12)^2 = 4^13.

Proof. z is a sum of whole products below 2^53, exact in any order; subtraction, division, floor and the move look at one
row. sum_i x_i^4 + 2 sum_{i<j} x_i^2 x_j^2 = |x|^4, and cutting towards zero makes no square larger; |x|^2 <= 2 4^12.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.exact_sums import exact_bins, exact_products, exact_scores
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows, lattice_vectors, one_hot

ROW_BITS, DIRECTION_BITS = 12, 14
UNIT = 2.0 ** (ROW_BITS + DIRECTION_BITS)  # of z
REACH = 2.5  # deviations on each side


@frozen
class Grid:
    """Directions and the cells along them; public."""

    directions: Floats  # width x few, whole numbers in steps of 2^-14
    low: Floats  # of z
    step: Floats
    sides: tuple[int, ...]
    offset: Floats  # what lies beside all directions, in units of v / 2^12

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(np.prod(self.sides))

    def centers(self) -> Floats:
        """The middle of each cell, along the directions, in units of v / 2^12."""
        places = np.stack(np.unravel_index(np.arange(self.size), self.sides), axis=1)
        middles: Floats = (self.low + (places + 0.5) * self.step) / UNIT
        return middles

    def lifted(self, points: Floats) -> Floats:
        """Points along the directions as points among rows."""
        found: Floats = points @ (self.directions / 2.0**DIRECTION_BITS).T + self.offset
        return found

    def counts(self, rows: Rows, facts: Facts, norm: float) -> Integers:
        """How many rows lie in each cell."""
        vectors = row_vectors(rows, facts, norm)
        largest = int(2**ROW_BITS * np.sqrt(vectors.shape[1]) + 1) * 2**DIRECTION_BITS
        z = exact_scores(vectors, self.directions, largest)
        places = np.clip(np.floor((z - self.low) / self.step), 0, np.array(self.sides) - 1).astype(np.int64)
        return exact_bins(np.ravel_multi_index(tuple(places.T), self.sides), None, self.size)


def row_vectors(rows: Rows, facts: Facts, norm: float) -> Floats:
    """v of each row."""
    return lattice_vectors(one_hot(rows, facts.columns), ROW_BITS, norm)


def whole_box(facts: Facts, norm: float, sides: tuple[int, ...]) -> Grid:
    """The coordinates themselves as directions, between their bounds."""
    reach = np.full(len(sides), min(1.0, 1.0 / norm)) * UNIT
    return Grid(np.eye(facts.width) * 2.0**DIRECTION_BITS, -reach, 2 * reach / np.array(sides), sides, np.zeros(facts.width))


def released_directions(facts: Facts, release: Release, norm: float, share: Fraction, sides: tuple[int, ...]) -> Grid:
    """The directions in which rows vary most, from noisy second moments, and a box of some deviations on each side."""
    width = facts.width + 1
    upper = np.triu_indices(width)
    weights = [Fraction(1) if a == b else Fraction(1, 2) for a, b in zip(*upper, strict=True)]
    norm2 = 4 ** (ROW_BITS + 1)
    found = release.gaussian(
        lambda rows: moment_sums(rows, facts, norm), (len(weights),), norm2=norm2, share=share, weights=weights
    )
    matrix = np.zeros((width, width))
    matrix[upper] = found / 2.0**ROW_BITS
    matrix = matrix + np.triu(matrix, 1).T
    n = max(1.0, matrix[-1, -1])
    mean = np.clip(matrix[-1, :-1] / n, -1.0, 1.0)
    values, vectors = np.linalg.eigh(matrix[:-1, :-1] / n - np.outer(mean, mean))
    noise = float(release.variance(norm2, share)) ** 0.5 / 2**ROW_BITS / n
    vectors = vectors[:, ::-1][:, : len(sides)]
    directions = np.rint(np.clip(vectors, -1.0, 1.0) * 2.0**DIRECTION_BITS)
    spread = np.sqrt(np.maximum(values[::-1][: len(sides)], 0.0) + noise)
    reach = np.minimum(REACH * spread, 2.0) * UNIT
    low = np.rint(mean @ vectors * UNIT - reach)
    step = np.maximum(np.ceil(2 * reach / np.array(sides)), 1.0)
    return Grid(directions, low, step, sides, mean - vectors @ (vectors.T @ mean))


def moment_sums(rows: Rows, facts: Facts, norm: float) -> Integers:
    """The upper triangle of the sum of trunc(x x^T / 2^12), x = (v, 2^12)."""
    vectors = row_vectors(rows, facts, norm)
    full = np.concatenate([vectors, np.full((rows.count, 1), 2.0**ROW_BITS)], axis=1)
    ones, sums = np.ones((rows.count, 1)), []
    for place in range(full.shape[1]):  # a row of the triangle at a time: less memory
        parts = np.trunc(full[:, place:] * full[:, place, None] / 2.0**ROW_BITS)
        sums.append(exact_products(ones, parts, 2**ROW_BITS).ravel())
    return np.concatenate(sums)
