"""Releases through the public interface beside opendp and diffprivlib: a million counts, and one number at a time."""

from __future__ import annotations

import numpy as np

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import DiscreteGaussian, Exponential, Gaussian, Geometric, Laplace, NoisyMax, PermuteAndFlip, Staircase

COUNT = 1_000_000
LONGEST = 30  # seconds that a peer may take for one choice


def main(*, soak: bool = False) -> None:
    vectors(runs=31 if soak else 9, peer_runs=5 if soak else 2)
    numbers(peer_calls=20_000 if soak else 2_000)
    choices(runs=15 if soak else 5, peer_runs=3 if soak else 1)


def vectors(runs: int, peer_runs: int) -> None:
    """Releases of 10^6 whole numbers; opendp takes fewer, and diffprivlib one at a time, both scaled to one."""
    counts = np.arange(COUNT) % 1000
    ours = {
        "laplace": (Geometric(epsilon="0.1", sensitivity=1, dimension=COUNT), "Geometric, scale 10"),
        "gaussian": (Gaussian(l2_sensitivity=1, sigma=10, dimension=COUNT, integers=True), "Gaussian, sigma 10"),
    }
    rows = []
    for law, (mechanism, name) in ours.items():
        mechanism.release(counts)
        mine = best(lambda mechanism=mechanism: mechanism.release(counts), runs=runs) / COUNT
        for peer, job in (
            ("opendp", {"law": law, "count": 20_000, "scale": 10, "runs": peer_runs}),
            ("diffprivlib", {"law": law, "count": 2_000, "runs": peer_runs}),
        ):
            answer = ask(peer, job)
            if "error" in answer:
                rows.append([name, f"{mine * 1e9:.1f}", f"{peer}: {answer['error']}", "", "", ""])
                continue
            theirs = float(str(answer["seconds"])) / int(str(job["count"]))
            wanted = report.target("", theirs / mine, 100)[1:] if peer == "opendp" else [f"{theirs / mine:,.0f}x", "", ""]
            rows.append([name, f"{mine * 1e9:.1f}", f"{peer} {answer['version']}: {theirs * 1e9:,.0f}", *wanted])
    reals = {
        "Laplace": Laplace(epsilon="0.1", sensitivity=1, dimension=COUNT),
        "Gaussian": Gaussian(l2_sensitivity=1, sigma=10, dimension=COUNT),
    }
    values = counts * 1.5
    for name, real in reals.items():
        mine = best(lambda real=real: real.release(values), runs=runs) / COUNT
        rows.append([f"{name}, real values", f"{mine * 1e9:.1f}", "", "", "", ""])
    report.table(
        "10^6 numbers in one release, ns a number", ["mechanism", "dither", "peer", "faster by", "wanted", ""], rows
    )


def numbers(peer_calls: int) -> None:
    """One number at a time: the cost of a call."""
    calls = 5_000
    ours = {
        "Geometric": (Geometric(epsilon="0.1", sensitivity=1), 128, "geometric"),
        "Laplace": (Laplace(epsilon="0.1", sensitivity=1), 128.5, "laplace"),
        "Gaussian": (Gaussian(l2_sensitivity=1, sigma=10), 128.5, "gaussian"),
        "DiscreteGaussian": (DiscreteGaussian(l2_sensitivity=1, sigma2=100), 128, "discrete gaussian"),
        "Staircase": (Staircase(epsilon="0.1", sensitivity=1), 128.5, "staircase"),
    }
    rows = []
    for name, (mechanism, value, job) in ours.items():
        mechanism.release(value)
        mine = best(lambda m=mechanism, v=value: [m.release(v) for _ in range(calls)], runs=5) / calls
        row = [name, f"{mine * 1e6:.1f}"]
        for peer in ("opendp", "diffprivlib"):
            answer = ask(peer, {"scalar": job, "calls": peer_calls})
            if "error" in answer:
                row += [str(answer["error"])[:40], ""]
            else:
                theirs = float(str(answer["seconds"])) / peer_calls
                row += [f"{theirs * 1e6:.1f}", f"{theirs / mine:.1f}x"]
        rows.append(row)
    columns = ["mechanism", "dither", "opendp", "faster by", "diffprivlib", "faster by"]
    report.table("One number in one release, microseconds", columns, rows)


def choices(runs: int, peer_runs: int) -> None:
    """One choice among many candidates, scores being whole numbers; the peers take Python lists and build per choice."""
    rng = np.random.default_rng(1)
    rows = []
    for count in (100_000, 1_000_000):
        for name, scores in (("few scores", rng.integers(0, 1000, count)), ("all different", rng.permutation(count))):
            peers = {}
            for peer, job in (("opendp", "pure"), ("opendp", "zcdp"), ("diffprivlib", "pure"), ("diffprivlib", "zcdp")):
                answer = ask(peer, {"choose": job, "scores": scores.tolist(), "runs": peer_runs}, timeout=LONGEST)
                peers[peer, job] = None if "error" in answer else float(str(answer["seconds"]))
            for kind, job in ((PermuteAndFlip, "pure"), (NoisyMax, "pure"), (Exponential, "zcdp")):
                mechanism = kind(epsilon=1, sensitivity=1, candidates=count, integers=True)
                mechanism.release(scores)
                mine = best(lambda m=mechanism, s=scores: m.release(s), runs=runs)
                row = [f"{count:,}, {name}", kind.__name__, f"{mine * 1e3:.1f}"]
                for peer in ("opendp", "diffprivlib"):
                    theirs = peers[peer, job]
                    if theirs is None:
                        row += [f"over {LONGEST} s", "", ""]
                    else:
                        row += [f"{theirs * 1e3:,.0f}", *report.target("", theirs / mine, 20)[1::2]]
                rows.append(row)
    columns = ["candidates", "mechanism", "dither", "opendp", "faster by", "20x", "diffprivlib", "faster by", "20x"]
    report.table("One choice, milliseconds (under pure epsilon; Exponential: under zCDP)", columns, rows)
