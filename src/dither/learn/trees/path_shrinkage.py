"""Shares of classes in the leaves of a tree, from counts with noise: each node is drawn towards its parent.

After the noise: floats. A node that has few rows beside its noise says little, so it says about what its parent says:

    p(node) = (count + lam p(parent)) / (sum of counts + lam),    lam = the deviation of the node's noise x sqrt(classes)
"""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats


def shrunk_shares(counts: Floats, deviation: float) -> Floats:
    """The shares of the classes in each leaf, by tree: of counts [tree, leaf, class] with noise of that deviation."""
    trees, leaves, classes = counts.shape
    shares = np.full((trees, 1, classes), 1 / classes)
    width = leaves
    while width >= 1:
        here = np.maximum(counts.reshape(trees, leaves // width, width, classes).sum(axis=2), 0.0)
        drawn = deviation * np.sqrt(width * classes)
        shares = (here + drawn * shares) / (here.sum(axis=2, keepdims=True) + drawn)
        width //= 2
        if width >= 1:
            shares = np.repeat(shares, 2, axis=1)
    return shares
