"""dither: differential privacy that is exact.

Names are resolved when they are first used, so `import dither` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.lazy import resolver

if TYPE_CHECKING:
    from dither import channels as channels
    from dither import density as density
    from dither import errors as errors
    from dither import local as local
    from dither import noise as noise
    from dither import plot as plot
    from dither import testing as testing
    from dither.channels.channel import Channel as Channel
    from dither.channels.optimal.optimal import Optimal as Optimal
    from dither.channels.optimal.optimal import optimal as optimal
    from dither.ledger.entries.receipt import Receipt as Receipt
    from dither.ledger.ledger import Ledger as Ledger
    from dither.mechanisms import accuracy as accuracy
    from dither.mechanisms import sensitivity as sensitivity
    from dither.mechanisms.additive.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from dither.mechanisms.additive.gaussian import Gaussian as Gaussian
    from dither.mechanisms.additive.geometric import Geometric as Geometric
    from dither.mechanisms.additive.laplace import Laplace as Laplace
    from dither.mechanisms.additive.staircase import Staircase as Staircase
    from dither.mechanisms.combine import Partitioned as Partitioned
    from dither.mechanisms.combine import Processed as Processed
    from dither.mechanisms.combine import Repeated as Repeated
    from dither.mechanisms.combine import Together as Together
    from dither.mechanisms.protocol import Mechanism as Mechanism
    from dither.mechanisms.response.grid_response import Grid as Grid
    from dither.mechanisms.response.k_ary_response import Flat as Flat
    from dither.mechanisms.response.randomized_response import RandomizedResponse as RandomizedResponse
    from dither.mechanisms.selection.exponential import Exponential as Exponential
    from dither.mechanisms.selection.interval_mean import IntervalMean as IntervalMean
    from dither.mechanisms.selection.noisy_max import NoisyMax as NoisyMax
    from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from dither.mechanisms.selection.top_k import TopK as TopK
    from dither.mechanisms.threshold.above_threshold import AboveThreshold as AboveThreshold
    from dither.mechanisms.threshold.reusable_holdout import ReusableHoldout as ReusableHoldout
    from dither.mechanisms.workload.workload import Workload as Workload
    from dither.numeric.lattice import Lattice as Lattice
    from dither.numeric.number import Enclosure as Enclosure
    from dither.numeric.number import Number as Number
    from dither.numeric.number import ln as ln
    from dither.privacy import amplify as amplify
    from dither.privacy import calibrate as calibrate
    from dither.privacy import theorems as theorems
    from dither.privacy.budget import filter as filter  # noqa: A004 - a module of that name, not in the way of anyone
    from dither.privacy.compose import compose as compose
    from dither.privacy.compose import parallel as parallel
    from dither.privacy.guarantee.guarantee import Guarantee as Guarantee
    from dither.privacy.guarantee.guarantee import approx as approx
    from dither.privacy.guarantee.guarantee import bounded_range as bounded_range
    from dither.privacy.guarantee.guarantee import gdp as gdp
    from dither.privacy.guarantee.guarantee import pure as pure
    from dither.privacy.guarantee.guarantee import renyi as renyi
    from dither.privacy.guarantee.guarantee import zcdp as zcdp
    from dither.privacy.loss.loss import Loss as Loss
    from dither.privacy.unit import Unit as Unit
    from dither.query.answers.answer import Answer as Answer
    from dither.query.answers.batch_answer import BatchAnswer as BatchAnswer
    from dither.query.batch import Batch as Batch
    from dither.query.dataset import Dataset as Dataset
    from dither.query.dataset import open as open  # noqa: A004 - a policy, by its path
    from dither.query.dataset import protect as protect
    from dither.query.policy.policy import Policy as Policy
    from dither.query.quote import Quote as Quote

__all__ = [
    "AboveThreshold",
    "Answer",
    "Batch",
    "BatchAnswer",
    "Channel",
    "Dataset",
    "DiscreteGaussian",
    "Enclosure",
    "Exponential",
    "Flat",
    "Gaussian",
    "Geometric",
    "Grid",
    "Guarantee",
    "IntervalMean",
    "Laplace",
    "Lattice",
    "Ledger",
    "Loss",
    "Mechanism",
    "NoisyMax",
    "Number",
    "Optimal",
    "Partitioned",
    "PermuteAndFlip",
    "Policy",
    "Processed",
    "Quote",
    "RandomizedResponse",
    "Receipt",
    "Repeated",
    "ReusableHoldout",
    "Staircase",
    "Together",
    "TopK",
    "Unit",
    "Workload",
    "__version__",
    "accuracy",
    "amplify",
    "approx",
    "bounded_range",
    "calibrate",
    "channels",
    "compose",
    "density",
    "errors",
    "filter",
    "gdp",
    "ln",
    "local",
    "noise",
    "open",
    "optimal",
    "parallel",
    "plot",
    "protect",
    "pure",
    "renyi",
    "sensitivity",
    "testing",
    "theorems",
    "zcdp",
]
__version__ = "0.1.0"

_LAZY = {
    "AboveThreshold": "dither.mechanisms.threshold.above_threshold",
    "Answer": "dither.query.answers.answer",
    "BatchAnswer": "dither.query.answers.batch_answer",
    "Batch": "dither.query.batch",
    "Channel": "dither.channels.channel",
    "Dataset": "dither.query.dataset",
    "DiscreteGaussian": "dither.mechanisms.additive.discrete_gaussian",
    "Enclosure": "dither.numeric.number",
    "Exponential": "dither.mechanisms.selection.exponential",
    "Flat": "dither.mechanisms.response.k_ary_response",
    "Gaussian": "dither.mechanisms.additive.gaussian",
    "Geometric": "dither.mechanisms.additive.geometric",
    "Grid": "dither.mechanisms.response.grid_response",
    "Guarantee": "dither.privacy.guarantee.guarantee",
    "IntervalMean": "dither.mechanisms.selection.interval_mean",
    "Laplace": "dither.mechanisms.additive.laplace",
    "Lattice": "dither.numeric.lattice",
    "Ledger": "dither.ledger.ledger",
    "Loss": "dither.privacy.loss.loss",
    "Mechanism": "dither.mechanisms.protocol",
    "NoisyMax": "dither.mechanisms.selection.noisy_max",
    "Number": "dither.numeric.number",
    "Optimal": "dither.channels.optimal.optimal",
    "Partitioned": "dither.mechanisms.combine",
    "PermuteAndFlip": "dither.mechanisms.selection.permute_and_flip",
    "Policy": "dither.query.policy.policy",
    "Processed": "dither.mechanisms.combine",
    "Quote": "dither.query.quote",
    "RandomizedResponse": "dither.mechanisms.response.randomized_response",
    "Receipt": "dither.ledger.entries.receipt",
    "Repeated": "dither.mechanisms.combine",
    "ReusableHoldout": "dither.mechanisms.threshold.reusable_holdout",
    "Staircase": "dither.mechanisms.additive.staircase",
    "Together": "dither.mechanisms.combine",
    "TopK": "dither.mechanisms.selection.top_k",
    "Unit": "dither.privacy.unit",
    "Workload": "dither.mechanisms.workload.workload",
    "accuracy": "dither.mechanisms",
    "amplify": "dither.privacy",
    "approx": "dither.privacy.guarantee.guarantee",
    "bounded_range": "dither.privacy.guarantee.guarantee",
    "calibrate": "dither.privacy",
    "channels": "dither",
    "compose": "dither.privacy.compose",
    "density": "dither",
    "errors": "dither",
    "filter": "dither.privacy.budget",
    "gdp": "dither.privacy.guarantee.guarantee",
    "ln": "dither.numeric.number",
    "local": "dither",
    "noise": "dither",
    "open": "dither.query.dataset",
    "optimal": "dither.channels.optimal.optimal",
    "parallel": "dither.privacy.compose",
    "plot": "dither",
    "protect": "dither.query.dataset",
    "pure": "dither.privacy.guarantee.guarantee",
    "renyi": "dither.privacy.guarantee.guarantee",
    "sensitivity": "dither.mechanisms",
    "testing": "dither",
    "theorems": "dither.privacy",
    "zcdp": "dither.privacy.guarantee.guarantee",
}


__getattr__ = resolver(__name__, _LAZY, globals())


def __dir__() -> list[str]:
    return sorted(__all__)
