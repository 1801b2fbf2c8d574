"""What stands around the table of an answer: below the names of its columns, and below its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def held_words(statements: Mapping[str, str]) -> str:
    """What each interval of an answer holds."""
    if not statements:
        return "the noise"  # what version 1 said of them
    return "the truth" if set(statements.values()) <= {"truth", "of released numbers"} else "what was counted"


def column_heads(statements: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """What stands below the names of columns: what each number says, and of what its ends are."""
    heads = dict(statements)
    for name, said in statements.items():
        if said == "at least":
            heads |= {f"{name}_low": "of the truth", f"{name}_high": "of counted"}
    return {name: heads[name] for name in columns if name in heads}
