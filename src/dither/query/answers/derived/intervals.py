"""Intervals of computed columns: what holds the same expression of the true aggregates with the stated probability.

Theorem. The interval of an expression holds it with probability 1 - alpha at least, if it is a number: by the law of a sum
of noises, by Fieller's set of a quotient of two such sums, or by interval arithmetic over the box of k pieces of these
kinds, each of which fails with probability alpha / k. The proof is in `intervals.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import cache
from math import inf
from typing import Any

from dither.query.answers.derived.extreme_rows import Addend, ExtremeRow, extreme_rows
from dither.query.answers.derived.interval_arithmetic import (
    NOTHING,
    End,
    Ends,
    Node,
    Opaque,
    Piece,
    Scalar,
    Symbol,
    arithmetic,
    may_be_missing,
    operation,
    product,
)
from dither.query.answers.derived.linear_forms import Form, Part, Quotient, Weights, weights_of
from dither.query.answers.derived.pieces import Pattern, Solved, least_values
from dither.query.answers.derived.values import DerivedValues
from dither.query.answers.released import Released
from dither.query.counters.estimators import SumEstimator
from dither.query.counters.noise_sums import Noise, NoiseSum
from dither.query.counters.quotients import quotient_interval
from dither.query.counters.value_ranges import cut_interval
from dither.query.plan.derived import (
    Cast,
    ConstantTerm,
    FirstKnown,
    NullIf,
    Operation,
    ReleasedValue,
    Round,
    ScalarValue,
    Shift,
    Term,
    Total,
    WindowStatistic,
    terms,
)
from dither.query.pricing.offer import Offer
from dither.query.statistics.counter_release import CounterRelease

ScalarEnds = Callable[[int, Fraction], Ends]  # the interval of a scalar subquery, by its place and a level


class DerivedIntervals:
    """Intervals of terms of one answer."""

    def __init__(self, offer: Offer, released: Released, values: DerivedValues, scalar: ScalarEnds) -> None:
        self.offer, self.released, self.values, self.scalar = offer, released, values, scalar
        self.columns = {name: (at, place) for (name, _, _), (at, place) in zip(offer.columns, offer.readings, strict=True)}
        self.aggregates = {one.name: one for one in offer.question.aggregates}
        self.values_of = least_values(offer)
        self._totals: dict[tuple[Total | WindowStatistic, Part], Symbol | None] = {}
        self._pieces: dict[int, tuple[Symbol, dict[Hashable, Piece]]] = {}
        self._ends: dict[tuple[Hashable, Fraction], Ends] = {}
        self._linear: dict[str, list[Fraction]] = {}
        self._sums: dict[tuple[str, Part], Fraction] = {}
        self._ranges: dict[Hashable, Ends] = {}
        self.members, self.counted, self.opaque = cache(self._members), cache(self._counted), cache(self._opaque)
        self.extreme_rows, self.noises = cache(self._extreme_rows), cache(NoiseSum)

    def of(self, term: Term, rows: Iterable[int]) -> dict[int, tuple[Ends, Ends] | None]:
        """The interval in each row, and the range of the term; None where it is missing, whatever was released."""
        symbols = {row: self._symbol(term, row) for row in rows}
        wanted: dict[tuple[Hashable, Fraction], Piece] = {}
        levels: dict[int, Fraction] = {}
        for row, symbol in symbols.items():
            if symbol is None:
                continue
            pieces = self._of(symbol)
            levels[row] = 1 - (1 - self.offer.confidence) / max(1, len(pieces))
            wanted |= {(key, levels[row]): piece for key, piece in pieces.items()}
        self._solve({key: piece for key, piece in wanted.items() if key not in self._ends})
        return {
            row: None if symbol is None else (self._bounds(symbol, levels[row]), self._range(symbol))
            for row, symbol in symbols.items()
        }

    def ranges(self, term: Term, rows: Iterable[int]) -> dict[int, Ends]:
        """The range of a term in each row where it is not missing, whatever was released."""
        symbols = ((row, self._symbol(term, row)) for row in rows)
        return {row: self._range(symbol) for row, symbol in symbols if symbol is not None}

    # -- what a term is made of ----------------------------------------------------------------------------------

    def _symbol(self, term: Term, row: int) -> Symbol | None:
        match term:
            case ConstantTerm(value):
                return Quotient(Form(value))
            case ScalarValue(place, _, _):
                return Scalar(place)
            case ReleasedValue(name):
                at, place = self.columns[name]
                linear = self.offer.statistics[at].weights(place) is not None
                return Quotient(Form(cells={(name, row): Fraction(1)})) if linear else Opaque(name, row)
            case Operation(sign, left, right):
                return operation(sign, self._symbol(left, row), self._symbol(right, row))
            case Round(inner, digits):
                found = self._symbol(inner, row)
                return None if found is None else Node("round", (found,), digits)
            case Cast(inner, whole):
                found = self._symbol(inner, row)
                return Node("cast", (found,)) if whole and found is not None else found
            case NullIf(inner, _):
                return self._symbol(inner, row)
            case FirstKnown(parts):
                return self._first(parts, row)
            case Total():
                return self._total(term, self.values.part(term.by, row))
            case WindowStatistic():
                return self._over(term, self.values.part(term.by, row))
            case Shift():
                source = self.values.source(term, row)
                return None if source is None else self._symbol(term.of, source)
        raise AssertionError(term)

    def _first(self, parts: tuple[Term, ...], row: int) -> Symbol | None:
        for place, part in enumerate(parts):
            symbol = self._symbol(part, row)
            if symbol is None:
                continue
            there = not _may_be_missing(part)
            rest = None if there and not self._of_nothing(symbol) else self._first(parts[place + 1 :], row)
            return symbol if rest is None else Node("first" if there else "hull", (symbol, rest))
        return None

    def _total(self, term: Total, part: Part) -> Symbol | None:
        if (term, part) not in self._totals:
            rows = self.values.parts(term.by)[part[1]]
            first = self._symbol(term.of, rows[0])  # the same in every row: there is no window in it
            if isinstance(first, Quotient) and first.under.is_constant and not _may_be_missing(term.of):
                totals = {(name, part): weight for (name, _), weight in first.over.cells.items()}
                self._totals[term, part] = Quotient(Form(first.over.constant * len(rows), {}, totals))
            else:
                found = [symbol for row in rows if (symbol := self._symbol(term.of, row)) is not None]
                how = "hull" if _may_be_missing(term.of) else "first"  # a row may be passed over
                if how == "hull" or any(map(self._of_nothing, found)):
                    found = [Node(how, (symbol, Quotient(Form()))) for symbol in found]
                self._totals[term, part] = Node("sum", tuple(found)) if found else None
        return self._totals[term, part]

    def _over(self, term: WindowStatistic, part: Part) -> Symbol | None:
        """The average, least or largest of a part. Where a row may be passed over, it is between the ends of all of them."""
        if (term, part) not in self._totals:
            rows, missing = self.values.parts(term.by)[part[1]], _may_be_missing(term.of)
            if term.kind == "avg" and not missing:
                total = self._total(Total(term.by, term.of), part)
                self._totals[term, part] = operation("/", total, Quotient(Form(Fraction(len(rows)))))
            else:
                found = tuple(symbol for row in rows if (symbol := self._symbol(term.of, row)) is not None)
                self._totals[term, part] = Node("hull" if missing else term.kind, found) if found else None
        return self._totals[term, part]

    def _of(self, symbol: Symbol) -> dict[Hashable, Piece]:
        """The different pieces of a symbol that have noise."""
        if not isinstance(symbol, Node):
            return {} if isinstance(symbol, Quotient) and symbol.is_constant else {symbol.key: symbol}
        if id(symbol) not in self._pieces:
            found: dict[Hashable, Piece] = {}
            for part in symbol.parts:
                found |= self._of(part)
            self._pieces[id(symbol)] = symbol, found
        return self._pieces[id(symbol)][1]

    # -- the ends of pieces --------------------------------------------------------------------------------------

    def _solve(self, wanted: dict[tuple[Hashable, Fraction], Piece]) -> None:
        """The ends of all pieces, cut to what is possible, so that those of every operation on them are possible, too."""
        self._solve_uncut(wanted)
        for of, piece in wanted.items():
            self._ends[of] = cut_interval(self._ends[of], self._range(piece))

    def _solve_uncut(self, wanted: dict[tuple[Hashable, Fraction], Piece]) -> None:
        import numpy as np

        alike: dict[Pattern, list[Solved]] = {}
        for (key, level), piece in wanted.items():
            if isinstance(piece, Scalar):
                self._ends[key, level] = self.scalar(piece.place, level)
                continue
            if isinstance(piece, Opaque):
                least, most = self.opaque(piece.name, level)
                self._ends[key, level] = _end(least[piece.row]), _end(most[piece.row])
                continue
            scaled, scale = piece.scaled()
            weights = weights_of(scaled, self.members, self.counted)
            over, under = self._sum(scaled.over), self._sum(scaled.under)
            plain = not any(below for _, below in weights.pairs.values())  # noise below has cancelled, or was not there
            if plain and not under:
                self._ends[key, level] = NOTHING  # it is divided by zero, whatever was released
                continue
            limits = (-inf, inf) if plain else weights.limits(self._not_negative)
            pattern = Pattern(*self._noise(weights), level, limits, plain)
            alike.setdefault(pattern, []).append(Solved((key, level), over, under, scale))
        for pattern, several in alike.items():
            noise = self.noises(pattern.noises, pattern.times, pattern.level)
            above, below = (np.array([float(pair[at]) for pair in pattern.weights]) for at in (0, 1))
            if pattern.plain:
                half = Fraction(float(noise.reach(np.abs(above)[None, :])[0])) if pattern.noises else Fraction(0)
                for of, over, under, scale in several:
                    ends = scale * (over - half) / under, scale * (over + half) / under
                    self._ends[of] = min(ends), max(ends)
                continue
            tops, bottoms = (np.array([float(one) for one in part]) for part in zip(*(s[1:3] for s in several), strict=True))
            lows, highs = quotient_interval(tops, bottoms, above, below, noise, pattern.limits)
            for (of, _, _, scale), low, high in zip(several, lows.tolist(), highs.tolist(), strict=True):
                self._ends[of] = product(_end(low), scale), product(_end(high), scale)

    def _range(self, symbol: Symbol) -> Ends:
        """What a symbol can be, whatever the data."""
        known: Hashable = symbol if isinstance(symbol, Node) else symbol.key
        if known not in self._ranges:
            self._ranges[known] = self._range_of(symbol)
        return self._ranges[known]

    def _range_of(self, symbol: Symbol) -> Ends:
        match symbol:
            case Node():
                return arithmetic(symbol, [self._range(part) for part in symbol.parts])
            case Opaque(name, _):
                return self._range_of_column(name)
            case Scalar(place):
                return scalar_range(self.offer.inner[place])
        scaled, scale = symbol.scaled()
        weights = weights_of(scaled, self.members, self.counted)
        gained = weights.of_rows(self.extreme_rows)
        if any(below for _, below in weights.pairs.values()):
            least, most = weights.between(gained)
            return product(_end(least), scale), product(_end(most), scale)
        over, under = weights.constants
        if not under or any(self._is_left_uncut(name) for name, _ in weights.pairs):
            return NOTHING  # it is divided by zero; or a part is left as it is, so that parts add up
        low, high = (over if all(sign * gain >= 0 for gain, _ in gained) else -sign * inf for sign in (1, -1))
        ends = [product(end, scale / under) for end in (low, high)]
        return min(ends), max(ends)

    def _extreme_rows(self, names: tuple[str, ...]) -> list[ExtremeRow]:
        read = ((name, self._sum_estimator(name)) for name in names)
        return extreme_rows({name: Addend(self.aggregates[name], one.least, one.most) for name, one in read})

    def _is_left_uncut(self, name: str) -> bool:
        return self._range_of_column(name) != self._sum_estimator(name).value_range

    def _sum_estimator(self, name: str) -> SumEstimator:
        at, place = self.columns[name]
        statistic = self.offer.statistics[at]
        assert isinstance(statistic, CounterRelease)
        estimator = statistic.estimators[place]
        assert isinstance(estimator, SumEstimator)
        return estimator

    def _range_of_column(self, name: str) -> Ends:
        at, place = self.columns[name]
        return self.offer.statistics[at].value_range(place)

    def _noise(self, weights: Weights) -> tuple[tuple[Noise, ...], tuple[int, ...], tuple[tuple[Fraction, Fraction], ...]]:
        """The noises that enter, how many have the same weights, and the weights in both forms."""
        atoms: dict[tuple[int, Hashable, int], list[Fraction]] = {}
        for (name, kind), pair in weights.pairs.items():
            at, place = self.columns[name]
            for measure, weight in enumerate(self.offer.statistics[at].weights(place) or ()):
                own = atoms.setdefault((at, kind, measure), [Fraction(0), Fraction(0)])
                own[0] += pair[0] * weight
                own[1] += pair[1] * weight
        merged: Counter[tuple[int, int, Fraction, Fraction]] = Counter()
        noises: dict[tuple[int, int], Noise] = {}
        for (at, kind, _), (a, b) in atoms.items():
            statistic = self.offer.statistics[at]
            assert isinstance(statistic, CounterRelease)
            for which, part in enumerate(statistic.noise_parts(kind if isinstance(kind, int) else 0) if a or b else ()):
                merged[at, which, a * part.factor, b * part.factor] += weights.times[kind] * part.times
                noises[at, which] = part.noise
        found = sorted(merged.items())
        names = tuple(noises[at, which] for (at, which, _, _), _ in found)
        return names, tuple(times for _, times in found), tuple((a, b) for (_, _, a, b), _ in found)

    def _sum(self, form: Form) -> Fraction:
        """A form of what was released."""
        cells = sum((weight * self._counters(name)[row] for (name, row), weight in form.cells.items()), start=form.constant)
        over = ((weight, name, part) for (name, part), weight in form.totals.items())
        return cells + sum((weight * self._added(name, part) for weight, name, part in over), start=Fraction(0))

    def _added(self, name: str, part: Part) -> Fraction:
        if (name, part) not in self._sums:
            self._sums[name, part] = sum((self._counters(name)[row] for row in self.members(part)), start=Fraction(0))
        return self._sums[name, part]

    def _counters(self, name: str) -> list[Fraction]:
        """The released sums of an aggregate, before they are rounded."""
        if name not in self._linear:
            at, place = self.columns[name]
            weights = self.offer.statistics[at].weights(place) or ()
            statistic = self.offer.statistics[at]
            assert isinstance(statistic, CounterRelease)
            rows = statistic.totals(self.released.statistics[at])
            self._linear[name] = [
                sum((weight * number for weight, number in zip(weights, row, strict=True)), start=Fraction(0))
                for row in rows
            ]
        return self._linear[name]

    def _opaque(self, name: str, level: Fraction) -> tuple[list[Any], list[Any]]:
        at, place = self.columns[name]
        statistic = self.offer.statistics[at].at(level)
        assert statistic is not None, "a column without an interval"
        _, lows, highs = statistic.read(self.released.statistics[at], place)
        return lows, highs

    def _not_negative(self, name: str) -> bool:
        at, place = self.columns[name]
        return self.offer.statistics[at].adds_up(place)

    def _members(self, part: Part) -> frozenset[int]:
        return frozenset(self.values.parts(part[0])[part[1]])

    def _counted(self, parts: tuple[Part, ...]) -> Counter[Any]:
        return Counter(tuple(row in self.members(part) for part in parts) for row in self.values.rows)

    # -- interval arithmetic -------------------------------------------------------------------------------------

    def _bounds(self, symbol: Symbol, level: Fraction) -> Ends:
        if isinstance(symbol, Quotient) and symbol.is_constant:
            value = symbol.over.constant  # a quotient of constants is one
            return value, value
        if not isinstance(symbol, Node):
            return self._ends[symbol.key, level]
        if (id(symbol), level) in self._ends:  # a total is one symbol in all its rows
            return self._ends[id(symbol), level]
        parts = [self._bounds(part, level) for part in symbol.parts]
        sure = symbol.what == "first" and self._of_rows(symbol.parts[0], level)
        found = parts[0] if sure else arithmetic(symbol, parts)
        self._ends[id(symbol), level] = found
        self._pieces.setdefault(id(symbol), (symbol, {}))  # which keeps it, so that its id is no other's
        return found

    def _of_nothing(self, symbol: Symbol) -> bool:
        """Whether an aggregate is in it that SQL has none of where there are no values: an average, not a count."""
        return any(isinstance(piece, Opaque) and piece.name in self.values_of for piece in self._of(symbol).values())

    def _of_rows(self, symbol: Symbol, level: Fraction) -> bool:
        """Whether all averages in it stay above the least that they can be, so that they are of rows."""
        pieces = [piece for piece in self._of(symbol).values() if isinstance(piece, Opaque) and piece.name in self.values_of]
        least = [self.values_of[piece.name] for piece in pieces]
        ends = [self._ends[piece.key, level][0] for piece in pieces]
        return all(bottom is not None and end > bottom for bottom, end in zip(least, ends, strict=True))


def _may_be_missing(term: Term) -> bool:
    """Whether a term may be missing in a row, or is since a scalar subquery gave NULL: its true number need not be that."""
    return may_be_missing(term) or any(isinstance(part, ScalarValue) and part.value is None for part in terms(term))


def scalar_range(offer: Offer) -> Ends:
    """The range of the one number of a scalar subquery; of a computed one nothing is concluded."""
    (name,) = offer.question.shown
    return next((statistic.value_range(place) for own, statistic, place in offer.columns if own == name), NOTHING)


def _end(number: float) -> End:
    return number if number in (inf, -inf) else Fraction(number)
