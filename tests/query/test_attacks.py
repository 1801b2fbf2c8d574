"""Attacks through the public interface: each test tries one, on data with Alice and without."""

from __future__ import annotations

import datetime
import hashlib
import logging
import random
import statistics
import time
import traceback

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import BudgetError, DitherError, GuaranteeError, PolicyError, QuestionError, ReleaseError
from dither.query import counts
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.table_source import TableSource
from dither.query.sources.frames import FRAMES
from dither.query.sources.source import ParquetFiles
from tests.query.clinics import clinic, ledger, private_totals, visits

ALICE = 10**6
COUNT = "SELECT COUNT(*) AS n FROM visits"
CANARY = "canary-7c1f"


def with_alice(**cells: object) -> pyarrow.Table:
    """The clinic with one more person, whose row has these cells."""
    table = visits()
    row = {"person": ALICE, "ward": "A", "sex": "f", "cost": 1.0, "age": 30, "day": None} | cells
    return pyarrow.concat_tables([table, pyarrow.table({name: [row[name]] for name in table.column_names}, table.schema)])


def totals(data, sql: str, **price: object) -> list[tuple[int, ...]]:
    return private_totals(data.quote(sql, **(price or {"epsilon": 1})))


def test_a3_sums_do_not_depend_on_order_or_threads(tmp_path):
    """Bounds far from zero, where floats lose their last bits: the totals are integers, whatever the order."""
    rng = random.Random(3)
    far = 2**40
    rows = [(person, far + rng.random()) for person in range(4096)]
    seen = set()
    for threads in (1, 2, 4, 8):
        shuffled = rng.sample(rows, len(rows))
        table = pyarrow.table({"person": [row[0] for row in shuffled], "cost": [row[1] for row in shuffled]})
        facts = {"bounds": {"cost": (far, far + 1)}, "steps": {"cost": "1/1024"}, "keys": {}, "complete": ["cost"]}
        data = clinic(tmp_path, table, **facts)
        quote = data.quote("SELECT SUM(cost) AS c, AVG(cost) AS a FROM visits", epsilon=1)
        seen.add(tuple(private_totals(quote, threads)))
    assert len(seen) == 1


def test_a4_integers_at_the_edge_neither_wrap_nor_raise(tmp_path):
    for extreme in (2**63 - 1, -(2**63)):
        data = [clinic(tmp_path, table) for table in (with_alice(age=extreme), visits())]
        sql = "SELECT ward, SUM(age) AS a, AVG(age) AS m, SUM(age * age - age) AS b FROM visits GROUP BY ward"
        quote = data[0].quote(sql, epsilon=1)
        one, other = (private_totals(each.quote(sql, epsilon=1)) for each in data)
        place = 0
        for family in [one.counters for one in quote.offer.counters]:
            last = place + len(family.measures)
            moved = sum(
                abs(a - b)
                for x, y in zip(one, other, strict=True)
                for a, b in zip(x[place:last], y[place:last], strict=True)
            )
            assert moved <= quote.offer.bounding.l1(family)
            place = last
    with pytest.raises(PolicyError, match="fit between"):
        clinic(tmp_path, bounds={"age": (-(2**62), 2**62), "cost": (0, 400)})


@pytest.mark.parametrize("person", ["each row", "person"])
def test_a4_averages_of_many_wide_values_do_not_overflow(tmp_path, person):
    """2^52 steps between the bounds, and more rows than 2^63 of them."""
    rows = 4096
    table = pyarrow.table({"person": [1] * rows, "age": [2**52] * rows})
    limit = (1, 16) if person == "person" else (None, None)
    facts = {"bounds": {"age": (0, 2**52)}, "keys": {}, "steps": {}, "complete": []}
    data = clinic(tmp_path, table, person=person, max_groups=limit[0], max_rows_per_group=limit[1], **facts)
    quote = data.quote("SELECT AVG(age) AS a, COUNT(*) AS n FROM visits", epsilon=1)
    assert quote.offer.bounding.way == ("groups" if person == "person" else "each row")
    assert private_totals(quote) == [((16 if person == "person" else rows) * 2**52, 0, 0)]


