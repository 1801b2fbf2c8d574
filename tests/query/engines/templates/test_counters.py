"""Values as clamped steps: whatever double a cell holds, a whole number between the bounds, or NULL; and never an error."""

from __future__ import annotations

import math
import random
import re
import struct
from fractions import Fraction

import duckdb
import pyarrow
import pytest

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.counters import clamped, counted, is_coarse, is_whole
from dither.query.engines.templates.expressions import value
from dither.query.engines.words import Words
from dither.query.plan.counters import AboveCounter, Counter, StepCounter
from dither.query.plan.expressions import ColumnValue
from dither.query.policy.column import Column, Type

NAN, INF = math.nan, math.inf
BOUNDS = {
    "money": (0, 2000, "0.01"), "shares": (-1, 1, None), "quarters": (-10, 100, "0.25"), "thirds": ("0.3", "7.3", "0.5"),
    "wide steps": (500, 1500, 1000), "wide steps from zero": (-3000, 5000, 1000), "a step": (5, 6, 1),
    "large": (-(2**500), 2**500, None), "tiny": (0, Fraction(1, 10**250), None), "around zero": ("-1e-200", "1e-200", None),
    "subnormal": (0, Fraction(1, 10**310), None), "below all doubles": (0, Fraction(1, 10**400), None),
    "above all doubles": (-(10**400), 10**400, None), "far from zero": (10**18, 10**18 + 1, "0.5"),
    "far, many": (10**18, 10**18 + 2**40, 1), "farther": (2**400, 2**400 + 1, None),
    "finest": (0, 2**20, Fraction(1, 2**32)), "far, few": (10**18, 10**18 + 100, 1),
    "between two doubles": (2**400 + 2**347, 2**400 + 2**347 + 1, None),
}  # fmt: skip


def measures(name: str) -> list[Counter]:
    low, high, step = (None if one is None else Fraction(one) for one in BOUNDS[name])
    step = (high - low) / 2**20 if step is None else step
    of = ColumnValue(Column("x", Type.FLOAT, low, high, step))
    found = [AboveCounter(of, step), StepCounter(of, step)]
    return [measure for measure in found if 0 < measure.reach < 2**62 and measure.low > -(2**62)]


def doubles(measure: Counter, rng: random.Random) -> list[float]:
    """Any bits at all; and close to ends, to the middles between steps, and to zero."""
    found = [struct.unpack("d", rng.randbytes(8))[0] for _ in range(300)]
    found += [
        NAN,
        INF,
        -INF,
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2e-308,
        1.7e308,
        -1.7e308,
        1.7976931348623157e308,
        2.0**63,
        -(2.0**63),
    ]
    lower, origin = measure.of.facts.lower, measure.of.facts.lower if isinstance(measure, AboveCounter) else Fraction(0)
    places = [measure.low, measure.high, *(rng.randint(measure.low, measure.high) for _ in range(60))]
    for place in places:
        for shift in (Fraction(-1, 2), 0, Fraction(1, 2), Fraction(rng.random())):
            exact = origin + (place + shift) * measure.step
            if abs(exact) < 2**1000:
                near = float(exact)
                found += [near, math.nextafter(near, INF), math.nextafter(near, -INF)]
    return [*found, *(float(lower) * factor for factor in (1 - 2**-52, 1 + 2**-52) if abs(lower) < 2**1000)]


def steps(measure: Counter, e: float) -> tuple[int, int]:
    """In how many steps a value may be counted: in one number of them, but where rounding decides between two or more."""
    if math.isinf(e):
        return (measure.high,) * 2 if e > 0 else (measure.low,) * 2
    origin = measure.of.facts.lower if isinstance(measure, AboveCounter) else Fraction(0)
    exact = (Fraction(e) - origin) / measure.step + Fraction(1, 2)
    slack = Fraction(1, 2**49) * (1 + abs(Fraction(e) / measure.step) + abs(origin / measure.step))
    ends = (math.floor(exact - slack), math.floor(exact + slack))
    return tuple(max(measure.low, min(measure.high, end)) for end in ends)


@pytest.mark.parametrize("name", BOUNDS)
def test_the_clamp_holds_for_every_double(name):
    rng = random.Random(f"clamp {name}")
    with duckdb.connect(config={"threads": 1}) as engine:
        for measure in measures(name):
            assert not is_whole(measure)
            cells = doubles(measure, rng)
            engine.register("t", pyarrow.table({"x": pyarrow.array([*cells, None], pyarrow.float64())}))
            e = value(DUCKDB, measure)
            read = f"SELECT x, {e} AS e, {counted(DUCKDB, measure, e)} AS k FROM t"
            rows = engine.execute(f"SELECT x, {clamped(DUCKDB, measure, 'e', 'k')} FROM ({read}) AS read").fetchall()
            assert rows.pop() == (None, None)
            assert len(rows) == len(cells)
            for x, found in rows:
                if math.isnan(x):
                    assert found is None
                    continue
                assert type(found) is int
                assert measure.low <= found <= measure.high, x
                if not is_coarse(measure):
                    least, most = steps(measure, x)
                    assert least <= found <= most, (x, found, least, most)


NUMBER = r"CAST\('(\S+)' AS DOUBLE PRECISION\)"
PLAIN = rf"CASE WHEN e BETWEEN {NUMBER} AND {NUMBER} THEN CAST\(floor\(\(e - {NUMBER}\) ([*/]) {NUMBER}\) AS BIGINT\) END"


@pytest.mark.parametrize("name", BOUNDS)
def test_nothing_overflows_or_underflows_before_the_clamp(name):
    """As PostgreSQL computes: an infinity, zero of what is not zero, and whole numbers beyond 64 bits are errors there."""
    rng = random.Random(f"errors {name}")
    for measure in measures(name):
        told = re.fullmatch(PLAIN, counted(Words(), measure, "e"))
        if is_coarse(measure):
            assert told is None
            continue
        first, last, c, s = (float(told[part]) for part in (1, 2, 3, 5))
        assert all(map(math.isfinite, (first, last, c, s)))
        tried = [math.nextafter(first, INF), math.nextafter(last, -INF), c, math.nextafter(c, INF), math.nextafter(c, -INF)]
        for e in [*doubles(measure, rng), first, last, *tried]:
            if first <= e <= last:
                a = e - c
                quotient = a * s if told[4] == "*" else a / s
                assert math.isfinite(a)
                assert quotient != 0 or a == 0
                assert abs(quotient) < 2**63
