"""Windows by their names: `LAG(x) OVER w ... WINDOW w AS (PARTITION BY p ORDER BY t)`, written out where they are used.

They mean the same: a name stands for the definition, and `OVER (w ORDER BY t)` adds to it what it lacks. Where both say
something, or a definition is made of another one, SQL has rules of its own: that is left as it is, and refused.
"""

from __future__ import annotations

from sqlglot import exp

from dither.query.sql.rewrites.equivalents import MOST_COPIES

PARTS = ("partition_by", "order", "spec")


def write_out_windows(tree: exp.Expr) -> None:
    """Names of windows become what they stand for; those of each SELECT are known in it alone."""
    for select in list(tree.find_all(exp.Select)):
        defined = {one.name.lower(): one for one in select.args.get("windows") or []}
        if not defined or any(one.args.get("alias") for one in defined.values()):
            continue
        if len(defined) < len(select.args["windows"]):
            continue  # two of one name
        used = [node for node in select.find_all(exp.Window) if node.find_ancestor(exp.Select) is select]
        if len(used) * sum(1 for one in defined.values() for _ in one.walk()) > MOST_COPIES:
            continue
        named = [node for node in used if node.args.get("alias") is not None]
        if named and all(_filled(node, defined) for node in named):
            select.set("windows", None)


def _filled(node: exp.Window, defined: dict[str, exp.Expr]) -> bool:
    """Put in what the name stands for; whether that was possible."""
    meant = defined.get(node.args["alias"].name.lower())
    if meant is None or any(node.args.get(part) and meant.args.get(part) for part in PARTS):
        return False
    for part in PARTS:
        found = meant.args.get(part)
        if found:
            node.set(part, [one.copy() for one in found] if isinstance(found, list) else found.copy())
    node.set("alias", None)
    return True
