"""Exact draws from finitely many outcomes by inversion: the leading bits of a uniform real are looked up in a table.

Theorem. Let F(i) be the probability of outcomes 0..i and U a uniform real whose bits are revealed from the left.
The outcome "first i with U < F(i)" has exactly the law stated. `CumulativeTable` computes that outcome and never guesses:

* For each i it keeps an integer c(i) with c(i) <= 2^W F(i) < c(i) + 2, certified by balls (W = 64).
* A word w stands for U in [w, w+1) / 2^W. If w < c(i) then w + 1 <= c(i), so U < F(i). If w >= c(i) + 2 then
  U >= F(i). Only w = c(i) and w = c(i) + 1 leave it open; then W more bits are appended to the *same* word and
  F is evaluated with more precision, until one outcome remains. Bits are appended, never drawn again.
* The leading 16 bits of w settle most draws: where all words with that prefix give the same outcome and none is
  open, a direct table holds it. The other prefixes are extended to W bits and looked up in c.

The band is two words wide, not one, so that F(i) may lie exactly on a multiple of 2^-64 (with epsilon = ln 3 the
two-sided geometric law has F(-1) = 1/4), where no precision could certify a floor.

Outcomes are numbered 0..n-1. The first `plain` of them are reported as the value index - offset; the others are
left to the caller, who gets their positions and numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dither.noise.entropy import Bits
from dither.numeric.balls import floor_scaled, precision

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

UNDECIDED = -32768  # no value may be this one: `plain` and `offset` are checked
CHUNK = 1 << 16  # samples at a time: 128 KiB of keystream
GUARD_BITS = 40  # so that cumulative balls of many terms stay narrower than one word


class Special(NamedTuple):
    """Draws that the table leaves to its caller: where they stand, and which outcome it was."""

    positions: NDArray[np.intp]
    outcomes: NDArray[np.intp]


class CumulativeTable:
    """Outcomes 0..n-1 with P(outcome <= i) = cumulative()[i]; the last cumulative value, 1, is left out."""

    def __init__(
        self,
        cumulative: Callable[[], Sequence[arb]],
        *,
        plain: int,
        offset: int = 0,
        prefix_bits: int = 16,
        word_bits: int = 64,
    ) -> None:
        assert UNDECIDED < -offset <= plain - offset <= 32768, "values must fit 16 bits and miss the mark"
        assert 1 <= prefix_bits <= min(16, word_bits) <= word_bits <= 64
        self._cumulative = cumulative
        self.plain = plain
        self.offset = offset
        self._prefix_bits = prefix_bits
        self._word_bits = word_bits
        top = (1 << word_bits) - 1
        with precision(word_bits + GUARD_BITS):
            floors = (min(max(floor_scaled(ball, word_bits), 0), top) for ball in cumulative())
            # F does not fall, so neither may c: where a ball's lower end dips, the value before it holds too.
            self.floors = list(accumulate(floors, max))
        self.words = np.array(self.floors, dtype=np.uint64)

    @cached_property
    def lookup(self) -> NDArray[np.int16]:
        """What each prefix decides; single draws do without it.

        A prefix leaves something open if one of its words is c or c + 1 for some c, and only then: otherwise each c lies
        in an earlier prefix, with c + 1, or in a later one, and all words with this prefix have the earlier ones below them.
        """
        tail, size = np.uint64(self._word_bits - self._prefix_bits), 1 << self._prefix_bits
        last = np.uint64((1 << self._word_bits) - 2)  # where c is the largest word, c + 1 is none
        inside = np.bincount((self.words >> tail).astype(np.intp), minlength=size)
        outcome = np.cumsum(inside)
        decided = (inside == 0) & (outcome < self.plain)
        decided[((np.minimum(self.words, last) + np.uint64(1)) >> tail).astype(np.intp)] = False
        return np.where(decided, outcome - self.offset, UNDECIDED).astype(np.int16)

    def search(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """For each word the first i with w < c(i), and whether every smaller i is surely at or below U."""
        outcome = np.searchsorted(self.words, words, side="right")
        decided = np.ones(words.shape, dtype=np.bool_)
        inner = outcome > 0
        decided[inner] = words[inner] - self.words[outcome[inner] - 1] >= 2
        return outcome, decided

    def refine(self, word: int, stream: Bits) -> int:
        """Settle an open word: append bits to it until one outcome remains."""
        bits = self._word_bits
        low = bisect_right(self.floors, word - 2)  # surely U >= F(i) for i < low
        high = bisect_left(self.floors, word + 1)  # surely U < F(high)
        while low < high:
            word = (word << self._word_bits) | stream.bits(self._word_bits)
            bits += self._word_bits
            with precision(bits + GUARD_BITS):
                balls = self._cumulative()
                while low < high and balls[low] * (1 << bits) <= word:
                    low += 1
                while low < high and balls[high - 1] * (1 << bits) >= word + 1:
                    high -= 1
        return low

    def draw_one(self, stream: Bits) -> int:
        """One outcome, by its number 0..n-1."""
        word = stream.bits(self._word_bits)
        floors = self.floors
        outcome = bisect_right(floors, word)
        if outcome and word - floors[outcome - 1] < 2:
            return self.refine(word, stream)
        return outcome

    def draw(self, count: int, stream: Bits) -> tuple[NDArray[np.int16], Special]:
        """Up to CHUNK values; the positions of special outcomes hold 0 and are returned beside them."""
        leading = np.empty(count, dtype=np.uint16)
        stream.fill(leading)
        if self._prefix_bits < 16:
            leading >>= np.uint16(16 - self._prefix_bits)
        values = self.lookup.take(leading, mode="wrap")
        undecided = np.flatnonzero(values == UNDECIDED)
        found = self.extend(leading[undecided], stream)
        special = found >= self.plain
        values[undecided] = np.where(special, 0, found - self.offset)
        return values, Special(undecided[special], found[special])

    def undecided_prefixes(self) -> tuple[int, int]:
        """The first and the last prefix that the direct table leaves open (one at least, unless the law is a point)."""
        undecided = np.flatnonzero(self.lookup == UNDECIDED)
        return int(undecided[0]), int(undecided[-1])

    def extend(self, leading: NDArray[np.uint16], stream: Bits) -> NDArray[np.intp]:
        """Outcomes for prefixes that the direct table leaves open."""
        tail = self._word_bits - self._prefix_bits
        words = leading.astype(np.uint64) << np.uint64(tail)
        if tail:
            words |= stream.words(words.size) >> np.uint64(64 - tail)
        outcome, decided = self.search(words)
        for at in np.flatnonzero(~decided):
            outcome[at] = self.refine(int(words[at]), stream)
        return outcome


def lazy_index(conditional: Callable[[int], arb], stream: Bits, step: int = 64) -> int:
    """The first i >= 0 with U < G(i), for a law on all non-negative integers; G(i) = P(index <= i) as a ball.

    The same theorem as above without an end: bits are appended, `step` at a time, until [w, w+1) / 2^bits lies inside
    one interval of G.
    """
    word, bits = stream.bits(step), step
    while True:
        # All ones mean U up to 1, which no G reaches: only more bits help. Otherwise some G(high) is large enough.
        if word + 1 < 1 << bits:
            with precision(bits + GUARD_BITS):
                low, high = -1, 1  # surely U >= G(low) (nothing, for -1), and soon surely U < G(high)
                while not (ball := conditional(high) * (1 << bits)) >= word + 1 and ball.is_finite():
                    high *= 2
                while ball.is_finite() and high - low > 1:
                    middle = (low + high) // 2
                    ball = conditional(middle) * (1 << bits)
                    if ball >= word + 1:
                        high = middle
                    elif ball <= word:
                        low = middle
                    else:
                        break
                if ball.is_finite() and high - low == 1:  # a ball that is not finite wants more precision
                    return high
        word, bits = (word << step) | stream.bits(step), bits + step


def below(probability: Callable[[], arb], stream: Bits, word: int = 0, bits: int = 0, *, step: int = 64) -> bool:
    """Whether a uniform real, of which the leading `bits` are those of `word`, is below a probability."""
    while True:
        with precision(bits + GUARD_BITS):
            scaled = probability() * (1 << bits)
            if scaled >= word + 1:
                return True
            if scaled <= word:
                return False
        word, bits = (word << step) | stream.bits(step), bits + step
