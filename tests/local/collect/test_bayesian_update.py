"""The iterative Bayesian update: right, never worse, and stopping in time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dither import Channel
from dither.channels.kernels import FlatKernel, GeometricKernel, GridKernel
from dither.errors import InputError
from dither.local.collect import bayesian_update as module
from dither.local.collect.bayesian_update import DenseKernel, bayes
from tests.local.draw import two_hills, unimodal, zipf

SKEWED = Channel([["9/10", "1/10"], ["2/5", "3/5"]])


def reports(kernel, truth, people, seed):
    m = kernel.push(truth)
    return np.random.default_rng(seed).multinomial(people, m / m.sum())


def test_a_channel_that_is_not_symmetric():
    """Multiplying by the matrix twice, and not by its transpose, would give (.57, .37)."""
    found = bayes(SKEWED, [55_000, 45_000], until="convergence")
    assert found.frequency == pytest.approx([0.3, 0.7], abs=1e-3)
    assert found.stopped == "converged"
    assert found.log_likelihood == pytest.approx(55_000 * np.log(0.55) + 45_000 * np.log(0.45), abs=0.01)


def test_one_step_by_hand():
    """p = (1/2, 1/2), m = (.65, .35), h = (.55, .45): Bayes' theorem for each report, averaged."""
    first = 0.55 * 0.45 / 0.65 + 0.45 * 0.05 / 0.35
    found = bayes(SKEWED, [55, 45], until="convergence", most=1)
    assert found.frequency == pytest.approx([first, 1 - first])
    assert (found.iterations, found.stopped) == (1, "limit")


def test_more_outputs_than_inputs():
    channel = Channel([["1/2", "1/4", "1/4"], ["1/8", "1/8", "3/4"]])
    truth = np.array([0.6, 0.4])
    found = bayes(channel, truth @ channel.matrix * 1e6, until="convergence")
    assert found.frequency == pytest.approx(truth, abs=1e-3)


KERNELS = [
    (FlatKernel(30, "1.5"), zipf(30)),
    (GeometricKernel(60, "0.3"), two_hills(60)),
    (GridKernel(8, 6, "0.7"), unimodal(48)),
    (DenseKernel(SKEWED), np.array([0.2, 0.8])),
]


@pytest.mark.parametrize(("kernel", "truth"), KERNELS, ids=lambda one: type(one).__name__)
def test_the_likelihood_never_falls(kernel, truth):
    counts, seen = reports(kernel, truth, 3000, 1), []
    found = bayes(kernel, counts, until="convergence", most=400, progress=lambda *at: seen.append(at))
    assert [iteration for iteration, _ in seen] == list(range(found.iterations + 1))
    values = np.array([value for _, value in seen])
    assert (np.diff(values) >= -1e-9 * abs(values[0])).all()
    assert values[-1] > values[0]
    assert values[-1] == found.log_likelihood
    assert found.frequency.sum() == pytest.approx(1)
    assert (found.frequency >= 0).all()


