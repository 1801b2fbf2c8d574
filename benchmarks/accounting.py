"""Loss distributions beside dp-accounting, in one run: CPU time, error against what is known, width of our bracket."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import Loss, calibrate, gdp, pure, zcdp
from dither.numeric.number import Enclosure
from dither.privacy.loss.pairs import finite
from dither.privacy.loss.pairs import poisson_sampled_normal as sampled_normal


class Job(NamedTuple):
    letter: str
    name: str
    build: Callable[[], Loss]
    wanted: int  # how many times faster
    truth: str | None = None  # epsilon at delta = 1e-6


def _mixed(count: int) -> Loss:
    noise = [Loss.gaussian(20 + i) for i in range(count)] + [Loss.laplace(30 + i) for i in range(count)]
    return sum(noise, start=0 * Loss.pure(1))


def _sampled(scale: Fraction) -> Loss:
    return Loss.gaussian(scale).poisson_subsampled("0.01")


JOBS = [
    Job("a", "a: Gaussian, 1000 times", lambda: 1000 * Loss.gaussian(20), 100, "8.30622504995472819117712553977"),
    Job("b", "b: Laplace, 1000 times", lambda: 1000 * Loss.laplace(20), 100, "8.20444034393393310"),
    Job("c", "c: sampled Gaussian, 10^4 times", lambda: 10**4 * _sampled(Fraction(1)), 20, "6.907384495045082347688477"),
    Job("e", "e: Gaussian, 10^6 times", lambda: 10**6 * Loss.gaussian(1000), 100, "4.88655411746221199637049944247"),
    Job("d", "d: discrete Laplace, 1000 times", lambda: 1000 * Loss.discrete_laplace(20), 20, "8.283573346016258"),
    Job("m", "m: 125 Gaussian, 125 Laplace, all different", lambda: _mixed(125), 20),
    Job(
        "s",
        "s: 20 of each, and 20 sampled Gaussians 50 times",
        lambda: sum((50 * _sampled(1 + Fraction(i, 10)) for i in range(20)), start=_mixed(20)),
        20,
    ),
]
SIGMA = Fraction("133.596076731032122632168866487")
MILLION = {
    "Laplace": Loss.laplace(1000),
    "randomized response": Loss.pure("0.001"),
    "discrete Gaussian": Loss.discrete_gaussian(10**6),
    "Gaussian": Loss.gaussian(1000),
}


def _fresh(call: Callable[[], object]) -> Callable[[], object]:
    """The call, with nothing remembered from the last one."""

    def run() -> object:
        sampled_normal._tail.cache_clear()
        finite._floats.cache_clear()
        return call()

    return run


def main(*, soak: bool = False) -> None:
    runs = 31 if soak else 9
    rows = []
    for job in JOBS:
        loss = job.build()
        found: Enclosure = loss.bracket("1e-6")
        ours = best(_fresh(lambda loss=loss: loss.bracket("1e-6")), runs=runs)  # type: ignore[misc]
        error = "" if job.truth is None else f"{float(Fraction(found.upper) - Fraction(job.truth)):+.0e}"
        rows.append([job.name, "dither", f"{ours * 1e3:.2f}", f"{found.upper:.9f}", error, f"{found.width:.0e}", ""])
        rows.append(_peer(job, ours, 3 if soak else 1))
    columns = ["job", "who", "ms", "epsilon", "error", "width", "dither is faster by"]
    report.table("epsilon at delta = 1e-6, CPU time; ours is the whole bracket, nothing remembered", columns, rows)

    rows = []
    for name, loss in MILLION.items():
        whole = 10**6 * loss
        seconds = best(_fresh(lambda whole=whole: whole.bracket("1e-6")), runs=runs)  # type: ignore[misc]
        width = whole.bracket("1e-6").width
        rows.append([name, f"{seconds * 1e3:.2f}", "reached" if seconds < 0.01 else "MISSED", f"{width:.0e}"])
    report.table("A million copies: under 10 ms wanted", ["of", "ms", "", "width"], rows)
    _calibration(soak=soak)
    _others()


def _peer(job: Job, ours: float, runs: int) -> list[str]:
    answer = ask("dp_accounting", {"job": job.letter, "runs": runs})
    if "error" in answer:
        return ["", "dp-accounting", str(answer["error"]), "", "", "", ""]
    theirs, value = float(str(answer["seconds"])), float(str(answer["value"]))
    error = "" if job.truth is None else f"{float(Fraction(value) - Fraction(job.truth)):+.0e}"
    said = "reached" if theirs / ours >= job.wanted else "MISSED"
    ratio = f"{theirs / ours:,.0f}x, {job.wanted}x {said}"
    return ["", "dp-accounting", f"{theirs * 1e3:,.0f}", f"{value:.9f}", error, "", ratio]


def _calibration(*, soak: bool) -> None:
    ours = best(lambda: calibrate.gaussian(1, "1e-6", count=1000))
    off = float(calibrate.gaussian(1, "1e-6", count=1000) / SIGMA - 1)
    rows = [["dither", f"{ours * 1e3:.2f}", f"{off:+.0e}", ""]]
    jobs = [("r", "dp-accounting, Rényi orders")] + [("f", "dp-accounting, loss distribution")] * soak
    for letter, name in jobs:
        answer = ask("dp_accounting", {"job": letter, "runs": 1})
        if "error" in answer:
            rows.append([name, str(answer["error"]), "", ""])
            continue
        theirs, value = float(str(answer["seconds"])), Fraction(str(answer["value"]))
        rows.append([name, f"{theirs * 1e3:,.0f}", f"{float(value / SIGMA - 1):+.0e}", f"{theirs / ours:,.0f}x"])
    report.table("f: sigma for epsilon 1, 1000 Gaussians", ["who", "ms", "error", "dither is faster by"], rows)


def _others() -> None:
    steps = 1000 * _sampled(Fraction(1))
    others: dict[str, Callable[[], object]] = {
        "zcdp('0.5').epsilon('1e-6')": lambda: zcdp("0.5").epsilon("1e-6"),
        "(100 * pure('0.1')).epsilon('1e-6')": lambda: (100 * pure("0.1")).epsilon("1e-6"),
        "(pure(1) + gdp(1)).epsilon('1e-6')": lambda: (pure(1) + gdp(1)).epsilon("1e-6"),
        "gdp(1).tradeoff('0.05')": lambda: gdp(1).tradeoff("0.05"),
        "20 * Loss.laplace(1), on the grid": lambda: (20 * Loss.laplace(1)).epsilon("1e-6"),
        "1000 sampled Gaussians": lambda: steps.epsilon("1e-6"),
        "calibrate.sampled_gaussian, 1000 times": lambda: calibrate.sampled_gaussian(1, "1e-6", rate="0.01", count=1000),
    }
    rows = [[name, f"{best(_fresh(job), runs=3) * 1e3:.2f}"] for name, job in others.items()]
    report.table("Other questions", ["question", "ms"], rows)
