"""Second moments of rows, with their mean, their number and a target, in one release: for least squares and components.

    x   a row on the lattice, whole numbers, |x|_2 <= X = 2^16
    z   (x, c) or (x, c, y): a constant c, and a target |y| <= Y = 2^16
    M   the sum of z z^T over rows; its upper triangle is released

Theorem. One row adds to the triangle whole numbers m with  sum m_jj^2 + sum_{j<k} m_jk^2 / (1/2) <= (X^2 + c^2 + Y^2)^2,
whatever it holds, and no other row's part changes. So `Release.gaussian` has that norm2 with weights 1 on the diagonal and
1/2 off it: noise of standard deviation s on the diagonal and s / sqrt 2 off it.

Proof. The sum is that of all squares of the symmetric matrix z z^T, which is |z|_2^4. Each part of z is made of the cells of
its row; |x|_2 <= X is checked in whole numbers, |y| <= Y by clipping. Products are at most 2^32: sums over rows are exact in
any order (`base/exact_sums.py`). A sum beyond 2^62, of 2^30 rows, is cut there: that moves no two sums further apart.

Rows are rounded to the *nearest* point of the lattice: cutting towards zero would shift every moment the same way, by n / 2
steps, which at a million rows is as much as the noise. To keep |x|_2 <= X they are scaled to X - sqrt(width) / 2 first.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from attrs import cmp_using, field, frozen

from dither.errors import SizeError
from dither.learn.base.cells import Floats, Integers
from dither.learn.base.exact_sums import exact_products
from dither.learn.base.facts import Facts
from dither.learn.base.release import FAR, Release
from dither.learn.base.rows import SPARE, Rows, fitted_coordinates

BITS = 16
REACH = 2**BITS  # X and Y
CHUNK = 2**29  # rows whose products of at most 2^32 stay within 64 bits
MOST_WIDTH = 1_000  # coordinates of a row: moments are half a million numbers then


@frozen
class SecondMoments:
    """Released second moments of (x, c) or (x, c, y), in steps of the lattice."""

    matrix: Floats = field(eq=cmp_using(eq=np.array_equal))
    deviation: float  # s: the standard deviation of the noise on the diagonal; s / sqrt 2 off it
    width: int  # of x
    constant: int  # c
    steps: float  # of x for each unit of u, the columns scaled to [-1, 1]

    @property
    def count(self) -> float:
        """How many rows there are, as it was released."""
        return float(self.matrix[self.width, self.width]) / self.constant**2

    @property
    def rows(self) -> float:
        """How many rows there are, with noise; at least as many as its noise is large."""
        return float(max(self.matrix[self.width, self.width], self.deviation)) / self.constant**2

    @property
    def mean(self) -> Floats:
        """The mean of u, with noise."""
        found = self.matrix[: self.width, self.width] / (self.constant * self.rows * self.steps)
        return np.clip(found, -1.0, 1.0)

    @property
    def covariance(self) -> Floats:
        """The covariances of u, with noise: some variances may be below 0."""
        squares = self.matrix[: self.width, : self.width] / self.steps**2
        return np.asarray(squares / self.rows - np.outer(self.mean, self.mean))

    @property
    def noise(self) -> float:
        """How large the noise of a row of the square matrix of x is: what a ridge of that size hides."""
        return self.deviation * float(np.sqrt(self.width / 2))


def released_moments(
    facts: Facts, release: Release, *, norm: float, constant: int, target: bool, share: Fraction
) -> SecondMoments:
    """The second moments of rows whose columns are scaled to [-1, 1] and shortened to `norm`, at a share of the price."""
    size = facts.width + 1 + target
    norm2 = (REACH**2 * (1 + target) + constant**2) ** 2
    upper = np.triu_indices(size)

    def sums(rows: Rows) -> Integers:
        whole = with_constant(row_vectors(rows, facts, norm), constant)
        if target:
            whole = np.concatenate([whole, target_values(rows)[:, None]], axis=1)
        found: Integers = bounded_products(whole, whole, REACH**2)[upper]
        return found

    weights = [Fraction(1) if row == column else Fraction(1, 2) for row, column in zip(*upper, strict=True)]
    told = release.gaussian(sums, (len(weights),), norm2=norm2, share=share, weights=weights)
    matrix = np.zeros((size, size))
    matrix[upper] = told
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    deviation = float(release.variance(norm2, share)) ** 0.5
    return SecondMoments(matrix, deviation, facts.width, constant, lattice_steps(facts.width, norm))


def bounded_products(left: Floats, right: Floats, largest: int) -> Integers:
    """left.T @ right of whole numbers, exact, and cut at 2^62 in absolute value: however many rows, no sum overflows."""
    total = np.zeros((left.shape[1], right.shape[1]), dtype=object)
    for start in range(0, len(left), CHUNK):
        total += exact_products(left[start : start + CHUNK], right[start : start + CHUNK], largest).astype(object)
    return np.clip(total, -FAR, FAR).astype(np.int64)


def lattice_steps(width: int, norm: float) -> float:
    """How many steps of the lattice a unit of u is."""
    return (REACH - float(np.sqrt(width)) / 2) / norm


def row_vectors(rows: Rows, facts: Facts, norm: float) -> Floats:
    """x of each row: u to the nearest points of the lattice; a row that is longer than X = 2^16 is shortened."""
    u = fitted_coordinates(rows, facts.columns)
    whole = np.rint(np.clip(u * lattice_steps(facts.width, norm), -REACH, REACH))
    square = np.einsum("ij,ij->i", whole, whole)  # whole numbers far below 2^53: exact in any order
    long = square > REACH**2
    whole[long] = np.trunc(whole[long] * (REACH * SPARE / np.sqrt(square[long]))[:, None])
    whole[np.einsum("ij,ij->i", whole, whole) > REACH**2] = 0.0  # no row gets here; if one did, it would count as zeros
    return whole


def with_constant(whole: Floats, constant: int) -> Floats:
    """(x, c) of each row."""
    return np.concatenate([whole, np.full((len(whole), 1), float(constant))], axis=1)


def target_values(rows: Rows) -> Floats:
    """y of each row."""
    return np.rint(np.clip(rows.targets, -1.0, 1.0) * REACH)


def check_width(facts: Facts, estimator: Any) -> Facts:
    """Refused where second moments would not fit into memory; before any charge."""
    if facts.width > MOST_WIDTH:
        why = f"{type(estimator).__name__} releases the products of all pairs of its coordinates, at most {MOST_WIDTH:,}"
        raise SizeError("X", f"{facts.width:,} coordinates", why, "fewer columns, or shorter lists of categories")
    return facts
