"""A table of a PostgreSQL database, by its address: `postgresql://host/database?table=schema.visits`.

What is looked at beforehand is the catalogue: what the table is, and names and types of its columns. A table is read if
nobody's code runs when it is read: no view, no foreign table, no row security, no type or access method of an extension, no
column that is computed at the read. Such code could fail, wait or tell by a single row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from dither.errors import DataError
from dither.extras import needs
from dither.query.policy.column import Column, Type
from dither.query.policy.engine_facts import CERTIFIED, EngineFacts
from dither.query.policy.table import Table
from dither.query.sources.postgres_server import ROLE, avoid_indexes, begin, check_server, start_options
from dither.query.sources.schema import Held, Schema, unique
from dither.query.sources.source import Source
from dither.query.sources.sql_quotes import name

if TYPE_CHECKING:
    import psycopg

EXAMPLE = "postgresql://host/database?table=public.visits"
NAME = 'table=schema.visits; names with dots in double quotes: table="a.b".visits'
STORED = {
    "boolean": Type.BOOLEAN,
    "smallint": Type.INTEGER,
    "integer": Type.INTEGER,
    "bigint": Type.INTEGER,
    "real": Type.FLOAT,
    "double precision": Type.FLOAT,
    "numeric": Type.DECIMAL,
    "text": Type.TEXT,
    "character varying": Type.TEXT,
    "character": Type.TEXT,
    "uuid": Type.TEXT,
    "date": Type.DATE,
    "timestamp without time zone": Type.TIMESTAMP,
    "timestamp with time zone": Type.TIMESTAMP,
}
READABLE = {  # what the policy may say of a column that is stored as this; every one of these casts is total
    "boolean": {Type.BOOLEAN, Type.TEXT},
    "smallint": {Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.TEXT, Type.BOOLEAN},
    "integer": {Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.TEXT, Type.BOOLEAN},
    "bigint": {Type.INTEGER, Type.DECIMAL, Type.FLOAT, Type.TEXT, Type.BOOLEAN},
    "real": {Type.INTEGER, Type.DECIMAL, Type.FLOAT},
    "double precision": {Type.INTEGER, Type.DECIMAL, Type.FLOAT},
    "numeric": {Type.INTEGER, Type.DECIMAL, Type.FLOAT},
    "text": {Type.TEXT},
    "character varying": {Type.TEXT},
    "character": {Type.TEXT},
    "uuid": {Type.TEXT},
    "date": {Type.DATE, Type.TIMESTAMP},
    "timestamp without time zone": {Type.TIMESTAMP, Type.DATE},
    "timestamp with time zone": {Type.TIMESTAMP, Type.DATE},
}
FARTHEST = 2**100  # of bounds, and of what one is divided by for a step: doubles computed of them do not overflow

# The table and all tables whose rows it shows: partitions, and children by inheritance.
TREE = """WITH RECURSIVE tree AS (
    SELECT c.oid, true AS root FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = %s
    UNION SELECT i.inhrelid, false FROM pg_catalog.pg_inherits AS i JOIN tree ON tree.oid = i.inhparent)
SELECT c.oid::bigint, c.relkind::text, coalesce(a.amname, 'heap')::text, pg_catalog.row_security_active(c.oid),
    pg_catalog.has_table_privilege(c.oid, 'SELECT'),
    pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
FROM tree JOIN pg_catalog.pg_class AS c ON c.oid = tree.oid LEFT JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
ORDER BY tree.root DESC, c.oid"""
COLUMNS = """SELECT a.attname::text, pg_catalog.format_type(a.atttypid, NULL), t.typnamespace = 'pg_catalog'::regnamespace
    AND t.typtype = 'b', a.attgenerated::text, coalesce(k.collisdeterministic, true)
FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation AS k ON k.oid = a.attcollation
WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
UNIQUE = """SELECT array_agg(a.attname::text) FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])
WHERE i.indrelid = %s::regclass AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL
    AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits AS h JOIN pg_catalog.pg_class AS c ON c.oid = h.inhparent
        WHERE h.inhparent = i.indrelid AND c.relkind <> 'p') GROUP BY i.indexrelid"""
