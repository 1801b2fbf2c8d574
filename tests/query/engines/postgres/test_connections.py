"""How often PostgreSQL is connected to, what is remembered of a question, and what is called while it works."""

from __future__ import annotations

import psycopg
import pyarrow as pa
import pytest

import dither
from dither.errors import DataError, QuestionError
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.sources.postgres_table import postgres_table
from tests.query.engines.postgres.tables import load

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.fixture
def data(address, link, tmp_path):
    load(link, "visits", pa.table({"person": [1, 2, 3], "ward": ["A", "B", "A"]}))
    load(link, "wards", pa.table({"ward": ["A", "B"], "site": ["x", "y"]}))
    return dither.protect(
        f"{address}&table=visits",
        **{"name": "visits", "person": "person", "ledger": dither.Ledger.create(tmp_path / "l", budget=dither.pure(10**8))},
        **{"max_groups": 2, "max_rows_per_group": 2, "keys": {"ward": ["A", "B"], "wards.site": ["x", "y"]}},
        public={"wards": f"{address}&table=wards"},
    )


@pytest.fixture
def made(monkeypatch):
    """Every connection that was made."""
    found, real = [], psycopg.connect
    monkeypatch.setattr(psycopg, "connect", lambda *given, **how: found.append(given) or real(*given, **how))
    return found


def test_two_connections_for_a_question_that_was_asked_before(data, made):
    """One for the catalogue of all tables, one that reads; one more for a rehearsal, and for the look at a public table."""
    join = "SELECT site, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY site"
    counts = []
    for sql in (COUNT, join):
        for epsilon in (10**5, 10**5 + 1):
            quote = data.quote(sql, epsilon=epsilon)
            made.clear()
            assert [round(n) for n in quote.release()["n"]] == [2, 1]
            counts.append(len(made))
    assert counts == [3, 2, 4, 3]


def test_a_failed_rehearsal_is_run_again(address, link, made):
    load(link, "visits", pa.table({"person": [1]}))
    engine = PostgresEngine()
    source = postgres_table(f"{address}&table=visits", "source")
    table = read_table()
    (found,) = engine.tables({table: source}).values()
    for _ in range(2):
        made.clear()
        with pytest.raises(QuestionError, match="whatever the data is"):
            engine.rehearse({"visits": found}, ["SELECT 1", "SELECT nothing FROM nowhere"])
        assert len(made) == 1
    for count in (1, 0):  # what worked beside it was not remembered; what works is
        made.clear()
        engine.rehearse({"visits": found}, ["SELECT 1"])
        assert len(made) == count


def read_table():
    from dither.query.policy.policy import read_policy

    columns = {"person": {"type": "integer"}}
    facts = {"person": "person", "max_groups": 1, "max_rows_per_group": 1, "columns": columns}
    stated = {"version": 1, "domain": "d", "ledger": {"location": "l", "budget": {"epsilon": 1}}}
    return read_policy({**stated, "tables": {"visits": facts}}).tables[0]


def test_a_table_that_became_another_is_seen(data, link, made):
    """What is remembered is a SELECT with its types: the catalogue is looked at each time."""
    data.quote(COUNT, epsilon=10**5).release()
    link.execute("ALTER TABLE visits ALTER ward TYPE varchar(9)")
    made.clear()
    assert [round(n) for n in data.quote(COUNT, epsilon=10**5 + 1).release()["n"]] == [2, 1]
    assert len(made) == 3  # rehearsed anew
    link.execute("ALTER TABLE visits RENAME TO gone; CREATE VIEW visits AS TABLE gone")
    spent = data.ledger.remaining()
    with pytest.raises(DataError, match="a view"):
        data.quote(COUNT, epsilon=10**5 + 2).release()
    assert data.ledger.remaining() == spent
    link.execute("DROP VIEW visits; DROP TABLE gone")


def test_progress_is_called_with_nothing_known(address, link):
    """With 0 while the server works, whatever it does: somebody who waits sees that, and her own clock."""
    load(link, "visits", pa.table({"person": [1]}))
    engine, parts = PostgresEngine(), []
    (found,) = engine.tables({read_table(): postgres_table(f"{address}&table=visits", "source")}).values()

    def let_go(part):
        parts.append(part)
        link.execute("SELECT pg_advisory_unlock_all()")

    link.execute("SELECT pg_advisory_lock(77)")  # the SELECT waits for it until progress was called
    with engine.opened([found]) as opened:
        assert opened.read(let_go)("SELECT pg_advisory_lock_shared(77) IS NULL, 1", lambda _: True) == [(False, 1)]
    assert parts
    assert set(parts) == {0.0}
