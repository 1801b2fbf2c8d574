"""Stored formats are treaties: what was written once is read, and stored spellings have no name of a class in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dither
from dither.errors import TamperError
from dither.ledger.entries.entry import VERSION, read
from dither.ledger.entries.receipt import Receipt
from dither.ledger.verify import Audit
from dither.privacy.budget.filter import from_json
from dither.query.answers.free_answer import FreeAnswer
from dither.query.plan.spelling import spell
from tests.golden import formats
from tests.golden.formats import FOLDER, WRITTEN, codes, rows_of

PAGE = (Path(__file__).parent.parent.parent / "docs" / "formats.md").read_text()


def stored(name: str) -> object:
    return json.loads((FOLDER / f"{name}.json").read_text())


def test_every_listed_format_has_its_file_and_every_file_is_listed():
    listed = set(re.findall(r"`([\w-]+)\.json` \|$", PAGE, re.MULTILINE))
    assert listed == {path.stem for path in FOLDER.glob("*.json")} == set(WRITTEN)


def test_guarantees_losses_and_filters_are_read():
    assert [dither.Guarantee.from_json(text) for text in stored("guarantee-1")] == formats.guarantees()
    assert [dither.Loss.from_json(text) for text in stored("loss-1")] == formats.losses()
    assert [from_json(text) for text in stored("filter-1")] == formats.filters()
    assert [dither.Guarantee.from_json(text) for text in stored("guarantee-2")] == formats.guarantees_with_rho()
    assert [from_json(text) for text in stored("filter-2")] == formats.filters_that_count_rho()
    assert [one.to_json() for one in formats.filters()] == stored("filter-1")


def test_reports_and_tallies_are_read():
    survey = formats.survey()
    found = dither.local.Reports.from_bytes(bytes.fromhex(stored("reports-1")), size=survey.dtype.itemsize)
    assert survey.tally(found).to_json() == stored("tally-1")
    assert dither.local.Tally.from_json(stored("tally-1")).to_json() == stored("tally-1")
    assert survey.tally(dither.local.Reports.from_bytes(bytes.fromhex(stored("reports-1")))).to_json() == stored("tally-1")
    with_ids = dither.local.Reports.from_bytes(bytes.fromhex(stored("reports-2")))
    assert survey.tally(with_ids).to_json() == stored("tally-2")
    assert dither.local.Tally.from_json(stored("tally-2")).duplicates == 1
    register = dither.local.ClientRegister.from_bytes(bytes.fromhex(stored("client-register-1")))
    assert (register.to_bytes().hex(), register.clients, register.elsewhere) == (stored("client-register-1"), 2, 2)
    assert survey.client_table() == stored("client-table-1")
    assert formats.survey_of_large_numbers().client_table() == stored("client-table-2")


def test_answers_are_read_and_shown():
    found = dither.Answer.from_json(stored("answer-2"))
    assert found.to_json() == stored("answer-2")
    assert found["ward"] == ["A", "B", "C", "D"]
    assert found.statements == {"n": "at least", "cost": "of counted rows"}
    assert str(found).startswith("at least: n (")
    before = dither.Answer.from_json(stored("answer-1"))  # which did not say what each number says
    assert before["ward"] == found["ward"]
    assert before.statements == {}
    assert str(before).startswith("ward ")
    assert "each low to high holds the noise with 95% probability" in " ".join(str(before).split())


def test_free_answers_and_batches_are_read():
    free, batch = FreeAnswer.from_json(stored("free-answer-1")), dither.BatchAnswer.from_json(stored("batch-answer-1"))
    assert free.to_json() == stored("free-answer-1")
    assert free["ward"] == ["A", "B", "C", "D"]
    assert batch.to_json() == stored("batch-answer-1")
    assert [one.aggregates for one in batch] == [("n",), ("cost",)]
    assert [one.receipt for one in batch] == [batch.receipt] * 2


def test_entries_of_a_ledger_are_read_and_add_up():
    held = stored("ledger-entry-2")
    audit, kinds = Audit((Receipt.from_json(held["receipt"]),)), []
    for row in rows_of(held):
        entry = read(row, bytes.fromhex(held["key"]))
        audit.follow(entry)
        kinds.append(entry.kind)
        body = re.search(rf"^\| `{entry.kind}` \| (.*) \|$", PAGE, re.MULTILINE)[1]
        assert set(entry.body) == set(re.findall(r"`(\w+)`", body)), entry.kind
    assert {"refused", "exported", "reserved", "answered"} <= set(kinds)
    assert json.loads(rows_of(held)[0].record)["entry"] == VERSION == 2
    with pytest.raises(TamperError):
        read(rows_of(held)[0]._replace(record=rows_of(held)[0].record.replace('"entry":2', '"entry":1')), None)


def test_every_code_is_listed_with_its_fields():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.partition("## Questions")[2], re.MULTILINE))
    own = {code: fields for code, fields in codes().items() if fields}
    assert {code: re.findall(r"`(\w+)`", fields) for code, fields in rows.items()} == own
    for code in set(codes()) - set(own):
        assert f"`{code}`" in PAGE.partition("## Questions")[2], code


def test_stored_questions_have_no_name_of_a_class():
    """Of all golden records: codes are small words, and nothing looks like Python."""
    for path in (FOLDER.parent / "records").glob("*.json"):
        for name, record in json.loads(path.read_text()).items():
            text = json.dumps(record.get("question", {}))
            assert not re.search(r'"is": "[^"]*[A-Z(<]', text), name
            assert "Fraction(" not in text, name


def test_a_class_without_a_code_of_its_own_is_not_spelled():
    class Doubled(dither.Geometric):
        pass

    with pytest.raises(AssertionError, match="no code of its own"):
        spell(Doubled(epsilon=1, sensitivity=1))
    with pytest.raises(AssertionError, match="no spelling"):
        spell(1.5)
