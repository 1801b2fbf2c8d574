"""Names with a schema or a catalogue in front: "public"."visits"."ward". A policy has one table of a name, and no schemas.

What is in front is left out only where that changes nothing: every table of that name has the same schema (or none) in the
whole question, and none of its aliases and names behind WITH is the same.
What remains is looked up in the policy like any name.
"""

from __future__ import annotations

from sqlglot import exp

from dither.query.sql.syntax import refuse

Place = tuple[str, ...]  # catalogue and schema, in small letters, as far as they are written


def without_schemas(tree: exp.Expr) -> None:
    """Leave schemas and catalogues out of all names, in place; refused where that would change what a name means."""
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    columns = [column for column in tree.find_all(exp.Column) if column.args.get("db") is not None]
    if not columns and not any(table.args.get("db") is not None for table in tables):
        return
    given = {part.alias.lower() for part in tree.find_all(exp.CTE)}
    others = {node.alias.lower() for node in tree.find_all(exp.Table, exp.Subquery) if node.alias} | given
    places: dict[str, Place] = {}
    for table in tables:
        place, name = _place(table), table.name.lower()
        if not place:
            continue
        if name in given:
            why = f"WITH gives the name {table.name} to something else than that table"
            raise refuse(table, why, "another name behind WITH")
        if not _agree(places.setdefault(name, place), place):
            why = f"the policy has one table {table.name}, and the question names two"
            raise refuse(table, why, "one schema for it")
        places[name] = max(places[name], place, key=len)
    for column in columns:
        name = column.table.lower()
        if name in others or name not in places or not _agree(places[name], _place(column)):
            raise refuse(column, "no table is called that in FROM", "the name that it has there, in front of the column")
    for node in (*tables, *columns):
        node.set("db", None)
        node.set("catalog", None)


def _place(node: exp.Expr) -> Place:
    return tuple(text.lower() for part in ("db", "catalog") if (text := node.text(part)))


def _agree(one: Place, other: Place) -> bool:
    """Whether they are the same as far as both are written, the schema first."""
    return all(mine == theirs for mine, theirs in zip(one, other, strict=False))
