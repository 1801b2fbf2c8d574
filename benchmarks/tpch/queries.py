"""The queries as R2T states them, who is protected, and the limits of one person.

R2T (Dong et al. 2022) has its queries and its results beside its code; what it leaves out of TPC-H's own is said for each.
Rows are read where they are: each belongs to somebody through the tables from which it has its key (`owner` in the policy),
as in R2T, whose texts join them. Each key of TPC-H refers to one row that is there, which is declared as hard too.
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
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.policy.policy import VERSION, read_policy
from dither.query.sources.find_source import find_source

EPSILON = "0.8"
WHOLE, DATE = {"type": "integer", "nullable": False}, {"type": "date", "nullable": False}
PRICE = {"type": "decimal", "bounds": [0, 105_000], "step": "0.01", "nullable": False}
COLUMNS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "customer": {"c_custkey": WHOLE},
    "supplier": {"s_suppkey": WHOLE},
    "partsupp": {"ps_partkey": WHOLE, "ps_suppkey": WHOLE},
    "orders": {"o_orderkey": WHOLE, "o_custkey": WHOLE, "o_orderdate": DATE},
    "lineitem": {
        **{"l_orderkey": WHOLE, "l_partkey": WHOLE, "l_suppkey": WHOLE, "l_shipdate": DATE, "l_extendedprice": PRICE},
        "l_quantity": {"type": "decimal", "bounds": [0, 50], "step": 1, "nullable": False},
        "l_returnflag": {"type": "text", "keys": ["A", "N", "R"], "nullable": False},
        "l_linestatus": {"type": "text", "keys": ["F", "O"], "nullable": False},
    },
}


@dataclass(frozen=True)
class Owner:
    """Who is protected, through which tables rows belong to somebody, and the limits of the table that is asked."""

    table: str
    person: str
    chain: Mapping[str, Mapping[str, Any]]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Query:
    """A query of R2T."""

    name: str
    told: str
    owner: Owner
    sql: str
    plain: str  # with all tables that R2T joins
    omits: str  # what of TPC-H's query R2T leaves out
    truth: int  # at scale 1, as R2T states it
    published: float  # R2T's mean error at epsilon = 0.8, trimmed


def _through(table: str, **on: str) -> dict[str, Any]:
    pairs = [{"child": child, "parent": parent} for child, parent in on.items()]
    return {"owner": {"through": table, "on": pairs}, "hard": ["owner"]}


CUSTOMERS = {"customer": {"person": "c_custkey"}, "orders": _through("customer", o_custkey="c_custkey")}
LINES = {"lineitem": _through("orders", l_orderkey="o_orderkey")}
SUPPLIERS = {
    **{"supplier": {"person": "s_suppkey"}, "partsupp": _through("supplier", ps_suppkey="s_suppkey")},
    "lineitem": _through("partsupp", l_partkey="ps_partkey", l_suppkey="ps_suppkey"),
}
SUMS = {"l_quantity": 10_000, "l_extendedprice": 10_000_000}
LINES_OF_CUSTOMER = Owner(
    *("lineitem", "c_custkey", {**CUSTOMERS, **LINES}),
    {
        **{"max_rows": 300, "max_sum": SUMS},
        "hard": ["max_rows", *(f"{limit}.{column}" for limit in ("max_sum", "bounds", "steps") for column in SUMS), "owner"],
    },
)
LINES_OF_ORDER = Owner(
    *("lineitem", "o_orderkey", {"orders": {"person": "o_orderkey"}, **LINES}),
    {"max_rows": 7, "hard": ["max_rows", "owner"]},
)
ORDERS_OF_CUSTOMER = Owner("orders", "c_custkey", CUSTOMERS, {"max_rows": 100, "hard": ["max_rows", "owner"]})
LINES_OF_SUPPLIER = Owner("lineitem", "s_suppkey", SUPPLIERS, {"max_rows": 1_500, "hard": ["max_rows", "owner"]})

DATES = "o_orderdate < DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'"
OF_CUSTOMERS = "FROM customer JOIN orders ON o_custkey = c_custkey JOIN lineitem ON l_orderkey = o_orderkey"
QUERIES = (
    Query(
        *("Q3", "count, customer", LINES_OF_CUSTOMER),
        f"SELECT COUNT(*) AS n FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE {DATES}",
        f"SELECT COUNT(*) AS n {OF_CUSTOMERS} WHERE {DATES}",
        "the market segment, revenue by order, the ten best; its dates are wider (TPC-H: both 1995-03-15)",
        *(2_888_656, 7338.6182154278895),
    ),
    Query(
        *("Q10", "count, customer", ORDERS_OF_CUSTOMER),
        "SELECT COUNT(*) AS n FROM orders",
        "SELECT COUNT(*) AS n FROM orders JOIN customer ON c_custkey = o_custkey JOIN nation ON c_nationkey = n_nationkey",
        "lineitem, the three months of orders, returned lines, revenue by customer, the twenty best",
        *(1_500_000, 2615.490131188417),
    ),
    Query(
        *("Q18", "sum of quantity, customer", LINES_OF_CUSTOMER),
        "SELECT SUM(l_quantity) AS n FROM lineitem",
        f"SELECT SUM(l_quantity) AS n {OF_CUSTOMERS}",
        "the orders of more than 300 pieces, sums by order, the hundred best",
        *(153_078_795, 201957.5274197956),
    ),
    Query(
        *("Q12", "count, order", LINES_OF_ORDER),
        "SELECT COUNT(*) AS n FROM lineitem",
        "SELECT COUNT(*) AS n FROM orders JOIN lineitem ON l_orderkey = o_orderkey",
        "ship modes, the three conditions on dates, the year of receipt, priorities",
        *(6_001_215, 1372.9819668734756),
    ),
    Query(
        *("Q20", "count, supplier", LINES_OF_SUPPLIER),
        "SELECT COUNT(*) AS n FROM lineitem",
        "SELECT COUNT(*) AS n FROM supplier JOIN nation ON s_nationkey = n_nationkey "
        "JOIN partsupp ON s_suppkey = ps_suppkey JOIN lineitem ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey",
        "part names, the nation, the year of shipping, the quantity that is available against half of what was shipped",
        *(6_001_215, 34725.64079950517),
    ),
)


def protected(owner: Owner, folder: Path, own: Path, budget: Guarantee) -> dither.Dataset:
    """The tables of a chain under the limits of its owners, with a ledger of its own."""
    stated = {
        table: {"columns": COLUMNS[table], **facts, **(owner.facts if table == owner.table else {"max_rows": 1})}
        for table, facts in owner.chain.items()
    }  # of those above, nothing is asked: their limits are not used
    policy = read_policy({"version": VERSION, "domain": "tpch", "unit": budget.unit.value, "tables": stated})
    ledger = dither.Ledger.create(own / f"{len(list(own.glob('*.ledger')))}.ledger", budget=budget)
    ledger.bind(policy.domain, policy.hash)
    sources = {table: find_source(str(folder / f"{table}.parquet"), folder, table) for table in stated}
    return dither.Dataset(policy, ledger, sources)
