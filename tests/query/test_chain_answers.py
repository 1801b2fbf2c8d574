"""Questions about files whose rows belong to people through other tables, from the policy to the answer."""

from __future__ import annotations

import datetime
import random

import duckdb
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import dither
from dither.cli.main import app
from dither.errors import DataError
from tests.policies import opened

POLICY = """\
version = 1
domain = "shop"

[ledger]
location = "shop.ledger"
budget = {{ epsilon = "1000000000" }}  # at a million epsilons there is no noise to speak of

[tables.customer]
source = "{files[customer]}"
person = "c_custkey"
max_rows = 1
hard = ["max_rows"]
[tables.customer.columns]
c_custkey = {{ type = "integer" }}
c_mktsegment = {{ type = "text", keys = ["BUILDING", "MACHINERY"] }}
c_nationkey = {{ type = "integer" }}

[tables.orders]
source = "{files[orders]}"
owner = {{ through = "customer", on = {{ child = "o_custkey", parent = "c_custkey" }} }}
max_rows = 40
hard = ["max_rows", "owner"]

[tables.orders.columns]
o_orderkey = {{ type = "{key}" }}
o_custkey = {{ type = "integer" }}
o_orderdate = {{ type = "date" }}

[tables.lineitem]
source = "{files[lineitem]}"
owner = {{ through = "orders", on = {{ child = "l_orderkey", parent = "o_orderkey" }} }}
max_rows = 300
max_groups = 8
hard = ["max_rows", "max_groups", "bounds.l_extendedprice", "steps.l_extendedprice", "owner"]

[tables.lineitem.columns]
l_orderkey = {{ type = "{key}" }}
l_extendedprice = {{ type = "integer", bounds = [0, 1000], nullable = false }}
l_returnflag = {{ type = "text", keys = ["A", "N", "R"] }}
l_shipdate = {{ type = "date" }}

[tables.nation]
source = "nation.parquet"
public = true
[tables.nation.columns]
n_nationkey = {{ type = "integer" }}
n_name = {{ type = "text", keys = ["FRANCE", "KENYA", "PERU"] }}
"""
Q3 = """
SELECT c_mktsegment, COUNT(*) AS n, SUM(l_extendedprice) AS revenue
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
WHERE o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15' GROUP BY c_mktsegment
"""
Q10 = """
SELECT n_name, SUM(l_extendedprice) AS revenue
FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON c_custkey = o_custkey
JOIN nation ON c_nationkey = n_nationkey
WHERE o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1995-10-01' AND l_returnflag = 'R' GROUP BY n_name
"""
Q18 = """
SELECT COUNT(*) AS n FROM (
    SELECT c_custkey, o_orderkey, SUM(l_extendedprice) AS price
    FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON c_custkey = o_custkey
    GROUP BY c_custkey, o_orderkey
) AS own WHERE price > 1500
"""
ALONE = "SELECT l_returnflag, COUNT(*) AS n, SUM(l_extendedprice) AS p FROM lineitem GROUP BY l_returnflag"
QUESTIONS = {"Q3": Q3, "Q10": Q10, "Q18": Q18, "alone": ALONE, "orders": "SELECT COUNT(*) AS n FROM orders"}


def named(names, rows):
    return pyarrow.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def tables(seed=1):
    rng, day = random.Random(seed), datetime.date(1995, 3, 15)
    days = [day + datetime.timedelta(days=200 * at) for at in range(-3, 4)]
    orders = [(at, rng.randrange(1, 41), rng.choice(days)) for at in range(200)]
    lines = [(rng.randrange(200), rng.randrange(1001), rng.choice("ANR"), rng.choice(days)) for _ in range(700)]
    return {
        "customer": pyarrow.table(
            {
                "c_custkey": list(range(1, 41)),
                "c_mktsegment": [rng.choice(["BUILDING", "MACHINERY"]) for _ in range(40)],
                "c_nationkey": [rng.randrange(3) for _ in range(40)],
            }
        ),
        "orders": named(("o_orderkey", "o_custkey", "o_orderdate"), orders),
        "lineitem": named(("l_orderkey", "l_extendedprice", "l_returnflag", "l_shipdate"), lines),
        "nation": pyarrow.table({"n_nationkey": [0, 1, 2], "n_name": ["FRANCE", "KENYA", "PERU"]}),
    }


