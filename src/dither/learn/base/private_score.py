"""A score of private rows, at a price: right and wrong answers of a classifier, squared errors of a regressor.

    right, wrong   how many rows a classifier answers rightly, and wrongly
    S              2^20: what one row weighs for a regressor;  t: its target on the lattice 2^-10 from 0 to 1, T = 2^10 t
    e              target minus prediction, over the range of the target, the prediction moved into it: within [-1, 1]
    a regressor's row adds (2^10 - T)^2, 2 T (2^10 - T), T^2 (their sum is S), and trunc(e^2 S)

Theorem. One row adds whole numbers of L1 norm 1 (classifier), or at most 2 S (regressor); no other row's part changes. So
with discrete Laplace noise of that norm over epsilon (`base/release.py`) a score is epsilon-differentially private.

Proof. A row is answered rightly or wrongly, and an answer that fails is wrong; e^2 <= 1, and what is no number counts as 1.
Each row is asked about *alone*, in a table of one row: among others, float sums of BLAS would let them change its answer.

Intervals hold the score of these rows with the confidence, exactly by the law of the noise, whatever the rows are; they say
nothing of rows that were not drawn. With q = exp(-1/scale), |a| + |b| > r of two such noises has probability
4 q^(r+1) ((r + 1)(1 - q) + q) / (1 + q)^2, so the true counts lie within r of the noisy ones in L1, and the accuracy, whose
level lines are rays from zero, is extreme at a corner of that square. R squared is 1 - E / V with E the last sum, n the sum
of the triple (a, b, c) and V = c - (b/2 + c)^2 / n. With m = (b/2 + c) / n in [0, 1] the slopes of V are m^2, -m (1 - m) and
(1 - m)^2: it is monotone in each, so corners of the box that holds all four noises bound it.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from dither.errors import ReleaseError
from dither.learn.base.cells import Cells, Floats, Integers, check_kinds, read_cells
from dither.learn.base.exact_sums import exact_products
from dither.learn.base.facts import Facts
from dither.learn.base.payment import read_ledger
from dither.learn.base.people import UNCOUNTED, check_persons, kept_rows, read_person
from dither.learn.base.price import Price, read_price
from dither.learn.base.release import Release, from_json, to_json, untold
from dither.learn.base.rows import Rows
from dither.learn.base.targets import check_labels, encode_labels, encode_target, read_labels
from dither.ledger.entries.receipt import Receipt
from dither.ledger.ledger import Ledger
from dither.mechanisms.additive.additive import half_width, read_confidence
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.enclosure import to_ball
from dither.numeric.lattice import LARGEST_INDEX
from dither.numeric.number import NumberLike
from dither.numeric.search import first_integer, surely
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

if TYPE_CHECKING:
    from flint import arb

STEPS = 2**10
FAILED = "it failed after data was touched; the charge stays, and the cause is not told: it may depend on a row"
Answers = Callable[[Cells], Any]


@frozen
class PrivateScore:
    """A score of private rows, how far noise may have moved it, and what it cost."""

    value: float
    interval: tuple[float, float]  # holds the score of these rows with the confidence
    confidence: Fraction
    kind: str  # what it is, in words
    released: tuple[int, ...]  # the whole numbers with noise
    guarantee: Guarantee
    receipt: Receipt | None
    uncounted: str = ""  # the rows that no score counts

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = self.interval
        sure = f"{float(self.confidence):.0%}"
        told = f"; {self.uncounted} are not counted" if self.uncounted else ""
        return f"{self.kind} {self.value:.4g}, {sure} interval of the noise {low:.4g} to {high:.4g}, {self.guarantee}{told}"


@frozen
class Asked:
    """What is asked for: the price, the confidence, and who pays."""

    price: Price
    confidence: Fraction
    ledger: Ledger | None
    analyst: str

    @classmethod
    def of(cls, epsilon: NumberLike, unit: UnitLike, confidence: NumberLike, ledger: Ledger | None, analyst: str) -> Asked:
        """As stated; refused where it does not fit."""
        price = read_price(epsilon, None, None, unit, ("pure",))
        return cls(price, read_confidence(confidence), read_ledger(ledger), analyst)

    def released(self, name: str, rows: Callable[[], Integers], norm1: int, times: int) -> tuple[Integers, Receipt | None]:
        """The sums with noise, charged first and stored; and the receipt."""
        receipt = None
        if self.ledger is not None:
            question = {"score": name, "once": secrets.token_hex(16)}
            receipt = self.ledger.reserve(
                self.price.guarantee, question, analyst=self.analyst, text=f"score of {name}", door="learn"
            )
            self.ledger.touch(receipt)
        with untold() as done:
            sums = rows()
            release = Release(self.price, Rows(np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64)), times)
            release.geometric(lambda _: sums, sums.shape, norm1=norm1, share=Fraction(1))
            done.append(to_json(release.released))
        if not done:
            ways = "asking the owner of the data"
            raise ReleaseError("private_score", receipt.name if receipt else "without a ledger", FAILED, ways)
        stored = self.ledger.commit(receipt, done[0]) if self.ledger is not None and receipt is not None else done[0]
        return from_json(stored)[0], receipt

    def law(self, norm1: int, times: int) -> DiscreteLaplace:
        """The noise of one sum."""
        assert self.price.epsilon is not None
        return DiscreteLaplace(norm1 * times * self.price.replacement / self.price.epsilon)


def classifier_score(name: str, answers: Answers, facts: Facts, X: Any, y: Any, person: Any, asked: Asked) -> PrivateScore:
    """The accuracy of a classifier on private rows."""
    cells = read_cells(X, len(facts.columns))
    labels = read_labels(y, cells.rows)
    check_kinds(cells, facts.columns, facts.names)
    check_labels(y, facts.classes)
    ids = None if person is None else read_person(person, cells.rows)
    times = facts.rows_per_person
    check_persons(ids, times, "private_score(X, y, person=ids, epsilon=...)")

    def counted() -> Integers:
        places = encode_labels(labels, facts.classes)
        kept = (places >= 0) & (True if ids is None else kept_rows(ids, cells.rows, times))
        given = single_answers(answers, cells, kept)
        right = sum(is_right(given[row], labels[row]) for row in given)
        return np.array([right, int(kept.sum()) - right], dtype=np.int64)

    (right, wrong), receipt = asked.released(name, counted, 1, times)
    reach = joint_reach(asked.law(1, times), asked.confidence)
    whole = max(int(right), 0) + max(int(wrong), 0)
    value = max(int(right), 0) / whole if whole else 0.5
    interval = accuracy_interval(int(right), int(wrong), reach)
    told = (int(right), int(wrong))
    lacking = "" if ids is None else UNCOUNTED
    return PrivateScore(value, interval, asked.confidence, "accuracy", told, asked.price.guarantee, receipt, lacking)


def regressor_score(name: str, answers: Answers, facts: Facts, X: Any, y: Any, person: Any, asked: Asked) -> PrivateScore:
    """R squared of a regressor on private rows, targets and predictions moved into the bounds of the target."""
    cells, bounds = read_cells(X, len(facts.columns)), facts.target
    assert bounds is not None
    labels = read_labels(y, cells.rows)
    check_kinds(cells, facts.columns, facts.names)
    check_labels(y, facts.classes)
    ids = None if person is None else read_person(person, cells.rows)
    times = facts.rows_per_person
    check_persons(ids, times, "private_score(X, y, person=ids, epsilon=...)")

    def counted() -> Integers:
        u = encode_target(labels, bounds)
        kept = ~np.isnan(u) & (True if ids is None else kept_rows(ids, cells.rows, times))
        given = single_answers(answers, cells, kept)
        told = encode_target(np.array([as_number(given[row]) for row in given], dtype=np.float64), bounds)
        return error_sums(u[list(given)], told)

    found, receipt = asked.released(name, counted, 2 * STEPS**2, times)
    reach = half_width(asked.law(2 * STEPS**2, times), asked.confidence, 4, 2 * LARGEST_INDEX)
    value, interval = r2_interval([int(one) for one in found], reach)
    told = tuple(int(one) for one in found)
    lacking = "" if ids is None else UNCOUNTED
    return PrivateScore(value, interval, asked.confidence, "R squared", told, asked.price.guarantee, receipt, lacking)


def single_answers(answers: Answers, cells: Cells, kept: Any) -> dict[int, Any]:
    """The answer for each row that counts, asked for alone; None where that fails."""
    found: dict[int, Any] = {}
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for row in np.flatnonzero(kept).tolist():
            one = Cells(tuple(column[row : row + 1].copy() for column in cells.columns), cells.names, 1)
            try:
                found[row] = np.asarray(answers(one)).ravel()[0]
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # also panics of libraries that are no Exception
                found[row] = None
    return found


def error_sums(targets: Floats, told: Floats) -> Integers:
    """The triple of the targets, and the squared errors; both are u between -1 and 1, NaN where there is no answer."""
    t = np.rint((targets + 1.0) * (STEPS / 2))
    e = np.where(np.isnan(told), 2.0, np.abs(targets - told)) / 2.0
    squares = np.trunc(np.minimum(e * e, 1.0) * STEPS**2)
    parts = np.stack([(STEPS - t) ** 2, 2 * t * (STEPS - t), t**2, squares], axis=1)
    return exact_products(np.ones((len(t), 1)), parts, STEPS**2).ravel()


def joint_reach(law: DiscreteLaplace, confidence: Fraction) -> int:
    """The smallest r with P(|a| + |b| > r) at most 1 - confidence, for two noises; errs upward."""

    def tail(r: int) -> arb:
        q = (-law.rate.ball()).exp()
        return 4 * (-(law.rate.ball() * (r + 1))).exp() * ((r + 1) * (1 - q) + q) / (1 + q) ** 2 - to_ball(1 - confidence)

    return first_integer(lambda r: surely(lambda: tail(r)) is True)


def accuracy_interval(right: int, wrong: int, reach: int) -> tuple[float, float]:
    """All accuracies of counts within `reach` of these in L1, rounded outward; 0 to 1 where no rows are among them."""
    low, high = 1 - _largest_share(wrong, right, reach), _largest_share(right, wrong, reach)
    return max(0.0, np.nextafter(float(low), -1.0)), min(1.0, np.nextafter(float(high), 2.0))


def _largest_share(right: int, wrong: int, reach: int) -> Fraction:
    below = max(-right, 0)
    if below + max(-wrong, 0) > reach or below + abs(wrong) <= reach:  # none at all, or some without a wrong answer
        return Fraction(1)
    corners = [Fraction(right + reach, right + reach + wrong)]  # here wrong > 0
    if right >= 0:
        corners.append(Fraction(right, right + wrong - reach))
    return max(corners)


def r2_interval(sums: list[int], reach: int) -> tuple[float, tuple[float, float]]:
    """R squared of sums with noise (not a number where they do not vary), and all of it within `reach` of each of them."""
    a, b, c, e = (max(one, 0) for one in sums)  # towards the truth, which is not below zero: the box still holds it
    most = _variation(a + reach, max(b - reach, 0), c + reach)
    least = _variation(max(a - reach, 0), b + reach, max(c - reach, 0))
    middle = _variation(a, b, c)
    low = 1 - Fraction(e + reach) / least if least > 0 else None
    high = 1 - Fraction(max(e - reach, 0)) / most if most > 0 else Fraction(1)
    value = float(1 - Fraction(e) / middle) if middle > 0 else float("nan")
    bottom = float("-inf") if low is None else float(np.nextafter(float(low), -np.inf))
    return value, (bottom, min(1.0, float(np.nextafter(float(high), 2.0))))


def _variation(a: int, b: int, c: int) -> Fraction:
    """The sum of squares of t around its mean, from the triple."""
    return Fraction(0) if a + b + c == 0 else c - (Fraction(b, 2) + c) ** 2 / (a + b + c)


def is_right(answer: Any, label: Any) -> int:
    """Whether a row is answered rightly; a comparison that fails is wrong."""
    try:
        return int(bool(answer == label))
    except Exception:
        return 0


def as_number(answer: Any) -> float:
    try:
        return float(answer)
    except Exception:
        return float("nan")
