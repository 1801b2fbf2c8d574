"""The best of a random number of private runs, at twice the price of one.

    Q        the law of one run's output y and its score s(y);  Q(=s), Q(<s), Q(>s): how likely its score is so
    K        how many runs: P(K = k) = q^k / (k ln(1 / (1 - q))), k = 1, 2, ...;  f(x) = E[x^K] = ln(1 - q x) / ln(1 - q)
    A        the law of the output of the best run, the first of those with the largest score

Theorem. If one run is epsilon-differentially private, A is 2 epsilon-differentially private. K is not told.

Proof. The largest score of K runs is s with probability f(Q(<s) + Q(=s)) - f(Q(<s)), and the first run that has it is drawn
from Q given s; so A(y) = Q(y) times the mean of f'(x) over x = Q(<s) + t Q(=s), t from 0 to 1. For a neighbour Q' of Q:
Q(y) <= e^epsilon Q'(y). 1 - x = Q(>s) + (1 - t) Q(=s) >= e^-epsilon (1 - x'), so
1 - q x = (1 - q) + q (1 - x) >= e^-epsilon (1 - q x'). f'(x) is proportional to 1 / (1 - q x), so f'(x) <= e^epsilon f'(x').

K is drawn exactly: k from P(k) = (1 - q) q^(k-1), kept with probability 1 / k. Its law is the same for all data; but whoever
knows K knows more than A, so the time that a search takes is not to be told. Papernot and Steinke 2022, for pure epsilon and
eta = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from dither.errors import NumberError
from dither.noise.laplace import OneSidedGeometric
from dither.noise.uniform_integers import uniform
from dither.numeric.number import ln

Run = TypeVar("Run")
COST = 2  # times the price of one run
MOST_RUNS = 1000


def ends(mean_runs: int) -> int:
    """m with q = 1 - 1/m, the smallest for which the mean (m - 1) / ln m of the number of runs is at least that."""
    if not 2 <= mean_runs <= MOST_RUNS:
        raise NumberError("mean_runs", mean_runs, f"it is from 2 to {MOST_RUNS}", "mean_runs=5")
    m = 2
    while (m - 1) / math.log(m) < mean_runs:
        m += 1
    return m


def run_count(m: int) -> int:
    """K, drawn exactly; secret."""
    law = OneSidedGeometric(rate=ln(Fraction(m, m - 1)))
    while True:
        k = 1 + int(law.sample())
        if uniform(k) == 0:
            return k


def best_run(run: Callable[[], tuple[int, Run]], m: int) -> tuple[int, Run]:
    """The score and the output of the best of K runs, the first of those with the largest score."""
    best = run()
    for _ in range(run_count(m) - 1):
        found = run()
        if found[0] > best[0]:
            best = found
    return best
