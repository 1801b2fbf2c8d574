"""The privacy profile of any composition, on a grid of losses, in whole numbers: slower than a line, and never stuck.

*From above.* What P and Q give to the losses of a cell [a, b] is split between a and b so that both sums are kept.
That is a sharper experiment (told the end, one can redraw the loss), so the new pair dominates the old one; this is
the "connect the dots" of Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022. Losses above the grid count as
infinite, losses below as the lowest.
*From below.* Cells are merged (which can only hide things), their edges chosen one after the other so that the merged
loss of each, log(P/Q), is a grid point, nearly. P is then lowered until the loss is SLIVER below that point: delta
only falls when P falls. An atom that lies on no grid point is put on the next one below in the same way.

Both are then compositions on one grid, which is multiplication of polynomials with coefficients >= 0. The
coefficients are tilted, p e^(c loss - k), so that those which matter for delta are the large ones, and written as
whole numbers of 2^-BITS, rounded up (or down). Products are exact and rounded once more in the same direction; so an
upper bound stays one and no error of a transform is to be bounded. Tilted mass t that is cut off at the ends has
losses l with p = t e^(k - c l), of which only those above eps count: at most t e^(k - c eps) of delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb, fmpz_poly

from dither.errors import PrecisionError
from dither.numeric.balls import ceil_of, ends
from dither.numeric.enclosure import to_ball
from dither.privacy.loss.pairs.pair import Pair, PairSequence
from dither.privacy.loss.profile import convolve as grid
from dither.privacy.loss.profile.convolve import GridWeights, ProfileSide, suffix

SIZE = 1 << 16  # grid points of the composition
CLOSE = 1e-7  # how closely the edges of merged cells are sought, in parts of a cell
SLIVER = Fraction(1, 1 << 20)  # how far below the grid points the merged losses of a pair are put, in steps


def grid_step(terms: PairSequence, c: float, small: Fraction) -> Fraction:
    """A step for which the composition has about SIZE points: a part of the largest atom where there is one."""
    spread, narrowest, whole = 0.0, 0.0, 0.0
    anchor: tuple[float, float] | None = None
    for pair, count in terms:
        low, high = (float(end) for end in pair.span(small))
        narrowest, whole = max(narrowest, (high - low) / pair.cells), whole + count * (high - low)
        spread += count * _tilted_variance(pair, c, low, high)
        atoms = pair.atoms(small)
        if 1 < len(atoms) <= 64:
            loss = max(abs(float(atom.loss)) for atom in atoms)
            anchor = max(anchor or (0.0, 0.0), (float(count), loss))
    width = min(whole, 18 * math.sqrt(spread))
    step = max(width / SIZE, narrowest)
    if anchor is not None and anchor[1] > 0:
        step = anchor[1] / math.ceil(anchor[1] / step)
    return Fraction(step)


def _tilted_variance(pair: Pair, c: float, low: float, high: float) -> float:
    """About the variance of the loss under the tilted law, from a few cells."""
    number = 128 if pair.cells > 1000 else 24
    marks = [low + (high - low) * i / number for i in range(number + 1)]
    sums = [float(pair.above(to_ball(Fraction(mark)))[0]) for mark in marks] if float(pair.whole()[0]) > 0 else []
    rows = [((a + b) / 2, x - y) for a, b, x, y in zip(marks, marks[1:], sums, sums[1:], strict=False)]
    rows += [(float(atom.loss), float(atom.p)) for atom in pair.atoms(Fraction(1, 10**12))]
    top = max((c * loss + math.log(p) for loss, p in rows if p > 0), default=0.0)
    tilted = [(loss, p * math.exp(c * loss - top)) for loss, p in rows if p > 0]
    total = sum(w for _, w in tilted)
    if total == 0:
        return (high - low) ** 2 / 4
    mean = sum(loss * w for loss, w in tilted) / total
    return sum((loss - mean) ** 2 * w for loss, w in tilted) / total


def build(terms: PairSequence, lost: Fraction, c: float, log_delta: float, *, up: bool) -> ProfileSide:
    """The profile from above or from below, made for deltas around this one."""
    number = sum(count for _, count in terms)
    small = Fraction(2) ** math.floor(log_delta / math.log(2) - 45) / number
    step, tilt = grid_step(terms, c, small), Fraction(c)
    whole: GridWeights | None = None
    scale, infinite = to_ball(0), Fraction(0)
    for pair, count in terms:
        poly, unit = _one(pair, step, tilt, small, up=up)
        powered = poly.power(count)
        whole = powered if whole is None else whole.times(powered)
        scale += to_ball(unit) * count
        if up:
            infinite += count * (
                ends(pair.above(to_ball(step * _range(pair, step, small)[1]))[0].max(to_ball(0)))[1] + small
            )
    assert whole is not None
    shift = Fraction(0) if up else -SLIVER * step * number
    return ProfileSide(suffix(whole, step, shift, scale, tilt), min(Fraction(1), lost + infinite))


def _range(pair: Pair, step: Fraction, small: Fraction) -> tuple[int, int]:
    low, high = (math.floor(end / step) for end in pair.span(small))
    return low - 1, high + 2


def _one(pair: Pair, step: Fraction, c: Fraction, small: Fraction, *, up: bool) -> tuple[GridWeights, Fraction]:
    """The tilted weights of one pair, and the log of their unit."""
    low, high = _range(pair, step, small)
    points = _split(pair, step, low, high, small) if up else _merged(pair, step, low, high, small)
    if up and pair.blurred:  # a loss on the wrong side of an edge: the part of it that belongs to the next point
        for at in sorted(points, reverse=True):
            points[at + 1] = points.get(at + 1, to_ball(0)) + points[at].max(to_ball(0)) * arb((1, -64))
    tilted = {at: p * to_ball(c * step * at).exp() for at, p in points.items() if up or p > 0}
    total = sum(tilted.values(), start=to_ball(0))
    if not total > 0:
        raise PrecisionError("loss", pair.describe(), "nothing of it is left on the grid", "another epsilon or delta")
    unit = Fraction(float(total.log()))
    scaled = to_ball(-unit).exp() * (1 << grid.BITS)
    whole = {at: max(0, ceil_of(w * scaled) if up else -ceil_of(-w * scaled)) for at, w in tilted.items()}
    first, last = min(whole), max(whole)
    poly = fmpz_poly([whole.get(at, 0) for at in range(first, last + 1)])
    return GridWeights(poly, first, Fraction(0), up).trim(), unit


def _split(pair: Pair, step: Fraction, low: int, high: int, small: Fraction) -> dict[int, arb]:
    """P at the grid points: each cell's mass at its two ends, P and Q kept."""
    found: dict[int, arb] = {}
    grow = to_ball(step).exp()

    def give(cell: int, p: arb, q: arb) -> None:  # the cell from `cell` to `cell + 1`
        left = to_ball(step * cell).exp()
        upper = (p - left * q) / (left * (grow - 1)) * left * grow
        for at, part in ((cell, p - upper), (cell + 1, upper)):
            found[at] = found[at] + part if at in found else part

    if pair.whole()[0] != 0:
        before = pair.whole()
        for cell in range(low, high):
            after = pair.above(to_ball(step * (cell + 1)))
            p, q = before[0] - after[0], before[1] - after[1]
            if cell == low:  # all that lies further down counts as here: P is kept, the loss is raised
                found[low + 1] = p
            elif not p <= 0:
                give(cell, p, q)
            before = after
    for atom in pair.atoms(small):
        place = atom.loss / to_ball(step)
        least, most = (math.floor(end) for end in ends(place))
        if most < low:
            found[low] = found[low] + atom.p if low in found else atom.p
        elif least == most:
            give(least, atom.p, atom.q)
        else:
            # On a grid point as far as one can see. If it lies above: split it to the right, and the point gets no less
            # than its part. If it lies below: P is kept and the loss is raised.
            point = to_ball(step * most).exp()
            right = ((atom.p - point * atom.q) * grow / (grow - 1)).max(to_ball(0))
            for at, part in ((most, atom.p), (most + 1, right)):
                found[at] = found[at] + part if at in found else part
    return found


