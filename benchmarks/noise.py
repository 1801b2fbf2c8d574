"""Exact noise against NumPy's float noise (insecure), opendp's integer noise, and the keystream as the limit."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from functools import partial

import numpy as np

from benchmarks import report
from benchmarks.clock import best, in_turns
from benchmarks.peer import ask
from dither.noise import Bernoulli, Categorical, DiscreteLaplace, DiscreteNormal, RoundedGaussian
from dither.noise.entropy import Keystream

COUNT = 1_000_000
SCALES = [1, 10, 1000, 10**6]


def main(*, soak: bool = False) -> None:
    runs = 51 if soak else 15
    vectors(runs)
    peers(runs=5 if soak else 2)
    limit()
    singles()
    choices()
    start_up()
    timing(draws=40_000 if soak else 8_000)


def vectors(runs: int) -> None:
    """Draws of 10^6: nanoseconds a sample and ratios to NumPy."""
    numpy = np.random.default_rng(1)
    rows, ratios = [], {}
    for scale in SCALES:
        laws = {
            "numpy laplace": partial(numpy.laplace, 0, scale, COUNT),
            "DiscreteLaplace": partial(DiscreteLaplace(scale).sample, COUNT),
            "numpy normal": partial(numpy.normal, 0, scale, COUNT),
            "RoundedGaussian": partial(RoundedGaussian(scale).sample, COUNT),
            "DiscreteNormal": partial(DiscreteNormal(scale**2).sample, COUNT),
        }
        seconds = in_turns(laws, runs=runs)
        for name, peer in (
            ("DiscreteLaplace", "numpy laplace"),
            ("RoundedGaussian", "numpy normal"),
            ("DiscreteNormal", "numpy normal"),
        ):
            ratios[name, scale] = seconds[peer] / seconds[name]
            ours, theirs = (f"{seconds[key] / COUNT * 1e9:.2f}" for key in (name, peer))
            rows.append([name, f"{scale:,}", ours, f"{peer}: {theirs}", f"{ratios[name, scale]:.2f}x"])
    report.table("10^6 draws, ns a sample", ["law", "scale", "dither", "NumPy", "faster by"], rows)
    wanted = [
        report.target("DiscreteLaplace(10) against numpy laplace", ratios["DiscreteLaplace", 10], 4),
        report.target("RoundedGaussian(10) against numpy normal", ratios["RoundedGaussian", 10], 3),
        report.target("DiscreteLaplace(10^6) against numpy laplace", ratios["DiscreteLaplace", 10**6], 0.8),
        report.target("RoundedGaussian(10^6) against numpy normal", ratios["RoundedGaussian", 10**6], 0.8),
    ]
    report.table("Targets", ["ratio", "measured", "wanted", ""], wanted)


def peers(runs: int) -> None:
    """opendp's vector releases of integers, per sample, beside ours in the same minute."""
    rows = []
    for law, ours in (("laplace", DiscreteLaplace(10)), ("gaussian", RoundedGaussian(10))):
        count = 20_000
        mine = best(lambda ours=ours: ours.sample(COUNT)) / COUNT
        answer = ask("opendp", {"law": law, "count": count, "scale": 10, "runs": runs})
        if "error" in answer:
            rows.append([f"opendp {law}", str(answer["error"]), "", "", ""])
            continue
        theirs = float(str(answer["seconds"])) / count
        name = f"opendp {answer['version']} {law}, integers, vector"
        rows.append([name, f"{theirs * 1e9:,.0f}", f"{mine * 1e9:.2f}", *report.target("", theirs / mine, 1000)[1:]])
    report.table("Peers at scale 10, ns a sample", ["peer", "peer", "dither", "faster by", "wanted", ""], rows)


def limit() -> None:
    """How fast bits come at all."""
    source = Keystream()
    buffer = np.empty(1 << 20, dtype=np.uint8)
    stream = buffer.size / best(lambda: source.fill(buffer))
    draw = DiscreteLaplace(10)
    ours = 2 * COUNT / best(lambda: draw.sample(COUNT))
    rows = [
        ["keystream", f"{stream / 1e9:.2f} GB/s", ""],
        ["keystream used by DiscreteLaplace(10), 2 bytes a sample", f"{ours / 1e9:.2f} GB/s", f"{ours / stream:.0%}"],
    ]
    report.table("The limit", ["what", "rate", "of the limit"], rows)


