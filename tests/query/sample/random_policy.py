"""Random policies: columns of all types, keys, bounds, limits, owners through other tables, public tables."""

from __future__ import annotations

import random
from typing import Any

from dither.query.policy.policy import Policy, read_policy

KINDS = ("integer", "decimal", "float", "text", "boolean", "date", "timestamp")
NAMES = ("ward", "cost", "day", "at", "new", "age", "town")  # some are in several tables
IDS = ("integer", "text", "date", "timestamp")


def column(rng: random.Random, kind: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"type": kind, "nullable": rng.random() < 0.6}
    if kind == "text" and rng.random() < 0.6:
        facts["keys"] = [f"k{at}" for at in range(rng.choice([1, 2, 5, 300]))]
    if kind == "boolean" and rng.random() < 0.3:
        facts["keys"] = [True]
    if kind in ("date", "timestamp") and rng.random() < 0.6:
        first = rng.randrange(1900, 2090)
        facts["bounds"] = [f"{first}-03-01", f"{first + rng.choice([0, 1, 9])}-12-31"]
    if kind in ("integer", "decimal", "float") and rng.random() < 0.7:
        step = {"integer": 1, "decimal": "0.01", "float": "0.25"}[kind] if rng.random() < 0.7 or kind == "integer" else None
        low = rng.choice([-1000, -7, 0, 3, 10**12])
        facts["bounds"] = [low, low + rng.choice([1, 10, 5000])]
        facts |= {} if step is None else {"step": step}
        if rng.random() < 0.15:
            facts |= {"bounds": "auto", "step": step or "0.5"}
        elif kind == "integer" and rng.random() < 0.4:
            facts["keys"] = [low + 1, low + 2, low]
    return facts


def columns(rng: random.Random) -> dict[str, Any]:
    return {name: column(rng, rng.choice(KINDS)) for name in rng.sample(NAMES, rng.randrange(1, 5))}


def limits(rng: random.Random, found: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"max_rows": rng.choice([1, 2, 7, 1000])}
    if rng.random() < 0.5:
        said = {"max_groups": rng.choice([1, 3]), "max_rows_per_group": rng.choice([1, 4])}
    hard = [limit for limit in said if rng.random() < 0.7]
    for name, facts in found.items():
        if (
            isinstance(facts.get("bounds"), list)
            and "step" in facts
            and facts["bounds"][0] in (-7, 0)
            and rng.random() < 0.5
        ):
            said["max_sum"] = {name: 8 + rng.randrange(3) * said.get("max_rows", 3)}
            hard.append(f"max_sum.{name}")
            break
    return said | {"hard": hard}


def random_policy(rng: random.Random) -> Policy:
    """A policy that is read; what it says is as odd as an owner may be."""
    tables: dict[str, Any] = {}
    kind = rng.choice(IDS)
    found = {"who": {"type": kind, "nullable": rng.random() < 0.5}, "id": column(rng, rng.choice(IDS)), **columns(rng)}
    tables["top"] = {"person": "who", "columns": found, **limits(rng, found)}
    parent = "top"
    for name in ("middle", "low")[: rng.randrange(3)]:
        own = {
            "up": {"type": tables[parent]["columns"]["id"]["type"], "nullable": rng.random() < 0.5},
            "id": column(rng, rng.choice(IDS)),
            **columns(rng),
        }
        on = [{"child": "up", "parent": "id"}]
        if parent == "top" and rng.random() < 0.4:
            on.append({"child": "whose", "parent": "who"})
            own["whose"] = {"type": kind}
        tables[name] = {"owner": {"through": parent, "on": on}, "columns": own, **limits(rng, own)}
        tables[name]["hard"].append("owner")
        parent = name
    if rng.random() < 0.5:
        public = {name: facts for name, facts in columns(rng).items() if facts.get("bounds") != "auto"}
        tables["open"] = {"public": True, "columns": {"code": {"type": rng.choice(KINDS)}, **public}}
    if rng.random() < 0.3:
        tables["alone"] = {"person": "each row", "columns": columns(rng)}
    return read_policy({"version": 1, "domain": "random", "tables": tables})
