"""Scores of rows: a start and one public step for each group of a column, added up in whole numbers.

A score is a function of its own row and of the steps. It is kept from one statistic to the next, and only the steps that
came since are added: whole numbers, so it is the same as if all of them were added anew.
"""

from __future__ import annotations

import numpy as np
from attrs import define, field

from dither.learn.base.cells import Integers
from dither.learn.base.columns import Column
from dither.learn.base.rows import Rows
from dither.learn.trees.bins import bin_count, row_bins


@define(eq=False)
class _Kept:
    rows: Rows  # held, so that no other object gets its place
    bins: Integers
    scores: Integers
    added: int = 0


@define(eq=False)
class AdditiveScores:
    """Public steps by column and bin, and the scores of the rows that were asked for."""

    columns: tuple[Column, ...]
    start: Integers  # of each output
    _steps: list[tuple[int, Integers]] = field(factory=list)
    _kept: dict[int, _Kept] = field(factory=dict)

    def add(self, column: int, steps: Integers) -> None:
        """Steps of one column, by bin and output."""
        self._steps.append((column, steps))

    def of(self, rows: Rows) -> tuple[Integers, Integers]:
        """The bins and the scores of rows."""
        kept = self._kept.get(id(rows))
        if kept is None:
            scores = np.repeat(self.start[None, :], rows.count, axis=0)
            kept = self._kept[id(rows)] = _Kept(rows, row_bins(rows, self.columns), scores)
        for column, steps in self._steps[kept.added :]:
            kept.scores += steps[kept.bins[:, column]]
        kept.added = len(self._steps)
        return kept.bins, kept.scores

    def shapes(self) -> list[Integers]:
        """The sum of the steps of each column, by bin and output."""
        total = [np.zeros((bin_count(column), len(self.start)), dtype=np.int64) for column in self.columns]
        for column, steps in self._steps:
            total[column] += steps
        return total
