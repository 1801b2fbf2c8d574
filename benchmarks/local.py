"""Surveys beside pure-ldp and multi-freq-ldpy: reports a second, decoding, errors; and one Bayesian update."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import Number
from dither.channels.kernels import FlatKernel, GeometricKernel
from dither.local.survey import Survey
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.hadamard_response import HadamardResponse
from dither.local.surveys.local_hashing import LocalHashing
from dither.local.surveys.unary_encoding import UnaryEncoding

PEOPLE, SIZE, EPSILON = 1_000_000, 1024, 1
KINDS: dict[str, type[Survey]] = {
    "direct": DirectEncoding,
    "unary": UnaryEncoding,
    "hashing": LocalHashing,
    "hadamard": HadamardResponse,
}
ASKED = {"direct": 20_000, "unary": 2_000, "hashing": 1_000, "hadamard": 5_000}  # people that a peer is timed with
PEERS = {"pure_ldp": "raw", "multi_freq_ldpy": "clip"}  # what their estimates are


def zipf(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1) ** 1.1
    return weights / weights.sum()


def unimodal(size: int) -> np.ndarray:
    weights = np.exp(-0.5 * ((np.arange(size) - size / 2) / (size / 8)) ** 2)
    return weights / weights.sum()


def main(*, soak: bool = False) -> None:
    speed(runs=5 if soak else 2)
    errors(people=20_000 if soak else 4_000, runs=5 if soak else 2)
    updates(runs=30 if soak else 9)


def speed(runs: int) -> None:
    """A million people; peers are timed with fewer, and their decoders scaled to a million."""
    values = np.random.default_rng(1).choice(SIZE, PEOPLE, p=zipf(SIZE))
    rows = []
    for name, kind in KINDS.items():
        survey = kind(range(SIZE), epsilon=EPSILON)
        reports = survey.randomize(values)
        client = best(partial(survey.randomize, values), runs=runs) / PEOPLE
        decode = best(lambda survey=survey, reports=reports: survey.estimate(reports, method="raw"), runs=runs)
        for peer in PEERS:
            few = values[: ASKED[name]].tolist()
            answer = ask(peer, {"survey": name, "size": SIZE, "epsilon": EPSILON, "values": few})
            if "error" in answer:
                rows.append([name, f"{1 / client:,.0f}", f"{decode:.3f}", f"{peer}: has none", *[""] * 4])
                continue
            theirs = float(str(answer["client"])) / len(few)
            scaled = float(str(answer["decode"])) / len(few) * PEOPLE
            goal = 300 if name == "hashing" else 100
            rows.append([
                name, f"{1 / client:,.0f}", f"{decode:.3f}", f"{peer} {answer['version']}", f"{1 / theirs:,.0f}",
                f"{scaled:,.2f}", *_reached(theirs / client, 20), *_reached(scaled / decode, goal),
            ])  # fmt: skip
    columns = ["survey", "reports/s", "decode s", "peer", "reports/s", "decode s", "client", "decoder"]
    report.table(f"{PEOPLE:,} people, {SIZE} values, ε = {EPSILON}, CPU", columns, rows)


def _reached(ratio: float, wanted: float) -> list[str]:
    return [f"{ratio:,.0f}x of {wanted:g}x {'reached' if ratio >= wanted else 'MISSED'}"]


def errors(people: int, runs: int) -> None:
    """The same people for everybody, 1024 values: L1 and mean squared error, averaged."""
    rng = np.random.default_rng(2)
    rows = []
    for shape, truth in (("zipf", zipf(SIZE)), ("unimodal", unimodal(SIZE))):
        for name, kind in KINDS.items():
            survey = kind(range(SIZE), epsilon=EPSILON)
            found: dict[str, list[tuple[float, float]]] = {}
            count = min(people, ASKED[name])
            for _ in range(runs):
                values = rng.choice(SIZE, count, p=truth)
                real = np.bincount(values, minlength=SIZE) / count
                tally = survey.tally(survey.randomize(values))
                for method in ("raw", "clip", "simplex"):
                    found.setdefault(method, []).append(_errors(survey.estimate(tally, method=method).frequency, real))
                for peer in PEERS:
                    job = {"survey": name, "size": SIZE, "epsilon": EPSILON, "values": values.tolist()}
                    answer = ask(peer, job)
                    if "error" not in answer:
                        found.setdefault(peer, []).append(_errors(np.array(answer["frequency"]), real))
            means = {key: np.mean(pairs, axis=0) for key, pairs in found.items()}
            for peer, method in PEERS.items():
                if peer in means:
                    rows.append(
                        [
                            shape,
                            name,
                            str(count),
                            f"{peer} ({method})",
                            *_pair(means[peer]),
                            *_pair(means[method]),
                            *_pair(means["simplex"]),
                        ]
                    )
    columns = ["data", "survey", "people", "peer", "L1", "MSE", "L1 ours, same method", "MSE", "L1 simplex", "MSE"]
    report.table("Errors against the people's own frequencies", columns, rows)


def _errors(found: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    return float(np.abs(found - truth).sum()), float(((found - truth) ** 2).mean())


def _pair(values: np.ndarray) -> list[str]:
    return [f"{values[0]:.3g}", f"{values[1]:.2e}"]


def updates(runs: int) -> None:
    """One Bayesian update, p <- p C (h / (p C)), beside two products with the matrix."""
    rows = []
    for size in (1000, 4000):
        p, h = zipf(size), unimodal(size)
        for name, kernel in (
            ("flat", FlatKernel(size, Number("0.05"))),
            ("geometric", GeometricKernel(size, Number("0.05"))),
        ):
            dense = kernel.push(np.eye(size))
            mine = best(lambda k=kernel, p=p, h=h: [p * k.pull(h / k.push(p)) for _ in range(20)], runs=runs) / 20
            theirs = best(lambda d=dense, p=p, h=h: [p * (d @ (h / (p @ d))) for _ in range(5)], runs=runs) / 5
            goal = _reached(theirs / mine, 50) if size == 4000 else [f"{theirs / mine:,.0f}x"]
            rows.append([f"{name}, {size}", f"{mine * 1e6:.0f}", f"{theirs * 1e6:.0f}", *goal])
    report.table("One Bayesian update, microseconds of CPU", ["channel", "without", "with matrix", "faster by"], rows)