def test_a5_an_endless_day_is_no_day(tmp_path):
    """Python takes the date 'infinity' for 9999-12-31: it must not take the place of those who have that date."""
    last = datetime.date(9999, 12, 31)
    for extra in ("infinity", "-infinity", "9999-12-31"):
        path = tmp_path / f"{extra}.csv"
        path.write_text("until\n" + "9999-12-31\n" * 50 + extra + "\n")
        facts = {"bounds": {}, "steps": {}, "complete": [], "types": {"until": "date"}, "max_groups": None}
        keys = {"until": [datetime.date(1, 1, 1), last]}
        data = clinic(tmp_path, str(path), person="each row", keys=keys, max_rows_per_group=None, **facts)
        answer = data.quote("SELECT until, COUNT(*) AS n FROM visits GROUP BY until", epsilon=10**5).release()
        assert answer["n"] == [0, 51 if extra == "9999-12-31" else 50]


@pytest.mark.parametrize("cell", [float("nan"), float("inf"), float("-inf"), None, 1e308, -1e308])
def test_a5_no_cell_shows_by_itself(tmp_path, cell):
    answers = []
    for table in (with_alice(cost=cell), visits()):
        answer = clinic(tmp_path, table).quote("SELECT SUM(cost) AS c, AVG(cost) AS m FROM visits", epsilon=10**5).release()
        answers.append(answer.rows()[0])
        assert 0 <= answer["m"][0] <= 400
    assert abs(answers[0]["c"] - answers[1]["c"]) <= 400 * 1.01


ALLOWED = [
    "age * 9e18 > 1", "age - age * 1e308 * 1e308 > 0", "ward LIKE '%%%%a%%%%b'", "EXTRACT(year FROM day) > 1",
    "CASE WHEN person = 1000000 THEN cost * 1e308 * 10 ELSE 0 END > 1", "day > DATE '9999-12-31'",
    "abs(age) > 1", "date_trunc('week', day) > DATE '2000-01-01'", "cost / 1e-300 > 1", "width_bucket(cost, 0, 1, 9) > 1",
    "length(upper(ward) || trim(ward)) > 1", "round(cost, 15) > 1", "greatest(age, cost) / 3 > 1",
    "1 / age > 0", "sqrt(-cost) > 0", "ln(cost) > 0", "age / person > 1", "power(cost, -2) > 0", "exp(cost) > 1",
    "age % 7 = 1",
]  # fmt: skip
UNSAFE = [
    "CAST(ward AS INTEGER) > 1", "ward::INT > 1", "age // 0 = 1", "age % 0 = 1",
    "error('x')", "repeat(ward, 1000000) = 'x'", "chr(age) = 'x'", "age << 70 > 0", "factorial(age) > 1",
    "regexp_matches(ward, ward)", "json_extract(ward, '$') = 'x'", "strptime(ward, '%Y') > day",
    "age = (SELECT 1 / 0)", "EXISTS (SELECT 1)", "ward ~ ward", "ward LIKE ward", "range(age) IS NULL",
]  # fmt: skip


@pytest.mark.parametrize("guard", ALLOWED)
def test_a6_what_is_allowed_fails_for_no_row(tmp_path, guard):
    charged = []
    for table in (with_alice(age=2**63 - 1, cost=1e308), visits()):
        data = clinic(tmp_path, table, budget=dither.pure(1))
        data.quote(f"{COUNT} WHERE {guard}", epsilon="0.5").release()
        charged.append(str(data.ledger.remaining()))
    assert charged[0] == charged[1]


@pytest.mark.parametrize("guard", UNSAFE)
def test_a6_a7_what_could_fail_or_dawdle_for_a_row_is_refused(tmp_path, guard):
    data = clinic(tmp_path, budget=dither.pure(1))
    for sql in (f"{COUNT} WHERE {guard}", f"SELECT SUM(CASE WHEN {guard} THEN 1 ELSE 0 END) AS n FROM visits"):
        with pytest.raises(QuestionError):
            data.quote(sql, epsilon="0.5")
    assert data.ledger.remaining().used == 0


def test_a7_alice_does_not_make_a_question_slow(tmp_path):
    """A long cell in the one expression whose work depends on a cell. Generous: only a blow-up would be found."""
    times = []
    for table in (with_alice(ward="a" * 100_000), visits()):
        data = clinic(tmp_path, table)
        took = []
        for place in range(5):
            began = time.perf_counter()
            totals(data, f"{COUNT} WHERE ward LIKE '%a%a%a%a%b{place}'")
            took.append(time.perf_counter() - began)
        times.append(statistics.median(took))
    assert times[0] < 20 * times[1] + 0.5


