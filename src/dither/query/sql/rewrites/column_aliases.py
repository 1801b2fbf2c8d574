"""Names of columns behind that of an inner question: `(SELECT a, COUNT(*) ...) AS t (key, n)`, `WITH t (key, n) AS (...)`.

They are put where the columns are: `(SELECT a AS key, COUNT(*) AS n ...) AS t` means the same. ORDER BY and GROUP BY of an
inner question may name its columns by the names that they had, so it is left alone where it names one that way.
"""

from __future__ import annotations

from sqlglot import exp


def without_column_aliases(tree: exp.Expr) -> None:
    """Change a tree in place. What does not fit is left as it is, and refused later."""
    for node in list(tree.find_all(exp.Subquery, exp.CTE)):
        alias, select = node.args.get("alias"), node.this
        if not isinstance(alias, exp.TableAlias):
            continue
        names = alias.args.get("columns")
        if not names or not isinstance(select, exp.Select) or len(names) != len(select.expressions):
            continue
        taken = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}
        clauses = [part for word in ("group", "having", "order") if isinstance(part := select.args.get(word), exp.Expr)]
        used = {one.name.lower() for part in clauses for one in part.find_all(exp.Column) if not one.text("table")}
        if any(item.is_star for item in select.expressions) or taken & used:
            continue
        pairs = zip(select.expressions, names, strict=True)
        select.set("expressions", [exp.alias_(item.unalias(), name.copy()) for item, name in pairs])
        alias.set("columns", None)