KINDS = {
    "v": "a view",
    "f": "a foreign table",
    "S": "a sequence",
    "i": "an index",
    "c": "a type",
    "t": "a store of long values",
}


@dataclass(frozen=True)
class PostgresTable(Source):
    """A table of a PostgreSQL database."""

    url: str = field(repr=False)  # of the database, without a password
    schema_name: str
    table_name: str
    server_version: int | None = None  # by the owner's word, beside those that are certified
    kind = "postgresql"
    engine = "postgresql"

    @property
    def relation(self) -> str:
        """What stands after FROM."""
        return f"{name(self.schema_name)}.{name(self.table_name)}"

    def stamp(self) -> None:
        """A catalogue is looked at each time."""
        return

    def schema(self, table: str) -> Schema:
        with catalogue(self.url) as link:
            return read_catalogue(link, self)

    def under(self, facts: EngineFacts | None) -> PostgresTable:
        return self if facts is None else replace(self, server_version=facts.server_version)

    def cautions(self) -> list[str]:
        """Rights of the role that reading does not need, and a version that nobody certified."""
        with catalogue(self.url) as link:
            tree = link.execute(TREE, (self.schema_name, self.table_name)).fetchall()
            ((role, is_super, beyond),) = link.execute(ROLE).fetchall()
            version = link.info.server_version // 10000
        found = [f"the role {role} is a superuser: let a role read that may do nothing else"] if is_super else []
        if not is_super and any(writable for *_, writable in tree):
            found.append(f"the role {role} may write to {self.relation}: let a role read that may do nothing else")
        if not is_super and beyond:
            found.append(f"the role {role} may reach files or other servers: let a role read that may do nothing else")
        if version not in CERTIFIED:
            found.append(str(EngineFacts(server_version=version).uncertified))
        return found

    def enforces_key(self, columns: Collection[str]) -> bool:
        """Whether a primary key or a unique constraint is of these columns, or of some of them and of no others: then no two
        rows have the same key at any time. Not where it is deferrable, partial, of expressions, or not valid; nor where
        the table has children by inheritance, for whose rows it does not hold."""
        with catalogue(self.url) as link:
            found = link.execute(UNIQUE, (self.relation,)).fetchall()
        return any(set(names) <= set(columns) for (names,) in found)

    def fitting(self, table: Table, found: Schema) -> Schema:
        found = super().fitting(table, found)
        for column in table.columns:
            must_be_read(column, found[column.name], f"source of {table.name}", table)
        return found


def postgres_table(stated: str, where: str) -> PostgresTable:
    """The table that an address names."""
    try:
        parts = urlsplit(stated)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        secret = parts.password
    except ValueError:
        raise DataError(where, "postgresql://...", "it is no address that can be read", EXAMPLE) from None
    if secret or any(option.lower() in ("password", "sslpassword") for option, _ in options):
        why = "a password in an address is kept and shown wherever the address is"
        raise DataError(where, "postgresql://...", why, "PGPASSWORD in the environment, or the file .pgpass")
    named = [value for option, value in options if option == "table"]
    if len(named) != 1:
        raise DataError(where, stated, "the address does not say which table", EXAMPLE)
    names = re.findall(r'"((?:[^"]|"")+)"|([^".]+)', named[0])
    spelled = ".".join(f'"{quoted}"' if quoted else plain for quoted, plain in names)
    if spelled != named[0] or len(names) not in (1, 2):
        raise DataError(where, named[0], "it is not the name of a table", NAME)
    found = [quoted.replace('""', '"') or plain for quoted, plain in names]
    if any(len(part.encode()) > 63 or "\0" in part for part in found):
        raise DataError(where, named[0], "PostgreSQL has names of at most 63 bytes", NAME)
    # libpq reads no + as a blank, and urlunsplit leaves // out where no host is named
    rest = urlencode([(option, value) for option, value in options if option != "table"], quote_via=quote)
    base = f"postgresql://{parts.netloc}{parts.path}{'?' if rest else ''}{rest}"
    schema, table = found if len(found) == 2 else ("public", found[0])
    return PostgresTable(base, schema, table)


