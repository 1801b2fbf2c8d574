"""Requests that are put about neighbouring data, and their replies with all that may differ taken out.

What may differ: noisy numbers; ids and times; the name of the dataset, and what follows from the identity of its ledger.
"""

from __future__ import annotations

import json
import re
from typing import Any

# SQL, terms, Idempotency-Key. Refusals, failures, batches, free questions and budgets are among them.
ASKS: list[tuple[str | list[str], dict[str, Any], str | None]] = [
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "0.5"}, None),
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "0.5"}, "again"),
    ("SELECT SUM(age) AS n FROM visits", {"epsilon": "0.5"}, "again"),  # another question
    ("SELECT ward, COUNT(*) AS n, SUM(cost) AS c, AVG(age) AS a FROM visits GROUP BY ward",
     {"epsilon": "0.5", "size": 20}, None),
    ("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 1 GROUP BY ward ORDER BY ward DESC", {"epsilon": "0.1"}, None),
    ("SELECT MEDIAN(cost) AS m FROM visits", {"epsilon": "0.5"}, None),
    ("SELECT COUNT(DISTINCT person) AS n FROM visits", {"error": {"n": 20}}, None),
    ("SELECT COUNT(DISTINCT ward) AS n FROM tests", {"epsilon": "0.5"}, None),
    ("SELECT SUM(level) AS l, SUM(count) AS c, AVG(count) AS a FROM tests WHERE done", {"epsilon": "0.5", "size": 20}, None),
    ("SELECT SUM(level * level - level) AS l, VAR_POP(level) AS v FROM tests", {"epsilon": "0.5", "size": 20}, None),
    ("SELECT COUNT(*) AS n FROM tests WHERE 1 / count > 0 OR sqrt(-level) > 0 OR ln(level) > 0", {"epsilon": "0.5"}, None),
    ("SELECT SUM(CASE WHEN note LIKE '%C%N%' THEN 1 ELSE 0 END) AS n FROM visits", {"epsilon": "0.5"}, None),
    ("SELECT SUM(beds) AS b FROM visits JOIN wards ON visits.ward = wards.ward", {"epsilon": "0.5"}, None),
    ("SELECT EXTRACT(month FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY m", {"epsilon": "0.5"}, None),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 3", {"epsilon": "0.5", "limits": "auto"}, None),
    (["SELECT COUNT(*) AS n FROM visits WHERE age > 5", "SELECT ward, SUM(age) AS s FROM visits GROUP BY ward"],
     {"epsilon": "0.5"}, None),
    ("SELECT DISTINCT ward FROM visits", {}, None),
    ("SELECT * FROM wards ORDER BY beds", {}, None),
    ("SELECT ward FROM visits LIMIT 0", {}, None),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 77", {"epsilon": "0.5"}, "fails"),  # the harness lets it fail
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 77", {"epsilon": "0.5"}, "fails"),
    ("SELECT SUM(age) AS n FROM visits", {"epsilon": "0.5"}, "fails"),
    ("SELECT * FROM visits", {"epsilon": "0.5"}, None),
    ("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", {"epsilon": "0.5"}, None),
    ("SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS INTEGER) > 1", {"epsilon": "0.5"}, None),
    ("SELECT MAX(note) AS n FROM visits", {"epsilon": "0.5"}, None),
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "3"}, None),  # more than one question may cost
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "-1"}, None),
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "0.5", "seed": 1}, None),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 8", {"epsilon": "2"}, None),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 9", {"epsilon": "2"}, None),  # above the budget
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "0.5"}, "again"),
]  # fmt: skip
BUDGET = '{ epsilon = "10" }'  # so that the last but one is refused
MASKS = [
    (re.compile(r"\b(qt|qy)_[0-9a-f]+"), r"\1_"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?"), "TIME"),
    (re.compile(r'time(\\?": )\d{16}'), r"time\1 0"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "IDENTITY"),
    (re.compile(r"\b[0-9a-f]{8}-(\d+)\b"), r"RECEIPT-\1"),
]
NUMBERS = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")


def masked(text: str, dataset: str) -> str:
    """A text without ids, times and the name of the dataset."""
    text = text.replace(dataset, "DATASET")
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text


def without_noise(answer: str) -> str:
    """An answer's JSON with each noisy number at a fixed width; all else as it is: keys, order, rows, words, members."""
    found = json.loads(answer)
    if "batch" in found:
        found |= {"batch": [_one(one) for one in found["batch"]], "receipt": _receipt(found["receipt"])}
        return json.dumps(found, ensure_ascii=False)
    return json.dumps(_one(found), ensure_ascii=False)


def _one(answer: dict[str, Any]) -> dict[str, Any]:
    if answer.get("free"):
        return answer  # no noise: nothing may differ
    keys = set(answer["keys"])
    columns = {name: cells if name in keys else len(cells) * ["#"] for name, cells in answer["columns"].items()}
    # How many are beyond the limits is released too, and told in words.
    told = {name: NUMBERS.sub("#", answer[name]) for name in ("released", "says", "note")}
    told |= {"receipt": _receipt(answer["receipt"])} if "receipt" in answer else {}
    return answer | {"columns": columns, "beyond": NUMBERS.sub("#", json.dumps(answer["beyond"])), **told}


def _receipt(text: str) -> str:
    """A receipt; that of a replay has what is stored, with noise."""
    found = json.loads(text)
    return json.dumps(found | {"answer": found["answer"] and NUMBERS.sub("#", found["answer"])})


def difference(one: str, other: str) -> str:
    """Where two texts begin to differ; empty if they are the same."""
    if one == other:
        return ""
    place = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(0, place - 60) : place + 60]!r} is {other[max(0, place - 60) : place + 60]!r} elsewhere"
