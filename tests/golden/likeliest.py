"""Releases without chance: each draw is the likeliest outcome of its distribution, so that no seed stands in a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from flint import arb

from dither.noise.entropy import rehearsed
from dither.noise.law import check_size


class MostLikely:
    """Answers every draw with the first of its outcomes, which come with falling probability: noise is 0."""

    def draws(
        self, outcomes: Callable[[], Iterator[tuple[Any, arb]]], size: int | tuple[int, ...] | None, dtype: type = np.int64
    ) -> Any:
        """Return the likeliest outcome, or an array of it."""
        outcome, _ = next(outcomes())
        return outcome if size is None else np.full(check_size(size), outcome, dtype)


def without_chance() -> AbstractContextManager[None]:
    """Make the likeliest outcome of each draw while the context lasts."""
    return rehearsed(MostLikely())
