"""Shuffled reports: the dominating pair of n people's locally randomized answers, once a shuffler has taken the names off.

Replace-one, and n is public. Write g = e^epsilon - 1. For k-ary randomized response, N of the reports are random answers or
that of the person who is replaced; a of them say x, b say x'. The pair is the law of (N, a, b), with loss

    ln (N + g a) / (N + g b)

Any local randomizer with this epsilon (`answers` is None; Feldman, McMillan and Talwar 2021) is no worse than k = 2 with
another law of N. `shuffled.md` beside this file has the theorem, the proof, and how tails of the loss are summed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

from flint import arb, ctx

from dither.errors import PrecisionError
from dither.numeric.balls import ends, floor_scaled, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.numeric.search import halve
from dither.privacy.formulas.binomial import mass, probability, tail_bound
from dither.privacy.loss.pairs.pair import Pair
from dither.privacy.records import stored_count, stored_number
from dither.privacy.text import four_digits

MOST_EPSILON = 10_000
MOST_PEOPLE = 10**8  # more are not counted on: the sums would become long, and there is little left to gain


@dataclass(frozen=True)
class ShuffledPair(Pair):
    """The reports of `people`, each with the local `epsilon` > 0: one of `answers` >= 2, or anything if that is None."""

    kind: ClassVar[str] = "shuffled"
    blurred: ClassVar[bool] = True
    epsilon: Number
    people: int
    answers: int | None

    @property
    def cells(self) -> int:
        return 400 if self.people <= 10_000 else 100

    def largest_loss(self) -> Number:
        return self.epsilon

    def above(self, loss: arb) -> tuple[arb, arb]:
        """All losses count, as none is an atom by name.

        A loss that is about 2^(-3 prec / 4) or less from the middle of `loss` counts as equal to it, not as above.
        """
        most = self.epsilon.ball()
        if loss > most:
            return to_ball(0), to_ball(0)
        if loss < -most:
            return to_ball(1), to_ball(1)
        if loss.rad() > arb((1, -ctx.prec // 2)):
            low, high = self.above(loss.lower()), self.above(loss.upper())
            return low[0].union(high[0]), low[1].union(high[1])
        middle = loss.mid()
        if middle >= 0:
            return _tail(self, middle, 1)
        p, q = _tail(self, -middle, -1)  # L >= -loss, the other way round
        return 1 - q, 1 - p

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        # P(L < -x) = Q(L > x) <= P(L > x)
        most = ends(self.epsilon.ball())[1]
        with precision(64):
            high = halve(lambda x: self.above(to_ball(x))[0] < to_ball(small), Fraction(0), most, times=10)[1]
        return -high, high

    def describe(self) -> str:
        what = "report" if self.answers is None else "binary answer" if self.answers == 2 else f"{self.answers}-ary answer"
        return f"{self.people} shuffled {what}{'s' if self.people > 1 else ''} of ε = {four_digits(self.epsilon)}"

    def to_json(self) -> dict[str, object]:
        return {"epsilon": self.epsilon.to_json(), "people": self.people, "answers": self.answers}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        epsilon, people = stored_number(stored["epsilon"]), stored_count(stored["people"])
        answers = None if stored["answers"] is None else stored_count(stored["answers"])
        if epsilon == 0 or answers == 1:
            raise ValueError("an epsilon above zero and two answers or more")
        return cls(epsilon, people, answers)


# -- levels of N --------------------------------------------------------------------------------------------------------


class Level(NamedTuple):
    """P is weight (N + g a) times a binomial law of `size` draws for t and Bin(t, 1/2) for a. N is `size`, or t."""

    size: int
    weight: arb


@lru_cache(maxsize=64)
def levels_of(pair: ShuffledPair, bits: int) -> tuple[Level, ...]:
    people, answers = min(pair.people, MOST_PEOPLE), pair.answers
    with precision(bits):
        gain = pair.epsilon.ball().expm1()
        odds = (answers or 1) / gain  # of a random answer: w / (1 - w)
        if answers is None or answers == 2:
            # Bin(n - 1, w) at t - 1, divided by t, is Bin(n, w) at t, divided by n w
            return (Level(people, 2 * (1 + 1 / odds) / ((gain + 2) * people)),)
        mean, starts = level_starts(pair, people)
        found = []
        for start, after in zip(starts, [*starts[1:], people], strict=True):
            share = arb(0)
            if start <= mean:
                share += mass(people - 1, odds, min(mean, after - 1), start)
            if mean < after - 1:
                share += mass(people - 1, odds, max(mean + 1, start), after - 1)
            found.append(Level(start + 1, share / ((1 + 1 / odds) * (start + 1))))
        return tuple(found)


def level_starts(pair: ShuffledPair, people: int) -> tuple[int, list[int]]:
    """The mean of N - 1, about, and where the levels of N - 1 begin: fine near the mean, coarse below, from 0 on."""
    with precision(128):  # not the working precision: the levels are what the pair is
        mean = floor_scaled((people - 1) / (1 + pair.epsilon.ball().expm1() / (pair.answers or 1)), 0)
    spread = math.isqrt(mean * (people - mean) // people) + 4
    step = max(1, math.isqrt(mean) // 3, mean // 256)
    starts = list(range(max(0, mean - 4 * spread), min(people, mean + 2 * spread), step))
    while starts[0] > 0:
        step *= 2
        starts.insert(0, max(0, starts[0] - step))
    return mean, starts


# -- the sum over t -----------------------------------------------------------------------------------------------------


class _Event(NamedTuple):
    """a > side * t + lift * N. Where N is t that is `alike`, and part of `side`. `fine` is of how many bits the line is."""

    gain: arb
    side: arb
    lift: arb
    odds: arb
    alike: bool
    fine: int


def _tail(pair: ShuffledPair, loss: arb, way: int) -> tuple[arb, arb]:
    """P and Q of L > loss, for an exact loss >= 0 that is moved up or down a little: for > and >= of what is equal."""
    if pair.epsilon > MOST_EPSILON:
        raise PrecisionError("epsilon", pair.epsilon, "shuffling does nothing for it", f"at most {MOST_EPSILON}")
    bits = ctx.prec
    fine = 2 * bits + math.ceil(float(pair.epsilon) / math.log(2))  # since dL/da may be e^epsilon
    alike = pair.answers is None or pair.answers == 2
    with precision(fine + 64):
        gain = pair.epsilon.ball().expm1()
        loss += way * arb((1, -3 * bits // 4)) * gain / (1 + gain)
        side, lift = 1 / (1 + (-loss).exp()), (loss / 2).tanh() / gain
        if alike:
            side, lift = side + lift, to_ball(0)
        odds = (pair.answers or 1) / gain if alike else to_ball(Fraction(2, (pair.answers or 0) - 2))
    event = _Event(gain, side, lift, odds, alike, fine)
    z = to_ball(Fraction(_exponent(event)))
    chance = ((z * (1 - side)).exp() + (-z * side).exp()) / 2
    each = (-z * lift).exp() * (1 + odds * chance) / (1 + odds)
    levels = levels_of(pair, bits + 64)
    bounds = [2 * level.weight * level.size * (1 + gain) * each**level.size for level in levels]  # 2: the line is rounded
    most, p, q, rest = arb(0), arb(0), arb(0), arb(0)
    for bound in bounds:
        most = most.max(bound)
    for level, bound in zip(levels, bounds, strict=True):
        if bound < most * arb((1, -bits)):
            rest += bound
            continue
        low, high = window(level.size, odds * chance)
        rest += bound * (
            tail_bound(level.size, odds * chance, low - 1, -1) + tail_bound(level.size, odds * chance, high + 1, 1)
        )
        more, less = _sum(event, level.size, low, high)
        p, q = p + level.weight * more, q + level.weight * less
    return p + rest.union(arb(0)), q + (rest * (-loss).exp()).union(arb(0))  # Q is at most e^-loss P there


def _exponent(event: _Event) -> float:
    """About the best z, in plain floats: any z >= 0 will do."""
    side, lift, odds = float(event.side), float(event.lift), float(event.odds)

    def rises(z: float) -> bool:
        up, down = math.exp(z * (1 - side)) / 2, math.exp(-z * side) / 2
        return not odds * ((1 - side) * up - side * down) < lift * (1 + odds * (up + down))

    return halve(rises, 0.0, 300.0, times=40)[0]


def window(count: int, odds: arb) -> tuple[int, int]:
    """About where all but 2^-prec of a binomial law lies (Bernstein), in plain floats: what it misses is added."""
    share = float(odds / (1 + odds))
    middle, logs = count * share, ctx.prec * math.log(2)
    reach = logs / 3 + math.sqrt(logs * logs / 9 + 2 * logs * middle * (1 - share))
    return max(0, math.floor(middle - reach)), min(count, math.ceil(middle + reach))


def _sum(event: _Event, count: int, low: int, high: int) -> tuple[arb, arb]:
    """The event over t from low to high, (N + g a) for P and (N + g b) for Q as weights.

    With T = P(Bin(t-1, 1/2) >= h), f = P(Bin(t-1, 1/2) = h-1) and h the least a, a 1(a >= h) has under Bin(t, 1/2) the
    mean (t/2) (T + f), b 1(a >= h) has (t/2) T, and the event has T + f/2. As t falls T mostly grows, so that its errors
    stay small next to it (only far out, and for k > 2, some bits are lost).
    """
    fine = event.fine
    with precision(fine + 64):
        slope, line = floor_scaled(event.side, fine), floor_scaled(event.lift * count, fine)
    at = slope * high + line
    h = (at >> fine) + 1
    plain_tail, plain_single, tails, singles = arb(0), arb(0), arb(0), arb(0)
    back = 1 / event.odds
    if high >= 1 and h <= high:
        law, single = probability(count, event.odds, high), probability(high - 1, arb(1), h - 1)
        tail = 2 * mass(high - 1, arb(1), h, high - 1) if h < high else arb(0)  # 2 T
        for t in range(high, max(low, 1) - 1, -1):
            times = law * t
            tails += times * tail
            singles += times * single
            if not event.alike:
                plain_tail += law * tail
                plain_single += law * single
            law = times * back / (count - t + 1)
            at -= slope
            before, h = h, (at >> fine) + 1
            if h >= t or t == 1:  # from here down no a is large enough
                break
            part = single / (t - 1)
            move = part * (2 * (t - before))
            if h == before:
                tail, single = tail - move, move
            else:
                tail, single = tail + move, part * (2 * (before - 1))
    if event.alike:
        plain_tail, plain_single = tails, singles  # the sums with N = t
    else:
        plain_tail, plain_single = plain_tail * count, plain_single * count
    common = (plain_tail + plain_single + event.gain * tails / 2) / 2
    if low == 0 and line < 0 and not event.alike:
        common += probability(count, event.odds, 0) * count  # t = 0 has L = 0
    return common + event.gain * singles / 2, common
