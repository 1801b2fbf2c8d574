"""A differential privacy guarantee: a promise about neighbouring data sets, which can be asked questions and added up.

A guarantee is a unit and a sum of parts, one for each currency (`guarantee/currency.py`). Every answer is a float rounded
up, so it can be relied on; `math.inf` where the promise has no such number. `guarantee/convert.py` says how answers are
found.

Sums hold for adaptive composition of mechanisms whose guarantees are fixed in advance. For an analyst who chooses
the guarantees themselves as she goes there are filters (`budget/filter.py`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

from flint import arb

from dither.arguments import argument_errors
from dither.errors import ArgumentError, GuaranteeError, NumberError, UnitError
from dither.numeric.enclosure import certify
from dither.numeric.number import Enclosure, Number, NumberLike, exact, integer, rational
from dither.numeric.representation import LONGEST_LINE, cut
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.bounded_range import BoundedRange
from dither.privacy.guarantee.by_loss import ByLoss
from dither.privacy.guarantee.convert import Conversion
from dither.privacy.guarantee.currency import Charge, Currency
from dither.privacy.guarantee.gaussian import Gdp
from dither.privacy.guarantee.renyi import Renyi
from dither.privacy.guarantee.tradeoff import power
from dither.privacy.guarantee.zcdp import Zcdp
from dither.privacy.loss.loss import Loss
from dither.privacy.operands import Operands, operand_error
from dither.privacy.records import MOST_COPIES, finite_epsilon, read_delta
from dither.privacy.unit import Unit, UnitLike, read_unit

VERSION = 2  # a rho beside an epsilon; what has none is written as version 1, as ever
KINDS: dict[str, type[Currency]] = {part.kind: part for part in (Approx, BoundedRange, Zcdp, Renyi, Gdp, ByLoss)}


@argument_errors
@dataclass(frozen=True)
class Guarantee(Operands):
    """A promise about one neighbouring relation: a sum of parts, each in a definition of differential privacy.

    Made by `pure`, `bounded_range`, `approx`, `zcdp`, `renyi` and `gdp`, or from a loss by `from_loss`; `+` and `*` are
    adaptive composition.

    Args:
        unit: the neighbouring relation.
        parts: one for each currency, by its kind.

    Raises:
        UnitError: a part cannot be about this unit.

    Example:
        >>> from dither import gdp, pure
        >>> both = pure("0.5") + 2 * gdp("0.5")
        >>> print(both)
        ε = 0.5 + μ = 0.7072 Gaussian DP (add/remove one person)
        >>> both.epsilon("1e-6") < pure("0.5").epsilon() + (2 * gdp("0.5")).epsilon("1e-6")
        True
    """

    unit: Unit
    parts: tuple[Currency, ...]
    operand_words = ("guarantee", "pure('0.5')", "pure(1)")

    def __post_init__(self) -> None:
        for part in self.parts:
            part.check_unit(self.unit)

    @classmethod
    def from_loss(cls, loss: Loss, *, unit: UnitLike | None = None) -> Guarantee:
        """A guarantee that answers by this loss, and can be charged to a budget; `unit` where the loss does not say it."""
        if not isinstance(loss, Loss):
            raise GuaranteeError("loss", loss, "it is not a loss", "Loss.gaussian(5), or what a mechanism's .loss() gives")
        whom = loss.unit if unit is None else read_unit(unit)
        if whom is None:
            why = "a loss alone does not say whom it protects"
            raise UnitError("unit", unit, why, ", ".join(repr(one.value) for one in Unit))
        if loss.unit is not None and whom is not loss.unit:
            raise UnitError("unit", whom.value, f"the loss is about '{loss.unit}'", f"'{loss.unit}', or none")
        return cls(whom, (ByLoss(loss.terms),)) if loss.terms else cls(whom, (Approx.of(Number(0), Fraction(0)),))

    # -- questions ---------------------------------------------------------------------------------------------

    def epsilon(self, delta: NumberLike | None = None) -> float:
        """The smallest epsilon that is proved at this delta, rounded up; inf where there is none.

        Without a delta, the epsilon of pure differential privacy, and a refusal where that is not promised.
        """
        return finite_epsilon(self.conversion.epsilon(read_delta(0 if delta is None else delta)), delta, str(self))

    def delta(self, epsilon: NumberLike) -> float:
        """The smallest delta that is proved at this epsilon, rounded up."""
        return self.conversion.delta(exact(epsilon, name="epsilon", nonnegative=True))

    def bracket(self, delta: NumberLike = 0) -> Enclosure:
        """(lower, upper): `epsilon(delta)`, and a number below which no epsilon can be promised to all such mechanisms."""
        target = read_delta(delta)
        upper = self.conversion.epsilon(target)
        return Enclosure(min(self.conversion.hardest(target), upper), upper)

    def rho(self) -> float:
        """The smallest rho for which rho-zCDP is proved, rounded up; inf where something can be lost outright."""
        conversion = self.conversion
        if conversion.lost() or conversion.rho() is None:
            return math.inf
        return certify(lambda: _present(conversion.rho())).upper

    def renyi(self, alpha: NumberLike) -> float:
        """A bound on the Rényi divergence of order alpha, rounded up; inf where there is none."""
        order = rational(alpha, name="alpha")
        if order <= 1:
            raise NumberError("alpha", alpha, "a Rényi order lies above 1", "2, or '1.5'")
        conversion = self.conversion
        if conversion.lost() or conversion.renyi(order) is None:
            return math.inf
        return certify(lambda: _present(conversion.renyi(order))).upper

    def tradeoff(self, alpha: NumberLike) -> float:
        """The largest power that any test of "was this person in?" can have at level alpha, rounded up."""
        return power(self.conversion, alpha)

    def loss(self) -> Loss:
        """Dominating pairs for whatever has this guarantee; refused where none are known."""
        total = Loss((), self.unit)
        for part in self.parts:
            terms, largest = part.pairs(), part.largest_loss()
            if terms is not None:
                total += Loss(terms)
            elif largest is not None:
                total += Loss.approx(largest, part.charged_delta())
            else:
                why = f"of {part.describe()} only a curve is known, not the hardest pair"
                raise GuaranteeError("guarantee", str(self), why, "pure, approx or gdp, or a mechanism's own .loss()")
        return total

    # -- composition -------------------------------------------------------------------------------------------

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return operand_error(self, "+", other)
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

    def __radd__(self, other: int) -> Guarantee:
        return self if isinstance(other, int) and other == 0 else operand_error(self, "+", other)  # so that sum() works

    def __mul__(self, count: SupportsIndex) -> Guarantee:
        if isinstance(count, (float, complex, str)):
            raise ArgumentError("count", count, "a guarantee is repeated a whole number of times", "2 * pure('0.5')")
        copies = integer(count, name="count", least=0)
        if copies > MOST_COPIES:
            raise NumberError("count", count, f"sums of more than {MOST_COPIES} copies are not kept", "a smaller count")
        parts = [part.times(copies) for part in self.parts] if copies else [Approx.of(Number(0), Fraction(0))]
        return Guarantee(self.unit, _ordered(parts))

    __rmul__ = __mul__

    def group(self, people: SupportsIndex) -> Guarantee:
        """The same mechanisms for a group of people who join, leave or are replaced together."""
        count = integer(people, name="people", least=1)
        return Guarantee(self.unit, _ordered(part.group(count) for part in self.parts))

    def to(self, unit: UnitLike) -> Guarantee:
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

    def per_person(self, rows: SupportsIndex) -> Guarantee:
        """From rows to persons: a person with up to `rows` rows is a group of them."""
        if self.unit is not Unit.ADD_REMOVE_ROW:
            why = "it speaks of persons already"
            if self.unit is Unit.REPLACE_ONE_ROW:  # printing the number of rows would be free, and tell everything
                why = "a person may be replaced by one with more or fewer rows"
            raise UnitError("unit", self.unit.value, why, f"a guarantee about '{Unit.ADD_REMOVE_ROW}'")
        return Guarantee(Unit.ADD_REMOVE, self.group(rows).parts)

    def post_process(self) -> Guarantee:
        """Anything done to the output without the data keeps the guarantee: this one."""
        return self

    def within(self, other: Guarantee) -> bool:
        """True only when it is proved that whoever has this guarantee has the other one as well."""
        if not isinstance(other, Guarantee):
            raise GuaranteeError("other", other, "it is not a guarantee", "pure(1), or any other Guarantee")
        if self.unit is not other.unit:
            return False
        mine, theirs = ({part.kind: part for part in g.parts} for g in (self, other))
        if set(mine) <= set(theirs) and all(part.within(theirs[kind]) for kind, part in mine.items()):
            return True
        return len(theirs) == 1 and other.parts[0].follows_from(self)

    def charge(self, *, classical: bool = False) -> Charge:
        """What a filter counts: the largest loss, rho and delta of this guarantee, in exact numbers.

        `classical` counts epsilon^2/2 for a bounded loss, as budgets of the first version do.
        """
        bounded, others = self.conversion.split()
        rhos = [part.classical_rho() if classical else part.charged_rho() for part in self.parts]
        return Charge(
            delta=min(Fraction(1), sum((part.charged_delta() for part in self.parts), start=Fraction(0))),
            rho=None if None in rhos else sum((rho for rho in rhos if rho is not None), start=Fraction(0)),
            epsilon=None if others else bounded,
        )

    def without_own_rho(self) -> Guarantee:
        """The same promise without what single mechanisms know of their rho: this one, where none does."""
        plain = tuple(part.without_own_rho() for part in self.parts)
        return self if plain == self.parts else Guarantee(self.unit, plain)

    def charged_renyi(self, alpha: Fraction) -> Number | None:
        """The divergence of order alpha: exactly where it is a Number, rounded up where it is not; None if there is none."""
        total = Number(0)
        for part in self.parts:
            divergence = part.charged_renyi(alpha)
            if divergence is None:
                return None
            total += divergence
        return total

    # -- writing -----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return cut(f"Guarantee({str(self)!r})", LONGEST_LINE)

    def __str__(self) -> str:
        return f"{' + '.join(part.describe() for part in self.parts)} ({self.unit})"

    def to_json(self) -> str:
        """Exact text; a record once written never changes its meaning."""
        parts = [{"kind": part.kind, **part.to_json()} for part in self.parts]
        version = 1 if self.without_own_rho() is self else VERSION
        return json.dumps({"guarantee": version, "unit": self.unit.value, "parts": parts}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Guarantee:
        """The guarantee whose text `to_json` wrote."""
        try:
            stored = json.loads(text)
            version = stored["guarantee"]
            if type(version) is int and version > VERSION:
                raise GuaranteeError("record version", version, f"this dither reads up to {VERSION}", "a newer dither")
            unit = read_unit(stored["unit"])
            parts = {row["kind"]: KINDS[row["kind"]].from_json(row) for row in stored["parts"]}
            if type(version) is not int or version < 1 or not parts or len(parts) != len(stored["parts"]):
                raise ValueError("one part for each kind, at least one")
            if version == 1 and any(part.without_own_rho() is not part for part in parts.values()):
                raise ValueError("version 1 has no rho beside an epsilon")
        except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
            if isinstance(error, GuaranteeError):
                raise
            raise GuaranteeError("record", text, "dither did not write this", "what Guarantee.to_json gave") from error
        return cls(unit, _ordered(parts.values()))

    @property
    def conversion(self) -> Conversion:
        """The parts as one conversion to (epsilon, delta)."""
        return Conversion(self.parts)


def _ordered(parts: Iterable[Currency]) -> tuple[Currency, ...]:
    return tuple(sorted(parts, key=lambda part: part.kind))


def _present(ball: arb | None) -> arb:
    assert ball is not None
    return ball
