"""Which frequency oracle to take: the survey with the least error for so many values, this epsilon and so many people.

In every survey a report supports the true value with probability p and another one with probability q (`survey.py`), so a
value of frequency f is estimated from n people with the deviation sqrt(h (1 - h) / n) / (p - q), h = q + (p - q) f. With
E = e^epsilon and d values:

    direct      p = E / (E + d - 1)       q = 1 / (E + d - 1)
    unary       p = 1/2                   q = 1 / (E + 1)
    hashing     p = E / (E + g - 1)       q = 1 / g                                   g near E + 1
    hadamard    p = E / (E + 1)           q = 1/2
    subset      p = E k / (E k + d - k)   q = (p (k - 1) + (1 - p) k) / (d - 1)       k = round(d / (E + 1))

They are compared where f = 1 / d, the mean over all values, unless another frequency is given. Near ties go to the survey
with the smaller report, and equals to the simpler one.

Places on a grid are compared by the total variation of the whole map, for a shape of it that is assumed: where every error
is wide, one share says nothing and the map still says much. It is predicted by estimating from counts that are as far from
their means as chance takes them, up or down by fixed rows of numbers: first the people, then their reports. Where a count of
one is rare, chance is 0 and sometimes 1, so that few people on many cells are predicted as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, overload

from dither.arguments import argument_errors
from dither.errors import DataError, NumberError, SizeError
from dither.local.collect.bayesian_update import LEAST, phases
from dither.local.collect.intervals import normal_quantile
from dither.local.collect.tally import Tally
from dither.local.registry import by_name
from dither.local.survey import MOST_VALUES, DomainLike, Survey, read_domain, read_people
from dither.local.surveys.direct_encoding import smallest
from dither.local.surveys.grid_response import SCORES, GridResponse, Scores
from dither.local.surveys.hash_families import digits
from dither.local.surveys.local_hashing import best_cells
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.table import table
from dither.terminal import wrapped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FRESH = 17  # phases of other rows than those that an estimate uses itself
PREDICTIONS = 2  # rows of phases, and what they lack to 1, that a prediction is the mean of
MOST_CELLS = 4096  # of a grid: a prediction estimates the whole map eight times
TIE = 1.02  # half-widths within 2% count as equal
LARGEST = 64.0  # of epsilon in these formulas; beyond it nothing changes


@dataclass(frozen=True)
class SurveyCandidate:
    """A survey that might be taken: p, q, error and size of a report."""

    name: str
    p: float  # how likely a report is to support the true value
    q: float  # and any other
    half_width: float  # of the interval of a frequency, at the frequency they are compared at
    worst: float  # the same at the frequency where it is largest
    size: int  # of a report, in bytes


@dataclass(frozen=True)
class SurveyChoice:
    """The survey to take, and what the others would give."""

    name: str
    why: str
    candidates: tuple[SurveyCandidate, ...]  # the best first
    domain_size: int
    epsilon: Number
    people: int
    confidence: Fraction

    @property
    def survey(self) -> type[Survey]:
        """The class of the survey to take."""
        found: type[Survey] = by_name(self.name)
        return found

    def build(self, domain: DomainLike, **more: Any) -> Survey:
        """The survey itself, for the values of `domain`; `more` are keywords of its class."""
        listed = read_domain(domain)
        if len(listed) != self.domain_size:
            raise SizeError("domain", len(listed), f"the choice was made for {self.domain_size} values", "as many")
        made: Callable[..., Survey] = self.survey
        return made(listed, epsilon=self.epsilon, **more)

    def __str__(self) -> str:
        rows = [[one.name, f"{one.half_width:.3g}", f"{one.worst:10.3g}", str(one.size)] for one in self.candidates]
        lines = table([[f"{'survey':10}", "half-width", "at worst", "bytes"], *rows])
        return "\n".join([*lines, wrapped(self.why)])


@dataclass(frozen=True)
class GridCandidate:
    """A kind of scores, and what is predicted of it."""

    scores: Scores
    total_variation: float  # of the map, by the usual method
    half_width: float  # of the interval of one share, at worst
    size: int  # of a report, in bytes


@dataclass(frozen=True)
class GridChoice:
    """The scores to take for places on a grid, and what the others would give."""

    scores: Scores
    why: str
    candidates: tuple[GridCandidate, ...]  # the best first
    width: int
    height: int
    epsilon: Number
    people: int
    shape: str

    def build(self) -> GridResponse:
        """The survey itself."""
        return GridResponse(width=self.width, height=self.height, epsilon=self.epsilon, scores=self.scores)

    def __str__(self) -> str:
        rows = [
            [one.scores, f"{one.total_variation:15.2f}", f"{f'±{one.half_width:.3g}':>9}", str(one.size)]
            for one in self.candidates
        ]
        lines = table([[f"{'scores':10}", "total variation", "one share", "bytes"], *rows])
        return "\n".join([*lines, wrapped(self.why)])


@overload
def choose(
    domain_size: SupportsIndex,
    epsilon: NumberLike,
    people: SupportsIndex,
    *,
    frequency: NumberLike | None = None,
    confidence: NumberLike = "0.95",
) -> SurveyChoice: ...


@overload
def choose(
    domain_size: tuple[SupportsIndex, SupportsIndex],
    epsilon: NumberLike,
    people: SupportsIndex,
    *,
    shape: Shape = "clusters",
    confidence: NumberLike = "0.95",
) -> GridChoice: ...


@argument_errors
def choose(
    domain_size: SupportsIndex | tuple[SupportsIndex, SupportsIndex],
    epsilon: NumberLike,
    people: SupportsIndex,
    *,
    frequency: NumberLike | None = None,
    shape: Shape | None = None,
    confidence: NumberLike = "0.95",
) -> SurveyChoice | GridChoice:
    """Choose the survey (frequency oracle) with the least error and say why.

    Args:
        domain_size: how many values an answer can have, up to 2^20; or (width, height) of a grid of up to 4,096 cells, to
            choose the scores of a `GridResponse`.
        epsilon: the privacy parameter of one report.
        people: how many people answer.
        frequency: the frequency at which errors are compared; 1 / domain_size unless it is given. Not for grids.
        shape: for grids alone: how people are assumed to live, "clusters" (55% around one place and 35% around another,
            normal with a deviation of a tenth of the sides, the others anywhere), "point" (90% in one cell, the others
            anywhere) or "flat" (anywhere).
        confidence: with which probability an interval holds.

    Raises:
        NumberError: a parameter is no number or out of range.
        SizeError: there are too many values or cells.
        DataError: the shape is another word, or given without a grid; a frequency is given with one.

    Example:
        >>> from dither.local import choose
        >>> choose(4, 1, 1000).name, choose(1000, 1, 1000).name
        ('direct', 'hashing')
        >>> choose(4, 1, 1000).build(["a", "b", "c", "d"])
        DirectEncoding(4 values, epsilon='1')
        >>> choose((5, 5), 2, 20_000, shape="point").scores
        'uniform'
    """
    if isinstance(domain_size, tuple):
        if frequency is not None:
            raise DataError("frequency", frequency, "maps are compared as a whole", "choose((10, 10), 1, 10_000)")
        return _choose_scores(domain_size, epsilon, people, "clusters" if shape is None else shape, confidence)
    if shape is not None:
        raise DataError("shape", shape, "it is of a grid", "choose((10, 10), 1, 10_000)")
    size = integer(domain_size, name="domain_size", least=2)
    if size > MOST_VALUES:
        raise SizeError("domain_size", size, f"a survey has up to {MOST_VALUES} values", "fewer values, or heavy hitters")
    promise = exact(epsilon, name="epsilon", positive=True)
    count, z = integer(people, name="people", least=1), normal_quantile(confidence)
    f = Fraction(1, size) if frequency is None else rational(frequency, name="frequency")
    if not 0 <= f <= 1:
        raise NumberError("frequency", frequency, "it lies between 0 and 1", "'0.01'")
    rate = min(float(promise), LARGEST)
    found = sorted(
        (_candidate(name, size, rate, z / math.sqrt(count), float(f)) for name in KINDS), key=lambda one: one.half_width
    )
    near = [one for one in found if one.half_width <= TIE * found[0].half_width]
    best = min(near, key=lambda one: (one.size, float(f"{one.half_width:.9g}"), [*KINDS].index(one.name)))
    return SurveyChoice(
        name=best.name,
        why=_why(best, found, near, f, count),
        candidates=tuple(found),
        domain_size=size,
        epsilon=promise,
        people=count,
        confidence=rational(confidence, name="confidence"),
    )


def _choose_scores(
    sides: tuple[SupportsIndex, SupportsIndex],
    epsilon: NumberLike,
    people: SupportsIndex,
    shape: str,
    confidence: NumberLike,
) -> GridChoice:
    if len(sides) != 2:
        raise DataError("domain_size", sides, "a grid has two sides", "(10, 10)")
    if shape not in [*SHAPES]:  # also what has no hash
        raise DataError("shape", shape, "it says how people are assumed to live", ", ".join(SHAPES))
    width, height = (integer(side, name="domain_size", least=1) for side in sides)
    if width * height > MOST_CELLS:
        why = f"maps of up to {MOST_CELLS} cells are compared"
        raise SizeError("domain_size", (width, height), why, "coarser cells, or GridResponse itself")
    count, found = read_people(people), []
    for scores in SCORES:
        survey = GridResponse(width=width, height=height, epsilon=epsilon, scores=scores)
        far = predicted_variation(survey, SHAPES[shape][1](width, height), count)
        found.append(GridCandidate(scores, far, survey.error(count, confidence), survey.dtype.itemsize))
    found.sort(key=lambda one: (one.total_variation, one.half_width))
    near = [one for one in found if one.total_variation <= TIE * found[0].total_variation]
    best = min(near, key=lambda one: one.half_width)
    other = next(one for one in found if one is not best)
    why = (
        f"Take '{best.scores}': if people live {SHAPES[shape][0]}, the map of {count} people is predicted to be off by a "
        f"total variation of {best.total_variation:.2f}, and with '{other.scores}' by {other.total_variation:.2f}."
    )
    if best.half_width > 1:
        why += " The share of one cell by itself stays unknown."
    return GridChoice(best.scores, why, tuple(found), width, height, survey.epsilon, count, shape)


def predicted_variation(survey: GridResponse, shares: NDArray[np.float64], people: int) -> float:
    """Total variation to be expected of a map whose cells have these shares of so many people, by the usual method."""
    import numpy as np

    found = []
    living, reporting = (phases(shares.size, PREDICTIONS, first=first) for first in (FRESH, FRESH + PREDICTIONS))
    for drawn, reported in zip(*(np.concatenate([rows, 1 - rows]) for rows in (living, reporting)), strict=True):
        sizes = _counts(people * shares, people * shares, drawn)
        means = survey.kernel.push(sizes.astype(np.float64))
        counts = _counts(means, means - survey.kernel.push_squares(sizes.astype(np.float64)), reported)
        frequency = survey.estimate(Tally(survey.record, counts, int(counts.sum()))).frequency
        found.append(float(np.abs(frequency - sizes / people).sum()) / 2)
    return sum(found) / len(found)


def _counts(means: NDArray[np.float64], variance: NDArray[np.float64], phase: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole counts, as many in all as their means, and as far from them as chance takes them.

    Each is one of two numbers that have this mean and variance: a deviation up or down, alike often, or where that would be
    below zero, 0 or sometimes m + v / m.
    """
    import numpy as np

    m, v = np.maximum(means, LEAST), np.maximum(variance, 0.0)
    few = m * m < v
    low, high = np.where(few, 0.0, m - np.sqrt(v)), np.where(few, m + v / m, m + np.sqrt(v))
    drawn = np.where(phase < np.where(few, m * m / (m * m + v), 0.5), high, low)
    drawn = drawn if drawn.any() else m
    until = np.rint(np.cumsum(drawn) * (means.sum() / drawn.sum()))
    return np.asarray(np.diff(until, prepend=0.0).astype(np.int64))


