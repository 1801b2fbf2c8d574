"""A reusable holdout: private for its rows, and it does not overfit where a plain one does."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from dither import ReusableHoldout, Unit, pure
from dither.errors import BudgetError, DataError, InputError
from dither.mechanisms.threshold import reusable_holdout as module
from dither.testing import outcomes


def fit(training, agreement, features):
    """Choose the features that look useful in both, and let them vote: is the vote right about a row?"""
    chosen, signs = [], []
    for j in range(features):
        here, there = float(np.mean(training[:, j] == training[:, -1])) - 0.5, agreement(j) - 0.5
        if here * there > 0 and abs(here) > 0.02 and abs(there) > 0.02:
            chosen.append(j)
            signs.append(np.sign(here))
    return lambda row: (signs @ (2.0 * np.asarray(row)[chosen] - 1) > 0) == (row[-1] > 0)


def mean(question, rows):
    return float(np.mean([question(row) for row in rows]))


def test_the_classic_demonstration():
    """Labels that nothing predicts: a plain holdout says 60% and more, the reusable one does not."""
    rng = np.random.default_rng(11)
    n, features = 1000, 1500
    training, holdout, fresh = (rng.integers(0, 2, size=(n, features + 1)) for _ in range(3))
    plain = fit(training, lambda j: float(np.mean(holdout[:, j] == holdout[:, -1])), features)
    naive = mean(plain, holdout)
    assert naive > 0.58
    assert mean(plain, fresh) < 0.55
    careful = ReusableHoldout(training.tolist(), holdout.tolist(), threshold="0.08", epsilon=20, budget=10)
    guarded = fit(training, lambda j: careful.ask(lambda row: row[j] == row[-1]).value, features)
    final = careful.ask(guarded)
    assert final.overfitted  # the training data say 60% or more, and the holdout does not
    assert abs(final.value - mean(guarded, fresh)) < 0.1
    assert final.value < naive
    assert careful.left >= 1


def test_it_answers_from_the_training_data_while_they_agree():
    rows = np.array([0.0, 1.0] * 500)
    holdout = ReusableHoldout(rows, rows[::-1], threshold="0.2", epsilon=1000, budget=2)
    answer = holdout.ask(lambda x: x)
    assert answer.value == 0.5
    assert not answer.overfitted
    differs = ReusableHoldout(rows, np.ones(1000), threshold="0.2", epsilon=1000, budget=2)
    for _ in range(2):
        answer = differs.ask(lambda x: x)
        assert answer.overfitted
        assert answer.value == pytest.approx(1, abs=0.05)
    assert differs.left == 0
    with pytest.raises(BudgetError, match="fresh holdout"):
        differs.ask(lambda x: x)


def test_the_guarantee_is_the_sum_and_holds():
    holdout = ReusableHoldout([0, 1], [0, 1, 1], threshold="0.1", epsilon=3, budget=4)
    assert holdout.guarantee.epsilon() == pytest.approx(3)
    assert holdout.guarantee.unit is Unit.REPLACE_ONE
    assert holdout.guarantee == pure("3/2", unit=Unit.REPLACE_ONE) + 4 * pure("3/8", unit=Unit.REPLACE_ONE)
    assert holdout.error(0.95) > 0
    # the rows of the holdout: one question, all neighbouring holdouts of two rows, on a coarse lattice
    worst = 0.0
    laws = {}
    for rows in ((0, 0), (0, 1), (1, 1)):
        laws[rows] = outcomes(answer_with, rows, cutoff="1e-8")
    for one, other in (((0, 0), (0, 1)), ((0, 1), (1, 1))):
        for key, mass in laws[one].masses.items():
            low = laws[other].masses.get(key)
            if mass > laws[other].missing * 1000 and low is not None:
                worst = max(worst, abs(float((mass / low).log())))
    assert 5 < worst <= 40 * (1 + 1e-9)


def answer_with(rows):
    holdout = ReusableHoldout([0, 0], rows, threshold="1/4", epsilon=40, budget=1, step="1/4")
    found = holdout.ask(lambda x: x)
    return found.value, found.overfitted


# -- a row on which a question fails is one row, and counts as one -----------------------------------------------------


def root(row):
    return math.sqrt(row)


def first(row):
    return next(value for value in (row,) if value >= 0)


def short(row):
    return row if row >= 0 else np.array([])


def long(row):
    return row if row >= 0 else [row] * 1000


def table(row):
    return {"flu": 1, "cold": 0}[row]


def same(row):
    return row


def divided(row):
    return np.float64(row) / np.float64(row)


def warned(row):
    if row < 0:
        warnings.warn("a negative row", RuntimeWarning, stacklevel=1)
    return row


def deep(row):
    return deep(row) if row < 0 else row


def no_memory(row):
    if row < 0:
        raise MemoryError
    return row


class Hostile:
    """Refuses whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


