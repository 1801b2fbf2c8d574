"""Windows beside GROUP BY in an inner question: two questions, one around the other.

    SELECT SUM(cost) - LAG(SUM(cost)) OVER (PARTITION BY person ORDER BY month) AS more FROM t GROUP BY person, month
    SELECT "total 1" - LAG("total 1") OVER (PARTITION BY "key 1" ORDER BY "key 2") AS more
    FROM (SELECT person AS "key 1", month AS "key 2", SUM(cost) AS "total 1" FROM t GROUP BY person, month) AS "groups"

mean the same: SQL computes groups and HAVING first, windows of the rows that these leave, then QUALIFY and DISTINCT. Above
the groups there are keys and totals and nothing else; a name of anything else finds nothing, and is refused.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

TOTALS: tuple[type[Any], ...] = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)
MOST_KEYS = 50  # of GROUP BY: each part of SELECT is compared with each
BELOW = ("from_", "joins", "with_", "where", "group", "having")  # what the inner one of the two has


def divide_windows(tree: exp.Expr) -> None:
    """Inner questions with both become two; the outermost question has windows over its answer."""
    for select in list(tree.find_all(exp.Select)):
        group = select.args.get("group")
        keys = [] if group is None else [_meant(key, select) for key in group.expressions]
        windowed = select.args.get("qualify") is not None or any(_has_window(item) for item in select.expressions)
        stars = any(item.is_star for item in select.expressions)
        if select.parent is None or not 0 < len(keys) <= MOST_KEYS or None in keys or not windowed or stars:
            continue
        _divide(select, [key for key in keys if key is not None])


def _divide(select: exp.Select, keys: list[exp.Expr]) -> None:
    totals: list[exp.Expr] = []
    alone = not select.args.get("joins")
    items = []
    for item in select.expressions:
        name = item.alias or (item.name if isinstance(item, exp.Column) else "")
        above = _above(item.unalias().copy(), keys, totals, alone=alone)
        items.append(exp.alias_(above, name, quoted=True) if name else above)
    qualify = select.args.get("qualify")
    kept = None if qualify is None else exp.Qualify(this=_above(qualify.this.copy(), keys, totals, alone=alone))
    inner = exp.Select(
        expressions=[
            *(exp.alias_(key.copy(), f"key {at}", quoted=True) for at, key in enumerate(keys, 1)),
            *(exp.alias_(total, f"total {at}", quoted=True) for at, total in enumerate(totals, 1)),
        ]
    )
    for part in BELOW:
        inner.set(part, select.args.get(part))
        select.set(part, None)
    inner.args["group"].set("expressions", [key.copy() for key in keys])
    called = exp.TableAlias(this=exp.to_identifier("groups", quoted=True))
    select.set("expressions", items)
    select.set("qualify", kept)
    select.set("from_", exp.From(this=exp.Subquery(this=inner, alias=called)))


def _meant(key: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """What a part of GROUP BY stands for; GROUP BY 1 is the first column. None where that cannot be said here."""
    if not isinstance(key, exp.Literal):
        return key
    place = int(key.this) if not key.is_string and str(key.this).isdecimal() and len(str(key.this)) < 4 else 0
    found = select.expressions[place - 1].unalias() if 0 < place <= len(select.expressions) else None
    return None if found is None or _has_window(found) or found.find(*TOTALS) is not None else found


def _has_window(node: exp.Expr) -> bool:
    """Whether it looks at other rows; questions within are their own affair."""
    return any(isinstance(part, exp.Window) for part in node.walk(prune=lambda part: isinstance(part, exp.Select)))


def _above(node: exp.Expr, keys: list[exp.Expr], totals: list[exp.Expr], *, alone: bool) -> exp.Expr:
    """An expression above the groups: with the names of keys and totals where these stood."""
    root = exp.Paren(this=node)
    waiting: list[exp.Expr] = [node]
    while waiting:
        part = waiting.pop()
        place = next((at for at, key in enumerate(keys) if _same(part, key, alone=alone)), None)
        if place is not None:
            part.replace(exp.column(f"key {place + 1}", quoted=True))
        elif type(part) in TOTALS and not (isinstance(part.parent, exp.Window) and part.arg_key == "this"):
            if part not in totals:
                totals.append(part.copy())
            part.replace(exp.column(f"total {totals.index(part) + 1}", quoted=True))
        elif not isinstance(part, exp.Select):
            waiting += list(part.iter_expressions())
    found: exp.Expr = root.this
    return found


def _same(part: exp.Expr, key: exp.Expr, *, alone: bool) -> bool:
    """Whether a part of SELECT is a key; of a column of one table, the table may be left out in one of the two."""
    if isinstance(part, exp.Column) and isinstance(key, exp.Column):
        tables = part.text("table").lower(), key.text("table").lower()
        return part.name.lower() == key.name.lower() and (tables[0] == tables[1] or (alone and "" in tables))
    return part == key
