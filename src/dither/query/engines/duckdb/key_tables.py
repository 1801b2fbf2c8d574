"""Long lists of declared keys as tables of a cursor: they go with it, and the next reader does not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.query.engines.key_lists import KeyLists
from dither.query.policy.column import Type

if TYPE_CHECKING:
    import duckdb


class KeyTables:
    """The lists of a release on one cursor, each handed over once."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, lists: KeyLists | None) -> None:
        self._cursor, self._lists, self._there = cursor, lists, set[str]()

    def hand_over(self) -> None:
        """Those that are new."""
        new = [] if self._lists is None else [one for one in self._lists.by_name.values() if one.name not in self._there]
        if not new:
            return
        import pyarrow as pa

        kinds = {Type.TEXT: pa.string(), Type.INTEGER: pa.int64(), Type.DATE: pa.date32()}
        for one in new:
            keys = pa.table({"k": pa.array(one.keys, type=kinds[one.type])})
            self._cursor.register(f"declared keys, {one.name}", keys)
            self._there.add(one.name)
