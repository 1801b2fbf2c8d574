"""What the catalogue of a PostgreSQL database says of several tables: columns, foreign keys, and which it cannot read.

An address names tables, `postgresql://host/database?table=clinic.visits&table=clinic.wards`, or a schema, and then means all
of its tables: `postgresql://host/database?schema=clinic`. Only the catalogue is read, in one transaction; no row is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from dither.errors import DataError
from dither.extras import needs
from dither.query.sources.postgres_table import KINDS, PostgresTable, connection, postgres_table, read_catalogue
from dither.query.sources.schema import Schema

if TYPE_CHECKING:
    import psycopg

EXAMPLE = "postgresql://host/database?table=public.visits, or ?schema=public for all of its tables"
# Parts of a table are read by its name, and are no tables of their own.
LISTED = """SELECT c.relname::text, c.relkind::text FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits AS h WHERE h.inhrelid = c.oid)
ORDER BY c.relname"""
# Not those of a table to itself, nor those that were never checked against the rows.
FOREIGN_KEYS = """SELECT pn.nspname::text, p.relname::text,
    (SELECT array_agg(a.attname::text ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number),
    (SELECT array_agg(a.attname::text ORDER BY u.place) FROM unnest(k.confkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number)
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class AS p ON p.oid = k.confrelid JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND k.contype = 'f' AND k.convalidated AND k.conparentid = 0
    AND k.confrelid <> k.conrelid ORDER BY k.conname, k.oid"""


@dataclass(frozen=True)
class ForeignKey:
    """Each row refers to one row of another table, or to none; the database sees to it."""

    schema_name: str
    table_name: str
    columns: tuple[tuple[str, str], ...]  # the column here, and in the other table


@dataclass(frozen=True)
class CatalogueTable:
    """A table that can be read."""

    source: PostgresTable
    schema: Schema
    foreign_keys: tuple[ForeignKey, ...]


@dataclass(frozen=True)
class Catalogue:
    """Tables of one database."""

    name: str  # of what was asked for: the schema, the one table, or the database
    tables: tuple[CatalogueTable, ...]
    unread: tuple[tuple[str, str], ...]  # relations of a schema that cannot be read, each with the reason
    cautions: tuple[str, ...]


def is_address(stated: str) -> bool:
    """Whether it is an address of PostgreSQL, and no path."""
    return stated.startswith(("postgresql://", "postgres://"))


def address(source: PostgresTable) -> str:
    """The address of a table, as a policy states it: one from which the same table is read."""
    names = [source.schema_name, source.table_name]
    spelled = ".".join('"' + part.replace('"', '""') + '"' if set('".') & set(part) else part for part in names)
    return f"{source.url}{'&' if '?' in source.url else '?'}table={quote(spelled, safe='.')}"


def find_tables(stated: str) -> Catalogue:
    """The tables of an address, looked up in the catalogue.

    Raises:
        DataError: the address holds a password or names no table, the server cannot be reached, or a table that is named
            cannot be read; of a schema, if no table of it can.
    """
    with needs("dither[postgres]"):
        import psycopg
    try:
        parts = urlsplit(stated)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise DataError("address", "postgresql://...", "it is no address that can be read", EXAMPLE) from None
    rest = [(option, value) for option, value in options if option not in ("table", "schema")]
    named = list(dict.fromkeys(value for option, value in options if option == "table"))
    schemas = list(dict.fromkeys(value for option, value in options if option == "schema"))
    start = f"postgresql://{parts.netloc}{parts.path}?"
    database = postgres_table(start + urlencode([*rest, ("table", "any")]), "address")  # refuses passwords
    if not named and not schemas:
        raise DataError("address", stated, "it does not say which tables", EXAMPLE)
    sources = [postgres_table(start + urlencode([*rest, ("table", one)]), "address") for one in named]
    try:
        with connection(database.url) as link:
            tables = [_looked_up(link, source) for source in sources]
            unread: list[tuple[str, str]] = []
            for schema in schemas:
                found, other = _of_schema(link, database.url, schema)
                tables += [one for one in found if one.source not in sources]
                unread += other
        cautions = [caution for one in tables for caution in one.source.cautions()]
    except psycopg.Error:
        raise DataError("address", start[:-1], "its catalogue cannot be read", "a server that answers") from None
    if not tables:
        told = "; ".join(f"{relation}: {why}" for relation, why in unread[:3]) or "it has none, or there is no such schema"
        raise DataError("address", f"schema={', '.join(schemas)}", f"no table of it can be read ({told})", EXAMPLE)
    only = schemas[0] if len(schemas) == 1 else tables[0].source.table_name if len(tables) == 1 else parts.path.strip("/")
    return Catalogue(only, tuple(tables), tuple(unread), tuple(dict.fromkeys(cautions)))


def _of_schema(link: psycopg.Connection[Any], url: str, schema: str) -> tuple[list[CatalogueTable], list[tuple[str, str]]]:
    """The tables of a schema that can be read, and the other relations with the reason."""
    found: list[CatalogueTable] = []
    unread: list[tuple[str, str]] = []
    for table, kind in link.execute(LISTED, (schema,)).fetchall():
        source = PostgresTable(url, schema, table)
        if kind not in "rpm":
            unread.append((source.relation, f"it is {KINDS[kind]}"))
            continue
        try:
            found.append(_looked_up(link, source))
        except DataError as error:
            unread.append((source.relation, error.why))
    return found, unread


def _looked_up(link: psycopg.Connection[Any], source: PostgresTable) -> CatalogueTable:
    schema = read_catalogue(link, source)
    keys = link.execute(FOREIGN_KEYS, (source.schema_name, source.table_name)).fetchall()
    foreign = (ForeignKey(where, table, tuple(zip(here, there, strict=True))) for where, table, here, there in keys)
    return CatalogueTable(source, schema, tuple(foreign))
