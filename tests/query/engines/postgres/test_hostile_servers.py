"""A server whose owner made things of her own: each is refused before the charge, or changes no whole number.

Functions that are made here raise an error with the cell that they get: a call is a failure, and one that could be seen.
With --all, and where the machine has Debian's server, everything runs there again, and so does what needs its extensions.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import psycopg
import pyarrow
import pytest

import dither
from dither.errors import DataError
from dither.query.dataset import Dataset, put_in_force
from tests.query.engines.postgres import servers
from tests.query.engines.postgres.tables import load
from tests.seeds import ALL

CANARY = "canary-5b1e"
QUESTIONS = [
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE seen >= TIMESTAMP '2024-06-01'",
    "SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL '-1 month 5 days' >= DATE '2024-05-05'",
    r"SELECT COUNT(*) AS n FROM visits WHERE ward LIKE 'A\%' OR LOWER(ward) = 'b' OR LENGTH(note) = 2",
    "SELECT COUNT(*) AS n FROM visits WHERE age >= 40",
]
SETTINGS = {
    "statement_timeout": "0",
    "standard_conforming_strings": "off",
    "backslash_quote": "on",
    "row_security": "on",
    "DateStyle": "'SQL, DMY'",
    "IntervalStyle": "sql_standard",
    "TimeZone": "'Pacific/Kiritimati'",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "lc_numeric": "'C'",
    "client_encoding": "LATIN1",
    "client_min_messages": "debug5",
    "default_transaction_isolation": "'serializable'",
    "default_transaction_read_only": "off",
    "default_transaction_deferrable": "on",
    "quote_all_identifiers": "on",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "gin_fuzzy_search_limit": "1",
    "constraint_exclusion": "on",
    "enable_seqscan": "off",
    "enable_hashagg": "off",
    "work_mem": "'64kB'",
    "jit_above_cost": "0",
    "parallel_setup_cost": "0",
    "cursor_tuple_fraction": "0.001",
    "idle_in_transaction_session_timeout": "'1ms'",
    "lock_timeout": "'1ms'",
}
RAISES = f"LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION '{CANARY} %', $1; END $$"


@pytest.fixture(scope="module", params=["wheel", "debian"] if ALL in os.environ else ["wheel"])
def owner(request):
    """The owner's connection to a database of its own, and how dither's role gets there."""
    if request.param == "debian":
        tools = servers.found()
        if tools is None:
            pytest.skip("this machine has no PostgreSQL of Debian")
        with servers.debian(tools) as address, connected(address) as found:
            yield found
    else:
        with connected(request.getfixturevalue("address")) as found:
            yield found


class connected:  # noqa: N801 - as a function
    """A database `hostile`, and a role `stranger` that may read."""

    def __init__(self, address: str) -> None:
        self._first = psycopg.connect(address, autocommit=True)
        self.address = address.replace("/postgres?", "/hostile?")
        self.read = self.address.replace("postgres@", "stranger@")

    def __enter__(self) -> connected:
        self._first.execute("CREATE DATABASE hostile")
        self._first.execute("CREATE ROLE stranger LOGIN")
        self._link = psycopg.connect(self.address, autocommit=True)
        self.execute = self._link.execute
        self.version = self._link.info.server_version // 10000
        self.execute("SET client_min_messages = error")
        self.execute("CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO stranger")
        self.execute("CREATE FOREIGN DATA WRAPPER none; CREATE SERVER elsewhere FOREIGN DATA WRAPPER none")
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()
        self._first.execute("DROP DATABASE hostile WITH (FORCE)")
        self._first.execute("DROP ROLE stranger")
        self._first.close()

    def load(self) -> None:
        several = {
            "patient": [1, 1, 2, 3, 3, 3, None],
            "ward": ["A", "B", "A", "A", None, CANARY, "A\\%"],
            "note": ["é", "éé", "字", "字字", "", None, "x"],
            "age": [31, 31, 44, 62, 62, 62, 50],
            "cost": [1.5, 99.25, 3.0, 7.0, 8.25, 1000.0, 3.0],
            "seen": [f"2024-05-31 {hour}:00:00+00" for hour in (9, 13, 20, 23)] + ["2024-06-01 00:00:00+00"] * 3,
            "day": ["2024-05-31", "2024-06-01", "2024-03-10", "2024-02-29", None, "2024-06-30", "2023-12-31"],
        }
        load(self._link, "visits", pyarrow.table(several), cost="numeric", seen="timestamptz", day="date")
        self.execute("GRANT SELECT ON visits TO stranger")


@pytest.fixture
def hostile(owner, tmp_path):
    """Make things of one's own, ask, and undo them: `made` and `undone` in SQL."""
    owner.load()
    ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(10**9))
    data = dither.protect(
        f"{owner.read}&table=visits", name="visits", person="patient", max_groups=2, max_rows_per_group=3, ledger=ledger,
        bounds={"cost": (0, 100)}, steps={"cost": "0.25"}, keys={"ward": ["A", "B"]},
        types={"day": "date", "seen": "timestamp"}, hard=["max_groups", "max_rows_per_group"],
    )  # fmt: skip
    undo = []

    def make(*sql: str, undone: str | None = None) -> None:
        for place, one in enumerate(sql):
            owner.execute(one)
            if place == 0 and undone is not None:
                undo.append(undone)

    def ask() -> list[object]:
        """With a ledger of its own: another would give the answers that it has."""
        make.ledger = dither.Ledger.create(
            str(tmp_path / f"l{os.urandom(8).hex()}"), budget=dither.pure(10**9), domain=data.policy.domain
        )
        put_in_force(data.policy, make.ledger)
        return asked(Dataset(data.policy, make.ledger, data.sources))

    make.ask = ask
    make.version = owner.version
    yield make
    for one in reversed(undo):
        owner.execute(one)


