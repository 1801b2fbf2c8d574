"""What becomes of TPC-H's 22 queries, as written and with a rewrite; `python -m benchmarks tpch verdicts`.

Customers are protected: customer, orders and lineitem are theirs through the keys of the schema. Nation, region, part,
supplier and partsupp are public. Bounds and keys are those of the specification, which are known without any data.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dither
from benchmarks.question_files import Found, find, print_verdicts, read_questions, record
from benchmarks.tpch import small_tables
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.policy.policy import VERSION, read_policy
from dither.query.sources.find_source import find_source

HERE = Path(__file__).parent
QUERIES, RECORD = HERE / "specification.sql", HERE / "verdicts.json"
WHOLE: Mapping[str, Any] = {"type": "integer", "nullable": False}
TEXT: Mapping[str, Any] = {"type": "text", "nullable": False}
DAY: Mapping[str, Any] = {"type": "date", "bounds": ["1992-01-01", "1998-12-31"], "nullable": False}


def money(low: int, high: int) -> dict[str, Any]:
    return {"type": "decimal", "bounds": [low, high], "step": "0.01", "nullable": False}


def keyed(*keys: str) -> dict[str, Any]:
    return {**TEXT, "keys": list(keys)}


def whole(low: int, high: int) -> dict[str, Any]:
    return {**WHOLE, "bounds": [low, high]}


COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "region": {"r_regionkey": WHOLE, "r_name": keyed(*small_tables.REGIONS)},
    "nation": {"n_nationkey": WHOLE, "n_name": keyed(*sorted(small_tables.NATIONS)), "n_regionkey": WHOLE},
    "part": {
        **{"p_partkey": WHOLE, "p_name": TEXT, "p_mfgr": TEXT, "p_brand": TEXT, "p_type": TEXT, "p_size": whole(1, 50)},
        **{"p_container": TEXT, "p_retailprice": money(0, 2100)},
    },
    "supplier": {
        **{"s_suppkey": WHOLE, "s_name": TEXT, "s_address": TEXT, "s_nationkey": WHOLE, "s_phone": TEXT},
        **{"s_acctbal": money(-1000, 10_000), "s_comment": TEXT},
    },
    "partsupp": {
        **{"ps_partkey": WHOLE, "ps_suppkey": WHOLE, "ps_availqty": whole(1, 9999), "ps_supplycost": money(1, 1000)},
    },
    "customer": {
        **{"c_custkey": WHOLE, "c_name": TEXT, "c_address": TEXT, "c_nationkey": WHOLE, "c_phone": TEXT},
        **{"c_acctbal": money(-1000, 10_000), "c_mktsegment": keyed(*small_tables.SEGMENTS), "c_comment": TEXT},
    },
    "orders": {
        **{
            "o_orderkey": WHOLE,
            "o_custkey": WHOLE,
            "o_orderstatus": keyed("F", "O", "P"),
            "o_totalprice": money(0, 735_000),
        },
        **{"o_orderdate": DAY, "o_orderpriority": keyed(*small_tables.PRIORITIES), "o_shippriority": WHOLE},
        **{"o_comment": TEXT},
    },
    "lineitem": {
        **{"l_orderkey": WHOLE, "l_partkey": WHOLE, "l_suppkey": WHOLE, "l_linenumber": whole(1, 7)},
        **{"l_quantity": {"type": "decimal", "bounds": [0, 50], "step": 1, "nullable": False}},
        **{"l_extendedprice": money(0, 105_000), "l_discount": {**money(0, 1), "bounds": [0, "0.1"]}},
        **{"l_tax": {**money(0, 1), "bounds": [0, "0.08"]}, "l_returnflag": keyed("A", "N", "R")},
        **{"l_linestatus": keyed("F", "O"), "l_shipdate": DAY, "l_commitdate": DAY, "l_receiptdate": DAY},
        **{"l_shipmode": keyed(*small_tables.MODES), "l_shipinstruct": keyed(*small_tables.INSTRUCTIONS)},
    },
}
LIMITS: Mapping[str, int] = {"customer": 1, "orders": 100, "lineitem": 300}  # rows of one customer
OWNERS: Mapping[str, Mapping[str, Any]] = {
    "customer": {"person": "c_custkey"},
    "orders": {"owner": {"through": "customer", "on": {"child": "o_custkey", "parent": "c_custkey"}}},
    "lineitem": {"owner": {"through": "orders", "on": {"child": "l_orderkey", "parent": "o_orderkey"}}},
}


def stated(name: str) -> dict[str, Any]:
    """What the policy says of a table."""
    columns = COLUMNS[name]
    if name not in OWNERS:
        return {"public": True, "columns": columns}
    hard = ["max_rows", *(f"bounds.{column}" for column, facts in columns.items() if "bounds" in facts)]
    hard += [f"steps.{column}" for column, facts in columns.items() if "step" in facts]
    hard += ["owner"] if "owner" in OWNERS[name] else []
    return {**OWNERS[name], "max_rows": LIMITS[name], "hard": hard, "columns": columns}


def protected(folder: Path, own: Path, budget: Guarantee) -> dither.Dataset:
    """All eight tables, with a ledger of their own."""
    tables = {name: stated(name) for name in COLUMNS}
    policy = read_policy({"version": VERSION, "domain": "tpch", "unit": budget.unit.value, "tables": tables})
    ledger = dither.Ledger.create(own / "verdicts.ledger", budget=budget)
    ledger.bind(policy.domain, policy.hash)
    sources = {name: find_source(str(folder / f"{name}.parquet"), folder, name) for name in tables}
    return dither.Dataset(policy, ledger, sources)


def verdicts() -> dict[str, Found]:
    """Of all queries, by their quotes."""
    with tempfile.TemporaryDirectory(prefix="dither-tpch-") as name:
        folder = Path(name)
        os.environ["DITHER_HOME"] = str(folder / "home")
        small_tables.make(folder)
        data = protected(folder, folder, dither.approx(100, "1e-6"))
        return {one.name: find(one, lambda sql: data.quote(sql, epsilon=1)) for one in read_questions(QUERIES)}


def main(*, again: bool = False) -> None:
    """Print the table; `again`: and write the record anew."""
    found = verdicts()
    if again:
        record(RECORD, found)
    print_verdicts("TPC-H's queries, customers protected", read_questions(QUERIES), found, RECORD)
