"""The privacy profile of a long composition, by Fourier inversion along a line, in balls: it costs the same for any count.

With the loss L = log(P/Q) under P, M(t) = E exp(t L), and any c > 0 at which M is finite,

    delta(eps) = E (1 - exp(eps - L))_+ = (1 / 2 pi i) * integral over Re t = c of M(t) exp(-t eps) / (t (t + 1)) dt,

since (1 - e^-y)_+ has the transform 1/(t (t+1)). Composition multiplies M. The integral is a trapezoid sum with step
h:

    delta_h = (h / pi) (Re f(c) / 2 + sum over n >= 1 of Re f(c + i n h))        f(t) = M(t) exp(-t eps) / (t (t + 1))

*On a lattice* of losses with step D, f has a period when the kernel is folded: L0 the first lattice point above eps,

    delta = (1/N) sum over n < N of M(t) exp(-t L0) (1 / (1 - e^(-t D)) - e^(eps - L0) / (1 - e^(-(t+1) D))),  t = c +
    2 pi i n / (N D).

*Aliasing* (Poisson summation). With the period S = 2 pi / h (or N D), both sums are the sum over all integers j of
exp(j S c) delta(eps + j S): every term is >= 0, so the sum is never below delta. Above it lies by at most
    j < 0:  sum of exp(-|j| S c) = 1 / (exp(S c) - 1), as delta <= 1;
    j > 0:  delta(x) <= M(c') exp(-c' x) for c' > c (Chernoff), so a geometric series with ratio exp(-S (c' - c)).
*Truncation* after N terms. What is left out is bounded by |M| (`loss/profile/fourier_remainder.py`), never by "the last
term was small": losses with atoms come back. With r a bound on |M(c + iv)| / M(c) for all v >= u = N h, and |t (t+1)| >=
u^2, the rest is at most (h/pi) r M(c) e^(-c eps) sum over n >= N of 1/(nh)^2 <= r M(c) e^(-c eps) / (pi h (N - 1)). If
moreover |M| / M(c) <= r exp(-k sin^2(v w)), then beyond v = pi/(2w) each period p = pi/w holds nodes whose terms sum to at
most 3 + (p/h) J (the integral, the ups and downs, a node more), where J, the mean of exp(-k sin^2), is at most sqrt(pi/k)
/ 2 (as |sin x| >= 2|x|/pi); and the 1/v^2 at the starts of the periods sum to at most 1/u^2 + 1/(p u). On a lattice the
nodes end at half a period, and each kernel is at most pi e^((c+1)D/2) / (2 u D) there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from dither.numeric.balls import ends
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.loss.pairs.finite import common
from dither.privacy.loss.pairs.pair import LossLattice, MomentPairSequence
from dither.privacy.loss.pairs.rotations import turns
from dither.privacy.loss.profile.fourier_remainder import Remainder
from dither.privacy.loss.profile.starting_points import place

FEWEST, FEW, MOST = 12, 100, 20_000  # terms of the sum
CLOSE = 1e-11  # how far off delta the sum may be by its aliases, relatively
SMALL = 1e-10  # and by what it leaves out


@dataclass(frozen=True)
class FourierSum:
    """A line, a period and the composed M on it: one of these serves a whole profile."""

    c: arb
    moment: arb  # log M(c), composed
    beyond: tuple[arb, arb]  # another c' > c and its log M(c'), for the aliases
    period: arb
    rest: arb  # a bound on what the sum leaves out, as a part of M(c) e^(-c eps)
    first: list[acb]  # the coefficients of the sum
    second: list[acb]  # on a lattice, of its second half
    lattice: LossLattice | None
    lost: arb

    def delta(self, eps: arb) -> arb:
        """A ball around delta(eps) for eps >= 0: its upper end is proved to lie above, its lower end below."""
        at, unsure = eps, to_ball(0)
        if self.lattice is not None:
            at, unsure = self._next(eps)
        around = turns(-2 * arb.pi() / self.period * at, len(self.first))
        total = sum((a * b for a, b in zip(self.first, around, strict=True)), start=acb(0)).real
        if self.second:
            total -= (eps - at).exp() * sum((a * b for a, b in zip(self.second, around, strict=True)), start=acb(0)).real
        scale = (self.moment - self.c * at).exp()
        c, moment = self.beyond
        low = 1 / ((self.period * self.c).exp() - 1)
        high = (self.period * self.c + moment - c * (eps + self.period)).exp() / (1 - (-self.period * (c - self.c)).exp())
        rest = scale * self.rest + unsure
        found = scale * total
        below = found - rest - low - high
        return self.lost + below.max(to_ball(0)).union((found + rest).min(to_ball(1)).max(to_ball(0)))

    def _next(self, eps: arb) -> tuple[arb, arb]:
        """The first lattice point above eps; where it is unclear which, a bound on what the choice can matter."""
        assert self.lattice is not None
        start, step = self.lattice.start.ball(), self.lattice.step.ball()
        place = (eps - start) / step
        low, high = (math.floor(end) for end in ends(place))
        at = start + step * (high + 1)
        if low == high:
            return at, to_ball(0)
        return at, abs(eps - (start + step * high)).upper() if high == low + 1 else to_ball(1)


def moment_of(terms: MomentPairSequence, c: arb) -> arb:
    """log M(c) of the whole composition."""
    return sum((count * pair.log_moment(c) for pair, count in terms), start=to_ball(0))


def shared_lattice(terms: MomentPairSequence) -> LossLattice | None:
    """Where the losses of the composition lie, if all pairs have theirs on one lattice."""
    own = [(pair.lattice(), count) for pair, count in terms]
    found = [(lattice, count) for lattice, count in own if lattice is not None]
    if len(found) < len(own):
        return None
    step = common(lattice.step for lattice, _ in found)
    if step is None:
        return None
    return LossLattice(sum((lattice.start * count for lattice, count in found), start=Number(0)), step)


def draw(terms: MomentPairSequence, lost: arb, c: float, eps: float, log_delta: float) -> FourierSum | None:
    """The line at c, made for this epsilon and delta; None where the rest cannot be shown to be small."""
    lattice = shared_lattice(terms)
    wanted = math.log(CLOSE) + log_delta
    c, beyond, period = place(terms, c, eps, wanted)
    if math.isinf(period):
        return None
    line, other = to_ball(Fraction(c)), to_ball(Fraction(beyond))
    moment = moment_of(terms, line)
    small = math.log(SMALL) + log_delta - (float(moment) - c * eps)  # of the rest, as a part of M(c) e^(-c eps)
    if lattice is None:
        step, full = None, MOST
        span = to_ball(Fraction(period))
        h = 2 * arb.pi() / span
        scale = h / arb.pi()
    else:
        step = lattice.step.ball()
        whole = 2 * max(FEWEST, math.ceil(period / float(lattice.step) / 2)) + 1
        full = whole // 2 + 1
        span = step * whole
        h = 2 * arb.pi() / span
        scale = 2 / to_ball(whole)
    nodes = _nodes(Remainder.of(terms, line, h, lattice), small, full, complete=lattice is not None)
    if nodes is None:
        return None
    number, rest = nodes
    values = compose(terms, line, h, number)
    first, second = [], []
    for n, value in enumerate(values):
        t = acb(line, h * n)
        part = value * scale / 2 if n == 0 else value * scale
        if step is None:
            first.append(part / (t * (t + 1)))
        else:
            first.append(part / (1 - (-t * step).exp()))
            second.append(part / (1 - (-(t + 1) * step).exp()))
    above = sum((count * pair.log_moment_above(other) for pair, count in terms), start=to_ball(0))
    return FourierSum(line, moment, (other, above), span, rest, first, second, lattice, lost)


def compose(terms: MomentPairSequence, c: arb, h: arb, count: int) -> list[acb]:
    """M(c + i h n) / M(c) of the composition."""
    values: list[acb] | None = None
    for pair, copies in terms:
        own = pair.on_line(c, h, count)
        powers = own if copies == 1 else [value**copies for value in own]
        values = powers if values is None else [a * b for a, b in zip(values, powers, strict=True)]
    assert values is not None
    return values


def _nodes(left_out: Remainder, small: float, full: int, *, complete: bool) -> tuple[int, arb] | None:
    """The first count in a growing list at which what is left out is small; None if there is none."""
    limit = to_ball(Fraction(math.exp(max(small, -700.0))))
    most = min(full, MOST)
    quick = left_out.quick()
    if quick is not None and (found := _nodes(quick, small, min(full, FEW), complete=False)) is not None:
        return found
    number = min(FEWEST, most)
    while True:
        if complete and number == full:
            return number, to_ball(0)
        rest = left_out.after(number, limit)
        if rest < limit:
            return number, rest.upper()
        if number == most:
            return None
        number = min(most, number + max(3, number // 8))
