"""Records of decisions: short, of one shape, and all listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
MOST_LINES = 40


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_short_and_says_why_what_and_what_follows(record):
    text = record.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert text.startswith(f"# {int(record.name[:2])}. ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]


def test_records_are_numbered_one_by_one_and_listed():
    assert [int(path.name[:2]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))
    index, site = (FOLDER / "index.md").read_text(encoding="utf-8"), (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in RECORDS:
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert f"| [{title}]({path.name}) |" in index
        assert f"- decisions/{path.name}\n" in site
