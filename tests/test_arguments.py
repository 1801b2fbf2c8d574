"""Calls with wrong arguments are refused in words; those that fit are left as they are, with their errors."""

from __future__ import annotations

import importlib
import inspect
import pickle
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pyarrow
import pytest
from tools import api

import dither
from dither.arguments import ROOMS_OF_VALUES, argument_errors
from dither.errors import ArgumentError, DataError, DitherError

BARE = {  # public names that have no words of their own, by the reason
    "Number": "every number that is read is one: a call more costs a tenth of it",
    "Enclosure": "a named tuple",
    "Filter": "made by the functions of its module; it has no constructor",
    "Mechanism": "a protocol, which nobody makes",
}


def public() -> Iterator[tuple[str, Any]]:
    """Every public class and function; errors are made by dither alone."""
    for front in api.PUBLIC:
        module = importlib.import_module(front)
        for name in api.names(front) if front != "dither.errors" else ():
            value = getattr(module, name)
            if inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, Enum)):
                yield f"{front}.{name}", value


PUBLIC = {name: value for name, value in public() if value.__name__ not in BARE}


@pytest.mark.parametrize("name", PUBLIC)
def test_an_unknown_name_is_refused_with_those_that_are_known(name):
    signature = inspect.signature(PUBLIC[name])
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return
    with pytest.raises(ArgumentError, match=r"no_such_argument of .*has no parameter of that name.*What would work") as told:
        PUBLIC[name](no_such_argument=1)
    for known, parameter in signature.parameters.items():
        if parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            assert known in told.value.instead


def constructors() -> Iterator[tuple[str, Any]]:
    """Class methods of public classes, which make one too."""
    for name, value in PUBLIC.items():
        for member in vars(value) if inspect.isclass(value) else ():
            if isinstance(vars(value)[member], classmethod) and not member.startswith("_"):
                yield f"{name}.{member}", getattr(value, member)


@pytest.mark.parametrize(("name", "made"), [*constructors()], ids=lambda each: each if isinstance(each, str) else "")
def test_other_constructors_refuse_likewise(name, made):
    with pytest.raises(ArgumentError, match=f"no_such_argument of {'.'.join(name.rsplit('.', 2)[-2:])}"):
        made(no_such_argument=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dither.Geometric(1), "argument 1 of Geometric = 1 is refused: its arguments are given by name.*"
         r"What would work: Geometric\(epsilon=1, sensitivity=1\)"),
        (lambda: dither.Geometric(epsilom=1, sensitivity=2), r"mean epsilon\?.*Geometric\(epsilon=1, sensitivity=2\)"),
        (lambda: dither.Gaussian(sensitivity=1), r"sensitivity of Gaussian = 1.*mean l2_sensitivity\?.*l2_sensitivity=1"),
        (lambda: dither.Geometric(epsilon=1), r"sensitivity of Geometric = nothing.*Geometric\(epsilon=1, sensitivity=1\)"),
        (lambda: dither.approx(1), r"delta of approx = nothing.*approx\(epsilon=1, delta='1e-6'\)"),
        (lambda: dither.pure(1, epsilon=2), "epsilon of pure = 2 is refused: it is given by position, and again by name"),
        (lambda: dither.pure(1, 2, 3), "argument 2 of pure = 2 is refused: no more than 1 are given by position"),
        (lambda: dither.Exponential(1), "argument 1 of Exponential"),
        (lambda: dither.Geometric.for_error(5), r"confidence of Geometric\.for_error = nothing"),
        (lambda: dither.open(), r"open\(path='policy.toml'\); dither policy init FILE"),
    ],
)  # fmt: skip
def test_a_call_is_refused_with_the_one_that_works(call, words):
    with pytest.raises(ArgumentError, match=words) as told:
        call()
    assert isinstance(told.value, TypeError)  # as before, for whoever caught that
    assert told.value.__cause__ is told.value.__context__ is None
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


