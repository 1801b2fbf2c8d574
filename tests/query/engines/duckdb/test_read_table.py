"""Long texts are cut, and long ids let go, before anything else looks at them: what it means, and that it is sound."""

from __future__ import annotations

import random
from collections.abc import Callable

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from dither.errors import PolicyError, QuestionError
from dither.privacy.unit import Unit
from dither.query import counts
from dither.query.engines.duckdb import read_table as read
from dither.query.engines.duckdb import run as duckdb_engine
from dither.query.engines.duckdb.from_source import from_source
from dither.query.engines.duckdb.read_table import read_sql
from dither.query.engines.duckdb.table_source import table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.owner.inspect import inspect
from dither.query.plan.relations import Scan
from dither.query.policy.column import LONGEST_TEXT, Type
from dither.query.policy.table import read_table
from dither.query.sources.frames import ArrowTable
from dither.query.sources.schema import Held
from tests.query import owners
from tests.query.clinics import clinic, private_totals
from tests.query.owners import Asked

L = LONGEST_TEXT
TEXTS = ["", "a", "q" * (L - 1), "q" * L, "q" * (L + 1), "q" * L + "z", "q" * 50_000]
TEXTS += ["ä" * (L // 2), "ä" * (L // 2 + 1), "ä" * L, "ä" * (L + 1), "🎲" * (L // 4), "🎲" * (L // 4 + 1), "🎲" * (L + 9)]
TEXTS += ["a" * (L - 1) + "ä", "a" * (L - 1) + "äz", "a\u0301" * L, "\0" * (L + 1), "x" * 40 + " " * L + "7"]


def as_text(text: str | None) -> str | None:
    return text if text is None else text[:L]


def as_id(text: str | None) -> str | None:
    return text if text is not None and len(text.encode()) <= L else None


# -- what it is ----------------------------------------------------------------------------------------------------------

TABLE = read_table(
    "t",
    {
        **{"person": "who", "max_groups": 1, "max_rows_per_group": 1},
        "columns": {"who": {"type": "text"}, "note": {"type": "text"}, "age": {"type": "integer"}, "day": {"type": "date"}},
    },
    "t",
)
HELD = {"text": Held(Type.TEXT, "string"), "integer": Held(Type.INTEGER, "int64")}


def test_each_text_is_read_by_its_length_first():
    stored = dict.fromkeys(("who", "note", "age", "day"), HELD["text"])
    assert read_sql(TABLE, stored, "rows") == (
        '(SELECT CASE WHEN strlen("who") <= 2000 THEN "who" END AS "who", '
        'CASE WHEN strlen("note") <= 2000 THEN "note" ELSE left("note", 2000) END AS "note", '
        'CASE WHEN strlen("age") <= 2000 THEN CASE WHEN TRY_CAST("age" AS DECIMAL(38, 19)) = '
        'TRY_CAST(TRY_CAST("age" AS BIGINT) AS DECIMAL(38, 19)) THEN "age" END END AS "age", '
        'CASE WHEN strlen("day") <= 2000 THEN "day" END AS "day" FROM rows)'
    )


def test_what_is_no_text_is_read_as_it_is():
    assert read_sql(TABLE, dict.fromkeys(("who", "note", "age", "day"), HELD["integer"]), "rows") == "rows"
    stored = {**dict.fromkeys(("who", "note", "age", "day"), HELD["integer"]), "note": Held(Type.TEXT, "UUID")}
    assert read_sql(TABLE, stored, "rows") == "rows"
    stored["note"] = Held(Type.TEXT, "ENUM('a', 'b')")
    assert 'WHEN strlen(CAST("note" AS VARCHAR)) <= 2000' in read_sql(TABLE, stored, "rows")


QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE sex LIKE 'f%' GROUP BY ward",
    "SELECT SUM(LEAST(GREATEST(k, 0), 5)) AS n FROM (SELECT person, COUNT(DISTINCT sex) AS k FROM visits GROUP BY person) o",
    "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward",
    "SELECT COUNT(*) AS n FROM (SELECT person FROM visits UNION ALL SELECT person FROM visits WHERE ward = 'A') o",
    "SELECT COUNT(*) AS n FROM visits JOIN (SELECT person, COUNT(*) AS k FROM visits GROUP BY person) o "
    "ON visits.person = o.person",
]


@pytest.mark.parametrize(
    ("kind", "sql"),
    [*(("arrow", sql) for sql in QUESTIONS), *((kind, QUESTIONS[3]) for kind in ("parquet", "csv", "duckdb"))],
)
def test_every_source_is_read_so_in_every_question(tmp_path, monkeypatch, kind, sql):
    """Wherever a source stands in a SELECT, before the charge and after it, it stands within its read."""
    data = clinic(tmp_path, source(tmp_path, kind), public={"wards": WARDS}, keys={"ward": ["A"]}, complete=[], types=KINDS)
    places = {table.name: table_source(table, data.source(table)) for table in data.policy.tables}
    for place in places.values():
        assert place.relation != from_source(place.source, place.table)
        assert place.relation.endswith(f" FROM {from_source(place.source, place.table)})")
        assert all(f"strlen({read.name(column)}) <= 2000" in place.relation for column in place.texts)
    ran: list[str] = []
    rehearsed: list[str] = []
    fetch, heads = duckdb_engine._fetch, duckdb_engine.with_tables
    monkeypatch.setattr(duckdb_engine, "_fetch", lambda at, select, *more: ran.append(select) or fetch(at, select, *more))
    monkeypatch.setattr(duckdb_engine, "with_tables", lambda *given: rehearsed.append(made := heads(*given)) or made)
    data.quote(sql, epsilon=10**6).release()
    assert ran
    for place in places.values():
        bare = from_source(place.source, place.table)
        assert all(select.count(bare) == select.count(place.relation) for select in ran)
    assert rehearsed
    for select in rehearsed:
        whole = [place.read(f"rehearsal_{at}") for place in places.values() for at in range(2)]
        assert select.count("rehearsal_") == sum(select.count(part) for part in whole) > 0


KINDS = {"person": "text", "cost": "decimal", "age": "integer"}
WARDS = pyarrow.table({"ward": ["A", "B"], "site": ["x", "y"]})
ROWS = pyarrow.table(
    {
        "person": ["a", "b", "b"],
        "ward": ["A", "B", "B"],
        "sex": ["f", "m", "m"],
        "cost": ["1", "2", "3"],
        "age": ["4", "5", "6"],
    }
)


def source(folder, kind: str) -> object:
    path = folder / f"visits.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(ROWS, path)
    elif kind == "csv":
        ROWS.to_pandas().to_csv(path, index=False)
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as engine:
            engine.register("given", ROWS)
            engine.execute("CREATE TABLE visits AS SELECT * FROM given")
    return ROWS if kind == "arrow" else str(path)


# -- what it means -------------------------------------------------------------------------------------------------------


def run(table: pyarrow.Table, sql: str) -> list[tuple]:
    place = table_source(TABLE, ArrowTable(table))
    with duckdb.connect() as engine:
        place.attach(engine)
        return engine.execute(f"SELECT {sql} FROM {place.relation}").fetchall()


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), "coded"])
def test_texts_are_cut_and_ids_let_go(kind):
    texts = pyarrow.array([*TEXTS, None]) if kind == "coded" else pyarrow.array([*TEXTS, None], kind)
    texts = texts.dictionary_encode() if kind == "coded" else texts
    table = pyarrow.table({"who": texts, "note": texts, "age": texts, "day": texts})
    expected = [(as_id(text), as_text(text), None, as_id(text)) for text in [*TEXTS, None]]
    assert run(table, "who, note, age, day") == expected


