"""Profiles that need no approximation: one pair alone, and few pairs with finitely many losses.

    delta(eps) = lost + sum over losses above eps of (p - e^eps q)

With all losses l_1 > l_2 > ... of a composition and the sums A, B of p and q from the top, delta(eps) = A - e^eps B.
A loss so close to eps that balls do not tell which is larger counts as a ball from zero to its part.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dither.numeric.enclosure import to_ball
from dither.privacy.loss.pairs.pair import LossAtom, Pair, PairSequence

MOST_SUMS = 20_000


@dataclass(frozen=True)
class SingleProfile:
    """The exact profile of a single pair, by its own sums."""

    pair: Pair

    def delta(self, eps: arb) -> arb:
        p, q = self.pair.above(eps)
        total = to_ball(self.pair.lost()) + p - eps.exp() * q
        if self.pair.blurred:  # losses within 2^-90 of eps may be on the wrong side: each matters by less than 2^-80
            close = self.pair.above(eps - arb((1, -88)))[0] * arb((1, -80))
            total += close.union(-close)
        rest = Fraction(1, 1 << 400)
        for atom in self.pair.atoms(rest):
            total += _part(atom, eps)
        return total + to_ball(0).union(to_ball(rest)) if self.pair.endless else total


@dataclass(frozen=True)
class EnumeratedProfile:
    """All losses of a composition, from the smallest up, with the sums of P and Q from each to the top."""

    atoms: list[LossAtom]
    mids: list[float]
    above: list[arb]
    weighted: list[arb]
    lost: arb

    def delta(self, eps: arb) -> arb:
        place = float(eps)
        slack = 1e-9 * (1 + abs(place))  # floats only narrow the search
        first, last = bisect.bisect_left(self.mids, place - slack), bisect.bisect_right(self.mids, place + slack)
        total = self.lost
        if last < len(self.atoms):
            total += self.above[last] - eps.exp() * self.weighted[last]
        for atom in self.atoms[first:last]:
            total += _part(atom, eps)
        return total


def _part(atom: LossAtom, eps: arb) -> arb:
    if atom.loss <= eps:
        return to_ball(0)
    part = atom.p - eps.exp() * atom.q
    return part if atom.loss > eps else part.union(to_ball(0)).max(to_ball(0))


def enumerate_losses(terms: PairSequence, lost: arb) -> EnumeratedProfile | None:
    """The losses of a composition one by one; None where they are too many, or not finitely many."""
    groups: list[tuple[list[LossAtom], int]] = []
    number = 1
    for pair, count in terms:
        if pair.whole()[0] != 0 or pair.endless:
            return None
        atoms = pair.atoms(Fraction(0))
        if len(atoms) > MOST_SUMS:
            return None
        number *= math.comb(count + len(atoms) - 1, len(atoms) - 1) if count < 10**6 or len(atoms) == 1 else MOST_SUMS + 1
        if number > MOST_SUMS:
            return None
        groups.append((atoms, count))
    total = [LossAtom(to_ball(0), to_ball(1), to_ball(1))]
    for atoms, count in groups:
        total = [_joined(a, b) for a in total for b in _powers(atoms, count)]
    total.sort(key=lambda atom: float(atom.loss))
    above, weighted = [to_ball(0)], [to_ball(0)]
    for atom in reversed(total):
        above.append(above[-1] + atom.p)
        weighted.append(weighted[-1] + atom.q)
    above.reverse()
    weighted.reverse()
    return EnumeratedProfile(total, [float(atom.loss) for atom in total], above, weighted, lost)


def _joined(a: LossAtom, b: LossAtom) -> LossAtom:
    return LossAtom(a.loss + b.loss, a.p * b.p, a.q * b.q)


def _powers(atoms: list[LossAtom], count: int) -> Iterator[LossAtom]:
    """All sums of `count` losses, with multinomial probabilities."""
    if count == 1:
        yield from atoms
        return
    if len(atoms) == 1 or count == 0:
        only = atoms[0]
        yield LossAtom(only.loss * count, only.p**count, only.q**count)
        return
    if len(atoms) == 2:
        yield from _binomial(atoms[0], atoms[1], count)
        return
    first, rest = atoms[0], atoms[1:]
    for times in range(count + 1):
        ways = math.comb(count, times)
        own = LossAtom(first.loss * times, ways * first.p**times, ways * first.q**times)
        for other in _powers(rest, count - times):
            yield _joined(own, other)


def _binomial(a: LossAtom, b: LossAtom, count: int) -> Iterator[LossAtom]:
    """The same for two losses: each probability from the one before."""
    if not (a.p > 0 and a.q > 0):
        raise ArithmeticError("a probability may be zero")
    p, q = a.p**count, a.q**count
    p_ratio, q_ratio = b.p / a.p, b.q / a.q
    for times in range(count + 1):
        yield LossAtom(a.loss * (count - times) + b.loss * times, p, q)
        left = to_ball(Fraction(count - times, times + 1))
        p, q = p * p_ratio * left, q * q_ratio * left
