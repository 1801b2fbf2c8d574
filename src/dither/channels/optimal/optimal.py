"""The best mechanism for a query, a prior and a gain: none that keeps the same promise gains more, by a proved margin.

`optimal(inputs, epsilon=, prior=, gain=)` gives a mechanism with

    utility    what it gains on average, rounded down: it attains this
    gap        no epsilon-private mechanism gains more than utility + gap: proved, not estimated

On a path (answers of a count: each beside the next) the truncated geometric mechanism with the best remap is tried
first, with a certificate that takes no solver. Where it is not the best (gains that do not fall with the distance), and on
every other graph, a linear program is solved, and its answer repaired until the promise holds exactly.

The promise is about neighbours in the graph: whoever states a graph of answers says that one person moves the answer along
an edge at most. `graph.induced` finds it for a query on a small universe.
"""

from __future__ import annotations

import math
import numbers
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.graph import GraphLike, read_graph
from dither.channels.labels import plain
from dither.channels.neighbour_graph import Graph
from dither.channels.optimal.geometric_remap import GeometricRemap, best_on_path, spread
from dither.channels.optimal.integer_rows import IntegerRows
from dither.channels.optimal.linear_program import best_on_graph, check_size
from dither.channels.prior import PriorLike, read_prior
from dither.channels.utility import GainLike, read_gain
from dither.errors import DataError, GuaranteeError, NumberError, SizeError
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike, exact, rational
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit, UnitLike, read_unit

GOOD_ENOUGH = 1e-7  # of what guesses can change: a geometric mechanism this close to its bound needs no linear program
ROUNDING = 1e-12  # of the gain, where guesses change nothing
MOST_CELLS = 9_000_000