def asked(data: dither.Dataset) -> list[object]:
    """The whole numbers of all questions: at this epsilon noise is 0, but for once in e^1000 draws."""
    found = []
    for sql in QUESTIONS:
        answer = data.quote(sql, epsilon=10**5).release()
        kept = [[row[column] for column in row if column in ("ward", "n", "s")] for row in answer.rows()]
        found.append([[cell if isinstance(cell, str) else round(cell * 4) for cell in row] for row in kept])
    return found


def refused(hostile: Callable[..., None], why: str) -> None:
    with pytest.raises(DataError, match=why) as error:
        hostile.ask()
    assert CANARY not in str(error.value)
    assert hostile.ledger.remaining().used == 0


def same(hostile: Callable[..., None], truth: list[object], *made: str, undone: str | None = None) -> None:
    hostile(*made, undone=undone)
    assert hostile.ask() == truth


@pytest.fixture
def truth(hostile):
    found = hostile.ask()
    assert found[0][0] == ["A", 12, 46], found  # three rows of A, 11.5 together
    return found


# -- settings ---------------------------------------------------------------------------------------------------------------


def parallel(version: int) -> str:
    return "force_parallel_mode" if version < 16 else "debug_parallel_query"


def test_settings_of_a_role(hostile, truth):
    """All at once; one by one with --all, where each is taken back."""
    stated = {**SETTINGS, parallel(hostile.version): "on"}
    for one in [stated, *([{setting: value} for setting, value in stated.items()] if ALL in os.environ else [])]:
        same(hostile, truth, *(f"ALTER ROLE stranger SET {setting} = {value}" for setting, value in one.items()))
        hostile("ALTER ROLE stranger RESET ALL")


def test_settings_of_a_login_trigger(hostile, truth):
    """It comes after the settings with which a connection starts."""
    if hostile.version < 17:
        pytest.skip("login triggers came with PostgreSQL 17")
    sets = "".join(f"PERFORM set_config('{setting}', {quoted(value)}, false);" for setting, value in SETTINGS.items())
    sets += "PERFORM set_config('search_path', 'evil, public, pg_catalog', false);"
    body = f"BEGIN IF session_user = 'stranger' THEN {sets} RAISE WARNING '{CANARY}'; END IF; END"
    operators(hostile)
    hostile(f"CREATE FUNCTION evil.enter() RETURNS event_trigger LANGUAGE plpgsql AS $${body}$$",
            undone="DROP EVENT TRIGGER enter; DROP FUNCTION evil.enter")  # fmt: skip
    same(hostile, truth, "CREATE EVENT TRIGGER enter ON login EXECUTE FUNCTION evil.enter()")
    raised = f"BEGIN IF session_user = 'stranger' THEN RAISE EXCEPTION '{CANARY}'; END IF; END"
    hostile(f"CREATE OR REPLACE FUNCTION evil.enter() RETURNS event_trigger LANGUAGE plpgsql AS $${raised}$$")
    refused(hostile, "no connection")


