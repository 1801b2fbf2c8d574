"""Runs in our own environment, a fresh process for each case: plain DuckDB, or a way to bound people, in turns with plain.

engine    the table is in the memory of DuckDB; the SELECT that would run on private rows is run on it, and no noise drawn
release   the data is a DuckDB file or a Parquet file; from the question to the answer, at a new price each time

Beside it, what a careful analyst would write by hand to bound people (totals of each person and region, then of regions),
and an answer that is stored already.
"""

import json
import sys
import tempfile

import duckdb
from usage import forget_peak, report

PLAIN = "SELECT region, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM {} GROUP BY region"
QUESTION = PLAIN.format("purchases")
PERSON = (
    "SELECT region, SUM(n) AS n, SUM(s) AS s FROM (SELECT user_id, region, COUNT(*) AS n, SUM(amount) AS s FROM {} "
    "GROUP BY user_id, region) AS mine GROUP BY region"
)


def protected(folder):
    """The dataset, under a budget that suits the way."""
    import dither

    budget = dither.zcdp(10**6) if way == "clip" else dither.approx(10**6, 0)
    person = {"person": "user_id", "max_groups": job["groups"], "max_rows_per_group": job["rows"]}
    return dither.protect(
        job["path"],
        name="purchases",
        ledger=dither.Ledger.create(f"{folder}/own.ledger", budget=budget),
        bounds={"amount": (job["low"], job["high"])},
        steps={"amount": "0.01"},
        keys={"region": job["keys"]},
        **({"person": "each row"} if way == "each row" else person),
    )


def quoted(dataset, price="1"):
    bounding = {} if way == "each row" else {"bounding": way}
    return dataset.quote(QUESTION, **{"rho" if way == "clip" else "epsilon": price}, **bounding)


def engine(folder):
    connection = duckdb.connect(config={"threads": job["threads"], "preserve_insertion_order": False})
    connection.execute(f"CREATE TABLE purchases AS SELECT user_id, region, amount FROM '{job['path']}'")
    calls = {"plain": lambda: connection.execute(QUESTION).fetchall()}
    if way != "plain":
        from dither.query.engines.duckdb.words import DUCKDB
        from dither.query.engines.templates.totals import totals_sql

        offer = quoted(protected(folder)).offer
        sql = totals_sql(DUCKDB, offer.question, [one.counters for one in offer.counters], offer.bounding, "purchases", 7)
        calls["ours"] = lambda: connection.execute(sql).fetchall()
    forget_peak()  # of loading the table
    return calls


def release(folder):
    is_parquet = job["path"].endswith(".parquet")

    def run(sql):
        opened = duckdb.connect(":memory:" if is_parquet else job["path"], read_only=not is_parquet)
        with opened as connection:
            connection.execute(f"SET threads = {job['threads']}")
            connection.execute(sql.format(f"'{job['path']}'" if is_parquet else "purchases")).fetchall()

    if way == "plain":
        return {"plain": lambda: run(PLAIN)}
    dataset, prices = protected(folder), (f"1.{number:03d}" for number in range(1, 1000))

    def ours():
        answer = quoted(dataset, next(prices)).release(threads=job["threads"])
        assert len(answer.rows()) == len(job["keys"])

    old = quoted(dataset, "1.001")  # the first price of `ours`

    def stored():
        old.release(threads=job["threads"])

    by_hand = {} if way == "each row" else {"by hand": lambda: run(PERSON)}
    return {"plain": lambda: run(PLAIN), **by_hand, "ours": ours, "stored": stored}


job = json.load(sys.stdin)
way = job["way"]
with tempfile.TemporaryDirectory(prefix="dither-query-") as own:
    made = (engine if job["engine"] else release)(own)
    print(json.dumps(report(duckdb.__version__, made, job["runs"])))
