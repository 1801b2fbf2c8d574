"""What becomes of ClickBench's 43 queries; `python -m benchmarks clickbench`. `UserID` is the person.

Bounds are of the schema (small whole numbers, the month of the data); no key is declared.
"""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dither
from benchmarks.clickbench.hits import make_hits
from benchmarks.question_files import Found, find, print_verdicts, read_questions, record
from dither.privacy.guarantee.guarantee import Guarantee

HERE = Path(__file__).parent
QUERIES, RECORD = HERE / "queries.sql", HERE / "verdicts.json"
FLAGS = ("IsRefresh", "DontCountHits", "IsLink", "IsDownload")
MONTH = datetime.date(2013, 7, 1), datetime.date(2013, 7, 31)
BOUNDS: Mapping[str, Any] = {
    **{"AdvEngineID": (0, 31), "SearchEngineID": (0, 31), "ResolutionWidth": (0, 8191), "TraficSourceID": (-1, 15)},
    **dict.fromkeys(FLAGS, (0, 1)),
    **{"EventDate": MONTH, "EventTime": MONTH},
}
LIMIT = 100  # hits of one person


def protected(own: Path, budget: Guarantee) -> dither.Dataset:
    """The made-up hits, with a ledger of their own."""
    hits = make_hits()
    return dither.protect(
        hits,
        name="hits",
        person="UserID",
        max_rows=LIMIT,
        bounds=BOUNDS,
        complete=hits.column_names,
        hard=["max_rows", *(f"bounds.{column}" for column in BOUNDS)],
        ledger=dither.Ledger.create(own / "hits.ledger", budget=budget),
    )


def verdicts() -> dict[str, Found]:
    """Of all queries, by their quotes."""
    with tempfile.TemporaryDirectory(prefix="dither-clickbench-") as name:
        os.environ["DITHER_HOME"] = str(Path(name) / "home")
        data = protected(Path(name), dither.approx(100, "1e-6"))
        return {one.name: find(one, lambda sql: data.quote(sql, epsilon=1)) for one in read_questions(QUERIES)}


def main(*, again: bool = False) -> None:
    """Print the table; `again`: and write the record anew."""
    found = verdicts()
    if again:
        record(RECORD, found)
    print_verdicts("ClickBench's queries, UserID protected", read_questions(QUERIES), found, RECORD)
