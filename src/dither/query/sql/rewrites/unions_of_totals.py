"""UNION ALL of totals: `SELECT ward, COUNT(*) ... GROUP BY ward UNION ALL SELECT 'all', COUNT(*) ...` as grouping sets.

Where the parts ask for the same aggregates of the same rows, and differ in their groups alone, they are one question by
several groupings: `GROUP BY GROUPING SETS ((ward), ())`, with COALESCE(ward, 'all') for the constant that stands in the
place of a key. So they have one price, a person counts in all of them with one weight, and parts add up to their totals.
Rows without a key are in no group here, and in no total; SQL has a row of NULL for them.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

SAME = ("from_", "joins", "where", "having", "distinct", "limit", "offset", "qualify", "with_")


def as_grouping_sets(tree: exp.Expr) -> exp.Select | None:
    """The one SELECT that means the same; None where the parts are not totals of the same rows."""
    parts = _parts(tree)
    if parts is None or len({len(part.expressions) for part in parts}) != 1:
        return None
    first = parts[0]
    if any(_rest(part) != _rest(first) for part in parts[1:]):
        return None
    groups = [_groups(part) for part in parts]
    items = [_item([part.expressions[at] for part in parts], groups) for at in range(len(first.expressions))]
    sets = [tuple(sorted(group)) for group in groups if group is not None]
    if None in groups or any(item is None for item in items) or len(set(sets)) < len(parts):
        return None  # twice the same grouping is twice the same rows
    found = first.copy()
    found.set("expressions", [item for item in items if item is not None])
    known = {sql: node for group in groups if group for sql, node in group.items()}
    wanted = [exp.Tuple(expressions=[known[sql].copy() for sql in group]) for group in sets]
    found.set("group", exp.Group(expressions=[exp.GroupingSets(expressions=wanted)]))
    for clause in ("order", "limit", "offset", "with_"):
        if tree.args.get(clause) is not None:
            found.set(clause, tree.args[clause].copy())
    return found


def _parts(tree: exp.Expr) -> list[exp.Select] | None:
    """The SELECTs of a UNION ALL, one after the other."""
    tree = tree.unnest()
    if isinstance(tree, exp.Select):
        return [tree]
    if not isinstance(tree, exp.Union) or tree.args.get("distinct") is not False:
        return None
    left, right = _parts(tree.this), _parts(tree.expression)
    return None if left is None or right is None else [*left, *right]


def _rest(part: exp.Select) -> list[str]:
    """What all parts have in common: their rows."""
    return [_text(part.args.get(word)) for word in SAME]


def _text(found: Any) -> str:
    if isinstance(found, list):
        return "; ".join(_text(one) for one in found)
    return str(found.sql("duckdb")) if isinstance(found, exp.Expr) else ""


def _groups(part: exp.Select) -> dict[str, exp.Expr] | None:
    """The columns of a plain GROUP BY, by how they are written; None of any other."""
    clause = part.args.get("group")
    if clause is None:
        return {}
    found: dict[str, exp.Expr] = {}
    for node in clause.expressions:
        number = isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit()
        at = int(node.this) - 1 if number else -1
        if number and not 0 <= at < len(part.expressions):
            return None
        meant = part.expressions[at].unalias() if number else node
        if not isinstance(meant, exp.Column):
            return None
        found[meant.sql("duckdb")] = meant
    return found


def _item(items: list[exp.Expr], groups: list[dict[str, exp.Expr] | None]) -> exp.Expr | None:
    """What stands in one place of SELECT: one aggregate; or a key of some parts, and one constant or NULL in the others."""
    bare, name = [item.unalias() for item in items], items[0].alias
    texts = {node.sql("duckdb") for node in bare}
    if len(texts) == 1 and bare[0].find(exp.AggFunc):
        return items[0].copy()
    keys = {
        node.sql("duckdb"): node
        for node, group in zip(bare, groups, strict=True)
        if group is not None and node.sql("duckdb") in group
    }
    others = [node for node in bare if node.sql("duckdb") not in keys]
    labels = {node.this for node in others if isinstance(node, exp.Literal) and node.is_string}
    plain = all(isinstance(node, exp.Null) or (isinstance(node, exp.Literal) and node.is_string) for node in others)
    mixed = labels and any(isinstance(node, exp.Null) for node in others)
    if len(keys) != 1 or not plain or len(labels) > 1 or mixed:
        return None
    key = next(iter(keys.values()))
    name = name or key.name
    if not labels:
        return exp.alias_(key.copy(), name, quoted=True)
    total = exp.Coalesce(this=key.copy(), expressions=[exp.Literal.string(next(iter(labels)))])
    return exp.alias_(total, name, quoted=True)
