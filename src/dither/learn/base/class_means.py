"""Means by class from noisy sums, drawn towards their common mean as far as noise blurs them. After the noise: floats."""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats

LEAST_APART = 0.25  # of the squares of the distances between means of classes, in u: what is assumed at least


def class_noise(deviation: float) -> str:
    """How large the noise of sums over the rows of a class is, in words; of u, so that a row adds 1 at most."""
    return f"sums over the rows of a class have noise of deviation {deviation:.3g} rows: compare it with the rarest class"


def shrunk_means(counts: Floats, sums: Floats, noise: float) -> tuple[Floats, Floats]:
    """Means of u by class (counts are at least 1, `noise` is the deviation of a sum), and the variance that is left in each.

    A mean of variance `blur` around one of several that lie `apart` is best drawn to their centre by blur / (apart + blur).
    """
    whole, each = counts.sum(), counts[:, None]
    blur = (noise / each) ** 2
    raw = np.clip(sums / each, -1.0, 1.0)
    center = np.clip(sums.sum(axis=0) / whole, -1.0, 1.0)
    seen = float((each / whole * ((raw - center) ** 2 - blur)).sum(axis=0).mean()) if sums.shape[1] else 0.0
    apart = max(seen, LEAST_APART)
    return center + apart / (apart + blur) * (raw - center), apart * blur / (apart + blur)
