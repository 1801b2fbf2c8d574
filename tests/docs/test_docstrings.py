"""Every public callable says what it takes, what it refuses and what it looks like; the examples run, anywhere."""

from __future__ import annotations

import inspect
import locale
import random
import time
from typing import Any

import pytest
from tools.api import FRONTS

from dither.errors import NumberError
from tests.docs.docstrings import examples, failures, missing, public

PUBLIC = {name: value for front in FRONTS for name, value in public(front)}
# Two places with little in common: an example prints the same in both. Noise that is drawn anew would show as well.
PLACES = {
    "east": {"TZ": "Pacific/Kiritimati", "COLUMNS": "40", "LC_ALL": "C", "TERM": "dumb", "NO_COLOR": "1"},
    "west": {"TZ": "America/Anchorage", "COLUMNS": "200", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "FORCE_COLOR": "1"},
}


@pytest.mark.parametrize("front", FRONTS)
def test_every_public_callable_says_what_it_takes(front):
    said = [line for name, value in public(front) for line in missing(name, value)]
    assert sorted(set(said)) == []  # a method that several inherit is told once


@pytest.fixture(params=sorted(PLACES))
def place(request, tmp_path, monkeypatch):
    """A folder, a time zone, a terminal, a locale and a state of Python's own random numbers."""
    for name, value in PLACES[request.param].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    before = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, PLACES[request.param]["LC_ALL"])
    time.tzset()
    random.seed(request.param)
    yield request.param
    monkeypatch.undo()
    locale.setlocale(locale.LC_ALL, before)
    time.tzset()


def test_the_examples_print_what_they_say(place):
    seen: set[str] = set()
    said: list[str] = []
    for name, value in PUBLIC.items():
        names = {test.name for test in examples(name, value)}
        if not names <= seen:  # a base's methods are run with the first class that has them
            said += failures(name, value)
        seen |= names
    assert "\n".join(said) == ""


def planted(number: int, *, unit: str = "person") -> int:
    """A function.

    Args:
        number: some number.
        unit: whom it is about.

    Raises:
        NumberError: it is negative.

    Example:
        >>> from tests.docs.test_docstrings import planted
        >>> planted(3)
        3
        >>> planted(-1)
        Traceback (most recent call last):
        dither.errors.NumberError: ...
    """
    if number < 0:
        raise NumberError("number", number, "it is negative", "1")
    return number


FAULTS: list[tuple[str, str, str]] = [
    ("unit: whom", "other: whom", "parameter unit is not in Args"),
    ("unit: whom", "other: whom", "Args names other, which is no parameter"),
    ("Raises:", "Otherwise:", "no Raises"),
    ("NumberError: it", "NumbersError: it", "Raises names NumbersError, which is no error"),
    (">>>", ">>", "no example"),
]


def with_words(old: str, new: str) -> Any:
    def planted(number: int, *, unit: str = "person") -> int:
        return number

    planted.__doc__ = inspect.cleandoc(globals()["planted"].__doc__ or "").replace(old, new)
    return planted


@pytest.mark.parametrize(("old", "new", "said"), FAULTS, ids=[said for *_, said in FAULTS])
def test_what_is_missing_is_told(old, new, said):
    assert missing("f", planted) == []
    assert f"f: {said}" in missing("f", with_words(old, new))


def test_an_example_that_prints_something_else_fails():
    assert failures("f", planted) == []
    assert failures("f", with_words("\n    3\n", "\n    4\n"))
    assert failures("f", with_words("    >>> from tests.docs.test_docstrings import planted\n", ""))  # cannot be pasted


class Base:
    """Not public by itself."""

    def twice(self, number: int) -> int:
        """Two times it."""
        return 2 * number


class Public(Base):
    """A class.

    Example:
        >>> 1 + 1
        2
    """


def test_a_method_that_a_class_inherits_is_read(monkeypatch):
    for kind in (Base, Public):
        monkeypatch.setattr(kind, "__module__", "dither.planted")
    assert missing("Public", Public) == ["dither.planted.Base.twice: parameter number is not named"]
