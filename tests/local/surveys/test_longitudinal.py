"""Permanent and fresh answers: the cascade, both epsilons, clients that remember."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither import ln
from dither.channels import graph
from dither.channels.channel import Channel
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.surveys.longitudinal import Longitudinal, second_growth
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes
from tests.local import suite

SURVEYS = [
    Longitudinal(["a", "b", "c"], first=1, forever=2),
    Longitudinal([True, False], first=ln(2), forever=ln(3)),
    Longitudinal(range(5), first="0.1", forever=ln(3)),
    Longitudinal(range(4), first="0.99", forever=1),
]


def name(survey):
    return lambda data: survey.domain[int.from_bytes(data, "little")]


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_the_suite(survey):
    suite.check_law(survey, name(survey))
    suite.check_support(survey, lambda output: [output])
    suite.check_wire(survey)
    suite.check_refusals(survey)


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_both_promises_are_exact_or_rounded_against_us(survey):
    leak = survey.channel().epsilon(graph.complete(survey.domain))
    assert leak.bounds.lower <= float(survey.first) * (1 + 1e-15)
    assert leak.bounds.upper >= float(survey.first) * (1 - 1e-15)
    d, e2 = len(survey.domain), survey.second.exp_fraction()
    with precision(400):  # never above, which floats could not tell
        e1 = survey.forever.ball().exp()
        growth = (e1 * to_ball(e2) + d - 1) / (e1 + to_ball(e2) + d - 2)
        assert not growth.log() > survey.first.ball()
        assert abs(growth.log() - survey.first.ball()) < 1e-25
    assert survey.first_guarantee.epsilon(0) == pytest.approx(float(survey.first))
    assert survey.guarantee.epsilon(0) == pytest.approx(float(survey.forever))
    assert survey.permanent_response.channel().epsilon(graph.complete(survey.domain)).exact == survey.forever


def test_the_cascade_in_fractions():
    """One report is exactly `first` where that can be written; for two values by the formula of textbooks."""
    for d, one, whole in [(2, 2, 3), (3, 2, 5), (6, 3, 4), (50, 2, 9)]:
        survey = Longitudinal(range(d), first=ln(one), forever=ln(whole))
        assert survey.channel().epsilon(graph.complete(survey.domain)).exact == ln(one)
        e2 = survey.second.exp_fraction()
        assert Fraction(whole * e2 + d - 1) / (whole + e2 + d - 2) == one
        if d == 2:
            assert Fraction(1 + whole * e2) / (whole + e2) == one


def all_reports(survey, history):
    """The exact law of all reports of a history of values, in fractions."""
    permanent, fresh = survey.permanent_response.channel().rows, survey.fresh_response.channel().rows
    size = len(survey.domain)
    law = {}
    for said in product(range(size), repeat=len(history)):
        chance = Fraction(1)
        for value in set(history):
            rounds = [said[t] for t, v in enumerate(history) if v == value]
            chance *= sum(permanent[value][m] * math.prod(fresh[m][r] for r in rounds) for m in range(size))
        law[said] = chance
    return law


def test_all_reports_together_stay_below_forever():
    survey = Longitudinal(range(3), first=ln(2), forever=ln(4))
    losses = []
    for rounds in (1, 2, 4, 7):
        laws = [all_reports(survey, (value,) * rounds) for value in range(2)]
        losses.append(max(laws[0][said] / laws[1][said] for said in laws[0]))
        assert sum(laws[0].values()) == 1
    assert losses[0] == 2
    assert losses == sorted(losses)
    assert 3 < losses[-1] < 4


def test_changing_values():
    """Two values at given moments cost twice; when the change came is not hidden, as the first lines of the module say."""
    survey = Longitudinal(range(3), first=ln(Fraction(39, 10)), forever=ln(4))

    def loss(one, other):
        laws = [all_reports(survey, history) for history in (one, other)]
        return max(laws[0][said] / laws[1][said] for said in laws[0])

    assert 4 < loss((0, 0, 1), (1, 1, 2)) <= 16
    assert loss((0, 0), (1, 2)) > 16


def test_a_client_remembers():
    survey = SURVEYS[0]

    def two(value):
        client = survey.client()
        return tuple(int(client.report(value).payload[0]) for _ in range(2))

    law = outcomes(two, "a")
    permanent, fresh = survey.permanent_response.channel().matrix, survey.fresh_response.channel().matrix
    for r, s in product(range(3), repeat=2):
        exact = sum(permanent[0, m] * fresh[m, r] * fresh[m, s] for m in range(3))
        low, high = law.probability((r, s))
        assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
    client = survey.client()
    for _ in range(20):
        assert len(client.report("b")) == 1
    assert client.distinct == 1
    client.report("c")
    assert client.distinct == 2
    assert client.guarantee.epsilon(0) == pytest.approx(4)
    again = survey.client(client.to_json())
    assert again.to_json() == client.to_json()
    assert "memo" not in repr(client)
    reports = client.report("a") + again.report("b")
    assert survey.tally(reports).people == 2
    for bad in ("", "{}", "[]", '{"record": {}, "memo": []}', SURVEYS[1].client().to_json(), "x" * 10):
        with pytest.raises(InputError, match="is refused"):
            survey.client(bad)
    with pytest.raises(InputError, match="is refused"):
        client.report("nobody")


def test_a_client_that_forgets_is_caught():
    """The planted bug: the permanent answer is drawn anew for each report, and many reports spend more than forever."""
    survey = Longitudinal(range(2), first=ln(2), forever=ln(3))
    one = survey.channel().rows
    forgetful = [[one[v][r] * one[v][s] for r, s in product(range(2), repeat=2)] for v in range(2)]
    leak = Channel(forgetful).epsilon(graph.complete(range(2)))
    assert leak.exact > survey.forever
    kept = [all_reports(survey, (v, v)) for v in range(2)]
    assert max(kept[0][said] / kept[1][said] for said in kept[0]) < 3

    def two(value):
        return tuple(int(survey.client().report(value).payload[0]) for _ in range(2))

    low, high = outcomes(two, 0).probability((0, 0))
    assert not low <= float(kept[0][0, 0]) <= high


def test_estimates():
    survey = Longitudinal(range(6), first="1.5", forever=3)
    suite.check_estimates(survey, np.arange(1, 7) / 21)
    found = Longitudinal.for_error(range(6), forever=3, people=10_000, half_width="0.05")
    assert 0.049 <= found.error(10_000) <= 0.05
    for bad in (1, 100):
        with pytest.raises(InputError, match="is refused"):
            Longitudinal.for_error(range(6), forever=1, people=bad, half_width="1e-3")


def test_rounds_share_the_permanent_noise():
    """Each round is an estimate of its own; coverage of 95% intervals, a false alarm rarer than 1e-6."""
    survey = Longitudinal(range(3), first=1, forever=2)
    values = np.repeat([0, 1, 2], [500, 300, 200])
    held = np.zeros(3)
    runs = 400
    permanent = survey.permanent(np.tile(values, runs))
    for reports in (survey.fresh(permanent), survey.fresh(permanent)):
        for part in reports.payload.reshape(runs, -1):
            found = survey.estimate(Reports(reports.record, part))
            held += (found.low <= [0.5, 0.3, 0.2]) & (found.high >= [0.5, 0.3, 0.2])
    assert held.min() >= 2 * 352  # P(Binomial(400, 0.95) < 352) < 1e-7; the two rounds go together


def test_the_number_of_values_stands_for_them():
    wanted = Longitudinal.for_error(range(5), forever=3, people=10_000, half_width="0.1")
    assert Longitudinal.for_error(5, forever=3, people=10_000, half_width="0.1").record == wanted.record
    with pytest.raises(InputError, match="domain"):
        Longitudinal.for_error(None, forever=3, people=10_000, half_width="0.1")


def test_extremes_and_refusals():
    assert second_growth(ln(2), ln(3), 2) == 5
    near = Longitudinal(range(3), first="0.999999999", forever=1)
    assert float(near.second) > 15
    small = Longitudinal(range(3), first="1e-9", forever=1)
    assert 0 < float(small.second) < 1e-8
    wide = Longitudinal(range(3), first=1, forever=60)
    assert float(wide.second) == pytest.approx(1)
    for bad in (
        lambda: Longitudinal(range(3), first=1, forever=1),
        lambda: Longitudinal(range(3), first=2, forever=1),
        lambda: Longitudinal(range(3), first=0, forever=1),
        lambda: Longitudinal(range(3), first=-1, forever=1),
        lambda: Longitudinal(range(3), first=1, forever=float("inf")),
        lambda: Longitudinal(range(1), first=1, forever=2),
        lambda: Longitudinal(range(3), first=1, forever=2, unit="add/remove one person"),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
