"""One question of every kind, asked, answered and shown in every way that the base installation has. Needs nothing else.

`.ci/run` runs it where the wheel is installed without extras, and `tests/test_imports.py` where extras cannot be imported.
"""

from __future__ import annotations

import os
import tempfile

import pyarrow

import dither

KINDS = {
    "counts": "SELECT COUNT(*) AS n, COUNT(cost) AS c, COUNT(DISTINCT person) AS p FROM visits",
    "sums": "SELECT ward, SUM(cost) AS s, AVG(cost) AS a FROM visits GROUP BY ward",
    "variances": "SELECT ward, VAR_POP(cost) AS v, STDDEV(cost) AS d FROM visits GROUP BY ward",
    "quantiles": "SELECT MEDIAN(cost) AS m, QUANTILE(cost, 0.9) AS q, MIN(cost) AS low, MAX(cost) AS high FROM visits",
    "distinct keys": "SELECT COUNT(DISTINCT ward) AS k FROM visits",
    "running counts": "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS n FROM visits GROUP BY ward",
    "unknown keys": "SELECT town, COUNT(DISTINCT person) AS n FROM visits GROUP BY town",
    "unknown keys and more": "SELECT town, COUNT(*) AS n, AVG(cost) AS a FROM visits GROUP BY town",
    "the largest groups": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1",
    "functions": "SELECT CASE WHEN cost > 50 THEN 'dear' ELSE 'cheap' END AS k, COUNT(*) AS n FROM visits "
    "WHERE UPPER(town) LIKE 'T%' GROUP BY k",
    "public table": "SELECT COUNT(*) AS n FROM visits JOIN floors ON visits.ward = floors.ward WHERE floors.floor = 1",
    "inner question": "SELECT AVG(LEAST(k, 5)) AS a FROM (SELECT person, COUNT(*) AS k FROM visits GROUP BY person) AS q",
    "having": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 10",
}
WITH_DELTA = {"unknown keys", "unknown keys and more"}  # a pure budget refuses them


def clinic(folder: str, budget: dither.Guarantee, name: str) -> dither.Dataset:
    rows = range(4000)
    table = {
        "person": [row // 2 for row in rows],
        "ward": [("a", "b", "c")[row % 3] for row in rows],
        "town": [f"t{row % 5}" for row in rows],
        "cost": [float(row * 37 % 101) for row in rows],
    }
    return dither.protect(
        pyarrow.table(table),
        name="visits",
        person="person",
        max_groups=2,
        max_rows_per_group=2,
        bounds={"cost": (0, 100)},
        keys={"ward": ["a", "b", "c"]},
        public={"floors": pyarrow.table({"ward": ["a", "b", "c"], "floor": [1, 1, 2]})},
        ledger=dither.Ledger.create(os.path.join(folder, f"{name}.ledger"), budget=budget),  # noqa: PTH118
    )


def show(name: str, answer: dither.Answer) -> None:
    """In every way that needs no extra."""
    print(f"-- {name}\n{answer}\n{answer.explain()}")
    assert answer.to_html()
    assert answer._repr_html_()
    assert answer.to_arrow().num_rows == len(answer) == len(answer.rows())
    print(answer.plot())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        os.environ["DITHER_HOME"] = home
        for called, budget in (("pure", dither.pure(1000)), ("approx", dither.approx(500, "1e-6"))):
            data = clinic(folder, budget, called)
            for name, sql in KINDS.items():
                if called == "pure" and name in WITH_DELTA:
                    continue
                quote = data.quote(sql, epsilon=1)
                assert quote.explain()
                assert quote.compare()
                show(f"{name}, {called}", quote.release())
            batch = data.quote([KINDS["counts"], KINDS["sums"]], epsilon=1)
            assert batch.explain()
            print(f"-- batch, {called}\n{batch.release()}")
            data.ledger.close()
    print("all printed")


if __name__ == "__main__":
    main()
