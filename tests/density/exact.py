"""What the tests of this folder share: exact laws against claims, dense algebra in fractions."""

from __future__ import annotations

from fractions import Fraction

from dither.testing.claim import Claim
from dither.testing.rehearse import as_key, outcomes

ADD, REPLACE = "add/remove one person", "replace one person"
UNITS = [ADD, REPLACE, "add/remove one row", "replace one row"]


def check_claim(mechanism, view, *, cutoff="1e-12", pairs=None):
    """Every neighbouring pair in both directions, by the exact law of what `view` makes of counts; the largest log ratio."""
    claim, laws, worst = Claim(mechanism.guarantee), {}, 0.0
    for pair in mechanism.neighbours() if pairs is None else pairs:
        keys = [as_key(value) for value in pair]
        for key, value in zip(keys, pair, strict=True):
            if key not in laws:
                laws[key] = outcomes(view, value, cutoff=cutoff)
        for one, other in (keys, keys[::-1]):
            worst = max(worst, claim.check(one, other, laws[one], laws[other]))
    return worst


def solve(matrix, right):
    """Gauss, in fractions."""
    size = len(matrix)
    rows = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(matrix, right, strict=True)]
    for at in range(size):
        pivot = next(i for i in range(at, size) if rows[i][at])
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][at] for x in rows[at]]
        for i in range(size):
            if i != at and rows[i][at]:
                rows[i] = [x - rows[i][at] * y for x, y in zip(rows[i], rows[at], strict=True)]
    return [row[-1] for row in rows]


def tree_rows(shape):
    """One row of 0 and 1 for each node that takes noise, leaves first."""
    rows, width = [], 1
    for size in shape.sizes[: shape.levels]:
        rows += [[int(v * width <= cell < (v + 1) * width) for cell in range(shape.cells)] for v in range(size)]
        width *= shape.branching
    return rows
