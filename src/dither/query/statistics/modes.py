"""MODE of a column with declared keys: in each group the key that most rows have, or one that nearly as many have.

    s_gk   what the rows of group g with key k weigh, in units       w_gk   what a person's rows there weigh, at least 0
    M      the most that all rows of a person weigh together         rate   what a unit of score is worth in every choice

Theorem. In each group a key is chosen with the s_gk as scores, by choices with noise of their own and one rate: epsilon / M
where a person comes or goes, epsilon / 2M where she is replaced. By permute-and-flip, all of it together is epsilon-DP. By
the exponential mechanism, the range of all of it together is at most epsilon, and so rho = epsilon^2/8: however many groups.

Proof. All her rows in all groups weigh at most M: 1 where each row is a person, otherwise C K, for C rows of K units each
(`engines/templates/totals.py`, `weights`; rows without a group or a declared key were dropped before). When she comes, the
score of k in group g moves by w_gk, which is between 0 and d_g = max over k of w_gk, and the d_g add up to at most what all
w_gk do: M. When v replaces w, it moves by v_gk - w_gk, which lies between -max w_g and max v_g: in an interval of length
d_g = max v_g + max w_g, and these add up to at most 2M. Let D be M or 2M: d_g add up to at most D, the rate is epsilon/D.
    Permute-and-flip. Fix the noise E_j of all keys but k. Then k is chosen if its own exceeds x = (max over j of s_gj + E_j)
- s_gk, and it does so with probability min(1, e^(-rate x)) (`mechanisms/selection/permute_and_flip.py`). Every s_gj - s_gk
moves by at most d_g, and so does x: the probability of k changes by a factor of at most e^(rate d_g), that of some keys in
all groups, a product, of at most e^(rate D) = e^epsilon.
    Exponential mechanism. The loss of k in group g is rate times the move of s_gk, and a number that is the same for all k:
it lies in an interval of length rate d_g. The loss of some keys in all groups is the sum, as choices are independent: it
lies in an interval of length rate D = epsilon at most, which is bounded range (`privacy/guarantee/bounded_range.py`).
    So one mechanism that is made for scores which a person moves by M (in one direction, where she comes or goes) has the
rate, and the promise of all groups together. A score beyond a public number counts as that number: a minimum with a constant
moves in the same direction, and by no more. Of fewer groups, or of those that a release before chose, no more d_g add up.

What is shown. Keys of equal scores are equally likely, in a group without rows all of them: the mechanism alone decides, and
nothing marks an empty group. With the stated probability, for any data, the rows of the shown key weigh at most so much
less than those of the most frequent one (`mechanisms/selection/selection.py`). That is known beforehand: it is the error, of
each group by itself. There is no interval of keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dither.errors import QuestionError
from dither.mechanisms.norms import root_below
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.number import rational
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.counter_sets import Request
from dither.query.counters.estimators import Columns
from dither.query.plan.describe import words
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.policy.column import Type
from dither.query.statistics.choose_bounding import weights_in_units
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Counts, Price, RequestedStatistic, counted_by

MOST_GROUPS = 2**14  # each has a choice of its own
ALL_CELLS = 2**20  # keys of all groups together, which an engine may return
MOST_COUNTS = 2**61  # units of a key, 2^45 rows: beyond, scores are equal


@dataclass(frozen=True)
class ModeStatistic(RequestedStatistic):
    """A key for each group, chosen by how many rows have it."""

    code: ClassVar[str] = "modes"
    most_unknown: ClassVar[int | None] = 2**10  # as many keys are left to each

    mechanism: PermuteAndFlip | Exponential  # of each group, with the promise of all
    confidence: Fraction

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> Self:
        """The statistic at its price."""
        assert isinstance(request.of, ColumnValue)
        assert request.of.column.keys is not None
        keys = request.of.column.keys
        _check_size(request, price.cells, len(keys))
        bounding = weights_in_units(question, price.cells, price.unit)
        kind = PermuteAndFlip if price.pure else Exponential
        mechanism = kind(
            epsilon=price.amount if price.pure else root_below(8 * rational(price.amount, name="rho")),
            sensitivity=bounding.most * bounding.resolution,
            candidates=len(keys),
            monotone=price.unit.replacement is not price.unit,
            integers=True,
            unit=price.unit,
        )
        return cls(counted_by(question, request.of, keys), bounding, mechanism, price.confidence)

    @property
    def guarantee(self) -> Guarantee:
        """That of all choices together."""
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of all choices together."""
        return self.mechanism.loss()

    def spelled(self) -> dict[str, object]:
        """The mechanism of a group."""
        return {"noise": spell(self.mechanism)}

    def noisy(self, counts: Counts) -> list[int]:
        """For each group, the place of a key among the declared ones."""
        import numpy as np

        scores = (np.array([min(count, MOST_COUNTS) for count in row], dtype=np.int64) for row in counts)
        return [self.mechanism.release(row) for row in scores]

    def read(self, released: Any, place: int) -> Columns:
        """The keys. No key lies below another: there are no ends."""
        keys = self.question.groups[-1].listed
        shown = [keys[chosen] for chosen in released]
        return shown, shown, shown

    def error(self, place: int, confidence: Fraction) -> float:
        """By how many rows' worth the shown key may fall short of the most frequent one. (Resolutions are powers of two.)"""
        return self.mechanism.error(confidence) / self.bounding.resolution

    def statement(self, place: int) -> Statement:
        """A choice, which may fall short."""
        return Statement.CHOSEN

    def told(self, place: int) -> str:
        """The same in words, and what is bounded."""
        short = f"{rounded(self.error(place, self.confidence))} rows' worth, by which the key that is shown may fall short"
        return f"{short} of the most frequent one{self.bounding.short_words}"

    @property
    def noise(self) -> str:
        """How a key is chosen."""
        return "permute-and-flip" if isinstance(self.mechanism, PermuteAndFlip) else "exponential mechanism"

    def type(self, place: int) -> Type:
        """That of the column."""
        return self.question.groups[-1].by.facts.type

    def has_interval(self, place: int) -> bool:
        """Keys have none."""
        return False


def _check_size(request: Request, groups: int, keys: int) -> None:
    """Refuse what would take too long, before anything is charged."""
    most = min(MOST_GROUPS, ALL_CELLS // keys)
    if groups > most:
        why = f"a mode among {keys:,} keys is answered for at most {most:,} groups at once, and there are {groups:,}"
        raise QuestionError("GROUP BY", words(request.of), why, "fewer columns in GROUP BY")
