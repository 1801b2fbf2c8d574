"""A page that checks lecture notes: its table of claims must agree with its text, with its counts, and with the tests."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
VERDICTS = ("holds", "holds under a condition", "corrected")
ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \| \[.+\]\(#(.+)\) \| `(\w+)` \|$", re.MULTILINE)
COUNTS = re.compile(
    r"^Of (\d+) claims (\d+) hold, (\d+) hold under a condition and (\d+) are corrected; "
    r"the \[table of all claims\]\(#all-claims\)",
    re.MULTILINE,
)
VERDICT = re.compile(r"^\*\*(\d+)\. (Holds|Holds under a condition|Corrected)\.\*\*", re.MULTILINE)


def check_page(text: str, tests: str) -> int:
    """How many claims the page has; an AssertionError where it contradicts itself or names a test that is not there."""
    rows = ROW.findall(text)
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1)), "claims are numbered from 1"
    counted = Counter(verdict for _, _, verdict, _, _ in rows)
    assert counts(text) == {**{verdict: counted[verdict] for verdict in VERDICTS}, "all": len(rows)}
    said = {
        number: (verdict.lower(), section) for section, body in sections(text) for number, verdict in VERDICT.findall(body)
    }
    assert len(VERDICT.findall(text)) == len(said) == len(rows), "each claim has one verdict in the text"
    for number, claim, verdict, anchor, test in rows:
        assert said[number] == (verdict, anchor), f"claim {number} ({claim}) is {said[number]} in the text"
        assert f"\ndef {test}(" in tests, f"there is no {test}"
    return len(rows)


def counts(text: str) -> dict[str, int]:
    """How many claims have which verdict, as the head says; the table of claims must be the last section."""
    head = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]
    said = COUNTS.findall(head)
    assert len(said) == 1, "the head counts the verdicts, and says where the table is"
    assert not re.search(r"^\|", head, re.MULTILINE), "no table stands before the first section"
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[-1] == "All claims", "the table of all claims ends the page"
    return dict(zip(("all", *VERDICTS), map(int, said[0]), strict=True))


def sections(text: str) -> list[tuple[str, str]]:
    """The anchor of each section, and its text. A # inside code begins no section."""
    parts = re.split(
        r"^##+ (.+)$", re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE
    )
    return [
        (re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-"), body)
        for head, body in zip(parts[1::2], parts[2::2], strict=True)
    ]
