"""Learning beside diffprivlib, interpret's DP-EBM and DP-SGD of Opacus: the same splits, bounds, epsilon, delta and job.

`python -m benchmarks learn [--task trees] [--seeds 50] [--all] [--without-peers]`
"""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from benchmarks import report
from benchmarks.learn import calibration, coverage, step_time
from benchmarks.learn.data import LOADERS
from benchmarks.learn.scores import Summary, lead, number
from benchmarks.learn.sides import ANY, Side, Trial, run
from benchmarks.learn.tasks import ADULT_SEEDS, EPSILONS, SEEDS, TASKS, Task

NAMES = tuple(task.name for task in TASKS)
COLUMNS = [*(f"eps {epsilon}" for epsilon in EPSILONS), "not private"]
BARS = ["data, eps", "ours (sd)", "bar", "", "best peer (sd)", "lead of ours"]


def main(
    *, soak: bool = False, seeds: int | None = None, every: bool = False, task: str | None = None, peers: bool = True
) -> None:
    """Each task prints a table for each data set, then its bars."""
    report.console.print(f"Python {platform.python_version()}, {_versions()}; {os.cpu_count()} cores")
    for one in TASKS:
        if task in (None, one.name):
            measure(one, seeds=seeds, every=every or soak, peers=peers)


def _versions() -> str:
    listed = []
    for name in ("dither", "numpy", "scikit-learn"):
        try:
            listed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            listed.append(f"{name} not there")
    return ", ".join(listed)


def measure(task: Task, *, seeds: int | None, every: bool, peers: bool) -> None:
    """One task on its data sets; all seeds on Adult only where they were asked for."""
    reached: list[list[str]] = []
    for name in task.data:
        data = LOADERS[name]()
        if data is None:
            report.console.print(f"{task.name} on {name}: not run, its file is not there")
            continue
        count = seeds or (ADULT_SEEDS if name == "adult" and not every else SEEDS)
        trial, before = Trial(task, data, range(count)), os.getloadavg()[0]
        sides = run(trial, peers=peers)
        title = _title(trial, before)
        report.table(title, ["", "privacy", *COLUMNS, "CPU s"], _rows(task, sides))
        if task.areas:
            areas = [[_label(side), *_cells(side.areas, median=False)] for side in sides if side.areas]
            report.table("AUC of the same fits", ["", *COLUMNS], areas)
        for line in _notes(sides) + [one.note for one in task.peers if one.note and peers]:
            report.console.print(line, style="dim", soft_wrap=True)
        reached += _bars(task, name, sides)
        if task.name == "boosting":
            calibration.main(trial, sides)
    if reached:
        report.table(f"{task.name}: bars of {task.measure}", BARS, reached)
    if task.name == "regression":
        coverage.main()
    if task.name == "networks" and peers:
        step_time.main()


def _title(trial: Trial, before: float) -> str:
    kept, runs = trial.arrays["train"].shape[1], len(trial.seeds)
    how = "median (interquartile range / 1.349)" if trial.task.median else "mean (sd)"
    load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    what = "inertia over the best without privacy" if trial.task.kind == "cluster" else trial.task.measure
    seeds = f"{how} of seeds 0..{runs - 1}; {kept:,} rows to fit; median CPU s of a fit"
    return f"{trial.task.name}, {trial.data.name}: {what}, {seeds}; {load}"


def _rows(task: Task, sides: list[Side]) -> list[list[str]]:
    rows = []
    for side in sides:
        if not side.scores:
            reason = side.reason if side.reason == "not there" else "not run"
            rows.append([_label(side), side.privacy, reason, "", "", "", ""])
            continue
        cells = _cells(side.scores, median=task.median)
        rows.append([_label(side), side.privacy, *cells, f"{side.time:.2g}"])
    return rows


def _label(side: Side) -> str:
    return f"{'ours: ' if side.library == 'dither' else ''}{side.name}"


def _cells(scores: dict[str, np.ndarray], *, median: bool) -> list[str]:
    """One for each epsilon, and the last for what is not private."""
    return [str(Summary.of(scores[e], median=median)) if e in scores else "" for e in (*EPSILONS, ANY)]


def _notes(sides: list[Side]) -> list[str]:
    """Which libraries these are, and what failed."""
    libraries = sorted({side.library for side in sides if side.scores and side.library not in ("", "dither")})
    lines = [f"peers: {'; '.join(libraries)}"] if libraries else []
    for side in sides:
        if side.failed:
            lines.append(f"{_label(side)}: {side.failed} fits failed and are left out, the first with {side.reason}")
        elif side.reason.startswith("not run"):
            lines.append(f"{_label(side)}: {side.reason}")
    return lines


def _bars(task: Task, name: str, sides: list[Side]) -> list[list[str]]:
    """Our first estimator beside its bar and the peer that is best here; a peer of several rates counts at its best one."""
    rows = []
    for wanted, what, areas in ((task.bars, "", False), (task.areas, ", AUC", True)):
        for epsilon in EPSILONS:
            mine = (sides[0].areas if areas else sides[0].scores).get(epsilon)
            peers = [
                (side.name, found[epsilon])
                for side in sides[len(task.ours) :]
                if epsilon in (found := side.areas if areas else side.scores) and np.isfinite(found[epsilon]).any()
            ]
            if (name, epsilon) not in wanted and not (peers and mine is not None and not areas):
                continue
            rows.append([f"{name}, {epsilon}{what}", *_bar(task, wanted.get((name, epsilon)), mine, peers)])
    return rows


def _bar(task: Task, bar: float | None, mine: np.ndarray | None, peers: list[tuple[str, np.ndarray]]) -> list[str]:
    sign = 1 if task.higher else -1
    best = max(peers, key=lambda one: sign * Summary.of(one[1], median=task.median).middle, default=None)
    theirs = f"{best[0]} {Summary.of(best[1], median=task.median)}" if best else "-"
    limit = "-" if bar is None else f"{'>=' if task.higher else '<='} {number(bar)}"
    if mine is None:
        return ["not there", limit, "", theirs, ""]
    summary = Summary.of(mine, median=task.median)
    said = "" if bar is None else "reached" if sign * summary.middle >= sign * bar else "MISSED"
    ahead = lead(mine, best[1], median=task.median, higher=task.higher) if best else "-"
    return [str(summary), limit, said, theirs, ahead]
