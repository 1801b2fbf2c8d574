"""Questions that are refused: of each kind of error, and of each part of dither that refuses something, at least one.

`REFUSED` are refused by the quote, `SITUATIONS` by the release, which needs something to go wrong first.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import dither
from dither.query.dataset import Dataset

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
WHERE = "SELECT COUNT(*) AS n FROM visits WHERE {}"
INNER = "SELECT COUNT(*) AS n FROM (SELECT {}) AS q"
MANY = "SELECT {}, age, EXTRACT(day FROM day) AS d, ward, new, EXTRACT(hour FROM at) AS h FROM visits GROUP BY age, d, ward, new, h"

REFUSED: dict[str, tuple[Any, dict[str, object]]] = {
    # no question
    "no text": (3, {}),
    "no SQL": ("SELECT COUNT(* FROM visits", {}),
    "two statements": (f"{COUNT}; {COUNT}", {}),
    "no SELECT": ("DROP TABLE visits", {}),
    "no table": ("SELECT 1", {}),
    "no such table": ("SELECT COUNT(*) FROM visit", {}),
    "single rows": ("SELECT * FROM visits", {}),
    "no such column": (WHERE.format("agee = 1"), {}),
    "of another name": (WHERE.format("w.age = 1"), {}),
    "column without aggregate": ("SELECT age FROM visits", {}),
    "two columns of a name": ("SELECT COUNT(*) AS n, SUM(cost) AS N FROM visits", {}),
    "sample": ("SELECT COUNT(*) FROM visits USING SAMPLE 10", {}),
    "clause of limits": (f"{COUNT} LIMIT 10%", {}),
    "distinct groups": ("SELECT DISTINCT COUNT(*) FROM visits GROUP BY ward", {}),
    "nested": (WHERE.format("(" * 61 + "new" + ")" * 61), {}),
    "long": (COUNT + " --" + "a" * 20_001, {}),
    # conditions
    "no condition": (WHERE.format("age"), {}),
    "types": (WHERE.format("ward = 3"), {}),
    "null compared": (WHERE.format("age = NULL"), {}),
    "list of nothing": (WHERE.format("age IN ()"), {}),
    "regular expression": (WHERE.format("town ~ '^a'"), {}),
    "pattern of a column": (WHERE.format("town LIKE ward"), {}),
    "division by zero": (WHERE.format("age / 0 > 3"), {}),
    "whole quotient": (WHERE.format("cost // 2 > 3"), {}),
    "remainder": (WHERE.format("age % cost = 1"), {}),
    "power": (WHERE.format("POWER(2, age) > 3"), {}),
    "random": (WHERE.format("random() > 0.5"), {}),
    "clock": (WHERE.format("day > CURRENT_DATE"), {}),
    "no date": (WHERE.format("day > DATE '2026-13-01'"), {}),
    "date as text": (WHERE.format("STRFTIME(day, '%Y-%m') = '2026-01'"), {}),
    "part of a date": (WHERE.format("EXTRACT(century FROM at) = 1"), {}),
    "interval": (WHERE.format("day > DATE '2024-01-01' + INTERVAL '1.5 days'"), {}),
    "difference of dates": (WHERE.format("DATE_DIFF('week', day, at) = 1"), {}),
    "cast": (WHERE.format("CAST(cost AS BIGINT) = 1"), {}),
    "text of a number": (WHERE.format("UPPER(age) = 'a'"), {}),
    "cut text": (WHERE.format("LEFT(town, -1) = 'a'"), {}),
    "rounded to": (WHERE.format("ROUND(age, 16) > 3"), {}),
    "window in a condition": (WHERE.format("ROW_NUMBER() OVER () > 3"), {}),
    "aggregate in a condition": (WHERE.format("SUM(age) > 3 AND age > 2"), {}),
    # aggregates
    "no bounds": ("SELECT SUM(LENGTH(town) * 1e300) AS s FROM visits", {}),
    "sum of texts": ("SELECT SUM(town) AS s FROM visits", {}),
    "constant sum": ("SELECT SUM(3) AS s FROM visits", {}),
    "unknown aggregate": ("SELECT KURTOSIS(cost) AS k FROM visits", {}),
    "aggregate of aggregate": ("SELECT SUM(AVG(cost)) AS s FROM visits", {}),
    "median of texts": ("SELECT MEDIAN(town) AS m FROM visits", {}),
    "share of a quantile": ("SELECT QUANTILE(cost, 1.5) AS q FROM visits", {}),
    "mode of open texts": ("SELECT MODE(town) AS m FROM visits", {}),
    "distinct sum": ("SELECT SUM(DISTINCT cost) AS s FROM visits", {}),
    "function of results": ("SELECT SQRT(SUM(cost)) AS s FROM visits", {}),
    "list of values": ("SELECT STRING_AGG(town, ',') AS s FROM visits", {}),
    # groups and what comes after the release
    "keys not known": ("SELECT UPPER(town) AS t, COUNT(*) AS n FROM visits GROUP BY t", {}),
    "keys of cases": ("SELECT COUNT(*) AS n FROM visits GROUP BY CASE WHEN age > 3 THEN 'a' END", {}),
    "too many keys": ("SELECT FLOOR(cost * 100) AS k, COUNT(*) AS n FROM visits GROUP BY k", {}),
    "grouping of open keys": ("SELECT town, COUNT(*) AS n FROM visits GROUP BY ROLLUP (town)", {}),
    "having of a row": (f"{BY_WARD} HAVING n > age", {}),
    "order by a row": (f"{COUNT} ORDER BY age", {}),
    "qualify without windows": (f"{COUNT} QUALIFY 1 = 1", {}),
    "window over rows": ("SELECT AVG(cost) OVER () AS a FROM visits", {}),
    "rank of nothing": ("SELECT ward, RANK() OVER () AS r FROM visits GROUP BY ward", {}),
    "running sum": ("SELECT ward, SUM(SUM(cost)) OVER (ORDER BY ward) AS s FROM visits GROUP BY ward", {}),
    "totals of small groups": ("SELECT topic, COUNT(*) AS n FROM calls GROUP BY ROLLUP (topic)", {}),
    "public result": ("SELECT beds, ward AS beds FROM wards", {}),
    "public function": ("SELECT SIN(beds) AS s FROM wards", {}),
    # relations
    "join without keys": ("SELECT COUNT(*) AS n FROM visits, stays", {}),
    "join of strangers": ("SELECT COUNT(*) AS n FROM visits JOIN stays ON age = nights", {}),
    "outer join of strangers": ("SELECT COUNT(*) AS n FROM visits LEFT JOIN stays ON age = nights", {}),
    "looked up elsewhere": (WHERE.format("age IN (SELECT nights FROM stays)"), {}),
    "looked up in private": ("SELECT COUNT(*) AS n FROM wards WHERE ward IN (SELECT ward FROM visits)", {}),
    "union": (INNER.format("person FROM visits UNION SELECT patient FROM stays"), {}),
    "windows of all": (INNER.format("person, ROW_NUMBER() OVER (ORDER BY day) AS k FROM visits"), {}),
    "frame": (INNER.format("person, NTH_VALUE(age, 2) OVER (PARTITION BY person ORDER BY day) AS k FROM visits"), {}),
    "unknown own total": (INNER.format("person, STDDEV(age) AS k FROM visits GROUP BY person"), {}),
    "cost of nobody": (INNER.format("person, cost FROM visits GROUP BY person"), {}),
    "chain on other columns": ("SELECT COUNT(*) AS n FROM visits JOIN doses ON visits.age = doses.visit", {}),
    "subquery of two numbers": (WHERE.format("cost > (SELECT AVG(cost), 1 FROM visits)"), {}),
    "correlated subquery": (WHERE.format("cost > (SELECT AVG(cost) FROM visits w WHERE w.ward = visits.ward)"), {}),
    "groups in a subquery": (WHERE.format("cost > (SELECT AVG(cost) FROM visits GROUP BY ward)"), {}),
    "public constant of a row": (WHERE.format("cost > (SELECT beds FROM wards)"), {}),
    "window by a constant": (INNER.format("person, RANK() OVER (PARTITION BY person ORDER BY 3) AS r FROM visits"), {}),
    "frame of values": (
        INNER.format(
            "person, SUM(age) OVER (PARTITION BY person ORDER BY age RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS s FROM visits"
        ),
        {},
    ),
    "names of columns": ("SELECT COUNT(*) AS n FROM (SELECT person, age FROM visits) AS q (a, b, c)", {}),
    "two schemas": ("SELECT COUNT(*) AS n FROM a.visits AS v JOIN b.visits AS w USING (person)", {}),
    "many tables": (
        f"SELECT COUNT(*) AS n FROM visits v {' '.join(f'JOIN wards w{at} ON v.ward = w{at}.ward' for at in range(31))}",
        {},
    ),
    "no day left": (
        "SELECT EXTRACT(year FROM day) AS y, COUNT(*) AS n FROM visits WHERE day > '2024-02-02' AND day < '2024-01-01' GROUP BY y",
        {},
    ),
    "subquery computed with": ("SELECT SUM(cost * (SELECT AVG(cost) FROM visits)) AS s FROM visits", {}),
    "subquery in a subquery": (
        WHERE.format("cost > (SELECT AVG(cost) FROM visits WHERE age > (SELECT AVG(age) FROM visits))"),
        {},
    ),
    "subquery without a table": (WHERE.format("age > (SELECT 1)"), {}),
    "keys twice": ("SELECT DISTINCT ward, ward AS w FROM visits", {}),
    "keys of nobody's": ("SELECT DISTINCT town FROM visits", {}),
    "repeated parts": (f"SELECT COUNT(*) AS n FROM visits WHERE {'(' * 20}new{' BETWEEN FALSE AND TRUE)' * 20}", {}),
    "median of many groups": (
        "SELECT age, nights, MEDIAN(cost) AS m FROM visits JOIN stays ON person = patient GROUP BY age, nights, age % 11",
        {},
    ),
    "many windows": (
        INNER.format(
            f"person, {', '.join(f'LAG(age, {at}) OVER (PARTITION BY person ORDER BY day) AS w{at}' for at in range(1, 22))} FROM visits"
        ),
        {},
    ),
    "columns of two types": (
        "SELECT COUNT(*) AS n FROM visits LEFT JOIN (SELECT patient AS person, nights AS ward FROM stays) AS s USING (person, ward)",
        {},
    ),
    "many public tables": (
        f"SELECT COUNT(*) AS n FROM visits v {' '.join(f'JOIN wards w{at} ON v.ward = w{at}.ward' for at in range(9))}",
        {},
    ),
    "too many numbers": (MANY.format("COUNT(*) AS n, SUM(cost) AS s, AVG(age) AS a"), {}),
    "mode of many groups": (MANY.format("MODE(ward) AS m"), {}),
    "pairs of many groups": (MANY.format("COUNT(DISTINCT ward) AS k"), {}),
    "steps beyond 64 bits": ("SELECT SUM(age + 10000000000000000000) AS s FROM visits", {}),
    "nothing but zero": ("SELECT SUM(LEAST(GREATEST(age, 0), 0)) AS s FROM visits", {}),
    "many repeated parts": (WHERE.format(f"({'age + ' * 300}age, ward) IN ({', '.join(['(1, 1)'] * 60)})"), {}),
    "null of public tables": (WHERE.format("cost > (SELECT MAX(beds) FROM wards WHERE beds > 400)"), {}),
    "public star": ("SELECT * FROM wards a JOIN wards b ON a.ward = b.ward", {}),
    # options in SQL
    "unknown option": ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(kappa = 3) COUNT(*) FROM visits", {}),
    "loosening option": ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 9) COUNT(*) FROM visits", {}),
    "bounds in SQL": ("SELECT SUM(cost, contribution_bounds_per_row => (0, 9)) FROM visits", {}),
    # prices
    "no price": (COUNT, {"epsilon": None}),
    "two prices": (COUNT, {"epsilon": 1, "rho": 1}),
    "negative price": (COUNT, {"epsilon": -1}),
    "price of a float": (COUNT, {"epsilon": float("nan")}),
    "tiny price": (COUNT, {"epsilon": "1e-200"}),
    "enormous price": (COUNT, {"epsilon": "1e19"}),
    "price in rho": (COUNT, {"epsilon": None, "rho": 0}),
    "no guarantee": (COUNT, {"epsilon": None, "guarantee": "0.5"}),
    "guarantee for other neighbors": (COUNT, {"epsilon": None, "guarantee": dither.pure(1, unit="replace one row")}),
    "guarantee without a price": (COUNT, {"epsilon": None, "guarantee": dither.renyi({2: "0.1"})}),
    # keywords
    "unknown keyword": (COUNT, {"epsilons": 1}),
    "unknown noise": (COUNT, {"noise": "uniform"}),
    "unknown bounding": (BY_WARD, {"bounding": "drop"}),
    "bounding of people": ("SELECT COUNT(DISTINCT person) AS n FROM visits", {"bounding": "weights"}),
    "unknown limits": (COUNT, {"limits": "all"}),
    "limits that are not hard": (COUNT, {"limits": "hard"}),
    "limits of two tables": ("SELECT COUNT(*) AS n FROM visits JOIN stays ON person = patient", {"limits": "auto"}),
    "unknown bounds": ("SELECT AVG(age) AS a FROM visits", {"bounds": "all"}),
    "bounds of a count": (COUNT, {"bounds": "auto"}),
    "intervals of counts": (COUNT, {"intervals": "1/2"}),
    "all for intervals": ("SELECT MEDIAN(age) AS m FROM visits", {"intervals": 1.5}),
    "certainty": (COUNT, {"confidence": 1}),
    "size of nothing": (COUNT, {"size": 0}),
    "spread of no column": ("SELECT STDDEV(age) AS d FROM visits", {"size": 9, "spread": {"town": 3}}),
    "others of declared keys": (BY_WARD, {"other": "others"}),
    "delta of declared keys": (BY_WARD, {"delta": "1e-8"}),
    "all delta": ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", {"delta": "1e-3"}),
    "other as a key": ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", {"other": ""}),
    "error of no column": (COUNT, {"epsilon": None, "error": {"m": 3}}),
    "error without size": ("SELECT AVG(age) AS a FROM visits", {"epsilon": None, "error": {"a": 3}}),
    "error of a median": ("SELECT MEDIAN(age) AS m FROM visits", {"epsilon": None, "error": {"m": 3}}),
    "tiny error": (COUNT, {"epsilon": None, "error": {"n": "1e-30"}}),
    "error and found limits": (COUNT, {"epsilon": None, "error": {"n": 3}, "limits": "auto"}),
    # batches
    "batch of nothing": ([], {}),
    "error of a batch": ([COUNT, BY_WARD], {"epsilon": None, "error": {"n": 3}}),
    "batch with a refused question": ([COUNT, "SELECT * FROM visits"], {}),
    "batch of public tables": ([COUNT, "SELECT SUM(beds) AS b FROM wards"], {}),
}


class Failing:
    """An engine that fails once rows are read."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def opened(self, *_: object) -> Iterator[Any]:
        """Open nothing; what is opened cannot be read."""
        yield self

    def read(self, *_: object) -> Callable[..., object]:
        def run(*_: object) -> object:
            raise ValueError("a row of somebody")

        return run


