"""The schema of a source: for each column the type that fits it, and how it is stored. Never read from rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dither.errors import LONGEST_SHOWN, DataError
from dither.query.policy.column import Column, Type

STORED: list[tuple[tuple[str, ...], Type]] = [
    (("BOOL",), Type.BOOLEAN),
    (("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Type.INTEGER),
    (("HUGEINT", "UHUGEINT"), Type.INTEGER),
    (("FLOAT", "DOUBLE"), Type.FLOAT),
    (("DECIMAL",), Type.DECIMAL),
    (("VARCHAR", "ENUM", "UUID"), Type.TEXT),
    (("TIMESTAMP",), Type.TIMESTAMP),
    (("DATE",), Type.DATE),
]
WIDE = ("uint64", "UBIGINT", "HUGEINT", "UHUGEINT")  # whole numbers that 64 bits with a sign do not hold
TOO_FINE = ("timestamp[ns", "TIMESTAMP_NS", "date64")  # finer than what they are read as
PLAIN = "whole numbers, decimals, floats, text, truth values, dates or timestamps"


class Held(NamedTuple):
    """One column of a source."""

    type: Type | None  # None for what no policy can describe, or no engine reads: lists, structures, bytes, 16-bit floats
    stored: str  # in the words of the source: files of one table must agree in this


Schema = dict[str, Held]


def from_arrow(schema: Any, where: str) -> Schema:
    """The columns of an Arrow schema."""
    from pyarrow import types

    def held(kind: Any) -> Held:
        plain = kind.value_type if types.is_dictionary(kind) else kind
        return Held(_fitting(plain), str(plain))

    return unique(((field.name, held(field.type)) for field in schema), where)


def from_duckdb(columns: Iterable[tuple[str, str]], where: str) -> Schema:
    """The columns of a DuckDB table."""

    def held(kind: str) -> Held:
        nested = kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))
        return Held(None if nested else next((fit for starts, fit in STORED if kind.startswith(starts)), None), kind)

    return unique(((name, held(kind)) for name, kind in columns), where)


def unique(columns: Iterable[tuple[str, Held]], where: str) -> Schema:
    """No two names that SQL takes for one: the engine would read whichever comes first."""
    found: Schema = {}
    for name, held in columns:
        for other in found:
            if other.lower() == str(name).lower():
                raise DataError(where, name, f"{other!r} is the same name in SQL", "columns whose names differ")
        found[str(name)] = held
    return found


def must_fit(column: Column, held: Held, where: str, *, person: bool) -> None:
    """Refuse a column that cannot be what the policy says; for a person, also every cast that makes two people one."""
    if held.type is None:
        raise unreadable(column.name, held, where)
    if not person:
        return
    if held.type in (Type.FLOAT, Type.DECIMAL, Type.BOOLEAN):
        why = "it says whose a row is, and floats and decimals do not tell people apart reliably"
        raise DataError(where, column.name, why, "the same column as whole numbers or text")
    kept = held.type is column.type or column.type is Type.TEXT or (held.type, column.type) == (Type.TEXT, Type.INTEGER)
    if held.stored.startswith((*WIDE, "UUID", "ENUM")):
        kept = column.type is Type.TEXT
    if held.stored.startswith(TOO_FINE) or (held.type is Type.TIMESTAMP and column.type is Type.TEXT):
        kept = False
    if not kept:
        why = f"it says whose a row is, and reading {held.stored} as {column.type.value} could make two people one"
        instead = "ids that are text or whole numbers, described as what they are"
        raise DataError(where, column.name, why, instead)


def must_be_text(column: Column, held: Held, where: str, *, engine: str) -> None:
    """Refuse words on how cells are written where they are stored as what they are, or where nobody reads them so."""
    stated = {fact: said for fact, said in column.cells.stated().items() if fact != "null" or held.type is Type.TEXT}
    if not stated or (held.type is Type.TEXT and engine == "duckdb"):
        return
    fact = next(iter(stated))
    why = f"{fact} is about cells in text, and it is stored as {held.stored}"
    if held.type is Type.TEXT:
        why = f"{fact} is stated of it, and in a database cells are read as they are stored"
    raise DataError(where, column.name, why, f"leaving {fact} out, for the table and for the column")


def unreadable(column: str, held: Held, where: str) -> DataError:
    """The refusal of a column that no question can read."""
    return DataError(where, column, *reason(column, held))


def reason(column: str, held: Held) -> tuple[str, str]:
    """Why a column cannot be read, and what would make it readable."""
    stored = held.stored if len(held.stored) <= LONGEST_SHOWN else held.stored[: LONGEST_SHOWN - 3] + "..."
    if stored == "object":
        why = "its dtype is object: each cell could be anything"
        return why, f"frame[{column!r}] = frame[{column!r}].astype('string'), or the dtype that it has"
    if stored.startswith("Sparse"):
        why = f"its dtype is {stored}, and sparse columns are not read"
        return why, f"frame[{column!r}] = frame[{column!r}].sparse.to_dense()"
    if stored.lower() in ("halffloat", "float16"):
        why = f"it is stored as {stored}, and the engine reads no floats of 16 bits"
        return why, "the same column as floats of 32 or 64 bits"
    if stored.startswith("decimal"):
        why = f"it is stored as {stored}, and the engine reads decimals of at most 38 digits, some of them behind the point"
        return why, "the same column as such decimals, or as floats"
    why = f"it is stored as {stored}: lists, structures or bytes, or something else that no policy describes"
    return why, f"a column of plain values: {PLAIN}"


def _fitting(kind: Any) -> Type | None:
    from pyarrow import types

    if types.is_float16(kind) or types.is_decimal256(kind):
        return None  # the engine does not read them
    if types.is_decimal(kind) and not 0 <= kind.scale <= kind.precision:
        return None  # nor these: it has no such type
    tests = [
        (types.is_boolean, Type.BOOLEAN),
        (types.is_integer, Type.INTEGER),
        (types.is_floating, Type.FLOAT),
        (types.is_decimal, Type.DECIMAL),
        (types.is_string, Type.TEXT),
        (types.is_large_string, Type.TEXT),
        (types.is_string_view, Type.TEXT),
        (types.is_date, Type.DATE),
        (types.is_timestamp, Type.TIMESTAMP),
    ]
    return next((fit for test, fit in tests if test(kind)), None)
