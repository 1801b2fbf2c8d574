"""From text to a tree of the parser's: one SELECT within limits, without any detail that nobody here would read.

A detail that is read past changes the question silently, so `ARGS` lists for each kind of node the details that the readers
look at, and anything else that the parser filled in is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel
from sqlglot.tokenizer_core import TokenType

from dither.errors import QuestionError
from dither.query.sql.rewrites.unions_of_totals import as_grouping_sets

DIALECT = "duckdb"
LONGEST = 20_000  # characters
MOST_TOKENS = 4_000
DEEPEST = 60
LONGEST_KNOWN, MOST_KNOWN = 2_000, 64  # characters of a text whose tree is remembered, and how many are
OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
STARTS = {TokenType.SELECT, TokenType.FROM, TokenType.WITH, TokenType.L_PAREN}

TWO: tuple[type[exp.Expr], ...] = (exp.And, exp.Or, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub)
TWO += (exp.Mul, exp.Is, exp.Extract)
TWO += (exp.Left, exp.Right, exp.Nullif, exp.Mod, exp.IntDiv, exp.Pow, exp.Log)
TWO += (exp.Corr, exp.CovarPop, exp.CovarSamp, exp.RegrSlope, exp.RegrIntercept, exp.RegrR2)
TWO += (exp.RegrCount, exp.RegrAvgx, exp.RegrAvgy)
ONE = (
    *(exp.From, exp.Where, exp.Having, exp.Qualify, exp.Paren, exp.Neg, exp.Not, exp.Boolean, exp.Var),
    *(exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.LogicalAnd, exp.LogicalOr),
    *(exp.VariancePop, exp.Variance, exp.StddevPop, exp.StddevSamp, exp.Stddev),
    *(exp.Upper, exp.Lower, exp.Length, exp.Abs, exp.Ln, exp.Sqrt, exp.Exp, exp.Sign),
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.Hour, exp.DataType),
    *(exp.Minute, exp.Second, exp.Week, exp.WeekOfYear, exp.DayOfWeekIso, exp.DayOfYear, exp.TimeToUnix, exp.Date),
)
ARGS: dict[type[exp.Expr], set[str]] = {
    **{kind: {"this", "expression"} for kind in TWO},
    **{kind: {"this"} for kind in ONE},
    exp.Select: {"expressions", "from_", "joins", "with_", "distinct", "where", "group", "having", "order", "limit"}
    | {"offset", "qualify"},
    exp.Join: {"this", "on", "using", "kind", "side", "method"},
    exp.With: {"expressions", "recursive"},
    exp.CTE: {"this", "alias"},
    exp.Subquery: {"this", "alias"},
    exp.Union: {"this", "expression", "distinct", "with_"},
    exp.Table: {"this", "alias"},
    exp.TableAlias: {"this", "columns"},
    exp.Group: {"expressions"},
    **{kind: {"expressions"} for kind in (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Grouping, exp.GroupingId)},
    exp.Order: {"expressions"},
    exp.Ordered: {"this", "desc"},
    exp.Limit: {"expression"},
    exp.Offset: {"expression"},
    exp.Identifier: {"this", "quoted"},  # quoted or not, names are found whatever their case, as DuckDB does
    exp.Column: {"this", "table"},
    exp.Literal: {"this", "is_string"},
    exp.Alias: {"this", "alias"},
    exp.Star: set(),
    exp.Null: set(),
    exp.Count: {"this", "big_int"},
    exp.Quantile: {"this", "quantile"},
    exp.ApproxQuantile: {"this", "quantile"},
    exp.PercentileCont: {"this", "expression"},
    exp.PercentileDisc: {"this", "expression"},
    exp.WithinGroup: {"this", "expression"},
    exp.Distinct: {"expressions"},
    exp.Window: {"this", "partition_by", "order", "over"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side"},
    exp.Between: {"this", "low", "high"},
    exp.In: {"this", "expressions", "query"},
    exp.Exists: {"this"},
    exp.Like: {"this", "expression", "negate"},
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true"},
    exp.Cast: {"this", "to"},
    exp.TimestampTrunc: {"this", "unit"},
    exp.DateTrunc: {"this", "unit"},
    exp.DateDiff: {"this", "expression", "unit", "date_part_boundary"},  # that starts are counted, as DuckDB does
    exp.DateAdd: {"this", "expression"},
    exp.Interval: {"this", "unit", "fraction_in_string"},
    exp.Trim: {"this", "position", "expression"},
    exp.Substring: {"this", "start", "length"},
    exp.Concat: {"expressions", "safe", "coalesce"},  # in DuckDB's way, as the reader takes it
    exp.DPipe: {"this", "expression", "safe"},
    exp.Coalesce: {"this", "expressions"},
    exp.Greatest: {"this", "expressions", "ignore_nulls"},
    exp.Least: {"this", "expressions", "ignore_nulls"},
    exp.Round: {"this", "decimals"},
    exp.Floor: {"this", "decimals"},
    exp.Ceil: {"this", "decimals"},
    exp.Trunc: {"this", "decimals"},
    exp.Div: {"this", "expression", "typed", "safe"},
    exp.DateFromParts: {"year", "month", "day"},
    exp.TimestampFromParts: {"year", "month", "day", "hour", "min", "sec"},
    exp.WidthBucket: {"this", "min_value", "max_value", "num_buckets"},
}
INNER: dict[type[exp.Expr], set[str]] = {  # what is read in an inner question, for windows within one person
    exp.Window: {"spec"},
    exp.Ordered: {"nulls_first"},
}
CALLED = {
    **{"joins": "JOIN", "with_": "WITH", "laterals": "LATERAL", "windows": "WINDOW", "nulls_first": "NULLS FIRST"},
    **{"spec": "ROWS or RANGE", "alias": "a window by its name"},
}


def read(text: object) -> exp.Select:
    """The tree of one SELECT, or why there is none; it is still to be checked. Whoever asks gets a tree of her own."""
    if not isinstance(text, str) or not text.strip():
        raise QuestionError("question", text, "it is not SQL", "one SELECT with an aggregate, as text")
    if len(text) > LONGEST:
        raise QuestionError("question", text, f"it is longer than {LONGEST} characters", "a shorter question")
    return _tree(text) if len(text) > LONGEST_KNOWN else _known_tree(str(text)).copy()


@lru_cache(maxsize=MOST_KNOWN)  # a text is read by several readers; nobody changes this tree, each gets a copy
def _known_tree(text: str) -> exp.Select:
    return _tree(text)


def _tree(text: str) -> exp.Select:
    if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
        raise QuestionError("question", text, "it has signs in it that no text can hold", "the question without them")
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
        _limits(text, tokens)
        trees = sqlglot.parse(text, read=DIALECT)
    except QuestionError:
        raise
    except RecursionError:
        raise _too_deep(text) from None
    except Exception as error:  # whatever goes wrong in a parser is a question that it cannot read
        raise _unreadable(text, error) from None
    while len(trees) > 1 and trees[-1] is None:
        trees.pop()  # what stands behind the last semicolon
    tree = trees[0] if len(trees) == 1 else None
    if isinstance(tree, exp.Subquery) and all(not part for name, part in tree.args.items() if name != "this"):
        tree = tree.unnest()
    if isinstance(tree, exp.SetOperation):
        tree = as_grouping_sets(tree) or tree
    if isinstance(tree, exp.SetOperation):
        why = "the answer to each SELECT is a table of its own: they are put together after they have come"
        raise QuestionError("question", text, why, "ROLLUP in GROUP BY for totals, or a list of questions: one batch")
    if not isinstance(tree, exp.Select):
        raise _not_select(text)
    return tree


def place_of(node: exp.Expr) -> str:
    """Where in the question a node starts; of a node without a place, where the nearest one around it starts."""
    around: exp.Expr | None = node
    while around is not None:
        found = [part.meta for part in around.walk() if "start" in part.meta]
        if found:
            first = min(found, key=lambda meta: int(meta["start"]))
            return f"line {first['line']}, column {max(1, first['col'] - (first['end'] - first['start']))}"
        around = around.parent
    return "question"


def shown(node: exp.Expr) -> str:
    """A node as SQL, for people to read."""
    try:
        text = node.sql(DIALECT, unsupported_level=ErrorLevel.IGNORE)
        return (
            text if node.find(exp.GroupConcat) is None else text.replace("LISTAGG(", "STRING_AGG(")
        )  # as it is called most
    except Exception:  # a refusal must not fail because a part of the question cannot be written
        return type(node).__name__


def refuse(node: exp.Expr, why: str, instead: str) -> QuestionError:
    """The refusal of a node, with its place."""
    return QuestionError(place_of(node), shown(node), why, instead)


def _limits(text: str, tokens: list[Any]) -> None:
    if len(tokens) > MOST_TOKENS:
        raise QuestionError("question", text, f"it has more than {MOST_TOKENS} words and signs", "a shorter question")
    depth = run = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        run = run + 1 if token.token_type in PREFIXES else 0
        if depth + run > DEEPEST:
            raise _too_deep(text)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise QuestionError("question", text, "it is not one statement", "one SELECT, with no semicolon before its end")
    if not tokens or tokens[0].token_type not in STARTS:  # a parser that does not know a statement takes any text for one
        raise _not_select(text)


def check(text: str, tree: exp.Select) -> None:
    """Refuse what is too deep, and every detail that is not listed."""
    waiting: list[tuple[Any, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, list):
            waiting += [(part, depth) for part in node]
        if not isinstance(node, exp.Expr):
            continue
        if depth > 2 * DEEPEST:  # signs and parentheses are both levels here
            raise _too_deep(text)
        extra = _extra(node)
        if extra:
            name = type(node).__name__ if extra[0] == "this" else extra[0]  # SUM(cost ORDER BY age): the Order is about cost
            word = CALLED.get(name, name.strip("_").replace("_", " ").upper())
            raise refuse(node, f"{word} is not answered here", "a question that does not need it")
        for part in node.args.values():
            chained = isinstance(part, (exp.And, exp.Or)) and type(part) is type(node)
            waiting.append((part, depth if chained else depth + 1))  # a chain of AND is one level, however long


def _extra(node: exp.Expr) -> list[str]:
    listed = ARGS.get(type(node))
    if listed is None:
        return []  # a reader refuses it by name, or reads none of it
    if type(node) in INNER and _is_inner(node):
        listed = listed | INNER[type(node)]
    if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.DECIMAL and isinstance(node.parent, exp.Cast):
        listed = listed | {"expressions"}  # DECIMAL(10, 2), of which the readers of casts look at the digits
    return [name for name, found in node.args.items() if name not in listed and found not in (None, False, [])]


def _is_inner(node: exp.Expr) -> bool:
    """Whether a node is read by an inner question; of what is sorted, whether a window sorts it there."""
    if isinstance(node, exp.Ordered) and (node.parent is None or not isinstance(node.parent.parent, exp.Window)):
        return False
    select = node if isinstance(node, exp.Select) else node.find_ancestor(exp.Select)
    return select is not None and select.parent is not None


def _not_select(text: str) -> QuestionError:
    why, instead = "only SELECT is answered", "one SELECT with an aggregate, FROM one of the tables of the policy"
    if re.match(r"\s*EXPLAIN\b", text, re.IGNORECASE):
        instead = "explain() of its quote, or the command `dither explain`, with the SELECT alone"
    return QuestionError("question", text, why, instead)


def _too_deep(text: str) -> QuestionError:
    return QuestionError("question", text, f"it is nested more than {DEEPEST} levels deep", "a flatter question")


def _unreadable(text: str, error: Exception) -> QuestionError:
    found = (getattr(error, "errors", None) or [{}])[0]
    place = f"line {found['line']}, column {found['col']}" if found.get("line") else "question"
    near = found.get("highlight")
    why = "it does not read as SQL" + (f" near {near!r}" if near else "")
    return QuestionError(place, text, why, "one SELECT in plain SQL; names with spaces or signs in double quotes")
