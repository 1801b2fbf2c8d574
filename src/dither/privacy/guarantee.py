"""A guarantee: a promise about neighbouring data sets, which can be asked questions and added up.

A guarantee is a unit and a sum of parts, one for each currency (`currency.py`). Every answer is a float rounded up, so it
can be relied on; `math.inf` where the promise has no such number. For (epsilon, delta) the best of these bounds is given,
each of them proved, with e the probability that everything is lost and delta' = (delta - e)/(1 - e) left for the rest:

    sum        the largest loss of every part, added up (no delta' needed)
    profile    the exact profile of the only part that has one (Gaussian; randomized response), the others by their sum
    orders     the Rényi curves of all parts, added up, at the best order
    tail       Bun and Steinke's bound on the rhos, added up

All of these hold for adaptive composition of mechanisms whose guarantees are fixed in advance. For an analyst who chooses
the guarantees themselves as she goes there are filters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dither.errors import GuaranteeError, NumberError, UnitError
from dither.numeric.enclosure import Enclosure, certify, ends, precision, round_up, to_ball
from dither.numeric.number import Number, exact, integer, rational
from dither.privacy.approx import ApproxPart
from dither.privacy.currency import Currency
from dither.privacy.gaussian import GaussianPart
from dither.privacy.orders import best_order
from dither.privacy.renyi import RenyiPart, epsilon_at, log_delta_at
from dither.privacy.solve import smallest, surely
from dither.privacy.unit import Unit, read_unit
from dither.privacy.zcdp import ZcdpPart, tail_delta

VERSION = 1
KINDS: dict[str, type[Currency]] = {part.kind: part for part in (ApproxPart, ZcdpPart, RenyiPart, GaussianPart)}


@dataclass(frozen=True)
class Charge:
    """With probability delta everything is lost; otherwise rho-zCDP and epsilon-DP (None: not at all)."""

    delta: Fraction
    rho: Fraction | None
    epsilon: Number | None


@dataclass(frozen=True)
class Guarantee:
    """A promise about one neighbouring relation. Made by `pure`, `approx`, `zcdp`, `renyi` and `gdp`."""

    unit: Unit
    parts: tuple[Currency, ...]

    # -- questions ---------------------------------------------------------------------------------------------

    def epsilon(self, delta: object = 0) -> float:
        """The smallest epsilon that is proved at this delta, rounded up; inf where there is none."""
        return self._epsilon(_probability(delta))

    def delta(self, epsilon: object) -> float:
        """The smallest delta that is proved at this epsilon, rounded up."""
        bound = exact(epsilon, name="epsilon", nonnegative=True)
        lost, rest = self._lost(), Fraction(self._rest_delta(bound))
        return min(1.0, round_up(lost + (1 - lost) * rest))

    def bracket(self, delta: object = 0) -> Enclosure:
        """(lower, upper): `epsilon(delta)`, and a number below which no epsilon can be promised to all such mechanisms."""
        target = _probability(delta)
        upper = self._epsilon(target)
        lower = max((_hardest(part, target) for part in self.parts), default=0.0)
        return Enclosure(min(lower, upper), upper)

    def rho(self) -> float:
        """The smallest rho for which rho-zCDP is proved, rounded up; inf where something can be lost outright."""
        rhos = [part.rho for part in self.parts]
        if self._can_fail() or any(rho() is None for rho in rhos):
            return math.inf
        return certify(lambda: sum((_some(rho()) for rho in rhos), start=to_ball(0))).upper

    def renyi(self, alpha: object) -> float:
        """A bound on the Rényi divergence of this order, rounded up; inf where there is none."""
        order = rational(alpha, name="alpha")
        if order <= 1:
            raise NumberError("alpha", alpha, "a Rényi order lies above 1", "2, or '1.5'")
        if self._can_fail() or self._renyi(order) is None:
            return math.inf
        return certify(lambda: _some(self._renyi(order))).upper

    def tradeoff(self, alpha: object) -> float:
        """The largest power that any test of "was this person in?" can have at level alpha, rounded up."""
        from dither.privacy.tradeoff import power

        return power(self, alpha)

    # -- composition -------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        if self.unit is not other.unit:
            raise UnitError(
                "unit",
                other.unit.value,
                f"it does not add up with a guarantee about '{self.unit}'",
                "the same unit on both sides; .to(unit) where that proves something",
            )
        merged = {part.kind: part for part in self.parts}
        for part in other.parts:
            merged[part.kind] = merged[part.kind].plus(part) if part.kind in merged else part
        return Guarantee(self.unit, _ordered(merged.values()))

    def __radd__(self, other: object) -> Guarantee:
        return self if other == 0 and isinstance(other, int) else NotImplemented  # so that sum() works

    def __mul__(self, count: object) -> Guarantee:
        if isinstance(count, (float, complex, str)):
            return NotImplemented
        copies = integer(count, name="count", least=0)
        parts = [part.times(copies) for part in self.parts] if copies else [ApproxPart.of(Number(0), Fraction(0))]
        return Guarantee(self.unit, _ordered(parts))

    __rmul__ = __mul__

    def group(self, people: object) -> Guarantee:
        """The same mechanisms for a group of people who join, leave or are replaced together."""
        count = integer(people, name="people", least=1)
        return Guarantee(self.unit, _ordered(part.group(count) for part in self.parts))

    def to(self, unit: object) -> Guarantee:
        """The same mechanisms, promised for another unit; refused where nothing follows."""
        wanted = read_unit(unit)
        if wanted is self.unit:
            return self
        if wanted is self.unit.replacement:
            return Guarantee(wanted, self.group(2).parts)
        raise UnitError(
            "unit",
            wanted.value,
            f"it does not follow from '{self.unit}'",
            f"'{self.unit.replacement}', or .per_person(rows)",
        )

    def per_person(self, rows: object) -> Guarantee:
        """From rows to persons: a person with up to this many rows is a group of rows."""
        if not self.unit.of_rows:
            raise UnitError("unit", self.unit.value, "it speaks of persons already", "a guarantee about rows")
        return Guarantee(self.unit.of_persons, self.group(rows).parts)

    def post_process(self) -> Guarantee:
        """Anything done to the output without the data keeps the guarantee: this one."""
        return self

    def within(self, other: Guarantee) -> bool:
        """True only when it is proved that whoever has this guarantee has the other one as well."""
        if self.unit is not other.unit:
            return False
        mine, theirs = ({part.kind: part for part in g.parts} for g in (self, other))
        if set(mine) <= set(theirs) and all(part.within(theirs[kind]) for kind, part in mine.items()):
            return True
        return len(theirs) == 1 and self._covers(next(iter(other.parts)))

    def charge(self) -> Charge:
        """What a filter counts: the largest loss, rho and delta of this guarantee, in exact numbers."""
        bounded, others = self._split()
        rhos = [part.charged_rho() for part in self.parts]
        return Charge(
            delta=min(Fraction(1), sum((part.charged_delta() for part in self.parts), start=Fraction(0))),
            rho=None if None in rhos else sum((rho for rho in rhos if rho is not None), start=Fraction(0)),
            epsilon=None if others else bounded,
        )

    def charged_renyi(self, alpha: Fraction) -> Number | None:
        """The divergence of this order: exactly where it is a Number, rounded up where it is not; None if there is none."""
        total = Number(0)
        for part in self.parts:
            divergence = part.charged_renyi(alpha)
            if divergence is None:
                return None
            total += divergence
        return total

    # -- writing -----------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return f"{' + '.join(part.describe() for part in self.parts)} ({self.unit})"

    def to_json(self) -> str:
        """Exact text; a record once written never changes its meaning."""
        parts = [{"kind": part.kind, **part.to_json()} for part in self.parts]
        return json.dumps({"guarantee": VERSION, "unit": self.unit.value, "parts": parts}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Guarantee:
        """The guarantee that `to_json` wrote."""
        try:
            stored = json.loads(text)
            version = stored["guarantee"]
            unit = read_unit(stored["unit"])
            parts = [KINDS[row["kind"]].from_json(row) for row in stored["parts"]] if version == VERSION else []
        except (AssertionError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise GuaranteeError("record", text, "dither did not write this", "what Guarantee.to_json gave") from error
        if version != VERSION:
            raise GuaranteeError("record version", version, f"this dither reads version {VERSION}", "a newer dither")
        return cls(unit, _ordered(parts))

    # -- how the answers are found -------------------------------------------------------------------------------

    def _events(self) -> arb:
        kept = to_ball(1)
        for part in self.parts:
            kept *= 1 - part.events()
        return 1 - kept

    def _lost(self) -> Fraction:
        """The probability that everything is lost, rounded up; exactly zero where nothing can be."""
        with precision(192):
            events = self._events()
            return Fraction(0) if events.is_zero() else ends(events)[1]

    def _can_fail(self) -> bool:
        return self._lost() > 0

    def _renyi(self, alpha: Fraction) -> arb | None:
        total = to_ball(0)
        for part in self.parts:
            bound = part.renyi(alpha)
            if bound is None:
                return None
            total += bound
        return total

    def _split(self) -> tuple[Number, list[Currency]]:
        """The parts with a largest loss, added up; and the others."""
        bounded, others = Number(0), []
        for part in self.parts:
            loss = part.largest_loss()
            if loss is None:
                others.append(part)
            else:
                bounded += loss
        return bounded, others

    def _epsilon(self, delta: Fraction) -> float:
        lost = self._lost()
        if lost > delta:
            return math.inf
        left = (delta - lost) / (1 - lost)
        if left > 0 and len(self.parts) == 1 and (exactly := self.parts[0].rest_epsilon(left)) is not None:
            return exactly.upper
        bounded, others = self._split()
        found = [math.inf if others else bounded.bounds().upper]
        if left > 0:
            if len(others) == 1 and (rest := others[0].rest_epsilon(left)) is not None:
                found.append(certify(lambda: bounded.ball() + to_ball(Fraction(rest.upper))).upper)
            found += self._by_curve(left)
        return max(0.0, min(found))

    def _by_curve(self, delta: Fraction) -> list[float]:
        """Bounds from the Rényi curve and from the tail of rho."""
        found = []
        order = best_order(lambda a: _epsilon_float(self._renyi(a), a, delta))
        if order is not None:
            found.append(certify(lambda: epsilon_at(order, _some(self._renyi(order)), to_ball(delta))).upper)
        rhos = [part.rho for part in self.parts]
        if found and all(rho() is not None for rho in rhos):

            def tail(x: Fraction) -> bool | None:
                return surely(
                    lambda: tail_delta(sum((_some(rho()) for rho in rhos), start=to_ball(0)), to_ball(x)) - to_ball(delta),
                    most=1024,
                )

            if tail(Fraction(found[0])):  # only then can it be the smaller of the two
                found.append(smallest(tail, found[0]).upper)
        return found

    def _rest_delta(self, epsilon: Number) -> float:
        bounded, others = self._split()
        if not others and bounded <= epsilon:
            return 0.0
        if len(self.parts) == 1 and (exactly := self.parts[0].rest_delta(epsilon)) is not None:
            return min(1.0, exactly.upper)
        found = [1.0]
        if len(others) == 1 and len(self.parts) > 1 and bounded <= epsilon:
            rest = others[0].rest_delta(epsilon - bounded)
            found.append(1.0 if rest is None else rest.upper)
        order = best_order(lambda a: _delta_float(self._renyi(a), a, epsilon))
        if order is not None:
            found.append(certify(lambda: log_delta_at(order, _some(self._renyi(order)), epsilon.ball()).exp()).upper)
        if all(part.rho() is not None for part in self.parts):
            rho: Callable[[], arb] = lambda: sum((_some(part.rho()) for part in self.parts), start=to_ball(0))  # noqa: E731
            found.append(certify(lambda: tail_delta(rho(), epsilon.ball())).upper)
        return min(found)

    def _covers(self, part: Currency) -> bool:
        """Whether this guarantee implies a single part in another currency."""
        if isinstance(part, ApproxPart) and len(part.entries) == 1 and part.entries[0][2] == 1:
            epsilon, delta, _ = part.entries[0]
            bounded, others = self._split()
            if not others and not self._can_fail() and bounded <= epsilon:
                return True
            return Fraction(self.delta(epsilon)) <= delta
        if isinstance(part, ZcdpPart):
            charge = self.charge()
            return charge.rho is not None and charge.rho <= part.amount and charge.delta <= part.lost
        if isinstance(part, RenyiPart):
            bounds = [(self.charged_renyi(order), bound) for order, bound in part.curve]
            return not self._can_fail() and all(mine is not None and mine <= bound for mine, bound in bounds)
        return False


# -- front doors ---------------------------------------------------------------------------------------------------


def pure(epsilon: object, *, unit: object = Unit.ADD_REMOVE) -> Guarantee:
    """epsilon-differential privacy."""
    part = ApproxPart.of(exact(epsilon, name="epsilon", nonnegative=True), Fraction(0))
    return Guarantee(read_unit(unit), (part,))


def approx(epsilon: object, delta: object, *, unit: object = Unit.ADD_REMOVE) -> Guarantee:
    """(epsilon, delta)-differential privacy."""
    part = ApproxPart.of(exact(epsilon, name="epsilon", nonnegative=True), _probability(delta))
    return Guarantee(read_unit(unit), (part,))


def zcdp(rho: object, *, delta: object = 0, unit: object = Unit.ADD_REMOVE) -> Guarantee:
    """rho-zero-concentrated differential privacy; with delta, up to an event of that probability."""
    part = ZcdpPart(rational(rho, name="rho", nonnegative=True), _probability(delta))
    return Guarantee(read_unit(unit), (part,))


def renyi(curve: Mapping[object, object], *, unit: object = Unit.ADD_REMOVE) -> Guarantee:
    """Rényi differential privacy: {order: epsilon}, orders above 1."""
    if not isinstance(curve, Mapping) or not curve:
        raise GuaranteeError("curve", curve, "it lists no order", "{2: '0.1', 8: '0.5'}")
    points = []
    for alpha, epsilon in curve.items():
        order = rational(alpha, name="order")
        if order <= 1:
            raise NumberError("order", alpha, "a Rényi order lies above 1", "2, or '1.5'")
        points.append((order, exact(epsilon, name="epsilon", nonnegative=True)))
    return Guarantee(read_unit(unit), (RenyiPart(tuple(sorted(points))),))


def gdp(mu: object = None, *, mu2: object = None, unit: object = Unit.ADD_REMOVE) -> Guarantee:
    """mu-Gaussian differential privacy; by its square where that is the rational one."""
    if (mu is None) == (mu2 is None):
        raise NumberError("mu, mu2", (mu, mu2), "exactly one of them is needed", "mu='0.5', or mu2='1/4'")
    square = rational(mu2, name="mu2", nonnegative=True) if mu is None else rational(mu, name="mu", nonnegative=True) ** 2
    return Guarantee(read_unit(unit), (GaussianPart(square),))


# -- small things --------------------------------------------------------------------------------------------------


def _probability(delta: object) -> Fraction:
    value = rational(delta, name="delta", nonnegative=True)
    if value >= 1:
        raise NumberError("delta", delta, "with delta = 1 nothing is promised", "a small probability such as '1e-6'")
    return value


def _ordered(parts: Iterable[Currency]) -> tuple[Currency, ...]:
    return tuple(sorted(parts, key=lambda part: part.kind))


def _some(ball: arb | None) -> arb:
    assert ball is not None
    return ball


def _epsilon_float(divergence: arb | None, alpha: Fraction, delta: Fraction) -> float:
    return math.inf if divergence is None else float(epsilon_at(alpha, divergence, to_ball(delta)))


def _delta_float(divergence: arb | None, alpha: Fraction, epsilon: Number) -> float:
    return math.inf if divergence is None else float(log_delta_at(alpha, divergence, epsilon.ball()))


def _hardest(part: Currency, delta: Fraction) -> float:
    """An epsilon below which the hardest mechanism known for this part fails at this delta."""
    with precision(192):
        events = part.events()
        lost = Fraction(0) if events.is_zero() else max(Fraction(0), ends(events)[0])
    if lost >= delta:
        loss = part.largest_loss()
        if lost > delta:
            return math.inf
        return math.inf if loss is None else loss.bounds().lower
    left = (delta - lost) / (1 - lost)
    exactly = part.rest_epsilon(left)
    if exactly is None and (rho := part.rho()) is not None and part.largest_loss() is None:
        with precision(192):
            mu2 = ends(2 * rho)[0]
        exactly = GaussianPart(max(mu2, Fraction(0))).rest_epsilon(left)  # a Gaussian is one such mechanism
    return 0.0 if exactly is None else exactly.lower
