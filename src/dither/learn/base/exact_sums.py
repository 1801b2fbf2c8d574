"""Sums over rows that are exact: whole numbers in float64 arrays, below 2^53, so that order and BLAS do not matter.

Float sums break a proof of sensitivity: when one row is dropped, BLAS cuts the rest into other blocks, and other people's
numbers change in their last bits. Whole numbers below 2^53 have no last bits to lose: each partial sum is exact in whatever
order, with or without fused multiply-add.
"""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats, Integers

EXACT = 2**53


def exact_products(left: Floats, right: Floats, largest: int) -> Integers:
    """left.T @ right of whole numbers, no product of which exceeds `largest` in absolute value: in blocks that are exact."""
    block = EXACT // largest
    assert block > 0, "a single product is exact"
    assert len(left) * largest < 2**63, "so is the sum of all"  # 2^36 rows of the largest products here
    total = np.zeros((left.shape[1], right.shape[1]), dtype=np.int64)
    for start in range(0, len(left), block):
        total += (left[start : start + block].T @ right[start : start + block]).astype(np.int64)
    return total


def exact_scores(vectors: Floats, weights: Floats, largest: int) -> Floats:
    """vectors @ weights of whole numbers; the absolute products of a row add up to at most `largest`, below 2^53."""
    assert largest < EXACT, "the scores of a row are exact"
    return vectors @ weights


def exact_bins(places: Integers, values: Floats | None, size: int, largest: int = 1) -> Integers:
    """Sums of whole `values` (or counts of rows) by place; none exceeds `largest` in absolute value."""
    block, total = EXACT // largest, np.zeros(size, dtype=np.int64)
    for start in range(0, len(places), block):
        here = None if values is None else values[start : start + block]
        total += np.bincount(places[start : start + block], weights=here, minlength=size).astype(np.int64)
    return total