NAMESPACE = {name: value for front in api.FRONTS for name, value in vars(importlib.import_module(front)).items()}
GIVEN = [(0, 3000, "0.5"), (1, "0.5"), ("0.5",), (18, 90, 8), (1, 2), (2, 0, 1), ("a", "b"), ()]
OF_OTHERS = {  # classes whose values are made by others, or of values that need a line of their own
    *("Distribution", "Estimate", "Guarantee", "Joint", "KeyChoice", "Loss", "Marginals", "Optimal", "PairSummary", "Plan"),
    *("RangePlan", "Reports", "ReusableHoldout", "Spent", "Tally", "Together", "Trust"),
    *("ApproxFilter", "GaussianFilter", "RenyiFilter", "SomeOrderFilter", "SumFilter", "ZcdpFilter"),
}


def advised(error: ArgumentError) -> str:
    """The first of the calls that would work."""
    return error.instead.partition("; ")[0].partition(", or ")[0]


def rooms_of_values() -> Iterator[str]:
    for name, value in PUBLIC.items():
        if inspect.isclass(value) and value.__module__.split(".")[1] in ROOMS_OF_VALUES:
            yield name


@pytest.mark.parametrize("name", [*rooms_of_values()])
def test_what_would_work_in_place_of_positions_works(name):
    """As it is typed, whatever came."""
    front = vars(importlib.import_module(name.rpartition(".")[0]))
    for given in GIVEN:
        said = None
        try:
            PUBLIC[name](*given)
        except ArgumentError as refused:
            said = advised(refused)
        except Exception:  # the arguments fit, and their values do not
            continue
        if said is not None and PUBLIC[name].__name__ not in OF_OTHERS:
            assert isinstance(eval(said, {"dither": dither, **NAMESPACE, **front}), PUBLIC[name]), said


@pytest.mark.parametrize(
    ("call", "made"),
    [
        (lambda: dither.density.Moments(0, 3000, "0.5"), dither.density.Moments),
        (lambda: dither.density.Moments("0.5", 0, 3000), dither.density.Moments),
        (lambda: dither.Gaussian(1, "0.5"), dither.Gaussian),
        (lambda: dither.Gaussian(1), dither.Gaussian),
        (lambda: dither.density.Bins(18, 90, 8), dither.density.Bins),
        (lambda: dither.density.Quantile(1, 2, 3), dither.density.Quantile),
        (lambda: dither.density.histogram([1, 2], [0, 1, 2], 1), dither.density.Plan),
        (lambda: dither.RandomizedResponse(4, 1), dither.RandomizedResponse),
        (lambda: dither.Exponential(1, 1), dither.Exponential),
        (lambda: dither.learn.PCA(2, (0, 1), 1), dither.learn.PCA),
        (lambda: dither.pure(1, 2), dither.Guarantee),
    ],
)
def test_the_advice_for_positions_makes_what_was_wanted(call, made):
    with pytest.raises(ArgumentError) as told:
        call()
    assert isinstance(eval(advised(told.value), {"dither": dither, **NAMESPACE}), made)


def test_what_was_given_is_kept_where_it_works():
    with pytest.raises(ArgumentError, match=r"Moments\(epsilon='0.5', low=0, high=3000\)"):
        dither.density.Moments("0.5", 0, 3000)
    with pytest.raises(ArgumentError, match=r"or Bins\.even\(0, 120, 24\)"):
        dither.density.Bins(18, 90, 8)
    with pytest.raises(ArgumentError, match=r"KMeans\(n_clusters=3, epsilon=1\)"):
        dither.learn.KMeans(3, 1)


@pytest.mark.parametrize("word", ["mean", "count", "sum", "median", "var", "std", "max"])
def test_what_other_libraries_call_a_function_is_here_a_class(word):
    for front in (dither, dither.density):
        with pytest.raises(AttributeError) as told:
            getattr(front, word)
        _, _, call = str(told.value).partition("of an array, ")
        assert eval(call, {"dither": dither}).guarantee.epsilon() == 0.5


