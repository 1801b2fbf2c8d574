"""The privacy profile delta(epsilon) of a sum of losses: which way it is computed.

one pair, once                              its own sums                      exact
few pairs with finitely many losses         all losses, one by one            exact
pairs with a formula for their moments      a sum along a line                proved, about 1e-10 of delta
everything else                             a grid of losses                  proved, an upper and a lower side
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb

from dither.errors import DitherError, PrecisionError
from dither.numeric.balls import ends, precision, round_down, round_up
from dither.numeric.enclosure import enclose, to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.formulas import normal
from dither.privacy.loss.pairs.discrete_gaussian import DiscreteGaussianPair
from dither.privacy.loss.pairs.finite import FinitePair
from dither.privacy.loss.pairs.laplace import LaplacePair
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import MomentPair, PairSequence
from dither.privacy.loss.profile import discretise as cells
from dither.privacy.loss.profile import fourier as line
from dither.privacy.loss.profile.enumerate import SingleProfile, enumerate_losses
from dither.privacy.loss.profile.solve_epsilon import Profile, log_of, solve
from dither.privacy.loss.profile.starting_points import grid_log_delta, grid_tilt, tilt_for_delta, tilt_for_epsilon

BITS = 128
SMALLEST = -745  # ln of the smallest float is -744.4
LOST_THE_WAY = (ArithmeticError, ValueError)  # of the floats that choose where to look
WIDE = 1e-9  # a bracket wider than this is worth a second line


def lost_of(terms: PairSequence) -> tuple[Fraction, Fraction]:
    """The probability that everything is lost, between two numbers: equal where it is short enough to be exact."""
    size = sum(count * pair.lost().denominator.bit_length() for pair, count in terms if pair.lost())
    if size < 1 << 14:
        kept = math.prod(((1 - pair.lost()) ** count for pair, count in terms if pair.lost()), start=Fraction(1))
        return 1 - kept, 1 - kept
    with precision(256):
        product = to_ball(1)
        for pair, count in terms:
            if pair.lost():
                product *= to_ball(1 - pair.lost()) ** count
        low, high = ends(1 - product)
    return max(Fraction(0), low), min(Fraction(1), high)


def _exactly(terms: PairSequence, lost: tuple[Fraction, Fraction]) -> Profile | None:
    try:
        found = enumerate_losses(terms, _between(lost))
    except ArithmeticError:
        found = None
    if found is None and len(terms) == 1 and terms[0][1] == 1 and not isinstance(terms[0][0], DiscreteGaussianPair):
        return SingleProfile(terms[0][0])  # (a discrete Gaussian has endless losses, and a line that does not mind)
    return found


def exact_profile(terms: PairSequence) -> Profile | None:
    """The profile where it needs no approximation."""
    return _exactly(terms, lost_of(terms))


def line_for(terms: PairSequence, log_delta: float) -> Profile | None:
    """A profile by a line that is sharp where delta is about this large; None where there is none."""
    formulas = _formulas(terms)
    try:
        return (
            None
            if formulas is None
            else line.draw(formulas, _between(lost_of(terms)), *tilt_for_delta(formulas, log_delta), log_delta)
        )
    except LOST_THE_WAY:
        return None


def line_at(terms: PairSequence, epsilon: float) -> Profile | None:
    """A profile by a line that is sharp at this epsilon; None where there is none."""
    formulas = _formulas(terms)
    try:
        if formulas is None:
            return None
        c, log_delta = tilt_for_epsilon(formulas, epsilon)
        return line.draw(formulas, _between(lost_of(terms)), c, epsilon, log_delta)
    except LOST_THE_WAY:
        return None


def _between(lost: tuple[Fraction, Fraction]) -> arb:
    return to_ball(lost[0]) if lost[0] == lost[1] else to_ball(lost[0]).union(to_ball(lost[1]))


def _formulas(terms: PairSequence) -> list[tuple[MomentPair, int]] | None:
    found = [(pair, count) for pair, count in terms if isinstance(pair, MomentPair)]
    return found if len(found) == len(terms) else None


def epsilon_between(terms: PairSequence, delta: Fraction, *, both: bool = True, quick: bool = False) -> Enclosure:
    """(lower, upper) around the epsilon of this composition in this direction, for lost < delta < 1."""
    lost = lost_of(terms)
    log_left = log_of(delta - lost[1])
    with precision(BITS):
        if (profile := _exactly(terms, lost)) is not None:
            return solve(profile, delta, 1.0)
        found = _epsilon_by_line(terms, lost, delta, log_left)
        if quick or found.width <= 1e3 * WIDE:
            return found
        c = grid_tilt(terms, log_left)
        try:
            upper = solve(cells.build(terms, lost[1], c, log_left, up=True), delta, 1.0).upper
        except PrecisionError:
            if math.isinf(found.upper):
                raise
            return found
        try:
            lower = solve(cells.build(terms, lost[0], c, log_left, up=False), delta, upper).lower if both else 0.0
        except PrecisionError:
            lower = 0.0
        return Enclosure(max(found.lower, lower), min(found.upper, upper))


def _epsilon_by_line(terms: PairSequence, lost: tuple[Fraction, Fraction], delta: Fraction, log_left: float) -> Enclosure:
    """The same by a line, or by several, each made for what the last one found; (0, inf) where there is none."""
    found, formulas = Enclosure(0.0, math.inf), _formulas(terms)
    if formulas is None:
        return found
    try:
        c, eps = tilt_for_delta(formulas, log_left)
        for _ in range(3):
            drawn = line.draw(formulas, _between(lost), c, eps, log_left)
            if drawn is None:
                break
            found = solve(drawn, delta, eps, float(drawn.c))
            if found.width <= WIDE or math.isinf(found.upper):
                break
            eps = found.upper
            c, _ = tilt_for_epsilon(formulas, eps)
    except LOST_THE_WAY:
        pass
    return found


def delta_between(terms: PairSequence, epsilon: arb, *, both: bool = True, quick: bool = False) -> Enclosure:
    """(lower, upper) around delta at this epsilon >= 0."""
    lost = lost_of(terms)
    with precision(BITS):
        if (profile := _exactly(terms, lost)) is not None:
            return enclose(profile.delta(epsilon))
        found = _delta_by_line(terms, lost, epsilon)
        if quick or found.width <= max(1e-6 * found.upper, math.ulp(0.0)):
            return found
        log_delta = grid_log_delta(terms, float(epsilon))
        c = grid_tilt(terms, log_delta)
        try:
            upper = enclose(cells.build(terms, lost[1], c, log_delta, up=True).delta(epsilon)).upper
        except PrecisionError:
            if found.upper >= 1:
                raise
            return found
        try:
            lower = enclose(cells.build(terms, lost[0], c, log_delta, up=False).delta(epsilon)).lower if both else 0.0
        except PrecisionError:
            lower = 0.0
        return Enclosure(max(found.lower, lower, 0.0), min(found.upper, upper))


def _delta_by_line(terms: PairSequence, lost: tuple[Fraction, Fraction], epsilon: arb) -> Enclosure:
    formulas = _formulas(terms)
    if formulas is None:
        return Enclosure(0.0, 1.0)
    try:
        c, log_delta = tilt_for_epsilon(formulas, float(epsilon))
        at = to_ball(Fraction(c))
        if not lost[1] and line.moment_of(formulas, at) - at * epsilon < SMALLEST:
            return Enclosure(0.0, math.ulp(0.0))  # delta <= M(c) e^(-c eps), below the smallest float
        drawn = line.draw(formulas, _between(lost), c, float(epsilon), log_delta)
    except LOST_THE_WAY:
        drawn = None
    found = Enclosure(0.0, 1.0) if drawn is None else enclose(drawn.delta(epsilon))
    return found if math.isfinite(found.upper) else Enclosure(0.0, 1.0)


def epsilon_in_order(terms: PairSequence, delta: Fraction, *, both: bool, quick: bool) -> Enclosure:
    """(lower, upper) around the epsilon of these pairs in this order of the neighbours."""
    if not terms:
        return Enclosure(0.0, 0.0)
    least, most = lost_of(terms)
    if least > delta:
        return Enclosure(math.inf, math.inf)
    if most >= delta:  # nothing is left for the finite losses, or it cannot be told
        largest = largest_of(terms)
        exactly = all(isinstance(pair, (FinitePair, LaplacePair)) for pair, _ in terms)
        if largest is None or most > delta:
            return Enclosure(0.0, math.inf)
        return Enclosure(max(0.0, _top(terms)) if exactly else 0.0, largest.bounds().upper)
    if len(terms) == 1 and isinstance(terms[0][0], NormalPair):
        return normal.epsilon_between(terms[0][0].mu2 * terms[0][1], delta)
    found = epsilon_between(terms, delta, both=both, quick=quick)
    largest = largest_of(terms)
    return found if largest is None else Enclosure(found.lower, min(found.upper, largest.bounds().upper))


def largest_of(terms: PairSequence) -> Number | None:
    """A bound on the finite losses in this order."""
    total = Number(0)
    for pair, count in terms:
        loss = pair.highest_loss()
        if loss is None:
            return None
        total += loss * count
    return total


def _top(terms: PairSequence) -> float:
    """The largest loss of all in this order, rounded down."""
    total = Number(0)
    for pair, count in terms:
        total += (
            pair.e if isinstance(pair, LaplacePair) else pair.rows[0][0] if isinstance(pair, FinitePair) else Number(0)
        ) * count
    return total.bounds().lower


def delta_in_order(terms: PairSequence, epsilon: Number, *, both: bool, quick: bool) -> Enclosure:
    """(lower, upper) around delta at this epsilon in this order."""
    if not terms:
        return Enclosure(0.0, 0.0)
    if len(terms) == 1 and isinstance(terms[0][0], NormalPair):
        return normal.delta_between(terms[0][0].mu2 * terms[0][1], epsilon)
    largest, (least, most) = largest_of(terms), lost_of(terms)
    if least >= 1 or (largest is not None and largest <= epsilon):
        return Enclosure(round_down(least), round_up(most) + 0.0)
    with precision(BITS):
        found = delta_between(terms, epsilon.ball(), both=both, quick=quick)
    return Enclosure(max(0.0, found.lower), found.upper)


@contextmanager
def refuse_extreme() -> Iterator[None]:
    """Where floats do not find a place to look, a PrecisionError says so."""
    try:
        yield
    except LOST_THE_WAY as error:
        if isinstance(error, DitherError):
            raise
        why = "its parameters are too extreme to find a place to look"
        raise PrecisionError("loss", str(error), why, "less extreme parameters, or a Guarantee") from error