@argument_errors
@dataclass(frozen=True, eq=False)
class Optimal:
    """The optimal mechanism on finitely many answers: no other gains more, up to its proved gap. Made by `optimal`.

    Args:
        graph: Which answers are neighbours.
        guesses: What may be published.
        epsilon: The promise between neighbours, an exact number above zero.
        utility: What it gains on average, rounded down.
        gap: How much more any other mechanism could gain, at most.
        unit: What one person may change in the data.
        draws: The rows of the mechanism, and how a guess is drawn from them.

    Raises:
        GuaranteeError: The rows of neighbours differ by more than `epsilon` allows.
        NumberError: `epsilon` is not above zero.
        SizeError: There are fewer guesses than `draws` may give.

    Example:
        >>> import dither
        >>> best = dither.optimal(range(11), epsilon=1, gain="absolute")
        >>> best.error("0.95"), best.release(4) in range(11)
        (3, True)
    """

    graph: Graph  # which answers are neighbours
    guesses: tuple[Hashable, ...]  # what may be published
    epsilon: Number  # the promise
    utility: float  # what it gains on average, rounded down
    gap: float  # how much more any other mechanism could gain, at most
    unit: Unit
    draws: GeometricRemap | IntegerRows  # how a guess is drawn

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact(self.epsilon, name="epsilon", positive=True))
        if self.draws.width > len(self.guesses):
            raise SizeError("guesses", len(self.guesses), f"{self.draws.width} may be drawn", "as many guesses")
        if not self.draws.keeps(self.graph, self.epsilon):
            why = "neighbours differ by more than this allows"
            raise GuaranteeError("epsilon", str(self.epsilon), why, "optimal(...), which makes a mechanism that keeps it")

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The true answers that it takes."""
        return self.graph.nodes

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release: pure epsilon."""
        return pure(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss()

    def error(self, confidence: NumberLike) -> int | float:
        """The half-width that a release stays within with this `confidence`, whatever the answer; for numbers."""
        level = rational(confidence, name="confidence")
        if not 0 < level < 1:
            raise NumberError("confidence", confidence, "it lies between 0 and 1", "0.95")
        if self._sorted is None or not all(_is_number(label) for label in self.guesses):
            raise GuaranteeError("confidence", confidence, "these answers are not numbers", "utility, or channel()")
        widths = (self._half_width(place, level) for place in range(len(self.inputs)))
        widest = max(widths)
        return int(widest) if widest.denominator == 1 else round_up(widest)

    def _half_width(self, place: int, level: Fraction) -> Fraction:
        truth: Any = self.inputs[place]
        far: dict[Fraction, Fraction] = {}
        for guess, chance in self.draws.lower_row(place):
            said: Any = self.guesses[guess]
            away = abs(Fraction(said) - Fraction(truth))
            far[away] = far.get(away, Fraction(0)) + chance
        within = Fraction(0)
        for away in sorted(far):
            within += far[away]
            if within >= level:
                return away
        return max(far)

    def release(self, value: Hashable) -> Hashable:
        """A guess for the true answer `value`, drawn exactly. Among numbers the nearest answer stands for any number."""
        return self.guesses[self.draws.draw(self._place(value))]

    def _place(self, value: Hashable) -> int:
        """Where an answer stands. Among numbers any number is moved to the nearest; NaN counts as 0."""
        found: Any = plain(value)
        if self._sorted is not None and isinstance(found, (numbers.Real, Decimal)) and not isinstance(found, bool):
            known, places = self._sorted
            number = _exactly(found)
            if isinstance(number, float):  # beyond all numbers
                return places[-1 if number > 0 else 0]
            at = bisect_left(known, number)
            near = [k for k in (at - 1, at) if 0 <= k < len(known)]
            return places[min(near, key=lambda k: abs(known[k] - number))]
        try:
            if self._sorted is not None:
                raise KeyError(found)  # True is not 1 here
            return self.graph.place[found]
        except (KeyError, TypeError):
            why = "it is none of the answers that this mechanism takes"
            raise DataError("value", value, why, str(self.inputs[:3])) from None

    @cached_property
    def _sorted(self) -> tuple[list[Fraction], list[int]] | None:
        """The inputs in order and where they stand, if all of them are numbers."""
        if not all(_is_number(label) for label in self.inputs):
            return None
        listed: Any = self.inputs
        order = sorted(range(len(listed)), key=lambda at: Fraction(listed[at]))
        return [Fraction(listed[at]) for at in order], order

    def truth(self, value: Hashable) -> Hashable:
        """What a release is an estimate of: `value`, moved to the nearest of the inputs."""
        return self.inputs[self._place(value)]

    def channel(self) -> Channel:
        """The exact matrix. With thousands of entries that are not rational this takes long."""
        rows = [self.draws.row(place) for place in range(len(self.inputs))]
        said = [guess for guess in range(len(self.guesses)) if any(guess in row for row in rows)]
        matrix = [[row.get(guess, Fraction(0)) for guess in said] for row in rows]
        return Channel(matrix, self.inputs, [self.guesses[guess] for guess in said])

    def neighbours(self) -> Iterator[tuple[Hashable, Hashable]]:
        """Pairs of answers that are neighbours: the edges of the graph."""
        return ((self.inputs[x], self.inputs[y]) for x, y in self.graph.edges)

    def __repr__(self) -> str:
        size = f"{len(self.inputs)} inputs, {len(self.guesses)} guesses"
        return f"Optimal({size}, epsilon='{self.epsilon}', utility={self.utility:.6g}, gap={self.gap:.1e})"


@argument_errors
def optimal(
    inputs: Iterable[Hashable],
    *,
    epsilon: NumberLike,
    prior: PriorLike = "uniform",
    gain: GainLike = "identity",
    graph: GraphLike = "path",
    guesses: Iterable[Hashable] | None = None,
    unit: UnitLike = Unit.ADD_REMOVE,
) -> Optimal:
    """The epsilon-private mechanism with the largest expected gain, with a proved bound on what any other gains.

    Args:
        inputs: The labels of the true answers, each once and at least two, in their order.
        epsilon: The promise between neighbours, an exact number above zero.
        prior: How likely each input is: "uniform", a mapping, or a list of exact probabilities.
        gain: How good a guess is: "identity", "absolute", "squared", ("threshold", t), a function g(guess, truth), or a
            matrix with a row for each guess.
        graph: Which inputs are neighbours: "path" (each beside the next, as for a count), "complete" (one person's
            value), or a `Graph` on the inputs.
        guesses: What may be published; None for the inputs.
        unit: What one person may change in the data.

    Raises:
        DataError: A label is there twice, or `prior`, `gain` or `graph` is none, or the graph is not connected.
        NumberError: `epsilon` is not above zero, or a probability or a gain is no exact number.
        SizeError: Only one input, sizes that do not fit, or a linear program that would take hours.

    Example:
        >>> import dither
        >>> best = dither.optimal(range(5), epsilon=1, gain="absolute")
        >>> best.guarantee.epsilon(0), best.gap < 1e-9
        (1.0, True)
    """
    promised = exact(epsilon, name="epsilon", positive=True)
    nodes = read_graph(graph, inputs)
    whom = read_unit(unit)
    chances, table = read_prior(prior, nodes.nodes), read_gain(gain, nodes.nodes, guesses)
    draws: GeometricRemap | IntegerRows
    if nodes.is_line:
        _check_cells(len(nodes), len(table.guesses))
        draws, gained, most = best_on_path(table, chances, promised)
        if most is not None and most - gained <= GOOD_ENOUGH * spread(table, chances) + ROUNDING * abs(gained):
            return Optimal(nodes, table.guesses, promised, gained, _gap(gained, most), whom, draws)
    check_size(len(table.guesses), nodes)
    weights = [[p * g for p, g in zip(chances, row, strict=True)] for row in table.rows]
    draws, gained, most = best_on_graph(weights, nodes, promised)
    return Optimal(nodes, table.guesses, promised, gained, _gap(gained, most), whom, draws)


def _gap(gained: float, most: float) -> float:
    return max(0.0, round_up(Fraction(most) - Fraction(gained)))


def _check_cells(inputs: int, guesses: int) -> None:
    if inputs * guesses > MOST_CELLS:
        why = f"{inputs} inputs and {guesses} guesses have more than {MOST_CELLS} gains, which are held in memory"
        raise SizeError("inputs", inputs, why, "fewer inputs or guesses")


def _exactly(number: Any) -> Fraction | float:
    """A number of any kind; infinities stay, NaN is 0, and decimals with huge exponents are 0 or infinite."""
    if isinstance(number, Decimal):
        if number.is_nan() or (number.is_finite() and number.adjusted() < -400):
            return Fraction(0)
        if number.is_infinite() or number.adjusted() > 10_000:
            return -math.inf if number.is_signed() else math.inf
        return Fraction(number)
    if not isinstance(number, numbers.Rational):
        number = float(number)
        if not math.isfinite(number):
            return Fraction(0) if math.isnan(number) else number
    return Fraction(number)


def _is_number(label: object) -> bool:
    if isinstance(label, float):
        return math.isfinite(label)
    return isinstance(label, (int, Fraction)) and not isinstance(label, bool)
