"""Surveys among people who trust nobody: answers are randomised at the source, and estimated at the collector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.front import resolver

if TYPE_CHECKING:
    from dither.local import bridge as bridge
    from dither.local import files as files
    from dither.local import reconstruct as reconstruct
    from dither.local.choice import choose as choose
    from dither.local.coin_flip import CoinFlip as CoinFlip
    from dither.local.direct import DirectEncoding as DirectEncoding
    from dither.local.estimate import Estimate as Estimate
    from dither.local.grid import GridResponse as GridResponse
    from dither.local.hadamard import HadamardResponse as HadamardResponse
    from dither.local.hashing import LocalHashing as LocalHashing
    from dither.local.heavy_hitters import HeavyHitters as HeavyHitters
    from dither.local.longitudinal import Longitudinal as Longitudinal
    from dither.local.noisy_number import NoisyNumber as NoisyNumber
    from dither.local.numbers import Duchi as Duchi
    from dither.local.numbers import Hybrid as Hybrid
    from dither.local.numbers import Piecewise as Piecewise
    from dither.local.reports import Reports as Reports
    from dither.local.subset import SubsetSelection as SubsetSelection
    from dither.local.tally import Tally as Tally
    from dither.local.unary import UnaryEncoding as UnaryEncoding
    from dither.local.update import bayes as bayes

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
    "CoinFlip": "dither.local.coin_flip",
    "DirectEncoding": "dither.local.direct",
    "Duchi": "dither.local.numbers",
    "Estimate": "dither.local.estimate",
    "GridResponse": "dither.local.grid",
    "HadamardResponse": "dither.local.hadamard",
    "HeavyHitters": "dither.local.heavy_hitters",
    "Hybrid": "dither.local.numbers",
    "LocalHashing": "dither.local.hashing",
    "Longitudinal": "dither.local.longitudinal",
    "NoisyNumber": "dither.local.noisy_number",
    "Piecewise": "dither.local.numbers",
    "Reports": "dither.local.reports",
    "SubsetSelection": "dither.local.subset",
    "Tally": "dither.local.tally",
    "UnaryEncoding": "dither.local.unary",
    "bayes": "dither.local.update",
    "bridge": "dither.local",
    "choose": "dither.local.choice",
    "files": "dither.local",
    "reconstruct": "dither.local",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
