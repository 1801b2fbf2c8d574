"""Random small tables and questions, and how far one person moves the totals of a question."""

from __future__ import annotations

import datetime
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import duckdb
import pyarrow

from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterPlan, choose_counters
from dither.query.counters.estimators import Estimator
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.totals import totals_sql
from dither.query.plan.question import Question
from dither.query.policy.policy import Policy, read_policy
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Bounding, Clip
from dither.query.statistics.choose_bounding import choose_bounding, with_shares
from dither.query.workload.level_shares import claim_of, sizes_of

NAN, INF = math.nan, math.inf
MOMENT = datetime.datetime
PEOPLE = (1, 2, 3, 4)
COLUMNS = {
    "person": pyarrow.int64(),
    "ward": pyarrow.string(),
    "sex": pyarrow.string(),
    "day": pyarrow.date32(),
    "cost": pyarrow.float64(),
    "age": pyarrow.int64(),
    "weight": pyarrow.float64(),
    "seen": pyarrow.timestamp("us"),
}
Row = tuple[object, ...]


def policy(max_groups: int, rows: int, *, person: bool = True, unit: Unit = Unit.ADD_REMOVE, **more: object) -> Policy:
    table = {
        "person": "person" if person else "each row",
        "columns": {
            "person": {"type": "integer"},
            "ward": {"type": "text", "keys": ["A", "B", "C", "it's"]},
            "sex": {"type": "text", "keys": ["f", "m"], "nullable": False},
            "day": {"type": "date", "bounds": [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]},
            "cost": {"type": "float", "bounds": [-10, 100], "step": "0.25"},
            "age": {"type": "integer", "bounds": [0, 120]},
            "weight": {"type": "decimal", "bounds": ["0.3", "7.3"], "step": "0.5", "nullable": False},
            "seen": {"type": "timestamp", "bounds": [datetime.date(2024, 1, 1), datetime.date(2024, 2, 29)]},
        },
    }
    if person:
        table |= {"max_groups": max_groups, "max_rows_per_group": rows, **more}
    return read_policy({"version": 1, "domain": "clinic", "unit": unit.value, "tables": {"visits": table}})


