"""Closed-form accounting beside dp-accounting: oracle jobs a and e (epsilon) and f (sigma), CPU time and error."""

from __future__ import annotations

from fractions import Fraction

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import calibrate, gdp, pure, zcdp

ORACLE = {
    "a: Gaussian sigma 20, 1000 times": Fraction("8.30622504995472819117712553977"),
    "e: Gaussian sigma 1000, 10^6 times": Fraction("4.88655411746221199637049944247"),
    "f: sigma for epsilon 1, 1000 times": Fraction("133.596076731032122632168866487"),
}
PEERS = {
    "a": [("a", "dp-accounting, loss distribution")],
    "e": [("e", "dp-accounting, loss distribution")],
    "f": [("f", "dp-accounting, loss distribution"), ("r", "dp-accounting, Rényi orders (too much noise)")],
}


def main(*, soak: bool = False) -> None:
    runs = 101 if soak else 31
    jobs = {
        "a: Gaussian sigma 20, 1000 times": lambda: (1000 * gdp("1/20")).epsilon("1e-6"),
        "e: Gaussian sigma 1000, 10^6 times": lambda: (10**6 * gdp("1/1000")).epsilon("1e-6"),
        "f: sigma for epsilon 1, 1000 times": lambda: float(calibrate.gaussian(1, "1e-6", count=1000)),
    }
    rows = []
    for name, job in jobs.items():
        ours = best(job, runs=runs)
        error = float(Fraction(job()) / ORACLE[name] - 1)
        rows.append([name, "dither", f"{ours * 1e3:.2f}", f"{error:+.1e}", ""])
        for letter, peer in PEERS[name[0]]:
            answer = ask("dp_accounting", {"job": letter, "runs": 3 if soak else 1})
            if "error" in answer:
                rows.append(["", peer, str(answer["error"]), "", ""])
                continue
            theirs, value = float(str(answer["seconds"])), Fraction(str(answer["value"]))
            ratio, off = theirs / ours, float(value / ORACLE[name] - 1)
            wanted = "" if letter == "r" else ", 100x reached" if ratio >= 100 else ", 100x MISSED"
            rows.append(["", peer, f"{theirs * 1e3:,.0f}", f"{off:+.1e}", f"{ratio:,.0f}x{wanted}"])
    columns = ["job", "who", "ms", "error", "dither is faster by"]
    report.table("Closed forms, CPU time; errors relative to the oracle", columns, rows)

    others = {
        "zcdp('0.5').epsilon('1e-6')": lambda: zcdp("0.5").epsilon("1e-6"),
        "(100 * pure('0.1')).epsilon('1e-6'), optimal": lambda: (100 * pure("0.1")).epsilon("1e-6"),
        "(pure(1) + gdp(1)).epsilon('1e-6')": lambda: (pure(1) + gdp(1)).epsilon("1e-6"),
        "gdp(1).tradeoff('0.05')": lambda: gdp(1).tradeoff("0.05"),
    }
    report.table("Other questions", ["question", "ms"], [[name, f"{best(job) * 1e3:.2f}"] for name, job in others.items()])
