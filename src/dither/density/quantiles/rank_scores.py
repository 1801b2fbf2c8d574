"""Scores of quantiles: how far a cell is from a wanted rank, in whole numbers, and the choice among cells.

Rank: how many people lie below a point. A cell has all ranks from that of its lower edge to that of its upper one, so its
distance from the wanted rank w is max(lower - w, w - upper, 0). Some cell has distance 0, however many people are equal:
with cuts between cells in place of cells, data with few different values would have no good candidate at all.

For w = (a/b) n distances are whole numbers after multiplication with b. They are capped at a public number near 2^61, so
that 64 bits hold them whatever the counts are; a minimum with a constant moves by no more than what it is taken of.

Spread. Let a person move the score of candidate i by d_i. Choices of both kinds depend on how far the d_i lie from each
other, and not on how far from zero: for permute-and-flip (max over j of s_j + E_j) - s_i moves by at most max d - min d, and
for the exponential mechanism that times the rate is the range. So half of that spread stands for the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from dither.density.histograms.axis import Bins
from dither.density.histograms.columns import SupportsArray
from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.norms import root_below
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.number import Number, NumberLike, integer, rational
from dither.privacy.unit import Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST_DISTANCE = 2**61
FINEST = 10**6  # the largest denominator of a share
FINEST_TOGETHER = 10**9  # and of several on a common denominator: distances up to 2^31 people stay apart
NEAR = Fraction(1, 2**50)  # a float this near to a short fraction stands for it: 0.1 + 0.2 is 3/10
CONFIDENCE: Any = "0.95"  # where none is given; it is read as if it were
ENDS: Any = Fraction(2, 3)  # of a price, where nothing is said: as much for each end as for the value
MOST_SHARES = 2**12  # that are asked for at once
SharesLike: TypeAlias = tuple[NumberLike, ...] | list[Any] | SupportsArray  # of the people
SHARES = "['0.25', '0.5', '0.75']"  # an example
EXAMPLE = "0.5, '0.95' or '1/3'"


def read_share(value: NumberLike, *, name: str = "q") -> Fraction:
    """A share of the people, 0 to 1; a float is read as the short fraction that it stands for."""
    share = rational(value, name=name)
    if not 0 <= share <= 1:
        raise NumberError(name, value, "it is a share of the people, from 0 to 1", EXAMPLE)
    near = share.limit_denominator(FINEST)
    if near != share and not (isinstance(value, float) and abs(near - share) <= NEAR):
        raise NumberError(name, value, "its denominator exceeds a million", EXAMPLE)
    return near


def read_shares(value: SharesLike) -> tuple[Fraction, ...]:
    """Shares of the people, as they were listed."""
    plain: Any = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, (list, tuple)):
        raise DataError("qs", value, "it lists shares of the people", SHARES)
    if not 0 < len(plain) <= MOST_SHARES:
        raise SizeError("qs", len(plain), f"there are 1 to {MOST_SHARES} of them", SHARES)
    shares = tuple(read_share(q, name=f"qs[{at}]") for at, q in enumerate(plain))
    if math.lcm(*(q.denominator for q in shares)) > FINEST_TOGETHER:
        why = "their common denominator exceeds a thousand million"
        raise NumberError("qs", plain[:3], why, f"fewer decimals, such as {SHARES}")
    return shares


def scaled(share: Fraction, *, replaced: bool) -> tuple[int, int, int]:
    """a, b and reach: the share is a/b, and scores of b units a person have a spread of 2 reach units.

    A person who comes moves C - q n by 1 - q or by -q, whatever cell C belongs to: so a distance by max(q, 1 - q) at most.
    One who is replaced moves C by at most 1 and leaves n; or she is in no cell before or after, which is coming or going.
    For the extremes the distance is C (q = 0) or n - C' (q = 1), which one person moves in one direction only, by 0 or 1: a
    spread of 1, where others have twice their largest move.
    """
    a, b = share.numerator, share.denominator
    if b == 1:
        return 2 * a, 2, 1
    return a, b, b if replaced else max(a, b - a)


def chooser(
    epsilon: Number | None, rho: Fraction | None, *, candidates: int, reach: int, unit: Unit
) -> PermuteAndFlip | Exponential:
    """Permute-and-flip for epsilon, the exponential mechanism for rho, for scores whose moves have a spread of 2 reach."""
    if rho is not None:
        size = root_below(8 * rho)
        return Exponential(epsilon=size, sensitivity=reach, candidates=candidates, integers=True, unit=unit)
    assert epsilon is not None, "one of the two is given"
    return PermuteAndFlip(epsilon=epsilon, sensitivity=reach, candidates=candidates, integers=True, unit=unit)


def distances(
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    *,
    a: int,
    b: int,
    total: int | Sequence[int],
    shift: int = 0,
) -> NDArray[np.int64]:
    """b times the distance of the wanted rank (a/b) total + shift/b from the ranks lower..upper, capped.

    Of rows of ranks, with a total for each, the same row by row. An end that reaches to every rank is 2^61 / b.

    With L the furthest whole distance that is kept: what is clipped there is at least b L - rest >= b (L - 1), the cap, and
    what it stands for is larger still, so the cap is what both give.
    """
    import numpy as np

    if not isinstance(total, int) and b * max(total) + abs(shift) < LARGEST_DISTANCE // 4:  # nothing to cap, as mostly
        target = np.array([[a * one + shift] for one in total], dtype=np.int64)
        over: NDArray[np.int64] = lower * b
        under: NDArray[np.int64] = upper * b
        over -= target
        np.subtract(target, under, out=under)
        np.maximum(over, under, out=over)
        np.maximum(over, 0, out=over)
        return over
    whole: int | NDArray[np.int64]
    rest: int | NDArray[np.int64]
    if isinstance(total, int):
        whole, rest = divmod(a * total + shift, b)
    else:  # a product may be longer than 64 bits
        pairs = np.array([divmod(a * one + shift, b) for one in total], dtype=np.int64)
        whole, rest = pairs[:, :1], pairs[:, 1:]
    furthest = LARGEST_DISTANCE // b
    over = np.clip(lower - whole, -furthest, furthest)
    over *= b
    over -= rest
    under = np.clip(whole - upper, -furthest, furthest)
    under *= b
    under += rest
    np.maximum(over, under, out=over)
    return np.clip(over, 0, b * (furthest - 1), out=over)


def leaning_distances(
    lower: NDArray[np.int64], upper: NDArray[np.int64], *, wanted: Sequence[int], over: int, under: int
) -> NDArray[np.int64]:
    """The distance of a wanted rank from the ranks lower..upper, row by row: `over` times what lies above it, `under` times
    what lies below. Capped: a minimum with a constant moves in the same direction, and by no more."""
    import numpy as np

    whole = np.array(wanted, dtype=np.int64)[:, None]
    furthest = LARGEST_DISTANCE // max(over, under)
    above: NDArray[np.int64] = np.clip(lower - whole, 0, furthest)
    above *= over
    below = np.clip(whole - upper, 0, furthest)
    below *= under
    np.maximum(above, below, out=above)
    return above


def middle(bins: Bins, cell: int) -> float:
    """The number that stands for a cell: its middle, or the double of the cell that is nearest to it."""
    low, high = float(bins.edges[cell]), float(bins.edges[cell + 1])
    return max(low, min(low / 2 + high / 2, math.nextafter(high, low)))


def read_ends(value: NumberLike, *, name: str = "ends") -> Fraction:
    """The share of a price that the ends of an interval have."""
    share = rational(value, name=name)
    if not 0 <= share < 1:
        raise NumberError(name, value, "it is a share of the price, from 0 to below 1: the value has the rest", "'1/2'")
    return share


def read_mass(value: SupportsIndex) -> int:
    """The most counts of one person."""
    return integer(value, name="mass", least=1)


def read_histograms(value: SupportsIndex) -> int:
    """How many histograms there are."""
    return integer(value, name="histograms", least=1)


def read_people(value: NumberLike) -> Fraction:
    """How many people there are: a public number, above zero."""
    return rational(value, name="people", positive=True)
