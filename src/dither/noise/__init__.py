"""Random integers with an exact law, from cryptographic bits. Nothing here knows about privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.front import resolver

if TYPE_CHECKING:
    from dither.noise.bernoulli import Bernoulli as Bernoulli
    from dither.noise.categorical import Categorical as Categorical
    from dither.noise.gaussian import DiscreteGaussian as DiscreteGaussian
    from dither.noise.gaussian import RoundedGaussian as RoundedGaussian
    from dither.noise.integers import choose as choose
    from dither.noise.integers import permutation as permutation
    from dither.noise.integers import uniform as uniform
    from dither.noise.integers import weighted as weighted
    from dither.noise.laplace import DiscreteLaplace as DiscreteLaplace
    from dither.noise.laplace import OneSidedGeometric as OneSidedGeometric
    from dither.noise.steps import DiscreteStaircase as DiscreteStaircase

__all__ = [
    "Bernoulli",
    "Categorical",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStaircase",
    "OneSidedGeometric",
    "RoundedGaussian",
    "choose",
    "permutation",
    "uniform",
    "weighted",
]

_LAZY = {
    "Bernoulli": "dither.noise.bernoulli",
    "Categorical": "dither.noise.categorical",
    "DiscreteGaussian": "dither.noise.gaussian",
    "DiscreteLaplace": "dither.noise.laplace",
    "DiscreteStaircase": "dither.noise.steps",
    "OneSidedGeometric": "dither.noise.laplace",
    "RoundedGaussian": "dither.noise.gaussian",
    "choose": "dither.noise.integers",
    "permutation": "dither.noise.integers",
    "uniform": "dither.noise.integers",
    "weighted": "dither.noise.integers",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
