"""A person is replaced, with two or three keys: every mixture of keys that go, come, stay or are shared, one by one.

Nothing here comes from the rules but the threshold, the share below it and the size of the noise: laws are worked out anew,
and P(A) - e^epsilon Q(A) is found from two halves of the keys, the second sorted by its ratios.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations_with_replacement as multisets

import numpy as np
import pytest

from dither.density import GaussianKeys, GeometricKeys, WeightedKeys

UNIT = "replace one person"


class Tenths(WeightedKeys):
    """Few enough outcomes to go through, and two keys of seven tenths each use up 98 of 100 of the squares."""

    parts = 10


class Sevenths(WeightedKeys):
    """The same for three keys: 48 of 49."""

    parts = 7


class Laws:
    """What is seen of one key, for a pair of totals."""

    def __init__(self, rule) -> None:
        self.threshold, self.below = rule.threshold, float(rule.below)
        if isinstance(rule, GaussianKeys):
            sigma = math.sqrt(rule.sigma2) * rule.parts
            self.above = lambda k: math.erfc((k - 0.5) / sigma / math.sqrt(2)) / 2  # P(noise >= k)
            self.reach = math.ceil(9 * sigma) + 3
        else:
            q = math.exp(-float(rule.epsilon) / (2 * rule.max_keys))
            self.above = lambda k: q**k / (1 + q) if k > 0 else 1 - q ** (1 - k) / (1 + q)
            self.reach = math.ceil(-32 / math.log(q)) + 3
        self.pair = cache(self._pair)

    def mass(self, k: int) -> float:
        return self.above(abs(k)) - self.above(abs(k) + 1)

    def seen(self, total: int, last: int) -> np.ndarray:
        """Hidden; shown one below the threshold; shown with each count from there on; beyond the last."""
        if total == 0:
            return np.eye(1, last - self.threshold + 3)[0]
        close = self.mass(self.threshold - 1 - total)
        hidden = self.above(total - self.threshold + 2) + (1 - self.below) * close
        counts = [self.mass(count - total) for count in range(self.threshold, last)]
        return np.array([hidden, self.below * close, *counts, self.above(last - total)])

    def _pair(self, one: int, other: int) -> tuple[np.ndarray, np.ndarray]:
        last = max(one, other, self.threshold) + self.reach
        p, q = self.seen(one, last), self.seen(other, last)
        assert p.sum() == pytest.approx(1, abs=1e-12)
        return merged(p, q)


def merged(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of one ratio are as good as one output."""
    keep = (p > 0) | (q > 0)
    p, q = p[keep], q[keep]
    with np.errstate(divide="ignore"):
        ratios = np.clip(np.log(p) - np.log(q), -1e6, 1e6).round(7)
    places = np.unique(ratios, return_inverse=True)[1]
    return np.bincount(places, p), np.bincount(places, q)


def together(pairs) -> tuple[np.ndarray, np.ndarray]:
    p = q = np.ones(1)
    for one, other in pairs:
        p, q = merged(np.outer(p, one).reshape(-1), np.outer(q, other).reshape(-1))
    return p, q


def stick(pairs, epsilon: float) -> float:
    """The largest P(A) - e^epsilon Q(A)."""
    pairs = sorted(pairs, key=lambda pair: -len(pair[0]))
    (p, q), (r, s) = together(pairs[::2]), together(pairs[1::2])
    with np.errstate(divide="ignore"):
        ratios, bars = r / s, math.exp(epsilon) * q / p
    queue = np.argsort(-ratios)
    taken = np.searchsorted(-ratios[queue], -bars)
    first, second = (np.append(0, np.cumsum(side[queue])) for side in (r, s))
    return float((p * first[taken] - math.exp(epsilon) * q * second[taken]).sum())


def mixtures(rule, levels: list[int]) -> set[tuple[tuple[int, int], ...]]:
    """Totals of the keys that change: of t keys of the one and u of the other some are in common; others hold a level."""
    found = set()
    for t in range(rule.max_keys + 1):
        for u in range(rule.max_keys + 1):
            one, other = rule.weight(t) if t else 0, rule.weight(u) if u else 0
            for common in range(min(t, u) + 1):
                for lost in multisets(levels, t - common):
                    for gained in multisets(levels, u - common):
                        for kept in multisets(levels, common) if one != other else [()]:
                            moved = [(n + one, n) for n in lost] + [(n, n + other) for n in gained]
                            found.add(tuple(sorted(moved + [(n + one, n + other) for n in kept])))
    return found - {()}


def test_the_stick_is_that_of_all_events():
    rng = np.random.default_rng(1)
    pairs = [tuple(rng.dirichlet(np.ones(3), 2)) for _ in range(3)]
    p = np.einsum("i,j,k->ijk", *(pair[0] for pair in pairs)).reshape(-1)
    q = np.einsum("i,j,k->ijk", *(pair[1] for pair in pairs)).reshape(-1)
    assert stick(pairs, 0.3) == pytest.approx(np.maximum(0, p - math.exp(0.3) * q).sum(), rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "max_keys", "epsilon", "delta", "least"),
    [
        (GeometricKeys, 2, 3, "0.02", 0.999),
        (GeometricKeys, 2, "0.3", "0.4", 0.999),
        (GeometricKeys, 3, 1, "0.1", 0.999),
        (GeometricKeys, 3, 6, "1e-4", 0.999),
        (GaussianKeys, 2, 1, "0.1", 0.99),
        (GaussianKeys, 2, 6, "1e-4", 0.99),
        (GaussianKeys, 3, 6, "1e-4", 0.99),
        (Tenths, 2, 1, "0.1", 0.99),
        (Tenths, 2, 6, "1e-4", 0.98),
        (Sevenths, 3, 8, "0.01", 0.97),
    ],
)
def test_every_mixture_keeps_the_promise_and_one_of_them_nearly_uses_it_up(kind, max_keys, epsilon, delta, least):
    rule = kind(epsilon=epsilon, delta=delta, max_keys=max_keys, unit=UNIT)
    laws = Laws(rule)
    near, far = rule.threshold - rule.weight(1), rule.threshold + 2 * laws.reach
    levels = [0, rule.weight(max_keys), near, far] if max_keys == 2 or kind is GeometricKeys else [0, far]
    found = max(stick([laws.pair(*totals) for totals in keys], float(rule.epsilon)) for keys in mixtures(rule, levels))
    assert least * float(rule.delta) < found <= float(rule.delta) * (1 + 1e-6)
