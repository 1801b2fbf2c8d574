"""What a PostgreSQL server must be like before rows are read: its version, its encoding, its settings, and that casts,
functions and operators of its own types are its own.

A role, a database, a login trigger or a pool of connections may set anything. So each transaction sets what bears on a
result or on a failure, and looks whether it is set. Operators and functions are found in `pg_catalog` alone. Two things come
past that: a cast belongs to no schema, so that somebody's `CAST (bigint AS text)` runs with every cell that is cast; and
a superuser may put functions and operators into `pg_catalog` itself. Both are looked for, in the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.query.policy.engine_facts import CERTIFIED, OLDEST
from dither.query.sources.sql_quotes import name, text

if TYPE_CHECKING:
    import psycopg

SETTINGS = {
    "quote_all_identifiers": "off",  # types go by their plain names; first, since lists of names are kept as it says
    "search_path": "pg_catalog, pg_temp",  # nobody's operators and functions; temporary tables last
    "client_encoding": "UTF8",  # as the server's: a cell that another encoding lacks would fail
    "client_min_messages": "error",  # notices may hold cells
    "row_security": "off",  # where rows would be left out, the server fails
    "lock_timeout": "5s",  # before the charge
    "idle_in_transaction_session_timeout": "0",
    "standard_conforming_strings": "on",  # a backslash is a character
    "TimeZone": "UTC",
    "timezone_abbreviations": "Default",  # UTC is UTC
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",  # by `sql_standard` the first minus is for all parts
    "extra_float_digits": "1",  # two doubles have two texts; a hash of texts chooses groups
    "array_nulls": "on",  # in a list that was sent, NULL is none and no text
    "transform_null_equals": "off",
    "gin_fuzzy_search_limit": "0",  # above, an index gives some of its rows, at random
    "constraint_exclusion": "off",  # no CHECK is computed when a SELECT is planned
    "cursor_tuple_fraction": "1",  # all rows are fetched: no plan for the first few
}
LISTS = {"search_path", "DateStyle"}  # several values, each by itself
FIRST_MADE = 16384  # objects of lower numbers came with the server (FirstNormalObjectId)
TYPES = ["bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "bpchar", "name", "uuid",
         "date", "timestamp", "timestamptz", "interval", "oid", "_int8", "_text"]  # fmt: skip

BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
SERVER = """SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
    ARRAY(SELECT current_setting(asked.name) FROM unnest(%s::text[]) WITH ORDINALITY AS asked(name, place) ORDER BY place),
    current_setting('transaction_isolation') = 'repeatable read' AND current_setting('transaction_read_only') = 'on',
    ARRAY(SELECT format('CAST (%%s AS %%s)', format_type(castsource, NULL), format_type(casttarget, NULL))
        FROM pg_catalog.pg_cast WHERE oid >= %s AND castsource < %s AND casttarget < %s
        AND castsource IN (SELECT oid FROM pg_catalog.pg_type WHERE typname = ANY (%s))
        AND casttarget IN (SELECT oid FROM pg_catalog.pg_type WHERE typname = ANY (%s)) ORDER BY 1),
    ARRAY(SELECT format('FUNCTION %%s', oid::regprocedure) FROM pg_catalog.pg_proc AS made WHERE oid >= %s
        AND pronamespace = 'pg_catalog'::regnamespace AND EXISTS (SELECT 1 FROM pg_catalog.pg_proc AS own
        WHERE own.proname = made.proname AND own.pronamespace = made.pronamespace AND own.oid < %s) ORDER BY 1),
    ARRAY(SELECT format('OPERATOR %%s', oid::regoperator) FROM pg_catalog.pg_operator WHERE oid >= %s
        AND oprnamespace = 'pg_catalog'::regnamespace ORDER BY 1)"""
MADE = (FIRST_MADE, FIRST_MADE, FIRST_MADE, TYPES, TYPES, FIRST_MADE, FIRST_MADE, FIRST_MADE)
INDEXES = """SELECT count(*) FROM pg_catalog.pg_index AS i WHERE i.indrelid = ANY (%s::oid[])
    AND EXISTS (SELECT 1 FROM unnest(i.indclass::oid[]) AS class(number) WHERE class.number >= %s)"""
ROLE = """SELECT current_user::text, current_setting('is_superuser') = 'on',
    EXISTS (SELECT 1 FROM pg_catalog.pg_proc WHERE has_function_privilege(oid, 'EXECUTE')
        AND proname ~ '^(dblink(_connect|_connect_u|_exec)?|pg_read_file|pg_read_binary_file|lo_import|lo_export)$')
    OR pg_has_role('pg_read_server_files', 'MEMBER') OR pg_has_role('pg_write_server_files', 'MEMBER')
    OR pg_has_role('pg_execute_server_program', 'MEMBER')"""
NO_INDEXES = ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")


def start_options() -> str:
    """The settings as a connection asks for them when it starts; in force before anything else runs."""
    stated = {**SETTINGS, "default_transaction_read_only": "on"}
    del stated["client_encoding"]  # has a place of its own
    return " ".join(f"-c {setting}={value.replace(' ', '')}" for setting, value in stated.items())


def begin(link: psycopg.Connection[Any]) -> None:
    """Begin the one transaction of a connection, in which the settings hold.

    SET takes no look at the data: which state the transaction sees is decided later, when all tables are locked.
    """
    stated = []
    for setting, value in SETTINGS.items():
        parts = value.split(", ") if setting in LISTS else [value]
        stated.append(f"SET LOCAL {name(setting.lower())} = {', '.join(map(text, parts))}")
    link.execute("; ".join([BEGIN, *stated]))


def check_server(link: psycopg.Connection[Any], stated: int | None = None) -> None:
    """Refuse a server whose version nobody ran or stated, or whose encoding, settings, casts, functions or operators make
    results of others; looks at the catalogue alone.

    Args:
        link: a connection in a transaction that `begin` began.
        stated: a version that the owner takes without a certificate.
    """
    ((version, encoding, values, reads, *made),) = link.execute(SERVER, (list(SETTINGS), *MADE)).fetchall()
    number = int(version) // 10000
    if number < OLDEST or number not in (*CERTIFIED, stated):
        certified = f"PostgreSQL {', '.join(map(str, CERTIFIED[:-1]))} or {CERTIFIED[-1]}"
        word = f"; or, by the owner's word, [engine] server_version = {number} in the policy" if number >= OLDEST else ""
        why = f"PostgreSQL {number} was never run with the conformance suite"
        raise DataError("source", f"PostgreSQL {number}", why, certified + word)
    if encoding != "UTF8":
        raise DataError("source", encoding, "texts of that encoding are compared otherwise", "a database with UTF8")
    for setting, value, found in zip(SETTINGS, SETTINGS.values(), values, strict=True):
        if found.replace(" ", "") != value.replace(" ", ""):
            why = f"the server keeps {setting} at something else than {value}, and would compute something else"
            raise DataError("source", setting, why, "a connection to the server itself, where SET works")
    if not reads:
        why = "the transaction is not REPEATABLE READ READ ONLY: something between here and the server changed it"
        raise DataError("source", "the transaction", why, "a connection to the server itself")
    for one in (one for several in made for one in several):
        why = "somebody made it for types of the server itself, and that code would run with the rows"
        raise DataError("source", one, why, f"DROP {one}, or a database without it")


def avoid_indexes(link: psycopg.Connection[Any], tables: list[int]) -> None:
    """Read tables without their indexes, where one of these is of an operator class that did not come with the server: its
    code would run with the rows. A table can always be read without."""
    ((found,),) = link.execute(INDEXES, (tables, FIRST_MADE)).fetchall()
    if found:
        link.execute("; ".join(f"SET LOCAL {setting} = off" for setting in NO_INDEXES))
