"""Whose a row is where another table says it: `owner = { through = "orders", on = "order_id" }` instead of `person`.

A row belongs to whoever owns a row of the other table, its *parent*, with the same key. `policy/chains.py` follows such
words to a table with a person.
"""

from __future__ import annotations

from dataclasses import dataclass

from dither.errors import PolicyError
from dither.query.policy.column import Column, Type
from dither.query.policy.fact import Fact

OURS = "\u200b"  # ends names of columns that no question can name: it is not printable
HIDDEN = f"whose row it is{OURS}"  # the person where no column has her
MOST_KEYS = 8  # columns of one key
EXAMPLE = '{ through = "orders", on = "order_id" }'
PAIR = '{ child = "order_id", parent = "id" }'
VAGUE = (Type.FLOAT, Type.DECIMAL, Type.BOOLEAN)  # they do not tell rows apart reliably: -0.0, NaN, 0.1 + 0.2


@dataclass(frozen=True)
class Owner:
    """The table whose rows say whose rows these are, and the columns that lead there."""

    through: str
    on: tuple[tuple[str, str], ...]  # the column here, and in the parent


def read_owner(stated: Fact, columns: tuple[Column, ...], where: str) -> Owner:
    """An owner from the words of a policy; the parent is looked up once all tables are read."""
    if not isinstance(stated, dict) or stated.keys() - {"through", "on"}:
        raise PolicyError(where, stated, "an owner is a table to go through, and the key that leads there", EXAMPLE)
    through = stated.get("through")
    if not isinstance(through, str) or not through:
        raise PolicyError(f"{where}.through", through, "it is not the name of a table", EXAMPLE)
    given = stated.get("on")
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    if not 0 < len(several) <= MOST_KEYS:
        raise PolicyError(f"{where}.on", given, f"a key has 1 to {MOST_KEYS} columns", f'"order_id", or {PAIR}')
    pairs = tuple(_pair(one, f"{where}.on") for one in several)
    if len(set(pairs)) != len(pairs):
        raise PolicyError(f"{where}.on", given, "a pair of columns is there twice", "each once")
    for child, _ in pairs:
        found = next((column for column in columns if column.name == child), None)
        if found is None:
            names = ", ".join(column.name for column in columns)
            raise PolicyError(f"{where}.on", child, "this table has no such column", f"one of its columns: {names}")
        if found.type in VAGUE:
            why = f"a {found.type.value} does not tell rows apart reliably"
            raise PolicyError(f"{where}.on", child, why, "a key of whole numbers, text, dates or timestamps")
    return Owner(through, pairs)


def _pair(stated: Fact, where: str) -> tuple[str, str]:
    if isinstance(stated, str) and stated:
        return stated, stated
    if isinstance(stated, dict) and stated.keys() == {"child", "parent"}:
        child, parent = stated["child"], stated["parent"]
        if isinstance(child, str) and isinstance(parent, str) and child and parent:
            return child, parent
    raise PolicyError(where, stated, "it names no column of both tables", f'"order_id", or {PAIR}')
