"""A question about public tables as SQL: names and texts quoted, words from the list, tables where the policy has them.

Ties are not left to the engine: where ORDER BY leaves rows equal, all columns of the answer order them. Sums of whole
numbers and of decimals are exact; columns that are stored as what the policy says are read as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.engine import TableSource
from dither.query.engines.templates.expressions import cell
from dither.query.engines.templates.relations import rows_of
from dither.query.policy.table import Table
from dither.query.public.nodes import LISTS, WORDS, Constant, Name, Node, PublicSelect, PublicUnion, Rows, Term

MOST_ROWS = 1_000_000  # of an answer
Sources = Mapping[str, TableSource]


def public_sql(question: PublicSelect, sources: Sources, *, placed: bool) -> str:
    """The whole question, in a fixed order, with one row more than an answer may have. If it is `placed` it says where rows
    are; otherwise that is still to be written around it."""
    heads = [
        DUCKDB.inline(rows_of(DUCKDB, name), f"SELECT * FROM {source.relation} AS source")
        for name, source in sources.items()
        if placed
    ]
    most = MOST_ROWS + 1 if question.limit is None else min(question.limit, MOST_ROWS + 1)
    return _select(question, sources, heads, most)


def _select(node: PublicSelect, sources: Sources, heads: Sequence[str] = (), outermost: int | None = None) -> str:
    given = [*heads] + [f"{_given(name, columns)} AS ({_query(of, sources)})" for name, columns, of in node.given]
    items = [_node(item, sources) + ("" if name is None else f" AS {DUCKDB.name(name)}") for item, name in node.items]
    parts = [f"WITH {', '.join(given)}"] if given else []
    parts.append(f"SELECT {'DISTINCT ' if node.distinct else ''}{', '.join(items)}")
    parts += [_rows(one, sources) for one in node.rows]
    parts += [] if node.where is None else [f"WHERE {_node(node.where, sources)}"]
    parts += [f"GROUP BY {', '.join(_node(by, sources) for by in node.groups)}"] if node.groups else []
    parts += [] if node.having is None else [f"HAVING {_node(node.having, sources)}"]
    order = [f"{_node(by.by, sources)}{' DESC' if by.descending else ''}" for by in node.order]
    stars = any(name is None for _, name in node.items)
    if outermost is not None:
        order += ["COLUMNS(*)"] if stars else [str(place) for place in range(1, len(node.items) + 1)]
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    limit = node.limit if outermost is None else outermost
    parts += [] if limit is None else [f"LIMIT {limit}"]
    parts += [] if node.offset is None else [f"OFFSET {node.offset}"]
    return " ".join(parts)


def _given(name: str, columns: tuple[str, ...]) -> str:
    return DUCKDB.name(name) + (f" ({', '.join(map(DUCKDB.name, columns))})" if columns else "")


def _query(node: PublicSelect | PublicUnion, sources: Sources) -> str:
    if isinstance(node, PublicUnion):
        return f"({_query(node.left, sources)}) UNION {'ALL ' if node.every else ''}({_query(node.right, sources)})"
    return _select(node, sources)


def _rows(node: Rows, sources: Sources) -> str:
    if isinstance(node.of, Table):
        of = table_sql(node.of, sources[node.of.name])
    else:
        of = DUCKDB.name(node.of) if isinstance(node.of, str) else f"({_query(node.of, sources)})"
    called = f" AS {_given(node.called, node.columns)}" if node.called else ""
    found = f"{node.join or 'FROM'} {of}{called}"
    if node.using:
        return f"{found} USING ({', '.join(map(DUCKDB.name, node.using))})"
    return found if node.on is None else f"{found} ON {_node(node.on, sources)}"


def table_sql(table: Table, source: TableSource) -> str:
    """A SELECT of the columns of the policy: as they are stored where that is the policy's type, else read as it."""
    cells = [
        DUCKDB.name(column.name) if source.schema[column.name].type is column.type else cell(DUCKDB, column)
        for column in table.columns
    ]
    named = [f"{read} AS {DUCKDB.name(column.name)}" for read, column in zip(cells, table.columns, strict=True)]
    return f"(SELECT {', '.join(named)} FROM {rows_of(DUCKDB, table.name)} AS source)"


def _node(node: Node, sources: Sources) -> str:
    match node:
        case Constant(text, is_text):
            return DUCKDB.text(text) if is_text else text
        case Name(None, table):
            return "*" if table is None else f"{DUCKDB.name(table)}.*"
        case Name(column, table):
            assert column is not None
            return DUCKDB.name(column) if table is None else f"{DUCKDB.name(table)}.{DUCKDB.name(column)}"
        case Term(word, parts):
            found = [_node(part, sources) for part in parts]
            if word in WORDS:
                return WORDS[word].format(*found)
            before, between, after = LISTS[word]
            return before + between.join(found) + after
    return f"({_query(node, sources)})"
