"""Powers of a rotation in balls. Boxes grow when they are turned again and again, so every few steps start afresh."""

from __future__ import annotations

from flint import acb, arb

AFRESH = 16


def turns(angle: arb, count: int) -> list[acb]:
    """e^(i n angle) for n = 0 .. count - 1."""
    few = [acb(1)]
    step = acb(0, angle).exp()
    for _ in range(min(count, AFRESH) - 1):
        few.append(few[-1] * step)
    found = list(few)
    for start in range(AFRESH, count, AFRESH):
        at = acb(0, angle * start).exp()
        found += [at * turn for turn in few]
    return found[:count]
