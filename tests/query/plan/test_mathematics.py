"""Functions of numbers: a value or NULL for every cell, bounds that hold, and what is exact."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest

from dither.errors import QuestionError
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import render
from dither.query.engines.words import Words
from dither.query.plan.describe import describe
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.lattice import step_of
from dither.query.plan.mathematics.division import Quotient, Remainder, Sign, WholeQuotient
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.policy.column import Column, Type
from dither.query.sql.parse import parse
from tests.query.neighbours import policy

X, Y = (ColumnValue(Column(name, Type.FLOAT, Fraction(-10), Fraction(100), Fraction(1, 4))) for name in "xy")
I = ColumnValue(Column("i", Type.INTEGER, Fraction(-7), Fraction(120), Fraction(1)))  # noqa: E741
NAN, INF = math.nan, math.inf
HOSTILE = [None, NAN, INF, -INF, 0.0, -0.0, 5e-324, -5e-324, 1e-308, 2.0**-500, 2.0**-501, -(2.0**500), 2.0**501, 1e308]
HOSTILE += [-1e308, 1.7976931348623157e308, 1.0, -1.0, 0.5, 2.0, 3.0, 10.0, 699.9, 700.0, 700.1, -700.1, 99.75, 1e-160, 1e16]
WHOLE = [None, 0, 1, -1, 7, -7, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
NODES = [
    Quotient(X, Y),
    Quotient(Y, X),
    Sign(X),
    Remainder(X, Fraction(3)),
    Remainder(X, Fraction("0.3")),
    *(Elementary(name, X) for name in ("ln", "log10", "log2", "sqrt", "exp")),
    *(Power(X, Fraction(c)) for c in ("2", "3", "-1", "-2", "0.5", "-0.5", "1.7", "100", "-100", "0.01", "7")),
]


def cells(node, x, y, i):
    table = pyarrow.table(
        {
            "x": pyarrow.array(x, pyarrow.float64()),
            "y": pyarrow.array(y, pyarrow.float64()),
            "i": pyarrow.array(i, pyarrow.int64()),
        }
    )
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("t", table)
        return [value for (value,) in engine.execute(f"SELECT {render(DUCKDB, node)} FROM t").fetchall()]


@pytest.mark.parametrize("node", NODES, ids=range(len(NODES)))
def test_every_cell_has_a_finite_value_or_none(node):
    """No error, no NaN and no infinity, whatever the cells are; and the value is that of mathematics."""
    pairs = [(x, y) for x in HOSTILE for y in HOSTILE]
    found = cells(node, [x for x, _ in pairs], [y for _, y in pairs], [None] * len(pairs))
    assert len(found) == len(pairs)
    for (x, y), value in zip(pairs, found, strict=True):
        assert value is None or math.isfinite(value)
        if (expected := meant(node, x, y)) is not None:
            assert value == pytest.approx(expected, rel=1e-13, abs=0 if node.exact else 1e-290), (node, x, y)


def meant(node, x, y):
    """What a function is, where nothing comes near the ends of doubles; None where that is for no one to say here."""
    ordinary = [one is not None and math.isfinite(one) and (one == 0 or 1e-3 < abs(one) < 1e3) for one in (x, y)]
    if not all(ordinary) or (isinstance(node, Quotient) and (x == 0 or y == 0)):
        return None
    match node:
        case Quotient():
            return x / y if node.of == X else y / x
        case Sign():
            return (x > 0) - (x < 0)
        case Elementary(name, _):
            if (name == "sqrt" and x < 0) or (name.startswith("l") and x <= 0) or (name == "exp" and abs(x) > 600):
                return None
            return getattr(math, {"ln": "log"}.get(name, name))(x)
        case Power(_, c):
            small = x != 0 and abs(float(c) * math.log(abs(x))) < 600
            return float(x) ** float(c) if small and (x > 0 or c.denominator == 1) else None
    return None


def test_what_has_no_value():
    """Decided before anything is computed: NULL, as a value that is missing."""
    for node, x in [
        (Quotient(Y, X), 0.0),
        (Quotient(Y, X), -0.0),
        (Quotient(Y, X), NAN),
        (Quotient(Y, X), INF),
        (Quotient(Y, X), 5e-324),
        (Quotient(X, Y), INF),
        (Elementary("ln", X), 0.0),
        (Elementary("ln", X), -1.0),
        (Elementary("log2", X), -0.0),
        (Elementary("sqrt", X), -1e-9),
        (Elementary("sqrt", X), NAN),
        (Elementary("exp", X), 700.1),
        (Elementary("exp", X), INF),
        (Power(X, Fraction(-1)), 0.0),
        (Power(X, Fraction(1, 2)), -1.0),
        (Power(X, Fraction(2)), 1e200),
        (Sign(X), NAN),
        (Remainder(X, Fraction(3)), INF),
        (Remainder(X, Fraction(3)), 1e300),
    ]:
        assert cells(node, [x], [1.0], [None]) == [None], (node, x)
    assert cells(Elementary("exp", X), [-INF, -701.0], [1.0] * 2, [None] * 2) == [0.0, 0.0]
    assert cells(Sign(X), [INF, -INF, -0.0], [1.0] * 3, [None] * 3) == [1, -1, 0]


def test_whole_numbers_are_exact():
    for node, of in [
        (Remainder(I, Fraction(2)), lambda i: int(math.fmod(i % 2 if i >= 0 else -(-i % 2), 2))),
        (Remainder(I, Fraction(2**52 + 1)), lambda i: i % (2**52 + 1) if i >= 0 else -(-i % (2**52 + 1))),
        (WholeQuotient(I, 3), lambda i: i // 3 if i >= 0 else -(-i // 3)),
        (Sign(I), lambda i: (i > 0) - (i < 0)),
    ]:
        expected = [None if i is None else of(i) for i in WHOLE]
        assert cells(node, [None] * len(WHOLE), [None] * len(WHOLE), WHOLE) == expected, node


def test_remainders_of_decimals_are_those_of_decimals():
    """0.3 % 0.1 is 0.1 less a little in doubles, and 0 in decimals."""
    cents = ColumnValue(Column("x", Type.DECIMAL, Fraction(0), Fraction(100), Fraction(1, 100)))
    for by in (Fraction("0.1"), Fraction("0.07"), Fraction(3)):
        values = [value / 100 for value in range(-500, 500)]
        found = cells(Remainder(cents, by), values, [None] * 1000, [None] * 1000)
        for value, one in zip(range(-500, 500), found, strict=True):
            exact = math.fmod(value, int(by * 100)) / 100
            assert one == pytest.approx(exact, abs=1e-12)


def test_a_value_does_not_depend_on_its_place():
    """Of one number the engine computes one value, wherever it stands: in vectors of any length, on any threads."""
    rng = random.Random(5)
    values = [rng.uniform(0.001, 90) for _ in range(97)]
    once = {}
    for node in [
        Elementary("ln", X),
        Elementary("exp", X),
        Elementary("log10", X),
        Power(X, Fraction("1.7")),
        Power(X, Fraction(-3)),
    ]:
        for size, threads in ((1, 1), (5, 1), (2049, 2), (70_001, 8)):
            drawn = [rng.choice(values) for _ in range(size)]
            with duckdb.connect(config={"threads": threads}) as engine:
                engine.register("t", pyarrow.table({"x": drawn}))
                rows = engine.execute(f"SELECT x, {render(DUCKDB, node)} FROM t").fetchnumpy()
            for x, value in zip(*(column.tolist() for column in rows.values()), strict=True):
                assert once.setdefault((node, x), value) == value


def test_bounds_hold_and_steps_are_decided():
    rng = np.random.default_rng(6)
    x, y = rng.uniform(-10, 100, 4000), rng.uniform(0.5, 3, 4000)
    near = ColumnValue(Column("y", Type.FLOAT, Fraction(1, 2), Fraction(3), Fraction(1, 4)))
    whole = rng.integers(-7, 121, 4000)
    nodes = [
        Quotient(X, near),
        Quotient(near, I),
        Elementary("ln", near),
        Elementary("ln", I),
        Elementary("sqrt", X),
        Sign(X),
    ]
    nodes += [
        Elementary("exp", near),
        Elementary("log2", I),
        *(Power(near, Fraction(c)) for c in ("2", "-1", "-0.5", "0.3", "3")),
    ]
    nodes += [
        Power(X, Fraction(2)),
        Power(X, Fraction(3)),
        Power(I, Fraction(-2)),
        Remainder(I, Fraction(5)),
        WholeQuotient(I, 4),
    ]
    for node in nodes:
        facts = node.facts
        assert facts.is_bounded, node
        found = [value for value in cells(node, x.tolist(), y.tolist(), whole.tolist()) if value is not None]
        assert len(found) > 1000
        slack = Fraction(1, 10**12) * max(1, abs(facts.lower), abs(facts.upper))
        assert facts.lower - slack <= min(map(Fraction, found))
        assert max(map(Fraction, found)) <= facts.upper + slack
        assert step_of(node) == (1 if facts.type is Type.INTEGER else (facts.upper - facts.lower) / 2**20)
    assert Elementary("sqrt", X).facts.upper == 10
    assert (Elementary("ln", I).facts.lower, Power(X, Fraction(2)).facts.lower) == (0, 0)
    for node in (Quotient(X, Y), Elementary("ln", X), Power(X, Fraction(-1))):
        assert not node.facts.is_bounded


def test_which_nodes_are_exact():
    assert all(node.exact for node in (Quotient(X, Y), Remainder(I, Fraction(2)), WholeQuotient(I, 2), Sign(X)))
    assert [Elementary(name, X).exact for name in ("sqrt", "ln", "exp")] == [True, False, False]
    assert [Power(X, Fraction(c)).exact for c in ("2", "3", "4", "0.5")] == [True, True, False, False]
    halves = [value / 8 for value in range(1, 800)]
    assert cells(Quotient(X, Y), halves, halves[::-1], [None] * 799) == [
        a / b for a, b in zip(halves, halves[::-1], strict=True)
    ]
    assert cells(Elementary("sqrt", X), halves, halves, [None] * 799) == list(map(math.sqrt, halves))


def test_other_engines_compare_first_too():
    for node in NODES:
        assert "CASE WHEN" in render(Words(), node) or isinstance(node, Remainder)
    assert "mod(" in render(Words(), Remainder(I, Fraction(2)))
    assert "/ CAST('0.69314" in render(Words(), Elementary("log2", X))


# -- questions -----------------------------------------------------------------------------------------------------------

REFUSED = [
    ("SUM(cost / age)", None),
    ("SUM(cost / cost)", "SUM(CASE WHEN cost / cost IS NOT NULL THEN LEAST(GREATEST(cost / cost, <low>), <high>) END)"),
    ("AVG(LN(cost))", "AVG(CASE WHEN LN(cost) IS NOT NULL THEN LEAST(GREATEST(LN(cost), <low>), <high>) END)"),
    ("SUM(age / 0)", "not zero"),
    ("SUM(age / (2 - 2))", "not zero"),
    ("SUM(age // 0)", "a constant divisor"),
    ("SUM(age // -2)", "a constant divisor"),
    ("SUM(cost // 2)", "FLOOR of what / gives"),
    ("SUM(age % 0)", "a constant divisor"),
    ("SUM((cost * 2) % 3)", "FLOOR or ROUND of it first"),
    ("SUM(age % weight)", "a constant divisor"),
    ("SUM(POWER(2, age))", "a constant exponent"),
    ("SUM(POWER(cost, 0))", "a constant exponent"),
    ("SUM(LOG(3, age))", "LN, divided by that of the base"),
    ("SUM(LN(-age))", None),
    ("SUM(TRUNC(cost, 1))", "TRUNC of it times a power of ten, divided by that"),
    ("CORR(cost, ward)", None),
    ("CORR(cost, 3)", None),
    ("CORR(cost, LN(cost))", "LEAST(GREATEST(LN(cost), <low>), <high>)"),
]


@pytest.mark.parametrize(("sql", "instead"), REFUSED)
def test_refusals_lead_on(sql, instead):
    question = f"SELECT {sql} AS a FROM visits"
    if sql == "SUM(cost / age)":
        assert (
            parse(question, policy(1, 1)).aggregates[0].of.facts.is_bounded
        )  # a whole number that is not zero is one at least
        return
    with pytest.raises(QuestionError) as caught:
        parse(question, policy(1, 1))
    if instead is not None:
        assert instead in caught.value.instead


def test_keys_of_whole_numbers():
    def keys(by):
        (group,) = parse(f"SELECT {by} AS k, COUNT(*) AS n FROM visits GROUP BY k", policy(1, 1)).groups
        return group.keys, dict(group.open_keys)

    assert keys("age % 3") == ((0, 1, 2), {0: "beyond"})
    assert keys("SIGN(cost)") == ((-1, 0, 1), {})
    assert keys("FLOOR(cost) % 2") == ((-1, 0, 1), {})
    assert keys("age // 50") == ((0, 1, 2), {0: "below", 2: "above"})
    assert keys("TRUNC(cost / 50)")[0] == (0, 1, 2)
    assert keys("person % 2")[0] == (-1, 0, 1)


def test_words():
    asked = "SUM(cost / weight) AS a, AVG(POWER(LN(weight), 2)) AS b, SUM(SIGN(cost) + age % 7 + age // 2) AS c"
    pairs = "CORR(cost, age) AS d, REGR_SLOPE(cost, age) AS e, COVAR_SAMP(cost, age) AS f"
    text = describe(parse(f"SELECT {asked}, {pairs} FROM visits", policy(1, 1)))
    for part in ("(cost / weight, where that is not zero)", "LN of weight to the power of 2", "the sign of cost"):
        assert part in text
    for part in ("what 7 leaves of age", "the correlation of age and cost", "the slope of the least-squares line on age"):
        assert part in text
    assert "covariance, as of a sample" in text
