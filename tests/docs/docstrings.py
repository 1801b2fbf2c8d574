"""What the docstring of a public callable must say: each parameter, what is refused, and an example that runs.

python -m tests.docs.docstrings dither.density      what is missing, by name
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

FRONTS = ("dither", "dither.channels", "dither.density", "dither.local", "dither.noise", "dither.testing")
# Modules that are public names themselves: their classes and functions are public too. Those of `dither` that have no such
# list, or are fronts, are left out.
MODULES = ("accuracy", "amplify", "calibrate", "filter", "plot", "sensitivity", "theorems")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_SECTION = re.compile(r"^(Args|Raises|Example|Examples):$", re.MULTILINE)
_ENTRY = re.compile(r"^    \*{0,2}(\w+)[^:\n]*:", re.MULTILINE)


def public(front: str) -> Iterator[tuple[str, Any]]:
    """The classes and functions that a front lists, and those of its public modules."""
    module = importlib.import_module(front)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value) and (name in MODULES or front != "dither") and hasattr(value, "__all__"):
            for inner in value.__all__:
                if callable(getattr(value, inner)):
                    yield f"{front}.{name}.{inner}", getattr(value, inner)
        elif callable(value) and (value.__module__ or "").startswith("dither"):
            yield f"{front}.{name}", value


def methods(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods that the class itself defines."""
    for name, value in vars(owner).items():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if not name.startswith("_") and inspect.isfunction(plain):
            yield name, plain


def parameters(value: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters, without self."""
    try:
        found = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in found if name not in ("self", "cls", "args", "kwargs", "kwds"))


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring, by their heads."""
    parts = _SECTION.split(inspect.cleandoc(text))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def missing(name: str, value: Any) -> list[str]:
    """What the docstring of a public callable does not say; empty where all is said."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    if not text:
        return [f"{name}: no docstring"]
    found, said = sections(text), []
    told = set(_ENTRY.findall(found.get("Args", "")))
    wanted = parameters(value)
    said += [f"{name}: parameter {each} is not in Args" for each in wanted if each not in told]
    said += [f"{name}: Args names {each}, which is no parameter" for each in sorted(told - set(wanted)) if wanted]
    if wanted and "Raises" not in found:
        said.append(f"{name}: no Raises")
    if ">>>" not in text:
        said.append(f"{name}: no example")
    if inspect.isclass(value):
        for at, method in methods(value):
            words = inspect.getdoc(method) or inspect.getdoc(getattr(value, at)) or ""
            if not words:
                said.append(f"{name}.{at}: no docstring")
            said += [
                f"{name}.{at}: parameter {each} is not named"
                for each in parameters(method)
                if not re.search(rf"\b{each}\b", words)
            ]
    return said


def failures(name: str, value: Any) -> list[str]:
    """What the examples of a docstring print otherwise than they say."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    tests = [doctest.DocTestParser().get_doctest(value.__doc__ or "", {}, name, None, 0)]
    if inspect.isclass(value):
        tests += [
            doctest.DocTestParser().get_doctest(m.__doc__ or "", {}, f"{name}.{at}", None, 0) for at, m in methods(value)
        ]
    for test in tests:
        runner.run(test, out=said.append)
    return said


if __name__ == "__main__":
    for front in sys.argv[1:] or FRONTS:
        for name, value in public(front):
            print(*missing(name, value), *failures(name, value), sep="\n", end="\n" if missing(name, value) else "")
