"""A question about public tables as nodes: a tree of words that are listed here, names, constants and SELECTs.

What a node may say is closed: a `Term` has one of the `WORDS` or `LISTS`, a table is one of the policy's or a name that WITH
gave, and everything that came from a question as text is a constant or a quoted name.
"""

from __future__ import annotations

from dataclasses import dataclass

from dither.query.policy.table import Table

WORDS = {  # what stands for each, with its parts by their places
    **{sign: f"({{0}} {sign} {{1}})" for sign in ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||")},
    **{word: f"({{0}} {word} {{1}})" for word in ("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE", "IS", "IN")},
    **{"()": "{0}", "NOT": "(NOT {0})", "negative": "(- {0})", "BETWEEN": "({0} BETWEEN {1} AND {2})"},
    **{"EXISTS": "EXISTS {0}", "DISTINCT": "DISTINCT {0}", "COUNT(*)": "COUNT(*)", "NULLIF": "NULLIF({0}, {1})"},
    **{
        name: f"{name}({{0}})" for name in ("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "UPPER", "LOWER", "LENGTH", "ABS")
    },
    **{name: f"{name}({{0}})" for name in ("FLOOR", "CEIL", "STDDEV_SAMP", "STDDEV_POP", "VAR_SAMP", "VAR_POP", "TRIM")},
    **{f"EXTRACT {part}": f"EXTRACT({part} FROM {{0}})" for part in ("year", "quarter", "month", "day", "hour", "dow")},
    **{f"INTERVAL {unit}": f"to_{unit}s({{0}})" for unit in ("year", "month", "day", "hour")},
    **{f"CAST {kind}": f"CAST({{0}} AS {kind})" for kind in ("DATE", "TIMESTAMP", "BIGINT", "INTEGER", "DOUBLE", "VARCHAR")},
    **{f"TRUNC {part}": f"date_trunc('{part}', {{0}})" for part in ("year", "quarter", "month", "week", "day", "hour")},
    **{"WHEN": "WHEN {0} THEN {1}", "ELSE": "ELSE {0}"},
}
LISTS = {  # of as many parts as there are: what stands before, between and behind them
    **{"AND": ("(", " AND ", ")"), "OR": ("(", " OR ", ")"), "list": ("(", ", ", ")"), "CASE": ("CASE ", " ", " END")},
    **{name: (f"{name}(", ", ", ")") for name in ("SUBSTRING", "COALESCE", "ROUND")},
}


@dataclass(frozen=True)
class Constant:
    """A number as it was written, a text, or NULL, TRUE or FALSE."""

    text: str
    is_text: bool = False


@dataclass(frozen=True)
class Name:
    """A column, perhaps with the name of its table; or all of them."""

    column: str | None  # None: a star
    table: str | None = None


@dataclass(frozen=True)
class Term:
    """One of the words, with its parts."""

    word: str
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Rows:
    """What stands behind FROM or JOIN: a public table, a name that WITH gave, or an inner question."""

    of: Table | str | PublicSelect | PublicUnion
    called: str  # empty: an inner question without a name
    columns: tuple[str, ...] = ()
    join: str = ""  # JOIN, LEFT JOIN, ...; empty behind FROM
    on: Node | None = None
    using: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """A part of ORDER BY."""

    by: Node
    descending: bool


@dataclass(frozen=True)
class PublicSelect:
    """One SELECT."""

    given: tuple[tuple[str, tuple[str, ...], PublicSelect | PublicUnion], ...]  # WITH: names, their columns, questions
    distinct: bool
    items: tuple[tuple[Node, str | None], ...]  # with what each is called
    rows: tuple[Rows, ...]
    where: Node | None
    groups: tuple[Node, ...]
    having: Node | None
    order: tuple[Order, ...]
    limit: int | None
    offset: int | None


@dataclass(frozen=True)
class PublicUnion:
    """Two questions, one below the other; each row once unless `every` is."""

    left: PublicSelect | PublicUnion
    right: PublicSelect | PublicUnion
    every: bool


Node = Constant | Name | Term | PublicSelect | PublicUnion
