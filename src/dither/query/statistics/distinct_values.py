"""COUNT(DISTINCT x) of values that nobody declared: how many different ones the people of a group have, at most m of each.

    V_p   the pairs of a group and a value that the rows of person p have      S_p   the first m of them, by a keyed hash of
    F_g   the different values of group g in all S_p together                        person, group and value; all, if fewer

Theorem. A person who comes or goes moves the numbers F_g by at most m in L1 norm, and so in L2 norm. One who is replaced
moves them by at most 2 m, and in L2 norm by sqrt 2 times m; where there is one group, by at most m. F_g is never more than
the number of different values of group g. Noise of these claims keeps epsilon, or rho.

Proof. S_p is a function of the salt and of V_p, hence of her own rows: nobody else's change it. With U the union of the S
of all others, F_g counts the pairs of U and S_p in group g: adding p raises F_g by a_g, the pairs of S_p in g that are not
in U, and these add up to at most |S_p| <= m. If q takes the place of p, F_g moves by b_g - a_g, both at least 0 and each
adding up to at most m: |b - a| <= 2 m in L1 norm, |b - a|^2 <= |a|^2 + |b|^2 <= 2 m^2 in L2 norm, as no product is
negative; of one number |b - a| <= max(a, b) <= m. And U and S_p are parts of the pairs that there are.

That the hash knows the person spreads what is chosen: by a hash of the value alone people with many values would choose
the same ones, and F would be smaller. Where nobody can have more than m rows, by the owner's word, S_p is all of V_p, and
F is the truth; otherwise a low end of F is one of the truth, and nothing is known of a high end. Where each row is a
person, m is 1.

What is shown. A number is not below zero, nor above that of declared keys (`statistics/distinct_keys.py`), truth values, or
whole numbers or days within hard bounds: what is beyond is cut as every answer is, by `counters/value_ranges.py`.

A lower bound instead, where the price has a delta. Of the same pairs S_p, each pair of a group and a value is shown or not
by a rule of partition selection (`density/unknown_keys`), as GROUP BY shows keys that nobody declared; what is released is
L_g, the number of pairs of group g that were shown. The pairs are the keys of the rule, of which a person has at most m.

Theorem. The L_g keep the promise of the rule, (epsilon, delta) or (rho, delta). L_g is at most the number of different
values of group g, for certain; no released number bounds that from above. Where L_g is 0, nothing is known.

Proof. They are a function of what the rule shows, whose promise is about m keys of a person: that a pair is shown which she
alone has is part of delta. A rule decides about each key by how many people hold it and by fresh noise, so that the numbers
of values with so many holders are all that it needs to know. It shows no key that nobody holds, and what a person holds is a
value of her rows. And values that one person each holds are hidden, however many they are.

Which of the two. H is the half-width of the noise, T the people with which a value is shown half of the time. The number
tells something of D values where D > H; the choice, where a value has more than T people: of N pairs, where D < N / T.
Nothing is known of D and N. For every N these are as many orders of magnitude of D where H = T; so the number is taken where
H <= T, and the lower bound where H > T. Both follow from price and limits. An error that is wished for can be promised by
the number alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any, ClassVar, Self

from dither.density.unknown_keys.choose import HALF, rule_at
from dither.density.unknown_keys.key_rule import KeyRule
from dither.errors import InputError, PrecisionError
from dither.mechanisms.additive.additive import half_width
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.counter_sets import CounterSet, Request
from dither.query.counters.estimators import Columns, Noise, Range
from dither.query.plan.base import Expression
from dither.query.plan.counters import DistinctCounter
from dither.query.plan.expression_parts import may_be_clamped
from dither.query.plan.expressions import ColumnValue, Constant
from dither.query.plan.question import Group, Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import number as number_text
from dither.query.plan.text import rounded
from dither.query.policy.column import Type
from dither.query.policy.table import Table
from dither.query.statistics.bounding import Bounding, EachRow
from dither.query.statistics.limits import MANY, HardLimits, hard_limits, limits_of
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Price, RequestedStatistic, counted


@dataclass(frozen=True)
class KeepPairs(Bounding):
    """At most so many pairs of a group and a value are kept of a person, chosen by chance: `groups` of them."""

    def alone(self, family: CounterSet) -> int:
        """Each pair may be a value that nobody else has, all of them in one group."""
        return self.groups

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the rows that anybody has: each has one value."""
        return hard.most is not None and hard.most <= self.groups

    @property
    def words(self) -> str:
        """How much of a person counts."""
        one, several = ("value", "values") if self.cells == 1 else ("pair of group and value", "pairs of group and value")
        return f"everybody with at most {self.groups} {several if self.groups > 1 else one}"


