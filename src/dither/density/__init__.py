"""Whole distributions: histograms, trees, quantiles, unknown keys, private samples, means and variances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.front import resolver

if TYPE_CHECKING:
    from dither.density.axis import Bins as Bins
    from dither.density.axis import Categories as Categories
    from dither.density.clipping import ClippingRange as ClippingRange
    from dither.density.clipping import log_bins as log_bins
    from dither.density.consistency import isotonic as isotonic
    from dither.density.consistency import nonnegative as nonnegative
    from dither.density.consistency import simplex as simplex
    from dither.density.consistency import tie_down as tie_down
    from dither.density.covariance import Covariance as Covariance
    from dither.density.covariance import PairSummary as PairSummary
    from dither.density.distribution import Distribution as Distribution
    from dither.density.flat import Histogram as Histogram
    from dither.density.grid import Grid as Grid
    from dither.density.key_choice import KeyChoice as KeyChoice
    from dither.density.key_choice import keys as keys
    from dither.density.key_lists import bound_keys as bound_keys
    from dither.density.kolmogorov import KolmogorovSmirnov as KolmogorovSmirnov
    from dither.density.magic import MagicKeys as MagicKeys
    from dither.density.marginals import Marginals as Marginals
    from dither.density.moments import Moments as Moments
    from dither.density.plan import Plan as Plan
    from dither.density.plan import cdf as cdf
    from dither.density.plan import histogram as histogram
    from dither.density.prefix_workload import PrefixWorkload as PrefixWorkload
    from dither.density.quantile import Quantile as Quantile
    from dither.density.quantile_interval import QuantileInterval as QuantileInterval
    from dither.density.quantiles import Quantiles as Quantiles
    from dither.density.range_queries import RangePlan as RangePlan
    from dither.density.range_queries import ranges as ranges
    from dither.density.rho_keys import RhoKeys as RhoKeys
    from dither.density.summary import Summary as Summary
    from dither.density.threshold import GaussianKeys as GaussianKeys
    from dither.density.threshold import GeometricKeys as GeometricKeys
    from dither.density.tree import Tree as Tree
    from dither.density.weighted_keys import WeightedKeys as WeightedKeys

__all__ = [
    "Bins",
    "Categories",
    "ClippingRange",
    "Covariance",
    "Distribution",
    "GaussianKeys",
    "GeometricKeys",
    "Grid",
    "Histogram",
    "KeyChoice",
    "KolmogorovSmirnov",
    "MagicKeys",
    "Marginals",
    "Moments",
    "PairSummary",
    "Plan",
    "PrefixWorkload",
    "Quantile",
    "QuantileInterval",
    "Quantiles",
    "RangePlan",
    "RhoKeys",
    "Summary",
    "Tree",
    "WeightedKeys",
    "bound_keys",
    "cdf",
    "histogram",
    "isotonic",
    "keys",
    "log_bins",
    "nonnegative",
    "ranges",
    "simplex",
    "tie_down",
]

_LAZY = {
    "Bins": "dither.density.axis",
    "Categories": "dither.density.axis",
    "ClippingRange": "dither.density.clipping",
    "Covariance": "dither.density.covariance",
    "Distribution": "dither.density.distribution",
    "GaussianKeys": "dither.density.threshold",
    "GeometricKeys": "dither.density.threshold",
    "Grid": "dither.density.grid",
    "Histogram": "dither.density.flat",
    "KeyChoice": "dither.density.key_choice",
    "KolmogorovSmirnov": "dither.density.kolmogorov",
    "MagicKeys": "dither.density.magic",
    "Marginals": "dither.density.marginals",
    "Moments": "dither.density.moments",
    "PairSummary": "dither.density.covariance",
    "Plan": "dither.density.plan",
    "PrefixWorkload": "dither.density.prefix_workload",
    "Quantile": "dither.density.quantile",
    "QuantileInterval": "dither.density.quantile_interval",
    "Quantiles": "dither.density.quantiles",
    "RangePlan": "dither.density.range_queries",
    "RhoKeys": "dither.density.rho_keys",
    "Summary": "dither.density.summary",
    "Tree": "dither.density.tree",
    "WeightedKeys": "dither.density.weighted_keys",
    "bound_keys": "dither.density.key_lists",
    "cdf": "dither.density.plan",
    "histogram": "dither.density.plan",
    "isotonic": "dither.density.consistency",
    "keys": "dither.density.key_choice",
    "log_bins": "dither.density.clipping",
    "nonnegative": "dither.density.consistency",
    "ranges": "dither.density.range_queries",
    "simplex": "dither.density.consistency",
    "tie_down": "dither.density.consistency",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
