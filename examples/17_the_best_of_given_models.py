"""A choice among models that are there already, by the exponential mechanism: a hot spot on a map, and a rule of thumb."""

import numpy as np

from dither.learn import PrivateSearch

rng = np.random.default_rng(11)
calls = np.concatenate([rng.normal([52.5, 13.4], 0.02, (400, 2)), rng.uniform([52.3, 13.0], [52.7, 13.8], (3000, 2))])

# Cells of a map are public. Which of 400 has the most calls? The price and how far off the choice may be, before any data.
cells = [
    [(52.3 + row / 50, 52.3 + (row + 1) / 50), (13.0 + column / 25, 13.0 + (column + 1) / 25)]
    for row in range(20)
    for column in range(20)
]
search = PrivateSearch(cells, epsilon=1)
print(search.quote(3000))
(south, north), (west, east) = search.fit(calls).best_model_
print(f"the most calls: {south:.2f} to {north:.2f} north, {west:.2f} to {east:.2f} east\n")

# Rules that somebody thought of: each a function of one row that gives the label. Which is right most often?
ages = rng.integers(18, 90, (2000, 1))
ill = rng.random(2000) < 1 / (1 + np.exp(-(ages[:, 0] - 65) / 5))


class Older:
    """Ill if older than that."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] > self.limit


rules = PrivateSearch([Older(limit) for limit in range(20, 90, 5)], epsilon="0.5").fit(ages, ill)
print("the best rule: ill if older than", rules.best_model_.limit)
