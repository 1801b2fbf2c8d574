"""Means, variances and covariances beside split budgets at equal epsilon; what intervals cost, and how often they hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks import report
from benchmarks.clock import best
from dither import Geometric, Number
from dither.density import Covariance, Moments

G = 2**16
CASES = [("U", 1000, "0.1"), ("U", 1000, "1"), ("U", 10_000, "0.1"), ("U", 10_000, "1")]
CASES += [("Beta(2,20)", n, epsilon) for _, n, epsilon in CASES]
REPLACE = "replace one person"


def data(name: str, rows: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.random(rows) if name == "U" else rng.beta(2, 20, rows)


def rmse(found: np.ndarray, truth: float) -> float:
    return math.sqrt(float(np.mean((found - truth) ** 2)))


def noisy(value: float, reach: float, epsilon: Number, runs: int) -> np.ndarray:
    """A sum with geometric noise on a grid of 1/G, in records: what a baseline releases."""
    law = Geometric(epsilon=epsilon, sensitivity=math.ceil(reach * G)).law
    return value + law.sample(runs) / G


def split_mean(u: np.ndarray, epsilon: Number, runs: int) -> np.ndarray:
    """A sum of distances from the middle and a count, with half of epsilon each."""
    sums, counts = noisy((u - 0.5).sum(), 0.5, epsilon / 2, runs), noisy(len(u), 1, epsilon / 2, runs)
    return np.clip(0.5 + sums / np.maximum(counts, 1), 0, 1)


def split_variance(u: np.ndarray, epsilon: Number, runs: int, *, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    """A count, a sum and a sum of squares with a third each; sums of distances from the middle, or of the values."""
    third, shift = epsilon / 3, 0.5 if centred else 0.0
    counts = np.maximum(noisy(len(u), 1, third, runs), 1)
    if centred:  # squares of distances from the middle lie in 0..1/4: their own middle is taken off as well
        mean = noisy((u - shift).sum(), 0.5, third, runs) / counts
        squares = 0.125 + noisy(((u - shift) ** 2 - 0.125).sum(), 0.125, third, runs) / counts
    else:
        mean = noisy(u.sum(), 1, third, runs) / counts
        squares = noisy((u**2).sum(), 1, third, runs) / counts
    return np.clip(mean + shift, 0, 1), np.clip(squares - mean**2, 0, 0.25)


def released(mechanism: Moments, u: np.ndarray, runs: int) -> list:
    counters = mechanism.count(u)
    return [mechanism.release(counters) for _ in range(runs)]


def main(*, soak: bool = False) -> None:
    errors(runs=40_000 if soak else 8_000)
    replaced(runs=40_000 if soak else 4_000)
    gaussian()
    covariances(runs=20_000 if soak else 2_000)
    intervals(runs=4_000 if soak else 400)


def errors(runs: int) -> None:
    """Add/remove: means from two counters; means and variances from three."""
    means, variances = [], []
    for name, n, text in CASES:
        u, epsilon, title = data(name, n), Number(text), f"{name}, {n:,}, {text}"
        mean, variance = float(u.mean()), float(u.var())
        two = np.array([s.mean for s in released(Moments(epsilon=epsilon, low=0, high=1, steps=G), u, runs)])
        three = released(Moments(epsilon=epsilon, low=0, high=1, degree=2, steps=G), u, runs)
        splits = [split_variance(u, epsilon, runs, centred=centred) for centred in (True, False)]
        found = [rmse(two, mean), rmse(split_mean(u, epsilon, runs), mean)]
        means.append([title, *(f"{x:.3g}" for x in found), *report.limit(found[0] / found[1], 0.75)])
        spreads = [np.array([s.variance for s in three]), *(split[1] for split in splits)]
        centres = [np.array([s.mean for s in three]), *(split[0] for split in splits)]
        cells = [f"{rmse(x, variance):.3g}" for x in spreads] + [f"{rmse(x, mean):.3g}" for x in centres]
        variances.append([title, *cells])
    columns = ["data, n, eps", "two counters", "sum and count, half each", "ratio", "at most"]
    report.table(f"RMSE of a mean, {runs} releases", columns, means)
    columns = ["data, n, eps", "var, ours", "var, centred split", "var, raw split", "its mean", "of centred", "of raw"]
    report.table("RMSE of a variance, beside thirds, and of the mean from the same releases", columns, variances)


def replaced(runs: int) -> None:
    """Replace one: what is released, beside the counters themselves with noise for twice a record."""
    rows = []
    for name, n, text in CASES[1::4]:
        u, epsilon = data(name, n), Number(text)
        mean = float(u.mean())
        private = released(Moments(epsilon=epsilon, low=0, high=1, steps=G, unit=REPLACE), u, runs)
        public = released(Moments(epsilon=epsilon, low=0, high=1, steps=G, unit=REPLACE, rows=n), u, runs)
        plain = released(Moments(epsilon=epsilon / 2, low=0, high=1, steps=G), u, runs)
        found = [rmse(np.array([s.mean for s in kind]), mean) for kind in (plain, private, public)]
        rows.append([f"{name}, {n:,}, {text}", *(f"{x:.2g}" for x in found), *(f"{found[0] / x:.2f}x" for x in found[1:])])
    columns = ["data, n, eps", "counters at eps/2", "n private", "n public", "gain", "gain"]
    report.table("RMSE of a mean, replace one person", columns, rows)


def gaussian() -> None:
    """At rho = 1/2 sigma is the L2 norm: of (u, 1 - u) it is 1 at both ends, of u - 1/2 it is 1/2 there, of a count 1."""
    rows = []
    for mean in (0.5, 0.25, 0.1, 0.0):
        pair = math.hypot(mean, 1 - mean)
        halves = math.sqrt(2) * math.hypot(0.5, 0.5 - mean)  # half of rho each: sigma grows by sqrt 2
        rows.append([f"{mean}", f"{pair:.4f}", f"{halves:.4f}", f"{pair / halves:.2f}x"])
    title = "Gaussian noise, rho = 1/2: deviation of a mean, times n over the range (closed form)"
    report.table(title, ["mean", "two counters", "centred sum and count, half each", "ratio"], rows)


def covariances(runs: int) -> None:
    rng = np.random.default_rng(9)
    x = rng.random(10_000)
    y = (x + rng.random(10_000)) / 2
    truth = float(np.cov(x, y, bias=True)[0, 1])
    rows = []
    for text in ("0.1", "1"):
        epsilon = Number(text)
        pair = Covariance(epsilon=epsilon, first=(0, 1), second=(0, 1), steps=G)
        counters = pair.count(x, y)
        ours = np.array([pair.release(counters).covariance for _ in range(runs)])
        quarter = epsilon / 4
        counts = np.maximum(noisy(len(x), 1, quarter, runs), 1)
        sums = [noisy((z - 0.5).sum(), 0.5, quarter, runs) / counts for z in (x, y)]
        split = noisy(((x - 0.5) * (y - 0.5)).sum(), 0.25, quarter, runs) / counts - sums[0] * sums[1]
        found = rmse(ours, truth), rmse(split, truth)
        rows.append([text, *(f"{value:.2g}" for value in found), f"{found[0] / found[1]:.2f}x"])
    report.table("RMSE of a covariance, n = 10,000", ["eps", "four counters", "centred, a quarter each", "ratio"], rows)


def intervals(runs: int) -> None:
    """How often 95% intervals hold, how wide they are beside 4 deviations of what is released, and their time."""
    u, rows = data("Beta(2,20)", 1000), []
    mechanism = Moments(epsilon=1, low=0, high=1, degree=2)
    listed = released(mechanism, u, runs)
    asked: list[tuple[str, Callable, Callable, float]] = [
        ("mean", lambda s: s.mean_interval("0.95"), lambda s: s.mean, float(u.mean())),
        ("variance", lambda s: s.variance_interval("0.95"), lambda s: s.variance, float(u.var())),
    ]
    for name, ask, estimate, truth in asked:
        found = [ask(s) for s in listed]
        held = np.mean([low <= truth <= high for low, high in found])
        spread = 4 * float(np.std([estimate(s) for s in listed]))
        wide = float(np.mean([high - low for low, high in found]))
        seconds = best(lambda ask=ask: ask(listed[0]), runs=5)
        rows.append([name, f"{held:.1%}", f"{wide:.2g}", f"{spread:.2g}", f"{1000 * seconds:.1f} ms"])
    report.table("95% intervals: Beta(2,20), n = 1000, eps = 1", ["of", "held", "width", "4 deviations", "time"], rows)
    million = np.random.default_rng(1).random(10**6)
    took = best(lambda: mechanism.count(million), runs=3)
    report.table("Time", ["what", "seconds"], [["counters of a million values, degree 2", f"{took:.3f}"]])