def test_data_is_not_shown():
    rows = [("Ann", 31), ("Bob", 44)]
    with pytest.raises(DataError) as refused:
        dither.protect(rows)
    assert "Ann" not in str(refused.value)
    with pytest.raises(ArgumentError) as told:
        dither.protect(pyarrow.table({"name": ["Ann", "Bob"]}))
    assert "Ann" not in str(told.value)
    assert "protect(data=..., name='visits', person='patient_id', ledger=" in told.value.instead
    with pytest.raises(ArgumentError) as told:
        dither.Geometric(rows)
    assert "Ann" not in str(told.value)


def test_an_error_inside_a_call_that_fits_is_left_as_it_is():
    @argument_errors
    def add(first, /, second=1, *more, third):
        return first + second + third

    assert add(1, third=3) == 5
    with pytest.raises(TypeError, match="unsupported operand") as told:
        add(1, [], third=3)
    assert not isinstance(told.value, DitherError)
    with pytest.raises(ArgumentError, match=r"add\(1, second=2, third=\.\.\.\)"):
        add(1, 2)


def test_signatures_and_pickles_stay():
    assert list(inspect.signature(dither.Geometric).parameters) == ["epsilon", "sensitivity", "bounds", "dimension", "unit"]
    assert "epsilon: 'NumberLike', delta: 'NumberLike'" in str(inspect.signature(dither.approx))
    for value in (dither.pure, dither.Geometric, dither.Geometric(epsilon=1, sensitivity=1)):
        assert pickle.loads(pickle.dumps(value)) == value
    assert dither.Geometric.__init__.__name__ == "__init__"


@pytest.mark.parametrize(
    ("front", "name", "words"),
    [
        ("dither", "laplace", "did you mean Laplace?"),
        ("dither", "Ledgr", "did you mean Ledger?"),
        ("dither", "Histogram", "did you mean dither.density.Histogram?"),
        ("dither", "randomized_response", "did you mean RandomizedResponse?"),
        ("dither", "mean", "SELECT AVG(cost) AS a FROM visits"),
        ("dither", "Grid", "did you mean dither.density.Grid?"),
        ("dither.noise", "DiscreteGaussian", "did you mean dither.DiscreteGaussian?"),
        ("dither.density", "Ledger", "did you mean dither.Ledger?"),
    ],
)
def test_a_name_that_is_not_there_says_which_may_be_meant(front, name, words):
    module = importlib.import_module(front)
    with pytest.raises(AttributeError) as told:
        getattr(module, name)
    assert str(told.value) == f"module '{front}' has no attribute '{name}': {words}" or words in str(told.value)
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match=r"'_private'$"):
        _ = module._private
    with pytest.raises(AttributeError, match=r"'xyzzy'$"):
        _ = module.xyzzy


@pytest.mark.parametrize("other", [1, 0.5, "0.5", dither.ln(3)], ids=str)
def test_a_guarantee_and_a_number_do_not_add_up(other):
    for call in (lambda: dither.pure(1) + other, lambda: other + dither.pure(1)):
        with pytest.raises(ArgumentError, match=r"added to guarantees, not to numbers.*pure\('0.5'\) \+ pure\(1\)"):
            call()
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = dither.pure(1) + object()
    with pytest.raises(ArgumentError, match="whole number of times"):
        dither.pure(1) * 0.5
    assert sum([dither.pure(1), dither.pure(2)]).epsilon() == 3


def test_an_epsilon_without_a_delta_is_refused_where_there_is_none():
    losses = (dither.zcdp(1), dither.gdp(1).loss(), dither.approx(1, "1e-6"))
    for each in losses:
        with pytest.raises(DitherError, match=r"has no epsilon without a delta. What would work: \.epsilon\('1e-6'\)"):
            each.epsilon()
        assert each.epsilon(0) == float("inf")
        assert each.epsilon("1e-3") < 10
    with pytest.raises(dither.errors.UnitError, match="add/remove one person"):
        dither.Unit("person")
