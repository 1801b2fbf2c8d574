"""Labels: text of others that is safe to show, how wide it is about, and how it is made shorter.

Theorem. `distinct_labels` gives two names that differ two labels that differ, each of them at most as wide as it may be, or
eight letters.

Proof. A name that fits is its own label. Any other gets the first of its candidates that no label before it has: its two
ends, then what stands where it differs from others, then its beginning with a number, which is another for each try. The
labels of names that fit are taken first. So each label is new when it is given.
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
ELLIPSIS = "…"
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


def _fits(shown: str, width: float, size: Size) -> bool:
    return len(shown) <= LEAST_LETTERS or (len(shown) <= MOST_LETTERS and text_width(shown, size) <= width)


def _candidates(name: str, others: Sequence[str], width: float, size: Size) -> Iterator[str]:
    keep = _letters(name, width, size)
    tail = keep // 2
    ends = name[: keep - tail] + ELLIPSIS + _whole(name[len(name) - tail :])
    yield ends
    alike = [other for other in others if other != name and other[: keep - tail] == name[: keep - tail]]
    for start in sorted({_same(name, other) for other in alike}):
        head = max(1, keep // 3)
        yield name[:head] + ELLIPSIS + _whole(name[start : start + keep - head - 1]) + ELLIPSIS
    for number in count(2):
        end = f"{ELLIPSIS}({number})"
        yield name[: max(1, keep - len(end))] + end


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
