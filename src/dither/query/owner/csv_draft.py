"""A draft of a policy from the first rows of a CSV file, with its owner's consent (`--read-data`), for the owner's eyes.

What is proposed: how the file is written, types, formats, words, and the column of the person. What is not: bounds, keys and
limits. They would tell of somebody as soon as a policy, a quote or a noise shows them. What was seen stands in comments, and
`dither policy check` asks the owner to delete them. Columns that look like names or free texts are left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dither.errors import DataError
from dither.query.owner.csv_sniffer import FIRST_ROWS, first_rows, sniff, wrong_rows
from dither.query.owner.draft import ORIGIN, column_advice, draft
from dither.query.owner.open_lines import SEEN
from dither.query.owner.type_inference import Inferred, Style, common_style, infer, pattern_of, style_facts
from dither.query.policy.column import Type
from dither.query.policy.csv_dialect import CsvDialect
from dither.query.policy.policy import MARK
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.find_source import find_source

PERSONS = (
    "patient",
    "person",
    "kunde",
    "customer",
    "client",
    "user",
    "member",
    "versicher",
    "employee",
    "mitarbeiter",
    "student",
)
SHORT = {"pat", "mrn"}  # as words of their own, such as Pat.-Nr.
IDS = ("id", "nr", "no", "number", "nummer", "key", "code")
NAMES = (
    "name",
    "vorname",
    "nachname",
    "surname",
    "address",
    "adresse",
    "street",
    "strasse",
    "straße",
    "mail",
    "phone",
    "telefon",
)
TEXTS = ("bemerkung", "kommentar", "comment", "note", "remark", "freitext", "text", "beschreibung", "description")
LONG, SHOWN = 40, 8


def draft_from_rows(path: Path, folder: Path, table: str | None = None) -> str:
    """TOML for a policy, with what the first rows of a CSV file tell of how it is written."""
    plain = find_source(str(path), Path.cwd(), "file", CsvDialect() if path.suffix.lower() in (".tsv", ".txt") else None)
    if not isinstance(plain, CsvFiles):
        raise DataError("--read-data", plain.kind, "types of such a file are known without its rows", "leaving it out")
    dialect = sniff(plain.paths[0])
    source = CsvFiles(plain.paths, dialect)
    names = source.header()
    rows = first_rows(source.paths[0], dialect)[dialect.names is None :]
    cells = {name: [row[at] for row in rows if at < len(row)] for at, name in enumerate(names)}
    inferred = {name: infer(column) for name, column in cells.items()}
    style = common_style(list(inferred.values()))
    written = _dialect_lines(dialect) + [f"{fact} = {_toml(value)}" for fact, value in style_facts(style).items()]
    if broken := [f"{number:,}" for number, _ in wrong_rows(source.paths[0], dialect, len(names), FIRST_ROWS)]:
        told = ", ".join(broken[:SHOWN]) + (", ..." if len(broken) > SHOWN else "")
        written.append(f"# {SEEN}: not {len(names)} cells in row {told}: no question is answered until that is mended")
    person = person_by_name(inferred)
    text = draft(path, folder, table, dialect)
    lines = []
    for line in text[: text.index(".columns]\n")].splitlines():
        if line.startswith("person = ") and person is not None:
            lines.append(
                f"person = {json.dumps(person, ensure_ascii=False)}  # by its name: make sure that it says whose a row is"
            )
            continue
        lines.append(line)
        if line.startswith("source = "):
            lines += written
        if line.startswith("max_rows = ") and person is not None:
            most = max(Counter(cells[person]).values(), default=0)
            lines.append(f"# {SEEN}: at most {most} rows of one person, in the first {len(rows)} rows")
    lines[0] = "# A policy says what is protected. How the file is written was recognised from its first rows."
    lines.insert(
        1, f"# Comments that say '{SEEN}' are for your eyes: choose bounds, keys and limits by what is known without"
    )
    lines.insert(2, "# looking at rows, then delete these comments.")
    lines[-1] += ".columns]"
    lines += [_column(name, cells[name], inferred[name], style, is_person=name == person) for name in names]
    return "\n".join(lines) + "\n"


def proposal(name: str, cells: Sequence[str]) -> str:
    """The line of a policy for a column, as its cells look."""
    found = infer(cells)
    return f"{_key(name)} = {{ {_facts(found.type, found.facts)} }}"


def _dialect_lines(dialect: CsvDialect) -> list[str]:
    stated = dialect.stated()
    names = {"header": list(dialect.names)} if dialect.names is not None else {}
    facts = {fact: stated[fact] for fact in ("separator", "encoding", "quote") if fact in stated} | names
    said = [f"{fact} = {_toml(value)}" for fact, value in facts.items()]
    return said + (["# its first line has no names: put better ones in their place, here and below"] if names else [])


def _column(name: str, cells: Sequence[str], found: Inferred, style: Style, *, is_person: bool) -> str:
    """A column as a line of a policy, or as a comment where it is left out."""
    facts = dict(found.facts)
    if is_person:
        kind = found.type if found.type is Type.INTEGER and not found.styles else Type.TEXT
        return f'{_key(name)} = {{ type = "{kind.value}" }}'
    if found.type is Type.TEXT and (why := reason_to_leave_out(name, cells)):
        return f"# {_key(name)}: left out, since it looks like {why}"
    if style in found.styles:
        facts = {fact: value for fact, value in facts.items() if fact not in ("decimal", "thousands")}
    if found.formats:
        facts["format"] = f"{MARK}: {' or '.join(found.formats)}"
    return f"{_key(name)} = {{ {_facts(found.type, facts)} }}{_seen(cells, found, style)}"


def reason_to_leave_out(name: str, cells: Sequence[str]) -> str:
    """What a text column looks like that no question needs; '' for others."""
    lowered, there = name.casefold(), [cell for cell in cells if cell]
    if any(word in lowered for word in NAMES):
        return "names or addresses"
    if any(word in lowered for word in TEXTS):
        return "free text"
    if there and sum(map(len, there)) > LONG * len(there):
        return "free text"
    if len(there) >= 20 and len(set(there)) > 0.5 * len(there) and sum(" " in cell for cell in there) > 0.5 * len(there):
        return "names or free text"
    return ""


def _seen(cells: Sequence[str], found: Inferred, style: Style) -> str:
    """What was seen, as a comment on one line."""
    told = seen_cells(cells, found, style)
    if found.type.is_number:
        return f"  # to add it up: bounds = [LOW, HIGH], {ORIGIN}" + (f"; {SEEN}: {told}" if told else "")
    if found.type in (Type.DATE, Type.TIMESTAMP):
        return column_advice(found.type)
    return f"  # to group by it: keys = [...], {ORIGIN}; {SEEN}: {told}" if told else ""


def seen_cells(cells: Sequence[str], found: Inferred, style: Style) -> str:
    """The ends of numbers, or the most frequent words: for the owner's eyes."""
    there = [cell.strip(" ") for cell in cells if cell.strip(" ")]
    if found.type.is_number:
        mine = style if style in found.styles or not found.styles else found.styles[0]
        plain = [
            cell.replace(mine[1] or "\0", "").replace(mine[0], ".") for cell in there if pattern_of(mine).fullmatch(cell)
        ]
        numbers = sorted(map(float, plain))
        return f"{numbers[0]:.12g} to {numbers[-1]:.12g}" if numbers else ""
    if found.type is Type.TEXT:
        values = [word for word, _ in Counter(there).most_common(SHOWN + 1)]
        told = json.dumps(values[:SHOWN], ensure_ascii=False)[1:-1] + (", ..." if len(values) > SHOWN else "")
        return "".join(sign if sign.isprintable() else "?" for sign in told)[:200]
    return ""


def person_by_name(columns: Mapping[str, Inferred]) -> str | None:
    """The column that says whose a row is, by its name; None where none or several could.

    It names a person and ends as an id does, or is the word alone: `customer_rating` is about one, and no id of hers.
    """
    fit = [name for name, found in columns.items() if found.type in (Type.INTEGER, Type.TEXT)]
    named = [name for name in fit if any(word in name.casefold() for word in PERSONS) or _words(name) & SHORT]
    ids = [name for name in named if name.casefold().rstrip(" .").endswith(IDS)]
    ids = ids or [name for name in named if name.strip().casefold() in (*PERSONS, *(f"{word}s" for word in PERSONS), *SHORT)]
    return ids[0] if len(ids) == 1 else None


def _words(name: str) -> set[str]:
    return {*re.findall(r"[^\W\d_]+", name.casefold())}


def _facts(kind: Type, facts: Mapping[str, Any]) -> str:
    return ", ".join([f'type = "{kind.value}"', *(f"{fact} = {_toml(value)}" for fact, value in facts.items())])


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
