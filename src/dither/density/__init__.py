"""Whole distributions: histograms, trees, quantiles, unknown keys, private samples, means and variances."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dither.density.axis import Bins as Bins
    from dither.density.axis import Categories as Categories
    from dither.density.key_choice import KeyChoice as KeyChoice
    from dither.density.key_choice import keys as keys
    from dither.density.key_lists import bound_keys as bound_keys
    from dither.density.kolmogorov import KolmogorovSmirnov as KolmogorovSmirnov
    from dither.density.magic import MagicKeys as MagicKeys
    from dither.density.threshold import GaussianKeys as GaussianKeys
    from dither.density.threshold import GeometricKeys as GeometricKeys
    from dither.density.weighted_keys import WeightedKeys as WeightedKeys

__all__ = [
    "Bins",
    "Categories",
    "GaussianKeys",
    "GeometricKeys",
    "KeyChoice",
    "KolmogorovSmirnov",
    "MagicKeys",
    "WeightedKeys",
    "bound_keys",
    "keys",
]

_LAZY = {
    "Bins": "dither.density.axis",
    "Categories": "dither.density.axis",
    "GaussianKeys": "dither.density.threshold",
    "GeometricKeys": "dither.density.threshold",
    "KeyChoice": "dither.density.key_choice",
    "KolmogorovSmirnov": "dither.density.kolmogorov",
    "MagicKeys": "dither.density.magic",
    "WeightedKeys": "dither.density.weighted_keys",
    "bound_keys": "dither.density.key_lists",
    "keys": "dither.density.key_choice",
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
