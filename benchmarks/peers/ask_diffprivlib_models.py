"""Runs inside the environment of diffprivlib's models, which need an older scikit-learn: fits them at their defaults.

It is given the public bounds, the norm that follows from them, and the classes where it takes them; pure epsilon. Its
promise is taken as it is stated: the forest is add/remove by its source; naive Bayes uses the exact number of rows.
"""

from importlib.metadata import version

import fits
import numpy as np
from diffprivlib import models


def make(job, arrays, model, epsilon, seed):
    epsilon, bounds = float(epsilon), (arrays["low"], arrays["high"])
    norm = float(np.linalg.norm(np.maximum(abs(arrays["low"]), abs(arrays["high"]))))
    given = {"epsilon": epsilon, "random_state": seed}
    classes = list(range(job["classes"]))
    if model == "GaussianNB":
        return models.GaussianNB(bounds=bounds, **given)
    if model == "LogisticRegression":
        return models.LogisticRegression(data_norm=norm, **given)
    if model == "DecisionTree":
        return models.DecisionTreeClassifier(bounds=bounds, classes=classes, **given)
    if model.startswith("RandomForest"):
        return models.RandomForestClassifier(n_estimators=int(model.split()[1]), bounds=bounds, classes=classes, **given)
    if model == "LinearRegression":
        return models.LinearRegression(bounds_X=bounds, bounds_y=(-1, 1), **given)
    if model == "KMeans":
        return models.KMeans(n_clusters=job["parts"], bounds=bounds, **given)
    if model == "PCA":
        return models.PCA(n_components=job["parts"], bounds=bounds, data_norm=norm, **given)
    raise ValueError(model)


fits.answer(make, f"diffprivlib {version('diffprivlib')}, scikit-learn {version('scikit-learn')}")