def quoted(value: str) -> str:
    return value if value.startswith("'") else f"'{value}'"


def test_libraries_that_a_role_loads(hostile):
    hostile("ALTER ROLE stranger SET session_preload_libraries = 'nowhere'", undone="ALTER ROLE stranger RESET ALL")
    refused(hostile, "no connection")


# -- operators, functions and casts of others -------------------------------------------------------------------------------


def operators(hostile: Callable[..., None]) -> None:
    made = [
        f"CREATE FUNCTION evil.lower(text) RETURNS text {RAISES}",
        f"CREATE FUNCTION evil.length(text) RETURNS int {RAISES}",
    ]
    made.append(f"CREATE FUNCTION evil.concat_ws(text, text) RETURNS text {RAISES}")
    for kind in ("text", "bigint", "numeric"):
        for sign, about in (("=", "same"), ("<", "less"), (">=", "most")):
            made.append(f"CREATE FUNCTION evil.{about}({kind}, {kind}) RETURNS boolean {RAISES}")
            made.append(f"CREATE OPERATOR evil.{sign} (LEFTARG = {kind}, RIGHTARG = {kind}, FUNCTION = evil.{about})")
    hostile(*made, undone="DROP SCHEMA evil CASCADE; CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO stranger")


def test_operators_before_those_of_the_server(hostile, truth):
    operators(hostile)
    same(hostile, truth, "ALTER ROLE stranger SET search_path = evil, pg_catalog", undone="ALTER ROLE stranger RESET ALL")


def test_casts_belong_to_no_schema(hostile):
    """The cast of a person to a text, by which her groups are chosen, would call it."""
    hostile(f"CREATE FUNCTION evil.told(bigint) RETURNS text {RAISES}",
            "CREATE CAST (bigint AS text) WITH FUNCTION evil.told(bigint)",
            undone="DROP FUNCTION evil.told CASCADE")  # fmt: skip
    refused(hostile, "somebody made it")


@pytest.mark.parametrize("what", ["FUNCTION", "OPERATOR"])
def test_functions_among_those_of_the_server(what, hostile):
    made = [f"CREATE FUNCTION pg_catalog.floor(bigint) RETURNS bigint {RAISES}"]
    undone = "DROP FUNCTION pg_catalog.floor(bigint)"
    if what == "OPERATOR":
        made = [f"CREATE FUNCTION evil.less(text, varchar) RETURNS boolean {RAISES}"]
        made.append("CREATE OPERATOR pg_catalog.< (LEFTARG = text, RIGHTARG = varchar, FUNCTION = evil.less)")
        undone = "DROP OPERATOR pg_catalog.< (text, varchar); DROP FUNCTION evil.less(text, varchar)"
    hostile(*made, undone=undone)
    refused(hostile, "somebody made it")


# -- tables that are none, or not plain -------------------------------------------------------------------------------------

