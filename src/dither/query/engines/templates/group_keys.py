"""Groups in DuckDB's SQL: a declared key or NULL; or, where nobody declared them, whatever can be a key."""

from __future__ import annotations

from fractions import Fraction

from dither.query.engines.templates.expressions import constant, render
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Bucket, Case, Constant, InList
from dither.query.policy.column import Key, Type

LONGEST_KEY = 500  # characters: a longer text is no key


def key(by: Expression, keys: tuple[Key, ...] | None) -> str:
    """A declared key, or NULL: texts as an ENUM of the keys, which takes a byte or two wherever it goes."""
    if keys is None:
        return _any_key(by)
    numbers = set(range(by.size)) if isinstance(by, Bucket) else _numbers(by) if isinstance(by, Case) else None
    if numbers is not None and numbers <= set(keys):  # one of them by itself, or NULL
        return render(by)
    options = ", ".join(constant(key) for key in keys)
    if _sorts_out(by, keys):
        return f"TRY_CAST({render(by)} AS ENUM({options}))" if isinstance(keys[0], str) else render(by)
    if all(isinstance(key, str) for key in keys):
        known = f"CASE WHEN {render(by)} IN ({options}) THEN {render(by)} END"  # a cast that fails takes far longer
        return f"TRY_CAST({known} AS ENUM({options}))"
    return f"CASE WHEN {render(by)} IN ({options}) THEN {render(by)} END"


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


def _any_key(by: Expression) -> str:
    """A key that nobody declared, or NULL: no long text, no day that Python cannot write: none stops a release."""
    found = render(by)
    if by.facts.type is Type.TEXT:
        sound = f"TRY(decode(encode({found})))"  # a frame in memory may hold texts that are not UTF-8
        return f'(CASE WHEN length({sound}) <= {LONGEST_KEY} THEN {sound} END) COLLATE "binary"'
    if by.facts.type is Type.DATE:
        return f"CASE WHEN {found} BETWEEN '0001-01-01'::DATE AND '9999-12-31'::DATE THEN {found} END"
    return found
