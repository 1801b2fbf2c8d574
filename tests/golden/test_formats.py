"""Stored formats are treaties: what was written once is read, and stored spellings have no name of a class in them."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

import dither
from dither.errors import TamperError
from dither.ledger import witness
from dither.ledger.access_log import AccessLog
from dither.ledger.entries.entry import VERSION, Head, read
from dither.ledger.entries.receipt import Receipt
from dither.ledger.storage.locations import open_database
from dither.ledger.storage.signing_keys import KeyFile
from dither.ledger.verify import Audit
from dither.privacy.budget.filter import from_json
from dither.query.answers.free_answer import FreeAnswer
from dither.query.budget_plan.planned_question import read_plan
from dither.query.plan.spelling import spell
from dither.query.policy.policy import load_policy
from dither.server.core.config import GatewayDataset, Limits, read_gateway
from tests.golden import formats
from tests.golden.formats import FOLDER, WRITTEN, codes, rows_of

PAGE = (Path(__file__).parent.parent.parent / "docs" / "formats.md").read_text()


def stored(name: str) -> object:
    return json.loads((FOLDER / f"{name}.json").read_text())


def test_every_listed_format_has_its_file_and_every_file_is_listed():
    table = PAGE.partition("| format |")[2].partition("\n\n")[0]
    named = {line.rpartition(" | ")[2] for line in table.splitlines()[2:]} - {"`tests/golden/records/` |"}
    assert named == {f"`{path.name}` |" for path in FOLDER.iterdir()}
    assert {path.stem for path in FOLDER.glob("*.json")} == set(WRITTEN)


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


def test_lines_of_the_access_log_are_read():
    held = stored("access-log-1")
    log = AccessLog(None, held["ledger"], None)
    lines = log._lines([tuple(row) for row in held["rows"]], bytes.fromhex(held["key"]))
    assert [(line.kind, line.number) for line in lines] == [("refused", 1), ("exported", 1)]
    assert dict(lines[0].body) == {
        "text": "SELECT name FROM visits",
        "why": "names are not released",
        "analyst": "ann",
        "door": "test",
    }
    with pytest.raises(TamperError):
        log._lines([tuple(row) for row in held["rows"]], bytes(32))


def test_heads_are_read(tmp_path):
    held = stored("head-1")
    identity, place, *_ = held["row"]
    with closing(open_database(tmp_path / "heads")) as database:
        witness.prepare(database)
        with database.write() as transaction:
            transaction.do((witness.KEEP, tuple(held["row"])))
        (tmp_path / "a.key").write_text(held["key"])
        found = witness.Witness(database, identity, place, KeyFile(tmp_path / "a.key", identity))
        assert found.head() == Head(5, "0" * 64)


def test_files_that_people_write_are_read():
    """The hash of a policy stands in ledgers, and stored answers are found by it: it is the same for ever."""
    policy = load_policy(FOLDER / "policy-1.toml")
    assert policy.hash == "0e8c863fd32ae271105aa78e8aee1ca9a5e3423515d9372e22a8631eda816f9c"
    assert (policy.unit, policy.data_version, policy.keeps_texts) == (dither.Unit.REPLACE_ONE, "2026-01", False)
    assert policy.ledger.identity == "0123456789abcdef0123456789abcdef"
    by_ward, averages = read_plan(FOLDER / "plan-1.toml")
    assert (by_ward.name, by_ward.times, by_ward.terms["error"]) == ("visits by ward", 12, {"n": 150})
    assert (len(averages.sql), averages.times, averages.terms["epsilon"], averages.terms["size"]) == (2, 4, "0.5", 30_000)
    gateway = read_gateway(FOLDER / "gateway-1.toml")
    assert gateway.dataset("clinic") == GatewayDataset("clinic", FOLDER / "policy-1.toml", "own", (0.25, 1.0, 5.0))
    assert (gateway.database, gateway.port, gateway.metrics_port) == (str(FOLDER / "gateway.db"), 8765, 9100)
    assert gateway.limits == Limits(queries_per_second=0.5, seconds=60.0, memory_mb=4096)
    assert gateway.proxy


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
