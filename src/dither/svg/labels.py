"""Labels: text of others that is safe to show, how wide it is about, and how it is made shorter.

Theorem. `distinct_labels` gives two names that differ two labels that differ, each of them at most as wide as it may be, or
eight letters.

Proof. A name that fits is its own label. Any other gets the first of its candidates that no label before it has: its two
ends, if they are those of no other, then what stands where it differs from others, then its beginning with a number, which
is another for each try. The labels of names that fit are taken first. So each label is new when it is given.

`joined_labels` is for names of several parts, such as the keys of a group: each part of a long name is cut by itself, so
that all of them are seen. Where two would be the same, or one wider than it may be, they are those of `distinct_labels`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import TypeAlias

NARROW, WIDE = frozenset("iljtfrI.,:;'|!()[]{} -\"`"), frozenset("mwMW@%&—…")
MOST_LETTERS = 120  # of a label: marks that stack take no width
LEAST_LETTERS = 8
LETTER = 0.64  # the width of a digit, and of most letters, in ems; that of the widest common font
ELLIPSIS, COMMA = "…", ", "
Size: TypeAlias = float | Callable[[str], float]  # of letters; or what measures a text, such as columns of a terminal


def visible(name: str) -> str:
    """A name with all signs to be seen: one that is no letter, such as a mark that turns the direction, as its code."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in name)


def isolated(name: str) -> str:
    """A visible name inside a sentence, so that letters that run from right to left turn nothing around it."""
    shown = visible(name)
    turns = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in shown)
    return f"\u2068{shown}\u2069" if turns else shown


def text_width(shown: str, size: Size) -> float:
    """About how wide a text is at a size of letters, rather more than less: no font is at hand."""
    return size(shown) if callable(size) else size * sum(map(_ems, shown))


def _ems(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if unicodedata.combining(sign):
        return 0.1
    if sign in NARROW:
        return 0.36
    return 1.0 if sign in WIDE else 0.75 if sign.isupper() else LETTER


def shortened(shown: str, width: float, size: Size) -> str:
    """The two ends of a text with an ellipsis between them, no wider than `width`."""
    return shown if _fits(shown, width, size) else next(_candidates(shown, (), width, size))


def distinct_labels(names: Sequence[str], width: float, size: Size) -> list[str]:
    """A label for each name, no wider than `width`; names that differ have labels that differ.

    Args:
        names: visible texts; the same may come twice.
        width: of the longest label.
        size: of the letters, or what measures a text.
    """
    several = list(dict.fromkeys(names))
    labels = {name: name for name in several if _fits(name, width, size)}
    taken = set(labels)
    for name in several:
        if name not in labels:
            labels[name] = next(each for each in _candidates(name, several, width, size) if each not in taken)
            taken.add(labels[name])
    return [labels[name] for name in names]


def joined_labels(names: Sequence[Sequence[str]], width: float, size: Size) -> list[str]:
    """A label for each name, its parts with commas between them, no wider than `width`; those that differ still do.

    Args:
        names: the visible parts of each, as many for all; joined, names that differ do too.
        width: of the longest label.
        size: of the letters, or what measures a text.
    """
    whole = [COMMA.join(parts) for parts in names]
    columns = list(zip(*names, strict=True))
    if len(columns) > 1:
        widest = [max(text_width(part, size) for part in column) for column in columns]
        rooms = part_widths(widest, width - (len(columns) - 1) * text_width(COMMA, size))
        cut = zip(*(distinct_labels(*each, size) for each in zip(columns, rooms, strict=True)), strict=True)
        found = [name if _fits(name, width, size) else COMMA.join(parts) for name, parts in zip(whole, cut, strict=True)]
        if len(set(found)) == len(set(whole)) and all(_fits(label, width, size) for label in found):
            return found
    return distinct_labels(whole, width, size)


def part_widths(widths: Sequence[float], room: float) -> list[float]:
    """How wide each of several texts may be beside the others: as it is where that is no more than an even share."""
    found: dict[int, float] = {}
    left = room
    for at in sorted(range(len(widths)), key=widths.__getitem__):
        found[at] = min(widths[at], left // (len(widths) - len(found)))
        left -= found[at]
    return [found[at] for at in range(len(widths))]


def _fits(shown: str, width: float, size: Size) -> bool:
    return len(shown) <= LEAST_LETTERS or (len(shown) <= MOST_LETTERS and text_width(shown, size) <= width)


def _candidates(name: str, others: Sequence[str], width: float, size: Size) -> Iterator[str]:
    keep = _letters(name, width, size)
    most = keep
    while most + 1 < len(name) and _fits(_ends(name, most + 1), width, size):
        most += 1
    ends = _ends(name, most)
    alike = [other for other in others if other != name and other[: most - most // 2] == name[: most - most // 2]]
    if not any(_ends(other, most) == ends for other in alike):  # else nobody would see which of them it is
        yield ends
    head = max(1, keep // 3)
    middle = keep - head - 1
    for start in sorted({min(_same(name, other), len(name) - middle) for other in alike}):
        after = ELLIPSIS if start + middle < len(name) else ""
        yield name[:head] + ELLIPSIS + _whole(name[start : start + middle]) + after
    for number in count(2):
        end = f"{ELLIPSIS}({number})"
        yield name[: max(1, keep - len(end))] + end


def _ends(name: str, keep: int) -> str:
    return name[: keep - keep // 2] + ELLIPSIS + _whole(name[len(name) - keep // 2 :])


def _letters(name: str, width: float, size: Size) -> int:
    """How many letters of a name fit beside an ellipsis, by its widest ones: whichever are taken, they fit."""
    room = width - text_width(ELLIPSIS * 2, size)
    digit = text_width("0", size)  # digits of a number may take the places of letters
    several = sorted((max(text_width(sign, size), digit) for sign in name), reverse=True)
    found, used = 0, 0.0
    for wide in several[:MOST_LETTERS]:
        used += wide
        if used > room:
            break
        found += 1
    return max(found, LEAST_LETTERS - 2)


def _whole(part: str) -> str:
    """Without marks at its beginning that belong to the letter before."""
    return part.lstrip("".join(sign for sign in part if unicodedata.combining(sign)))


def _same(one: str, other: str) -> int:
    """How many letters two texts have in common before they differ."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