def hill(width: int, height: int, x: float, y: float) -> NDArray[np.float64]:
    """Shares of cells, normal around (x, y) with a deviation of a tenth, in sides."""
    import numpy as np

    across, down = (np.exp(-50 * (np.arange(side) / side - at) ** 2) for side, at in ((width, x), (height, y)))
    found = np.outer(across, down).reshape(-1)
    return np.asarray(found / found.sum())


def flat(width: int, height: int) -> NDArray[np.float64]:
    """The same share for all cells."""
    import numpy as np

    return np.full(width * height, 1 / (width * height))


def clusters(width: int, height: int) -> NDArray[np.float64]:
    """55% around one place, 35% around another, the others anywhere."""
    near = 0.55 * hill(width, height, 0.2, 0.2) + 0.35 * hill(width, height, 0.7, 0.6)
    return near + 0.1 * flat(width, height)


def point(width: int, height: int) -> NDArray[np.float64]:
    """90% in one cell, the others anywhere."""
    found = 0.1 * flat(width, height)
    found[int(0.4 * width) * height + int(0.4 * height)] += 0.9
    return found


Shape: TypeAlias = Literal["clusters", "point", "flat"]
SHAPES: dict[str, tuple[str, Callable[[int, int], NDArray[np.float64]]]] = {
    "clusters": ("in two clusters (55% and 35%, a tenth of the sides wide, the others anywhere)", clusters),
    "point": ("in one cell (90%, the others anywhere)", point),
    "flat": ("anywhere alike", flat),
}


