"""Exact laws of choices on small lines, with one draw for each choice; and all histograms of a few people."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import arb

from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.noise.entropy import _rehearsal
from dither.numeric.enclosure import to_ball


def histograms(cells: int, people: int) -> list[tuple[int, ...]]:
    """All of exactly so many people."""
    return [tuple(rows.count(j) for j in range(cells)) for rows in combinations_with_replacement(range(cells), people)]


def pairs(cells: int, people: int, *, replace: bool) -> Iterator[tuple[list[int], list[int]]]:
    """All neighbours: of exactly so many people (one of whom may be in no cell), or of up to so many."""
    for size in [people - 1] if replace else range(people):
        for start in histograms(cells, size):
            more = [[count + (j == at) for j, count in enumerate(start)] for at in range(cells)]
            yield from ((list(start), other) for other in more)
            if replace:
                yield from ((more[i], more[j]) for i in range(cells) for j in range(i))


def flips(gaps: list[int], rate: arb) -> list[arb]:
    """Permute-and-flip: P(i) = p_i times the mean of 1 / (1 + how many others pass)."""
    chances = [(-(rate * gap)).exp() for gap in gaps]
    found = []
    for i, chance in enumerate(chances):
        passed = [arb(1)]
        for j, other in enumerate(chances):
            if j != i:
                kept = [mass * (1 - other) for mass in passed] + [arb(0)]
                passed = [x + y for x, y in zip(kept, [arb(0), *(mass * other for mass in passed)], strict=True)]
        found.append(chance * sum((mass / (k + 1) for k, mass in enumerate(passed)), start=arb(0)))
    return found


@pytest.fixture
def one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rehearsed choice takes one draw in place of a coin for each candidate: the same law, fewer branches."""

    plain = PermuteAndFlip._choose

    def choose(self: PermuteAndFlip, places: object) -> int:
        if _rehearsal.get() is None:
            return plain(self, places)
        listed = places.tolist()
        chances = flips([max(listed) - place for place in listed], to_ball(self.rate))
        both = sorted(enumerate(chances), key=lambda pair: -float(pair[1]))
        return _rehearsal.get().draws(lambda: iter(both), None)

    monkeypatch.setattr(PermuteAndFlip, "_choose", choose)


class Script:
    """Stands for every choice: takes scripted candidates, and notes the scores and the rate of each choice."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object) -> None:
        self.path: list[int] = []
        self.seen: list[tuple[Fraction, list[int]]] = []
        self.known: dict[tuple[int, ...], dict[tuple[int, ...], list[tuple[Fraction, list[int]]]]] = {}
        build, script = module.chooser, self

        def chooser(*args: object, **kwargs: object) -> object:
            choice = build(*args, **kwargs)

            class Chosen:
                error, epsilon = choice.error, choice.epsilon

                def release(self, scores: object) -> int:
                    at = len(script.seen)
                    script.seen.append((choice.rate.fraction(), scores.tolist()))
                    if at == len(script.path):
                        script.path.append(0)
                    return script.path[at]

                def choices(self, rows: np.ndarray) -> np.ndarray:
                    return np.array([self.release(row) for row in rows])

            return Chosen()

        monkeypatch.setattr(module, "chooser", chooser)

    def all(self, release: object, counts: object) -> Iterator[tuple[tuple[int, ...], list[tuple[Fraction, list[int]]]]]:
        """Every path of choices, with what was seen on it."""
        self.path = []
        while True:
            self.seen = []
            release(counts)
            yield tuple(self.path), list(self.seen)
            while self.path and self.path[-1] + 1 == len(self.seen[len(self.path) - 1][1]):
                self.path.pop()
            if not self.path:
                return
            self.path[-1] += 1

    def cost(self, release: object, one: object, other: object, *, square: bool = False) -> Fraction:
        """The most that a path costs: the sum over its choices of rate times spread, or of an eighth of the squares."""
        for counts in (one, other):
            if tuple(counts) not in self.known:
                self.known[tuple(counts)] = dict(self.all(release, counts))
        first, second = self.known[tuple(one)], self.known[tuple(other)]
        assert first.keys() == second.keys()  # what can be chosen does not depend on the data
        worst = Fraction(0)
        for path, seen in first.items():
            total = Fraction(0)
            for (rate, scores), (same, others) in zip(seen, second[path], strict=True):
                assert rate == same
                moved = [x - y for x, y in zip(scores, others, strict=True)]
                loss = rate * (max(moved) - min(moved))
                total += loss**2 / 8 if square else loss
            worst = max(worst, total)
        return worst