def test_short_texts_are_what_they_were():
    ids = [text for text in TEXTS if len(text.encode()) <= L]
    table = pyarrow.table({name: pyarrow.array(ids) for name in ("who", "note", "age", "day")})
    assert run(table, "who, note, age, day") == [(text, text, None, text) for text in ids]  # no whole number is among them


def test_bytes_that_are_no_text_do_not_fail(tmp_path):
    """A frame in memory may hold anything: cut in the middle of a letter, or without any."""
    broken = [b"\x80" * (3 * L), b"a" + b"\x80" * (3 * L), b"\xf0" * (3 * L), b"\xc3" * L, ("ä" * L).encode()[:-1], b"ok"]
    cells = pyarrow.array(broken, pyarrow.binary())
    texts = pyarrow.Array.from_buffers(pyarrow.string(), len(cells), cells.buffers())
    table = pyarrow.table({"person": range(len(broken)), "ward": texts})
    facts = {"bounds": {}, "steps": {}, "complete": [], "keys": {"ward": ["ok"]}}
    data = clinic(tmp_path, table, **facts)
    for sql in (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT COUNT(*) AS n FROM visits WHERE UPPER(ward) = 'OK'",
    ):
        assert data.quote(sql, epsilon=10**6).release()["n"] == [1]


def answered(folder, cells: list[str], where: str) -> int:
    table = pyarrow.table({"person": range(len(cells)), "note": cells})
    data = clinic(folder, table, bounds={}, steps={}, complete=[], keys={})
    return private_totals(data.quote(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", epsilon=1))[0][0]


def test_questions_are_about_the_beginning_of_a_long_text(tmp_path):
    cells = ["a" * (L - 1) + "z", "a" * L + "z", "a" * L + "y", "b" * L + "z"]
    found = {
        "note LIKE '%z'": 1,  # as before: LIKE looks at the first 2000 characters
        "RIGHT(note, 1) = 'z'": 1,
        "LENGTH(note) = 2000": 4,
        "LENGTH(note) > 1999 AND note LIKE 'a%'": 3,
        f"note = '{'a' * (L - 1)}'": 0,
        "note > 'a' AND note < 'b'": 3,
        "UPPER(note) LIKE 'B%'": 1,
    }
    assert {where: answered(tmp_path, cells, where) // 2**20 or answered(tmp_path, cells, where) for where in found} == found


def test_texts_that_a_cut_one_could_equal_are_refused(tmp_path):
    longest = "q" * (L - 1)
    data = clinic(tmp_path, keys={"ward": ["A", longest]})
    data.quote(f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{longest}'", epsilon=1)
    for where in (f"ward = '{longest}q'", f"ward IN ('A', '{longest}q')", f"ward < '{longest}qq'"):
        with pytest.raises(QuestionError, match="only those are read"):
            data.quote(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", epsilon=1)
    with pytest.raises(PolicyError, match="only those are read"):
        clinic(tmp_path, keys={"ward": ["A", longest + "q"]})


def test_rows_that_a_cut_makes_equal_are_counted_before_the_charge(tmp_path):
    """Two texts of a public table that differ behind the cut are one in a join, and so they are when matches are counted."""
    many = pyarrow.table({"ward": ["A" * L + str(at) for at in range(1001)]})
    data = clinic(tmp_path, public={"wards": many}, keys={})
    with pytest.raises(QuestionError, match="one protected row would become 1001"):
        data.quote("SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward", epsilon=1).release()
    assert data.ledger.remaining().used == 0


def test_the_owner_is_told(tmp_path):
    texts = ["a", "b" * (L + 1), "ä" * L, None]
    table = pyarrow.table({name: pyarrow.array(texts) for name in ("who", "note", "age", "day")})
    report = inspect(TABLE, ArrowTable(table))
    assert (report.rows, report.nobody, report.people) == (4, 3, 1)
    facts = {column.name: (column.missing, column.unreadable, column.long) for column in report.columns}
    assert facts == {"who": (1, 0, 2), "note": (1, 0, 1), "age": (1, 1, 2), "day": (1, 1, 2)}


# -- that one person moves no more than is claimed -----------------------------------------------------------------------

IDS = ("a", "q" * L, "q" * L + "a", "q" * L + "b", "q" * (L + 1), "ä" * (L // 2), "ä" * (L // 2) + "a", "ä" * (L // 2) + "b")
ASKED = [
    "SELECT COUNT(*) AS n, SUM(words) AS s FROM notes",
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM notes GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT who) AS n FROM notes WHERE who <> 'b' GROUP BY ward",
    "SELECT COUNT(*) AS n FROM (SELECT who, SUM(words) AS w FROM notes GROUP BY who) o WHERE w > 3",
    "SELECT notes.ward, COUNT(*) AS n FROM notes JOIN calls ON notes.who = calls.who GROUP BY notes.ward",
]


CASES = [*enumerate(ASKED), *((seed, ASKED[1]) for seed in range(12))]


class Read(Asked):
    """A question about sources of which each is read as a release reads it."""

    def sql(self, case=None) -> str:
        case = case or self.cases[0]
        places, texts = {}, {}
        for table in self.question.relation.tables:
            held = {column.name: Held(column.type, "string") for column in table.columns}
            places[table.name] = read.read_sql(table, held, table.name)
            texts[table.name] = frozenset(name for name, found in held.items() if found.type is Type.TEXT)
        place = counts.TablePlaces(DUCKDB, places, texts, case.salt)
        return place.select(self.question, case.strategy.sets, case.bounding)


def rows_of(name: str, person: str, rng: random.Random) -> list[tuple]:
    """None, few or many, in wards of her own: where two become one, what the one had the other has not."""
    wards, many = rng.sample("ABC", rng.randrange(1, 4)), rng.choice([0, 1, 4, 20])
    return [(person, rng.choice(wards), *owners.row_of(name, rng, person)[2:]) for _ in range(many)]


def neighbour_too_far(sql: str, way: str, unit: Unit, seed: int) -> bool:
    """Whether somebody's change moves the totals by more than is claimed."""
    rng = random.Random(seed)
    asked = Read(sql, way, unit, salt=rng.getrandbits(60))
    data = owners.clinic(rng)
    for name in ("notes", "calls"):
        data[name] = [row for person in IDS for row in rows_of(name, person, rng)] + [owners.row_of(name, rng)]
    whole = asked.totals(data, rng)
    for person in IDS:
        rest = owners.without(data, person, rng if unit is Unit.REPLACE_ONE else None)
        if asked.breaks(whole, asked.totals(rest, rng)):
            return True
    return False


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("way", ["weights", "clip", "groups"])
def test_one_person_with_a_long_id_moves_no_more_than_is_claimed(way, unit):
    for seed, sql in CASES:
        assert not neighbour_too_far(sql, way, unit, seed), sql


@pytest.mark.parametrize("way", ["weights", "clip", "groups"])
def test_planted_bug_ids_that_are_cut_make_two_people_one(monkeypatch, way):
    plain: Callable[..., bool] = read.is_cut
    monkeypatch.setattr(read, "is_cut", lambda column, table: column.type is Type.TEXT or plain(column, table))
    assert any(neighbour_too_far(sql, way, Unit.ADD_REMOVE, seed) for seed, sql in CASES)


def test_a_long_id_is_nobody_and_changes_nothing():
    """With all rows of a long id gone the totals are the same, exactly."""
    for seed, sql in enumerate(ASKED):
        rng = random.Random(seed)
        asked = Read(sql, "groups", salt=5)
        data = owners.clinic(rng)
        data["notes"] = [owners.row_of("notes", rng, rng.choice(IDS)) for _ in range(25)]
        short = {**data, "notes": [row for row in data["notes"] if as_id(row[0]) is not None]}
        assert len(short["notes"]) < 25
        assert asked.totals(data, rng) == asked.totals(short, rng)
    assert isinstance(Read(ASKED[0]).question.relation, Scan)
