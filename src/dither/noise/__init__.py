"""Random integers with an exact law, from cryptographic bits. Nothing here knows about privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.lazy import resolver

if TYPE_CHECKING:
    from dither.noise.bernoulli import Bernoulli as Bernoulli
    from dither.noise.categorical import Categorical as Categorical
    from dither.noise.gaussian import DiscreteGaussian as DiscreteGaussian
    from dither.noise.gaussian import RoundedGaussian as RoundedGaussian
    from dither.noise.laplace import DiscreteLaplace as DiscreteLaplace
    from dither.noise.laplace import OneSidedGeometric as OneSidedGeometric
    from dither.noise.staircase import DiscreteStaircase as DiscreteStaircase
    from dither.noise.uniform_integers import choose as choose
    from dither.noise.uniform_integers import permutation as permutation
    from dither.noise.uniform_integers import uniform as uniform
    from dither.noise.uniform_integers import weighted as weighted

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
    "DiscreteStaircase": "dither.noise.staircase",
    "OneSidedGeometric": "dither.noise.laplace",
    "RoundedGaussian": "dither.noise.gaussian",
    "choose": "dither.noise.uniform_integers",
    "permutation": "dither.noise.uniform_integers",
    "uniform": "dither.noise.uniform_integers",
    "weighted": "dither.noise.uniform_integers",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