TABLE = "ALTER TABLE visits RENAME TO kept"
BACK = "DROP {} visits CASCADE; ALTER TABLE kept RENAME TO visits"
GIVE = "GRANT SELECT ON visits TO stranger"
TELLS = (
    f"LANGUAGE plpgsql VOLATILE AS $$ BEGIN RAISE WARNING '{CANARY} %', $1; PERFORM pg_notify('told', $1); RETURN $1; END $$"
)
COLUMNS = "patient bigint, ward text, note text, age bigint, cost numeric, seen timestamptz, day date"
INHERIT = [f"CREATE TABLE visits ({COLUMNS})", "CREATE TABLE part () INHERITS (visits)", "GRANT SELECT ON part TO stranger"]
FOREIGN_PART = "one of its parts is a foreign table"
NOT_PLAIN = {  # what is made, what it is, and why it is refused
    "a view with 1/cost": (
        ["CREATE VIEW visits AS SELECT patient, ward, note, age, 1 / (cost - 3) AS cost, seen, day FROM kept"],
        "VIEW", "a view",
    ),
    "a view with a volatile function": (
        [f"CREATE FUNCTION evil.tell(text) RETURNS text {TELLS}",
         "CREATE VIEW visits AS SELECT patient, evil.tell(ward) AS ward, note, age, cost, seen, day FROM kept"],
        "VIEW", "a view",
    ),
    "a rule": (
        ["CREATE VIEW visits AS SELECT * FROM kept",
         'CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO visits DO INSTEAD SELECT * FROM kept'],
        "VIEW", "a view",
    ),
    "a foreign table": ([f"CREATE FOREIGN TABLE visits ({COLUMNS}) SERVER elsewhere"], "FOREIGN TABLE", "a foreign table"),
    "a part that is foreign": (
        [f"CREATE TABLE visits ({COLUMNS}) PARTITION BY LIST (ward)",
         "CREATE FOREIGN TABLE part PARTITION OF visits FOR VALUES IN ('A') SERVER elsewhere"],
        "TABLE", FOREIGN_PART,
    ),
    "a child that is foreign": (
        [f"CREATE TABLE visits ({COLUMNS})", "CREATE FOREIGN TABLE part () INHERITS (visits) SERVER elsewhere"],
        "TABLE", FOREIGN_PART,
    ),
    "a child of a child that is foreign": (
        [*INHERIT, "CREATE FOREIGN TABLE below () INHERITS (part) SERVER elsewhere"], "TABLE", FOREIGN_PART,
    ),
    "row security": (
        ["CREATE TABLE visits AS TABLE kept", "ALTER TABLE visits ENABLE ROW LEVEL SECURITY",
         "CREATE POLICY few ON visits USING (cost < 5)"],
        "TABLE", "row security is on",
    ),
    "row security of a part": ([*INHERIT, "ALTER TABLE part ENABLE ROW LEVEL SECURITY"], "TABLE", "row security is on"),
    "an access method": (
        ["CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler",
         f"CREATE TABLE visits ({COLUMNS}) USING other"],
        "TABLE", "stored by other",
    ),
    "a domain with a CHECK": (
        ["CREATE FUNCTION evil.fine(numeric) RETURNS boolean LANGUAGE sql AS 'SELECT $1 > 0'",
         "CREATE DOMAIN evil.euros AS numeric CHECK (evil.fine(value))", "CREATE TABLE visits AS TABLE kept",
         "ALTER TABLE visits ALTER cost TYPE evil.euros"],
        "TABLE", "euros",
    ),
    "a column computed at the read": (
        ["CREATE TABLE visits (patient bigint, ward text, note text, age bigint, seen timestamptz, day date,"
         "cost numeric GENERATED ALWAYS AS (1/patient) VIRTUAL)"],
        "TABLE", "computed at the read",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", NOT_PLAIN)
def test_what_is_no_plain_table(what, hostile):
    made, kind, why = NOT_PLAIN[what]
    if "VIRTUAL" in made[0] and hostile.version < 18:
        pytest.skip("virtual columns came with PostgreSQL 18")
    after = f"{BACK.format(kind)}; DROP SCHEMA evil CASCADE; CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO stranger"
    hostile(TABLE, undone=after + ("; DROP ACCESS METHOD other" if "access" in what else ""))
    hostile(*made, GIVE)
    refused(hostile, why)


def test_virtual_columns_of_parts(hostile):
    """The server itself refuses a part that computes what the whole stores."""
    if hostile.version < 18:
        pytest.skip("virtual columns came with PostgreSQL 18")
    hostile(f"CREATE TABLE whole ({COLUMNS})", undone="DROP TABLE whole CASCADE")
    for made in (
        "CREATE TABLE part (cost numeric GENERATED ALWAYS AS (1/patient) VIRTUAL) INHERITS (whole)",
        f"CREATE TABLE part ({COLUMNS.replace('cost numeric', 'cost numeric GENERATED ALWAYS AS (1/patient) VIRTUAL')});"
        "ALTER TABLE part INHERIT whole",
    ):
        with pytest.raises(psycopg.Error):
            hostile(made)


@pytest.mark.parametrize("extension", ["dblink", "postgres_fdw"])
def test_other_servers(extension, hostile, owner):
    """A view or a foreign table that opens a connection of its own, back to the same database."""
    try:
        hostile(f"CREATE EXTENSION {extension}", undone=f"DROP EXTENSION {extension} CASCADE")
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this server came without the contrib modules")
    host = owner.address.split("host=")[1]
    hostile(
        TABLE, undone="DROP SERVER IF EXISTS loop CASCADE; DROP VIEW IF EXISTS visits; ALTER TABLE kept RENAME TO visits"
    )
    if extension == "dblink":
        hostile("CREATE TABLE told (what text)", undone="DROP TABLE told")
        write = f"dblink_exec('host={host} dbname=hostile user=postgres', 'INSERT INTO told VALUES (''{CANARY}'')')"
        hostile(f"CREATE VIEW visits AS SELECT kept.* FROM kept WHERE {write} = 'INSERT 0 1'", GIVE)
        assert "files or other servers" in " ".join(dither_source(owner).cautions())
    else:
        hostile(f"CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', dbname 'hostile')",
                "CREATE USER MAPPING FOR PUBLIC SERVER loop OPTIONS (user 'postgres')",
                f"CREATE FOREIGN TABLE visits ({COLUMNS}) SERVER loop OPTIONS (table_name 'kept')", GIVE)  # fmt: skip
    refused(hostile, "a view" if extension == "dblink" else "a foreign table")
    if extension == "dblink":
        assert owner.execute("SELECT count(*) FROM told").fetchone() == (0,)


def dither_source(owner: connected):
    from dither.query.sources.postgres_table import postgres_table

    return postgres_table(f"{owner.read}&table=kept", "source")


# -- what stands beside a plain table, and does not run ---------------------------------------------------------------------

BESIDE = {
    "rules and triggers": [
        "CREATE RULE more AS ON INSERT TO visits DO ALSO SELECT evil.told(1)",
        "CREATE RULE less AS ON DELETE TO visits DO INSTEAD NOTHING",
        "CREATE FUNCTION evil.fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'fired'; END $$",
        "CREATE TRIGGER fires BEFORE INSERT OR UPDATE OR DELETE ON visits FOR EACH ROW EXECUTE FUNCTION evil.fires()",
    ],
    "an event trigger": [
        "CREATE FUNCTION evil.event() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'fired'; END $$",
        "CREATE EVENT TRIGGER event ON ddl_command_start WHEN tag IN ('CREATE AGGREGATE') EXECUTE FUNCTION evil.event()",
    ],
    "a CHECK that is computed when a SELECT is planned": [
        "CREATE FUNCTION evil.fine(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$",
        "ALTER TABLE visits ADD CHECK (evil.fine(1) OR cost > 0)",
        f"CREATE OR REPLACE FUNCTION evil.fine(int) RETURNS boolean {RAISES}",
        "ALTER ROLE stranger SET constraint_exclusion = on",
    ],
    "an index of an expression, and one of some rows": [
        "CREATE FUNCTION evil.half(numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 / 2; END $$",
        "CREATE INDEX ON visits (evil.half(cost))",
        "CREATE INDEX ON visits (ward) WHERE evil.half(cost) > 1",
        f"CREATE OR REPLACE FUNCTION evil.half(numeric) RETURNS numeric {RAISES}",
        "ALTER ROLE stranger SET enable_seqscan = off",
    ],
    "an index by somebody's order": [
        "CREATE FUNCTION evil.compare(bigint, bigint) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint8cmp($1, $2)'",
        """CREATE OPERATOR CLASS evil.others FOR TYPE bigint USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =,
            OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 evil.compare(bigint, bigint)""",
        "CREATE INDEX ON visits (age evil.others)",
        f"CREATE OR REPLACE FUNCTION evil.compare(bigint, bigint) RETURNS int {RAISES}",
        "ALTER ROLE stranger SET enable_seqscan = off",
    ],
}


@pytest.mark.parametrize("what", BESIDE)
def test_what_stands_beside_a_plain_table(what, hostile, truth):
    undone = (
        "ALTER ROLE stranger RESET ALL; DROP SCHEMA evil CASCADE; CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO stranger"
    )
    hostile(f"CREATE FUNCTION evil.told(int) RETURNS int {RAISES}", undone=undone)
    same(hostile, truth, *BESIDE[what])
