"""The best mechanism on any graph, by a linear program, and a proved bound on what any mechanism can gain.

    maximise    the sum of h(r, x) C[x, r]    over C >= 0 with rows that add up to one
    subject to  C[x, r] <= e^(epsilon d) C[y, r] on every edge of length d, both ways

h(r, x) = prior(x) g(r, x) is the weighted gain. Outputs are guesses: a best remap of anything else is one of these.

What the solver (HiGHS) returns is repaired until it is private (`optimal/integer_rows.py`); its gain is then computed
exactly.

Theorem (weak duality). For any y >= 0, one number for each edge, direction and guess, let

    lambda(x) = max over r of  h(r, x) - sum over x -> z of y(x, z, r) + sum over z -> x of e^(epsilon d) y(z, x, r).

Then no mechanism gains more than the sum of lambda.

Proof. Sum of h C <= sum over x, r of C[x, r] (lambda(x) + sum of y(x, z, r) - sum of e^(epsilon d) y(z, x, r)), and the
terms of y(x, z, r) are y (C[x, r] - e^(epsilon d) C[z, r]) <= 0. Rows add up to one.

So whatever the solver says of y, once negative ones are zero, gives a bound: it is computed in fractions. And y = 0 gives
one always: what could be gained without privacy. Where the solver fails altogether, one guess for everybody is a mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.channels.neighbour_graph import Graph
from dither.channels.optimal.integer_rows import IntegerRows, repair
from dither.errors import SizeError
from dither.numeric.balls import round_down, round_up
from dither.numeric.enclosure import exp
from dither.numeric.number import Enclosure, Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ENTRIES = 2_000_000  # of the matrix of constraints
TOLERANCE = 1e-10  # the smallest that the solver takes
STEEPEST = 1e9  # factors above this are beyond the solver: it is given this one, which is more than private enough
GOOD_ENOUGH = 1e-6  # of the gain; beyond it the solver is asked again in another way
ATTEMPTS: tuple[dict[str, str], ...] = ({}, {"presolve": "off"}, {"solver": "ipm"})
Weights = Sequence[Sequence[Fraction]]  # h(r, x): a row for each guess


def best_on_graph(weights: Weights, graph: Graph, epsilon: Number) -> tuple[IntegerRows, float, float]:
    """The mechanism, what it gains (rounded down), and a bound on what any can gain (rounded up)."""
    check_size(len(weights), graph)
    spare = max(range(len(weights)), key=lambda r: sum(weights[r]))
    found = IntegerRows(tuple(tuple(int(r == spare) for r in range(len(weights))) for _ in graph.nodes))  # one guess for all
    gained, most = gain_of(found, weights), dual_bound(weights, graph, epsilon, None)  # and the most without privacy
    for options in ATTEMPTS:
        solved = solve(weights, graph, epsilon, options)
        if solved is None:
            continue
        matrix, duals = solved
        made = repair(matrix, graph, epsilon, spare)
        worth = gain_of(made, weights)
        if worth > gained:
            found, gained = made, worth
        most = min(most, dual_bound(weights, graph, epsilon, duals))
        if most - gained <= GOOD_ENOUGH * (abs(most) + abs(gained)):
            break
    return found, round_down(gained), round_up(most)


def gain_of(mechanism: IntegerRows, weights: Weights) -> Fraction:
    """The expected gain of a mechanism, exactly: the sum of weighted gains times probabilities."""
    whole = sum(mechanism.rows[0])
    pairs = zip(mechanism.rows, zip(*weights, strict=True), strict=True)
    return sum((n * h for row, column in pairs for n, h in zip(row, column, strict=True)), start=Fraction(0)) / whole


def check_size(guesses: int, graph: Graph) -> None:
    """Refused where the program would take hours."""
    entries = 4 * len(graph.edges) * guesses
    if entries > MOST_ENTRIES:
        why = f"the linear program would have {entries} entries; {MOST_ENTRIES} are solved in minutes"
        raise SizeError("inputs", len(graph), why, "fewer inputs or guesses, or a graph with fewer edges")


def solve(
    weights: Weights, graph: Graph, epsilon: Number, options: dict[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """What the solver finds: C[x, r], and y for each edge, direction and guess; None where it finds nothing."""
    import highspy
    import numpy as np

    count, guesses = len(graph), len(weights)
    edges = np.array(graph.edges).reshape(-1, 2)
    growth = np.array([min(STEEPEST, _growth(epsilon, graph.length(at)).lower) for at in range(len(edges))])
    ways = np.concatenate([edges, edges[:, ::-1]])
    places = np.arange(guesses)
    # variable x * guesses + r; a row for each input, then one for each direction of an edge and each guess
    ahead = (ways[:, :1] * guesses + places).ravel()
    behind = (ways[:, 1:] * guesses + places).ravel()
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = count * guesses, count + ahead.size
    scale = max((abs(h) for row in weights for h in row), default=Fraction(1)) or Fraction(1)
    model.col_cost_ = -np.array([[float(h / scale) for h in row] for row in weights]).T.ravel()
    model.col_lower_ = np.zeros(count * guesses)
    model.col_upper_ = np.ones(count * guesses)
    model.row_lower_ = np.concatenate([np.ones(count), np.full(ahead.size, -highspy.kHighsInf)])
    model.row_upper_ = np.concatenate([np.ones(count), np.zeros(ahead.size)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate(
        [np.arange(count + 1) * guesses, count * guesses + 2 * np.arange(1, ahead.size + 1)]
    ).astype(np.int32)
    model.a_matrix_.index_ = np.concatenate([np.arange(count * guesses), np.stack([ahead, behind], axis=1).ravel()]).astype(
        np.int32
    )
    twice = np.repeat(np.tile(growth, 2), guesses)
    model.a_matrix_.value_ = np.concatenate(
        [np.ones(count * guesses), np.stack([np.ones(ahead.size), -twice], axis=1).ravel()]
    )
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    if solver.passModel(model) == highspy.HighsStatus.kError:
        return None
    solver.run()
    solution: Any = solver.getSolution()
    if not solution.value_valid or not solution.dual_valid:
        return None
    matrix = np.array(solution.col_value).reshape(count, guesses)
    duals = -np.array(solution.row_dual)[count:].reshape(2, len(edges), guesses) * float(scale)
    if not (np.isfinite(matrix).all() and np.isfinite(duals).all() and (matrix > 2.0**-40).any()):
        return None
    duals[:, growth >= STEEPEST] = 0.0  # these edges had another factor
    return matrix, np.maximum(duals, 0.0)


@lru_cache(maxsize=1024)
def _growth(epsilon: Number, length: Fraction) -> Enclosure:
    """e^(epsilon d); where that is beyond floats, only that it is large."""
    exponent = epsilon * length
    return exp(exponent) if exponent < 300 else Enclosure(STEEPEST, math.inf)


def dual_bound(weights: Weights, graph: Graph, epsilon: Number, duals: NDArray[np.float64] | None) -> Fraction:
    """The sum of lambda, not rounded; without any y it is what could be gained without privacy."""
    values = [list(column) for column in zip(*weights, strict=True)]  # values[x][r]
    for at, (x, y) in enumerate(graph.edges if duals is not None else ()):
        assert duals is not None
        if not duals[:, at].any():
            continue
        growth = Fraction(_growth(epsilon, graph.length(at)).upper)
        for (one, other), prices in zip(((x, y), (y, x)), duals[:, at].tolist(), strict=True):
            for r, price in enumerate(prices):
                if price:
                    values[one][r] -= Fraction(price)
                    values[other][r] += growth * Fraction(price)
    return sum((max(row) for row in values), start=Fraction(0))
