"""Bins of columns: 32 even ones between public bounds, or the listed categories and one bin for what is in no list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dither.learn.base.cells import Integers
from dither.learn.base.columns import CategoryColumn, Column
from dither.learn.base.rows import Rows

NUMBER_BINS = 32


def bin_count(column: Column) -> int:
    """How many bins a column has."""
    return column.width + 1 if isinstance(column, CategoryColumn) else NUMBER_BINS


def row_bins(rows: Rows, columns: Sequence[Column]) -> Integers:
    """The bin of each cell, a row and a column each; from the cell alone."""
    found, number, code = np.zeros((rows.count, len(columns)), dtype=np.int64), 0, 0
    for at, column in enumerate(columns):
        if isinstance(column, CategoryColumn):
            codes = rows.codes[:, code]
            found[:, at] = np.where(codes < 0, column.width, codes)
            code += 1
        else:
            place = np.floor((rows.numbers[:, number] + 1.0) * (NUMBER_BINS / 2))
            found[:, at] = np.clip(place, 0, NUMBER_BINS - 1).astype(np.int64)
            number += 1
    return found


def random_groups(column: Column, count: int, rng: np.random.Generator) -> Integers:
    """For each bin its group, of at most `count`: intervals of numbers by random cuts, or random groups of categories."""
    bins = bin_count(column)
    count = min(count, bins)
    if isinstance(column, CategoryColumn):
        return np.asarray(rng.permutation(bins) % count, dtype=np.int64)
    cuts = rng.permutation(bins - 1)[: count - 1]
    starts = np.zeros(bins, dtype=np.int64)
    starts[cuts + 1] = 1
    return np.cumsum(starts)


def bin_words(column: CategoryColumn) -> list[str]:
    """What each bin of a list holds: its value, and last what is in no list. Values that read alike get their places."""
    names = [*map(str, column.values), "(not listed)"]
    return names if len(set(names)) == len(names) else [f"{place}: {name}" for place, name in enumerate(names)]


def bin_edges(low: float, high: float) -> list[float]:
    """The edges of the bins of numbers."""
    return [low + (high - low) * (place / NUMBER_BINS) for place in range(NUMBER_BINS + 1)]
