"""Shares of classes in the leaves of a tree, from counts with noise: each node is drawn towards its parent.

After the noise: floats. A node that has few rows beside its noise says little, so it says about what its parent says:

    p(node) = (count + lam p(parent)) / (sum of counts + lam),    lam = the deviation of the node's noise x sqrt(classes)
"""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats


def shrunk_shares(counts: Floats, deviation: float) -> tuple[Floats, Floats]:
    """The shares of the classes in each leaf and at the root, by tree: of counts [tree, leaf, class] with that deviation."""
    trees, leaves, classes = counts.shape
    levels, width = [np.full((trees, 1, classes), 1 / classes)], leaves
    while width >= 1:
        here = np.maximum(counts.reshape(trees, leaves // width, width, classes).sum(axis=2), 0.0)
        drawn = deviation * np.sqrt(width * classes)
        parents = levels[-1] if width == leaves else np.repeat(levels[-1], 2, axis=1)
        levels.append((here + drawn * parents) / (here.sum(axis=2, keepdims=True) + drawn))
        width //= 2
    return levels[-1], levels[1][:, 0]


def pooled_shares(counts: Floats, deviation: float) -> Floats:
    """The shares of the classes among all rows: every tree counts them, so their mean has less noise."""
    everybody = counts.sum(axis=1).mean(axis=0)[None, None, :]
    return shrunk_shares(everybody, deviation * float(np.sqrt(counts.shape[1] / counts.shape[0])))[0][0, 0]
