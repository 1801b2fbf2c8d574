"""TPC-H beside published errors: five queries of R2T, and the example of PAC; errors, what limits leave out, time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.report import console
from benchmarks.tpch import errors, example, other_rows, tables, times

DRAWS = 1_000
NOTES = [
    "Published figures are for scale 1: at others they are shown, and nothing is judged.",
    "Left out: the true total minus what the engine counted before noise. It is 0 where the limits hold.",
    "Trimmed: without the 20% best and the 20% worst, as R2T trims its ten runs. Such a mean of 1,000 draws strays by 3.3% "
    "(one standard deviation). By law: what it is on average, by the law of the noise, in closed form.",
    "Held: draws in which the 95% bar held the true total. R2T: hkustDB/Race-to-the-Top, its queries and its results.",
]


def main(*, soak: bool, scale: str = "1") -> None:
    draws = DRAWS * (10 if soak else 1)
    whole, folder = float(scale) == 1, tables.folder_of(scale)
    with tempfile.TemporaryDirectory(prefix="dither-tpch-") as name:
        os.environ["DITHER_HOME"] = str(Path(name) / "home")
        errors.main(folder, Path(name), draws=draws, whole=whole)
        example.main(folder, Path(name), draws=draws, whole=whole)
        times.main(folder, Path(name))
        other_rows.main(folder, Path(name))
    console.print(*NOTES, sep="\n")