@pytest.mark.parametrize("size", [2, 30, 500, 5000])
def test_what_is_held_out_is_uncorrelated_with_what_is_fitted(size):
    """The mean over signs of fitted times held out is c^2 - v: if v is the variance of c, its mean is the mean squared."""
    counts = np.arange(size) % 40 * 1.0
    variance = counts * (np.arange(size) % 3 / 2)
    fitted, held = module.split(counts, variance)
    assert fitted.min() >= 0
    assert (fitted.mean(axis=0), held.mean(axis=0)) == (pytest.approx(counts), pytest.approx(counts))
    assert (fitted * held).mean(axis=0) == pytest.approx(counts**2 - variance)
    assert len(fitted) * size >= min(32 * size, 2 * 700)
    signs = np.sign(fitted - counts)[: len(fitted) // 2, variance > 0]
    if size > 30:
        assert (np.abs(signs.mean(axis=1)) < 0.2).all()
        assert all(abs(a @ b) < 0.25 * len(a) for a, b in combinations(signs, 2))


def test_signs_are_the_same_everywhere():
    """Whole numbers alone: a square times a power of an odd number, modulo 2^64, and its top bit."""
    rows = module.signs(6, 16)
    by_hand = [
        [1 - 2 * (at * at * pow(module.ODD, row + 1, 2**64) % 2**64 >> 63) for at in range(1, 7)] for row in range(16)
    ]
    assert rows.tolist() == by_hand + [[-sign for sign in row] for row in by_hand]


@pytest.mark.parametrize("truth", [unimodal(1000), two_hills(1000)], ids=["one hill", "two hills"])
def test_convergence_fits_noise_and_the_stop_does_not(truth):
    """1,000 values in order, noise e^(-|x|/20), 100,000 people: errors in L1, of the least on the way as well."""
    kernel = GeometricKernel(1000, "0.05")
    counts = reports(kernel, truth, 100_000, 3)
    stopped, smooth = bayes(kernel, counts), bayes(kernel, counts, smooth=True)
    long = bayes(kernel, counts, until="convergence", most=2000)
    error = {name: np.abs(one.frequency - truth).sum() for name, one in (("stop", stopped), ("smooth", smooth))}
    assert stopped.stopped == smooth.stopped == "held-out"
    assert 1 <= stopped.iterations < 60
    assert max(error.values()) < 0.06
    assert np.abs(long.frequency - truth).sum() > 8 * max(error.values())
    assert long.log_likelihood > stopped.log_likelihood  # and yet
    best = min(np.abs(bayes(kernel, counts, most=k).frequency - truth).sum() for k in range(stopped.iterations + 1))
    assert error["stop"] < 1.5 * best
    kept = bayes(kernel, counts, until="convergence", smooth=True, most=2000)
    assert np.abs(kept.frequency - truth).sum() < 0.1


def test_the_stop_on_a_flat_channel():
    """Steps are tiny there, and it must not stop at the start for that."""
    kernel, truth = FlatKernel(100, 2), zipf(100)
    counts = reports(kernel, truth, 100_000, 4)
    found = bayes(kernel, counts)
    assert found.stopped == "held-out"
    assert found.iterations > 100
    assert np.abs(found.frequency - truth).sum() < 0.4


def test_a_grid():
    """30 by 20 cells, two hills by one hill."""
    kernel, truth = GridKernel(30, 20, "0.8"), np.outer(unimodal(20), two_hills(30)).ravel()
    counts = reports(kernel, truth, 200_000, 5)
    stopped, long = bayes(kernel, counts), bayes(kernel, counts, until="convergence", most=1500)
    assert stopped.stopped == "held-out"
    assert np.abs(stopped.frequency - truth).sum() < 0.15
    assert np.abs(long.frequency - truth).sum() > 1.3 * np.abs(stopped.frequency - truth).sum()
    dense = bayes(Channel(kernel.push(np.eye(600))), counts)
    assert dense.iterations == stopped.iterations
    assert dense.frequency == pytest.approx(stopped.frequency, abs=1e-9)


def test_a_warm_start_goes_on_where_it_was():
    kernel = GeometricKernel(50, "0.4")
    counts = reports(kernel, two_hills(50), 5000, 6)
    first = bayes(kernel, counts, until="convergence", most=7)
    second = bayes(kernel, counts, until="convergence", most=5, start=first.frequency)
    assert second.frequency == pytest.approx(bayes(kernel, counts, until="convergence", most=12).frequency, rel=1e-9)
    done = bayes(kernel, counts)
    again = bayes(kernel, counts, start=done.frequency)
    assert again.iterations == 0
    assert again.frequency == pytest.approx(done.frequency)


def test_smoothing_by_hand():
    """(1/4, 1/2, 1/4), ends repeated, after a step that changes nothing: all that is said is certain."""
    certain = Channel.identity(range(4))
    found = bayes(certain, [8, 0, 0, 0], until="convergence", smooth=True, most=1)
    assert found.frequency == pytest.approx([0.75, 0.25, 0, 0])
    assert bayes(FlatKernel(5, 1), [3] * 5, until="convergence", smooth=True).stopped == "converged"


def test_what_it_says():
    assert "held out are likeliest" in str(bayes(FlatKernel(4, 1), [6, 5, 5, 5]))
    assert "limit" in str(bayes(FlatKernel(4, 1), [50, 5, 5, 5], most=0))
    assert "changes nothing" in str(bayes(FlatKernel(4, 1), [500, 1, 1, 1], until="convergence"))


def test_bad_input_is_refused_with_words():
    flat = FlatKernel(3, 1)
    for bad in (
        lambda: bayes(flat, [1, 2]),
        lambda: bayes(flat, [1, 2, -3]),
        lambda: bayes(flat, [0, 0, 0]),
        lambda: bayes(flat, [0.2, 0.3, 0.5]),
        lambda: bayes(flat, "abc"),
        lambda: bayes(flat, [1, 2, float("inf")]),
        lambda: bayes(flat, [1, 2, 3], until="bored"),
        lambda: bayes(flat, [1, 2, 3], smooth="no"),
        lambda: bayes(flat, [1, 2, 3], most=-1),
        lambda: bayes(flat, [1, 2, 3], start=[1, 2]),
        lambda: bayes(flat, [1, 2, 3], start=[1, -2, 3]),
        lambda: bayes(flat, [1, 2, 3], start="none"),
        lambda: bayes(Channel.identity(range(3)), [1, 2, 3], start=[1, 1, 0]),
        lambda: bayes(SKEWED, [1, 2, 3]),
        lambda: bayes([[1]], [1]),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
