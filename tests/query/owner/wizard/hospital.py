"""A hospital's file as its system wrote it, and the replies of its owner."""

from __future__ import annotations

from pathlib import Path

from dither.query.owner.wizard.wizard import Wizard

HEADER = "Patient-Nr;Name;Station;Aufnahme;Kosten (EUR);Privat;Bemerkung"
REPLIES = {  # what has no default, or another than the owner wants
    "look": "yes",
    "domain": "hospital",
    "visits.Station.keys": "Süd, Nord",
    "visits.Station.known_from": "questionnaire",
    "visits.Aufnahme.bounds": "2025-01-01 to 2025-12-31",
    "visits.Aufnahme.known_from": "law",
    'visits."Kosten (EUR)".bounds': "0 to 5000",
    'visits."Kosten (EUR)".step': "0.01",
    'visits."Kosten (EUR)".known_from': "law",
    "visits.max_rows": "12",
    "visits.known_from": "other",
    "budget.people": "80000",
    "ledger.witness": "none",
}
BLIND = {  # the same without a look at rows
    **REPLIES,
    "look": "no",
    "file.header": "yes",
    "file.encoding": "windows-1252",
    "file.separator": "semicolon",
    "file.decimal": "comma",
    "file.thousands": "point",
    "visits.Patient-Nr.type": "integer",
    "visits.Station.type": "text",
    "visits.Aufnahme.type": "date",
    "visits.Aufnahme.format": "DD.MM.YYYY",
    'visits."Kosten (EUR)".type': "decimal",
    'visits."Kosten (EUR)".missing': "k.A.",
    "visits.Privat.type": "boolean",
    "visits.Privat.words": "ja / nein",
}
POLICY = """\
# A policy says what is protected. Nothing in it was taken from the rows unless it says so (known_from).
version = 1
domain = "hospital"
unit = "add/remove one person"
data_version = ""  # change it when the data changes: stored answers are about one version

[ledger]
location = "visits.ledger"
# identity: dither ledger create --policy THIS-FILE --write makes the ledger, once, and writes it here
budget = { epsilon = "1", delta = "1e-7" }  # all that may ever be spent

[limits]
per_question = { epsilon = "0.25", delta = "1e-7" }  # the most for one question

[tables.visits]
source = "visits.csv"
separator = ";"
encoding = "windows-1252"
decimal = ","
thousands = "."
person = "Patient-Nr"
max_rows = 12

[tables.visits.columns]
Patient-Nr = { type = "integer" }
# Name: left out, since it looks like names or addresses
Station = { type = "text", keys = ["Süd", "Nord"], known_from = "questionnaire" }
Aufnahme = { type = "date", format = "DD.MM.YYYY", bounds = [2025-01-01, 2025-12-31], known_from = "law" }
"Kosten (EUR)" = { type = "decimal", null = ["k.A."], bounds = [0, 5000], step = "0.01", known_from = "law" }
Privat = { type = "boolean", true = ["ja"], false = ["nein"] }
# Bemerkung: left out, since it looks like free text
"""


def rows(count: int = 300) -> list[str]:
    """Made-up visits, the same each time."""
    found = []
    for visit in range(count):
        person, cents = visit % 90, 200 + 399_800 * visit // count
        euros = f"{cents // 100:,}".replace(",", ".") + f",{cents % 100:02}" if visit % 30 else "k.A."
        day = f"{1 + visit % 28:02}.{1 + visit % 12:02}.2025"
        station, private = ["Süd", "Nord"][visit % 3 == 0], ["ja", "nein"][visit % 2]
        found.append(f'{person};Müller {person};{station};{day};{euros};{private};"isst; schläft"')
    return found


def write(lines: list[str] | None = None) -> Path:
    """The file, in the current folder."""
    path = Path("visits.csv")
    path.write_bytes(("\r\n".join([HEADER, *(rows() if lines is None else lines)]) + "\r\n").encode("latin-1"))
    return path


def walk(wizard: Wizard, replies: dict[str, str], until: str | None = None) -> Wizard:
    """Reply to all steps up to one; Enter where nothing is said."""
    while wizard.step is not None and wizard.step.key != until:
        number = wizard.number
        wizard.answer(replies.get(wizard.step.key, ""))
        assert wizard.number > number, "a reply leads on"
    return wizard
