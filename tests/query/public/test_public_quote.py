"""Questions about public tables alone: what plain SQL says, at no charge, and without a look at anybody's rows."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import DataError, QuestionError
from dither.query.answers.free_answer import FREE
from dither.query.public import parse
from dither.query.public_quote import EXACT, PublicQuote
from tests.policies import opened
from tests.query.clinics import ledger

WARDS = pyarrow.table(
    {
        "ward": ["A", "B", "C", None, "it's"],
        "site": ["north", "south", "north", "north", None],
        "beds": pyarrow.array([3, 5, 5, None, 0], pyarrow.int64()),
        "rent": pyarrow.array(
            [Decimal("0.10"), Decimal("0.20"), None, Decimal("0.70"), Decimal("1e9")], pyarrow.decimal128(18, 2)
        ),
        "since": pyarrow.array([datetime.date(2020, 1, 31), None, *[datetime.date(2024, 2, 29)] * 3]),
        "ratio": [0.1, 0.2, float("inf"), None, -0.5],
    }
)
FLOORS = pyarrow.table({"site": ["north", "south", "south"], "floor": [1, 1, 2]})
VISITS = pyarrow.table({"p": [1, 1, 2], "ward": ["A", "B", "A"], "cost": [1, 2, 3]})
ASKED = [
    "SELECT * FROM wards",
    "SELECT * FROM wards ORDER BY beds DESC, ward LIMIT 2 OFFSET 1",
    "SELECT ward, beds * 2 - 1 AS b FROM wards WHERE beds >= 3 AND NOT ward = 'B' ORDER BY ward",
    "SELECT COUNT(*) AS n, COUNT(beds) AS b, COUNT(DISTINCT site) AS s, SUM(rent) AS r, AVG(beds) AS a FROM wards",
    "SELECT site, SUM(beds) AS b, MIN(since) AS first FROM wards GROUP BY site HAVING COUNT(*) > 1 ORDER BY site",
    "SELECT DISTINCT beds FROM wards ORDER BY 1",
    "SELECT w.ward, f.floor FROM wards w JOIN floors f ON w.site = f.site AND f.floor < 3 ORDER BY 1, 2",
    "SELECT ward, floor FROM wards LEFT JOIN floors USING (site) ORDER BY ward, floor",
    "SELECT COUNT(*) AS n FROM wards, floors WHERE wards.site = floors.site",
    "SELECT COUNT(*) AS n FROM wards CROSS JOIN floors",
    "SELECT COUNT(*) AS n FROM wards FULL OUTER JOIN floors ON floor = beds",
    "SELECT ward FROM wards WHERE beds = (SELECT MAX(beds) FROM wards) ORDER BY ward",
    "SELECT ward FROM wards w WHERE EXISTS (SELECT 1 FROM floors f WHERE f.site = w.site AND f.floor = 2)",
    "SELECT ward FROM wards WHERE site NOT IN (SELECT site FROM floors WHERE floor = 2) ORDER BY ward",
    "SELECT ward FROM wards w WHERE beds > (SELECT AVG(beds) FROM wards o WHERE o.site = w.site) ORDER BY ward",
    "WITH t (a, b) AS (SELECT site, SUM(beds) FROM wards GROUP BY site) SELECT a, b FROM t WHERE b > 0 ORDER BY a",
    "WITH wards AS (SELECT ward FROM wards WHERE beds > 3) SELECT COUNT(*) AS n FROM wards",
    "WITH visits AS (SELECT ward FROM wards) SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM (SELECT site FROM wards UNION SELECT site FROM floors)",
    "SELECT COUNT(*) AS n FROM (SELECT site FROM wards UNION ALL SELECT site FROM floors) u",
    "SELECT CASE beds WHEN 3 THEN 'few' WHEN 5 THEN 'some' END AS k, COUNT(*) AS n FROM wards GROUP BY 1 ORDER BY 1",
    "SELECT COUNT(*) AS n FROM wards WHERE ward LIKE 'it%' OR ward ILIKE 'a' OR ward NOT LIKE '%'",
    "SELECT COUNT(*) AS n FROM wards WHERE since < DATE '2024-03-01' - INTERVAL '1' DAY AND EXTRACT(year FROM since) = 2020",
    "SELECT COUNT(*) AS n FROM wards WHERE (site, beds) IN (('north', 3), ('south', 5)) AND beds BETWEEN 1 + 1 AND 4",
    "SELECT UPPER(ward) AS u, LENGTH(site) AS l, SUBSTRING(site, 1, 2) AS s, COALESCE(site, '') AS c FROM wards ORDER BY u",
    "SELECT ward || '/' || site AS k, ROUND(ratio, 1) AS r, ABS(ratio) AS a FROM wards WHERE ward IS NOT NULL ORDER BY k",
    "SELECT DATE_TRUNC('month', since) AS m, COUNT(*) AS n FROM wards GROUP BY m ORDER BY m",
    "SELECT SUM(CAST(beds AS DOUBLE)) / COUNT(*) AS x, -MAX(beds) AS y, MEDIAN(beds) AS z FROM wards WHERE TRUE",
    'SELECT "main"."wards"."ward" AS "w" FROM "main"."wards" ORDER BY 1',
    "SELECT * FROM wards LIMIT 0",
]
REFUSED = {
    "SELECT nothing FROM wards": "no public table has such a column",
    "SELECT ward AS a, beds AS a FROM wards": "one name",
    "SELECT getenv('HOME') AS h FROM wards": "not answered about public tables",
    "SELECT * FROM wards TABLESAMPLE 10%": "not the name of a table",
    "SELECT ward, ROW_NUMBER() OVER (ORDER BY beds) AS r FROM wards": "not answered about public tables",
    "WITH RECURSIVE t AS (SELECT 1 AS x FROM wards) SELECT * FROM t": "RECURSIVE",
    "SELECT SUM(ward) AS s FROM wards": "cannot compute",
    "SELECT site, COUNT(*) FROM wards GROUP BY ROLLUP (site)": "not answered about public tables",
    "WITH x AS (SELECT * FROM y), y AS (SELECT ward FROM wards) SELECT COUNT(*) AS n FROM x": "no table of that name",
    "SELECT * FROM wards ASOF JOIN floors USING (site)": "such a join",
    "SELECT 1e400 AS x FROM wards": "digits",
    "SELECT DISTINCT ON (site) ward FROM wards": "DISTINCT ON",
    "SELECT CAST(ward AS BLOB) AS b FROM wards": "not answered",
    "SELECT COUNT(*) AS n FROM wards LIMIT 10%": "whole number",
}
PRIVATE = [
    "SELECT COUNT(*) AS n FROM wards WHERE ward IN (SELECT ward FROM visits)",
    "SELECT (SELECT MAX(cost) FROM visits) AS m FROM wards",
    "SELECT ward FROM wards UNION SELECT ward FROM visits",
    "WITH t AS (SELECT * FROM visits) SELECT ward FROM wards WHERE EXISTS (SELECT 1 FROM t)",
    "WITH x AS (SELECT * FROM visits), visits AS (SELECT ward FROM wards) SELECT ward FROM x",
    "SELECT ward FROM wards ORDER BY (SELECT MAX(cost) FROM visits)",
    "SELECT w.ward FROM wards w LEFT JOIN main.visits v ON v.ward = w.ward",
    'SELECT (SELECT COUNT(*) FROM "visits") AS n FROM wards',
]


def clinic(folder, visits=VISITS):
    public = {"wards": WARDS, "floors": FLOORS}
    return dither.protect(
        visits, name="visits", person="p", max_rows=9, public=public, ledger=ledger(folder, dither.pure(1))
    )


def entries(data):
    return len(list(data.ledger.history()))


@pytest.fixture
def plain():
    with duckdb.connect() as engine:
        for name, table in {"wards": WARDS, "floors": FLOORS}.items():
            engine.register(f"held_{name}", table)
            engine.execute(f"CREATE TABLE {name} AS FROM held_{name}")
        yield engine


@pytest.mark.parametrize("sql", ASKED)
def test_answers_are_plain_sql(tmp_path, plain, sql):
    data = clinic(tmp_path)
    before = entries(data)
    quote = data.quote(sql)
    assert isinstance(quote, PublicQuote)
    assert (quote.price, quote.epsilon()) == (FREE, 0.0)
    answer = quote.release()
    result = plain.execute(sql)
    assert list(answer.columns) == [column[0] for column in result.description]
    rows = [tuple(float(cell) if isinstance(cell, Decimal) else cell for cell in row) for row in result.fetchall()]
    found = list(zip(*answer.columns.values(), strict=True))
    assert found == rows if "ORDER BY" in sql and "LIMIT" not in sql else sorted(map(str, found)) == sorted(map(str, rows))
    assert entries(data) == before
    assert EXACT in quote.explain()
    assert EXACT in quote.describe()
    assert quote.release().columns == answer.columns


@pytest.mark.parametrize(("sql", "words"), REFUSED.items())
def test_all_else_is_refused_with_words(tmp_path, sql, words):
    with pytest.raises(QuestionError, match=words):
        clinic(tmp_path).quote(sql)


@pytest.mark.parametrize("sql", PRIVATE)
def test_a_protected_table_anywhere_makes_it_a_private_question(tmp_path, sql):
    data = clinic(tmp_path)
    before = entries(data)
    with pytest.raises(QuestionError):
        data.quote(sql, epsilon=1)
    assert entries(data) == before


def test_a_protected_table_that_is_read_past_is_noticed(tmp_path, monkeypatch):
    """Only the outermost tables looked up: the engine would not even know the others."""
    first = parse.read_public

    def hasty(text, policy):
        return first(text.replace("visits", "wards"), policy) if "visits" in text else first(text, policy)

    monkeypatch.setattr("dither.query.public_quote.read_public", hasty)
    with pytest.raises(pytest.fail.Exception):
        test_a_protected_table_anywhere_makes_it_a_private_question(tmp_path, PRIVATE[0])


def test_nobody_s_rows_are_looked_at(tmp_path):
    """The answer is the same for every neighbour: here there are no rows at all, nor a file."""
    tables = {"visits": VISITS, "wards": WARDS}
    for name, table in tables.items():
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "policy.toml").write_text("""
version = 1
domain = "clinic"
ledger = { location = "clinic.ledger", budget = { epsilon = "1" } }
[tables.visits]
source = "visits.parquet"
person = "p"
max_rows = 9
columns = { p = { type = "integer" }, ward = { type = "text" } }
[tables.wards]
source = "wards.parquet"
public = true
columns = { ward = { type = "text" }, beds = { type = "integer" } }
""")
    data = opened(tmp_path / "policy.toml")
    (tmp_path / "visits.parquet").unlink()
    assert data.quote("SELECT SUM(beds) AS beds FROM wards").release()["beds"] == [13]
    assert list(data.quote("SELECT * FROM wards LIMIT 1").release().columns) == ["ward", "beds"]


def test_cells_of_a_csv_are_of_the_policy_s_types(tmp_path):
    (tmp_path / "wards.csv").write_text("ward,beds,since\nA,3,2024-01-31\nB,x,2024-02-30\n")
    (tmp_path / "visits.csv").write_text("p,ward\n1,A\n")
    (tmp_path / "policy.toml").write_text("""
