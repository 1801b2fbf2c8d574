"""What each number of an answer says holds on real data as often as claimed, under limits of every kind.

Three tables with several rows a person. Totals are read once for each question; noise is drawn a thousand times or more, so
that at least 5,000 intervals are seen of each column: one that holds in 95 of 100 cases holds in fewer than 93 with a
probability below 1e-9, and a low end that holds in 97.5 of 100 holds in fewer than 96 with one below 1e-10 (binomial). The
truth comes from the same rows by plain SQL.
"""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from math import ceil
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow
import pytest

import dither
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.people_beyond import PeopleBeyond
from dither.testing import seeded
from tests.query.clinics import all_counts, ledger
from tests.query.real_data import needs_data, plainly, read

pytestmark = [needs_data, pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")]

INTERVALS = 5000  # of each column, at least
RUNS = 1000  # of each question, at least
BEYOND = 3000  # draws of the number of people beyond stated limits: a bar of 95% holds in 93 of 100 but for 1e-6
LADDERS, MOST = 200, 31  # draws of limits that are found; how often a bar of 95% may fail, but for 1e-7
BUDGETS = {"pure": dither.pure(10**9), "approx": dither.approx(10**9, "1e-6")}


class Facts(NamedTuple):
    """A table of people with a key k and two values, u and v, and what an owner may say of it."""

    file: str
    columns: str
    bounds: dict[str, tuple[int, int]]
    keys: list[Any]
    complete: list[str]
    soft: dict[str, int]
    most: int  # rows of a person

    @property
    def table(self) -> pyarrow.Table:
        return table_of(self.file, self.columns)


table_of = cache(read)
FACTS = {
    "census": Facts(  # 1,000 people with one to four rows
        "PUMS_dup.csv",
        "pid AS person, race AS k, age AS u, income AS v",
        {"u": (0, 100), "v": (0, 500_000)},
        list(range(1, 7)),
        ["u", "v"],
        {"max_rows": 2},
        4,
    ),
    "restaurant": Facts(  # 1,360 guests who came on one to six days
        "restaurant_week_data.csv",
        'VisitorId AS person, Day AS k, "Time spent (minutes)" AS u, "Money spent (euros)" AS v',
        {"u": (0, 120), "v": (0, 120)},
        list(range(1, 8)),
        ["u", "v"],
        {"max_groups": 2, "max_rows_per_group": 1},
        7,
    ),
    "birds": Facts(  # operators of aircraft, one of which has 2,171 of 10,000 rows; speeds are often missing
        "birdstrikes.csv",
        '"Aircraft Airline Operator" AS person, "Time of day" AS k, "Speed IAS in knots" AS u, "Cost Total $" AS v',
        {"u": (0, 350), "v": (0, 10**7)},
        ["Dawn", "Day", "Dusk", "Night"],
        ["v"],
        {"max_rows": 50},
        2500,
    ),
}
ONE = "COUNT(*) AS n, SUM(v) AS sv, AVG(v) AS av, COUNT(DISTINCT person) AS p"
BOTH = f"COUNT(u) AS nu, SUM(u) AS su, AVG(u) AS au, {ONE}"
QUESTIONS = [f"SELECT {ONE} FROM rows", f"SELECT k, {BOTH} FROM rows GROUP BY k"]
RATIOS = {"au": ("su", "nu"), "av": ("sv", "n")}  # averages, and what they are ratios of


def quote_of(tmp_path, data: str, budget: str, limits: str, sql: str) -> dither.Quote:
    """A question under limits that nobody can exceed, under lower ones that are stated, or under those that are found."""
    facts = FACTS[data]
    hard = ["bounds.u", "bounds.v"]
    said: dict[str, Any] = {
        "hard": {"limits": "auto", "max_rows": facts.most, "hard": ["max_rows", *hard]},
        "soft": {**facts.soft, "hard": hard},
        "auto": {"limits": "auto", "hard": hard},
    }[limits]
    told = {"bounds": facts.bounds, "keys": {"k": facts.keys}, "complete": facts.complete, **said}
    book = ledger(tmp_path, BUDGETS[budget])
    protected = dither.protect(facts.table, name="rows", person="person", ledger=book, **told)
    return protected.quote(sql, epsilon=1, limits="hard" if limits == "hard" else None)


def truth_of(data: str, sql: str) -> dict[str, np.ndarray]:
    rows = plainly(FACTS[data].table, sql + (" ORDER BY k" if "GROUP" in sql else ""))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "k"}


