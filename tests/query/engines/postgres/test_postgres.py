"""PostgreSQL as a source: answers, what is refused before the charge, and failures that tell nothing."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from decimal import Decimal

import psycopg
import pyarrow
import pytest

import dither
from dither.errors import DataError, PolicyError, QuestionError, ReleaseError
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.owner.inspect import inspect
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_table import postgres_table
from tests.policies import opened
from tests.query.engines.postgres.tables import load

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
CANARY = "canary-7f3a"


@pytest.fixture
def visits(link):
    rows = pyarrow.table(
        {
            "patient": pyarrow.array([1, 1, 2, 3, 3, 3, None], pyarrow.int64()),
            "ward": ["A", "B", "A", "A", None, CANARY, "B"],
            "cost": pyarrow.array(
                list(map(Decimal, ["1.5", "99.99", "3", "7", "8.25", "1000", "3"])), pyarrow.decimal128(9, 2)
            ),
        }
    )
    load(link, "visits", rows)
    return rows


def dataset(address, tmp_path, budget=10**6, **more):
    ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(budget))
    facts = {"person": "patient", "max_groups": 2, "max_rows_per_group": 3, "bounds": {"cost": (0, 100)}}
    facts |= {"steps": {"cost": "0.01"}, "keys": {"ward": ["A", "B"]}, **more}
    return dither.protect(f"{address}&table=visits", name="visits", ledger=ledger, **facts)


def test_an_answer(address, tmp_path, visits):
    data = dataset(address, tmp_path, hard=["max_groups", "max_rows_per_group"])
    quote = data.quote("SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward", epsilon=10**5)
    answer = quote.release()
    assert answer["ward"] == ["A", "B"]
    assert [round(n) for n in answer["n"]] == [3, 1]  # nobody's row is left out
    assert answer["s"] == pytest.approx([11.5, 99.99], abs=2)
    assert quote.release().rows() == answer.rows()


def test_a_policy_with_an_address(address, tmp_path, visits, link):
    link.execute(
        'CREATE SCHEMA IF NOT EXISTS "od.d"; DROP TABLE IF EXISTS "od.d"."v i"; CREATE TABLE "od.d"."v i" AS TABLE visits'
    )
    (tmp_path / "policy.toml").write_text(f"""
