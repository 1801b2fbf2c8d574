"""The step of the lattice that real values are rounded to, and the room that a sensitivity gets on it.

Sensitivities of real values are taken a little larger than stated, by 1/1024 of a step: values that were computed in
floats, and bounds written as decimals, are off by far less than that, and without it a sensitivity of exactly so many
steps would leave no room.
"""

from __future__ import annotations

from fractions import Fraction

from dither.errors import NumberError
from dither.numeric.lattice import Lattice
from dither.numeric.number import NumberLike, rational

FINEST = 2**12  # steps in the sensitivity, for each coordinate: rounding then costs about 1/4096 of the noise
SPARE = Fraction(1, 1024)  # of a step: what the query's own float arithmetic may add to the sensitivity
MOST_EXPONENT = 900  # steps between 2^-900 and 2^900: every release is a finite float


def spare(sensitivity: Fraction, step: Fraction) -> Fraction:
    """The sensitivity of a real value, with room for the arithmetic that computed it."""
    return sensitivity + step * SPARE


def choose_step(step: NumberLike | None, size: Fraction, *, integers: bool = False) -> Fraction:
    """The step that was asked for, or a power of two far below this size; 1 for whole numbers."""
    if integers:
        if step is not None and rational(step, name="step") != 1:
            raise NumberError("step", step, "whole numbers have steps of 1", "integers=False, or no step")
        return Fraction(1)
    chosen = Lattice.below(size / FINEST).step if step is None else rational(step, name="step", positive=True)
    if not Fraction(1, 2**MOST_EXPONENT) <= chosen <= 2**MOST_EXPONENT:
        given = size if step is None else step
        raise NumberError("step", given, f"floats show steps from 2^-{MOST_EXPONENT} to 2^{MOST_EXPONENT}", "other units")
    return chosen
