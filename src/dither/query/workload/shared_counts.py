"""Many counts of a batch, answered together from the cells that they share, with the least noise that is known for them.

Theorem. A person's rows weigh at most M = C K units together, whatever cells they are in (`statistics/bounding.py`,
weights). Let a mechanism be private for one unit more or less in one cell, or for one unit that changes its cell, at
epsilon / M, or at rho / M^2. Then it is private for the person at epsilon, or at rho.

Proof. Take her units away one by one, or put another person's in their places one by one, a unit of one of them coming from
nowhere or going there: at most M steps between neighbours of the mechanism. Group privacy: M epsilon / M, and M^2 rho / M^2.

The mechanism is the matrix mechanism over the cells that the answers tell apart (`mechanisms/workload/workload.py`).
Answers follow from one estimate of the cells, so they agree with each other: parts add up to what they are parts of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any, ClassVar

from dither.density.histograms.prefix_workload import padded, with_nowhere
from dither.mechanisms.workload.workload import Workload
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.estimators import Columns
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.statistics.bounding import Bounding, EachRow, Weights
from dither.query.statistics.limits import hard_limits, limits_of
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Price, Statistic
from dither.query.workload.common_cells import CommonCells

RESOLUTION = 2**10  # parts of a row, where people with many rows weigh less


@dataclass(frozen=True)
class SharedCounts(Statistic):
    """The counts of several questions of a batch."""

    code: ClassVar[str] = "shared_counts"

    atoms: CommonCells
    merged: tuple[int, ...]  # for each cell, which of the different ones it is; -1 for those that no answer has
    workload: Workload
    confidence: Fraction

    @classmethod
    def make(cls, atoms: CommonCells, price: Price) -> SharedCounts:
        """The part at its price."""
        import numpy as np

        table = np.zeros((len(atoms.rows), atoms.size))
        for row, cells in zip(table, atoms.rows, strict=True):
            row[list(cells)] = 1
        different, merged = np.unique(table, axis=1, return_inverse=True)
        empty = [at for at in range(different.shape[1]) if not different[:, at].any()]
        kept = [at for at in range(different.shape[1]) if at not in empty]
        places = {at: place for place, at in enumerate(kept)}
        bounding = bounding_of(atoms, price)
        units = bounding.most * bounding.resolution
        paid: dict[str, Any] = {"epsilon": price.amount / units} if price.pure else {"rho": price.amount / units**2}
        workload = Workload(queries=with_nowhere(different[:, kept], price.unit), unit=price.unit, **paid)
        found = tuple(places.get(int(at), -1) for at in merged.reshape(-1))
        return cls(atoms.common, bounding, atoms, found, workload, price.confidence)

    @property
    def units(self) -> int:
        """What a person's rows weigh together at most: M."""
        return self.bounding.most * self.bounding.resolution

    @property
    def guarantee(self) -> Guarantee:
        """That of the mechanism, for a group of so many units."""
        return self.workload.guarantee.group(self.units)

    def loss(self) -> Loss:
        """Of any release with this promise."""
        return self.guarantee.loss()

    def spelled(self) -> dict[str, object]:
        """Rows, cells, answers and noise."""
        tables = (self.workload.queries, self.workload.strategy.matrix)
        hashes = [hashlib.sha256(table.tobytes()).hexdigest() for table in tables]
        groups = [[spell(group.by), [spell(key) for key in group.listed]] for group in self.question.groups]
        return {
            **{"where": spell(self.question.where), "groups": groups, "merged": list(self.merged)},
            **{"queries": hashes[0], "strategy": hashes[1], "noise": spell(self.workload.noise)},
        }

    def noisy(self, counts: Counts) -> list[float]:
        """Every answer, from the counts of all cells."""
        import numpy as np

        sums = [0] * (max(self.merged) + 1)
        for at, count in zip(self.merged, (count for row in counts for count in row), strict=True):
            if at >= 0:
                sums[at] += count
        found: list[float] = self.workload.release(padded(np.array(sums, dtype=object), self.workload.unit)).tolist()
        return found

    @cached_property
    def _errors(self) -> list[float]:
        return self.workload.errors(self.confidence)

    def read(self, released: Any, place: int) -> Columns:
        """The counts of one question."""
        first, last = self.atoms.places[place]
        one = self.bounding.resolution
        ends = list(zip(released[first:last], self._errors[first:last], strict=True))
        return (
            [floor(Fraction(value) / one + Fraction(1, 2)) for value, _ in ends],
            [floor((Fraction(value) - Fraction(half)) / one) for value, half in ends],
            [ceil((Fraction(value) + Fraction(half)) / one) for value, half in ends],
        )

    def error(self, place: int, confidence: Fraction) -> float:
        """The largest half-width of its rows."""
        first, last = self.atoms.places[place]
        errors = self._errors if confidence == self.confidence else self.workload.errors(confidence)
        return max(errors[first:last]) / self.bounding.resolution

    def statement(self, place: int) -> Statement:
        """All, or at least."""
        return statement_of(complete=self.complete, clamped=self.question.table.clamps_values, sums=True)

    def told(self, place: int) -> str:
        """The half-width."""
        return f"{rounded(self.error(place, self.confidence))}"

    def squares(self) -> float:
        """The sum of the squares of all half-widths, by which ways are compared."""
        return sum((error / self.bounding.resolution) ** 2 for error in self._errors)

    @property
    def noise(self) -> str:
        """The strategy."""
        return f"the strategy '{self.workload.strategy.name}' for {len(self.atoms.rows)} counts together"


def bounding_of(atoms: CommonCells, price: Price) -> Bounding:
    """As the question with the most groups is bounded: its limit holds for the rows of all questions together."""
    table = atoms.common.table
    if table.person is None or table.alone:
        return EachRow.of(price.unit)
    limits = limits_of(table, atoms.widest)
    reason = "answers share their noise, so that a person is bounded in all of them at once"
    made = Weights(limits.groups, limits.rows, RESOLUTION, price.unit, reason, limits.most)
    return replace(made, complete=made.loses_nothing(hard_limits(table, atoms.widest)))


def one_by_one(errors: Sequence[float | None], rows: Sequence[int]) -> float:
    """The sum of the squares of all half-widths where each question is asked by itself."""
    return sum(count * (error or 0.0) ** 2 for error, count in zip(errors, rows, strict=True))