@dataclass(frozen=True)
class KeepValues(KeepPairs):
    """Pairs of a group and a value, of which values are counted."""

    way: ClassVar[str] = "values"


def noise_of(price: Price, bounding: Bounding, counters: CounterSet) -> Noise:
    """The noise of a claim at a price."""
    if price.pure:
        return Geometric(epsilon=price.amount, sensitivity=bounding.l1(counters), unit=price.unit)
    square = bounding.l2_squared(counters)
    return Gaussian(rho=price.amount, l2_squared=square, integers=True, unit=price.unit)


@dataclass(frozen=True)
class DistinctStatistic(RequestedStatistic):
    """A number of different values or keys for each group, with noise."""

    mechanism: Noise
    confidence: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """That of its noise."""
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of its noise."""
        return self.mechanism.loss()

    def spelled(self) -> dict[str, object]:
        """The noise."""
        return {"noise": spell(self.mechanism)}

    def statement(self, place: int) -> Statement:
        """All of them, or at least: who is beyond the limits leaves some out and adds none."""
        return statement_of(complete=self.complete, clamped=self.question.table.clamps_values, sums=True)

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "geometric" if isinstance(self.mechanism, Geometric) else "Gaussian"


@dataclass(frozen=True)
class NumberOfDistinct(DistinctStatistic):
    """The number itself, with noise."""

    @property
    @abstractmethod
    def most(self) -> int | None:
        """The largest number that there can be; None where nobody knows."""

    @abstractmethod
    def numbers(self, counts: Counts) -> list[int]:
        """The numbers of the groups. PRIVATE."""

    def noisy(self, counts: Counts) -> list[int]:
        """The numbers of the groups, with noise."""
        truth = self.numbers(counts)
        drawn = self.mechanism.law.sample(len(truth)).tolist()
        return [true + noise for true, noise in zip(truth, drawn, strict=True)]

    def read(self, released: Any, place: int) -> Columns:
        """The number, and the half-width of the noise about it."""
        half = half_width(self.mechanism.law, self.confidence, 1)
        return list(released), [number - half for number in released], [number + half for number in released]

    def value_range(self, place: int) -> Range:
        """None of them, or all."""
        return Fraction(0), inf if self.most is None else Fraction(self.most)

    def error(self, place: int, confidence: Fraction) -> float:
        """The half-width of its noise."""
        return float(half_width(self.mechanism.law, confidence, 1))


def most_values(of: Expression, table: Table) -> int | None:
    """How many different values an expression can have: truth values, whole numbers and days within hard bounds."""
    facts = of.facts
    if facts.type is Type.BOOLEAN:
        return 2
    if facts.type is Type.INTEGER and facts.lower is not None and facts.upper is not None and not may_be_clamped(of, table):
        return floor(facts.upper) - ceil(facts.lower) + 1
    if facts.type is Type.DATE and isinstance(of, ColumnValue) and f"bounds.{of.column.name}" in table.hard:
        return None if facts.first is None or facts.last is None else (facts.last - facts.first).days + 1
    return None


@dataclass(frozen=True)
class KeepHolders(KeepPairs):
    """The same pairs, of which people are counted: how many values there are that so many people hold."""

    way: ClassVar[str] = "holders"

    min_people: int = 1  # a value that fewer hold stays in the engine


@dataclass(frozen=True)
class DistinctValues(NumberOfDistinct):
    """How many different values each group holds, of at most so many of each person."""

    code: ClassVar[str] = "distinct_values"
    within: ClassVar[bool] = False

    of: CounterSet

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> RequestedStatistic:
        """The better of two statistics at the price."""
        number = cls.number(request, question, price)
        if not price.lost or price.error_is_wished:
            return number
        try:
            shown = ShownValues.make(request, question, price)
        except (InputError, PrecisionError):  # noise that no rule draws
            return number
        return shown if number.error(0, price.confidence) > shown.rule.holders(HALF) else number

    @classmethod
    def number(cls, request: Request, question: Question, price: Price) -> Self:
        """The number of values at its price."""
        table, cells = question.table, max(2, price.cells) if question.groups else 1
        bounding: Bounding = EachRow.of(price.unit, cells)
        if table.person is not None and not table.alone:
            most, reason = limits_of(table, MANY).groups, "a value is there or not: a choice is all that can be bounded"
            bounding = KeepValues(most, 1, 1, price.unit, reason, cells=cells)
            bounding = replace(bounding, complete=bounding.loses_nothing(hard_limits(table, MANY)))
        of = CounterSet((DistinctCounter(request.of),))
        return cls(counted(question, question.groups), bounding, noise_of(price, bounding, of), price.confidence, of)

    @property
    def counters(self) -> CounterSet:
        """Different values."""
        return self.of

    @property
    def most(self) -> int | None:
        """As many as there can be within hard bounds."""
        return most_values(self.of.measures[0].values, self.question.table)

    def numbers(self, counts: Counts) -> list[int]:
        """As the engine counted them."""
        return [int(count) for (count,) in counts]

    def told(self, place: int) -> str:
        """The half-width, and what is bounded."""
        kept = f"; {self.bounding.words.replace('everybody with', 'of a person')} count"
        return f"{rounded(self.error(place, self.confidence))}{kept if isinstance(self.bounding, KeepPairs) else ''}"


@dataclass(frozen=True)
class ShownValues(RequestedStatistic):
    """How many values of each group enough people hold to be shown: a lower bound of how many there are."""

    code: ClassVar[str] = "shown_values"
    by_holders: ClassVar[bool] = True
    is_lower_bound: ClassVar[bool] = True

    rule: KeyRule
    of: CounterSet

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> Self:
        """The statistic at its price."""
        table = question.table
        alone = table.person is None or table.alone
        most = 1 if alone else limits_of(table, MANY).groups
        facts: dict[str, Any] = {"delta": price.lost, "unit": price.unit, "min_people": table.min_people}
        rule = rule_at(price.amount, pure=price.pure, max_keys=most, **facts)
        reason = "how many people hold a value is all that is counted"
        bounding = KeepHolders(most, 1, 1, price.unit, reason, min_people=table.min_people)
        asked = counted(question, (*question.groups, Group("holders", Constant(Fraction(0)), None)))
        return cls(asked, bounding, rule, CounterSet((DistinctCounter(request.of),)))

    @property
    def counters(self) -> CounterSet:
        """Different values."""
        return self.of

    @property
    def guarantee(self) -> Guarantee:
        """That of the rule."""
        return self.rule.guarantee

    def loss(self) -> Loss:
        """That of the rule."""
        return self.rule.guarantee.loss()

    def spelled(self) -> dict[str, object]:
        """The rule."""
        return {"noise": spell(self.rule)}

    def noisy(self, counts: Sequence[Mapping[int, int]]) -> list[int]:  # type: ignore[override]  # of each group one
        """How many values are shown of each group; `counts` says how many so many people hold."""
        held = {
            (group, people, at): people
            for group, values in enumerate(counts)
            for people in sorted(values)
            for at in range(values[people])
        }
        shown = Counter(group for group, _, _ in self.rule.release(held))
        return [shown[group] for group in range(len(counts))]

    def read(self, released: Any, place: int) -> Columns:
        """The number of values shown: there are at least as many, for certain, and nothing bounds them from above."""
        return list(released), list(released), [inf] * len(released)

    def value_range(self, place: int) -> Range:
        """None of them, or all: where nothing is shown, nothing is known."""
        most = most_values(self.of.measures[0].values, self.question.table)
        return Fraction(0), inf if most is None else Fraction(most)

    def error(self, place: int, confidence: Fraction) -> None:
        """How many values stay hidden depends on how many people hold each."""
        return

    def statement(self, place: int) -> Statement:
        """At least: values that few people hold are not counted."""
        return statement_of(complete=False, clamped=self.question.table.clamps_values, sums=True)

    def at(self, confidence: Fraction) -> Self:
        """The same: it holds for certain."""
        return self

    def told(self, place: int) -> str:
        """From how many people on a value is counted, and what is bounded."""
        most = self.bounding.groups
        return (
            f"at least so many, without an upper end; a value is counted half of the time if "
            f"{number_text(self.rule.holders(HALF))} people hold it, nine times of ten if "
            f"{number_text(self.rule.holders('0.9'))} do; of a person at most {most} value{'s' if most > 1 else ''} count"
        )

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "partition selection"