FAILURES = {  # a question, a row that counts as 1, and rows that it fails on, or that have no place in [0, 1]
    "raises on a negative value": (root, 1.0, [-1.0, "x"]),
    "drops negative rows": (first, 1, [-1, None]),
    "gives too few numbers": (short, 1, [-1]),
    "gives too many numbers": (long, 1, [-1]),
    "a text that is no number": (float, "1", ["n/a", "", None, "9" * 5000, "nan", "inf"]),
    "an unseen category": (table, "flu", ["plague", None, []]),
    "a row is None": (same, 1.0, [None]),
    "a row is text": (same, 1.0, ["1", b"1"]),
    "a row is not finite": (same, 1.0, [math.nan, math.inf, -math.inf, Decimal("sNaN"), Decimal("-inf"), np.float32("inf")]),
    "a row is no number": (same, True, [1j, [1], np.ones(()), np.ones(1), np.longdouble(1), Hostile(), object()]),
    "a row is far away": (same, np.int8(1), [10**5000, -(10**5000), Fraction(-1, 3), 1e308, Decimal("1e99999999"), 2**63]),
    "divides by zero": (divided, 1.0, [0.0, math.inf]),
    "warns": (warned, 1, [-1]),
    "does not come to an end": (deep, 1, [-1]),
    "has no memory": (no_memory, 1, [-1]),
}


def watched(question, training, holdout):
    """The exact difference of the two means that is watched."""
    asked = ReusableHoldout(training, holdout, threshold="0.2", epsilon="0.1", budget=1)
    seen = []
    asked._noisy_threshold = SimpleNamespace(left=1, ask=seen.append)
    asked.ask(question)
    return seen[0]


@pytest.mark.parametrize("case", FAILURES)
def test_a_row_that_fails_moves_one_summand(case):
    question, good, bad = FAILURES[case]
    for row, n in product(bad, (1, 2, 5)):
        for at in range(n):
            holdout = [good] * n
            holdout[at] = row
            assert watched(question, [good], holdout) in (0, Fraction(1, n)), (row, n)


# -- the law of one answer, in closed form: what is watched is below the threshold, or above it and then there is noise --

STEPS = np.arange(-400, 401)


def pmf(rate, x):
    q = np.exp(-rate)
    return (1 - q) / (1 + q) * q ** np.abs(x)


def below(rate, x):
    """P(N < x)."""
    q = np.exp(-rate)
    return np.where(x <= 0, q ** (1.0 - np.minimum(x, 0)) / (1 + q), 1 - q ** np.maximum(x, 0) / (1 + q))


def law(question, training, rows, epsilon="1"):
    """P(the training data answer), then P(the holdout answers k steps) for each k from -9 to 12. Three steps are 1."""
    asked = ReusableHoldout(training, rows, threshold="1/3", epsilon=epsilon, budget=1, step="1/3")
    watch, answer = asked.watch, asked.answer
    seen, released = [], []
    asked._noisy_threshold = SimpleNamespace(
        left=1, ask=lambda value: seen.append(value) or 0
    )  # above, so that both are seen
    asked.answer = SimpleNamespace(release=lambda value: released.append(value) or 0)
    asked.ask(question)
    level = watch.lattice.index(watch.threshold) + STEPS - watch.lattice.index(seen[0])
    quiet = float((pmf(float(watch.threshold_law.rate), STEPS) * below(float(watch.answer_law.rate), level)).sum())
    noise = pmf(float(answer.law.rate), np.arange(-9, 13) - answer.place(released[0]))
    return np.array([quiet, *((1 - quiet) * noise)])


def judge(row):
    """What a row can do to a question."""
    if row == "raises":
        raise ZeroDivisionError("Alice is there")
    return {"none": None, "text": "1", "nan": math.nan, "inf": math.inf, "short": np.array([]), "long": [1, 1]}.get(row, row)


