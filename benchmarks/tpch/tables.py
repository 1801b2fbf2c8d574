"""TPC-H's tables, made by tpchgen-cli and kept outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

from benchmarks.peer import CACHE, REQUIREMENTS, environment

GENERATED = ("nation", "supplier", "customer", "partsupp", "orders", "lineitem")


def folder_of(scale: str) -> Path:
    """The folder of the tables at a scale; they are made on first use."""
    (version,) = REQUIREMENTS["tpchgen"]
    folder = CACHE / f"tpch-{version.partition('==')[2]}-scale-{float(scale):g}"
    if not folder.exists():
        print(f"making TPC-H at scale {float(scale):g} in {folder} ...", file=sys.stderr)
        part = folder.with_name(f"{folder.name}.{os.getpid()}")  # somebody else may make the same
        command = [str(environment("tpchgen").parent / "tpchgen-cli"), "parquet", "--scale-factor", scale, "--quiet"]
        subprocess.run([*command, "--tables", ",".join(GENERATED), "--output-dir", part], check=True)
        try:
            part.rename(folder)
        except OSError:
            shutil.rmtree(part)
    return folder


def views(folder: Path) -> duckdb.DuckDBPyConnection:
    """A plain engine with all tables of a folder."""
    engine = duckdb.connect(config={"threads": 2})
    for table in GENERATED:
        engine.execute(f"CREATE VIEW {table} AS FROM '{folder / table}.parquet'")
    return engine
