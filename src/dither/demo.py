"""What `dither demo` prints: a count, its noise, and how the draws compare with the law they are drawn from."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from dither.noise.laplace import DiscreteLaplace
from dither.numeric.number import exact

VISITS = 128  # a made-up clinic's visits today
DRAWS = 1_000_000
BAR = 20


def show(epsilon: str) -> None:
    """Print the demonstration for a count that one person changes by at most one."""
    console = Console()
    rate = exact(epsilon, name="epsilon", positive=True)
    law = DiscreteLaplace(rate=rate)
    within = max(law.quantile("0.975"))
    console.print(f"[bold]A made-up clinic had {VISITS} visits today.[/] Each person came at most once.")
    console.print(f"Noise: {law!r}, on whole numbers, drawn exactly, with cryptographic randomness.\n")
    answers = ", ".join(str(VISITS + law.sample()) for _ in range(5))
    console.print(f"  answers one could publish, one of them: [bold]{answers}[/]")
    console.print(f"  with 95% probability the noise is at most ±{within}")

    draws = law.sample(DRAWS)
    width = max(1, within // 6) | 1  # an odd number of steps a row, so that zero is in the middle of one
    table = Table("noise", f"seen in {DRAWS:,} draws", "exact probability", "", title="\nThe draws against the law")
    rows = []
    for middle in range(-6 * width, 7 * width, width):
        first, last = middle - width // 2, middle + width // 2
        exactly = law.tail(first - 1).upper - law.tail(last).upper
        seen = int(np.count_nonzero((draws >= first) & (draws <= last))) / DRAWS
        label = f"{middle:+d}" if width == 1 else f"{first:+d} to {last:+d}"
        rows.append((label, seen, exactly))
    peak = max(exactly for _, _, exactly in rows)
    for label, seen, exactly in rows:
        table.add_row(label, f"{seen:.5f}", f"{exactly:.5f}", "█" * round(BAR * exactly / peak))
    console.print(table)
    console.print(
        f"Adding or removing one person changes the probability of any answer by a factor of at most e^({rate}).\n"
        "That holds exactly: no floating point came near the noise."
    )
