"""The remainder of a Fourier inversion, what the sum leaves out: proved bounds. `loss/profile/fourier.py` has the proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from dither.numeric.enclosure import to_ball
from dither.privacy.loss.pairs.pair import LossLattice, MomentPair, MomentPairSequence


@dataclass(frozen=True)
class Remainder:
    """Bounds on what the sum leaves out, as a part of M(c) e^(-c eps)."""

    terms: MomentPairSequence
    c: arb
    h: arb
    lattice: LossLattice | None
    falling: list[tuple[MomentPair, int]]  # those whose decay counts
    waves: list[tuple[arb, arb, MomentPair]]  # rate and strength, counts included, and whose it is

    @classmethod
    def of(cls, terms: MomentPairSequence, c: arb, h: arb, lattice: LossLattice | None) -> Remainder:
        falling: list[tuple[MomentPair, int]] = []
        waves: list[tuple[arb, arb, MomentPair]] = []
        for pair, count in terms:
            own = pair.lattice()
            if lattice is None and own is not None:
                wave = pair.wave(c)  # it comes back for ever, so only as a wave
            elif lattice is None or (own is not None and own.step == lattice.step):
                falling.append((pair, count))
                wave = pair.wave(c)
            else:
                continue
            if wave is not None:
                waves.append((wave.rate, count * wave.strength, pair))
        return cls(terms, c, h, lattice, falling, waves)

    def quick(self) -> Remainder | None:
        """The same without what takes long, where something is left: all factors are at most 1."""
        kept = [(pair, count) for pair, count in self.falling if not pair.slow]
        return replace(self, falling=kept) if 0 < len(kept) < len(self.falling) else None

    def _decay(self, v: arb, waving: MomentPair | None = None) -> arb:
        """All decays; |M| <= M(c) caps them, except where the wave of the same pair is used as well."""
        result = to_ball(1)
        for pair, count in self.falling:
            decay = pair.decay(self.c, v)
            result *= (decay if pair is waving else decay.min(to_ball(1))) ** count
        return result

    def after(self, number: int, limit: arb) -> arb:
        """What the terms from this one on can add up to."""
        return self._smooth(number, limit) if self.lattice is None else self._periodic(self.h * number)

    def _smooth(self, number: int, limit: arb) -> arb:
        u = self.h * number
        plain = self._decay(u) / (arb.pi() * self.h * (number - 1))
        if plain < limit or not self.waves:
            return plain
        rate, strength, pair = max(self.waves, key=lambda wave: float(wave[1]))  # one wave is used, the strongest
        length = arb.pi() / rate
        turn, near = length / 2, to_ball(0)
        if u < turn:
            near = self._decay(u, pair) / (arb.pi() * self.h * (number - 1)) * (-strength * (u * rate).sin() ** 2).exp()
        else:
            turn = u
        mean = (arb.pi() / strength).sqrt() / 2
        inside = (3 + length / self.h * mean) * (1 / turn**2 + 1 / (length * turn))
        return plain.min(near + self._decay(turn, pair) * inside * self.h / arb.pi())

    def _periodic(self, u: arb) -> arb:
        assert self.lattice is not None
        step = self.lattice.step.ball()
        result = self._decay(u)
        for rate, strength, _ in self.waves:  # of pairs that have no decay of their own
            # with half a turn at the end of the nodes, the wave only grows up to there (losses one step apart)
            if rate * 2 < step * to_ball(Fraction(1001, 1000)):
                result *= (-strength * (u * rate).sin() ** 2).exp()
        return result * arb.pi() * ((self.c + 1) * step / 2).exp() / (u * step)