def shop(folder, data=None, kind="parquet", key="integer"):
    data = data or tables()
    files = {name: f"{name}.{kind}" if kind != "duckdb" else "shop.duckdb" for name in data}
    for name, table in data.items():
        if kind == "csv":
            pyarrow.csv.write_csv(table, folder / files[name])
        if kind != "csv" or name == "nation":
            pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    if kind == "duckdb":
        with duckdb.connect(str(folder / "shop.duckdb")) as engine:
            for name, table in data.items():
                engine.register("given", table)
                engine.execute(f"CREATE TABLE {name} AS FROM given")
    (folder / "policy.toml").write_text(POLICY.format(files=files, key=key))
    return opened(folder / "policy.toml")


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_hold_the_truth_of_the_plain_query(tmp_path, name, kind):
    sql = QUESTIONS[name]
    sure = {"epsilon": "1000000", "confidence": "0.9999999999"}  # a bar that fails is no accident
    quote = shop(tmp_path, kind=kind).quote(sql, **sure)
    with duckdb.connect() as engine:
        for table, rows in tables().items():
            engine.register(table, rows)
        truth = engine.execute(f"{sql} ORDER BY 1").fetchall()
    answer = quote.release()
    asked = [column for column in answer.columns if f"{column}_low" in answer.columns]
    for column in asked:
        values = [row[-len(asked) :][asked.index(column)] for row in truth]
        assert set(answer.statements) >= {column}
        for low, value, high in zip(answer[f"{column}_low"], values, answer[f"{column}_high"], strict=True):
            assert low <= value <= high, (column, truth)
            assert high - low <= max(20, value / 100)
    if name in ("Q3", "alone"):
        assert set(answer.statements.values()) == {"truth"}  # each key leads to one row, by the owner's word
    assert dither.open(tmp_path / "policy.toml").quote(sql, **sure).release()[asked[0]] == answer[asked[0]]  # stored


def test_without_the_owners_word_a_join_leaves_out_who_repeats_a_key(tmp_path):
    shop(tmp_path)
    text = (tmp_path / "policy.toml").read_text().replace(', "owner"', "")
    (tmp_path / "policy.toml").write_text(text.replace("shop.ledger", "other.ledger"))
    data = opened(tmp_path / "policy.toml")
    assert set(data.quote(Q3, epsilon=1).release().statements.values()) == {"at least"}
    # nor is a row there once, where several people reach it: what is counted may be more than there is
    alone = data.quote(ALONE, epsilon=1).release()
    assert set(alone.statements.values()) == {"of counted rows"}
    assert "a row that several people reach counts once for each" in alone.says


def test_the_quote_says_who_is_protected(tmp_path):
    told = shop(tmp_path).quote(ALONE, epsilon=1).explain()
    assert "each c_custkey, with all its rows in lineitem and orders and customer" in told
    assert "lineitem, by the owner of its orders, by the owner of its customer" in told
    assert told.replace("\n", "").isprintable()


def test_texts_are_keys_by_their_bytes(tmp_path):
    """A column of a DuckDB file may say that a is A; a key of more than 2000 bytes leads nowhere, instead of to others."""
    data = tables()
    names = ["a", "A", "b", "x" * 2001, "x" * 2002, None]
    data["orders"] = pyarrow.table(
        {"o_orderkey": names, "o_custkey": [1, 2, 3, 4, 5, 6], "o_orderdate": [datetime.date(1995, 1, 1)] * 6}
    )
    keys = ["a", "A", "A", "B", "x" * 2001, "x" * 2002, None, "c"]
    columns = {"l_extendedprice": [1] * 8, "l_returnflag": ["A"] * 8, "l_shipdate": [datetime.date(1995, 1, 1)] * 8}
    data["lineitem"] = pyarrow.table({"l_orderkey": keys, **columns})
    clinic = shop(tmp_path, data, "duckdb", key="text")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as engine:
        for table, column in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            engine.execute(f"ALTER TABLE {table} ALTER {column} TYPE VARCHAR COLLATE NOCASE")
    for sql in (
        "SELECT COUNT(*) AS n FROM lineitem",
        "SELECT COUNT(*) AS n FROM lineitem JOIN orders ON l_orderkey = o_orderkey",
    ):
        assert clinic.quote(sql, epsilon="1000000").release()["n"] == [3]


def test_in_csv_a_key_is_spelled_as_a_whole_number_is(tmp_path):
    clinic = shop(tmp_path, kind="csv")
    (tmp_path / "orders.csv").write_text("o_orderkey,o_custkey,o_orderdate\n7,1,1995-01-01\n007,2,1995-01-01\n")
    rows = "".join(f"{key},1,A,1995-01-01\n" for key in ("7", "007", "7.0", " 7", "", "8"))
    (tmp_path / "lineitem.csv").write_text(f"l_orderkey,l_extendedprice,l_returnflag,l_shipdate\n{rows}")
    assert clinic.quote("SELECT COUNT(*) AS n FROM lineitem", epsilon="1000000").release()["n"] == [1]


def test_keys_that_a_cast_could_make_one_are_refused(tmp_path):
    data = tables()
    keys = pyarrow.array([at / 2 for at in range(200)], pyarrow.float64())
    data["orders"] = data["orders"].set_column(0, "o_orderkey", keys)
    found = shop(tmp_path, data)
    before = found.ledger.remaining()
    with pytest.raises(DataError, match="do not tell people apart"):
        found.quote(ALONE, epsilon=1).release()
    assert found.ledger.remaining() == before


