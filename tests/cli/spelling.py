"""How Python is told from the command line in what a refusal says."""

from __future__ import annotations

import re

CALLS = "pure|approx|zcdp|gdp|quote|compare|protect|Ledger|compose|verify|Policy|Number|Fraction|Decimal|dict|list"
PYTHON = re.compile(
    # a keyword; not ?table= of an address, nor --error n=20 and --spread cost=300
    r"(?<![\w?&-])(?<!--error )(?<!--spread )(?<!-c )[a-z_]\w*=(?![=\"])(?!schema\.)"
    rf"|(?<![\w`])\.?(?:{CALLS})\("
    r"|\bclinic\.(?!ledger)|\bdither\.[A-Z]|\b(?:True|False|None)\b|\bDataFrame\b"
)


def python_spelling(said: str) -> str | None:
    """The first Python spelling in a text, or None."""
    found = PYTHON.search(said)
    return None if found is None else found[0]
