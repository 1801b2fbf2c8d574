"""Policies of all kinds, those of other tests and of the pages among them, and some that nobody would write."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from dither import demo
from dither.privacy.unit import Unit
from dither.query.conformance.node_examples import tables_policy
from dither.query.policy.policy import Policy, read_policy
from tests.golden import clinic
from tests.query import chain_shop
from tests.query.owner.wizard import hospital
from tests.query.test_chain_answers import POLICY as SHOP

ROOT = Path(__file__).parent.parent.parent.parent


def shop() -> str:
    files = {name: f"nowhere/{name}.parquet" for name in ("customer", "orders", "lineitem")}
    return SHOP.format(files=files, key="integer")


def stated(tables: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "domain": "odd", "tables": tables, **more}


def table(columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"person": "who", "max_rows": 3, "columns": {"who": {"type": "integer"}, **columns}, **more}


MARKUP = ["<script>", "[red]a[/]", "a,b;c\td", "\x1b[2J", "'", '"', "", "NA"]
KINDS = ("integer", "decimal", "float", "text", "boolean", "date", "timestamp")
ODD: dict[str, dict[str, Any]] = {
    "the person alone": stated({"t": table({})}),
    "each row": stated({"t": {"person": "each row", "columns": {"a": {"type": "integer"}}}}),
    "no bounds": stated({"t": table({kind: {"type": kind} for kind in KINDS})}),
    "never missing": stated({"t": table({kind: {"type": kind, "nullable": False} for kind in KINDS})}),
    "64 bits": stated(
        {
            "t": table(
                {
                    "a": {"type": "integer", "bounds": [2**63 - 5, 2**63 + 5]},
                    "b": {"type": "integer", "bounds": [-(2**63) - 7, -(2**63)]},
                    "c": {"type": "integer", "bounds": [2**64, 2**64 + 1]},
                    "d": {"type": "integer", "bounds": [-(2**63), 2**63], "step": 2**20},
                    "e": {"type": "integer", "keys": [-(2**63), 2**63 - 1]},
                    "f": {"type": "decimal", "bounds": [0, 2**63], "step": 2**30},
                    "g": {"type": "float", "bounds": ["-1e300", "1e300"]},
                    "h": {"type": "float", "bounds": ["1e400", "2e400"]},
                    "i": {"type": "decimal", "bounds": [0, "1/3"], "step": "1/9"},
                    "j": {"type": "decimal", "bounds": ["1e-30", "2e-30"]},
                    "k": {"type": "integer", "bounds": [0, 100], "step": "1/2"},
                }
            )
        }
    ),
    "markup": stated(
        {
            'a "b" [c]*/../é': table(
                {
                    "<b>x</b>": {"type": "text", "keys": MARKUP},
                    "select": {"type": "integer", "bounds": [0, 9]},
                    "ünï code": {"type": "boolean", "keys": [True]},
                }
            ),
            "table_1": {"public": True, "columns": {"group": {"type": "text"}}},
            "ORDER": table({"select": {"type": "integer", "bounds": [0, 9]}}),
        }
    ),
    "the ends of time": stated(
        {
            "t": table(
                {
                    "a": {"type": "date", "bounds": ["0001-01-01", "9999-12-31"]},
                    "b": {"type": "timestamp", "bounds": ["0001-01-01", "9999-12-31"]},
                    "c": {"type": "date", "bounds": ["2024-02-29", "2024-02-29"]},
                    "d": {"type": "timestamp", "bounds": ["2024-01-01T00:00:00", "2024-01-01T00:00:00"]},
                }
            )
        }
    ),
    "found privately": stated(
        {
            "t": table(
                {
                    "a": {"type": "integer", "bounds": "auto"},
                    "b": {"type": "decimal", "bounds": [10, "auto"], "step": "0.01"},
                    "c": {"type": "float", "bounds": ["auto", 100], "step": "0.5"},
                },
                limits="auto",
            )
        }
    ),
    "few people": stated(
        {
            "t": {
                "person": "who",
                "max_rows": 2,
                "hard": ["max_rows"],
                "columns": {"who": {"type": "text", "keys": ["ana", "bo"], "nullable": False}},
            }
        }
    ),
    "people by day": stated({"t": table({"a": {"type": "text"}}) | {"columns": {"who": {"type": "date"}}}}),
    "people by moment": stated({"t": table({"a": {"type": "text"}}) | {"columns": {"who": {"type": "timestamp"}}}}),
    "sums": stated(
        {
            "t": table(
                {
                    "a": {"type": "integer", "bounds": [-50, 100], "nullable": False},
                    "b": {"type": "float", "bounds": [0, 1]},
                },
                max_sum={"a": 30, "b": "0.1"},
                hard=["max_sum.a", "max_sum.b", "max_rows", "bounds.a"],
            )
        }
    ),
    "hard groups": stated(
        {
            "t": {
                "person": "who",
                "max_groups": 2,
                "max_rows_per_group": 5,
                "hard": ["max_groups", "max_rows_per_group"],
                "columns": {"who": {"type": "integer"}, "a": {"type": "text", "keys": ["x", "y", "z"]}},
            }
        }
    ),
    "keys of rows": stated(
        {
            "t": table({"a": {"type": "integer", "bounds": [1, 4]}, "b": {"type": "text", "keys": ["x", "y"]}}),
            "u": {
                "owner": {"through": "t", "on": ["a", "b"]},
                "max_rows": 3,
                "hard": ["owner", "max_rows"],
                "columns": {"a": {"type": "integer"}, "b": {"type": "text"}, "line": {"type": "integer", "bounds": [1, 3]}},
            },
            "v": {
                "owner": {"through": "u", "on": ["a", "b", "line"]},
                "max_rows": 2,
                "hard": ["owner"],
                "columns": {
                    "a": {"type": "integer", "nullable": False},
                    "b": {"type": "text"},
                    "line": {"type": "integer", "nullable": False},
                },
            },
        }
    ),
    "public facts": stated(
        {
            "t": table(
                {"ward": {"type": "text"}, "price": {"type": "decimal"}, "year": {"type": "integer", "bounds": [1, 3000]}}
            ),
            "wards": {
                "public": True,
                "columns": {
                    "ward": {"type": "text", "keys": ["A", "B"]},
                    "price": {"type": "decimal", "bounds": [0, 1], "step": "0.0001"},
                },
            },
            "years": {"public": True, "columns": {"year": {"type": "integer"}, "share": {"type": "float"}}},
            "flags": {"public": True, "columns": {"flag": {"type": "boolean"}, "share": {"type": "float"}}},
        }
    ),
    "one neighbour for another": stated({"t": table({"a": {"type": "text"}})}, unit="replace one person"),
    "a long name": stated({"t": table({})}, domain="d" * 1000),
}


def pages() -> dict[str, str]:
    """The policies in the documentation."""
    found = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for at, block in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)):
            if "version = 1" in block and "[tables." in block:
                found[f"{page.stem} {at}"] = block
    return found


TEXTS: dict[str, str] = {
    "demo": demo.POLICY,
    "hospital": hospital.POLICY,
    "shop": shop(),
    **{f"golden {kind}": clinic.policy_text(kind) for kind in clinic.BUDGETS},
    **pages(),
}
POLICIES: dict[str, Policy] = {
    **{name: read_policy(tomllib.loads(text)) for name, text in TEXTS.items()},
    **{f"odd: {name}": read_policy(facts) for name, facts in ODD.items()},
    "chain": chain_shop.policy(),
    "chain of all": chain_shop.policy(direct=False, unit=Unit.REPLACE_ONE, groups=3, rows=1),
    "nodes": tables_policy(),
}
