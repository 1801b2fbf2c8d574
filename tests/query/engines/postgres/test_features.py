"""Rows to learn from are the same on both engines: so are the whole numbers that a fit releases, under the same noise."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import dither
from dither.testing import seeded

SQL = "SELECT age, ward, cost FROM learnt WHERE age > 20"
ROWS = {
    "patient": [1, 1, 1, 2, 2, 3, None, 4, 5, 6],
    "age": [30, 40, 50, 21, 90, None, 30, 20, 200, 35],
    "ward": ["north", "south", "north", None, "other", "north", "south", "south", "north", "south"],
    "cost": [1.5, 2.5, float("nan"), float("inf"), None, 0.1, 7.0, 3.0, -1.0, 12.25],
    "ill": [True, False, True, None, False, True, True, False, True, False],
}


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_the_same_releases_on_both_engines(address, link):
    learn = pytest.importorskip("dither.learn")
    pytest.importorskip("sklearn")
    link.execute("DROP TABLE IF EXISTS learnt")
    link.execute("CREATE TABLE learnt (patient bigint, age bigint, ward text, cost double precision, ill boolean)")
    for row in zip(*ROWS.values(), strict=True):
        link.execute("INSERT INTO learnt VALUES (%s, %s, %s, %s, %s)", row)
    found = []
    place = f"{address}{'&' if '?' in address else '?'}table=learnt"
    for data in (pyarrow.table(ROWS), place):
        with dither.Ledger.temporary(dither.approx(3, "1e-5"), domain="learnt") as ledger:
            facts = {"bounds": {"age": (0, 100), "cost": (0, 10)}, "keys": {"ward": ["north", "south"]}, "max_rows": 2}
            clinic = dither.protect(data, name="learnt", person="patient", ledger=ledger, **facts)
            with seeded(11):
                model = learn.LogisticRegression(epsilon=1, delta="1e-6").fit(clinic.features(SQL, target="ill"))
            found.append(model.released_)
    assert len(found[0]) == len(found[1]) > 1
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
