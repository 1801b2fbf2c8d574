"""Fits of estimators: each model at each epsilon and seed, and what it predicts.

Workers of any environment import it, and so does our own side; it needs numpy and nothing else.

A job says what is to be fitted: `models`, `epsilons` and `seeds`; `kind`, one of classify, regress, cluster, project;
`parts`, the number of clusters or components; `probability`, whether the probability of class 1 is wanted too. The arrays
are the rows `x` and `y`, the ends `low` and `high` of each column, and the places `train` and `test` of each seed.

What comes back is an array for each model, epsilon and seed: predictions for the rows of the test, centres, or components.
One that failed is NaN, and its error is told.
"""

import contextlib
import json
import sys
import time
import warnings

import numpy as np


def outputs(estimator, job, test):
    """What is kept of a fitted estimator, by name."""
    if job["kind"] == "cluster":
        return {"centres": estimator.cluster_centers_}
    if job["kind"] == "project":
        return {"components": estimator.components_}
    found = {"predictions": estimator.predict(test)}
    if job.get("probability"):
        found["probability"] = estimator.predict_proba(test)[:, 1]
    return found


def lost(job, arrays):
    """What stands in the place of a fit that failed."""
    columns, rows = arrays["x"].shape[1], arrays["test"].shape[1]
    if job["kind"] in ("cluster", "project"):
        return {"centres" if job["kind"] == "cluster" else "components": np.full((job["parts"], columns), np.nan)}
    return {name: np.full(rows, np.nan) for name in ("predictions", "probability")[: 1 + bool(job.get("probability"))]}


def fit_all(job, arrays, make, around=lambda *which: contextlib.nullcontext()):
    """Arrays by "model|epsilon|name", one row a seed; seconds of CPU of each fit by "model|epsilon"; errors by the same.

    `make(model, epsilon, seed)` gives an estimator; `around(model, epsilon, seed)` is entered for its fit.
    """
    found, seconds, errors = {}, {}, {}
    for model in job["models"]:
        for epsilon in job["epsilons"]:
            key, kept, times = f"{model}|{epsilon}", [], []
            for seed, train, test in zip(job["seeds"], arrays["train"], arrays["test"], strict=True):
                x, y = arrays["x"][train].copy(), arrays["y"][train].copy()  # some write into what they are given
                start = time.process_time()
                try:
                    with warnings.catch_warnings(), around(model, epsilon, seed):
                        warnings.simplefilter("ignore")
                        estimator = make(model, epsilon, seed).fit(x, y)
                    times.append(time.process_time() - start)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        kept.append(outputs(estimator, job, arrays["x"][test]))
                except Exception as error:
                    errors.setdefault(key, []).append(f"{type(error).__name__}: {error}"[:200])
                    kept.append(lost(job, arrays))
            for name in kept[0]:
                found[f"{key}|{name}"] = np.array([one[name] for one in kept], dtype=float)
            seconds[key] = times
    return found, seconds, errors


def answer(make, version, job=None):
    """A worker's whole work: the job comes on standard input, with the names of the files of arrays."""
    job = json.load(sys.stdin) if job is None else job
    with np.load(job["rows"]) as stored:
        arrays = dict(stored)
    found, seconds, errors = fit_all(job, arrays, lambda *asked: make(job, arrays, *asked))
    np.savez(job["into"], **found)
    print(json.dumps({"seconds": seconds, "errors": errors, "version": version}))
