"""Whole distributions: histograms, trees, quantiles, unknown keys, private samples, means and variances."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dither.density.axis import Bins as Bins
    from dither.density.axis import Categories as Categories
    from dither.density.kolmogorov import KolmogorovSmirnov as KolmogorovSmirnov

__all__ = [
    "Bins",
    "Categories",
    "KolmogorovSmirnov",
]

_LAZY = {
    "Bins": "dither.density.axis",
    "Categories": "dither.density.axis",
    "KolmogorovSmirnov": "dither.density.kolmogorov",
}


def __getattr__(name: str) -> object:
    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module 'dither.density' has no attribute '{name}'")
    value: object = vars(import_module(home))[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
