"""A page that checks lecture notes: its table of claims must agree with its text, with its counts, and with the tests."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
VERDICTS = ("holds", "holds under a condition", "corrected")
ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \| \[.+\]\(#(.+)\) \| `(\w+)` \|$", re.MULTILINE)
COUNTS = re.compile(
    r"^\| holds \| holds under a condition \| corrected \| claims \|\n[|-]+\n\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.M
)
VERDICT = re.compile(r"^\*\*(\d+)\. (Holds|Holds under a condition|Corrected)\.\*\*", re.MULTILINE)


def check_page(text: str, tests: str) -> int:
    """How many claims the page has; an AssertionError where it contradicts itself or names a test that is not there."""
    rows = ROW.findall(text)
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1)), "claims are numbered from 1"
    counted = Counter(verdict for _, _, verdict, _, _ in rows)
    stated = COUNTS.search(text)
    assert stated, "the page counts its verdicts"
    assert [int(n) for n in stated.groups()] == [*(counted[verdict] for verdict in VERDICTS), len(rows)]
    said = {
        number: (verdict.lower(), section) for section, body in sections(text) for number, verdict in VERDICT.findall(body)
    }
    assert len(VERDICT.findall(text)) == len(said) == len(rows), "each claim has one verdict in the text"
    for number, claim, verdict, anchor, test in rows:
        assert said[number] == (verdict, anchor), f"claim {number} ({claim}) is {said[number]} in the text"
        assert f"\ndef {test}(" in tests, f"there is no {test}"
    return len(rows)


def sections(text: str) -> list[tuple[str, str]]:
    """The anchor of each section, and its text. A # inside code begins no section."""
    parts = re.split(
        r"^##+ (.+)$", re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE
    )
    return [
        (re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-"), body)
        for head, body in zip(parts[1::2], parts[2::2], strict=True)
    ]
