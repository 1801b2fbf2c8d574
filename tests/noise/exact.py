"""Tools that compute what a sampler does, instead of watching it.

`tree` runs a sampler on every string of bits, one after the other, and adds up in rationals how much probability
each outcome gets. `laws` states the laws once more, in other formulas than the library uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpq

from dither.noise.entropy import swapped
from dither.noise.law import Law
from dither.numeric.balls import ends, precision

BITS = 256  # working precision of the laws below


class OutOfBits(Exception):  # noqa: N818 - not an error, a turn in the road
    """The sampler asked for more bits than the script holds."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted


class Script:
    """A stream that plays given bits once."""

    def __init__(self, value: int, length: int) -> None:
        self._value, self._length, self._at = value, length, 0

    def bits(self, count: int) -> int:
        if self._at + count > self._length:
            raise OutOfBits(count)
        self._at += count
        return (self._value >> (self._length - self._at)) & ((1 << count) - 1)

    @property
    def used(self) -> int:
        return self._at


def tree(draw: Callable[[], int | None], depth: int) -> tuple[dict[int | None, Fraction], Fraction]:
    """The probability of each outcome within `depth` bits, and the probability that is still open there."""
    masses: defaultdict[int | None, Fraction] = defaultdict(Fraction)
    unsettled = Fraction(0)
    todo = [(0, 0)]
    while todo:
        value, length = todo.pop()
        script = Script(value, length)
        try:
            with swapped(script):  # type: ignore[arg-type]
                outcome = draw()
        except OutOfBits as turn:
            wanted = script.used + turn.wanted - length
            if length + wanted > depth:
                unsettled += Fraction(1, 1 << length)
            else:
                todo += [((value << wanted) | more, length + wanted) for more in range(1 << wanted)]
            continue
        assert script.used == length, "a run must use all the bits that it was given"
        masses[outcome] += Fraction(1, 1 << length)
    return dict(masses), unsettled


def remembering(law: Law) -> Law:
    """The law with its balls remembered for each precision: the tree asks for the same ones over and over."""
    for name in ("above", "aboves", "weight", "beyond"):
        setattr(law, name, _remembered(getattr(law, name)))
    return law


def _remembered(method: Callable[..., arb]) -> Callable[..., arb]:
    known: dict[tuple[object, ...], arb] = {}

    def ask(*arguments: object) -> arb:
        key = (ctx.prec, *arguments)
        if key not in known:
            known[key] = method(*arguments)
        return known[key]

    return ask


def assert_law(masses: dict[int | None, Fraction], unsettled: Fraction, law: Callable[[int], arb]) -> None:
    """No outcome got more than its probability, or less by more than what is still open. Sums are exact."""
    assert sum(masses.values()) + unsettled == 1
    for outcome, mass in masses.items():
        low, high = exactly(lambda x=outcome: law(x))
        assert mass <= high, f"{outcome} has {float(mass)}, more than {float(high)}"
        assert low <= mass + unsettled, f"{outcome} has {float(mass)}, less than {float(low)}"


class Turn(Exception):  # noqa: N818 - not an error, a turn in the road
    """The run came to a choice that its script does not hold."""

    def __init__(self, chances: list[arb]) -> None:
        self.chances = chances


class Choices:
    """Runs code whose random decisions are choices with known probabilities, once for every way through it."""

    def __init__(self) -> None:
        self._script: list[int] = []
        self._at = 0

    def choose(self, chances: list[arb]) -> int:
        """One of several ways on. What the chances leave out is a way that is not followed."""
        if self._at == len(self._script):
            raise Turn(chances)
        self._at += 1
        return self._script[self._at - 1]

    def bits(self, count: int) -> int:
        return self.choose([arb((1, -count))] * (1 << count))

    def every_way(self, run: Callable[[], int | None]) -> dict[int | None, arb]:
        """The probability of each result, as a ball."""
        masses: defaultdict[int | None, arb] = defaultdict(arb)
        todo: list[tuple[list[int], arb]] = [([], arb(1))]
        while todo:
            self._script, chance = todo.pop()
            self._at = 0
            try:
                masses[run()] += chance
            except Turn as turn:
                todo += [([*self._script, way], chance * share) for way, share in enumerate(turn.chances)]
        return dict(masses)


def exactly(compute: Callable[[], arb]) -> tuple[Fraction, Fraction]:
    """The ends of a ball around something that is not negative."""
    tiny = Fraction(1, 2**4000)
    with precision(BITS):
        result = compute()
        if result < ball(tiny):
            return Fraction(0), tiny  # not written out: it could have billions of digits
        low, high = ends(result)
        return max(low, Fraction(0)), high


# -- the laws, stated independently ---------------------------------------------------------------------------


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def laplace(scale: Fraction) -> Callable[[int], arb]:
    def mass(x: int) -> arb:
        return (1 / (2 * ball(scale))).tanh() * (-ball(Fraction(abs(x)) / scale)).exp()

    return mass


def geometric(scale: Fraction) -> Callable[[int], arb]:
    def mass(x: int) -> arb:
        return (-ball(Fraction(x) / scale)).exp() - (-ball(Fraction(x + 1) / scale)).exp()

    return mass


def rounded(sigma2: Fraction) -> Callable[[int], arb]:
    def mass(x: int) -> arb:
        root = (2 * ball(sigma2)).sqrt()
        return ((ball(x + Fraction(1, 2)) / root).erf() - (ball(x - Fraction(1, 2)) / root).erf()) / 2

    return mass


def gaussian(sigma2: Fraction) -> Callable[[int], arb]:
    def weight(x: int) -> arb:
        return (-ball(Fraction(x * x) / (2 * sigma2))).exp()

    with precision(BITS + 64):
        reach = 40 + int(40 * float(sigma2) ** 0.5)
        total = sum((weight(x) for x in range(-reach, reach + 1)), start=arb(0))  # the rest is below 2^-1000
        total += arb(0, 2**-1000)

    return lambda x: weight(x) / total
