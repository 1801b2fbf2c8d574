"""Rows as estimators see them: numbers between -1 and 1, places of categories, a label or a target. Vectors of them.

A row becomes whole numbers by operations on its own cells alone. The vector of a row on the lattice 2^-bits:

    v = trunc(u s),  s = 2^bits / R,    R = norm, or sqrt(numbers + categories), which no row exceeds

is cut towards zero, so it is no longer than u s; a row that is longer than 2^bits all the same (R was stated) is shortened,
and its length is then checked in whole numbers: sum v^2 <= 4^bits for every row whatsoever.

A treatment coded column of k values is fitted in other coordinates than it is reported in: its values are the corners of a
regular simplex around 0, in k - 1 coordinates, at the distance sqrt 2 that one-hot vectors have. Their square is 1 - 1/k,
so R = sqrt(numbers + sum of 1 - 1/k); a ridge draws all levels to their mean, whichever of them is the reference.

    simplex(k)_j = (0, ..., 0, -j / sqrt(j (j + 1)), 1 / sqrt((j + 1)(j + 2)), ..., 1 / sqrt((k - 1) k)),   j = 0, ..., k - 1

Proof. The first number, if j > 0, has the square j / (j + 1) = 1 - 1/(j + 1), and those after it 1/i - 1/(i + 1), i = j + 1,
..., k - 1; together 1 - 1/k. Of j < l the products after place l add up to 1/(l + 1) - 1/k, and that at place l is
-1/(l + 1); together -1/k. So the square of a difference is 2 (1 - 1/k) + 2/k = 2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.columns import CategoryColumn, Column

SPARE = 1 - 2.0**-40  # of a row that is shortened: more than division and product may be off by


@frozen
class Rows:
    """Private rows. They are handed to the functions that `Release` calls, and to nothing else."""

    numbers: Floats  # between -1 and 1, a column each
    codes: Integers  # the place of a category in its list, -1 where it is in none
    label: Integers | None = None  # the place of the class
    target: Floats | None = None  # between -1 and 1
    person: Integers | None = None  # a number for each person, where samples are taken of them

    @property
    def count(self) -> int:
        """How many there are: as private as anything else here."""
        return len(self.numbers)

    def take(self, kept: Any) -> Rows:
        """Some of them: places, or a truth value for each."""
        beside = (None if part is None else part[kept] for part in (self.label, self.target, self.person))
        return Rows(self.numbers[kept], self.codes[kept], *beside)

    @property
    def labels(self) -> Integers:
        """The classes; of rows that have some."""
        assert self.label is not None
        return self.label

    @property
    def targets(self) -> Floats:
        """The targets; of rows that have some."""
        assert self.target is not None
        return self.target


def one_hot(rows: Rows, columns: tuple[Column, ...]) -> Floats:
    """u as one vector a row: numbers as they are, a coordinate that is 0 or 1 for each category, in the order of columns.

    A value that is not listed has 0 in each of them; treatment coded, 1 / k of k values: it is predicted as the mean of the
    levels. (Fits leave such a row out: `listed_rows`.)
    """
    parts, number, code = [], 0, 0
    for column in columns:
        if isinstance(column, CategoryColumn):
            place = rows.codes[:, code, None]
            part = (place == np.arange(column.has_reference, len(column.values))).astype(np.float64)
            parts.append(np.where(place < 0, 1 / len(column.values), part) if column.has_reference else part)
            code += 1
        else:
            parts.append(rows.numbers[:, number, None])
            number += 1
    return np.concatenate(parts, axis=1)


def fitted_coordinates(rows: Rows, columns: tuple[Column, ...]) -> Floats:
    """u as one vector a row, as it is fitted: `one_hot`, but treatment coded columns by the corners of a simplex."""
    u, place, code = one_hot(rows, columns), 0, 0
    for column in columns:
        if isinstance(column, CategoryColumn):
            if column.has_reference:
                u[:, place : place + column.width] = simplex(len(column.values))[rows.codes[:, code]]
            code += 1
        place += column.width
    return u


@lru_cache(maxsize=64)
def simplex(count: int) -> Floats:
    """The corner of each value, and a last row for no value: 0, their mean."""
    found = np.zeros((count + 1, count - 1))
    for place in range(1, count):
        found[:place, place - 1] = 1 / np.sqrt(place * (place + 1))
        found[place, place - 1] = -place / np.sqrt(place * (place + 1))
    found.flags.writeable = False
    return found


def listed_rows(rows: Rows, columns: tuple[Column, ...]) -> NDArray[np.bool_]:
    """Return for each row whether its treatment coded columns hold listed values; by its own cells."""
    coded = [one.has_reference for one in columns if isinstance(one, CategoryColumn)]
    return np.asarray((rows.codes[:, coded] >= 0).all(axis=1))


def row_products(vectors: Floats, weights: Floats) -> Floats:
    """vectors @ weights, each row from its own numbers to the last bit: BLAS would let other rows change it.

    What a model says of private rows may be the input of the next fit.
    """
    total = np.zeros((len(vectors), weights.shape[1]))
    for place in range(weights.shape[0]):
        total += vectors[:, place, None] * weights[place]
    return total


def default_norm(columns: tuple[Column, ...]) -> float:
    """What no row exceeds in L2 norm: each column adds at most 1 to its square, or 1 - 1/k if it is treatment coded."""
    coded = [len(one.values) for one in columns if isinstance(one, CategoryColumn) and one.has_reference]
    return float(np.sqrt(len(columns) - sum(1 / count for count in coded)))


def lattice_vectors(u: Floats, bits: int, norm: float) -> Floats:
    """u / norm as whole numbers in steps of 2^-bits, of L2 norm at most 2^bits."""
    length = 2.0**bits
    whole = np.trunc(np.clip(u * (length / norm), -length, length))
    square = np.einsum("ij,ij->i", whole, whole)  # whole numbers far below 2^53: exact in any order
    long = square > 4**bits
    if long.any():
        whole[long] = np.trunc(whole[long] * (length * SPARE / np.sqrt(square[long]))[:, None])
        whole[np.einsum("ij,ij->i", whole, whole) > 4**bits] = 0.0  # no row gets here; if one did, it would count as zeros
    return whole
