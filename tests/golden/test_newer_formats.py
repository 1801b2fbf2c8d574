"""What a newer dither wrote: each reader refuses it, says which version came, and reads nothing else of it first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dither
from dither.errors import DitherError
from dither.ledger.entries.entry import digest, read
from dither.ledger.entries.receipt import Receipt
from dither.privacy.budget.filter import from_json
from dither.query.answers.free_answer import FreeAnswer
from dither.query.answers.released import Released
from dither.query.budget_plan.planned_question import read_plan
from dither.query.policy.policy import read_policy
from dither.server.core.config import read_gateway
from tests.golden.formats import FOLDER, rows_of

NEWER = 99


def stored(name: str) -> object:
    found = json.loads((FOLDER / f"{name}.json").read_text())
    return found[0] if isinstance(found, list) else found


def newer(text: object, name: str) -> str:
    """A record of a version that does not exist yet, with a part that nobody knows."""
    record = json.loads(str(text))
    assert name in record
    return json.dumps({**record, name: NEWER, "a later part": 1})


def entry(_: object = None) -> None:
    held = json.loads((FOLDER / "ledger-entry-2.json").read_text())
    row = rows_of(held)[0]
    record = row.record.replace('"entry":2', f'"entry":{NEWER}')
    read(row._replace(record=record, hash=digest(record)), None)


def in_file(reader, text: str):
    def run(folder: Path) -> None:
        (folder / "file.toml").write_text(text)
        reader(folder / "file.toml")

    return run


READERS = {
    "guarantee": lambda _: dither.Guarantee.from_json(newer(stored("guarantee-2"), "guarantee")),
    "loss": lambda _: dither.Loss.from_json(newer(stored("loss-1"), "loss")),
    "filter": lambda _: from_json(newer(stored("filter-2"), "filter")),
    "answer": lambda _: dither.Answer.from_json(newer(stored("answer-2"), "answer")),
    "answer of a free question": lambda _: FreeAnswer.from_json(newer(stored("free-answer-1"), "free_answer")),
    "answer to a batch": lambda _: dither.BatchAnswer.from_json(newer(stored("batch-answer-1"), "batch_answer")),
    "receipt": lambda _: Receipt.from_json(newer(stored("ledger-entry-2")["receipt"], "receipt")),
    "entry of a ledger": entry,
    "policy": lambda _: read_policy({"version": NEWER, "a later part": 1}),
    "gateway": in_file(read_gateway, f"version = {NEWER}\nlater = 1\n"),
    "plan": in_file(read_plan, f"version = {NEWER}\nlater = 1\n"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_newer_version_is_refused_and_named(name, tmp_path):
    with pytest.raises(DitherError, match=rf"\b{NEWER}\b") as refusal:
        READERS[name](tmp_path)
    assert re.search(r"newer dither|the dither that wrote it", str(refusal.value)), refusal.value
    assert "a later part" not in str(refusal.value)


def test_a_stored_answer_of_another_version_asks_for_the_dither_that_wrote_it():
    with pytest.raises(DitherError, match=r"this version of dither did not write it.*the version that did"):
        Released.from_json(json.dumps({"dither": NEWER, "released": []}))


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None, [1]])
def test_what_is_no_version_is_not_taken_for_one(version):
    record = json.loads(str(stored("answer-2")))
    with pytest.raises(DitherError, match="dither did not write this"):
        dither.Answer.from_json(json.dumps({**record, "answer": version}))
