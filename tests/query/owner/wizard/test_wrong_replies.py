"""Wrong replies to every step: each is refused with words that teach, and nothing changes."""

from __future__ import annotations

import pytest

from dither.cli.flags import parts
from dither.errors import PolicyError
from dither.query.owner.wizard.wizard import Wizard
from tests.cli.spelling import python_spelling
from tests.query.owner.wizard.hospital import REPLIES, walk, write

NUMBERS = ("nan", "inf", "-1", "0", "one", "1,5", "9" * 50, "1e999999999", "strict?")
WORDS = ("maybe", "0", "yes no", "ja")
WRONG = {
    "look": WORDS,
    "file.header": WORDS,
    "file.encoding": ("utf-7", "ascii", "utf-16", "-"),
    "file.separator": ("comma", "dot", ";;", "tab"),
    "file.quote": ("many", "`"),
    "file.decimal": ("semicolon", "3"),
    "file.thousands": ("comma", "dash", "1000"),
    "domain": ("x" * 1001,),
    "visits.person": ("patient_id", "everybody", "Patient-Nr, Name"),
    "visits.Patient-Nr.type": ("decimal", "number", "boolean"),
    "visits.Name.keep": WORDS,
    "visits.Station.keep": WORDS,
    "visits.Station.type": ("string", "int", "varchar(20)"),
    "visits.Station.keys": (
        "Süd; Küste",
        "Süd,",
        ",",
        "Süd, Süd",
        "[",
        '["Süd"',
        "[1, 2]",
        '["a"]\u2028b = 1',
        "[]",
        "x" * 2000,
    ),
    "visits.Station.known_from": ("me", "private release", "private release ...", "the data", "law and order"),
    "visits.Aufnahme.keep": WORDS,
    "visits.Aufnahme.type": ("day",),
    "visits.Aufnahme.format": ("DD.MM.YY", "%d.%m.%Y", "MM.YYYY", "tomorrow", "DD.MM.YYYY DD"),
    "visits.Aufnahme.missing": (",", "NA,, x", "[1]", "w" * 101),
    "visits.Aufnahme.bounds": (
        *("2025", "2025-01-01", "2025-12-31 to 2025-01-01", "2025-13-01 to 2025-14-01", "01.01.2025 to 31.12.2025"),
        *("auto", "0 to 10", "2025-01-01 to", "2025-01-01T10:00:00 to 2025-12-31"),
    ),
    "visits.Aufnahme.known_from": ("me",),
    'visits."Kosten (EUR)".keep': WORDS,
    'visits."Kosten (EUR)".type': ("money",),
    'visits."Kosten (EUR)".missing': (",",),
    'visits."Kosten (EUR)".bounds': (
        *("5000", "5000 to 0", "0 to 0", "0 to", "to 5", "0 to 5,000", "0 to 5000 EUR", "nan to 1", "0 to inf", "[0, 1, 2]"),
        *("low to high", "0 to 1e999999999", "0 to 1 to 2", "maybe", "0 to 10.000", "0 to 1.000.000"),
    ),
    'visits."Kosten (EUR)".step': ("0", "-0.01", "0.03", "cents", "nan", "6000", "1e-30"),
    'visits."Kosten (EUR)".known_from': ("me",),
    "values_from_data": ("yes", "accept", "no"),
    "visits.Privat.keep": WORDS,
    "visits.Privat.type": ("bool",),
    "visits.Privat.words": ("ja", "ja nein", "ja / ja", "/ nein", "ja / nein / vielleicht", " / "),
    "visits.Privat.missing": ("ja", ",", "[[1]]"),
    "visits.Bemerkung.keep": WORDS,
    "visits.max_rows": ("0", "-3", "1.5", "many", "1000001", "9" * 50, "1,000", "٣"),
    "visits.known_from": ("me", "private release"),
    "budget.people": ("0", "-1", "many", "1.5", "9" * 30, "10,000"),
    "budget.epsilon": (*NUMBERS, "20.1", "1000", "ln(3)"),
    "budget.per_question": (*NUMBERS, "1.01", "2"),
    "ledger.location": ("visits.csv", ".", "x" * 1001),
    "ledger.witness": (".", "", "x" * 1001, "~nobody-of-this-name/heads", "./"),
    "review": ("no", "version = 1", "a = [", "[" * 2000, "version = 1\ndomain = 3"),
}
ALWAYS = ("a\x00b", "\x1b[2J", "caf\udce9", "\u202eevil", "x" * 1_000_001)
TAKEN = REPLIES | {'visits."Kosten (EUR)".known_from': "data", "values_from_data": "accepted"}


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))  # so that no second place is proposed
    write()


def refused(wizard: Wizard, reply: str) -> PolicyError:
    step, stored, draft = wizard.step, wizard.to_json(), wizard.draft()
    assert step is not None
    with pytest.raises(PolicyError) as told:
        wizard.answer(reply)
    assert wizard.step == step, reply
    assert (wizard.to_json(), wizard.draft()) == (stored, draft)
    assert told.value.where == step.key
    assert len(told.value.why) > 8
    assert told.value.instead
    _, why, instead = parts(told.value)
    assert python_spelling(f"{why} {instead}") is None, (step.key, reply, why, instead)
    assert len(str(told.value)) < 700, "what came is shown in short"
    return told.value


def test_every_wrong_reply_to_every_step_is_refused_and_the_step_stays():
    wizard, asked = Wizard("visits.csv"), set()
    while wizard.step is not None:
        step = wizard.step
        asked.add(step.key)
        for reply in (*WRONG[step.key], *ALWAYS):
            refused(wizard, reply)
        if step.default is None:
            for reply in ("", "   "):
                assert "no default" in refused(wizard, reply).why
        wizard.answer(TAKEN.get(step.key, ""))
    assert asked == set(WRONG)


def test_what_each_refusal_teaches():
    wizard = Wizard("visits.csv", read_data=True)
    for key, reply, told in (
        ("file.encoding", "utf-7", "utf-8, latin-1, windows-1252, utf-16"),
        ("file.separator", "comma", "semicolon"),
        ("file.thousands", "comma", "none, point"),
        ("visits.person", "patient_id", "the name of a column, or each row"),
        ("visits.Station.keys", "Süd; Küste", '["Süd; Küste"] if it is one'),
        ("visits.Station.known_from", "form", "law, unit, questionnaire, private release ..., other, data"),
        ("visits.Aufnahme.format", "%d.%m.%Y", "DD.MM.YYYY"),
        ("visits.Aufnahme.bounds", "01.01.2025 to 31.12.2025", "2025-01-01 to 2025-12-31"),
        ('visits."Kosten (EUR)".bounds', "0 to 5,000", "0 to 5000"),
        ('visits."Kosten (EUR)".bounds', "0 to 10.000", "10000; 10.0000, if they are decimals"),
        ('visits."Kosten (EUR)".step', "0.03", "0.01"),
        ("visits.max_rows", "many", "a whole number such as 10, or auto"),
        ("budget.epsilon", "1000", "strict, medium, loose"),
        ("budget.per_question", "2", "0.25"),
        ("ledger.location", "visits.csv", "a name that is free"),
        ("review", "no", "accept"),
    ):
        walk(wizard, REPLIES, until=key)
        assert told in refused(wizard, reply).instead


def test_no_text_is_no_reply():
    wizard = Wizard("visits.csv")
    with pytest.raises(PolicyError, match="no text"):
        wizard.answer(3)  # type: ignore[arg-type]
