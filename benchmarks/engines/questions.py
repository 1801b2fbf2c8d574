"""Ten typical questions, each as it is asked here and as plain SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dither
from benchmarks.engines.purchases import COUNTRIES, REGIONS
from dither.privacy.guarantee.guarantee import Guarantee

FACTS: Mapping[str, Any] = {
    "person": "user_id",
    "max_groups": 5,
    "max_rows_per_group": 10,
    "hard": ["max_groups", "max_rows_per_group"],  # otherwise people beyond them are counted too, by a SELECT more
    "bounds": {"amount": (0, 500), "day": ("2024-01-01", "2024-12-31")},
    "steps": {"amount": "0.01"},
    "keys": {"region": REGIONS, "places.country": COUNTRIES},
}
ALONE: Mapping[str, Any] = {
    **{name: fact for name, fact in FACTS.items() if not name.startswith("max_") and name != "hard"},
    "person": "each row",
}
BY_REGION = "SELECT region, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM purchases GROUP BY region"
JOINED = (
    "SELECT c.country, COUNT(*) AS n, AVG(p.amount) AS a FROM purchases p JOIN places c ON p.region = c.region "
    "WHERE p.product LIKE 'product 1%' AND p.amount BETWEEN 10 AND 400 GROUP BY c.country"
)
INNER = "SELECT SUM(LEAST(n, 20)) AS s FROM (SELECT user_id, COUNT(*) AS n FROM purchases GROUP BY user_id) AS mine"
QUARTER = "EXTRACT(quarter FROM day)"
MEDIAN = "SELECT region, MEDIAN(amount) AS m FROM purchases GROUP BY region"


@dataclass(frozen=True)
class Question:
    """A question: its text, its price and its budget, and how many times the plain query it may take."""

    name: str
    sql: str
    budget: Guarantee
    price: Mapping[str, Any]
    most: float | None = None
    facts: Mapping[str, Any] = field(default_factory=lambda: FACTS)
    percentiles: bool = False  # whether plain PostgreSQL has no MEDIAN

    def plain(self, places: Mapping[str, str], *, median: bool) -> str:
        """The plain query of tables that are somewhere."""
        sql = (
            self.sql
            if median or not self.percentiles
            else self.sql.replace("MEDIAN(amount)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)")
        )
        for name, place in places.items():
            sql = sql.replace(f"FROM {name}", f"FROM {place}").replace(f"JOIN {name}", f"JOIN {place}")
        return sql


PURE, ZCDP, APPROX = dither.pure(10**6), dither.zcdp(10**6), dither.approx(10**6, "1e-6")
QUESTIONS = (
    Question("count, sum, average by region", BY_REGION, PURE, {"epsilon": 1}, 2, ALONE),
    Question("the same", BY_REGION, PURE, {"epsilon": 1, "bounding": "weights"}, 12),
    Question("the same", BY_REGION, ZCDP, {"rho": 1, "bounding": "clip"}, 22),
    Question("the same", BY_REGION, PURE, {"epsilon": 1, "bounding": "groups"}, 20),
    Question("join with a public table, LIKE, BETWEEN", JOINED, ZCDP, {"rho": 1}),
    Question("question within a question", INNER, PURE, {"epsilon": 1}),
    Question("median by region", MEDIAN, PURE, {"epsilon": 1}, percentiles=True),
    Question(
        "people by undeclared product",
        "SELECT product, COUNT(DISTINCT user_id) AS n FROM purchases GROUP BY product",
        *(APPROX, {"epsilon": 1}),
    ),
    Question("variance by region", "SELECT region, VARIANCE(amount) AS v FROM purchases GROUP BY region", ZCDP, {"rho": 1}),
    Question(
        "people by quarter",
        f"SELECT {QUARTER} AS q, COUNT(DISTINCT user_id) AS n FROM purchases GROUP BY {QUARTER}",
        *(ZCDP, {"rho": 1}),
    ),
)
