"""The benchmark of learning without a peer: measures by hand, splits, failed fits, bars, and what an estimator is told."""

from __future__ import annotations

import itertools
import sys
from fractions import Fraction

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import learn, peer
from benchmarks.learn import calibration, coverage, data, estimators, public_ranges, scores, sides
from benchmarks.learn.tasks import EPSILONS, PURE, TASKS, Peer, Task, bars

from dither import Geometric

ENDS = np.ones(2)


def rows(count=40):
    """Two classes that the first column tells apart."""
    x = np.random.default_rng(count).uniform(-1, 1, (count, 2))
    return data.Data("tiny", x, (x[:, 0] > 0).astype(np.int64), -ENDS, ENDS, classes=2)


def task(**changes):
    given = {
        "name": "trees",
        "kind": "classify",
        "measure": "accuracy",
        "data": ("tiny",),
        "ours": ("ForestClassifier",),
        "peers": (),
        "bars": bars(tiny=".2 .9 1.1"),
    }
    return Task(**(given | changes))


class Stub:
    """Tells the class by the sign of the first column; it keeps what it was given."""

    told: list[dict[str, object]] = []  # noqa: RUF012

    def __init__(self, epsilon, bounds, classes, rows=None):
        self.told.append({"epsilon": epsilon, "bounds": bounds, "classes": classes, "rows": rows})

    def fit(self, x, y):
        return self

    def predict(self, x):
        return (x[:, 0] > 0).astype(np.int64)


class Failing(Stub):
    """Fails on every second fit."""

    count = itertools.count()

    def fit(self, x, y):
        if next(self.count) % 2:
            raise ValueError("no fit")
        return self


@pytest.fixture
def stub(monkeypatch):
    def put(made):
        monkeypatch.setattr(estimators, "constructor", lambda name: made)
        monkeypatch.setattr(Stub, "told", [])

    return put


# -- measures ------------------------------------------------------------------------------------------------------------


def test_area_is_the_part_of_pairs_in_order():
    rng = np.random.default_rng(3)
    for _ in range(20):
        told, truth = rng.integers(0, 5, 12) / 4, np.array([0, 1, *rng.integers(0, 2, 10)])
        pairs = [(p, q) for p, a in zip(told, truth, strict=True) for q, b in zip(told, truth, strict=True) if a > b]
        wanted = Fraction(sum(2 * (p > q) + (p == q) for p, q in pairs), 2 * len(pairs))
        assert scores.area(told, truth) == pytest.approx(float(wanted), abs=1e-12)


def test_measures_by_hand():
    truth = np.array([0.0, 1.0, 2.0])
    assert scores.accuracy(np.array([0, 1, 1]), truth) == pytest.approx(2 / 3)
    assert scores.r2(truth, truth) == 1
    assert scores.r2(np.ones(3), truth) == 0
    assert scores.r2(np.array([2.0, 1.0, 0.0]), truth) == -3
    x = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    assert scores.inertia(np.array([[0.0, 0.0], [2.0, 1.0]]), x) == 2
    assert scores.captured(np.array([[5.0, 0.0]]), x) == pytest.approx((8 / 3) / (8 / 3 + 2 / 3))
    assert scores.captured(np.array([[1.0, 1.0], [1.0, 2.0]]), x) == pytest.approx(1)  # need not be orthonormal


def test_summaries_leave_out_what_failed():
    found = np.array([1.0, 2.0, np.nan, 3.0, 10.0])
    assert scores.Summary.of(found, median=False) == scores.Summary(4.0, pytest.approx(np.std([1, 2, 3, 10], ddof=1)), 4)
    assert scores.Summary.of(found, median=True).middle == 2.5
    assert str(scores.Summary.of(np.array([np.nan]), median=False)) == "failed"
    assert [scores.number(x) for x in (0.5, -0.0004, 0.9996, 1.5, -3e7)] == [".500", ".000", "1.000", "1.50", "-3e7"]


def test_lead_is_paired_and_less_inertia_is_better():
    ours, theirs = np.array([0.5, 0.9, np.nan]), np.array([0.4, 0.8, 0.7])
    assert scores.lead(ours, theirs, median=False, higher=True) == ".100 (se .000)"
    assert scores.lead(ours, theirs, median=False, higher=False) == "-.100 (se .000)"


