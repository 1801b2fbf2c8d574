"""Values of `gateway.toml`, each read with its place in the file: numbers in a range, texts, truth values, paths, parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dither.errors import PolicyError

Stated = dict[str, Any]  # a table of TOML, as it was read


@dataclass(frozen=True)
class StatedFolder:
    """A folder, and how the file says it."""

    path: Path
    text: str


def read_part(stated: Stated, name: str, known: Iterable[str]) -> Stated:
    """A table of the file by its name; empty where it is left out. What is not known in it is refused."""
    part = stated.get(name, {})
    if not isinstance(part, dict):
        raise PolicyError(name, part, "it is a part with lines of its own", f"[{name}] on a line, and its lines below")
    must_be_known(part, f"{name}.", known)
    return part


def must_be_known(part: Stated, where: str, known: Iterable[str]) -> None:
    """Refuse names that no gateway knows: one that is misspelled would be a limit that nobody keeps."""
    for extra in sorted(part.keys() - set(known)):
        raise PolicyError(f"{where}{extra}", part[extra], "no such part is known here", ", ".join(sorted(known)))


def read_number(value: Any, where: str, *, least: float, most: float) -> float:
    """A number in a range; above 0 where the least is 0."""
    right = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not right or not least <= value <= most or value == 0:  # nan is in no range
        from_ = f"from {least:g}" if least else "above 0, and"
        raise PolicyError(where, value, f"it is not a number {from_} to {most:g}", f"such as {max(least, min(most, 1)):g}")
    return float(value)


def read_integer(value: Any, where: str, *, least: int, most: int) -> int:
    """A whole number in a range."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise PolicyError(where, value, f"it is not a whole number from {least} to {most}", f"such as {max(least, 1)}")
    return value


def read_flag(value: Any, where: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise PolicyError(where, value, "it is neither true nor false", "true, or false, without quotes")
    return value


def read_line(value: Any, where: str, instead: str) -> str:
    """A text on one line."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise PolicyError(where, value, "it is not a text on one line", instead)
    return value


def read_file(value: Any, where: str, folder: Path, instead: str) -> Path:
    """A file that is there; relative to the folder of the configuration."""
    path = folder / Path(read_line(value, where, instead)).expanduser()
    try:
        there = path.is_file()
    except OSError:  # a name that no file can have
        there = False
    if not there:
        raise PolicyError(where, value, f"there is no such file in {folder}", instead)
    return path


def read_folder(value: Any, where: str, folder: Path, instead: str) -> StatedFolder:
    """A folder that is there; relative to the folder of the configuration."""
    path = folder / Path(read_line(value, where, instead)).expanduser()
    try:
        there = path.is_dir()
    except OSError:  # a name that no folder can have
        there = False
    if not there:
        raise PolicyError(where, value, f"there is no such folder in {folder}", instead)
    return StatedFolder(path, str(value))
