"""A dominating pair: two distributions P and Q, of one mechanism on two neighbours, that are hardest to tell apart.

A pair *dominates* a mechanism when for all neighbours, in this order, and every epsilon, its hockey-stick divergence
is not below the mechanism's. Dominating pairs compose, adaptively as well: the product of the pairs dominates the
composition (Zhu, Dong and Wang 2022). So a long sum needs only the law of L = log(P/Q) under P of each term, as
losses of a product add up. The other order of the neighbours is the other way round: `reverse`.

Everything is said under P. A part of P that Q does not have is *lost*: L is infinite there, and no epsilon covers it.
A pair is read in two ways:

    atoms, above       which losses it has, with which probabilities: every pair can say this (`loss/profile/discretise.py`)
    log_moment, ...    M(t) = E exp(t L) over the finite losses, for complex t: pairs with a formula
    (`loss/profile/fourier.py`)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

from flint import acb, arb

from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number


class LossAtom(NamedTuple):
    """One value of the loss with what P and Q give it: q = p e^-loss."""

    loss: arb
    p: arb
    q: arb


class LossLattice(NamedTuple):
    """All losses lie on start + step * integers."""

    start: Number
    step: Number


class Oscillation(NamedTuple):
    """|M(c + iv)| <= M(c) * decay(c, u) * exp(-strength * sin(v * rate)^2) for all v >= u."""

    rate: arb
    strength: arb


class Pair(ABC):
    """Two distributions. Balls are taken at the present working precision."""

    kind: ClassVar[str]
    blurred: ClassVar[bool] = False  # whether `above` may put losses within 2^-90 on the wrong side

    @property
    def cells(self) -> int:
        """Into how many cells its losses are divided at most: fewer where `above` takes long."""
        return 12_000

    @property
    def endless(self) -> bool:
        """Whether there are more atoms than can be listed."""
        return False

    def reverse(self) -> Pair:
        """Q against P; this pair itself where that has the same losses."""
        return self

    def lost(self) -> Fraction:
        """What P gives to outcomes that Q never has."""
        return Fraction(0)

    def largest_loss(self) -> Number | None:
        """A bound on the finite losses, in both directions; None where there is none."""
        return None

    def highest_loss(self) -> Number | None:
        """A bound on the finite losses in this direction only."""
        return self.largest_loss()

    def atoms(self, small: Fraction) -> list[LossAtom]:
        """Single losses with a probability. Of endlessly many, up to `small` of P, and of Q, may be left out."""
        return []

    @abstractmethod
    def above(self, loss: arb) -> tuple[arb, arb]:
        """What P and Q give to finite losses above this one, atoms not counted.

        Exactly that of a set of losses; of a blurred pair those within 2^-90 may be put on the wrong side.
        """

    def whole(self) -> tuple[arb, arb]:
        """What P and Q give to finite losses, atoms not counted."""
        return to_ball(1), to_ball(1)

    @abstractmethod
    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        """Two losses between which all but `small` of P lies (of what is finite)."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The fields of a stored record, exact; `from_json` reads them."""

    @classmethod
    @abstractmethod
    def from_json(cls, stored: dict[str, object]) -> Self: ...

    @abstractmethod
    def describe(self) -> str:
        """The mechanism in a few words."""


class MomentPair(Pair):
    """A pair with a formula for its moments. So has its reverse."""

    slow: ClassVar[bool] = False  # whether `decay` takes long

    @abstractmethod
    def rough(self, c: float) -> float:
        """About log M(c), in plain floats: only for choosing where to integrate."""

    @abstractmethod
    def log_moment(self, c: arb) -> arb:
        """log M(c) for c > 0."""

    def log_moment_above(self, c: arb) -> arb:
        """A number that is not below log M(c), and close to it."""
        return self.log_moment(c)

    @abstractmethod
    def on_line(self, c: arb, h: arb, count: int) -> list[acb]:
        """M(c + i h n) / M(c) for n = 0 .. count - 1."""

    def decay(self, c: arb, u: arb) -> arb:
        """A bound on |M(c + iv)| / M(c) for all v >= u; on a lattice, for v up to half a period."""
        return to_ball(1)

    def wave(self, c: arb) -> Oscillation | None:
        """What `decay` leaves out: how |M| comes and goes."""
        return None

    def lattice(self) -> LossLattice | None:
        """Where all losses lie, if they do."""
        return None


PairSequence = Sequence[tuple[Pair, int]]  # pairs of a composition, each with how often
MomentPairSequence = Sequence[tuple[MomentPair, int]]  # the same where all have a formula for their moments
