"""How long a step of private gradient descent takes, beside Opacus and plain steps: CPU of one thread, in turns.

A network of two convolutions, 26,010 weights, images of 28 by 28, Poisson samples of 256 expected rows. Ours is the whole
step: coins of 12,800 people, gradients, clipping, exact sums, exact noise and the step. Opacus has its batch already, which
is in its favour.
"""

from __future__ import annotations

from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.learn.sides import one_thread
from benchmarks.peer import ask

NETWORK = (
    "nn.Sequential(nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 16, 8, 2, padding=3), nn.Tanh(), nn.MaxPool2d(2, 1), "
    "nn.Conv2d(16, 32, 4, 2), nn.Tanh(), nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10))"
)
WIDTH, ROWS, RATE = 784, 12_800, Fraction(1, 50)
ROUNDS, STEPS = 5, 10
BAR = 1.3


def main() -> None:
    """A table of medians, and the bar."""
    try:
        import torch
    except ImportError:
        report.console.print("step time: not run, no torch here (pip install 'dither[torch]')")
        return
    torch.set_num_threads(1)
    step = our_step(torch)
    ours: list[float] = []
    theirs: dict[str, list[float]] = {"plain": [], "private": []}
    told: dict[str, Any] = {}
    with one_thread():
        step()  # what is made once
        for seed in range(ROUNDS):
            job = {"kind": "step time", "network": NETWORK, "width": WIDTH, "rows": ROWS, "rate": float(RATE)}
            told = ask("opacus", {**job, "steps": STEPS, "seed": seed}, one_thread=True)
            if "error" in told:
                report.console.print(f"step time: not run, {told['error']}")
                return
            for name, times in theirs.items():
                times += told[name]
            for _ in range(STEPS):
                start = process_time()
                step()
                ours.append(process_time() - start)
    figures = {"ours: PrivateSGD": ours, f"DP-SGD, {told['version']}": theirs["private"], "plain steps": theirs["plain"]}
    middle = {name: float(np.median(times)) for name, times in figures.items()}
    ratio = middle["ours: PrivateSGD"] / float(np.median(theirs["private"]))
    title = f"step of a network of 26,010 weights, 256 expected rows: ms of CPU, median of {ROUNDS} x {STEPS} in turns"
    rows = [[name, f"{1000 * one:.1f}", f"{one / middle['plain steps']:.2f}"] for name, one in middle.items()]
    report.table(title, ["", "ms", "x plain"], rows)
    said = "reached" if ratio <= BAR else "MISSED"
    report.console.print(f"ours over Opacus: {ratio:.2f}, bar <= {BAR}: {said}")


def our_step(torch: Any) -> Any:
    """One step as `PrivateSGD` makes it, on made-up rows."""
    from dither.learn import PrivateSGD
    from dither.learn.base.cells import read_cells
    from dither.learn.networks.private_sgd import row_inputs
    from dither.learn.networks.sampled_price import SamplePlan
    from dither.learn.networks.sampled_release import SampledRelease

    rng = np.random.default_rng(0)
    network = eval(NETWORK, {"nn": torch.nn})
    model = PrivateSGD(network, epsilon=1, delta="1e-6", bounds=(-1, 1), classes=list(range(10)), rate=1, rows=ROWS)
    cells, labels = read_cells(rng.uniform(-1, 1, (ROWS, WIDTH))), rng.integers(0, 10, ROWS)
    facts = model._facts(cells, labels)
    rows = model._rows(cells, labels, None, facts)
    _, gradients = model._network(facts)
    release = SampledRelease(facts.price, rows, 1, SamplePlan(RATE, 10**6, Fraction(1)), 2**14 + 64)
    weights = rng.normal(0, 0.05, gradients.size).astype(np.float32)
    speed = np.zeros(gradients.size)

    def step() -> None:
        nonlocal weights, speed
        found = release.step(lambda some: gradients.sums(weights, row_inputs(some, facts), some.labels), gradients.size)
        speed = 0.8 * speed + found / (2**14 * 256)
        weights = (weights - 0.1 * speed).astype(np.float32)

    return step
