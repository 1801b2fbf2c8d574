"""Releases through the public interface beside opendp and diffprivlib: a million counts, and one number at a time."""

from __future__ import annotations

import numpy as np

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import DiscreteGaussian, Gaussian, Geometric, Laplace, Staircase

COUNT = 1_000_000


def main(*, soak: bool = False) -> None:
    vectors(runs=31 if soak else 9, peer_runs=5 if soak else 2)
    numbers(peer_calls=20_000 if soak else 2_000)


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
