"""Groups as SQL: a declared key or NULL; or, where nobody declared them, whatever can be a key."""

from __future__ import annotations

import datetime
from fractions import Fraction

from dither.query.engines.templates.expressions import render
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Bucket, Case, Constant, InList
from dither.query.policy.column import Key, Type

MANY = 100  # keys: more of them are not compared one by one, if they are all whole numbers between two
LONGEST_KEY = 500  # characters: a longer text is no key


def key(words: Words, by: Expression, keys: tuple[Key, ...] | None) -> str:
    """A declared key, or NULL."""
    if keys is None:
        return _any_key(words, by)
    numbers = set(range(by.size)) if isinstance(by, Bucket) else _numbers(by) if isinstance(by, Case) else None
    if numbers is not None and numbers <= set(keys):  # one of them by itself, or NULL
        return render(words, by)
    texts = all(isinstance(key, str) for key in keys)
    found = render(words, by)
    if not _sorts_out(by, keys):  # before the small type: a cast that fails takes far longer
        if len(keys) > MANY and by.facts.type is Type.INTEGER and _are_all_between(keys):
            inside = f"{found} BETWEEN {words.constant(keys[0])} AND {words.constant(keys[-1])}"
        else:
            inside = words.among(found, keys)
        found = f"CASE WHEN {inside} THEN {found} END"
    if not texts or words.is_listed(keys):  # a type of that many texts takes longer to make than it saves
        return found
    return words.key(found, [words.constant(key) for key in keys])


def _numbers(node: Expression) -> set[Fraction] | None:
    """The numbers that a CASE gives, where all of them are written out."""
    if isinstance(node, Constant):
        return {node.value} if isinstance(node.value, Fraction) else None
    if not isinstance(node, Case):
        return None
    found = [_numbers(value) for _, value in node.branches] + ([] if node.otherwise is None else [_numbers(node.otherwise)])
    known = [numbers for numbers in found if numbers is not None]
    return set[Fraction]().union(*known) if len(known) == len(found) else None


def _sorts_out(by: Expression, keys: tuple[Key, ...]) -> bool:
    """Whether it is one of the keys already: those of a list as they are, all others by one name. Long lists are looked
    through once then: of IN within IN the engine takes the square of the time."""
    if not isinstance(by, Case) or not isinstance(by.otherwise, Constant):
        return False
    known = set(keys)
    return by.otherwise.value in known and all(
        isinstance(condition, InList)
        and condition.value == value
        and all(option.value in known for option in condition.options)
        for condition, value in by.branches
    )


def _are_all_between(keys: tuple[Key, ...]) -> bool:
    """Whether they are all whole numbers from the first to the last: then a whole number is a key if it lies between."""
    first, last = keys[0], keys[-1]
    return isinstance(first, int) and isinstance(last, int) and last - first + 1 == len(keys) == len(set(keys))


def _any_key(words: Words, by: Expression) -> str:
    """A key that nobody declared, or NULL: no long text, no day that Python cannot write: none stops a release."""
    found = render(words, by)
    if by.facts.type is Type.TEXT:
        sound = words.sound(found)
        return words.binary(f"(CASE WHEN length({sound}) <= {LONGEST_KEY} THEN {sound} END)")
    if by.facts.type is Type.DATE:
        first, last = words.constant(datetime.date.min), words.constant(datetime.date.max)
        return f"CASE WHEN {found} BETWEEN {first} AND {last} THEN {found} END"
    return found
