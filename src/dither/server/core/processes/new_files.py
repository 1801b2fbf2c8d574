"""Files for which a policy may be made on the page: those below the one folder that the operator names, and no others.

Theorem. A name that `must_be_new_file` lets pass is that of a regular file whose resolved path is below the folder. Whether
it passes, and every text of a refusal, is a function of the name, of what is below the folder, and of a file's first line
(of a text: up to `LONGEST_LINE` bytes); of what is outside the folder it tells nothing, not even whether it is there.

Proof. A name that passes is relative, without `..`, `~`, patterns and addresses, so that it is joined to the folder alone.
Its path is resolved, which follows every link, and compared with the resolved folder; the kind of file is that of the
resolved path. A path that leaves the folder gets the text of one that is missing. Of the bytes only the place of the first
end of a line is looked at. ∎ Whoever may write to the folder can change a file between the check and the reading: she is
trusted with what she puts there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dither.errors import DataError
from dither.query.owner.wizard.data_source import TEXT_ENDINGS

TEXTS = (".csv", *TEXT_ENDINGS)
ENDINGS = (*TEXTS, ".parquet", ".pq", ".duckdb", ".db")
MOST = 500  # files that are listed
LOOKED_AT = 20_000  # names, after which no more are looked for
LONGEST_NAME = 1000
LONGEST_LINE = 1 << 20  # bytes of the line of names: some ten thousand columns
LISTED = "a file of the list"
TERMINAL = "`dither policy wizard` in a terminal, which also takes addresses of databases"


@dataclass(frozen=True)
class NewFile:
    """A file, as it is listed."""

    name: str  # below the folder
    size: int  # bytes


def list_files(folder: Path) -> dict[str, Any]:
    """Names and sizes of the files that could be read, in order, and whether there are more. None is opened."""
    found, seen = list[NewFile](), 0
    for path in _paths(folder):
        seen += 1
        name = str(path.relative_to(folder))
        size = _size(path, folder) if _is_plain(name) else None
        if size is not None:
            found.append(NewFile(name, size))
        if len(found) > MOST or seen > LOOKED_AT:
            break
    found.sort(key=lambda file: (file.name.count("/"), file.name))
    return {"files": [asdict(file) for file in found[:MOST]], "more": len(found) > MOST or seen > LOOKED_AT}


def _paths(folder: Path) -> Iterator[Path]:
    """Names in an order that is the same on every disk; links to folders are not followed."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(place, name) for name in sorted(names))


def must_be_new_file(name: str, folder: Path) -> None:
    """Refuse what is no file of the folder.

    Raises:
        DataError: the name leads elsewhere, or to nothing that is read; it says what would work.
    """
    if "://" in name:
        raise DataError("source", name, "the page opens no databases", TERMINAL)
    if not _is_plain(name):
        why = "it is no name of a file below the folder of new data, with one of the endings " + ", ".join(ENDINGS)
        raise DataError("source", name, why, LISTED)
    path = folder / name
    if not _is_below(path, folder):
        raise DataError("source", name, "there is no such file in the folder of new data", LISTED)
    if _size(path, folder) is None:
        raise DataError("source", name, "it is a folder or a device, and no file", LISTED)
    if path.suffix.lower() in TEXTS and not _has_short_line(path):
        why = f"its first line has more than {LONGEST_LINE:,} bytes, or the gateway may not read it"
        raise DataError("source", name, why, "a file with a line of names, which the gateway may read")


def _is_plain(name: str) -> bool:
    """Whether it can only be the name of a file below a folder: by its text alone."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or any(sign in name for sign in "*?[]\\"):
        return False
    path = PurePosixPath(name)
    leads_away = path.is_absolute() or ".." in path.parts or name.startswith(("~", "-"))
    return not leads_away and str(path) == name and path.suffix.lower() in ENDINGS


def _is_below(path: Path, folder: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # it is not there, or a link that leads to itself
        return False


def _size(path: Path, folder: Path) -> int | None:
    """The bytes of a regular file below the folder; None of everything else."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) and _is_below(path, folder) else None


def _has_short_line(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(LONGEST_LINE)
    except OSError:
        return False
    return len(head) < LONGEST_LINE or b"\n" in head or b"\r" in head