def test_a_missing_parent_is_refused_before_the_charge(tmp_path):
    shop(tmp_path)
    text = (tmp_path / "policy.toml").read_text().replace('source = "orders.parquet"\n', "").replace("shop.", "two.")
    (tmp_path / "policy.toml").write_text(text)
    data = opened(tmp_path / "policy.toml")
    quote, before = data.quote(ALONE, epsilon=1), data.ledger.remaining()
    with pytest.raises(dither.errors.PolicyError, match="does not say where its rows are"):
        quote.release()
    assert data.ledger.remaining() == before


def check(*words):
    return CliRunner().invoke(app, ["policy", "check", *words])


def test_the_check_of_a_policy_reads_along_the_chain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tables()
    shop(tmp_path, data)
    plain = check("policy.toml", "--read-data")
    assert plain.exit_code == 0, plain.output
    people = len(set(data["orders"]["o_custkey"].to_pylist()))
    assert f"200 rows, 0 without a person, {people} people" in plain.output
    assert "700 rows, 0 without a person" in plain.output
    orders = pyarrow.concat_tables([data["orders"], data["orders"].slice(9, 1)]).slice(5)  # a key twice, others nowhere
    pyarrow.parquet.write_table(orders, "orders.parquet")
    found = check("policy.toml", "--read-data")
    assert found.exit_code == 1
    assert "orders: " not in found.output.rpartition("policy hash")[2]
    assert "lineitem: the data violates owner, on which answers rely" in found.output
    lost = sum(key < 5 for key in data["lineitem"]["l_orderkey"].to_pylist())
    assert f"700 rows, {lost} without a person" in found.output


def test_rows_of_several_people_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = tables()
    first = data["orders"].slice(0, 1).to_pylist()[0]
    other = pyarrow.Table.from_pylist([{**first, "o_custkey": first["o_custkey"] % 40 + 1}], schema=data["orders"].schema)
    data["orders"] = pyarrow.concat_tables([data["orders"], other])
    shop(tmp_path, data)
    shared = data["lineitem"]["l_orderkey"].to_pylist().count(first["o_orderkey"])
    assert f"rows of several people count once for each: {shared} more" in check("policy.toml", "--read-data").output


def test_a_draft_tells_of_owners(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shop(tmp_path)
    told = CliRunner().invoke(app, ["policy", "init", "lineitem.parquet"]).output
    assert '# owner = { through = "orders", on = "order_id" }' in told


def test_people_of_a_chain_are_counted_where_their_column_is(tmp_path):
    data = shop(tmp_path)
    sql = "SELECT COUNT(DISTINCT c_custkey) AS n FROM orders JOIN customer ON c_custkey = o_custkey"
    truth = len(set(tables()["orders"]["o_custkey"].to_pylist()))
    assert data.quote(sql, epsilon="1000000").release()["n"] == [truth]
    hidden = 'SELECT COUNT(DISTINCT "whose row it is\u200b") AS n FROM orders'
    with pytest.raises(dither.errors.QuestionError):
        data.quote(hidden, epsilon=1)


JOINED = """
SELECT SUM(l_extendedprice) AS p FROM lineitem JOIN orders ON l_orderkey = o_orderkey
JOIN customer ON c_custkey = o_custkey WHERE o_orderdate < DATE '1995-03-15'
"""


@pytest.mark.parametrize("sql", [JOINED, ALONE, "SELECT SUM(l_extendedprice) AS p FROM lineitem"])
def test_limits_are_found_privately_along_a_chain(tmp_path, sql):
    """As for one table: what is found is a limit of the first table of the chain."""
    quote = shop(tmp_path).quote(sql, epsilon="1000000", limits="auto")
    answer = quote.release()
    with duckdb.connect() as engine:
        for table, rows in tables().items():
            engine.register(table, rows)
        truth = engine.execute(f"{sql} ORDER BY 1").fetchall()
    assert answer["p"] == pytest.approx([row[-1] for row in truth], rel=0.01)


def test_limits_of_parents_are_not_found(tmp_path):
    shop(tmp_path)
    text = (tmp_path / "policy.toml").read_text().replace("shop.ledger", "auto.ledger")
    text = text.replace('max_rows = 40\nhard = ["max_rows", "owner"]', 'limits = "auto"\nhard = ["owner"]')
    (tmp_path / "policy.toml").write_text(text)
    data = opened(tmp_path / "policy.toml")
    assert len(data.quote(ALONE, epsilon=1).release()) == 3  # the limits of lineitem, which are stated
    own = "SELECT c_custkey, COUNT(*) AS n FROM orders JOIN customer ON c_custkey = o_custkey GROUP BY c_custkey"
    with pytest.raises(dither.errors.QuestionError, match="one protected table"):
        data.quote(f"SELECT AVG(n) AS n FROM ({own}) AS own", epsilon=1)
