"""A pair with finitely many losses: randomized response, pure and approximate guarantees, tables.

A row (loss, weight, exponent) has weight * e^exponent as its part of P, before all parts are scaled to what P does
not lose; rows of one loss add up. So probabilities such as e^eps / (e^eps + k - 1) are kept exactly. Q is p e^-loss.

*How |M| comes and goes.* With A, B >= 0 the tilted parts p e^(c loss) of two losses that differ by d, |A + B e^(iud)|
= sqrt((A+B)^2 - 4 A B sin^2(ud/2)) <= (A+B) - 2 A B sin^2(ud/2) / (A+B), and all other losses together have at most
M(c) - A - B. So |M(c + iu)| <= M(c) (1 - 2AB / ((A+B) M(c)) sin^2(ud/2)), and 1 - x <= e^-x.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

from flint import acb, arb

from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.loss.pairs.pair import LossAtom, LossLattice, MomentPair, Oscillation
from dither.privacy.loss.pairs.rotations import turns
from dither.privacy.records import stored_delta, stored_list
from dither.privacy.text import four_digits

LossRow = tuple[Number, Fraction, Number]


@dataclass(frozen=True)
class FinitePair(MomentPair):
    """A dominating pair with finitely many losses."""

    kind: ClassVar[str] = "finite"
    rows: tuple[LossRow, ...]  # losses from the largest down
    gone: Fraction = Fraction(0)  # of P, where Q is zero
    come: Fraction = Fraction(0)  # of Q, where P is zero

    @classmethod
    def response(cls, epsilon: Number, answers: int) -> Self:
        """k-ary randomized response: the truth with e^eps / (e^eps + k - 1), each other answer with 1 / (e^eps + k - 1)."""
        rows = [(epsilon, Fraction(1), epsilon), (-epsilon, Fraction(1), Number(0))]
        if answers > 2:
            rows.insert(1, (Number(0), Fraction(answers - 2), Number(0)))
        return cls(tuple(rows))

    @classmethod
    def approximate(cls, epsilon: Number, delta: Fraction) -> Self:
        """The hardest pair of an (epsilon, delta) promise (Kairouz, Oh and Viswanath 2015)."""
        rows = cls.response(epsilon, 2).rows if epsilon else ((Number(0), Fraction(1), Number(0)),)
        return cls(rows, delta, delta)

    def reverse(self) -> FinitePair:
        if self._symmetric():
            return self
        rows = tuple((-loss, weight, exponent - loss) for loss, weight, exponent in reversed(self.rows))
        return FinitePair(rows, self.come, self.gone)

    def _symmetric(self) -> bool:
        if self.gone != self.come:
            return False
        back = sorted(((-loss, weight, exponent - loss) for loss, weight, exponent in self.rows), reverse=True)
        rows = sorted(self.rows, reverse=True)
        if len(back) == 2:
            return back[0][0] == rows[0][0]  # two losses l and -l: the probabilities follow
        shift = rows[0][2] - back[0][2] if back else Number(0)  # a common factor is scaled away
        return all(a == d and b == e and c == f + shift for (a, b, c), (d, e, f) in zip(rows, back, strict=True))

    def lost(self) -> Fraction:
        return self.gone

    def largest_loss(self) -> Number:
        return max((max(loss, -loss) for loss, _, _ in self.rows), default=Number(0))

    def atoms(self, small: Fraction) -> list[LossAtom]:
        merged: dict[Number, arb] = {}
        for loss, weight, exponent in self.rows:
            part = to_ball(weight) * exponent.ball().exp()
            merged[loss] = merged[loss] + part if loss in merged else part
        if not merged:
            return []
        scale = to_ball(1 - self.gone) / sum(merged.values(), start=to_ball(0))
        found = []
        for loss, part in merged.items():
            value = loss.ball()
            found.append(LossAtom(value, part * scale, part * scale * (-value).exp()))
        return found

    def above(self, loss: arb) -> tuple[arb, arb]:
        return to_ball(0), to_ball(0)

    def whole(self) -> tuple[arb, arb]:
        return to_ball(0), to_ball(0)

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        most = ends(self.largest_loss().ball())[1]
        return -most, most

    def rough(self, c: float) -> float:
        floats = _floats(self)
        top = max(loss for loss, _ in floats)
        return c * top + math.log(sum(p * math.exp(c * (loss - top)) for loss, p in floats))

    def log_moment(self, c: arb) -> arb:
        return sum((p * (c * loss).exp() for loss, p, _ in self.atoms(Fraction(0))), start=to_ball(0)).log()

    def on_line(self, c: arb, h: arb, count: int) -> list[acb]:
        tilted = [(loss, p * (c * loss).exp()) for loss, p, _ in self.atoms(Fraction(0))]
        most = sum((part for _, part in tilted), start=to_ball(0))
        values = [acb(0)] * count
        for loss, part in tilted:
            share = part / most
            values = [value + turn * share for value, turn in zip(values, turns(h * loss, count), strict=True)]
        return values

    def wave(self, c: arb) -> Oscillation | None:
        tilted = [(loss, p * (c * loss).exp()) for loss, p, _ in self.atoms(Fraction(0))]
        most = sum((part for _, part in tilted), start=to_ball(0))
        if len(tilted) < 2:
            return None
        found = []
        for (left, a), (right, b) in itertools.pairwise(tilted):
            found.append(Oscillation((left - right) / 2, 2 * a * b / ((a + b) * most)))
        return max(found, key=lambda wave: float(wave.strength))

    def lattice(self) -> LossLattice | None:
        losses = list(dict.fromkeys(loss for loss, _, _ in self.rows))
        if len(losses) < 2:
            return None
        step = common(a - b for a, b in itertools.pairwise(losses))
        return None if step is None else LossLattice(losses[-1], step)

    def describe(self) -> str:
        text = f"{len({loss for loss, _, _ in self.rows})} losses up to {four_digits(self.largest_loss())}"
        return f"{text}, δ = {four_digits(self.gone)}" if self.gone else text

    def to_json(self) -> dict[str, object]:
        rows = [[loss.to_json(), str(weight), exponent.to_json()] for loss, weight, exponent in self.rows]
        return {"rows": rows, "gone": str(self.gone), "come": str(self.come)}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        rows: list[LossRow] = []
        for loss, weight, exponent in stored_list(stored["rows"]):
            share = Number.from_json(weight).fraction()
            rows.append((Number.from_json(loss), share, Number.from_json(exponent)))
        pair = cls(tuple(rows), stored_delta(stored["gone"]), stored_delta(stored["come"]))
        pair.check()
        return pair

    def check(self) -> None:
        """Refuse what is no pair: losses out of order, negative parts, or a Q that does not add up."""
        order = [loss for loss, _, _ in self.rows]
        if any(a < b for a, b in itertools.pairwise(order)):
            raise ValueError("losses from the largest down")
        with precision(256):
            atoms = self.atoms(Fraction(0))
            total = sum((atom.q for atom in atoms), start=to_ball(self.come))
            if not atoms or not all(atom.p > 0 for atom in atoms) or not abs(total - 1) < arb((1, -128)):
                raise ValueError("probabilities")


@lru_cache(maxsize=1024)
def _floats(pair: FinitePair) -> list[tuple[float, float]]:
    with precision(64):
        return [(float(atom.loss), float(atom.p)) for atom in pair.atoms(Fraction(0))]


def common(values: Iterable[Number]) -> Number | None:
    """The largest number of which all are whole multiples; None where there is none, or it is far below them."""
    found: Number | None = None
    for value in values:
        if value == 0:
            continue
        size = value if value > 0 else -value
        found = size if found is None else _common(found, size)
        if found is None:
            return None
    return found


def _common(a: Number, b: Number) -> Number | None:
    ratio = a.fraction() / b.fraction() if a.is_rational and b.is_rational else _ratio(a, b)
    if ratio is None or ratio.denominator > 10**6 or ratio.numerator > 10**9:
        return None
    return a / ratio.numerator


def _ratio(a: Number, b: Number) -> Fraction | None:
    guess = Fraction(float(a) / float(b)).limit_denominator(1000)
    return guess if guess > 0 and a * guess.denominator == b * guess.numerator else None