ROWS = (0, 1, "raises", "none", "text", "nan", "inf", "short", "long", ["not hashable"])


def largest_loss(n):
    """Over all pairs of holdouts of n rows that differ in one of them."""
    laws = {rows: law(judge, [1], [ROWS[i] for i in rows]) for rows in combinations_with_replacement(range(len(ROWS)), n)}
    worst = 0.0
    for rest in combinations_with_replacement(range(len(ROWS)), n - 1):
        near = [laws[tuple(sorted((*rest, row)))] for row in range(len(ROWS))]
        worst = max(worst, *(float(np.abs(np.log(one / other)).max()) for one, other in combinations(near, 2)))
    return worst


def test_a_row_that_fails_is_protected_like_any_other():
    """Exactly, for every pair of neighbours among all holdouts of four rows, good and bad ones."""
    assert 0.5 < largest_loss(4) <= 1 + 1e-9


def test_answers_have_this_law():
    for rows in ([1, 0, "raises", 1], ["none", "short", 1, 1]):
        found = outcomes(lambda rows: answer_of(ReusableHoldout([1], rows, **COARSE)), rows, cutoff="1e-7")
        expected = law(judge, [1], rows, "12")
        for output, chance in (((1.0, False), expected[0]), *(((k / 3, True), expected[k + 10]) for k in (-1, 0, 1, 2))):
            low, high = found.probability(output)
            assert low - 1e-12 <= chance <= high + 1e-12


COARSE = {"threshold": "1/3", "epsilon": "12", "budget": 1, "step": "1/3"}


def answer_of(asked):
    found = asked.ask(judge)
    return found.value, found.overfitted


def together(question, rows):
    """A mistake: one row that fails, and the mean of all of them counts as 0."""
    try:
        return [module.place_of(question(row)) for row in rows]
    except Exception:
        return [0] * len(rows)


def skipped(question, rows):
    """Another: a row that fails is not there, and the others count for more."""
    places = [together(question, [row]) for row in rows if not isinstance(row, str)]
    return [place for found in places for place in found] or [0]


@pytest.mark.parametrize("mistake", [together, skipped])
def test_the_mistake_is_found(mistake, monkeypatch):
    monkeypatch.setattr(module, "silent_places", mistake)
    assert largest_loss(4) > 1.5


# -- use ---------------------------------------------------------------------------------------------------------------


def test_nothing_about_the_holdout_is_said_for_free():
    training, holdout = np.zeros((50, 2)), np.ones((40, 2))

    def breaks(row):
        if row[0] == 1:
            raise ZeroDivisionError("Alice is there")
        return row[0]

    def divides(row):
        return row[0] / (row[0] - 1)  # NumPy would warn, and a warning is an error here

    def cut(row):
        return row[row > 0] if row[0] else 0

    for question in (breaks, divides, cut):
        asked = ReusableHoldout(training, holdout, threshold="0.9", epsilon=1000)
        assert asked.ask(question).value == 0  # no error, whatever happens there
        with pytest.raises((ZeroDivisionError, RuntimeWarning, DataError)):
            ReusableHoldout(holdout, training, threshold="0.9", epsilon=1).ask(
                question
            )  # the training data are not protected
    assert ReusableHoldout(training, holdout, threshold="0.2", epsilon=1000).ask(lambda row: row[0] == 1).overfitted
    small = ReusableHoldout(np.zeros(10**6), np.zeros(10), threshold="0.1", epsilon=1)
    assert small.watch.sensitivity == small.answer.sensitivity == Fraction(1, 10)


def test_an_order_to_stop_passes_on():
    def stop(row):
        raise KeyboardInterrupt

    asked = ReusableHoldout([0], [1], threshold="0.1", epsilon=1)
    with pytest.raises(KeyboardInterrupt):
        asked.ask(lambda row: stop(row) if row else 0)
    assert asked.left == 10
    asked.ask(lambda row: row)  # and nothing is locked


NUMPY = (np.int8, np.uint64, np.float16, np.float32, np.float64)


