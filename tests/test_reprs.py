"""What `repr` shows of every public object: one readable line, or a table that fits a terminal; no internals."""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib
import io
import re
import warnings
from fractions import Fraction
from typing import Any

import pytest
from tools.api import PUBLIC, names

import dither
from dither.numeric.representation import LONGEST_LINE, high_digits, high_end, low_digits, low_end, number_text, short_repr
from tests.seeds import examples

WIDTH = 80
INTERNALS = re.compile(r"object at 0x|Fraction\(|Number\('\d{15}|array\(|Answer\(\)|\d{18}")
SLOW = {"dither.learn", "dither.testing"}  # their examples fit models and check engines: with `--all` alone
NOT_MADE = {"dither.Mechanism", "dither.RandomizedResponse", "dither.density.Bins", "dither.density.Categories"}  # by them


def made_by(thing: Any, given: dict[str, Any]) -> list[Any]:
    """What the example of a docstring makes."""
    found: list[Any] = []
    for example in doctest.DocTestParser().get_examples(getattr(thing, "__doc__", None) or ""):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            try:
                found.append(eval(compile(example.source.strip(), "example", "eval"), given))
            except SyntaxError:
                exec(example.source, given)
        found += given.values()
    return found


@functools.cache
def public_objects(front: str) -> dict[type, Any]:
    """An object of each class of dither that the examples of a front make; with their parts."""
    module, found = importlib.import_module(front), dict[type, Any]()

    def take(value: Any) -> None:
        kind = type(value)
        if kind.__module__.startswith("dither") and not isinstance(value, type):
            found.setdefault(kind, value)
        elif isinstance(value, (tuple, list)):
            for part in value[:3]:
                take(part)

    for name in names(front):
        value, given = getattr(module, name), dict[str, Any]()
        members = [one for key, one in vars(value).items() if not key.startswith("_")] if isinstance(value, type) else []
        for thing in (value, *members):
            for one in made_by(thing, given):
                take(one)
    return found


@pytest.mark.parametrize("front", PUBLIC)
def test_every_public_object_has_a_readable_repr(front, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if front in SLOW and not examples(0, 1):
        pytest.skip("its examples take long: with --all")
    with warnings.catch_warnings(action="ignore"):
        found = public_objects(front)
        told = {kind: repr(value) for kind, value in found.items()}
    for kind, text in told.items():
        check(text, kind.__qualname__)


def check(text: str, name: str) -> None:
    lines = text.split("\n")
    assert text.strip(), name
    assert len(lines) > 1 or len(text) <= LONGEST_LINE, f"{name}: a line of {len(text)} letters: {text}"
    assert len(lines) == 1 or max(map(len, lines)) <= WIDTH, f"{name}: {max(map(len, lines))} columns"
    assert not INTERNALS.search(text), f"{name} shows internals: {text}"


def test_what_is_no_readable_repr_is_found():
    for bad in ("Answer()", "x" * 300, "Remaining(Fraction(1, 3))", "<X object at 0x7f>", "a\n" + "b" * 81, ""):
        with pytest.raises(AssertionError):
            check(bad, "planted")


def test_examples_make_an_object_of_nearly_every_public_class():
    missing = []
    for front in ("dither", "dither.density", "dither.local"):
        module = importlib.import_module(front)
        found = public_objects(front)
        classes = {name: one for name in names(front) if isinstance(one := getattr(module, name), type)}
        missing += [f"{front}.{name}" for name, one in classes.items() if one not in found]
    assert set(missing) <= NOT_MADE


def test_a_repr_has_short_numbers():
    exact = {Fraction(1, 3): "1/3", Fraction(1, 10**6): "1e-06", Fraction(2): "2", Fraction(1, 65536): "1/65536", 7: "7"}
    for value, text in exact.items():
        assert number_text(value) == text
    assert number_text(Fraction(24154883523, 137438953472)) == "≈0.17575"
    assert number_text(dither.Number("ln(3)")) == "ln(3)"
    assert len(number_text(10**400)) <= 20
    assert short_repr(dither.Geometric(epsilon="ln(2)", sensitivity=1)) == (
        "Geometric(epsilon=ln(2), sensitivity=1, unit='add/remove one person')"
    )


@pytest.mark.parametrize("value", [0.0, -0.0, 1.23456789, -1.23456789, 0.00004, -0.00004, 1e300, 1e-290, 0.1, 12345.678])
def test_ends_are_rounded_outwards(value):
    for decimals in (0, 4):
        assert Fraction(low_end(value, decimals)) <= Fraction(value) <= Fraction(high_end(value, decimals))
    assert Fraction(low_digits(value)) <= Fraction(value) <= Fraction(high_digits(value))
    assert "-0" not in (low_end(0.0, 0), high_end(-0.2, 0))
    assert (low_end(float("-inf"), 2), high_end(float("inf"), 2)) == ("-inf", "inf")
