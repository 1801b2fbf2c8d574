"""What would work instead of a window that stands where SQL has none: in WHERE, or within an aggregate."""

from __future__ import annotations

from sqlglot import exp

from dither.query.sql.syntax import LONGEST_REWRITE, shown

GENERAL = "PARTITION BY the person in an inner question, and QUALIFY there for a condition; or GROUP BY a column with keys"


def instead_of_window(node: exp.Expr) -> str:
    """The same question with the window in an inner one, where that is simple to write; otherwise where windows stand."""
    outer, total = node.find_ancestor(exp.Select), node.find_ancestor(exp.AggFunc)
    if outer is None or total is None or outer.parent is not None or not node.args.get("partition_by"):
        return GENERAL
    around = [part for name, part in outer.args.items() if part and name not in ("expressions", "from_", "where")]
    if around or len(outer.expressions) != 1 or total.this is None or isinstance(total.this, exp.Distinct):
        return GENERAL
    inner = exp.select(exp.alias_(total.this.copy(), "value"))
    for name in ("from_", "where"):
        inner.set(name, None if outer.args.get(name) is None else outer.args[name].copy())
    whole = outer.copy()
    whole.set("where", None)
    found = next(part for part in whole.find_all(type(total)) if part.this == total.this)
    found.set("this", exp.column("value"))
    whole.set("from_", exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("q")))))
    text = shown(whole)
    return text if len(text) <= LONGEST_REWRITE else GENERAL
