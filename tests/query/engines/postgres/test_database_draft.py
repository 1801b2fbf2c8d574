"""Drafts of policies from the catalogue of a real server: what they say, that they can be filled in, and refusals."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from dither.cli.main import app
from dither.errors import ConflictError, DataError
from dither.query.owner.database_draft import draft_database
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_catalogue import address as spelled
from dither.query.sources.postgres_table import PostgresTable, postgres_table
from tests.policies import opened

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
HOSTILE = 'x"\nperson = "each row'
CLINIC = """
DROP SCHEMA IF EXISTS drafted CASCADE; CREATE SCHEMA drafted;
CREATE TABLE drafted.patients (id bigint PRIMARY KEY, born date, photo bytea, mood inet);
CREATE TABLE drafted.visits (number bigint, day date, patient bigint REFERENCES drafted.patients, ward text,
    cost numeric(9, 2), PRIMARY KEY (number, day));
CREATE TABLE drafted.items (visit bigint, visit_day date, price double precision,
    FOREIGN KEY (visit, visit_day) REFERENCES drafted.visits (number, day));
CREATE TABLE drafted.unchecked (visit bigint, day date);
ALTER TABLE drafted.unchecked ADD FOREIGN KEY (visit, day) REFERENCES drafted.visits (number, day) NOT VALID;
CREATE TABLE drafted.nodes (id bigint PRIMARY KEY, parent bigint REFERENCES drafted.nodes);
CREATE TABLE drafted.parted (id bigint) PARTITION BY LIST (id);
CREATE TABLE drafted.part_1 PARTITION OF drafted.parted FOR VALUES IN (1);
CREATE VIEW drafted.seen AS SELECT * FROM drafted.visits;
CREATE TABLE drafted.secured (id bigint); ALTER TABLE drafted.secured ENABLE ROW LEVEL SECURITY;
CREATE TABLE drafted.hidden (id bigint);
DO $$ BEGIN CREATE ROLE draft_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
GRANT USAGE ON SCHEMA drafted TO draft_reader; GRANT SELECT ON ALL TABLES IN SCHEMA drafted TO draft_reader;
REVOKE ALL ON drafted.hidden FROM draft_reader;
INSERT INTO drafted.patients SELECT n FROM generate_series(1, 4) AS rows (n);
INSERT INTO drafted.visits SELECT n, '2024-01-01', n % 4 + 1, 'A', n FROM generate_series(1, 8) AS rows (n);
INSERT INTO drafted.items SELECT n % 8 + 1, '2024-01-01', n FROM generate_series(1, 16) AS rows (n);
"""


@pytest.fixture(scope="module")
def reader(address, link) -> str:
    """The address of a role that may only read."""
    link.execute(CLINIC)
    return address.replace("postgres@", "draft_reader@")


def command(*arguments: object) -> str:
    """What a command prints; its errors are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_a_schema_is_drafted_filled_in_checked_and_asked(reader, link, tmp_path, monkeypatch):
    """No row is read for the draft: somebody holds the tables for herself meanwhile."""
    monkeypatch.chdir(tmp_path)
    owner = link.info.dsn
    with psycopg.connect(owner) as other:
        other.execute("LOCK TABLE drafted.visits, drafted.patients, drafted.items IN ACCESS EXCLUSIVE MODE")
        command("policy", "init", f"{reader}&schema=drafted", "--out", "policy.toml")
    text = Path("policy.toml").read_text(encoding="utf-8")
    stated = tomllib.loads(text)
    assert list(stated["tables"]) == ["items", "nodes", "parted", "patients", "unchecked", "visits"]
    assert stated["tables"]["visits"]["columns"] == {
        "number": {"type": "integer"}, "day": {"type": "date"}, "patient": {"type": "integer"}, "ward": {"type": "text"},
        "cost": {"type": "decimal"},
    }  # fmt: skip
    assert list(stated["tables"]["patients"]["columns"]) == ["id", "born"]
    assert '# "photo": it is stored as bytea' in text
    assert '# "mood": it is stored as inet' in text
    left_out = {"seen": "it is a view", "secured": "row security is on", "hidden": "this role may not read it"}
    for relation, why in left_out.items():
        assert f'# left out: "drafted"."{relation}": {why}' in text
    assert "part_1" not in text
    assert "caution" not in text
    through = '# owner = { through = "visits", on = [{ child = "visit", parent = "number" }, '
    through += '{ child = "visit_day", parent = "day" }] }'
    assert text.count("# owner = ") == 2  # neither of the key that was never checked, nor of a table to itself
    assert text.count(through) == 1
    checked = CliRunner().invoke(app, ["policy", "check", "policy.toml"])
    assert checked.exit_code == 1
    assert "15 decisions of policy.toml are open" in checked.output
    with pytest.raises(ConflictError, match="a file already"):
        command("policy", "init", f"{reader}&schema=drafted", "--out", "policy.toml")

    text = text.replace('"FILL IN: one name for all tables that share a person, such as clinic"', '"clinic"')
    text = text.replace('"FILL IN: such as 3"', '"2000000"').replace('"FILL IN: such as 1"', '"2000000"')
    text = text.replace('"FILL IN: how many rows of one person count in an answer, such as 10"', "10")
    whose = 'person = "FILL IN: the column that says whose a row is, or: each row"'
    tables = text.split("[tables.")
    for at, table in enumerate(tables):
        if table.startswith('"items"]'):
            table = table.replace(f"{whose}\n", "").replace(through, through.removeprefix("# "))
        elif table.startswith(('"nodes"]', '"parted"]', '"unchecked"]')):
            table = table.replace(f"{whose}\n", "").replace("max_rows = 10\n", "").replace("# public", "public")
        column = {"visits": "patient", "patients": "id"}.get(table.partition("]")[0].strip('"'), "")
        tables[at] = table.replace(whose, f'person = "{column}"')
    Path("policy.toml").write_text("[tables.".join(tables), encoding="utf-8")
    told = command("policy", "check", "policy.toml")
    assert "items: 3 columns, postgresql: fits" in told
    assert "each key leads to one row of visits" in told
    data = opened("policy.toml")
    assert data.quote("SELECT COUNT(*) AS n FROM items", epsilon=10**6).release()["n"] == [16]


