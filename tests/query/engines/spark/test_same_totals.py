"""The same whole numbers from Spark and from DuckDB: of random questions on hostile rows.

Which groups of a person are kept is chosen by a hash; both engines take the portable one here.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pyarrow
import pytest

from dither.errors import BrokenPromise
from dither.query.conformance.engine_checks import WAYS, engine_checks
from dither.query.engines.spark.run import SparkEngine
from dither.query.engines.spark.words import SPARK, SparkWords
from dither.query.engines.templates.clip import coefficient, with_roots
from dither.query.sources.spark_session import own_session
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own


@pytest.mark.parametrize("way", WAYS)
def test_random_questions(session, load, way):
    """Of each way of bounding, and for neighbours."""
    several = dict(engine_checks(SparkEngine([load("rows", pyarrow.table({"x": [1]}))]), load, questions=examples(30, 200)))
    several[f"totals: {way}"]()
    if examples(0, 1):
        several[f"neighbours: {way}"]()


def test_the_whole_suite(session, load):
    """Every value, every node, every way: with --all."""
    if not examples(0, 1):
        pytest.skip("the long form is not asked for")
    for _, check in engine_checks(SparkEngine([load("rows", pyarrow.table({"x": [1]}))]), load, questions=200):
        check()


def test_failures_tell_nothing(session, load):
    checks = dict(engine_checks(SparkEngine([load("rows", pyarrow.table({"x": [1]}))]), load))
    checks["failures"]()


# -- whole numbers ---------------------------------------------------------------------------------------------------------

ENDS = [0, 1, -1, 2**22 - 1, -(2**22), 2**44, -(2**44) - 1, 2**62, 2**63 - 1, -(2**63)]


def answered(session: Any, select: str) -> list[tuple[Any, ...]]:
    rows = own_session(session).sql(select).toArrow().to_pylist()
    return [tuple(int(value) if value is not None else None for value in row.values()) for row in rows]


def test_sums_of_the_largest_numbers(session):
    rng = random.Random(2)
    values = ENDS * 40 + [rng.randrange(-(2**63), 2**63) for _ in range(200)]
    rows = ", ".join(f"({SPARK.integer(value)})" for value in values)
    over = " OVER (ORDER BY x)"
    select = f"SELECT {SPARK.narrow_total('x')} AS s, {SPARK.total('x')} AS t FROM VALUES {rows} AS v(x)"
    assert answered(session, select) == [(sum(values), sum(values))]
    assert answered(session, f"SELECT {SPARK.narrow_total('x')} AS s FROM VALUES (1L) AS v(x) WHERE x > 1") == [(None,)]
    running = (
        f"SELECT max({'s'}) AS s FROM (SELECT {SPARK.narrow_total('x', over)} AS s FROM VALUES (5L), (7L) AS v(x)) AS q"
    )
    assert answered(session, running) == [(12,)]


def test_quotients_of_wide_numbers(session):
    rng = random.Random(4)
    pairs = [
        (a, b)
        for a in (0, 7, -7, 2**126, -(2**126), 10**38 - 1, 2**80)
        for b in (1, 2, 2**40, 2**63, 10**37)
        if abs(a) // b < 10**32
    ]
    pairs += [(rng.randrange(-(2**126), 2**126), rng.randrange(2**50, 2**70)) for _ in range(100)]
    rows = ", ".join(f"({SPARK.wide(str(a))}, {SPARK.wide(str(b))})" for a, b in pairs)
    found = answered(session, f"SELECT a, b, {SPARK.divide_wide('a', 'b')} AS q FROM VALUES {rows} AS v(a, b)")
    assert sorted(found) == sorted((a, b, int(math.copysign(1, a)) * (abs(a) // b)) for a, b in pairs)


def test_roots_of_the_largest_squares(session):
    """2^126, the largest sum that `clip` writes, and all near squares: the root is exact, and nothing overflows."""
    rng = random.Random(5)
    roots = [1, 2, 3, 2**26, 2**52 + 1, 2**63, 3037000500] + [rng.randrange(1, 2**63) for _ in range(60)]
    squares = sorted({x for r in roots for x in (r * r - 1, r * r, r * r + 1) if 0 < x <= 2**126})
    rows = ", ".join(f"({SPARK.wide(str(x))})" for x in squares)
    select = with_roots(SPARK, [], {"r": "x"}, f"SELECT x FROM VALUES {rows} AS v(x)")
    assert sorted(answered(session, select)) == [(x, math.isqrt(x - 1) + 1) for x in squares]
    for share, claim in ((Fraction(1, 3), 2**100), (Fraction(1), 1), (Fraction(999, 1000), 2**60 + 1)):
        away, factor, _ = coefficient(share, claim)
        assert ((claim * 2**40 >> away) + 1) * factor < 10**38  # what one weight of several families multiplies


class NarrowQuotients(SparkWords):
    """Quotients of wide numbers are cut to 64 bits."""

    divide_wide = SparkWords.divide


class NarrowSums(SparkWords):
    """Sums of 64 bits."""

    def narrow_total(self, sql, over="", most=None):
        return f"sum({sql}){over}"


def test_planted_bugs_are_found(session):
    wide = SPARK.wide(str(2**100))
    assert answered(session, f"SELECT {NarrowQuotients().divide_wide(wide, SPARK.wide('2'))} AS q") != [(2**99,)]
    rows = ", ".join(f"({SPARK.integer(2**63 - 1)})" for _ in range(2))
    try:
        found = answered(session, f"SELECT {NarrowSums().narrow_total('x')} AS s FROM VALUES {rows} AS v(x)")
    except Exception:
        found = []  # it overflowed: an error by a row
    assert found != [(2**64 - 2,)]


def test_a_wrong_engine_is_found(session, load):
    """The suite itself finds a wrong sum."""

    class Broken(SparkWords):
        def narrow_total(self, sql, over="", most=None):
            return super().narrow_total(f"({sql} + 1)", over)

    class Engine(SparkEngine):
        words = Broken()

    checks = dict(engine_checks(Engine([load("rows", pyarrow.table({"x": [1]}))]), load, questions=6))
    with pytest.raises(BrokenPromise):
        checks["question: SELECT SUM(cost) AS s FROM rows"]()
