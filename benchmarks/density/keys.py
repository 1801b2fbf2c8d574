"""Unknown keys: how many are shown, beside the textbook's thresholds; weights; and the time for a million keys."""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist

from benchmarks import report
from benchmarks.clock import best
from dither import calibrate
from dither.density import (
    GaussianKeys,
    GeometricKeys,
    MagicKeys,
    TruncatedGaussianKeys,
    TruncatedGeometricKeys,
    WeightedKeys,
    keys,
)
from dither.density.unknown_keys.key_rule import KeyRule

PROMISES = [(1, "1e-5"), ("0.1", "1e-6")]
KEYS = (1, 4, 16)
HOLDERS = Counter(round(2000 / k**0.8) for k in range(1, 5001))  # 5000 keys, zipf
MANY = 1_000_000


def main(*, soak: bool = False) -> None:
    shown()
    weights()
    speed(runs=5 if soak else 2)


def kept(rule: KeyRule) -> float:
    """How many of the 5000 keys are shown, on average."""
    return sum(times * rule.chance(n) for n, times in HOLDERS.items())


def laplace(epsilon: float, delta: float, max_keys: int) -> tuple[float, float]:
    """Threshold and keys kept with continuous Laplace noise."""
    scale = max_keys / epsilon
    at = 1 + scale * math.log(1 / (2 * -math.expm1(math.log1p(-delta) / max_keys)))

    def chance(n: int) -> float:
        return math.exp(-(at - n) / scale) / 2 if n < at else 1 - math.exp(-(n - at) / scale) / 2

    return at, sum(times * chance(n) for n, times in HOLDERS.items())


def gauss(epsilon: float, delta: float, max_keys: int) -> tuple[float, float]:
    """The same with continuous Gaussian noise, half of delta for the noise and half for keys of one's own."""
    sigma = math.sqrt(max_keys) * float(calibrate.gaussian(epsilon, delta / 2))
    at = 1 - sigma * NormalDist().inv_cdf(-math.expm1(math.log1p(-delta / 2) / max_keys))
    return at, sum(times * NormalDist().cdf((n - at) / sigma) for n, times in HOLDERS.items())


RULES = (MagicKeys, GeometricKeys, GaussianKeys, TruncatedGeometricKeys, TruncatedGaussianKeys)


def shown() -> None:
    """Users for half of the time, and keys kept of 5000."""
    rows = []
    for epsilon, delta in PROMISES:
        for most in KEYS:
            ours = [kind(epsilon=epsilon, delta=delta, max_keys=most) for kind in RULES]
            theirs = [rule(float(epsilon), float(delta), most) for rule in (laplace, gauss)]
            needs = [str(math.ceil(at)) for at, _ in theirs] + [str(rule.holders("0.5")) for rule in ours]
            sums = [f"{count:.1f}" for _, count in theirs] + [f"{kept(rule):.1f}" for rule in ours]
            chosen = keys(epsilon=epsilon, delta=delta, max_keys=most)
            best_other = max([count for _, count in theirs] + [kept(ours[0])])
            reached = "reached" if kept(chosen.rule) >= best_other - 1e-9 else "MISSED"
            rows.append([f"{epsilon}, {delta}", str(most), " / ".join(needs), " / ".join(sums), f"{chosen.name}: {reached}"])
    report.table(
        "unknown keys: Laplace / Gauss, half of delta each / magic / geometric / gaussian / truncated geometric / gaussian",
        ["epsilon, delta", "keys a person", "holders for 50%", "kept of 5000", "chosen"],
        rows,
    )


def weights() -> None:
    """Where people hold fewer keys than they may."""
    rows = []
    for most in KEYS[1:]:
        plain, weighted = (kind(epsilon=1, delta="1e-5", max_keys=most) for kind in (GaussianKeys, WeightedKeys))
        needs = [str(weighted.holders("0.5", held)) for held in (1, 2, most)]
        rows.append([str(most), str(plain.holders("0.5")), *needs])
    columns = ["keys a person", "gaussian", "weighted, all hold 1", "all hold 2", "all hold the most"]
    report.table("holders for 50%, epsilon 1, delta 1e-5", columns, rows)


def speed(runs: int) -> None:
    """A million keys; the table or threshold is there."""
    data = {f"key {k}": max(1, round(2e6 / k**0.8)) for k in range(1, MANY + 1)}
    rows = []
    for kind in (MagicKeys, GeometricKeys, GaussianKeys, WeightedKeys):
        rule = kind(epsilon=1, delta="1e-5", max_keys=4)
        made = best(lambda kind=kind: kind(epsilon=1, delta="1e-5", max_keys=4), runs=runs)
        rows.append(
            [kind.__name__, f"{made * 1000:.0f} ms", f"{best(lambda rule=rule: rule.release(data), runs=runs):.2f} s"]
        )
    report.table("a million keys, 4 of a person, epsilon 1, delta 1e-5", ["rule", "made", "released"], rows)
