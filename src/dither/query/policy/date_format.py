"""Formats of dates and times in text, in an owner's words: DD.MM.YYYY, or YYYY-MM-DD hh:mm:ss.

    YYYY        the year, four digits
    MM, DD      month and day, two digits; M, D: one or two
    hh, mm, ss  hour, minute and second, two digits; h: one or two
    f           a fraction of a second, one to six digits
    else        itself: . - / : , blank and the letter T

A format is a regular expression, which a cell matches as a whole or not at all, and the same parts in the order of ISO 8601.
No locale, no century that is guessed, no zone. A day that is in no calendar (30 February) has no date: missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dither.errors import PolicyError
from dither.query.policy.fact import Fact

TOKENS = {  # the longest first
    "YYYY": ("year", "[0-9]{4}"),
    "MM": ("month", "0[1-9]|1[0-2]"),
    "DD": ("day", "0[1-9]|[12][0-9]|3[01]"),
    "hh": ("hour", "[01][0-9]|2[0-3]"),
    "mm": ("minute", "[0-5][0-9]"),
    "ss": ("second", "[0-5][0-9]"),
    "M": ("month", "0?[1-9]|1[0-2]"),
    "D": ("day", "0?[1-9]|[12][0-9]|3[01]"),
    "h": ("hour", "[01]?[0-9]|2[0-3]"),
    "f": ("fraction", "[0-9]{1,6}"),
}
SIGNS = ".-/:, T"
STRPTIME = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "hh", "%M": "mm", "%S": "ss", "%f": "f", "%T": "hh:mm:ss"}
STRPTIME |= {"%F": "YYYY-MM-DD", "%-d": "D", "%-m": "M", "%-H": "h"}
LONGEST = 40


@dataclass(frozen=True)
class DateFormat:
    """How a date is written."""

    text: str  # as the owner wrote it
    pattern: str  # a regular expression with a group for each part
    iso: str  # the groups as an ISO date, or as an ISO date and time: \\3-\\2-\\1


def read_date_format(stated: Fact, where: str, *, time: bool) -> DateFormat:
    """A format from the words of a policy; `time` for timestamps, of which dates leave the time out."""
    example = '"DD.MM.YYYY"' if not time else '"DD.MM.YYYY hh:mm"'
    if not isinstance(stated, str) or not 0 < len(stated) <= LONGEST:
        raise PolicyError(where, stated, "it is no format of a date", example)
    if "%" in stated:
        spelled = re.sub(r"%-?[A-Za-z]", lambda found: STRPTIME.get(found[0], found[0]), stated)
        why = "formats are written in letters, not in the signs of strptime"
        raise PolicyError(where, stated, why, example if "%" in spelled else f'"{spelled}"')
    parts, pattern, rest, loose = list[str](), "", stated, 0
    while rest:
        token = next((token for token in TOKENS if rest.startswith(token)), None)
        if token is not None:
            part, digits = TOKENS[token]
            if part in parts:
                raise PolicyError(where, stated, f"the {part} stands in it twice", example)
            loose += token in ("M", "D", "h", "f")
            if loose > 1:
                why = "two parts of one digit or two stand side by side: 111 is 1.11. or 11.1."
                raise PolicyError(where, stated, why, example)
            parts.append(part)
            pattern += f"({digits})"
        elif rest[0] in SIGNS:
            pattern, loose = f"{pattern}[{rest[0]}]", 0
        else:
            raise PolicyError(where, stated, _why_not(rest), example)
        rest = rest[len(token or rest[0]) :]
    return DateFormat(stated, pattern, _iso(parts, stated, where, example, time=time))


def _why_not(rest: str) -> str:
    if rest.startswith(("YY", "yy")) and not rest.lower().startswith("yyyy"):
        return "a year of two digits does not say its century"
    if rest[:1] in "yYdHSJAt":
        return (
            f"it says {rest[0]!r}: parts are YYYY, MM, DD, hh, mm, ss and f, in these letters (MM is a month, mm a minute)"
        )
    return f"{rest[0]!r} is no part of a date: parts are YYYY, MM, DD, hh, mm, ss and f, and between them one of {SIGNS}"


def _iso(parts: list[str], stated: str, where: str, example: str, *, time: bool) -> str:
    """The groups of the pattern, by their numbers, in the order of ISO 8601."""
    for part in ("year", "month", "day", *(["hour"] if time else [])):
        if part not in parts:
            raise PolicyError(where, stated, f"it has no {part}", example)
    for part, before in (("minute", "hour"), ("second", "minute"), ("fraction", "second")):
        if part in parts and before not in parts:
            raise PolicyError(where, stated, f"it has a {part} and no {before}", example)
    group = {part: f"\\{place}" for place, part in enumerate(parts, start=1)}
    day = f"{group['year']}-{group['month']}-{group['day']}"
    if not time:
        return day
    clock = ":".join(group.get(part, "00") for part in ("hour", "minute", "second"))
    return f"{day} {clock}" + (f".{group['fraction']}" if "fraction" in parts else "")
