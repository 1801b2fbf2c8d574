"""What is wrong with a CSV file, for its owner: the first line that cannot be read; how unreadable columns look."""

from __future__ import annotations

from itertools import islice

from dither.query.owner.csv_draft import proposal
from dither.query.owner.csv_sniffer import first_rows, sniff, wrong_rows
from dither.query.policy.column import Column
from dither.query.policy.csv_dialect import CsvDialect
from dither.query.sources.csv_encoding import is_text, lines
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.source import Source

SHOWN = 20  # rows of a broken file, by their numbers
_ENDS = {"\n": "LF", "\r": "CR", "\r\n": "CRLF"}


def broken_line(source: Source) -> str:
    """What is not as the policy says, by numbers of lines or rows, in words that name no cell; '' if nothing is found."""
    if not isinstance(source, CsvFiles):
        return ""
    width = len(source.header())
    for path in source.paths:
        with lines(path, source.dialect.encoding) as read:
            number = next((number for number, line in enumerate(read, start=1) if not is_text(line)), None)
        if number is not None:
            guess = sniff(path).encoding
            other = f': encoding = "{guess}" beside the source would read it' if guess != source.dialect.encoding else ""
            return f"line {number:,} of {path} is not {source.dialect.encoding.upper()}{other}"
        if told := _wrong_line(path, source.dialect):
            return told
        if found := list(islice(wrong_rows(path, source.dialect, width), SHOWN + 1)):
            (number, cells), *others = found
            more = ", ".join(f"{other:,}" for other, _ in others[: SHOWN - 1]) + (", ..." if len(found) > SHOWN else "")
            also = f"; other rows that do not fit: {more}" if others else ""
            return f"row {number:,} of {path} has {cells} cells, and there are {width} columns{also}"
    return ""


def _wrong_line(path: str, dialect: CsvDialect) -> str:
    """The first row that ends in another way than the first line; in words."""
    inside, first = False, ""
    with lines(path, dialect.encoding) as read:
        for number, line in enumerate(read, start=1):
            inside ^= bool(dialect.quote) and line.count(dialect.quote) % 2 == 1
            if inside:
                continue
            end = line[len(line.rstrip("\r\n")) :]
            first = first or end
            if end not in ("", first):
                return f"line {number:,} of {path} ends in another way than the first: {_ENDS[end]}, not {_ENDS[first]}"
    return ""


def mending_line(column: Column, source: Source) -> str:
    """The line of a policy by which the cells of a column could be read, as they look; '' if they look as described."""
    if not isinstance(source, CsvFiles):
        return ""
    dialect, names = source.dialect, source.header()
    rows = first_rows(source.paths[0], dialect)[dialect.names is None :]
    at = names.index(column.name)
    line = proposal(column.name, [row[at] for row in rows if at < len(row)])
    return "" if line.endswith(f'{{ type = "{column.type.value}" }}') else line
