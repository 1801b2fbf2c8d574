"""The words of engines, and templates written by them."""

from __future__ import annotations

import math

import pyarrow
import pyarrow.parquet
import pytest

from tests.query.clinics import clinic, private_totals

NAN, INF = math.nan, math.inf

# -- NaN in files --------------------------------------------------------------------------------------------------------

OF_COST = [
    "SELECT COUNT(*) AS n FROM visits WHERE cost > 5",
    "SELECT COUNT(*) AS n FROM visits WHERE NOT cost < 5",
    "SELECT COUNT(*) AS n FROM visits WHERE cost IS NULL",
    "SELECT COUNT(cost) AS n FROM visits",
    "SELECT SUM(cost) AS n FROM visits",
    "SELECT SUM(cost + 1) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM (SELECT person, MAX(cost) AS m FROM visits GROUP BY person) AS q WHERE m > 5",
]


@pytest.mark.parametrize("sql", OF_COST)
@pytest.mark.parametrize("others", [[], [1.0, None]], ids=["alone", "beside others"])
def test_what_nan_counts_as_does_not_depend_on_the_largest_number_of_a_file(tmp_path, sql, others):
    """The statistics of a Parquet file leave NaN out, and DuckDB decides comparisons by them unless told of NaN:
    nullif(cost, NaN) was cost where the largest number was 3, and NULL where it was infinity, in all rows at once."""
    totals = {}
    facts = {"keys": {}, "bounds": {"cost": (0, 10)}, "steps": {}, "complete": [], "max_groups": 1, "max_rows_per_group": 1}
    for last in (3.0, INF, NAN):
        cells = pyarrow.array([*others, *[NAN] * 20, last], pyarrow.float32() if others else pyarrow.float64())
        path = tmp_path / f"{last}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"person": range(len(cells)), "cost": cells}), path)
        quote = clinic(tmp_path, str(path), **facts).quote(sql, epsilon=1)
        ((totals[last],),) = private_totals(quote)
    (family,) = quote.offer.strategy.families
    most = quote.offer.bounding.l1(family)
    assert abs(totals[3.0] - totals[NAN]) <= most
    assert abs(totals[INF] - totals[NAN]) <= most
    if "IS NULL" in sql:
        assert totals[NAN] == (21 + others.count(None)) * most