def singles() -> None:
    """One draw at a time, the first call, and building a table."""
    rows = []
    many = 20_000
    numpy = np.random.default_rng(1)
    peer = best(lambda: [numpy.laplace(0, 10) for _ in range(many)]) / many
    rows.append(["numpy laplace", "", "", f"{peer * 1e6:.2f}", ""])
    laws = [
        *(DiscreteLaplace(10), DiscreteLaplace(10**6)),
        *(RoundedGaussian(10), RoundedGaussian(10**6), DiscreteNormal(10**12)),
    ]
    for law in laws:
        building = best(law._build, runs=3)
        law.sample()
        one = best(lambda law=law: [law.sample() for _ in range(many)], runs=5) / many
        rows.append([repr(law), f"{building * 1e3:.1f}", "", f"{one * 1e6:.2f}", "reached" if one < 3e-6 else "MISSED"])
    first = (
        "import time; t = time.process_time(); import dither\n"
        "dither.noise.DiscreteLaplace(10).sample(); print(time.process_time() - t)"
    )
    cold = min(float(subprocess.check_output([sys.executable, "-c", first])) for _ in range(5))
    rows.append(["import and first draw in a new process", "", f"{cold * 1e3:.0f}", "", ""])
    columns = ["law", "table, ms", "cold, ms", "one draw, µs", "under 3 µs"]
    report.table("One draw at a time", columns, rows)


def choices() -> None:
    """Coin flips and draws among many candidates."""
    coin = Bernoulli("1/3")
    numpy = np.random.default_rng(1)
    seconds = in_turns(
        {"ours": lambda: coin.sample(COUNT), "numpy": lambda: numpy.random(COUNT) < 1 / 3},
    )
    ratio = f"{seconds['numpy'] / seconds['ours']:.2f}x"
    rows = [["Bernoulli(1/3), 10^6 flips", f"{seconds['ours'] * 1e3:.2f}", f"{seconds['numpy'] * 1e3:.2f}", ratio]]
    for count in (10**5, 10**6, 10**7):
        scores = np.arange(count) * 7919 % 1000
        seconds = in_turns(
            {
                "ours": lambda s=scores: Categorical(s, rate="0.1").sample(),
                "numpy": lambda s=scores: numpy.choice(s.size, p=softmax(s)),
            },
            runs=3,
        )
        ratio = f"{seconds['numpy'] / seconds['ours']:.2f}x"
        row = [f"one of {count:,} candidates", f"{seconds['ours'] * 1e3:.1f}", f"{seconds['numpy'] * 1e3:.1f}", ratio]
        rows.append(row)
    report.table("Choices, ms", ["what", "dither", "NumPy floats", "faster by"], rows)


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(0.1 * (scores - scores.max()))
    return weights / weights.sum()


def start_up() -> None:
    """CPU of an import and of the command line."""
    rows = []
    for name, command in (
        ("import dither", [sys.executable, "-c", "import dither"]),
        ("dither --version", [sys.executable, "-m", "dither", "--version"]),
    ):
        times = []
        for _ in range(5):
            before = children()
            subprocess.run(command, capture_output=True, check=True)
            times.append(children() - before)
        rows.append([name, f"{min(times):.3f}", "0.3", "reached" if min(times) < 0.3 else "MISSED"])
    report.table("Start-up, s of CPU", ["what", "measured", "limit", ""], rows)


def children() -> float:
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timing(draws: int) -> None:
    """Attack A8: does a draw take longer when the noise is larger?"""
    rows = []
    for law in (
        DiscreteLaplace(10),
        DiscreteLaplace(10**6),
        RoundedGaussian(10),
        RoundedGaussian(10**6),
        DiscreteNormal(100),
    ):
        law.sample()
        size, spent = [], []
        for _ in range(draws):
            start = time.perf_counter_ns()
            value = law.sample()
            spent.append(time.perf_counter_ns() - start)
            size.append(abs(value))
        usual = sorted(spent)[int(0.99 * draws)]  # the slowest hundredth is the machine's own business
        pairs = [(s, t) for s, t in zip(size, spent, strict=True) if t <= usual]
        everything = abs(statistics.correlation(size, spent))
        trimmed = abs(statistics.correlation([s for s, _ in pairs], [t for _, t in pairs]))
        rows.append([repr(law), f"{everything:.3f}", f"{trimmed:.3f}", "below" if everything < 0.1 else "ABOVE"])
    report.table(f"|noise| against time over {draws:,} single draws", ["law", "correlation", "fastest 99%", "0.1"], rows)
