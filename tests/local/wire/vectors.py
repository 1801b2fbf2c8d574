"""Test vectors for clients in any language: given the table and the random bytes, the bytes of a report.

`python -m tests.local.wire.vectors` writes docs/wire-format-vectors.json anew. Random bytes are SHAKE-256 of a name; each
case lists exactly the bytes that a client takes.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from dither import ln
from dither.local import (
    CoinFlip,
    DirectEncoding,
    Duchi,
    GridResponse,
    HadamardResponse,
    HeavyHitters,
    Hybrid,
    LocalHashing,
    Longitudinal,
    NoisyNumber,
    Piecewise,
    SubsetSelection,
    UnaryEncoding,
)
from dither.local.portable_survey import spelled_label
from tests.local.wire.reference_client import Bytes, Client, exact, mix, multiply

PATH = Path(__file__).parent.parent.parent.parent / "docs" / "wire-format-vectors.json"
NAMES = ["oak", "elm", "ash", "fir", "yew"]
NUMBERS = [0.3, -7, "NaN", "Infinity", "-Infinity", 9.999999999, 1e-300, 10, 2.5]
LARGE = 2**53 + 1  # which doubles do not tell from 2^53
TEXTS = ["oak", "", "naïve", "€€", "a\0b", "half \ud83d", "a long text"]


def surveys() -> list[tuple[Any, list[list[Any]]]]:
    """Surveys, and for each of them what some clients report, one list a client."""
    return [
        (CoinFlip(heads="1/3", yes="1/2"), [[True], [False]]),
        (DirectEncoding(["yes", "no", "unsure"], epsilon=1), [["yes"], ["no"], ["unsure"], ["yes"]]),
        (DirectEncoding(range(300), epsilon=ln(3)), [[0], [299], [17]]),
        (DirectEncoding([True, False], epsilon=2), [[True], [False]]),
        (UnaryEncoding(NAMES, epsilon=1), [["oak"], ["yew"]]),
        (UnaryEncoding(range(11), epsilon=ln(4), optimised=False), [[0], [10]]),
        (HadamardResponse(NAMES, epsilon="0.5"), [["oak"], ["elm"], ["yew"]]),
        (HadamardResponse(range(300), epsilon=3), [[0], [255], [299]]),
        (SubsetSelection(range(12), epsilon=1), [[0], [11], [5]]),
        (LocalHashing(NAMES, epsilon=1), [["oak"], ["ash"], ["yew"]]),
        (LocalHashing(range(100), epsilon=2), [[0], [42], [99]]),
        (LocalHashing(range(50), epsilon="1.5", seeds=33), [[0], [7], [49]]),
        (GridResponse(width=4, height=3, epsilon=2), [[[0, 0]], [[3, 2]], [[1, 2]]]),
        (GridResponse(width=20, height=20, epsilon=2, scores="uniform"), [[[0, 0]], [[19, 7]]]),
        (Longitudinal(NAMES, first="0.5", forever=2), [["oak", "oak", "elm", "oak"], ["yew", "yew"]]),
        (Duchi(0, 10, epsilon=1), [[value] for value in NUMBERS]),
        (Piecewise("-1/3", 10, epsilon=2, reports=50), [[value] for value in NUMBERS]),
        (Hybrid(0, 10, epsilon=3), [[value] for value in NUMBERS]),
        (Hybrid(0, 10, epsilon="1/2"), [[value] for value in NUMBERS[:3]]),
        (NoisyNumber(0, 10, epsilon=2, steps=8), [[value] for value in NUMBERS]),
        (HeavyHitters(epsilon=2, longest=6, seeds=64), [[text] for text in TEXTS]),
        (HeavyHitters(epsilon=1, bits=20, seeds=64), [[0], [7], [2**20 - 1]]),
        (HeavyHitters(epsilon=1, bits=64, seeds=64), [["18446744073709551615"], ["9007199254740993"]]),
        (DirectEncoding([LARGE, LARGE - 1, str(LARGE), -LARGE, LARGE - 2], epsilon=2), labels(LARGE, LARGE - 1, str(LARGE))),
        (
            HadamardResponse([(LARGE, 1), (LARGE - 1, 1), (1, LARGE)], epsilon=2),
            labels([LARGE, 1], [LARGE - 1, 1], [1, LARGE]),
        ),
        (
            Longitudinal([LARGE - 1, LARGE], first="0.5", forever=2),
            [[spelled_label(value) for value in (LARGE, LARGE - 1, LARGE)]],
        ),
    ]


def labels(*values: Any) -> list[list[Any]]:
    """Clients that report one value each, spelled as tables spell values."""
    return [[spelled_label(value)] for value in values]


def given(value: Any, survey: Any) -> Any:
    """A value of the vectors as Python has it: what JSON lacks is a text there, and large values are as in tables."""
    if isinstance(value, (dict, list)):
        return exact(value)
    if not hasattr(survey, "domain") and isinstance(value, str):
        return int(value) if "bits" in survey.record else float(value) if "low" in survey.record else value
    return value


def case(survey: Any, values: list[Any], name: str) -> dict[str, Any]:
    client, random = Client(survey.client_table()), Bytes(hashlib.shake_256(name.encode()).digest(1 << 14))
    reports = [client.report(given(value, survey), random).hex() for value in values]
    return {"values": values, "random": random.data[: random.taken].hex(), "reports": reports}


def steps() -> dict[str, Any]:
    """Single steps, for whoever looks for a mistake: uniform numbers, coins, the mix, products of fields, cells, items."""
    below = []
    for m, data in (
        (1, ""),
        (2, "80"),
        (3, "ff40"),
        (5, "c0e060"),
        (300, "ffff012c"),
        (2**120, "01" * 15),
        (10**30, "00" * 13),
    ):
        below.append({"m": str(m), "random": data, "value": str(Bytes(bytes.fromhex(data)).below(m))})
    coins = []
    for n, d, data in ((1, 3, "40"), (2, 3, "40"), (5, 2**120, "00" * 14 + "05"), (5, 2**120, "00" * 14 + "04")):
        coins.append({"coin": [str(n), str(d)], "random": data, "value": Bytes(bytes.fromhex(data)).coin(n, d)})
    words = [{"word": str(word), "mixed": str(mix(word))} for word in (0, 1, 2**63, 2**64 - 1)]
    fields, cells = [], []
    for survey in (LocalHashing(range(100), epsilon=e) for e in ("0.5", 2, "2.1", 4)):
        table = json.loads(survey.client_table())
        how, g, client = table["hash"], table["cells"], Client(survey.client_table())
        products = [[a, b, multiply(a, b, how)] for a, b in ((1, g - 1), (g - 1, g - 1), (g // 2, g - 1))]
        fields.append({"hash": how, "products": products})
        places = [[seed, place, client.cell(seed, place)] for seed, place in ((0, 5), (1, 99), (table["seeds"] - 1, 98))]
        cells.append({"hash": how, "cells": g, "cell": places})
    mixed = json.loads(LocalHashing(range(50), epsilon="1.5", seeds=33).client_table())
    client = Client(json.dumps(mixed))
    places = [[seed, place, client.cell(seed, place)] for seed, place in ((0, 0), (1, 0), (7, 49), (32, 5))]
    cells.append({"hash": mixed["hash"], "cells": mixed["cells"], "cell": places})
    texts = Client(HeavyHitters(epsilon=2, longest=6, seeds=64).client_table())
    items = [{"length": 6, "text": text, "bytes": texts.item(text).hex()} for text in TEXTS]
    rounded = Client(Piecewise("-1/3", 10, epsilon=2, reports=50).client_table())
    places = [{"value": value, "parts": str(parts(rounded, value))} for value in NUMBERS]
    rounding = {"low": ["-1", "3"], "high": ["10", "1"], "steps": rounded["steps"], "places": places}
    return {
        "below": below,
        "coins": coins,
        "mix": words,
        "fields": fields,
        "cells": cells,
        "items": items,
        "rounding": rounding,
    }


def parts(client: Client, value: Any) -> int:
    """Where a value lies, in 2^120ths of a step."""
    seen: list[int] = []

    class Recorder:
        def coin(self, n: int, d: int) -> bool:
            seen.append(n)
            return False

    return client._round(float(value), Recorder()) * 2**120 + seen[0]


def vectors() -> dict[str, Any]:
    listed = []
    for number, (survey, clients) in enumerate(surveys()):
        cases = [case(survey, values, f"dither wire vectors {number} {at}") for at, values in enumerate(clients)]
        reports = [bytes.fromhex(report) for each in cases for report in each["reports"]]
        client, ids = Client(survey.client_table()), [bytes([at]) * 16 for at in range(len(reports))]
        plain, with_ids = client.message(reports).hex(), client.message(reports[:2], ids[:2]).hex()
        listed.append({"table": client.table, "clients": cases, "message": plain, "message_with_ids": with_ids})
    assert all(math.isfinite(float(v)) or isinstance(v, str) for v in NUMBERS)
    return {"dither_wire_vectors": 1, "steps": steps(), "surveys": listed}


def text() -> str:
    return json.dumps(vectors(), indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text())
    print(f"wrote {PATH.name}")