class Column(NamedTuple):
    """Numbers of one column: one row a draw, one column a group."""

    says: str
    counted: np.ndarray  # what is given without noise
    values: np.ndarray
    lows: np.ndarray
    highs: np.ndarray

    def holds(self, true: np.ndarray) -> float:
        """How often the interval does."""
        return float(((self.lows <= true + 1e-9) & (true - 1e-9 <= self.highs)).mean())

    def is_below(self, true: np.ndarray) -> float:
        """How often the low end is."""
        return float((self.lows <= true + 1e-9).mean())

    @property
    def width(self) -> float:
        """Of the intervals, in the mean."""
        return float((self.highs - self.lows).mean())

    @property
    def noise(self) -> float:
        """The width of noise alone: twice what 95% of the values are within, about what is counted."""
        return 2 * float(np.quantile(np.abs(self.values - self.counted), 0.95))


def drawn(quote: dither.Quote, runs: int) -> dict[str, Column]:
    """Each column with noise of its own each time, of totals that are read once."""
    totals = {id(one): (one, list(found)) for one, found in all_counts(quote) if isinstance(one, CounterRelease)}
    noisy = {at: one.noisy(found * runs) for at, (one, found) in totals.items()}
    columns = {}
    for name, statistic, place in quote.offer.columns:
        counted = np.array(statistic.read(totals[id(statistic)][1], place)[0], float)
        ends = [np.array(one, float).reshape(runs, -1) for one in statistic.read(noisy[id(statistic)], place)]
        columns[name] = Column(statistic.statement(place).value, np.broadcast_to(counted, ends[0].shape), *ends)
    return columns


def sizes_of(data: str, sql: str, *, squared: bool) -> np.ndarray:
    """How much each person has: rows, or squares of rows in each group."""
    groups, size = "person, k" if "GROUP" in sql else "person", "n * n" if squared else "n"
    own = f"SELECT person, COUNT(*) AS n FROM rows GROUP BY {groups}"
    people = plainly(FACTS[data].table, f"SELECT SUM({size})::BIGINT AS size FROM ({own}) GROUP BY person")
    return np.array([person["size"] for person in people])


def noise_of(*case: str) -> AbstractContextManager[None]:
    """Noise of its own for each case, the same each time."""
    return seeded(crc32(" ".join(case).encode()))


def check(data: str, sql: str, columns: dict[str, Column]) -> None:
    """What each column says holds, and its bar is as wide as the noise; ratios of columns are the averages beside them."""
    truth = truth_of(data, sql)
    for name, column in columns.items():
        told = data, sql, name, column.says
        assert column.holds(column.counted) >= 0.93, told  # whatever is said, a bar holds what was counted
        if column.says == "truth":
            assert column.holds(truth[name]) >= 0.93, told
            assert (np.abs(column.counted - truth[name]) <= 1e-9 * truth[name]).all(), told
        elif column.says == "at least":
            assert column.is_below(truth[name]) >= 0.96, told
            assert (column.counted <= truth[name]).all(), told
        if name in RATIOS:  # its bar ends at the bounds, so that it may be narrower than the noise
            assert column.width <= 1.12 * column.noise, told
        else:  # counts are whole numbers: each end may be one further off
            assert abs(column.width - column.noise) <= 0.12 * column.noise + 2, told
    for average, (total, count) in RATIOS.items() if "au" in columns else [("av", RATIOS["av"])]:
        sums, rows, mean = (columns[name].counted for name in (total, count, average))
        far = np.abs(sums - mean * rows)  # without noise they are equal, but for the rounding of sums and counts to wholes
        assert (far <= 0.5 * mean + 0.5 + 1e-4 * sums).all(), (data, sql, average, far.max())
    for average, within in ratios_within(data, columns).items():
        alone = average == "au" or "au" not in columns  # else its count may have the noise of the other column's
        assert within >= (1 if alone else 0.93), (data, sql, average, within)