def test_numbers_of_every_kind_have_their_place():
    third = Fraction(round(Fraction(2**32, 3)), 2**32)
    kinds = [
        1,
        True,
        1.0,
        np.True_,
        np.int8(1),
        np.uint64(1),
        np.float16(1),
        np.float32(1),
        np.float64(1),
        Decimal(1),
        Fraction(1),
        7,
    ]
    assert watched(lambda row: row, [0], kinds) == 1
    kinds = [0, False, -0.0, np.False_, np.int64(0), Decimal("-1e-999999"), Fraction(-1, 3), 5e-324, -(10**400)]
    assert watched(lambda row: row, [0], kinds) == 0
    assert watched(lambda row: row, [0], [1 / 3, Fraction(1, 3), Decimal(1) / 3, np.float64(1) / 3]) == third
    assert watched(lambda row: row, [0], [Fraction(1, 2**33), Fraction(1, 2**33) - Fraction(1, 10**400)]) == Fraction(
        1, 2**33
    )


def called(asked):
    """How many rows a question is called with: those of the training data, and those of the holdout."""
    rows = []
    asked.ask(lambda row: rows.append(row) or 0)
    return len(rows)


def test_rows_are_what_they_were():
    rows = [0, 1]
    asked = ReusableHoldout([0], rows, threshold="0.1", epsilon=1)
    rows += [1] * 98  # the sensitivity was 1/2
    assert called(asked) == 1 + 2
    for rows in ([[1, 0]], ((1, 0),), np.array([[1, 0]]), [{0: 1}], np.array([(1, 0)], dtype="i8,i8"), [np.array([1, 0])]):
        assert watched(lambda row: row[0], [[0]], rows) == 1
    assert watched(lambda row: row, range(1), range(1, 3)) == 1


def test_bad_input_is_refused_with_words():
    for bad in ({"threshold": 0}, {"epsilon": 0}, {"budget": 0}, {"unit": "x"}, {"unit": "add/remove one person"}):
        with pytest.raises(InputError, match="is refused"):
            ReusableHoldout([1], [1], **{"threshold": "0.1", "epsilon": 1, **bad})
    for rows in ([], (), np.zeros((0, 3))):
        with pytest.raises(DataError, match="needs rows"):
            ReusableHoldout(rows, [1], threshold="0.1", epsilon=1)
    for rows in (
        "ab",
        b"ab",
        3,
        None,
        {1: 2},
        {1, 2},
        iter([1]),
        np.array(3),
        pandas.DataFrame({"a": [1]}),
        pandas.Series([1]),
    ):
        with pytest.raises(DataError, match="records"):
            ReusableHoldout([1], rows, threshold="0.1", epsilon=1)
    holdout = ReusableHoldout([0, 1], [0, 1], threshold="0.1", epsilon=1)
    for question in (lambda row: [1], lambda row: None, lambda row: "a", lambda row: np.array([row]), lambda row: 1j):
        with pytest.raises(DataError, match="called with one row"):
            holdout.ask(question)
    with pytest.raises(IndexError):
        ReusableHoldout(np.eye(2), np.eye(2), threshold="0.1", epsilon=1).ask(lambda rows: rows[:, 0])
    assert holdout.ask(lambda row: math.nan).value in (0, pytest.approx(0, abs=100))


class Panic(BaseException):
    """As libraries in Rust raise it: no Exception."""


@pytest.mark.parametrize("wrong", [Panic, SystemExit, GeneratorExit, RecursionError, Warning])
def test_whatever_is_raised_for_a_row_moves_one_summand(wrong):
    def question(row):
        if row == 7:
            raise wrong("a row")
        return 1

    rows = [5] * 9
    assert module.silent_places(question, rows) == [2**32] * 9
    assert module.silent_places(question, [7, *rows[1:]]) == [0] + [2**32] * 8


def test_a_row_warns_nobody_and_ctrl_c_passes():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        module.silent_places(lambda row: np.mean([x for x in row if x > 0]), [[1.0], [-1.0]])
        module.silent_places(lambda row: warnings.warn(f"{row}", stacklevel=1), [1])
    assert not told

    def stop(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        module.silent_places(stop, [1])


def test_an_array_is_the_one_that_was_given():
    rows = np.ones(1000)
    holdout = ReusableHoldout(np.ones(5), rows, threshold="0.2", epsilon=1)
    rows.resize((2,), refcheck=False)
    assert called(holdout) == 5 + 1000
