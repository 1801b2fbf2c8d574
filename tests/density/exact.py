"""What the tests of this folder share: exact laws against claims, dense algebra in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dither.noise.laplace import DiscreteLaplace
from dither.testing import conformance
from dither.testing.claim import Claim
from dither.testing.enumerate import as_key, outcomes
from dither.testing.invalid_input import check_parameters, check_values

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


def check_noisy_numbers(workload, release, pairs, monkeypatch):
    """For noise of too many values to go through: how far each pair moves the numbers that noise is added to, against the
    price, exactly; and that an output follows from the noisy numbers alone, since equal ones give equal outputs."""
    law, back, seen, noise = workload.noise.law, type(workload.reconstruction), [], []
    answers = back.answers
    monkeypatch.setattr(type(law), "sample", lambda self, size: np.array(noise or [0] * size, dtype=object))
    monkeypatch.setattr(back, "answers", lambda self, noisy: (seen.append(noisy), answers(self, noisy))[1])
    worst = Fraction(0)
    for one, other in pairs:
        noise.clear()
        outputs = [release(one).tolist(), release(other).tolist()]
        moved = [y - x for x, y in zip(*seen[-2:], strict=True)]
        if isinstance(law, DiscreteLaplace):
            price = law.rate.fraction() * sum(map(abs, moved)) / workload.epsilon.fraction()
        else:
            price = sum(x * x for x in moved) / (2 * law.sigma2 * workload.rho)
        worst = max(worst, price)
        noise[:] = moved if any(moved) else [0] * len(moved)
        assert release(one).tolist() == outputs[1]
    assert worst <= 1
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


def check_all_but_the_promise(mechanism, cutoff):
    """Errors, the way back and refusals, where an epsilon is too large for the promise to be seen."""
    values = {str(value): value for pair in mechanism.neighbours() for value in pair}
    laws = {key: outcomes(mechanism.release, value, cutoff=cutoff) for key, value in values.items()}
    assert conformance._check_errors(mechanism, values, laws) > 0
    conformance._check_way_back(mechanism)
    check_values(mechanism, next(iter(values.values())))
    check_parameters(mechanism)
