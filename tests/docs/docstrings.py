"""What the docstring of a public callable must say: each parameter, what is refused, and an example that runs.

python -m tests.docs.docstrings dither.density      what is missing and which examples fail, by name
"""

from __future__ import annotations

import builtins
import dataclasses
import doctest
import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import attrs
from tools.api import FRONTS

from dither import errors

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_SECTION = re.compile(r"^(Args|Raises|Returns|Yields|Attributes|Note|Example|Examples):$", re.MULTILINE)
_ENTRY = re.compile(r"^    \*{0,2}(\w+)[^:\n]*:", re.MULTILINE)


def public(front: str) -> Iterator[tuple[str, Any]]:
    """The classes and functions that a front lists, and those of its modules; not errors, which dither alone makes."""
    module = importlib.import_module(front)
    for name in dir(module):
        value = getattr(module, name)
        if inspect.ismodule(value) and value is not errors and value.__name__ not in FRONTS:
            for inner in value.__all__:
                if callable(getattr(value, inner)):
                    yield f"{front}.{name}.{inner}", getattr(value, inner)
        elif callable(value) and (value.__module__ or "").startswith("dither"):
            yield f"{front}.{name}", value


def methods(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods of a class, those of its bases in this package among them, by the class that defines them."""
    found: set[str] = set()
    for base in owner.__mro__:
        if not base.__module__.startswith("dither"):
            continue
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if not name.startswith("_") and name not in found and inspect.isfunction(plain):
                found.add(name)
                yield f"{base.__module__}.{base.__qualname__}.{name}", plain


def parameters(value: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters, without self. Kinds and protocols are not called by a user."""
    if inspect.isclass(value) and (issubclass(value, Enum) or getattr(value, "_is_protocol", False)):
        return ()
    try:
        found = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in found if name not in ("self", "cls", "args", "kwargs", "kwds"))


def may_refuse(value: Any) -> bool:
    """Whether a call can be refused: not that of a plain record, whose fields are taken as they come."""
    if not inspect.isclass(value):
        return True
    if attrs.has(value):
        checked = any(field.converter or field.validator for field in attrs.fields(value))
        return bool(checked or "__attrs_init__" in vars(value) or hasattr(value, "__attrs_post_init__"))
    if dataclasses.is_dataclass(value):
        return not value.__dataclass_params__.init or hasattr(value, "__post_init__")
    return not issubclass(value, tuple)


def sections(text: str) -> dict[str, str]:
    """The indented text of each section of a docstring, by its head."""
    parts = _SECTION.split(inspect.cleandoc(text))
    bodies = (re.split(r"\n(?=\S)", body, maxsplit=1)[0] for body in parts[2::2])
    return dict(zip(parts[1::2], bodies, strict=True))


def missing(name: str, value: Any) -> list[str]:
    """What the docstring of a public callable, and those of its methods, do not say; empty where all is said."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    if not text:
        return [f"{name}: no docstring"]
    found, said = sections(text), []
    told = set(_ENTRY.findall(found.get("Args", "")))
    wanted = parameters(value)
    said += [f"{name}: parameter {each} is not in Args" for each in wanted if each not in told]
    said += [f"{name}: Args names {each}, which is no parameter" for each in sorted(told - set(wanted))]
    refusals = _ENTRY.findall(found.get("Raises", ""))
    if wanted and not refusals and may_refuse(value):
        said.append(f"{name}: no Raises")
    said += [f"{name}: Raises names {each}, which is no error" for each in refusals if not is_error(each)]
    if ">>>" not in text:
        said.append(f"{name}: no example")
    if inspect.isclass(value):
        for called, method in methods(value):
            said += missing_in_method(called, method, value)
    return said


def missing_in_method(name: str, method: Callable[..., Any], owner: type) -> list[str]:
    """What the docstring of a method does not say: it names each parameter, somewhere."""
    words = inspect.getdoc(method) or inspect.getdoc(getattr(owner, method.__name__)) or ""
    if not words:
        return [f"{name}: no docstring"]
    told = set(_ENTRY.findall(sections(words).get("Args", "")))
    wanted = parameters(method)
    said = [f"{name}: parameter {each} is not named" for each in wanted if not re.search(rf"\b{each}\b", words)]
    return said + [f"{name}: Args names {each}, which is no parameter" for each in sorted(told - set(wanted))]


def is_error(name: str) -> bool:
    """Whether a name is that of an error of dither, or of Python."""
    found = getattr(errors, name, getattr(builtins, name, None))
    return inspect.isclass(found) and issubclass(found, Exception)


def examples(name: str, value: Any) -> Iterator[doctest.DocTest]:
    """The examples of a public callable and of its methods. Each imports what it needs, so that it can be pasted."""
    inner = methods(value) if inspect.isclass(value) else ()
    for called, one in ((name, value), *inner):
        text = (vars(one).get("__doc__") if inspect.isclass(one) else one.__doc__) or ""
        if ">>>" in text:
            yield doctest.DocTestParser().get_doctest(text, {"__name__": "example"}, called, None, 0)


def failures(name: str, value: Any) -> list[str]:
    """What the examples of a docstring print otherwise than they say, or warn of."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", errors.NotPrivateWarning)  # a seed, which is what makes an example repeatable
        for test in examples(name, value):
            runner.run(test, out=said.append)
    return said


if __name__ == "__main__":
    for front in sys.argv[1:] or FRONTS:
        for name, value in public(front):
            for line in (*missing(name, value), *failures(name, value)):
                print(line)
