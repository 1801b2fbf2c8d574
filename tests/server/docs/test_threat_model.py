"""`docs/threat-model.md`: the tests that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_attack_has_a_test_that_is_there():
    page = (ROOT / "docs" / "threat-model.md").read_text()
    rows = re.findall(r"^\| (A\d+) \|.*\| (.*) \|$", page, re.MULTILINE)
    assert [number for number, _ in rows] == ["A14", "A15", "A16", "A17", "A18", "A21", "A25", "A26", "A27", "A28", "A29"]
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "server").rglob("test_*.py"))
    for number, told in rows:
        named = re.findall(r"`(test_\w+)`", told)
        assert named or "attacks.md" in told, number
        assert [name for name in named if f"def {name}(" not in tests] == []
