"""Where to evaluate a profile: exponential tilts and periods, in plain floats. A bad choice costs time or width only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from dither.numeric.enclosure import to_ball
from dither.privacy.loss.pairs.pair import MomentPair, MomentPairSequence, Pair

ROOM = 25.0  # ln of how far the tilted scale may lie above delta on a grid, which cuts off 1e-24 of it


def rough_of(terms: MomentPairSequence, c: float) -> float:
    """About log M(c) of the composition."""
    return sum(count * pair.rough(c) for pair, count in terms)


def tilt_for_delta(terms: MomentPairSequence, log_delta: float) -> tuple[float, float]:
    """(c, eps): the order that converts best, and the epsilon that it gives: close to the answer, in plain floats."""

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return (rough_of(terms, c) - log_delta - math.log(c + 1)) / c + math.log(c / (c + 1))

    c = math.exp(lowest(bound, -8.0, 14.0))
    return c, _checked(bound(math.log(c)))


def tilt_for_epsilon(terms: MomentPairSequence, eps: float) -> tuple[float, float]:
    """(c, ln delta): the same for a given epsilon."""

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return rough_of(terms, c) - c * eps + c * math.log(c / (c + 1)) - math.log(c + 1)

    c = max(math.exp(lowest(bound, -8.0, 14.0)), _least_tilt(terms))
    return c, max(-1000.0, _checked(bound(math.log(c))))


def _checked(value: float) -> float:
    if not math.isfinite(value):
        raise ArithmeticError("floats do not reach that far")
    return value


def _least_tilt(terms: MomentPairSequence) -> float:
    """About one over the spread of the losses: with less tilt the period would be many spreads long."""
    try:
        c = 1 / math.sqrt(max(rough_of(terms, 1.0), 1e-12))
        while rough_of(terms, c) > 4:
            c /= 2
    except (OverflowError, ValueError):
        return 0.0
    return c


def lowest(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one valley is lowest, roughly: a coarse grid, then thirds."""

    def safe(x: float) -> float:
        try:
            found = value(x)
        except (OverflowError, ValueError, ZeroDivisionError):
            return math.inf
        return found if found == found else math.inf

    number = round((high - low) / 2)
    grid = [low + 2 * i for i in range(number + 1)]
    values = [safe(x) for x in grid]
    at = min(range(len(grid)), key=values.__getitem__)
    width, middle, best = 2.0, grid[at], values[at]
    while width > 0.1:
        width /= 2
        for x in (middle - width, middle + width):
            if (found := safe(x)) < best:
                middle, best = x, found
                break
    return middle


def place(terms: MomentPairSequence, best: float, eps: float, wanted: float) -> tuple[float, float, float]:
    """(c, c', period): the line with the shortest period at which the aliases are below e^wanted.

    At the best order itself there may be no room to the right, where M grows steeply (sampled Gaussians do that).
    """
    excess: dict[float, float] = {}
    for factor in (0.75, 0.9, 1.0, 1.3, 1.7, 2.5):
        try:
            excess[factor] = rough_of(terms, factor * best) - factor * best * eps - wanted + 1
        except (OverflowError, ValueError):
            break
    found = (best, 2 * best, math.inf)
    for c in (1.0, 0.8, 0.65, 0.5):
        for factor, value in excess.items():
            if factor > c and value < math.inf:
                period = max(value / (best * (factor - c)), (1 - wanted) / (best * c))
                if period < 0.9 * found[2]:
                    found = best * c, best * factor, period
    return found[0], found[1], max(found[2], 1e-9)


# -- for the grid: a tilt from a few cells of every pair, in plain floats ---------------------------------------------


Moment = Callable[[float], float]


def _moment(pair: Pair) -> Moment:
    """About log M(c) of one pair: its own, or from a few cells, each at its upper end."""
    if isinstance(pair, MomentPair):
        return pair.rough
    small = Fraction(1, 10**40)
    low, high = (float(end) for end in pair.span(small))
    rows = [(float(atom.loss), float(atom.p)) for atom in pair.atoms(small)]
    if float(pair.whole()[0]) > 0:
        number = 256 if pair.cells > 1000 else 24
        marks = [low + (high - low) * i / number for i in range(number + 1)]
        sums = [float(pair.above(to_ball(Fraction(mark)))[0]) for mark in marks]
        rows += [(b, x - y) for b, x, y in zip(marks[1:], sums, sums[1:], strict=False)]
        rows += [(low, float(pair.whole()[0]) - sums[0]), (high, sums[-1])]
    logs = [(loss, math.log(p)) for loss, p in rows if p > 0]

    def moment(c: float) -> float:
        top = max(c * loss + p for loss, p in logs)
        return top + math.log(sum(math.exp(c * loss + p - top) for loss, p in logs))

    return moment


def _moments(terms: Sequence[tuple[Pair, int]]) -> Moment:
    each = [(_moment(pair), count) for pair, count in terms]
    return lambda c: sum(count * moment(c) for moment, count in each)


def grid_tilt(terms: Sequence[tuple[Pair, int]], log_delta: float) -> float:
    """The least tilt at which what the grid cuts off is small beside delta: the less tilt, the fewer points matter."""
    moment = _moments(terms)

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return (moment(c) - log_delta - math.log(c + 1)) / c

    best = math.exp(lowest(bound, -6.0, 8.0))
    epsilon = bound(math.log(best))
    for part in (0.01, 0.1, 0.2, 0.35, 0.5, 0.75):
        if moment(part * best) - part * best * epsilon < log_delta + ROOM:
            return part * best
    return best


def grid_log_delta(terms: Sequence[tuple[Pair, int]], epsilon: float) -> float:
    moment = _moments(terms)

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return moment(c) - c * epsilon

    return max(-1000.0, min(-1.0, bound(lowest(bound, -6.0, 8.0))))