def _merged(pair: Pair, step: Fraction, low: int, high: int, small: Fraction) -> dict[int, arb]:
    """P at the grid points after merging; a little less than there is."""
    found: dict[int, arb] = {}

    def give(at: int, p: arb, q: arb) -> None:
        """A cell whose loss is about this grid point: P lowered to the point, or to the next below it."""
        for place in (at, at - 1, at - 2):
            lowered = q * to_ball(step * (place - SLIVER)).exp()
            if lowered <= p:
                found[place] = found[place] + lowered if place in found else lowered
                return

    for atom in pair.atoms(small):
        give(math.floor(ends(atom.loss / to_ball(step))[0] + Fraction(1, 1 << 40)), atom.p, atom.q)
    if pair.whole()[0] == 0:
        return found
    for at, p, q in _sweep(pair, step, low, high, small):
        give(at, p, q)
    return found


def _sweep(pair: Pair, step: Fraction, low: int, high: int, small: Fraction) -> Iterator[tuple[int, arb, arb]]:
    """Cells whose merged loss is a grid point, nearly; from the heavier end: the last cell is what is left over."""
    width = float(step)
    near = pair.above(to_ball(step * low + step * (high - low) / 100))[0]
    far = pair.above(to_ball(step * high - step * (high - low) / 100))[0]
    sign = 1 if pair.whole()[0] - near > far else -1
    at, last = (low, high) if sign > 0 else (high, low)
    start = pair.span(small)[0 if sign > 0 else 1]
    start = max(min(start, step * high), step * low)
    edge = float(start)
    known = pair.above(to_ball(start))
    if sign > 0:
        yield at, pair.whole()[0] - known[0], pair.whole()[1] - known[1]
    while at != last:
        at += sign
        target = width * at
        if abs(target - edge) < 0.3 * width:
            continue
        following, measured = _edge(pair, known, edge, target)
        p, q = sign * (known[0] - measured[0]), sign * (known[1] - measured[1])
        if p > 0 and q > 0:  # otherwise there is nothing here
            yield at, p, q
            edge, known = following, measured
    if sign > 0:
        yield math.floor(edge / width), known[0], known[1]
    else:
        yield last, pair.whole()[0] - known[0], pair.whole()[1] - known[1]