def test_tables_that_are_named(reader, address):
    one = draft_database(f"{reader}&table=drafted.visits", Path.cwd())
    assert list(tomllib.loads(one.text)["tables"]) == ["visits"]
    assert "# patient refers to drafted.patients, a foreign key" in one.text
    assert 'location = "visits.ledger"' in one.text
    assert one.cautions == ()
    two = draft_database(f"{reader}&table=drafted.visits&table=drafted.patients", Path.cwd()).text
    assert list(tomllib.loads(two)["tables"]) == ["visits", "patients"]
    assert '# owner = { through = "patients", on = { child = "patient", parent = "id" } }' in two
    for name, table in tomllib.loads(two)["tables"].items():
        assert find_source(table["source"], Path(), "source") == postgres_table(f"{reader}&table=drafted.{name}", "source")


def test_roles_that_could_write_are_warned_of(reader, address, link):
    told = draft_database(f"{address}&table=drafted.visits", Path.cwd())
    assert "superuser" in told.cautions[0]
    assert told.text.startswith("# caution: the role postgres is a superuser")
    result = CliRunner().invoke(app, ["policy", "init", f"{address}&table=drafted.visits"])
    assert "caution: the role postgres is a superuser" in result.stderr
    link.execute("GRANT INSERT ON drafted.visits TO draft_reader")
    try:
        assert "may write to" in draft_database(f"{reader}&table=drafted.visits", Path.cwd()).cautions[0]
    finally:
        link.execute("REVOKE INSERT ON drafted.visits FROM draft_reader")


def test_names_state_no_facts(reader, link):
    """Whoever may make a table may call it anything."""
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    made = f"""DROP SCHEMA IF EXISTS odd CASCADE; CREATE SCHEMA odd;
        CREATE TABLE odd.{quoted} ({quoted} bigint, "é😀" text, "a\u200bb" text, "no" inet);
        CREATE TYPE odd."t\nperson" AS ENUM ('a'); CREATE TABLE odd."VISITS" (x bigint, e odd."t\nperson");
        CREATE TABLE odd.visits (x bigint); CREATE TABLE odd."od.d" (x bigint); CREATE VIEW odd."v\nperson" AS SELECT 1;
        GRANT USAGE ON SCHEMA odd TO draft_reader; GRANT SELECT ON ALL TABLES IN SCHEMA odd TO draft_reader"""
    link.execute(made)
    try:
        stated = tomllib.loads(draft_database(f"{reader}&schema=odd", Path.cwd()).text)
        assert list(stated["tables"]) == ["odd_VISITS", "od.d", "odd_visits_2", 'odd_x"_person = "each row']
        odd = stated["tables"]['odd_x"_person = "each row']
        assert odd["person"].startswith("FILL IN")
        assert odd["columns"] == {"é😀": {"type": "text"}}
        for table in stated["tables"].values():
            find_source(table["source"], Path(), "source").schema("any")
    finally:
        link.execute("DROP SCHEMA odd CASCADE")


@pytest.mark.parametrize("names", [("a", "b"), ("a.b", 'c"d'), ("é +&=%", "x y?#"), ("😀", "table=1")])
@pytest.mark.parametrize("url", ["postgresql:///db", "postgresql://h:5/db?sslmode=require&options=-c%20a%3Db"])
def test_an_address_is_read_as_the_table_that_it_was_made_of(url, names):
    source = PostgresTable(url, *names)
    assert postgres_table(spelled(source), "source") == source


BAD = {
    "postgresql://u:canary@h/db?table=v": "a password in an address",
    "postgresql://h/db?schema=v&password=canary": "a password in an address",
    "postgresql://h/db?schema=v&%70assword=canary": "a password in an address",
    "postgresql://h/db": "which tables",
    "postgresql://h/db?schema": "no address",
    "postgresql://[h/db?schema=a": "no address",
    "postgresql://h/db?table=a.b.c": "not the name of a table",
    "postgresql://127.0.0.1:1/db?schema=public": "no connection to it can be made",
}


@pytest.mark.parametrize("url", BAD)
def test_bad_addresses_are_answered_clearly(url, tmp_path):
    with pytest.raises(DataError, match=BAD[url]) as error:
        command("policy", "init", url, "--out", tmp_path / "policy.toml")
    assert "canary" not in str(error.value)
    assert not (tmp_path / "policy.toml").exists()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("table=drafted.nowhere", "there is no such table"), ("table=drafted.hidden", "this role may not read it"),
        ("table=drafted.seen", "it is a view"), ("schema=nowhere", "there is no such schema"),
        ("table=drafted.visits&table=drafted.hidden", "may not read"), ("schema=", "there is no such schema"),
        ("schema=bad%00", "catalogue cannot be read|there is no such schema"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_drafted(reader, asked, why):
    with pytest.raises(DataError, match=why):
        draft_database(f"{reader}&{asked}", Path.cwd())


def test_a_password_from_the_environment_is_never_written(reader, monkeypatch):
    monkeypatch.setitem(os.environ, "PGPASSWORD", "canary-password")
    assert "canary" not in draft_database(f"{reader}&schema=drafted", Path.cwd()).text
