"""SQL in, a plan out. sqlglot reads the text; every node of its tree is looked up here, and what is not listed is refused.

Nothing of the text goes on to an engine: a plan is made of our own nodes. Limits come before parsing, and whatever the parser
raises becomes one error of ours.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dither.errors import NumberError, QuestionError
from dither.numeric.number import Number
from dither.query.expressions import Reader, place_of
from dither.query.plan import Aggregate, Group, Keep, Order, Plan
from dither.query.policy import Policy
from dither.query.table import Table

LONGEST = 20_000  # characters
MOST_TOKENS = 4_000
DEEPEST = 60
MOST_GROUPS = 1_000_000  # rows of an answer
MOST_AGGREGATES = 100
DIALECT = "duckdb"

CLAUSES = {"expressions", "from_", "where", "group", "having", "order", "limit"}
NAMES: dict[type[Any], str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"}


def parse(text: object, policy: Policy) -> Plan:
    """The plan of a question, or why there is none."""
    tree = _read(text)
    table = _table(tree, policy)
    reader = Reader(table)
    where = tree.args.get("where")
    condition = None if where is None else reader.condition(where.this)
    groups = _groups(tree, reader)
    aggregates: list[Aggregate] = []
    shown: list[str] = []
    for wanted in tree.expressions:
        shown.append(_output(wanted, reader, groups, aggregates))
    if not aggregates:
        why = "a question asks for at least one COUNT, SUM or AVG; single rows are never shown"
        raise QuestionError(place_of(tree), tree.sql(DIALECT), why, "SELECT COUNT(*) FROM ...")
    if len(aggregates) > MOST_AGGREGATES:
        raise QuestionError(
            "SELECT", len(aggregates), f"more than {MOST_AGGREGATES} aggregates are not answered at once", "fewer"
        )
    for name in shown:
        if [other.lower() for other in shown].count(name.lower()) > 1:
            raise QuestionError("SELECT", name, "two columns of the answer have that name", f"{name} AS another_name")
    rows = 1
    for group in groups:
        rows *= len(group.keys)
    if rows > MOST_GROUPS:
        why = f"the answer would have {rows} rows, one for each combination of keys; {MOST_GROUPS} are the most"
        raise QuestionError("GROUP BY", ", ".join(group.name for group in groups), why, "fewer columns in GROUP BY")
    return Plan(
        table=table,
        where=condition,
        groups=tuple(groups),
        aggregates=tuple(aggregates),
        shown=tuple(shown),
        having=_having(tree, aggregates),
        order=_order(tree, shown),
        limit=_limit(tree),
    )


# -- the text ----------------------------------------------------------------------------------------------------------


def _read(text: object) -> exp.Select:
    if not isinstance(text, str) or not text.strip():
        raise QuestionError("question", text, "it is not SQL", "'SELECT COUNT(*) FROM visits'")
    if len(text) > LONGEST:
        raise QuestionError("question", text, f"it is longer than {LONGEST} characters", "a shorter one")
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
        _limits(text, tokens)
        trees = sqlglot.parse(text, read=DIALECT)
    except QuestionError:
        raise
    except (SqlglotError, RecursionError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        place, words = _from_parser(error)
        raise QuestionError(place, text, words, "one SELECT in plain SQL") from None
    statements = [tree for tree in trees if tree is not None]
    if len(statements) != 1 or ";" in [token.text for token in tokens[:-1]]:
        raise QuestionError("question", text, "it is not one statement", "one SELECT, without a semicolon in between")
    tree = statements[0]
    if not isinstance(tree, exp.Select):
        raise QuestionError("question", text, "only SELECT is answered", "SELECT COUNT(*) FROM visits")
    for clause, found in tree.args.items():
        if found and clause not in CLAUSES:
            words = clause.replace("_", " ").upper()
            raise QuestionError(
                place_of(tree), words, f"{words} is not answered", "SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT"
            )
    return tree


def _limits(text: str, tokens: list[Any]) -> None:
    if len(tokens) > MOST_TOKENS:
        raise QuestionError("question", text, f"it has more than {MOST_TOKENS} words and signs", "a shorter one")
    depth = deepest = 0
    for token in tokens:
        opens = token.text in ("(", "[", "{") or token.text.upper() == "CASE"
        closes = token.text in (")", "]", "}") or token.text.upper() == "END"
        depth += opens - closes
        deepest = max(deepest, depth)
    chained = sum(token.text.upper() in ("NOT", "-", "+", "~") for token in tokens)
    if deepest > DEEPEST or chained > MOST_TOKENS // 4:
        raise QuestionError("question", text, f"it is nested more than {DEEPEST} levels deep", "a flatter question")


def _from_parser(error: Exception) -> tuple[str, str]:
    found = (getattr(error, "errors", None) or [{}])[0]
    place = f"line {found['line']}, column {found['col']}" if found.get("line") else "question"
    near = found.get("highlight")
    return place, "it does not read as SQL" + (f" near {near!r}" if near else "")


# -- the parts ---------------------------------------------------------------------------------------------------------


def _table(tree: exp.Select, policy: Policy) -> Table:
    names = ", ".join(table.name for table in policy.tables)
    source = tree.args.get("from_")
    if source is None:
        raise QuestionError("FROM", None, "a question is about a table", f"FROM {policy.tables[0].name}")
    named = source.this
    if not isinstance(named, exp.Table) or not isinstance(named.this, exp.Identifier) or named.args.get("db"):
        raise QuestionError(place_of(named), named.sql(DIALECT), "it is not the name of a protected table", names)
    for extra, found in named.args.items():
        if found and extra not in ("this", "alias"):
            raise QuestionError(place_of(named), named.sql(DIALECT), f"{extra} is not answered here", names)
    table = policy.table(named.name)
    if table is None:
        raise QuestionError(place_of(named), named.name, "no table of that name is protected by this policy", names)
    return table


def _groups(tree: exp.Select, reader: Reader) -> list[Group]:
    clause = tree.args.get("group")
    if clause is None:
        return []
    for extra, found in clause.args.items():
        if found and extra != "expressions":
            raise QuestionError(place_of(clause), extra.upper(), "only a plain GROUP BY is answered", "GROUP BY ward")
    aliases = {item.alias.lower(): item.this for item in tree.expressions if isinstance(item, exp.Alias)}
    groups: list[Group] = []
    for node in clause.expressions:
        wanted = node
        if isinstance(node, exp.Literal) and not node.is_string:  # GROUP BY 1
            number = int(node.this) if node.this.isdigit() else 0
            if not 1 <= number <= len(tree.expressions):
                raise QuestionError(place_of(node), node.this, "there is no such column in SELECT", "GROUP BY ward")
            wanted = tree.expressions[number - 1].unalias()
        elif isinstance(node, exp.Column) and not node.table and reader.table.column(node.name) is None:
            wanted = aliases.get(node.name.lower(), node)
        by = reader.value(wanted)
        name = next((alias for alias, meant in aliases.items() if reader.same(meant, by)), None) or wanted.alias_or_name
        groups.append(Group(name or wanted.sql(DIALECT), by, reader.keys(by, wanted)))
    return groups


def _output(wanted: Any, reader: Reader, groups: list[Group], aggregates: list[Aggregate]) -> str:
    """Add what a column of the answer needs; its name."""
    node = wanted.unalias()
    name = wanted.alias if isinstance(wanted, exp.Alias) else ""
    if isinstance(node, exp.Star):
        raise QuestionError(
            place_of(node), "*", "single rows are never shown", "SELECT COUNT(*), or the columns of GROUP BY"
        )
    if type(node) in NAMES:
        made = _aggregate(node, reader, name or _unused(NAMES[type(node)], aggregates))
        aggregates.append(made)
        return made.name
    for group in groups:
        if reader.same(node, group.by) or (isinstance(node, exp.Column) and node.name.lower() == group.name.lower()):
            return _renamed(group, name, groups)
    if node.find(*NAMES):
        why = "an aggregate stands by itself; compute with it after the answer has come"
        raise QuestionError(place_of(node), node.sql(DIALECT), why, "SELECT SUM(cost), COUNT(*), and divide yourself")
    reader.value(node)  # an unknown column or function is the better message
    why = "it is neither an aggregate nor in GROUP BY, so it would show single rows"
    raise QuestionError(place_of(node), node.sql(DIALECT), why, f"GROUP BY {node.sql(DIALECT)}, or COUNT, SUM, AVG of it")


def _renamed(group: Group, name: str, groups: list[Group]) -> str:
    if name and name != group.name:
        groups[groups.index(group)] = Group(name, group.by, group.keys)
        return name
    return group.name


def _unused(name: str, aggregates: list[Aggregate]) -> str:
    taken = {aggregate.name for aggregate in aggregates}
    number = 1
    while (candidate := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return candidate


def _aggregate(node: Any, reader: Reader, name: str) -> Aggregate:
    inner = node.this
    if isinstance(node, exp.Count):
        if isinstance(inner, exp.Star):
            return Aggregate("rows", name)
        if isinstance(inner, exp.Distinct):
            person = reader.table.person
            only = inner.expressions[0] if len(inner.expressions) == 1 else None
            if person is not None and isinstance(only, exp.Column) and only.name.lower() == person.lower():
                return Aggregate("persons", name)
            why = "COUNT(DISTINCT ...) counts persons here, and no other values"
            raise QuestionError(
                place_of(node), node.sql(DIALECT), why, f"COUNT(DISTINCT {person})" if person else "COUNT(*)"
            )
        if node.expressions:
            raise QuestionError(place_of(node), node.sql(DIALECT), "COUNT has one argument", "COUNT(*)")
        return Aggregate("values", name, reader.value(inner))
    if isinstance(inner, exp.Distinct):
        raise QuestionError(place_of(node), node.sql(DIALECT), "DISTINCT is answered in COUNT only", "SUM(cost)")
    of = reader.value(inner)
    facts = of.facts
    if not facts.type.is_number:
        raise QuestionError(
            place_of(node), node.sql(DIALECT), f"a {facts.type.value} cannot be added up", "a column of numbers"
        )
    if not facts.is_bounded:
        why = "the policy states no bounds for it, and none are taken from the data"
        raise QuestionError(
            place_of(node), node.sql(DIALECT), why, "a column with bounds; the owner adds bounds = [lower, upper]"
        )
    if facts.lower == facts.upper:
        raise QuestionError(place_of(node), node.sql(DIALECT), "it is the same for every row", "COUNT(*)")
    return Aggregate("sum" if isinstance(node, exp.Sum) else "average", name, of)


# -- after the release -------------------------------------------------------------------------------------------------


def _having(tree: exp.Select, aggregates: list[Aggregate]) -> tuple[Keep, ...]:
    clause = tree.args.get("having")
    if clause is None:
        return ()
    parts = list(clause.this.flatten()) if isinstance(clause.this, exp.And) else [clause.this]
    signs: dict[type[Any], Any] = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
    kept = []
    for node in (part.unnest() for part in parts):
        name = node.this.name if isinstance(getattr(node, "this", None), exp.Column) else ""
        found = next((aggregate.name for aggregate in aggregates if aggregate.name.lower() == name.lower()), None)
        if type(node) not in signs or found is None or not isinstance(node.expression.unnest(), (exp.Literal, exp.Neg)):
            why = "HAVING compares a released column, by its name, with a number"
            raise QuestionError(place_of(node), node.sql(DIALECT), why, "SELECT ward, COUNT(*) AS n ... HAVING n > 10")
        kept.append(Keep(found, signs[type(node)], _number(node.expression)))
    return tuple(kept)


def _number(node: Any) -> Fraction:
    text = node.unnest().sql(DIALECT)
    try:
        return Number(text).fraction()
    except NumberError as error:
        raise QuestionError(place_of(node), text, "it is not a number", "10, or 0.5") from error


def _order(tree: exp.Select, shown: list[str]) -> tuple[Order, ...]:
    clause = tree.args.get("order")
    if clause is None:
        return ()
    orders = []
    for item in clause.expressions:
        node = item.this
        name = node.name if isinstance(node, exp.Column) else ""
        if (
            isinstance(node, exp.Literal)
            and not node.is_string
            and node.this.isdigit()
            and 1 <= int(node.this) <= len(shown)
        ):
            name = shown[int(node.this) - 1]
        found = next((other for other in shown if other.lower() == name.lower()), None)
        if found is None:
            why = "ORDER BY sorts by columns of the answer, by their names"
            raise QuestionError(place_of(item), item.sql(DIALECT), why, f"ORDER BY {shown[-1]}")
        orders.append(Order(found, bool(item.args.get("desc"))))
    return tuple(orders)


def _limit(tree: exp.Select) -> int | None:
    clause = tree.args.get("limit")
    if clause is None:
        return None
    node = clause.expression
    if not isinstance(clause, exp.Limit) or not isinstance(node, exp.Literal) or node.is_string or not node.this.isdigit():
        raise QuestionError(place_of(clause), clause.sql(DIALECT).strip(), "LIMIT is a whole number", "LIMIT 10")
    return int(node.this)
