"""A reusable holdout: private for its rows, and it does not overfit where a plain one does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither import ReusableHoldout, Unit, pure
from dither.errors import BudgetError, DataError, InputError
from dither.testing import outcomes


def fit(training, holdout, ask, features):
    """Choose the features that look useful in both, then score the vote of the chosen on the holdout."""
    chosen = []
    for j in range(features):
        here = float(np.mean(training[:, j] == training[:, -1])) - 0.5
        there = ask(lambda rows, j=j: rows[:, j] == rows[:, -1]) - 0.5
        if here * there > 0 and abs(here) > 0.02 and abs(there) > 0.02:
            chosen.append((j, np.sign(here)))

    def right(rows):
        votes = sum(sign * (2.0 * rows[:, j] - 1) for j, sign in chosen)
        return (votes > 0) == (rows[:, -1] > 0)

    return right


def test_the_classic_demonstration():
    """Labels that nothing predicts: a plain holdout says 60% and more, the reusable one does not."""
    rng = np.random.default_rng(11)
    n, features = 1000, 1500
    training, holdout, fresh = (rng.integers(0, 2, size=(n, features + 1)) for _ in range(3))
    plain = fit(training, holdout, lambda q: float(np.mean(q(holdout))), features)
    naive = float(np.mean(plain(holdout)))
    assert naive > 0.58
    assert float(np.mean(plain(fresh))) < 0.55
    careful = ReusableHoldout(training, holdout, threshold="0.08", epsilon=20, budget=10)
    guarded = fit(training, holdout, lambda q: careful.ask(as_numbers(q)).value, features)
    final = careful.ask(as_numbers(guarded))
    assert final.overfitted  # the training data say 60% or more, and the holdout does not
    assert abs(final.value - float(np.mean(guarded(fresh)))) < 0.1
    assert final.value < naive
    assert careful.left >= 1


def as_numbers(question):
    return lambda rows: np.asarray(question(rows), dtype=float)


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
    found = holdout.ask(lambda x: list(x))
    return found.value, found.overfitted


def test_nothing_about_the_holdout_is_said_for_free():
    training, holdout = np.zeros((50, 2)), np.ones((40, 2))

    def shape(rows):
        return rows[rows[:, 0] > 0, 1] if len(rows) == 40 else rows[:, 1]

    def breaks(rows):
        if rows[0, 0] == 1:
            raise ZeroDivisionError("Alice is there")
        return rows[:, 0]

    def short(rows):
        return rows[:, 0] if len(rows) == 50 else rows[:3, 0]

    for question in (shape, breaks, short):
        asked = ReusableHoldout(training, holdout, threshold="0.9", epsilon=1000)
        asked.ask(question)  # no error, whatever happens there
    with pytest.raises(ZeroDivisionError):
        ReusableHoldout(holdout, training, threshold="0.9", epsilon=1).ask(breaks)  # the training data are not protected
    assert ReusableHoldout(training, holdout, threshold="0.2", epsilon=1000).ask(lambda rows: rows[:, 0] == 1).overfitted
    small = ReusableHoldout(np.zeros(10**6), np.zeros(10), threshold="0.1", epsilon=1)
    assert small.watch.sensitivity == small.answer.sensitivity == Fraction(1, 10)


def test_bad_input_is_refused_with_words():
    for bad in ({"threshold": 0}, {"epsilon": 0}, {"budget": 0}, {"unit": "x"}, {"unit": "add/remove one person"}):
        with pytest.raises(InputError, match="is refused"):
            ReusableHoldout([1], [1], **{"threshold": "0.1", "epsilon": 1, **bad})
    with pytest.raises(DataError):
        ReusableHoldout([], [1], threshold="0.1", epsilon=1)
    holdout = ReusableHoldout([0, 1], [0, 1], threshold="0.1", epsilon=1)
    for question in (lambda rows: [1], lambda rows: 0.5, lambda rows: ["a", "b"]):
        with pytest.raises(InputError):
            holdout.ask(question)
    assert holdout.ask(lambda rows: [float("nan"), 1e300]).value in (0.5, pytest.approx(0.5, abs=100))
