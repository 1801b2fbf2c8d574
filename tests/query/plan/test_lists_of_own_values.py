"""x NOT IN (SELECT y ...) of a person's own rows: what SQL says, where x or y is missing and where there is no row."""

from __future__ import annotations

import random

import pytest

from tests.query.owners import Asked
from tests.query.plan.test_other_rows import compared, people_and_rows

HER_WARDS = "(SELECT s.ward FROM stays s WHERE s.patient = v.person{})"
LISTS = [
    f"v.ward NOT IN {HER_WARDS.format('')}",
    f"v.ward NOT IN {HER_WARDS.format(' AND s.nights > v.age')}",
    f"v.cost > 20 OR NOT v.ward IN {HER_WARDS.format(' AND s.nights > 20')}",
    f"(v.ward IN {HER_WARDS.format('')}) IS NULL",
    f"CASE WHEN v.ward NOT IN {HER_WARDS.format('')} THEN TRUE ELSE v.cost > 40 END",
    "v.person NOT IN (SELECT s.nights FROM stays s WHERE s.patient = v.person)",
    "v.age NOT IN (SELECT n FROM (SELECT patient, MAX(nights) AS n FROM stays GROUP BY patient) s"
    " WHERE s.patient = v.person)",
]


@pytest.mark.parametrize("condition", LISTS)
def test_a_list_of_her_own_values_is_what_sql_says(condition):
    """Where a value is missing, in the row or in the list, and where the list is empty."""
    kept, sql = 0, f"SELECT COUNT(*) AS n, SUM(v.cost) AS c FROM visits v WHERE {condition}"
    for seed in range(12):
        rng = random.Random(seed)
        data = people_and_rows(rng)
        data["stays"] = [(*row[:3], rng.choice([None, *row[3:]])) for row in data["stays"]]
        data["visits"] = [(*row[:3], rng.choice([None, *row[3:]])) for row in data["visits"]]
        kept += compared(Asked(sql, "groups", groups=1, rows=10**6), sql, data, rng)
    assert kept > 0