def random_row(rng: random.Random) -> Row:
    return (
        rng.choice([None, 1, 2, 2, 3, 3, 3, 4]),
        rng.choice(["A", "B", "C", "D", None, "it's", "A"]),
        rng.choice(["f", "m", "F", None]),
        rng.choice([None, datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
        rng.choice([None, NAN, INF, -INF, -0.0, 1e308, -1e308, 0.125, 99.9, -10.1, 5.0, 5.0]),
        rng.choice([None, 0, 29, 30, 31, 200, -(2**63), 2**63 - 1]),
        rng.choice([None, NAN, INF, -INF, 0.3, 7.1, 2.2, -0.0, 1e300]),
        rng.choice([None, MOMENT.min, MOMENT.max, MOMENT(2024, 2, 29, 23, 59, 59, 999999), MOMENT(2024, 1, 31, 12)]),
    )


PAIRS = (
    "CORR",
    "COVAR_POP",
    "COVAR_SAMP",
    "REGR_SLOPE",
    "REGR_INTERCEPT",
    "REGR_R2",
    "REGR_COUNT",
    "REGR_AVGX",
    "REGR_AVGY",
)


def random_sets(rng: random.Random, count: int) -> str:
    """A GROUP BY of several groupings of the first so many columns."""
    groups = [str(place + 1) for place in range(count)]
    first, last = groups[0], groups[-1]
    ways = [f"ROLLUP ({', '.join(groups)})", f"CUBE ({', '.join(groups)})", f"GROUPING SETS (({first}), ({last}))"]
    ways += [f"{first}, ROLLUP ({last})", f"GROUPING SETS (({', '.join(groups)}), ())", f"ROLLUP ({first}), CUBE ({last})"]
    return rng.choice(ways)


def random_question(rng: random.Random, *, persons: bool = False, sets: bool = False, partial: bool = False) -> str:
    """SQL of the grammar; where `persons` are counted, nothing else; with `sets`, of several groupings."""
    numbers = ["cost", "age", "weight", "cost * 2 - age", "age - 40", "CASE WHEN sex = 'f' THEN cost ELSE 3 END", "-cost"]
    numbers += ["ABS(cost)", "ROUND(cost / 3, 1)", "LEAST(GREATEST(cost, 0), 50)", "COALESCE(cost, age)", "FLOOR(cost)"]
    numbers += ["DATE_DIFF('day', day, seen)", "LEAST(GREATEST(DATE_DIFF('hour', day, seen), -99), 99)"]
    numbers += [
        "LEAST(GREATEST(EXTRACT(epoch FROM seen - TIMESTAMP '2024-01-31 11:59:30.5'), 0), 90)",
        "EXTRACT(doy FROM seen)",
    ]
    numbers += ["DATE_DIFF('day', seen - INTERVAL '1 month', seen + INTERVAL '9 days')", "day - CAST(seen AS DATE)"]
    numbers += ["cost / weight", "weight / NULLIF(age, 0)", "LEAST(GREATEST(cost / NULLIF(age - 30, 0), -2), 2)"]
    numbers += [
        "LN(weight)",
        "LOG10(age + 1)",
        "LEAST(GREATEST(LOG2(ABS(cost) + 1), -3), 3)",
        "SQRT(ABS(cost))",
        "EXP(weight / 2)",
    ]
    numbers += ["POWER(cost / 10, 2)", "POWER(age / 50, 3)", "POWER(weight, -1.5)", "POWER(age, 0.5)", "age % 7", "cost % 3"]
    numbers += ["LEAST(EXP(cost), 9)", "FLOOR(cost) % 5", "SIGN(cost)", "TRUNC(cost)", "age // 7"]
    numbers += ["(age > 30)::INT", "CAST(cost > 5 OR sex = 'f' AS BIGINT)", "(weight IS NULL)::INT * 2 - 1"]
    if partial:  # engines have infinities, NaN or errors where there is no value here
        numbers += [
            "weight / age",
            "LEAST(GREATEST(LN(cost), -3), 3)",
            "LEAST(GREATEST(1 / cost, 0), 3)",
            "LOG10(age)",
            "SQRT(cost)",
        ]
        numbers += ["LEAST(GREATEST(cost / (weight - 2.2), -1), 1)", "LEAST(GREATEST(POWER(cost, -1), 0), 3)"]
    aggregates = ["COUNT(*)", "COUNT(cost)", "COUNT(day)", "SUM(cost)", "SUM(age)"]
    aggregates += ["SUM(sex = 'f')", "SUM(CASE WHEN cost > 3 THEN 1 END)", "SUM(CASE WHEN age IN (29, 31) THEN -3 END)"]
    numbers.append("CASE WHEN cost <= (SELECT AVG(cost) FROM visits) THEN cost ELSE 7 END")
    aggregates += [f"{name}({rng.choice(numbers)})" for name in ("SUM", "AVG", "SUM", "AVG")]
    if partial:
        aggregates += [f"{name}({rng.choice(numbers)}, {rng.choice(numbers)})" for name in rng.sample(PAIRS, 3)]
    people = ["COUNT(DISTINCT person)", "COUNT(DISTINCT CASE WHEN age >= 30 THEN person END)"]
    people.append("COUNT(DISTINCT CASE WHEN cost > 0 THEN person WHEN day IS NULL THEN person END)")
    chosen = rng.sample(people, rng.randrange(1, 4)) if persons else rng.sample(aggregates, rng.randrange(1, 4))
    by = ["ward", "sex", "EXTRACT(quarter FROM day)", "CASE WHEN age < 30 THEN 'young' ELSE 'old' END"]
    by += [
        "LOWER(ward)",
        "age >= 30",
        "(age > 30 AND sex = 'f')::INT",
        "FLOOR(age / 40)",
        "age % 3",
        "age // 25",
        "SIGN(cost)",
        "TRUNC(SQRT(age) / 2)",
        "CAST(seen AS DATE)",
        "DATE_TRUNC('week', seen + INTERVAL '1 day')",
    ]
    groups = rng.sample(by, rng.randrange(1, 3) if sets else rng.randrange(0, 3))
    wheres = [
        "cost > 3", "ward IN ('A', 'it''s')", "age BETWEEN 10 AND 40", "NOT (sex = 'm' OR cost IS NULL)",
        "ward LIKE 'i%' OR weight <= 2.2", "day >= DATE '2000-01-01'", "age IS NOT NULL AND cost * age < 50",
        "DATE_TRUNC('month', day) >= DATE '2000-01-01'", "LENGTH(ward || UPPER(ward)) > 2",
        "CAST(seen AS DATE) >= DATE '2024-01-15'", "seen - day > INTERVAL '36 hours'", "seen + INTERVAL '1 month' > day",
        "cost / weight > 1 OR LN(weight) < 1", "age % 2 = 1 AND SQRT(weight) IS NOT NULL", "POWER(cost, 2) > EXP(weight)",
        "cost > 0.7 * (SELECT AVG(cost) FROM visits) + 0.0123",
        "NOT (age BETWEEN (SELECT AVG(age) FROM visits) / 3 AND 2 * (SELECT AVG(cost) FROM visits))",
        "EXTRACT(week FROM day) > 9", "seen < DATE '2024-02-01'", "day >= TIMESTAMP '2024-02-01 12:00:00'",
    ]  # fmt: skip
    where = f" WHERE {rng.choice(wheres)}" if rng.random() < 0.5 else ""
    grouped = f" GROUP BY {random_sets(rng, len(groups)) if sets else ', '.join(groups)}" if groups else ""
    named = [f"{aggregate} AS a{place}" for place, aggregate in enumerate(chosen)]
    return f"SELECT {', '.join([*groups, *named])} FROM visits{where}{grouped}"


def table_of(rows: list[Row], rng: random.Random) -> pyarrow.Table:
    """The rows in a random order, in random chunks: storage must not matter."""
    shuffled = rng.sample(rows, len(rows))
    chunks, start = [], 0
    while start < len(shuffled) or not chunks:
        size = rng.randrange(1, len(shuffled) + 2)
        part = shuffled[start : start + size]
        arrays = [
            pyarrow.array([row[place] if place < len(row) else None for row in part], kind)
            for place, kind in enumerate(COLUMNS.values())
        ]
        chunks.append(pyarrow.record_batch(arrays, names=list(COLUMNS)))
        start += size
    return pyarrow.Table.from_batches(chunks)


@cache
def engine_with(threads: int) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": threads})


def estimator(plan: CounterPlan, at: int) -> Estimator:
    """What an aggregate is read by."""
    reading = plan.readings[at]
    return plan.estimators[reading.statistic][reading.place]


@dataclass
class Case:
    """A question with everything that the quote would fix, and a salt."""

    question: Question
    strategy: CounterPlan
    bounding: Bounding
    salt: int = 7
    shares: tuple[Fraction, ...] = ()  # of the price, exactly: of each set of counters

    def sql(self) -> str:
        return totals_sql(DUCKDB, self.question, self.strategy.sets, self.bounding, "visits", self.salt)

    def totals(self, rows: list[Row], rng: random.Random, sql: str | None = None) -> dict[Row, tuple[int, ...]]:
        """What the engine adds up, for groups that are declared."""
        engine = engine_with(rng.choice([1, 2, 8]))
        engine.register("visits", table_of(rows, rng))
        found = engine.execute(sql or self.sql()).fetchall()
        width = len(self.question.groups)
        declared = [None if group.keys is None else set(group.keys) for group in self.question.groups]
        kept = [
            row for row in found if all(keys is None or key in keys for key, keys in zip(row[:width], declared, strict=True))
        ]
        totals = {row[:width]: tuple(int(total) for total in row[width:]) for row in kept}
        assert len(totals) == len(kept)  # no group of the engine's hides another
        return totals

    def moved(self, one: dict[Row, tuple[int, ...]], other: dict[Row, tuple[int, ...]]) -> list[tuple[int, int]]:
        """For each family: the change in L1 norm, and in L2 norm squared."""
        place, found = 0, []
        for family in self.strategy.sets:
            last = place + len(family.measures)
            none = (0,) * last
            changes = [
                a - b
                for key in {*one, *other}
                for a, b in zip(one.get(key, none)[place:last], other.get(key, none)[place:last], strict=True)
            ]
            found.append((sum(map(abs, changes)), sum(change**2 for change in changes)))
            place = last
        return found

    def breaks(self, one: dict[Row, tuple[int, ...]], other: dict[Row, tuple[int, ...]]) -> bool:
        """Whether two neighbours differ by more than is claimed: each set by itself, or all of them together where they have
        one weight, as one mechanism with a scale for each set."""
        together, count = Fraction(0), len(self.strategy.sets)
        shares = self.shares or (Fraction(1, count),) * count
        for family, share, (l1, l2_squared) in zip(self.strategy.sets, shares, self.moved(one, other), strict=True):
            squares = Fraction(l2_squared, self.bounding.l2_squared(family))
            if isinstance(self.bounding, Clip):
                together, worst = together + share * squares, squares
            else:
                sums = Fraction(l1, self.bounding.l1(family))
                together, worst = together + share * sums, max(sums, squares)
            if worst > 1 and not self.bounding.joint:
                return True
        return any(self._level_breaks(one, other)) or (self.bounding.joint and together > 1)

    def _level_breaks(self, one: dict[Row, tuple[int, ...]], other: dict[Row, tuple[int, ...]]) -> Iterator[bool]:
        """For each grouping set and family: whether its marginals differ by more than is claimed of them."""
        if isinstance(self.bounding, Clip) or self.bounding.joint:
            return  # nothing is claimed of them
        sizes, place = sizes_of(self.question), 0
        for family in self.strategy.sets:
            last = place + len(family.measures)
            none = (0,) * last
            for level in self.question.sets:
                changes: Counter[Row] = Counter()
                for key in {*one, *other}:
                    for at in range(place, last):
                        changes[(*(key[own] for own in level), at)] += one.get(key, none)[at] - other.get(key, none)[at]
                sums, squares = (sum(abs(change) ** power for change in changes.values()) for power in (1, 2))
                yield sums > claim_of(sizes, level, self.bounding, family, pure=True)
                yield squares > claim_of(sizes, level, self.bounding, family, pure=False)
            place = last


def random_limits(rng: random.Random) -> dict[str, object]:
    """Limits beside groups and rows, or none."""
    found: dict[str, object] = {}
    if rng.random() < 0.4:
        found["max_rows"] = rng.choice([1, 2, 4, 9])
    if rng.random() < 0.4:
        names = rng.sample(["cost", "age"], rng.randrange(1, 3))
        found["max_sum"] = {name: rng.choice(["0.3", 7, 60, 1000]) for name in names}
    return found


def random_case(
    rng: random.Random,
    way: str | None,
    unit: Unit = Unit.ADD_REMOVE,
    limits: dict[str, object] | None = None,
    *,
    sets: bool = False,
) -> Case:
    """A question under random limits; None for one row a person."""
    person, persons = way is not None, way == "persons"
    if limits is None:
        limits = random_limits(rng) if person else {}
    stated = policy(rng.choice([1, 2, 3]), rng.choice([1, 2, 5]), person=person, unit=unit, **limits)
    released = [None, Fraction(0), Fraction("23.4"), Fraction(5), Fraction(10) ** 400, -(Fraction(10) ** 400)]
    question = parse(
        random_question(rng, persons=persons, sets=sets, partial=not sets), stated, [rng.choice(released) for _ in range(3)]
    )
    pure = way != "clip"
    strategy = choose_counters(question, pure=pure)
    cells = math.prod(len(group.keys) for group in question.groups)
    wished = None if persons else way
    bounding = choose_bounding(question, strategy, wished, cells=cells, unit=unit, pure=pure)
    amounts = [Fraction(rng.randrange(1, 1000), 1000) for _ in strategy.sets]
    shares = tuple(amount / sum(amounts) for amount in amounts)
    return Case(question, strategy, with_shares(bounding, amounts), rng.getrandbits(64), shares)
