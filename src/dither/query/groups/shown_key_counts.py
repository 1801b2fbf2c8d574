"""How many people hold each key that is shown, read off the release that chose the keys: at no further price.

Shown counts are too large more often than too small, since those with low noise were left out; so an interval around the
count would fail more often than it says *among the keys that are shown*. These intervals hold given that a key is shown:

Theorem. For a key with n holders let C be its noisy count, S the event that it is shown, and for an observed count c

    low  = the least n >= m with P_n(C >= c | S) > alpha / 2          high = the largest n with P_n(C <= c | S) > alpha / 2

Then P_n(low <= n <= high | S) >= 1 - alpha for every n.

Proof. n < low only if P_n(C >= c | S) <= alpha / 2: whatever the law of C given S, that has a probability of at most
alpha / 2 under it. (The laws of C given S have a monotone likelihood ratio in n, as the noise is log-concave, so the n that
are left are an interval.) Likewise n > high. A key that is shown has m holders, `min_people` of the rule: low starts there.

Noise of bounded support (`density/unknown_keys/truncated_keys.py`) lies within B: then P_n(C >= c) is zero for n < c - B and
P_n(C <= c) for n > c + B, so that an interval never goes beyond c - B to c + B, whatever alpha is.

What is quoted before (`error`) is the half-width of the noise: that a key is shown *and* off by more has at most alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dither.density.unknown_keys.threshold_keys import ThresholdKeys
from dither.noise.laplace import DiscreteLaplace
from dither.noise.law import Law
from dither.noise.truncation import Truncated
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.estimators import Columns, Range
from dither.query.groups.noise_tails import log_normal_tail, log_truncated_tail
from dither.query.plan.text import rounded
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROOM = 1 - 1e-9  # for the rounding of doubles: an interval may only become wider


@dataclass(frozen=True)
class ShownKeyCounts(Statistic):
    """Counts of people beside the keys that are shown. It is priced as the choice of keys, of which it is a reading."""

    code: ClassVar[str] = "shown_key_counts"
    of_choice: ClassVar[bool] = True

    rule: ThresholdKeys
    confidence: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """That of the choice."""
        return self.rule.guarantee

    def loss(self) -> Loss:
        """That of the choice."""
        return self.rule.guarantee.loss()

    def spelled(self) -> dict[str, object]:
        """Nothing of its own."""
        return {}

    def noisy(self, counts: Counts) -> Any:
        """Never called: what it reads was released with the keys."""
        raise AssertionError("the choice of keys released it")

    def read(self, released: Any, place: int) -> Columns:
        """The counts, and what holds given that they are shown."""
        lows, highs = intervals(self.rule, [int(count) for count in released], float(1 - self.confidence))
        return list(released), lows, highs

    def value_range(self, place: int) -> Range:
        """Numbers of rows."""
        return Fraction(0), math.inf

    def error(self, place: int, confidence: Fraction) -> float:
        """The half-width of the noise."""
        return self.rule.error(confidence)

    def statement(self, place: int) -> Statement:
        """All, or at least."""
        return statement_of(complete=self.complete, clamped=self.question.table.clamps_values, sums=True)

    def told(self, place: int) -> str:
        """The half-width, and why shown counts are too large."""
        half = self.error(place, self.confidence)
        return f"{rounded(half)}; counts that are shown are too large more often than too small: the error bars allow for it"

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        kind = "geometric" if isinstance(whole(self.rule.law), DiscreteLaplace) else "Gaussian"
        return f"truncated {kind}" if isinstance(self.rule.law, Truncated) else kind


def intervals(rule: ThresholdKeys, counts: list[int], alpha: float) -> tuple[list[int], list[int]]:
    """The ends for each count; equal counts have equal ones."""
    import numpy as np

    seen, places = np.unique(np.array(counts, dtype=np.int64), return_inverse=True)
    if not counts:
        return [], []
    reach = _reach(rule, alpha)
    level = math.log(alpha / 2 * ROOM)

    first = np.full_like(seen, rule.min_people)

    def too_few(n: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(_log_from(rule, seen, n) - _log_shown(rule, n) <= level)

    def too_many(n: NDArray[np.int64]) -> NDArray[np.bool_]:
        n = np.maximum(n, first)  # fewer are never shown
        above = np.exp(np.minimum(_log_from(rule, seen + 1, n) - _log_shown(rule, n), 0.0))
        return np.asarray(1 - above <= math.exp(level))

    lows = np.where(too_few(first), _first_not(too_few, first, seen + reach), first)
    highs = _first_not(lambda n: ~too_many(n), lows - 1, np.maximum(seen + reach, lows)) - 1
    highs = np.maximum(highs, seen)  # a count of T - 1 that is seldom shown: the bar still holds what is shown
    return lows[places].tolist(), highs[places].tolist()


def _first_not(holds: Any, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least whole number above `low` for which it no longer holds, where it holds up to some point."""
    import numpy as np

    low, high = low.copy(), high.copy()
    while np.any(high - low > 1):
        middle = (low + high) // 2
        still = holds(middle)
        open_ = high - low > 1
        low = np.where(open_ & still, middle, low)
        high = np.where(open_ & ~still, middle, high)
    return high


def _reach(rule: ThresholdKeys, alpha: float) -> int:
    """Farther than noise goes with any probability that matters here."""
    law = whole(rule.law)
    scale = 1 / float(law.rate) if isinstance(law, DiscreteLaplace) else math.sqrt(law.sigma2)  # type: ignore[attr-defined]
    far = math.ceil((math.log(1 / alpha) + 20) * (scale + 1)) + 2
    return min(far, rule.law.bound + 1) if isinstance(rule.law, Truncated) else far


def whole(law: Law) -> Law:
    """The law that was truncated, or the law itself."""
    return law.law if isinstance(law, Truncated) else law


def _log_shown(rule: ThresholdKeys, n: NDArray[np.int64]) -> Any:
    """ln of the probability that a key with n holders is shown."""
    import numpy as np

    threshold = np.full_like(n, rule.threshold)
    above, from_below = _log_tail(rule, threshold - n), _log_tail(rule, threshold - 1 - n)
    part = float(rule.below)
    if part == 0:
        return above
    return np.logaddexp(above + math.log1p(-part), from_below + math.log(part))


def _log_from(rule: ThresholdKeys, c: NDArray[np.int64], n: NDArray[np.int64]) -> Any:
    """ln of the probability that it is shown with a count of c or more."""
    import numpy as np

    return np.where(c >= rule.threshold, _log_tail(rule, np.maximum(c, rule.threshold) - n), _log_shown(rule, n))


def _log_tail(rule: ThresholdKeys, m: NDArray[np.int64]) -> Any:
    """ln P(noise >= m)."""
    import numpy as np

    law = rule.law
    if isinstance(law, Truncated):
        return log_truncated_tail(law, m)
    if isinstance(law, DiscreteLaplace):
        rate = float(law.rate)
        half = math.log1p(math.exp(-rate))
        right = -rate * np.maximum(m, 0) - half
        left = np.log1p(-np.exp(-rate * (1 - np.minimum(m, 0)) - half))
        return np.where(m > 0, right, left)
    spread = math.sqrt(law.sigma2)  # type: ignore[attr-defined]
    return np.array([log_normal_tail((int(one) - 0.5) / spread) for one in m.ravel()]).reshape(m.shape)
