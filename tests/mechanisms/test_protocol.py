"""Every public mechanism is a Mechanism, and a test runs the conformance check on it."""

from __future__ import annotations

import re
from pathlib import Path

import dither

HERE = Path(__file__).parent
MECHANISMS = [
    name
    for name, home in dither._LAZY.items()
    if home.startswith("dither.mechanisms.") and name != "Mechanism" and hasattr(getattr(dither, name), "release")
]


def test_every_mechanism_is_checked():
    assert len(MECHANISMS) >= 18
    pages = [path.read_text() for path in HERE.rglob("test_*.py")]
    checked = [page for page in pages if "check_mechanism(mechanism" in page and "CASES" in page]
    for name in MECHANISMS:
        assert any(re.search(rf"^    \(?{name}\(", page, re.MULTILINE) for page in checked), f"no case of {name}"


def test_examples_of_each_are_mechanisms():
    coin = dither.RandomizedResponse(p="3/4")
    assert isinstance(coin, dither.Mechanism)
    assert isinstance(dither.Processed(mechanism=coin, function=int), dither.Mechanism)
    assert not isinstance(dither.pure(1), dither.Mechanism)
