"""How much better some questions of a batch are answered together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gain:
    """The questions, and their error bars with and without each other."""

    questions: tuple[int, ...]  # their places in the batch
    together: float  # root mean square of their error bars
    apart: float  # as if each was asked by itself, at its part of the price
