"""Tables in buckets: that all rows of a person are in one bucket is a claim of files, and is not relied on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dither.query.sources.spark_session import own_session

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own
BY_PATIENT = "SELECT patient, count(*) AS n FROM default.in_buckets GROUP BY patient"


def test_a_person_in_two_buckets_is_one_person(session):
    """Rows of bucket 0 lie in bucket 1 too. Spark would group each bucket by itself, and find a person twice, with a bound
    for each."""
    session.sql("CREATE TABLE in_buckets (patient BIGINT) USING parquet CLUSTERED BY (patient) INTO 2 BUCKETS")
    try:
        session.sql("INSERT INTO in_buckets SELECT id % 4 FROM range(0, 16, 1, 1)")
        warehouse = Path(session.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
        first, second = sorted((warehouse / "in_buckets").glob("*.parquet"))
        shutil.copy(first, str(second).replace(".c000.", ".c001."))
        session.catalog.refreshTable("in_buckets")
        told = [row.patient for row in session.sql(BY_PATIENT).collect()]
        assert len(told) > len(set(told)) == 4  # under the settings of Spark: the bug is there
        ours = [row.patient for row in own_session(session).sql(BY_PATIENT).collect()]
        assert sorted(ours) == [0, 1, 2, 3]
    finally:
        session.sql("DROP TABLE in_buckets")
