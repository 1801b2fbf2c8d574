"""Methods and operators of public classes, called with nothing, with too much and with the wrong kind of thing.

Values to call them on come from the examples in the docstrings. Whatever does not fit a signature is an `ArgumentError`;
what is of the wrong kind is a `DitherError` in the methods that users call with numbers, rows and questions.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import operator
from types import FunctionType
from typing import Any

import pytest
from tools.api import PUBLIC, names

import dither
from dither.errors import ArgumentError, DitherError
from tests.test_arguments import BARE

WRONG: list[Any] = [None, "x", [], ["x"], {}, object()]
READERS = {  # methods that take what a user has
    *("release", "error", "epsilon", "delta", "bracket", "rho", "renyi", "tradeoff", "group", "to", "per_person", "within"),
    *("quote", "query", "plan", "randomize", "estimate", "tally", "ask", "row", "sample", "reserve", "share"),
}
BUILT_IN = {"Enclosure", "Unit"}  # a tuple and an enumeration, with Python's own methods


def values() -> dict[type, Any]:
    """One value of each public class, by the examples in docstrings."""
    public = {front: importlib.import_module(front) for front in PUBLIC if front != "dither.errors"}
    things = [getattr(module, name) for front, module in public.items() for name in names(front)]
    wanted = {each for each in things if inspect.isclass(each) and each.__name__ not in {*BARE, *BUILT_IN}}
    found: dict[type, Any] = {}
    for each in things:
        if not inspect.isclass(each) or each in found:
            continue
        names_here: dict[str, Any] = {}
        results = []
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(each) or ""):
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    results.append(eval(example.source, names_here))
                except SyntaxError:
                    exec(example.source, names_here)
        for value in [*names_here.values(), *results]:
            if type(value) in wanted:
                found.setdefault(type(value), value)
    return found


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("examples")
        patch.chdir(folder)
        patch.setenv("DITHER_HOME", str(folder / "home"))
        yield values()


def methods(kind: type) -> list[str]:
    public = [name for name in dir(kind) if not name.startswith("_")]
    kinds = (FunctionType, classmethod, staticmethod)
    found = [name for name in public if isinstance(inspect.getattr_static(kind, name), kinds)]
    return [name for name in found if "sklearn" not in getattr(kind, name).__code__.co_filename]


def fits(method: Any, *given: Any, **named: Any) -> bool:
    try:
        inspect.signature(method).bind(*given, **named)
    except TypeError:
        return False
    return True


def test_calls_that_fit_no_signature_are_refused_in_words(known):
    seen = 0
    for kind, value in known.items():
        for name in methods(kind):
            method = getattr(value, name)
            for given, named in (((), {}), ((1,) * 9, {}), ((), {"no_such_argument": 1})):
                if not fits(method, *given, **named):
                    seen += 1
                    with pytest.raises(ArgumentError, match=rf" of (\w+\.)?{name} = .*What would work"):
                        method(*given, **named)
    assert len(known) > 80
    assert seen > 800


def test_things_of_the_wrong_kind_are_refused_or_taken(known):
    seen = 0
    for kind, value in known.items():
        for name in sorted(READERS & set(methods(kind))):
            for wrong in WRONG:
                if fits(getattr(value, name), wrong):
                    seen += 1
                    with contextlib.suppress(DitherError):
                        getattr(value, name)(wrong)
    assert seen > 300


OPERATORS = {
    **{"-": operator.sub, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow},
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}
SUMS = [dither.pure(1), dither.Loss.gaussian(10)]


@pytest.mark.parametrize("value", SUMS, ids=["guarantee", "loss"])
@pytest.mark.parametrize("sign", OPERATORS)
def test_a_sum_has_no_difference_and_no_order(sign, value):
    for other in (1, 0.5, "0.5", None, [1], dither.ln(3), value):
        for left, right in ((value, other), (other, value)):
            if (sign, left) == ("%", "0.5"):
                continue  # a text on the left of % is a format, Python's own affair
            with pytest.raises(ArgumentError, match="no order" if sign in "<=>=" else "not taken back"):
                OPERATORS[sign](left, right)
    with pytest.raises(TypeError) as told:  # another class may know what to do, and says so itself
        OPERATORS[sign](value, object())
    assert not isinstance(told.value, DitherError)


@pytest.mark.parametrize("value", SUMS, ids=["guarantee", "loss"])
def test_a_sum_is_of_its_kind(value):
    for other in (1, "0.5", None, [1], {}):
        with pytest.raises(ArgumentError, match="is added to"):
            value + other
        if other != [1]:  # a list on the left answers for itself
            with pytest.raises(ArgumentError, match="is added to"):
                other + value
    for count in (0.5, "2", 1j):
        with pytest.raises(ArgumentError, match="whole number of times"):
            value * count
    assert sum([value, value]) == 2 * value


def test_comparisons_say_what_would_work():
    with pytest.raises(ArgumentError, match=r"pure\('0.5'\)\.within\(pure\(1\)\)"):
        _ = dither.pure(1) < dither.pure(2)  # type: ignore[operator]
    assert dither.pure("0.5").within(dither.pure(1))
    with pytest.raises(ArgumentError, match=r"value of Geometric\.release = nothing.*Geometric\.release\(value="):
        dither.Geometric(epsilon=1, sensitivity=1).release()  # type: ignore[call-arg]


def test_places_and_values_that_are_not_there():
    survey = dither.local.DirectEncoding(["a", "b"], epsilon=1)
    reports = survey.randomize(["a", "b"])
    for wrong in ("x", None, [1]):
        with pytest.raises(DitherError, match="'a', 'b'"):
            survey.estimate(reports)[wrong]
        for joined in (reports, survey.tally(reports)):
            with pytest.raises(DitherError, match="operand of"):
                joined + wrong
