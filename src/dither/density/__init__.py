"""Whole distributions: histograms, trees, quantiles, unknown keys, private samples, means and variances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.lazy import resolver

if TYPE_CHECKING:
    from dither.density.histograms.axis import Bins as Bins
    from dither.density.histograms.axis import Categories as Categories
    from dither.density.histograms.choose import Plan as Plan
    from dither.density.histograms.choose import cdf as cdf
    from dither.density.histograms.choose import histogram as histogram
    from dither.density.histograms.consistency import isotonic as isotonic
    from dither.density.histograms.consistency import nonnegative as nonnegative
    from dither.density.histograms.consistency import simplex as simplex
    from dither.density.histograms.consistency import tie_down as tie_down
    from dither.density.histograms.distribution import Distribution as Distribution
    from dither.density.histograms.grid import Grid as Grid
    from dither.density.histograms.histogram import Histogram as Histogram
    from dither.density.histograms.marginals import Marginals as Marginals
    from dither.density.histograms.prefix_workload import PrefixWorkload as PrefixWorkload
    from dither.density.histograms.range_workload import RangePlan as RangePlan
    from dither.density.histograms.range_workload import ranges as ranges
    from dither.density.histograms.tree import Tree as Tree
    from dither.density.moments.covariance import Covariance as Covariance
    from dither.density.moments.covariance import PairSummary as PairSummary
    from dither.density.moments.moments import Moments as Moments
    from dither.density.moments.summary import Summary as Summary
    from dither.density.quantiles.clipping_range import ClippingRange as ClippingRange
    from dither.density.quantiles.clipping_range import log_bins as log_bins
    from dither.density.quantiles.many_quantiles import Quantiles as Quantiles
    from dither.density.quantiles.quantile import Quantile as Quantile
    from dither.density.quantiles.quantile_interval import QuantileInterval as QuantileInterval
    from dither.density.samples.kolmogorov_smirnov import KolmogorovSmirnov as KolmogorovSmirnov
    from dither.density.unknown_keys.choose import KeyChoice as KeyChoice
    from dither.density.unknown_keys.choose import keys as keys
    from dither.density.unknown_keys.key_counts import bound_keys as bound_keys
    from dither.density.unknown_keys.magic_keys import MagicKeys as MagicKeys
    from dither.density.unknown_keys.rho_keys import RhoKeys as RhoKeys
    from dither.density.unknown_keys.threshold_keys import GaussianKeys as GaussianKeys
    from dither.density.unknown_keys.threshold_keys import GeometricKeys as GeometricKeys
    from dither.density.unknown_keys.weighted_keys import WeightedKeys as WeightedKeys

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
    "Bins": "dither.density.histograms.axis",
    "Categories": "dither.density.histograms.axis",
    "ClippingRange": "dither.density.quantiles.clipping_range",
    "Covariance": "dither.density.moments.covariance",
    "Distribution": "dither.density.histograms.distribution",
    "GaussianKeys": "dither.density.unknown_keys.threshold_keys",
    "GeometricKeys": "dither.density.unknown_keys.threshold_keys",
    "Grid": "dither.density.histograms.grid",
    "Histogram": "dither.density.histograms.histogram",
    "KeyChoice": "dither.density.unknown_keys.choose",
    "KolmogorovSmirnov": "dither.density.samples.kolmogorov_smirnov",
    "MagicKeys": "dither.density.unknown_keys.magic_keys",
    "Marginals": "dither.density.histograms.marginals",
    "Moments": "dither.density.moments.moments",
    "PairSummary": "dither.density.moments.covariance",
    "Plan": "dither.density.histograms.choose",
    "PrefixWorkload": "dither.density.histograms.prefix_workload",
    "Quantile": "dither.density.quantiles.quantile",
    "QuantileInterval": "dither.density.quantiles.quantile_interval",
    "Quantiles": "dither.density.quantiles.many_quantiles",
    "RangePlan": "dither.density.histograms.range_workload",
    "RhoKeys": "dither.density.unknown_keys.rho_keys",
    "Summary": "dither.density.moments.summary",
    "Tree": "dither.density.histograms.tree",
    "WeightedKeys": "dither.density.unknown_keys.weighted_keys",
    "bound_keys": "dither.density.unknown_keys.key_counts",
    "cdf": "dither.density.histograms.choose",
    "histogram": "dither.density.histograms.choose",
    "isotonic": "dither.density.histograms.consistency",
    "keys": "dither.density.unknown_keys.choose",
    "log_bins": "dither.density.quantiles.clipping_range",
    "nonnegative": "dither.density.histograms.consistency",
    "ranges": "dither.density.histograms.range_workload",
    "simplex": "dither.density.histograms.consistency",
    "tie_down": "dither.density.histograms.consistency",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