@contextmanager
def connection(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that only reads, from a place where nobody can put operators of their own.

    Raises:
        DataError: The server cannot be reached. Its own words are not passed on: they may hold whatever it wishes.
    """
    with needs("dither[postgres]"):
        import psycopg
    link = None
    try:
        link = psycopg.connect(
            url, autocommit=True, application_name="dither", client_encoding="utf8", options=start_options(),
            connect_timeout=10,
        )  # fmt: skip
        begin(link)
    except (psycopg.Error, UnicodeError):
        if link is not None:
            link.close()
        why = "no connection to it can be made"
        raise DataError("source", _shown(url), why, "an address that psql takes, with PGPASSWORD or .pgpass") from None
    try:
        yield link
    finally:
        link.close()


@contextmanager
def catalogue(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection for looks at the catalogue alone; a server that fails meanwhile is one that cannot be reached."""
    with needs("dither[postgres]"):
        import psycopg
    with connection(url) as link:
        try:
            yield link
        except psycopg.Error:
            raise lost(url) from None


def lost(url: str) -> DataError:
    """What is said of a server that failed before anything was charged."""
    return DataError("source", _shown(url), "the server broke off before anything was charged", "asking again")


def _shown(url: str) -> str:
    return url.partition("?")[0]


def read_catalogue(link: psycopg.Connection[Any], source: PostgresTable) -> Schema:
    """Names and types of the columns of a table; refused if anybody's code runs when it is read."""
    where = source.relation
    check_server(link, source.server_version)
    tree = link.execute(TREE, (source.schema_name, source.table_name)).fetchall()
    if not tree:
        raise DataError("source", where, "there is no such table, or this role may not see it", NAME)
    for place, (_, kind, method, secured, readable, _) in enumerate(tree):
        part = "it" if place == 0 and len(tree) == 1 else "one of its parts"
        if kind == "m":
            why = "it is a materialized view, which nobody can lock: it could change between the look at it and the read"
            raise DataError("source", where, why, f"a table: CREATE TABLE ... AS TABLE {where}")
        if kind not in "rp":
            why = f"{part} is {KINDS.get(kind, 'no table')}, and the code of others would run with the rows"
            raise DataError("source", where, why, "a table")
        if method != "heap":
            raise DataError("source", where, f"{part} is stored by {method}, code of an extension", "a table of USING heap")
        if secured:
            why = f"row security is on for {part}, and rows would be missing without a word"
            raise DataError("source", where, why, "a role with BYPASSRLS, or a table without row security")
        if not readable and kind != "p":
            raise DataError("source", where, f"this role may not read {part}", f"GRANT SELECT ON {where} TO the role")
    avoid_indexes(link, [number for number, *_ in tree])
    columns = []
    told_of = link.execute(COLUMNS, (tree[0][0],)).fetchall()
    for column, stored, plain, generated, deterministic in told_of:
        kind = STORED.get(stored) if plain and generated != "v" and deterministic else None
        told = stored if generated != "v" else f"{stored}, computed at the read"
        columns.append((column, Held(kind, told if deterministic else f"{told} with a collation that takes texts for one")))
    return unique(columns, "source")


def must_be_read(column: Column, held: Held, where: str, table: Table) -> None:
    """Refuse a column that PostgreSQL cannot read as what the policy says, on every row."""
    if column.type not in READABLE[held.stored]:
        why = f"it is stored as {held.stored}, and not every such value is {column.type.value}"
        kinds = ", ".join(sorted(kind.value for kind in READABLE[held.stored]))
        raise DataError(where, column.name, why, f"type = one of {kinds} in the policy, or a column of another type")
    if held.stored == "character" and table.tells_whose(column.name):
        why = "it says whose a row is, and blanks at the end of character(n) do not count"
        raise DataError(where, column.name, why, "text or character varying")
    ends = [abs(end) for end in (column.lower, column.upper) if end is not None]
    if any(end > FARTHEST for end in ends) or (column.step is not None and not 1 <= column.step * FARTHEST <= FARTHEST**2):
        why = "bounds beyond 2^100, or steps below 2^-100, could overflow: PostgreSQL fails there"
        raise DataError(where, column.name, why, "bounds of at most 10^30, a step of at least 10^-30")
