"""The declared tables and columns, as the side of a page shows them: each with what a click writes into the question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dither.query.sources.sql_quotes import name as quoted_name
from dither.query.sources.sql_quotes import text as quoted_text

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
MOST_KEYS = 30  # that are shown; the editor proposes all


def schema_facts(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tables with their columns, for the template."""
    return [
        {**table, "insert": _name(table["name"]), "columns": [_column(one) for one in table["columns"]]} for table in tables
    ]


def _column(column: Mapping[str, Any]) -> dict[str, Any]:
    keys = column["keys"]
    shown = [] if keys is None else [{"text": str(key), "insert": _literal(key, column["type"])} for key in keys[:MOST_KEYS]]
    left = 0 if keys is None else len(keys) - len(shown)
    return {**column, "insert": _name(column["name"]), "keys": shown, "has_keys": keys is not None, "more_keys": left}


def _name(text: str) -> str:
    return text if PLAIN.fullmatch(text) else quoted_name(text)


def _literal(key: Any, kind: str) -> str:
    """A key as SQL writes it."""
    if isinstance(key, bool):
        return "TRUE" if key else "FALSE"
    if isinstance(key, int):
        return str(key)
    return f"{'DATE ' if kind == 'date' else 'TIMESTAMP ' if kind == 'timestamp' else ''}{quoted_text(str(key))}"
