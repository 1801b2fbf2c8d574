"""The privacy loss of a list of mechanisms: tight, certified, and fixed in advance.

A `Loss` is a list of dominating pairs (`pairs/`). `a + b` and `n * a` compose them; `epsilon`, `delta` and `bracket`
answer from the law of the summed losses, both orders of the neighbours, always from above (and, in a bracket, from
below as well). `loss/profile/profile.py` says how.

The list is fixed before anything is released. Inside one question that is so; an analyst who chooses the next
mechanism with the last answer in view needs a filter (`budget/filter.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import ArgumentError, GuaranteeError, NumberError, UnitError
from dither.numeric.number import Enclosure, Number, NumberLike, exact, integer, rational
from dither.numeric.representation import LONGEST_LINE, cut
from dither.privacy.loss.pairs.discrete_gaussian import DiscreteGaussianPair
from dither.privacy.loss.pairs.discrete_laplace import discrete_laplace
from dither.privacy.loss.pairs.finite import FinitePair
from dither.privacy.loss.pairs.fixed_size_sampled import FixedSizeSampledPair
from dither.privacy.loss.pairs.from_table import Distribution, table
from dither.privacy.loss.pairs.json import PairTerms, read_terms, write_terms
from dither.privacy.loss.pairs.laplace import LaplacePair
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import Pair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.loss.pairs.poisson_sampled_normal import PoissonSampledNormalPair
from dither.privacy.loss.pairs.shuffled import ShuffledPair
from dither.privacy.loss.profile.profile import delta_in_order, epsilon_in_order, lost_of, refuse_extreme
from dither.privacy.operands import Operands, operand_error
from dither.privacy.records import MOST_COPIES, finite_epsilon, read_delta
from dither.privacy.unit import Unit, read_unit

VERSION = 1
LARGEST_SQUARE = 10**4  # (sensitivity / noise)^2 of a sample
SMALLEST_RATE = Fraction(1, 10**100)
SMALLEST_VARIANCE = Fraction(1, 1000)


@argument_errors
@dataclass(frozen=True)
class Loss(Operands):
    """The privacy loss of mechanisms that are fixed in advance: dominating pairs with their counts.

    `+` and `*` compose; `bracket` encloses the exact epsilon of the composition.

    Args:
        terms: (pair, count), as the constructors below give them.
        unit: whom it protects, where that is known: a mechanism says it, a formula does not.

    Raises:
        GuaranteeError: some of it is about people who come or go, some about people who are replaced.
        UnitError: two of different units are added up.

    Example:
        >>> from dither import Loss
        >>> day = Loss.gaussian(10) + Loss.laplace(20)
        >>> low, high = (30 * day).bracket("1e-6")
        >>> round(high, 2), high - low < 1e-6
        (2.81, True)
    """

    terms: PairTerms
    unit: Unit | None = None
    operand_words = ("loss", "Loss.gaussian(10)", "Loss.laplace(20)")

    # -- constructors ------------------------------------------------------------------------------------------

    @classmethod
    def gaussian(cls, sigma: NumberLike, *, sensitivity: NumberLike = 1) -> Loss:
        """Gaussian noise of deviation sigma, rounded or not, for an L2 sensitivity."""
        moved = rational(sensitivity, name="sensitivity", positive=True)
        return cls(((NormalPair((moved / rational(sigma, name="sigma", positive=True)) ** 2), 1),))

    @classmethod
    def laplace(cls, scale: NumberLike, *, sensitivity: NumberLike = 1) -> Loss:
        """Continuous Laplace noise of this scale, for one number of this sensitivity."""
        moved = exact(sensitivity, name="sensitivity", positive=True)
        return cls(((LaplacePair(moved / rational(scale, name="scale", positive=True)), 1),))

    @classmethod
    def discrete_laplace(cls, scale: NumberLike, *, shift: SupportsIndex = 1) -> Loss:
        """Discrete Laplace (geometric) noise of this scale on whole numbers that move by up to `shift`."""
        rate = Number(1) / rational(scale, name="scale", positive=True)
        return cls(((discrete_laplace(rate, integer(shift, name="shift", least=1)), 1),))

    @classmethod
    def discrete_gaussian(cls, sigma2: NumberLike, *, shift: SupportsIndex = 1) -> Loss:
        """Discrete Gaussian noise of parameter sigma2 = sigma^2 on one whole number that moves by up to `shift`."""
        variance = rational(sigma2, name="sigma2", positive=True)
        if variance < SMALLEST_VARIANCE:
            raise NumberError("sigma2", sigma2, "it is below 1/1000: such noise is nearly always 0", "a larger sigma2")
        return cls(((DiscreteGaussianPair(variance, integer(shift, name="shift", least=1)), 1),))

    @classmethod
    def randomized_response(cls, epsilon: NumberLike, k: SupportsIndex = 2) -> Loss:
        """k-ary randomized response of this epsilon."""
        answers = integer(k, name="k", least=2)
        number = exact(epsilon, name="epsilon", nonnegative=True)
        return cls(((FinitePair.response(number, answers), 1),)) if number else cls(())

    @classmethod
    def pure(cls, epsilon: NumberLike) -> Loss:
        """Any epsilon-DP mechanism: no worse than binary randomized response."""
        return cls.randomized_response(exact(epsilon, name="epsilon", nonnegative=True))

    @classmethod
    def approx(cls, epsilon: NumberLike, delta: NumberLike) -> Loss:
        """Any (epsilon, delta)-DP mechanism: everything is lost with probability delta, otherwise randomized response."""
        number, lost = exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta)
        return cls(((FinitePair.approximate(number, lost), 1),)) if lost else cls.pure(number)

    @classmethod
    def from_pair(cls, p: Distribution, q: Distribution) -> Loss:
        """Two finite distributions with rational probabilities: lists, or mappings from outcomes.

        p is what comes out with a person and q without her; both orders are counted. An outcome that only one of them
        has is a probability with which everything is lost.
        """
        return cls(((table(p, q), 1),))

    def poisson_subsampled(self, rate: NumberLike) -> Loss:
        """The same mechanism on a Poisson sample: each person takes part with probability `rate`, on her own."""
        q = rational(rate, name="rate")
        if not 0 < q <= 1:
            raise NumberError("rate", rate, "a sampling rate lies in (0, 1]", "'0.01'")
        if q < SMALLEST_RATE:
            raise NumberError("rate", rate, "it is below 1e-100, which is a slip", "'0.01'")
        if self.unit is not None and self.unit.replacement is self.unit:
            raise UnitError("unit", self.unit.value, "a Poisson sample is about people who come or go", "an add/remove unit")
        if q == 1 or not self.terms:
            return self
        base = self.alone()
        if isinstance(base, (FixedSizeSampledPair, ShuffledPair)):
            why = "it is about people who are replaced; a Poisson sample is about people who come or go"
            raise GuaranteeError("loss", str(self), why, "a loss before amplification")
        if isinstance(base, NormalPair) and base.mu2 > LARGEST_SQUARE:
            raise NumberError("loss", str(self), "noise below 1/100 of the sensitivity hides nothing", "more noise")
        if isinstance(base, PoissonSampledPair):  # a sample of a sample
            q, base = q * base.rate, base.base
        return Loss(
            ((PoissonSampledNormalPair(base, q) if isinstance(base, NormalPair) else PoissonSampledPair(base, q), 1),),
            self.unit,
        )

    def alone(self) -> Pair:
        """The pair of one mechanism; refused for a sum."""
        if len(self.terms) != 1 or self.terms[0][1] != 1:
            why = "a sample is taken for one mechanism at a time"
            raise GuaranteeError("loss", str(self), why, "n * loss.poisson_subsampled(rate): sample first, then add up")
        return self.terms[0][0]

    # -- composition -------------------------------------------------------------------------------------------

    def __add__(self, other: Loss) -> Loss:
        if not isinstance(other, Loss):
            return operand_error(self, "+", other)
        counts: dict[Pair, int] = {}
        mu2 = Fraction(0)
        for pair, count in (*self.terms, *other.terms):
            if isinstance(pair, NormalPair):
                mu2 += pair.mu2 * count
            else:
                counts[pair] = counts.get(pair, 0) + count
        if mu2:
            counts[NormalPair(mu2)] = 1
        if self.unit is not None and other.unit is not None and self.unit is not other.unit:
            why = f"it does not add up with a loss about '{self.unit}'"
            raise UnitError("unit", other.unit.value, why, "the same unit on both sides")
        found = Loss(tuple(sorted(counts.items(), key=_key)), self.unit or other.unit)
        found.relation()  # refuses a mix of relations
        if found.unit is not None:
            found.check_unit(found.unit)
        return found

    def __radd__(self, other: int) -> Loss:
        return self if isinstance(other, int) and other == 0 else operand_error(self, "+", other)  # so that sum() works

    def __mul__(self, count: SupportsIndex) -> Loss:
        if isinstance(count, (float, complex, str)):
            raise ArgumentError("count", count, "a loss is repeated a whole number of times", "2 * Loss.gaussian(10)")
        copies = integer(count, name="count", least=0)
        if copies > MOST_COPIES:
            raise NumberError("count", count, f"sums of more than {MOST_COPIES} copies are not kept", "a smaller count")
        return Loss(()) + Loss(tuple((pair, n * copies) for pair, n in self.terms if copies), self.unit)

    __rmul__ = __mul__

    # -- questions ---------------------------------------------------------------------------------------------

    def epsilon(self, delta: NumberLike | None = None) -> float:
        """The smallest epsilon that is proved at this delta, rounded up; inf where there is none. Without one, as at 0."""
        found = self.epsilon_bracket(read_delta(0 if delta is None else delta), both=False).upper
        return finite_epsilon(found, delta, "this loss")

    def bracket(self, delta: NumberLike = 0) -> Enclosure:
        """(lower, upper) around the exact epsilon of this list at this delta."""
        return self.epsilon_bracket(read_delta(delta))

    def epsilon_bracket(self, delta: Fraction, *, both: bool = True, quick: bool = False) -> Enclosure:
        """`bracket` for a delta that was read: its upper end only unless `both`; if `quick`, inf where it takes long."""
        with refuse_extreme():
            found = [epsilon_in_order(terms, delta, both=both, quick=quick) for terms in self.orders()]
        return Enclosure(max(pair.lower for pair in found), max(pair.upper for pair in found))

    def delta(self, epsilon: NumberLike) -> float:
        """The smallest delta that is proved at this epsilon, rounded up."""
        return self.delta_bracket(epsilon, both=False).upper

    def delta_bracket(self, epsilon: NumberLike, *, both: bool = True, quick: bool = False) -> Enclosure:
        """(lower, upper) around the exact delta at this epsilon; `both` and `quick` as in `epsilon_bracket`."""
        number = exact(epsilon, name="epsilon", nonnegative=True)
        with refuse_extreme():
            found = [delta_in_order(terms, number, both=both, quick=quick) for terms in self.orders()]
        return Enclosure(max(pair.lower for pair in found), min(1.0, max(pair.upper for pair in found)))

    def orders(self) -> list[PairTerms]:
        """The pairs with the neighbours in this order, and in the other where that is not the same."""
        turned = tuple((pair.reverse(), count) for pair, count in self.terms)
        return [self.terms] if turned == self.terms else [self.terms, turned]

    def lost(self) -> Fraction:
        """The probability with which everything is lost, rounded up."""
        return max((lost_of(terms)[1] for terms in self.orders()), default=Fraction(0))

    def relation(self) -> Unit | None:
        """Which neighbours it is about, where the pairs decide that: samples do."""
        kinds = {_relation(pair) for pair, _ in self.terms} - {None}
        if len(kinds) > 1:
            why = "some of it is about people who come or go, some about people who are replaced"
            raise GuaranteeError("loss", str(self), why, "one kind of sampling")
        return next(iter(kinds), None)

    def check_unit(self, unit: Unit) -> None:
        """Refuse a unit that these pairs cannot be about."""
        relation, replaces = self.relation(), unit.replacement is unit
        if relation is not None and replaces != (relation is Unit.REPLACE_ONE):
            why = "a Poisson sample is about people who come or go; fixed sizes and shuffling about people who are replaced"
            raise UnitError("unit", unit.value, why, str(relation))
        if replaces and len(self.orders()) > 1:
            why = "a replacement can go either way in every question, and some pair here is not the same both ways"
            raise UnitError("unit", unit.value, why, "pairs that are their own reverse, or an add/remove unit")

    # -- writing -----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return cut(f"Loss({str(self)!r})", LONGEST_LINE)

    def __str__(self) -> str:
        texts = [pair.describe() if count == 1 else f"{count} x ({pair.describe()})" for pair, count in self.terms]
        return " + ".join(texts) or "nothing"

    def to_json(self) -> str:
        """Exact text, read by `from_json`."""
        unit = None if self.unit is None else self.unit.value
        return json.dumps({"loss": VERSION, "terms": write_terms(self.terms), "unit": unit}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Loss:
        """The loss whose text `to_json` wrote."""
        try:
            stored = json.loads(text)
            version = stored["loss"]
            if type(version) is int and version > VERSION:
                raise GuaranteeError("record version", version, f"this dither reads up to {VERSION}", "a newer dither")
            if version != VERSION or type(version) is not int:
                raise ValueError("a version")
            terms = read_terms(stored["terms"]) if stored["terms"] else ()
            unit = None if stored["unit"] is None else read_unit(stored["unit"])
            return cls(()) + cls(terms, unit)
        except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
            if isinstance(error, GuaranteeError):
                raise
            raise GuaranteeError("record", text, "dither did not write this", "what Loss.to_json gave") from error


def sum_of(losses: Iterable[Loss]) -> Loss:
    """The composition of many losses, in one step."""
    listed = list(losses)
    whole = Loss(()) + Loss(tuple(term for loss in listed for term in loss.terms))
    units = sum((Loss((), loss.unit) for loss in listed), start=Loss(()))  # refuses units that do not go together
    return Loss(whole.terms, units.unit)


def _key(item: tuple[Pair, int]) -> tuple[str, str]:
    return item[0].kind, json.dumps(item[0].to_json(), sort_keys=True)


def _relation(pair: Pair) -> Unit | None:
    if isinstance(pair, PoissonSampledPair):
        return Unit.ADD_REMOVE
    return Unit.REPLACE_ONE if isinstance(pair, (FixedSizeSampledPair, ShuffledPair)) else None
