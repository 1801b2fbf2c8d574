"""No row bears on anything without consent; and with it none on bounds, keys, units and limits."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from dither.errors import DitherError
from dither.query.owner import csv_sniffer
from dither.query.owner.wizard import data_source
from dither.query.owner.wizard.wizard import Wizard
from tests.query.owner.wizard.hospital import BLIND, HEADER, POLICY, REPLIES, rows, walk, write

VALUES = ("keys", "bounds", "step", "max_rows", "known_from", "people", "epsilon", "per_question")  # ends of keys of steps
FREE = ("domain", "ledger.location", "ledger.witness", "visits.Aufnahme.missing", "visits.Privat.missing")  # any word
ODD = [  # what a row may be, its neighbours with and without it among them
    b"",
    b"7;Anna;Nord;01.02.2025;9.999.999,99;ja;x\r\n",
    b"7;Anna;Nord;01.02.2025;nan;ja;x\r\n",
    b"7;Anna;Canary;31.12.1899;-1e308;vielleicht;" + b"y" * 3000 + b"\r\n",
    b'\xff\x00;;"never closed\r\n',
    b"1,2,3\r\n",
    b";;;;;;\r\n",
    b"\r\n\r\n\n",
]


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def told(replies: dict[str, str], *, read_data: bool = False) -> list[str]:
    """Everything that a wizard shows on its way: steps, refusals, drafts, stored replies."""
    wizard, found = Wizard("visits.csv", read_data=read_data), []
    while wizard.step is not None:
        for reply in ("", "silly", "1 to 2"):
            if wizard.step.key not in FREE:
                try:
                    wizard.answer(reply)
                except DitherError as error:
                    found.append(str(error))
                else:
                    wizard.back()
        found.append(json.dumps(wizard.view(), ensure_ascii=False) + wizard.to_json())
        wizard.answer(replies.get(wizard.step.key, ""))
    return [*found, str(wizard.policy)]


def test_without_consent_every_pair_of_files_with_one_header_shows_the_same():
    shown = []
    for odd in ODD:
        Path("visits.csv").write_bytes(f"{HEADER}\r\n".encode("latin-1") + odd)
        shown.append(told(BLIND | {"ledger.location": "visits.ledger"}))
    assert len(shown[0]) > 40
    for one, other in combinations(shown, 2):
        assert one == other
    assert shown[0][-1] == POLICY


def test_without_consent_no_reader_of_rows_is_called(monkeypatch):
    def called(*_: object) -> None:
        raise AssertionError("rows were read")

    write()
    for module, name in (
        (data_source, "sniff"),
        (data_source, "first_rows"),
        (csv_sniffer, "_reader"),
        (csv_sniffer, "_encoding"),
    ):
        monkeypatch.setattr(module, name, called)
    assert walk(Wizard("visits.csv"), BLIND).policy == POLICY
    with pytest.raises(AssertionError, match="rows were read"):
        Wizard("visits.csv", read_data=True)
    with pytest.raises(AssertionError, match="rows were read"):
        Wizard("visits.csv").answer("yes")
    assert walk(Wizard.from_json(walk(Wizard("visits.csv"), BLIND).to_json()), {"look": "no"}).policy == POLICY


def test_only_the_first_line_is_taken_from_the_file():
    """The same, one floor below: who asks for a second line is noticed."""
    write()
    path = Path("visits.csv")
    first = path.read_bytes().split(b"\r\n")[0]
    path.write_bytes(first + b"\r\n" + b'\x81\xfe"' * 10)  # no text, and a quote that never ends
    assert walk(Wizard("visits.csv"), BLIND).policy == POLICY


def test_with_consent_steps_of_values_have_the_same_default_whatever_the_rows_are():
    defaults, drafts = [], []
    explicit = BLIND | {"look": "yes", "file.quote": "double", "visits.person": "Patient-Nr", "visits.Name.keep": "no"}
    explicit |= {"visits.Station.keep": "yes", "visits.Aufnahme.keep": "yes", 'visits."Kosten (EUR)".keep': "yes"}
    explicit |= {"visits.Privat.keep": "yes", "visits.Bemerkung.keep": "no"}
    explicit |= {"visits.Aufnahme.missing": "none", "visits.Privat.missing": "none"}
    for lines in (rows(), rows(3), rows(300)[:1] * 200, [row.replace("Nord", "Canary") for row in rows()]):
        write(lines)
        wizard, found = Wizard("visits.csv"), {}
        while wizard.step is not None:
            if wizard.step.key.rpartition(".")[2] in VALUES:
                found[wizard.step.key] = (wizard.step.default, wizard.step.choices, wizard.step.examples)
            wizard.answer(explicit.get(wizard.step.key, ""))
        defaults.append(found)
        drafts.append(wizard.policy)
    assert len(defaults[0]) == 12
    assert all(found == defaults[0] for found in defaults)
    for key, (default, _, _) in defaults[0].items():
        allowed = {"budget.epsilon": "strict", "budget.per_question": "0.25", 'visits."Kosten (EUR)".step': "fine"}
        assert default == allowed.get(key), key
    without = [text.replace(", since it looks like free text", "") for text in drafts if text is not None]
    assert set(without) == {POLICY.replace(", since it looks like free text", "")}


def test_what_was_seen_is_shown_and_never_written():
    lines = [row.replace("Süd", "Canary") for row in rows()]
    write(lines)
    wizard, seen = Wizard("visits.csv", read_data=True), ""
    while wizard.step is not None:
        step = wizard.step.to_json()
        seen += step.pop("seen")
        assert "Canary" not in json.dumps([step, wizard.draft(), wizard.to_json()])
        assert "3.987" not in json.dumps([step, wizard.draft()])
        wizard.answer(REPLIES.get(wizard.step.key, ""))
    assert '"Canary"' in seen
    assert "at most 4 rows of one person, in the first 300 rows" in seen
    assert " to 39" in seen
