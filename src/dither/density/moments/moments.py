"""A mean, and a variance, of values between public bounds: counters of which each has the noise of the whole epsilon.

Take it for an average (degree 1) or for an average with its variance (degree 2). A sum and a count with half of epsilon each
have sqrt 2 times its error, for every mean.

Values are clipped to the bounds and stand on whole numbers q = 0..G (`moments/steps.py`). A record adds to r + 1 counters

    degree 1    G - q,  q                               they add up to G
    degree 2    (G - q)^2,  2 q (G - q),  q^2           they add up to G^2

and from their sums b_0 ... b_r follow the count, the sum and the sum of squares: n G^r = sum of b_k, and so on.

Theorem. Two-sided geometric noise of scale D / epsilon on each of these numbers is epsilon-differentially private:

    add/remove                   b_0 ... b_r                                  D = G^r
    replace one                  total, b_r - b_0, and b_1 for degree 2       D = 2 G^r
    replace one, n public        b_r - b_0, and b_1 for degree 2              D = 2 G^r

    total    b_0 + ... + b_r = n G^r
    D        the largest change in L1 norm: attained in each of the three, so no less noise is private

Proof. Add/remove: a record adds numbers that are not negative and add up to G^r. Replace: let v = 2q/G - 1, so that -1 <= v
<= 1. In units of G^r a record adds (1, v, (1 - v^2)/2), without the last for degree 1. A missing value in place of a
record changes these by 1 + |v| + (1 - v^2)/2 = 2 - (1 - |v|)^2 / 2 <= 2. A value v' in its place changes them by
|v - v'| (1 + |v + v'|/2): with s = |v + v'| and |v - v'| <= 2 - s that is at most (2 - s)(1 + s/2) = 2 - s^2/2 <= 2. The
rest is `Geometric`'s theorem. The sums and differences are sums of whole numbers of any length, so nothing is rounded.

Under replacement noise on the counters themselves would need the same D = 2 G^r, and the mean would be off by sqrt 2 more.
Gaussian noise has nothing to gain: the L2 norm of a record's counters is as large as their L1 norm, at both ends.

Missing values add nothing. Where n is public they count as the middle of the bounds: n counts them too, and how many they
are is nobody's business.

Dwork, McSherry, Nissim and Smith 2006 for the noise; the counters are the Bernstein polynomials, which add up to one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.columns import CountsLike, ValuesLike
from dither.density.moments.steps import STEPS, Quantisation, exact_sum, read_whole, whole
from dither.density.moments.summary import Summary
from dither.errors import NumberError, SizeError
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_replacement, read_unit

FARTHEST = 2**200  # numbers are moved to this before the noise: a contraction of each, beyond every count


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Moments:
    """A mean (degree 1), or a mean and a variance (degree 2), of values between public bounds: pure epsilon.

    Args:
        epsilon: the promise.
        low: the lower bound: values below it are moved up to it.
        high: the upper bound: values above it are moved down to it.
        degree: 1 for the mean, 2 for the variance as well.
        rows: how many values there are, missing ones included, where that is public and one is replaced.
        steps: into how many steps the bounds are cut, a power of two up to 2^24.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        NumberError: an `epsilon` that is not positive or whose noise is not drawn, bounds that do not rise or that doubles
            do not tell apart, another `degree`, or `steps` that are no power of two.
        UnitError: a unit that is not known, or `rows` where people come and go.

    Example:
        >>> from dither.density import Moments
        >>> mechanism = Moments(epsilon=1, low=0, high=4, steps=4)
        >>> mechanism.count([1, None, 3])
        [4, 4]
        >>> 0 <= mechanism.release([4, 4]).mean <= 4
        True
    """

    epsilon: Number = field(converter=read_epsilon)
    low: Fraction
    high: Fraction
    degree: int
    rows: int | None
    steps: int  # G
    unit: Unit
    __repr__ = short_repr

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        low: NumberLike,
        high: NumberLike,
        degree: SupportsIndex = 1,
        rows: SupportsIndex | None = None,
        steps: SupportsIndex = STEPS,
        unit: UnitLike = Unit.ADD_REMOVE,
    ) -> None:
        quantisation = Quantisation.read(low, high, steps)
        power = integer(degree, name="degree", least=1)
        if power > 2:
            raise NumberError("degree", degree, "means and variances are known here", "1 for a mean, 2 for a variance too")
        if math.isinf(round_up(quantisation.width**power)):
            raise NumberError("low, high", (low, high), "a variance may exceed the largest double", "values in larger units")
        public = None if rows is None else integer(rows, name="rows", least=1)
        whom = read_unit(unit) if rows is None else read_replacement(unit)
        a, b, side = quantisation.low, quantisation.high, quantisation.steps
        self.__attrs_init__(epsilon=epsilon, low=a, high=b, degree=power, rows=public, steps=side, unit=whom)
        _ = self.noise  # refuses a scale that cannot be drawn, now and not at the first release

    # -- the promise -------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure: of all that is released."""
        return self.noise.guarantee

    def loss(self) -> Loss:
        """The privacy loss: of geometric noise where one number is released, otherwise of any epsilon-DP release."""
        return self.noise.loss()

    @cached_property
    def noise(self) -> Geometric:
        """The noise of every released number."""
        moved = self.one * (2 if self.replaces else 1)
        size = self.degree + (self.rows is None)
        dimension = None if size == 1 else size
        return Geometric(epsilon=self.epsilon, sensitivity=moved, dimension=dimension, unit=self.unit)

    @property
    def replaces(self) -> bool:
        """Whether a person is replaced, and none comes or goes."""
        return self.unit.replacement is self.unit

    @property
    def one(self) -> int:
        """What a record adds to all counters together."""
        return self.steps if self.degree == 1 else self.steps**2

    @property
    def quantisation(self) -> Quantisation:
        """The map from values to whole numbers of steps."""
        return Quantisation(self.low, self.high, self.steps)

    def error(self, confidence: NumberLike) -> int | float:
        """What all released numbers stay within with probability `confidence`, in steps: `one` of them are a record."""
        return self.noise.error(confidence)

    # -- counters ----------------------------------------------------------------------------------------------

    def count(self, values: ValuesLike) -> list[int]:
        """The true counters of `values`, one a person, None for a missing one; not to be published."""
        places, there = self.quantisation.place(values)
        if self.rows is not None and len(places) != self.rows:
            why = f"there are {self.rows} rows, publicly"
            raise SizeError("length of values", len(places), why, f"{self.rows} values, None for one that is missing")
        found = places[there]
        squares = exact_sum(found * found) if self.degree == 2 else 0
        return self.from_sums(len(found), exact_sum(found), squares)

    def from_sums(self, count: SupportsIndex, total: SupportsIndex, squares: SupportsIndex = 0) -> list[int]:
        """The true counters from what an engine adds up: the `count` of places, their `total`, that of their `squares`."""
        n, s1, s2 = (whole(x, name) for x, name in ((count, "count"), (total, "total"), (squares, "squares")))
        side = self.steps
        if self.degree == 1:
            counters = [n * side - s1, s1]
        else:
            counters = [n * side**2 - 2 * side * s1 + s2, 2 * (side * s1 - s2), s2]
        missing = 0 if self.rows is None else self.rows - n
        return [counter + missing * add for counter, add in zip(counters, self.record(side // 2), strict=True)]

    def record(self, place: int) -> list[int]:
        """What one record at a `place` adds to each counter."""
        up, down = place, self.steps - place
        return [down, up] if self.degree == 1 else [down**2, 2 * down * up, up**2]

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counters: CountsLike) -> Summary:
        """What may be published, from the true `counters` that `count` and `from_sums` give."""
        exactly = self.truth(counters)
        noise = self.noise.law.sample(len(exactly)).tolist()
        return Summary(self, tuple(value + draw for value, draw in zip(exactly, noise, strict=True)))

    def truth(self, counters: CountsLike) -> list[int]:
        """The numbers that are released for these `counters`, without their noise; not to be published."""
        found = read_whole(counters, self.degree + 1)
        if self.replaces:
            found = [sum(found), found[-1] - found[0], *found[1:-1]]
            if self.rows is not None:
                del found[0]
        return [max(-FARTHEST, min(FARTHEST, value)) for value in found]

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """No record and each record, or each pair of records, beside few records and beside many."""
        side = self.steps
        listed = range(side + 1) if side <= 4 else (0, 1, side // 4, side // 2, side - 1, side)
        records = [self.record(place) for place in listed]
        nothing = [0] * (self.degree + 1) if self.rows is None else self.record(side // 2)
        for start in (0, 10**12):
            for at, one in enumerate(records):
                for other in [nothing, *(records[:at] if self.replaces else [])]:
                    yield [start + x for x in one], [start + x for x in other]
