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
    reach = min(within, 12)
    table = Table("noise", f"seen in {DRAWS:,} draws", "exact probability", "", title="\nThe draws against the law")
    peak = law.pmf(0).upper
    for k in range(-reach, reach + 1):
        seen = int(np.count_nonzero(draws == k))
        low, high = law.pmf(k)
        table.add_row(f"{k:+d}", f"{seen / DRAWS:.5f}", f"{(low + high) / 2:.5f}", "█" * round(BAR * high / peak))
    console.print(table)
    console.print(
        f"Adding or removing one person changes the probability of any answer by a factor of at most e^({rate}).\n"
        "That holds exactly: no floating point came near the noise."
    )
