"""Residuals of rows in whole numbers: how far a label or a target is from what the scores say. Each from its own row.

two classes     y - p, p from a table of the score in steps of 2^-10: |r| <= 2^15, since p is between 0 and 2^15
more classes    (1 at the label) - p, p the softmax of the scores, cut to |r|_2 <= 2^15
a number        target - score, cut to half of the range of the target: |r| <= 2^14
"""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.rows import Rows

SCORE_BITS, RESIDUAL_BITS, TARGET_BITS = 10, 15, 14
REACH = 16 * 2**SCORE_BITS  # scores beyond are as good as certain
UNIT, TARGET_UNIT = 2**RESIDUAL_BITS, 2**TARGET_BITS
SIGMOID = np.rint(UNIT / (1 + np.exp(-np.arange(-REACH, REACH + 1) / 2**SCORE_BITS)))
EXPONENTIALS = np.rint(np.exp(-np.arange(REACH + 1) / 2**SCORE_BITS) * 2**30)
SPARE = 1 - 2.0**-20


def two_class_residuals(scores: Integers, rows: Rows) -> Floats:
    """y - p of each row, one number."""
    return rows.labels[:, None] * float(UNIT) - SIGMOID[np.clip(scores, -REACH, REACH) + REACH]


def class_residuals(scores: Integers, rows: Rows) -> Floats:
    """(1 at the label) - p of each row, a number for each class."""
    below = np.minimum(scores.max(axis=1, keepdims=True) - scores, REACH)
    powers = EXPONENTIALS[below]
    total = powers[:, 0].copy()
    for place in range(1, powers.shape[1]):  # whole numbers, exact in any order; one by one all the same
        total += powers[:, place]
    errors = -powers / total[:, None]
    errors[np.arange(rows.count), rows.labels] += 1.0
    whole = np.trunc(errors * UNIT)
    square = np.einsum("ij,ij->i", whole, whole)
    long = square > UNIT**2
    whole[long] = np.trunc(whole[long] * (UNIT * SPARE / np.sqrt(square[long]))[:, None])
    whole[np.einsum("ij,ij->i", whole, whole) > UNIT**2] = 0.0  # no row gets here; one that did would not count
    return whole


def target_residuals(scores: Integers, rows: Rows) -> Floats:
    """target - score of each row, one number."""
    apart = np.trunc(rows.targets * TARGET_UNIT)[:, None] - scores
    return np.clip(apart, -TARGET_UNIT, TARGET_UNIT)