def test_a11_nothing_is_inferred_from_data(tmp_path):
    bare = {"bounds": {}, "keys": {}, "steps": {}, "complete": []}
    data = clinic(tmp_path, **bare)
    with pytest.raises(QuestionError, match="none are taken from the data"):
        data.quote("SELECT SUM(cost) AS c FROM visits", epsilon=1)
    with pytest.raises(GuaranteeError, match="declares no keys for it"):
        data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1)
    other = clinic(tmp_path, visits().slice(0, 3), **bare)
    assert data.explain() == other.explain()
    assert data.quote(COUNT, epsilon=1).explain() == other.quote(COUNT, epsilon=1).explain()


def test_a12_a_bound_is_not_lost_by_a_later_step(tmp_path):
    """One person with a thousand rows, in every group, under every way to bound her."""
    many = pyarrow.concat_tables([visits()] + [with_alice(ward=ward).slice(60) for ward in "ABC" for _ in range(300)])
    by = "CASE WHEN cost < 2 THEN 'low' ELSE 'high' END"
    sql = f"SELECT ward, {by} AS level, COUNT(*) AS n, COUNT(cost) AS m FROM visits WHERE age < 90 GROUP BY ward, level"
    for way, budget, price in (
        ("weights", dither.pure(9), {"epsilon": 1}),
        ("groups", dither.pure(9), {"epsilon": 1}),
        ("clip", dither.zcdp(9), {"rho": 1}),
    ):
        quotes = [clinic(tmp_path, table, budget=budget).quote(sql, bounding=way, **price) for table in (many, visits())]
        one, other = (private_totals(quote) for quote in quotes)
        for place, family in enumerate([one.counters for one in quotes[0].offer.counters]):
            moved = [a[place] - b[place] for a, b in zip(one, other, strict=True)]
            assert sum(change**2 for change in moved) <= quotes[0].offer.bounding.l2_squared(family)
            assert any(moved)


def test_a14_averaging_ends_with_the_budget(tmp_path):
    book = ledger(tmp_path, dither.pure(1))
    data = clinic(tmp_path, ledger=book)
    first = data.quote(COUNT, epsilon="0.25").release().scalar()
    for text in (COUNT, "select count(*) as m from visits", "SELECT COUNT(*) AS n FROM visits AS v", COUNT + " LIMIT 1"):
        assert data.quote(text, epsilon="0.25").release(analyst="").scalar() == first  # one draw, however it is asked
    for place in range(3):
        data.quote(f"{COUNT} WHERE age > {place}", epsilon="0.25").release()
    for again in (data, clinic(tmp_path, ledger=dither.Ledger(book.location)), clinic(tmp_path, ledger=book)):
        for analyst in ("", "bob"):
            with pytest.raises(BudgetError):
                again.quote(f"{COUNT} WHERE age > 7", epsilon="0.01").release(analyst=analyst)
    assert book.remaining().used == 1


def test_a20_no_function_of_anybody_is_called(tmp_path):
    data = clinic(tmp_path)
    calls = [
        "my_udf(age)",
        "system.main.hash(age)",
        "pragma_version()",
        "nextval('s')",
        "random()",
        "now()",
        "getenv('HOME')",
    ]
    for call in calls:
        with pytest.raises(QuestionError):
            data.quote(f"{COUNT} WHERE {call} = 1", epsilon=1)


ESCAPES = [
    "SELECT * FROM read_text('/etc/passwd')", "COPY visits TO '{folder}/out.csv'", "ATTACH '{folder}/other.db'",
    "INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "RESET lock_configuration", "PRAGMA enable_external_access=true",
    "CREATE TABLE stolen AS SELECT 1", "DROP TABLE visits", "EXPORT DATABASE '{folder}'", "CALL pragma_version()",
    "SELECT COUNT(*) FROM '/etc/passwd'", "SELECT COUNT(*) FROM read_csv('/etc/passwd')", "SELECT COUNT(*) FROM glob('/*')",
    "COPY (SELECT 1) TO '{folder}/visits.parquet' (USE_TMP_FILE false)", "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM duckdb_settings()", "SELECT COUNT(*) FROM visits; DROP TABLE visits",
]  # fmt: skip


