"""Time of EXISTS and IN along chains, from question to answer and plain, on the same Parquet files, customers protected."""

from __future__ import annotations

import os
from pathlib import Path

import dither
from benchmarks.report import limit, table
from benchmarks.tpch.tables import views
from benchmarks.tpch.times import THREADS, in_turns
from benchmarks.tpch.verdicts import stated
from dither.query.policy.policy import VERSION, read_policy
from dither.query.sources.find_source import find_source

MOST = 4.0  # times the plain query
TABLES = ("customer", "orders", "lineitem")
LATE = "EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)"
DATES = "o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-10-01'"
ASKED = {
    "Q4: orders with a late line": f"FROM orders WHERE {DATES} AND {LATE}",
    "Q4 without its dates": f"FROM orders WHERE {LATE}",
    "orders without a late line": f"FROM orders WHERE NOT {LATE}",
    "Q22: customers without orders": "FROM customer WHERE NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)",
    "lines of finished orders": "FROM lineitem WHERE l_orderkey IN "
    "(SELECT o_orderkey FROM orders WHERE o_orderstatus = 'F')",
    "Q21: lines beside another supplier's": "FROM lineitem l WHERE l_returnflag = 'R' AND EXISTS "
    "(SELECT * FROM lineitem o WHERE o.l_orderkey = l.l_orderkey AND o.l_suppkey <> l.l_suppkey)",
}


def main(folder: Path, own: Path) -> None:
    """A row a question."""
    tables = {name: stated(name) for name in TABLES}
    policy = read_policy({"version": VERSION, "domain": "tpch", "tables": tables})
    ledger = dither.Ledger.create(own / "other-rows.ledger", budget=dither.approx(10_000, "1e-6"))
    ledger.bind(policy.domain, policy.hash)
    sources = {name: find_source(str(folder / f"{name}.parquet"), folder, name) for name in TABLES}
    data, lines, load = dither.Dataset(policy, ledger, sources), [], [os.getloadavg()[0]]
    for name, rows in ASKED.items():
        sql = f"SELECT COUNT(*) AS n {rows}"

        def theirs(_: int, sql: str = sql) -> object:
            with views(folder) as engine:
                return engine.execute(sql).fetchall()

        def ours(turn: int, sql: str = sql) -> object:
            return data.quote(sql, epsilon=f"1.{turn}").release(threads=THREADS)

        (_, plain), (_, mine) = in_turns([theirs, ours])
        lines.append([name, f"{plain:.3f}", f"{mine:.3f}", *limit(mine / plain, MOST)])
        load.append(os.getloadavg()[0])
    title = f"EXISTS and IN along chains; load of the machine {min(load):.1f} to {max(load):.1f}"
    table(title, ["question", "plain CPU s", "ours CPU s", "to plain", "at most"], lines)
