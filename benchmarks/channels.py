"""The best mechanism for a count beside plain HiGHS and qif, the epsilon of a large channel, products, linear queries."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import Channel, Number, optimal
from dither.channels import graph
from dither.channels.kernels import FlatKernel, GeometricKernel
from dither.mechanisms.workload import strategy
from dither.mechanisms.workload.strategy import Strategy

EPSILON = 1
LONGEST = 60  # seconds that a peer may take
LIMITS = {200: 0.1, 1000: 3.0}  # seconds of CPU


def main(*, soak: bool = False) -> None:
    mechanisms(largest=200 if soak else 100, runs=9 if soak else 3)
    epsilons(runs=9 if soak else 3)
    products(runs=30 if soak else 9)
    workloads((64, 256, 1000) if soak else (64, 256))


def mechanisms(largest: int, runs: int) -> None:
    """Absolute error, uniform prior: ours with its proved gap; a solver's answer has neither promise nor proof."""
    rows = []
    for n in (20, 50, 100, 200, 1000):
        found = optimal(range(n + 1), epsilon=EPSILON, gain="absolute")
        mine = best(lambda n=n: optimal(range(n + 1), epsilon=EPSILON, gain="absolute"), runs=runs)
        row = [str(n), f"{mine:.3f}", f"{found.utility:.9f}", f"{found.gap:.0e}"]
        if n <= largest:
            seconds, value, broken = plain_highs(n + 1)
            row += [f"{seconds:.2f}", f"{seconds / mine:.0f}x", f"{value - found.utility:+.0e}", f"{broken:.0e}"]
        else:
            row += ["not run", "", "", ""]
        answer = ask("qif", {"ask": "optimal", "size": n + 1, "epsilon": EPSILON}, timeout=LONGEST) if n <= 100 else {}
        row.append(f"{answer['seconds'] / mine:.0f}x" if "seconds" in answer else "failed" if answer else "not run")
        limit = LIMITS.get(n)
        row.append("" if limit is None else f"{limit:g} s {'reached' if mine <= limit else 'MISSED'}")
        rows.append(row)
    columns = ["n", "s", "utility", "gap", "HiGHS s", "", "off by", "breaks ε by", "qif", "wanted"]
    report.table("The best mechanism for a count, seconds of CPU", columns, rows)


def plain_highs(count: int) -> tuple[float, float, float]:
    """The linear program as it stands: seconds, its value, and how far its answer breaks the promise."""
    growth = math.exp(EPSILON)
    i, o = (grid.ravel() for grid in np.meshgrid(np.arange(count - 1), np.arange(count), indexing="ij"))
    near, far = i * count + o, (i + 1) * count + o
    at = np.arange(near.size)
    rows = np.concatenate([at, at, near.size + at, near.size + at])
    columns = np.concatenate([near, far, far, near])
    values = np.concatenate([np.ones(near.size), np.full(near.size, -growth)] * 2)
    shape = (2 * near.size, count * count)
    upper = coo_matrix((values, (rows, columns)), shape=shape).tocsr()
    cells = np.arange(count * count)
    sums = coo_matrix((np.ones(count * count), (cells // count, cells)), shape=(count, count * count)).tocsr()
    cost = np.abs(cells // count - cells % count) / count
    found = []

    def solve() -> None:
        found.append(linprog(cost, A_ub=upper, b_ub=np.zeros(shape[0]), A_eq=sums, b_eq=np.ones(count), method="highs"))

    seconds = best(solve, runs=1)
    matrix = found[0].x.reshape(count, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.abs(np.diff(np.log(matrix), axis=0))
    return seconds, -found[0].fun, float(np.nanmax(logs)) - EPSILON


def epsilons(runs: int) -> None:
    """A geometric channel in floats: the exact epsilon of that matrix, on a path, beside qif's float over all pairs."""
    rows = []
    for size in (200, 1000):
        place, a = np.arange(size), math.exp(-0.1)
        scale = np.where((place == 0) | (place == size - 1), 1 / (1 + a), (1 - a) / (1 + a))
        matrix = a ** np.abs(place[:, None] - place) * scale
        channel, path = Channel(matrix), graph.path(range(size))
        mine = best(lambda channel=channel, path=path: channel.epsilon(path), runs=runs)
        answer = ask("qif", {"ask": "epsilon", "size": size, "epsilon": 0.1}, timeout=300)
        row = [f"{size} x {size}", f"{mine * 1e3:.1f}", f"{channel.epsilon(path).epsilon:.16g}"]
        if "error" in answer:
            rows.append([*row, str(answer["error"])[:40], "", "", ""])
        else:
            theirs = float(str(answer["seconds"]))
            rows.append([*row, f"{theirs * 1e3:.0f}", *report.target("", theirs / mine, 50)[1:]])
    columns = ["channel", "dither, ms", "ε", "qif, ms", "faster by", "wanted", ""]
    report.table("The exact epsilon of a channel, CPU", columns, rows)


def products(runs: int) -> None:
    """A prior through a channel: without its matrix, and with it."""
    rows = []
    for size in (1000, 4000):
        vector = np.random.default_rng(1).random(size)
        for name, kernel in (
            ("flat", FlatKernel(size, Number("0.05"))),
            ("geometric", GeometricKernel(size, Number("0.05"))),
        ):
            dense = kernel.push(np.eye(size))
            seconds = [
                best(lambda call=call: [call() for _ in range(20)], runs=runs) / 20
                for call in (lambda k=kernel, v=vector: k.push(v), lambda d=dense, v=vector: v @ d)
            ]
            rows.append([f"{name}, {size}", *(f"{s * 1e6:.0f}" for s in seconds), f"{seconds[1] / seconds[0]:.0f}x"])
    report.table("A prior through a channel, microseconds of CPU", ["channel", "without", "with matrix", "faster by"], rows)


def workloads(sizes: tuple[int, ...]) -> None:
    """Prefixes of a histogram: the optimum for Gaussian noise beside its lower bounds, and the plain choices."""
    rows = []
    for size in sizes:
        queries = np.tril(np.ones((size, size)))
        found: list[Strategy] = []
        seconds = best(lambda queries=queries, found=found: found.append(strategy.gaussian(queries)), runs=1)
        it = found[-1]
        rows.append([
            f"{size} prefixes", f"{seconds:.2f}", f"{it.rmse:.4f}", f"{it.dual_bound:.4f}", f"{it.svd_bound:.4f}",
            f"{it.rmse / it.svd_bound:.3f}x", f"{it.compared['identity']:.2f}", f"{strategy.laplace(queries).rmse:.2f}",
        ])  # fmt: skip
    columns = ["queries", "s", "rmse", "dual", "SVD bound", "above it", "identity", "Laplace"]
    report.table("Linear queries: rmse for each unit of noise, seconds of CPU", columns, rows)
