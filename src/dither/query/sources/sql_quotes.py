"""Names and texts as SQL writes them, in quotes: what stands inside means nothing else."""

from __future__ import annotations


def name(text: str) -> str:
    """A name as SQL quotes it: inside double quotes only a double quote means anything."""
    return '"' + text.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text, quoted: inside single quotes only a single quote means anything."""
    return "'" + value.replace("'", "''") + "'"