def test_calibration_error_by_hand():
    told, truth = np.array([0.0, 0.01, 0.5, 0.5, 1.0]), np.array([0, 1, 0, 1, 1])
    listed = calibration.reliability(told, truth)
    assert [one.rows for one in listed if one.rows] == [2, 2, 1]  # exactly 1 is in the last bin
    assert listed[-1].rows == 1
    assert calibration.calibration_error(told, truth) == pytest.approx((2 * (0.5 - 0.005) + 0 + 0) / 5)
    lines = calibration.chart(listed)
    assert [line[1:3] for line in lines] == [[".005", ".500"], [".500", ".500"], ["1.00", "1.00"]]
    assert {len(line[3]) for line in lines} == {calibration.WIDTH}


# -- data ----------------------------------------------------------------------------------------------------------------


def test_splits_are_three_quarters_and_the_others_by_seed():
    made = rows(41)
    first, again = (list(made.splits(range(3))) for _ in range(2))
    for (train, test), (same, _) in zip(first, again, strict=True):
        assert (train == same).all()
        assert sorted([*train, *test]) == list(range(41))
        assert len(train) == 30
    assert (first[0][0] != first[1][0]).any()


def test_ranges_are_one_for_each_column_and_come_from_no_row():
    assert [len(x) for x in (public_ranges.IRIS, public_ranges.WINE, public_ranges.BREAST_CANCER)] == [4, 13, 30]
    assert all(low < high for low, high in public_ranges.IRIS + public_ranges.WINE + public_ranges.BREAST_CANCER)
    assert (data.scale(np.array([-9.0, 0.0, 4.0, 9.0]), 0, 8) == [-1, -1, 0, 1]).all()
    for name in ("synthetic", "blobs 2-d", "blobs 8-d"):
        first, again = data.LOADERS[name](), data.LOADERS[name]()
        assert (first.x == again.x).all()
        assert abs(first.x).max() <= 1
        assert abs(first.y).max() <= 1


def test_words_of_adult_are_codes_and_an_unknown_one_is_the_last(tmp_path):
    names = [*public_ranges.ADULT, "class"]
    listed = ["95", " Private", "16", " Divorced", " Nobody", " Wife", " White", " Male", "99999", "0", "40", " ?", "50K+"]
    other = ["17", " ?", "1", " Widowed", " Sales", " Wife", " Black", " Female", "0", "0", "1", " South", "50K-"]
    file = tmp_path / "adult.csv"
    file.write_text("\n".join(",".join(line) for line in (names, listed, other)) + "\n")
    found = data.adult(file)
    assert found.y.tolist() == [1, 0]
    assert found.x[0, :5].tolist() == [1, 0, 1, 1, 14]  # above 90; an occupation that is not in the list
    assert found.x[1, :3].tolist() == [-1, 8, -1]
    assert found.x[0, 8] == 1  # beyond the range
    assert found.x[0, 11] == 41
    assert found.categories == {1: 9, 3: 8, 4: 15, 5: 7, 6: 6, 7: 3, 11: 42}
    assert all(found.high[place] == count - 1 for place, count in found.categories.items())


def test_bundled_data_lie_within_their_ranges_and_have_their_classes():
    pytest.importorskip("sklearn")
    for name, classes in {"iris": 3, "wine": 3, "breast_cancer": 2, "digits": 10, "diabetes": 0}.items():
        found = data.LOADERS[name]()
        assert found.classes == classes
        assert found.x.shape[1] == len(found.low)
        beyond = np.mean(abs(found.x) >= 1)
        assert name == "digits" or beyond < 0.02  # a pixel is often 0 or 16


# -- the harness -----------------------------------------------------------------------------------------------------------


def test_an_estimator_is_told_what_is_public_and_nothing_of_the_rows(stub):
    stub(Stub)
    told = []
    for made in (rows(40), rows(60)):
        Stub.told.clear()
        side = sides.ours(sides.Trial(task(), made, range(2)))[0]
        assert [side.scores[epsilon].tolist() for epsilon in EPSILONS] == [[1, 1]] * 3
        assert side.failed == 0
        told.append([(one["epsilon"], np.array(one["bounds"]).tolist(), one["classes"], one["rows"]) for one in Stub.told])
    assert told[0] == told[1] == [(e, [[-1, 1], [-1, 1]], [0, 1], None) for e in EPSILONS for _ in range(2)]


def test_a_fit_that_fails_is_counted_and_left_out(stub):
    stub(Failing)
    side = sides.ours(sides.Trial(task(), rows(), range(2)))[0]
    assert side.failed == 3
    assert side.reason == "ValueError: no fit"
    assert all(np.isfinite(side.scores[epsilon]).sum() == 1 for epsilon in EPSILONS)
    assert "3 fits failed" in "".join(learn._notes([side]))


