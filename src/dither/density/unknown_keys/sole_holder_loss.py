"""The exact delta of partition selection by a threshold: what one person can change, by keys of her own and by shared keys.

A person holds keys that nobody else holds, and keys that others hold too. Without her the former cannot be shown; the latter
have another count. Let P and Q be the laws of a release on two neighbouring data sets, and

    a      the probability under P that any key is shown that only P's data set has       (a key that was lost)
    b      the probability under Q that any key is shown that only Q's data set has       (a key that was gained)
    R, S   the laws, under P and Q, of all that the release says about keys that both data sets have

Theorem. The largest P(A) - e^epsilon Q(A) is      a + (1 - a) H(e^epsilon (1 - b) / (1 - a)),

where H(x) is the largest R(B) - x S(B), the hockey-stick divergence of shared keys.

Proof. Keys have independent noise, so the three are independent. Split A by what is shown of the lost and of the gained
keys. With a lost key shown: Q gives it 0 and P at most a, which is attained. With a gained key shown: P gives it 0, so A is
better off without it. With neither: P gives (1 - a) R(B) and Q gives (1 - b) S(B), for a B of one's choice.

It grows with a and with b (each A gains, none loses), and with every further shared key. So for ranges of a, b and the
shared keys it is enough to look at the largest of each, and to cut a range in two only where that is too much: `within`
decides about all ways to hold keys, mixed ones included, and nothing is assumed about which of them is the hardest.

    a person comes      a = 0; b and the shared keys are hers
    a person goes       b = 0; a and the shared keys are hers
    one is replaced     a and some shared keys are of the one, b and other shared keys of the other

A key that both of the latter hold is in both data sets, so it counts as shared even if nobody else holds it. It moves by
the difference of their weights, and the square of that is at most the sum of the squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from dither.numeric.balls import ends
from dither.numeric.enclosure import to_ball
from dither.numeric.search import surely

if TYPE_CHECKING:
    from flint import arb

BITS = 128
LEAST = Fraction(1, 2**4096)  # far below every delta that is read: what is less likely is taken for this, and written out


class KeyContribution(NamedTuple):
    """One way in which a person can hold keys."""

    shown: Fraction  # not below the probability that any key of her own is shown
    moved: Fraction  # how far she moves shared keys: as `profile` counts it, and such that two people add up


NOBODY = KeyContribution(Fraction(0), Fraction(0))
SharedKeyProfile = Callable[[Fraction, "arb"], "arb"]  # H(e^(epsilon + x)) from how far shared keys move and from x


def any_shown(one: arb, count: int) -> Fraction:
    """Not below the probability 1 - (1 - one)^count that any of so many keys is shown."""
    if count == 0:
        return Fraction(0)
    return ends((-(count * (-one).log1p()).expm1()).max(to_ball(LEAST)))[1]


def hardest(contributions: Iterable[KeyContribution]) -> list[KeyContribution]:
    """Those that no other exceeds in both: rising in what is shown, falling in what is moved."""
    kept: list[KeyContribution] = []
    for one in sorted(contributions, key=lambda one: (-one.moved, -one.shown)):
        if not kept or one.shown > kept[-1].shown:
            kept.append(one)
    return kept


def within(contributions: Sequence[KeyContribution], profile: SharedKeyProfile, delta: Fraction, *, replaces: bool) -> bool:
    """Whether it is certain that the promise holds for every person who holds keys in one of these ways."""
    boxes = [(contributions, contributions)] if replaces else [(contributions, [NOBODY]), ([NOBODY], contributions)]
    return all(_box(lost, gained, profile, delta) for lost, gained in boxes)


def _box(
    lost: Sequence[KeyContribution], gained: Sequence[KeyContribution], profile: SharedKeyProfile, delta: Fraction
) -> bool:
    """All pairs of the two lists: by the largest of each number, or else in two parts."""
    a, b, moved = lost[-1].shown, gained[-1].shown, lost[0].moved + gained[0].moved
    if a < 1 and b < 1 and surely(lambda: joint(a, b, moved, profile) - to_ball(delta), bits=BITS, most=16 * BITS):
        return True
    if len(lost) == len(gained) == 1:
        return False
    if len(lost) < len(gained):
        half = len(gained) // 2
        return all(_box(lost, part, profile, delta) for part in (gained[:half], gained[half:]))
    half = len(lost) // 2
    return all(_box(part, gained, profile, delta) for part in (lost[:half], lost[half:]))


def joint(a: Fraction, b: Fraction, moved: Fraction, profile: SharedKeyProfile) -> arb:
    """a + (1 - a) H(e^epsilon (1 - b) / (1 - a))."""
    x = (-to_ball(b)).log1p() - (-to_ball(a)).log1p()
    return to_ball(a) + to_ball(1 - a) * profile(moved, x)
