"""Rows as estimators see them: numbers between -1 and 1, places of categories, a label or a target. Vectors of them.

A row becomes whole numbers by operations on its own cells alone. The vector of a row on the lattice 2^-bits:

    v = trunc(u s),  s = 2^bits / R,    R = norm, or sqrt(numbers + categories), which no row exceeds

is cut towards zero, so it is no longer than u s; a row that is longer than 2^bits all the same (R was stated) is shortened,
and its length is then checked in whole numbers: sum v^2 <= 4^bits for every row whatsoever.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

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
    """u as one vector a row: numbers as they are, a coordinate that is 0 or 1 for each category, in the order of columns."""
    parts, number, code = [], 0, 0
    for column in columns:
        if isinstance(column, CategoryColumn):
            parts.append((rows.codes[:, code, None] == np.arange(column.width)).astype(np.float64))
            code += 1
        else:
            parts.append(rows.numbers[:, number, None])
            number += 1
    return np.concatenate(parts, axis=1)


def row_products(vectors: Floats, weights: Floats) -> Floats:
    """vectors @ weights, each row from its own numbers to the last bit: BLAS would let other rows change it.

    What a model says of private rows may be the input of the next fit.
    """
    total = np.zeros((len(vectors), weights.shape[1]))
    for place in range(weights.shape[0]):
        total += vectors[:, place, None] * weights[place]
    return total


def default_norm(columns: tuple[Column, ...]) -> float:
    """What no row exceeds in L2 norm: each column adds at most 1 to its square."""
    return float(np.sqrt(len(columns)))


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