def failing(data: Dataset) -> None:
    """Release while the engine fails after the charge."""
    data.__dict__["engine"] = Failing(data.engine)
    data.quote(COUNT, epsilon="0.25").release()


def named_twice(data: Dataset) -> None:
    """Release two questions under one name."""
    data.quote(COUNT, epsilon="0.25").release(idempotency_key="one")
    data.quote(BY_WARD, epsilon="0.25").release(idempotency_key="one")


def computed_elsewhere(data: Dataset) -> None:
    """Ask while somebody else computes the answer, and do not wait."""
    quote = data.quote(f"{COUNT} WHERE new", epsilon="0.25")
    terms = {"analyst": "", "data_version": data.policy.data_version, "policy_hash": data.policy.hash}
    data.ledger.touch(data.ledger.reserve(quote.guarantee, quote.question, **terms))
    quote.release(wait=0)


def without_rows(data: Dataset) -> None:
    """Release a question about a table that is nowhere."""
    sources = {name: source for name, source in data.sources.items() if name != "stays"}
    Dataset(data.policy, data.ledger, sources).quote("SELECT COUNT(*) AS n FROM stays", epsilon="0.125").release()


def too_dear(data: Dataset) -> None:
    """Release at nearly all of the budget, twice."""
    most = data.ledger.budget.ceiling.charge().epsilon * Fraction(9, 10)
    data.quote(COUNT, epsilon=most).release()
    data.quote(BY_WARD, epsilon=most).release()


SITUATIONS: dict[str, Callable[[Dataset], object]] = {
    "failed after rows were read": failing,
    "two questions of one name": named_twice,
    "computed elsewhere": computed_elsewhere,
    "a table without rows": without_rows,
    "no number of threads": lambda data: data.quote(COUNT, epsilon="0.25").release(threads=0),
    "no seconds to wait": lambda data: data.quote(COUNT, epsilon="0.25").release(wait=-1),
    "price of a free question": lambda data: data.quote("SELECT DISTINCT ward FROM visits").affordable,
    "more than the budget": lambda data: data.quote(COUNT, epsilon=10_000).release(),
    "more than is left": too_dear,
}
