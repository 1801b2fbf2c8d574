"""k-means of weighted points that are public: starts from a public seed, the best of them. After the noise: floats."""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats, Integers

STARTS, ROUNDS, TRIED = 40, 30, 4


def weighted_kmeans(points: Floats, weights: Floats, k: int, seed: int) -> tuple[Floats, Integers]:
    """The centres, and the one that each point is nearest to. Weights are not negative, and not all zero."""
    rng = np.random.default_rng(seed)
    best, least = points[:1].repeat(k, axis=0), np.inf
    for _ in range(STARTS):
        centers = _start(points, weights, k, rng)
        for _ in range(ROUNDS):
            near = nearest(points, centers)
            mass = np.bincount(near, weights, minlength=k)
            sums = np.stack([np.bincount(near, weights * column, minlength=k) for column in points.T], axis=1)
            moved = np.where((mass > 0)[:, None], sums / np.maximum(mass, 1e-300)[:, None], centers)
            if np.array_equal(moved, centers):
                break
            centers = moved
        cost = float((weights * ((points - centers[nearest(points, centers)]) ** 2).sum(axis=1)).sum())
        if cost < least:
            best, least = centers, cost
    return best, nearest(points, best)


def nearest(points: Floats, centers: Floats) -> Integers:
    """The place of the nearest centre of each point, the first of those that are equally near."""
    return np.argmin(((points[:, None, :] - centers[None]) ** 2).sum(axis=2), axis=1)


def _start(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Greedy k-means++: of a few points, likelier where they are far from all centres, the one with the least cost."""
    chosen = [_drawn(weights, rng)]
    apart = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(1, k):
        pull = weights * apart
        tried = [_drawn(pull if pull.sum() > 0 else weights, rng) for _ in range(TRIED)]
        left = np.minimum(apart, ((points[None] - points[tried][:, None]) ** 2).sum(axis=2))
        best = int(np.argmin(left @ weights))
        chosen.append(tried[best])
        apart = left[best]
    return points[chosen]


def _drawn(weights: Floats, rng: np.random.Generator) -> int:
    total = np.cumsum(weights)
    return min(int(np.searchsorted(total, rng.uniform() * total[-1], side="right")), len(weights) - 1)
