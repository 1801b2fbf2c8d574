"""The sides of a task on one data set: ours, peers in the same job, scikit-learn without privacy, and a constant."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learn import estimators, scores
from benchmarks.learn.data import Data
from benchmarks.learn.tasks import DELTA, EPSILONS, Peer, Task
from benchmarks.peer import ask
from benchmarks.peers import fits
from dither.testing import seeded

ANY = "any"  # in the place of epsilon, where nothing is private
PATIENCE = 2 * 3600.0  # seconds until a peer is given up


@dataclass
class Side:
    """Scores of one model: an array over seeds for each epsilon, and its seconds of CPU; or why there are none."""

    name: str
    privacy: str
    library: str = ""
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    areas: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    probability: dict[str, np.ndarray] = field(default_factory=dict)
    failed: int = 0
    reason: str = ""

    @property
    def time(self) -> float:
        """The median of its fits."""
        listed = [second for times in self.seconds.values() for second in times]
        return float(np.median(listed)) if listed else np.nan


@dataclass(frozen=True)
class Trial:
    """A task on a data set, with its splits; clusters and components tell nothing of other rows, so they fit all of them."""

    task: Task
    data: Data
    seeds: range

    @property
    def parts(self) -> int:
        return self.task.parts.get(self.data.name, 0)

    @functools.cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        stacked = dict(zip(("train", "test"), map(np.array, zip(*self._splits(), strict=True)), strict=True))
        return {"x": self.data.x, "y": self.data.y, "low": self.data.low, "high": self.data.high, **stacked}

    def _splits(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if self.task.kind not in ("cluster", "project"):
            return self.data.splits(self.seeds)
        places = np.arange(len(self.data.x))
        return ((places, places[:0]) for _ in self.seeds)

    def job(self, models: tuple[str, ...], epsilons: tuple[str, ...] = EPSILONS) -> dict[str, Any]:
        return {
            "models": models,
            "epsilons": epsilons,
            "seeds": list(self.seeds),
            "kind": self.task.kind,
            "parts": self.parts,
            "probability": bool(self.task.areas),
            "classes": self.data.classes,
            "categories": {str(place): count for place, count in self.data.categories.items()},
            "delta": DELTA,
        }

    def score(self, found: np.ndarray) -> np.ndarray:
        """One number a seed, NaN for a fit that failed; clusters and components are held against the rows of the fit."""
        arrays, listed = self.arrays, []
        for one, train, test in zip(found, arrays["train"], arrays["test"], strict=True):
            if not np.isfinite(one).all():
                listed.append(np.nan)
            elif self.task.kind == "cluster":
                listed.append(scores.inertia(one, self.data.x[train]))
            elif self.task.kind == "project":
                listed.append(scores.captured(one, self.data.x[train]))
            else:
                how = scores.accuracy if self.task.kind == "classify" else scores.r2
                listed.append(how(one, self.data.y[test]))
        return np.array(listed)

    def area(self, found: np.ndarray) -> np.ndarray:
        truths = (self.data.y[test] for test in self.arrays["test"])
        pairs = zip(found, truths, strict=True)
        return np.array([scores.area(one, truth) if np.isfinite(one).all() else np.nan for one, truth in pairs])

    def sides(
        self,
        names: dict[str, str],
        epsilons: tuple[str, ...],
        library: str,
        found: dict[str, np.ndarray],
        told: dict[str, Any],
    ) -> Iterator[Side]:
        """A side for each model, from what `fits.fit_all` gave; `names` are models with their privacy."""
        for model, privacy in names.items():
            side = Side(model, privacy, library)
            for epsilon in epsilons:
                key = f"{model}|{epsilon}"
                side.seconds[epsilon] = told["seconds"][key]
                side.failed += len(told["errors"].get(key, []))
                side.reason = side.reason or "".join(told["errors"].get(key, [])[:1])
                name = {"cluster": "centres", "project": "components"}.get(self.task.kind, "predictions")
                side.scores[epsilon] = self.score(found[f"{key}|{name}"])
                if self.task.areas:
                    side.probability[epsilon] = found[f"{key}|probability"]
                    side.areas[epsilon] = self.area(found[f"{key}|probability"])
            yield side


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra, as peers have; where threadpoolctl is there, which scikit-learn brings along."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(1):
        yield


@contextlib.contextmanager
def noise(*which: str | int) -> Iterator[None]:
    """Our noise from a seed, so that figures can be had again; each model, epsilon and seed of a split has its own."""
    seed = int.from_bytes(hashlib.sha256(repr(which).encode()).digest()[:6])
    with warnings.catch_warnings(action="ignore"), seeded(seed):
        yield


def ours(trial: Trial) -> list[Side]:
    """Our estimators; one that is not there says so."""
    task, sides = trial.task, []
    for key in task.ours:
        privacy = estimators.OURS[key].privacy
        if estimators.constructor(estimators.OURS[key].name) is None:
            sides.append(Side(key, privacy, "dither", reason="not there"))
            continue

        def make(model: str, epsilon: str, seed: int) -> Any:
            return estimators.build(model, trial.data, epsilon, kind=task.kind, parts=trial.parts)

        with one_thread():
            found, seconds, errors = fits.fit_all(trial.job((key,)), trial.arrays, make, noise)
        sides += trial.sides({key: privacy}, EPSILONS, "dither", found, {"seconds": seconds, "errors": errors})
    return sides


def plain(trial: Trial) -> list[Side]:
    """scikit-learn's own fit, and a constant: neither is private, so epsilon does not matter."""

    def make(model: str, epsilon: str, seed: int) -> Any:
        if model == "constant":
            return estimators.Constant(trial.task.kind, trial.parts)
        return estimators.plain(trial.task.name, trial.parts, seed)

    names = {"constant": "none"}
    with contextlib.suppress(ImportError):
        import sklearn  # noqa: F401

        names = {"scikit-learn": "none", **names}
    with one_thread():
        found, seconds, errors = fits.fit_all(trial.job(tuple(names), (ANY,)), trial.arrays, make)
    return list(trial.sides(names, (ANY,), "", found, {"seconds": seconds, "errors": errors}))


def peer(trial: Trial, asked: Peer) -> list[Side]:
    """A peer's models, fitted by its worker in an environment of its own; or why they were not run."""
    with tempfile.TemporaryDirectory() as folder:
        rows, into = Path(folder) / "rows.npz", Path(folder) / "found.npz"
        np.savez(rows, **trial.arrays)
        job = {**trial.job(asked.models), "rows": str(rows), "into": str(into)}
        told: dict[str, Any] = ask(asked.worker, job, timeout=PATIENCE, one_thread=True)
        if "error" in told:
            reason = f"not run: {told['error']}"
            return [Side(model, asked.privacy, asked.worker, reason=reason) for model in asked.models]
        with np.load(into) as stored:
            found = dict(stored)
    return list(trial.sides(dict.fromkeys(asked.models, asked.privacy), EPSILONS, told["version"], found, told))


def run(trial: Trial, *, peers: bool = True) -> list[Side]:
    """All sides, ours first; inertia becomes a ratio to the best that was found without privacy, by seed."""
    others = [side for asked in trial.task.peers for side in peer(trial, asked)] if peers else []
    sides = ours(trial) + others + plain(trial)
    if trial.task.kind == "cluster":
        best = np.nanmin([side.scores[ANY] for side in sides if ANY in side.scores], axis=0)
        for side in sides:
            side.scores = {epsilon: values / best for epsilon, values in side.scores.items()}
    return sides
