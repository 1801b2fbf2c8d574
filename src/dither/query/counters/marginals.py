"""Marginals of a table of cells, some of them with noise: the estimate of all of them that adds up, by least squares.

A *level* is a set of grouping columns; its marginal has a number for each combination of their keys. Some levels have noise,
y_l = A_l x + z_l; weights w_l say how well each is known. The estimate is the x of least norm among those that minimise
sum of w_l |y_l - A_l x|^2, and each marginal is read off it, so that parts add up to their totals.

Theorem. The estimate of the cell c is the sum over levels l and subsets T of l of k(l, T) y_l[T](c), that of a level m the
sum over U within l and m of u(l, U) y_l[U](c), with

    k(l, T) = (1 / n(l - T)) sum over S, T <= S <= l, of (-1)^|S - T| w_l / e(S)      e(S) = sum over l >= S of w_l n(not l)
    u(l, U) = sum over T <= l with T cut with m = U, of k(l, T) n(not (m or T))

A level m within one that has noise has the expectation A_m x, and the variance of each of its numbers is, where 1 / w_l is
that of the noises, the sum over S <= m of n(not m) v(S, m) / e(S), v(S, m) = product over S of (1 - 1/n_i), over m - S of
1/n_i. The sum over all numbers of the level is sum over S <= m of n(not m) / e(S) times the product over S of (n_i - 1).

    n_i, n(I)    keys of the column i; the product over the columns of I
    A_l          adds the cells of each combination of keys of l up
    y_l[T](c)    the sum of the numbers of y_l whose keys are those of c in the columns of T

Proof. Let J_i be the mean over a column, C_i = 1 - J_i, P_S the product of C_i over S and J_i over the others: projections
that are orthogonal to each other and add up to 1. A_l' A_l is the product over the columns beyond l of n_i J_i: on the image
of P_S it is n(not l) where S <= l, and 0 elsewhere. So the equations sum of w_l A_l' A_l x = sum of w_l A_l' y_l fall apart:
P_S x = P_S (sum over l >= S of w_l A_l' y_l) / e(S), and 0 where e(S) = 0, in the solution of least norm. Of A_l' y_l, J_i
does nothing to a column beyond l; the others are averaged, and C_i over S written out gives k. Adding up over what is beyond
m gives u. With y_l = A_l x the right side is P_S x wherever e(S) > 0, and A_m P_S = 0 unless S <= m, which gives the
expectation; the covariance of the estimate is the sum of P_S / e(S), A_m P_S A_m' = n(not m) P_S of the table of m, whose
diagonal is v(S, m), and whose trace is the product over S of (n_i - 1).

All of it is in whole numbers and quotients of them. Which w_l are taken decides how good the estimate is, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from math import lcm, prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[Any]  # whole numbers of any size

Level = tuple[int, ...]  # places of grouping columns, in order


class Share(NamedTuple):
    """How numbers of a level with noise enter one number: so many of them, each times a factor."""

    level: int  # which of those with noise
    factor: Fraction
    times: int


def subsets(level: Sequence[int]) -> Iterator[Level]:
    """All of them, the smaller ones first."""
    return chain.from_iterable(combinations(level, size) for size in range(len(level) + 1))


def size_of(sizes: Sequence[int], level: Sequence[int]) -> int:
    """How many numbers a level has."""
    return prod(sizes[place] for place in level)


def marginal(cells: Table, level: Level) -> Table:
    """A table added up over the columns beyond a level; the columns stay, with one key."""
    away = tuple(place for place in range(cells.ndim) if place not in level)
    found: Table = cells.sum(axis=away, keepdims=True) if away else cells
    return found


def rounded_parts(above: Table, below: int) -> Table:
    """Whole numbers near above / below in every cell, whose sums over the last columns are near those of the quotients.

    From the total down: a part is the whole number below or above, the largest remainders up, keys in their order. So a sum
    over all keys of the last columns is the whole number below or above its quotient: the floors of its parts add up to at
    most that, and to more than it less their number, so that the parts that go up are none to all of them.
    """
    import numpy as np

    if below == 1:
        return above
    parents = np.array([(2 * above.sum() + below) // (2 * below)], dtype=object)
    tables = [above]
    while tables[0].ndim > 1:
        tables.insert(0, tables[0].sum(axis=-1))
    for table in tables:
        rows = table.reshape(len(parents), -1)
        floors = rows // below
        found = floors.tolist()
        wanted = (parents - floors.sum(axis=1)).tolist()
        for own, rest, more in zip(found, (rows - floors * below).tolist(), wanted, strict=True):
            largest = sorted(range(len(rest)), key=lambda at, rest=rest: -rest[at])  # type: ignore[misc]
            for at in largest[:more]:
                own[at] += 1
        parents = np.array(found, dtype=object).reshape(-1)
    return parents.reshape(above.shape)


@dataclass(frozen=True)
class Marginals:
    """Levels with noise of a table of cells, and what follows from them."""

    sizes: tuple[int, ...]  # keys of each column
    levels: tuple[Level, ...]  # those with noise, each once
    weights: tuple[Fraction, ...]  # of each, above 0

    def shape(self, level: Level) -> tuple[int, ...]:
        """Of a marginal: one key in each column beyond it."""
        return tuple(size if place in level else 1 for place, size in enumerate(self.sizes))

    def knows(self, level: Level) -> bool:
        """Whether a marginal follows."""
        return any(set(level) <= set(own) for own in self.levels)

    def cells(self, noisy: Sequence[Table]) -> tuple[Table, int]:
        """The estimates of all cells, from the marginals with noise: whole numbers, over a denominator."""
        import numpy as np

        denominator = lcm(*(factor.denominator for own in self._factors for factor in own.values()))
        sums: dict[Level, Table] = {}
        for table, own in zip(noisy, self._factors, strict=True):
            for part, factor in own.items():
                sums[part] = sums.get(part, 0) + int(factor * denominator) * marginal(table, part)
        found: Table = np.zeros(self.sizes, dtype=object)
        for table in sums.values():
            found = found + table
        return found, denominator

    def shares(self, level: Level) -> list[Share]:
        """How noise enters every number of a level: in the same way in each."""
        found = []
        for place, own in enumerate(self.levels):
            common = [column for column in own if column in level]
            sums = self._sums(place, level)
            beyond = size_of(self.sizes, [column for column in own if column not in level])
            for equal in subsets(common):
                factor = sum((sums[part] for part in subsets(equal)), start=Fraction(0))
                times = beyond * prod(self.sizes[column] - 1 for column in common if column not in equal)
                if factor and times:
                    found.append(Share(place, factor, times))
        return found

    @cached_property
    def _factors(self) -> list[dict[Level, Fraction]]:
        """k(l, T), where it is not 0."""
        found = []
        for own, weight in zip(self.levels, self.weights, strict=True):
            factors = {}
            for part in subsets(own):
                others = [column for column in own if column not in part]
                signs = ((-1) ** len(more) * weight / self._known[frozenset({*part, *more})] for more in subsets(others))
                factor = sum(signs, start=Fraction(0)) / size_of(self.sizes, others)
                if factor:
                    factors[part] = factor
            found.append(factors)
        return found

    @cached_property
    def _known(self) -> dict[frozenset[int], Fraction]:
        """e(S), where it is not 0."""
        found: dict[frozenset[int], Fraction] = {}
        for own, weight in zip(self.levels, self.weights, strict=True):
            for part in map(frozenset, subsets(own)):
                found[part] = found.get(part, Fraction(0)) + weight * self._beyond(own)
        return found

    def _beyond(self, columns: Sequence[int]) -> int:
        return size_of(self.sizes, [place for place in range(len(self.sizes)) if place not in columns])

    def _sums(self, place: int, level: Level) -> dict[Level, Fraction]:
        """u(l, U)."""
        found = dict.fromkeys(subsets([column for column in self.levels[place] if column in level]), Fraction(0))
        for part, factor in self._factors[place].items():
            inside = tuple(column for column in part if column in level)
            found[inside] += factor * self._beyond([*level, *part])
        return found