def test_tables_say_what_is_reached_missed_and_not_there(stub, monkeypatch, capsys):
    monkeypatch.setitem(learn.LOADERS, "tiny", rows)
    stub(Stub)
    learn.measure(task(), seeds=3, every=False, peers=False)
    printed = capsys.readouterr().out
    assert "seeds 0..2; 30 rows to fit; median CPU s of a fit; load" in " ".join(printed.split())
    lines = [line.split("│") for line in printed.splitlines() if line.startswith("│ tiny, ")]
    assert [line[4].strip() for line in lines] == ["reached", "reached", "MISSED"]
    stub(None)
    learn.measure(task(), seeds=2, every=False, peers=False)
    assert capsys.readouterr().out.count("not there") == 4


def test_inertia_is_a_ratio_to_the_best_without_privacy(stub):
    stub(None)
    made = data.Data("tiny", rows().x, np.zeros(40), -ENDS, ENDS)
    trial = sides.Trial(task(kind="cluster", measure="inertia", parts={"tiny": 2}, name="clusters"), made, range(2))
    found = {side.name: side for side in sides.run(trial, peers=False)}
    assert trial.arrays["train"].tolist() == [list(range(40))] * 2  # nothing is told of other rows, so all are fitted
    lowest = np.min([side.scores[sides.ANY] for side in found.values() if side.scores], axis=0)
    assert lowest.tolist() == [1, 1]


WORKER = """
import numpy as np
import fits

class Sign:
    def fit(self, x, y):
        return self
    def predict(self, x):
        return x[:, 0] > 0

fits.answer(lambda job, arrays, model, epsilon, seed: Sign(), "sign 1.0")
"""


def test_a_peer_answers_from_a_process_of_its_own_or_says_why_not(monkeypatch, tmp_path):
    (tmp_path / "ask_sign.py").write_text(WORKER)
    (tmp_path / "ask_broken.py").write_text("raise ValueError('it does not run')")
    (tmp_path / "fits.py").write_text((peer.WORKERS / "fits.py").read_text())
    monkeypatch.setattr(peer, "WORKERS", tmp_path)
    monkeypatch.setattr(peer, "environment", lambda name: sys.executable)
    trial = sides.Trial(task(), rows(), range(2))
    side = sides.peer(trial, Peer("sign", ("sign",), PURE))[0]
    assert side.library == "sign 1.0"
    assert all(side.scores[epsilon].tolist() == [1, 1] for epsilon in EPSILONS)
    assert sides.peer(trial, Peer("broken", ("a",), PURE))[0].reason == "not run: ValueError: it does not run"


def test_noise_can_be_had_again_and_is_another_for_each_fit():
    drawn = []
    for which in (("PCA", "1", 0), ("PCA", "1", 0), ("PCA", "1", 1), ("PCA", "3", 0)):
        with sides.noise(*which):
            drawn.append(Geometric(epsilon="0.01", sensitivity=1).law.sample(20).tolist())
    assert drawn[0] == drawn[1]
    assert drawn[0] not in drawn[2:]


def test_every_task_names_what_is_known():
    for one in TASKS:
        assert set(one.ours) <= set(estimators.OURS)
        assert set(one.data) <= set(data.LOADERS)
        assert {name for name, _ in [*one.bars, *one.areas]} <= set(one.data)
        assert {asked.worker for asked in one.peers} <= set(peer.REQUIREMENTS)
        assert all((peer.WORKERS / f"ask_{asked.worker}.py").exists() for asked in one.peers)
        assert bool(one.parts) == (one.kind in ("cluster", "project"))
    assert bars(iris=".1 .2") == {("iris", "1"): 0.1, ("iris", "3"): 0.2}


class Region:
    """Holds what the odd fits ask."""

    def __init__(self, epsilon, delta, bounds, target_bounds):
        self.seed = next(self.seeds)

    seeds = itertools.count()

    def fit(self, x, y):
        return self

    def region(self):
        return self

    def holds(self, slopes):
        assert slopes.shape == (3,)
        return self.seed % 4 > 0


def test_coverage_counts_fits_whose_region_holds_the_slopes(stub):
    made = rows()
    x = np.column_stack([made.x, np.ones(40)])
    line = data.Data("tiny", made.x, x @ [0.25, -0.5, 0.125], -ENDS, ENDS)
    assert coverage.least_squares(line) == pytest.approx([0.25, -0.5, 0.125])
    stub(Region)
    assert coverage.coverage(line, "1", 20) == 0.75
    stub(None)
    assert coverage.coverage(line, "1", 20) is None


@pytest.mark.parametrize(
    "words", [["noise", "--seeds", "3"], ["tpch", "--all"], ["learn", "--seeds", "1"], ["learn", "--task", "nothing"]]
)
def test_command_refuses_options_that_are_not_for_it(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err