version = 1
domain = "clinic"
ledger = {{ location = "l.ledger", budget = {{ epsilon = "1000000" }} }}
[tables.visits]
source = '{address}&table="od.d"."v i"'
person = "patient"
max_groups = 2
max_rows_per_group = 3
[tables.visits.columns]
patient = {{ type = "integer" }}
ward = {{ type = "text" }}
""")
    data = opened(tmp_path / "policy.toml")
    assert round(data.quote("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", epsilon=10**5).release()["n"][0]) == 3


# -- addresses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://u:secret@h/db?table=v", "a password in an address"),
        ("postgresql://h/db?table=v&password=secret", "a password in an address"),
        ("postgresql://h/db", "which table"),
        ("postgresql://h/db?table=a&table=b", "which table"),
        ("postgresql://h/db?table=a.b.c", "not the name of a table"),
        ('postgresql://h/db?table="a', "not the name of a table"),
        ("postgresql://h/db?table=", "not the name of a table"),
        (f"postgresql://h/db?table={'x' * 64}", "63 bytes"),
        ("postgresql://[h/db?table=v", "no address"),
    ],
)
def test_addresses_that_are_refused(url, why):
    with pytest.raises(DataError, match=why) as error:
        postgres_table(url, "source")
    assert "secret" not in str(error.value)


def test_addresses():
    for url, names in {
        "postgresql://h/db?table=visits": ("public", "visits"),
        "postgres://h/db?table=s.visits&sslmode=require": ("s", "visits"),
        'postgresql://h/db?table="a.b"."c""d"': ("a.b", 'c"d'),
    }.items():
        found = postgres_table(url, "source")
        assert (found.schema_name, found.table_name) == names
        assert "table=" not in found.url
        assert found.url.startswith("postgresql://h/db")
        assert "h/db" not in repr(found)


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no connection"):
        dataset("postgresql://127.0.0.1:1/db?connect_timeout=2", tmp_path)


# -- what is refused before the charge ------------------------------------------------------------------------------------

MADE = {
    "a view": "CREATE VIEW odd AS SELECT * FROM visits",
    "a materialized view": "CREATE MATERIALIZED VIEW odd AS SELECT * FROM visits",
    "row security is on": "CREATE TABLE odd AS TABLE visits; ALTER TABLE odd ENABLE ROW LEVEL SECURITY",
    "there is no such table": "SELECT 1",
    "a foreign table": "CREATE FOREIGN TABLE odd (patient bigint, ward text, cost numeric) SERVER elsewhere",
    "one of its parts is a foreign table": "CREATE TABLE odd (patient bigint, ward text) PARTITION BY LIST (ward);"
    "CREATE FOREIGN TABLE part PARTITION OF odd FOR VALUES IN ('A') SERVER elsewhere",
    "may not read": "CREATE TABLE odd AS TABLE visits; REVOKE ALL ON odd FROM reader",
}


@pytest.fixture(scope="module")
def reader(address, link):
    """A role that may only read."""
    link.execute("CREATE ROLE reader LOGIN")
    link.execute("CREATE FOREIGN DATA WRAPPER none; CREATE SERVER elsewhere FOREIGN DATA WRAPPER none")
    return address.replace("postgres@", "reader@")


@pytest.mark.parametrize("why", MADE)
def test_what_is_no_plain_table(why, reader, link, visits):
    link.execute(MADE[why])
    if why != "may not read" and "no such" not in why:
        link.execute("GRANT SELECT ON odd TO reader")
    try:
        with pytest.raises(DataError, match=why):
            postgres_table(f"{reader}&table=odd", "source").schema("odd")
    finally:
        kinds = {"a view": "VIEW", "a materialized view": "MATERIALIZED VIEW", "a foreign table": "FOREIGN TABLE"}
        kind = kinds.get(why, "TABLE")
        link.execute(f"DROP {kind} IF EXISTS odd CASCADE")


TYPES = {
    "a domain": ("CREATE DOMAIN euros AS numeric CHECK (value >= 0)", "cost euros"),
    "an enum": ("CREATE TYPE odd_wards AS ENUM ('A', 'B')", "ward odd_wards"),
    "an array": ("SELECT 1", "cost numeric[]"),
    "a type of network addresses": ("SELECT 1", "ward inet"),
    "equality that takes two texts for one": (
        "CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        'ward text COLLATE "loose"',
    ),
    "computed at the read": ("SELECT 1", "cost numeric, twice numeric GENERATED ALWAYS AS (cost * 2) VIRTUAL"),
}


@pytest.mark.parametrize("kind", TYPES)
def test_columns_that_nobody_can_read(kind, address, link):
    before, column = TYPES[kind]
    try:
        link.execute(before)
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this server was built without ICU")
    link.execute(f"CREATE TABLE odd (patient bigint, {column})")
    try:
        found = postgres_table(f"{address}&table=odd", "source").schema("odd")
        assert list(found.values())[-1].type is None
    finally:
        link.execute("DROP TABLE odd; DROP DOMAIN IF EXISTS euros; DROP TYPE IF EXISTS odd_wards")


@pytest.mark.parametrize(
    ("stored", "declared", "fits"),
    [
        ("bigint", "integer", True), ("numeric", "integer", True), ("real", "integer", True), ("text", "integer", False),
        ("numeric", "float", True), ("text", "float", False), ("double precision", "text", False), ("uuid", "text", True),
        ("character(5)", "text", True), ("date", "text", False), ("date", "timestamp", True), ("timestamptz", "date", True),
        ("boolean", "text", True), ("boolean", "integer", False), ("integer", "boolean", True),
    ],
)  # fmt: skip
def test_types_that_fit(stored, declared, fits, address, link, tmp_path):
    link.execute(f"DROP TABLE IF EXISTS typed; CREATE TABLE typed (p bigint, x {stored})")
    ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(10))

    def asked():
        data = dither.protect(
            f"{address}&table=typed", name="typed", person="p", max_groups=1, max_rows_per_group=1, ledger=ledger,
            types={"x": declared},
        )  # fmt: skip
        return data.quote("SELECT COUNT(x) AS n FROM typed", epsilon=1).release()

    if fits:
        assert asked()["n"]
    else:
        with pytest.raises((DataError, PolicyError)):
            asked()
        assert ledger.remaining().used == 0


HOSTILE = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "9223372036854775807", "9223372036854775807.6",
           "-9223372036854775808", "0", "2.5", "-2.5", None]  # fmt: skip


@pytest.mark.parametrize("stored", ["numeric", "double precision", "real"])
@pytest.mark.parametrize("declared", ["integer", "float", "decimal"])
def test_no_number_fails(stored, declared, address, link, tmp_path):
    link.execute(f"DROP TABLE IF EXISTS typed; CREATE TABLE typed (p bigint, x {stored})")
    for at, cell in enumerate(HOSTILE):
        try:
            link.execute("INSERT INTO typed VALUES (%s, %s)", (at, cell))
        except psycopg.errors.NumericValueOutOfRange:
            continue
    data = dither.protect(
        f"{address}&table=typed", name="typed", person="p", max_groups=1, max_rows_per_group=1, types={"x": declared},
        bounds={"x": (-10, 10)}, ledger=dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(10**9)),
    )  # fmt: skip
    for sql in ("SUM(x)", "SUM(x * x + 1)", "AVG(ROUND(x, 1))", "MEDIAN(x)", "VARIANCE(x)"):
        assert data.quote(f"SELECT {sql} AS s FROM typed", epsilon=10).release()["s"]


def test_char_says_of_nobody_who_it_is(address, link, tmp_path):
    link.execute("DROP TABLE IF EXISTS typed; CREATE TABLE typed (p character(5))")
    ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(10))
    data = dither.protect(f"{address}&table=typed", name="t", person="p", max_groups=1, max_rows_per_group=1, ledger=ledger)
    with pytest.raises(DataError, match="blanks at the end"):
        data.quote("SELECT COUNT(*) AS n FROM t", epsilon=1).release()


def test_tables_of_two_engines(address, tmp_path, visits):
    """Protected rows in files are sent nowhere: not to the database of a public table."""
    ledger = dither.Ledger.create(str(tmp_path / "l"), budget=dither.pure(9))
    public = {"others": f"{address}&table=visits"}
    data = dither.protect(visits, name="mine", person="patient", max_rows=3, public=public, ledger=ledger)
    with pytest.raises(DataError, match=r"mine \(arrow\), others \(postgresql\).*different engines"):
        data.quote("SELECT COUNT(*) AS n FROM mine JOIN others ON mine.ward = others.ward", epsilon=1)


# -- nobody's code runs, nothing is written, nothing is told ---------------------------------------------------------------


def test_operators_of_others_are_not_called(address, link, tmp_path, visits):
    link.execute("""CREATE OR REPLACE FUNCTION public.same(text, text) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'called with %', $1; END $$""")
    link.execute("CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.same)")
    link.execute("ALTER ROLE postgres SET search_path = public, pg_catalog")
    try:
        answer = (
            dataset(address, tmp_path).quote("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", epsilon=10**5).release()
        )
        assert round(answer["n"][0]) == 3
    finally:
        link.execute("ALTER ROLE postgres RESET search_path; DROP OPERATOR public.= (text, text); DROP FUNCTION public.same")


def test_a_transaction_writes_nothing(address, visits, tmp_path):
    data = dataset(address, tmp_path)
    source = data.engine.table(data.policy.tables[0], data.sources["visits"])
    with data.engine.opened([source]) as reading:
        run = reading.read()
        for sql in ("SELECT nextval('x')", "CREATE TEMP TABLE t (x int)", "INSERT INTO public.visits VALUES (1)"):
            with pytest.raises(RuntimeError, match=r"^the engine failed$"):
                run(sql, lambda _: True)


def test_a_failure_tells_nothing_and_stays_charged(address, link, tmp_path, visits, monkeypatch):
    """A table that is gone in the middle, a connection that is cut: one text."""
    data = dataset(address, tmp_path)
    before = PostgresEngine.opened

    def cut(self, sources, threads=None):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            with before(self, sources, threads) as found:
                read = found.read

                def read_and_cut(*args, **more):
                    run = read(*args, **more)
                    link.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dither'")
                    return run

                found.read = read_and_cut
                yield found

        return opened()

    monkeypatch.setattr(PostgresEngine, "opened", cut)
    quote = data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    with pytest.raises(ReleaseError) as error:
        quote.release()
    assert CANARY not in str(error.value)
    assert error.value.__context__ is None or CANARY not in str(error.value.__context__)
    assert "terminat" not in str(error.value)
    assert data.ledger.verify() is not False
    monkeypatch.undo()
    other = data.quote("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", epsilon=10**4).release()
    assert round(other["n"][0]) == 3


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_stops_the_server(address, link, tmp_path, visits):
    data = dataset(address, tmp_path)
    source = data.engine.table(data.policy.tables[0], data.sources["visits"])
    with data.engine.opened([source]) as opened:
        run = opened.read()
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), 2))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            run("SELECT pg_sleep(60)", lambda _: True)
        assert time.monotonic() - began < 30
    busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dither' AND query LIKE '%pg_sleep%'"
    for _ in range(50):
        if link.execute(busy).fetchone() == (0,):
            return
        time.sleep(0.1)
    pytest.fail("the server went on")


def test_the_owner_can_look_how_rows_fit(address, link, tmp_path, visits):
    """As of the same rows in a frame."""
    data = dataset(address, tmp_path, max_sum={"cost": 100}, hard=["max_sum.cost"])
    table = data.policy.tables[0]
    there = inspect(table, data.sources["visits"])
    assert there == inspect(table, find_source(visits, tmp_path, "data"))
    assert (there.rows, there.nobody, there.people) == (7, 1, 3)
    assert there.broken == ("max_sum.cost",)


def test_limits_of_memory_and_time(address, link, tmp_path, visits, reader):
    text = (
        f'version = 1\ndomain = "clinic"\nledger = {{ location = "l", budget = {{ epsilon = "9" }} }}\n'
        f'[engine]\nwork_mem = "7MB"\ntime_limit = "2s"\n[tables.visits]\nsource = "{address}&table=visits"\n'
        'person = "patient"\nmax_groups = 1\nmax_rows_per_group = 1\ncolumns = { patient = { type = "integer" } }\n'
    )
    (tmp_path / "policy.toml").write_text(text)
    data = opened(tmp_path / "policy.toml")
    source = data.engine.table(data.policy.tables[0], data.sources["visits"])
    with data.engine.opened([source]) as reading:
        run = reading.read()
        shown = run("SELECT current_setting('work_mem'), current_setting('transaction_read_only')", lambda _: True)
        assert shown == [("7MB", "on")]
        with pytest.raises(RuntimeError, match="the engine failed"):
            run("SELECT pg_sleep(60)", lambda _: True)
    assert data.policy.hash == dataclasses.replace(data.policy, engine=None).hash
    for bad in ('"lots"', "7", '"1 MB"'):
        (tmp_path / "bad.toml").write_text(text.replace('"7MB"', bad))
        with pytest.raises(PolicyError, match=r"engine\.work_mem"):
            dither.open(tmp_path / "bad.toml")
    assert "superuser" in data.sources["visits"].cautions()[0]
    link.execute("GRANT SELECT ON visits TO reader")
    assert postgres_table(f"{reader}&table=visits", "source").cautions() == []
    link.execute("GRANT INSERT ON visits TO reader")
    assert "may write" in postgres_table(f"{reader}&table=visits", "source").cautions()[0]


@pytest.mark.parametrize(
    ("made", "enforced"),
    [
        ("PRIMARY KEY (a, b)", True), ("UNIQUE (a)", True), ("UNIQUE (a, c)", False), ("CHECK (a > 0)", False),
        ("UNIQUE (a, b) DEFERRABLE", False), ("UNIQUE (b) INCLUDE (c)", False),
    ],
)  # fmt: skip
def test_keys_that_are_unique_by_the_catalogue(made, enforced, address, link):
    link.execute(f"DROP TABLE IF EXISTS keyed; CREATE TABLE keyed (a bigint, b bigint, c bigint, {made})")
    link.execute("CREATE UNIQUE INDEX ON keyed (b) WHERE a > 3; CREATE UNIQUE INDEX ON keyed ((a + b))")
    assert postgres_table(f"{address}&table=keyed", "source").enforces_key({"a", "b"}) is enforced


def test_letters_beyond_ascii_are_refused_beside_upper_and_lower(address, tmp_path, visits):
    data = dataset(address, tmp_path, keys={"ward": ["A", "Ä"]})
    grouped = "SELECT LOWER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w"
    for sql in (grouped, "SELECT COUNT(*) AS n FROM visits WHERE UPPER(ward) = 'Ä'"):
        with pytest.raises(QuestionError, match="letters of ASCII"):
            data.quote(sql, epsilon=1)
    data.quote("SELECT COUNT(*) AS n FROM visits WHERE UPPER(ward) = 'A'", epsilon=1)