def _candidate(name: str, size: int, rate: float, scale: float, f: float) -> SurveyCandidate:
    p, q = KINDS[name][0](size, rate)
    if not p > q:
        raise NumberError("epsilon", rate, "it is so small that floats see no difference between answers", "'0.001'")

    def width(share: float) -> float:
        return scale * math.sqrt(share * (1 - share)) / (p - q)

    return SurveyCandidate(name, p, q, width(q + (p - q) * f), width(min(max(0.5, q), p)), KINDS[name][1](size, rate))


def _why(best: SurveyCandidate, found: list[SurveyCandidate], near: list[SurveyCandidate], f: Fraction, people: int) -> str:
    says = (
        f"Take '{best.name}': with {people} people a frequency of {float(f):.3g} is known to within {best.half_width:.3g}, "
        f"from reports of {best.size} byte{'s' if best.size > 1 else ''}."
    )
    for one in near:
        if one is not best:
            says += f" '{one.name}' is as good (within 2%) with reports of {one.size}."
    worst = found[-1]
    if worst not in near:
        says += f" '{worst.name}' would be {worst.half_width / best.half_width:.2g} times as far off."
    return says if best.half_width < 1 else says + " That says nothing: ask more people, or allow a larger epsilon."


# -- the five of them --------------------------------------------------------------------------------------------------