def test_a21_the_engine_cannot_be_made_to_do_anything_else(tmp_path):
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    before = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in tmp_path.iterdir()}
    data = clinic(tmp_path, str(path), ledger=ledger(tmp_path.parent))
    for escape in ESCAPES:
        with pytest.raises(QuestionError):
            data.quote(escape.format(folder=tmp_path), epsilon=1)
    data.quote(COUNT, epsilon=1).release()
    assert {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "statement",
    [escape for escape in ESCAPES if "visits;" not in escape and "USE_TMP" not in escape and "duckdb_settings" not in escape
     and "information_schema" not in escape and "CREATE TABLE" not in escape and "pragma_version" not in escape],
)  # fmt: skip
def test_a21_the_second_wall_holds_by_itself(tmp_path, statement):
    """Should text ever reach the engine: it is locked."""
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    before = path.read_bytes()
    source = TableSource(None, ParquetFiles((str(path),)), {})
    failed = pytest.raises(RuntimeError, match="the engine failed")
    with DuckDBEngine([source.source]) as engine, failed, engine.reading([source]) as run:
        run(statement.format(folder=tmp_path), lambda row: True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["visits.parquet"]


def test_a25_a_quote_reads_nothing(tmp_path, monkeypatch):
    data = clinic(tmp_path)

    def refuse(*_, **__):
        raise AssertionError("the quote touched the source")

    for kind in FRAMES.values():
        for name in ("schema", "arrow", "columns", "check"):
            monkeypatch.setattr(kind, name, refuse)
    quote = data.quote(
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM visits WHERE age > 3 GROUP BY ward", epsilon=1, size=10
    )
    assert quote.explain()
    assert quote.errors
    assert quote.affordable
    assert str(quote.guarantee)
    assert data.ledger.remaining().used == 0


def test_a26_nothing_of_a_row_is_told(tmp_path, caplog, capfd, monkeypatch):
    """A canary in the data; then questions that work, that are refused, and that fail. Nobody may sing."""
    caplog.set_level(logging.DEBUG)
    data = clinic(tmp_path, with_alice(ward=CANARY), types={"person": "text"})
    told = []
    for sql in [COUNT, f"{COUNT} WHERE ward LIKE 'c%'", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", *UNSAFE]:
        try:
            answer = data.quote(sql, epsilon=1).release()
            told += [str(answer), answer._repr_html_(), answer.explain(), repr(answer.rows()), answer.receipt.to_json()]
        except DitherError as error:
            told += traceback.format_exception(error)
    monkeypatch.setattr(counts, "totals_sql", lambda *a: f"SELECT CAST(ward AS INTEGER), 1 FROM {a[4]}")
    try:
        data.quote(f"{COUNT} WHERE age > 50", epsilon=1).release()
        pytest.fail("a broken engine answered")
    except ReleaseError as error:
        told += [*traceback.format_exception(error), repr(error.__context__), repr(error.__cause__)]
    told += [record.getMessage() for record in caplog.records]
    told += capfd.readouterr()
    told += [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(CANARY in text for text in told)


def test_a29_absent_groups_look_like_all_others(tmp_path):
    """Nobody is in ward C. Its noise is drawn from the same law: over many answers both vary, and C is not always zero."""
    sql = "SELECT ward, COUNT(*) AS n FROM visits WHERE age < {} GROUP BY ward"
    data = clinic(tmp_path)
    found = [data.quote(sql.format(1000 + place), epsilon="0.5").release() for place in range(40)]
    assert all(list(answer.columns) == list(found[0].columns) and answer["ward"] == ["A", "B", "C"] for answer in found)
    # 0.5 / 15 of noise a unit: forty draws that all agree have probability below 1e-60
    assert len({answer["n"][2] for answer in found}) > 1
    assert len({answer["n"][0] for answer in found}) > 1
    widths = {high - value for answer in found for value, high in zip(answer["n"], answer["n_high"], strict=True)}
    assert max(widths) - min(widths) <= 1  # the same bar for all, up to the rounding of its ends
    public = [name for name in dir(found[0]) if not name.startswith("_")]
    assert not [name for name in public if "true" in name or "exact" in name]


@pytest.mark.parametrize("person", ["each row", "person"])
def test_a20_a_text_that_is_not_utf8_fails_no_question(tmp_path, person):
    """A frame in memory may hold anything; whether a question fails must not tell whether somebody's row does."""
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(), 3, [None, pyarrow.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\4\0\0\0"), pyarrow.py_buffer(b"AB\xff\xfe")]
    )
    table = visits(3).set_column(1, "ward", broken)
    limits = {} if person == "person" else {"max_groups": None, "max_rows_per_group": None}
    data = clinic(tmp_path, table, person=person, complete=[], **limits)
    answer = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=10**4).release()
    assert answer["n"] == [1, 1, 0]
