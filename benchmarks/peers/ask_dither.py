"""Runs in our own environment, a fresh process for each case: plain DuckDB, or a way to bound people, in turns with plain.

engine    the table is in the memory of DuckDB; the SELECT that would run on private rows is run on it, and no noise drawn
release   the data is a DuckDB file or a Parquet file; from the question to the answer
"""

import json
import sys
import tempfile

import duckdb
from usage import forget_peak, report

PLAIN = "SELECT region, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM {} GROUP BY region"
QUESTION = PLAIN.format("purchases")


def protected(folder, number=0):
    """The dataset, under a budget that suits the way, and a ledger of its own, since one answers a question only once."""
    import dither

    budget = dither.zcdp(10**6) if way == "clip" else dither.approx(10**6, 0)
    person = {"person": "user_id", "max_groups": job["groups"], "max_rows_per_group": job["rows"]}
    return dither.protect(
        job["path"],
        name="purchases",
        ledger=dither.Ledger(f"{folder}/{number}.ledger", budget=budget),
        bounds={"amount": (job["low"], job["high"])},
        steps={"amount": "0.01"},
        keys={"region": job["keys"]},
        **({"person": "each row"} if way == "each row" else person),
    )


def quoted(dataset):
    bounding = {} if way == "each row" else {"bounding": way}
    return dataset.quote(QUESTION, **{"rho" if way == "clip" else "epsilon": 1}, **bounding)


def engine(folder):
    connection = duckdb.connect(config={"threads": job["threads"], "preserve_insertion_order": False})
    connection.execute(f"CREATE TABLE purchases AS SELECT user_id, region, amount FROM '{job['path']}'")
    calls = {"plain": lambda: connection.execute(QUESTION).fetchall()}
    if way != "plain":
        from dither.query.engines.duckdb.words import DUCKDB
        from dither.query.engines.templates.totals import totals_sql

        offer = quoted(protected(folder)).offer
        sql = totals_sql(DUCKDB, offer.plan, offer.strategy.families, offer.bounding, "purchases", 7)
        calls["ours"] = lambda: connection.execute(sql).fetchall()
    forget_peak()  # of loading the table
    return calls


def release(folder):
    is_parquet = job["path"].endswith(".parquet")

    def plain():
        opened = duckdb.connect(":memory:" if is_parquet else job["path"], read_only=not is_parquet)
        with opened as connection:
            connection.execute(f"SET threads = {job['threads']}")
            connection.execute(PLAIN.format(f"'{job['path']}'" if is_parquet else "purchases")).fetchall()

    if way == "plain":
        return {"plain": plain}
    datasets = [protected(folder, number) for number in range(job["runs"])]

    def ours():
        answer = quoted(datasets.pop()).release(threads=job["threads"])
        assert len(answer.rows()) == len(job["keys"])

    return {"plain": plain, "ours": ours}


job = json.load(sys.stdin)
way = job["way"]
with tempfile.TemporaryDirectory(prefix="dither-query-") as own:
    made = (engine if job["engine"] else release)(own)
    print(json.dumps(report(duckdb.__version__, made, job["runs"])))
