"""Our estimators, and those of scikit-learn that keep nothing private: how each is made from what is public.

A name that `dither.learn` does not have gives None, and the table says so.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.learn.data import Data
from benchmarks.learn.tasks import APPROXIMATE, DELTA, PURE


@dataclass(frozen=True)
class Ours:
    """A class of `dither.learn`, with options of its own."""

    name: str
    privacy: str
    options: dict[str, object] = field(default_factory=dict)


OURS = {
    "ForestClassifier": Ours("ForestClassifier", PURE),
    "LogisticRegression": Ours("LogisticRegression", APPROXIMATE),
    "PrivateSGD": Ours("PrivateSGD", APPROXIMATE),
    "NearestCentroid": Ours("NearestCentroid", APPROXIMATE),
    "GaussianNB": Ours("GaussianNB", PURE),
    "BoostingClassifier": Ours("BoostingClassifier", APPROXIMATE),
    "LinearRegression": Ours("LinearRegression", APPROXIMATE),
    "LinearRegression gradient": Ours("LinearRegression", APPROXIMATE, {"solver": "gradient"}),
    "ForestRegressor": Ours("ForestRegressor", PURE),
    "BoostingRegressor": Ours("BoostingRegressor", APPROXIMATE),
    "KMeans": Ours("KMeans", APPROXIMATE),
    "PCA": Ours("PCA", APPROXIMATE),
}


def constructor(name: str) -> Callable[..., Any] | None:
    """The class of `dither.learn`, or None where there is none yet."""
    if importlib.util.find_spec("dither.learn") is None:
        return None
    return getattr(importlib.import_module("dither.learn"), name, None)


def build(key: str, data: Data, epsilon: str, *, kind: str, parts: int = 0, rows: int | None = None) -> Any:
    """Our estimator from public facts alone; None where `dither.learn` lacks it.

    `rows` is a public hint of how many there are; without one the estimator pays for it.
    """
    ours = OURS[key]
    made = constructor(ours.name)
    if made is None:
        return None
    ends = list(zip(data.low.tolist(), data.high.tolist(), strict=True))
    bounds = [list(range(data.categories[place])) if place in data.categories else end for place, end in enumerate(ends)]
    given: dict[str, object] = {"epsilon": epsilon, "bounds": bounds, **ours.options}
    if ours.privacy != PURE:
        given["delta"] = DELTA
    if kind == "classify":
        given["classes"] = list(range(data.classes))
    elif kind == "regress":
        given["target_bounds"] = (-1, 1)
    elif kind == "cluster":
        given["n_clusters"] = parts
    else:
        given["n_components"] = parts
    taken = inspect.signature(made).parameters
    if "rows" in taken and rows is not None:
        given["rows"] = rows
    return made(**given)


def plain(task: str, parts: int, seed: int) -> Any:
    """The fit of scikit-learn beside which ours is timed, at its defaults."""
    from sklearn import cluster, decomposition, ensemble, linear_model, naive_bayes, neural_network

    made: dict[str, Callable[[], object]] = {
        "trees": lambda: ensemble.RandomForestClassifier(random_state=seed),
        "linear": lambda: linear_model.LogisticRegression(max_iter=1000),
        "networks": lambda: neural_network.MLPClassifier((32,), max_iter=500, random_state=seed),
        "naive Bayes": naive_bayes.GaussianNB,
        "boosting": lambda: ensemble.HistGradientBoostingClassifier(random_state=seed),
        "regression": linear_model.LinearRegression,
        "clusters": lambda: cluster.KMeans(parts, n_init=10, random_state=seed),
        "components": lambda: decomposition.PCA(parts),
    }
    return made[task]()


class Constant:
    """What needs no row's traits: the class that is most frequent, the mean, one centre at the mean. Not private."""

    def __init__(self, kind: str, parts: int) -> None:
        self.kind, self.parts = kind, parts

    def fit(self, x: np.ndarray, y: np.ndarray) -> Constant:
        self.value = y.mean() if self.kind == "regress" else np.bincount(y.astype(np.int64)).argmax()
        self.cluster_centers_ = np.repeat(x.mean(axis=0)[None], self.parts, axis=0)
        self.components_ = np.eye(x.shape[1])[: self.parts]
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.full(len(x), self.value)

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        return np.full((len(x), 2), 0.5)
