"""TPC-H's tables, made by tpchgen-cli and kept outside the repository; and the same with each row beside its owner.

    lines      a line of an order, with its order and its customer: customer, orders, lineitem
    orders     an order with its customer: orders, customer, nation
    supplies   a line with its supplier: supplier, nation, partsupp, lineitem

The joins are those of R2T's texts. Each of them finds exactly one partner, since keys of TPC-H refer to rows that are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

from benchmarks.peer import CACHE, REQUIREMENTS, environment

GENERATED = ("nation", "supplier", "customer", "partsupp", "orders", "lineitem")
FLAT = {
    "lines": "SELECT c_custkey, o_orderkey, o_orderdate, l_shipdate, l_quantity, l_extendedprice, "
    "l_returnflag, l_linestatus FROM customer, orders, lineitem WHERE o_custkey = c_custkey AND l_orderkey = o_orderkey",
    "orders": "SELECT c_custkey, o_orderkey, o_orderdate "
    "FROM orders, customer, nation WHERE c_custkey = o_custkey AND c_nationkey = n_nationkey",
    "supplies": "SELECT s_suppkey, l_orderkey, l_quantity FROM supplier, nation, partsupp, lineitem "
    "WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND s_suppkey = ps_suppkey",
}


def folder_of(scale: str) -> Path:
    """The folder of flat tables at a scale; all is made on first use."""
    (version,) = REQUIREMENTS["tpchgen"]
    folder = CACHE / f"tpch-{version.partition('==')[2]}-scale-{float(scale):g}"
    if not folder.exists():
        print(f"making TPC-H at scale {float(scale):g} in {folder} ...", file=sys.stderr)
        part = folder.with_name(f"{folder.name}.{os.getpid()}")  # somebody else may make the same
        command = [str(environment("tpchgen").parent / "tpchgen-cli"), "parquet", "--scale-factor", scale, "--quiet"]
        subprocess.run([*command, "--tables", ",".join(GENERATED), "--output-dir", part], check=True)
        flatten(part)
        try:
            part.rename(folder)
        except OSError:
            shutil.rmtree(part)
    return folder


def flat(folder: Path, table: str) -> Path:
    """The file of a flat table."""
    return folder / f"flat-{table}.parquet"


def flatten(folder: Path) -> None:
    """Join the tables of a folder, each row with its owner."""
    with duckdb.connect(config={"threads": 2}) as engine:
        for table in GENERATED:
            engine.execute(f"CREATE VIEW {table} AS FROM '{folder / table}.parquet'")
        for table, sql in FLAT.items():
            engine.execute(f"COPY ({sql}) TO '{flat(folder, table)}'")
