"""The power of the best test of two neighbours at a given level, from the losses of a list of mechanisms.

With the hypotheses P and Q of one order of the neighbours the largest power at level a is the least, over eps >= 0, of

    e^eps a + delta(P, Q; eps)        and        1 - e^-eps (1 - a - delta(Q, P; eps))

Proof. Each is a bound: P(A) <= e^eps Q(A) + delta for the set A where the test says yes, and the same with P and Q
exchanged for the set where it does not. And one of them is reached: the test of Neyman and Pearson says yes where
log(P/Q) > l, with some chance at l, such that Q(yes) = a. It has P(yes) - e^l Q(yes) = delta(P, Q; l) if l >= 0, and
Q(no) - e^-l P(no) = delta(Q, P; -l) if l < 0.

Both are one function of x = e^eps, or of x = e^-eps: a x + sup over A of (P(A) - x Q(A)) is the first for x >= 1, and the
second for x <= 1. It is convex in x, so it has one minimum. Floats search for it and balls evaluate the bound there: a place
that is not quite the minimum makes the bound larger, never smaller. So the bound exceeds the truth by what delta does there,
and by less than 1e-7 of the power for the search (`LOOKS`).

How far delta is above (`loss/profile/profile.py`): not at all where all losses are listed, by about 1e-10 of delta on a
line. A line is sharp near one epsilon, so it is drawn again at the bottom that was found, until it is sharp there. On a
grid delta is above by what the grid's step is worth, on the losses that were tested less than 1e-4 of it. A grid takes a
second to make, and serves all levels of three decades.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dither.errors import PrecisionError
from dither.numeric.balls import precision, round_up
from dither.numeric.enclosure import certify, enclose, to_ball
from dither.numeric.number import Enclosure, Number
from dither.numeric.search import golden
from dither.privacy.formulas import normal
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.pairs.json import PairTerms
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.profile import discretise as cells
from dither.privacy.loss.profile import profile
from dither.privacy.loss.profile.convolve import ProfileSide
from dither.privacy.loss.profile.solve_epsilon import Profile, log_of
from dither.privacy.loss.profile.starting_points import grid_tilt

PLACES, LOOKS = 8, 42  # a first look everywhere, and then around the best: a quarter of the way shrinks to 1e-9 of it
ROUNDS = 4  # lines, each drawn where the last one has its bottom
SHARP = 1e-9  # of the power: what a ball may be wide
DECADES = 3  # levels that share a grid, or a first line
FARTHEST = 45.0  # e^-45 is below the last place of a power near one

PowerBound = Callable[[Fraction, Number, Fraction], float]  # of a level, an epsilon and its delta


def power_of_loss(loss: Loss, level: Fraction) -> float:
    """The largest power at a level from 0 to below 1, for both orders of the neighbours, rounded up."""
    orders = loss.orders()
    return max(_in_order(terms, orders[-1 - at], level) for at, terms in enumerate(orders))


def direct(level: Fraction, epsilon: Number, delta: Fraction) -> float:
    """The bound on what is found, rounded up."""
    return certify(lambda: epsilon.ball().exp() * to_ball(level) + to_ball(delta)).upper


def reverse(level: Fraction, epsilon: Number, delta: Fraction) -> float:
    """The bound by what is not found, rounded up; delta is that of the other order."""
    return certify(lambda: 1 - (-epsilon.ball()).exp() * to_ball(1 - level - delta)).upper


def _in_order(terms: PairTerms, turned: PairTerms, level: Fraction) -> float:
    """The power of the best test of P against Q: their losses, and those the other way round."""
    if level == 0:
        return round_up(profile.lost_of(terms)[1]) + 0.0  # only what Q never has
    if not terms:
        return round_up(level)
    if len(terms) == 1 and isinstance(terms[0][0], NormalPair):
        return normal.power(terms[0][0].mu2 * terms[0][1], level)
    found = [1.0, *_at_the_end(terms, level, direct), *_at_the_end(turned, level, reverse)]
    least, place = _least(terms, level, direct, -log_of(level), log_of(level))
    found.append(least)
    if not place:  # the two valleys are one, with e^-eps on the other side: it has one bottom
        found.append(_least(turned, level, reverse, FARTHEST, log_of(1 - level))[0])
    return min(found)


def _at_the_end(terms: PairTerms, level: Fraction, bound: PowerBound) -> list[float]:
    """At the largest loss, where there is one: beyond it there is only what is lost."""
    most = profile.largest_of(terms)
    return [] if most is None or most < 0 else [bound(level, most, profile.lost_of(terms)[1])]


def _least(terms: PairTerms, level: Fraction, bound: PowerBound, far: float, log_target: float) -> tuple[float, float]:
    """The least bound at an epsilon up to `far`, from a profile that is sharp there, and that epsilon."""
    most = profile.largest_of(terms)
    end = far if most is None else min(far, most.bounds().upper)
    best, place, decade = 1.0, 0.0, _decade(log_target)
    if end <= 0:
        return best, place
    with precision(profile.BITS):
        chosen = first_profile(terms, decade)
        for _ in range(ROUNDS):
            if chosen is None:
                break
            place = _bottom(chosen, bound, level, end)
            delta = delta_at(chosen, place)
            best = min(best, bound(level, Number(Fraction(place)), Fraction(delta.upper)))
            if delta.width <= SHARP * best:
                return best, place
            chosen = line_near(terms, _rounded(place))
        side = grid_profile(terms, decade)
        if side is not None:
            place = _bottom(side, bound, level, end)
            best = min(best, bound(level, Number(Fraction(place)), Fraction(delta_at(side, place).upper)))
    return best, place


def _decade(log_target: float) -> int:
    return DECADES * math.floor(log_target / math.log(10) / DECADES)


@lru_cache(maxsize=32)
def first_profile(terms: PairTerms, decade: int) -> Profile | None:
    """A profile to begin with; None where only a grid will do."""
    return profile.exact_profile(terms) or profile.line_for(terms, decade * math.log(10))


@lru_cache(maxsize=16)
def line_near(terms: PairTerms, place: float) -> Profile | None:
    return profile.line_at(terms, place)


def _rounded(place: float) -> float:
    """The place in four binary digits: a line that is drawn there is sharp enough for all places that round to it."""
    digits, exponent = math.frexp(place)
    return math.ldexp(round(digits * 16), exponent - 4) if place > 1 / 64 else 0.0


@lru_cache(maxsize=4)  # each of them takes some megabytes
def grid_profile(terms: PairTerms, decade: int) -> ProfileSide | None:
    log_delta = min(-1.0, decade * math.log(10))
    try:
        return cells.build(terms, profile.lost_of(terms)[1], grid_tilt(terms, log_delta), log_delta, up=True)
    except (PrecisionError, ArithmeticError, ValueError):
        return None  # floats do not find their way: then nothing is said


def delta_at(chosen: Profile, place: float) -> Enclosure:
    """delta of a profile at the epsilon `place`, enclosed in [0, 1]."""
    try:
        found = enclose(chosen.delta(to_ball(Fraction(place))))
    except (ArithmeticError, ValueError):  # too far from where it was made
        return Enclosure(0.0, 1.0)
    return Enclosure(min(1.0, max(0.0, found.lower)), max(0.0, min(1.0, found.upper)))


def _bottom(chosen: Profile, bound: PowerBound, level: Fraction, end: float) -> float:
    """About where the bound is least: a look at evenly spaced places, then golden sections around the best."""
    log_level, rest = log_of(level), float(1 - level)

    def height(x: float) -> float:
        delta = delta_at(chosen, x).upper
        return math.exp(x + log_level) + delta if bound is direct else -math.exp(-x) * (rest - delta)

    places = [end * at / PLACES for at in range(PLACES + 1)]
    heights = [height(place) for place in places]
    at = heights.index(min(heights))
    last = golden(height, places[max(at - 1, 0)], places[min(at + 1, PLACES)], times=LOOKS)
    return min((heights[at], places[at]), *last)[1]
