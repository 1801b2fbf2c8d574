"""How far computed columns may be off, before anything is released: where that follows from the noise alone.

A sum of released counters, each times a number, is off by the same sum of their noises (`counters/noise_sums.py`); ROUND and
CAST add half of what they round to. A quotient, a product of two numbers with noise, // and % are off by what depends on the
released numbers; windows look at several rows. Of these there is no figure before the answer, whose bars say it.
"""

from __future__ import annotations

from fractions import Fraction

from dither.query.counters.noise_sums import NoiseSum
from dither.query.plan.derived import Cast, ConstantTerm, FirstKnown, Operation, ReleasedValue, Round, Term
from dither.query.plan.text import rounded
from dither.query.pricing.offer import Offer
from dither.query.statistics.counter_release import CounterRelease

Linear = tuple[Fraction, dict[str, Fraction], Fraction]  # a constant, weights of aggregates, and what rounding adds
SUMS = "it is a sum of released numbers"
DEPENDS = "how far it is off depends on the released numbers"


def errors_of(offer: Offer) -> dict[str, float | None]:
    """How far each aggregate and each computed column may be off because of noise; None where that is not known before."""
    named = {column.name: _error(column.of, offer) for column in offer.question.derived}
    return offer.errors | {name: error for name, error in named.items() if name in offer.question.shown}


def error_words(name: str, offer: Offer) -> str:
    """The same of a computed column, in words."""
    error = errors_of(offer).get(name)
    return f"off by no more than {rounded(error)}" if error is not None else DEPENDS


def _error(term: Term, offer: Offer) -> float | None:
    if offer.found is not None:
        return None
    found = _linear(term)
    if found is None:
        return None
    _, weights, rounding = found
    columns = {name: (statistic, place) for name, statistic, place in offer.columns}
    atoms: dict[tuple[int, int], tuple[CounterRelease, Fraction]] = {}
    for name, weight in weights.items():
        statistic, place = columns[name]
        own = statistic.weights(place)
        if own is None or not isinstance(statistic, CounterRelease):
            alone = statistic.error(place, offer.confidence) if len(weights) == 1 else None
            return None if alone is None else _double(abs(weight) * Fraction(alone) + rounding)
        for measure, part in enumerate(own):
            _, before = atoms.get((id(statistic), measure), (statistic, Fraction(0)))
            atoms[id(statistic), measure] = statistic, before + weight * part
    used = [(statistic, weight) for statistic, weight in atoms.values() if weight]
    return _double((_reach(used, offer.confidence) if used else 0) + rounding)


def _reach(used: list[tuple[CounterRelease, Fraction]], confidence: Fraction) -> Fraction:
    """How far the sum of noises is off, each times its weight; weights that no double holds are scaled first."""
    import numpy as np

    noise = NoiseSum(tuple(statistic.mechanism for statistic, _ in used), (1,) * len(used), confidence)
    largest = max(abs(weight) for _, weight in used)
    return largest * Fraction(float(noise.reach(np.array([[float(abs(weight) / largest) for _, weight in used]]))[0]))


def _double(error: Fraction) -> float | None:
    """None where no double holds it."""
    try:
        return float(error)
    except OverflowError:
        return None


def _linear(term: Term) -> Linear | None:
    match term:
        case ConstantTerm(value):
            return value, {}, Fraction(0)
        case ReleasedValue(name):
            return Fraction(0), {name: Fraction(1)}, Fraction(0)
        case Round(inner, digits):
            return _rounded(_linear(inner), Fraction(1, 2) / Fraction(10) ** digits)
        case Cast(inner, whole):
            return _rounded(_linear(inner), Fraction(1, 2) if whole else Fraction(0))
        case FirstKnown((first, *_)) if isinstance(first, ReleasedValue):
            return _linear(first)  # of counters nothing is missing; averages have no figure here
        case Operation(sign, left, right):
            return _together(sign, _linear(left), _linear(right))
    return None


def _rounded(found: Linear | None, most: Fraction) -> Linear | None:
    return None if found is None else (found[0], found[1], found[2] + most)


def _together(sign: str, left: Linear | None, right: Linear | None) -> Linear | None:
    if left is None or right is None:
        return None
    (a, one, first), (b, two, second) = left, right
    if sign in ("+", "-"):
        turned = 1 if sign == "+" else -1
        weights = {name: one.get(name, Fraction(0)) + turned * two.get(name, Fraction(0)) for name in {**one, **two}}
        return a + turned * b, {name: weight for name, weight in weights.items() if weight}, first + second
    if sign == "*" and not one and not first:
        return b * a, {name: weight * a for name, weight in two.items()}, second * abs(a)
    if two or second or sign not in ("*", "/") or (sign == "/" and not b):
        return None
    factor = b if sign == "*" else 1 / b
    return a * factor, {name: weight * factor for name, weight in one.items()}, first * abs(factor)
