"""Heavy hitters: the most frequent texts, or whole numbers, of a domain too large to list, found byte by byte.

An item is a row of L bytes (a text in UTF-8, filled up with zeros; or a whole number). Each person falls at random into
one of L + 1 groups, whatever her item. Group j tells the first j + 1 bytes; the last one tells all L again. The collector
goes through the groups: from the best `keep` prefixes so far, each with any next byte, it keeps the best by the reports
of the next group. The last group measures what is left.

A prefix is told by local hashing: group and a random seed say how it is hashed to one of g cells, and the cell goes through
k-ary randomized response (`mechanisms/response/k_ary_response.py`). The report is group, seed and cell.

Theorem. A report is epsilon-differentially private for all items that one could have, however many bytes they have.
`heavy_hitters.md` has the proof, what the intervals hold, and which items are found.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import DataError, NumberError, SizeError
from dither.local.client_law import response
from dither.local.collect.intervals import interval, normal_quantile
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.least_epsilon import least_epsilon
from dither.local.portable_survey import PortableSurvey
from dither.local.survey import read_epsilon
from dither.local.surveys.direct_encoding import histogram
from dither.local.surveys.frequent_items import FrequentItems
from dither.local.surveys.items import IntegerDomain, ItemDomain, TextDomain, mix
from dither.mechanisms.response.k_ary_response import Flat
from dither.noise.uniform_integers import uniform
from dither.numeric.number import NumberLike, integer, rational
from dither.numeric.search import halve
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike, read_replacement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 2**6  # with more of them there are too few seeds for collisions to average out
MOST_KEPT = 2**10
COLLISIONS = 2**17  # (g - 1) K is about this
MOST_REPORTS = 2**25  # different ones
AT_ONCE = 2**15  # hashes in the cache


@argument_errors
class HeavyHitters(PortableSurvey):
    """The most frequent texts of up to `longest` bytes, or whole numbers of so many bits.

    Args:
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        bits: how many bits a whole number has, up to 64; or
        longest: how many bytes a text has at most in UTF-8, up to 64; longer ones are cut.
        keep: how many prefixes the collector follows, and items it finds at most; up to 1024.
        seeds: how many hash functions a group has; chosen by epsilon unless it is given.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        DataError: bits and longest are both given, or neither is.
        NumberError: a parameter is no number or out of range.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import HeavyHitters
        >>> survey = HeavyHitters(epsilon=6, longest=3)
        >>> survey.groups
        4
        >>> survey.tally(survey.randomize(["yes", "no", "yes"])).people
        3
    """

    kind: ClassVar[str] = "heavy hitters"

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        bits: SupportsIndex | None = None,
        longest: SupportsIndex | None = None,
        keep: SupportsIndex = 32,
        seeds: SupportsIndex | None = None,
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        if bits is not None and longest is None:
            self.items: ItemDomain = IntegerDomain(bits)
        elif longest is not None and bits is None:
            self.items = TextDomain(longest)
        else:
            why = "items are whole numbers of so many bits, or texts of up to so many bytes"
            raise DataError("bits, longest", (bits, longest), why, "bits=32, or longest=8")
        self.epsilon = read_epsilon(epsilon)
        self.unit = read_replacement(unit)
        self.keep = integer(keep, name="keep", least=1)
        if self.keep > MOST_KEPT:
            raise NumberError("keep", keep, f"up to {MOST_KEPT} beginnings are followed", "32")
        # any g and any K keep the promise: floats only choose good ones
        self.cells = max(2, min(MOST_CELLS, round(math.exp(min(float(self.epsilon), 32.0))) + 1))
        usual = 2 ** max(4, round(math.log2(COLLISIONS / (self.cells - 1))))
        self.seeds = usual if seeds is None else integer(seeds, name="seeds", least=1)
        self.groups = self.items.length + 1
        if self.groups * self.seeds * self.cells > MOST_REPORTS:
            raise NumberError("seeds", seeds, f"there are up to {MOST_REPORTS} different reports", str(usual))
        self._flat = Flat(range(self.cells), epsilon=self.epsilon, unit=self.unit)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure, for replacing one person's item: that somebody answered is public."""
        return pure(self.epsilon, unit=self.unit)

    @cached_property
    def record(self) -> dict[str, object]:
        """What says which survey this is. How many are kept is the collector's own choice."""
        sizes = {"cells": self.cells, "seeds": self.seeds}
        return {
            "kind": self.kind,
            **self.items.record,
            **sizes,
            "epsilon": self.epsilon.to_json(),
            "unit": self.unit.value,
        }

    @cached_property
    def support(self) -> tuple[float, float]:
        """e^epsilon / (e^epsilon + g - 1) and 1 / g."""
        return 1 / (1 + (self.cells - 1) * math.exp(-float(self.epsilon))), 1 / self.cells

    # -- at the source -----------------------------------------------------------------------------------------

    def randomize(self, values: Iterable[Hashable]) -> Reports:
        """A report for each item of `values`: the number (group K + seed) g + cell."""
        import numpy as np

        keys = self.items.keys(self.items.read(values))  # of all prefixes, one row an item
        count = len(keys)
        group, seed = uniform(self.groups, count), uniform(self.seeds, count)
        told = keys[np.arange(count), np.minimum(group, self.items.length - 1)]
        place = group * self.seeds + seed
        cell = self._flat.randomize_places(self.hash_cells(told, place))
        return Reports(self.record, (place * self.cells + cell).astype(self.dtype))

    def hash_cells(self, keys: NDArray[np.uint64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell of each of the `keys` under the hash of `places`, group K + seed: a key + b, the high half, in g parts.

        a (odd) and b follow from group and seed. Two keys meet as often as two independent cells would, over all a and b.
        """
        import numpy as np

        place = places.astype(np.uint64)
        times, plus = mix(place) | np.uint64(1), mix(place ^ np.uint64(2**63))
        high = (keys * times + plus) >> np.uint64(32)
        return np.asarray((high * np.uint64(self.cells)) >> np.uint64(32)).astype(np.int64)

    def client_draws(self) -> dict[str, object]:
        """How an item is read, the hash functions of all groups, and the chance of the own cell."""
        sizes = {"groups": self.groups, "length": self.items.length, "seeds": self.seeds, "cells": self.cells}
        return {**self.items.record, **sizes, "truth": response(self.epsilon, self.cells - 1)}

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: an unsigned integer of four bytes."""
        import numpy as np

        return np.dtype("<u4")

    def channel(self, values: Iterable[Hashable]) -> Channel:
        """The exact matrix for the items of `values`, with outputs (group, seed, cell)."""
        import numpy as np

        listed = list(values)
        keys, row = self.items.keys(self.items.read(listed)), self._flat.channel().rows
        assert row is not None
        outputs = [(j, k, c) for j in range(self.groups) for k in range(self.seeds) for c in range(self.cells)]
        share, rows = Fraction(1, self.groups * self.seeds), []
        for key in keys:
            told = key[np.minimum(np.arange(self.groups), self.items.length - 1)].repeat(self.seeds)
            cells = self.hash_cells(told, np.arange(self.groups * self.seeds))
            rows.append([entry * share for cell in cells.tolist() for entry in row[cell]])
        return Channel(rows, listed, outputs)

    # -- at the collector --------------------------------------------------------------------------------------

    def tally(self, reports: Reports) -> Tally:
        """How often each of the `reports` came. What is no report of this survey is counted, and left out."""
        if not isinstance(reports, Reports):
            raise DataError("reports", type(reports), "they are no reports", "what randomize gave, or Reports.from_bytes")
        reports.check(self.record)
        payload = reports.one_per_client().payload_as(self.dtype)
        return Tally.of(self.record, reports, len(payload), *histogram(payload, self.groups * self.seeds * self.cells))

    def estimate(self, found: Reports | Tally, *, confidence: NumberLike = "0.95") -> FrequentItems:
        """The most frequent items, from `found`, reports or a tally; all intervals hold together at this `confidence`."""
        import numpy as np

        tally = found if isinstance(found, Tally) else self.tally(found)
        tally.check(self.record, self.groups * self.seeds * self.cells)
        normal_quantile(confidence)  # refuses what is no confidence
        level = rational(confidence, name="confidence")
        z = normal_quantile(1 - (1 - level) / self.keep)
        tables = tally.counts.reshape(self.groups, self.seeds, self.cells)
        sizes = tables.sum(axis=(1, 2))
        if sizes.min() == 0:
            why = f"somebody is needed in each of the {self.groups} groups"
            raise SizeError("reports", tally.people, why, "many more people, or fewer bytes")
        kept: Sequence[bytes] = [b""]
        for group in range(self.items.length):
            longer = self.items.longer(kept)
            shares = self._shares(tables[group], group, longer)
            kept = [longer[at] for at in np.argsort(-shares, kind="stable")[: self.keep].tolist()]
        raw = self._shares(tables[-1], self.groups - 1, kept)
        p, q = self.support
        spread = float((np.maximum(raw, 0) ** 2).sum()) / ((self.cells - 1) * self.seeds)
        inside = np.clip(q + (p - q) * raw, 0.0, 1.0)
        likely = np.clip(inside, q, p)
        deviation = np.sqrt(likely * (1 - likely) / sizes[-1] / (p - q) ** 2 + spread)
        low, high = ((end - q) / (p - q) for end in interval(inside, int(sizes[-1]), z))
        apart = self._collisions(raw, spread, z)
        low, high = (raw + np.sign(end - raw) * np.hypot(end - raw, apart) for end in (low, high))
        order = [at for at in np.argsort(-raw, kind="stable").tolist() if low[at] > 0 and self.items.whole(kept[at])]
        return FrequentItems(
            tuple(self.items.item(kept[at]) for at in order),
            counts=tally.people * raw[order],
            deviation=tally.people * deviation[order],
            low=tally.people * low[order],
            high=tally.people * np.minimum(high, 1.0)[order],
            threshold=tally.people * self._threshold(int(sizes.min()), confidence, spread),
            people=tally.people,
            confidence=float(level),
        )

    def _collisions(self, raw: NDArray[np.float64], spread: float, z: float) -> float:
        """How far collisions move a share: the most frequent item by Chernoff's bound, all others as normal noise.

        Two items meet in a binomial number of the K seeds, in one of g on average. That it is a share u or more has
        probability at most exp(-K KL(u, 1/g)).
        """
        chance, far = 1 / self.cells, -math.log(NormalDist().cdf(-z)) / self.seeds

        def outside(u: float) -> bool:
            other = (1 - u) * math.log((1 - u) / (1 - chance)) if u < 1 else 0.0
            return not u * math.log(u / chance) + other < far

        end = halve(outside, chance, 1.0, times=60)[1]
        most = min(1.0, max(0.0, float(raw.max())))
        rest = max(0.0, spread - most**2 / ((self.cells - 1) * self.seeds))
        return most * (end - chance) / (1 - chance) + z * math.sqrt(rest)

    def _shares(self, table: NDArray[np.int64], group: int, prefixes: Sequence[bytes]) -> NDArray[np.float64]:
        """The estimated share of each prefix, by the reports of one group: seed and cell, how often."""
        import numpy as np

        keys = self.items.keys(self.items.rows(prefixes))[:, -1]
        seeds = np.flatnonzero(table.any(axis=1))  # those that somebody drew
        supports, flat = np.zeros(len(keys), dtype=np.int64), table.reshape(-1)
        height = max(1, AT_ONCE // len(keys))
        for start in range(0, len(seeds), height):
            part = seeds[start : start + height, None]
            supports += flat[self.hash_cells(keys, group * self.seeds + part) + part * self.cells].sum(axis=0)
        p, q = self.support
        return np.asarray((supports / table.sum() - q) / (p - q))

    # -- before anything is collected --------------------------------------------------------------------------

    def _threshold(self, people: int, confidence: NumberLike, spread: float = 0.0) -> float:
        """A share that the noise of 256 keep prefixes does not reach, from so many people in a group."""
        normal_quantile(confidence)  # refuses what is no confidence
        z = NormalDist().inv_cdf(1 - float(1 - rational(confidence, name="confidence")) / (256 * self.keep))
        p, q = self.support
        return z * math.sqrt(q * (1 - q) / people / (p - q) ** 2 + spread)

    def error(self, people: SupportsIndex, confidence: NumberLike = "0.95") -> float:
        """The share below which an item is not seen at this `confidence`, from so many `people` and seeds enough."""
        count = integer(people, name="people", least=1)
        return self._threshold(max(1, count // self.groups), confidence)

    @classmethod
    def for_error(
        cls, *, people: SupportsIndex, half_width: NumberLike, confidence: NumberLike = "0.95", **same: Any
    ) -> HeavyHitters:
        """The survey with the least epsilon that sees items with a share of `half_width`, from so many `people`.

        At this `confidence`; what is the `same` for every epsilon goes to the class. A NumberError if no epsilon will do.
        """
        wanted = rational(half_width, name="half_width", positive=True)
        found = least_epsilon(lambda e: cls(epsilon=e, **same).error(people, confidence), wanted, half_width)
        return cls(epsilon=found, **same)

    def __repr__(self) -> str:
        return f"HeavyHitters({self.items!r}, epsilon='{self.epsilon}', keep={self.keep})"
