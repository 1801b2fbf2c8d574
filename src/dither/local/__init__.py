"""Surveys among people who trust nobody: answers are randomised at the source, and estimated at the collector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.lazy import resolver

if TYPE_CHECKING:
    from dither.local import bridge as bridge
    from dither.local import files as files
    from dither.local.choice import choose as choose
    from dither.local.collect import reconstruct as reconstruct
    from dither.local.collect.bayesian_update import bayes as bayes
    from dither.local.collect.estimate import Estimate as Estimate
    from dither.local.collect.reports import Reports as Reports
    from dither.local.collect.tally import Tally as Tally
    from dither.local.surveys.coin_flip import CoinFlip as CoinFlip
    from dither.local.surveys.direct_encoding import DirectEncoding as DirectEncoding
    from dither.local.surveys.grid_response import GridResponse as GridResponse
    from dither.local.surveys.hadamard_response import HadamardResponse as HadamardResponse
    from dither.local.surveys.heavy_hitters import HeavyHitters as HeavyHitters
    from dither.local.surveys.local_hashing import LocalHashing as LocalHashing
    from dither.local.surveys.longitudinal import Longitudinal as Longitudinal
    from dither.local.surveys.noisy_number import NoisyNumber as NoisyNumber
    from dither.local.surveys.piecewise_and_duchi import Duchi as Duchi
    from dither.local.surveys.piecewise_and_duchi import Hybrid as Hybrid
    from dither.local.surveys.piecewise_and_duchi import Piecewise as Piecewise
    from dither.local.surveys.subset_selection import SubsetSelection as SubsetSelection
    from dither.local.surveys.unary_encoding import UnaryEncoding as UnaryEncoding

__all__ = [
    "CoinFlip",
    "DirectEncoding",
    "Duchi",
    "Estimate",
    "GridResponse",
    "HadamardResponse",
    "HeavyHitters",
    "Hybrid",
    "LocalHashing",
    "Longitudinal",
    "NoisyNumber",
    "Piecewise",
    "Reports",
    "SubsetSelection",
    "Tally",
    "UnaryEncoding",
    "bayes",
    "bridge",
    "choose",
    "files",
    "reconstruct",
]

_LAZY = {
    "CoinFlip": "dither.local.surveys.coin_flip",
    "DirectEncoding": "dither.local.surveys.direct_encoding",
    "Duchi": "dither.local.surveys.piecewise_and_duchi",
    "Estimate": "dither.local.collect.estimate",
    "GridResponse": "dither.local.surveys.grid_response",
    "HadamardResponse": "dither.local.surveys.hadamard_response",
    "HeavyHitters": "dither.local.surveys.heavy_hitters",
    "Hybrid": "dither.local.surveys.piecewise_and_duchi",
    "LocalHashing": "dither.local.surveys.local_hashing",
    "Longitudinal": "dither.local.surveys.longitudinal",
    "NoisyNumber": "dither.local.surveys.noisy_number",
    "Piecewise": "dither.local.surveys.piecewise_and_duchi",
    "Reports": "dither.local.collect.reports",
    "SubsetSelection": "dither.local.surveys.subset_selection",
    "Tally": "dither.local.collect.tally",
    "UnaryEncoding": "dither.local.surveys.unary_encoding",
    "bayes": "dither.local.collect.bayesian_update",
    "bridge": "dither.local",
    "choose": "dither.local.choice",
    "files": "dither.local",
    "reconstruct": "dither.local.collect",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
