"""The queries as R2T states them, who is protected, and the limits of one person.

R2T (Dong et al. 2022) has its queries and its results beside its code; what it leaves out of TPC-H's own is said for each.
The limits are hard, that is, declared as what nobody can exceed. Those of an order and of a line are TPC-H's own: at most 7
lines an order, a quantity of at most 50, and at most 50 times the highest retail price, which is below 2,100. The others are
round numbers, fixed before this ran, though by people who knew such tables and R2T's errors: docs/comparison.md says more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dither
from benchmarks.tpch.flat_tables import flat
from dither.privacy.guarantee.guarantee import Guarantee

EPSILON = "0.8"


@dataclass(frozen=True)
class Owner:
    """Who is protected in which flat table, within which limits."""

    table: str
    person: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Query:
    """A query of R2T, in one flat table."""

    name: str
    told: str
    owner: Owner
    sql: str
    omits: str  # what of TPC-H's query R2T leaves out
    truth: int  # at scale 1, as R2T states it
    published: float  # R2T's mean error at epsilon = 0.8, trimmed


SUMS = {"l_quantity": 10_000, "l_extendedprice": 10_000_000}
LINES_OF_CUSTOMER = Owner(
    "lines",
    "c_custkey",
    {
        **{"max_rows": 300, "max_sum": SUMS, "bounds": {"l_quantity": (0, 50), "l_extendedprice": (0, 105_000)}},
        **{"steps": {"l_quantity": 1, "l_extendedprice": "0.01"}, "complete": list(SUMS)},
        "hard": ["max_rows", *(f"{limit}.{column}" for limit in ("max_sum", "bounds", "steps") for column in SUMS)],
        "keys": {"l_returnflag": ["A", "N", "R"], "l_linestatus": ["F", "O"]},
    },
)
LINES_OF_ORDER = Owner("lines", "o_orderkey", {"max_rows": 7, "hard": ["max_rows"]})
ORDERS_OF_CUSTOMER = Owner("orders", "c_custkey", {"max_rows": 100, "hard": ["max_rows"]})
LINES_OF_SUPPLIER = Owner("supplies", "s_suppkey", {"max_rows": 1_500, "hard": ["max_rows"]})

QUERIES = (
    Query(
        *("Q3", "count, customer", LINES_OF_CUSTOMER),
        "SELECT COUNT(*) AS n FROM lines WHERE o_orderdate < DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'",
        "the market segment, revenue by order, the ten best; its dates are wider (TPC-H: both 1995-03-15)",
        *(2_888_656, 7338.6182154278895),
    ),
    Query(
        *("Q10", "count, customer", ORDERS_OF_CUSTOMER),
        "SELECT COUNT(*) AS n FROM orders",
        "lineitem, the three months of orders, returned lines, revenue by customer, the twenty best",
        *(1_500_000, 2615.490131188417),
    ),
    Query(
        *("Q18", "sum of quantity, customer", LINES_OF_CUSTOMER),
        "SELECT SUM(l_quantity) AS n FROM lines",
        "the orders of more than 300 pieces, sums by order, the hundred best",
        *(153_078_795, 201957.5274197956),
    ),
    Query(
        *("Q12", "count, order", LINES_OF_ORDER),
        "SELECT COUNT(*) AS n FROM lines",
        "ship modes, the three conditions on dates, the year of receipt, priorities",
        *(6_001_215, 1372.9819668734756),
    ),
    Query(
        *("Q20", "count, supplier", LINES_OF_SUPPLIER),
        "SELECT COUNT(*) AS n FROM supplies",
        "part names, the nation, the year of shipping, the quantity that is available against half of what was shipped",
        *(6_001_215, 34725.64079950517),
    ),
)


def protected(owner: Owner, folder: Path, own: Path, budget: Guarantee) -> dither.Dataset:
    """A flat table under the limits of its owners, with a ledger of its own."""
    book = own / f"{len(list(own.glob('*.ledger')))}.ledger"
    return dither.protect(
        flat(folder, owner.table),
        name=owner.table,
        person=owner.person,
        ledger=dither.Ledger(book, budget=budget),
        **owner.facts,
    )
