"""Every row of the table of spellings in the manual: both sides are one question."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse

PAGE = Path(__file__).parents[4] / "docs" / "questions.md"
COLUMNS = {
    "patient_id": {"type": "integer"},
    "day": {"type": "date"},
    "ward": {"type": "text", "keys": ["surgery", "oncology"]},
    "age": {"type": "integer", "bounds": [0, 110]},
    "cost": {"type": "decimal", "bounds": [0, 2000], "step": 0.01},
}
POLICY = read_policy(
    {
        "version": 1,
        "domain": "clinic",
        "ledger": {"location": "clinic.ledger", "budget": {"epsilon": 3}},
        "tables": {"visits": {"person": "patient_id", "max_groups": 2, "max_rows_per_group": 3, "columns": COLUMNS}},
    }
)


def spellings() -> list[tuple[str, str]]:
    table = PAGE.read_text(encoding="utf-8").split("<!-- spellings -->")[1].split("<!-- end -->")[0]
    rows = [[re.findall("`([^`]+)`", cell) for cell in line.split("|")[1:3]] for line in table.splitlines() if "`" in line]
    return [(written, read) for left, (read,) in rows for written in left]


def whole(part: str) -> str:
    """A part of a question as one."""
    if part.startswith("SELECT"):
        return part
    if re.match("(COUNT|SUM|AVG)", part):
        return f"SELECT {part} AS n FROM visits"
    return f"SELECT COUNT(*) AS n FROM visits WHERE {part}"


@pytest.mark.parametrize(("written", "read"), spellings())
def test_both_are_one_question(written, read):
    assert parse(whole(written), POLICY) == parse(whole(read), POLICY)


def test_all_rows_are_found():
    assert len(spellings()) == 38
