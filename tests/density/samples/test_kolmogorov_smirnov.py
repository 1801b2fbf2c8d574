"""The private sample: its law is that of the theorem, exactly; its doubles never decide wrongly."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import dither
from dither.density import Bins
from dither.density.samples import base_measures as bases_module
from dither.density.samples import kolmogorov_smirnov as module
from dither.density.samples import lattice_paths as paths_module
from dither.density.samples.base_measures import MultisetMeasure, SequenceMeasure
from dither.density.samples.distance_bands import DistanceBands
from dither.density.samples.kolmogorov_smirnov import KolmogorovSmirnov
from dither.density.samples.lattice_paths import LatticePaths
from dither.density.samples.rejection_blocks import BlockSampler, LevelBlock
from dither.errors import DataError, InputError, NumberError, SizeError
from dither.noise.lazy_weights import FIRST_PRECISION
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import Outcomes, check_mechanism, outcomes, seeded

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
BASES = ["multisets", "sequences"]


def samples(cells, points):
    """Every sample, as counts, with its weight among the sequences."""
    for chosen in combinations_with_replacement(range(cells), points):
        counts = tuple(chosen.count(cell) for cell in range(cells))
        yield counts, math.factorial(points) // math.prod(math.factorial(c) for c in counts)


def distance(counts, sample, rows):
    """n KS by its definition, in fractions."""
    points = sum(sample)
    totals = zip(np.cumsum(counts).tolist()[:-1], np.cumsum(sample).tolist()[:-1], strict=True)
    return max(abs(Fraction(s * rows, points) - min(c, rows)) for c, s in totals)


def theorem(mechanism, counts):
    """The law of the theorem, as balls."""
    ways = {
        sample: (ways if mechanism.base == "sequences" else 1)
        * (-(mechanism.epsilon / 2 * distance(counts, sample, mechanism.rows)).ball()).exp()
        for sample, ways in samples(mechanism.bins.size, mechanism.points)
    }
    whole = sum(ways.values(), start=to_ball(0))
    return {sample: weight / whole for sample, weight in ways.items()}


def drawn(mechanism, counts):
    """The law of the code: one proposal is gone through, and what is rejected starts again."""
    blocks = mechanism.sampler(counts)

    def attempt(_):
        found = blocks.attempt()
        return None if found is None else tuple(np.diff(found, prepend=0).tolist())

    law = outcomes(attempt, None)
    assert law.missing < 1e-40
    kept = {law.outputs[key]: mass for key, mass in law.masses.items() if law.outputs[key] is not None}
    whole = sum(kept.values(), start=to_ball(0))
    return {sample: mass / whole for sample, mass in kept.items()}


def make(cells=3, rows=4, points=3, epsilon=1, base="multisets", **more):
    return KolmogorovSmirnov(bins=Bins.even(0, 1, cells), rows=rows, points=points, epsilon=epsilon, base=base, **more)


CASES = [
    (2, 3, 1, "1", [1, 2]),
    (2, 4, 2, "0.5", [4, 0]),
    (3, 4, 3, "1", [1, 2, 1]),
    (3, 6, 4, "2", [0, 0, 6]),
    (3, 5, 5, "0.1", [2, 3, 0]),
    (3, 2, 4, "3", [1, 0, 1]),
    (4, 7, 3, dither.ln(4), [3, 0, 2, 2]),
    (4, 1, 3, "1", [0, 0, 1, 0]),
    (3, 4, 3, "1", [0, 0, 0]),  # nobody came
    (3, 4, 3, "1", [9, 1, 0]),  # more came than were said to
    (5, 30, 2, "0.2", [3, 9, 9, 8, 1]),
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("cells", "rows", "points", "epsilon", "counts"), CASES)
def test_the_law_is_that_of_the_theorem(cells, rows, points, epsilon, counts, base):
    mechanism = make(cells, rows, points, epsilon, base)
    with precision(192):
        wanted, found = theorem(mechanism, counts), drawn(mechanism, counts)
        assert set(found) == set(wanted)
        for sample, chance in wanted.items():
            assert abs(found[sample] - chance) < 1e-45


@pytest.mark.parametrize("ends", [[(2, 2)], [(2, 9)], [(2, 4), (5, 9)], [(1, 3), (4, 30)], [(0, 2), (3, 3), (4, 12)]])
@pytest.mark.parametrize("base", BASES)
def test_any_blocks_give_the_same_law(ends, base, monkeypatch):
    def plan(self):
        return [LevelBlock(first, last, 0.0) for first, last in ends]

    mechanism = make(3, 5, 3, 1, base)
    counts = [1, 3, 1]  # the nearest sample, 1 1 1, lies at level 2
    assert DistanceBands(np.array(counts), 5, 3).nearest() == 2
    monkeypatch.setattr(BlockSampler, "_plan", plan)
    with precision(192):
        wanted, found = theorem(mechanism, counts), drawn(mechanism, counts)
        assert max(abs(found[sample] - chance) for sample, chance in wanted.items()) < 1e-45


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("unit", ["add/remove one person", "replace one person"])
def test_the_promise_holds_for_all_neighbours(base, unit):
    mechanism = make(3, 3, 2, 1, base, unit=unit)

    def law(counts):
        with precision(192):
            found = drawn(mechanism, counts)
            keys = {sample: ("list", tuple(("int", repr(c)) for c in sample)) for sample in found}
            return Outcomes(
                {keys[s]: mass for s, mass in found.items()}, {keys[s]: list(s) for s in found}, to_ball(0).upper(), 1
            )

    def histogram(data):
        return [data.count(cell) for cell in range(3)]

    report = check_mechanism(mechanism, query=histogram, universe=(0, 1, 2), rows=3, law=law)
    assert report.pairs >= 18
    assert 0.5 < report.epsilon <= 1
    assert check_mechanism(mechanism, law=law).pairs >= 6


def test_a_score_that_moves_twice_as_far_is_caught():
    class Broken(KolmogorovSmirnov):
        def sampler(self, counts):
            bands = DistanceBands(np.asarray(counts), self.rows, self.points)
            return BlockSampler(
                bands, self.base_measure, self.epsilon * Fraction(math.gcd(self.rows, self.points), self.points)
            )

    mechanism = Broken(bins=Bins.even(0, 1, 3), rows=3, points=3, epsilon=1)
    with precision(192):
        laws = [drawn(mechanism, counts) for counts in ([3, 0, 0], [2, 0, 1])]
        assert max((laws[0][s] / laws[1][s]).log() for s in laws[0]) > 1.1


def test_levels_are_the_distance_in_whole_numbers():
    rng = np.random.default_rng(1)
    for _ in range(200):
        m, n, k = int(rng.integers(2, 6)), int(rng.integers(1, 30)), int(rng.integers(1, 12))
        counts, sample = rng.multinomial(n, np.ones(m) / m), rng.multinomial(k, np.ones(m) / m)
        bands = DistanceBands(counts, n, k)
        level, g = bands.level(np.cumsum(sample)), math.gcd(n, k)
        assert Fraction(level * g, k) == distance(counts.tolist(), sample.tolist(), n)
        mechanism = make(m, n, k)
        assert mechanism.shortfall(counts, sample) == Fraction(level * g, k)


def test_a_band_holds_the_samples_within_its_level_and_no_others():
    rng = np.random.default_rng(2)
    for _ in range(60):
        m, n, k = int(rng.integers(2, 5)), int(rng.integers(1, 20)), int(rng.integers(1, 6))
        counts = rng.multinomial(n, np.ones(m) / m)
        bands = DistanceBands(counts, n, k)
        totals = [np.cumsum(sample) for sample, _ in samples(m, k)]
        levels = [bands.level(s) for s in totals]
        assert bands.nearest() == min(levels)
        for level in range(0, max(levels) + 3):
            inside = [s for s, at in zip(totals, levels, strict=True) if at <= level]
            band = bands.band(level)
            if band is None:
                assert not inside
                continue
            low, high = band
            assert [bool((low <= s).all() and (s <= high).all()) for s in totals] == [at <= level for at in levels]
            # each bound is attained, so that no state is carried along in vain
            assert (np.min(inside, axis=0) == low).all()
            assert (np.max(inside, axis=0) == high).all()


@pytest.mark.parametrize("kind", [MultisetMeasure, SequenceMeasure])
def test_the_number_of_samples_in_a_band(kind):
    rng = np.random.default_rng(3)
    for _ in range(40):
        m, n, k = int(rng.integers(2, 5)), int(rng.integers(1, 20)), int(rng.integers(1, 6))
        bands = DistanceBands(rng.multinomial(n, np.ones(m) / m), n, k)
        base = kind(m, k)
        assert base.everything == sum(ways if kind is SequenceMeasure else 1 for _, ways in samples(m, k))
        for level in range(bands.nearest(), n * k + 1, 3):
            wanted = sum(
                ways if kind is SequenceMeasure else 1 for s, ways in samples(m, k) if bands.level(np.cumsum(s)) <= level
            )
            paths = LatticePaths(base, *bands.band(level))
            with precision(FIRST_PRECISION):
                assert paths.total().contains(wanted)
                assert paths.total().rel_accuracy_bits() > 40
            with precision(FIRST_PRECISION + 64):
                assert paths.total() == wanted
            assert math.isclose(paths.log_total, math.log(wanted), abs_tol=1e-9)


def rough_and_whole(base, paths):
    """Entries of all rows: below, above (rounding included), and the truth, in one scale."""
    for j, (row, lifted, whole) in enumerate(zip(paths.rough.rows, paths.lifted.rows, paths.whole, strict=True)):
        scale = Fraction(2) ** -paths.rough.shifts[j]
        doubt = Fraction(paths.doubts[j])
        for at in range(0, len(whole), 1 + len(whole) // 100):
            ways, s = whole[at], paths.low[j] + at
            truth = Fraction(ways)
            if isinstance(base, SequenceMeasure):
                truth = truth / math.factorial(s) * Fraction(base.tilt) ** s
            low, high = Fraction(float(row[at])) * scale, truth  # where all is lost, nothing is said from above
            if np.isfinite(lifted[at]):
                high = Fraction(float(lifted[at])) * scale * (1 + doubt)
            yield low * (1 - doubt), truth, high


@pytest.mark.parametrize(
    ("kind", "m", "n", "k", "level"),
    [
        (MultisetMeasure, 40, 100, 60, 300),
        (MultisetMeasure, 30, 1000, 100, 40),
        (MultisetMeasure, 7, 50, 200, 10**6),
        (SequenceMeasure, 12, 100, 60, 200),
        (SequenceMeasure, 30, 50, 40, 10**6),
        (SequenceMeasure, 2, 400, 2200, 10**9),  # beyond the range of doubles
        (SequenceMeasure, 3, 1000, 300, 100),
    ],
)
def test_doubles_enclose_the_truth(kind, m, n, k, level):
    counts = np.random.default_rng(4).multinomial(n, np.random.default_rng(5).dirichlet(np.ones(m)))
    enclosed(kind, counts, n, k, level, flushed=level == 10**9)


@pytest.mark.parametrize("kind", [MultisetMeasure, SequenceMeasure])
def test_doubles_enclose_the_truth_where_all_is_in_one_cell(kind):
    """Cells must then hold far more points than is likely, or none."""
    for m, k in ((3, 1200), (16, 512), (40, 300)):
        for place in (0, m // 2, m - 1):
            counts = np.zeros(m, dtype=np.int64)
            counts[place] = 1000
            enclosed(kind, counts, 1000, k, 0, flushed=False)
            for rows in (20, 100):  # between paths that are forced and all paths
                enclosed(kind, counts, 1000, k, rows * k // math.gcd(k, 1000), flushed=None)


def enclosed(kind, counts, n, k, level, flushed):
    base = kind(len(counts), k)
    paths = LatticePaths(base, *DistanceBands(counts, n, k).band(level))
    for low, truth, high in rough_and_whole(base, paths):
        assert low <= truth <= high
    assert flushed is None or paths.rough.flushed == flushed
    with precision(FIRST_PRECISION):
        assert paths.total().contains(paths.whole[-1][-1])
        assert paths.total().rel_accuracy_bits() > 30


@pytest.mark.parametrize("most", [200, 300, 420])
def test_products_below_the_range_of_doubles_are_counted_as_lost(most):
    """Beyond the sizes that are answered: small entries times small shares are zero in doubles, and then multiplied."""
    base, counts = SequenceMeasure(16, 9600), np.array([0] * 15 + [96_000])
    paths = LatticePaths(base, *DistanceBands(counts, 96_000, 9600).band(10 * most))
    for low, truth, high in rough_and_whole(base, paths):
        assert low <= truth <= high
    with precision(FIRST_PRECISION):
        total = paths.total()
        assert not total.is_finite() or total.contains(paths.whole[-1][-1])
    total = 9600
    for j in range(15, 0, -1):
        check_shares(base, paths, j, total)
        whole = base.whole_choices(paths.whole[j], paths.low[j], total)
        total = paths.low[j] + max(range(len(whole)), key=whole.__getitem__)


@pytest.mark.parametrize("bits", [4, 8, 12])
@pytest.mark.parametrize("kind", [MultisetMeasure, SequenceMeasure])
def test_entries_too_small_for_doubles_are_enclosed_too(kind, bits, monkeypatch):
    """Doubles of a short range, so that many entries are lost."""
    monkeypatch.setattr(paths_module, "HIGHEST", bits)
    monkeypatch.setattr(paths_module, "LOST", 2.0 ** -(2 * bits))
    for place in (paths_module, bases_module):
        monkeypatch.setattr(place, "TINY", 2.0**-bits)
    rng = np.random.default_rng(12)
    lost = 0
    for m, n, k, level in ((9, 50, 40, 10**6), (12, 60, 30, 300), (6, 30, 60, 500)):
        base = kind(m, k)
        paths = LatticePaths(base, *DistanceBands(rng.multinomial(n, rng.dirichlet(np.ones(m))), n, k).band(level))
        for low, truth, high in rough_and_whole(base, paths):
            assert low <= truth <= high
        with precision(FIRST_PRECISION):
            assert paths.total().contains(paths.whole[-1][-1])
        lost += paths.rough.flushed
        for j in range(1, m):
            for total in range(paths.low[j] + 1, paths.high[j + 1] + 1, 5):
                check_shares(base, paths, j, total)
    assert lost


def check_shares(base, paths, j, total):
    """Whether every share of a running sum lies within the doubt that is claimed of it; and that doubt."""
    rough = base.choices(paths.rough.rows[j], paths.low[j], total, 0.0)
    whole = base.whole_choices(paths.whole[j], paths.low[j], total)
    doubt = paths.doubt(j, total, rough)
    if doubt < 1:
        sums, exactly = np.cumsum(rough), np.cumsum(np.array(whole, dtype=object))
        for a, b in zip(sums, exactly, strict=True):
            assert abs(Fraction(float(a)) / Fraction(float(sums[-1])) - Fraction(int(b), int(exactly[-1]))) <= doubt
    return doubt


@pytest.mark.parametrize("kind", [MultisetMeasure, SequenceMeasure])
def test_every_share_lies_within_the_doubt_that_is_claimed(kind):
    rng = np.random.default_rng(5)
    for m, n, k, level in ((20, 60, 30, 200), (2, 400, 2200, 10**9), (60, 100, 50, 10**9)):
        base = kind(m, k)
        paths = LatticePaths(base, *DistanceBands(rng.multinomial(n, np.ones(m) / m), n, k).band(level))
        for j in range(1, m, max(1, m // 7)):
            for total in {paths.high[j], paths.high[j + 1], (paths.low[j] + paths.high[j + 1] + 1) // 2}:
                if total > paths.low[j]:
                    assert check_shares(base, paths, j, total) < 1e-9


@pytest.mark.parametrize("base", BASES)
def test_draws_without_rehearsal_follow_the_law(base):
    mechanism = make(3, 6, 4, 1, base)
    counts, runs = [1, 4, 1], 4_000
    blocks = mechanism.sampler(counts)
    with seeded(7):
        seen = [tuple(np.diff(blocks.draw(), prepend=0).tolist()) for _ in range(runs)]
    with precision(192):
        wanted = {sample: float(chance) for sample, chance in theorem(mechanism, counts).items()}
    statistic = sum((seen.count(s) - runs * p) ** 2 / (runs * p) for s, p in wanted.items())
    from scipy.stats import chi2

    assert chi2.sf(statistic, len(wanted) - 1) > 1e-6


@pytest.mark.parametrize("base", BASES)
def test_draws_that_doubt_everything_are_the_same_draws(base, monkeypatch):
    """With the same bits, whole numbers give the same sample as doubles."""
    mechanism = make(12, 200, 30, 1, base)
    counts = np.random.default_rng(6).multinomial(200, np.ones(12) / 12)
    with seeded(8):
        quick = [mechanism.release(counts).tolist() for _ in range(10)]
    monkeypatch.setattr(LatticePaths, "doubt", lambda *_: 1.0)
    with seeded(8):
        slow = [mechanism.release(counts).tolist() for _ in range(10)]
    assert quick == slow


@pytest.mark.parametrize("base", BASES)
def test_most_proposals_are_kept_whatever_the_data_is(base):
    for cells, rows, points, epsilon in (
        (16, 10**4, 512, "1"),
        (16, 1000, 64, "0.1"),
        (40, 300, 100, "3"),
        (2, 50, 400, "1"),
    ):
        mechanism = make(cells, rows, points, epsilon, base)
        for counts in (
            [0] * (cells - 1) + [rows],
            [rows // 2] + [0] * (cells - 2) + [rows - rows // 2],
            [rows // cells] * cells,
            [0] * cells,
        ):
            blocks = mechanism.sampler(counts)
            with seeded(3):
                kept = sum(blocks.attempt() is not None for _ in range(30))
            assert kept >= 6, (cells, rows, points, counts)


def test_the_last_block_is_all_samples():
    mechanism = make(3, 4, 3, "0.01")
    law = outcomes(lambda _: tuple(mechanism.base_measure.any().tolist()), None)
    assert len(law.masses) == math.comb(5, 2)
    words = make(3, 4, 3, "0.01", "sequences")
    law = outcomes(lambda _: tuple(words.base_measure.any().tolist()), None)
    with precision(192):
        for key, mass in law.masses.items():
            counts = np.diff(law.outputs[key], prepend=0)
            ways = math.factorial(3) // math.prod(math.factorial(int(c)) for c in counts)
            assert abs(mass - to_ball(Fraction(ways, 27))) < 1e-40


def test_the_proved_number_of_close_samples_is_there():
    """C(J + h, h) multisets within (h + 1/2) n/k, for every data set of a small size."""
    for m, n, k in ((2, 3, 4), (3, 4, 5), (4, 5, 4), (5, 4, 6)):
        half = -(-(m - 1) // 2)
        for data in product(range(m), repeat=n):
            if list(data) != sorted(data):
                continue
            counts = [data.count(cell) for cell in range(m)]
            near = [distance(counts, sample, n) for sample, _ in samples(m, k)]
            for h in range(k // 2 + 1):
                assert sum(d <= (h + Fraction(1, 2)) * Fraction(n, k) for d in near) >= math.comb(half + h, h)


def test_the_error_covers_and_is_about_rows():
    rng = np.random.default_rng(9)
    mechanism = make(16, 500, None, 1)
    counts = rng.multinomial(500, np.ones(16) / 16)
    with seeded(10):
        found = [float(mechanism.shortfall(counts, mechanism.release(counts))) for _ in range(30)]
    assert max(found) <= mechanism.error("0.5") <= mechanism.error("0.999999")
    assert mechanism.points == min((2**i for i in range(15)), key=lambda k: make(16, 500, k, 1).error("0.5"))


def test_the_error_is_the_least_that_is_proved():
    for m, n, k, epsilon in ((5, 400, 8, "0.5"), (16, 500, 200, "2"), (2, 30, 6, "1")):
        half, rate = math.ceil((m - 1) / 2), float(epsilon) / 2
        every = math.log(math.comb(k + m - 1, m - 1) / 0.05)
        wanted = min((h + 0.5) * n / k + (every - math.log(math.comb(half + h, h))) / rate for h in range(k // 2 + 1))
        assert wanted < n
        assert make(m, n, k, epsilon).error("0.95") == pytest.approx(wanted, rel=1e-5)
        wanted = min(n, 0.5 * n / k + (k * math.log(m) + math.log(20)) / rate)
        assert make(m, n, k, epsilon, "sequences").error("0.95") == pytest.approx(wanted, rel=1e-5)


def test_a_large_sample_in_seconds():
    rng = np.random.default_rng(11)
    bins = Bins.even(0, 1, 256)
    counts = bins.count(rng.beta(2, 5, 10**5))
    mechanism = KolmogorovSmirnov(bins=bins, rows=10**5, points=1000, epsilon=1)
    released = mechanism.release(counts)
    assert released.sum() == 1000
    assert released.min() >= 0
    assert mechanism.shortfall(counts, released) < 1000
    rows = mechanism.synthetic(released)
    assert rows.size == 1000
    assert (bins.count(rows) == released).all()


def test_what_it_promises_and_what_it_is():
    mechanism = make(3, 4, 3, "0.5", unit="replace one person")
    assert mechanism.guarantee == dither.bounded_range("0.5", unit="replace one person")
    assert mechanism.loss().epsilon(0) == pytest.approx(0.5)
    assert mechanism == make(3, 4, 3, "0.5", unit="replace one person")
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"points": 0}, NumberError),
        ({"points": -1}, NumberError),
        ({"points": 2.5}, NumberError),
        ({"points": 2**22}, SizeError),
        ({"points": 1300, "base": "sequences"}, SizeError),
        ({"cells": 2049}, SizeError),
        ({"rows": 0}, NumberError),
        ({"rows": 2**36}, NumberError),
        ({"rows": math.inf}, NumberError),
        ({"rows": math.nan}, NumberError),
        ({"epsilon": 0}, NumberError),
        ({"epsilon": -1}, NumberError),
        ({"epsilon": math.nan}, NumberError),
        ({"epsilon": math.inf}, NumberError),
        ({"base": "bags"}, DataError),
        ({"base": None}, DataError),
        ({"cells": 1}, SizeError),
        ({"unit": "somebody"}, InputError),
    ],
)
def test_what_is_refused(wrong, error):
    with pytest.raises(error):
        make(**wrong)


def test_bins_and_counts_that_are_refused():
    with pytest.raises(DataError):
        KolmogorovSmirnov(bins=[0, 1, 2], rows=3, points=2, epsilon=1)
    for counts in ([1, 2], [1, 2, 3, 4], [1.5, 2, 3], ["a", 1, 2], None, 3):
        with pytest.raises(InputError):
            make().release(counts)


def test_any_counts_are_answered():
    for counts in ([0, 0, 0], [10**18, 0, 0], [0, 0, 10**400], [-5, 3, 2], [2**63 - 1] * 3):
        for base in BASES:
            assert make(base=base).release(counts).sum() == 3


@pytest.mark.filterwarnings("error")
def test_extreme_parameters_are_answered():
    for epsilon in ("1e-9", "1e-17", "1e-30", "1e-320", "1e-400", "1e6", "1e30", "1e308", "1e400", dither.ln(3)):
        for base in BASES:
            mechanism = make(4, 10**6, 5, epsilon, base)
            assert mechanism.release([10**6, 0, 0, 0]).sum() == 5
            assert 0 < mechanism.error("0.95") <= 10**6
            assert make(4, 10**6, None, epsilon, base).points >= 1
    assert make(2, 2**35, 7, 1).release([2**34, 2**34]).sum() == 7
    assert make(2, 2**35, 10, "1e300").release([2**35 // 3, 0]).sum() == 10
    assert make(3, 1, 1000, 1).release([0, 1, 0]).sum() == 1000
    assert make(2, 1, None, "1e-3").points >= 1


def test_only_samples_of_the_right_size_are_read():
    for released in ([1, 0, 0], [2, 2, 0], [10**12, 0, 0], [-1, 4, 0]):
        with pytest.raises(DataError, match="3 points"):
            make().synthetic(released)
        with pytest.raises(DataError, match="3 points"):
            make().shortfall([1, 2, 1], released)
    assert module.MOST_STATES == 2**22
