"""A wizard's process as the page talks to it, and a small file with the replies of its owner."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HEADER = "patient,ward,cost"
REPLIES = {  # without a look at rows
    "look": "no",
    "file.header": "yes",
    "file.separator": "comma",
    "file.decimal": "point",
    "domain": "clinic",
    "visits.person": "patient",
    "visits.patient.type": "integer",
    "visits.ward.type": "text",
    "visits.ward.keys": "A, B",
    "visits.ward.known_from": "questionnaire",
    "visits.cost.type": "integer",
    "visits.cost.bounds": "0 to 100",
    "visits.cost.known_from": "law",
    "visits.max_rows": "3",
    "visits.known_from": "other",
    "budget.people": "80000",
    "ledger.witness": "none",
}
Json = dict[str, Any]
Told = Callable[[Json], Json]  # a message, and the reply of the process


def message(state: Json | None, reply: str = "", move: str = "answer", source: str = "visits.csv") -> Json:
    """What the page sends after a state, or at the beginning."""
    if state is None:
        return {"task": "step", "move": "begin", "source": source}
    key = (state["view"]["step"] or {"key": ""})["key"]
    task = "save" if move == "save" else "step"
    return {"task": task, "move": move, "replies": state["replies"], "look": state["look"], "key": key, "reply": reply}


def states(told: Told, replies: Mapping[str, str], source: str = "visits.csv") -> list[Json]:
    """All states from the first step to the policy."""
    found = [told(message(None, source=source))["done"]]
    while found[-1]["view"]["step"] is not None:
        key = found[-1]["view"]["step"]["key"]
        found.append(told(message(found[-1], replies.get(key, "")))["done"])
        assert found[-1]["refusal"] is None, found[-1]["refusal"]
    return found


def write_visits(folder: Path, *rows: str, name: str = "visits.csv") -> None:
    """The file."""
    (folder / name).write_text("\n".join([HEADER, *(rows or ("1,A,10", "1,B,20", "2,A,30")), ""]), encoding="utf-8")


def stored(source: str = "visits.csv", **replies: str) -> str:
    """Stored replies that somebody wrote."""
    return json.dumps({"version": 1, "replies": {"source": source, **replies}})
