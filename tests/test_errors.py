"""Errors teach: where, what came, why, what would work; and they survive a trip between processes."""

from __future__ import annotations

import inspect
import pickle

import pytest

import dither
from dither import errors
from dither.errors import DitherError, NumberError, show


def test_the_tree_is_drawn_in_full():
    for name in errors.__all__:
        assert name in errors.__doc__
        kind = getattr(errors, name)
        assert issubclass(kind, (DitherError, UserWarning))
    defined = [
        name for name, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__
    ]
    assert sorted(name for name in defined if not name.startswith("_")) == sorted(errors.__all__)


def test_an_error_says_everything_and_can_be_pickled():
    error = NumberError("epsilon", -1, "it must be above zero", "'0.5'")
    assert str(error) == "epsilon = -1 is refused: it must be above zero. What would work: '0.5'."
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is NumberError
    assert str(again) == str(error)
    assert (again.where, again.why, again.instead) == (error.where, error.why, error.instead)
    unpicklable = NumberError("x", lambda: 0, "why", "what")
    assert "<function" in str(pickle.loads(pickle.dumps(unpicklable)))


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "text"), [(10**5000, "<int>"), (Hostile(), "<Hostile>"), ("a", "'a'")], ids=["huge", "hostile", "plain"]
)
def test_values_are_shown_safely(value, text):
    assert show(value) == text
    assert len(show("x" * 1000)) == 60


@pytest.mark.parametrize(
    ("call", "came"),
    [
        (lambda how: dither.density.Histogram(cells=3, **how), {"epsilon": 1, "rho": 1}),
        (lambda how: dither.density.Tree(cells=3, **how), {"epsilon": 1, "rho": 1}),
        (lambda how: dither.learn.KMeans(2, bounds=(0, 1), **how).fit([[1]]), {"epsilon": 1, "guarantee": dither.pure(1)}),
        (lambda how: dither.gdp(**how), {"mu": 1, "mu2": 1}),
        (lambda how: dither.Gaussian(rho=1, **how), {"l2_sensitivity": 1, "l2_squared": 1}),
        (lambda how: dither.Gaussian(l2_sensitivity=1, **how), {"sigma": 1, "rho": 1}),
        (lambda how: dither.DiscreteGaussian(l2_sensitivity=1, **how), {"sigma": 1, "rho": 1}),
        (lambda how: dither.noise.DiscreteLaplace(**how), {"scale": 1, "rate": 1}),
        (lambda how: dither.noise.RoundedGaussian(**how), {"sigma": 1, "sigma2": 1}),
        (lambda how: dither.RandomizedResponse(**how), None),
    ],
)
def test_what_is_missing_is_said_in_words(call, came):
    """Not as a dict or a tuple of what is not there; where there is too much, each with its name."""
    with pytest.raises(NumberError, match=r"^[a-z0-9_, ]+ = nothing is refused: .*(one|way)"):
        call({})
    if came is not None:
        with pytest.raises(NumberError) as told:
            call(came)
        assert all(f"{name}=" in str(told.value).partition("is refused")[0] for name in came)
