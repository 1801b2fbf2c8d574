"""Steps about the file: which it is, whether its first rows may be looked at, and how a CSV file is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import PolicyError
from dither.query.owner.csv_sniffer import is_row
from dither.query.owner.type_inference import style_facts
from dither.query.owner.wizard.data_source import TEXT_ENDINGS, DataSource, FirstRows
from dither.query.owner.wizard.replies import NONE, one_of, words, yes_or_no
from dither.query.owner.wizard.step import Step, Steps
from dither.query.policy.cell_format import CellFormat, read_number_format
from dither.query.policy.csv_dialect import ENCODINGS, MOST_NAMES, PLAIN, SEPARATORS, CsvDialect
from dither.query.policy.table import NAME_LENGTH

SOURCE, LOOK = "source", "look"
SIGNS = {name: sign for sign, name in SEPARATORS.items()}
QUOTES = {"double": '"', "single": "'", "none": ""}
DECIMALS = {"point": ".", "comma": ","}
THOUSANDS = {"none": "", "point": ".", "comma": ",", "apostrophe": "'", "blank": " ", "no-break blank": "\N{NO-BREAK SPACE}"}


@dataclass(frozen=True)
class CsvTable:
    """A CSV file as its owner describes it."""

    names: tuple[str, ...]
    written: dict[str, Any]  # as a policy states it
    rows: FirstRows | None  # with consent


def source_step(open_source: Callable[[str], DataSource]) -> Steps:
    """The file or the address."""
    return (
        yield Step(
            SOURCE,
            "Which data is the policy for?",
            "A policy says what is protected in one file, or in the tables of one database. Only names and types of columns "
            "are read now: no row is.",
            ("visits.csv", "visits.parquet", "postgresql://host/database?table=public.visits"),
            open_source,
        )
    )


def look_step() -> Steps:
    """Whether rows may be looked at."""
    return (
        yield Step(
            LOOK,
            "May dither look at the first rows of the file, now, for your eyes only?",
            "It then recognises how the file is written, types and formats, and proposes them. What it sees of "
            "values is shown "
            "to you and never written. Your consent holds for this run alone. Without it only the line of names is read.",
            ("yes", "no"),
            yes_or_no(LOOK),
            default="no",
            choices=(("yes", "propose separator, types and formats"), ("no", "read the line of names and nothing else")),
        )
    )


def csv_steps(source: DataSource, *, may_look: bool) -> Steps:
    """How a CSV file is written, to a `CsvTable`."""
    guess = source.sniffed() if may_look else None
    has_names = yield from _header(None if guess is None else guess.names is None)
    encoding = yield from _encoding(source, guess)
    dialect = yield from _separator(source, CsvDialect(encoding=encoding), has_names, guess)
    quote = yield from _quote(guess)
    dialect = replace(dialect, quote=quote)
    if not has_names:
        dialect = replace(dialect, names=(yield from _names(guess)))
    rows = source.look(dialect) if may_look else None
    names = tuple(source.names(dialect))
    proposed = None if rows is None else {"decimal": ".", "thousands": "", **style_facts(rows.style)}
    decimal = yield from _decimal(proposed)
    thousands = yield from _thousands(decimal, proposed)
    written = {fact: getattr(dialect, fact) for fact in ("separator", "encoding", "quote")}
    written = {fact: value for fact, value in written.items() if value != getattr(PLAIN, fact)}
    if any(path.lower().endswith(TEXT_ENDINGS) for path in source.files.paths):
        written = {"separator": dialect.separator, **written}
    if dialect.names is not None:
        written["header"] = list(dialect.names)
    written |= ({"decimal": decimal} if decimal != "." else {}) | ({"thousands": thousands} if thousands else {})
    return CsvTable(names, written, rows)


def _header(guess: bool | None) -> Steps:
    return (
        yield Step(
            "file.header",
            "Does the first line of the file hold the names of the columns?",
            "Names are public, rows are not. If the first line is a row already, nothing of it may be written "
            "into a policy.",
            ("yes", "no"),
            yes_or_no("file.header"),
            default=None if guess is None else "yes" if guess else "no",
            assumed="yes",
        )
    )


def _encoding(source: DataSource, guess: CsvDialect | None) -> Steps:
    def read(reply: str) -> str:
        encoding: str = one_of("file.encoding", ENCODINGS, ", ".join(dict.fromkeys(ENCODINGS.values())))(reply)
        if source.first_line(encoding) is None:
            others = ", ".join(dict.fromkeys(other for other in ENCODINGS.values() if other != encoding))
            raise PolicyError("file.encoding", reply, "the first line of the file is no text in it", others)
        return encoding

    return (
        yield Step(
            "file.encoding",
            "In which encoding is the file: how are letters such as ä or é stored?",
            "In the wrong one names and words with such letters are other words, and match nothing. Files that "
            "a spreadsheet "
            "saved in Western Europe are often windows-1252.",
            ("utf-8", "windows-1252"),
            read,
            default=PLAIN.encoding if guess is None else guess.encoding,
            choices=(
                ("utf-8", "most newer files"),
                ("windows-1252", "older spreadsheets"),
                ("latin-1", "older systems"),
                ("utf-16", "some exports"),
            ),
        )
    )


def _separator(source: DataSource, plain: CsvDialect, has_names: bool, guess: CsvDialect | None) -> Steps:
    key = "file.separator"

    def read(reply: str) -> CsvDialect:
        sign: str = one_of(key, {**SIGNS, **{sign: sign for sign in SEPARATORS}}, ", ".join(SIGNS))(reply)
        dialect = replace(plain, separator=sign)
        if has_names:
            if other := source.other_separator(dialect):
                raise PolicyError(key, reply, f"the line of names would be one name with a {other} in it", other)
            if is_row(source.names(dialect)):
                why = "the first line looks like a row, not like names: a number or a date stands in it"
                raise PolicyError(key, reply, why, "going back, and no to the question about the first line")
        return dialect

    return (
        yield Step(
            key,
            "Which sign stands between two cells of a line?",
            "A line is cut into cells there. Spreadsheets write semicolons where the comma is the decimal sign.",
            ("semicolon", "comma", "tab"),
            read,
            default=None if guess is None else SEPARATORS[guess.separator],
            choices=tuple((name, "a tab" if sign == "\t" else sign) for sign, name in SEPARATORS.items()),
            assumed=(source.other_separator(plain) or "comma") if guess is None else None,
        )
    )


def _quote(guess: CsvDialect | None) -> Steps:
    default = QUOTES_BY_SIGN[PLAIN.quote if guess is None else guess.quote]
    return (
        yield Step(
            "file.quote",
            "Which quotes stand around cells that hold the separating sign?",
            "Between quotes the separating sign is a letter like any other. With the wrong ones a line falls apart.",
            ("double", "none"),
            one_of("file.quote", {**QUOTES, '"': '"', "'": "'"}, ", ".join(QUOTES)),
            default=default,
            choices=(("double", 'such as "Smith; John"'), ("single", "such as 'Smith; John'"), ("none", "never any")),
        )
    )


QUOTES_BY_SIGN = {sign: name for name, sign in QUOTES.items()}


def _names(guess: CsvDialect | None) -> Steps:
    key, example = "file.names", "patient, ward, cost"

    def read(reply: str) -> tuple[str, ...]:
        found = words(key, reply, example)
        if not 0 < len(found) <= MOST_NAMES or not all(0 < len(name) <= NAME_LENGTH for name in found):
            raise PolicyError(key, reply, f"a name of a column has 1 to {NAME_LENGTH} characters", example)
        if len({name.lower() for name in found}) != len(found):
            raise PolicyError(key, reply, "two columns have the same name, for SQL", "names that differ")
        if guess is not None and guess.names is not None and len(guess.names) != len(found):
            why = f"it names {len(found)} columns, and the file seems to have {len(guess.names)}"
            raise PolicyError(key, reply, why, "a name for each column, in order")
        return tuple(found)

    return (
        yield Step(
            key,
            "What are the columns called, all of them, in their order?",
            "Questions name columns. All are needed, also those that you will leave out: a column is found by its place.",
            (example,),
            read,
            default=None if guess is None or guess.names is None else ", ".join(guess.names),
            assumed=example,
        )
    )


def _decimal(proposed: dict[str, str] | None) -> Steps:
    default = None if proposed is None else {sign: name for name, sign in DECIMALS.items()}[proposed["decimal"]]
    return (
        yield Step(
            "file.decimal",
            "Which sign stands before the decimals of a number: 3.5 or 3,5?",
            "With the wrong one amounts cannot be read, and count as missing.",
            ("comma", "point"),
            one_of("file.decimal", {**DECIMALS, ".": ".", ",": ","}, "point or comma"),
            default=default,
            choices=(("point", "3.5"), ("comma", "3,5")),
            assumed="point",
        )
    )


def _thousands(decimal: str, proposed: dict[str, str] | None) -> Steps:
    key = "file.thousands"

    def read(reply: str) -> str:
        sign: str = one_of(key, {**THOUSANDS, "no": ""}, ", ".join(THOUSANDS))(reply)
        read_number_format({"decimal": decimal, **({"thousands": sign} if sign else {})}, CellFormat(), "policy")
        return sign

    default = None if proposed is None else proposed["thousands"]
    return (
        yield Step(
            key,
            "Do large numbers have a mark between thousands: 12.000 or 12 000?",
            "1.234 is one thousand and more in one file, and little more than one in another.",
            ("none", "point"),
            read,
            default=next((name for name, sign in THOUSANDS.items() if sign == default), NONE[1]),
            choices=(
                ("none", "12000"),
                ("point", "12.000"),
                ("comma", "12,000"),
                ("apostrophe", "12'000"),
                ("blank", "12 000"),
            ),
        )
    )