def ratios_within(data: str, columns: dict[str, Column]) -> dict[str, float]:
    """How often the ratio of a sum and a count, where that is above zero, lies within the bar of the average beside them."""
    found = {}
    for average, (total, count) in RATIOS.items():
        if average in columns:
            shown = columns[count].values > 0
            ratios = (columns[total].values[shown] / columns[count].values[shown]).clip(*FACTS[data].bounds[average[1:]])
            lows, highs = columns[average].lows[shown], columns[average].highs[shown]
            room = 1e-6 * highs.max()
            found[average] = float(((lows - room <= ratios) & (ratios <= highs + room)).mean())
    return found


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("limits", ["hard", "soft"])
@pytest.mark.parametrize("data", FACTS)
def test_stated_limits(tmp_path, data, limits, budget):
    for sql in QUESTIONS:
        quote = quote_of(tmp_path, data, budget, limits, sql)
        with noise_of(data, limits, budget, sql):
            columns = drawn(quote, max(RUNS, ceil(INTERVALS / len(truth_of(data, sql)["n"]))))
            if limits == "hard":
                assert {column.says for column in columns.values()} == {"truth"}
                assert not any(isinstance(one, PeopleBeyond) for one in quote.offer.statistics)
            else:
                assert {columns[name].says for name in columns if name[0] in "ns"} == {"at least"}
                (one, exact) = next(found for found in all_counts(quote) if isinstance(found[0], PeopleBeyond))
                real = (sizes_of(data, sql, squared=one.bounding.squared) > one.bounding.edges[0]).sum()
                bar = one.beyond(*exact)  # as wide whatever the noise
                assert bar.people == real
                far = np.array([sum(one.noisy(exact)) for _ in range(BEYOND)]) - real
                assert (np.abs(far) <= bar.high - bar.people).mean() >= 0.93
        check(data, sql, columns)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("data", FACTS)
def test_limits_that_are_found(tmp_path, data, budget):
    """Limits are drawn again each time, and what follows under each as often as makes enough intervals."""
    for sql in QUESTIONS:
        quote = quote_of(tmp_path, data, budget, "auto", sql)
        found = quote.offer.found
        (counts,) = all_counts(replace(quote, offer=replace(quote.offer, statistics=found.histograms, found=None)))
        ladder, exact = counts
        sizes = sizes_of(data, sql, squared=ladder.bounding.squared)
        limits: Counter[int] = Counter()
        missed = 0
        with noise_of(data, "auto", budget, sql):
            for _ in range(LADDERS):
                noisy = ladder.noisy(exact)
                limits[ladder.place(noisy)] += 1
                real = (sizes > ladder.bounding.edges[ladder.place(noisy)]).sum()
                bar = ladder.beyond(noisy)
                missed += not bar.low <= real <= bar.high
            runs = ceil(max(RUNS, INTERVALS / len(truth_of(data, sql)["n"])) / LADDERS)
            parts = [
                drawn(replace(quote, offer=found.at((ladder.limits[place],))), times * runs)
                for place, times in sorted(limits.items())
            ]
        assert missed <= MOST, missed
        for name in parts[0]:
            assert len({part[name].says for part in parts}) == 1
        check(data, sql, {name: joined([part[name] for part in parts]) for name in parts[0]})


def joined(parts: list[Column]) -> Column:
    """Draws under several limits, one after the other."""
    return Column(parts[0].says, *(np.concatenate([part[at] for part in parts]) for at in range(1, len(parts[0]))))