def _edge(pair: Pair, known: tuple[arb, arb], edge: float, target: float) -> tuple[float, tuple[arb, arb]]:
    """The other edge of a cell whose merged loss is the target, nearly: plain floats choose, balls measure.

    P - e^target Q of the cell is below zero while all of it lies on one side of the target, and grows with the other side:
    first the mirror image of the edge, then secants.
    """
    ratio = to_ball(Fraction(target)).exp()
    sign = 1.0 if target > edge else -1.0

    def surplus(x: float) -> tuple[float, float, tuple[arb, arb]]:
        measured = pair.above(to_ball(Fraction(x)))
        q = measured[1] - known[1]
        value = (measured[0] - known[0]) / ratio - q
        return -float(value), abs(float(q)), measured  # for both signs: above zero means too far

    reach = abs(target - edge)
    x = target + sign * reach
    height, size, measured = surplus(x)
    slope = size / (2 * reach) * abs(math.expm1(x - target))  # Q's mean density in the cell for its density at the edge
    for _ in range(10):
        if abs(height) <= CLOSE * size * reach or slope <= 0:
            break
        following = x - sign * height / slope
        if not 0 < sign * (following - target) < 4 * reach:
            following = (x + target) / 2 if height > 0 else x + sign * reach / 2
        if abs(following - target) > 4 * reach:
            break
        before, x = (x, height), following
        height, size, measured = surplus(x)
        slope = (height - before[1]) / (sign * (x - before[0])) if x != before[0] else 0.0
    return x, measured
