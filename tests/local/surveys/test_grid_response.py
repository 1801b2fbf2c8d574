"""Places on a grid: distances and flat."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither import ln
from dither.channels import graph
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.surveys import grid_response as grid
from dither.local.surveys.grid_response import GridResponse
from dither.mechanisms.response.location_response import LocationResponse
from tests.local import suite
from tests.local.draw import whole

SMALL = [
    GridResponse(width=3, height=2, epsilon=1),
    GridResponse(width=2, height=2, epsilon=ln(3)),
    GridResponse(width=1, height=4, epsilon="0.3"),
    GridResponse(width=3, height=2, epsilon=1, scores="uniform"),
]


def cell(survey):
    return lambda data: survey.domain[int.from_bytes(data, "little")]


@pytest.mark.parametrize("survey", SMALL, ids=repr)
def test_the_suite(survey):
    suite.check_law(survey, cell(survey))
    suite.check_promise(survey)
    suite.check_wire(survey)
    suite.check_refusals(survey)
    assert survey.record["width"] == survey.width


def test_the_inverse_is_exact():
    """The closed form is the inverse of the exact matrix, and an unbiased estimate of every cell."""
    for survey in (GridResponse(width=5, height=4, epsilon=2), GridResponse(width=1, height=7, epsilon="1/3"), SMALL[0]):
        across, down = survey.axes
        matrix = survey.channel().matrix
        assert np.allclose(np.kron(across.matrix, down.matrix), matrix, rtol=1e-14, atol=0)
        product = np.kron(across.inverse, down.inverse) @ matrix.T
        assert np.abs(product - np.eye(len(matrix))).max() < 1e-11


def test_the_inverse_in_fractions():
    """diag(z) tridiag(...) times the transposed matrix of an axis is the identity, exactly."""
    for count, a in ((2, Fraction(1, 3)), (5, Fraction(1, 2)), (6, Fraction(7, 9))):
        weights = [[a ** abs(i - j) for j in range(count)] for i in range(count)]
        z = [sum(row) for row in weights]
        left = 1 - a * a

        def inverse(i, j, count=count, a=a, z=z, left=left):
            if i == j:
                return z[i] * (1 if i in (0, count - 1) else 1 + a * a) / left
            return -z[i] * a / left if abs(i - j) == 1 else Fraction(0)

        for i in range(count):
            for o in range(count):
                assert sum(inverse(i, x) * weights[o][x] / z[o] for x in range(count)) == (i == o)


def people_on(survey, count, seed=5):
    rng = np.random.default_rng(seed)
    width, height = survey.width, survey.height
    points = np.concatenate(
        [
            rng.normal([width * 0.3, height * 0.3], [width / 8, height / 8], (count // 2, 2)),
            rng.normal([width * 0.7, height * 0.6], [width / 10, height / 10], (count - count // 2, 2)),
        ]
    )
    points = np.clip(np.rint(points), 0, [width - 1, height - 1]).astype(int)
    return points, np.bincount(survey.places(points), minlength=width * height) / count


@pytest.mark.parametrize("scores", ["distance", "uniform"])
def test_estimates(scores):
    survey = GridResponse(width=8, height=6, epsilon=10, scores=scores)
    points, truth = people_on(survey, 40_000)
    tally = survey.tally(survey.randomize(points))
    distances = {}
    for method in survey.methods:
        found = survey.estimate(tally, method=method, confidence="0.999999998")
        assert (found.low <= truth).all()
        assert (truth <= found.high).all()
        assert (np.abs(found.raw - truth) <= 6 * found.deviation + 1e-3).all()
        assert found.frequency.sum() == pytest.approx(1)
        distances[method] = np.abs(found.frequency - truth).sum()
    assert distances["bayes"] < 0.3
    assert 1.96 * found.deviation.max() <= survey.error(40_000) * 1.05
    assert survey.tally(survey.randomize([tuple(point) for point in points[:50].tolist()])).people == 50


def cluster(side, people):
    """90% around (4, 4) of ten, one tenth of the side wide; the others anywhere."""
    steps = np.arange(side) * 10 / side - 4
    hill = np.exp(-(steps[:, None] ** 2 + steps**2) / 2)
    return whole((0.9 * hill / hill.sum() + 0.1 / side**2).reshape(-1), people)


MAPS = {"one cluster": cluster(6, 20_000), "flat": whole(np.full(36, 1 / 36), 20_000)}


@pytest.mark.parametrize("scores", ["distance", "uniform"])
@pytest.mark.parametrize("name", MAPS)
def test_the_usual_method_is_nearly_the_best_there_is(name, scores):
    """Total variation at epsilon = 2, mean of three collections; `python -m benchmarks places` has twelve maps."""
    survey, sizes, rng = GridResponse(width=6, height=6, epsilon=2, scores=scores), MAPS[name], np.random.default_rng(8)
    far, matrix = {None: 0.0, "simplex": 0.0, "likelihood": 0.0}, survey.kernel.push(np.eye(36))
    for _ in range(3):
        counts = rng.multinomial(sizes, matrix).sum(axis=0)
        tally = Tally(survey.record, counts, 20_000)
        for method in far:
            frequency = survey.estimate(tally, method=method).frequency
            far[method] += np.abs(frequency - sizes / 20_000).sum() / 6
    assert far[None] <= 1.1 * min(far["simplex"], far["likelihood"])
    assert far[None] < {"one cluster": 0.27, "flat": 0.05}[name]
    if scores == "distance":
        assert far["simplex"] > 0.7, "nearly all people in a few cells, wherever"


def test_what_nearly_exact_reports_say_is_not_smoothed():
    """At epsilon = 6 nearly all reports are true: who was asked by chance is no noise, and a flat start is no excuse."""
    survey, rng = GridResponse(width=5, height=5, epsilon=6, scores="uniform"), np.random.default_rng(10)
    sizes = rng.multinomial(5000, np.full(25, 0.04))
    tally = Tally(survey.record, rng.multinomial(sizes, survey.kernel.push(np.eye(25))).sum(axis=0), 5000)
    usual, simplex = (survey.estimate(tally, method=method).frequency for method in (None, "simplex"))
    assert np.abs(usual - sizes / 5000).sum() <= 1.2 * np.abs(simplex - sizes / 5000).sum()


def test_the_estimate_says_which_method_was_chosen_and_why():
    survey = GridResponse(width=6, height=6, epsilon=2)
    blurred = Tally(survey.record, np.rint(MAPS["one cluster"] @ survey.channel().matrix).astype(np.int64), 20_000)
    found = survey.estimate(blurred)
    assert (found.method, found.why[:52]) == ("bayes", "chosen: stopped where held-out reports are likeliest")
    assert found.why.split()[-1].isdigit()
    assert " ".join(str(found).split()).count(found.why) == 1
    same = survey.estimate(blurred, method="bayes")
    assert (same.frequency == found.frequency).all()
    assert not same.why.startswith("chosen")
    end = survey.estimate(blurred, method="likelihood")
    assert end.why.endswith("converged after 10000 steps")
    clear = GridResponse(width=2, height=2, epsilon=400, scores="uniform")
    sure = clear.estimate(Tally(clear.record, np.array([5, 0, 3, 2]), 10))
    assert sure.frequency == pytest.approx([0.5, 0, 0.3, 0.2])
    assert sure.method == "likelihood"
    assert sure.why.startswith("chosen: held-out reports are likelier to the end; converged after")


def test_no_number_of_people_where_an_error_exceeds_1():
    """Where 20,000 people were told to be 224,111, and -60,000 nearby."""
    survey = GridResponse(width=10, height=10, epsilon=2)
    counts = np.random.default_rng(9).multinomial(20_000, np.full(100, 0.01))
    found = survey.estimate(Tally(survey.record, counts, 20_000), method="raw")
    assert np.abs(found.counts).max() > 20_000
    assert str(found).startswith("Every share has an error above 1 (up to ±")
    assert "people" not in str(found).splitlines()[2]
    assert found.half_width.max() <= survey.error(20_000) * 1.05


def test_the_update_of_bayes_climbs_and_stops_before_it_fits_the_noise():
    survey = GridResponse(width=20, height=20, epsilon=20)
    points, truth = people_on(survey, 50_000)
    tally = survey.tally(survey.randomize(points))
    bayes = np.abs(survey.estimate(tally, method="bayes").frequency - truth).sum()
    simplex = np.abs(survey.estimate(tally, method="simplex").frequency - truth).sum()
    assert bayes < 0.3 < simplex


def test_the_update_of_bayes_finds_the_truth_where_reports_are_as_expected():
    """Its fixed point is the truth: so many reports that their shares are the exact ones."""
    for survey in (GridResponse(width=3, height=4, epsilon=3), GridResponse(width=3, height=2, epsilon=1, scores="uniform")):
        truth = np.arange(1.0, len(survey.domain) + 1)
        truth /= truth.sum()
        counts = np.rint(truth @ survey.channel().matrix * 10**12).astype(np.int64)
        found = survey.estimate(Tally(survey.record, counts, int(counts.sum())), method="bayes")
        assert np.abs(found.frequency - truth).sum() < 5e-3


def test_a_cell_without_a_report_still_has_an_interval():
    survey = GridResponse(width=6, height=6, epsilon=60)
    found = survey.estimate(survey.randomize([(0, 0)] * 50))
    assert found.high.min() >= 2 / 50


def test_the_error_is_the_worst_there_is(monkeypatch):
    """Against the exact variance for people in one or two cells, gone through by brute force."""
    survey = GridResponse(width=4, height=3, epsilon=3)
    matrix = survey.channel().matrix
    weights = np.linalg.inv(matrix.T)
    square = weights**2 @ matrix.T  # [i, x]
    worst = 0.0
    for i in range(12):
        for x in range(12):
            for t in np.linspace(0, 1, 201):
                worst = max(worst, t * square[i, i] + (1 - t) * square[i, x] - (1.0 if x == i else t) ** 2)
    assert survey.error(1000) == pytest.approx(1.95996 * (worst / 1000) ** 0.5, rel=1e-4)


def test_coverage():
    """95% intervals hold the truth in 95% of the cells and runs, or more; a false alarm is rarer than 1e-6."""
    survey = GridResponse(width=5, height=4, epsilon=6)
    points, truth = people_on(survey, 2000)
    runs = 300
    reports = survey.randomize(np.tile(points, (runs, 1)))
    held = np.zeros(20)
    for part in reports.payload.reshape(runs, -1):
        found = survey.estimate(Reports(reports.record, part), method="raw")  # intervals are the same by every method
        held += (found.low <= truth) & (truth <= found.high)
    # P(Binomial(300, 0.95) < 261) < 5e-8, and there are 20 cells
    assert held.min() >= 261, held


def test_for_error():
    for scores in ("distance", "uniform"):
        survey = GridResponse.for_error(width=4, height=3, people=20_000, half_width="0.05", scores=scores)
        assert 0.0499 <= survey.error(20_000) <= 0.05
    with pytest.raises(InputError, match="is refused"):
        GridResponse.for_error(width=4, height=3, people=1, half_width="1e-9")


def test_a_planted_bug_is_caught(monkeypatch):
    """A client that looks at twice the rate has twice the epsilon; its law is no longer that of the channel."""
    survey = GridResponse(width=3, height=2, epsilon=1)
    lying = LocationResponse(width=3, height=2, epsilon=2)
    survey._grid, exact = lying, survey.channel()
    assert lying.channel().epsilon(graph.complete(survey.domain)).exact > survey.epsilon
    survey.channel = lambda: exact
    with pytest.raises(AssertionError):
        suite.check_law(survey, cell(survey))


def test_bad_grids_are_refused_with_words():
    good = GridResponse(width=3, height=2, epsilon=1)
    for bad in (
        lambda: GridResponse(width=0, height=2, epsilon=1),
        lambda: GridResponse(width=1, height=1, epsilon=1),
        lambda: GridResponse(width=2.0, height=2, epsilon=1),
        lambda: GridResponse(width=5000, height=2, epsilon=1),
        lambda: GridResponse(width=2, height=2, epsilon=0),
        lambda: GridResponse(width=2, height=2, epsilon=1, scores="none"),
        lambda: GridResponse(width=2, height=2, epsilon=1, unit="add/remove one person"),
        lambda: good.randomize(np.array([[0, 0], [3, 0]])),
        lambda: good.randomize(np.array([[0, -1]])),
        lambda: good.randomize(np.array([[0.5, 1.0]])),
        lambda: good.support,
        lambda: LocationResponse(width=3, height=2, epsilon=1).randomize_places(np.array([3]), np.array([0])),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    assert grid.SCORES == ("distance", "uniform")
