"""Logarithms, exponentials, powers and roots on a real PostgreSQL: no cell fails, rows are within one step, and private."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction
from itertools import product

import duckdb
import psycopg
import pyarrow
import pytest

from dither.privacy.unit import Unit
from dither.query.conformance.counted_totals import near, same
from dither.query.conformance.hostile_rows import hostile_policy
from dither.query.counters.counter_sets import choose_counters
from dither.query.engines.duckdb.words import DUCKDB, DuckDBWords
from dither.query.engines.postgres import accuracy, magnitudes
from dither.query.engines.postgres.magnitudes import check_numbers
from dither.query.engines.postgres.support import check_support
from dither.query.engines.postgres.words import POSTGRES
from dither.query.engines.templates import mathematics
from dither.query.engines.templates.counters import clamped, counted
from dither.query.engines.templates.expressions import render, value
from dither.query.engines.templates.totals import totals_sql
from dither.query.plan.counters import AboveCounter
from dither.query.plan.expressions import Arithmetic, Case, ColumnValue, Compare, Constant
from dither.query.plan.functions import Abs, Coalesce, GreatestLeast
from dither.query.plan.mathematics.division import Quotient
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.policy.column import Column, Type
from dither.query.sql.parse import parse
from dither.query.statistics.choose_bounding import choose_bounding
from tests.query.engines.postgres.tables import load
from tests.query.plan.test_mathematics import HOSTILE

X, Y = (ColumnValue(Column(name, Type.FLOAT, Fraction(1, 2), Fraction(100), Fraction(1, 4))) for name in "xy")
LIBRARY = [Elementary(name, X) for name in ("ln", "log10", "log2", "exp")]
LIBRARY += [Power(X, Fraction(c)) for c in ("-1", "-2", "0.5", "-0.5", "1.7", "100", "-100", "0.01", "7")]
EXACT = [Elementary("sqrt", X), Power(X, Fraction(2)), Power(X, Fraction(3)), Quotient(X, Y)]


def number(text: str) -> Constant:
    return Constant(Fraction(text))


def put(engine, link, cells):
    """A table of pairs of doubles on both engines, in one order."""
    table = pyarrow.table(
        {
            "id": pyarrow.array(range(len(cells)), pyarrow.int64()),
            **{name: pyarrow.array([pair[at] for pair in cells], pyarrow.float64()) for at, name in enumerate("xy")},
        }
    )
    engine.register("doubles", table)
    if link is not None:
        load(link, "doubles", table)


def values(engine, sql):
    return [row[0] for row in engine.execute(f"SELECT {sql} FROM doubles ORDER BY id").fetchall()]


# -- values --------------------------------------------------------------------------------------------------------------


def borders():
    """Doubles beside all at which templates compare, hostile ones, and any bit patterns."""
    ends = [700.0, -700.0, 1.0, 5e-324, 1.7976931348623157e308]
    ends += [10.0**far for c in (1, 2, 3, 0.5, 1.7, 7, 100) for far in (min(300, 300 / c), -min(300, 300 / c))]
    near_ends = [math.nextafter(end, to) for end in ends for to in (math.inf, -math.inf)]
    rng = random.Random(1)
    patterns = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(600)]
    ordinary = [rng.lognormvariate(0, 3) for _ in range(600)]
    return [(x, y) for x, y in zip([*HOSTILE, *ends, *near_ends, *patterns, *ordinary], [2.5, *patterns] * 4, strict=False)]


@pytest.fixture(scope="module")
def doubles(link):
    with duckdb.connect(config={"threads": 1}) as engine:
        put(engine, link, borders())
        yield engine


def compared(doubles, link, node, agree):
    ours, theirs = values(doubles, render(DUCKDB, node)), values(link, render(POSTGRES, node))
    return [(a, b) for a, b in zip(ours, theirs, strict=True) if not agree(a, b)]


def test_no_double_fails_and_libraries_agree_but_for_last_digits(doubles, link):
    for node in LIBRARY:
        assert compared(doubles, link, node, near) == [], node


def test_roots_products_and_quotients_are_the_same_to_the_last_bit(doubles, link):
    for node in [*EXACT, Elementary("sqrt", Arithmetic("+", EXACT[1], Power(Y, Fraction(2))))]:
        assert node.exact
        assert compared(doubles, link, node, same) == [], node


@pytest.mark.parametrize(
    ("guard", "planted", "node"),
    [
        ("SMALLEST", 0.0, Elementary("ln", X)),
        ("LARGEST_EXPONENT", 1000, Elementary("exp", X)),
        ("FARTHEST", 400, Power(X, Fraction(7))),
    ],
)
def test_without_its_guard_a_double_fails(doubles, link, monkeypatch, guard, planted, node):
    monkeypatch.setattr(mathematics, guard, planted)
    with pytest.raises(psycopg.Error):
        compared(doubles, link, node, near)


# -- steps ---------------------------------------------------------------------------------------------------------------

MILLION = ColumnValue(Column("x", Type.FLOAT, Fraction(10**6), Fraction(1001000), Fraction(1, 4)))
LN, EXP = Elementary("ln", X), Elementary("exp", Arithmetic("/", X, number("10")))
SUMS = [
    *(LN, Elementary("log10", X), Elementary("log2", X), EXP, Power(X, Fraction("1.5")), Power(X, Fraction(-1))),
    *(Arithmetic("*", number("10"), LN), Arithmetic("-", number("0"), LN), Arithmetic("/", LN, number("-3"))),
    *(Arithmetic("+", LN, number("1")), Arithmetic("*", X, LN), Arithmetic("-", LN, Elementary("ln", Y))),
    *(Abs(Arithmetic("-", LN, number("2"))), Coalesce((LN, Y)), Arithmetic("*", LN, Elementary("log2", Y))),
    GreatestLeast(False, (GreatestLeast(True, (LN, number("1"))), number("3"))),
    Case(((Compare(">", Y, number("7")), LN),), EXP),
    Arithmetic("-", Elementary("ln", MILLION), number("13.8155")),  # most of it is taken away, and what differs is not
]
COARSE = Fraction(1, 2**30)  # instead of 2^-48, so that rows do fall otherwise


class Above(DuckDBWords):
    """A library that is off, by less than is granted."""

    by = 1 + 2.0**-31

    def elementary(self, name, sql):
        return f"({super().elementary(name, sql)} * {self.number(self.by)})"

    def power(self, sql, exponent):
        return f"({super().power(sql, exponent)} * {self.number(self.by)})"


class Below(Above):
    """Another one."""

    by = 1 - 2.0**-32


def steps(engine, words, node, step):
    measure = AboveCounter(node, step)
    e = value(words, measure)
    return values(engine, clamped(words, measure, f"({e})", f"({counted(words, measure, e)})"))


@pytest.mark.parametrize("node", SUMS, ids=range(len(SUMS)))
def test_rows_are_within_one_step(node, monkeypatch):
    """With the finest steps that are answered no row is two steps off; with much finer ones some are."""
    monkeypatch.setattr(accuracy, "ROUNDED", COARSE)
    rng = random.Random(4)
    cells = [(rng.lognormvariate(2, 3), rng.lognormvariate(1, 2)) for _ in range(4000)]
    cells += [(rng.uniform(10**6, 1001000), 1.0) for _ in range(1000)] + list(product(HOSTILE, HOSTILE))
    found, facts = accuracy.difference(node), node.facts
    assert found is not None
    span = facts.upper - facts.lower
    finest = max(n for n in range(1, 40) if accuracy.is_within_a_step(node, span / 2**n, found))
    with duckdb.connect(config={"threads": 1}) as engine:
        put(engine, None, cells)
        for n, most in ((finest, 1), (finest - 2, 1), (finest + 14, math.inf)):
            ours, theirs = (steps(engine, words, node, span / 2**n) for words in (Above(), Below()))
            assert [a is None for a in ours] == [b is None for b in theirs]
            off = [abs(a - b) for a, b in zip(ours, theirs, strict=True) if a is not None]
            assert max(off) <= most
        assert max(off) > 1  # of the last: as the rule says, they are not within a step


def test_what_is_not_within_a_step_has_no_difference():
    for node in (
        Elementary("exp", LN),
        Quotient(LN, Y),
        Arithmetic("*", Arithmetic("-", LN, number("1")), Y),  # an infinite cell would tell its sign
        Case(((Compare(">", LN, number("1")), X),), Y),
    ):
        assert accuracy.difference(node) is None
    tight = GreatestLeast(False, (GreatestLeast(True, (LN, number("1"))), number("1.0000000000001")))
    found = accuracy.difference(tight)
    assert found is not None
    assert not accuracy.is_within_a_step(tight, Fraction(1, 10**13 * 2**20), found)


# -- neighbours ----------------------------------------------------------------------------------------------------------

ASKED = ["SUM(LN(weight))", "AVG(EXP(weight))", "SUM(POWER(weight, -1.5))", "VAR_POP(LOG10(weight))"]
ASKED += ["CORR(LN(weight), SQRT(cost))"]
DOMAIN = [None, math.nan, math.inf, -math.inf, 5e-324, 1.7e308, 2.5, 7.0, 1.0, 0.3]


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("asked", ASKED)
def test_one_row_moves_totals_by_no_more_than_is_claimed(link, asked, unit):
    """Every pair of neighbours among tables of up to two rows, as PostgreSQL counts them."""
    cells = {"cost": [*DOMAIN[1:], DOMAIN[0]], "weight": DOMAIN}
    doubles = {name: pyarrow.array(column, pyarrow.float64()) for name, column in cells.items()}
    load(link, "pairs", pyarrow.table({"row": pyarrow.array(range(len(DOMAIN)), pyarrow.int64()), **doubles}))
    question = parse(f"SELECT {asked} AS a FROM rows", hostile_policy(person=False))
    check_support(question)
    plan = choose_counters(question, pure=True)
    bounding = choose_bounding(question, plan, None, cells=1, unit=unit, pure=True)

    def totals(*rows):
        """Of a table of these rows; the same one may be there twice."""
        here = " UNION ALL ".join(f"SELECT * FROM pairs WHERE row = {row}" for row in (*rows, -1))
        (found,) = link.execute(totals_sql(POSTGRES, question, plan.sets, bounding, f"({here})", 0)).fetchall()
        return [int(one) for one in found]

    place, every = 0, range(len(DOMAIN))
    tables = {(): totals(), **{(a,): totals(a) for a in every}}
    tables |= {(a, b): totals(a, b) for a in every for b in range(a + 1)}
    pairs = [(table, table[:at] + table[at + 1 :]) for table in tables for at in range(len(table))]
    if unit is Unit.REPLACE_ONE:
        pairs = [((a, b), tuple(sorted((a, c), reverse=True))) for a in every for b in range(a + 1) for c in every]
    for family in plan.sets:
        last = place + len(family.measures)
        for one, other in pairs:
            moved = [a - b for a, b in zip(tables[one][place:last], tables[other][place:last], strict=True)]
            assert sum(map(abs, moved)) <= bounding.l1(family)
            assert sum(change**2 for change in moved) <= bounding.l2_squared(family)
        place = last
    assert len({tuple(found) for found in tables.values()}) > 3


# -- sizes ---------------------------------------------------------------------------------------------------------------

FAR = [2.0**100, -(2.0**100), 2.0**-100, 1e30, 1e-30, -1e-30, 1.7e308, 5e-324, math.inf, math.nan, 0.0, 3.0, None]


def random_number(rng, depth):
    """An expression of quotients, powers, roots and logarithms, of which products and sums are made."""
    if depth == 0:
        return rng.choice([X, Y, number("3"), number("1e-9")])
    of, other = random_number(rng, depth - 1), random_number(rng, rng.randrange(depth))
    return rng.choice(
        [
            Quotient(of, rng.choice([X, Y])),
            Arithmetic(rng.choice("*+-"), of, other),
            Arithmetic("*", of, of),
            Elementary(rng.choice(["sqrt", "ln"]), of),
            Power(of, rng.choice([Fraction(2), Fraction(3), Fraction(-1), Fraction(1, 2)])),
        ]
    )


def is_computed(node):
    try:
        check_numbers(node)
    except magnitudes.QuestionError:
        return False
    return True


def test_whatever_is_not_refused_stays_within_doubles(link, every):
    rng, seen = random.Random(3), 0
    with duckdb.connect(config={"threads": 1}) as engine:
        put(engine, link, list(product(FAR, FAR)))
        for _ in range(3000 if every else 150):
            node = random_number(rng, 4)
            if len(render(POSTGRES, node)) < 60_000 and is_computed(node):
                theirs = values(link, render(POSTGRES, node))  # no row fails
                if accuracy.is_exact(node):
                    assert all(same(a, b) for a, b in zip(values(engine, render(DUCKDB, node)), theirs, strict=True)), node
                seen += 1
    assert seen > 40


def test_a_product_of_quotients_overflows_unless_it_is_refused(link):
    many = Quotient(X, Y)
    for _ in range(5):
        many = Arithmetic("*", many, Quotient(X, Y))
    assert not is_computed(many)
    assert is_computed(Arithmetic("*", Quotient(X, Y), Quotient(X, Y)))
    with duckdb.connect(config={"threads": 1}) as engine:
        put(engine, link, list(product(FAR, FAR)))
    with pytest.raises(psycopg.Error):
        values(link, render(POSTGRES, many))
