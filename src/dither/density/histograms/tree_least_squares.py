"""Consistency of a hierarchical histogram by least squares, in two passes; `histograms/tree_shape.py` has the proof.

They run on differences: a node's released count minus the sum of its released leaves. Of a leaf that is 0, and what the
passes end with is what to add to each leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dither.density.histograms.tree_shape import TreeShape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def corrections(shape: TreeShape, differences: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """What to add to each leaf, from the differences on every level above the leaves; an absent root has none."""
    import numpy as np

    best: list[Any] = [None]  # z: of each node from its subtree alone; 0 at leaves
    sums: list[Any] = [None]  # the sum of z over its children
    for level, own in enumerate(differences, start=1):
        below = best[-1]
        starts = np.arange(0, shape.sizes[level - 1], shape.branching)
        summed = np.zeros(own.size) if below is None else np.add.reduceat(below, starts)
        full, last = shape.sums[level]
        mean = (own * full + summed) / (1 + full)
        mean[-1] = (own[-1] * last + summed[-1]) / (1 + last)
        best.append(mean)
        sums.append(summed)
    if not differences:
        return np.zeros(shape.cells)
    final = differences[-1] if shape.root == "exact" else best[-1]
    for level in range(len(differences), 0, -1):
        left = final - sums[level]
        below, last = shape.own[level - 1], shape.sums[level].last
        each = left / shape.branching
        each[-1] = left[-1] * below.full / last
        final = np.repeat(each, shape.branching)[: shape.sizes[level - 1]]
        final[-1] = left[-1] * below.last / last
        if level > 1:
            final += best[level - 1]
    return final
