"""Dominating pairs as stored JSON records."""

from __future__ import annotations

from dither.privacy.loss.pairs.discrete_gaussian import DiscreteGaussianPair
from dither.privacy.loss.pairs.finite import FinitePair
from dither.privacy.loss.pairs.fixed_size_sampled import FixedSizeSampledPair
from dither.privacy.loss.pairs.laplace import LaplacePair
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import Pair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.loss.pairs.poisson_sampled_normal import PoissonSampledNormalPair
from dither.privacy.loss.pairs.shuffled import ShuffledPair
from dither.privacy.records import stored_count, stored_list

KINDS: dict[str, type[Pair]] = {
    pair.kind: pair
    for pair in (
        DiscreteGaussianPair,
        FinitePair,
        LaplacePair,
        NormalPair,
        PoissonSampledPair,
        PoissonSampledNormalPair,
        ShuffledPair,
        FixedSizeSampledPair,
    )
}

PairTerms = tuple[tuple[Pair, int], ...]


def write_terms(terms: PairTerms) -> list[list[object]]:
    """Pairs with counts, for a record."""
    return [[{"kind": pair.kind, **pair.to_json()}, count] for pair, count in terms]


def read_terms(stored: object) -> PairTerms:
    return tuple((read_pair(row), stored_count(count)) for row, count in stored_list(stored))


def read_pair(stored: object) -> Pair:
    if not isinstance(stored, dict):
        raise ValueError("a pair")
    fields = {**stored, "base": read_pair(stored["base"])} if "base" in stored else stored
    pair = KINDS[stored["kind"]].from_json(fields)
    if isinstance(pair, PoissonSampledNormalPair) != (
        isinstance(pair, PoissonSampledPair) and isinstance(pair.base, NormalPair)
    ):
        raise ValueError("a sample of Gaussian noise has its own kind")
    return pair
