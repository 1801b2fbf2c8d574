"""Calls with wrong arguments: refused in words, with the call that would work, in place of Python's own TypeError.

`@argument_errors` on a function or a method, or on a class for its constructors `__init__` and `__new__` and for its public
methods, also those that it has from another class of dither. A call costs one more frame; signatures are read only when a
call fails, and `help` shows them as they are written. A TypeError from inside a call whose arguments fit is left as it is.
"""

from __future__ import annotations

import ast
import inspect
from ast import literal_eval
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    "candidates": "['red', 'green', 'blue']",
    "confidence": "'0.95'",
    "name": "'visits'",
    "person": "'patient_id'",
    "ledger": "dither.Ledger('clinic.ledger')",
    "location": "'clinic.ledger'",
    "path": "'policy.toml'",
    "sql": "'SELECT COUNT(*) AS n FROM visits'",
}
ADVICE = {  # beside the proposal, by what was called
    "open": "; dither policy init FILE drafts such a file",
    "Bins": ", or Bins.even(0, 120, 24)",
}
BESIDE = {  # the same, by what was left out
    "ledger": "; to try things out, ledger=dither.Ledger.temporary(dither.pure(1))",
}
ROOMS_OF_VALUES = ("channels", "density", "local", "mechanisms", "noise", "numeric", "privacy")
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
    known, made = dict(signature.parameters), None
    doc = inner.__doc__
    if bound and given:  # the object or the class itself
        whose, given = given[0], given[1:]
        known.pop(next(iter(known)))
        kind = whose if isinstance(whose, type) else type(whose)
        is_constructor = inner.__name__ in ("__init__", "__new__")
        made, doc = (kind, kind.__doc__) if is_constructor else (None, None)
        name = kind.__name__ if is_constructor else f"{kind.__name__}.{name}"
    return _told(Callee(name, known, made, doc or ""), given, named)


@dataclass(frozen=True)
class Callee:
    """What was called: its name and its parameters, the class if it makes one, and the words that have its example."""

    name: str
    known: Mapping[str, inspect.Parameter]
    made: type | None
    doc: str

    @property
    def by_name(self) -> list[str]:
        """The parameters that may be given by name."""
        return [each for each, parameter in self.known.items() if parameter.kind in BY_NAME]

    @property
    def told(self) -> str:
        """All parameters, as a person reads them."""
        several = [f"*{each}" for each, one in self.known.items() if one.kind is inspect.Parameter.VAR_POSITIONAL]
        return ", ".join([*several, *self.by_name]) or "none"

    @property
    def places(self) -> list[str]:
        """The parameters that may be given by position."""
        return [each for each, parameter in self.known.items() if parameter.kind in BY_POSITION]

    @property
    def has_value(self) -> bool:
        """Whether it makes a plain value, so that a call can be tried: nothing is read, written or charged."""
        return self.made is not None and self.made.__module__.split(".")[1] in ROOMS_OF_VALUES


def _told(callee: Callee, given: tuple[Any, ...], named: Mapping[str, Any]) -> ArgumentError:
    name, by_name, places = callee.name, callee.by_name, callee.places
    said = {each: value for each, value in named.items() if each in by_name}
    said |= dict(zip(places, given, strict=False))
    more = given[len(places) :]
    for each, value in named.items():
        if each not in by_name:
            near = get_close_matches(each, [other for other in by_name if other not in said], n=1)
            why = f"{name} has no parameter of that name" + (f" (did you mean {near[0]}?)" if near else "")
            instead = f"{_proposal(callee, {**said, **dict.fromkeys(near, value)}, more)}; its parameters: {callee.told}"
            return ArgumentError.from_text(f"{each} of {name}", _value(value), why, instead)
        if each in places[: len(given)]:
            why = "it is given by position, and again by name"
            return ArgumentError.from_text(f"{each} of {name}", _value(value), why, _proposal(callee, said, more))
    if more:
        why = "its arguments are given by name" if not places else f"no more than {len(places)} are given by position"
        where, came = f"argument {len(places) + 1} of {name}", _value(more[0])
        return ArgumentError.from_text(where, came, why, _proposal(callee, said, more))
    left_out = next((each for each in callee.known if _is_needed(callee.known[each]) and each not in said), "arguments")
    return ArgumentError.from_text(f"{left_out} of {name}", "nothing", "it has no default", _proposal(callee, said, ()))


def _proposal(callee: Callee, said: Mapping[str, Any], more: tuple[Any, ...]) -> str:
    """A call with what was said, where that works as far as can be known; otherwise that of the example.

    Values in positions that there are not may have been meant for what is needed, in its order, or one of them for epsilon.
    A class that makes a plain value is tried with them.
    """
    example = _example(callee)
    free = [each for each in callee.by_name if each not in said]
    needed = [each for each in free if _is_needed(callee.known[each])]
    meant = needed if len(more) <= len(needed) else free
    guessed = {**said, **dict(zip(meant, more, strict=False))}
    sure = len(more) <= len(needed) or (len(more) == 1 and free[:1] == ["epsilon"])
    if callee.has_value:
        sure = len(more) <= len(meant) and _works(callee, guessed)
    if not sure and example is not None:
        return f"{callee.name}({', '.join(example.values())}){ADVICE.get(callee.name, '')}"
    return _call(callee, guessed if sure else said, example or {})


def _works(callee: Callee, said: Mapping[str, Any]) -> bool:
    """Whether a plain value is made by these arguments, and by examples of what is needed besides."""
    lacking = [each for each, one in callee.known.items() if _is_needed(one) and each not in said]
    if callee.made is None or not all(each in EXAMPLES for each in lacking):
        return False
    try:
        callee.made(**said, **{each: literal_eval(EXAMPLES[each]) for each in lacking})
    except Exception:  # whatever is wrong with it, it is not what would work
        return False
    return True


def _example(callee: Callee) -> dict[str, str] | None:
    """The arguments of the first call in the example of the docstring that needs nothing of what was made before it."""
    lines = [line.lstrip() for line in callee.doc.splitlines()]
    try:
        tree = ast.parse("\n".join(line[4:] for line in lines if line.startswith((">>>", "..."))))
    except SyntaxError:
        return None
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] != callee.name:
            continue
        if own.isdisjoint(each.id for each in ast.walk(node) if isinstance(each, ast.Name)):
            by_place = dict(zip(callee.places, map(ast.unparse, node.args), strict=False))
            return by_place | {str(one.arg): f"{one.arg}={ast.unparse(one.value)}" for one in node.keywords}
    return None


def _is_needed(parameter: inspect.Parameter) -> bool:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and parameter.kind not in variable


def _call(callee: Callee, said: Mapping[str, Any], example: Mapping[str, str]) -> str:
    """A call with what was said, and an example in place of what is needed besides."""
    parts, beside = [], ADVICE.get(callee.name, "")
    for each, parameter in callee.known.items():
        if each in said:
            text = _value(said[each])
        elif _is_needed(parameter):
            beside += BESIDE.get(each, "")
            text = EXAMPLES.get(each) or example.get(each, "...").removeprefix(f"{each}=")
        else:
            continue
        parts.append(text if parameter.kind is inspect.Parameter.POSITIONAL_ONLY else f"{each}={text}")
    return f"{callee.name}({', '.join(parts)}){beside}"


def _value(value: Any) -> str:
    """A short number or text as it came; of anything else, which may be data, only that it came."""
    if value is not None and not isinstance(value, (int, float, str, Fraction, Decimal)):
        return "..."  # unread: a whole table takes long to spell
    text = show(value)
    return text if len(text) <= LONGEST_ARGUMENT else "..."
