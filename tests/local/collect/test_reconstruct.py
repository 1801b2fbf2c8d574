"""From reports to frequencies: inversion, the exact maximum of the likelihood, and intervals that hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dither import Channel, ln
from dither.channels.kernels import FlatKernel, GeometricKernel
from dither.errors import InputError
from dither.local.collect.bayesian_update import bayes
from dither.local.collect.reconstruct import clip, invert, simplex, water_filling
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from tests.local.draw import direct_counts, tally, two_hills, unimodal, whole, zipf


def exact_maximum(shares, grown):
    """The only support that has the conditions of Karush, Kuhn and Tucker, by going through all of them, in fractions."""
    size = len(shares)
    q = 1 / (grown + size - 1)
    gap, found = (grown - 1) * q, []
    for count in range(1, size + 1):
        for support in combinations(range(size), count):
            t = sum(shares[i] for i in support) / (gap + count * q)
            p = [(shares[i] / t - q) / gap if i in support and t else Fraction(0) for i in range(size)]
            if all(p[i] > 0 for i in support) and all(shares[i] <= q * t for i in range(size) if i not in support):
                found.append(p)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("grown", [Fraction(3), Fraction(11, 10), Fraction(40)])
def test_water_filling_is_the_exact_maximum(grown):
    rng = np.random.default_rng(1)
    cases = [rng.integers(0, 12, size) for size in (2, 3, 4, 5, 6) for _ in range(8)]
    cases += [np.array(c) for c in ([1, 0, 0], [5, 5, 5], [9, 9, 1, 1], [0, 1], [1000, 0, 1])]
    for counts in cases:
        if counts.sum() == 0:
            continue
        shares = [Fraction(int(c), int(counts.sum())) for c in counts]
        best = exact_maximum(shares, grown)
        assert sum(best) == 1
        assert water_filling(counts, ln(grown)) == pytest.approx([float(p) for p in best], abs=1e-12)


def test_water_filling_against_brute_force():
    """No distribution is likelier: not the end of a long iteration, and none of many at random."""
    rng = np.random.default_rng(2)
    for size, epsilon in ((3, "0.5"), (6, 1), (20, 2)):
        kernel, counts = FlatKernel(size, epsilon), rng.multinomial(500, unimodal(size))
        found = water_filling(counts, epsilon)

        def likelihood(p, kernel=kernel, counts=counts):
            return np.log(np.maximum(kernel.push(p), 1e-300)) @ counts

        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()
        end = bayes(kernel, counts, until="convergence", most=50_000)
        assert end.stopped == "converged"
        assert likelihood(found) - 0.01 <= end.log_likelihood <= likelihood(found) + 1e-9
        assert end.frequency == pytest.approx(found, abs=0.02)
        near = np.abs(found + rng.normal(0, 0.02, (20_000, size)))
        for tried in (rng.dirichlet(np.ones(size), 20_000), near / near.sum(axis=1, keepdims=True)):
            assert likelihood(tried).max() <= likelihood(found)


def test_water_filling_at_the_edges():
    assert water_filling([3, 3, 3], 1) == pytest.approx(1 / 3)
    assert water_filling([7, 0, 0], "0.001").tolist() == [1, 0, 0]
    assert water_filling([7, 2, 1], 800) == pytest.approx([0.7, 0.2, 0.1])
    shares = np.array([0.3, 0.3, 0.4])  # inside, it is the inverse
    assert water_filling(shares, 3) == pytest.approx(invert(DirectEncoding(3, epsilon=3).channel(), shares))


def test_inversion_is_exact_for_the_textbook_coin():
    coin = CoinFlip().channel()
    assert invert(coin, [0.25, 0.75]).tolist() == [0, 1]
    assert invert(coin, [300, 500]).tolist() == [0.25, 0.75]
    assert invert([["3/4", "1/4"], ["1/4", "3/4"]], [1, 0]).tolist() == [1.5, -0.5]
    skewed = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert invert(skewed, [0.55, 0.45]) == pytest.approx([0.3, 0.7])


def test_inversion_is_the_raw_estimate_of_direct_encoding():
    survey = DirectEncoding(5, epsilon=1)
    counts = np.array([30, 20, 10, 25, 15])
    assert invert(survey.channel(), counts) == pytest.approx(survey.estimate(tally(survey, counts), method="raw").raw)


@pytest.mark.parametrize("method", [clip, simplex])
def test_lists_are_made_distributions_as_arrays_are(method):
    raw = [0.75, 0.5, -0.25]
    assert method(raw).tolist() == method(np.array(raw)).tolist()
    for bad in ([], [[1.0]], ["many"], [float("nan"), 1], None):
        with pytest.raises(InputError, match="raw"):
            method(bad)


def test_what_cannot_be_inverted_is_refused_with_words():
    line = Channel(GeometricKernel(400, "0.00001").push(np.eye(400)))
    for bad, word in (
        (lambda: invert([["1/2", "1/2"], ["1/2", "1/2"]], [1, 1]), "look the same"),
        (lambda: invert(line, np.ones(400)), "multiplies errors"),
        (lambda: invert([["1/2", "1/4", "1/4"], [0, 1, 0]], [1, 1, 1]), "as many outputs"),
        (lambda: invert(CoinFlip().channel(), [1, 1, 1]), "size"),
        (lambda: invert(CoinFlip().channel(), [1, -1]), "below zero"),
        (lambda: invert(CoinFlip().channel(), [0, 0]), "above"),
        (lambda: invert(CoinFlip().channel(), ["many", 1]), "not numbers"),
        (lambda: invert(3, [1, 1]), "matrix"),
        (lambda: water_filling([float("nan"), 1], 1), "below zero"),
        (lambda: water_filling([], 1), "size"),
        (lambda: water_filling([1, 1], 0), "epsilon"),
    ):
        with pytest.raises(InputError, match=f"is refused.*{word}|{word}.*is refused"):
            bad()


# The largest L1 errors to be seen: 100 values, 100,000 people, epsilon = 2. Those of simplex and likelihood are .33 on zipf
# and .25 on a hill, on average. Smoothing flattens a hill of a few cells.
LARGEST = {"raw": 0.55, "clip": 0.45, "simplex": 0.42, "likelihood": 0.42, "bayes": 0.5, "smooth": 0.8}


@pytest.mark.parametrize("truth", [zipf(100), unimodal(100), two_hills(100)], ids=["zipf", "unimodal", "two hills"])
def test_direct_encoding_is_reconstructed_by_all_methods(truth):
    survey, sizes = DirectEncoding(100, epsilon=2), whole(truth, 100_000)
    reports = direct_counts(survey, sizes, np.random.default_rng(4), 1)[0]
    assert set(survey.methods) == set(LARGEST)
    for method in survey.methods:
        found = survey.estimate(tally(survey, reports), method=method)
        assert np.abs(found.frequency - sizes / 100_000).sum() < LARGEST[method], method
        assert found.method == method
        if method != "raw":
            assert found.frequency.sum() == pytest.approx(1)
            assert (found.frequency >= 0).all()
        if method in ("bayes", "smooth"):
            alone = bayes(FlatKernel(100, 2), reports, smooth=method == "smooth")
            assert found.frequency.tolist() == alone.frequency.tolist()


def test_a_line_is_reconstructed_by_all_methods():
    """Geometric noise at the source, 40 values in order."""
    kernel, truth = GeometricKernel(40, 1), two_hills(40)
    counts = np.random.default_rng(5).multinomial(100_000, kernel.push(truth))
    raw = invert(Channel(kernel.push(np.eye(40))), counts)
    found = {"raw": raw, "clip": clip(raw), "simplex": simplex(raw)}
    found["bayes"] = bayes(kernel, counts).frequency
    found["converged"] = bayes(kernel, counts, until="convergence").frequency
    found["smooth"] = bayes(kernel, counts, smooth=True).frequency
    for method, p in found.items():
        assert np.abs(p - truth).sum() < (0.3 if method == "smooth" else 0.1), method


def test_intervals_hold_and_those_around_clipped_frequencies_do_not():
    """2,000 runs, 100 values, 100,000 people, epsilon = 1. Bounds are 5.6 deviations below 95%: for all 100 values
    together a false alarm is rarer than 1e-6."""
    runs, people = 2000, 100_000
    survey, sizes = DirectEncoding(100, epsilon=1), whole(zipf(100), people)
    truth = sizes / people
    drawn = direct_counts(survey, sizes, np.random.default_rng(6), runs)
    inside, clipped, projected = (np.zeros((runs, 100), dtype=bool) for _ in range(3))
    for run, counts in enumerate(drawn):
        found = survey.estimate(tally(survey, counts), method="raw")
        inside[run] = (found.low <= truth) & (truth <= found.high)
        half = 1.96 * found.deviation
        clipped[run] = np.abs(clip(found.raw) - truth) <= half
        projected[run] = np.abs(simplex(found.raw) - truth) <= half
    slack = 5.6 * (0.95 * 0.05 / runs) ** 0.5
    assert inside.mean(axis=0).min() >= 0.95 - slack
    assert inside.mean(axis=0)[0] >= 0.95 - slack
    assert inside.mean() == pytest.approx(0.95, abs=0.01)
    assert clipped.mean(axis=0)[0] < 0.05
    assert projected.mean(axis=0)[0] < inside.mean(axis=0)[0]