def _direct(size: int, rate: float) -> tuple[float, float]:
    small = math.exp(-rate)
    whole = 1 + (size - 1) * small
    return 1 / whole, small / whole


def _unary(_: int, rate: float) -> tuple[float, float]:
    small = math.exp(-rate)
    return 0.5, small / (1 + small)


def _hashing(size: int, rate: float) -> tuple[float, float]:
    cells = best_cells(size, rate)
    return 1 / (1 + (cells - 1) * math.exp(-rate)), 1 / cells


def _hashed(size: int, rate: float) -> int:
    cells = best_cells(size, rate)
    return _bytes(cells ** (digits(size, cells) + 1))


def _hadamard(_: int, rate: float) -> tuple[float, float]:
    return 1 / (1 + math.exp(-rate)), 0.5


def _subset(size: int, rate: float) -> tuple[float, float]:
    small = math.exp(-rate)
    k = max(1, round(size * small / (1 + small)))
    p = k / (k + (size - k) * small)
    return p, (p * (k - 1) + (1 - p) * k) / (size - 1)


def _bytes(count: int) -> int:
    return smallest(count).itemsize


KINDS: dict[str, tuple[Callable[[int, float], tuple[float, float]], Callable[[int, float], int]]] = {
    "direct": (_direct, lambda size, _: _bytes(size)),
    "hadamard": (_hadamard, lambda size, _: _bytes(2 ** size.bit_length())),
    "hashing": (_hashing, _hashed),
    "subset": (_subset, lambda size, _: -(-size // 8)),
    "unary": (_unary, lambda size, _: -(-size // 8)),
}


def formula(name: str, size: int, epsilon: NumberLike) -> tuple[float, float, int]:
    """p, q and the bytes of a report of the survey of this `name`, for comparison with the survey itself."""
    if name not in KINDS:
        raise DataError("name", name, "there is no such survey", ", ".join(KINDS))
    support, length = KINDS[name]
    rate = float(exact(epsilon, name="epsilon", positive=True))
    return *support(size, rate), length(size, rate)
