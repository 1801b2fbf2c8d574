"""Random examples: others every day, the same ones again when the seed of that day is given.

A fixed seed proves the same cases for ever. So properties that must hold for *every* example (never tests with a false-alarm
rate) draw theirs from the day's seed, which the test run prints: `DITHER_SEED=20260131 python3 dev.py test` repeats it.
"""

from __future__ import annotations

import datetime
import os
import random

SEED, ALL = "DITHER_SEED", "DITHER_ALL"


def seed_of_the_day() -> int:
    """DITHER_SEED, or the day in UTC as yyyymmdd."""
    return int(os.environ.get(SEED) or datetime.datetime.now(datetime.UTC).strftime("%Y%m%d"))


def of_the_day(*family: object) -> random.Random:
    """Random numbers of a family of examples; each family, and each of its cases, has its own."""
    return random.Random(" ".join(map(str, (seed_of_the_day(), *family))))


def examples(push: int, long: int) -> int:
    """How many examples a property gets: on a push, and with --all."""
    return long if ALL in os.environ else push


def rounds(fixed: int, day: int, *family: object) -> list[random.Random]:
    """Random numbers for each round of a family: the first rounds are always the same, so that a test may also ask that
    somebody comes near to what is claimed; the others are of the day. With --all there are ten times as many of those."""
    same = [random.Random(" ".join(map(str, (*family, place)))) for place in range(fixed)]
    return same + [of_the_day(*family, place) for place in range(examples(day, 10 * day))]
