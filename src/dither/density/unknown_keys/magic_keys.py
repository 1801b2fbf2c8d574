"""Optimal partition selection: keys alone, without counts, as many as can be shown. Where a person holds few keys.

Theorem. Show a key with n holders with probability p_n, independently of all others, where p_0 = 0 and

    p_n = the largest number with   p_n <= g p_{n-1} + d,   1 - p_{n-1} <= g (1 - p_n) + d,   p_n <= 1     (rounded down)

This is (epsilon, delta)-differentially private.

    n       how many people hold a key, less min_people - 1 where fewer than min_people are never shown
    k       the most keys whose counts differ between neighbours: max_keys, or twice that when a person is replaced
    g       a dyadic number with 1 < g <= e^(epsilon / k)
    d       delta / k, rounded down to the grid

Proof. Counts of neighbours differ by one in at most k keys and are equal elsewhere. In one such key the outputs are "shown"
and "not shown"; since p does not fall, the two inequalities are all that (epsilon / k, d) asks for between n - 1 and n, in
both directions, and g <= e^(epsilon / k) only makes them stricter. Keys are independent, so at most k of these compose, to
(epsilon, k d), and k d <= delta. Absent keys are never shown, as p_0 = 0 says.
    Rounding keeps all of it. p_n is floored onto a grid of 2^-bits after p_{n-1} was, and the inequalities above are those
of the floored p_{n-1}. And p does not fall: p_{n-1} + d, or 1, is on the grid and within both bounds, so p_n is not below.

Where a person who comes or goes holds one key (k = 1), no rule of this promise shows any key with a higher probability: p_n
is the largest that p_{n-1} allows and grows with p_{n-1}. For larger k, and so whenever a person is replaced, that holds
among rules that promise (epsilon / k, delta / k) for each key. Thresholds do not, and can show more: Gaussian ones from
about three keys on, and geometric ones where a person with one key is replaced, by up to twice as much, at all counts that
matter from an epsilon of about 2 on (`keys` compares). That any of k keys of one's own is shown has the probability
1 - (1 - d)^k <= delta.

How long the table is. p_n <= d (g^n - 1) / (g - 1), so p_n < 1/2 for all n below L = ln(1 + (g - 1) / (2 d)) / ln g. The
second inequality is the first for 1 - p, counted back from the end N, so p_n > 1/2 for all n above N - L. Hence
N >= 2 L - 1, and what is too long is refused before it is made.

Desfontaines, Voss, Gipson and Mandayam 2020.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.density.unknown_keys.key_counts import PlainKey, TotalsLike, order, read_totals
from dither.density.unknown_keys.key_rule import KeyRule
from dither.errors import NumberError
from dither.mechanisms.additive.additive import read_confidence
from dither.noise.bernoulli import Bernoulli
from dither.numeric.balls import ends, precision, round_down
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr

MOST_HOLDERS = 2**20  # up to which a key may be left out: the length of the table
LARGEST_RATE = 1000  # beyond this epsilon a key, g stays what it is
SPARE_BITS = 64  # of the grid below d, and of g above 1: what rounding costs is less than one part in 2^40


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class MagicKeys(KeyRule):
    """Partition selection without counts: the most that can be shown where people who hold one key come or go.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: not below the probability that any key is shown which one person alone holds.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: an `epsilon` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people`
            below 1, or so little of both that a key with 2^20 holders might not be shown.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import MagicKeys
        >>> rule = MagicKeys(epsilon=1, delta="1e-6", max_keys=1)
        >>> rule.holders("0.5"), rule.chance(100)
        (14, 1.0)
        >>> rule.release({"flu": 100, "rare": 0})
        ('flu',)
    """

    code: ClassVar[str] = "magic_keys"
    __repr__ = short_repr

    def __attrs_post_init__(self) -> None:
        with precision(2 * SPARE_BITS):
            gain = to_ball(self.growth - 1)
            half = (gain * to_ball(self.changed / self.delta / 2)).log1p() / gain.log1p()
            if 2 * half - 1 > MOST_HOLDERS:
                raise self._too_long()
        _ = self._table

    def _too_long(self) -> NumberError:
        given = (str(self.epsilon), str(self.delta), self.max_keys)
        why = f"even a key with {MOST_HOLDERS} holders might not be shown"
        return NumberError("epsilon, delta, max_keys", given, why, "a larger epsilon or delta, or fewer keys a person")

    @cached_property
    def _bits(self) -> int:
        return SPARE_BITS + (self.changed / self.delta).__ceil__().bit_length()

    @cached_property
    def growth(self) -> Fraction:
        """The growth g of the theorem, a dyadic number."""
        rate = min(self.epsilon / self.changed, Number(LARGEST_RATE))
        bits = SPARE_BITS
        while True:
            with precision(bits):
                low, high = ends(rate.ball().exp())
            if low > 1 and (high - low) * 2**SPARE_BITS <= low - 1:
                return low
            bits *= 2

    @cached_property
    def _table(self) -> list[int]:
        """p_0, p_1, ... up to 1, in units of 2^-bits."""
        one = 1 << self._bits
        lost = math.floor(self.delta / self.changed * one)
        top, bottom = self.growth.numerator, self.growth.denominator
        table = [0]
        while table[-1] < one:
            if len(table) > MOST_HOLDERS:
                raise self._too_long()
            before = table[-1]
            left = one - before - lost
            shown = before * top // bottom + lost
            hidden = one + (-left * bottom // top if left > 0 else 0)
            table.append(min(shown, hidden, one))
        return table

    def chance(self, holders: SupportsIndex) -> float:
        """The probability that a key with so many `holders` is shown, rounded down."""
        return round_down(self.exact_chance(holders))

    def exact_chance(self, holders: SupportsIndex) -> Fraction:
        """The probability that a key with so many `holders` is shown, exactly."""
        n = max(0, integer(holders, name="holders", least=0) - (self.min_people - 1))
        return Fraction(self._table[min(n, len(self._table) - 1)], 1 << self._bits)

    def holders(self, chance: NumberLike) -> int:
        """How many holders a key needs to be shown with probability `chance` at least."""
        level = read_confidence(chance, name="chance")
        return bisect_left(self._table, level * (1 << self._bits)) + self.min_people - 1

    def error(self, confidence: NumberLike) -> int:
        """A key with so many holders is missed with a probability of at most 1 - `confidence`."""
        return self.holders(read_confidence(confidence))

    def release(self, value: TotalsLike) -> tuple[PlainKey, ...]:
        """The keys that are shown, in order, from `value`: a mapping of keys to numbers of holders."""
        import numpy as np

        keys, totals = read_totals(value)
        capped = np.minimum(np.maximum(totals - (self.min_people - 1), 0), len(self._table) - 1)
        queue = np.argsort(capped, kind="stable")
        sizes, starts = np.unique(capped[queue], return_index=True)
        shown: list[PlainKey] = []
        for n, places in zip(sizes.tolist(), np.split(queue, starts[1:]), strict=True) if keys else ():
            coins = self._coin(n + self.min_people - 1).sample(places.size)
            shown += [keys[at] for at in places[coins].tolist()]
        return tuple(sorted(shown, key=order))

    def _coin(self, n: int) -> Bernoulli:
        if n not in self._coins:
            self._coins[n] = Bernoulli(self.exact_chance(n))
        return self._coins[n]

    @cached_property
    def _coins(self) -> dict[int, Bernoulli]:
        return {}