version = 1
domain = "clinic"
ledger = { location = "clinic.ledger", budget = { epsilon = "1" } }
[tables.visits]
source = "visits.csv"
person = "p"
max_rows = 9
columns = { p = { type = "integer" }, ward = { type = "text" } }
[tables.wards]
source = "wards.csv"
public = true
columns = { ward = { type = "text" }, beds = { type = "integer" }, since = { type = "date" } }
""")
    answer = opened(tmp_path / "policy.toml").quote("SELECT * FROM wards").release()
    assert answer.columns == {"ward": ["A", "B"], "beds": [3, None], "since": [datetime.date(2024, 1, 31), None]}
    assert answer.kinds == {"ward": "text", "beds": "whole", "since": "date"}


def test_sums_are_the_same_in_every_order(tmp_path):
    """Decimals add up exactly, and floats always in the same way."""
    rng = random.Random(5)
    cells = [10.0 ** rng.randrange(-9, 12) for _ in range(5000)]
    public = {"wards": pyarrow.table({"x": cells, "d": pyarrow.array([Decimal(i) / 100 for i in range(5000)])})}
    data = dither.protect(
        VISITS, name="visits", person="p", max_rows=9, public=public, ledger=ledger(tmp_path, dither.pure(1))
    )
    quote = data.quote("SELECT SUM(x) AS x, SUM(d) AS d FROM wards")
    first = quote.release(threads=4).columns
    assert first["d"] == [124975.0]
    assert all(quote.release(threads=threads).columns == first for threads in (1, 2, 3))


def test_what_a_free_quote_has_not(tmp_path):
    quote = clinic(tmp_path).quote("SELECT COUNT(*) AS n FROM wards")
    with pytest.raises(DataError):
        _ = quote.offer
    with pytest.raises(DataError):
        _ = quote.release().receipt


def test_an_answer_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dither.query.public.template.MOST_ROWS", 4)
    monkeypatch.setattr("dither.query.public_quote.MOST_ROWS", 4)
    quote = clinic(tmp_path).quote("SELECT * FROM wards")
    with pytest.raises(QuestionError, match="more than 4 rows"):
        quote.release()
