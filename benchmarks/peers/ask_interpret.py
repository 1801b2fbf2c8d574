"""Runs inside interpret's environment: its private explainable boosting (DP-EBM), at its defaults but for what is public.

It is given the same (epsilon, delta) and bounds. Its lists of words and its number of rows it takes from the rows.
"""

from importlib.metadata import version

import fits
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor


def make(job, arrays, model, epsilon, seed):
    columns = range(arrays["x"].shape[1])
    given = {
        "epsilon": float(epsilon),
        "delta": float(job["delta"]),
        "feature_types": ["nominal" if str(place) in job["categories"] else "continuous" for place in columns],
        "privacy_bounds": {place: (arrays["low"][place], arrays["high"][place]) for place in columns},
        "random_state": seed,
        "n_jobs": 1,
    }
    if model == "DP-EBM":
        return DPExplainableBoostingClassifier(**given)
    return DPExplainableBoostingRegressor(privacy_target_min=-1.0, privacy_target_max=1.0, **given)


fits.answer(make, f"interpret {version('interpret-core')}")
