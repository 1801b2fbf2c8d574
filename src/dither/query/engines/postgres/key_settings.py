"""Long lists of declared keys as settings of a transaction, each an array as a text: they go with the transaction.

A transaction that only reads can make no table, not even a temporary one; a setting it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dither.query.engines.key_lists import KeyList, KeyLists
from dither.query.engines.postgres.words import setting
from dither.query.policy.column import Type

if TYPE_CHECKING:
    import psycopg


class KeySettings:
    """The lists of a release in one transaction, each handed over once."""

    def __init__(self, link: psycopg.Connection[Any], lists: KeyLists | None) -> None:
        self._link, self._lists, self._there = link, lists, set[str]()

    def hand_over(self) -> None:
        """Those that are new."""
        new = [] if self._lists is None else [one for one in self._lists.by_name.values() if one.name not in self._there]
        for one in new:
            self._link.execute("SELECT set_config(%s, %s, true) IS NULL", (setting(one), array(one)))
            self._there.add(one.name)


def array(listed: KeyList) -> str:
    """Keys as the text of an array: texts in quotes, in which only quotes and backslashes mean anything."""
    if listed.type is not Type.TEXT:
        return f"{{{','.join(map(str, listed.keys))}}}"
    quoted = (str(key).replace("\\", "\\\\").replace('"', '\\"') for key in listed.keys)
    return "{" + ",".join(f'"{key}"' for key in quoted) + "}"
