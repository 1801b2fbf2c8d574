"""Calls with wrong arguments: refused in words, with the call that would work, in place of Python's own TypeError.

`@argument_errors` on a function or a method, or on a class for its constructors `__init__` and `__new__` and for its public
methods, also those that it has from another class of dither. A call costs one more frame; signatures are read only when a
call fails, and `help` shows them as they are written. A TypeError from inside a call whose arguments fit is left as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar, cast

from dither.errors import ArgumentError, show

Target = TypeVar("Target", bound=Callable[..., Any])
LONGEST_ARGUMENT = 24  # of a value that is repeated in a proposal
EXAMPLES = {  # what stands in a proposal for an argument that was left out
    "epsilon": "'0.5'",
    "delta": "'1e-6'",
    "rho": "'0.01'",
    "mu": "1",
    "sensitivity": "1",
    "l2_sensitivity": "1",
    "confidence": "'0.95'",
    "name": "'visits'",
    "person": "'patient_id'",
    "ledger": "dither.Ledger('clinic.ledger')",
    "location": "'clinic.ledger'",
    "path": "'policy.toml'",
    "sql": "'SELECT COUNT(*) AS n FROM visits'",
}
ADVICE = {"open": "; dither policy init FILE drafts such a file"}  # beside the proposal, by function
PACKAGE = __name__.partition(".")[0]
MARK = "_argument_errors"  # of a function that has its words already
BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def argument_errors(target: Target) -> Target:
    """The same function or class; a call whose arguments do not fit is refused with the one that would."""
    if not isinstance(target, type):
        code = getattr(target, "__code__", None)  # what another decorator made has none
        method = code is not None and code.co_varnames[:1] == ("self",)
        return cast(Target, _function(target, target.__name__, bound=method))
    for whole in target.__mro__:
        if whole.__module__.partition(".")[0] == PACKAGE:  # a method is refused alike, whichever class it is written in
            _methods(whole, constructors=whole is target)
    return target


def _methods(whole: type, *, constructors: bool) -> None:
    for name, member in list(vars(whole).items()):
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if not inspect.isfunction(inner) or hasattr(inner, MARK):
            continue
        if name in ("__init__", "__new__") and constructors:
            outer = _function(inner, whole.__name__, bound=True)
            setattr(whole, name, staticmethod(outer) if name == "__new__" else outer)
        elif not name.startswith("_"):
            outer = _function(inner, name, bound=not isinstance(member, staticmethod))
            setattr(whole, name, outer if inner is member else type(member)(outer))


def _function(inner: Any, name: str, *, bound: bool) -> Any:
    @wraps(inner)
    def outer(*given: Any, **named: Any) -> Any:
        try:
            return inner(*given, **named)
        except TypeError:
            refused = _refusal(inner, name, given, named, bound=bound)
            if refused is None:  # the arguments fit, and something else went wrong
                raise
        raise refused

    setattr(outer, MARK, True)
    return outer


def _refusal(
    inner: Callable[..., Any], name: str, given: tuple[Any, ...], named: Mapping[str, Any], *, bound: bool
) -> ArgumentError | None:
    signature = inspect.signature(inner)
    try:
        signature.bind(*given, **named)
    except TypeError:
        pass
    else:
        return None
    known = dict(signature.parameters)
    if bound and given:  # the object or the class itself
        whose, given = given[0], given[1:]
        known.pop(next(iter(known)))
        kind = (whose if isinstance(whose, type) else type(whose)).__name__
        name = kind if inner.__name__ in ("__init__", "__new__") else f"{kind}.{name}"
    return _told(name, known, given, named)


def _told(
    name: str, known: Mapping[str, inspect.Parameter], given: tuple[Any, ...], named: Mapping[str, Any]
) -> ArgumentError:
    by_name = [each for each, parameter in known.items() if parameter.kind in BY_NAME]
    places = [each for each, parameter in known.items() if parameter.kind in BY_POSITION]
    rest = [each for each in by_name if each not in places and each not in named]  # what more positions may have meant
    said = {each: value for each, value in named.items() if each in by_name}
    said |= dict(zip([*places, *rest], given, strict=False))
    for each, value in named.items():
        if each not in by_name:
            near = get_close_matches(each, [other for other in by_name if other not in said], n=1)
            why = f"{name} has no parameter of that name" + (f" (did you mean {near[0]}?)" if near else "")
            instead = f"{_call(name, known, {**said, **dict.fromkeys(near, value)})}; its parameters: {_list(by_name)}"
            return ArgumentError.from_text(f"{each} of {name}", _value(value), why, instead)
        if each in places[: len(given)]:
            why = "it is given by position, and again by name"
            return ArgumentError.from_text(f"{each} of {name}", _value(value), why, _call(name, known, said))
    if len(given) > len(places):
        why = "its arguments are given by name" if not places else f"no more than {len(places)} are given by position"
        where, came = f"argument {len(places) + 1} of {name}", _value(given[len(places)])
        return ArgumentError.from_text(where, came, why, _call(name, known, said))
    left_out = next((each for each in known if _is_needed(known[each]) and each not in said), "arguments")
    return ArgumentError.from_text(f"{left_out} of {name}", "nothing", "it has no default", _call(name, known, said))


def _is_needed(parameter: inspect.Parameter) -> bool:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and parameter.kind not in variable


def _call(name: str, known: Mapping[str, inspect.Parameter], said: Mapping[str, Any]) -> str:
    """A call with what was said, and an example in place of what is needed besides."""
    parts = []
    for each, parameter in known.items():
        if each in said:
            text = _value(said[each])
        elif _is_needed(parameter):
            text = EXAMPLES.get(each, "...")
        else:
            continue
        parts.append(text if parameter.kind is inspect.Parameter.POSITIONAL_ONLY else f"{each}={text}")
    return f"{name}({', '.join(parts)}){ADVICE.get(name, '')}"


def _value(value: Any) -> str:
    """A short number or text as it came; of anything else, which may be data, only that it came."""
    if value is not None and not isinstance(value, (int, float, str, Fraction, Decimal)):
        return "..."  # unread: a whole table takes long to spell
    text = show(value)
    return text if len(text) <= LONGEST_ARGUMENT else "..."


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"
